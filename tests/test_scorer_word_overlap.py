"""The scorers rouge, bleu and lexical-cosine: likeness in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU as SacreBleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from tests.scoring import state, verdict

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
    ({"value": "shipped orders"}, "shipping order", 0.0, "other endings are other words"),
    ({"value": "shipped orders", "stemming": True}, "shipping order", 1.0, "unless endings do not count"),
    ({"value": "shipped orders", "use_stemmer": True}, "shipping order", 1.0, "as the package names it"),
    ({"value": "a b\nc d", "variant": "rougeLsum"}, "c d\na b", 1.0, "lines in another order"),
    ({"value": "a b\nc d"}, "c d\na b", 0.5, "which count where the text is taken as one"),
    ({"value": "счёт оплачен"}, "Счёт оплачен.", 1.0, "words of another alphabet"),
    ({"value": "1.0"}, "10", 0.0, "1.0 against 10: two words, and another"),
]


@pytest.mark.parametrize(("settings", "response", "score", "why"), ROUGE)
def test_rouge_is_as_published(settings: dict[str, Any], response: str, score: float, why: str):
    """Worked out by hand."""
    assert verdict({"rouge": settings}, response).score == pytest.approx(score), why


WORDS = st.lists(st.sampled_from("the cat sat mats running 45 N.B. don't\n".split(" ")), max_size=14).map(
    " ".join
)


@given(
    WORDS,
    WORDS,
    st.sampled_from(("rouge1", "rouge2", "rouge3", "rouge5", "rougeL", "rougeLsum")),
    st.sampled_from((("f1", "fmeasure"), ("recall", "recall"), ("precision", "precision"))),
    st.booleans(),
)
def test_rouge_is_what_rouge_score_says(
    wanted: str, found: str, variant: str, measure: tuple[str, str], is_stemmed: bool
):
    """The same figure as from the front door of the package, however the words were cut and counted."""
    theirs = RougeScorer([variant], use_stemmer=is_stemmed).score(wanted, found)[variant]
    settings = {"value": wanted, "variant": variant, "measure": measure[0], "stemming": is_stemmed}

    if wanted.strip():
        assert verdict({"rouge": settings}, found).score == pytest.approx(getattr(theirs, measure[1]))


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
    (["a b c d", "a b x y"], "a b x d", 0.638943, "a run counts if any of several texts has it"),
    (["a b c d e f", "a b c"], "a b c", 1.0, "the text of the nearest length says what is too short"),
    ("5", "25", 0.0, "5 in 25"),
]


@pytest.mark.parametrize(("text", "response", "score", "why"), BLEU)
def test_bleu_is_as_published(text: Any, response: str, score: float, why: str):
    """The figures of sacreBLEU for one sentence, with exponential smoothing."""
    assert verdict({"bleu": text}, response).score == pytest.approx(score, abs=1e-5), why


@given(
    st.lists(WORDS.filter(str.strip), min_size=1, max_size=3),
    WORDS,
    st.sampled_from(("13a", "intl", "zh", "char", "none")),
    st.sampled_from(("exp", "floor", "add-k", "none")),
    st.integers(1, 4),
    st.booleans(),
)
def test_bleu_is_what_sacrebleu_says(
    wanted: list[str], found: str, tokenize: str, smooth: str, order: int, is_cased: bool
):
    """The same figure as from the front door of the package, whatever is set."""
    theirs = SacreBleu(
        tokenize=tokenize,
        smooth_method=smooth,
        max_ngram_order=order,
        lowercase=not is_cased,
        effective_order=True,
    )
    settings = {
        "value": wanted,
        "tokenize": tokenize,
        "smooth_method": smooth,
        "max_ngram_order": order,
        "case_sensitive": is_cased,
    }

    expected = theirs.sentence_score(found, wanted).score / 100
    assert verdict({"bleu": settings}, found).score == pytest.approx(expected)


def test_no_text_stays_behind():
    """sacrebleu would keep the last 65,536 texts that it cut; here a run does not grow with its responses."""
    for number in range(20):
        state({"bleu": CAT}, f"The cat is {number}.")

    kept = [kind.__call__.cache_info().currsize for kind in (Tokenizer13a, TokenizerRegexp)]
    assert kept == [0, 0]


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


LONG = [
    ({"rouge": "a b"}, "a " * 50_001, "unsure", "more characters than are compared"),
    ({"bleu": "a b"}, "a " * 50_001, "unsure", "the same"),
    ({"rouge": {"value": "a b", "pass_at": 0.1}}, "a b " * 20_000, "fail", "long, and compared"),
    ({"rouge": {"value": "a " * 10_000}}, "a " * 10_000, "pass", "both long, and compared in order"),
    (
        {"rouge": {"value": "a " * 1_000, "variant": "rougeLsum"}},
        "a " * 1_000,
        "unsure",
        "a million pairs of words",
    ),
]


@pytest.mark.parametrize(("entry", "response", "wanted", "why"), LONG)
def test_texts_that_are_too_long_are_not_compared(
    entry: dict[str, Any], response: str, wanted: str, why: str
):
    """Beyond the limit nobody waits, and nothing is guessed."""
    assert state(entry, response) == wanted, why


TEXTS = st.text(alphabet="abé5.-_ \n—中", max_size=60)


@given(TEXTS, TEXTS.filter(str.strip), st.sampled_from(("rouge", "bleu", "lexical-cosine")))
def test_the_score_is_a_share(response: str, text: str, name: str):
    """Between 0 and 1 for any two texts."""
    score = verdict({name: text}, response).score

    assert score is not None
    assert 0 <= score <= 1
