"""How much a word says: its inverse document frequency in general English.

The one idea: the table is shipped, so that the same response gets the same score in every run. It was counted over
the definitions and examples of WordNet 3.0 (`tools/build_idf.py`), one document each; whatever is too rare to be
in it, such as names, identifiers, words of other languages, weighs the most.

Read once, when first asked for.
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.resources import files

from tiered_eval.text.tokens import table_form

__all__ = ["idf", "most"]


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, float], float]:
    lines = (files("tiered_eval.text") / "data" / "idf.txt").read_text(encoding="utf-8").splitlines()
    documents = int(lines[1])
    weights: dict[str, float] = {}
    for line in lines[2:]:
        count, *words = line.split(" ")
        weights.update(dict.fromkeys(words, math.log((documents + 1) / (int(count) + 1))))
    return weights, math.log(documents + 1)


def idf(stem: str) -> float:
    """Natural logarithm of documents over documents with this stem; :func:`most` for a stem that is not in the table."""
    weights, highest = _table()
    return weights.get(table_form(stem), highest)


def most() -> float:
    """The weight of a word that the table does not know."""
    return _table()[1]
