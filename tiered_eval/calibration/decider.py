"""Whether an expectation may be decided early, from the scores seen so far.

The one idea: this is the certified route and nothing else. The first early tier whose level is at most ``tau`` decides; a tier
that has not spoken yet is waited for; anything that differs from what was certified (an unseen kind, another version
of a scorer, a score that no label had or one that is missing where all had it) is left to the top tier.

Pure Python and some microseconds a call, as it stands between every check and the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from tiered_eval.calibration.certificate import Certificate
from tiered_eval.calibration.design import TIE
from tiered_eval.calibration.scoring import TierWeights

__all__ = ["BROKEN_SEAL", "CertifiedDecider", "Decider", "Decision", "changed_fingerprints"]

BROKEN_SEAL = (
    "seal: the file was changed after it was made, and what it says now was not tested; calibrate again"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """An early verdict."""

    state: Literal["pass", "fail"]
    q: float
    """Probability that the expectation is met."""
    certified: bool
    tier: str
    """The early tier that decided."""


class Decider(Protocol):
    """What the router asks after each step."""

    def decide(
        self, kind: str, scores: Mapping[str, float | None], *, ahead: Collection[str]
    ) -> Decision | None:
        """An early verdict, or None: go on with the route.

        ``scores`` are those seen so far by name, negative kinds turned round so that 1 speaks for "met"; ``ahead`` names
        the tiers that have not been asked yet.
        """
        ...


def changed_fingerprints(certificate: Certificate, current: Mapping[str, str]) -> tuple[str, ...]:
    """The tiers of the certificate whose fingerprint is another one now, each with both; empty if it holds.

    A file that was changed by hand is named first.
    """
    return (
        *(() if certificate.is_as_made else (BROKEN_SEAL,)),
        *(
            f"{tier}: certified with {known}, now {current.get(tier, 'absent')}"
            for tier, known in sorted(certificate.fingerprints.items())
            if current.get(tier) != known
        ),
    )


class CertifiedDecider:
    """Applies a certificate. ``fingerprints`` are those of the run; a difference voids it, and ``void`` says which."""

    def __init__(self, certificate: Certificate, fingerprints: Mapping[str, str]) -> None:
        self.void = changed_fingerprints(certificate, fingerprints)
        design = certificate.design
        self._false_pass_weight = design.false_pass_weight
        self._tiers: tuple[tuple[str, TierWeights], ...] = tuple(
            (tier.name, weights) for tier, weights in zip(design.early, design.weights, strict=True)
        )
        self._own = tuple(tier.scores for tier in design.early)
        self._presence = certificate.presence
        self._limits: dict[str, tuple[float | None, ...]] = {}
        for kind in () if self.void else design.kinds:
            grant = certificate.grant_for(kind)
            if grant is None or grant.tau is None:
                continue
            # level <= tau is risk <= tau * saving: one multiplication less for each expectation
            self._limits[kind] = tuple(
                grant.tau * TIE * saving if tier.name in grant.deciding else None
                for tier, saving in zip(design.early, design.savings, strict=True)
            )

    def decide(
        self, kind: str, scores: Mapping[str, float | None], *, ahead: Collection[str]
    ) -> Decision | None:
        """See :class:`Decider`."""
        limits = self._limits.get(kind)
        if limits is None:
            return None
        for (name, weights), own, limit in zip(self._tiers, self._own, limits, strict=True):
            if name in ahead:
                return None
            if limit is None or all(scores.get(score) is None for score in own):
                continue
            if self._unlike(kind, scores, weights.names):
                return None
            q = weights.q(kind, scores)
            risk_of_pass = self._false_pass_weight * (1.0 - q)
            if min(risk_of_pass, q) <= limit:
                return Decision("pass" if risk_of_pass <= q else "fail", q, True, name)
        return None

    def unlike_labels(
        self, kind: str, scores: Mapping[str, float | None], *, ahead: Collection[str]
    ) -> tuple[str, ...]:
        """Names of scores that no label of the kind had, and of missing ones that all had; with any, nothing is decided."""
        spoken = [weights.names for name, weights in self._tiers if name not in ahead]
        return self._unlike(kind, scores, spoken[-1] if spoken else ())

    def _unlike(
        self, kind: str, scores: Mapping[str, float | None], names: Collection[str]
    ) -> tuple[str, ...]:
        presence = self._presence.get(kind)
        if presence is None:
            return ()
        found = [name for name in presence.never if scores.get(name) is not None]
        found += [name for name in presence.always if scores.get(name) is None]
        return tuple(name for name in found if name in names)

    def probability(
        self, kind: str, scores: Mapping[str, float | None], *, ahead: Collection[str]
    ) -> float | None:
        """Probability that the expectation is met, by the last tier that has spoken; None for an unseen kind."""
        q = None
        for name, weights in self._tiers:
            if name in ahead or kind not in weights.by_kind:
                break
            q = weights.q(kind, scores)
        return q
