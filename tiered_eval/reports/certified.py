"""What a report says about verdicts that nobody judged: the certificate behind them, its audits, and the sampled score.

The one idea: each line ends where its evidence ends. What was promised stands in the certificate's own words, beside it how
often the judge differed where it looked, and a score that rests on a sample names how much of the suite was drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiered_eval.calibration.audit import STALE, alarm_words
from tiered_eval.calibration.people_audits import people_line
from tiered_eval.records import CertificateUse, Report, SampledScore, Verdict
from tiered_eval.records.certified import BY_CERTIFICATE
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import plural, share

__all__ = ["certified_facts", "certified_properties", "certified_words", "doubt_line", "sampled_line"]


def certified_facts(use: CertificateUse) -> Iterator[tuple[str, str, str]]:
    """Label, text and style of what a certificate did in a run."""
    lines = [one_line(line.removeprefix("certified: "), 300) for line in use.promise]
    if use.is_doubted:
        lines.insert(0, doubt_line(use))
    for position, line in enumerate(lines):
        style = "bold red" if position == 0 and use.is_doubted else ""
        yield ("certified" if position == 0 else "", line, style)
    yield ("" if lines else "certified", _decided(use), "yellow" if use.void else "")
    if use.audited or use.audits_ever:
        yield ("audit", _audited(use), "bold red" if use.is_stale else "")
    elif use.early and use.by_people is None:
        yield (
            "audit",
            "none so far; people can be asked about early verdicts: tiered-eval export --audits",
            "",
        )
    if use.by_people is not None:
        yield ("by people", people_line(use.by_people), "bold red" if use.by_people.is_stale else "")


def doubt_line(use: CertificateUse) -> str:
    """Why the promise is none of this run, although something was decided by it."""
    return f"IN DOUBT, nothing is promised of this run: {one_line(use.doubt or 'not known', 300)}"


def certified_properties(report: Report) -> dict[str, str]:
    """The same as names and values, for formats that know no prose."""
    found: dict[str, str] = {}
    if report.sampled is not None:
        found["sampled"] = sampled_line(report.sampled)
    if (use := report.certificate) is not None:
        found["certificate"] = use.name
        found["certificate.promise"] = "; ".join(use.promise)
        found["certificate.early"] = f"{use.early} of {use.covered}"
        found["certificate.outside"] = str(use.outside)
        if use.doubt is not None:
            found["certificate.doubt"] = use.doubt
        found["certificate.audit"] = _audited(use)
        if use.by_people is not None:
            found["certificate.audit.people"] = people_line(use.by_people)
    return found


def certified_words(verdict: Verdict) -> str | None:
    """How far a verdict is the certificate's; None where it has nothing to do with one."""
    if verdict.audited:
        said = [step.state for step in verdict.trail if step.scorer == BY_CERTIFICATE]
        early = said[-1] if said else "early"
        return f"audited, {early} by the certificate"
    if verdict.scorer == BY_CERTIFICATE and not verdict.certified:
        return "early, in doubt"
    return "certified" if verdict.certified else None


def sampled_line(sampled: SampledScore) -> str:
    """The score as judging everything would have given it, and what it rests on."""
    how = f"judged {sampled.judged:,} of {plural(sampled.total, 'expectation')} that the judge has the last word on"
    if sampled.open:
        how += f"; {sampled.open:,} without an answer counted both ways"
    if sampled.mode == "decide":
        how += "; most of them by choice, so partial and passed are about chosen cases"
    if sampled.estimate is None:
        return f"no estimate: {how}, too few of them to say anything; raise --max-cost or --max-time"
    return (
        f"{share(sampled.estimate)}   this suite, judged in full: {share(sampled.low)} to {share(sampled.high)} (95 %)   "
        f"cases like these: {share(sampled.like_low)} to {share(sampled.like_high)}   {how}"
    )


def _decided(use: CertificateUse) -> str:
    outside = f"; {plural(use.outside, 'early verdict')} outside of it" if use.outside else ""
    if use.void:
        return f"void: all {plural(use.covered, 'expectation')} of its kinds went to the judge{outside}"
    climbed = use.covered - use.early
    return (
        f"{use.early:,} of {plural(use.covered, 'expectation')} of its kinds decided early; "
        f"uncertified: {climbed:,} escalated{outside}"
    )


def _audited(use: CertificateUse) -> str:
    """This run's audits, and how the alarm stands over all runs."""
    now = f"{use.differing:,} of {use.audited:,} differ in this run"
    if use.alarm_level is None or use.allowed is None:
        return f"{now}; no alarm, as nothing says how many may"
    line = f"{now}, {use.differing_ever:,} of {use.audits_ever:,} in all {alarm_words(use.allowed, use.alarm_level)}"
    is_told_by_people = use.by_people is not None and use.by_people.is_stale
    return f"{line}: {STALE}" if use.is_stale and not is_told_by_people else line
