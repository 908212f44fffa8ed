"""What stands behind verdicts that nobody judged: a certificate and its audits, and a sample of what was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BY_CERTIFICATE = "certificate"
"""The scorer that an early verdict names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAudits:
    """What people said of early verdicts that were drawn for them, over all runs of a home."""

    answered: int
    differing: int
    """Of those, where they said otherwise."""
    open: int
    """Asked about, and not answered, or not with one voice."""
    allowed: float | None
    """Share that may differ by the certificate; None where it promises nothing about people, and no alarm can be raised."""
    alarm_level: float | None
    """Evidence that more differ than allowed: 1 is none, 20 raises the alarm."""
    is_stale: bool
    """Has the alarm gone off?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateUse:
    """What a certificate did in a run, and how its audits stand."""

    name: str
    """What its audits are kept under."""
    promise: tuple[str, ...]
    """What it certifies, a line a promise."""
    void: tuple[str, ...]
    """Why it decided nothing; empty where it did not have to be put aside."""
    covered: int
    """Expectations of its kinds."""
    early: int
    """Of those, decided early by it; the others climbed. Those that were audited after are among them."""
    audited: int
    """Early verdicts of this run that the judge has checked; its verdict is the one that counts."""
    differing: int
    """Of the audited ones, where the judge said otherwise."""
    audits_ever: int
    """Of all runs in this home that count for the alarm: replies that were kept do not."""
    differing_ever: int
    allowed: float | None
    """Share that may differ by the certificate; None where it does not say, and no alarm can be raised."""
    alarm_level: float | None
    """Evidence that more differ than allowed: 1 is none, 20 raises the alarm."""
    is_stale: bool
    """The alarm has gone off, in this run or before, by the judge's audits or by those of people: nothing is decided early any more."""
    unlike: str | None = None
    """Why most of this run is other data than the promise is about; None where it is not."""
    outside: int = 0
    """Verdicts that it has no part in, given early by plain routes and pinned scorers: nothing is promised about them."""
    by_people: PeopleAudits | None = None
    """How its audits by people stood when the run began; None where nobody was asked."""

    @property
    def doubt(self) -> str | None:
        """Why nothing is promised of what it decided early after all; None where nothing speaks against that."""
        if not self.early:
            return None
        return self.unlike or ("its audits differ more often than certified" if self.is_stale else None)

    @property
    def is_doubted(self) -> bool:
        """Was something decided early by it of which it turned out that nothing is promised?"""
        return self.doubt is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledScore:
    """``partial`` as judging everything would have given it, estimated from a random part that was judged."""

    estimate: float | None
    """None where too little was judged to say anything."""
    low: float
    """95 % interval for this suite. No width once everything is judged."""
    high: float
    like_low: float
    """95 % interval for cases like these: also over other cases that the suite might have had."""
    like_high: float
    judged: int
    """Of ``total``, those that the judge has decided; also by choice, or when the sample had closed."""
    open: int
    """Those that were asked about in time and have no verdict: counted both ways, as failed and as passed."""
    total: int
    """Expectations that the judge has the last word on, early verdicts of a certificate included."""
    mode: Literal["estimate", "decide"] = "estimate"
    """Was everything spent on the score, or most of it on single cases?"""
