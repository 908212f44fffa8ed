"""What a loopback provider is told: latency, limits, faults and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

__all__ = ["FAULTS", "Fault", "LatencyShape", "LoopbackSettings", "check_fault"]

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
    input_price_pico: int = 100_000
    """Pico-dollars a token: 100,000 is $0.10 a million."""
    output_price_pico: int = 500_000
    api_key: str | None = None
    """Anything else in the authorization header is answered with 401. None accepts all."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in (*self.fault_rates, *self.script):
            check_fault(name)
        if not 0 <= sum(self.fault_rates.values()) <= 1:
            raise ValueError("the shares of faults must lie between 0 and 1 in all")


def check_fault(name: str) -> None:
    """Raise ValueError for a fault that there is not."""
    if name not in FAULTS:
        raise ValueError(f"unknown fault {name!r}; known: {', '.join(FAULTS)}")
