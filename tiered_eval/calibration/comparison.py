"""Two runs of one suite side by side: better, worse, or tied?

The one idea: the same case in both runs is one pair, since an easy case is easy for both; what counts is how its score
*changed*. A difference is only called one if swapping "base" and "candidate" at random, case by case, rarely gives as large a one,
after a correction for looking at several dimensions (Holm 1979). All else is a tie, and said to be one.

The gate is a plainer question: is the suite's score lower by the margin or more? Whatever was left undecided in either run is
counted both ways, so a run that measured too little is undecided, never green.

Route: ``tiered-eval compare`` and ``run --gate-against`` call :func:`compare_reports`; renderers print the :class:`Comparison`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Literal, TypeAlias

from tiered_eval.calibration.binomial import t_quantile
from tiered_eval.errors import ConfigError
from tiered_eval.records import CaseResult, Report, Verdict

__all__ = [
    "DEFAULT_DELTA",
    "DEFAULT_MARGIN",
    "SUITE",
    "CaseChange",
    "Comparison",
    "Difference",
    "compare_reports",
    "exit_code_of",
]

Label: TypeAlias = Literal["better", "worse", "tied"]

DEFAULT_MARGIN = 0.03
"""A drop of the suite's ``partial`` by three points is a regression."""
DEFAULT_DELTA = 0.05
SUITE = "partial"
"""Name of the suite's own figure."""

