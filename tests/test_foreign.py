"""Which sentences are English: told by small words, in ASCII by another engine than elsewhere."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tiered_eval.text.foreign import _ASCII_ENGLISH, _ENGLISH, foreign_doubt

PIECES = st.sampled_from(
    ["the", "THE", "It", "their", "is", "Not", "i", "order", "die", "x", "_", "-", " ", "'s", ".", "4", "\n"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
@example("the_order")
@example("4the")
def test_both_engines_find_the_same_words(sentence: str):
    """For ASCII a faster engine is asked, and what it finds is what the other one would find."""
    assert (_ASCII_ENGLISH.search(sentence) is None) == (_ENGLISH.search(sentence) is None)


def test_a_doubtful_word_of_another_language_is_none_in_english():
    """ "Si" and "no" are read as foreign only where no small word of English stands."""
    assert foreign_doubt("Pedido PO-4471 si ") is not None
    assert foreign_doubt("The order PO-4471 si ") is None
