"""Embedders that give what is no embedding: an error or a climb, never a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tiered_eval.config import RunConfig
from tiered_eval.records import Case, Expectation
from tiered_eval.runner import evaluate

Embed = Callable[[Sequence[str]], Any]


def exits(texts: Sequence[str]) -> Any:
    raise SystemExit(0)


GARBAGE: dict[str, Embed] = {
    "nothing": lambda texts: None,
    "one too few": lambda texts: [[1.0, 0.0]] * (len(texts) - 1),
    "not a number": lambda texts: [[float("nan"), 1.0]] * len(texts),
    "too large for a float": lambda texts: [[1e39, 1e39]] * len(texts),
    "flat": lambda texts: [1.0] * len(texts),
    "of no length": lambda texts: [[]] * len(texts),
    "of many lengths": lambda texts: [[1.0] * (1 + len(text) % 7) for text in texts],
    "an exit": exits,
}


async def states(embed: Embed, home: Path, monkeypatch: pytest.MonkeyPatch, response: str = "") -> list[str]:
    """The states of three cases whose claim is pinned to likeness of meaning."""
    module = type(pytest)("embedder_of_a_test")
    module.embed = embed  # type: ignore[attr-defined]  # made here
    monkeypatch.setitem(__import__("sys").modules, "embedder_of_a_test", module)
    claim = Expectation(
        id="e", kind="must-contain", values=("The vessel departed in the morning",), scorer="semantic"
    )
    cases = [
        Case(
            id=f"c{n}",
            response=response or f"A boat{'s' * n} left at dawn. It was late.",
            expectations=(claim,),
        )
        for n in range(3)
    ]
    config = RunConfig(embedder="python:embedder_of_a_test:embed", home=home, mode="offline")
    report = await evaluate(cases, config)
    return [result.verdicts[0].state for result in report.results]


@pytest.mark.parametrize("what", GARBAGE)
async def test_no_verdict_rests_on_garbage(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Neither pass nor fail, whatever a user's own function returns."""
    assert set(await states(GARBAGE[what], tmp_path, monkeypatch)) == {"error"}


async def test_a_text_that_the_embedder_makes_nothing_of_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A null vector is far from everything, which says nothing about the response."""
    found = await states(lambda texts: [[0.0, 0.0]] * len(texts), tmp_path, monkeypatch)

    assert set(found) == {"not-judged"}


async def test_kept_vectors_of_another_model_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A function that changed under its name is told, instead of mixing both models' vectors."""
    first = await states(lambda texts: [[1.0, 0.0]] * len(texts), tmp_path, monkeypatch)
    other = "Some other words, never seen."
    second = await states(lambda texts: [[1.0, 0.0, 0.0]] * len(texts), tmp_path, monkeypatch, other)

    assert set(first) == {"pass"}
    assert set(second) == {"error"}
