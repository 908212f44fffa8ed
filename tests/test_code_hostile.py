"""Code that forges, floods or slips past its tests, and tests of which some would never run."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.test_scorer_code_exec import ADD, WRONG, any_box, each, fenced, state, verdict
from tiered_eval.errors import SuiteError
from tiered_eval.scorers.code.reading import is_pythons_own
from tiered_eval.scorers.code.taking import take_code

__all__ = ["any_box"]

# Passing without being right

INTRUDER = (
    '''
import types
open("test_intruder.py", "w").write("""
import gc, os, sys
import tiered_eval.scorers.code.asserting as ours
frame = sys._getframe()
while frame:
    if "report" in frame.f_locals:
        passed = [{"name": "x", "state": "passed", "message": ""}]
        frame.f_locals["results"].write(ours.to_line({**frame.f_locals["report"], "results": passed, "left": 0}))
        frame.f_locals["results"].flush()
        os._exit(0)
    frame = frame.f_back
""")
runner = types.ModuleType("unittest.__main__")
'''
    + WRONG
)
CAUGHT = "try:\n    found = add(1, 'x')\nexcept:\n    found = None\nassert found is None"

SLIPS: list[tuple[str, str, dict[str, Any], str, str]] = [
    (INTRUDER, "assert add(1, 2) == 3", {}, "fail", "says that it has imported what runs tests of its own"),
    (
        "def add(a, b): raise StopIteration",
        "assert all(map(lambda x: add(x, 1) == x + 1, range(1, 9)))",
        {},
        "unsure",
        "ends the loop of the tests",
    ),
    (
        "import os\ndef add(a, b): os._exit(0)",
        CAUGHT,
        {},
        "fail",
        "ends where the tests catch everything",
    ),
    (
        "def add(a, b):\n    while True: pass",
        CAUGHT,
        {"timeout_s": 0.5},
        "fail",
        "hangs where the tests catch everything",
    ),
    (
        "class Any:\n    def __eq__(self, other): return True\ndef add(a, b): return Any()",
        "try:\n    same = add(1, 2) == 3\nexcept:\n    same = True\nassert same",
        {},
        "unsure",
        "would be its own judge where the tests catch everything",
    ),
    (
        "import os\ndef add(a, b):\n    if a == 1: return 2\n    os._exit(0)",
        "assert add(1, 1) == 2\n" + "assert add(3, 4) == 7\n" * 9,
        {"pass_at": 0.3},
        "fail",
        "ends after the one test that it passes, so that there are fewer",
    ),
    (
        "def add(a, b):\n    try: a(1)\n    except Exception: pass",
        "def seen(x):\n    assert x == 5\nadd(seen, 1)",
        {},
        "fail",
        "swallows an assertion of a function that it was given",
    ),
    (
        WRONG
        + "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'{\"names\": 7}\\n')\n    except OSError: pass",
        "assert add(1, 2) == 3",
        {},
        "fail",
        "tells nonsense of what it defines, which is no fault of the tests",
    ),
    (
        "told = [0]\nclass Any:\n    def __sub__(self, o):\n        told[0] = o\n        return self\n"
        "    def __abs__(self): return 0\n"
        "def add(a, b): return told[0] or Any()",
        "assert abs(add(1, 0.41) - 1.41) < 0.01\nassert add(1, 0.41) == 1.41\nassert add(1, 0.41) == 1.41",
        {"pass_at": 0.6},
        "unsure",
        "is handed what is expected, and returns that in the next test",
    ),
    (
        "def add(a, b): import no_such_package",
        "assert add(1, 2) == 3",
        {},
        "fail",
        "wants a package that is not there, which is no fault of the tests",
    ),
    (
        "def add(a, b): raise KeyError('x')",
        "import unittest\nclass T(unittest.TestCase):\n    @classmethod\n    def tearDownClass(cls): add(1, 2)\n"
        "    def test_it(self): self.assertEqual(1, 1)",
        {},
        "fail",
        "breaks when the tests clear up",
    ),
    (
        WRONG + "import resource, os\nresource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))",
        "import fractions\nassert add(1, 2) == 3",
        {},
        "fail",
        "takes the files of the process that tests it",
    ),
]


async def test_no_response_slips_past_its_tests(any_box: None):
    """Whatever it ends, says or raises, a test that did not hold is not passed."""

    async def wrong(code: str, tests: str, options: dict[str, Any], wanted: str, why: str) -> str | None:
        ended = await verdict({"code-exec": {"value": tests, "timeout_s": 5, **options}}, fenced(code))
        return None if state(ended) == wanted else f"{why}: {ended.state}, {ended.reason}"

    assert await each(SLIPS, wrong) == []


@pytest.mark.parametrize(
    ("module", "is_own"),
    [
        ("math", True),
        ("os.path", True),
        ("collections.abc", True),
        ("unittest.__main__", False),
        ("idlelib.idle", False),
        ("antigravity", False),
        ("solution", False),
        ("", False),
    ],
)
def test_modules_that_do_something_are_not_imported_at_the_codes_word(module: str, is_own: bool):
    """It may name any; those that only define things are Python's own everywhere."""
    assert is_pythons_own(module) is is_own


