"""Words that are each other's opposite, so that one in place of the other turns a claim round.

The one idea: a closed table, WordNet's own antonym pairs (`tools/build_idf.py`), with a few pairs that business
text needs and WordNet does not link. Stems of :mod:`tiered_eval.text.tokens`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from tiered_eval.text.tokens import stem, table_form

__all__ = ["are_opposed"]

_MORE = """
approve reject|accept refuse|accept reject|grant deny|allow forbid|permit prohibit|include exclude|pass fail|win lose
rise drop|rise fall|increase decrease|increase decline|increase drop|grow shrink|gain lose|buy sell|start stop|start end
begin end|open close|hire dismiss|agree disagree|succeed fail|support oppose|support reject|confirm deny|add remove
before after|more less|more fewer|most least|all none|all some|always never|above below|over under|first last
higher lower|greater smaller|larger smaller|longer shorter|older younger|better worse|best worst|faster slower|early late
mandatory optional|required optional|profit loss|surplus deficit|upgrade downgrade|import export|borrow lend|with without
legal illegal|valid invalid|possible impossible|inside outside|exclusive occasional|some none|every some|increase reduce
"""


@lru_cache(maxsize=1)
def _pairs() -> frozenset[tuple[str, str]]:
    lines = (files("tiered_eval.text") / "data" / "antonyms.txt").read_text(encoding="utf-8").splitlines()[1:]
    more = _MORE.strip().replace("\n", "|").split("|")
    written = [tuple(table_form(stem(word)) for word in pair.split()) for pair in more]
    listed = [tuple(line.split()) for line in lines]
    return frozenset((one, other) for one, other in [*written, *listed])


def are_opposed(one: str, other: str) -> bool:
    """Are these two stems opposites?"""
    one, other = table_form(one), table_form(other)
    return (one, other) in _pairs() or (other, one) in _pairs()
