"""The literal stands in scanned text: letters may be misread, digits may not.

The one idea: a misread line and a different line are far apart, but a misread digit and a different digit are the
same thing. So the best passage is found by edit distance over glyph classes (``text.scans``), and then guards look at
what a distance cannot see: digits, denials, words and names that turned into others. Enough likeness and no objection
is a pass; no likeness, or another number, is a fail; whatever lies between climbs.

Second step for ``scanned`` expectations, after exact. The constants were chosen by cross-validation over the articles
of a labelled set of newspaper scans (tests/test_labelled_ocr.py holds the scorer to its figures).
"""

from __future__ import annotations

from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.records.making import maker
from tiered_eval.scorers.despite_marks import despite_marks
from tiered_eval.text.confusables import Glyphs
from tiered_eval.text.edges import edges_at
from tiered_eval.text.normalise import Normalised
from tiered_eval.text.polarity import doubt_at, kept_cues
from tiered_eval.text.scanned_digits import DigitFault, find_digit_fault
from tiered_eval.text.scanned_names import find_name_fault
from tiered_eval.text.scanned_words import find_word_fault
from tiered_eval.text.scans import REJECTED_NOISE, Reading, literal_glyphs, readings, scan
from tiered_eval.text.subject import Subject
from tiered_eval.text.unmarked import find_marks

__all__ = ["FuzzyOcr"]

ACCEPTED_LIKENESS = 0.45
"""Least likeness that passes where neither the author nor the profile says one."""
_SHORT = 8
"""Glyphs; a shorter literal must end where words end, since a longer word may hold it by chance. So must a single
token of any length: an identifier that goes on is another one."""
_LONG = 24
_WELL_READ = 0.85
"""So many glyphs, so well read, leave no doubt which line it is, though one of its digits is unclear."""
_QUOTE_LENGTH = 200
make_outcome = maker(Outcome)
_NOTHING = Outcome("fail", "no passage is like it", 0.0)


class FuzzyOcr:
    """Is the literal in scanned text, as far as a scan can tell?

    Options: ``threshold`` is the least likeness in [0, 1] that passes.
    """

    name = "fuzzy-ocr"
    tier: Tier = "ocr"

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Is ``value`` in the response, its letters misread at most?"""
        wanted = value if isinstance(value, str) else str(value)
        literal = literal_glyphs(wanted)
        if not literal.glyphs:
            return Outcome("unsure", "the literal has no letters or digits")
        accepted = self._accepted(expectation)
        if subject.view(find_marks) is None:
            return _best_reading(wanted, literal, subject, accepted)
        return despite_marks(
            lambda read: _best_reading(wanted, literal, read, accepted),
            subject,
            value,
            only_bold=True,  # a scan has strokes that look like underscores
        )

    def _accepted(self, expectation: Expectation) -> float:
        asked = expectation.options.get("threshold")
        if asked is None:
            asked = self._profile.threshold(self.name, expectation.kind)
        return ACCEPTED_LIKENESS if asked is None else float(asked)


def _best_reading(wanted: str, literal: Glyphs, subject: Subject, accepted: float) -> Outcome:
    found, is_complete = readings(literal, subject.view(scan))
    best = _best([_judged(wanted, reading, subject, accepted) for reading in found])
    if best.state == "fail" and not is_complete:
        return Outcome("unsure", "the response is too long to be searched all through", best.score)
    return best


def _best(outcomes: list[Outcome]) -> Outcome:
    """The first pass, else the first doubt, else the first fail."""
    return min(outcomes, key=_rank, default=_NOTHING)


def _rank(outcome: Outcome) -> int:
    return _RANKS[outcome.state]


_RANKS = {"pass": 0, "unsure": 1, "fail": 2}


def _judged(wanted: str, reading: Reading, subject: Subject, accepted: float) -> Outcome:
    """What one reading says."""
    likeness = round(reading.likeness, 4)
    if likeness < accepted and reading.noise > REJECTED_NOISE * len(reading.costs):
        return make_outcome("fail", "no passage is like it", likeness)
    folded = subject.view(scan).folded
    start, end = folded.span(*reading.span)
    evidence = Evidence(subject.text[start : min(end, start + _QUOTE_LENGTH)], start, end)
    fault = find_digit_fault(reading)
    if fault is not None and fault.kind == "changed":
        return Outcome("fail", f"another number: {fault.detail}", likeness, evidence)
    if fault is not None and not _is_clear_without(fault, reading):
        return Outcome("unsure", f"a number cannot be read: {fault.detail}", likeness, evidence)
    if likeness < accepted:
        return Outcome("unsure", "too little of it can be read", likeness, evidence)
    objection = (
        _objection(reading, folded)
        or find_name_fault(reading, wanted)
        or _doubt(reading, subject, start, end)
    )
    if objection is not None:
        return Outcome("unsure", f"like it, but {objection}", likeness, evidence)
    return Outcome("pass", "stands in the scan, letters misread at most", likeness, evidence)


def _is_clear_without(fault: DigitFault, reading: Reading) -> bool:
    return fault.kind == "unclear" and len(reading.costs) >= _LONG and reading.likeness >= _WELL_READ


def _objection(reading: Reading, folded: Normalised) -> str | None:
    """What a likeness does not see, apart from digits."""
    literal = reading.literal
    is_one_token = " " not in literal.text
    is_number = all(glyph.isdigit() for glyph in literal.glyphs)  # its ends are looked at with the digits
    if (is_one_token or len(literal.glyphs) < _SHORT) and not is_number:
        edges = edges_at(folded, *reading.span)
        if edges.state == "open":
            return f"a part of {edges.around!r}"
    if _goes_on(reading):
        return "a word of it goes on"
    if sign := _other_sign(reading):
        return sign
    has_digit = any(glyph.isdigit() for glyph in literal.glyphs)
    if is_one_token and has_digit and max(reading.costs) >= 1.0:
        return "a letter of the identifier is another one"
    return find_word_fault(reading)


def _goes_on(reading: Reading) -> bool:
    """Do letters follow the last word without a space? A lost space is as likely as a longer name."""
    last = reading.window[1]
    text, end = reading.page.text, reading.page.spans[last][1]
    return (
        reading.literal.text[-1:].isalpha()
        and text[end : end + _LONGER].isalpha()
        and len(text) >= end + _LONGER
    )


def _other_sign(reading: Reading) -> str | None:
    """Glyphs are letters and digits; a percent sign or a currency is looked for in the text itself."""
    first, last = reading.window
    page = reading.page
    around = page.text[max(0, page.spans[first][0] - 3) : page.spans[last][1] + 3]
    literal = reading.literal.text
    if "%" in literal and "%" not in around:
        return "its percent sign is not there"
    ours, theirs = _CURRENCIES.intersection(literal), _CURRENCIES.intersection(around)
    return "another currency stands there" if ours and theirs and not ours & theirs else None


_LONGER = 3
_CURRENCIES = frozenset("$€£¥")


def _doubt(reading: Reading, subject: Subject, start: int, end: int) -> str | None:
    """As for any match; but a literal that is a question may stand in one."""
    doubt = doubt_at(subject.text, start, end, subject.view(kept_cues))
    return None if doubt == "asked" and "?" in reading.literal.text else doubt
