"""The regression gate: the full run's verdict, with few calls; and two finished runs side by side."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paired_runs import case_of, report_of

from tiered_eval.calibration.comparison import Comparison, compare_reports
from tiered_eval.calibration.flakes import changes_to_confirm
from tiered_eval.calibration.pairing import Moods
from tiered_eval.calibration.regression import GateCase, PairedGate
from tiered_eval.calibration.suite_gate import FigureName, SuiteGate, differences, gate_cases
from tiered_eval.errors import ConfigError
from tiered_eval.records import CaseResult

MARGIN = 0.03


def made_cases(
    seed: int, drop: float, *, same: float = 0.0, cases: int = 240
) -> tuple[list[GateCase], dict[str, float]]:
    """Cases of two to five expectations, some of which come out anew, and in which ``drop`` more of them fail."""
    rng = random.Random(seed)
    made, differences = [], {}
    for number in range(cases):
        size = rng.randint(2, 5)
        base = [rng.random() < 0.8 for _ in range(size)]
        candidate = [(rng.random() < 0.8 if rng.random() < 0.08 else before) for before in base]
        candidate = [after and rng.random() >= drop / 0.8 for after in candidate]
        is_same = rng.random() < same
        before, after = sum(base) / size, sum(base if is_same else candidate) / size
        id = str(number)
        differences[id] = after - before
        predicted = 0.6 * (after - before) + rng.gauss(0, 0.08)
        made.append(
            GateCase(
                id=id, low=-before, high=1 - before, predicted=0.0 if is_same else predicted, is_same=is_same
            )
        )
    return made, differences


def full_verdict(differences: dict[str, float]) -> str:
    return "pass" if sum(differences.values()) / len(differences) > -MARGIN else "fail"


def run_to_the_end(gate: PairedGate, differences: dict[str, float], *, at_once: int = 1) -> None:
    while ids := gate.ahead(at_once):
        gate.add({id: differences[id] for id in reversed(ids)})


def wrong_and_used(runs: int, drop: float) -> tuple[float, float]:
    """Share of runs with another verdict than the full run, and the mean number of judged cases."""
    wrong = used = 0
    for seed in range(runs):
        cases, differences = made_cases(seed, drop)
        gate = PairedGate(cases, margin=MARGIN, seed=seed)
        run_to_the_end(gate, differences)
        answer = gate.answer()
        wrong += answer.state != full_verdict(differences)
        used += answer.judged
    return wrong / runs, used / runs


@pytest.mark.parametrize("runs", [60, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(300)])])
def test_the_gate_says_what_the_full_run_would_say(runs: int):
    """For drops below, at and above the margin it is wrong in at most 5 %, and cheaper the clearer the case."""
    outcomes = {drop: wrong_and_used(runs, drop) for drop in (0.0, 0.03, 0.06, 0.15)}

    assert all(wrong <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5 for wrong, _ in outcomes.values())
    used = [outcomes[drop][1] for drop in (0.03, 0.06, 0.15)]
    assert used == sorted(used, reverse=True)
    assert outcomes[0.0][1] < outcomes[0.03][1]
    assert used[-1] < 60


@pytest.mark.parametrize("drop", [0.03, 0.05])
def test_a_useless_prediction_costs_no_validity(drop: float):
    """With predictions that are pure noise, and large, the verdict is still the full run's."""
    wrong = 0
    for seed in range(60):
        cases, differences = made_cases(seed, drop)
        rng = random.Random(seed)
        cases = [replace(case, predicted=rng.uniform(-1, 1)) for case in cases]
        gate = PairedGate(cases, margin=MARGIN, seed=seed)
        run_to_the_end(gate, differences)
        wrong += gate.answer().state != full_verdict(differences)

    assert wrong <= 3 + 2


