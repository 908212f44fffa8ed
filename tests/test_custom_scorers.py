"""Scorers of one's own: how they are declared, where they are found, what they are given, and what becomes of what they say."""

from __future__ import annotations

import asyncio
import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tiered_eval import Case, Evaluator, Expectation, RunConfig, Verdict, evaluate_sync, load_suite, scorer
from tiered_eval.calibration.comparison import compare_reports
from tiered_eval.cli.app import run_app
from tiered_eval.errors import ConfigError, SuiteError
from tiered_eval.mutate import mutate_suite
from tiered_eval.records import Outcome
from tiered_eval.runner import plan
from tiered_eval.scorers.base import Services
from tiered_eval.text.subject import Subject


def write(folder: Path, expect: str, code: Mapping[str, str] | None = None, *, response: str = "Yes") -> Path:
    """A suite of one case in ``folder``, with files in its ``scorers/``; ``expect`` is a YAML list in brackets."""
    folder.mkdir(exist_ok=True)
    for name, text in (code or {}).items():
        (folder / "scorers").mkdir(exist_ok=True)
        (folder / "scorers" / name).write_text(dedent(text))
    path = folder / "suite.yaml"
    path.write_text(f"cases:\n  - id: q1\n    response: {response!r}\n    expect: {expect}\n")
    return path


def verdicts(path: Path, **given: Any) -> tuple[Verdict, ...]:
    """What a suite's first case ends with."""
    config = RunConfig(home=path.parent / "home", mode="offline", embedder="none")
    report = evaluate_sync(load_suite(path, allow_code=True, **given), config)
    return report.results[0].verdicts


def checked(code: Any, response: str = "Yes", value: Any = None, **options: Any) -> Verdict:
    """The verdict of one scorer that is given by hand."""

    async def check() -> Verdict:
        config = RunConfig(scorers={"own": code}, mode="offline", embedder="none")
        async with Evaluator(config) as evaluator:
            return await evaluator.check("own", value, response=response, **options)

    return asyncio.run(check())


def broken_rules(path: Path, **given: Any) -> set[str]:
    """The rules that loading a suite breaks."""
    with pytest.raises(SuiteError) as caught:
        load_suite(path, **given)
    return {problem.rule for problem in caught.value.problems}


# What it may return


RETURNS = [
    (True, "pass", 1.0, "true"),
    (False, "fail", 0.0, "false"),
    (1.0, "pass", 1.0, "a full score"),
    (0.5, "fail", 0.5, "a score below pass_at, which is 1"),
    (1, "pass", 1.0, "a whole number is a score"),
    ("pass", "pass", None, "a state"),
    ("fail", "fail", None, "a state"),
    ("unsure", "not-judged", None, "unsure is no verdict"),
    ({"pass": True}, "pass", 1.0, "a mapping decides"),
    ({"passed": False, "score": 0.4}, "fail", 0.4, "and has a score"),
    ({"score": 1}, "pass", 1.0, "a score alone is graded"),
    ({"state": "unsure", "reason": "half a page is missing"}, "not-judged", None, "a mapping may be unsure"),
    (Outcome("pass", "by the book", 0.9), "pass", 0.9, "an outcome as it is"),
]


@pytest.mark.parametrize(("said", "wanted", "score", "why"), RETURNS)
def test_each_form_of_an_answer_is_read(said: Any, wanted: str, score: float | None, why: str):
    """The forms that people know from other tools."""
    ended = checked(lambda response: said)

    assert (ended.state, ended.score) == (wanted, score), why


NO_ANSWERS = [
    (None, "nothing was returned, as where a return is forgotten"),
    (float("nan"), "NaN compares as neither more nor less"),
    (float("inf"), "more than all"),
    (1.2, "out of range"),
    (-0.1, "out of range"),
    ("passed", "no state, and a text is not true"),
    ("", "an empty text is not false"),
    ([], "an empty list is not false"),
    ({}, "a mapping that decides nothing"),
    ({"pass": "false"}, "a text that would be true"),
    ({"pass": 1}, "a number where a truth value is asked for"),
    ({"score": True}, "a truth value where a number is asked for"),
    ({"pass": True, "state": "fail"}, "it says both"),
    ({"pass": True, "verdict": "no"}, "a key that nobody knows"),
    ({"score": float("nan")}, "NaN inside"),
    ({"pass": True, "metrics": {"depth": 7}}, "a metric out of range"),
    (Outcome("pass", "", float("nan")), "an outcome with NaN"),
    (Outcome("maybe", ""), "an outcome of no state"),  # type: ignore[arg-type]  # that is what is tested
]


@pytest.mark.parametrize(("said", "why"), NO_ANSWERS)
def test_what_is_no_answer_is_an_error(said: Any, why: str):
    """Never a fail, which would blame the response, and never a pass."""
    ended = checked(lambda response: said)

    assert ended.state == "error", why
    assert ended.failure is not None
    assert "the scorer own returned" in ended.failure.message


def test_a_number_of_numpy_is_a_number():
    """Scores often come out of numpy."""
    numpy = importlib.import_module("numpy")

    assert checked(lambda response: numpy.float32(1.0)).state == "pass"
    assert checked(lambda response: numpy.bool_(False)).state == "fail"
    assert checked(lambda response: numpy.array([1.0, 0.0])).state == "error"


