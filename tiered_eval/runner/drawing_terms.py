"""Whether a run's questions are drawn, and on which terms.

The one idea: only a limit makes an order matter, and only a certificate something to audit; a run with neither has no drawing. When a
sample closes follows from the time alone, never from what is answered, so it stays a random one.

Used by :mod:`tiered_eval.runner.run`, for :mod:`tiered_eval.runner.drawing`.
"""

from __future__ import annotations

from collections.abc import Callable

from tiered_eval.config import RunConfig
from tiered_eval.runner.deciding import Deciding
from tiered_eval.runner.drawing import Drawing

__all__ = ["drawing_for", "settling_s"]

SETTLING_S, SETTLING_SHARE = 20.0, 0.1
"""The sample closes so long before the deadline, at most and as a share of the time: a question that is open then may still be answered."""


def drawing_for(
    config: RunConfig,
    *,
    has_certificate: bool,
    spent: Callable[[], float],
    left_s: Callable[[], float | None],
    at_once: int,
    is_large: bool,
) -> Drawing | None:
    """The drawing of a run with a judge; None where everyone is asked and nothing is audited.

    Args:
        spent: share of the money or the time that is used up, whichever is more.
        left_s: seconds until no call is open any more; None where there is no deadline.
        at_once: questions that may be open together.
        is_large: more cases may wait for a judge than can be held, so that they are read in random parts.
    """
    caps = (config.max_cost_usd, config.daily_cap_usd, config.monthly_cap_usd, config.max_time_s)
    is_limited = config.mode == "live" and (
        any(cap is not None for cap in caps) or bool(config.suite_caps_usd)
    )
    if not is_limited and not has_certificate:
        return None
    is_deciding = is_limited and config.when_short == "decide"
    return Drawing(
        seed=config.seed,
        # A part is a draw of cases, so what is drawn from it are cases as well.
        by_case=config.packing != "never" or (is_limited and is_large),
        is_ordering=is_limited,
        is_patient=is_limited and is_large,
        is_late=_lateness(config.max_time_s, left_s),
        deciding=Deciding(spent=spent, at_once=at_once) if is_deciding else None,
    )


def settling_s(limit_s: float) -> float:
    """Seconds before the deadline at which a sample closes."""
    return min(SETTLING_S, limit_s * SETTLING_SHARE)


def _lateness(limit_s: float | None, left_s: Callable[[], float | None]) -> Callable[[], bool]:
    """Has a sample that must be answered by the deadline been closed?"""

    def is_late() -> bool:
        left = left_s()
        return limit_s is not None and left is not None and left < settling_s(limit_s)

    return is_late