@pytest.mark.parametrize(("up", "down"), [(13, 20), (13, 21), (60, 68)])
def test_large_changes_both_ways_do_not_fool_the_gate(up: int, down: int):
    """Where whole cases break and mend, and the mean lies just beside the margin, it is wrong in at most 5 %."""
    values = [1.0] * up + [-1.0] * down + [0.0] * (240 - up - down)
    differences = {str(number): value for number, value in enumerate(values)}
    cases = [GateCase(id=id) for id in differences]
    wrong = 0
    for seed in range(60):
        gate = PairedGate(cases, margin=MARGIN, seed=seed)
        run_to_the_end(gate, differences)
        wrong += gate.answer().state != full_verdict(differences)

    assert wrong <= 3 + 2


def test_the_free_checks_bound_and_predict_a_case():
    """What is not judged yet leaves room; its q, where there is one, says which way it will go."""
    before, after = case_of("a", "ppf"), case_of("a", "fnn")
    likely = replace(after, verdicts=(*after.verdicts[:2], replace(after.verdicts[2], q=0.9)))

    case = gate_cases(before, likely)[None]

    assert (case.low, case.high) == (pytest.approx(-2 / 3), pytest.approx(0.0))
    assert case.predicted == pytest.approx((-1 + 0.9) / 3)


def test_an_unchanged_response_is_known_to_the_gate():
    """The digest of the response tells."""
    case = gate_cases(case_of("a", "pp", digest="d"), case_of("a", "pn", digest="d"))[None]

    assert case.is_same
    assert (case.low, case.high, case.predicted) == (0.0, 0.0, 0.0)


def test_unchanged_responses_cost_no_call():
    """Identical responses are known to differ by 0: they are not asked for, and count in the mean."""
    cases, differences = made_cases(1, 0.0, same=0.9)
    gate = PairedGate(cases, margin=MARGIN)

    assert not {case.id for case in cases if case.is_same} & set(gate.ahead(240))
    run_to_the_end(gate, differences)

    assert gate.answer().state == full_verdict(differences)
    assert gate.answer().judged <= 40


def test_nothing_changed_passes_without_a_call():
    """If no response changed, the gate is decided before the first call."""
    gate = PairedGate([GateCase(id=str(n), is_same=True) for n in range(5)], margin=MARGIN)

    assert gate.ahead(10) == ()
    assert gate.answer().state == "pass"
    assert gate.answer().difference == 0.0


def test_what_the_free_checks_know_decides_without_a_call():
    """Where no outcome of the calls could turn the verdict, none is made."""
    cases = [GateCase(id=str(n), low=-0.9, high=-0.5) for n in range(8)]

    assert PairedGate(cases, margin=MARGIN).answer().state == "fail"


def test_a_budget_that_ends_early_leaves_it_undecided():
    """After a few calls the answer is undecided, with an interval that holds the truth."""
    cases, differences = made_cases(3, 0.03)
    gate = PairedGate(cases, margin=MARGIN)
    gate.add({id: differences[id] for id in gate.ahead(15)})

    answer = gate.answer()

    assert answer.state == "undecided"
    assert answer.judged == 15
    assert answer.low <= sum(differences.values()) / len(differences) <= answer.high


def test_the_order_of_answers_makes_no_difference():
    """Answers that come in out of turn wait for theirs, so the slow ones cannot be left out."""
    cases, differences = made_cases(4, 0.06)
    one_by_one, in_bunches = (PairedGate(cases, margin=MARGIN, seed=9) for _ in range(2))

    run_to_the_end(one_by_one, differences)
    run_to_the_end(in_bunches, differences, at_once=16)

    assert one_by_one.answer() == in_bunches.answer()


def test_the_same_seed_takes_the_same_path_whatever_the_order_of_the_cases():
    """The draw depends on the seed and the ids only."""
    cases, _ = made_cases(5, 0.0)

    assert PairedGate(cases, margin=MARGIN, seed=2).ahead(50) == PairedGate(
        cases[::-1], margin=MARGIN, seed=2
    ).ahead(50)
    assert PairedGate(cases, margin=MARGIN, seed=2).ahead(50) != PairedGate(
        cases, margin=MARGIN, seed=3
    ).ahead(50)


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25]), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.03, 0.5]),
)
@settings(max_examples=200, deadline=None)
def test_small_suites_end_with_the_plain_verdict(values: list[float], margin: float):
    """When all cases are judged the verdict is the full run's, up to ties at the border."""
    differences = {str(n): value for n, value in enumerate(values)}
    gate = PairedGate([GateCase(id=id) for id in differences], margin=margin)

    run_to_the_end(gate, differences)

    mean = sum(values) / len(values)
    assert gate.is_decided
    if gate.answer().judged == len(values):
        has_dropped = mean < -1e-9 if margin == 0 else mean <= -margin + 1e-9  # an unchanged score is no drop
        assert gate.answer().state == ("fail" if has_dropped else "pass")


