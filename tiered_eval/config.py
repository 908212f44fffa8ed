"""The options of a run, and where it keeps its things.

The one idea: everything a caller may choose stands in one frozen record, with the default beside it. What the
suite's author asked for is taken where the caller said nothing (:meth:`RunConfig.merged_with`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from tiered_eval.errors import ConfigError
from tiered_eval.records import CapPeriod, JudgeStage, Report, Suite, chain_faults

__all__ = [
    "BATCH_FROM_S",
    "DAILY_CAP_VARIABLE",
    "HOME_VARIABLE",
    "MONTHLY_CAP_VARIABLE",
    "MOST_USD",
    "NAME_THE_HOME",
    "Batch",
    "Mode",
    "Pack",
    "PromptCache",
    "RunConfig",
    "WhenShort",
    "caps_in_words",
    "home_for",
    "is_amount",
    "recordings_for",
]

HOME_VARIABLE = "TIERED_EVAL_HOME"
NAME_THE_HOME = "name the home with --home (a run keeps it beside its suite)"
"""What to do where there is nothing in one."""
DAILY_CAP_VARIABLE = "TIERED_EVAL_DAILY_CAP"
MONTHLY_CAP_VARIABLE = "TIERED_EVAL_MONTHLY_CAP"
MOST_USD = Decimal(10**12)
"""Above every cap and every bill. From about a thousand times as much on, sums are not exact to the pico-dollar."""

Mode: TypeAlias = Literal["live", "offline", "replay"]
"""``live`` calls providers; ``offline`` uses kept replies only and leaves the rest not judged; ``replay`` uses
recordings only, and a call that was not recorded is an error."""


Pack: TypeAlias = Literal["auto", "never"] | int
"""May expectations that are left over on one response share a judge call: where that is cheaper, never, or up to so
many. A packed judge is another judge than one that is asked a single question, and verdicts name which it was."""


Batch: TypeAlias = Literal["auto", "never", "always"]
"""May judge calls go through the vendors' batches, for half the price and within a day: where the time that a run is
given allows it, never, or in any case."""

PromptCache: TypeAlias = Literal["auto", "off"]
"""May vendors keep the front of prompts ready for the next call: where that is cheaper, or never. No answer depends on it."""

BATCH_FROM_S = 2 * 3600.0
"""With ``auto``, a run that is given at least so long uses batches. Most of them end within an hour (vendors' pages,
2026-11-30). A run without a deadline does not: somebody may be waiting for it."""


WhenShort: TypeAlias = Literal["estimate", "decide"]
"""What a run with a cap or a deadline puts first: the score of the suite, or as many decided cases as it can get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """What the caller of a run may choose."""

    judges: tuple[str, ...] = ()
    """Judge models as ``provider:model``, tried in order; empty takes the suite's."""
    chain: tuple[JudgeStage, ...] = ()
    """Stages of judges, cheapest first, instead of ``judges``; empty takes the suite's where ``judges`` is as well."""
    embedder: str | None = None
    """``local:``, ``openai:text-embedding-3-small``, ``none``, ...; None takes the suite's, else ``local:``."""
    max_cost_usd: Decimal | None = None
    """Cap on this run."""
    daily_cap_usd: Decimal | None = None
    """Cap on everything that is spent in the home on one day (UTC); None takes ``TIERED_EVAL_DAILY_CAP``, if set."""
    monthly_cap_usd: Decimal | None = None
    """The same for a month; None takes ``TIERED_EVAL_MONTHLY_CAP``."""
    suite_caps_usd: Mapping[CapPeriod, Decimal] = field(default_factory=dict)
    """Caps on all runs of the suite in the home together, by what they count; the suite's where one is absent."""
    max_time_s: float | None = None
    time_used_s: float = 0.0
    """Of ``max_time_s``, what was over before the run began, such as the time in which the suite was read."""
    concurrency: int = 64
    """Model calls open at once, at most; the provider's limits may keep it lower."""
    request_timeout_s: float = 120.0
    """Bound on one attempt of one call."""
    pack: Pack | None = None
    """Whether and how many expectations on one response share a judge call; at most 6. None takes the suite's, else
    ``auto``."""
    batch: Batch | None = None
    """Whether judge calls go through the vendors' batches. None takes the suite's, else ``auto``."""
    prompt_cache: PromptCache = "auto"
    """Whether vendors may keep the front of prompts ready, which calls that begin alike then pay less for."""
    mode: Mode = "live"
    home: Path | None = None
    """Folder of the ledger and the cache; None takes ``TIERED_EVAL_HOME``, else ``.tiered_eval`` beside the suite."""
    recordings: Path | None = None
    """Folder of recorded replies, for ``replay``; None takes the nearest ``cache/recordings`` beside or above the suite."""
    prices: Mapping[str, Any] = field(default_factory=dict)
    """Model to ``{input, output}`` in US dollars a million tokens; wins over the price data."""
    certificate: Path | None = None
    """A calibration's certificate that may decide early; None takes ``certificate.json`` beside the suite, if there is one."""
    audit_rate: float | None = None
    """Share of a certificate's early verdicts that the last judge checks as well, in [0, 1]; five a run whatever it is. None takes
    the suite's, else 5 %."""
    when_short: WhenShort = "estimate"
    """What is judged where not everything can be: a sample for the suite's score, or single cases first."""
    gate: str | None = None
    gate_against: Report | None = field(default=None, repr=False)
    """The report of an earlier run of the suite that this one must not fall behind. Unless a ``gate`` is chosen as
    well, no more is judged than that needs, and what the base knows of an unchanged response is taken over."""
    gate_margin: float = 0.03
    """The drop of ``partial``, or of a dimension, that is a regression; 0 accepts none."""
    max_error_rate: float = 0.0
    """Share of expectations that may end in ``error`` before a run counts as having measured too little."""
    results_path: Path | None = None
    """Write each case's results here as JSON lines as they settle."""
    keep_results: bool = True
    """Keep results for the report in memory; with ``results_path`` they are read back from there instead."""
    seed: int = 0
    scorers: Mapping[str, Any] = field(default_factory=dict)
    """Functions and classes of your own that expectations may name, by name."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense: NaN compares as a limit that nothing reaches, a slip in ``mode`` would go live.

        Raises:
            ConfigError: names the option, its value, and what may stand there.
        """
        for name, is_fine, wanted in _rules(self):
            if not is_fine:
                raise ConfigError(f"{name}={getattr(self, name)!r}: it must be {wanted}")
        if self.judges and self.chain:
            raise ConfigError("judges and chain: give one of them; plain judges are a chain of one stage")
        for fault in chain_faults(self.stages) if self.stages else ():
            if self.chain:
                raise ConfigError(f"chain: {fault}")
            if not fault.is_name:  # a name alone is checked where its provider is opened
                raise ConfigError(f"judges: {fault} (in the suite, as a stage of judge: {{chain: [...]}})")

    @property
    def stages(self) -> tuple[JudgeStage, ...]:
        """The chain of judges; a plain list of models is one stage. Empty without a judge."""
        return self.chain or ((JudgeStage(models=self.judges),) if self.judges else ())

    @property
    def packing(self) -> Pack:
        """What was chosen for ``pack``, else ``auto``."""
        return "auto" if self.pack is None else self.pack

    @property
    def uses_batches(self) -> bool:
        """Do the judge calls of this run go through the vendors' batches?"""
        if self.mode != "live" or self.batch == "never":
            return False
        return self.batch == "always" or (self.max_time_s is not None and self.max_time_s >= BATCH_FROM_S)

    def merged_with(self, suite: Suite) -> RunConfig:
        """This, with the suite's own settings where nothing was chosen.

        Places are absolute from here on: code of the suite may go to another folder while it runs.
        """
        asked = suite.settings
        has_judge = bool(self.judges or self.chain)
        return replace(
            self,
            judges=self.judges if has_judge else asked.judges,
            chain=self.chain if has_judge else asked.chain,
            pack=self.pack if self.pack is not None else asked.pack or "auto",
            batch=self.batch or asked.batch or "auto",
            audit_rate=self.audit_rate if self.audit_rate is not None else asked.audit_rate,
            embedder=self.embedder if self.embedder is not None else asked.embedder,
            max_cost_usd=self.max_cost_usd if self.max_cost_usd is not None else asked.budget_usd,
            daily_cap_usd=_cap(self.daily_cap_usd, DAILY_CAP_VARIABLE),
            monthly_cap_usd=_cap(self.monthly_cap_usd, MONTHLY_CAP_VARIABLE),
            suite_caps_usd={**asked.caps_usd, **self.suite_caps_usd},
            max_time_s=self.max_time_s if self.max_time_s is not None else asked.budget_s,
            gate=self.gate if self.gate is not None else asked.gate,
            prices={**asked.prices, **self.prices},
            home=home_for(suite, chosen=self.home).absolute(),
            results_path=self.results_path and self.results_path.absolute(),
            recordings=recordings_for(suite, chosen=self.recordings),
        )


