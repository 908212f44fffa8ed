"""Money by suite and by time: what caps on a day, a month or a suite are held against.

The one idea: the file keeps these sums itself, by triggers on the tables that hold the money, so no way of ending a
call can forget them. A call counts for the day (UTC) on which it was claimed, however late it ends: its worst case
was set aside under that day's cap.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from tiered_eval.records import CapPeriod

__all__ = ["STATEMENTS", "Cap", "disagreements", "find_full", "label_of", "totals"]

_LENGTH = {"day": len("2026-11-30"), "month": len("2026-11"), "ever": 0}
"""Letters of an instant that name its period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """A cap next to that of the run, in pico-dollars."""

    amount: int
    period: CapPeriod
    suite: str = ""
    """Empty: the cap is on everything that this ledger records."""


def label_of(cap: Cap, at: str) -> str:
    """What a cap is on, for people: ``month 2026-11 (UTC)``, ``suite atlas, day 2026-11-30 (UTC)``."""
    period = "" if cap.period == "ever" else f"{cap.period} {_period(cap.period, at)} (UTC)"
    suite = f"suite {cap.suite}" if cap.suite else ""
    return ", ".join(filter(None, (suite, period))) or "whole ledger"


def find_full(
    connection: sqlite3.Connection, caps: tuple[Cap, ...], bound: int, at: str
) -> tuple[Cap, tuple[int, int, int]] | None:
    """The cap that leaves no room for ``bound``, with what is settled, unknown and reserved under it.

    Of several, the one that waiting helps least: nothing is reserved under it, or the least room is left.
    """
    full = []
    for cap in caps:
        row = connection.execute(
            "SELECT settled, unknown, reserved FROM period_sum WHERE suite = ? AND period = ?",
            (cap.suite, _period(cap.period, at)),
        ).fetchone()
        sums = row or (0, 0, 0)
        if sum(sums) + bound > cap.amount:
            full.append((cap, sums))
    return min(full, key=lambda item: (item[1][2] > 0, item[0].amount - sum(item[1])), default=None)


def disagreements(connection: sqlite3.Connection) -> Iterator[str]:
    """Sums of periods that differ from what the calls add up to, in words."""
    kept = dict(_rows(connection, "SELECT suite, period, settled, unknown, reserved FROM period_sum"))
    added = dict(_rows(connection, _RECOMPUTED))
    for place in sorted(kept.keys() | added.keys()):
        if kept.get(place, (0, 0, 0)) != added.get(place, (0, 0, 0)):
            suite, period = place
            yield f"suite {suite or '(all)'}, period {period or '(all)'}"


def totals(connection: sqlite3.Connection) -> set[tuple[int, int, int]]:
    """What the days, the months and all time add up to: one and the same, in a sound ledger."""
    return set(connection.execute(_TOTALS).fetchall())


def _rows(
    connection: sqlite3.Connection, statement: str
) -> Iterator[tuple[tuple[str, str], tuple[int, int, int]]]:
    for suite, period, *sums in connection.execute(statement):
        if any(sums):
            yield (suite, period), (sums[0], sums[1], sums[2])


def _period(period: CapPeriod, at: str) -> str:
    return at[: _LENGTH[period]]


def _places(run: str, sent_at: str) -> str:
    """The sums that one call counts for: of all and of its suite, each ever, in its month and on its day."""
    lengths = ", ".join(f"({length})" for length in _LENGTH.values())
    return (
        f"(SELECT '' AS suite UNION SELECT suite FROM run WHERE id = {run}) AS whose, "
        f"(SELECT substr({sent_at}, 1, column1) AS period FROM (VALUES {lengths})) AS time"
    )


def _adding(
    settled: str, unknown: str, reserved: str, *, run: str = "NEW.run", at: str = "NEW.sent_at"
) -> str:
    """Add the amounts of one row to its sums."""
    return (
        "INSERT INTO period_sum (suite, period, settled, unknown, reserved) "
        f"SELECT whose.suite, time.period, {settled}, {unknown}, {reserved} "
        f"FROM {_places(run, at)} WHERE true "
        "ON CONFLICT (suite, period) DO UPDATE SET settled = settled + excluded.settled, "
        "unknown = unknown + excluded.unknown, reserved = reserved + excluded.reserved;"
    )


