"""The bill of one run, kept while it runs: by tier, model and kind, and how long providers were waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tiered_eval.ledger import shares_of
from tiered_eval.records import DecisionRequest, ModelRequest, Spend, SpendLine, Usage

__all__ = ["CallStatistics", "CallTally", "Heading", "heading_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStatistics:
    """What went through the door so far."""

    spend: Spend
    provider_wait_s: float
    """Wall clock during which at least one call was open."""
    coalesced: int = 0
    """Askers that were served by a call that another one of this run had already begun."""
    damaged_replies: int = 0
    """Kept replies that could not be used, and were asked for again."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """What a call is counted under."""

    tier: str
    model: str
    kind: str
    stage: int | str | None = None


def heading_of(request: ModelRequest | DecisionRequest, model: str) -> Heading:
    """What a question is counted under."""
    return Heading(tier="judge", model=model, kind=request.kind, stage=request.stage)


@dataclass(slots=True)
class _Line:
    calls: int = 0
    from_store: int = 0
    stored: int = 0
    cost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class CallTally:
    """Counts of one gateway. Amounts are pico-dollars."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.settled = 0
        self.unknown = 0
        self.unknown_calls = 0
        self.coalesced = 0
        self._cache_reads = 0
        self._cache_writes = 0
        self._cache_saved = 0
        self._clock = clock
        self._open = 0
        self._opened_at = 0.0
        self._waited_s = 0.0
        self._lines: dict[Heading, _Line] = {}

    def open_call(self) -> None:
        """A call leaves."""
        if not self._open:
            self._opened_at = self._clock()
        self._open += 1

    def close_call(self) -> None:
        """Its answer, or its failure, is there."""
        self._open -= 1
        if not self._open:
            self._waited_s += self._clock() - self._opened_at

    def bill(self, heading: Heading, cost: int, usage: Usage, *, others: Sequence[Heading] = ()) -> None:
        """A call was billed, with or without a usable answer. Questions that share it share cost and tokens exactly."""
        self.settled += cost
        headings = (heading, *others)
        self._line(heading).calls += 1
        shares = zip(
            headings,
            shares_of(cost, len(headings)),
            shares_of(usage.input_tokens, len(headings)),
            shares_of(usage.output_tokens, len(headings)),
            strict=True,
        )
        for each, cost_share, input_share, output_share in shares:
            line = self._line(each)
            line.cost += cost_share
            line.input_tokens += input_share
            line.output_tokens += output_share

    def note_front(self, usage: Usage, saved: int) -> None:
        """The front of a prompt was read at the vendor, or written there; that saved so much, or cost so much more."""
        self._cache_reads += usage.cache_read_tokens
        self._cache_writes += usage.cache_write_tokens + usage.cache_write_long_tokens
        self._cache_saved += saved

    def lose(self, heading: Heading, bound: int) -> None:
        """A call may have been billed."""
        self._line(heading)
        self.unknown += bound
        self.unknown_calls += 1

    def serve_from_store(self, heading: Heading, cost_then: int) -> None:
        """A kept reply answered; it had cost ``cost_then`` when it was bought."""
        line = self._line(heading)
        line.from_store += 1
        line.stored += cost_then

    def join(self, heading: Heading) -> None:
        """An asker was served by a call of this run that was begun for another one."""
        self.coalesced += 1
        self._line(heading).from_store += 1

    @property
    def provider_wait_s(self) -> float:
        running = self._clock() - self._opened_at if self._open else 0.0
        return self._waited_s + running

    def spend(
        self, *, cap: int | None, reserved: int, ledger_settled: int = 0, ledger_unknown: int = 0
    ) -> Spend:
        """The bill so far, in dollars."""
        lines = self._lines.values()
        return Spend(
            settled_usd=_usd(self.settled),
            unknown_usd=_usd(self.unknown),
            reserved_usd=_usd(reserved),
            cap_usd=None if cap is None else _usd(cap),
            stored_usd=_usd(sum(line.stored for line in lines)),
            cache_read_tokens=self._cache_reads,
            cache_write_tokens=self._cache_writes,
            cache_saved_usd=_usd(self._cache_saved),
            calls=sum(line.calls for line in lines),
            from_store=sum(line.from_store for line in lines),
            unknown_calls=self.unknown_calls,
            by_tier=self._by(lambda heading: heading.tier),
            by_model=self._by(lambda heading: heading.model),
            by_kind=self._by(lambda heading: heading.kind),
            by_stage=self._by(
                lambda heading: f"stage {heading.stage}" if isinstance(heading.stage, int) else heading.stage
            ),
            ledger_settled_usd=_usd(ledger_settled),
            ledger_unknown_usd=_usd(ledger_unknown),
        )

    def _line(self, heading: Heading) -> _Line:
        return self._lines.setdefault(heading, _Line())

    def _by(self, name_of: Callable[[Heading], str | None]) -> tuple[SpendLine, ...]:
        """Sums by the name of a heading; those that have none are left out."""
        sums: dict[str, _Line] = {}
        for heading, line in self._lines.items():
            if (name := name_of(heading)) is None:
                continue
            total = sums.setdefault(name, _Line())
            total.calls += line.calls
            total.from_store += line.from_store
            total.stored += line.stored
            total.cost += line.cost
            total.input_tokens += line.input_tokens
            total.output_tokens += line.output_tokens
        return tuple(
            SpendLine(
                name=name,
                calls=line.calls,
                from_store=line.from_store,
                cost_usd=_usd(line.cost),
                input_tokens=line.input_tokens,
                output_tokens=line.output_tokens,
                stored_usd=_usd(line.stored),
            )
            for name, line in sorted(sums.items())
        )


def _usd(pico: int) -> Decimal:
    return Decimal(pico).scaleb(-12)
