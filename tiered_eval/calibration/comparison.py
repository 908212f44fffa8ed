"""Two runs of one suite side by side: better, worse, or tied?

The one idea: the same case in both runs is one pair, since an easy case is easy for both; what counts is how its score
*changed*. A difference is only called one if swapping "base" and "candidate" at random, case by case, rarely gives as large a one,
after a correction for looking at several dimensions (Holm 1979). All else is a tie, and said to be one.

The gate is a plainer question: is the suite's score lower by the margin or more? Whatever was left undecided in either run is
counted both ways, so a run that measured too little is undecided, never green.

Route: ``tiered-eval compare`` and ``run --gate-against`` call :func:`compare_reports`; renderers print the :class:`Comparison`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias

from tiered_eval.calibration.binomial import t_quantile
from tiered_eval.calibration.doubts import doubts_among
from tiered_eval.calibration.flakes import changes_to_confirm, moods_among
from tiered_eval.calibration.pairing import STEADY, CaseChange, Moods, Paired, Pairs, in_step
from tiered_eval.calibration.swaps import holm, swap_p
from tiered_eval.errors import ConfigError
from tiered_eval.records import Report
from tiered_eval.records.verdicts import State
from tiered_eval.text.plurals import plural

__all__ = [
    "DEFAULT_DELTA",
    "DEFAULT_MARGIN",
    "SUITE",
    "Comparison",
    "Difference",
    "check_results",
    "compare_reports",
    "doubted",
    "exit_code_of",
    "same_embedder",
    "unread_reason",
]

Label: TypeAlias = Literal["better", "worse", "tied"]
Answer: TypeAlias = Literal["pass", "fail", "undecided"]

DEFAULT_MARGIN = 0.03
"""A drop of the suite's ``partial`` by three points is a regression."""
DEFAULT_DELTA = 0.05
SUITE = "partial"
"""Name of the suite's own figure."""

_SETTINGS = ("judges", "embedder", "profile", "mode", "version", "certificate", "code")
"""Settings of a report that change verdicts without any change of the system under test."""
_SELDOM = frozenset({"certificate", "code"})
"""Settings that a report has only where there are any."""


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
class Comparison:
    """What changed between two runs, and whether it is a regression."""

    base: str
    candidate: str
    """Ids of the runs."""
    margin: float
    delta: float
    state: Answer
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
    flaky: int
    """Changes that the judge did not repeat when it was asked again."""
    warnings: tuple[str, ...]
    """Beginning with whatever makes the two runs hard to compare."""
    doubts: tuple[str, ...] = ()
    """Why early verdicts that it rests on are in doubt. While there are any it is no pass."""


def compare_reports(
    base: Report,
    candidate: Report,
    *,
    margin: float = DEFAULT_MARGIN,
    delta: float = DEFAULT_DELTA,
    seed: int = 0,
    asked_again: Mapping[tuple[str, str], State] | None = None,
) -> Comparison:
    """Compare a candidate's run with a base.

    Args:
        margin: the drop of the suite's ``partial`` that is a regression, in [0, 1]. With 0, any drop is one.
        delta: how often a difference may be called one although nothing changed.
        seed: for the random swaps.
        asked_again: what the judge said when it was asked once more about the candidate, by case and expectation (see
            ``calibration.flakes``). A change that it did not repeat is no difference, and so are as many that it did, the
            other way. Where None, what was asked in the candidate's own gate against this base.

    A candidate that was gated against this base, and ended as soon as the answer was sure, keeps that answer.

    Raises:
        ConfigError: the runs have no case in common, or a number is out of range.
    """
    if not 0.0 <= margin <= 1.0 or not 0.0 < delta < 1.0:
        raise ConfigError(
            f"a margin from 0 to 1 and an error rate between 0 and 1 are needed: {margin}, {delta}"
        )
    gated = candidate.against if candidate.against and candidate.against.base == base.run_id else None
    if asked_again is None and gated is not None:
        asked_again = {(one.case_id, one.expectation_id): one.state for one in gated.asked_again}
    moods = moods_among(changes_to_confirm(base, candidate), asked_again) if asked_again else STEADY
    paired = _pair(base, candidate, moods)
    suite, *dimensions = _differences(paired, delta, seed)
    state, reason = _gate(suite, dimensions, margin)
    if state == "pass":
        unsure = _find_open(paired, dimensions, margin, delta, seed) or unread_reason(base, candidate)
        state, reason = ("undecided", unsure) if unsure else (state, reason)
    if gated is not None and gated.is_early and (gated.margin, gated.delta) == (margin, delta):
        state, reason = gated.state, gated.reason
    doubts = tuple(doubts_among(base, candidate, paired.early))
    state, reason = doubted(state, reason, doubts)
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
        worst=paired.worst(),
        only_base=paired.only_base,
        only_candidate=paired.only_candidate,
        unpaired=paired.unpaired,
        same=paired.same,
        changed_minds=paired.changed_minds,
        flaky=moods.not_repeated,
        doubts=doubts,
        warnings=(
            *(f"IN DOUBT: {doubt}" for doubt in doubts),
            *_setting_warnings(base, candidate),
            *_prompt_warnings(paired),
            *moods.warnings(),
            *paired.warnings(),
        ),
    )


