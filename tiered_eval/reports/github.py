"""Annotations on a GitHub Actions run.

The one idea: GitHub shows ten errors and ten warnings a step and drops the rest, so the ten first failures are
named and the others counted. Escaping is that of actions/toolkit ``command.ts``: per cent, line ends, and in
properties colon and comma.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from tiered_eval.errors import Problem
from tiered_eval.records import Report, Verdict
from tiered_eval.reports import wording
from tiered_eval.reports.untrusted import one_line

__all__ = ["annotation_lines", "is_github", "problem_lines"]

SHOWN = 10


def is_github(environment: Mapping[str, str] | None = None) -> bool:
    """Is this a step of a GitHub Actions job?"""
    return (os.environ if environment is None else environment).get("GITHUB_ACTIONS") == "true"


def annotation_lines(report: Report) -> Iterator[str]:
    """Workflow commands, one a line."""
    failed, errors = wording.worst(report, failed=SHOWN - 1, errors=SHOWN - 1)
    counts = report.counts
    shown, count = (failed, counts.failed) if failed else (errors, counts.error)
    for verdict in shown:
        yield _command("error", _title(verdict), _message(verdict))
    if count > len(shown):
        yield _command(
            "error", "tiered-eval", f"{count - len(shown):,} more, {count:,} in all: see the report"
        )
    if left := {reason: count for reason, count in report.leftovers.items() if reason != "not-needed"}:
        yield _command("warning", "tiered-eval: not judged", wording.reasons_line(left))
    if report.failures:
        yield _command("warning", "tiered-eval: errors", wording.reasons_line(report.failures))
    if report.certificate is not None and report.certificate.is_stale:
        yield _command("warning", "tiered-eval: certificate", "stale: calibrate again, see the report")
    elif report.certificate is not None and report.certificate.is_doubted:
        yield _command("warning", "tiered-eval: certificate", "in doubt: calibrate again, see the report")
    if report.gate is not None and report.gate.state != "met":
        yield _command("warning", "tiered-eval: gate", wording.gate_line(report.gate))


def problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Workflow commands that mark what is wrong with a suite at its line."""
    for problem in problems[:SHOWN]:
        place = "" if problem.line is None else f",line={problem.line}"
        message = one_line(f"{problem.message}; {problem.fix}", 400)
        title = _property(one_line(problem.rule, 60))
        yield f"::{problem.severity} file={_property(problem.file)}{place},title={title}::{_data(message)}"


def _title(verdict: Verdict) -> str:
    return f"{one_line(verdict.case_id, 80)} / {one_line(verdict.expectation_id, 40)}"


def _message(verdict: Verdict) -> str:
    message = one_line(f"{wording.claim_words(verdict)}: {verdict.reason}", 240)
    if verdict.evidence is not None:
        message += f" — “{one_line(verdict.evidence.quote)}”"
    return message


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