@pytest.mark.parametrize(
    "faulty",
    [
        {"cases": []},
        {"cases": [GateCase(id="a"), GateCase(id="a")]},
        {"margin": 1.5},
        {"margin": float("nan")},
        {"delta": 0.0},
    ],
)
def test_a_gate_that_makes_no_sense_is_refused(faulty: dict[str, Any]):
    """No cases, an id twice, or numbers out of range."""
    with pytest.raises(ValueError, match=r"gate needs|no margin"):
        PairedGate(**{"cases": [GateCase(id="a")], "margin": MARGIN, **faulty})


def test_what_a_judged_case_left_undecided_helps_neither_verdict():
    """Where outages left something open in every case, neither a pass nor a fail is called."""
    gate = PairedGate([GateCase(id=str(n)) for n in range(50)], margin=MARGIN)

    gate.add({str(n): (-0.5, 0.5) for n in range(50)})

    answer = gate.answer()
    assert (answer.state, answer.judged) == ("undecided", 50)
    assert (answer.low, answer.high) == (pytest.approx(-0.5), pytest.approx(0.5))


@pytest.mark.parametrize(("bounds", "state"), [((-0.9, -0.4), "fail"), ((0.2, 0.9), "pass")])
def test_what_is_left_over_turns_nothing_that_is_clear(bounds: tuple[float, float], state: str):
    """Cases that dropped, or rose, whatever became of their leftovers decide the gate."""
    gate = PairedGate([GateCase(id=str(n)) for n in range(50)], margin=MARGIN)

    gate.add({str(n): bounds for n in range(50)})

    assert gate.answer().state == state


def family(suite: Any, **dimensions: Any) -> SuiteGate:
    cases: dict[FigureName, Any] = {None: suite}
    cases.update(dimensions)
    return SuiteGate(cases, margin=MARGIN)


def test_an_early_pass_needs_every_dimension():
    """The suite's figure is sure long before a dimension of few cases, so those cases are still asked for."""
    suite = [GateCase(id=str(n)) for n in range(400)]
    gate = family(suite, rare=[case for case in suite if int(case.id) < 8])

    rounds = 0
    while ids := gate.ahead(20):
        gate.add({id: {None: (0.0, 0.0)} | ({"rare": (0.0, 0.0)} if int(id) < 8 else {}) for id in ids})
        rounds += 1

    assert gate.state == "pass"
    assert gate.answer().judged < 300
    assert rounds < 20


def test_a_dimension_that_dropped_has_everything_judged():
    """Whether its drop is more than chance is for the corrected test over all cases."""
    suite = [GateCase(id=str(n)) for n in range(100)]
    gate = family(suite, tone=suite[:30])

    judged = 0
    while ids := gate.ahead(10):
        gate.add({id: {None: (0.0, 0.0)} | ({"tone": (-1.0, -1.0)} if int(id) < 30 else {}) for id in ids})
        judged += len(ids)

    assert (gate.state, judged) == ("undecided", 100)


def test_a_part_of_the_cases_keeps_the_order_of_the_whole():
    """Dimensions are looked at in the order in which the suite is judged."""
    whole = PairedGate([GateCase(id=str(n)) for n in range(100)], margin=MARGIN, seed=7).ahead(100)
    part = PairedGate([GateCase(id=str(n)) for n in range(40)], margin=MARGIN, seed=7).ahead(100)

    assert part == tuple(id for id in whole if int(id) < 40)