def test_a_score_passes_where_its_author_or_the_suite_says():
    """`pass_at` of the declaration, and of the expectation over it."""
    half = scorer("half", pass_at=0.4)(lambda response: 0.5)

    assert checked(half).state == "pass"
    assert checked(half, pass_at=0.6).state == "fail"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (functools.partial(lambda response, word: True, word="x"), "no name of its own"),
        (Exception().with_traceback, "SCORERS"),
        (len, "SCORERS"),
    ],
)
def test_what_cannot_be_marked_is_told_how_it_can_be_had(code: Any, message: str):
    """A partial function has no name, and methods and built-in functions take no mark."""
    with pytest.raises(ConfigError, match=message):
        scorer()(code)


def test_a_decorator_without_parentheses_is_told():
    """It would take the function for its name, and leave something else in its place."""
    with pytest.raises(ConfigError, match="parentheses over by_case"):
        scorer(by_case)  # type: ignore[arg-type]  # that is what is tested


def test_a_function_stays_what_it_is():
    """So that it can be called and tested by itself."""
    declared = scorer("x", pass_at=0.5)(by_two_names)

    assert declared is by_two_names
    assert declared("a", "a") is True


def test_what_was_wrapped_after_it_was_declared_is_called_as_it_is_now():
    """A decorator over ours keeps what was declared, and its own code runs."""
    inner = scorer("x", pass_at=0.5)(lambda response: 0.5)

    @functools.wraps(inner)
    def outer(response: str) -> float:
        return inner(response) / 2

    assert (checked(inner).state, checked(outer).state) == ("pass", "fail")


def test_metrics_go_to_the_verdict_and_undeclared_ones_are_refused():
    """A scorecard reads them by name, so a slip in a name must not pass in silence."""
    declared = scorer("m", metrics=("depth",))
    said = {"pass": True, "metrics": {"depth": 0.25}}

    assert checked(declared(lambda response: said)).metrics == {"depth": 0.25}
    assert checked(declared(lambda response: {"pass": True, "metrics": {"dept": 0.25}})).state == "error"


# What it is given


def by_two_names(response: str, expected: str) -> bool:
    return response == expected


def by_any_names(output: str, gold: str) -> bool:
    return output == gold


def by_case(expectation: Expectation, case: Case) -> bool:
    return case.response == expectation.value


def by_options(response: str, options: Mapping[str, Any]) -> bool:
    return "pass_at" in options or response == "Yes"


def by_everything(response: str, **options: Any) -> bool:
    return options == {}


def by_input(input: str | None, fields: Mapping[str, Any], meta: Mapping[str, Any]) -> bool:
    return input is None and not fields and not meta


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (by_two_names, "Yes"),
        (by_any_names, "Yes"),
        (by_case, "Yes"),
        (by_options, None),
        (by_everything, None),
        (by_input, None),
    ],
)
def test_a_function_is_given_what_its_parameters_are_called(code: Any, value: Any):
    """Known names by name; others are the response, then what is expected."""
    assert checked(code, "Yes", value).state == "pass"


def test_a_field_of_a_structured_response_is_given():
    """`field` and `ground_truth_field` work as for scorers that ship."""

    def is_even(response: Any) -> bool:
        return response % 2 == 0

    assert checked(is_even, "", fields={"items": [{"count": 4}]}, field="items[0].count").state == "pass"
    missing = checked(is_even, "", fields={"items": []}, field="items[0].count")
    assert (missing.state, missing.reason[:12]) == ("fail", "there is no ")


REFUSED = [
    (lambda response, gold, third: True, "nothing is known to give it as third"),
    (lambda: True, "looks at nothing"),
    (lambda expected: True, "looks at nothing"),
    (5, "neither a function nor a class"),
    (type("Empty", (), {}), "needs check, ask or __call__"),
    (lambda response, services: True, "only an async function"),
    (object(), "neither a function nor a class"),
    (scorer("x", tier="free")(lambda response: True), "tier"),  # type: ignore[arg-type]  # that is what is tested
    (scorer("x", pass_at=float("nan"))(lambda response: True), "pass_at"),
    (scorer("x", batch=0)(lambda items: items), "batch"),
    (scorer("x", time_limit_s=0)(lambda response: True), "time_limit_s"),
]


@pytest.mark.parametrize(("code", "why"), REFUSED)
def test_what_cannot_be_a_scorer_is_refused_at_once(code: Any, why: str):
    """A parameter that nobody fills would fail each case, one by one."""
    with pytest.raises(ConfigError, match=why):
        checked(code)


@pytest.mark.parametrize(
    "name", ["must-contain", "exact", "equals", "not-mine", "a b", "", "weight", "labels"]
)
def test_a_name_that_is_taken_or_none_is_refused(name: str):
    """Kinds, scorers that ship and their aliases, and the names of options."""
    with pytest.raises(ConfigError):
        evaluate_sync([Case(id="c", response="", expectations=())], RunConfig(scorers={name: by_case}))


# Options and references


LENGTH = """
    from typing import Literal

    import tiered_eval

    @tiered_eval.scorer("short-enough")
    def short_enough(response, *, most: int = 20, unit: Literal["words", "characters"] = "words"):
        return len(response.split() if unit == "words" else response) <= most

    @tiered_eval.scorer("in-style", options={"style": ("formal", "plain"), "strict": bool})
    def in_style(response, options):
        return options["style"] == "formal" and options.get("strict") is True

    @tiered_eval.scorer("at-most", options={"most": int})
    def at_most(response, most):
        return len(response) <= most

    @tiered_eval.scorer("starts-like")
    def starts_like(response, expected):
        return response.startswith(expected)

    @tiered_eval.scorer("asks-back", requires_reference=False)
    def asks_back(response, expected="?"):
        return (expected or "?") in response
"""


