"""A short answer without what does not change it: case, typography, space, and the punctuation around its words.

The one idea: punctuation *between* characters belongs to them. "(42)." and "42!" are 42, but 1.0 is not 10, -5 is not 5,
don't is not dont, and $29 and 5% keep their signs.

Used by the scorers that compare whole answers and items of lists.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tiered_eval.text.normalise import normalise, normalise_cased

__all__ = ["plain_answer"]

LONGEST_KEPT = 200
_AROUND = re.compile(
    r"""(?<!\w)(?!\.\d)[.,;:!?"'()\[\]{}*_`…¿¡]+     # before a word, but not the point of .5
      | [.,;:!?"'()\[\]{}*_`…]+(?!\w)              # behind a word
      | (?<!\S)-(?=\s|$)                            # a bullet or a dash by itself
      | (?<=[\s(])-(?=\s|$)
      | ^\|+(?=\s)|(?<=\s)\|+$                     # around a cell of a table""",
    re.VERBOSE,
)
_THOUSANDS = re.compile(r"(?<![\w.,])([-+$€£]?\d{1,3})((?:,\d{3})+)(?![\w,]|\.\d{3}(?!\d))")


def plain_answer(text: str, *, is_cased: bool = False) -> str:
    """What is compared of an answer."""
    # Long responses are not kept: thousands of them would be a suite in memory.
    return _kept(text, is_cased) if len(text) <= LONGEST_KEPT else _plain(text, is_cased)


def _plain(text: str, is_cased: bool) -> str:
    folded = (normalise_cased if is_cased else normalise)(text).text
    if not folded.isalnum():
        folded = _THOUSANDS.sub(lambda number: number[1] + number[2].replace(",", ""), folded)
        folded = _AROUND.sub(" ", folded)
    return " ".join(folded.split())


_kept = lru_cache(maxsize=4096)(_plain)
