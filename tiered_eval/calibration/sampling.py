"""A suite's score when there is not enough money or time to judge all of it.

The one idea: what a run can afford to judge is drawn at random by a plan, so the score that judging everything *would* have
given can be estimated with an interval that is right whatever the probabilities ``f`` of the cheap tiers are worth:
good ones make it narrow, bad ones only wide. Likely calls are stratified by ``f``, and any beginning of the plan is a sample too,
so a run may stop wherever its money ends.

Two modes. ``estimate`` spends everything on the score of the suite. ``decide`` settles as many cases as possible, cheapest
question first; that is no random sample, so a part of the money is kept to estimate the rest.

A frame may hold a random part of the cases only, where a suite is too large to be known whole. What the other cases might be is
then a part of the interval, and what is known of all of them makes it narrower (:class:`Beyond`).

The unit is one expectation; ``y`` is what the full run would say of it, 1 for a pass. Pure functions, no numpy.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import inf, sqrt
from typing import Literal, TypeAlias

from tiered_eval.calibration.binomial import t_quantile

__all__ = [
    "ESTIMATE_SHARE",
    "Beyond",
    "CaseTurn",
    "Framed",
    "Mode",
    "SamplePlan",
    "SampledFigure",
    "Stratum",
    "cuts_of",
    "estimate",
    "frame_of",
    "plan_cases",
    "plan_sample",
    "rank_of_case",
]

Mode: TypeAlias = Literal["estimate", "decide"]
Cut: TypeAlias = tuple[float, str]
"""``f`` and id at which a stratum begins."""
Answers: TypeAlias = Mapping[str, float | tuple[float, float] | None]
"""What came of the calls that were made, by id: ``y``; the least and the most that it may be, where a part of the answer is missing;
or None for one that failed or is still open."""

ESTIMATE_SHARE = 0.2
"""Share of the money that mode ``decide`` keeps for a sample of the rest, so that the suite has an interval."""

_CONFIDENCE = 0.95
_CALLS_PER_STRATUM = 12
_LEAST_STRATA, _MOST_STRATA = 2, 10
_LEAST_CALLS = 2
_LEAST_SPREAD = 0.01
"""Of f(1 - f): something said to be certain still gets its share of the sample."""
_PRIOR_SPREAD = 0.02
_PRIOR_CALLS = 4.0
"""The variance of a stratum begins with so many made-up observations; without them a lucky sample has no width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framed:
    """One expectation of the suite, early verdicts included."""

    id: str
    case: str
    share: float
    """Of the suite's score: its weight in its case, divided by the number of cases. All shares add up to 1."""
    f: float
    """Probability of a pass as the last tier that was reached sees it: ``q``, or 0.5 where nothing is known."""

    @property
    def spread(self) -> float:
        return self.f * (1.0 - self.f)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Expectations with about the same ``f``, in the random order in which they are judged."""

    members: tuple[Framed, ...]
    planned: int
    """Calls of the plan that fall on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """What to judge, in which order. Every beginning of ``order`` is a valid sample."""

    frame: tuple[Framed, ...]
    known: Mapping[str, float]
    """Verdicts of the top judge that are there already, from the store, say: free, and no part of the sample."""
    strata: tuple[Stratum, ...]
    order: tuple[str, ...]
    """All ids that are not known: the planned ones first, those behind them for money that is left over."""
    planned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """The suite of a frame that may hold a random part of its cases only. Scores are in [0, 1]."""

    cases: int
    """Of the whole suite, those of the frame included."""
    least: float
    """The suite's score, by what is known of all of it."""
    most: float
    known: Mapping[str, float]
    """For each case of the frame, a guess of its score that is made for all cases alike, whatever was judged."""
    mean_known: float | None
    """The mean of that guess over all cases of the suite; None where it could not be made for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledFigure:
    """The score of the suite, as judging everything would have given it."""

    estimate: float | None
    """None where fewer than two calls were made: then nothing can be said."""
    low: float
    """95 % interval for this suite. No width once everything is judged."""
    high: float
    like_low: float
    """95 % interval for cases like these: also over other cases that the suite might have had."""
    like_high: float
    judged: int
    """Expectations with a verdict of the top judge."""
    open: int
    """Calls that were made and have no answer: counted as both, failed and passed."""
    total: int


def frame_of(rows: Iterable[tuple[str, str, float, float]]) -> tuple[Framed, ...]:
    """The frame of a suite from (id, case, weight, f); every case has the same share of the score.

    Cases whose weights are all 0 have none. The order of the rows makes no difference to anything that follows.
    """
    rows = sorted(rows)
    totals: dict[str, float] = defaultdict(float)
    for _, case, weight, _ in rows:
        totals[case] += weight
    cases = sum(1 for total in totals.values() if total > 0)
    return tuple(
        Framed(id=id, case=case, share=weight / totals[case] / cases, f=min(max(f, 0.0), 1.0))
        for id, case, weight, f in rows
        if totals[case] > 0
    )


def rank_of_case(id: str, seed: int) -> float:
    """Where a case stands in the draw of a suite's cases: a number in [0, 1) that is as good as random, and needs no list of them."""
    digest = blake2b(f"sample {seed} {id}".encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2**56


def plan_sample(
    frame: Sequence[Framed],
    calls: int,
    *,
    seed: int,
    known: Mapping[str, float] | None = None,
    cuts: Sequence[Cut] | None = None,
) -> SamplePlan:
    """Draw what to judge with money for ``calls`` calls (mode ``estimate``).

    Args:
        known: verdicts of the top judge that cost nothing.
        cuts: where the strata begin, as an earlier part of the same suite had them (:func:`cuts_of`): such strata may be joined,
            each in the order of its parts. None: they are cut here.
    """
    known = dict(known or {})
    rest = [one for one in frame if one.id not in known]
    planned = min(max(calls, 0), len(rest))
    rng = random.Random(seed)
    groups = _cut(rest, _stratum_count(planned)) if cuts is None else _cut_at(rest, cuts)
    strata = [_shuffled(members, rng) for members in groups]
    allocated = _allocate([(len(members), sum(map(_size, members))) for members in strata], planned)
    placed = [
        ((at + 0.5) / max(count, 0.5), number, at, one.id)
        for number, (members, count) in enumerate(zip(strata, allocated, strict=True))
        for at, one in enumerate(members)
    ]
    return SamplePlan(
        frame=tuple(frame),
        known=known,
        strata=tuple(
            Stratum(members=tuple(members), planned=count)
            for members, count in zip(strata, allocated, strict=True)
        ),
        order=tuple(id for *_, id in sorted(placed)),
        planned=planned,
    )


def cuts_of(plan: SamplePlan) -> tuple[Cut, ...]:
    """Where the strata of a plan begin, for another part of the same suite."""
    return tuple(min((one.f, one.id) for one in stratum.members) for stratum in plan.strata)


def _stratum_count(calls: int) -> int:
    if calls < _LEAST_STRATA * _LEAST_CALLS:
        return 1
    return min(max(calls // _CALLS_PER_STRATUM, _LEAST_STRATA), _MOST_STRATA)


def _size(one: Framed) -> float:
    """How much a call on it can tell: the standard deviation that it adds to the score."""
    return one.share * sqrt(max(one.spread, _LEAST_SPREAD))


def _cut(rest: Sequence[Framed], count: int) -> list[list[Framed]]:
    """By rising ``f``, into groups of about the same total size and at least two members."""
    ordered = sorted(rest, key=lambda one: (one.f, one.id))
    total = sum(map(_size, ordered))
    groups: list[list[Framed]] = [[]]
    reached = 0.0
    for at, one in enumerate(ordered):
        left = len(ordered) - at
        is_full = reached >= total * len(groups) / count and len(groups[-1]) >= _LEAST_CALLS
        if is_full and len(groups) < count and left >= _LEAST_CALLS:
            groups.append([])
        groups[-1].append(one)
        reached += _size(one)
    return [group for group in groups if group]


def _cut_at(rest: Sequence[Framed], cuts: Sequence[Cut]) -> list[list[Framed]]:
    """As many groups as there are cuts; what is below the first of them is in the first group."""
    groups: list[list[Framed]] = [[] for _ in cuts]
    for one in sorted(rest, key=lambda one: (one.f, one.id)):
        groups[max(0, bisect_right(cuts, (one.f, one.id)) - 1)].append(one)
    return groups


def _shuffled(members: list[Framed], rng: random.Random) -> list[Framed]:
    return rng.sample(members, len(members))


def _allocate(strata: Sequence[tuple[int, float]], calls: int) -> list[int]:
    """Calls for each stratum of (members, size): by size, at least two, at most all of its members."""
    counts = [min(members, _LEAST_CALLS) for members, _ in strata]
    if sum(counts) > calls:
        return [min(members, calls) for members, _ in strata[:1]] + [0] * (len(strata) - 1)
    total = sum(size for _, size in strata) or 1.0
    wanted = [calls * size / total for _, size in strata]
    for _ in range(calls - sum(counts)):
        room = [at for at, (members, _) in enumerate(strata) if counts[at] < members]
        counts[max(room, key=lambda at: (wanted[at] - counts[at], -at))] += 1
    return counts


def estimate(plan: SamplePlan, answers: Answers, *, beyond: Beyond | None = None) -> SampledFigure:
    """The score and its intervals from the calls that were made.

    ``answers`` must hold every call that left, in the order of the plan, with None for those that failed or that were still
    open at the deadline: slow answers may be bad ones, so the interval covers both ends of each (of what is missing, where a part
    was answered). Answers to expectations out of turn are ignored, since they were not drawn: whoever runs out of money stops
    there, and does not look for cheaper calls further down.

    ``beyond`` is the suite, where the frame holds a random part of its cases, or where more is known of it: then the figure is the
    suite's.
    """
    strata = _merged([_drawn(stratum, answers) for stratum in plan.strata])
    unknown = sum(low < high for _, drawn in strata for low, high in drawn)
    judged = len(plan.known) + sum(len(drawn) for _, drawn in strata) - unknown
    total = len(plan.frame)
    least = sum(one.share * plan.known.get(one.id, 0.0) for one in plan.frame)
    most = 1.0 - sum(one.share * (1.0 - plan.known[one.id]) for one in plan.frame if one.id in plan.known)
    if beyond is not None:
        least, most = beyond.least, beyond.most
    if not plan.frame or any(map(_lacks_calls, strata)):
        return SampledFigure(
            estimate=None,
            low=least,
            high=most,
            like_low=0.0,
            like_high=1.0,
            judged=judged,
            open=unknown,
            total=total,
        )
    ends = [_estimate_with(plan, strata, end, beyond) for end in ((0, 1) if unknown else (0,))]
    return SampledFigure(
        estimate=_within(sum(end.middle for end in ends) / len(ends), least, most),
        low=_within(min(end.low for end in ends), least, most),
        high=_within(max(end.high for end in ends), least, most),
        like_low=_within(min(end.like_low for end in ends), 0.0, 1.0),
        like_high=_within(max(end.like_high for end in ends), 0.0, 1.0),
        judged=judged,
        open=unknown,
        total=total,
    )


_Group: TypeAlias = tuple[Sequence[Framed], list[tuple[float, float]]]
"""The members of a stratum, and the least and the most that the answers to the first of them may be."""


def _drawn(stratum: Stratum, answers: Answers) -> _Group:
    """The answers to a stratum's calls up to the first that was never made."""
    drawn: list[tuple[float, float]] = []
    for one in stratum.members:
        if one.id not in answers:
            break
        y = answers[one.id]
        drawn.append((0.0, 1.0) if y is None else y if isinstance(y, tuple) else (y, y))
    return stratum.members, drawn


def _merged(groups: Sequence[_Group]) -> list[_Group]:
    """A stratum that the money did not reach is joined with its neighbour.

    Their parts were drawn at about the same rate, as the plan takes strata in turn, and the drawn members stay in front.
    """
    merged: list[_Group] = []
    for members, drawn in groups:
        if merged and (_lacks_calls(merged[-1]) or _lacks_calls((members, drawn))):
            before, answered = merged.pop()
            front = [*before[: len(answered)], *members[: len(drawn)]]
            back = [*before[len(answered) :], *members[len(drawn) :]]
            members, drawn = [*front, *back], [*answered, *drawn]
        merged.append((members, drawn))
    return merged


def _lacks_calls(group: _Group) -> bool:
    members, drawn = group
    return len(drawn) < min(_LEAST_CALLS, len(members))


@dataclass(frozen=True, slots=True)
class _End:
    """Estimate and intervals with all open answers taken for the same end of what they may be."""

    middle: float
    low: float
    high: float
    like_low: float
    like_high: float


def _estimate_with(
    plan: SamplePlan, strata: Sequence[_Group], end: Literal[0, 1], beyond: Beyond | None
) -> _End:
    middle = sum(one.share * plan.known.get(one.id, one.f) for one in plan.frame)
    inner = trust = 0.0
    likely = {one.id: one.share * plan.known.get(one.id, one.f) for one in plan.frame}
    unseen = 0.0
    for members, drawn in strata:
        if not members:
            continue
        residuals = [one.share * (y[end] - one.f) for one, y in zip(members, drawn, strict=False)]
        count, size = len(residuals), len(members)
        mean, spread = sum(residuals) / count, _spread(members, residuals)
        middle += size * mean
        part = size * size * (1.0 - count / size) * spread / count
        inner += part
        trust += part * part / (count + 3.0)
        for one, residual in zip(members, [*residuals, *[mean] * (size - count)], strict=True):
            likely[one.id] += residual
        unseen += (size - count) * spread
    cases: dict[str, float] = defaultdict(float)
    for one in plan.frame:
        cases[one.case] += likely[one.id]
    between = _between(list(cases.values()), unseen)
    like, outer = inner + between, 0.0
    if beyond is not None and beyond.cases > len(cases) > 0:
        share = len(cases) / beyond.cases
        outer, shift = (1.0 - share) * between, 0.0
        if beyond.mean_known is not None:
            known = [beyond.known[case] / len(cases) for case in cases]
            beside = [now - guess for now, guess in zip(cases.values(), known, strict=True)]
            outer, shift = (1.0 - share) * _between(beside, unseen), beyond.mean_known - sum(known)
        middle += shift
        trust += outer * outer / (len(cases) + 3.0)
        like = inner + outer + share * between
    variance = inner + outer
    df = variance * variance / trust if trust > 0 else inf
    half, wide = _half_width(variance, df), _half_width(like, df)
    return _End(middle, middle - half, middle + half, middle - wide, middle + wide)


def _spread(members: Sequence[Framed], residuals: Sequence[float]) -> float:
    """The variance of one member of a stratum. It begins with made-up observations."""
    count = len(residuals)
    mean = sum(residuals) / count
    squares = sum((residual - mean) ** 2 for residual in residuals)
    prior = sum(one.share**2 * max(one.spread, _PRIOR_SPREAD) for one in members) / len(members)
    return (squares + _PRIOR_CALLS * prior) / (count - 1 + _PRIOR_CALLS)


def _half_width(variance: float, df: float) -> float:
    if variance <= 0.0:
        return 0.0
    return t_quantile((1.0 + _CONFIDENCE) / 2.0, max(df, 1.0)) * sqrt(variance)


def _between(values: Sequence[float], unseen: float) -> float:
    """Variance of a sum over cases, from how those that were drawn differ (clustered by case).

    What was not judged is in it at its likely value, which varies less than the truth; ``unseen`` is the missing part.
    """
    count = len(values)
    if count < 2:
        return 0.25
    mean = sum(values) / count
    return sum((value - mean) ** 2 for value in values) * count / (count - 1) + unseen


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTurn:
    """One case's turn in mode ``decide``: ask in this order, and stop at the first fail, which settles the case."""

    case: str
    ids: tuple[str, ...]


def plan_cases(frame: Sequence[Framed], *, known: Mapping[str, float] | None = None) -> tuple[CaseTurn, ...]:
    """The cases that are worth most a call first: those in doubt that few questions settle (mode ``decide``).

    A case passes with P, the product of its ``f``; the doubt is min(P, 1 - P), and the calls are those expected before the
    first fail. This is no random sample: keep :data:`ESTIMATE_SHARE` of the money, and give what was judged here to
    :func:`plan_sample` as ``known``. Cases with a known fail are settled and left out.
    """
    known = known or {}
    members: dict[str, list[Framed]] = defaultdict(list)
    failed = set()
    for one in frame:
        if one.id not in known:
            members[one.case].append(one)
        elif known[one.id] < 1.0:
            failed.add(one.case)
    worth = []
    for case, ones in members.items():
        if case in failed:
            continue
        ones.sort(key=lambda one: (one.f, one.id))
        calls, passing = 0.0, 1.0
        for one in ones:
            calls += passing
            passing *= one.f
        turn = CaseTurn(case=case, ids=tuple(one.id for one in ones))
        worth.append((-min(passing, 1.0 - passing) / calls, case, turn))
    return tuple(turn for *_, turn in sorted(worth, key=lambda entry: entry[:2]))
