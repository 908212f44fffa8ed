"""Spending as text, as JSON and as CSV. Reads a ``Spending`` and decides nothing."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from tiered_eval.records.codec import plain_decimal
from tiered_eval.reports.judge_heavy import JudgeHeavy
from tiered_eval.reports.spending import HEADINGS, Line, Spending
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import plural, usd

__all__ = ["csv_text", "json_text", "text"]

_BARS = " ▏▎▍▌▋▊▉█"
_DAYS_PLOTTED = 31
_LINES_SHOWN = 10
_Column: TypeAlias = tuple[str, Callable[[Line], str]]
_COLUMNS: tuple[_Column, ...] = (
    ("answers", lambda line: f"{line.answers:,}"),
    ("billed", lambda line: usd(line.billed_usd)),
    ("unknown", lambda line: usd(line.unknown_usd)),
    ("from store", lambda line: f"{line.from_store:,}"),
    ("avoided", lambda line: usd(line.avoided_usd)),
)
_RARE_COLUMNS: tuple[_Column, ...] = (
    ("batched", lambda line: f"{line.batched:,}"),
    ("retried", lambda line: f"{line.retried:,}"),
    ("unpriced", lambda line: f"{line.unpriced:,}"),
)
"""Shown where there is any."""
_LONGEST_NAME = 40


def text(spending: Spending, *, width: int = 100) -> str:
    """What was spent, on what, and how it went, for people."""
    lines = [line for lines in spending.by.values() for line in lines]
    rare = [column for column in _RARE_COLUMNS if any(column[1](line) != "0" for line in lines)]
    parts = [_head(spending, width), _trend(spending.by["day"], width)]
    parts += [_table(heading, spending.by[heading], [*_COLUMNS, *rare], width) for heading in HEADINGS]
    parts.append(_judge_heavy(spending.judge_heavy, width))
    return "\n\n".join(filter(None, ("\n".join(part) for part in parts)))


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


def _head(spending: Spending, width: int) -> Iterator[str]:
    for line in _head_lines(spending):
        yield from _folded(line, width, indent=12)


def _head_lines(spending: Spending) -> Iterator[str]:
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
    of_them = f" (of them {', '.join(also)})" if also else ""
    yield f"spent{since}   {usd(total.billed_usd)} for {plural(total.answers, 'answer')}{of_them}"
    lists = "; tiered-eval ledger unknown lists them" if total.unknown_calls else ""
    yield f"unknown     at most {usd(total.unknown_usd)} for {plural(total.unknown_calls, 'call')}{lists}"
    yield f"from store  {plural(total.from_store, 'answer')} that had cost {usd(total.stored_usd)}"
    yield f"avoided     about {usd(total.avoided_usd)} by checks that need no model"
    if saved := total.cache_saved_usd:
        came_to = f"{usd(saved)} saved" if saved > 0 else f"{usd(-saved)} more than it saved"
        yield f"caching     {came_to} by fronts of prompts that vendors kept"
    if spending.not_kept:
        runs = plural(spending.not_kept, "run")
        yield f"not kept    {runs} without a kept report: not in the columns from store and avoided"


def _trend(days: Sequence[Line], width: int) -> Iterator[str]:
    """A bar a day, days without spending included."""
    if not days:
        return
    billed = {line.name: line.billed_usd for line in days}
    last = date.fromisoformat(max(billed))
    first = max(date.fromisoformat(min(billed)), last - timedelta(days=_DAYS_PLOTTED - 1))
    shown = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    most = max((billed.get(day, Decimal(0)) for day in shown), default=Decimal(0))
    yield f"spent a day (UTC){'' if min(billed) >= shown[0] else f', the last {_DAYS_PLOTTED}'}"
    for day in shown:
        amount = billed.get(day, Decimal(0))
        share = float(amount / most) if most else 0.0
        yield f"  {day}  {usd(amount):>10}  {_bar(share, max(10, min(60, width - 30)))}".rstrip()


def _bar(share: float, columns: int) -> str:
    eighths = round(share * columns * 8)
    if share > 0:
        eighths = max(1, eighths)
    return _BARS[8] * (eighths // 8) + _BARS[eighths % 8].strip()


def _table(heading: str, lines: Sequence[Line], columns: Sequence[_Column], width: int) -> Iterator[str]:
    """The lines under a heading, in as many blocks below each other as the columns need."""
    if not lines:
        return
    in_time = heading in ("day", "run")
    shown = lines[-_LINES_SHOWN:] if in_time else lines[:_LINES_SHOWN]
    cells = [[title, *map(cell_of, shown)] for title, cell_of in columns]
    widths = [max(map(len, column)) + 2 for column in cells]
    longest = min(_LONGEST_NAME, width - 2 - max(widths))  # a name gives way before a figure does
    names = [f"by {heading}", *(f"  {one_line(line.name, longest)}" for line in shown)]
    name_width = max(map(len, names))
    for block in _blocks(widths, width - name_width):
        for row, name in enumerate(names):
            figures = (f"{cells[column][row]:>{widths[column]}}" for column in block)
            yield f"{name:<{name_width}}" + "".join(figures)
    if len(lines) > len(shown):
        yield f"  ... and {len(lines) - len(shown)} {'earlier' if in_time else 'more'}; --json and --csv list all"


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Columns by number, as many beside each other as there is room for."""
    blocks = [list[int]()]
    for column, width in enumerate(widths):
        if blocks[-1] and sum(widths[other] for other in blocks[-1]) + width > room:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def _judge_heavy(found: Sequence[JudgeHeavy], width: int) -> Iterator[str]:
    if not found:
        return
    yield from _folded("always decided by the judge, though a free check may do:", width, indent=2)
    for each in found[:_LINES_SHOWN]:
        place = one_line(f"{each.suite} / {each.case_id} / {each.expectation_id}", 70)
        why = f"({plural(each.runs, 'run')}, {usd(each.cost_usd)}): {one_line(each.why, 100)}"
        yield from _folded(f"  {place}  {why}", width, indent=4)
    if len(found) > _LINES_SHOWN:
        yield f"  ... and {len(found) - _LINES_SHOWN} more; --json lists all"


def _folded(line: str, width: int, *, indent: int) -> list[str]:
    """A line in as many as it needs, at its spaces."""
    if len(line) <= width:
        return [line]
    return textwrap.wrap(
        line, width, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )


def _plain(line: Line | JudgeHeavy) -> dict[str, Any]:
    return {
        name: plain_decimal(value) if isinstance(value, Decimal) else value
        for name, value in asdict(line).items()
    }


def _cell(name: str) -> str:
    """A name that a spreadsheet does not take for a formula (OWASP, CSV injection)."""
    return f"'{name}" if name[:1] in "=+-@\t\r" else name
