"""Labelled expectations: what calibration learns from, and who of them may be looked at when.

The one idea: a label has exactly one *role*. Design labels build the scoring and the order of tests; certification labels
are looked at by the tests only. Roles go by case, drawn by a seeded hash, so the order of rows changes nothing, and
the same pair of response and expectation never stands in both.

Reading files is :mod:`tiered_eval.calibration.reading`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["DESIGN_SHARE", "Label", "Roles", "TierSpec", "assign_roles", "human_disagreement"]

DESIGN_SHARE = 0.4
"""Of the human labels, where nothing else can be learnt from."""
PLANNING_SHARE = 0.15
"""Of the human labels, where a design is there already: their scores tell how far the path can go."""
LEAST_TOP_LABELS = 100
"""So many pairs with the top judge's verdict and no human label are a design of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSpec:
    """One tier as calibration sees it: the scores it adds, and what asking it costs."""

    name: str
    scores: tuple[str, ...]
    """Names in ``Label.scores``. For the top tier the one score that is its verdict, or none."""
    cost: float
    """For one expectation, in any unit that all tiers share; 0 for string work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One expectation on one response, its scores, and what it should have been judged."""

    id: str
    case: str
    """The cluster: labels of one case are not independent."""
    kind: str
    met: bool | None
    """The human verdict "the expectation is met"; None where only the top judge has spoken."""
    scores: Mapping[str, float | None]
    """In [0, 1], by name; None or absent: the check does not apply, or failed."""
    top: bool | None = None
    """The top judge's verdict, where it is known."""
    second: bool | None = None
    """A second person's verdict, where there is one."""
    pair: str = ""
    """Digest of response and expectation; equal ones share a role. Empty: the id."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Who is looked at for what."""

    design: tuple[Label, ...]
    certification: tuple[Label, ...]
    design_source: str
    """``human``, ``top_judge`` or the name of a shipped design."""


def assign_roles(labels: Iterable[Label], *, seed: int, shipped: str | None = None) -> Roles:
    """Split labels by case; each role in an order that does not depend on that of the rows.

    Design labels are the first that exist: a ``shipped`` design (then :data:`PLANNING_SHARE` of the human labels help to
    plan the path, by their scores), pairs that only the top judge has labelled, else :data:`DESIGN_SHARE` of the human labels. In proxy mode put the top judge's verdict in
    ``met`` and every label counts as labelled.
    """
    every = sorted(labels, key=lambda label: (label.case, label.id, label.kind))
    human = [label for label in every if label.met is not None]
    if shipped is not None:
        return _split(human, PLANNING_SHARE, shipped, seed)
    by_judge = [label for label in every if label.met is None and label.top is not None]
    if len(by_judge) >= LEAST_TOP_LABELS:
        kept = {label.pair or label.id for label in human} | {label.case for label in human}
        design = [
            label for label in by_judge if label.case not in kept and (label.pair or label.id) not in kept
        ]
        if len(design) >= LEAST_TOP_LABELS:
            return Roles(tuple(design), tuple(human), "top_judge")
    return _split(human, DESIGN_SHARE, "human", seed)


def _split(labels: Sequence[Label], share: float, source: str, seed: int) -> Roles:
    """Cases drawn for the design, all others for certification.

    A pair that stands on both sides stays with certification, so that what is tested is a draw of cases as they come. If
    cases with an equal pair moved together, as one, then whatever recurs (one refusal in answer to many questions) would
    now and then be in the design alone, and the test would have seen none of it.
    """
    drawn = _drawn([label.case for label in labels], share, seed)
    certification = tuple(label for label in labels if label.case not in drawn)
    tested = {label.pair or label.id for label in certification}
    design = (label for label in labels if label.case in drawn and (label.pair or label.id) not in tested)
    return Roles(tuple(design), certification, source)


def _drawn(cases: Sequence[str], share: float, seed: int) -> set[str]:
    """Cases in the order of their hashes until they hold the design's share of the labels."""
    sizes = Counter(cases)
    wanted = share * len(cases)
    chosen: set[str] = set()
    held = 0
    for case in sorted(sizes, key=lambda case: _hash(case, seed)):
        if held >= wanted:
            break
        chosen.add(case)
        held += sizes[case]
    return chosen


def _hash(text: str, seed: int) -> bytes:
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=16, salt=str(seed).encode()[:16]
    ).digest()


def human_disagreement(labels: Iterable[Label]) -> tuple[int, int]:
    """How often two people disagree about the same expectation: (times, of how many)."""
    twice = [label for label in labels if label.met is not None and label.second is not None]
    return sum(label.met != label.second for label in twice), len(twice)