def caps_in_words(config: RunConfig) -> dict[str, Decimal]:
    """Every cap that a run is held to, by what it is on; US dollars."""
    on_suite = {"day": "suite a day", "month": "suite a month", "ever": "suite in all"}
    caps = {
        "run": config.max_cost_usd,
        "day": config.daily_cap_usd,
        "month": config.monthly_cap_usd,
        **{on_suite[period]: amount for period, amount in config.suite_caps_usd.items()},
    }
    return {name: amount for name, amount in caps.items() if amount is not None}


def _rules(config: RunConfig) -> Iterator[tuple[str, bool, str]]:
    """The name of an option, whether it makes sense, and what would."""
    money = "an amount in US dollars, 0 or more, such as Decimal('2.00'), or None"
    for name in ("max_cost_usd", "daily_cap_usd", "monthly_cap_usd"):
        amount = getattr(config, name)
        yield name, amount is None or is_amount(amount), money
    caps = config.suite_caps_usd
    periods = get_args(CapPeriod)
    sound = all(period in periods and is_amount(amount) for period, amount in caps.items())
    yield "suite_caps_usd", sound, f"{' or '.join(periods)} to such an amount"
    limit = config.max_time_s
    yield "max_time_s", limit is None or _is_number(limit, 0), "seconds, 0 or more, or None"
    yield "time_used_s", _is_number(config.time_used_s, 0), "seconds, 0 or more"
    timeout = config.request_timeout_s
    yield "request_timeout_s", _is_number(timeout, 0) and timeout > 0, "seconds, more than 0"
    base: object = config.gate_against
    is_report = base is None or isinstance(base, Report)
    yield "gate_against", is_report, "a Report, as evaluate or reports.kept.load_file gives it"
    margin = config.gate_margin
    yield "gate_margin", _is_number(margin, 0) and margin <= 1, "a share between 0 and 1"
    rate = config.max_error_rate
    yield "max_error_rate", _is_number(rate, 0) and rate <= 1, "a share between 0 and 1"
    audited = config.audit_rate
    is_share = audited is None or (_is_number(audited, 0) and audited <= 1)
    yield "audit_rate", is_share, "a share between 0 and 1, or None"
    yield "concurrency", type(config.concurrency) is int and config.concurrency >= 1, "a number, 1 or more"
    yield "when_short", config.when_short in get_args(WhenShort), f"one of {', '.join(get_args(WhenShort))}"
    yield "mode", config.mode in get_args(Mode), f"one of {', '.join(get_args(Mode))}"
    caches = get_args(PromptCache)
    yield "prompt_cache", config.prompt_cache in caches, f"one of {', '.join(caches)}"
    yield "batch", config.batch in (None, *get_args(Batch)), f"one of {', '.join(get_args(Batch))}"
    for name in ("home", "recordings", "certificate", "results_path"):
        place: object = getattr(config, name)
        yield name, place is None or isinstance(place, Path), "a pathlib.Path, or None"
    pack = config.pack
    is_pack = pack in (None, "auto", "never") or (type(pack) is int and pack >= 1)
    yield "pack", is_pack, "auto, never, or a number"
    yield "scorers", isinstance(config.scorers, Mapping), "a mapping of names to functions or classes"
    judges: object = config.judges  # a text is a sequence of texts to a type checker, and of letters to us
    are_names = isinstance(judges, list | tuple) and all(isinstance(judge, str) for judge in judges)
    yield "judges", are_names, "a tuple of names such as 'openai:gpt-6-luna'"


