"""What code of the user's may do to a run, and must not: end it, hang it, change what others see, or spoil its report."""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tiered_eval import Case, Evaluator, Expectation, RunConfig, Verdict, evaluate_sync, scorer
from tiered_eval.errors import ConfigError
from tiered_eval.records import Evidence, Hook, Hooks, Outcome
from tiered_eval.scorers import time_limits
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.time_limits import STUCK_AT_MOST, TimeLimit
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.python_reader import import_foreign
from tiered_eval.text.subject import Subject


def run(tmp_path: Path, *codes: Any, hooks: Hooks | None = None, **case: Any) -> tuple[Verdict, ...]:
    """The verdicts of one case on which each of these says something."""
    expectations = tuple(
        Expectation(id=f"e{place}", kind="check", scorer=f"own{place}", values=(None,), hooks=hooks)
        for place in range(len(codes))
    )
    config = RunConfig(
        scorers={f"own{place}": code for place, code in enumerate(codes)},
        home=tmp_path,
        mode="offline",
        embedder="none",
    )
    given = {"response": "Yes", **case}
    return evaluate_sync([Case(id="q1", expectations=expectations, **given)], config).results[0].verdicts


# What is raised


class Skipped(BaseException):
    """As test frameworks have them."""


STRAYS = [
    (SystemExit(0), "the end of the program, and green"),
    (asyncio.CancelledError(), "the end of the run, as if somebody had cancelled it"),
    (GeneratorExit(), "the end of the stream of results"),
    (Skipped("no model here"), "the skip of a test framework"),
]


def plain(stray: BaseException) -> Any:
    def raises(response: str) -> bool:
        raise stray

    return raises


def slow(stray: BaseException) -> Any:
    return scorer("s", slow=True)(plain(stray))


def awaited(stray: BaseException) -> Any:
    async def raises(response: str) -> bool:
        raise stray

    return raises


def batched(stray: BaseException) -> Any:
    @scorer("b", batch=4)
    def raises(items: list[Any]) -> list[bool]:
        raise stray

    return raises


def batched_and_awaited(stray: BaseException) -> Any:
    @scorer("b", batch=4)
    async def raises(items: list[Any]) -> list[bool]:
        raise stray

    return raises


def checking(stray: BaseException) -> Any:
    class Raises:
        def check(self, value: Any, expectation: Expectation, subject: Subject) -> Outcome:
            raise stray

    return Raises


def asking(stray: BaseException) -> Any:
    class Raises:
        tier = "judge"

        async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
            raise stray

    return Raises


def being_made(stray: BaseException) -> Any:
    class Raises:
        def __init__(self) -> None:
            raise stray

        def __call__(self, response: str) -> bool:
            return True

    return Raises


SHAPES = [plain, slow, awaited, batched, batched_and_awaited, checking, asking, being_made]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("stray", "meaning"), STRAYS)
def test_what_is_raised_and_is_no_error_is_one(
    tmp_path: Path, shape: Callable[[BaseException], Any], stray: BaseException, meaning: str
):
    """The other expectations get their verdicts, and the report its place."""
    ended, other = run(tmp_path, shape(stray), lambda response: True)

    assert (ended.state, other.state) == ("error", "pass")
    assert ended.failure is not None


@pytest.mark.parametrize(("stray", "meaning"), STRAYS)
@pytest.mark.parametrize("stage", ["post_process", "pre_judge"])
def test_a_hook_may_raise_it_too(tmp_path: Path, stage: str, stray: BaseException, meaning: str):
    """A hook ends no run either."""
    hooks = replace(Hooks(), **{stage: Hook(name="h", call=plain(stray))})
    expectation = Expectation(id="e", kind="requirement", values=("It is polite.",), hooks=hooks)
    case = Case(id="q1", response="x", expectations=(expectation,))

    report = evaluate_sync([case], RunConfig(home=tmp_path, mode="offline", embedder="none"))

    assert report.results[0].verdicts[0].state == "error"