def _pair(base: Report, candidate: Report, moods: Moods) -> Paired:
    """The cases of two runs side by side."""
    paired = Paired(moods)
    for before, after in in_step(base.results, candidate.results):
        paired.add(before, after)
    if not paired.suite.lows:
        check_results(base, candidate)
        raise ConfigError(
            f"runs {base.run_id} and {candidate.run_id} have no case in common that asks for the same: nothing can be compared; "
            "compare two runs of one suite, with the same case ids"
        )
    return paired


def check_results(*reports: Report) -> None:
    """Refuse a run of which only the summary is there.

    Raises:
        ConfigError: as said.
    """
    for report in reports:
        if report.cases and not report.results:
            raise ConfigError(
                f"of the run {report.run_id} there is only a summary, and its results are not beside it: keep "
                "results.jsonl with its report.json, or write a whole report with --report json"
            )


def unread_reason(*reports: Report) -> str | None:
    """Why runs that ended before they had read every case cannot show that nothing dropped; None where they had."""
    missing = [(report, report.cases - len(report.results)) for report in reports]
    for report, count in missing:
        if count > 0:
            return f"not read before the run {report.run_id} ended: {plural(count, 'case')}; nobody knows what became of that"
    return None


def doubted(state: Answer, reason: str, doubts: Sequence[str]) -> tuple[Answer, str]:
    """The answer where early verdicts that it rests on are in doubt: no pass any more, and a regression all the same."""
    if state != "pass" or not doubts:
        return state, reason
    return "undecided", f"{reason}; but {'; and '.join(doubts)}"


def exit_code_of(state: Answer, reports: Iterable[Report]) -> int:
    """0 no regression, 1 regression, 4 undecided where money or time ran out, 3 where too little was measured."""
    if state != "undecided":
        return 0 if state == "pass" else 1
    return 4 if any(report.stopped in ("budget", "deadline") for report in reports) else 3


def _differences(paired: Paired, delta: float, seed: int) -> list[Difference]:
    """The suite's figure first, then the dimensions by name; p-values corrected over all of them."""
    figures = [(SUITE, paired.suite), *sorted(paired.dimensions.items())]
    raw = [swap_p(_changes(pairs), seed) for _, pairs in figures]
    return [_difference(name, pairs, p, delta) for (name, pairs), p in zip(figures, holm(raw), strict=True)]


def _changes(pairs: Pairs) -> list[float]:
    return [after - before for before, after in zip(pairs.base, pairs.candidate, strict=True)]


def _difference(name: str, pairs: Pairs, p: float, delta: float) -> Difference:
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


def _gate(suite: Difference, dimensions: Sequence[Difference], margin: float) -> tuple[Answer, str]:
    """A regression is a drop of the suite by the margin, or one of a dimension by the margin that is no accident."""
    limit = 0.0 - margin
    if _is_drop(suite.bound_high, limit):
        what = f"a drop of {margin:g} or more" if margin else "any drop"
        return "fail", f"partial changed by {suite.mean:+.3f}; {what} is a regression"
    for one in dimensions:
        if one.label == "worse" and _is_drop(one.bound_high, limit):
            return "fail", f"dimension {one.name} dropped by {-one.mean:.3f}, more than chance would do"
    if _is_drop(suite.bound_low, limit):
        return "undecided", (
            f"partial changed by between {suite.bound_low:+.3f} and {suite.bound_high:+.3f}, depending on what was left "
            f"undecided; the limit is {limit:+g}"
        )
    return "pass", f"partial changed by {suite.mean:+.3f}; the limit is {limit:+g}"


def _find_open(
    paired: Paired, dimensions: Sequence[Difference], margin: float, delta: float, seed: int
) -> str | None:
    """Which dimension would be a regression if all that was left undecided told against the candidate; None where none would."""
    low = [
        one for one in dimensions if one.bound_low < one.bound_high and _is_drop(one.bound_low, 0.0 - margin)
    ]
    if not low:
        return None
    figures = [paired.suite, *(paired.dimensions[one.name] for one in dimensions)]
    worst = holm([min(swap_p(_changes(pairs), seed), swap_p(pairs.lows, seed)) for pairs in figures])
    for one, p in zip(dimensions, worst[1:], strict=True):
        if one in low and p <= delta:
            return (
                f"dimension {one.name} changed by between {one.bound_low:+.3f} and {one.bound_high:+.3f}, depending on what was "
                f"left undecided; the limit is {0.0 - margin:+g}"
            )
    return None


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
        absent = "none" if name in _SELDOM else "unknown"
        if before != after and not (name == "embedder" and same_embedder(before, after)):
            yield (
                f"JUDGED DIFFERENTLY: {name} was {_shown(before, absent)} and is {_shown(after, absent)}; a difference may come from that "
                "alone. Score the base's responses again with the new settings to know"
            )


def same_embedder(before: object, after: object) -> bool:
    """Are two embedders the same, as far as reports tell? One that was never opened is named without its version."""
    one, other = str(before), str(after)
    return one.startswith(other) or other.startswith(one)


def _prompt_warnings(paired: Paired) -> Iterator[str]:
    for what, (before, after) in (("prompts", paired.prompts), ("models", paired.models)):
        new = sorted(set(after) - set(before))
        if before and new:
            yield (
                f"JUDGED DIFFERENTLY: the candidate was asked with other {what} ({', '.join(new[:3])}); a difference may "
                "come from that alone"
            )


def _shown(value: object, absent: str) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "none"
    return absent if value is None else str(value)
