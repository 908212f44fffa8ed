"""The scorer code-exec: what it takes for code, how each form of tests is judged, and responses that try to pass without."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tests.boxes import any_working, working
from tests.scoring import CHECKER
from tiered_eval import evaluate_sync, load_suite
from tiered_eval.catalogue import CATALOGUE
from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError, SandboxError, SuiteError
from tiered_eval.records import Case, Verdict
from tiered_eval.runner.checks import OpenExpectation
from tiered_eval.sandbox import Isolation
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.code.forms import read_form
from tiered_eval.scorers.code.taking import take_code
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope
from tiered_eval.text.subject import Subject

NO_SERVICES = cast(Services, None)
"""Code needs neither a model nor an embedder."""


@pytest.fixture(params=["bubblewrap", "namespaces"])
async def box(request: pytest.FixtureRequest) -> Isolation:
    """Each kind of box that this machine allows."""
    return await working(request.param)


@pytest.fixture
async def any_box() -> None:
    """For what does not depend on the kind of box."""
    await any_working()


async def verdict(entry: object, response: str, **case: Any) -> Verdict:
    """What becomes of one entry, as an author writes it."""
    problems = Problems()
    read = ExpectationReader(CATALOGUE, allow_code=True).read([entry], Scope("suite.yaml", problems))
    if problems.error_count:
        raise SuiteError(problems.errors)
    opened = CHECKER.begin(
        read[0], Subject(Case(id="c", response=response, expectations=tuple(read), **case))
    )
    assert isinstance(opened, OpenExpectation), "code is not run in the reading loop"
    ended = await CHECKER.ask(opened, NO_SERVICES)
    assert isinstance(ended, Verdict)
    return ended


def state(ended: Verdict) -> str:
    return "unsure" if ended.state == "not-judged" else ended.state


def fenced(code: str, tag: str = "python") -> str:
    return f"Here it is:\n\n```{tag}\n{code}\n```\nIt works."


async def each(rows: Sequence[tuple[Any, ...]], wrong: Callable[..., Awaitable[str | None]]) -> list[str]:
    """What is wrong with the rows of a table, which are tried as many at once as there are processors."""
    free = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(row: tuple[Any, ...]) -> str | None:
        async with free:
            return await wrong(*row)

    return [found for found in await asyncio.gather(*map(one, rows)) if found is not None]


ADD = "def add(a, b):\n    return a + b"
LOOP = "def add(a, b):\n    while True: pass"

# Calls


CALLS: list[tuple[str, list[dict[str, Any]], float, str]] = [
    (ADD, [{"args": [1, 2], "expected": 3}], 1.0, "it is right"),
    (ADD, [{"args": [1, 2], "expected": 3}, {"args": [1, 2], "expected": 4}], 0.5, "partial credit"),
    (ADD, [{"args": [1, 2], "expected": "3"}], 0.0, "a text is no number"),
    (ADD, [{"kwargs": {"a": "x", "b": "y"}, "expected": "xy"}], 1.0, "named arguments"),
    (ADD, [{"args": [1, "x"], "raises": "TypeError"}], 1.0, "it raises what it must"),
    (ADD, [{"args": [1, "x"], "raises": "Exception"}], 1.0, "or one of that family"),
    (ADD, [{"args": [1, 2], "raises": "TypeError"}], 0.0, "it must raise, and returns"),
    (ADD, [{"args": [1, "x"], "expected": 3}], 0.0, "it raises, and must not"),
    (ADD, [{"args": [0.1, 0.2], "expected": 0.3}], 0.0, "floats are compared exactly"),
    ("def add(a, b):\n    return a == b", [{"args": [1, 1], "expected": 1}], 0.0, "true is not 1"),
    ("def add(a, b):\n    return a, [b]", [{"args": [1, 2], "expected": [1, [2]]}], 1.0, "a tuple is a list"),
    (
        "def add(a, b):\n    return {b, a}",
        [{"args": [10, 9], "expected": [10, 9]}],
        1.0,
        "a set has no order",
    ),
    ("def add(a, b):\n    return {a: b}", [{"args": [1, 2], "expected": {"1": 2}}], 1.0, "keys are texts"),
    ("def add(a, b):\n    return None", [{"args": [1, 2], "expected": None}], 1.0, "nothing can be expected"),
    ("def add(a, b):\n    return [a][b:]", [{"args": [1, 2], "expected": None}], 0.0, "empty is not nothing"),
    (
        "def add(a, b):\n    return object()",
        [{"args": [1, 2], "expected": 3}],
        0.0,
        "an object is nothing of it",
    ),
    ("async def add(a, b):\n    return a + b", [{"args": [1, 2], "expected": 3}], 1.0, "it is waited for"),
    (
        "import json\ndef add(a, b):\n    json.loads(a)",
        [{"args": ["x", 2], "raises": "json.JSONDecodeError"}],
        1.0,
        "an exception by its long name",
    ),
    (
        "def add(a, b):\n    return 10 ** 5000",
        [{"args": [1, 2], "expected": 3}],
        0.0,
        "a number of 5,000 digits",
    ),
    ("def add(a, b):\n    return float('nan')", [{"args": [1, 2], "expected": 3}], 0.0, "not a number"),
    ("def sub(a, b):\n    return a - b", [{"args": [1, 2], "expected": 3}], 0.0, "there is no such function"),
    ("def add(a, b:\n    return 1", [{"args": [1, 2], "expected": 3}], 0.0, "it is no Python"),
    ("import no_such_package\n" + ADD, [{"args": [1, 2], "expected": 3}], 0.0, "it cannot be loaded"),
    (
        f"print('[1]')\n{ADD}\nprint('3')",
        [{"args": [1, 2], "expected": 3}],
        1.0,
        "what it prints is not what it returns",
    ),
    (
        "import datetime\ndef add(a, b):\n    return datetime.date(2026, a, b)",
        [{"args": [1, 2], "expected": "2026-01-02"}],
        1.0,
        "a date is its text",
    ),
    (
        "def add(a, b):\n    if a == 2: import os; os._exit(0)\n    return a + b",
        [{"args": [1, 2], "expected": 3}, {"args": [2, 2], "expected": 4}, {"args": [3, 3], "expected": 6}],
        1 / 3,
        "what had returned before it ended counts",
    ),
]


async def test_calls_are_compared_outside(any_box: None):
    """The share of calls that returned what they must is the score."""

    async def wrong(code: str, cases: list[dict[str, Any]], score: float, why: str) -> str | None:
        ended = await verdict({"code-exec": {"function": "add", "cases": cases}}, fenced(code))
        is_right = ended.score == pytest.approx(score) and ended.state == ("pass" if score == 1 else "fail")
        return None if is_right else f"{why}: {ended.reason}"

    assert await each(CALLS, wrong) == []


async def test_numbers_agree_within_a_tolerance(any_box: None):
    """Where the author gives one, also deep inside."""
    entry = {"code-exec": {"function": "f", "cases": [{"expected": [0.3]}], "tolerance": 1e-9}}

    assert (await verdict(entry, fenced("def f(): return [0.1 + 0.2]"))).state == "pass"


# Whole runs


RUNS: list[tuple[str, list[dict[str, Any]], float, str]] = [
    ("print(sum(map(int, input().split())))", [{"stdin": "3 4", "stdout": "7"}], 1.0, "it is right"),
    ("print(7)", [{"stdin": "3 4", "stdout": "7"}, {"stdin": "1 1", "stdout": "2"}], 0.5, "one of two"),
    ("print('7  \\n\\n')", [{"stdout": "7\n"}], 1.0, "space at the ends does not count"),
    ("print(' 7')", [{"stdout": "7"}], 0.0, "space at the beginning does"),
    ("print(70)", [{"stdout": "7"}], 0.0, "a piece of the output"),
    ("print(7); raise SystemExit(1)", [{"stdout": "7"}], 0.0, "right, and then it crashed"),
    ("raise SystemExit(3)", [{"exit_status": 3}], 1.0, "the status that is asked for"),
    ("import os; os.abort()", [{"exit_status": 6}], 0.0, "a crash is no status"),
    ("import sys; print(sys.argv[1:])", [{"args": ["a", 1], "stdout": "['a', '1']"}], 1.0, "arguments"),
    ("if __name__ == '__main__': print('main')", [{"stdout": "main"}], 1.0, "it runs as a program"),
    ("print('é')", [{"stdout": "é"}], 1.0, "output is UTF-8"),
    ("import os; os.write(1, b'\\xff')", [{"stdout": "ÿ"}], 0.0, "and what is none is not read as something"),
    ("while True: pass", [{"stdout": "7"}], 0.0, "it never ends"),
]


async def test_output_is_compared_outside(any_box: None):
    """Each case is a run of its own, which must end as it should."""

    async def wrong(code: str, cases: list[dict[str, Any]], score: float, why: str) -> str | None:
        limit_s = 0.5 if code == "while True: pass" else 10
        ended = await verdict({"code-exec": {"cases": cases, "timeout_s": limit_s}}, fenced(code))
        return None if ended.score == pytest.approx(score) else f"{why}: {ended.reason}"

    assert await each(RUNS, wrong) == []


async def test_another_language_is_run_by_a_command(any_box: None):
    """Here the shell, which is everywhere; the file with the code is put where {file} stands."""
    entry = {
        "code-exec": {
            "language": "bash",
            "command": ["sh", "{file}"],
            "cases": [{"stdin": "a b", "stdout": "b"}],
        }
    }

    assert (await verdict(entry, fenced("read x y; echo $y", "sh"))).state == "pass"
    assert (await verdict(entry, fenced("read x y; echo $x", "sh"))).state == "fail"


async def test_a_command_that_is_not_there_is_an_error(any_box: None):
    """No response is blamed for it."""
    entry = {"code-exec": {"language": "x", "command": ["no-such-compiler"], "cases": [{"stdout": "1"}]}}

    with pytest.raises(SandboxError, match="no-such-compiler"):
        await verdict(entry, fenced("1", "x"))


async def test_runs_that_hang_are_not_all_waited_for(any_box: None):
    """After three that used up their time the others count as failed."""
    entry = {"code-exec": {"cases": [{"stdin": str(n), "stdout": "1"} for n in range(50)], "timeout_s": 0.2}}

    ended = await verdict(entry, fenced("while True: pass"))

    assert ended.state == "fail"
    assert ended.reason.startswith("0 of 50")


# Assertions


CLASSES = """
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, other): return (self.x, self.y) == (other.x, other.y)
    def __add__(self, other): return Point(self.x + other.x, self.y + other.y)
    def __mul__(self, by): return Point(self.x * by, self.y * by)
    def __repr__(self): return f"Point({self.x}, {self.y})"
    def __len__(self): return 2
    def __enter__(self): return self
    def __exit__(self, *fault): self.x = 0
