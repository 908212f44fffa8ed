"""What a home has spent, on what, and what it need not have: the figures behind ``tiered-eval spend``.

The one idea: money is told by the ledger alone, which knows every call that was billed. What no call was made for (kept
replies, free checks) is told by the reports of the kept runs; a run that was not kept has no part in those columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from tiered_eval.config import NAME_THE_HOME
from tiered_eval.errors import ConfigError
from tiered_eval.ledger import Flow, Ledger
from tiered_eval.pricing import usd_from_pico
from tiered_eval.records import Report
from tiered_eval.reports import kept
from tiered_eval.reports.avoided_anew import AvoidedAnew
from tiered_eval.reports.judge_heavy import JudgeHeavy, judge_heavy

__all__ = ["HEADINGS", "Line", "Spending", "read_spending"]

HEADINGS = ("day", "run", "suite", "tier", "model", "kind")
_RUNS_LOOKED_AT = 50
"""Of so many latest runs the verdicts are read, to find what always ends at the judge."""


@dataclass(slots=True, kw_only=True)
class Line:
    """Money under one heading. Dollars."""

    name: str
    answers: int = 0
    """Billed; a call that answered several questions counts as often."""
    billed_usd: Decimal = Decimal(0)
    unknown_calls: int = 0
    unknown_usd: Decimal = Decimal(0)
    """Worst case of what may have been billed."""
    from_store: int = 0
    """Answered by kept replies."""
    stored_usd: Decimal = Decimal(0)
    """What those had cost when they were bought."""
    avoided_usd: Decimal = Decimal(0)
    """What was decided without a call would have cost at the judge: an estimate. Once for each response, by the first run that had
    it: a later run would have found the answers kept."""
    cache_saved_usd: Decimal = Decimal(0)
    """By fronts of prompts that vendors kept ready; below 0 where that did not pay."""
    batched: int = 0
    retried: int = 0
    unpriced: int = 0

    def add(self, flow: Flow) -> None:
        self.answers += flow.answers
        self.billed_usd += usd_from_pico(flow.cost)
        self.unknown_calls += flow.unknown_calls
        self.unknown_usd += usd_from_pico(flow.unknown)
        self.batched += flow.batched
        self.retried += flow.retried
        self.unpriced += flow.unpriced


@dataclass(slots=True, kw_only=True)
class Spending:
    """Everything that ``tiered-eval spend`` shows."""

    home: str
    since: str
    """First day (UTC); empty for all."""
    total: Line = field(default_factory=lambda: Line(name="total"))
    by: dict[str, list[Line]] = field(default_factory=dict)
    """Lines by heading: ``day`` in order of time, the others dearest first."""
    judge_heavy: list[JudgeHeavy] = field(default_factory=list)
    not_kept: int = 0
    """Runs that the ledger knows and no report was kept of."""


def read_spending(home: Path, *, since: str = "") -> Spending:
    """Add up what ``home`` has spent.

    Raises:
        ConfigError: there is neither a ledger nor a kept run.
        LedgerError: the ledger cannot be trusted.
    """
    seen, avoided = AvoidedAnew(), dict[str, Mapping[str, Decimal]]()
    reports = list[Report]()
    for report in _reports(home):
        anew = seen.by_tier(report)  # also of earlier days: what they had is not avoided again
        if report.started_at[:10] >= since:
            reports.append(report)
            avoided[report.run_id] = anew
    flows: list[Flow] = []
    if (home / "ledger.db").is_file():
        with Ledger.open(home) as ledger:
            flows = ledger.flows(since=since)
    elif not reports:
        raise ConfigError(f"there is neither a ledger nor a kept run in {home}: {NAME_THE_HOME}")
    spending = Spending(home=str(home), since=since)
    sums: dict[str, dict[str, Line]] = {heading: {} for heading in HEADINGS}
    suites = _suite_names(flows, reports)
    for flow in flows:
        spending.total.add(flow)
        for heading, name in _names_of(flow, suites).items():
            _line(sums, heading, name).add(flow)
    for report in reports:
        _add_report(report, avoided[report.run_id], spending.total, sums)
    spending.by = {
        heading: sorted(lines.values(), key=_in_time if heading in ("day", "run") else _dearest_first)
        for heading, lines in sums.items()
    }
    spending.not_kept = len({flow.run for flow in flows} - {report.run_id for report in reports})
    spending.judge_heavy = judge_heavy(reports[-_RUNS_LOOKED_AT:])
    return spending


def _reports(home: Path) -> Iterator[Report]:
    """Kept runs in order of time; one that cannot be read has no part."""
    for path in sorted((home / "runs").glob("*/report.json")):
        try:
            yield kept.load_kept(path.parent)
        except ConfigError:
            continue


def _add_report(
    report: Report, avoided: Mapping[str, Decimal], total: Line, sums: dict[str, dict[str, Line]]
) -> None:
    spend = report.spend
    whole = {"day": report.started_at[:10], "run": report.run_id, "suite": report.suite}
    for line in (total, *(_line(sums, heading, name) for heading, name in whole.items())):
        line.from_store += spend.from_store
        line.stored_usd += spend.stored_usd
        line.cache_saved_usd += spend.cache_saved_usd
        line.avoided_usd += sum(avoided.values(), Decimal(0))
    for heading, parts in (("tier", spend.by_tier), ("model", spend.by_model), ("kind", spend.by_kind)):
        for part in parts:
            line = _line(sums, heading, part.name)
            line.from_store += part.from_store
            line.stored_usd += part.stored_usd
    for tier, usd in avoided.items():
        _line(sums, "tier", tier).avoided_usd += usd


def _suite_names(flows: Sequence[Flow], reports: Sequence[Report]) -> dict[str, str]:
    """What reports call the suites that the ledger knows by their files."""
    names = {report.run_id: report.suite for report in reports}
    return {flow.suite: names.get(flow.run) or Path(flow.suite).stem or "(none)" for flow in flows} | {
        flow.suite: names[flow.run] for flow in flows if names.get(flow.run)
    }


def _names_of(flow: Flow, suites: Mapping[str, str]) -> dict[str, str]:
    """The name under each heading that a flow counts under."""
    return {
        "day": flow.day,
        "run": flow.run,
        "suite": suites[flow.suite],
        "tier": flow.tier,
        "model": flow.model,
        "kind": flow.kind or "(none)",
    }


def _line(sums: dict[str, dict[str, Line]], heading: str, name: str) -> Line:
    return sums[heading].setdefault(name, Line(name=name))


def _in_time(line: Line) -> tuple[object, ...]:
    return (line.name,)


def _dearest_first(line: Line) -> tuple[object, ...]:
    return (-(line.billed_usd + line.unknown_usd), -line.avoided_usd, -line.from_store, line.name)