def test_keyword_only_parameters_are_options(tmp_path: Path):
    """They need not be declared twice."""
    path = write(
        tmp_path,
        "[short-enough, short-enough: {most: 2}, short-enough: {most: 9, unit: characters}]",
        {"length.py": LENGTH},
        response="three words here",
    )

    assert [one.state for one in verdicts(path)] == ["pass", "fail", "fail"]


def test_declared_options_are_typed(tmp_path: Path):
    """Choices and types are checked at load, as those of scorers that ship."""
    path = write(tmp_path, "[in-style: {style: formal, strict: yes}]", {"length.py": LENGTH})

    assert [one.state for one in verdicts(path)] == ["pass"]


@pytest.mark.parametrize(
    ("expect", "rule", "why"),
    [
        ("[at-most: {weight: 2}]", "no-option", "an option that it cannot do without"),
        ("[short-enough: {most: many}]", "not-a-number", "an option of the wrong type"),
        ("[short-enough: {unit: pages}]", "bad-choice", "none of the literals that it is annotated with"),
        ("[short-enough: {mots: 3}]", "unknown-option", "an option that nobody takes"),
        ("[in-style: {style: formla}]", "bad-choice", "none of the choices"),
        ("[starts-like]", "no-value", "it needs a reference"),
        ("[{starts-like: {weight: 2}}]", "no-value", "it needs a reference, also with settings"),
        ("[short-enough: twenty]", "two-values", "it looks at nothing that is expected"),
    ],
)
def test_a_wrong_expectation_is_refused_with_its_line(tmp_path: Path, expect: str, rule: str, why: str):
    """Before anything is spent."""
    path = write(tmp_path, expect, {"length.py": LENGTH})

    with pytest.raises(SuiteError) as caught:
        load_suite(path, allow_code=True)

    [problem] = caught.value.problems
    assert (problem.rule, problem.line) == (rule, 4), why


def test_a_reference_keeps_its_type_and_may_be_left_out(tmp_path: Path):
    """A JSON value is handed on as it is."""
    seen: list[Any] = []

    def note(response: str, expected: Any = None) -> bool:
        seen.append(expected)
        return True

    path = write(tmp_path, "[note, note: {value: {a: 1.10}}, note: [1, two], not-note: 5]")
    ended = verdicts(path, scorers={"note": note})

    assert seen == [None, {"a": 1.1}, [1, "two"], 5]
    assert [one.state for one in ended] == ["pass", "pass", "pass", "fail"]


def test_a_scorer_can_be_pinned_to_a_claim(tmp_path: Path):
    """Then it is asked about each value, and `must-not-contain` is inverted for it."""

    def found(response: str, expected: str) -> bool:
        return expected in response

    async def found_later(response: str, expected: str) -> bool:
        return expected in response

    claims = "{must-contain: [a, b], scorer: S}, {must-contain: {any: [a, z]}, scorer: S}, {must-not-contain: [y, z], scorer: S}, {must-not-contain: [y, a b], scorer: S}"
    for name in ("found", "found-later"):
        path = write(tmp_path, f"[{claims.replace('S', name)}]", response="a b")
        ended = verdicts(path, scorers={"found": found, "found-later": found_later})

        assert [one.state for one in ended] == ["pass", "pass", "pass", "fail"], name


def test_defaults_for_all_are_for_it_too(tmp_path: Path):
    """Nobody has asked for it yet when the defaults are read; its weight counts all the same."""
    code = {"x.py": "SCORERS = {'own': lambda response: True}\ndef other(response): return True"}
    path = write(tmp_path, "[own, not-own, 'x:other', {own: {weight: 2}}]", code)
    path.write_text(f"defaults: {{weight: 3, dimension: tone, tags: [t], scorer: exact}}\n{path.read_text()}")

    [case] = load_suite(path, allow_code=True).cases

    assert [one.weight for one in case.expectations] == [3, 3, 3, 2]
    assert {(one.dimension, one.tags) for one in case.expectations} == {("tone", ("t",))}
    assert [one.scorer for one in case.expectations] == ["own", "own", "x:other", "own"]


def test_defaults_may_be_given_for_it(tmp_path: Path):
    """As for a scorer that ships."""
    path = write(tmp_path, "[short-enough]", {"length.py": LENGTH}, response="three words here")
    path.write_text(f"defaults:\n  short-enough: {{most: 1}}\n{path.read_text()}")

    assert [one.state for one in verdicts(path)] == ["fail"]


# Where it is found


POLITE = """
    import tiered_eval

    @tiered_eval.scorer()
    def is_polite(response):
        \"\"\"The response says please.\"\"\"
        return "please" in response
"""


@pytest.mark.parametrize(
    ("code", "expect", "why"),
    [
        (POLITE, "[is-polite]", "a decorated function, under its own name"),
        (POLITE, "[is_polite]", "with underscores"),
        ("def f(response): return 'please' in response\nSCORERS = {'nice': f}", "[nice]", "a mapping"),
        ("def f(response): return 'please' in response", "['polite:f']", "module:function"),
        ("def f(response): return 'please' in response", "[{scorer: 'polite:f'}]", "pinned by name"),
        (
            "class Nice:\n    tier = 'exact'\n    def __call__(self, response): return 'please' in response\n"
            "SCORERS = {'nice': Nice}",
            "[nice]",
            "a class that can be called",
        ),
    ],
)
def test_the_folder_of_a_suite_is_looked_into(tmp_path: Path, code: str, expect: str, why: str):
    """Each way to declare one works from a file in `scorers/`."""
    path = write(tmp_path, expect, {"polite.py": code}, response="please wait")

    [ended] = verdicts(path)

    assert (ended.state, ended.tier) == ("pass", "exact"), why


