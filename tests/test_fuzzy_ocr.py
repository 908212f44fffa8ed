"""The OCR scorer: what may be misread, and what makes another value of it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Case, Expectation, Outcome
from tiered_eval.scorers.fuzzy_ocr import FuzzyOcr
from tiered_eval.text.alignment import Search
from tiered_eval.text.confusables import read_glyphs
from tiered_eval.text.scans import REJECTED_NOISE, _reading_at, readings, scan
from tiered_eval.text.subject import Subject


def check(value: str, response: str, *, profile: Profile | None = None, **options: object) -> Outcome:
    expectation = Expectation(id="e", kind="must-cite", values=(value,), options=options)
    subject = Subject(Case(id="c", response=response, expectations=(expectation,)))
    return FuzzyOcr(profile or load_profile()).check(value, expectation, subject)


READ = [
    ("DOC-2025-118", "see DOC-2025-118 here", "as printed"),
    ("DOC-2025-118", "see DOC-2O25-ll8 here", "letters for digits"),
    ("DOC-2025-118", "see D0C-2025-118 here", "a digit for a letter"),
    ("DOC-2025-118", "see DOC-202S-118, and DOC-2025-119", "the right one of two"),
    ("DOC-2025-118", "see DOC—2025·118 here", "other marks inside"),
    ("PO-4471", "P0-447l shipped", "short, and two letters misread"),
    ("modern corner", "the modem comer", "rn and m"),
    ("a clear view", "a dear vievv", "cl and d, w and vv"),
    ("the first of May", "tbe firft of May", "the long s"),
    ("long hyphenation", "a long hyphen-\nation", "hyphenation at a line end"),
    ("He was on the ship", "He vvas onthe sh ip", "spaces dropped and added"),
    ("He was on the ship", "Hc .was on, the' sbip", "dirt"),
    ("payment of 1,350 pounds", "payrnent of 1.350 pounds", "another mark in a number"),
    ("the order shipped in 1851", "tbe order sbipped in l85l", "all at once"),
    ("Have you the money?", "Have you the rnoney ?", "a question, wanted as one"),
    ("cat", "the cat sat", "short, at the edges of a word"),
    ("東京都庁", "場所は東京都庁です", "a script without spaces"),
    ("47.06", "Total 47.O6", "an amount"),
    ("-47.06", "Total ~47.06", "its sign misread"),
    (
        "8 crates of tea left the port of Leith in May",
        "S crates of tea left the port of Leith in May",
        "unclear, the line is not",
    ),
]

REFUSED = [
    ("DOC-2025-118", "see DOC-2025-113 here", "fail", "another digit at the end"),
    ("DOC-2025-118", "see DOC-2026-118 here", "fail", "another digit inside"),
    ("DOC-2025-118", "see DOC-2025-1180 here", "fail", "a digit more behind"),
    ("47.06", "Total 147.06", "fail", "a digit more before"),
    ("47.06", "Total 1,47.06", "fail", "a longer number"),
    ("PO-4471", "nothing of the kind", "fail", "nothing like it"),
    ("PO-4471", "", "fail", "an empty response"),
    ("He was on the ship", "They paid for the carriage", "fail", "another line"),
    ("DOC-2025-118", "see DOC-2025-11 here", "unsure", "a digit lost"),
    ("DOC-2025-118", "see DOC-2025-1x8 here", "unsure", "a digit read as a letter of no digit's shape"),
    ("DOC-2025-118", "see DOC-2025-11S here", "unsure", "an unclear letter in a short literal"),
    ("DOC-2025-118", "see DOC2025118 here", "unsure", "numbers run together"),
    ("DOC-2025-118", "see DOC-2025-118-B here", "unsure", "a longer identifier"),
    ("DOC-2025-118", "see XDOC-2025-118 here", "unsure", "a longer identifier before"),
    ("DOC-2025-118", "see DUC-2025-118 here", "unsure", "another letter in an identifier"),
    ("pay 15 pounds", "pay 1.5 pounds", "unsure", "a mark too many in a number"),
    ("pay 1.5 pounds", "pay 15 pounds", "unsure", "a mark lost in a number"),
    ("47.06", "Total l47.06", "unsure", "the number may be longer"),
    ("-47.06", "Total 47.06", "unsure", "a sign lost"),
    ("47.06", "Total -47.06", "unsure", "a sign come in"),
    ("5", "total: , and more", "fail", "no letter of a word stands for a digit"),
    ("5", "See the total", "unsure", "again, with a letter of its shape"),
    (
        "The order of 46 was late",
        "The order on 546 was late",
        "unsure",
        "a digit taken for a letter of the word before",
    ),
    ("685.1 litres of oil", "685. litres of oil", "unsure", "a letter of the word behind taken for a digit"),
    (
        "The captain was acquitted of all charges",
        "The captain was convicted of all charges",
        "unsure",
        "another word",
    ),
    ("The fee rises in March", "The fee falls in March", "unsure", "the opposite"),
    ("The fee is due before noon", "The fee is due after noon", "unsure", "the opposite, short"),
    ("The captain was not guilty", "The captain was guilty", "unsure", "a denial lost"),
    ("The captain was guilty", "The captain was not guilty", "unsure", "a denial come in"),
    ("He never paid the fee", "He ever paid the fee", "unsure", "a denial turned into another word"),
    ("He could not pay", "He could now pay", "unsure", "again"),
    ("Mr Smith signed the deed", "Mr Brown signed the deed", "unsure", "another name in a clean line"),
    ("PO-4471 was paid", "It is false that PO-4471 was paid", "unsure", "denied around it"),
    ("cat", "concatenate", "unsure", "short, inside a word"),
    ("He was on the ship at noon", "H~ w.x on tbe sk?; zt qoo", "unsure", "too little can be read"),
    ("...", "anything", "unsure", "no letters in the literal"),
]


@pytest.mark.parametrize(("value", "response", "why"), READ)
def test_a_misread_literal_is_found(value: str, response: str, why: str):
    """What scanners do to letters, spaces and marks does not hide a literal."""
    assert check(value, response).state == "pass", why


@pytest.mark.parametrize(("value", "response", "state", "why"), REFUSED)
def test_another_value_is_not_a_misreading(value: str, response: str, state: str, why: str):
    """Digits, denials, opposites and whole words are never put down to the scanner."""
    assert check(value, response).state == state, why


def test_evidence_quotes_the_scan():
    """The evidence is what the scan has, with its place."""
    response = "Page 3\n\nsee  DOC-2O25-ll8."

    evidence = check("DOC-2025-118", response).evidence

    assert evidence is not None
    assert evidence.quote == "DOC-2O25-ll8"
    assert response[evidence.start : evidence.end] == evidence.quote


def test_the_author_may_ask_for_more():
    """``threshold`` is the least likeness that passes."""
    response = "Hc wus on tbe sbip at uoon"

    assert check("He was on the ship at noon", response).state == "pass"
    assert check("He was on the ship at noon", response, threshold=0.95).state == "unsure"


def test_the_profile_may_ask_for_more():
    """A profile's threshold holds where the author sets none."""
    profile = Profile(name="strict", thresholds={"fuzzy-ocr": {"must-cite": 0.95}})

    assert (
        check("He was on the ship at noon", "Hc wus on tbe sbip at uoon", profile=profile).state == "unsure"
    )


