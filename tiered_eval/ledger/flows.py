"""What the ledger says of the past, added up by day, run, model, kind and tier.

Replies that were imported have no part in it: another home has paid for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tiered_eval.ledger.replies import IMPORTED

__all__ = ["FLOWS", "Flow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Money of one day, run, model, kind and tier. Amounts are pico-dollars."""

    day: str
    """UTC."""
    run: str
    suite: str
    """Empty where the run is not known."""
    model: str
    kind: str
    tier: str
    answers: int
    """Billed; a call that answered several questions counts as often. One that was unknown and settled later brought none."""
    cost: int
    unknown_calls: int
    unknown: int
    retried: int
    """Billed answers of second and further attempts."""
    batched: int
    unpriced: int
    """Billed at 0: by a price of 0 that the user gave."""


FLOWS = f"""
SELECT substr(flow.sent_at, 1, 10) AS day, flow.run, coalesce(run.suite, ''), model, kind,
    CASE WHEN is_embedding THEN 'embedding' ELSE 'judge' END AS tier,
    sum(is_answer), sum(cost), sum(is_lost), sum(bound),
    sum(attempt > 0 AND is_answer), sum(is_batched), sum(cost = 0 AND is_answer)
FROM (
    SELECT sent_at, run, model, kind, attempt, cost, 0 AS bound, 1 AS is_answer, 0 AS is_lost, 0 AS is_embedding,
        coalesce(json_extract(payload, '$.usage.service_tier') = 'batch', 0) AS is_batched
    FROM call WHERE state = 'settled' AND json_valid(payload)
    UNION ALL SELECT sent_at, run, model, kind, attempt, cost, 0, 1, 0, 0, 0
    FROM call WHERE state = 'settled' AND NOT json_valid(payload)
    UNION ALL SELECT sent_at, run, model, kind, attempt, cost, 0, why NOT LIKE 'resolved: %', 0,
        why = 'embedding' OR key LIKE 'embedding-%', 0
    FROM charge
    UNION ALL SELECT sent_at, run, model, kind, attempt, 0, bound, 0, 1, key LIKE 'embedding-%', 0
    FROM lost WHERE id NOT IN (SELECT lost FROM resolved)
) AS flow LEFT JOIN run ON run.id = flow.run
WHERE flow.sent_at >= ? AND flow.run <> '{IMPORTED}' GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
"""