def test_the_name_of_a_function_may_be_long(tmp_path: Path):
    """As in packages of packages."""
    stem = "checks_of_" + "a_house_" * 8
    path = write(tmp_path, f"['{stem}:is_right']", {f"{stem}.py": "def is_right(response): return True"})

    assert verdicts(path)[0].state == "pass"


def test_files_of_the_folder_may_import_each_other(tmp_path: Path):
    """A file whose name begins with an underscore is for the others only."""
    code = {
        "_words.py": "WORDS = ['please']",
        "polite.py": "from ._words import WORDS\nSCORERS = {'nice': lambda response: WORDS[0] in response}",
    }

    assert verdicts(write(tmp_path, "[nice]", code, response="please"))[0].state == "pass"


def test_two_suites_may_use_the_same_module_name(tmp_path: Path):
    """Each sees its own, also when both are loaded before either runs, and neither is left in the way of imports."""
    paths = [
        write(
            tmp_path / name,
            "[mine]",
            {"checks.py": f"SCORERS = {{'mine': lambda response: response == {name!r}}}"},
            response=name,
        )
        for name in ("one", "two")
    ]
    config = RunConfig(home=tmp_path / "home", mode="offline")
    suites = [load_suite(path, allow_code=True) for path in paths]

    states = [evaluate_sync(suite, config).results[0].verdicts[0].state for suite in suites]

    assert states == ["pass", "pass"]
    assert "checks" not in sys.modules


def test_a_file_that_was_edited_is_read_anew(tmp_path: Path):
    """Within one process, as a notebook does; and nothing is written into the folder."""
    path = write(tmp_path, "[mine]", {"checks.py": "SCORERS = {'mine': lambda response: True}"})
    before = verdicts(path)[0].state
    write(tmp_path, "[mine]", {"checks.py": "SCORERS = {'mine': lambda response: False}"})

    assert (before, verdicts(path)[0].state) == ("pass", "fail")
    assert [one.name for one in (tmp_path / "scorers").iterdir()] == ["checks.py"]


BOMB = "raise SystemExit('this file was imported')"


@pytest.mark.parametrize("entry", ["'twin_checks:mine'", "{python: 'twin_checks:mine'}"])
def test_two_working_folders_may_use_the_same_module_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
):
    """Python knows one module of a name, and that of the other folder would decide silently."""
    states = []
    for folder, answer in (("a", True), ("b", False), ("a", True)):
        path = write(tmp_path / folder, f"[{entry}]")
        (tmp_path / folder / "twin_checks.py").write_text(
            "from twin_words import ANSWER\ndef mine(response, *more): return ANSWER\n"
        )
        (tmp_path / folder / "twin_words.py").write_text(f"ANSWER = {answer}\n")
        monkeypatch.chdir(tmp_path / folder)
        states.append(verdicts(path)[0].state)

    assert states == ["pass", "fail", "pass"]


def test_a_module_of_the_working_folder_that_was_edited_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As one of the folder `scorers/` is."""
    path = write(tmp_path, "['edited_checks:mine']")
    monkeypatch.chdir(tmp_path)
    states = []
    for number, answer in enumerate(("True", "False"), 1):
        (tmp_path / "edited_checks.py").write_text(f"def mine(response): return {answer}\n")
        os.utime(tmp_path / "edited_checks.py", (number, number))
        states.append(verdicts(path)[0].state)

    assert states == ["pass", "fail"]


def test_an_edit_counts_wherever_it_is_and_however_small(tmp_path: Path):
    """Neither the size nor the time of a file need change, and a file may lie in a folder of the folder."""
    code = {"a.py": "from .inner.words import WORD\nSCORERS = {'own': lambda response: WORD in response}\n"}
    path = write(tmp_path / "s", "[own]", code, response="no")
    inner = tmp_path / "s" / "scorers" / "inner"
    inner.mkdir()
    states = []
    for word in ("no", "ye", "no"):
        (inner / "words.py").write_text(f"WORD = {word!r}\n")
        os.utime(inner / "words.py", (1, 1))
        states.append(verdicts(path)[0].state)

    assert states == ["pass", "fail", "pass"]


def test_code_is_not_run_unless_it_is_allowed(tmp_path: Path):
    """A stranger's pull request could run code with the keys of a CI job: the message says so."""
    path = write(tmp_path, "[is-polite]", {"polite.py": BOMB})

    with pytest.raises(SuiteError, match="pull request") as caught:
        load_suite(path)

    assert {problem.rule for problem in caught.value.problems} == {"code-not-allowed"}


def test_module_and_function_are_not_imported_unless_it_is_allowed(tmp_path: Path):
    """Without a folder as well."""
    assert broken_rules(write(tmp_path, "['no_such_module:f']")) == {"code-not-allowed"}
    assert broken_rules(write(tmp_path, "['no_such_module:f']"), allow_code=True) == {"no-function"}


def test_a_folder_that_no_expectation_uses_is_not_imported(tmp_path: Path):
    """Allowed or not."""
    path = write(
        tmp_path, "[must-contain: {value: Yes, weight: 2}, is-json, exact-match: Yes]", {"x.py": BOMB}
    )

    assert load_suite(path, allow_code=True).expectation_count == 3
    assert load_suite(path).expectation_count == 3


