"""One look over a text, for all that want to know what it cannot hold: cues, joined numbers, units.

The one idea: most responses hold no cue, no range and no second unit, and to learn that of a text is much cheaper than
to look for each. All patterns run side by side in one automaton, which passes over the text once, whatever their
number. A sign says that something *may* be there; only its absence is certain.

Below the cues and the numbers: :mod:`~tiered_eval.text.polarity` and :mod:`~tiered_eval.text.numbers.glance` ask here
before they read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

import re2

from tiered_eval.text.changes import CHANGE_SIGNS
from tiered_eval.text.cues import STEMS
from tiered_eval.text.dates import MONTHS
from tiered_eval.text.foreign import ENGLISH_SIGNS, FOREIGN_SIGNS
from tiered_eval.text.frame_words import FRAME_SIGNS
from tiered_eval.text.layout import LAYOUT_SIGNS
from tiered_eval.text.numbers.words import COUNTS, WORDS
from tiered_eval.text.units import SCALES, known_spellings, spellings_by_unit

__all__ = [
    "CHANGE",
    "CUE",
    "DATED",
    "ENGLISH",
    "FOREIGN",
    "FRAME",
    "JOINED",
    "PARTS",
    "SPEECH",
    "Sign",
    "signs_in",
]

Sign = str
CUE: Sign = "cue"
"""A word stands there with which a cue may begin."""
SPEECH: Sign = "speech"
"""A quotation, a question, a choice between two, a correction or a table may stand there."""
JOINED: Sign = "joined"
"""Two numbers may be joined to one, or one may have other digits than its own. Known of ASCII texts only."""
DATED: Sign = "dated"
"""Numbers may be the day and the year of a date that names its month. Known of ASCII texts only."""
PARTS: Sign = "parts"
"""An amount may be put together of two, "1 hour 30 minutes", or be a part of a unit, "an hour and a half"."""
CHANGE: Sign = "change"
"""A value may be an old one, a replaced one, or one that is only wished for."""
FRAME: Sign = "frame"
"""A word stands there that may make a guess, a condition or another's words of what it frames."""
FOREIGN: Sign = "foreign"
"""A word stands there that may deny, suppose or limit in a language other than English."""
ENGLISH: Sign = "english"
"""One of the small words of English stands there. Known of ASCII texts only."""
_MEMORY = 32 << 20
"""Bytes that the automaton may keep its states in. RE2's own 8 MB are too few for texts of all sorts: it then forgets all
states, again and again, and takes six times as long."""
_ALWAYS: Sign = "always"
"""Tells a text without signs from one that the automaton had no memory for."""


@lru_cache(maxsize=1)
def signs_in(text: str) -> frozenset[Sign]:
    """What a text may hold: ``CUE``, ``SPEECH``, ``JOINED``, ``DATED``, ``PARTS``, ``CHANGE``, ``FRAME``, and the names of units (``day``).

    The last answer is kept, for the next one who asks about the same text.
    """
    try:
        found = _automaton().Match(text)
    except UnicodeEncodeError:  # a lone surrogate
        found = None
    if found is None:  # nothing matched, not even ``_ALWAYS``: it could not look
        return frozenset(_NAMES)
    return frozenset([_NAMES[index] for index in found])


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, set(words))))


def _joined() -> str:
    word, count = _any_of(WORDS), _any_of(COUNTS)
    gap = "[- ](?:and |and a |an? |point )?"
    limits = (
        "more over above up older longer higher later greater upward upwards least minimum less fewer below under "
        "younger sooner earlier lower most maximum max tops so ish odd approximately approx take"
    )
    endings = {last for spelling in known_spellings() for last in re.findall(r"[a-z]+\Z", spelling)}
    endings.update(SCALES, WORDS, limits.split(), "st nd rd th b k m mm t point points cent of an a".split())
    # All that a number can end with, its unit and limit included; and begin with, its sign and currency included, which
    # take two words at most ("minus EUR 45").
    end = rf"(?:[0-9%$+}}]|(?:^|[^a-z])(?:{_any_of(endings)}))"
    start = rf"(?:[a-z]+[^a-z0-9]*){{0,2}}(?:[0-9]|\b(?:{word})\b)"
    return "|".join(
        (
            rf"\b(?:{count})(?:{gap}(?:{word})\b| point[ -])|\b(?:half|quarter){gap}(?:{count})\b",
            rf"{end} *-[^a-z0-9\n]*{start}",
            rf"{end}\s*(?:to|through|thru|until|till)\b[^a-z0-9]*{start}",
            rf"\b(?:between|from)\s[^a-z0-9]*{start}",
            rf"{end} \([^()\n]*[0-9]",  # "45 (or 46) days"
            r"[0-9]s",  # a decade
            r"[0-9]\s?/\s?[0-9]",
            r"\+[0-9]",  # a telephone number
            r"[0-9]\s?[x*]\s?10|10\s?(?:\^|\*\*)",
        )
    )


def _dated() -> str:
    month = _any_of(MONTHS)
    return (
        rf"(?:^|[^a-z])(?:{month})(?:\.?,?\s*|-)(?:the\s|of\s)?[0-9]"
        rf"|[0-9](?:st|nd|rd|th)?(?:\s+day)?(?:\s+of)?[\s,-]*(?:{month})"
    )


def _parts() -> str:
    few = (
        "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
    )
    big = "(?:hours?|days?|weeks?|months?|years?|minutes?|dollars?|euros?)"
    unit = _any_of(spelling for spelling in known_spellings() if re.fullmatch("[a-z]+", spelling))
    return "|".join(
        (
            r" and a (?:half|quarter|third)\b|\b(?:halves|quarters?|thirds?|fifths?|tenths?|half)(?: of)? an? ",
            rf"(?:[0-9][\s-]?|\b{few}[\s-])(?:{unit}),?\s(?:and\s)?(?:[0-9.]+\s?|{few}\s)[a-z]",
            rf"\ban? {big},?\s(?:and\s)?(?:[0-9]|{few}\s)",
            r"[0-9](?::|h|h )[0-5][0-9]|dollars [0-9]|euros [0-9]",
        )
    )


def _patterns() -> dict[Sign, str]:
    found = {
        _ALWAYS: "",
        CUE: STEMS,
        SPEECH: rf'["“„«‘?？]| or |{LAYOUT_SIGNS}|\b(?i:sorry|wait|oops|scratch that|correction|i mean|make that)\b',
        JOINED: f"(?i:{_joined()})",
        DATED: f"(?i:{_dated()})",
        PARTS: f"(?i:{_parts()})",
        FRAME: FRAME_SIGNS,
        FOREIGN: FOREIGN_SIGNS,
        ENGLISH: ENGLISH_SIGNS,
        CHANGE: rf"(?i:\b(?:{_any_of(CHANGE_SIGNS)})\b)",
    }
    for name, spellings in spellings_by_unit().items():
        words = {last for spelling in spellings for last in re.findall(r"[a-z]+2?\Z", spelling)}
        if words:
            found[name] = rf"(?i:(?:^|[^a-z])(?:{_any_of(words)})(?:[^a-z]|$))"
    return found


_PATTERNS = _patterns()
_NAMES = tuple(_PATTERNS)


@cache
def _automaton() -> re2.Set:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    automaton = re2.Set.SearchSet(options)
    for pattern in _PATTERNS.values():
        automaton.Add(pattern)
    automaton.Compile()
    return automaton