def test_a_file_that_skips_itself_is_a_fault_of_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And not Python's exit code 1, which would read as a gate that is not met."""
    (tmp_path / "skips_itself_at_import.py").write_text("raise GeneratorExit('not here')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(Unreadable, match="GeneratorExit"):
        import_foreign("skips_itself_at_import", "scorers/x.py")


class Unspeakable(Exception):
    """Its message is code as well."""

    def __str__(self) -> str:
        raise ValueError("no words")


def test_an_exception_that_cannot_say_itself_is_told(tmp_path: Path):
    """The run goes on where telling of an error is an error."""
    ended, other = run(tmp_path, plain(Unspeakable()), lambda response: True)

    assert (ended.state, other.state) == ("error", "pass")
    assert ended.reason.startswith("Unspeakable")


def test_a_huge_message_is_cut(tmp_path: Path):
    """An exception that holds a whole response is not kept in each verdict."""
    [ended] = run(tmp_path, plain(ValueError("x" * 1_000_000)))

    assert ended.failure is not None
    assert len(ended.reason) < 5_000
    assert len(ended.failure.traceback or "") < 30_000


# What is returned


SPOILT = [
    ({"reason": None}, "no text"),
    ({"reason": object()}, "no text, and not writable"),
    ({"cost_usd": Decimal("NaN")}, "would make every sum NaN"),
    ({"cost_usd": Decimal(-5)}, "would make room below the cap"),
    ({"cost_usd": 0.1}, "binary fractions are no money"),
    ({"model": object()}, "not writable"),
    ({"prompt": b"x"}, "not writable"),
    ({"evidence": "here"}, "a text is no evidence"),
    ({"evidence": Evidence("x", "1", 2)}, "offsets are numbers"),  # type: ignore[arg-type]  # on purpose
    ({"from_store": "yes"}, "a word is no truth value"),
    ({"trail": ("before",)}, "a text is no step"),
    ({"state": ["pass"]}, "a list is no state"),
    ({"metrics": {1: 0.5, "1": 0.6}}, "one name twice"),
]


@pytest.mark.parametrize(("parts", "why"), SPOILT)
def test_an_outcome_that_no_report_can_show_is_an_error(tmp_path: Path, parts: dict[str, Any], why: str):
    """It is refused where it is made, and not when the whole report is written."""
    [ended] = run(tmp_path, lambda response: replace(Outcome("pass", "well", 1.0), **parts))

    assert ended.state == "error"


def test_an_outcome_with_all_its_parts_is_taken(tmp_path: Path):
    """What a check of one's own found is in the verdict."""
    outcome = Outcome(
        "fail",
        "no stop",
        0.25,
        Evidence("Yes", 0, 3),
        "m",
        "p",
        Decimal("0.1"),
        metrics={"stops": 0.5},
    )

    [ended] = run(tmp_path, lambda response: outcome)

    assert (ended.state, ended.score, ended.evidence) == ("fail", 0.25, outcome.evidence)
    assert (ended.model, ended.cost_usd, ended.metrics) == ("m", Decimal("0.1"), {"stops": 0.5})


def test_a_long_reason_is_cut(tmp_path: Path):
    """A reason is one short clause, also in an Outcome."""
    [ended] = run(tmp_path, lambda response: Outcome("pass", "x" * 1_000_000))

    assert len(ended.reason) == 500


@pytest.mark.parametrize("score", [Decimal("0.5"), Fraction(1, 2)])
def test_other_kinds_of_numbers_are_numbers(tmp_path: Path, score: Any):
    """Whoever counts with exact numbers need not turn them into floats."""
    [ended] = run(tmp_path, lambda response: {"state": "pass", "score": score})

    assert (ended.state, ended.score) == ("pass", 0.5)


@pytest.mark.parametrize(
    "score", [Decimal("NaN"), Decimal("sNaN"), Decimal("1.01"), Fraction(-1, 2), 10**400]
)
def test_other_kinds_of_numbers_have_the_same_limits(tmp_path: Path, score: Any):
    """Not a number, and a number that is no share, decide nothing."""
    [ended] = run(tmp_path, lambda response: score)

    assert ended.state == "error"


async def forgotten(response: str) -> bool:
    return True


@scorer("b", batch=2)
def forgotten_in_a_list(items: list[Any]) -> list[Any]:
    return [forgotten("x") for _ in items]


FORGOTTEN = [
    lambda response: forgotten(response),
    scorer("s", slow=True)(lambda response: forgotten(response)),
    scorer("b", batch=2)(lambda items: forgotten("x")),
    forgotten_in_a_list,
]


@pytest.mark.parametrize("code", FORGOTTEN)
def test_a_coroutine_that_nobody_awaits_is_an_error(tmp_path: Path, code: Any):
    """An await that was forgotten is told as that, without a warning at some other place."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [ended] = run(tmp_path, code)

    assert ended.state == "error"
    assert "something to await" in ended.reason


def test_what_was_returned_reads_the_same_in_every_run(tmp_path: Path):
    """Addresses of objects would make two reports differ where nothing did."""
    [ended] = run(tmp_path, lambda response: [object()])

    assert " at 0x" not in ended.reason


# What is changed


def test_no_scorer_changes_what_another_sees(tmp_path: Path):
    """Verdicts would turn on the order of the checks."""
    seen: list[Any] = []

    def changes(response: str, fields: dict[str, Any], meta: dict[str, Any], case: Case) -> bool:
        fields["total"].append(3)
        meta["who"] = "me"
        case.fields["total"].clear()
        return True

    def looks(response: str, fields: dict[str, Any], meta: dict[str, Any]) -> bool:
        seen.append(json.dumps([fields, meta]))  # as plain JSON values, too
        return True

    case = {"fields": {"total": [1, 2]}, "meta": {"who": "you"}}
    ended = run(tmp_path, looks, changes, looks, **case)

    assert [one.state for one in ended] == ["pass"] * 3
    assert set(seen) == {'[{"total": [1, 2]}, {"who": "you"}]'}


@pytest.mark.parametrize("role", ["expected", "expectation", "options", "field"])
def test_nor_what_is_expected(role: str):
    """The next case is compared with what its author wrote."""
    seen: list[Any] = []

    def changes(
        response: Any, expected: Any, expectation: Expectation, options: dict[str, Any], *, words: list
    ) -> bool:  # type: ignore[type-arg]  # as authors write it
        given = {
            "expected": expected,
            "expectation": expectation.values[0],
            "options": options["words"],
            "field": response,
        }[role]
        seen.append(list(given))
        given.append("more")
        return True

    async def check() -> None:
        async with Evaluator(RunConfig(scorers={"own": changes}, embedder="none")) as evaluator:
            case = Case(
                id="q",
                response="x",
                fields={"list": ["a"]},
                expectations=(
                    Expectation(
                        id="e",
                        kind="check",
                        scorer="own",
                        values=(["a"],),
                        options={"words": ["a"], "field": "list"},
                    ),
                ),
            )
            for _ in range(2):
                result = await evaluator.score(case)
                assert result.verdicts[0].state == "pass", result.verdicts[0].reason

    asyncio.run(check())

    assert seen == [["a"], ["a"]]


# What does not end


async def test_a_call_that_swallows_its_cancellation_is_left_behind():
    """Nobody waits for ever for what does not let itself be ended."""
    let_go = asyncio.Event()
    stubborn = 0

    async def stays() -> None:
        nonlocal stubborn
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                stubborn += 1

    limit = TimeLimit("the scorer x", 0.01, grace_s=0.01)
    for _ in range(STUCK_AT_MOST):
        with pytest.raises(ConfigError, match="within"):
            await limit.on(stays())
    with pytest.raises(ConfigError, match="not called any more"):
        await limit.on(stays())
    let_go.set()
    for _ in range(3):
        await asyncio.sleep(0)

    assert stubborn == STUCK_AT_MOST
    await limit.on(asyncio.sleep(0))  # they have come back, and it is called again


def test_it_keeps_no_program_from_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A loop that is closed waits for the tasks that it knows of."""
    monkeypatch.setattr(time_limits, "GRACE_S", 0.01)

    @scorer("n", time_limit_s=0.01)
    async def stays(response: str) -> bool:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    [ended] = run(tmp_path, stays)

    assert ended.state == "error"


async def test_a_call_may_tidy_up_after_its_cancellation():
    """What writes down what it paid for gets a moment to do so."""
    tidied = False

    async def tidies() -> None:
        nonlocal tidied
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            tidied = True

    with pytest.raises(ConfigError):
        await TimeLimit("x", 0.01, grace_s=5).on(tidies())

    assert tidied


async def test_whoever_waits_can_be_cancelled():
    """The call is ended with who waits for it."""
    was_cancelled = False

    async def waits() -> None:
        nonlocal was_cancelled
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            was_cancelled = True
            raise

    waiting = asyncio.create_task(TimeLimit("x", 60).on(waits()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert was_cancelled


def test_a_hook_that_holds_everybody_up_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """As a plain scorer is."""
    monkeypatch.setattr("tiered_eval.scorers.hooks.SLOW_S", -1.0)
    hooks = Hooks(post_process=Hook(name="takes-its-time", call=lambda response: response))

    with caplog.at_level(logging.WARNING):
        run(tmp_path, lambda response: True, hooks=hooks)
        run(tmp_path, lambda response: True, hooks=hooks)

    told = [record.message for record in caplog.records if record.name == "tiered_eval.scorers.hooks"]
    assert [message.count("takes-its-time") for message in told] == [1]


class Unhashable:
    """A hook may be an object; one that compares by value has no hash."""

    __hash__ = None  # type: ignore[assignment]  # what defining __eq__ does

    def __call__(self, response: str) -> str:
        return response


def test_a_hook_may_be_an_object_without_a_hash(tmp_path: Path):
    """Its text is kept for all expectations of a case all the same."""
    hooks = Hooks(post_process=Hook(name="object", call=Unhashable()))

    [ended] = run(tmp_path, lambda response: True, hooks=hooks)

    assert ended.state == "pass", ended.reason
