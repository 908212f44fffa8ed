"""Reading the numbers of a text: what is one, what is none, and what is said with it."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.numbers import parse_numbers
from tiered_eval.text.numbers.marks import MOST_FOUND
from tiered_eval.text.numbers.words import find_word_numbers

VALUES = [
    ("45 days", ["45"], "a plain number"),
    ("1,234.50", ["1234.50"], "English separators"),
    ("1.234,50", ["1234.50"], "continental separators"),
    ("1.234.567", ["1234567"], "points as thousands separators"),
    ("12,34,567", ["1234567"], "Indian groups"),
    ("1'234'567", ["1234567"], "apostrophes"),
    ("1\u00a0234\u202f567", ["1234567"], "spaces that do not break"),
    ("12 345 678", ["12345678"], "plain spaces in two places"),
    ("in 2019 500 people", ["2019", "500"], "a year is no group of thousands"),
    ("45, 46 and 47", ["45", "46", "47"], "a list"),
    ("45,46,47", ["45", "46", "47"], "a list without spaces"),
    ("2020,2021", ["2020", "2021"], "two years"),
    (".5 and 0.25", [".5", "0.25"], "a bare decimal point"),
    ("-5, −6 and minus 7", ["-5", "-6", "-7"], "three ways to write a sign"),
    ("-$45 and $-46", ["-45", "-46"], "sign and currency in both orders"),
    ("- 45 is a bullet", ["45"], "a bullet is no sign"),
    ("5 - 3 = 2", ["5", "3", "2"], "a subtraction is no range"),
    ("PO-4471, ISO-9001, A4, x86_64, 4471B, 737-MAX, 0x1F", [], "identifiers"),
    ("v1.45, 1.2.3, 192.168.0.1", [], "versions and addresses"),
    ("978-3-16-148410-0 or 555-123-4567", [], "chains of dashes"),
    ("https://example.org/2024/05 and a1@example.org", [], "addresses"),
    ("report_45.pdf and data.2024.csv", [], "file names"),
    ("5 million, 5.3bn, $5M, 10k, 2 hundred", ["5E6", "5.3E9", "5E6", "1E4", "200"], "scales"),
    ("3 lakh and 2 crore", ["3E5", "2E7"], "Indian scales"),
    ("1.2e-3, 1.5 × 10^5, 10⁵, 10^6", ["0.0012", "150000", "100000", "1000000"], "powers"),
    ("1/2, 2 1/2, 2½, ¾", ["0.5", "2.5", "2.5", "0.75"], "fractions"),
    ("٤٥ ４５ ४५ ৪৫", ["45", "45", "45", "45"], "digits of other scripts"),
    ("3.5 out of 5", ["3.5", "5"], "a score"),
    ("a forty-five second delay", ["45"], "a unit that is an ordinal too"),
    ("see https://example.org/two/ten", [], "words in an address"),
    ("price: 45.", ["45"], "the full stop of a sentence"),
    ("45\\% and \\$46", ["45", "46"], "escaped for another format"),
]


@pytest.mark.parametrize(("text", "values", "why"), VALUES, ids=[row[2] for row in VALUES])
def test_reads_the_values(text: str, values: list[str], why: str):
    """Each row says what is a number in its text, and what is none."""
    found = [reading.value for reading in parse_numbers(text)]

    assert found == [Decimal(value) for value in values], why


WORDS = [
    ("forty-five", "45"), ("one hundred and five", "105"), ("a hundred", "100"), ("a dozen", "12"), ("two dozen", "24"),
    ("twenty-five hundred", "2500"), ("nineteen ninety-seven", "1997"), ("twenty twenty-four", "2024"),
    ("one million two hundred thousand and six", "1200006"), ("half a million", "500000"), ("one and a half", "1.5"),
    ("two and a half", "2.5"), ("three and three quarters", "3.75"), ("three quarters", "0.75"), ("three point one four", "3.14"),
    ("half a dozen", "6"), ("twenty-first", "21"), ("two hundred and fifth", "205"), ("zero", "0"), ("seventeen", "17"), ("fourty", "40"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "value"), WORDS, ids=[row[0] for row in WORDS])
def test_reads_number_words(words: str, value: str):
    """A number in words is one number of that value."""
    assert [number.value for number in find_word_numbers(words)] == [Decimal(value)]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("five or six", [5, 6]),
        ("two three", [2, 3]),
        ("twenty and thirty", [20, 30]),
        ("one in five", [1, 5]),
        ("millions of dozens", []),
        ("a hundred point of view", [100]),
        ("millions point five ways", [5]),
        ("the height of seventy", [70]),
    ],
)
def test_words_that_make_no_single_number_stay_apart(words: str, values: list[int]):
    """Neighbouring number words join only where grammar allows it; bare plurals are none."""
    assert [number.value for number in find_word_numbers(words)] == values


KINDS = [
    ("at least 45", "bound", 45, None, False),
    ("more than 45", "bound", 45, None, True),
    ("no more than 45", "bound", None, 45, False),
    ("45+ days", "bound", 45, None, False),
    ("45 days at most", "bound", None, 45, False),
    ("fewer than 45", "bound", None, 45, True),
    ("not less than 45", "bound", 45, None, False),
    ("≥ 45", "bound", 45, None, False),
    ("<45", "bound", None, 45, True),
    ("a maximum of 45", "bound", None, 45, False),
    ("45-60", "range", 45, 60, False),
    ("between 45 and 60", "range", 45, 60, False),
    ("$45 to $60", "range", 45, 60, False),
    ("five to ten", "range", 5, 10, False),
    ("2019-20", "range", 2019, 2020, False),
    ("5-10 million", "range", 5_000_000, 10_000_000, False),
    ("the 1990s", "range", 1990, 1999, False),
]


@pytest.mark.parametrize(("text", "kind", "low", "high", "strict"), KINDS, ids=[row[0] for row in KINDS])
def test_reads_limits_and_ranges(text: str, kind: str, low: int | None, high: int | None, strict: bool):
    """Bounds and ranges keep both ends, and whether the end itself belongs to them."""
    (reading,) = parse_numbers(text)

    assert (reading.kind, reading.low, reading.high, reading.is_strict) == (kind, low, high, strict)


DOUBTFUL = [
    "12 345",
    "1.234",
    "007",
    "net-45",
    "#45",
    "[45]",
    "3:1",
    "12x30",
    "21-14",
    "555-1234",
    "No.45",
    "45.Then",
    "45³",
    "($45)",
]


@pytest.mark.parametrize("text", DOUBTFUL)
def test_keeps_a_doubtful_number_with_its_doubt(text: str):
    """What may be a number is neither dropped nor believed."""
    readings = parse_numbers(text)

    assert readings
    assert all(reading.doubt for reading in readings)


@pytest.mark.parametrize(
    "text", ["about 45", "~45", "45 or so", "nearly 45", "c. 1850", "mid-2020", "45ish", "roughly a hundred"]
)
def test_reads_approximations(text: str):
    """A hedge before or after a number belongs to it."""
    (reading,) = parse_numbers(text)

    assert reading.is_approximate


def test_a_text_without_numbers_has_no_readings():
    """No digit and no number word: nothing."""
    assert parse_numbers("The agreement says nothing of the kind.") == ()


def test_a_number_among_decimals_is_not_ambiguous():
    """Another number of the text settles what the separator means."""
    clear, _ = parse_numbers("1.234 and 2.5")
    swapped, _ = parse_numbers("1.234 und 2,5")

    assert (clear.value, clear.doubt) == (Decimal("1.234"), None)
    assert (swapped.value, swapped.doubt) == (Decimal(1234), None)


def test_offsets_point_into_the_original_text():
    """Folding foreign digits does not move a reading."""
    text = "İ: “ＵＳ” ４５ days — 1\u00a0234 €"
    shown = [text[reading.start : reading.end] for reading in parse_numbers(text)]

    assert shown == ["４５ days", "1\u00a0234 €"]


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str):
    """No text makes reading fail, and every reading lies inside its text."""
    for reading in parse_numbers(text):
        assert 0 <= reading.start <= reading.end <= len(text)


@given(st.text(alphabet="0123456789.,'- /x%$()e\u00a0½⁵–:#k", max_size=120))
def test_any_arrangement_of_digits_and_signs_can_be_read(text: str):
    """Nor does any pile of digits, separators and signs."""
    for reading in parse_numbers(text):
        assert 0 <= reading.start <= reading.end <= len(text)


ADVERSARIAL = {
    "digits": "7" * 500_000,
    "groups": "1,234" + ",567" * 60_000,
    "points": "1." * 100_000,
    "spaced groups": "123 " * 60_000,
    "dashes": "1-" * 60_000,
    "slashes": "1/" * 60_000,
    "minus signs": "-" * 500_000 + "5",
    "letters": "a" * 500_000 + "5",
    "number words": "one hundred and " * 15_000,
    "identifiers": "A1 " * 200_000,
    "words and digits": "one 2 " * 60_000,
    "months": "may " * 100_000 + "5",
    "ends of qualifiers": "at least " * 100_000 + "5",
    "decimal commas": "1,234 " * 50_000,
    "first items": "1. a\n" * 60_000,
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_text_takes_long(name: str):
    """Texts made to be slow are read in linear time, and cut at a number of readings."""
    started = time.process_time()
    readings = parse_numbers(ADVERSARIAL[name])

    assert time.process_time() - started < 6.0
    assert len(readings) <= 3 * MOST_FOUND


def test_endless_digits_are_passed_over():
    """A run of more digits than anyone states is no number."""
    assert parse_numbers("9" * 401) == ()
    assert [reading.value for reading in parse_numbers("9" * 400)] == [Decimal("9" * 400)]
