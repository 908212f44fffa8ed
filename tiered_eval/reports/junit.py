"""JUnit XML, for the test pages of CI systems.

The one idea: one test case an expectation, so that a red line names the claim that broke. A failed check is a
``failure``, one that could not be made is an ``error``, one that nobody decided is ``skipped`` with its reason,
and the counts in the head are the report's own.

The format is the ``xunit2`` family that pytest writes. XML 1.0 (fifth edition, production 2) forbids most control
characters and lone surrogates, even escaped, so they are replaced. Limits are those that other tools keep to:
names 512, messages 1,024, details 8,192 characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from xml.sax.saxutils import escape, quoteattr

from tiered_eval.records import CaseResult, Report, Verdict
from tiered_eval.records.codec import plain_decimal
from tiered_eval.reports import cards, wording
from tiered_eval.reports.against import against_properties
from tiered_eval.reports.certified import certified_properties, certified_words
from tiered_eval.reports.untrusted import many_lines, one_line

__all__ = ["render"]

NAME_LIMIT = 512
MESSAGE_LIMIT = 1_024
DETAIL_LIMIT = 8_192

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> Iterator[str]:
    """The document, a case at a time."""
    counts = report.counts
    skipped = counts.not_judged + counts.manual
    figures = (
        f'tests="{counts.total}" failures="{counts.failed}" errors="{counts.error}" '
        f'skipped="{skipped}" time="{report.wall_s:.3f}"'
    )
    name = _attribute(report.suite, NAME_LIMIT)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<testsuites name="tiered-eval" {figures}>\n'
    yield f"<testsuite name={name} {figures} timestamp={_attribute(report.started_at, 64)}>\n"
    yield from _properties(report)
    for result in report.results:
        yield _case(result)
    yield "</testsuite>\n</testsuites>\n"


def _properties(report: Report) -> Iterator[str]:
    """The headline figures, where a CI page shows them."""
    values = {
        "run_id": report.run_id,
        "partial": wording.share(report.partial.estimate),
        "partial_bound_low": wording.share(report.partial.bound_low),
        "partial_bound_high": wording.share(report.partial.bound_high),
        "spent_usd": plain_decimal(report.spend.settled_usd),
        "unknown_usd": plain_decimal(report.spend.unknown_usd),
        "gate": wording.gate_line(report.gate),
        "exit_code": str(report.exit_code),
        **({"code_ran": wording.ran_in_line(report.ran_in)} if report.ran_in else {}),
        **against_properties(report.against),
        **certified_properties(report),
        **_scorecard(report),
    }
    yield "<properties>\n"
    for name, value in values.items():
        yield f"<property name={_attribute(name, NAME_LIMIT)} value={_attribute(value, MESSAGE_LIMIT)}/>\n"
    yield "</properties>\n"


def _scorecard(report: Report) -> dict[str, str]:
    """The total, the result, and the score of each dimension, where the suite asks for a scorecard."""
    card = report.scorecard
    if card is None:
        return {}
    found = {
        "scorecard": cards.card_line(card),
        "scorecard.score": "" if card.score is None else str(card.score),
        "scorecard.result": card.result,
    }
    for key, line in card.breakdown.items():
        found[f"scorecard.{key}"] = "" if line.score is None else str(line.score)
    return found


def _case(result: CaseResult) -> str:
    """The test cases of one case; their names are unique within it."""
    class_name = _attribute(_unique(result.case_id), NAME_LIMIT)
    taken: set[str] = set()
    parts = []
    for verdict in result.verdicts:
        name = _unique(f"{verdict.expectation_id} {verdict.kind}")
        while name in taken:
            name = f"{name}+"
        taken.add(name)
        parts.append(f'<testcase classname={class_name} name={_attribute(name, NAME_LIMIT)} time="0.000">')
        parts.append(_outcome(verdict))
        parts.append(f"<system-out>{_text(_detail(verdict), DETAIL_LIMIT)}</system-out>")
        parts.append("</testcase>\n")
    return "".join(parts)


def _outcome(verdict: Verdict) -> str:
    """The element that says how it ended; nothing for a pass."""
    message = _attribute(_message(verdict), MESSAGE_LIMIT)
    if verdict.state == "fail":
        evidence = verdict.evidence.quote if verdict.evidence else verdict.reason
        return f'<failure message={message} type="fail">{_text(evidence, DETAIL_LIMIT)}</failure>'
    if verdict.state == "error":
        failure = verdict.failure
        kind = _attribute(failure.type if failure else "unknown", NAME_LIMIT)
        detail = (failure.traceback or failure.message) if failure else verdict.reason
        return f"<error message={message} type={kind}>{_text(detail, DETAIL_LIMIT)}</error>"
    if verdict.state == "not-judged":
        why = wording.leftover_words(verdict.leftover or "unsure")
        return f"<skipped message={_attribute(f'not judged: {why}; {verdict.reason}', MESSAGE_LIMIT)}/>"
    if verdict.state == "manual":
        return f"<skipped message={_attribute(f'left to people; {verdict.reason}', MESSAGE_LIMIT)}/>"
    return ""


def _message(verdict: Verdict) -> str:
    """The reason, after what was looked for: the page of a CI system shows no suite."""
    return f"{wording.claim_words(verdict)}: {verdict.reason}" if verdict.expected else verdict.reason


def _detail(verdict: Verdict) -> str:
    """Which check settled it, and the checks before."""
    lines = [f"{verdict.state}: {_message(verdict)}"]
    if verdict.scorer:
        lines.append(f"settled by {verdict.scorer} ({verdict.tier})")
    if certified := certified_words(verdict):
        lines.append(certified)
    if verdict.q is not None:
        lines.append(f"probability of being met {verdict.q:.3f}")
    if verdict.model:
        lines.append(f"model {verdict.model}")
    if verdict.evidence is not None:
        lines.append(f"evidence: {verdict.evidence.quote}")
    lines += [f"{wording.step_words(step)}: {step.state}, {step.reason}" for step in verdict.trail]
    return "\n".join(lines)


def _unique(name: str) -> str:
    """``name`` fit for an attribute; marked with a hash where it had to be changed, so that two stay apart."""
    shown = _fit(one_line(name, NAME_LIMIT - 9))
    if shown == name:
        return shown
    return f"{shown}~{sha256(name.encode('utf-8', errors='surrogatepass')).hexdigest()[:8]}"


def _attribute(text: str, limit: int) -> str:
    return quoteattr(_fit(one_line(text, limit)))


def _text(text: str, limit: int) -> str:
    return escape(_fit(many_lines(text, limit)))


def _fit(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