MOST_SHOWN = 20
_SWAPS = 9_999
_SETTINGS = ("judges", "embedder", "profile", "mode", "version", "certificate")
"""Settings of a report that change verdicts without any change of the system under test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How one figure changed, candidate less base, over the cases that both runs have."""

    name: str
    """``partial``, or the name of a dimension."""
    base: float
    """Mean over the pairs, as decided."""
    candidate: float
    mean: float
    low: float
    """95 % interval for cases like these."""
    high: float
    bound_low: float
    """For these cases, with everything undecided counted against the candidate."""
    bound_high: float
    pairs: int
    better: int
    """Cases whose score rose."""
    worse: int
    p: float
    """Chance of so large a difference, either way, if nothing had changed; corrected for the number of figures."""
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """A case that became worse, with the expectations that passed before and fail now."""

    case_id: str
    base: float
    candidate: float
    broken: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed between two runs, and whether it is a regression."""

    base: str
    candidate: str
    """Ids of the runs."""
    margin: float
    delta: float
    state: Literal["pass", "fail", "undecided"]
    """``fail`` is a regression."""
    reason: str
    exit_code: int
    suite: Difference
    dimensions: tuple[Difference, ...]
    worst: tuple[CaseChange, ...]
    """The largest drops first."""
    only_base: int
    """Cases that the candidate does not have; they are in no figure."""
    only_candidate: int
    unpaired: int
    """Expectations of paired cases that only one of the runs has."""
    same: int
    """Cases whose response is the same in both runs: their difference is 0, whatever the judge said the second time."""
    changed_minds: int
    """Verdicts on those same responses that came out otherwise."""
    warnings: tuple[str, ...]
    """Beginning with whatever makes the two runs hard to compare."""


@dataclass(slots=True)
class _Pairs:
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


def compare_reports(
    base: Report,
    candidate: Report,
    *,
    margin: float = DEFAULT_MARGIN,
    delta: float = DEFAULT_DELTA,
    seed: int = 0,
) -> Comparison:
    """Compare a candidate's run with a base.

    Args:
        margin: the drop of the suite's ``partial`` that is a regression, in [0, 1]. With 0, any drop is one.
        delta: how often a difference may be called one although nothing changed.
        seed: for the random swaps.

    Raises:
        ConfigError: the runs have no case in common, or a number is out of range.
    """
    if not 0.0 <= margin <= 1.0 or not 0.0 < delta < 1.0:
        raise ConfigError(
            f"a margin from 0 to 1 and an error rate between 0 and 1 are needed: {margin}, {delta}"
        )
    paired = _Paired()
    for before, after in _in_step(base.results, candidate.results):
        paired.add(before, after)
    if not paired.suite.lows:
        raise ConfigError(
            f"runs {base.run_id} and {candidate.run_id} have no case in common: nothing can be compared; "
            "compare two runs of one suite, with the same case ids"
        )
    suite, *dimensions = _differences(paired, delta, seed)
    state, reason = _gate(suite, dimensions, margin)
    return Comparison(
        base=base.run_id,
        candidate=candidate.run_id,
        margin=margin,
        delta=delta,
        state=state,
        reason=reason,
        exit_code=exit_code_of(state, (base, candidate)),
        suite=suite,
        dimensions=tuple(dimensions),
        worst=tuple(
            sorted(paired.worst, key=lambda one: (one.candidate - one.base, one.case_id))[:MOST_SHOWN]
        ),
        only_base=paired.only_base,
        only_candidate=paired.only_candidate,
        unpaired=paired.unpaired,
        same=paired.same,
        changed_minds=paired.changed_minds,
        warnings=(*_setting_warnings(base, candidate), *_prompt_warnings(paired), *paired.warnings()),
    )


def exit_code_of(state: Literal["pass", "fail", "undecided"], reports: Iterable[Report]) -> int:
    """0 no regression, 1 regression, 4 undecided where money or time ran out, 3 where too little was measured."""
    if state != "undecided":
        return 0 if state == "pass" else 1
    return 4 if any(report.stopped in ("budget", "deadline") for report in reports) else 3


def _in_step(
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


class _Paired:
    """Collects pairs of cases."""

    def __init__(self) -> None:
        self.suite = _Pairs()
        self.dimensions: dict[str, _Pairs] = {}
        self.worst: list[CaseChange] = []
        self.only_base = self.only_candidate = self.unpaired = self.empty = 0
        self.same = self.changed_minds = 0
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
            pairs = [_of_one_response(old, new) for old, new in pairs]
            is_same = True
        scores = _scores(pairs)
        self.suite.add(*scores, is_same=is_same)
        for name in sorted({new.dimension for _, new in pairs if new.dimension is not None}):
            inside = [pair for pair in pairs if pair[1].dimension == name]
            self.dimensions.setdefault(name, _Pairs()).add(*_scores(inside), is_same=is_same)
        self._note_drop(after.case_id, pairs, scores)

    def _same_expectations(self, before: CaseResult, after: CaseResult) -> Iterator[tuple[Verdict, Verdict]]:
        """Verdicts on the same expectation. Weights are the candidate's, so that both sides are rolled up alike."""
        old = {verdict.expectation_id: verdict for verdict in before.verdicts}
        for verdict in after.verdicts:
            match = old.pop(verdict.expectation_id, None)
            if match is None or match.kind != verdict.kind:
                self.unpaired += 1
                continue
            self._note_judge(match, 0)
            self._note_judge(verdict, 1)
            yield match, verdict
        self.unpaired += len(old)

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
        self.worst.append(CaseChange(case_id=case_id, base=before, candidate=after, broken=broken))
        if len(self.worst) > 50 * MOST_SHOWN:
            self.worst.sort(key=lambda one: (one.candidate - one.base, one.case_id))
            del self.worst[MOST_SHOWN:]

    def warnings(self) -> Iterator[str]:
        if self.changed_minds:
            yield (
                f"{self.changed_minds} verdicts on unchanged responses came out otherwise: the judge is not steady, or "
                "something beside the system changed; they are in no difference"
            )
        if self.only_base:
            yield f"{self.only_base} cases of the base are not in the candidate: they are in no figure"
        if self.only_candidate:
            yield f"{self.only_candidate} cases of the candidate are not in the base: they are in no figure"
        if self.unpaired:
            yield f"{self.unpaired} expectations are in one of the runs only: they are in no figure"
        if self.empty:
            yield f"{self.empty} cases have no expectation in common: they are in no figure"


def _of_one_response(old: Verdict, new: Verdict) -> tuple[Verdict, Verdict]:
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


def _differences(paired: _Paired, delta: float, seed: int) -> list[Difference]:
    """The suite's figure first, then the dimensions by name; p-values corrected over all of them."""
    figures = [(SUITE, paired.suite), *sorted(paired.dimensions.items())]
    raw = [_swap_p(_changes(pairs), seed) for _, pairs in figures]
    return [_difference(name, pairs, p, delta) for (name, pairs), p in zip(figures, _holm(raw), strict=True)]


def _changes(pairs: _Pairs) -> list[float]:
    return [after - before for before, after in zip(pairs.base, pairs.candidate, strict=True)]


