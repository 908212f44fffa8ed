"""Whether a name in a scan is another name: "Anna Borg" for "Anna Berg".

The one idea: OCR spoils a line here and there, and letters of like shape before others; a line that is clean but for one
letter of a name, of another shape, is a line about somebody else as likely as a misread one. No table tells which, so it is
a doubt. It is looked for in short literals, which are names themselves; in longer ones, and in capitals, between vowels only.

Called by the OCR scorer on each reading that is like the literal; beside :mod:`tiered_eval.text.scanned_words`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tiered_eval.text.idf import idf, most
from tiered_eval.text.normalise import fold
from tiered_eval.text.scans import Reading
from tiered_eval.text.tokens import FUNCTION_WORDS, stem

__all__ = ["find_name_fault"]

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_NAME_GLYPHS = 2
_SHORT = 20
"""Glyphs of a literal that is a name and hardly more."""
_LONG = 40
"""Glyphs of a literal that is a line of a text; one letter in so many is as likely misread."""
_VOWELS = frozenset("aeiouyäöüåøæ")


def find_name_fault(reading: Reading, value: str) -> str | None:
    """Why a name of the literal may be another one; None where the scan shows the same, or is noisy elsewhere too."""
    if reading.noise != 1.0 or len(reading.costs) > _LONG:
        return None
    place = reading.costs.index(max(reading.costs))
    partner = reading.partners[place]
    if reading.costs[place] != 1.0 or partner is None:
        return None
    ours, theirs = reading.literal.glyphs[place], reading.page.glyphs[partner]
    if not (ours.isalpha() and theirs.isalpha()):
        return None
    start = reading.literal.spans[place][0]
    for word in _WORD.finditer(reading.literal.text):
        if word.start() <= start < word.end():
            looks = _looks_of_names(value).get(word[0])
            is_any_letter = looks == "titled" and len(reading.costs) <= _SHORT
            if looks and (is_any_letter or (ours in _VOWELS and theirs in _VOWELS)):
                return f"{theirs!r} in place of {ours!r} makes another name of {word[0]!r}"
    return None


@lru_cache(maxsize=1024)
def _looks_of_names(value: str) -> dict[str, str]:
    """The words of a literal that may be names, folded, and how they are written: in ``capitals``, or ``titled``.

    A word that opens a statement has its capital from there, if the language knows it.
    """
    words = [found[0] for found in _WORD.finditer(value)]
    names: dict[str, str] = {}
    for at, word in enumerate(words):
        folded = fold(word, is_cased=False)
        if not word[0].isupper() or len(word) <= _NAME_GLYPHS or folded in FUNCTION_WORDS:
            continue
        opens = at == 0 and any(other[0].islower() and other not in FUNCTION_WORDS for other in words[1:])
        if not (opens and idf(stem(folded)) < most()):
            names[folded] = "capitals" if word.isupper() else "titled"
    return names
