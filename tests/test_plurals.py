"""Counts in words."""

import pytest

from tiered_eval.text.plurals import plural


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 replies"), (1, "1 reply"), (2, "2 replies"), (1_204, "1,204 replies")],
)
def test_one_thing_is_no_plural(count: int, words: str):
    """One is singular, none and several are plural, thousands are told apart."""
    assert plural(count, "reply", "replies") == words
