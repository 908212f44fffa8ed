"""A whole suite: gates before spending, exit codes, stops, and figures that account for everything."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tiered_eval import RunConfig, evaluate, evaluate_sync
from tiered_eval.aggregate import Tally, case_result
from tiered_eval.errors import ConfigError, LedgerError
from tiered_eval.ledger import Ledger
from tiered_eval.records import Case, GateResult, Report, Suite, Verdict
from tiered_eval.runner.closing import exit_code
from tiered_eval.runner.progress import Progress
from tiered_eval.testing.builders import make_case, make_expectation

NO_EMBEDDER = {"embedder": "none"}


def config(tmp_path: Path, **options: Any) -> RunConfig:
    return RunConfig(home=tmp_path / "home", **{**NO_EMBEDDER, **options})


def order_case(number: int, **options: Any) -> Case:
    return make_case(
        f"Order PO-{number} was shipped.",
        make_expectation("must-contain", f"PO-{number}"),
        id=str(number),
        **options,
    )


async def test_a_free_suite_makes_no_folder_and_no_call(tmp_path: Path):
    """What the free checks settle needs no home, no ledger and no key."""
    report = await evaluate([order_case(n) for n in range(1000, 1010)], config(tmp_path))

    assert report.counts.passed == 10
    assert report.exit_code == 0
    assert report.spend.calls == 0
    assert not (tmp_path / "home").exists()


async def test_results_keep_the_order_of_the_suite(tmp_path: Path):
    """Whatever order they settled in, results are listed as the suite has them, from memory and from disk."""
    cases = [order_case(n) for n in range(1000, 1100)]

    in_memory = await evaluate(cases, config(tmp_path))
    on_disk = await evaluate(cases, config(tmp_path, results_path=tmp_path / "results.jsonl"))

    assert [result.case_id for result in in_memory.results] == [case.id for case in cases]
    assert list(on_disk.results) == list(in_memory.results)


async def test_reading_a_suite_is_a_part_of_the_time(tmp_path: Path):
    """Who allows a minute for a path has it back within one, however long the file takes to read."""
    path = tmp_path / "suite.yaml"
    path.write_text("cases:\n  - {id: a, response: PO-1000, expect: [{must-contain: PO-1000}]}\n")
    instants = iter([0.0])

    report = await evaluate(path, config(tmp_path, max_time_s=60.0), clock=lambda: next(instants, 59.5))

    assert report.stopped == "deadline"
    assert report.counts.not_judged == 1


async def test_zero_cases_are_never_green(tmp_path: Path):
    """A suite without cases is an error of the set-up."""
    with pytest.raises(ConfigError, match="no cases"):
        await evaluate([], config(tmp_path))


async def test_without_a_gate_every_case_must_pass(tmp_path: Path):
    """A run whose author chose no gate is not green by accident."""
    wrong = make_case("Nothing here.", make_expectation("must-contain", "PO-1234"), id="wrong")

    report = await evaluate([order_case(1000), wrong], config(tmp_path))

    assert report.exit_code == 1
    assert report.gate is not None
    assert report.gate.state == "not-met"


async def test_what_needs_a_judge_without_one_is_measured_too_little(tmp_path: Path):
    """No judge: the expectation is not judged, the gate stays open, and the run says it measured too little."""
    asked = make_case("Hello.", make_expectation("requirement", "is polite"), id="asked")

    report = await evaluate([order_case(1000), asked], config(tmp_path))

    assert report.leftovers == {"no-judge": 1}
    assert report.exit_code == 3
    assert (report.partial.bound_low, report.partial.bound_high) == (0.5, 1.0)


@pytest.mark.parametrize("gate", ["dimension.corectness>=0.9", "tag.smoke>=1"])
async def test_a_gate_on_what_the_suite_lacks_is_refused_before_the_run(tmp_path: Path, gate: str):
    """A misspelt dimension is found before anything is read by a model."""
    told: list[Progress] = []

    with pytest.raises(ConfigError, match="does not have"):
        await evaluate([order_case(1000)], config(tmp_path, gate=gate), progress=told.append)

    assert told == []


async def test_a_judge_without_a_price_is_refused_before_the_run(tmp_path: Path):
    """A model that could cost anything is never called."""
    with pytest.raises(ConfigError, match="no price is known"):
        await evaluate([order_case(1000)], config(tmp_path, judges=("openai:no-such-model",)))


async def test_tags_and_dimensions_have_figures(tmp_path: Path):
    """Figures by tag and dimension can be gated on."""
    case = make_case(
        "PO-1234",
        make_expectation("must-contain", "PO-1234", dimension="correctness"),
        id="a",
        tags=("smoke",),
    )

    report = await evaluate([case], config(tmp_path, gate="dimension.correctness>=1 and tag.smoke>=1"))

    assert report.exit_code == 0
    assert report.tags["smoke"].estimate == 1.0


async def test_a_run_that_is_stopped_lists_every_case(tmp_path: Path):
    """After a stop the rest of the suite is left over, with its reason, and nothing is missing."""
    stop = asyncio.Event()

    def cases():
        for n in range(1000, 1200):
            if n == 1100:
                stop.set()
            yield order_case(n)

    class Slow:
        """Stops in the middle, and lets the watcher see it."""

        def __iter__(self):
            return cases()

    suite = Suite(name="s", cases=Slow(), case_count=200, expectation_count=200)
    report = await evaluate(suite, config(tmp_path), stop=stop)

    assert report.counts.total == 200
    assert report.counts.passed + report.counts.not_judged == 200
    assert len(report.results) == 200


async def test_progress_ends_with_everything_done(tmp_path: Path):
    """The last word of the progress is that all is done."""
    told: list[Progress] = []

    await evaluate([order_case(n) for n in range(1000, 1020)], config(tmp_path), progress=told.append)

    assert told[-1].done == told[-1].total == 20
    assert told[-1].by_tier["exact"] == 20


def test_the_sync_function_gives_the_same_report(tmp_path: Path):
    """Callers without an event loop get the same."""
    report = evaluate_sync([order_case(1000)], config(tmp_path))

    assert isinstance(report, Report)
    assert report.counts.passed == 1


def tally_of(**states: int) -> Tally:
    tally = Tally()
    for state, count in states.items():
        for index in range(count):
            verdict = Verdict(
                case_id="c", expectation_id="e", kind="k", state=state.replace("_", "-"), reason=""
            )  # type: ignore[arg-type]  # the states below are real ones
            tally.add(case_result(index, "c", (verdict,)))
    return tally


@pytest.mark.parametrize(
    ("states", "gate", "stopped", "error_rate", "code", "why"),
    [
        ({"pass": 9}, "met", None, 0.0, 0, "all measured, gate met"),
        ({"pass": 9, "fail": 1}, "not-met", None, 0.0, 1, "gate not met"),
        ({"fail": 5, "error": 5}, "not-met", None, 0.0, 1, "no error could save it: not met, whatever else"),
        ({"pass": 9, "error": 1}, "met", None, 0.0, 3, "met, but more errors than allowed"),
        ({"pass": 9, "error": 1}, "met", None, 0.1, 0, "met, and as many errors as allowed"),
        ({"pass": 8, "error": 2}, "met", None, 0.1, 3, "met, and more errors than allowed"),
        ({"pass": 9, "not_judged": 1}, "undecided", "budget", 0.0, 4, "the money ended first"),
        ({"pass": 9, "not_judged": 1}, "undecided", "deadline", 0.0, 4, "the time ended first"),
        (
            {"pass": 9, "not_judged": 1},
            "undecided",
            None,
            0.0,
            3,
            "left over for another reason: too little measured",
        ),
        ({"pass": 9, "manual": 1}, "undecided", None, 0.0, 3, "people have not decided yet"),
        ({"pass": 9, "not_judged": 1}, "met", "budget", 0.0, 0, "met even if every leftover fails"),
        ({"pass": 9}, "met", "interrupted", 0.0, 130, "interrupted is said, whatever was measured"),
    ],
)
def test_exit_codes(states, gate, stopped, error_rate, code, why):
    """Each exit code has one meaning."""
    result = GateResult(expression="partial>=0.9", state=gate, reason="")

    assert exit_code(tally_of(**states).counts(), result, stopped, error_rate) == code, why


async def test_the_report_says_what_was_avoided(tmp_path: Path):
    """With a judge of known price, free verdicts are priced at what the judge would have cost."""
    report = await evaluate(
        [order_case(n) for n in range(1000, 1010)],
        config(tmp_path, judges=("ollama:small",), prices={"ollama:small": {"input": "1", "output": "2"}}),
    )

    assert report.spend.avoided_usd is not None
    assert Decimal("0.001") < report.spend.avoided_usd < Decimal("0.1")
    assert sum(line.avoided_usd or 0 for line in report.tiers) == report.spend.avoided_usd


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


async def test_a_live_run_without_any_key_is_refused_before_it_begins(tmp_path: Path, no_keys: None):
    """A run that could ask nobody says which key is missing, and spends nothing."""
    with pytest.raises(ConfigError, match="set ANTHROPIC_API_KEY"):
        await evaluate([order_case(1000)], config(tmp_path, judges=("anthropic:claude-haiku-5-5",)))

    assert not (tmp_path / "home").exists()


async def test_every_key_that_is_missing_is_named(tmp_path: Path, no_keys: None):
    """Whoever mends one finds no second message behind it."""
    judges = ("anthropic:claude-haiku-5-5", "openai:gpt-6-luna", "anthropic:claude-sonnet-5-5")

    with pytest.raises(ConfigError) as caught:
        await evaluate([order_case(1000)], config(tmp_path, judges=judges))

    named = [str(caught.value).count(f"set {name}_API_KEY") for name in ("ANTHROPIC", "OPENAI")]
    assert named == [1, 1]


async def test_without_a_key_only_kept_replies_answer(tmp_path: Path, no_keys: None):
    """In a home that has a ledger a run is made: what is not kept there is an error that names the key, and too little is measured."""
    Ledger.open(tmp_path / "home").close()
    asked = make_case("An answer.", make_expectation("requirement", "Is polite"), id="asked")

    report = await evaluate(
        [order_case(1000), asked], config(tmp_path, judges=("anthropic:claude-haiku-5-5",))
    )

    assert (report.exit_code, report.counts.passed, report.counts.error) == (3, 1, 1)
    assert any(
        "only kept replies are used" in warning and "ANTHROPIC" in warning for warning in report.warnings
    )


async def test_a_judge_without_a_key_is_left_out_and_said(
    tmp_path: Path, no_keys: None, monkeypatch: pytest.MonkeyPatch
):
    """Of a chain, those with a key are asked; the report says who was left out and why."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")

    report = await evaluate(
        [order_case(1000)], config(tmp_path, judges=("anthropic:claude-haiku-5-5", "openai:gpt-6-luna"))
    )

    assert report.settings["judges"] == ["openai:gpt-6-luna"]
    assert any("ANTHROPIC_API_KEY" in warning for warning in report.warnings)


