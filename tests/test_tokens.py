"""Words in comparable form: what becomes the same, what stays apart, and where each stood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.tokens import is_content, stem, tokens


def stems(text: str) -> list[str]:
    return [token.stem for token in tokens(text)]


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("approves", "APPROVED", "inflection and case"),
        ("company", "companies", "plural in -ies"),
        ("boxes", "box", "plural in -es"),
        ("running", "ran", "doubled consonant and irregular form"),
        ("making", "made", "lost e and irregular form"),
        ("storing", "stores", "lost e"),
        ("planned", "plans", "a doubled consonant"),
        ("buses", "bus", "a plural that looks like a silent e"),
        ("children", "child", "irregular plural"),
        ("using", "uses", "a short verb in -e"),
        ("blew", "blowing", "irregular form"),
        ("tried", "tries", "a short verb in -y"),
        ("added", "add", "a short verb with a doubled consonant"),
        ("travelled", "traveled", "British and American"),
        ("install", "instalment".removesuffix("ment"), "one l or two"),
        ("exceeded", "exceeds", "no suffix in -eed"),
        ("stuffed", "stuff", "a double f of its own"),
        ("criteria", "criterion", "a learned plural"),
        ("café", "cafe", "accent"),
        ("don't", "do not", "contraction"),
        ("don’t", "don't", "typographic apostrophe"),
        ("cannot", "can not", "written as one"),
        ("won't", "will not", "contraction with another stem"),
        ("seven", "7", "number word"),
        ("1,250", "1250", "thousands"),
        ("first", "1st", "ordinal word"),
        ("3rd", "third", "ordinal digits"),
        ("45%", "45 percent", "sign and word"),
        ("45 per cent", "45 percent", "one word or two"),
        ("U.S.", "US", "dotted letters"),
        ("J. R. Tolkien", "J.R. Tolkien", "initials with spaces"),
        ("the firm's terms", "the firm terms", "possessive"),
    ],
)
def test_forms_of_one_word_are_the_same(one: str, other: str, why: str):
    """Forms that say the same have the same stems."""
    assert stems(one) == stems(other)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("better", "good", "a comparative claims more"),
        ("new", "news", "news is no plural"),
        ("other", "others", "others are a thing of their own"),
        ("hundred", "hundr", "ends like a participle"),
        ("bring", "br", "ends like a participle"),
        ("1.5", "15", "decimal point"),
        ("がく", "かく", "a voicing mark makes another letter"),
        ("is", "is not", "a denial is a word"),
        ("note", "not", "a silent e"),
        ("noted", "not", "a silent e that was lost"),
        ("plane", "plan", "a silent e"),
        ("planes", "plans", "a silent e in plurals"),
        ("wine", "win", "a silent e"),
        ("caring", "car", "a silent e that was lost"),
        ("hoping", "hopping", "one letter or two"),
        ("45", "45%", "a percent sign is a word"),
    ],
)
def test_different_words_stay_apart(one: str, other: str, why: str):
    """What means something else has other stems."""
    assert stems(one) != stems(other)


def test_chinese_and_japanese_have_one_token_a_character():
    """Scripts without spaces are read character by character."""
    assert stems("東京です") == ["東", "京", "で", "す"]


def test_grammar_words_carry_no_claim_and_denials_do():
    """Articles and forms of be may be missing; a "not" may not."""
    content = [token.word for token in tokens("The invoice is not in the archive") if is_content(token)]

    assert content == ["invoice", "not", "archive"]


def test_stemming_is_settled_at_once():
    """A stem of a common word is its own stem, so that the table of weights is found by it."""
    words = "approves companies running made boxes payment terms quickly uses planned".split()

    assert all(stem(word) == stem(stem(word)) for word in words)


@given(st.text(max_size=200))
def test_any_text_is_read_and_offsets_lie_within(text: str):
    """No text breaks the reader; tokens come in order, do not overlap, and are never empty."""
    end = 0
    for token in tokens(text):
        assert end <= token.start < token.end <= len(text)
        assert token.stem
        end = token.end


@given(st.lists(st.sampled_from("invoices approved running the Zürich 45 don't".split()), max_size=12))
def test_reading_does_not_depend_on_spacing(words: list[str]):
    """White space between words changes offsets and nothing else."""
    assert stems(" ".join(words)) == stems("\n\t ".join(words))
