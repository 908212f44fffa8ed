"""What the tests of the graded scorers share: a judge that answers as told, and the way from an entry to its verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import CutShort, SuiteError
from tiered_eval.lint import lint_case
from tiered_eval.profiles import load_profile
from tiered_eval.records import (
    Case,
    Completed,
    JudgeStage,
    ModelReply,
    ModelRequest,
    StopReason,
    Usage,
    Verdict,
)
from tiered_eval.runner.checks import Checker, OpenExpectation
from tiered_eval.suite.cases import CaseReader
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope
from tiered_eval.text.subject import Subject

T = TypeVar("T")
NONCE = "n0nCe7"
CHECKER = Checker(load_profile())
PRICE = Decimal("0.0003")

Said = Mapping[str, Any] | str | Callable[[dict[str, Any]], Mapping[str, Any]]
"""A reply without its nonce, its whole text, or a function of the data that was asked about."""


def data_of(request: ModelRequest) -> dict[str, Any]:
    """The JSON object between the marker lines of a question."""
    text = request.user_text(NONCE)
    loaded: dict[str, Any] = json.loads(
        text.partition(f"DATA {NONCE}\n")[2].partition(f"\nEND OF DATA {NONCE}")[0]
    )
    return loaded


class ToldJudge:
    """Services whose judge says what it is told, reply by reply; the last one again and again."""

    embedder_id = None
    judges: Sequence[str] = ("run:judge",)
    chain: Sequence[JudgeStage] = ()

    def __init__(self, *said: Said, stop_reason: StopReason = "end") -> None:
        self.said = said
        self.stop_reason = stop_reason
        self.requests: list[ModelRequest] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise NotImplementedError

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        said = self.said[min(len(self.requests), len(self.said) - 1)]
        self.requests.append(request)
        if callable(said):
            said = said(data_of(request))
        reply = ModelReply(
            text=said if isinstance(said, str) else json.dumps({"nonce": NONCE, **said}),
            stop_reason=self.stop_reason,
            model="told-2026-11",
            usage=Usage(input_tokens=800, output_tokens=50),
            nonce=NONCE,
        )
        return Completed(
            parsed=parse(reply), reply=reply, cost_usd=PRICE, from_store=False, model="run:judge"
        )


def read_case(
    entry: object, response: str, *, input: str | None = "Why?", context: Any = None, **more: Any
) -> Case:
    """A case with one entry as an author writes it; raises what loading and lint say against it."""
    raw = {"id": "c", "input": input, "response": response, "context": context, "expect": [entry], **more}
    problems = Problems()
    reader = CaseReader(ExpectationReader(CATALOGUE, allow_code=True))
    case = reader.read(
        {name: value for name, value in raw.items() if value is not None},
        Scope("suite.yaml", problems),
        number=1,
    )
    for problem in lint_case(case) if case is not None else ():
        problems.note(problem)
    if case is None or problems.error_count:
        raise SuiteError(problems.errors)
    return case


def rules(entry: object, response: str = "x", **case: Any) -> set[str]:
    """The rules that loading refuses an entry by."""
    try:
        read_case(entry, response, **case)
    except SuiteError as error:
        return {problem.rule for problem in error.problems}
    return set()


async def graded(entry: object, judge: ToldJudge, response: str, **case: Any) -> Verdict:
    """What becomes of an entry, all the way; raises what asking raises."""
    made = read_case(entry, response, **case)
    begun = CHECKER.begin(made.expectations[0], Subject(made))
    assert isinstance(begun, OpenExpectation), "a graded scorer waits in a queue"
    try:
        ended = await CHECKER.ask(begun, judge)
    except CutShort as cut:  # the runner keeps what it cost, and looks at the fault
        raise cut.error from cut
    assert isinstance(ended, Verdict), "a pinned scorer decides alone"
    return ended


def state_of(verdict: Verdict) -> str:
    """``pass``, ``fail`` or ``unsure``."""
    return "unsure" if verdict.leftover == "unsure" else verdict.state


TURNED = {"pass": "fail", "fail": "pass", "unsure": "unsure"}


def negated(entry: Mapping[str, Any] | str) -> dict[str, Any]:
    """The same entry with ``not-`` before it."""
    ((name, value),) = entry.items() if isinstance(entry, Mapping) else ((entry, {}),)
    return {f"not-{name}": value}