def test_a_slip_in_a_kind_is_still_told_beside_a_folder(tmp_path: Path):
    """The nearest name is offered, whatever stands in the folder."""
    path = write(tmp_path, "[must-contian: Yes]", {"polite.py": POLITE})

    with pytest.raises(SuiteError, match="did you mean must-contain"):
        load_suite(path)
    with pytest.raises(SuiteError, match="did you mean must-contain"):
        load_suite(path, allow_code=True)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ({"a.py": "SCORERS = {'exact': lambda response: True}"}, "a scorer that ships"),
        ({"a.py": POLITE, "b.py": POLITE}, r"a\.py:4 and scorers/b\.py:4"),
        ({"a.py": "SCORERS = {'mine': 5}"}, "neither a function nor a class"),
        ({"a.py": "SCORERS = ['mine']"}, "must be a mapping"),
        ({"a.py": "raise ValueError('no luck')"}, r"a\.py: its code raised ValueError: no luck at .*a\.py:1"),
        ({"a.py": "def f(:"}, r"a\.py:1 is not Python"),
        ({"a.py": "import no_such_module"}, "cannot be imported: No module named"),
        ({"a.py": "from agent_arena.scorers import Scorer, ScoreResult"}, "docs/custom-scorers.md"),
        ({"a.py": "from deepeval.metrics import BaseMetric"}, "docs/custom-scorers.md"),
        ({"a.py": "import b", "b.py": ""}, "with a dot: from .other import name"),
        ({"a.py": "from scorers.b import x", "b.py": "x = 1"}, "with a dot: from .other import name"),
        ({"a.b.py": POLITE}, "has a dot in its name"),
        (
            {"a.py": "def mine(response): return True"},
            r"of the scorers in scorers/ there is none .*@tiered_eval.scorer\(\)",
        ),
        ({"_a.py": POLITE}, r"there is none .*begin with _"),
        ({"a.py": POLITE.replace("is_polite", "is_kind")}, "there is only is-kind"),
        (
            {"a.py": "import tiered_eval\n@tiered_eval.scorer\ndef mine(r): return True"},
            r"parentheses over mine at .*a\.py:2",
        ),
        ({"a.py": "import json\njson.loads('{')"}, r"at .*a\.py:2"),
        ({"a.py": "SCORERS = {'mine': lambda response, *, weight=1: True}"}, "'weight' is never an option"),
        (
            {"a.py": "SCORERS = {'mine': lambda response, *, expected=1, text='': True}"},
            "'text' is never an option",
        ),
    ],
)
def test_what_is_wrong_in_the_folder_is_told_with_its_place(
    tmp_path: Path, code: dict[str, str], message: str
):
    """At the expectation that led there; a scorer of the same file that is right is not used either."""
    with pytest.raises(SuiteError, match=message):
        load_suite(write(tmp_path, "[is-polite]", code), allow_code=True)