def is_amount(value: object) -> bool:
    """Dollars that can be meant: 0 or more, and no more than sums are exact for."""
    return isinstance(value, Decimal) and value.is_finite() and 0 <= value <= MOST_USD


def _is_number(value: object, low: float) -> bool:
    """A number from ``low`` on; NaN is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= low


def _cap(chosen: Decimal | None, variable: str) -> Decimal | None:
    """The chosen cap, else the environment's. Raises ConfigError: a cap that cannot be read is not no cap."""
    text = os.environ.get(variable, "").strip()
    if chosen is not None or not text:
        return chosen
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal("NaN")
    if not is_amount(amount):
        raise ConfigError(f"{variable}={text!r} is not an amount in US dollars, such as 50.00")
    return amount


def home_for(suite: Suite, *, chosen: Path | None = None) -> Path:
    """The folder that a suite's ledger and cache live in."""
    if chosen is not None:
        return chosen
    if named := os.environ.get(HOME_VARIABLE):
        return Path(named)
    if suite.path is None:
        return Path.cwd() / ".tiered_eval"
    folder = suite.path if suite.path.is_dir() else suite.path.parent
    return folder / ".tiered_eval"


def recordings_for(suite: Suite, *, chosen: Path | None = None) -> Path | None:
    """The folder of recorded replies: the chosen one, else the nearest ``cache/recordings`` beside or above the suite."""
    if chosen is not None:
        return chosen
    start = (suite.path or Path.cwd()).absolute()
    for folder in (start, *start.parents):
        if (found := folder / "cache" / "recordings").is_dir():
            return found
    return None
