"""Is a certificate still true? A few early verdicts are checked by the top judge in every run.

The one idea: evidence that a certificate has gone stale is a *capital* that grows by betting on more disagreement than
was certified. Under a true certificate it is a fair game or a losing one, so it reaches 20 in at most one of twenty
histories, however often one looks (Ville 1939). It is carried from run to run, and only fresh audits count.

A second figure forgets: it starts a bet anew at every audit (Shiryaev and Roberts), so a change that comes after a thousand
quiet audits is not held up by their losses.

Route: the runner draws audits with :class:`AuditDraw` after the early verdicts, asks the top judge, and hands what
differed to :func:`update`; the ledger keeps the :class:`AuditState` under the certificate's name.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import exp, fsum, log
from typing import Any

__all__ = [
    "ALARM_CAPITAL",
    "ALARM_DETECTOR",
    "DEFAULT_RATE",
    "LEAST_AUDITS",
    "AuditDraw",
    "AuditState",
    "audit_line",
    "audit_state_from_json",
    "audit_state_to_json",
    "begin_audit",
    "kind_warning",
    "update",
]

ALARM_CAPITAL = 20.0
"""Reached by chance in at most 5 % of all histories of a certificate that holds."""
ALARM_DETECTOR = 2000.0
"""Reached by chance once in 2,000 audits on average, at the least."""
MULTIPLES = (1.4, 1.8, 2.4, 3.2, 4.4, 6.0)
"""How much worse than certified the bets expect things to be."""
DEFAULT_RATE = 0.05
LEAST_AUDITS = 5
"""In every run, if there are so many early verdicts."""
MOST_KIND_SHIFT = 0.2
"""Total variation between the kinds of the calibration data and those of a run, above which it is said."""

_CEILING = 1e12
_SALT = "tiered-eval audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditState:
    """The audits of one certificate so far."""

    certificate: str
    """Name or fingerprint of the certificate; another one begins anew."""
    base_rate: float
    """The disagreement that the certificate allows: in (0, 1)."""
    audits: int = 0
    disagreements: int = 0
    detectors: tuple[float, ...] = ()
    """One figure a bet, for late changes."""
    worst_capital: float = 1.0
    """The most that the capital has ever been."""
    worst_detector: float = 0.0

    @property
    def capital(self) -> float:
        """Evidence that the rate is above the allowed one: 1 is none, 20 an alarm."""
        logs = [
            self.disagreements * log(rate / self.base_rate)
            + (self.audits - self.disagreements) * log((1 - rate) / (1 - self.base_rate))
            for rate in _bet_rates(self.base_rate)
        ]
        top = max(logs)
        return min(exp(min(top, 700.0)) * fsum(exp(one - top) for one in logs) / len(logs), _CEILING)

    @property
    def is_stale(self) -> bool:
        """Has the alarm gone off at any time? It does not take itself back; a new certificate does."""
        return self.worst_capital >= ALARM_CAPITAL or self.worst_detector >= ALARM_DETECTOR


def begin_audit(certificate: str, base_rate: float) -> AuditState:
    """The state of a certificate that was never audited.

    Args:
        base_rate: the certificate's upper bound on how often early verdicts and the top judge differ, or its
            alpha where people do the audits.

    Raises:
        ValueError: it is not between 0 and 1.
    """
    if not 0.0 < base_rate < 1.0:
        raise ValueError(f"a rate of disagreement between 0 and 1 is needed, not {base_rate}")
    return AuditState(
        certificate=certificate, base_rate=base_rate, detectors=(0.0,) * len(_bet_rates(base_rate))
    )


def update(state: AuditState, disagreements: Iterable[bool]) -> AuditState:
    """The state after more audits, each True where the top judge differed from the early verdict.

    In the order of the draw, which does not depend on what came out. An audit whose reply was kept from an earlier one is
    no news and must be left out.
    """
    rates = _bet_rates(state.base_rate)
    worse = [rate / state.base_rate for rate in rates]
    better = [(1 - rate) / (1 - state.base_rate) for rate in rates]
    detectors = list(state.detectors)
    audits, differing = state.audits, state.disagreements
    worst_capital, worst_detector = state.worst_capital, state.worst_detector
    for differs in disagreements:
        audits += 1
        differing += differs
        ratios = worse if differs else better
        detectors = [min((one + 1.0) * ratio, _CEILING) for one, ratio in zip(detectors, ratios, strict=True)]
        worst_detector = max(worst_detector, fsum(detectors) / len(detectors))
        if differs:  # the capital only ever rises at a disagreement
            so_far = AuditState(
                certificate="", base_rate=state.base_rate, audits=audits, disagreements=differing
            )
            worst_capital = max(worst_capital, so_far.capital)
    return AuditState(
        certificate=state.certificate,
        base_rate=state.base_rate,
        audits=audits,
        disagreements=differing,
        detectors=tuple(detectors),
        worst_capital=worst_capital,
        worst_detector=worst_detector,
    )


def _bet_rates(base_rate: float) -> tuple[float, ...]:
    rates = tuple(multiple * base_rate for multiple in MULTIPLES if multiple * base_rate < 1.0)
    return rates or ((1.0 + base_rate) / 2.0,)


class AuditDraw:
    """Chooses which early verdicts are audited: by a seeded hash of their ids, so that nobody can aim at it.

    Give each early verdict to :meth:`offer` once it is there; at the end of the run :meth:`top_up` names those that
    are still missing to the least number. Memory does not grow with the run.
    """

    def __init__(self, *, seed: int | str, rate: float = DEFAULT_RATE, least: int = LEAST_AUDITS) -> None:
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"a share of audits between 0 and 1 is needed, not {rate}")
        self._seed = seed
        self._rate = rate
        self._least = least
        self.drawn = 0
        """Audits chosen so far."""
        self._nearest: list[tuple[float, str]] = []  # a heap by falling rank: the ids next in turn

    def offer(self, id: str) -> bool:
        """Is the early verdict with this id audited?"""
        rank = audit_rank(id, self._seed)
        if rank < self._rate:
            self.drawn += 1
            return True
        heapq.heappush(self._nearest, (-rank, id))
        if len(self._nearest) > self._least:
            heapq.heappop(self._nearest)
        return False

    @property
    def missing(self) -> int:
        """Audits that are missing to the least number so far."""
        return max(0, self._least - self.drawn)

    def is_spare(self, id: str) -> bool:
        """Was it not chosen, but would be among those that :meth:`top_up` names if the run ended now?"""
        return any(id == spare for _, spare in sorted(self._nearest, reverse=True)[: self.missing])

    def top_up(self) -> list[str]:
        """Ids of those that were not chosen and must be, so that the run has its least number of audits."""
        chosen = [id for _, id in sorted(self._nearest, reverse=True)[: self.missing]]
        self.drawn += len(chosen)
        return chosen


def audit_rank(id: str, seed: int | str) -> float:
    """A number in [0, 1) for an id, as good as drawn at random."""
    digest = hashlib.sha256(f"{_SALT}\0{seed}\0{id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def kind_warning(certified: Mapping[str, float], seen: Mapping[str, int]) -> str | None:
    """A warning where the kinds of a run differ much from those of the calibration data; None where they do not.

    Args:
        certified: share of each kind among the labels.
        seen: number of expectations of each kind in the run.
    """
    total = sum(seen.values())
    if not total or not certified:
        return None
    shifts = {
        kind: seen.get(kind, 0) / total - certified.get(kind, 0.0) for kind in sorted({*certified, *seen})
    }
    distance = sum(map(abs, shifts.values())) / 2
    if distance <= MOST_KIND_SHIFT:
        return None
    kind = max(shifts, key=lambda one: abs(shifts[one]))
    return (
        f"this run has {seen.get(kind, 0) / total:.0%} {kind} where the calibration data has {certified.get(kind, 0.0):.0%} "
        f"(all kinds together differ by {distance:.2f}); the promise is about data like the calibration data: "
        "calibrate again with labels from this suite"
    )


def audit_line(state: AuditState) -> str:
    """The audits in one line, with the next step where the alarm has gone off."""
    line = (
        f"{state.disagreements} of {state.audits} differ (at most {state.base_rate:.1%} certified), "
        f"alarm level {state.capital:.2g} of {ALARM_CAPITAL:g}"
    )
    if not state.is_stale:
        return line
    return f"{line}; STALE: early checks stop deciding until the suite is calibrated again (tiered-eval calibrate)"


def audit_state_to_json(state: AuditState) -> dict[str, Any]:
    """The state as plain JSON values, for the ledger."""
    return asdict(state)


def audit_state_from_json(data: Mapping[str, Any]) -> AuditState:
    """The state that was written.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    state = begin_audit(str(data["certificate"]), float(data["base_rate"]))
    detectors = tuple(float(one) for one in data["detectors"])
    audits, disagreements = int(data["audits"]), int(data["disagreements"])
    if len(detectors) != len(state.detectors) or not 0 <= disagreements <= audits:
        raise ValueError("an audit state that does not fit together")
    return AuditState(
        certificate=state.certificate,
        base_rate=state.base_rate,
        audits=audits,
        disagreements=disagreements,
        detectors=detectors,
        worst_capital=float(data["worst_capital"]),
        worst_detector=float(data["worst_detector"]),
    )
