"""Units, currencies and scales: what stands beside a number and changes what it says.

The one idea: two units of one family convert by an exact factor, so "1 week" and "7 days" are one claim; a
unit without a factor (a calendar month, a degree) equals itself only. What is in no table is a plain noun,
and nothing here guesses about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

__all__ = [
    "CURRENCY_CODES",
    "CURRENCY_SYMBOLS",
    "SCALES",
    "Unit",
    "convertible_names",
    "find_currency",
    "find_unit",
    "is_one_unit",
    "known_spellings",
    "may_be_same_currency",
    "spellings_by_unit",
]


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of measure. ``value * factor`` is the amount in the base unit of ``family``."""

    name: str
    family: str
    factor: Decimal


_FAMILIES: dict[str, tuple[tuple[str, str, str], ...]] = {
    # (name, factor to the family's base, other spellings); plurals are added, see _add.
    "time": (
        ("second", "1", "s sec"),
        ("millisecond", "0.001", "ms msec"),
        ("microsecond", "0.000001", "µs us"),
        ("minute", "60", "min"),
        ("hour", "3600", "h hr"),
        ("day", "86400", "d calendar-day"),
        ("week", "604800", "wk calendar-week"),
        ("fortnight", "1209600", ""),
    ),
    "calendar": (
        ("month", "1", "mo mth calendar-month"),
        ("year", "12", "yr y calendar-year"),
        ("quarter", "3", ""),
        ("decade", "120", ""),
        ("century", "1200", "centuries"),
    ),
    "business day": (("business day", "1", "business-day working-day trading-day workday"),),
    "length": (
        ("metre", "1", "m meter"),
        ("kilometre", "1000", "km kilometer"),
        ("centimetre", "0.01", "cm centimeter"),
        ("millimetre", "0.001", "mm millimeter"),
        ("mile", "1609.344", "mi"),
        ("yard", "0.9144", "yd"),
        ("foot", "0.3048", "ft feet"),
        ("inch", "0.0254", "inches"),
    ),
    "area": (
        ("square metre", "1", "m² m2 sqm square-metre square-meter"),
        ("square kilometre", "1000000", "km² km2 square-kilometre square-kilometer"),
        ("square mile", "2589988.110336", "square-mile"),
        ("square foot", "0.09290304", "sqft square-foot square-feet"),
        ("hectare", "10000", "ha"),
        ("acre", "4046.8564224", ""),
    ),
    "mass": (
        ("gram", "1", "g gramme"),
        ("kilogram", "1000", "kg kilo kilogramme"),
        ("milligram", "0.001", "mg"),
        ("microgram", "0.000001", "µg mcg"),
        ("tonne", "1000000", "t metric-ton"),
        ("ounce", "28.349523125", "oz"),
        ("pound (mass)", "453.59237", "lb"),
    ),
    "volume": (("litre", "1", "l liter"), ("millilitre", "0.001", "ml milliliter"), ("gallon", "0", "gal")),
    "data": (
        ("byte", "1", ""),
        ("kilobyte", "1000", "kb"),
        ("megabyte", "1000000", "mb"),
        ("gigabyte", "1000000000", "gb gig"),
        ("terabyte", "1000000000000", "tb"),
        ("petabyte", "1000000000000000", "pb"),
        ("kibibyte", "1024", "kib"),
        ("mebibyte", "1048576", "mib"),
        ("gibibyte", "1073741824", "gib"),
        ("tebibyte", "1099511627776", "tib"),
    ),
    "bits": (
        ("bit", "1", ""),
        ("kilobit", "1000", "kbit"),
        ("megabit", "1000000", "mbit"),
        ("gigabit", "1000000000", "gbit"),
    ),
    "bit rate": (
        ("kbit/s", "1000", "kbps kbit/s"),
        ("Mbit/s", "1000000", "mbps mbit/s"),
        ("Gbit/s", "1000000000", "gbps gbit/s"),
    ),
    "speed": (
        ("km/h", "1", "kph kmh kmph km/h kilometre/hour kilometer/hour kilometres/hour kilometers/hour"),
        ("mph", "1.609344", "mile/hour miles/hour"),
        ("m/s", "3.6", "metre/second meter/second metres/second meters/second"),
    ),
    "frequency": (
        ("hertz", "1", "hz"),
        ("kilohertz", "1000", "khz"),
        ("megahertz", "1000000", "mhz"),
        ("gigahertz", "1000000000", "ghz"),
    ),
    "power": (
        ("watt", "1", "w"),
        ("kilowatt", "1000", "kw"),
        ("megawatt", "1000000", "mw"),
        ("gigawatt", "1000000000", "gw"),
    ),
    "energy": (("kilowatt-hour", "1", "kwh"), ("megawatt-hour", "1000", "mwh")),
    "voltage": (("volt", "1", "v"),),
    "celsius": (("°C", "1", "degree-celsius degrees-celsius celsius degree-centigrade degrees-centigrade"),),
    "fahrenheit": (("°F", "1", "degree-fahrenheit degrees-fahrenheit fahrenheit"),),
    "kelvin": (("kelvin", "1", ""),),
    "degree": (("degree", "1", "° deg"),),
    "pound": (("pound", "1", ""),),  # weight or money: it says which only by its surroundings
    "times": (("times", "1", "x fold"),),
    "era before": (("BC", "1", "bc bce b.c. b.c"),),
    "era after": (("AD", "1", "ad ce a.d. a.d"),),
    "percentage point": (
        ("percentage point", "1", "percentage-point pp ppt"),
        ("basis point", "0.01", "basis-point bp bps"),
    ),
}

