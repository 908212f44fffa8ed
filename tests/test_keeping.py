"""What was read of a text is kept: once for each text, and of long ones for the last few only."""

from __future__ import annotations

from tiered_eval.text.keeping import kept
from tiered_eval.text.tokens import tokens


class Reader:
    """Counts how often it reads."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, text: str) -> int:
        self.read.append(text)
        return len(text)


def test_a_text_is_read_once():
    """Short or long, who asks again gets what the first one got."""
    reader = Reader()
    reading = kept(reader)

    assert [reading("net 45"), reading("net 45"), reading("x" * 1_000), reading("x" * 1_000)] == [
        6,
        6,
        1_000,
        1_000,
    ]
    assert reader.read == ["net 45", "x" * 1_000]


def test_long_texts_make_room_for_each_other_and_not_for_short_ones():
    """However many long texts there are, a few of them are held, and every short one still is."""
    reader = Reader()
    reading = kept(reader)
    reading("net 45")
    for number in range(100):
        reading(f"{number} " * 500)
    reader.read.clear()

    reading("net 45")
    reading("0 " * 500)

    assert reader.read == ["0 " * 500]


def test_a_kept_function_keeps_its_name():
    """What is kept reads in a traceback and in the docs as what it was."""
    assert tokens.__name__ == "tokens"
    assert tokens.__doc__ is not None