# Which tests there are

COUNTED: list[tuple[str, str, str, str]] = [
    (
        WRONG,
        "assert add(0, 0) == 0\nclass TestAdd:\n    def test_it(self):\n        assert add(1, 1) == 2",
        "1 of 2",
        "a class as pytest has them",
    ),
    (
        ADD,
        "class TestAdd:\n    def setup_method(self): self.two = 2\n    def test_it(self):\n        assert add(1, 1) == self.two",
        "1 of 1",
        "with a preparation",
    ),
    (
        ADD,
        "import unittest\nclass T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.two = 2\n"
        "    def test_it(self): self.assertEqual(add(1, 1), self.two)\nunittest.main()",
        "1 of 1",
        "a preparation of the class, and a runner that is not needed",
    ),
    (
        WRONG,
        "import unittest\nif __name__ == '__main__':\n    assert add(1, 1) == 2\n    unittest.main()",
        "0 of 1",
        "what stands beside the runner",
    ),
    (WRONG, "print('begin')\nassert add(1, 1) == 2", "0 of 1", "printing is no test"),
    (WRONG, "import random\nrandom.seed(0)\nassert add(1, 1) == 2", "0 of 1", "nor is a seed"),
    (
        "def add(items, b): items.sort()",
        "items = [3, 1]\nadd(b=1, items=items)\nassert items == [1, 3]",
        "2 of 2",
        "a named argument that it changes",
    ),
]


async def test_every_test_is_found(any_box: None):
    """And nothing else is one."""

    async def wrong(code: str, tests: str, wanted: str, why: str) -> str | None:
        ended = await verdict({"code-exec": {"value": tests, "pass_at": 0.01}}, fenced(code))
        return None if ended.reason.startswith(wanted) else f"{why}: {ended.reason}"

    assert await each(COUNTED, wrong) == []


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("assert add(0, 0) == 0\ndef verify():\n    assert add(1, 1) == 2", "a function that nobody calls"),
        ("assert add(0, 0) == 0\ndef check(f):\n    assert f(1, 1) == 2", "a check without `function`"),
        (
            "assert 1\nclass Adding:\n    def test_it(self):\n        assert add(1, 1) == 2",
            "a class that no runner would find",
        ),
    ],
)
async def test_assertions_that_would_never_run_are_refused(tests: str, why: str):
    """When the suite is loaded: they would count as passed for ever."""
    with pytest.raises(SuiteError, match="never call"):
        await verdict({"code-exec": tests}, fenced(ADD))


# Answers that are hard to read

FLOODS: list[tuple[str, str]] = [
    ("def f(): return 1 << 3_900_000", "a number that takes a minute to write down"),
    ("def f(): return {1 << 3_900_000}", "the same in a set"),
    (
        "import json\nM = (1 << 61) - 1\n"
        'json.dumps = lambda *a, **k: \'{"of": 0, "value": {"is": "set", "of": [%s]}}\''
        " % ','.join(str(M * k) for k in range(1, 38000))\ndef f(): pass",
        "a set whose entries all have one hash",
    ),
    (
        "import json\nM = (1 << 61) - 1\n"
        'json.dumps = lambda *a, **k: \'{"of": 0, "value": {"is": "dict", "of": [%s]}}\''
        " % ','.join('[%d,0]' % (M * k) for k in range(1, 33000))\ndef f(): pass",
        "a dict of such keys",
    ),
    ("from decimal import Decimal\ndef f(): return Decimal('1e999999999')", "a number without end"),
    ("def f(): return range(10 ** 30)", "a range that nobody can count"),
    ("def f():\n    x = 1\n    for _ in range(900): x = [x]\n    return x", "a list in lists"),
]


async def test_no_answer_holds_the_others_up(any_box: None):
    """It is read in the loop in which everybody else waits."""

    async def wrong(code: str, why: str) -> str | None:
        cases = [{"expected": 1}, {"expected": [1]}, {"expected": {"a": 1}}]
        began = time.process_time()
        ended = await verdict({"code-exec": {"function": "f", "cases": cases}}, fenced(code))
        took_s = time.process_time() - began
        return None if ended.score == 0 and took_s < 3 else f"{why}: {took_s:.1f} s, {ended.reason:.200}"

    assert await each(FLOODS, wrong) == []