def test_a_literal_deep_in_a_long_scan_is_found():
    """A long scan is searched where it looks promising."""
    filler = "The weather was fine and the sea was calm all week. " * 8_000

    assert (
        check(
            "The governor signed the deed in 1851", f"{filler}Tbe govemor slgned the dced in l851. {filler}"
        ).state
        == "pass"
    )


def test_a_long_scan_that_was_not_searched_all_through_fails_nothing():
    """Where too many pages look promising, absence is not certain."""
    response = "the governor signed a letter. " * 8_000

    assert check("the governor signed the deed of 1851 and left for the coast", response).state == "unsure"


def test_a_lone_surrogate_is_no_trouble():
    """Text that cannot be encoded can be searched all the same."""
    assert check("the first of May", "\ud800 tbe first of May").state == "pass"


SENTENCES = st.sampled_from(
    [
        "The order of {} was shipped on Friday",
        "Invoice {} is due at the end of the month",
        "{}",
        "DOC-{}",
        "He paid {} pounds for the carriage and two horses, and left for the coast",
    ]
)


@given(SENTENCES, st.integers(0, 999_999), st.data())
def test_a_changed_digit_is_never_accepted(sentence: str, number: int, data: st.DataObject):
    """Whatever stands around it, one digit that differs refuses the literal."""
    wanted = str(number)
    place = data.draw(st.integers(0, len(wanted) - 1))
    digit = data.draw(st.sampled_from("0123456789"))
    assume(digit != wanted[place])
    other = wanted[:place] + digit + wanted[place + 1 :]

    assert check(sentence.format(wanted), sentence.format(other)).state != "pass"


@given(SENTENCES, st.integers(0, 999_999), st.data())
def test_an_added_or_lost_digit_is_never_accepted(sentence: str, number: int, data: st.DataObject):
    """A number that grew or shrank is another one."""
    longer = str(number)
    place = data.draw(st.integers(0, len(longer)))
    longer = longer[:place] + data.draw(st.sampled_from("0123456789")) + longer[place:]

    assert check(sentence.format(number), sentence.format(longer)).state != "pass"
    assert check(sentence.format(longer), sentence.format(number)).state != "pass"


@given(st.text("po471l8i ", min_size=1, max_size=9), st.text("po4471l 8i.x", max_size=40))
def test_what_is_not_worked_out_is_another_passage(value: str, response: str):
    """Places that are passed over unread would have been fails of likeness 0, whatever the alignment."""
    literal = read_glyphs(value)
    assume(literal.glyphs)
    page = scan(response).pages[0]
    search = Search(literal.classes, page.classes)
    places = [end for _, end in search.best_ends(most=6) if end]
    every = [_reading_at(literal, page.glyphs, 0, search.partners(end)) for end in places]

    kept, _ = readings(literal, scan(response))

    for reading in every:
        if reading not in kept:
            assert reading.likeness == 0.0
            assert reading.noise > REJECTED_NOISE * len(literal.glyphs)