_BY_CASE = {"Mb": "megabit", "Gb": "gigabit", "Kb": "kilobit", "kb": "kilobyte", "MW": "megawatt"}
"""Spellings whose meaning hangs on their case."""

SCALES: dict[str, int] = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "lakh": 5,
    "million": 6,
    "mn": 6,
    "mln": 6,
    "mio": 6,
    "crore": 7,
    "billion": 9,
    "bn": 9,
    "bln": 9,
    "trillion": 12,
    "tn": 12,
    "trn": 12,
}
"""Word after a number to its power of ten."""
SCALES.update({f"{word}s": power for word, power in SCALES.items() if len(word) > 3})

CURRENCY_SYMBOLS = {
    "$": "$",
    "€": "EUR",
    "£": "GBP",
    "¥": "¥",
    "₹": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "₺": "TRY",
    "₪": "ILS",
    "₫": "VND",
    "฿": "THB",
    "₴": "UAH",
    "₦": "NGN",
}
"""``$`` and ``¥`` name several currencies: they agree with each of theirs, see the number scorer."""

CURRENCY_CODES = frozenset(
    "usd eur gbp jpy cny inr chf cad aud nzd hkd sgd sek nok dkk pln czk huf rub brl mxn zar krw try ils thb vnd".split()
)

_CURRENCY_WORDS = {
    "dollar": "$",
    "dollars": "$",
    "us-dollar": "USD",
    "us-dollars": "USD",
    "u.s.-dollars": "USD",
    "canadian-dollars": "CAD",
    "australian-dollars": "AUD",
    "buck": "$",
    "bucks": "$",
    "euro": "EUR",
    "euros": "EUR",
    "yen": "JPY",
    "yuan": "CNY",
    "renminbi": "CNY",
    "rupee": "INR",
    "rupees": "INR",
    "rs": "INR",
    "rs.": "INR",
    "us$": "USD",
    "ca$": "CAD",
    "c$": "CAD",
    "au$": "AUD",
    "a$": "AUD",
    "nz$": "NZD",
    "hk$": "HKD",
    "s$": "SGD",
    "pound-sterling": "GBP",
    "pounds-sterling": "GBP",
    "sterling": "GBP",
    "swiss-franc": "CHF",
    "swiss-francs": "CHF",
    "franc": "CHF",
    "francs": "CHF",
}