def test_a_link_out_of_the_suite_is_refused(tmp_path: Path):
    """As for every other file of a suite."""
    (tmp_path / "elsewhere.py").write_text(dedent(POLITE))
    path = write(tmp_path / "suite", "[is-polite]", {"_x.py": ""})
    (path.parent / "scorers" / "polite.py").symlink_to(tmp_path / "elsewhere.py")

    assert broken_rules(path, allow_code=True) == {"outside-folder"}
    assert load_suite(path, allow_code=True, allow_outside=True).expectation_count == 1


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, with one that brings scorers."""
    site = tmp_path / "site"
    info = site / "politeness-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: politeness\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[tiered_eval.scorers]\nwell-mannered = politeness_checks:well_mannered\n"
    )
    (site / "politeness_checks.py").write_text("def well_mannered(response): return 'please' in response\n")
    monkeypatch.syspath_prepend(str(site))
    yield site
    sys.modules.pop("politeness_checks", None)


def test_an_installed_package_brings_scorers(tmp_path: Path, installed: Path):
    """Its user installed it, so nothing has to be allowed; it is imported when it is named."""
    path = write(tmp_path / "s", "[well-mannered]", response="please")
    assert "politeness_checks" not in sys.modules

    report = evaluate_sync(load_suite(path), RunConfig(home=tmp_path / "home", mode="offline"))

    assert report.counts.passed == 1


def test_an_installed_scorer_needs_no_permission_for_a_folder_beside_it(tmp_path: Path, installed: Path):
    """The folder is left alone then."""
    path = write(tmp_path / "s", "[well-mannered]", {"x.py": BOMB}, response="please")

    assert load_suite(path).expectation_count == 1


def test_two_places_with_one_name_are_both_told(tmp_path: Path, installed: Path):
    """Which of them was meant nobody can know."""
    code = {"x.py": "SCORERS = {'well-mannered': lambda response: True}"}
    path = write(tmp_path / "s", "[well-mannered]", code)

    with pytest.raises(SuiteError, match=r"scorers/x\.py.*installed package politeness"):
        load_suite(path, allow_code=True)


def test_given_by_hand_and_in_the_folder_is_twice(tmp_path: Path):
    """Unless it is the very same function."""
    path = write(tmp_path, "[is-polite, other]", {"a.py": "SCORERS = {'is-polite': len, 'other': len}"})

    with pytest.raises(SuiteError, match="given by hand"):
        load_suite(path, allow_code=True, scorers={"is-polite": by_case})


# Sync, async, batch


async def later(response: str) -> bool:
    await asyncio.sleep(0)
    return response == "Yes"


class Later:
    """An object that waits when it is called."""

    async def __call__(self, response: str) -> bool:
        return await later(response)


@pytest.mark.parametrize("code", [later, Later, Later()])
def test_an_async_scorer_is_awaited(code: Any):
    """A function, a class or an object."""
    assert (checked(code, "Yes").state, checked(code, "No").state) == ("pass", "fail")


def test_a_slow_function_holds_nobody_up():
    """It runs in a thread, one call after another; free checks go on meanwhile."""
    let_go = threading.Event()
    threads: list[bool] = []

    def slow(response: str) -> bool:
        threads.append(threading.current_thread() is threading.main_thread())
        return let_go.wait(10)

    async def run() -> list[Verdict]:
        declared = scorer("slow", slow=True)(slow)
        async with Evaluator(RunConfig(scorers={"slow": declared}, embedder="none")) as evaluator:
            waiting = [asyncio.create_task(evaluator.check("slow", response="x")) for _ in range(3)]
            await asyncio.sleep(0)
            free = await evaluator.check("must-contain", "x", response="x")
            assert not any(task.done() for task in waiting)
            let_go.set()
            return [free, *await asyncio.gather(*waiting)]

    assert [one.state for one in asyncio.run(run())] == ["pass"] * 4
    assert threads == [False] * 3


def test_judges_and_embedders_of_one_s_own_get_a_thread():
    """What is declared to a tier that is no string work is taken to wait."""
    here = threading.get_ident()
    declared = scorer("model", tier="judge")(lambda response: threading.get_ident() != here)

    ended = checked(declared)

    assert (ended.state, ended.tier) == ("pass", "judge")


def test_a_batch_function_is_given_the_expectations_of_many_cases():
    """Up to its size at a time, each answer to its own asker."""
    sizes: list[int] = []

    @scorer("same", batch=8)
    def same(items: list[Any]) -> list[bool]:
        sizes.append(len(items))
        return [response == expected for response, expected, *_ in items]

    cases = [
        Case(
            id=f"c{number}",
            response=str(number),
            expectations=(
                Expectation(id="e", kind="check", scorer="same", values=(str(number - number % 2),)),
            ),
        )
        for number in range(20)
    ]
    report = evaluate_sync(cases, RunConfig(scorers={"same": same}, embedder="none"))

    assert [result.verdicts[0].state for result in report.results] == ["pass", "fail"] * 10
    assert sum(sizes) == 20
    assert max(sizes) == 8


@pytest.mark.parametrize("said", [[True], "yes", None, [True, True, True]])
def test_a_batch_without_one_answer_each_is_an_error(said: Any):
    """Nobody can know whose answer is missing."""

    @scorer("odd", batch=2)
    async def odd(items: list[Any]) -> Any:
        return said

    expectations = tuple(
        Expectation(id=f"e{n}", kind="check", scorer="odd", values=(None,)) for n in range(2)
    )
    report = evaluate_sync(
        [Case(id="c", response="x", expectations=expectations)], RunConfig(scorers={"odd": odd})
    )

    assert report.counts.error == 2


def test_a_batch_may_fail_one_of_its_items():
    """An exception in the place of an answer is the error of that item alone."""

    @scorer("some", batch=2)
    def some(items: list[Any]) -> list[Any]:
        return [ValueError("unreadable") if item.response == "bad" else True for item in items]

    cases = [
        Case(
            id=text,
            response=text,
            expectations=(Expectation(id="e", kind="check", scorer="some", values=(None,)),),
        )
        for text in ("good", "bad")
    ]
    report = evaluate_sync(cases, RunConfig(scorers={"some": some}))

    assert [result.verdicts[0].state for result in report.results] == ["pass", "error"]


# What goes wrong


def raises(response: str) -> bool:
    raise ValueError(f"no luck with {response}")


async def raises_later(response: str) -> bool:
    raise ValueError(f"no luck with {response}")


@scorer("b", batch=4)
def raises_for_all(items: list[Any]) -> list[bool]:
    raise ValueError(f"no luck with {items[0].response}")


class RaisesInCheck:
    """With the method of a free scorer."""

    def check(self, value: Any, expectation: Expectation, subject: Subject) -> Outcome:
        raise ValueError(f"no luck with {subject.text}")


class RaisesInAsk:
    """With the method of an asking one."""

    tier = "judge"

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        raise ValueError(f"no luck with {subject.text}")


RAISING = [
    raises,
    raises_later,
    raises_for_all,
    scorer("s", slow=True)(lambda response: raises(response)),
    RaisesInCheck,
    RaisesInAsk,
]


@pytest.mark.parametrize("code", RAISING)
def test_a_scorer_that_raises_is_an_error_with_its_traceback(code: Any):
    """Never a fail, also behind not-; the traceback names the line of its author."""
    ended = checked(code, "this")

    assert (ended.state, ended.score) == ("error", None)
    assert ended.failure is not None
    assert (ended.failure.type, ended.failure.message) == ("ValueError", "no luck with this")
    assert "test_custom_scorers.py" in (ended.failure.traceback or "")


def leaves(response: str) -> bool:
    raise SystemExit(0)


async def leaves_later(response: str) -> bool:
    raise SystemExit(0)


@scorer("b", batch=4)
def leaves_for_all(items: list[Any]) -> list[bool]:
    raise SystemExit(0)


@pytest.mark.parametrize(
    "code", [leaves, leaves_later, leaves_for_all, scorer("s", slow=True)(lambda response: leaves(response))]
)
def test_a_scorer_cannot_end_the_run(code: Any):
    """`SystemExit(0)` would be a green run that measured nothing."""
    assert checked(code).state == "error"


def test_an_interruption_is_passed_on():
    """Ctrl-C inside a scorer is the user's, and no error of the scorer's."""

    def interrupted(response: str) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checked(interrupted)


async def never(response: str) -> bool:
    await asyncio.Event().wait()
    return True


def blocks(response: str) -> bool:
    time.sleep(2)
    return True


@pytest.mark.parametrize(
    "code",
    [
        scorer("n", time_limit_s=0.05)(functools.partial(never)),
        scorer("n", time_limit_s=0.05, slow=True)(functools.partial(blocks)),
        scorer("n", time_limit_s=0.05, batch=2)(functools.partial(blocks)),
    ],
)
def test_a_scorer_that_never_comes_back_is_an_error(code: Any):
    """After its time, and nobody waits longer."""
    began = time.monotonic()
    ended = checked(code)

    assert ended.state == "error"
    assert "within 0.05 s" in ended.reason
    assert time.monotonic() - began < 1.5


@pytest.mark.parametrize(
    "code",
    [
        never,
        scorer("n", slow=True)(functools.partial(blocks)),
        scorer("n", batch=2)(functools.partial(blocks)),
    ],
)
def test_the_end_of_a_run_cuts_a_scorer_off(code: Any, tmp_path: Path):
    """What it had not said is left over by the deadline, and no error of its own."""
    expectation = Expectation(id="e", kind="check", scorer="own", values=(None,))
    cases = [Case(id=str(number), response="x", expectations=(expectation,)) for number in range(3)]
    config = RunConfig(scorers={"own": code}, max_time_s=0.3, home=tmp_path)
    began = time.monotonic()

    report = evaluate_sync(cases, config)

    assert report.leftovers == {"deadline": 3}
    assert time.monotonic() - began < 1.5


def test_a_function_that_does_not_come_back_is_called_no_more():
    """Threads cannot be ended, and must not pile up."""
    let_go = threading.Event()
    calls: list[str] = []

    @scorer("n", slow=True, time_limit_s=0.01)
    def stuck(response: str) -> bool:
        calls.append(response)
        return let_go.wait(20)

    async def run() -> list[Verdict]:
        async with Evaluator(RunConfig(scorers={"own": stuck}, embedder="none")) as evaluator:
            ended = [await evaluator.check("own", response="x") for _ in range(12)]
            let_go.set()
            return ended

    ended = asyncio.run(run())

    assert len(calls) == 8
    assert "is not called any more" in ended[-1].reason


def test_a_timeout_of_the_scorer_s_own_is_its_own():
    """A request that timed out in it is told with its traceback, and not as our limit."""

    async def times_out(response: str) -> bool:
        raise TimeoutError("the server did not answer")

    ended = checked(times_out)

    assert ended.reason == "TimeoutError: the server did not answer"


# With everything else


class Longest:
    """Our own methods: what the reference scorers have."""

    tier = "coverage"
    metrics = ("share",)

    def check(self, value: Any, expectation: Expectation, subject: Subject) -> Outcome:
        share = min(1.0, len(subject.text) / 10)
        return Outcome("pass" if share == 1 else "unsure", "its length", share, metrics={"share": share})


class AsksAModel:
    """A judge of one's own, which may use the services of the run."""

    tier = "judge"
    judges_whole = True

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        return Outcome("fail" if services.judges else "pass", f"{len(services.judges)} judges")


