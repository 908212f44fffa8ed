"""The regex scorer: what it finds, what it compares, and that nothing hangs it."""

from __future__ import annotations

import time

import pytest

from tiered_eval.errors import ConfigError, PatternTimeout
from tiered_eval.records import Case, Expectation, Outcome
from tiered_eval.scorers.regex import Regex
from tiered_eval.text.subject import Subject


def check(pattern: str, response: str, **options: object) -> Outcome:
    expectation = Expectation(id="e", kind="must-contain", values=(pattern,), scorer="regex", options=options)
    subject = Subject(Case(id="c", response=response, expectations=(expectation,)))
    return Regex().check(pattern, expectation, subject)


ROWS = [
    (r"PO-\d{4}", "see PO-4471", {}, "pass", "found"),
    (r"PO-\d{4}", "see PO-44", {}, "fail", "not found"),
    (r"po-\d{4}", "see PO-4471", {}, "fail", "case counts"),
    (r"po-\d{4}", "see PO-4471", {"ignore_case": True}, "pass", "unless it may not"),
    (r"^b$", "a\nb\nc", {}, "fail", "anchors are the response's ends"),
    (r"^b$", "a\nb\nc", {"multiline": True}, "pass", "or the lines'"),
    (r"a.c", "a\nc", {}, "fail", "the dot stops at a line end"),
    (r"a.c", "a\nc", {"dotall": True}, "pass", "or goes on"),
    (r"net (\d+)", "net 45 then net 30", {"equals": "30"}, "pass", "any match will do"),
    (r"net (\d+)", "net 45", {"equals": "30"}, "fail", "the only group is compared"),
    (r"net (?P<days>\d+)", "net 45", {"equals": "45", "group": "days"}, "pass", "a named group"),
    (r"(\w+) (\d+)", "net 45", {"equals": "45", "group": "2"}, "pass", "a numbered group"),
    (r"net \d+", "net 45", {"equals": "net 45"}, "pass", "the whole match without a group"),
    (r"net( \d+)?", "net of tax", {"group": "1"}, "fail", "a group that took no part is not found"),
    (r"(?<=net )\d+", "net 45", {"engine": "regex"}, "pass", "look-behind with the other engine"),
    (r"(\w)\1", "see", {"engine": "regex"}, "pass", "back-reference with the other engine"),
    (r"(\w+)", "ab cd", {"engine": "regex", "equals": "cd"}, "pass", "its later matches too"),
    (r"x*", "", {"engine": "regex"}, "pass", "an empty match of an empty response"),
]


@pytest.mark.parametrize(("pattern", "response", "options", "state", "why"), ROWS)
def test_a_pattern_is_found_as_its_options_say(
    pattern: str, response: str, options: dict[str, object], state: str, why: str
):
    """Flags, groups and engines do what their names say."""
    assert check(pattern, response, **options).state == state, why


def test_evidence_is_the_match_in_code_points():
    """Offsets count characters, not bytes."""
    evidence = check(r"PO-\d+", "“é” PO-4471").evidence

    assert evidence is not None
    assert (evidence.quote, evidence.start, evidence.end) == ("PO-4471", 4, 11)


def test_a_group_that_differs_is_named():
    """A fail says what the group held instead."""
    assert "45" in check(r"net (\d+)", "net 45", equals="30").reason


def test_catastrophic_patterns_cost_re2_nothing():
    """A pattern that is exponential elsewhere is linear here."""
    started = time.perf_counter()

    outcome = check(r"(a+)+$", "a" * 50_000 + "b")

    assert outcome.state == "fail"
    assert time.perf_counter() - started < 5


def test_running_into_the_limit_is_an_error():
    """Out of time is no verdict."""
    with pytest.raises(PatternTimeout) as caught:
        check(r"(?=a)(a|aa)+$", "a" * 500 + "b", engine="regex", timeout_s=0.05)

    assert caught.value.limit_s == 0.05


@pytest.mark.parametrize(
    ("pattern", "options", "why"),
    [
        ("(?=a)b", {}, "RE2 has no look-around"),
        (r"(a)\1", {}, "nor back-references"),
        ("a{1000000}", {}, "too many repeats"),
        ("a{1000000}", {"engine": "regex"}, "for the other engine as well"),
        ("(" * 500 + ")" * 500, {}, "too deep"),
        ("(" * 500 + ")" * 500, {"engine": "regex"}, "for the other engine as well"),
        ("[", {}, "broken"),
        ("a", {"group": "2"}, "no such group"),
        ("a", {"group": "x"}, "no group of that name"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_an_error(pattern: str, options: dict[str, object], why: str):
    """What cannot be compiled is never a fail."""
    with pytest.raises(ConfigError):
        check(pattern, "a", **options)


@pytest.mark.parametrize("engine", ["re2", "regex"])
def test_a_lone_surrogate_is_no_trouble(engine: str):
    """Text that cannot be encoded can be searched, and offsets stay."""
    evidence = check("PO", "\ud800 PO", engine=engine).evidence

    assert evidence is not None
    assert evidence.start == 2
