"""The table of units and currencies."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tiered_eval.text.numbers import parse_numbers
from tiered_eval.text.units import find_currency, find_unit, may_be_same_currency

EXACT = [
    ("1 week", "7 days"), ("1 day", "24 hours"), ("2 hours", "120 minutes"), ("1 year", "12 months"), ("1 km", "1000 m"),
    ("1 mile", "1.609344 km"), ("1 kg", "1000 g"), ("1 lb", "0.45359237 kg"), ("1 GB", "1000 MB"), ("1 GiB", "1024 MiB"),
    ("100 bps", "1 percentage point"), ("1 foot", "12 inches"), ("1 quarter", "3 months"), ("1 hectare", "10000 m²"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), EXACT)
def test_units_of_a_family_convert_exactly(one: str, other: str):
    """Amounts that are the same in two units have the same amount in the base unit."""
    (left,), (right,) = parse_numbers(one), parse_numbers(other)

    assert left.unit is not None
    assert right.unit is not None
    assert left.value is not None
    assert right.value is not None
    assert left.unit.family == right.unit.family
    assert left.value * left.unit.factor == right.value * right.unit.factor


APART = [
    ("day", "month"),
    ("day", "business-day"),
    ("celsius", "fahrenheit"),
    ("km", "kg"),
    ("Mb", "MB"),
    ("km/h", "km"),
    ("percentage-point", "m"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_units_without_an_exact_factor_do_not_convert(one: str, other: str):
    """A calendar month is no number of days, a degree Celsius no number of degrees Fahrenheit."""
    left, right = find_unit(one), find_unit(other)

    assert left is not None
    assert right is not None
    assert left.family != right.family


SAID = [
    ("45 business days", "business day"), ("45 calendar days", "day"), ("45-day", "day"), ("45km", "kilometre"), ("45 °C", "°C"),
    ("45 degrees Celsius", "°C"), ("100 km per hour", "km/h"), ("60 mph", "mph"), ("45 sq", None), ("45 consecutive days", "day"),
    ("44 BC", "BC"), ("45 x 10", None), ("3x", "times"), ("45 ad campaigns", None), ("45 square feet", "square foot"), ("45 pages", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), SAID)
def test_reads_the_unit_beside_a_number(text: str, name: str | None):
    """One word or two, glued or hyphenated; what is in no table is no unit."""
    unit = parse_numbers(text)[0].unit

    assert (unit.name if unit else None) == name


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("$45", "$"), ("US$ 45", "USD"), ("45 US dollars", "USD"), ("USD 45", "USD"), ("45 usd", None), ("45 EUR", "EUR"), ("€45", "EUR"),
        ("45 euros", "EUR"), ("A$45", "AUD"), ("Rs. 45", "INR"), ("CHF 45.00", "CHF"), ("45 pounds", None), ("I try 45", None),
    ],
)  # fmt: skip
def test_reads_the_currency_beside_a_number(text: str, currency: str | None):
    """Symbols, codes in capitals and words, on either side; "pounds" may be a weight."""
    assert parse_numbers(text)[0].currency == currency


def test_a_symbol_may_name_several_currencies():
    """A dollar sign may be Canadian, a euro sign is a euro."""
    assert may_be_same_currency("$", "CAD")
    assert may_be_same_currency("¥", "CNY")
    assert not may_be_same_currency("$", "EUR")
    assert not may_be_same_currency("USD", "CAD")


def test_unknown_words_are_neither_unit_nor_currency():
    """Nothing is guessed about a word of no table."""
    assert find_unit("pages") is None
    assert find_currency("pages") is None
    assert find_unit("") is None


def test_no_unit_has_a_factor_of_zero():
    """A factor of zero would make every amount equal."""
    units = [find_unit(word) for word in ("gallon", "day", "kelvin", "degree", "bp")]

    assert all(unit is not None and unit.factor > Decimal(0) for unit in units)
