"""A Markdown page for people: the summary of a CI job, or a comment.

The one idea: the same figures in the same order as on the terminal, with every text of unknown origin escaped so
that it can add no heading, link, image or table cell. Bounded: a job summary on GitHub holds at most 1 MiB, and
longer lists name how many there are.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from tiered_eval.records import Report, SpendLine, Verdict
from tiered_eval.reports import cards, wording
from tiered_eval.reports.against import against_lines, against_steps
from tiered_eval.reports.certified import certified_facts, sampled_line
from tiered_eval.reports.files import append_whole
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import share, usd

__all__ = ["STEP_SUMMARY_LIMIT_BYTES", "append_to_job_summary", "render"]

logger = logging.getLogger(__name__)

STEP_SUMMARY_LIMIT_BYTES = 1024 * 1024
"""Of a whole step, by GitHub's documentation (read November 2026)."""

SHOWN = 50
"""Rows of one table."""

_PUNCTUATION = re.compile(r"([\\`*_\[\]#!|~$])")
_MENTION = re.compile(r"@(?=\w)")


def render(report: Report) -> Iterator[str]:
    """The page, in pieces."""
    yield f"## {_text(report.suite)}: {_verdict_on(report)}\n\n"
    yield from _figures(report)
    yield from _scorecard(report)
    yield f"{_text(wording.counts_line(report.counts), 400)}\n\n"
    yield from _tiers(report)
    yield from _facts(report)
    yield from _models(report)
    yield from _worst(report)
    yield "### Next\n\n"
    for step in (*against_steps(report), *wording.next_steps(report)):
        yield f"- {step}\n"


def append_to_job_summary(report: Report, environment: Mapping[str, str] | None = None) -> Path | None:
    """Add the page to the summary of a GitHub job; None outside of one, or where it has no room left.

    Raises:
        ConfigError: the summary's file cannot be written.
    """
    named = (os.environ if environment is None else environment).get("GITHUB_STEP_SUMMARY")
    if not named:
        return None
    path = Path(named)
    written = append_whole(path, [*render(report), "\n"], limit_bytes=STEP_SUMMARY_LIMIT_BYTES)
    if not written:
        logger.warning("the summary of this job has no room left for the report: GitHub takes 1 MiB a step")
    return path if written else None


def _verdict_on(report: Report) -> str:
    if report.gate is None:
        return f"partial {share(report.partial.estimate)}"
    return f"gate {report.gate.state.replace('-', ' ')}"


def _figures(report: Report) -> Iterator[str]:
    figures = {"partial": report.partial, "passed": report.passed}
    figures |= {f"dimension {name}": figure for name, figure in report.dimensions.items()}
    figures |= {f"tag {name}": figure for name, figure in report.tags.items()}
    yield from _table(
        ("", "share", "95 % interval", "with leftovers", "cases"),
        (
            (
                name,
                share(figure.estimate),
                f"{share(figure.low)} to {share(figure.high)}",
                f"{share(figure.bound_low)} to {share(figure.bound_high)}",
                f"{figure.n:,}",
            )
            for name, figure in figures.items()
        ),
        count=len(figures),
    )


def _scorecard(report: Report) -> Iterator[str]:
    card = report.scorecard
    if card is None:
        return
    yield f"### Scorecard: {_text(cards.card_line(card), 300)}\n\n"
    yield from _table(cards.HEAD, cards.card_rows(card), count=len(card.breakdown))
    notes = [f"- {_text(f'{label} {text}'.strip(), 400)}\n" for label, text in cards.note_lines(card)]
    yield from notes
    if notes:
        yield "\n"


def _tiers(report: Report) -> Iterator[str]:
    lines = wording.busy_tiers(report)
    yield from _table(
        ("tier", "decided", "share", "passed", "failed", "calls", "cost", "avoided"),
        (
            (
                line.tier,
                f"{line.decided:,}",
                f"{line.share * 100:.1f} %",
                f"{line.passed:,}",
                f"{line.failed:,}",
                f"{line.calls:,}",
                usd(line.cost_usd),
                "–" if line.avoided_usd is None else usd(line.avoided_usd),
            )
            for line in lines
        ),
        count=len(lines),
    )


def _facts(report: Report) -> Iterator[str]:
    yield f"- Spend: {_text('; '.join(wording.spend_lines(report.spend)), 600)}\n"
    if spent := wording.headings_line(report.spend.by_kind):
        yield f"- By kind: {_text(spent, 600)}\n"
    if report.spend.by_stage:
        yield f"- By stage: {_text(wording.stages_line(report.spend.by_stage), 600)}\n"
    yield f"- Time: {_text(wording.time_line(report), 200)}\n"
    if report.ran_in:
        yield f"- Code of responses ran: {_text(wording.ran_in_line(report.ran_in), 200)}\n"
    if report.leftovers:
        yield f"- Not judged: {_text(wording.reasons_line(report.leftovers), 400)}\n"
    if report.failures:
        yield f"- Errors: {_text(wording.reasons_line(report.failures), 400)}\n"
    for line in against_lines(report.against) if report.against else ():
        yield f"- Against the base: {_text(line, 400)}\n"
    yield f"- Gate: {_text(wording.gate_line(report.gate), 600)}\n"
    if report.sampled is not None:
        yield f"- Sampled: {_text(sampled_line(report.sampled), 600)}\n"
    for label, line, _ in certified_facts(report.certificate) if report.certificate else ():
        yield f"- {label.capitalize() or 'Certified'}: {_text(line, 400)}\n"
    for warning in report.warnings[:SHOWN]:
        yield f"- Warning: {_text(warning, 300)}\n"
    yield f"- Run: {_text(report.run_id)}\n\n"


def _models(report: Report) -> Iterator[str]:
    lines: tuple[SpendLine, ...] = report.spend.by_model
    yield from _table(
        ("model", "calls", "from the store", "cost"),
        ((line.name, f"{line.calls:,}", f"{line.from_store:,}", usd(line.cost_usd)) for line in lines),
        count=len(lines),
    )


def _worst(report: Report) -> Iterator[str]:
    failed, errors = wording.worst(report, failed=SHOWN, errors=SHOWN)
    counts = report.counts
    for title, shown, count in (("Failed", failed, counts.failed), ("Errors", errors, counts.error)):
        if shown:
            yield f"### {title} ({count:,})\n\n"
            head = ("case", "expectation", "check", "reason", "evidence")
            yield from _table(head, (_worst_row(verdict) for verdict in shown), count=count)


def _worst_row(verdict: Verdict) -> tuple[str, ...]:
    evidence = verdict.evidence.quote if verdict.evidence else ""
    claim = f"{verdict.expectation_id} {wording.claim_words(verdict)}"
    return (verdict.case_id, claim, verdict.scorer or "–", verdict.reason, evidence)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], *, count: int) -> Iterator[str]:
    """A table of the first rows, every cell escaped; nothing where there are none."""
    if not count:
        return
    titles = list(head)
    yield f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n"
    shown = 0
    for row in islice(rows, SHOWN):
        shown += 1
        yield f"| {' | '.join(_text(cell) for cell in row)} |\n"
    if count > shown:
        yield f"\nAnd {count - shown:,} more: `--report json` writes them all.\n"
    yield "\n"


def _text(text: str, limit: int = 200) -> str:
    """Text as Markdown that shows that text, and calls nobody."""
    shown = one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;")
    return _MENTION.sub("@\N{ZERO WIDTH SPACE}", _PUNCTUATION.sub(r"\\\1", shown))
