"""The cases of two runs side by side: what each pair's scores are, and what they may yet become.

The one idea: only what both runs looked at is compared, the same expectations under the same weights. Where the response did
not change, neither did the system, whatever the judge said the second time.

Used by :mod:`tiered_eval.calibration.comparison`. Runs in the same order are read side by side and never held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tiered_eval.errors import ConfigError
from tiered_eval.records import CaseResult, Verdict
from tiered_eval.records.certified import BY_CERTIFICATE
from tiered_eval.suite.seen import SeenIds
from tiered_eval.text.plurals import plural

__all__ = [
    "MOST_SHOWN",
    "STEADY",
    "CaseChange",
    "Moods",
    "Paired",
    "Pairs",
    "Score",
    "in_step",
    "is_same_claim",
    "is_unchanged",
    "pairs_by_figure",
    "same_claims",
    "scores",
    "steady",
]

SUITE = "partial"
"""Name of the suite's own figure."""
MOST_SHOWN = 20
"""Cases that became worse, kept to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """A case that became worse, with the expectations that passed before and fail now."""

    case_id: str
    base: float
    candidate: float
    broken: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moods:
    """Changes that are the judge's and not the system's, and count for nothing."""

    changes: Mapping[str | None, frozenset[tuple[str, str]]]
    """By case and expectation: for the suite's figure (None), and for each dimension."""
    not_repeated: int = 0
    """Of them, those that it took back when it was asked again."""
    set_against: int = 0
    """Those that stand for the same on the base's side."""

    def warnings(self) -> Iterator[str]:
        if self.not_repeated:
            yield (
                f"not repeated when the judge was asked again: {plural(self.not_repeated, 'change')}; in no difference, "
                f"nor are {self.set_against:,} the other way, since as many of the base's verdicts will not have been steadier"
            )


STEADY = Moods(changes={})
"""Nobody was asked again."""


@dataclass(slots=True)
class Pairs:
    """The changes of one figure, case by case."""

    base: list[float] = field(default_factory=list)
    candidate: list[float] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)

    def add(self, before: Score, after: Score, *, is_same: bool) -> None:
        if before.partial is not None and after.partial is not None:
            self.base.append(before.partial)
            self.candidate.append(after.partial)
        self.lows.append(0.0 if is_same else after.low - before.high)
        self.highs.append(0.0 if is_same else after.high - before.low)


@dataclass(frozen=True, slots=True)
class Score:
    """The score of some expectations of a case, and what it may yet be."""

    partial: float | None
    low: float
    high: float


def in_step(
    base: Sequence[CaseResult], candidate: Sequence[CaseResult]
) -> Iterator[tuple[CaseResult | None, CaseResult | None]]:
    """Pairs by case id, with None for a missing side. Runs in the same order are read side by side, never held.

    Raises:
        ConfigError: two cases of a run have the same id, so nobody knows which belongs to which.
    """
    waiting: dict[str, CaseResult] = {}
    rest = _told_apart(base, "base")
    for after in _told_apart(candidate, "candidate"):
        before = waiting.pop(after.case_id, None)
        while before is None and (other := next(rest, None)) is not None:
            if other.case_id == after.case_id:
                before = other
            else:
                waiting[other.case_id] = other
        yield before, after
    for before in (*waiting.values(), *rest):
        yield before, None


def _told_apart(results: Iterable[CaseResult], side: str) -> Iterator[CaseResult]:
    seen = SeenIds()
    for result in results:
        if not seen.add(result.case_id):
            raise ConfigError(
                f"two cases of the {side} have the id {result.case_id!r}: cases are compared by their ids, give each one of its own"
            )
        yield result


