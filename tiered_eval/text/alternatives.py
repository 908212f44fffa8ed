"""Claims in which something is written twice: "Anna Berg / the director has resigned", "they scored goal/goals".

The one idea: people who note down what a text must say often put a name and what stands for it side by side, and either
will do. A slash between spaces is such a note. Without spaces it is one only where the sides show it, a name beside a
definite description, or two forms of one word: in "Windows/Linux hosts are supported" or "TCP/IP" it joins two things.

Used by the coverage scorer.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tiered_eval.text.tokens import stem

__all__ = ["readings_of"]

MOST_READINGS = 8
"""Of one claim; more are left out."""
_CAPITAL = r"[^\W\d_a-z][\w.'’-]*"
_NAME = rf"{_CAPITAL}(?:\s+{_CAPITAL})*"
_DETERMINER = r"(?:[Tt]he|[Tt]his|[Tt]heir|[Hh]is|[Hh]er|[Ii]ts)"
_WORD = r"['’\"]?[^\W\d_][\w'’\"-]*"
_SHORT = rf"{_DETERMINER}\s+[a-z][\w'’-]*"
_LONG = rf"{_SHORT}(?:\s+[a-z]+(?=[.,;]?\s*\Z))?"
"""Of two words only at the end of a claim, and not as its subject, behind which a verb comes."""


def _pair(description: str) -> re.Pattern[str]:
    side = rf"(?:{description}|{_NAME}|{_WORD})"
    return re.compile(rf"(?<!\S)(?P<left>{side})(?P<slash>\s+/\s+|/)(?P<right>{side})(?!\S*/)")


_SUBJECT, _OBJECT = _pair(_SHORT), _pair(_LONG)
_FULL_NAME = re.compile(rf"{_CAPITAL}(?:\s+{_CAPITAL})+")
_PRONOUN = re.compile(r"(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey)")
_DESCRIBES = re.compile(_DETERMINER + r"\s")


@lru_cache(maxsize=4096)
def readings_of(value: str) -> tuple[str, ...]:
    """The claim in each of its readings, with the one side and with the other; itself where nothing is written twice.

    A pronoun beside a name is dropped: alone it would claim nothing of anybody.
    """
    readings = [value]
    while len(readings) < MOST_READINGS:
        more = [other for reading in readings for other in _sides_of(reading)]
        if more == readings:
            break
        readings = more
    return tuple(dict.fromkeys(readings))


def _sides_of(text: str) -> tuple[str, ...]:
    """A text with its first pair resolved either way; the text alone where it has none."""
    found = _SUBJECT.match(text) or _OBJECT.search(text)
    if found is None:
        return (text,)
    left, slash, right = found.groups()
    is_all = not text[: found.start()] and not text[found.end() :].strip(" .")
    if is_all or not _is_one_thing(left, right, is_spaced=len(slash) > 1):
        return (text,)  # what is left of a claim must still claim something
    sides = [side for side in (left, right) if not _PRONOUN.fullmatch(side)]
    return tuple(text[: found.start()] + side + text[found.end() :] for side in sides)


def _is_one_thing(left: str, right: str, *, is_spaced: bool) -> bool:
    """Do the sides mean the same: a name and its description, or two forms of one word? Two full names do not."""
    if _DESCRIBES.match(left) or _DESCRIBES.match(right) or stem(left.lower()) == stem(right.lower()):
        return True
    return is_spaced and not (_FULL_NAME.fullmatch(left) and _FULL_NAME.fullmatch(right))