class TooBig(ValueError): pass
def far(point):
    if point.x > 9: raise TooBig("too big")
    return point
def count():
    yield from (1, 2)
def sort_in_place(items): items.sort()
def apply(function, value): return function(value)
def maker():
    def made(x): return x + 1
    return made
async def later(x): return x
LIMIT = 9
import math
"""

ASSERTIONS: list[tuple[str, str, str, str]] = [
    (ADD, "assert add(1, 2) == 3", "pass", "the plainest"),
    (ADD, "assert add(1, 2) == 4", "fail", "it is not"),
    (ADD, "assert add([1], [2]) == [1, 2] and add('a', 'b') == 'ab'", "pass", "values of several types"),
    (ADD, "assert add((1,), (2,)) == [1, 2]", "fail", "a tuple is no list in Python"),
    (ADD, "for a in range(3):\n    assert add(a, 1) == a + 1", "pass", "a loop"),
    (ADD, "def test_add():\n    assert add(1, 1) == 2\n", "pass", "a function of tests"),
    (ADD, "async def test_add():\n    assert add(1, 1) == 3\n", "fail", "one that waits is run too"),
    (
        ADD,
        "def check(candidate):\n    assert candidate(1, 1) == 2\ncheck(add)",
        "pass",
        "a check that is called",
    ),
    (
        ADD,
        "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(add(1, 1), 3)\n",
        "fail",
        "unittest",
    ),
    (ADD, "from solution import add as plus\nassert plus(1, 1) == 2", "pass", "an import of the code"),
    (
        ADD,
        "try:\n    add(1, 'x')\n    assert False\nexcept TypeError: pass",
        "pass",
        "an exception of Python's",
    ),
    (ADD, "if __name__ == '__main__':\n    assert add(1, 1) == 3", "fail", "what stands under main is run"),
    (
        CLASSES,
        "p = Point(1, 2)\nassert p.x == 1 and len(p) == 2 and repr(p) == 'Point(1, 2)'",
        "pass",
        "an object",
    ),
    (
        CLASSES,
        "assert Point(1, 2) + Point(1, 1) == Point(2, 3)",
        "pass",
        "objects that are compared with theirs",
    ),
    (CLASSES, "assert (Point(1, 2) * 2).x == 2", "pass", "arithmetic that leads to an object"),
    (CLASSES, "p = Point(1, 2)\nassert isinstance(p, Point) and far(p) is p", "pass", "class and identity"),
    (
        CLASSES,
        "try:\n    far(Point(10, 0)); assert False\nexcept TooBig as e: assert 'big' in str(e)",
        "pass",
        "its own exception",
    ),
    (CLASSES, "assert list(count()) == [1, 2] and sum(count()) == 3", "pass", "a generator"),
    (
        CLASSES,
        "items = [3, 1]\nsort_in_place(items)\nassert items == [1, 3]",
        "pass",
        "an argument that it changes",
    ),
    (CLASSES, "assert apply(lambda x: x * 2, 4) == 8", "pass", "a function of the tests, called back"),
    (CLASSES, "assert maker()(1) == 2", "pass", "a function that it returns"),
    (CLASSES, "import asyncio\nassert asyncio.run(later(5)) == 5", "pass", "a coroutine"),
    (CLASSES, "with Point(1, 2) as p:\n    assert p.x == 1\nassert p.x == 0", "pass", "a context manager"),
    (CLASSES, "p = Point(1, 2)\np.x = 5\nassert p.x == 5 and LIMIT == 9", "pass", "attributes and constants"),
    (CLASSES, "assert math.isclose(math.sqrt(4), 2)", "pass", "a module that it had imported"),
    (CLASSES, "assert far == 3", "fail", "a function is no number"),
    (CLASSES, "assert Point(1, 2) == (1, 2)", "unsure", "the object would be its own judge"),
    (CLASSES, "assert 2 in Point(1, 2)", "unsure", "so it would here"),
    ("def sum(x): return 0", "assert sum([1]) == 1", "unsure", "whose sum is meant?"),
    ("def f(): return map(str, [1])", "assert f() == ['1']", "fail", "a map is no list"),
    ("x = 1", "assert add(1, 2) == 3", "fail", "there is no such function"),
    ("raise SystemExit(0)", "assert True", "fail", "it ended while it was loaded"),
    (LOOP, "assert add(1, 2) == 3", "fail", "it never returns"),
    (
        LOOP,
        "try:\n    add(1, 2)\nexcept BaseException: pass\nassert add(1, 2) == 3",
        "fail",
        "nor may tests wait on",
    ),
]


async def test_assertions_run_beside_the_code(any_box: None):
    """Names of the code are stand-ins, which are as good as the thing for what tests mostly do."""

    passing = {
        row[0]: [other[1] for other in ASSERTIONS if other[0] == row[0] and other[2] == "pass"]
        for row in ASSERTIONS
    }
    together = [
        (code, "\n".join(tests), "pass", "one of those that pass") for code, tests in passing.items() if tests
    ]
    alone = [row for row in ASSERTIONS if row[2] != "pass"]

    async def wrong(code: str, tests: str, wanted: str, why: str) -> str | None:
        limit_s = 0.5 if code == LOOP else 10
        ended = await verdict({"code-exec": {"value": tests, "timeout_s": limit_s}}, fenced(code))
        return None if state(ended) == wanted else f"{why}: {ended.reason}"

    assert await each([*together, *alone], wrong) == []


async def test_assertions_give_partial_credit(any_box: None):
    """Each is a test; preparations are none, unless they go wrong."""
    tests = ["import math", "x = add(1, 1)", "assert x == 2", "assert x == 3", "assert x == 2", "add(1, 'x')"]

    ended = await verdict({"code-exec": {"tests": tests, "pass_at": 0.5}}, fenced(ADD))

    assert (ended.state, ended.score) == ("pass", 0.5)
    assert ended.reason.startswith("2 of 4 tests passed")
    assert ended.evidence is not None
    assert ended.evidence.quote == "assert x == 3: it is 2"


async def test_tests_that_cannot_be_judged_matter_only_where_they_decide(any_box: None):
    """A test that failed is enough, and so are those that passed, if `pass_at` lets them be."""
    tests = "assert Point(1, 2) == (1, 2)\nassert LIMIT == {}"

    assert (await verdict({"code-exec": tests.format(8)}, fenced(CLASSES))).state == "fail"
    assert state(await verdict({"code-exec": tests.format(9)}, fenced(CLASSES))) == "unsure"
    assert (
        await verdict({"code-exec": {"value": tests.format(9), "pass_at": 0.5}}, fenced(CLASSES))
    ).state == "pass"


async def test_a_check_of_the_candidate_is_called(any_box: None):
    """With `function`, as some collections of problems have it."""
    entry = {"code-exec": {"value": "def check(f):\n    assert f(1, 1) == 2\n", "function": "add"}}

    assert (await verdict(entry, fenced(ADD))).state == "pass"
    assert (await verdict(entry, fenced("def add(a, b): return 0"))).state == "fail"


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("class TestIt:\n    def test_it(self, tmp_path):\n        assert add(1, 1) == 2", "fixtures"),
        ("import no_such_package\nassert add(1, 1) == 2", "no_such_package"),
        ("class T(BaseException): pass", "assert nothing"),
    ],
)
async def test_tests_that_cannot_run_are_an_error(tests: str, why: str, any_box: None):
    """The suite is wrong, and no response passes or fails by it."""
    with pytest.raises(ConfigError, match=why):
        await verdict({"code-exec": tests}, fenced(ADD))


# Responses that try to pass without being right


IN_EACH_FORM: dict[str, dict[str, Any]] = {
    "calls": {
        "function": "add",
        "cases": [{"args": [1, 2], "expected": 3}, {"args": [20, 22], "expected": 42}],
    },
    "assertions": {
        "tests": [
            "assert add(1, 2) == 3",
            "assert add(20, 22) == 42",
            "assert abs(add(1, 0.41) - 1.41) < 0.01",
        ]
    },
    "runs": {"cases": [{"stdin": "20 22", "stdout": "42"}]},
}
"""Tests in each form that none of the following may pass."""

WRONG = "def add(a, b):\n    return 0\n"

CHEATS: list[tuple[str, str]] = [
    ("import sys; sys.exit(0)", "ends before the tests"),
    ("import os; os._exit(0)", "ends, without a trace"),
    ("def add(a, b):\n    import os; os._exit(0)", "ends in the first test"),
    ("def add(a, b):\n    raise SystemExit(0)", "asks to end in the first test"),
    (WRONG + "import atexit, os; atexit.register(os._exit, 0)", "ends well when it ends"),
    (
        WRONG + "import builtins; builtins.AssertionError = type('Quiet', (Exception,), {})",
        "patches AssertionError",
    ),
    (
        WRONG
        + "import builtins\nfor name in ('all', 'abs', 'isinstance', 'eval', 'compile'): setattr(builtins, name, lambda *a: True)",
        "patches Python",
    ),
    (
        WRONG
        + "import unittest\nfor name in dir(unittest.TestCase):\n  if name.startswith('assert'): setattr(unittest.TestCase, name, lambda *a: None)",
        "patches unittest",
    ),
    (
        WRONG + "import operator, json\noperator.eq = lambda a, b: True\njson.dumps = lambda *a, **k: 'true'",
        "patches what serves it",
    ),
    (WRONG + "abs = all = isinstance = lambda *given: 0", "has names of Python's"),
    (
        "class Any:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n    def __lt__(self, o): return True\n    def __sub__(self, o): return self\n    def __abs__(self): return self\n    def __bool__(self): return True\ndef add(a, b): return Any()",
        "equals everything",
    ),
    (
        "class Any(int):\n    def __eq__(self, other): return True\n    def __sub__(self, o): return 0\n    def __abs__(self): return 0\ndef add(a, b): return Any(0)",
        "a number that equals everything",
    ),
    (
        "class add:\n    def __init__(self, *a): pass\n    def __eq__(self, other): return True\n    def __sub__(self, o): return 0\n    def __abs__(self): return 0",
        "a class that equals everything",
    ),
    (WRONG + "print('all tests passed'); print('{\"value\": 3}'); print('3')", "prints that it passed"),
    (
        WRONG + 'import os\nos.write(1, b\'{"nonce": "", "results": [], "end": ""}\\n{"value": 3}\\n\')',
        "writes a report",
    ),
    (
        WRONG + "import glob, os\nfor path in glob.glob('/proc/*/fd/*'):\n    try:\n"
        '        with open(path, \'wb\', buffering=0) as f: f.write(b\'{"names": {}}\\n{"value": 3}\\n{"value": 42}\\n\')\n    except OSError: pass',
        "writes to whatever is open, of anybody",
    ),
    (
        WRONG
        + "import os, signal\nfor number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGALRM):\n"
        "  for other in (os.getppid(), 1):\n    try: os.kill(other, number)\n    except OSError: pass",
        "kills whoever tests it",
    ),
    (
        "import ctypes, gc, os, re, sys\n"
        "def add(a, b):\n"
        "    seen = [repr(one) for one in gc.get_objects() if isinstance(one, (tuple, dict, list)) and len(one) < 9]\n"
        "    frame = sys._getframe()\n"
        "    while frame: seen.append(repr(frame.f_locals) + repr(frame.f_globals)); frame = frame.f_back\n"
        "    for path in ['/proc/%d/%s' % (p, f) for p in (1, os.getpid(), os.getppid()) for f in ('cmdline', 'environ', 'mem', 'fd/0')]:\n"
        "        try: seen.append(open(path, 'rb').read(100000).decode('latin-1'))\n"
        "        except (OSError, ValueError): pass\n"
        "    found = re.search(r'add\\(%s, %s\\) == (\\d+)|\"expected\": (\\d+)' % (a, b), ' '.join(seen))\n"
        "    return int(found[1] or found[2]) if found else 0",
        "looks for what is expected",
    ),
    (
        WRONG
        + "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        os.write(1, b'{\"value\": 3}\\n'); time.sleep(0.01)",
        "leaves somebody who goes on printing",
    ),
    (
        WRONG
        + "import threading, os, time\nthreading.Thread(target=lambda: (time.sleep(0.05), os._exit(0)), daemon=True).start()",
        "ends from a thread",
    ),
    (
        WRONG
        + "import os\nfor name in ('tests', 'asserting', 'serving', 'values'):\n    for folder in ('.', 'lib', 'lib/tiered_eval/scorers/code'):\n"
        "        try: open(f'{folder}/{name}.py', 'w').write('')\n        except OSError: pass\n"
        "for name in ('decimal', 'ast', 'json', 'unittest', 'math'): open(f'{name}.py', 'w').write('raise SystemExit(0)')",
        "writes modules over ours and Python's",
    ),
    (
        WRONG + "import sys\nfor module in list(sys.modules.values()):\n"
        "    for name in ('told', 'decode', 'encode', 'read_line', 'to_line'):\n"
        "        if name in vars(module): setattr(module, name, lambda *a: b'{\"value\": 3}\\n')",
        "patches the program that it runs in",
    ),
]


@pytest.mark.parametrize("forms", [("calls", "assertions"), pytest.param(("runs",), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("code", "why"), CHEATS, ids=[why for _, why in CHEATS])
async def test_no_response_passes_without_being_right(
    code: str, why: str, forms: tuple[str, ...], any_box: None
):
    """Whatever it does to the process that it is in, the judgement is made in another, in each form of tests."""
    entries = [{"code-exec": {**IN_EACH_FORM[form], "timeout_s": 2}} for form in forms]

    ended = await asyncio.gather(*(verdict(entry, fenced(code)) for entry in entries))

    for form, one in zip(forms, ended, strict=True):
        is_left_open = form == "assertions" and one.state == "not-judged" and "own" in one.reason
        assert one.state == "fail" or is_left_open, f"{form}: {one.reason}"


@pytest.mark.parametrize("form", list(IN_EACH_FORM))
async def test_the_right_answer_passes_each_form(form: str, box: Isolation):
    """So the tests above fail for no other reason."""
    code = ADD + "\nif __name__ == '__main__': print(add(*map(int, input().split())))"

    ended = await verdict({"code-exec": {**IN_EACH_FORM[form], "sandbox": box}}, fenced(code))

    assert (ended.state, ended.score) == ("pass", 1.0), ended.reason
    assert f"(in {box})" in ended.reason


async def test_what_is_expected_never_enters_the_box(any_box: None, monkeypatch: pytest.MonkeyPatch):
    """Of calls and runs, neither its files nor its input nor its command hold the answer."""
    from tiered_eval.scorers.code import judging

    seen: list[str] = []
    run = judging.run

    async def spied(*given: Any, **named: Any) -> Any:
        seen.append(f"{given}{named}")
        return await run(*given, **named)

    monkeypatch.setattr(judging, "run", spied)
    await verdict(
        {"code-exec": {"function": "f", "cases": [{"expected": "answer-1"}]}}, fenced("def f(): pass")
    )
    await verdict({"code-exec": {"cases": [{"stdin": "x", "stdout": "answer-2"}]}}, fenced("pass"))

    assert len(seen) == 2
    assert [text for text in seen if "answer-" in text] == []


# What is taken for the code


TAKEN: list[tuple[str, str, str, str | None, str]] = [
    ("```python\nx = 1\n```", "python", "all", "x = 1\n", "a block"),
    ("```\nx = 1\n```", "python", "all", "x = 1\n", "a block without a language"),
    ("~~~py\nx = 1\n~~~", "python", "all", "x = 1\n", "tildes, and another name"),
    ("```Python3 title=a\nx = 1\n```", "python", "all", "x = 1\n", "what else stands behind the language"),
    (
        "a\n```bash\npip install x\n```\n```python\nx = 1\n```",
        "python",
        "all",
        "x = 1\n",
        "another language's",
    ),
    ("```python\nx = 1\n```\n```\n1\n```", "python", "all", "x = 1\n", "output without a language"),
    ("```python\nx = 1\n```\nthen\n```python\ny = 2\n```", "python", "all", "x = 1\n\n\ny = 2\n", "joined"),
    ("```python\nx = 1\n```\nor\n```python\nx = 2\n```", "python", "first", "x = 1\n", "the first"),
    ("```python\nx = 1\n```\nor\n```python\nx = 2\n```", "python", "last", "x = 2\n", "the last"),
    ("```python\nx = 1", "python", "all", "x = 1\n", "a block that was cut off"),
    ("````python\nx = '```'\n````", "python", "all", "x = '```'\n", "a fence in a longer one"),
    ("1. So:\n   ```python\n   if x:\n       y\n   ```", "python", "all", "if x:\n    y\n", "in a list"),
    ("```python\r\nx = 1\r\n```\r\n", "python", "all", "x = 1\n", "line ends of another system"),
    ("x = 1\nprint(x)", "python", "all", "x = 1\nprint(x)", "no block, all of it is code"),
    ("def f(:\n    pass", "python", "all", "def f(:\n    pass", "no block, and a mistake in it"),
    ("I cannot help with that.", "python", "all", None, "prose"),
    ("Sorry", "python", "all", None, "a word, which is a name in Python"),
    ("", "python", "all", None, "nothing"),
    ("```js\nx\n```", "python", "all", None, "only another language"),
    ("```python\n\n```", "python", "all", None, "an empty block"),
    ("```js\nx\n```", "javascript", "all", "x\n", "JavaScript under its short name"),
]


@pytest.mark.parametrize(("text", "language", "blocks", "code", "why"), TAKEN)
def test_the_code_is_found(text: str, language: str, blocks: str, code: str | None, why: str):
    """What stands in a fence is code; a response without one is, if it reads like it."""
    assert take_code(text, language, blocks).code == code, why


async def test_no_code_fails_and_a_riddle_is_unsure():
    """Neither needs a box. Behind not-, no code passes and a riddle stays one."""
    riddle = "```python\nx = 1\n```\n```python\nOutput: 3 of them!\n```"
    tests = "assert add(1, 1) == 2"

    assert (await verdict({"code-exec": tests}, "I would rather not.")).state == "fail"
    assert state(await verdict({"code-exec": tests}, riddle)) == "unsure"
    assert (await verdict({"not-code-exec": tests}, "I would rather not.")).state == "pass"
    assert state(await verdict({"not-code-exec": tests}, riddle)) == "unsure"


async def test_code_in_a_field_and_tests_in_the_ground_truth(any_box: None):
    """As for other scorers."""
    entry = {"code-exec": {"field": "answer", "ground_truth_field": "tests"}}
    truth = {"ground_truth": {"tests": ["assert add(1, 1) == 2"]}}

    assert (await verdict(entry, "", fields={"answer": ADD}, meta=truth)).state == "pass"
    assert (await verdict(entry, "", fields={"other": ADD}, meta=truth)).state == "fail"


# How it is written


WRONG_FORMS: list[tuple[Any, dict[str, Any], str]] = [
    (None, {}, "give the tests once"),
    ("assert 1", {"cases": [{"stdout": "1"}]}, "give the tests once"),
    ("assert (", {}, "no Python"),
    ("x = 1", {}, "assert nothing"),
    ("def test_it(tmp_path):\n    assert add(1, 1) == 2", {}, "fixtures"),
    ("@pytest.mark.parametrize('a', [1])\ndef test_it(a):\n    assert add(a, 1) == 2", {}, "tables"),
    (5, {}, "neither"),
    (None, {"cases": []}, "neither"),
    (None, {"cases": [{"args": [1], "expected": 1}]}, "no function"),
    (None, {"cases": [{"args": [1]}], "function": "f"}, "give `expected`, or `raises`"),
    (None, {"cases": [{"expected": 1, "raises": "E"}], "function": "f"}, "give `expected`, or `raises`"),
    (None, {"cases": [{"expect": 1}], "function": "f"}, "has no expect"),
    (None, {"cases": [{"raises": "a b"}], "function": "f"}, "raises is no name"),
    (None, {"cases": [{"args": ["a" * 100_001], "stdout": "1"}]}, "give them as stdin"),
    (None, {"cases": [{"stdin": "1"}]}, "give `stdout` or `exit_status`"),
    (None, {"cases": [{"stdout": "1", "exit_status": True}]}, "no number"),
    (None, {"cases": [{"exit_status": 137}]}, "from 0 to 128"),
    (None, {"cases": [{"expected": 1}], "function": "f", "command": ["x"]}, "with a `command`"),
    ("assert 1", {"language": "ruby"}, "assertions are Python"),
]


@pytest.mark.parametrize(("value", "options", "why"), WRONG_FORMS)
def test_what_are_no_tests_is_an_error(value: Any, options: dict[str, Any], why: str):
    """The suite is wrong, and says how."""
    with pytest.raises(ConfigError, match=why):
        read_form(value, options)


def test_wrong_tests_are_refused_when_the_suite_is_loaded(tmp_path: Path):
    """Before anything runs or is spent, each with its place."""
    entries = [
        "code-exec",
        "code-exec: 'assert ('",
        "code-exec: {function: f, cases: [{args: [1]}]}",
        "code-exec: {language: cobol, cases: [{stdout: '1'}]}",
        "code-exec: {cases: [{stdout: '1'}], pass_at: 0}",
        "code-exec: {language: ../x, command: sh, cases: [{stdout: '1'}]}",
        "code-exec: {language: javascript, function: f, cases: [{expected: 1}]}",
    ]
    lines = "".join(f"      - {entry}\n" for entry in entries)
    (tmp_path / "suite.yaml").write_text(f"cases:\n  - id: q\n    response: x\n    expect:\n{lines}")

    with pytest.raises(SuiteError) as refused:
        load_suite(tmp_path)

    assert [problem.line for problem in refused.value.problems] == [5, 6, 7, 8, 9, 10, 11]


SUITE = """
cases:
  - id: q1
    response: |
      {response}
    expect:
      - code-exec: {{function: f, cases: [{{expected: 1}}], sandbox: {sandbox}}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Callable[..., Path]:
    def write(response: str, sandbox: str) -> Path:
        (tmp_path / "suite.yaml").write_text(SUITE.format(response=response, sandbox=sandbox))
        return tmp_path

    return write


def test_running_unshut_needs_permission(suite: Callable[..., Path]):
    """A suite may come from a stranger's pull request, and a response from a stranger's model."""
    with pytest.raises(SuiteError, match="--allow-code"):
        load_suite(suite("def f(): return 1", "none"))


def test_running_unshut_is_said_in_verdict_and_report(suite: Callable[..., Path], tmp_path: Path):
    """Nobody takes it for a box."""
    loaded = load_suite(suite("def f(): return 1", "none"), allow_code=True)

    report = evaluate_sync(loaded, RunConfig(home=tmp_path / "home"))

    assert report.results[0].verdicts[0].state == "pass"
    assert "(not shut in)" in report.results[0].verdicts[0].reason
    assert report.ran_in == {"none": 1}
    assert any("runs code of the responses as yourself" in warning for warning in report.warnings)


async def test_a_box_that_does_not_work_is_an_error(monkeypatch: pytest.MonkeyPatch):
    """Never a fail, and never run bare; the message says what to install."""
    from tiered_eval.sandbox import probing

    monkeypatch.setattr(
        probing, "_REFUSALS", {"bubblewrap": "it is not installed", "namespaces": "forbidden"}
    )

    with pytest.raises(SandboxError, match=r"apt-get install bubblewrap.*`sandbox: none`"):
        await verdict({"code-exec": "assert True"}, fenced(ADD))
    with pytest.raises(SandboxError, match="does not work on this machine"):
        await verdict({"code-exec": {"value": "assert True", "sandbox": "bubblewrap"}}, fenced(ADD))


@pytest.mark.parametrize("key", ["code-exec", "not-code-exec"])
def test_a_run_without_a_box_ends_in_errors(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Behind not- too: nobody looked, so nothing passes."""
    from tiered_eval.sandbox import probing

    monkeypatch.setattr(
        probing, "_REFUSALS", {"bubblewrap": "it is not installed", "namespaces": "forbidden"}
    )
    (tmp_path / "suite.yaml").write_text(
        f"cases:\n  - id: q\n    response: 'x = 1'\n    expect: [{{{key}: assert x == 1}}]\n"
    )

    report = evaluate_sync(load_suite(tmp_path), RunConfig(home=tmp_path / "home"))

    [ended] = report.results[0].verdicts
    assert ended.state == "error"
    assert ended.failure is not None
    assert ended.failure.type == "SandboxError"


def test_a_whole_run_with_code(suite: Callable[..., Path], tmp_path: Path, any_box: None):
    """Through loading, queue and report, without permission, since it is shut in."""
    report = evaluate_sync(load_suite(suite("def f(): return 2", "auto")), RunConfig(home=tmp_path / "home"))

    [verdict] = report.results[0].verdicts
    assert (verdict.state, verdict.scorer, verdict.tier) == ("fail", "code-exec", "exact")
    assert "it returned 2, expected 1" in verdict.reason