def test_each_figure_has_its_own_case():
    """A dimension's difference is over its own expectations, and one that only one run has is in none."""
    before = case_of("a", "pp", dimensions=("tone", "facts"))
    after = case_of("a", "fpf", dimensions=("tone", "facts", "facts"))

    assert {name: case.high for name, case in gate_cases(before, after).items()} == {
        None: pytest.approx(-0.5),
        "tone": pytest.approx(-1.0),
        "facts": 0.0,
    }


def test_a_change_that_was_not_repeated_is_no_difference():
    """The judge took one of two fails back."""
    before, after = case_of("a", "pp"), case_of("a", "ff")

    assert differences(before, after, moods=Moods(changes={None: frozenset({("a", "e0")})}))[None] == (
        -0.5,
        -0.5,
    )
    assert differences(before, after)[None] == (-1.0, -1.0)


def test_a_difference_out_of_bounds_is_refused():
    """A difference that the bounds exclude would make every bet worthless."""
    gate = PairedGate([GateCase(id="a", low=-0.2, high=0.2), GateCase(id="b")], margin=MARGIN)

    with pytest.raises(ValueError, match="outside"):
        gate.add({"a": 0.7})


# ── two finished runs ────────────────────────────────────────────────────────────────────────────


def compared(base: list[CaseResult], candidate: list[CaseResult], **options: Any) -> Comparison:
    return compare_reports(report_of("base", base), report_of("cand", candidate), **options)


def many(states: str, count: int = 40, **fields: Any) -> list[CaseResult]:
    """Cases that all have expectations in these states, a letter each: p, f, e, n."""
    return [case_of(f"c{n}", states, index=n, **fields) for n in range(count)]


@pytest.mark.parametrize("side", ["base", "candidate"])
def test_two_cases_of_one_id_are_not_compared(side: str):
    """Which of them belongs to which would be a guess: the id is named instead."""
    runs = {"base": many("pp"), "candidate": many("pp")}
    runs[side] = [*runs[side], case_of("c7", "ff", index=40)]

    with pytest.raises(ConfigError, match=f"two cases of the {side} have the id 'c7'"):
        compared(runs["base"], runs["candidate"])


def test_equal_runs_are_tied_and_no_regression():
    """Nothing changed: tied, exit code 0, and still an interval, since ties alone prove little."""
    done = compared(many("ppf"), many("ppf"))

    assert (done.state, done.exit_code, done.suite.label) == ("pass", 0, "tied")
    assert done.suite.low < 0 < done.suite.high


def test_a_clear_drop_is_a_regression():
    """A third of every case broke: worse, exit code 1, and the broken expectations are named."""
    done = compared(many("ppp"), many("ppf"))

    assert (done.state, done.exit_code, done.suite.label) == ("fail", 1, "worse")
    assert done.suite.mean == pytest.approx(-1 / 3)
    assert done.worst[0].broken == ("e2",)


def test_a_rise_is_better():
    """The candidate mended something everywhere."""
    done = compared(many("pf"), many("pp"))

    assert (done.state, done.suite.label, done.suite.better) == ("pass", "better", 40)


def test_one_flip_among_many_is_a_tie():
    """A single case that changed is no difference of the system."""
    candidate = [case_of("c0", "ff"), *many("pp")[1:]]

    done = compared(many("pp"), candidate)

    assert (done.suite.label, done.suite.worse, done.state) == ("tied", 1, "pass")


def test_cases_are_the_unit_not_their_expectations():
    """One case with a hundred broken expectations is one pair."""
    base = [case_of("big", "p" * 100), *many("pp", 30)]
    candidate = [case_of("big", "f" * 100), *many("pp", 30)]

    done = compared(base, candidate)

    assert done.suite.mean == pytest.approx(-1 / 31)
    assert done.suite.label == "tied"


