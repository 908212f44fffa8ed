"""Regular expressions of authors: refused only when they are sure to be wrong, compiled so that none can hang."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval.text.patterns import Engine, compile_pattern, compile_problem

TEXTS = ["".join(letters) for size in range(5) for letters in product("ab\n", repeat=size)]
pieces = st.sampled_from(
    ["a", "b", "^", "$", "|", "(", ")", "(?:", "?", "*", "+", ".", "[ab]", "[^a]", r"\b", r"\z", "{2}"]
)
patterns = st.lists(pieces, max_size=8).map("".join)


@settings(max_examples=300)
@given(pattern=patterns, engine=st.sampled_from(["re2", "regex"]))
def test_what_is_said_never_to_match_never_does(pattern: str, engine: Engine):
    """A pattern that is called impossible as a whole is found in none of all short texts."""
    problem = compile_problem(pattern, {"engine": engine})

    if problem is not None and problem.startswith("it can never match"):
        compiled = compile_pattern(pattern, engine=engine)
        assert not any(compiled.search(text) for text in TEXTS)


@settings(max_examples=300)
@given(pattern=patterns)
def test_what_is_said_to_match_everything_does(pattern: str):
    """A pattern that is called empty is found in all short texts."""
    problem = compile_problem(pattern, {})

    if problem is not None and "every response" in problem:
        compiled = compile_pattern(pattern)
        assert all(compiled.search(text) for text in TEXTS)


IMPOSSIBLE = ["a^", "$a", "(a)^b", "(?:a$)b", "(?:a$|b$)c", "(?P<x>a)^", r"a\z.", "a$b|a", "[^$]x^", "x{2}^"]
POSSIBLE = [
    "^a$",
    "(^|x)a",
    "a($|x)",
    "(a$)?b",
    "a*^b",
    "(a|b$)c",
    r"\$a",
    "[$]a",
    "a|^b",
    "(?m)a$b",
    "(?:^a)",
    r"\Q$\Ea",
]


@pytest.mark.parametrize("pattern", IMPOSSIBLE)
def test_text_beyond_an_anchor_is_seen(pattern: str):
    """Text that is demanded before the start or after the end can never be there."""
    problem = compile_problem(pattern, {})

    assert problem is not None
    assert "never match" in problem


@pytest.mark.parametrize("pattern", POSSIBLE)
def test_possible_patterns_are_left_alone(pattern: str):
    """Where an anchor may be passed by, nothing is said."""
    assert compile_problem(pattern, {}) is None


def test_the_other_engine_lets_a_line_end_follow():
    """In `regex`, as in Python, `$` also matches before a last line end, so text may follow it."""
    assert compile_problem(r"a$\s", {"engine": "regex"}) is None
    assert compile_pattern(r"a$\s", engine="regex").search("a\n")


@pytest.mark.parametrize(
    ("pattern", "advice"), [("(?=a)b", "engine: regex"), (r"(a)\1", "engine: regex"), ("a[", "compiled")]
)
def test_a_refusal_says_what_to_do(pattern: str, advice: str):
    """What only the other engine takes is said so."""
    assert advice in (compile_problem(pattern, {}) or "")


TOO_MUCH = ["a{1001}", "a{1,999999999}", "(" * 101 + ")" * 101, "a" * 10_001]


@pytest.mark.parametrize("pattern", TOO_MUCH, ids=lambda pattern: pattern[:16])
@pytest.mark.parametrize("engine", ["re2", "regex"])
def test_patterns_that_would_cost_too_much_are_refused(pattern: str, engine: Engine):
    """Length, depth and repetition are bounded, before an engine sees them or by RE2 itself."""
    with pytest.raises(ValueError, match=r"."):
        compile_pattern(pattern, engine=engine)


def test_flags_are_part_of_the_pattern():
    """Case, lines and the dot obey the options."""
    assert compile_pattern("FEE", ignore_case=True).search("the fee")
    assert compile_pattern("^fee", multiline=True).search("the\nfee")
    assert compile_pattern("the.fee", dotall=True).search("the\nfee")
    assert not compile_pattern("the.fee").search("the\nfee")
