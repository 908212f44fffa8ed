"""The scorer python: a function of the author's, and only where that is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scoring import state, verdict
from tiered_eval import evaluate_sync, load_suite
from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError, SuiteError
from tiered_eval.runner import plan

CODE = """
def says(response, context):
    return {"yes": True, "no": False, "half": 0.5, "one": 1.0, "int": 1, "two": 2, "none": None,
            "mapping": {"pass": True, "score": 0.7, "reason": "fine"}, "failed": {"passed": False},
            "score": {"score": 0.4}, "text": "correct", "empty": {}, "zero": 0, "full": {"score": 1},
            "both": {"pass": False, "score": 0.9},
            "kept": {"pass": True, "score": 0.2}, "above": 1.5, "below": -0.1}[response]

def length(response, context):
    return len(response) <= context["options"]["most"]

def asked(response, context):
    return context["input"] is None and dict(context["fields"]) == {}

def broken(response, context):
    raise ValueError("no luck")

def leaves(response, context):
    raise SystemExit(0)

NUMBER = 5
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "judge_by_code.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)


ROWS = [
    ("yes", "pass", 1.0, "true"),
    ("no", "fail", 0.0, "false"),
    ("half", "fail", 0.5, "a score below 1"),
    ("one", "pass", 1.0, "a score of 1"),
    ("int", "pass", 1.0, "a whole number"),
    ("mapping", "pass", 0.7, "a mapping decides, and has a score"),
    ("failed", "fail", 0.0, "a mapping under another name"),
    ("score", "fail", 0.4, "a mapping with a score only"),
    ("full", "pass", 1.0, "a full score in a mapping"),
    ("zero", "fail", 0.0, "a whole number again"),
    ("both", "fail", 0.9, "what it says to pass is what counts, whatever the score"),
    ("kept", "pass", 0.2, "the other way round"),
]


@pytest.mark.parametrize(("response", "wanted", "score", "why"), ROWS)
def test_what_a_function_returns_is_read(response: str, wanted: str, score: float, why: str):
    """True or false, a score, or a mapping."""
    ended = verdict({"python": "judge_by_code:says"}, response)

    assert (ended.state, ended.score) == (wanted, score), why


@pytest.mark.parametrize("response", ["two", "none", "text", "empty", "above", "below"])
def test_what_is_no_answer_is_an_error(response: str):
    """A text is not true, and nothing is not false."""
    with pytest.raises(ConfigError, match="returned"):
        state({"python": "judge_by_code:says"}, response)


def test_a_score_passes_where_the_author_says():
    """`pass_at` is for scores."""
    assert state({"python": {"value": "judge_by_code:says", "pass_at": 0.5}}, "half") == "pass"


def test_a_function_is_given_its_settings():
    """`config` is handed on, with what the case has."""
    entry = {"python": {"value": "judge_by_code:length", "config": {"most": 3}}}

    assert (state(entry, "abc"), state(entry, "abcd")) == ("pass", "fail")
    assert state({"python": "judge_by_code:asked"}, "x") == "pass"


@pytest.mark.parametrize(
    "name", ["judge_by_code:nothing", "no_such_module:f", "judge_by_code", "judge_by_code:NUMBER"]
)
def test_a_function_that_is_not_there_is_an_error(name: str):
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(ConfigError):
        state({"python": name}, "yes")


SUITE = "cases:\n  - {id: q1, response: yes, expect: [{python: 'judge_by_code:broken'}]}\n"


def test_code_is_refused_unless_it_is_allowed(tmp_path: Path):
    """A suite may come from a stranger's pull request."""
    (tmp_path / "suite.yaml").write_text(SUITE)

    with pytest.raises(SuiteError, match="--allow-code"):
        load_suite(tmp_path)


@pytest.mark.parametrize("name", ["broken", "leaves"])
def test_a_plan_goes_on_whatever_a_function_does(name: str, tmp_path: Path):
    """A function that raises, or would end the program with 0, is counted as a check that cannot be made."""
    (tmp_path / "suite.yaml").write_text(SUITE.replace("broken", name))

    made = plan(load_suite(tmp_path, allow_code=True))

    assert (made.expectations, made.errors) == (1, 1)


def test_a_function_that_raises_is_an_error_with_its_traceback(tmp_path: Path):
    """Never a fail, also behind not-."""
    (tmp_path / "suite.yaml").write_text(SUITE.replace("{python", "{not-python"))

    report = evaluate_sync(load_suite(tmp_path, allow_code=True), RunConfig(home=tmp_path / "home"))

    [result] = report.results
    assert result.verdicts[0].state == "error"
    assert result.verdicts[0].failure is not None
    assert "no luck" in (result.verdicts[0].failure.traceback or "")