@pytest.mark.parametrize(("lost", "state"), [(20, "undecided"), (1, "pass")])
def test_a_dimension_that_was_not_measured_is_no_pass(lost: int, state: str):
    """An outage of all that a dimension asks could hide its drop, however little it weighs in the suite; one error could not."""
    names = (*("facts" for _ in range(40)), "safety")
    base = [case_of(f"c{n}", "p" * 41, index=n, dimensions=names) for n in range(20)]
    candidate = [
        case_of(f"c{n}", "p" * 40 + ("e" if n < lost else "p"), index=n, dimensions=names) for n in range(20)
    ]

    done = compare_reports(report_of("base", base), report_of("candidate", candidate))

    assert done.state == state
    assert done.exit_code == (3 if state == "undecided" else 0)
    assert ("dimension safety" in done.reason) == (state == "undecided")


def test_other_weights_are_said():
    """What broke may weigh nothing now; the candidate's weights count on both sides, and nobody has to find that out alone."""
    base = [case_of(f"c{n}", "ppp", index=n) for n in range(30)]
    broken = [case_of(f"c{n}", "ppf", index=n) for n in range(30)]
    reweighed = [
        replace(one, verdicts=(*one.verdicts[:2], replace(one.verdicts[2], weight=0.0))) for one in broken
    ]

    done = compare_reports(report_of("base", base), report_of("candidate", reweighed))

    assert done.state == "pass"
    assert any("30 expectations with another weight" in warning for warning in done.warnings)


def test_dimensions_are_corrected_for_their_number():
    """Of twenty dimensions in which nothing but chance is at work, none is called worse."""
    rng = random.Random(7)
    names = [f"d{n}" for n in range(20)]

    def drawn() -> list[CaseResult]:
        states = ["".join(rng.choice("pppf") for _ in names) for _ in range(60)]
        return [case_of(f"c{n}", row, index=n, dimensions=names) for n, row in enumerate(states)]

    done = compared(drawn(), drawn(), margin=0.5)

    assert len(done.dimensions) == 20
    assert {one.label for one in done.dimensions} == {"tied"}


def test_a_dimension_that_broke_is_a_regression_although_the_suite_rose():
    """A clear drop of one dimension is not hidden by a rise elsewhere."""
    done = compared(
        many("pff", dimensions=["safe", "style", "style"]), many("fpp", dimensions=["safe", "style", "style"])
    )

    assert done.suite.mean > 0
    assert done.state == "fail"
    assert "safe" in done.reason


def test_leftovers_make_it_undecided_not_green():
    """What was not judged counts both ways: too little measured is 3, and 4 after a cap or a deadline."""
    base, candidate = report_of("b", many("pp")), report_of("c", many("pn"))

    assert compare_reports(base, candidate).exit_code == 3
    stopped = compare_reports(base, replace(candidate, stopped="budget"))
    assert (stopped.state, stopped.exit_code) == ("undecided", 4)


@pytest.mark.parametrize("side", ["base", "candidate"])
def test_cases_that_were_never_read_are_not_green(side: str):
    """A run that ended before it had read its suite shows nothing about the rest, in whichever of the two it is."""
    runs = {"base": report_of("a", many("pp")), "candidate": report_of("b", many("pp"))}
    runs[side] = replace(runs[side], cases=1000, stopped="deadline")

    done = compare_reports(runs["base"], runs["candidate"])

    assert (done.state, done.exit_code) == ("undecided", 4)
    assert "not read before" in done.reason


def test_errors_are_no_fails():
    """An outage in the candidate is not a drop, and not a pass either."""
    assert compared(many("pp"), many("ee")).state == "undecided"


def test_no_drop_at_all_accepts_a_tie():
    """With a margin of 0 an unchanged score passes and the smallest drop does not."""
    dropped = [case_of("c0", "pf"), *many("pp")[1:]]

    assert compared(many("pp"), many("pp"), margin=0.0).state == "pass"
    assert compared(many("pp"), dropped, margin=0.0).state == "fail"


def test_an_unchanged_response_differs_by_nothing():
    """Where the judge changed its mind about the same response, that is said, and is no difference of the system."""
    done = compared(many("pp", digest="aa"), many("pf", digest="aa"))

    assert (done.state, done.suite.mean, done.same, done.changed_minds) == ("pass", 0.0, 40, 40)
    assert any("unchanged responses" in warning for warning in done.warnings)


