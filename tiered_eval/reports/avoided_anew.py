"""What free checks saved for the first time: a second run of the same responses saves nothing more.

The one idea: a call that was avoided would have been kept, had it been made. So what a run decided without a model counts for
whoever explains a bill only where no earlier run had decided as much about the same case with the same response.

Used by :mod:`tiered_eval.reports.spending`; the report of a run says what that run alone avoided.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from tiered_eval.records import CaseResult, Report

__all__ = ["AvoidedAnew"]

_PLACES = Decimal(10) ** -12


class AvoidedAnew:
    """Remembers what earlier runs decided; to be asked in order of time."""

    def __init__(self) -> None:
        self._decided: dict[tuple[str, str, str | None], Counter[str]] = {}

    def by_tier(self, report: Report) -> dict[str, Decimal]:
        """Of the dollars that a run avoided, those that no earlier one had, by tier. Where results are not there, or not told
        apart, all of them."""
        told = {tier.tier: tier.avoided_usd for tier in report.tiers if tier.avoided_usd}
        if not told:
            return {}
        decided, anew = Counter[str](), Counter[str]()
        for result in report.results:
            counts = _decided_free(result)
            before = self._decided.setdefault(
                (report.suite, result.case_id, result.response_digest), Counter()
            )
            decided += counts
            anew += counts if result.response_digest is None else counts - before
            before |= counts
        return {
            tier: (usd * anew[tier] / decided[tier]).quantize(_PLACES) if decided[tier] else usd
            for tier, usd in told.items()
        }


def _decided_free(result: CaseResult) -> Counter[str]:
    """Verdicts that no judge was asked for, by tier."""
    return Counter(
        verdict.tier
        for verdict in result.verdicts
        if verdict.is_decided and verdict.tier is not None and verdict.tier != "judge"
    )
