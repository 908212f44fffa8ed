"""The cases of two runs side by side: what each pair's scores are, and what they may yet become.

The one idea: only what both runs looked at is compared, the same expectations under the same weights. Where the response did
not change, neither did the system, whatever the judge said the second time.

Used by :mod:`tiered_eval.calibration.comparison`. Runs in the same order are read side by side and never held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tiered_eval.records import CaseResult, Verdict
from tiered_eval.records.verdicts import State

__all__ = ["MOST_SHOWN", "CaseChange", "Paired", "Pairs", "in_step"]

MOST_SHOWN = 20
"""Cases that became worse, kept to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """A case that became worse, with the expectations that passed before and fail now."""

    case_id: str
    base: float
    candidate: float
    broken: tuple[str, ...]


@dataclass(slots=True)
class Pairs:
    """The changes of one figure, case by case."""

    base: list[float] = field(default_factory=list)
    candidate: list[float] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)

    def add(self, before: _Score, after: _Score, *, is_same: bool) -> None:
        if before.partial is not None and after.partial is not None:
            self.base.append(before.partial)
            self.candidate.append(after.partial)
        self.lows.append(0.0 if is_same else after.low - before.high)
        self.highs.append(0.0 if is_same else after.high - before.low)


@dataclass(frozen=True, slots=True)
class _Score:
    """The score of some expectations of a case, and what it may yet be."""

    partial: float | None
    low: float
    high: float


def in_step(
    base: Sequence[CaseResult], candidate: Sequence[CaseResult]
) -> Iterator[tuple[CaseResult | None, CaseResult | None]]:
    """Pairs by case id, with None for a missing side. Runs in the same order are read side by side, never held."""
    waiting: dict[str, CaseResult] = {}
    rest = iter(base)
    for after in candidate:
        before = waiting.pop(after.case_id, None)
        while before is None and (other := next(rest, None)) is not None:
            if other.case_id == after.case_id:
                before = other
            else:
                waiting[other.case_id] = other
        yield before, after
    for before in (*waiting.values(), *rest):
        yield before, None


class Paired:
    """Collects pairs of cases."""

    def __init__(self, asked_again: Mapping[tuple[str, str], State]) -> None:
        self._asked_again = asked_again
        self.suite = Pairs()
        self.dimensions: dict[str, Pairs] = {}
        self._drops: list[CaseChange] = []
        self.only_base = self.only_candidate = self.unpaired = self.empty = 0
        self.same = self.changed_minds = self.flaky = 0
        self.prompts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self.models: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, before: CaseResult | None, after: CaseResult | None) -> None:
        if before is None or after is None:
            self.only_candidate += before is None
            self.only_base += after is None
            return
        pairs = list(self._same_expectations(before, after))
        if not pairs:
            self.empty += 1
            return
        is_same = False
        if before.response_digest is not None and before.response_digest == after.response_digest:
            self.same += 1
            self.changed_minds += sum({old.state, new.state} == {"pass", "fail"} for old, new in pairs)
            pairs = [_as_before(old, new) for old, new in pairs]
            is_same = True
        else:
            pairs = [self._confirmed(old, new) for old, new in pairs]
        scores = _scores(pairs)
        self.suite.add(*scores, is_same=is_same)
        for name in sorted({new.dimension for _, new in pairs if new.dimension is not None}):
            inside = [pair for pair in pairs if pair[1].dimension == name]
            self.dimensions.setdefault(name, Pairs()).add(*_scores(inside), is_same=is_same)
        self._note_drop(after.case_id, pairs, scores)

    def _same_expectations(self, before: CaseResult, after: CaseResult) -> Iterator[tuple[Verdict, Verdict]]:
        """Verdicts on the same expectation. Weights are the candidate's, so that both sides are rolled up alike."""
        old = {verdict.expectation_id: verdict for verdict in before.verdicts}
        for verdict in after.verdicts:
            match = old.pop(verdict.expectation_id, None)
            if match is None or not _is_same_claim(match, verdict):
                self.unpaired += 1
                continue
            self._note_judge(match, 0)
            self._note_judge(verdict, 1)
            yield match, verdict
        self.unpaired += len(old)

    def _confirmed(self, old: Verdict, new: Verdict) -> tuple[Verdict, Verdict]:
        """The pair, without a change that the judge did not repeat."""
        again = self._asked_again.get((new.case_id, new.expectation_id))
        if again is None or again == new.state or {old.state, new.state} != {"pass", "fail"}:
            return old, new
        self.flaky += 1
        return _as_before(old, new)

    def _note_judge(self, verdict: Verdict, side: int) -> None:
        if verdict.prompt is not None:
            self.prompts[side][verdict.prompt] += 1
        if verdict.model is not None:
            self.models[side][verdict.model] += 1

    def _note_drop(
        self, case_id: str, pairs: Sequence[tuple[Verdict, Verdict]], scores: tuple[_Score, _Score]
    ) -> None:
        before, after = scores[0].partial, scores[1].partial
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
            verdicts = "1 verdict" if self.changed_minds == 1 else f"{self.changed_minds} verdicts"
            yield (
                f"{verdicts} on unchanged responses came out otherwise: the judge is not steady, or "
                "something beside the system changed; they are in no difference"
            )
        if self.flaky:
            yield f"{self.flaky} changes were not repeated when the judge was asked again; they are in no difference"
        if self.only_base:
            yield f"{self.only_base} cases of the base are not in the candidate: they are in no figure"
        if self.only_candidate:
            yield f"{self.only_candidate} cases of the candidate are not in the base: they are in no figure"
        if self.unpaired:
            yield f"expectations in one of the runs only, or that ask for something else now: {self.unpaired}, in no figure"
        if self.empty:
            yield f"{self.empty} cases have no expectation in common: they are in no figure"


def _is_same_claim(old: Verdict, new: Verdict) -> bool:
    """Do both ask for the same? A value may have been edited under its id; reports of older versions do not tell."""
    return old.kind == new.kind and (old.expected == new.expected or not (old.expected and new.expected))


def _as_before(old: Verdict, new: Verdict) -> tuple[Verdict, Verdict]:
    """Both verdicts as the base has them, or as the candidate does where the base could not say."""
    known = replace(old if old.is_decided else new, weight=new.weight, dimension=new.dimension)
    return known, known


def _scores(pairs: Sequence[tuple[Verdict, Verdict]]) -> tuple[_Score, _Score]:
    weights = [new.weight for _, new in pairs]
    return (
        _score([old for old, _ in pairs], weights),
        _score([new for _, new in pairs], weights),
    )


def _score(verdicts: Sequence[Verdict], weights: Sequence[float]) -> _Score:
    total = sum(weights)
    passed = sum(weight for verdict, weight in zip(verdicts, weights, strict=True) if verdict.state == "pass")
    failed = sum(weight for verdict, weight in zip(verdicts, weights, strict=True) if verdict.state == "fail")
    decided = passed + failed
    if total <= 0:
        return _Score(None, 0.0, 0.0)  # no weight: nothing that could change
    return _Score(passed / decided if decided > 0 else None, passed / total, (total - failed) / total)