def test_cases_are_paired_by_id_in_any_order():
    """Runs with another order, and with cases that the other does not have, are compared over what they share."""
    base = [*many("pp", 10), case_of("gone", "ff", index=10)]
    candidate = [case_of("new", "ff"), *reversed(many("pp", 10))]

    done = compared(base, candidate)

    assert (done.suite.pairs, done.only_base, done.only_candidate) == (10, 1, 1)
    assert len(done.warnings) >= 2


def test_expectations_that_only_one_run_has_are_left_out():
    """An expectation that was added does not count as a drop."""
    done = compared(many("pp"), many("ppf"))

    assert (done.suite.mean, done.unpaired) == (0.0, 40)


def test_runs_with_nothing_in_common_are_refused():
    """Two suites without a shared case cannot be compared."""
    with pytest.raises(ConfigError, match="no case in common"):
        compared([case_of("a", "p")], [case_of("b", "p")])


@pytest.mark.parametrize("faulty", [{"margin": 2.0}, {"delta": 0.0}, {"margin": float("nan")}])
def test_numbers_out_of_range_are_refused(faulty: dict[str, float]):
    """Checked before anything is computed."""
    with pytest.raises(ConfigError, match="margin"):
        compared(many("p"), many("p"), **faulty)


def test_another_judge_is_said_loudly():
    """A difference that may come from the judge is not passed over in silence."""
    base = report_of("b", many("pp"), judges=["openai:gpt-6-luna"])
    candidate = report_of("c", many("pp"), judges=["anthropic:claude-haiku-5-5"])

    [warning] = compare_reports(base, candidate).warnings

    assert warning.startswith("JUDGED DIFFERENTLY: judges was openai:gpt-6-luna and is anthropic")


def test_a_certificate_that_is_gone_is_not_called_unknown():
    """A report names one only where it decided; none is known to be none."""
    done = compare_reports(report_of("b", many("p"), certificate="2026-01-01-abc"), report_of("c", many("p")))

    assert any("certificate was 2026-01-01-abc and is none" in warning for warning in done.warnings)


def test_another_prompt_is_said_loudly():
    """Prompts are compared as the verdicts name them."""
    done = compared(many("pp", prompt="judge/binary.v1#1"), many("pp", prompt="judge/binary.v2#2"))

    assert any("other prompts" in warning for warning in done.warnings)


def test_the_same_comparison_comes_out_the_same():
    """Random swaps are seeded."""
    base, candidate = many("ppf"), [*many("pff", 3), *many("ppf")[3:]]

    assert compared(base, candidate) == compared(base, candidate)


def test_what_to_ask_again_is_even_handed():
    """Broken and mended verdicts of the judge take turns, the weightiest first; mechanical ones are left alone."""
    base = [case_of("a", "pp", tier="judge"), case_of("b", "f", tier="judge"), case_of("c", "p")]
    candidate = [case_of("a", "ff", tier="judge"), case_of("b", "p", tier="judge"), case_of("c", "f")]

    changes = changes_to_confirm(report_of("b", base), report_of("c", candidate))

    assert [(change.case_id, change.direction) for change in changes] == [
        ("a", "broke"),
        ("b", "mended"),
        ("a", "broke"),
    ]
    assert changes[0].impact == 0.5


def test_a_change_on_an_unchanged_response_needs_no_confirmation():
    """It is known to be the judge's."""
    base = [case_of("a", "p", tier="judge", digest="d")]

    assert (
        changes_to_confirm(
            report_of("b", base), report_of("c", [case_of("a", "f", tier="judge", digest="d")])
        )
        == ()
    )


def test_a_change_that_the_judge_does_not_repeat_is_no_difference():
    """Asked again, the judge took half of the drop back; the other half stands."""
    base, candidate = many("pp", tier="judge"), many("ff", tier="judge")
    again = {(f"c{n}", "e0"): "pass" for n in range(40)} | {(f"c{n}", "e1"): "fail" for n in range(40)}

    done = compared(base, candidate, asked_again=again)

    assert done.suite.mean == pytest.approx(-0.5)
    assert done.flaky == 40
    assert any("not repeated" in warning for warning in done.warnings)
