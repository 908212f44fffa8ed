"""Whatever the bytes, a suite is read or refused: never another exception, never a hang."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tiered_eval.catalogue import CATALOGUE, KINDS
from tiered_eval.errors import SuiteError
from tiered_eval.suite import load_suite

ENDINGS = ("yaml", "json", "jsonl", "csv")

options = sorted({option.name for scorer in CATALOGUE for option in scorer.options})
names = (
    "id response input expect cases defaults budget judge prices value any all weight scorer exact semantic regex "
    "levels meta fields tags"
).split()
words = st.sampled_from([*KINDS, *options, *names])
numbers = st.one_of(st.integers(), st.floats(allow_nan=True, allow_infinity=True))
scalars = st.one_of(st.none(), st.booleans(), numbers, words, st.text(max_size=12))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(words, st.text(max_size=5)), inner, max_size=5)
    ),
    max_leaves=25,
)
entries = st.one_of(
    st.dictionaries(st.sampled_from(KINDS), values, min_size=1, max_size=1),
    st.builds(
        lambda kind, rest: {"kind": kind, **rest},
        st.sampled_from(KINDS),
        st.dictionaries(words, values, max_size=5),
    ),
)
cases = st.builds(
    lambda identity, response, expect, rest: {**rest, "id": identity, "response": response, "expect": expect},
    scalars,
    st.one_of(st.just("The fee is due."), values),
    st.lists(entries, max_size=4),
    st.dictionaries(words, values, max_size=3),
)
suites = st.builds(
    lambda listed, rest: {**rest, "cases": listed},
    st.lists(cases, max_size=3),
    st.dictionaries(words, values, max_size=4),
)
yaml_signs = (
    "- |  |\n|: |{|}|[|]|&a |*a|!!str |>|'|\"|#|? |<<|---\n|%YAML 1.2\n|\t|\0|\ufeff|\u2028|cases|id|response|expect|~|\\"
).split("|")
yaml_pieces = st.lists(st.sampled_from([*yaml_signs, "|", "must-contain"]), max_size=40).map("".join)

relaxed = settings(
    max_examples=60, deadline=5000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read(folder: Path, data: bytes, ending: str) -> None:
    """Load what the bytes are, and go through it; a SuiteError is fine, anything else is not."""
    path = folder / f"fuzz.{ending}"
    path.write_bytes(data)
    try:
        suite = load_suite(path)
    except SuiteError as fault:
        texts = [str(problem) for problem in fault.problems]
    else:
        texts = list(suite.warnings)
        count = sum(len(case.expectations) for case in suite.cases)
        assert count == suite.expectation_count
        assert count > 0
    assert all(text.isprintable() for text in texts)


@pytest.mark.parametrize("ending", ENDINGS)
@relaxed
@given(data=st.binary(max_size=300))
def test_random_bytes_are_read_or_refused(ending: str, data: bytes, tmp_path: Path):
    """Random bytes under every ending end in a suite or a SuiteError."""
    read(tmp_path, data, ending)


@relaxed
@given(text=yaml_pieces)
def test_random_yaml_is_read_or_refused(text: str, tmp_path: Path):
    """Text made of YAML's own signs ends in a suite or a SuiteError."""
    read(tmp_path, text.encode("utf-8", "surrogatepass"), "yaml")


@pytest.mark.parametrize("ending", ["yaml", "json"])
@relaxed
@given(suite=suites)
def test_random_suites_are_read_or_refused(ending: str, suite: dict[str, object], tmp_path: Path):
    """Suites of the right outline with anything inside end in a suite or a SuiteError."""
    read(tmp_path, json.dumps(suite).encode(), ending)


@relaxed
@given(listed=st.lists(st.one_of(cases, values), max_size=4))
def test_random_json_lines_are_read_or_refused(listed: list[object], tmp_path: Path):
    """Lines of JSON with anything in them end in a suite or a SuiteError."""
    read(tmp_path, "\n".join(json.dumps(line) for line in listed).encode(), "jsonl")


@relaxed
@given(
    headings=st.lists(st.one_of(words, st.text(max_size=6)), max_size=5),
    rows=st.lists(st.lists(st.text(max_size=10), max_size=6), max_size=4),
)
def test_random_tables_are_read_or_refused(headings: list[str], rows: list[list[str]], tmp_path: Path):
    """Tables of any shape end in a suite or a SuiteError."""
    text = "\n".join(",".join(cells) for cells in [headings, *rows])
    read(tmp_path, text.encode("utf-8", "surrogatepass"), "csv")


@relaxed
@given(
    responses=st.one_of(values, st.dictionaries(st.text(max_size=4), values)),
    ending=st.sampled_from(["json", "jsonl"]),
)
def test_random_responses_are_read_or_refused(responses: object, ending: str, tmp_path: Path):
    """A responses file with anything in it ends in a suite or a SuiteError."""
    suite = tmp_path / "suite.yaml"
    suite.write_text("cases: [{id: q1, expect: [{must-contain: fee}]}]")
    path = tmp_path / f"responses.{ending}"
    path.write_text(json.dumps(responses))

    try:
        loaded = load_suite(suite, responses=path)
    except SuiteError:
        return

    assert [case.id for case in loaded.cases] == ["q1"]


@given(value=values)
def test_both_readers_of_json_agree(value: object):
    """The reader that knows lines and the fast one read the same from the same text."""
    from tiered_eval.suite.json_reader import LineReader, read_json
    from tiered_eval.suite.problems import Unreadable

    text = json.dumps(value)
    try:
        quick = LineReader().read(text, 1)
    except Unreadable:
        with pytest.raises(Unreadable):
            read_json(text, [])
        return

    assert read_json(text, []) == quick
