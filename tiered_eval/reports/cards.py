"""A scorecard in words: the same rows and clauses on the terminal, in Markdown and in JUnit.

The one idea: a score with leftovers is shown with what it could still become, and a result that leftovers could turn
is called undecided, never rounded to one side.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiered_eval.records.scorecard import FULL_SCORE, DimensionScore, Scorecard
from tiered_eval.reports.untrusted import one_line

__all__ = ["HEAD", "card_line", "card_rows", "note_lines"]

HEAD = ("dimension", "score", "weight", "weighted", "note")


def card_line(card: Scorecard) -> str:
    """``823 of 1000: win``, with the bounds where something was left undecided."""
    shown = "no score" if card.score is None else f"{card.score:,} of {FULL_SCORE:,}"
    bounds = "" if card.low == card.high else f" (with leftovers {card.low:,} to {card.high:,})"
    line = f"{shown}{bounds}: {card.result}"
    if card.cases:
        line += f"; by case {', '.join(f'{count:,} {name}' for name, count in card.cases.items())}"
    return line


def card_rows(card: Scorecard) -> Iterator[tuple[str, ...]]:
    """One row a dimension, under :data:`HEAD`."""
    for line in card.breakdown.values():
        weighted = "–" if line.weighted is None else f"{line.weighted:.1f}"
        yield (
            one_line(line.label, 40),
            _points(line),
            f"{line.weight:.3g}",
            weighted,
            one_line(line.note or "", 120),
        )


def note_lines(card: Scorecard) -> Iterator[tuple[str, str]]:
    """Rating, violations and warnings: what it is, and the text."""
    if card.elo is not None:
        elo = card.elo
        yield "rating", f"{elo.start:,} to {elo.end:,} over {elo.matches:,} rated matches"
    for clause in card.violations:
        yield "limit", one_line(clause, 300)
    for warning in card.warnings:
        place = f"{warning.case_id}: " if warning.case_id else ""
        named = f" (zeroes {warning.dimension or 'every dimension'})" if warning.severity == "error" else ""
        yield f"form {warning.severity}", one_line(f"{place}{warning.message}{named}", 300)
    if card.omitted:
        yield "", f"{card.omitted:,} more are in the results, case by case"


def _points(line: DimensionScore) -> str:
    shown = "–" if line.score is None else f"{line.score:,}"
    return shown if line.low == line.high else f"{shown} ({line.low:,} to {line.high:,})"
