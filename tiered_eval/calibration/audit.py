"""Is a certificate still true? A few early verdicts are checked by the top judge in every run.

The one idea: evidence that a certificate has gone stale is a *capital* that grows by betting on more disagreement than
was certified. Under a true certificate it is a fair game or a losing one, so it reaches 20 in at most one of twenty
histories, however often one looks (Ville 1939). It is carried from run to run, and only fresh audits count.

A certificate may hold several promises, one for each kind. Each audit then bets against the one that it is about, so what may be
expected follows from the kinds that were audited, and a kind with a strict promise does not hide behind one with a weak promise.

Half of the stake is bet from the first audit on. The other half is spent bit by bit, a little of it on a fresh start at every
audit, so a change that comes after a thousand quiet audits is not held up by their losses. All stakes together are the 1
that one begins with: however long a history gets, the bound on false alarms is the same.

Route: the runner draws audits with :class:`AuditDraw` after the early verdicts, asks the top judge, and hands what
differed to :func:`update`; the ledger keeps the :class:`AuditState` under the certificate's name.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, repeat
from math import exp, fsum, log, sqrt
from typing import Any

from tiered_eval.calibration.promise import at_most

__all__ = [
    "ALARM_CAPITAL",
    "DEFAULT_RATE",
    "LEAST_AUDITS",
    "STALE",
    "AuditDraw",
    "AuditState",
    "alarm_words",
    "audit_line",
    "audit_state_from_json",
    "audit_state_to_json",
    "begin_audit",
    "kind_warning",
    "update",
]

ALARM_CAPITAL = 20.0
"""Reached by chance in at most 5 % of all histories of a certificate that holds, however long."""
STALE = "STALE, nothing is decided early until the suite is calibrated again"
"""What follows then, in reports."""
MULTIPLES = (1.4, 1.8, 2.4, 3.2, 4.4, 6.0)
"""How much worse than certified the bets expect things to be."""
DEFAULT_RATE = 0.05
LEAST_AUDITS = 5
"""In every run, if there are so many early verdicts."""
MOST_KIND_SHIFT = 0.2
"""Total variation between the kinds of the calibration data and those of a run, above which it is said."""

LATER_STAKE = 0.5
"""Of the stake of 1, what is kept for bets that begin after the first audit."""
PATIENCE = 100
"""Audits after which three tenths of that are spent. More of them find late changes sooner, and changes within them later."""

_CEILING = 1e12
_VERSION = 2
_SALT = "tiered-eval audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditState:
    """The audits of one certificate so far."""

    certificate: str
    """Name or fingerprint of the certificate; another one begins anew."""
    base_rate: float
    """The most disagreement that the certificate allows, in (0, 1): that of the weakest of its promises."""
    audits: int = 0
    disagreements: int = 0
    expected: float = 0.0
    """Disagreements that the promises allow at the most, among these audits, on average."""
    bets: tuple[float, ...] = ()
    """What each bet has made of all stakes that were put on it so far, over the number of bets a stake."""
    worst_capital: float = 1.0
    """The most that the capital has ever been."""

    @property
    def capital(self) -> float:
        """Evidence that the rate is above the allowed one: 1 is none, 20 an alarm."""
        return _capital(self.bets, self.audits)

    @property
    def allowed(self) -> float:
        """The share that the promises allow, as the audits were spread over them."""
        return self.expected / self.audits if self.audits else self.base_rate

    @property
    def is_stale(self) -> bool:
        """Has the alarm gone off at any time? It does not take itself back; a new certificate does."""
        return self.worst_capital >= ALARM_CAPITAL


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
    nothing = (0.0,) * len(_multiples(base_rate))
    return AuditState(certificate=certificate, base_rate=base_rate, bets=nothing)


def update(
    state: AuditState, disagreements: Iterable[bool], allowed: Iterable[float | None] = ()
) -> AuditState:
    """The state after more audits, each True where the top judge differed from the early verdict.

    In the order of the draw, which does not depend on what came out. An audit whose reply was kept from an earlier one is
    no news and must be left out.

    Args:
        allowed: for each audit the share that its promise allows, at most ``base_rate``; that one where it is None, or not said.
    """
    multiples = _multiples(state.base_rate)
    bets, worst_capital = state.bets, state.worst_capital
    audits, differing, expected = state.audits, state.disagreements, state.expected
    for differs, own in zip(disagreements, chain(allowed, repeat(None)), strict=False):
        rate = state.base_rate if own is None else min(own, state.base_rate)
        stake = _unspent(audits) - _unspent(audits + 1)
        audits, differing, expected = audits + 1, differing + differs, expected + rate
        bets = tuple(
            min((bet + stake) * (one if differs else (1 - one * rate) / (1 - rate)), _CEILING)
            for bet, one in zip(bets, multiples, strict=True)
        )
        if differs:  # the capital only ever rises at a disagreement
            worst_capital = max(worst_capital, _capital(bets, audits))
    return AuditState(
        certificate=state.certificate,
        base_rate=state.base_rate,
        audits=audits,
        disagreements=differing,
        expected=expected,
        bets=bets,
        worst_capital=worst_capital,
    )


def _capital(bets: Sequence[float], audits: int) -> float:
    return _unspent(audits) + fsum(bets) / len(bets)


def _unspent(audits: int) -> float:
    """What is left of the stake of 1 after so many audits."""
    return LATER_STAKE * sqrt(PATIENCE / (PATIENCE + audits)) if audits else 1.0


def _multiples(base_rate: float) -> tuple[float, ...]:
    """How much worse the bets expect things to be; no rate that is allowed may come to 1 by it."""
    multiples = tuple(multiple for multiple in MULTIPLES if multiple * base_rate < 1.0)
    return multiples or ((1.0 + base_rate) / 2.0 / base_rate,)


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
    line = f"{state.disagreements} of {state.audits} differ {alarm_words(state.allowed, state.capital)}"
    if not state.is_stale:
        return line
    return f"{line}; STALE: early checks stop deciding until the suite is calibrated again (tiered-eval calibrate)"


def alarm_words(allowed: float, level: float) -> str:
    """How far it is to the alarm, to stand behind how many differ."""
    return f"(at most {at_most(allowed)} certified), alarm level {level:.2g} of {ALARM_CAPITAL:g}"


def audit_state_to_json(state: AuditState) -> dict[str, Any]:
    """The state as plain JSON values, for the ledger."""
    return {"version": _VERSION, **asdict(state)}


def audit_state_from_json(data: Mapping[str, Any]) -> AuditState:
    """The state that was written, by an earlier release as well.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    state = begin_audit(str(data["certificate"]), float(data["base_rate"]))
    audits, disagreements = int(data["audits"]), int(data["disagreements"])
    worst_capital = float(data["worst_capital"])
    if "version" in data:
        bets = tuple(float(one) for one in data["bets"])
    else:
        bets, has_alarmed = _as_stakes(data, state.base_rate)
        worst_capital = max(worst_capital, ALARM_CAPITAL if has_alarmed else 0.0)
    if data.get("version", _VERSION) != _VERSION or len(bets) != len(state.bets):
        raise ValueError("an audit state of another version")
    if not 0 <= disagreements <= audits:
        raise ValueError("an audit state that does not fit together")
    return AuditState(
        certificate=state.certificate,
        base_rate=state.base_rate,
        audits=audits,
        disagreements=disagreements,
        expected=float(data.get("expected", audits * state.base_rate)),
        bets=bets,
        worst_capital=worst_capital,
    )