@pytest.mark.parametrize("mode", ["live", "offline"])
async def test_a_ledger_that_cannot_be_trusted_ends_the_run_before_it_begins(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
):
    """Garbage where the ledger should be is a fault of the environment, told once, and nothing is spent."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "ledger.db").write_bytes(b"not a ledger" * 500)

    with pytest.raises(LedgerError):
        await evaluate([order_case(1000)], config(tmp_path, judges=("openai:gpt-6-luna",), mode=mode))


async def test_a_case_that_passes_with_a_share_meets_the_gate(tmp_path: Path):
    """Half of the weight is enough for the case and so for `passed`; what failed stays failed, also in what is kept."""
    half = replace(
        make_case(
            "PO-1", make_expectation("must-contain", "PO-1"), make_expectation("must-contain", "PO-2", id="b")
        ),
        pass_at=0.5,
    )

    kept = await evaluate([half], config(tmp_path, results_path=tmp_path / "results.jsonl"))
    strict = await evaluate([replace(half, pass_at=None)], config(tmp_path))

    assert (kept.exit_code, kept.passed.estimate, kept.counts.failed) == (0, 1.0, 1)
    assert [(result.passed, result.pass_at) for result in kept.results] == [(True, 0.5)]
    assert (strict.exit_code, strict.passed.estimate) == (1, 0.0)
