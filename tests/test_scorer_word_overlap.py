"""The scorers rouge, bleu and lexical-cosine: likeness in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring import state, verdict
from tiered_eval.scorers.word_overlap import bleu, bleu_tokens

CAT = "The cat is on the mat."

ROUGE = [
    ({"value": CAT, "variant": "rouge1"}, "The cat sat on the mat.", 5 / 6, "five of six words"),
    ({"value": CAT, "variant": "rouge2"}, "The cat sat on the mat.", 3 / 5, "three of five pairs"),
    ({"value": CAT}, "The cat sat on the mat.", 5 / 6, "five in order"),
    ({"value": CAT}, "mat the on is cat the", 0.5, "the order counts"),
    ({"value": CAT, "variant": "rouge1"}, "mat the on is cat the", 1.0, "unless words alone do"),
    ({"value": "the cat", "variant": "rouge1"}, "the the the", 0.4, "a word counts as often as expected"),
    ({"value": "the cat", "variant": "rouge1", "measure": "recall"}, "the the the", 0.5, "recall"),
    ({"value": "the cat", "variant": "rouge1", "measure": "precision"}, "the the the", 1 / 3, "precision"),
    ({"value": "hello"}, "hello there", 2 / 3, "a word too many"),
    ({"value": "hello"}, "", 0.0, "nothing"),
    ({"value": "5"}, "25", 0.0, "5 in 25"),
    ({"value": "net 45"}, "Net 45!", 1.0, "case and punctuation"),
    ({"value": ["x y", "hello there"]}, "hello there", 1.0, "the nearest of several"),
    ({"value": "a b", "variant": "rouge2"}, "b", 0.0, "no pair in one word"),
]


@pytest.mark.parametrize(("settings", "response", "score", "why"), ROUGE)
def test_rouge_is_as_published(settings: dict[str, Any], response: str, score: float, why: str):
    """Worked out by hand, and the same as the reference implementation's."""
    assert verdict({"rouge": settings}, response).score == pytest.approx(score), why


BLEU = [
    (CAT, "The cat sat on the mat.", 0.488923, "a sentence"),
    (CAT, CAT, 1.0, "the same"),
    ("hello", "hello there", 0.5, "one pair does not agree"),
    ("a b x d e f", "a b c d e f", 0.379918, "a word in the middle"),
    (
        "It cost 1,299.50 dollars, really.",
        "It costs 1,299.50 dollars - really!",
        0.156197,
        "numbers stay whole",
    ),
    ("the cat", "the the the", 0.275161, "a word repeated"),
    ("y", "x", 0.0, "no word in common"),
    ("a b c d", "", 0.0, "nothing"),
    ("a b c d e f g h", "a b c d", 0.367879, "too short"),
    ("Hello World", "hello world", 0.0, "case counts in BLEU"),
    ("one two", "one two three four", 0.319472, "too long"),
    ("x", "x", 1.0, "one word"),
]


@pytest.mark.parametrize(("text", "response", "score", "why"), BLEU)
def test_bleu_is_as_published(text: str, response: str, score: float, why: str):
    """The figures of sacreBLEU for one sentence, with exponential smoothing."""
    assert verdict({"bleu": text}, response).score == pytest.approx(score, abs=1e-5), why


COSINE = [
    ("net 45 days", "Net 45 days.", 1.0, "case and punctuation"),
    ("net 45 days", "days 45 net", 1.0, "no order"),
    ("net 45 days", "net 30 days", 2 / 3, "one of three differs"),
    ("net 45 days", "not net 45 days", 3 / 12**0.5, "a denial is one word more: words, not meaning"),
    ("a b", "a a a b", 1.0, "a set counts once"),
    ("a b c d", "a", 0.5, "one of four"),
    ("a", "b", 0.0, "nothing in common"),
    ("a", "", 0.0, "nothing"),
    ("5", "25", 0.0, "5 in 25"),
    ("café", "cafe", 0.0, "another word without its accent"),
    ("...", "...", 0.0, "no word at all"),
    (["x", "net 45"], "net 45", 1.0, "the nearest of several"),
]


@pytest.mark.parametrize(("text", "response", "score", "why"), COSINE)
def test_the_cosine_is_of_words(text: Any, response: str, score: float, why: str):
    """Shared words over the size of both."""
    assert verdict({"lexical-cosine": text}, response).score == pytest.approx(score), why


PASSES = [
    ({"rouge": CAT}, "pass", "0.83 is above 0.75"),
    ({"rouge-2": CAT}, "fail", "0.6 is below it"),
    ({"rouge-2": {"value": CAT, "pass_at": 0.6}}, "pass", "enough at 0.6"),
    ({"rouge-n": {"value": CAT, "threshold": 0.9}}, "fail", "as another tool names it"),
    ({"bleu": CAT}, "fail", "0.49 is below 0.5"),
    ({"bleu": {"value": CAT, "pass_at": 0.4}}, "pass", "enough at 0.4"),
    ({"not-bleu": CAT}, "pass", "the opposite"),
]


@pytest.mark.parametrize(("entry", "wanted", "why"), PASSES)
def test_the_author_says_how_much_is_enough(entry: dict[str, Any], wanted: str, why: str):
    """Each figure has a limit, and the author may set another."""
    assert state(entry, "The cat sat on the mat.") == wanted, why


def test_texts_that_are_too_long_are_not_compared():
    """Beyond the limit nobody waits, and nothing is guessed."""
    assert state({"rouge": "a b"}, "a " * 6000) == "unsure"


@given(st.text(max_size=80), st.text(max_size=80))
def test_bleu_is_a_share(left: str, right: str):
    """Between 0 and 1 for any two texts."""
    assert 0 <= bleu(bleu_tokens(left), bleu_tokens(right)) <= 1
