"""Text of unknown origin: what is taken out of it, and what is left alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.reports.untrusted import (
    many_lines,
    one_line,
    secrets_in,
    without_commands,
    without_secrets,
)

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=80)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("naïve 日本語 😀", "naïve 日本語 😀"),  # letters of any script stay
        ("\x1b[31mred\x1b[0m", "red"),  # colour
        ("a\x1b[2Kb", "ab"),  # erase line
        ("a\x1b]0;title\x07b", "ab"),  # window title
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),  # hyperlink
        ("a\x9b31mb", "ab"),  # the eight-bit form of CSI
        ("a\x1b", "a"),  # cut in the middle of a sequence
        ("one\r\ntwo\tthree", "one two three"),  # one line
        ("one\u2028two\x85three", "one two three"),  # line ends that are not \n
        ("\u202eabc\u202c \u2066x\u2069", "abc x"),  # reversed reading order
        ("a\u200bb\ufeffc", "abc"),  # zero width
        ("a\U000e0041\U000e0042b", "ab"),  # tags: read by models, seen by nobody
        ("a\ud800b", "a\ufffdb"),  # a lone surrogate cannot be written
        ("a\x00\x08b", "ab"),  # controls
        ("a \x08\rb", "a b"),  # a control between two spaces
    ],
)
def test_one_line(text: str, shown: str):
    """What would be obeyed goes, what would be read stays."""
    assert one_line(text) == shown


@given(any_text, st.integers(2, 60))
def test_one_line_is_always_safe_and_short(text: str, limit: int):
    """For any text: one line, within the limit, printable, and cleaning it again changes nothing."""
    shown = one_line(text, limit)

    assert len(shown) <= limit
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\ud800-\udfff]", shown)
    assert one_line(shown, limit) == shown


def test_a_long_text_is_cut_where_one_can_see_it():
    """What was cut off shows as an ellipsis, also where the cut part was never looked at."""
    assert one_line("x" * 500, 10) == "xxxxxxxxx…"
    assert one_line("ab" + "\x00" * 500, 10).endswith("…")


def test_many_lines_keeps_line_ends():
    """A traceback stays readable."""
    assert many_lines("a\nb\x1b[31mc\r\nd") == "a\nbc\nd"


@pytest.mark.parametrize(
    "line",
    ["::error::x", "  ::error::x", "\t::set-output name=a::b", "##[error]x", "before ##[group]x", "::"],
)
def test_workflow_commands_are_broken(line: str):
    """No line starts with two colons after its white space, and none holds the old form."""
    for text in (line, f"ours\n{line}\nours"):
        shown = without_commands(text)

        assert not re.search(r"^\s*::", shown, re.MULTILINE)
        assert "##[" not in shown


def test_colons_inside_a_line_are_left_alone():
    """Two colons in a sentence are no command."""
    assert without_commands("std::vector and a::b") == "std::vector and a::b"


def test_secrets_are_found_by_the_name_of_their_variable():
    """Variables named like keys hold keys; short values and other names do not."""
    found = secrets_in(
        {
            "OPENAI_API_KEY": "planted-openai-0001",
            "MY_TOKEN": "planted-token-longer-0002",
            "HOME": "/home/planted-place",
            "SHORT_API_KEY": "abc",
        }
    )

    assert found == ("planted-token-longer-0002", "planted-openai-0001")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("bad key planted-openai-0001!", True),  # the value of a variable
        ("401: sk-" + "Ab3" * 10, True),  # the shape of a key that is in no variable
        ("sk-learn-tutorial-for-beginners", False),  # a case id
        ("PO-4471 is on net 45", False),
    ],
)
def test_secrets_are_hidden(text: str, hidden: bool):
    """Keys go, by value and by shape; what only resembles one stays."""
    shown = without_secrets(text, ("planted-openai-0001",))

    assert (shown != text) is hidden
    assert ("[key hidden]" in shown) is hidden
