"""Spending as text, as JSON and as CSV. Reads a ``Spending`` and decides nothing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tiered_eval.records.codec import plain_decimal
from tiered_eval.reports.judge_heavy import JudgeHeavy
from tiered_eval.reports.spending import HEADINGS, Line, Spending
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import plural, usd

__all__ = ["csv_text", "json_text", "text"]

_BARS = " ▏▎▍▌▋▊▉█"
_DAYS_PLOTTED = 31
_LINES_SHOWN = 10
_COLUMNS = ("answers", "billed", "unknown", "from store", "avoided")


def text(spending: Spending, *, width: int = 100) -> str:
    """What was spent, on what, and how it went, for people."""
    parts = [_head(spending), "\n".join(_trend(spending.by["day"], width))]
    parts += ["\n".join(_table(heading, spending.by[heading])) for heading in HEADINGS if heading != "day"]
    parts.append("\n".join(_judge_heavy(spending.judge_heavy)))
    return "\n\n".join(filter(None, parts))


def json_text(spending: Spending) -> str:
    """All of it as one JSON object; amounts are decimal text, in US dollars."""
    content = {
        "home": spending.home,
        "since": spending.since or None,
        "total": _plain(spending.total),
        "by": {heading: [_plain(line) for line in lines] for heading, lines in spending.by.items()},
        "judge_heavy": [_plain(each) for each in spending.judge_heavy],
        "runs_not_kept": spending.not_kept,
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def csv_text(spending: Spending) -> str:
    """One row a line of every heading, and the total."""
    out = io.StringIO()
    rows = [("total", spending.total)] + [(h, line) for h, lines in spending.by.items() for line in lines]
    writer = csv.DictWriter(out, ["heading", *_plain(spending.total)], lineterminator="\n")
    writer.writeheader()
    for heading, line in rows:
        writer.writerow({"heading": heading, **_plain(line), "name": _cell(line.name)})
    return out.getvalue()


def _head(spending: Spending) -> str:
    total = spending.total
    since = f" since {spending.since}" if spending.since else ""
    also = [
        f"{plural(count, 'answer')} {what}"
        for count, what in (
            (total.batched, "by batches"),
            (total.retried, "at a second or later attempt"),
            (total.unpriced, "at a price of 0"),
        )
        if count
    ]
    lines = [
        f"spent{since}   {usd(total.billed_usd)} for {plural(total.answers, 'answer')}"
        + (f" (of them {', '.join(also)})" if also else ""),
        f"unknown     at most {usd(total.unknown_usd)} for {plural(total.unknown_calls, 'call')}"
        + ("; tiered-eval ledger unknown lists them" if total.unknown_calls else ""),
        f"from store  {plural(total.from_store, 'answer')} that had cost {usd(total.stored_usd)}",
        f"avoided     about {usd(total.avoided_usd)} by checks that need no model",
    ]
    if saved := total.cache_saved_usd:
        came_to = f"{usd(saved)} saved" if saved > 0 else f"{usd(-saved)} more than it saved"
        lines.append(f"caching     {came_to} by fronts of prompts that vendors kept")
    if spending.not_kept:
        lines.append(
            f"            {plural(spending.not_kept, 'run')} without a kept report: "
            "not in the columns from store and avoided"
        )
    return "\n".join(lines)


def _trend(days: Sequence[Line], width: int) -> Iterator[str]:
    """A bar a day, days without spending included."""
    if not days:
        return
    billed = {line.name: line.billed_usd for line in days}
    last = date.fromisoformat(max(billed))
    first = max(date.fromisoformat(min(billed)), last - timedelta(days=_DAYS_PLOTTED - 1))
    shown = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    most = max((billed.get(day, Decimal(0)) for day in shown), default=Decimal(0))
    yield f"by day (UTC){'' if min(billed) >= shown[0] else f', the last {_DAYS_PLOTTED}'}"
    for day in shown:
        amount = billed.get(day, Decimal(0))
        share = float(amount / most) if most else 0.0
        yield f"  {day}  {usd(amount):>10}  {_bar(share, max(10, min(60, width - 30)))}".rstrip()


def _bar(share: float, columns: int) -> str:
    eighths = round(share * columns * 8)
    if share > 0:
        eighths = max(1, eighths)
    return _BARS[8] * (eighths // 8) + _BARS[eighths % 8].strip()


def _table(heading: str, lines: Sequence[Line]) -> Iterator[str]:
    if not lines:
        return
    shown = lines[-_LINES_SHOWN:] if heading == "run" else lines[:_LINES_SHOWN]
    name_width = max(12, *(len(one_line(line.name, 40)) for line in shown))
    yield f"by {heading:<{name_width - 1}}" + "".join(f"{column:>13}" for column in _COLUMNS)
    for line in shown:
        cells = (
            f"{line.answers:,}",
            usd(line.billed_usd),
            usd(line.unknown_usd),
            f"{line.from_store:,}",
            usd(line.avoided_usd),
        )
        yield f"  {one_line(line.name, 40):<{name_width}}" + "".join(f"{cell:>13}" for cell in cells)
    if len(lines) > len(shown):
        where = "earlier" if heading == "run" else "more"
        yield f"  ... and {len(lines) - len(shown)} {where}; --json and --csv list all"


def _judge_heavy(found: Sequence[JudgeHeavy]) -> Iterator[str]:
    if not found:
        return
    yield "always decided by the judge, though a free check may do:"
    for each in found[:_LINES_SHOWN]:
        place = one_line(f"{each.suite} / {each.case_id} / {each.expectation_id}", 70)
        yield f"  {place}  ({plural(each.runs, 'run')}, {usd(each.cost_usd)}): {one_line(each.why, 100)}"
    if len(found) > _LINES_SHOWN:
        yield f"  ... and {len(found) - _LINES_SHOWN} more; --json lists all"


def _plain(line: Line | JudgeHeavy) -> dict[str, Any]:
    return {
        name: plain_decimal(value) if isinstance(value, Decimal) else value
        for name, value in asdict(line).items()
    }


def _cell(name: str) -> str:
    """A name that a spreadsheet does not take for a formula (OWASP, CSV injection)."""
    return f"'{name}" if name[:1] in "=+-@\t\r" else name