_FIRST_DETECTOR_ALARM = 2000.0


def _as_stakes(data: Mapping[str, Any], base_rate: float) -> tuple[tuple[float, ...], bool]:
    """The bets of a state of the first releases, and whether it had raised the alarm by its detector.

    Those kept the bet from the first audit on (``logs``) and a sum of bets of a stake of 1 from every audit on (``detectors``).
    Stakes fall from audit to audit, so with the last of them for all later ones the bets come out too small, never too large.
    """
    audits, disagreements = int(data["audits"]), int(data["disagreements"])
    detectors = [float(one) for one in data["detectors"]]
    logs = data.get("logs")
    if logs is None:  # written when all audits were held against one rate
        logs = [
            disagreements * log(one) + (audits - disagreements) * log((1 - one * base_rate) / (1 - base_rate))
            for one in _multiples(base_rate)
        ]
    first, last = _unspent(0) - _unspent(1), _unspent(audits - 1) - _unspent(audits) if audits else 0.0
    bets = []
    for logarithm, detector in zip(logs, detectors, strict=True):
        of_one = exp(min(float(logarithm), log(_CEILING)))
        bets.append(min(first * of_one + last * max(0.0, detector - of_one), _CEILING) if audits else 0.0)
    return tuple(bets), float(data["worst_detector"]) >= _FIRST_DETECTOR_ALARM
