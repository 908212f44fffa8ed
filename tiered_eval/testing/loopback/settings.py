"""What a loopback provider is told: latency, limits, faults and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

__all__ = [
    "BATCH_FAULTS",
    "FAULTS",
    "ITEM_FAULTS",
    "Fault",
    "LatencyShape",
    "LoopbackSettings",
    "check_fault",
]

LatencyShape: TypeAlias = Literal["constant", "lognormal"]

Fault: TypeAlias = Literal[
    "none",
    "400",
    "401",
    "402",
    "403",
    "404",
    "408",
    "409",
    "413",
    "422",
    "429",
    "500",
    "502",
    "503",
    "504",
    "529",
    "spend-limit",
    "content-filter-400",
    "html",
    "html-200",
    "reset",
    "malformed",
    "truncated",
    "hang",
    "drip",
    "error-200",
    "refusal",
    "content-filter",
    "empty",
    "cut",
    "null-choices",
    "no-usage",
    "wrong-nonce",
    "wrong-schema",
    "fenced",
]
"""What may go wrong with one call:

a status with the vendor's own error body; ``spend-limit`` a 429 that waiting does not cure;
``content-filter-400`` a filtered prompt; ``html`` a gateway's 502 page; ``html-200`` such a page with 200;
``reset`` the connection is torn down; ``malformed`` JSON that breaks off; ``truncated`` fewer bytes than announced;
``hang`` no answer ever; ``drip`` a right answer, byte by byte; ``error-200`` an error body with 200;
``refusal``, ``content-filter``, ``empty`` (all tokens went into reasoning), ``cut`` (half of the JSON) as the
vendor says it; ``null-choices`` an answer without content; ``no-usage`` an answer without counts; ``wrong-nonce``,
``wrong-schema`` and ``fenced`` are replies of a model that did not follow its instructions.
"""

FAULTS: tuple[str, ...] = get_args(Fault)

_MODEL_FAULTS = frozenset(
    "refusal content-filter empty cut null-choices no-usage wrong-nonce wrong-schema fenced error-200".split()
)
ITEM_FAULTS: tuple[str, ...] = (
    *(fault for fault in FAULTS if fault in _MODEL_FAULTS or fault.isdigit() or fault == "none"),
    "cancelled",
    "expired",
    "missing",
    "twice",
    "conflict",
    "unreadable",
    "odd",
)
"""What may go wrong with one item of a batch: what may go wrong with a reply, a status of its own, the item
``cancelled`` or ``expired``; or it has run and its result is ``missing``, there ``twice``, there twice with different
answers (``conflict``), no JSON (``unreadable``), or JSON of an unknown shape (``odd``)."""

BATCH_FAULTS: tuple[str, ...] = (
    *(
        fault
        for fault in FAULTS
        if fault.isdigit()
        or fault in "none html html-200 reset malformed truncated hang drip error-200 spend-limit".split()
    ),
    "failed",
    "queue-full",
)
"""What may go wrong with one request *about* a batch, or an upload: as with a call; or, where a batch of OpenAI is
made, it is turned away as a whole after a look at its file (``failed``, ``queue-full``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopbackSettings:
    """One server's behaviour. The same settings and the same order of requests give the same answers."""

    latency_s: float = 0.0
    """Of a successful call: the constant, or the median of the lognormal."""
    latency_shape: LatencyShape = "constant"
    latency_sigma: float = 0.5
    requests_per_minute: int | None = None
    """None: no limit and no rate-limit headers."""
    tokens_per_minute: int | None = None
    burst: float | None = None
    """Requests that may pile up; None: what comes in one second, at least 1."""
    retry_after: Literal["seconds", "milliseconds", "date", "none"] = "seconds"
    """How a 429 says when to come back. Seconds and dates are rounded up to whole ones."""
    fault_rates: Mapping[str, float] = field(default_factory=dict)
    """Fault to share of calls; the rest succeeds."""
    script: tuple[str, ...] = ()
    """Faults of the first calls, one each, before the rates count."""
    drip_interval_s: float = 0.05
    pass_share: float = 1.0
    """Share of questions whose enumerated answers take the first value; the others take the second."""
    reasoning_tokens: int = 0
    """Added to each reply's output, as hidden reasoning is."""
    uses_max_tokens: bool = False
    """Hidden reasoning takes all that ``max_tokens`` leaves, so that each reply costs what its output can cost at most."""
    input_price_pico: int = 100_000
    """Pico-dollars a token: 100,000 is $0.10 a million."""
    output_price_pico: int = 500_000
    cache_read_percent: int = 10
    """Of the input price, for what is read from a kept prompt."""
    cache_write_percent: int = 125
    """For what is written for five minutes (Anthropic) or thirty (OpenAI)."""
    cache_write_long_percent: int = 200
    """For what is written for an hour."""
    batch_percent: int = 50
    """Of everything, for an item of a batch."""
    batch_delay_s: float = 0.0
    """Until the last item of a batch has run; they run one after the other, evenly."""
    batch_expires_s: float = 86_400.0
    """What has not run by then never will."""
    batch_script: tuple[str, ...] = ()
    """Faults of the first requests about batches, one each; see ``BATCH_FAULTS``."""
    item_script: tuple[str, ...] = ()
    """Faults of the first items of batches; see ``ITEM_FAULTS``."""
    item_fault_rates: Mapping[str, float] = field(default_factory=dict)
    """Fault to share of items, after the script."""
    api_key: str | None = None
    """Anything else in the authorization header is answered with 401. None accepts all."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in (*self.fault_rates, *self.script):
            check_fault(name)
        for name in self.batch_script:
            check_fault(name, BATCH_FAULTS)
        for name in (*self.item_fault_rates, *self.item_script):
            check_fault(name, ITEM_FAULTS)
        for rates in (self.fault_rates, self.item_fault_rates):
            if not 0 <= sum(rates.values()) <= 1:
                raise ValueError("the shares of faults must lie between 0 and 1 in all")


def check_fault(name: str, known: tuple[str, ...] = FAULTS) -> None:
    """Raise ValueError for a fault that there is not."""
    if name not in known:
        raise ValueError(f"unknown fault {name!r}; known: {', '.join(known)}")
