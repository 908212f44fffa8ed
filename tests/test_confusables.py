"""Glyph classes: what OCR may take for what, and what it never may."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.confusables import looks_like_digit, read_classes, read_glyphs

SAME = [
    ("0", "o", "zero and o"),
    ("1", "l", "one and l"),
    ("1", "i", "one and i"),
    ("a|b", "alb", "a bar inside a word"),
    ("a!b", "alb", "an exclamation mark inside a word"),
    ("5", "s", "five and s"),
    ("s", "f", "the long s"),
    ("8", "b", "eight and b"),
    ("2", "z", "two and z"),
    ("6", "g", "six and g"),
    ("e", "c", "e and c"),
    ("rn", "m", "two letters that merge"),
    ("cl", "d", "again"),
    ("vv", "w", "again"),
    ("li", "h", "again"),
    ("ii", "u", "again"),
    ("ri", "n", "again"),
    ("tl", "d", "again"),
    ("th ing", "thing", "a space too many"),
    ("hyphen-\nation", "hyphenation", "hyphenation at a line end"),
    ("a.b,c", "abc", "dirt"),
]


@pytest.mark.parametrize(("one", "other", "why"), SAME)
def test_what_ocr_mixes_up_is_one_class(one: str, other: str, why: str):
    """Confusable letters and pairs, spaces and punctuation make no difference to classes."""
    assert read_classes(one) == read_classes(other), why


PAIRS_OF_DIGITS = list(combinations("0123456789", 2))


@pytest.mark.parametrize(("one", "other"), PAIRS_OF_DIGITS)
def test_no_two_digits_share_a_class(one: str, other: str):
    """A digit that became another digit is another number."""
    assert read_classes(one) != read_classes(other)


@pytest.mark.parametrize(("one", "other"), PAIRS_OF_DIGITS)
def test_no_digit_looks_like_another(one: str, other: str):
    """Nor may one digit stand for another."""
    assert looks_like_digit(one, other) == looks_like_digit(other, one) == "no"


@pytest.mark.parametrize("letter", "abcdefghijklmnopqrstuvwxyz|!")
def test_no_letter_stands_for_two_digits(letter: str):
    """A letter that could be either of two digits is unclear for one of them at least."""
    assert sum(looks_like_digit(letter, digit) == "yes" for digit in "0123456789") <= 1


@pytest.mark.parametrize(
    ("glyph", "digit", "expected"),
    [
        ("o", "0", "yes"),
        ("l", "1", "yes"),
        ("s", "5", "yes"),
        ("b", "8", "yes"),
        ("s", "8", "unclear"),
        ("b", "6", "unclear"),
        ("x", "5", "no"),
        ("l", "9", "no"),
    ],
)
def test_letters_stand_for_digits_of_their_shape(glyph: str, digit: str, expected: str):
    """Only letters of a digit's shape may be that digit."""
    assert looks_like_digit(glyph, digit) == expected


@given(st.text())
def test_glyphs_know_their_places(text: str):
    """Each glyph is what stands at its place, and has one class."""
    read = read_glyphs(text)

    assert [text[start:end] for start, end in read.spans] == list(read.glyphs)
    assert len(read.classes) == len(read.glyphs)
    assert read.classes == read_classes(text)