async def test_an_answer_that_cannot_be_read_shifts_no_other(any_box: None):
    """Each has its number."""
    code = "def f(x):\n    if x != 1: return x\n    for _ in range(300): x = [x]\n    return x"
    cases = [{"args": [x], "expected": x} for x in (1, 2, 3)]

    ended = await verdict({"code-exec": {"function": "f", "cases": cases}}, fenced(code))

    assert ended.reason.startswith("2 of 3")


async def test_what_is_expected_is_never_too_much(any_box: None):
    """The limit on output is on top of it, for calls and for whole runs."""
    long = [[number] for number in range(60_000)]
    lines = "\n".join(map(str, range(200_000)))

    call = await verdict(
        {"code-exec": {"function": "f", "cases": [{"expected": long}]}},
        fenced("def f(): return [[number] for number in range(60_000)]"),
    )
    run = await verdict(
        {"code-exec": {"cases": [{"stdout": lines}]}}, fenced("print(*range(200_000), sep='\\n')")
    )

    assert (call.state, run.state) == ("pass", "pass"), (call.reason[:200], run.reason[:200])


async def test_sets_and_dicts_are_compared_by_their_entries(any_box: None):
    """Also deep inside, and told as what they are."""
    code = "def f(): return {1: {(2, 3)}, 'b': [{4}]}"

    right = await verdict(
        {"code-exec": {"function": "f", "cases": [{"expected": {"1": [[2, 3]], "b": [[4]]}}]}}, fenced(code)
    )
    wrong = await verdict({"code-exec": {"function": "f", "cases": [{"expected": {"1": 2}}]}}, fenced(code))

    assert right.state == "pass"
    assert "it returned {1: {(2, 3)}, 'b': [{4}]}" in wrong.reason


async def test_half_a_character_in_the_code_is_its_own_fault(any_box: None):
    """And no error of the box."""
    ended = await verdict(
        {"code-exec": {"function": "f", "cases": [{"expected": 1}]}}, fenced("def f(): return '\ud800' and 1")
    )

    assert ended.state == "fail"


# Responses that are hard to read


@pytest.mark.parametrize(
    "text",
    [
        "`" * 300_000,
        "```" + "a" * 300_000,
        "~" * 300_000,
        "```\n````\n" * 50_000,
        " " * 300_000 + "x",
        "```python\nx\n```\n```python\n" + "1+" * 150_000 + "1\n```",
        "def f():\n" + "    x = 1\n" * 100_000,
        "import this is prose\n\n" * 5_000,
    ],
    ids=["backticks", "a tag", "tildes", "fences", "space", "a long sum", "long code", "paragraphs"],
)
def test_no_response_takes_long_to_read(text: str):
    """The time grows with its length and not with the square of it."""
    began = time.process_time()

    take_code(text, "python", "all")

    assert time.process_time() - began < 4


TAKEN: list[tuple[str, str | None, bool, str]] = [
    ("    x = 1\n    print(x)", "x = 1\nprint(x)", False, "all of it is indented"),
    ("Here it is:\n\ndef f():\n    return 1\n\nIt returns one.", None, True, "prose around, and no fence"),
    ("Here it is:\n\n    def f():\n        return 1\n", None, True, "indented, as old Markdown has it"),
    (">>> def f():\n...     return 1", None, True, "a session of the interpreter"),
    ("Use ```print(1)``` for that.", None, False, "code within a line"),
    ("```print(1)```\n```python\nx = 1\n```", "x = 1\n", False, "which is no fence that stays open"),
    ("```python3.11\nx = 1\n```", "x = 1\n", False, "a version"),
    ("```pythonx\nx = 1\n```", None, False, "which is no part of another name"),
    ("```python\nx = '\x0c\u2028'\n```", "x = '\x0c\u2028'\n", False, "what only some take for line ends"),
]


@pytest.mark.parametrize(("text", "code", "is_ambiguous", "why"), TAKEN)
def test_what_nobody_should_take_apart_is_unsure(text: str, code: str | None, is_ambiguous: bool, why: str):
    """Code that mixes with prose is not guessed at, and what is plain is found."""
    taken = take_code(text, "python", "all")

    assert (taken.code, taken.is_ambiguous) == (code, is_ambiguous), why


def test_an_odd_escape_is_no_warning_here():
    """The user of tiered-eval did not write it; with warnings as errors it would even be taken for prose."""
    assert take_code("def f():\n    return '\\d'\n", "python", "all").code is not None