def test_a_class_may_have_the_methods_of_scorers_that_ship():
    """It is made once for each evaluator, and its outcomes are checked."""
    ended = checked(Longest, "long enough")

    assert (ended.state, ended.tier, ended.scorer, ended.metrics) == (
        "pass",
        "coverage",
        "own",
        {"share": 1.0},
    )
    assert checked(Longest, "short").state == "not-judged"
    assert checked(Longest(), "long enough").tier == "coverage"
    assert checked(AsksAModel).state == "pass"


def test_a_metric_is_a_dimension_of_a_scorecard(tmp_path: Path):
    """By its name."""
    path = write(tmp_path, "[longest]", response="seven..")
    path.write_text(
        "scorecard:\n  dimensions:\n    share: {weight: 0.5}\n    correctness: {weight: 0.5}\n"
        + path.read_text().replace("[longest]", "[longest, {must-contain: seven, dimension: correctness}]")
    )

    class Share:
        metrics = ("share",)

        def __call__(self, response: str) -> dict[str, Any]:
            return {"pass": True, "metrics": {"share": len(response) / 10}}

    config = RunConfig(home=tmp_path / "home", mode="offline")
    report = evaluate_sync(load_suite(path, scorers={"longest": Share}), config)

    assert report.scorecard is not None
    assert [one.score for one in report.scorecard.breakdown.values()] == [700, 1000]


def test_a_plan_knows_scorers_of_one_s_own(tmp_path: Path):
    """Free ones are run; those that wait are not, and cost no judge."""
    path = write(tmp_path, "[is-polite, later]", {"polite.py": POLITE}, response="please")
    suite = load_suite(path, allow_code=True, scorers={"later": later})

    made = plan(suite, RunConfig(home=tmp_path / "home"))

    assert (made.expectations, made.by_scorer, made.errors) == (2, {"is-polite": 1}, 0)
    assert made.to_judge_most == 0


