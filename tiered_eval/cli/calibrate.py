"""``tiered-eval calibrate``: from labels to a certificate that lets early checks decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiered_eval.cli.options import FOLDER, SHARE, USD, prices_from
from tiered_eval.cli.output import say
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.calibration.calibrate import ShippedDesign
    from tiered_eval.calibration.certificate import Certificate
    from tiered_eval.calibration.labels import Label, TierSpec
    from tiered_eval.calibration.promise import Promise
    from tiered_eval.calibration.reading import LabelRow

__all__ = ["calibrate"]

_FILE = click.Path(path_type=Path, dir_okay=False)
DEFAULT_ALPHA = 0.05
_MORE = (1.5, 2.0, 4.0)
"""Times the labels that are there: for how many a forecast is made."""
_WORTH_HAVING = (250, 500, 1000)
"""And for how many however few there are."""


@click.command(short_help="Certify how often early checks are right.")
@click.argument("labels", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--alpha",
    type=SHARE,
    metavar="SHARE",
    help="Largest share of wrong early verdicts (default: 5%, unless --relative is given).",
)
@click.option(
    "--delta",
    type=SHARE,
    default="10%",
    show_default=True,
    metavar="SHARE",
    help="Probability that the promise fails.",
)
@click.option("--alpha-pass", type=SHARE, metavar="SHARE", help="Largest share of wrong early passes.")
@click.option(
    "--tier-alpha",
    type=SHARE,
    metavar="SHARE",
    help="Largest share of wrong verdicts of every early tier by itself.",
)
@click.option(
    "--relative",
    type=SHARE,
    metavar="SHARE",
    help="Agree with the labels at most so much less than the top judge on everything; needs --top.",
)
@click.option(
    "--false-pass-weight",
    type=click.FloatRange(1.0, 1000.0),
    default=1.0,
    show_default=True,
    metavar="N",
    help="A false pass is as bad as so many false fails: early passes take less risk.",
)
@click.option("--per-kind", is_flag=True, help="A promise of its own for each kind.")
@click.option(
    "--top",
    metavar="NAME",
    help="The recorded judge that takes what is not decided early (default: people do).",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="NAME=SHARE",
    help="Cost of a recorded judge over that of the top tier. Repeat it; one that is not named is left out.",
)
@click.option(
    "--proxy",
    is_flag=True,
    help="Take the top judge's verdicts for labels; what is promised is agreement with it.",
)
@click.option(
    "--judge",
    multiple=True,
    metavar="MODEL",
    help="For --proxy: buy verdicts of this judge, provider:model, for rows with texts.",
)
@click.option(
    "--early-judge",
    "early_judges",
    multiple=True,
    metavar="MODEL",
    help="Buy the scores of this cheap judge for rows with texts, as an early tier; say with --cost what it costs. Repeatable.",
)
@click.option(
    "--max-cost", type=USD, metavar="USD", help="For --judge and --early-judge: hard cap in US dollars."
)
@click.option(
    "--price",
    multiple=True,
    metavar="MODEL=IN,OUT",
    help="Price of a model, US dollars a million tokens in and out. Repeatable.",
)
@click.option("--prices", type=_FILE, metavar="FILE", help="File of prices, JSON or YAML.")
@click.option(
    "--embedder",
    metavar="NAME",
    default="none",
    show_default=True,
    help="Score with an embedder too: local:, openai:MODEL, ...",
)
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder of ledger and cache (default: .tiered_eval beside LABELS).",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="For the split and the orders of betting."
)
@click.option(
    "--out",
    type=_FILE,
    default=Path("certificate.json"),
    show_default=True,
    metavar="FILE",
    help="Where the certificate goes.",
)
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw the tested thresholds as SVG.")
@click.option(
    "--forecast-only", is_flag=True, help="Say what these labels and more can be expected to bring, and stop."
)
def calibrate(
    labels: Path,
    top: str | None,
    costs: Sequence[str],
    proxy: bool,
    judge: Sequence[str],
    early_judges: Sequence[str],
    max_cost: Decimal | None,
    price: Sequence[str],
    prices: Path | None,
    embedder: str,
    home: Path | None,
    out: Path,
    plot: Path | None,
    forecast_only: bool,
    **promised: Any,
) -> int:
    """Find how much may be decided early, from LABELS, a JSONL or CSV file of labelled expectations.

    A row has id, kind, human (true where the expectation is met), and either scores or response and expected. The certificate
    says what was promised, what it rests on, and from which scores; where nothing can be certified everything escalates.
    """
    import asyncio

    from tiered_eval.calibration.reading import read_labels
    from tiered_eval.calibration.scoring import check_numpy
    from tiered_eval.calibration.transfer import transfer_line

    check_numpy()
    promise = _promise_from(proxy=proxy, **promised)
    _check(promise.relative, top, proxy=proxy, judge=judge, early_judges=early_judges, costs=costs)
    rows = read_labels(labels, top=top, may_lack_label=bool(judge))
    if not forecast_only:
        _check_places(out, plot)
    home = home or labels.parent / ".tiered_eval"
    scoring = _Scoring(judge, early_judges, max_cost, price, prices, embedder, home)

    outlook = _Outlook(promise, top, costs, buys_scores=bool(early_judges), goes_on=not forecast_only)
    labelled, embedder_id = asyncio.run(scoring.scored(rows, is_worth_buying=outlook.is_worth_buying))
    if forecast_only and scoring.buys_for(rows):
        return 0
    found = labelled
    if proxy:
        found = [replace(label, met=label.top) for label in found if label.top is not None]
    outlook.tell(found)
    if not forecast_only:
        tiers = _tiers(found, top, costs)
        fingerprints = _fingerprints(tiers, embedder_id, early_judges)
        certificate = _certify(
            found, tiers, promise, fingerprints, judged_by=judge[0] if judge else None, out=out, plot=plot
        )
        if proxy and (transferred := transfer_line(certificate, labelled)) is not None:
            say(transferred)
    return 0


def _promise_from(*, alpha: float | None, relative: float | None, proxy: bool, **others: Any) -> Promise:
    """The promise that the options ask for.

    Raises:
        ConfigError: it cannot be made.
    """
    from tiered_eval.calibration.promise import Promise

    return Promise(
        alpha=DEFAULT_ALPHA if alpha is None and relative is None else alpha,
        relative=relative,
        label_source="top_judge" if proxy else "human",
        **others,
    )


def _check_places(*places: Path | None) -> None:
    """See to it that files can be written there: now, not when labels are bought.

    Raises:
        ConfigError: they cannot.
    """
    from tiered_eval.reports.files import writable_folder

    for place in places:
        if place is not None:
            writable_folder(place.parent)


def _sizes(labels: int) -> list[int]:
    """Numbers of labels to forecast for: those that are there, and more. Few are no measure of how many more would help."""
    more = {round(labels * times) for times in _MORE} | set(_WORTH_HAVING)
    return [labels, *sorted(size for size in more if size > labels)]


def _certify(
    labels: Sequence[Label],
    tiers: Sequence[TierSpec],
    promise: Promise,
    fingerprints: Mapping[str, str],
    *,
    judged_by: str | None,
    out: Path,
    plot: Path | None,
) -> Certificate:
    """Test, say what came out, and write it."""
    from datetime import UTC, datetime

    from tiered_eval.calibration.calibrate import calibrate as certified
    from tiered_eval.calibration.certificate import save_certificate
    from tiered_eval.calibration.collecting import judge_fingerprint
    from tiered_eval.calibration.plot import path_as_svg
    from tiered_eval.calibration.wording import certificate_lines

    certificate = certified(
        labels,
        tiers,
        promise,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        fingerprints=fingerprints,
        shipped=_shipped(labels, tiers),
        judged_by=judge_fingerprint(judged_by) if judged_by else None,
    )
    say("")
    for line in certificate_lines(certificate):
        say(line)
    save_certificate(certificate, out)
    say(f"written: {out}")
    say(_use(fingerprints, out))
    if plot is not None and certificate.grants and promise.alpha is not None:
        plot.write_text(path_as_svg(certificate.grants[0], promise.alpha), encoding="utf-8")
        say(f"drawn: {plot}")
    return certificate


def _use(fingerprints: Mapping[str, str], out: Path) -> str:
    """How a certificate gets to work, if a run can make its scores at all."""
    from tiered_eval.runner.certified import FILE_NAME

    foreign = [name for name, made in fingerprints.items() if made == "recorded" or made == name]
    if foreign:
        return (
            f"a run does not make these scores itself: {', '.join(foreign)}. Decide by it from Python (CertifiedDecider); "
            "in a run it is void, and what it covers goes to the judge"
        )
    if out.name != FILE_NAME:
        return f"a run decides by it with --certificate {out}"
    folder = "this folder" if out.parent == Path() else str(out.parent)
    return f"runs of a suite in {folder} decide by it, others with --certificate {out}"


def _check(
    relative: float | None,
    top: str | None,
    *,
    proxy: bool,
    judge: Sequence[str],
    early_judges: Sequence[str],
    costs: Sequence[str],
) -> None:
    """Refuse options that cannot be meant together.

    Raises:
        UsageError: they are such.
    """
    if relative is not None and (top is None or proxy):
        raise click.UsageError(
            "--relative compares with a top judge: name it with --top, and let people label"
        )
    if proxy and top is None and not judge:
        raise click.UsageError(
            "--proxy takes labels from a top judge: name a recorded one with --top, or buy them with --judge"
        )
    for model in early_judges:
        if not any(cost.startswith(f"{model}=") for cost in costs):
            raise click.UsageError(
                f"--early-judge {model}: say what it costs over the top judge, such as --cost {model}=10%"
            )
    if judge and not proxy:
        raise click.UsageError("--judge buys labels, and is for --proxy only")


class _Outlook:
    """What is to be expected, said once: before anything is bought, if it can be known by then."""

    def __init__(
        self, promise: Promise, top: str | None, costs: Sequence[str], *, buys_scores: bool, goes_on: bool
    ) -> None:
        self._promise = promise
        self._top = top
        self._costs = costs
        self._buys_scores = buys_scores
        self._goes_on = goes_on
        self._said: set[str] = set()

    def is_worth_buying(self, unlabelled: Sequence[Label]) -> bool:
        """Say what can be expected of these once they have labels; is anything to be bought?

        Raises:
            UsageError: nothing could decide early, whatever the labels say.
        """
        if self._buys_scores or _shipped(unlabelled, _tiers(unlabelled, self._top, self._costs)) is None:
            say("what to expect can be said only when scores and verdicts are bought")
        else:
            # A shipped design plans with scores alone.
            self.tell([replace(label, met=False) for label in unlabelled])
        return self._goes_on

    def tell(self, labels: Sequence[Label]) -> None:
        """Say what these bring, and how many more would help."""
        from tiered_eval.calibration.calibrate import forecast
        from tiered_eval.calibration.wording import forecast_lines

        tiers = _tiers(labels, self._top, self._costs)
        shipped = _shipped(labels, tiers)
        for line in forecast_lines(
            forecast(labels, tiers, self._promise, _sizes(len(labels)), shipped=shipped)
        ):
            if line not in self._said:
                say(line)
                self._said.add(line)


class _Scoring:
    """What is needed to make scores, and to buy labels, for rows that hold texts."""

    def __init__(
        self,
        judge: Sequence[str],
        early_judges: Sequence[str],
        max_cost: Decimal | None,
        price: Sequence[str],
        prices: Path | None,
        embedder: str,
        home: Path,
    ) -> None:
        from tiered_eval.calibration.collecting import score_stage
        from tiered_eval.config import RunConfig
        from tiered_eval.records import JudgeStage

        self._judge = tuple(judge)
        self._early_judges = tuple(early_judges)
        self._config = RunConfig(
            # All of them, so that each is checked and priced before the first call.
            chain=(
                *map(score_stage, self._early_judges),
                *([JudgeStage(models=self._judge)] if self._judge else []),
            ),
            embedder=embedder,
            max_cost_usd=max_cost,
            home=home,
            prices=prices_from(price, prices),
            mode="live",
        )

    def buys_for(self, rows: Sequence[LabelRow]) -> bool:
        """Is there something to buy, and are there texts to buy it for?"""
        return bool(self._judge or self._early_judges) and any(row.case is not None for row in rows)

    async def scored(
        self, rows: Sequence[LabelRow], *, is_worth_buying: Callable[[Sequence[Label]], bool]
    ) -> tuple[list[Label], str | None]:
        """The labels with all scores, and the embedder that made some of them.

        ``is_worth_buying`` sees them with their free scores, before the first call; where it says no, there is none.
        """
        from tiered_eval.calibration.collecting import ask_top_judge, judge_scores, label_scores
        from tiered_eval.runner import Evaluator

        if all(row.case is None for row in rows):
            return [row.label for row in rows], None
        async with Evaluator(self._config) as evaluator:
            labels = await label_scores(rows, evaluator)
            assert evaluator.services is not None
            embedder_id = evaluator.services.embedder_id
            if not self.buys_for(rows) or not is_worth_buying(labels):
                return list(labels), embedder_id
            for model in self._early_judges:
                said = await judge_scores(rows, evaluator, model)
                labels = tuple(
                    replace(label, scores={**label.scores, model: said.get(label.id)}) for label in labels
                )
            bought = await ask_top_judge(rows, evaluator, self._judge) if self._judge else {}
            spent_usd = evaluator.services.spent_usd
        if self._judge:
            self._tell_bought(len(bought), sum(row.case is not None for row in rows), spent_usd)
        return [replace(label, top=bought.get(label.id, label.top)) for label in labels], embedder_id

    def _tell_bought(self, verdicts: int, rows: int, spent_usd: Decimal) -> None:
        """Say how many there are.

        Raises:
            ConfigError: none.
        """
        of = f"{verdicts:,} of {rows:,} rows have a verdict of {', '.join(self._judge)}, for ${spent_usd.normalize():f}"
        why = (
            "; on the others it could not tell, or was not asked for want of money" if verdicts < rows else ""
        )
        if not verdicts:
            raise ConfigError(f"{of}: there is nothing to calibrate with{why.replace(' on the others', '')}")
        say(f"{of}{why}")


def _tiers(labels: Sequence[Label], top: str | None, costs: Sequence[str]) -> list[TierSpec]:
    """Free scores, the embedding, then judges by their cost, and the top tier.

    Raises:
        UsageError: a cost cannot be read, or names a score that no label has.
    """
    from tiered_eval.calibration.collecting import EMBEDDING_SCORE
    from tiered_eval.calibration.features import FEATURES
    from tiered_eval.calibration.labels import TierSpec

    known = {name for label in labels for name, score in label.scores.items() if score is not None}
    tiers = []
    if known & set(FEATURES):
        tiers.append(TierSpec(name="free", scores=FEATURES, cost=0.0))
    if EMBEDDING_SCORE in known:
        tiers.append(TierSpec(name="embedding", scores=(EMBEDDING_SCORE,), cost=0.0))
    judges = []
    for text in costs:
        name, _, share = text.partition("=")
        if name not in known:
            raise click.UsageError(
                f"--cost {text}: no label has a score {name!r}; there are {', '.join(sorted(known))}"
            )
        judges.append(TierSpec(name=name, scores=(name,), cost=SHARE.convert(share, None, None)))
    tiers += sorted(judges, key=lambda tier: tier.cost)
    if not tiers and not known:
        raise click.UsageError(
            f"nothing could decide early: no free check scores rows of kind {', '.join(sorted({one.kind for one in labels}))}. "
            "Buy the scores of a cheap judge with --early-judge MODEL, or record some and name them with --cost NAME=SHARE"
        )
    if not tiers:
        raise click.UsageError(
            f"name the early checks with --cost NAME=SHARE; the labels have {', '.join(sorted(known))}"
        )
    return [*tiers, TierSpec(name=top or "top", scores=(), cost=1.0)]


def _shipped(labels: Sequence[Label], tiers: Sequence[TierSpec]) -> ShippedDesign | None:
    """The shipped design, if it knows all kinds and all tiers."""
    from tiered_eval.calibration.shipped import shipped_design

    return shipped_design(tiers, {label.kind for label in labels})


def _fingerprints(
    tiers: Sequence[TierSpec], embedder_id: str | None, early_judges: Sequence[str]
) -> dict[str, str]:
    """What made the scores; a recorded judge is known by its name only."""
    from tiered_eval.calibration.collecting import judge_fingerprint, run_fingerprints

    judges = {
        tier.name: judge_fingerprint(tier.name) if tier.name in early_judges else tier.name
        for tier in tiers[:-1]
        if tier.name not in ("free", "embedding")
    }
    made = run_fingerprints(embedder_id, judges)
    return {tier.name: made.get(tier.name, "recorded") for tier in tiers[:-1]}