def _changing(
    settled: str, unknown: str, reserved: str, *, run: str = "OLD.run", at: str = "OLD.sent_at"
) -> str:
    """The same for a row that was added before, so that its sums are there: half the work."""
    times = ", ".join(f"substr({at}, 1, {length})" for length in _LENGTH.values())
    return (
        f"UPDATE period_sum SET settled = settled + {settled}, unknown = unknown + {unknown}, "
        f"reserved = reserved + {reserved} "
        f"WHERE suite IN ('', (SELECT suite FROM run WHERE id = {run})) AND period IN ({times});"
    )


def _settled(row: str) -> str:
    return f"iif({row}.state = 'settled', {row}.cost, 0)"


def _reserved(row: str) -> str:
    return f"iif({row}.state = 'reserved', {row}.bound, 0)"


def _lost(column: str) -> str:
    return f"(SELECT {column} FROM lost WHERE id = NEW.lost)"


_FLOWS = """
SELECT run, sent_at, cost AS settled, 0 AS unknown, 0 AS reserved FROM call WHERE state = 'settled'
UNION ALL SELECT run, sent_at, 0, 0, bound FROM call WHERE state = 'reserved'
UNION ALL SELECT run, sent_at, cost, 0, 0 FROM charge
UNION ALL SELECT run, sent_at, 0, bound, 0 FROM lost WHERE id NOT IN (SELECT lost FROM resolved)
"""

_RECOMPUTED = f"""
SELECT whose.suite, substr(flow.sent_at, 1, time.column1), sum(settled), sum(unknown), sum(reserved)
FROM ({_FLOWS}) AS flow
JOIN (SELECT '' AS suite, NULL AS id UNION ALL SELECT suite, id FROM run) AS whose
    ON whose.id IS NULL OR (whose.id = flow.run AND whose.suite <> ''),
(VALUES {", ".join(f"({length})" for length in _LENGTH.values())}) AS time
GROUP BY 1, 2
"""

_TOTALS = f"""
SELECT coalesce(sum(settled), 0), coalesce(sum(unknown), 0), coalesce(sum(reserved), 0)
FROM (VALUES {", ".join(f"({length})" for length in _LENGTH.values())}) AS time
LEFT JOIN period_sum ON suite = '' AND length(period) = time.column1
GROUP BY time.column1
"""

STATEMENTS = (
    *(
        f"ALTER TABLE {table} ADD COLUMN sent_at TEXT NOT NULL DEFAULT ''"
        for table in ("call", "charge", "lost")
    ),
    *(f"UPDATE {table} SET sent_at = at" for table in ("call", "charge", "lost")),
    "CREATE TABLE resolved (lost INTEGER PRIMARY KEY REFERENCES lost (id), cost INTEGER, source TEXT NOT NULL, "
    "at TEXT NOT NULL)",
    "CREATE TABLE period_sum (suite TEXT NOT NULL, period TEXT NOT NULL, settled INTEGER NOT NULL, "
    "unknown INTEGER NOT NULL, reserved INTEGER NOT NULL, PRIMARY KEY (suite, period)) WITHOUT ROWID",
    f"INSERT INTO period_sum {_RECOMPUTED}",
    f"CREATE TRIGGER call_added AFTER INSERT ON call BEGIN {_adding(_settled('NEW'), '0', _reserved('NEW'))} END",
    f"CREATE TRIGGER call_removed AFTER DELETE ON call BEGIN "
    f"{_changing('-' + _settled('OLD'), '0', '-' + _reserved('OLD'))} END",
    # Whose a call is and when it left never change.
    "CREATE TRIGGER call_changed AFTER UPDATE OF state, bound, cost ON call BEGIN "
    + _changing(f"{_settled('NEW')} - {_settled('OLD')}", "0", f"{_reserved('NEW')} - {_reserved('OLD')}")
    + " END",
    f"CREATE TRIGGER charge_added AFTER INSERT ON charge BEGIN {_adding('NEW.cost', '0', '0')} END",
    f"CREATE TRIGGER lost_added AFTER INSERT ON lost BEGIN {_adding('0', 'NEW.bound', '0')} END",
    "CREATE TRIGGER lost_resolved AFTER INSERT ON resolved BEGIN "
    + _changing("0", f"-{_lost('bound')}", "0", run=_lost("run"), at=_lost("sent_at"))
    + " END",
)
"""Since format 3. ``sent_at`` is when a call was claimed; ``resolved`` says of a lost call what became of it:
``cost`` is NULL where it was not billed, else a row of ``charge`` holds the money as well."""
