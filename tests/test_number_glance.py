"""What a glance finds is what reading all numbers finds: in every detail, for every text and claim that can be thought of.

The full reader is the reference. Texts are put together from pieces that are awkward beside each other.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.number import Number
from tiered_eval.testing import make_case, make_expectation
from tiered_eval.text.numbers import parse_dates, parse_numbers
from tiered_eval.text.numbers.claims import _read_claim, parse_claim
from tiered_eval.text.numbers.glance import Glance
from tiered_eval.text.numbers.words import WORDS
from tiered_eval.text.subject import Subject
from tiered_eval.text.units import known_spellings

T = TypeVar("T")
NUMBER = Number()


class _Blind:
    """Knows nothing before all numbers are read."""

    def __init__(self, text: str) -> None:
        self._text = text

    def readings_for(self, claim: object) -> None:
        return None

    def has_numbers(self) -> bool:
        return bool(parse_numbers(self._text))


class _ReadInFull(Subject):
    def view(self, compute: Callable[[str], T]) -> T:
        blind: Any = _Blind
        return super().view(blind if compute is Glance else compute)


def both_ways(text: str, *values: object, **options: object) -> list[tuple[Outcome, Outcome]]:
    """The outcomes by a glance and in full; all values against one response, as in a case."""
    case = make_case(text)
    by_glance, in_full = Subject(case), _ReadInFull(case)
    found = []
    for value in values:
        expectation = make_expectation("must-contain", value, options=options)
        try:
            quick = NUMBER.check(value, expectation, by_glance)
        except ConfigError:
            continue
        found.append((quick, NUMBER.check(value, expectation, in_full)))
    return found


NUMERALS = (
    "45 4.5 0.45 .45 45.0 450 1450 145 10 100 1,450 1,450.50 1.450,50 1 450 4,5 4,50 45,000 045 00 0 7 2019 1990s 2019-20 "
    "1/2 9/11 45/100 45% 45e3 45E+2 10^6 4.5x10^3 3*10^4 v4.5 4.5.1 192.168.0.45 45th 45st 45k 45M 45m 45bn 45s 45kg 45D "
    "$45 $1,450.50 -45 -$45 $-45 +45 +1-202-555-0145 US$45 EUR45 (45) [45] 45) **45** `45` ~45 ≈45 >45 ≥45 45+ #45 No.45 "
    "PO-45 PO-4510 DOC-2025-45 45-B A45 fy45 x45 45x 45-day mid-45 net-45 45:30 2:45pm 10/21/2026 2026-10-45 21.10.2026 45° "
    "45½ ½ 45² 45–60 45-60 45' 45\" 4'5"
).split()
WORDS_BESIDE = (
    "days day weeks week months years hours hour business working days points point percent per cent million thousand hundred "
    "dozen k bn dollars euros USD pages goals items kilometers per hour miles an hour kg pounds of or more less at least most "
    "minimum maximum about around roughly nearly over under up to more than no not only between from and to through until or "
    "a an the total another one two five forty forty-five twenty first second third half quarter quarters fourth fifteen ten "
    "zero minus negative approximately version step table figure figures Rs EUR US January March May Oct 21st of October "
    "2026 noon am pm a.m. invoice order terms account service is was if either neither without never unless said claims that "
    "would have been http://x.com/45 a@b.com/45 so odd ish give or take tops max min C. c. ca. est (about Total: x10"
).split()
GLUE = (
    " ",
    " ",
    " ",
    " ",
    " ",
    " ",
    "",
    ", ",
    ". ",
    "\n",
    "\n- ",
    "\n1. ",
    "-",
    " - ",
    "–",
    " to ",
    "/",
    ": ",
    "; ",
    " (",
    ") ",
    "  ",
)
CLAIM_VALUES: tuple[object, ...] = (
    *"45|45 days|46 days|45 weeks|7 days|315 days|1080 hours|45 pages|45 goals|45%|45 percent|0.45|4.5|450|1450".split("|"),
    *"$45|$1,450.50|45 million|45,000|-45|45th|first|5|one|25|2019|1990|2026|10|100|10 days|12|1/2|half|at least 45".split("|"),
    *"45-60|45 USD|45 kg|45 pounds|45 km/h|45 business days|45 points|2:45 pm|21 October 2026|2000|3 months|45 seconds".split("|"),
    *(45, 45.0, -45, 4.5, 0, 1000000),
)  # fmt: skip


def _texts() -> st.SearchStrategy[str]:
    piece = st.one_of(st.sampled_from(NUMERALS), st.sampled_from(WORDS_BESIDE), st.sampled_from(WORDS_BESIDE))
    return st.lists(st.tuples(piece, st.sampled_from(GLUE)), min_size=1, max_size=14).map(
        lambda parts: "".join(word + glue for word, glue in parts)
    )


@given(text=_texts())
@example("a quarter quarter 45 days")
@example("order $1,327.50 265 days")
@example("45 (or 46) days")
@example("from one to 45 days")
@example("between 40 and 50 days")
@example("The 45s are 45 days")
@example("the 45th until fifteen terms")
@example("his 45th - 45,000 more")
@example("a 45M-145 sum of $45th-Rs one")
def test_a_glance_says_what_the_full_reader_says(text: str):
    """State, reason, score and evidence are the same for every claim."""
    for quick, full in both_ways(text, *CLAIM_VALUES):
        assert quick == full


@given(text=_texts())
@example("45 million (2) euros 5 May 2026")
@example("4 x 10^6 May 2026")
@example("the 45 m2 May 5, 2026")
@example("+1 202 555 0145 May 5")
@example("PO-4471 October 21 or 22, 2:45 pm")
def test_the_dates_alone_are_those_among_all_numbers(text: str):
    """Other numbers are passed over unread, and no date is lost, added or cut by that."""
    assert parse_dates(text) == tuple(reading for reading in parse_numbers(text) if reading.kind == "date")


@pytest.mark.parametrize(
    ("text", "is_glanced_at", "why"),
    [
        ("Signed on 21 October 2026 in the office of the supplier; it runs for 45 days.", True, "far away"),
        ("Due within 45 days, as the contract of our supplier says since March 2026.", True, "before it"),
        ("Due on 21 October, 45 days later.", False, "behind a date"),
        ("Due in 45 days, or in May 2026.", False, "before one"),
        (
            f"The 45{' ' * 60}day of October is one, 45{' ' * 60}days are none.",
            False,
            "in a date of any length",
        ),
    ],
)
def test_a_date_hides_only_the_numbers_near_it(text: str, is_glanced_at: bool, why: str):
    """A date may take a number beside its month into itself, and no other."""
    claim = parse_claim("45 days")

    assert (Glance(text).readings_for(claim) is not None) == is_glanced_at, why
    assert all(quick == full for quick, full in both_ways(text, *CLAIM_VALUES, "21", "2026")), why


def test_a_glance_agrees_on_many_more_texts():
    """Longer texts in which most numbers stand between plain words, as they do in responses."""
    rng = random.Random(5)
    plain = "the invoice order terms supplier review policy account due within after receipt region manager".split()
    for _ in range(400):
        words = rng.choices(plain, k=30)
        for _ in range(rng.randrange(1, 5)):
            beside = " ".join(rng.choices(WORDS_BESIDE, k=rng.randrange(3)))
            words.insert(rng.randrange(len(words)), f"{rng.choice(NUMERALS)} {beside}".strip())
        text = " ".join(word + rng.choice(("", "", "", "", ",", ".", "\n")) for word in words)
        for quick, full in both_ways(text, *CLAIM_VALUES):
            assert quick == full, text


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 1},
        {"relative_tolerance": 0.05},
        {"round": True},
        {"percent_as_fraction": True},
        {"unit": "days"},
        {"unit": "pages"},
        {"unit": "km/l"},
        {"currency": "USD"},
    ],
    ids=str,
)
def test_options_are_met_by_the_same_readings(options: dict[str, object]):
    """A tolerance lets other digits say the claim; a unit of the options converts as one of the text does."""
    texts = (
        "due within 46 days of receipt",
        "due within 45 days of receipt",
        "the 45 pages of the report",
        "about 0.45 of it",
        "the sum of $45 and 1080 hours",
        "a fuel use of 45 km/l or 45 m/l",
        "no number here",
    )
    for text in texts:
        for quick, full in both_ways(text, "45", 45, "45.4", **options):
            assert quick == full


@pytest.mark.parametrize("unit", sorted(spelling for spelling in known_spellings() if spelling.isascii()))
def test_every_unit_is_seen_by_a_glance(unit: str):
    """Whatever unit stands in the text or in the claim, converted or not."""
    spoken = unit.replace("-", " ")
    for text in (
        f"It took 45 {spoken}, they say",
        f"within 45 {spoken} or more",
        f"the 45{unit} and one {spoken} more",
    ):
        claims = (
            f"45 {spoken}",
            "45 days",
            "45 weeks",
            "7 days",
            "45 km",
            "45000 metres",
            "45",
            "45 mb",
            "1 month",
        )
        for quick, full in both_ways(text, *claims):
            assert quick == full


_COUNTED = "days pages years percent million eleven dozen march may am pm noon seconds second us bc daymay to of the x ish".split()


@pytest.mark.parametrize("word", sorted({*_COUNTED, *WORDS, *filter(str.isalpha, known_spellings())}))
def test_a_plain_claim_is_read_as_any_other(word: str):
    """A whole number with one word behind it takes a short cut to the same claim, or to the same refusal."""
    for number in (
        "1",
        "7",
        "10",
        "31",
        "45",
        "100",
        "999",
        "1000",
        "2019",
        "3000",
        "45000",
        "123456789012345",
    ):
        assert _claim_or_error(parse_claim, f"{number} {word}") == _claim_or_error(
            _read_claim, f"{number} {word}"
        )
        assert _claim_or_error(parse_claim, number) == _claim_or_error(_read_claim, number)


def _claim_or_error(read: Callable[[str], object], text: str) -> object:
    try:
        return read(text)
    except ConfigError as error:
        return str(error)


def test_only_the_numbers_asked_for_are_read(monkeypatch: pytest.MonkeyPatch):
    """The point of it: a claim whose digits are not there reads nothing, and one that is there reads its own."""
    text = "Order PO-4471 is due within 45 days of receipt, at a price of $1,238.60 in region 12."
    monkeypatch.setattr("tiered_eval.text.numbers.glance.parse_numbers", None)
    glance = Glance(text)

    assert glance.readings_for(parse_claim("46 days")) == ()
    assert [text[r.start : r.end] for r in glance.readings_for(parse_claim("45 days")) or ()] == ["45 days"]
    assert [text[r.start : r.end] for r in glance.readings_for(parse_claim("$1,238.60")) or ()] == [
        "$1,238.60"
    ]
    assert glance.has_numbers()