def _spellings() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for family, rows in _FAMILIES.items():
        for name, factor, others in rows:
            unit = Unit(name, family if factor != "0" else name, Decimal(factor) or Decimal(1))
            for spelling in (name.lower().replace(" ", "-"), *others.split()):
                table.setdefault(spelling, unit)
                if len(spelling) > 1 and spelling[-1] not in "s.²³2":
                    table.setdefault(spelling + "s", unit)
    return table


_SPELLINGS = _spellings()
_ONE_UNIT = frozenset((unit.family, unit.factor) for unit in _SPELLINGS.values())


@cache
def _per(base: Unit, per: Unit) -> Unit:
    return Unit(f"{base.name}/{per.name}", f"{base.family}/{per.name}", base.factor)


def find_unit(spelling: str) -> Unit | None:
    """The unit that is written so, or None. Two words are joined by a hyphen: ``business-days``.

    ``km/l`` and the like become a unit of their own, which equals itself only.
    """
    if spelling in _BY_CASE:
        return _SPELLINGS[_BY_CASE[spelling]]
    lower = spelling.lower()
    if unit := _SPELLINGS.get(lower):
        return unit
    left, slash, right = lower.partition("/")
    if slash and (base := _SPELLINGS.get(left)) and (per := _SPELLINGS.get(right)):
        return _SPELLINGS.get(f"{base.name}/{per.name}") or _per(base, per)
    return None


_AMBIGUOUS_SYMBOLS = {
    "$": frozenset("$ USD CAD AUD NZD HKD SGD MXN".split()),
    "¥": frozenset("¥ JPY CNY".split()),
}


def may_be_same_currency(one: str, other: str) -> bool:
    """Can both name the same money? ``$`` may be USD or CAD, EUR is EUR only."""
    return one == other or any(
        symbol in (one, other) and {one, other} <= named for symbol, named in _AMBIGUOUS_SYMBOLS.items()
    )


def known_spellings() -> frozenset[str]:
    """Every word and sign that names a unit or a currency, in lower case."""
    return frozenset((*_SPELLINGS, *CURRENCY_SYMBOLS, *CURRENCY_CODES, *_CURRENCY_WORDS))


def spellings_by_unit() -> dict[str, frozenset[str]]:
    """The name of each unit that others convert to, with all its spellings in lower case."""
    found: dict[str, set[str]] = {}
    for spelling, unit in (*_SPELLINGS.items(), *((s, _SPELLINGS[name]) for s, name in _BY_CASE.items())):
        if len(_FAMILIES.get(unit.family, ())) > 1:
            found.setdefault(unit.name, set()).add(spelling.lower())
    return {name: frozenset(spellings) for name, spellings in found.items()}


def convertible_names(unit: Unit) -> frozenset[str] | None:
    """The names of the other units that convert to this one; None where they can be put together with a slash."""
    return _CONVERTIBLE.get(unit.name)


def _convertible() -> dict[str, frozenset[str]]:
    families: dict[str, set[str]] = {}
    for spelling, unit in _SPELLINGS.items():
        families.setdefault(unit.family, set()).add("/" if "/" in spelling else unit.name)
    return {
        name: frozenset(names) - {name} for names in families.values() if "/" not in names for name in names
    }


_CONVERTIBLE = _convertible()


def is_one_unit(family: str, amount: Decimal) -> bool:
    """Is an amount in the base unit of a family exactly one of its units? 604800 seconds are a week."""
    return (family, amount) in _ONE_UNIT


def find_currency(spelling: str) -> str | None:
    """The currency that a symbol, code or word names (``$``, ``EUR``, ``euros``), or None."""
    if spelling in CURRENCY_SYMBOLS:
        return CURRENCY_SYMBOLS[spelling]
    lower = spelling.lower()
    if lower in CURRENCY_CODES:
        return lower.upper()
    return _CURRENCY_WORDS.get(lower)