def test_a_report_says_which_code_decided(tmp_path: Path):
    """So that a comparison can tell that a scorer was edited in between."""
    config = RunConfig(home=tmp_path / "home", mode="offline")
    path = write(tmp_path, "[is-polite]", {"polite.py": POLITE}, response="please")
    before = evaluate_sync(load_suite(path, allow_code=True), config).settings["code"]
    write(tmp_path, "[is-polite]", {"polite.py": dedent(POLITE) + "\n# edited\n"}, response="please")
    after = evaluate_sync(load_suite(path, allow_code=True), config).settings["code"]

    assert isinstance(before, Mapping)
    assert list(before) == ["is-polite"]
    assert before != after


def test_a_comparison_tells_of_a_scorer_that_was_edited(tmp_path: Path):
    """A difference may come from that alone."""
    config = RunConfig(home=tmp_path / "home", mode="offline")
    path = write(tmp_path, "[is-polite]", {"polite.py": POLITE}, response="please")
    before = evaluate_sync(load_suite(path, allow_code=True), config)
    write(tmp_path, "[is-polite]", {"polite.py": dedent(POLITE) + "\n# edited\n"}, response="please")
    after = evaluate_sync(load_suite(path, allow_code=True), config)

    told = [
        warning for warning in compare_reports(before, after).warnings if "code was is-polite=" in warning
    ]

    assert len(told) == 1
    assert compare_reports(before, before).warnings == ()


@pytest.mark.parametrize("given", ["check", "score", "stream", "evaluate"])
def test_every_door_knows_scorers_of_the_caller_s(given: str):
    """In a case that was made in code, whichever way it goes in."""
    case = Case(
        id="c",
        response="Yes",
        expectations=(Expectation(id="e", kind="check", scorer="own", values=("Yes",)),),
    )
    config = RunConfig(scorers={"own": by_two_names}, mode="offline", embedder="none")

    async def run() -> str:
        async with Evaluator(config) as evaluator:
            if given == "check":
                return (await evaluator.check("own", "Yes", response="Yes")).state
            if given == "score":
                return (await evaluator.score(case)).verdicts[0].state
            [result] = [result async for result in evaluator.stream([case])]
            return result.verdicts[0].state

    if given == "evaluate":
        assert evaluate_sync([case], config).counts.passed == 1
    else:
        assert asyncio.run(run()) == "pass"


WRONG = [
    (Expectation(id="e", kind="must-contian", values=("x",)), "unknown-kind"),
    (Expectation(id="e", kind="check", scorer="nobody", values=("x",)), "unknown-scorer"),
    (Expectation(id="e", kind="must-contain", values=("",)), "empty-value"),
    (Expectation(id="e", kind="must-contain", values=("x",), weight=float("nan")), "not-a-number"),
]


@pytest.mark.parametrize("door", ["score", "stream", "evaluate"])
@pytest.mark.parametrize(("wrong", "rule"), WRONG)
def test_a_case_made_in_code_is_read_at_every_door(door: str, wrong: Expectation, rule: str):
    """A weight of NaN would make every figure NaN, and it is told before it does."""
    case = Case(id="c", response="x", expectations=(wrong,))

    async def run() -> None:
        async with Evaluator(RunConfig(mode="offline")) as evaluator:
            if door == "score":
                await evaluator.score(case)
            else:
                _ = [result async for result in evaluator.stream([case])]

    def measure() -> object:
        return evaluate_sync([case], RunConfig(mode="offline")) if door == "evaluate" else asyncio.run(run())

    with pytest.raises(SuiteError, match=rule):
        measure()


def test_a_scorer_that_raises_ends_no_search_for_weak_spots(tmp_path: Path):
    """It is called with responses that it never expected, and is named with what it raised."""
    path = write(
        tmp_path, "[{must-contain: x, scorer: raises}, {must-contain: x, scorer: leaves}]", response="x"
    )

    done = mutate_suite(load_suite(path, scorers={"raises": raises, "leaves": leaves}))

    assert [problem.rule for problem in done.problems] == ["broken-check", "broken-check"]
    assert "raises ended with ValueError: no luck" in done.problems[0].message
    assert "leaves raised SystemExit" in done.problems[1].message


# From the command line


def test_the_command_line_refuses_code_and_lists_what_it_may_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Exit code 2, and nothing is spent; with --allow-code the suite runs and its scorers are listed."""
    path = str(write(tmp_path, "[is-polite]", {"polite.py": POLITE}, response="please"))
    home = ["--offline", "--quiet", "--home", str(tmp_path / "home")]

    assert run_app(["run", path, *home]) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert run_app(["scorers", "--suite", path]) == 2
    assert "pull request" in capsys.readouterr().err
    assert run_app(["run", path, *home, "--allow-code"]) == 0
    assert run_app(["scorers", "--suite", path, "--allow-code"]) == 0
    assert "The response says please." in capsys.readouterr().out
    assert run_app(["lint", path, "--allow-code", "--mutate"]) == 0
    assert run_app(["show", "last", "--case", "q1", "--home", str(tmp_path / "home")]) == 0


def test_the_command_line_lists_what_installed_packages_bring(
    installed: Path, capsys: pytest.CaptureFixture[str]
):
    """Always, and says whose they are."""
    assert run_app(["scorers"]) == 0
    assert (
        "from: politeness_checks:well_mannered of the installed package politeness" in capsys.readouterr().out
    )