class Paired:
    """Collects pairs of cases."""

    def __init__(self, moods: Moods) -> None:
        self._moods = moods
        self.suite = Pairs()
        self.dimensions: dict[str, Pairs] = {}
        self._drops: list[CaseChange] = []
        self.only_base = self.only_candidate = self.unpaired = self.empty = 0
        self.same = self.changed_minds = self.reweighed = 0
        self.early = [0, 0]
        """Of base and candidate: verdicts of a certificate, in cases whose response changed."""
        self.prompts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self.models: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, before: CaseResult | None, after: CaseResult | None) -> None:
        if before is None or after is None:
            self.only_candidate += before is None
            self.only_base += after is None
            return
        pairs = same_claims(before, after)
        self.unpaired += _unpaired(before, after, len(pairs))
        if not pairs:
            self.empty += 1
            return
        for old, new in pairs:
            self._note_judge(old, 0)
            self._note_judge(new, 1)
            self.reweighed += (old.weight, old.dimension) != (new.weight, new.dimension)
        is_same = is_unchanged(before, after)
        if is_same:
            self.same += 1
            self.changed_minds += sum({old.state, new.state} == {"pass", "fail"} for old, new in pairs)
            pairs = [_as_before(old, new) for old, new in pairs]
        else:
            for side in (0, 1):
                self.early[side] += sum(pair[side].scorer == BY_CERTIFICATE for pair in pairs)
        for name, inside in pairs_by_figure(pairs):
            figure = self.suite if name is None else self.dimensions.setdefault(name, Pairs())
            figure.add(*scores(steady(inside, self._moods, name)), is_same=is_same)
        self._note_drop(after.case_id, steady(pairs, self._moods, None))

    def _note_judge(self, verdict: Verdict, side: int) -> None:
        if verdict.prompt is not None:
            self.prompts[side][verdict.prompt] += 1
        if verdict.model is not None:
            self.models[side][verdict.model] += 1

    def _note_drop(self, case_id: str, pairs: Sequence[tuple[Verdict, Verdict]]) -> None:
        before, after = (score.partial for score in scores(pairs))
        if before is None or after is None or after >= before:
            return
        broken = tuple(new.expectation_id for old, new in pairs if (old.state, new.state) == ("pass", "fail"))
        self._drops.append(CaseChange(case_id=case_id, base=before, candidate=after, broken=broken))
        if len(self._drops) > 50 * MOST_SHOWN:
            self._drops = list(self.worst())

    def worst(self) -> tuple[CaseChange, ...]:
        """The largest drops first."""
        return tuple(
            sorted(self._drops, key=lambda one: (one.candidate - one.base, one.case_id))[:MOST_SHOWN]
        )

    def warnings(self) -> Iterator[str]:
        if self.changed_minds:
            yield (
                f"{plural(self.changed_minds, 'verdict')} on unchanged responses came out otherwise: the judge is not steady, or "
                "something beside the system changed; in no difference"
            )
        if self.only_base:
            yield f"{plural(self.only_base, 'case')} only in the base: in no figure"
        if self.only_candidate:
            yield f"{plural(self.only_candidate, 'case')} only in the candidate: in no figure"
        if self.unpaired:
            yield f"expectations in one of the runs only, or that ask for something else now: {self.unpaired}, in no figure"
        if self.reweighed:
            yield (
                f"{plural(self.reweighed, 'expectation')} with another weight or dimension now: both runs are counted by those of the "
                "candidate"
            )
        if self.empty:
            yield f"{plural(self.empty, 'case')} without an expectation in common: in no figure"


def same_claims(before: CaseResult, after: CaseResult) -> list[tuple[Verdict, Verdict]]:
    """Verdicts on the same expectation, in the candidate's order."""
    old = {verdict.expectation_id: verdict for verdict in before.verdicts}
    pairs = ((old.get(new.expectation_id), new) for new in after.verdicts)
    return [
        (match, new)
        for match, new in pairs
        if match is not None and is_same_claim(match, new.kind, new.expected)
    ]


def _unpaired(before: CaseResult, after: CaseResult, pairs: int) -> int:
    """Expectations that only one of the runs has; one that was edited under its id counts once."""
    ids = {verdict.expectation_id for verdict in before.verdicts}
    ids |= {verdict.expectation_id for verdict in after.verdicts}
    return len(ids) - pairs


def is_unchanged(before: CaseResult, after: CaseResult) -> bool:
    """Is the response the same, byte for byte?"""
    return before.response_digest is not None and before.response_digest == after.response_digest


def steady(
    pairs: Sequence[tuple[Verdict, Verdict]], moods: Moods, figure: str | None
) -> Sequence[tuple[Verdict, Verdict]]:
    """The pairs of a figure with what was a mood of the judge as it was before."""
    of_figure = moods.changes.get(figure)
    if not of_figure:
        return pairs
    return [
        _as_before(old, new) if (new.case_id, new.expectation_id) in of_figure else (old, new)
        for old, new in pairs
    ]


def pairs_by_figure(
    pairs: Sequence[tuple[Verdict, Verdict]],
) -> Iterator[tuple[str | None, Sequence[tuple[Verdict, Verdict]]]]:
    """All pairs for the suite's own figure (None), then those of each dimension; the candidate says which is whose."""
    yield None, pairs
    for name in sorted({new.dimension for _, new in pairs if new.dimension is not None}):
        yield name, [pair for pair in pairs if pair[1].dimension == name]


def is_same_claim(old: Verdict, kind: str, expected: str) -> bool:
    """Do both ask for the same? A value may have been edited under its id; reports of older versions do not tell."""
    return old.kind == kind and (old.expected == expected or not (old.expected and expected))


def _as_before(old: Verdict, new: Verdict) -> tuple[Verdict, Verdict]:
    """Both verdicts as the base has them, or as the candidate does where the base could not say."""
    known = replace(old if old.is_decided else new, weight=new.weight, dimension=new.dimension)
    return known, known


def scores(pairs: Sequence[tuple[Verdict, Verdict]]) -> tuple[Score, Score]:
    """Of base and candidate. Weights are the candidate's, so that both sides are rolled up alike."""
    weights = [new.weight for _, new in pairs]
    return (
        _score([old for old, _ in pairs], weights),
        _score([new for _, new in pairs], weights),
    )


def _score(verdicts: Sequence[Verdict], weights: Sequence[float]) -> Score:
    total = sum(weights)
    passed = sum(weight for verdict, weight in zip(verdicts, weights, strict=True) if verdict.state == "pass")
    failed = sum(weight for verdict, weight in zip(verdicts, weights, strict=True) if verdict.state == "fail")
    decided = passed + failed
    if total <= 0:
        return Score(None, 0.0, 0.0)  # no weight: nothing that could change
    return Score(passed / decided if decided > 0 else None, passed / total, (total - failed) / total)
