"""Expectations that are paid for at the judge run after run, though they look as if a free check could decide them.

The one idea: two signs tell. The value is one that a free check decides, and that check was unsure of it each time; or
it is put as a requirement, in words that only ask whether something stands in the response.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tiered_eval.records import Report, Verdict

__all__ = ["JudgeHeavy", "judge_heavy", "mechanical_form"]

_SUBJECT = r"(?:the |this )?(?:response |answer |reply |text |output |it )?"
_NEGATION = r"(?P<negated>(?:does not|doesn't|must not|never|should not) )?(?:must |should )?"
_VERB = r"(?:mention|contain|include|state|name|cite|quote|say|give|list|show)s? "
_FILLER = r"(?:that |the |a |an |of |its |id |number |order |invoice |ticket |word |phrase |exact ){0,4}"
_LITERAL = (
    r"(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)'|`(?P<ticks>[^`]+)`|(?P<bare>[^\s\"'`]*[0-9][^\s\"'`]*))"
)
_MECHANICAL = re.compile(rf"{_SUBJECT}{_NEGATION}{_VERB}{_FILLER}{_LITERAL}[.!]?", re.IGNORECASE)
"""Says of one quoted text, or of one word with a digit in it, that it is there; and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeHeavy:
    """An expectation that always ended at the judge, and looks as if it need not."""

    suite: str
    case_id: str
    expectation_id: str
    runs: int
    """In which it ended there; none settled it below."""
    why: str
    """What the free check was unsure of when it was last asked, or how it could be put."""
    cost_usd: Decimal = Decimal(0)
    """Billed for it in those runs."""


def judge_heavy(reports: Sequence[Report]) -> list[JudgeHeavy]:
    """Those of ``reports``, in order of time. Most runs first, the dearest of them before the others."""
    seen: dict[tuple[str, str, str], JudgeHeavy] = {}
    settled_free: set[tuple[str, str, str]] = set()
    for report, verdict in _verdicts(reports):
        place = (report.suite, verdict.case_id, verdict.expectation_id)
        why = _doubt_of(verdict)
        if why is None:
            if verdict.is_decided:
                settled_free.add(place)
            continue
        before = seen.get(place)
        seen[place] = JudgeHeavy(
            suite=report.suite,
            case_id=verdict.case_id,
            expectation_id=verdict.expectation_id,
            runs=1 + (before.runs if before else 0),
            why=why,
            cost_usd=verdict.cost_usd + (before.cost_usd if before else 0),
        )
    found = [each for place, each in seen.items() if place not in settled_free]
    return sorted(
        found, key=lambda each: (-each.runs, -each.cost_usd, each.suite, each.case_id, each.expectation_id)
    )


def mechanical_form(requirement: str) -> str | None:
    """How a free check could be asked the same, such as ``must-contain: PO-4471``; None where it needs judgement."""
    found = _MECHANICAL.fullmatch(requirement.strip())
    if found is None:
        return None
    literal = found["double"] or found["single"] or found["ticks"] or found["bare"].rstrip(".,;!")
    return f"{'must-not-contain' if found['negated'] else 'must-contain'}: {literal}"


def _verdicts(reports: Sequence[Report]) -> Iterator[tuple[Report, Verdict]]:
    for report in reports:
        for result in report.results:
            for verdict in result.verdicts:
                yield report, verdict


def _doubt_of(verdict: Verdict) -> str | None:
    """Why a verdict of the judge looks mechanical; None where it does not, or is none.

    A number goes to ``number``, a scanned identifier to ``fuzzy-ocr``, an identifier to ``exact``; a phrase or a
    statement takes ``exact`` as well, but is only looked for, and goes on to other steps.
    """
    if verdict.tier != "judge":
        return None
    if verdict.kind == "requirement":
        form = mechanical_form(verdict.expected)
        return None if form is None else f"asks what a free check decides: {form}"
    if any(step.tier in ("coverage", "embedding") for step in verdict.trail):
        return None
    for step in verdict.trail:
        is_own = step.scorer in ("number", "fuzzy-ocr") or (
            step.scorer == "exact" and step.reason.startswith("found, but")
        )
        if is_own and step.state == "unsure":
            return step.reason
    return None
