"""Which early verdicts of two compared runs are in doubt.

The one idea: a comparison is as good as the verdicts that it rests on. Of an early verdict whose certificate was found wrong,
or is about other data, nothing is promised, so no pass may rest on it in silence. Cases whose response is the same in both
runs rest on no verdict at all.

Used by :mod:`tiered_eval.calibration.comparison`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiered_eval.records import Report
from tiered_eval.text.plurals import plural

__all__ = ["doubts_among"]


def doubts_among(base: Report, candidate: Report, early: Sequence[int]) -> Iterator[str]:
    """Why early verdicts that a comparison rests on are in doubt, one sentence a run; none where nothing speaks against them.

    Args:
        early: how many of them the base and the candidate have in cases that changed.
    """
    sides = (("base", base, candidate), ("candidate", candidate, base))
    for count, (side, report, other) in zip(early, sides, strict=True):
        why = _doubt(report, other)
        if count and why is not None:
            yield (
                f"the {side} {report.run_id} has {plural(count, 'early verdict')} in it of which nothing is promised ({why}): "
                "score it again without the certificate"
            )


def _doubt(report: Report, other: Report) -> str | None:
    """Why nothing is promised of a run's early verdicts. An alarm in the other run is about this one's as well."""
    use, its = report.certificate, other.certificate
    if use is None:
        return None
    if use.doubt is None and its is not None and its.is_stale and its.name == use.name:
        return f"in the run {other.run_id} audits of the same certificate differ more often than certified"
    return use.doubt