def _difference(name: str, pairs: _Pairs, p: float, delta: float) -> Difference:
    changes = _changes(pairs)
    count, bounds = len(changes), len(pairs.lows)
    mean = sum(changes) / count if count else 0.0
    half = _half_width(changes, mean)
    label: Label = "tied" if p > delta else ("better" if mean > 0 else "worse")
    return Difference(
        name=name,
        base=sum(pairs.base) / count if count else 0.0,
        candidate=sum(pairs.candidate) / count if count else 0.0,
        mean=mean,
        low=max(-1.0, mean - half),
        high=min(1.0, mean + half),
        bound_low=sum(pairs.lows) / bounds,
        bound_high=sum(pairs.highs) / bounds,
        pairs=count,
        better=sum(change > 1e-12 for change in changes),
        worse=sum(change < -1e-12 for change in changes),
        p=p,
        label=label,
    )


def _half_width(changes: Sequence[float], mean: float) -> float:
    """Of a 95 % t interval, as if one more case had changed from all to nothing: ties alone prove no tie."""
    count = len(changes)
    if count < 2:
        return 2.0
    squares = sum((change - mean) ** 2 for change in changes) + 1.0
    return t_quantile(0.975, count - 1.0) * sqrt(squares / count / count)


def _swap_p(changes: Sequence[float], seed: int) -> float:
    """How often a random swap of base and candidate in each pair gives a mean as far from 0 (a sign-flip test).

    Exact up to the number of swaps drawn; the observed one counts among them, so it is never 0.
    """
    groups = Counter(round(abs(change), 12) for change in changes if abs(change) > 1e-12)
    seen = abs(sum(changes)) - 1e-9
    if not groups or seen <= 0:
        return 1.0
    rng = random.Random(seed)
    sizes = sorted(groups.items())
    as_far = 0
    for _ in range(_SWAPS):
        total = sum(size * (2 * rng.getrandbits(count).bit_count() - count) for size, count in sizes)
        as_far += abs(total) >= seen
    return (as_far + 1) / (_SWAPS + 1)


def _holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: each p-value as it stands against the whole family."""
    corrected = [1.0] * len(p_values)
    so_far = 0.0
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    for rank, at in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = so_far
    return corrected


def _gate(
    suite: Difference, dimensions: Sequence[Difference], margin: float
) -> tuple[Literal["pass", "fail", "undecided"], str]:
    """A regression is a drop of the suite by the margin, or one of a dimension by the margin that is no accident."""
    limit = -margin
    for one in dimensions:
        if one.label == "worse" and _is_drop(one.bound_high, limit):
            return "fail", f"dimension {one.name} dropped by {-one.mean:.3f}, more than chance would do"
    if _is_drop(suite.bound_high, limit):
        return "fail", f"partial changed by {suite.mean:+.3f}; a drop of {margin:g} or more is a regression"
    if _is_drop(suite.bound_low, limit):
        return "undecided", (
            f"partial changed by between {suite.bound_low:+.3f} and {suite.bound_high:+.3f}, depending on what was left "
            f"undecided; the limit is {limit:+g}"
        )
    return "pass", f"partial changed by {suite.mean:+.3f}; the limit is {limit:+g}"


def _is_drop(difference: float, limit: float) -> bool:
    """Is it at the limit or beyond? Where no drop at all is accepted, an unchanged score is still none."""
    return difference < -1e-9 if limit == 0 else difference <= limit + 1e-9


def _setting_warnings(base: Report, candidate: Report) -> Iterator[str]:
    if base.suite and candidate.suite and base.suite != candidate.suite:
        yield f"ANOTHER SUITE: the base is of {base.suite!r}, the candidate of {candidate.suite!r}"
    if not base.settings or not candidate.settings:
        yield "how one of the runs was judged is not known, since only its results are there: they may not compare"
        return
    for name in _SETTINGS:
        before, after = base.settings.get(name), candidate.settings.get(name)
        if before != after:
            yield (
                f"JUDGED DIFFERENTLY: {name} was {_shown(before)} and is {_shown(after)}; a difference may come from that "
                "alone. Score the base's responses again with the new settings to know"
            )


def _prompt_warnings(paired: _Paired) -> Iterator[str]:
    for what, (before, after) in (("prompts", paired.prompts), ("models", paired.models)):
        new = sorted(set(after) - set(before))
        if before and new:
            yield (
                f"JUDGED DIFFERENTLY: the candidate was asked with other {what} ({', '.join(new[:3])}); a difference may "
                "come from that alone"
            )


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "none"
    return "unknown" if value is None else str(value)
