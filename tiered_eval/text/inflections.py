"""A literal in another form: its word inflected, or its letters with marks or spaces between them.

The one idea: that a trap is absent lets a response pass, so it must be absent in each form in which a reader would see it: "refunds"
springs a trap for "refund", and so does "re**fund**". For a wanted literal a mark between its letters is looked through
as well, an inflection is not: another form may be asked for on purpose.

Asked by the exact scorer where nothing was found, on folded text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tiered_eval.text.tokens import stem

__all__ = ["other_form"]

_SHORTEST = 4
"""Letters; of shorter words too many others begin alike."""
_LONGEST = 80
"""Characters; a longer literal is a statement, which has other forms than these."""
_MARKS = r"(?:[*_~\\{}]{1,3}|</?[a-z]{1,6}>| )?"
_WORDS = re.compile(r"[a-z]+(?:[ -][a-z]+){0,4}")


def other_form(needle: str, text: str, *, is_trap: bool) -> str | None:
    """The literal as it stands in ``text`` in another form; None where it does not."""
    if len(needle) > _LONGEST:
        return None
    if _may_be_marked(needle, text) and (found := _with_marks(needle).search(text)) and found[0] != needle:
        return found[0]
    if not is_trap or len(needle) < _SHORTEST or not _WORDS.fullmatch(needle):
        return None
    begin, last = needle[: needle.rfind(" ") + 1], needle[needle.rfind(" ") + 1 :]
    root = stem(last)
    beginning = last if root.startswith(last) else _common(last, root)
    if len(beginning) < _SHORTEST - 1 or begin + beginning not in text:
        return None
    for found in _beginning_with(begin + beginning).finditer(text):
        if stem(found[0][len(begin) :]) == root:
            return found[0]
    return None


def _may_be_marked(needle: str, text: str) -> bool:
    """Can there be marks or spaces between the letters? Most texts have none of the marks, and spell nothing out."""
    spelt = " ".join(needle[:_SHORTEST])
    return spelt in text or "*" in text or "~" in text or "\\" in text or "{" in text or "<" in text


def _common(word: str, root: str) -> str:
    """The letters that a word and its stem begin with."""
    length = next((at for at, (one, other) in enumerate(zip(word, root, strict=False)) if one != other), None)
    return word[: min(len(word), len(root)) if length is None else length]


@lru_cache(maxsize=1024)
def _beginning_with(piece: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(piece)}[a-z]{{0,5}}(?![\w-])")


@lru_cache(maxsize=1024)
def _with_marks(needle: str) -> re.Pattern[str]:
    """A pattern for the letters with a mark of formatting or a space between any two of them."""
    return re.compile(rf"(?<![\w-]){_MARKS.join(map(re.escape, needle))}(?![\w-]|[.,]\d)")
