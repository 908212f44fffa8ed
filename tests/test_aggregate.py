"""From verdicts to figures: nothing that could not be checked may look like a fail or a pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.aggregate import Tally, case_result
from tiered_eval.records import Failure, State, Verdict


def verdict(state: State, weight: float = 1.0, dimension: str | None = None) -> Verdict:
    return Verdict(
        case_id="c",
        expectation_id="e",
        kind="must-contain",
        state=state,
        reason="",
        weight=weight,
        dimension=dimension,
        tier="exact" if state in ("pass", "fail") else None,
        failure=Failure(type="ProviderTimeout", message="") if state == "error" else None,
        leftover="budget" if state == "not-judged" else None,
    )


@pytest.mark.parametrize(
    ("states", "partial", "low", "high", "passed", "why"),
    [
        (["pass", "pass"], 1.0, 1.0, 1.0, True, "all passed"),
        (["pass", "fail"], 0.5, 0.5, 0.5, False, "half passed"),
        (["pass", "error"], 1.0, 0.5, 1.0, None, "an error is no fail, and leaves the case open"),
        (["fail", "error"], 0.0, 0.0, 0.5, False, "a fail is certain, whatever the error hides"),
        (["not-judged"], None, 0.0, 1.0, None, "nothing decided: nothing known"),
        (["pass", "manual"], 1.0, 0.5, 1.0, None, "left to people"),
    ],
)
def test_a_case_is_rolled_up_with_bounds(states, partial, low, high, passed, why):
    """What is undecided widens a case's bounds and never moves its figure."""
    result = case_result(0, "c", tuple(verdict(state) for state in states))

    assert (result.partial, result.partial_low, result.partial_high, result.passed) == (
        partial,
        low,
        high,
        passed,
    ), why


@pytest.mark.parametrize(
    ("states", "pass_at", "passed", "why"),
    [
        (["pass", "fail"], 0.5, True, "half is enough"),
        (["pass", "fail"], 0.6, False, "half is not enough"),
        (["pass", "fail"], None, False, "all of it by default"),
        (["pass", "fail"], 1.0, False, "and where that is said"),
        (["pass", "pass", "fail"], 2 / 3, True, "just as much, whatever floats make of it"),
        (["pass", "error"], 0.5, True, "an error cannot change it any more"),
        (["fail", "error"], 0.5, None, "an error may"),
        (["fail", "fail", "not-judged"], 0.5, False, "nor what is left over"),
        (["fail", "manual"], 0.6, False, "nor people"),
        (["not-judged"], 0.1, None, "nothing is known"),
    ],
)
def test_a_case_passes_with_the_share_that_it_asks_for(
    states: list[State], pass_at: float | None, passed: bool | None, why: str
):
    """From `pass_at` on; while what is undecided can still change that, it is open."""
    result = case_result(0, "c", tuple(map(verdict, states)), pass_at=pass_at)

    assert result.passed is passed, why


def test_the_share_of_a_case_is_weighted():
    """An expectation of weight 3 reaches 0.75 alone."""
    verdicts = (verdict("pass", 3.0), verdict("fail", 1.0))

    assert [case_result(0, "c", verdicts, pass_at=at).passed for at in (0.75, 0.76)] == [True, False]


def test_weights_count():
    """An expectation of weight 3 moves its case three times as far."""
    result = case_result(0, "c", (verdict("pass", 3.0), verdict("fail", 1.0)))

    assert result.partial == 0.75


@given(
    st.lists(
        st.lists(st.sampled_from(["pass", "fail", "error", "not-judged", "manual"]), min_size=1, max_size=5),
        min_size=1,
        max_size=20,
    )
)
def test_counts_add_up_and_bounds_hold_the_figure(cases):
    """Every expectation is counted once, and the figure lies within its bounds' reach."""
    tally = Tally()
    for index, states in enumerate(cases):
        tally.add(case_result(index, str(index), tuple(verdict(state) for state in states)))

    counts = tally.counts()
    assert counts.total == sum(len(states) for states in cases)
    assert sum(tally.leftovers.values()) == counts.not_judged
    assert sum(tally.failures.values()) == counts.error
    assert sum(tier.passed + tier.failed for tier in tally.tiers.values()) == counts.decided
    assert 0 <= tally.partial.bound_low <= tally.partial.bound_high <= 1


@given(st.permutations(["pass", "fail", "error", "not-judged", "pass", "pass"]))
def test_bounds_hold_whatever_the_leftovers_turn_out_to_be(states):
    """Whichever way the leftovers are settled later, the figure falls between the bounds."""
    open_tally = Tally()
    open_tally.add(case_result(0, "c", tuple(verdict(state) for state in states)))
    settled = []
    for outcome in ("pass", "fail"):
        tally = Tally()
        tally.add(
            case_result(0, "c", tuple(verdict(s if s in ("pass", "fail") else outcome) for s in states))
        )
        assert tally.partial.estimate is not None
        settled.append(tally.partial.estimate)

    assert open_tally.partial.bound_low == pytest.approx(min(settled))
    assert open_tally.partial.bound_high == pytest.approx(max(settled))


def test_cases_never_read_widen_the_bounds():
    """Cases that a stopped run never read are counted as left over and can still turn every figure."""
    tally = Tally()
    tally.add(case_result(0, "c", (verdict("pass"),)))

    tally.add_unread(cases=3, expectations=7, leftover="deadline")

    assert tally.counts().total == 8
    assert tally.leftovers["deadline"] == 7
    assert (tally.partial.bound_low, tally.partial.bound_high) == (0.25, 1.0)
    assert (tally.passed.bound_low, tally.passed.bound_high) == (0.25, 1.0)


def test_a_dimension_is_made_of_its_own_expectations_only():
    """A dimension's figure counts the expectations that carry it, in the cases that have them."""
    tally = Tally()
    tally.add(case_result(0, "a", (verdict("fail", dimension="tone"), verdict("pass"))))
    tally.add(case_result(1, "b", (verdict("pass"),)))

    assert tally.dimensions()["tone"].estimate == 0.0
    assert tally.dimensions()["tone"].n == 1
    assert tally.figures()["dimension.tone"] == tally.dimensions()["tone"]


def test_what_was_avoided_is_counted_for_free_verdicts_only():
    """A verdict of the judge avoided nothing."""
    tally = Tally()
    judged = Verdict(
        case_id="c", expectation_id="e", kind="requirement", state="pass", reason="", tier="judge"
    )

    tally.add(case_result(0, "c", (verdict("pass"), judged)), avoided_pico=5)

    assert tally.tiers["exact"].avoided_pico == 5
    assert tally.tiers["judge"].avoided_pico == 0
