"""Folding: what counts as the same text, and the way back to the original."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.normalise import normalise, normalise_cased

SAME = [
    ("Net 45", "NET 45", "case"),
    ("Straße", "STRASSE", "sharp s folds to two letters"),
    ("“net 45”", '"net 45"', "curly double quotes"),
    ("the buyer’s", "the buyer's", "curly apostrophe"),
    ("`PO-4471`", "'PO-4471'", "a code mark is a quote"),
    ("PO‑4471", "PO-4471", "non-breaking hyphen"),
    ("45–60", "45-60", "en dash"),
    ("paid — late", "paid - late", "em dash"),
    ("−5", "-5", "minus sign"),
    ("net\u00a045", "net 45", "non-breaking space"),
    ("net \n\t 45", "net 45", "runs of whitespace"),
    ("  net 45 ", "net 45", "space at the ends"),
    ("in\u00advoice", "invoice", "soft hyphen"),
    ("in\u200bvoice", "invoice", "zero-width space"),
    ("\ufeffinvoice", "invoice", "byte order mark"),
    ("in\u2060voice", "invoice", "word joiner"),
    ("\u202einvoice\u202c", "invoice", "direction override"),
    ("ofﬁce ﬂow", "office flow", "ligatures"),
    ("cafe\u0301", "caf\u00e9", "composed and decomposed accents"),
    ("ＰＯ－４４７１", "PO-4471", "fullwidth"),
    ("x²", "x2", "superscript"),
    ("m²", "M2", "of a unit"),
    ("10²", "10^2", "a power"),
    ("10⁻¹²", "10^-12", "a power with a sign"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος", "final sigma"),
    ("wait…", "wait...", "ellipsis"),
    ("\u1112\u1161\u11ab", "\ud55c", "Hangul from its parts"),
    ("don＇t", "don't", "fullwidth apostrophe"),
]

DIFFERENT = [
    ("café", "cafe", "an accent is part of the name"),
    ("PO-4471", "PO 4471", "a hyphen is not a space"),
    ("PO-4471", "PO4471", "nor nothing"),
    ("1.5", "1,5", "separators stay"),
    ("10²", "102", "a power is another number"),
    ("10⁻³", "10-3", "and no range"),
    ("PO-10²", "PO-102", "nor another identifier"),
    ("résumé", "resume", "two words"),
]


@pytest.mark.parametrize(("left", "right", "why"), SAME)
def test_spellings_of_the_same_text_compare_equal(left: str, right: str, why: str):
    """Case, width, quotes, dashes, spacing and the invisible make no difference."""
    assert normalise(left).text == normalise(right).text, why


@pytest.mark.parametrize(("left", "right", "why"), DIFFERENT)
def test_different_texts_stay_different(left: str, right: str, why: str):
    """Folding removes looks, not content."""
    assert normalise(left).text != normalise(right).text, why


def test_case_can_be_kept():
    """The cased form folds everything but case."""
    assert normalise_cased("“Net\u00a045”").text == '"Net 45"'


@pytest.mark.parametrize(
    ("original", "needle", "quote"),
    [
        ("Terms:\n\n  Net   45 days", "net 45", "Net   45"),
        ("Zahlung: Straße 5", "strasse", "Straße"),
        ("der ofﬁce ﬂow", "flow", "ﬂow"),
        ("un cafe\u0301 noir", "café", "cafe\u0301"),
        ("see\u200b the in\u00advoice now", "invoice", "in\u00advoice"),
        ("“PO‑4471”, he said", "po-4471", "PO‑4471"),
        ("ＰＯ－４４７１ ok", "po-4471", "ＰＯ－４４７１"),
        ("wait… net\u00a0\u00a045", "net 45", "net\u00a0\u00a045"),
        ("x \u1112\u1161\u11ab y", "한", "\u1112\u1161\u11ab"),
    ],
)
def test_a_match_is_quoted_as_it_stands_in_the_original(original: str, needle: str, quote: str):
    """The span of a match leads back to the author's own characters."""
    folded = normalise(original)
    start = folded.text.index(needle)

    assert folded.quote(start, start + len(needle)) == quote


def test_the_way_back_is_found_in_a_long_text():
    """Blocks of a long text are put together without drift."""
    original = "“ﬁrst”  line — and\n\n" * 500 + "PO‑4471"
    folded = normalise(original)
    start = folded.text.index("po-4471")

    assert folded.span(start, start + 7) == (len(original) - 7, len(original))


@given(st.text())
def test_normalising_twice_changes_nothing(text: str):
    """A normal form is its own normal form."""
    once = normalise(text).text

    assert normalise(once).text == once


@given(
    st.text(alphabet=st.characters(max_codepoint=0x2FFF)),
    st.sampled_from(["inv-7", "Größe", "ofﬁce", "“x”"]),
    st.text(),
)
def test_a_planted_word_is_quoted_whole(before: str, word: str, after: str):
    """Whatever stands around a word, the way back ends at the word itself."""
    original = f"{before} {word} {after}"
    folded = normalise(original)
    needle = normalise(word).text
    start = len(normalise(before).text + " ") if normalise(before).text else 0

    assert folded.text[start : start + len(needle)] == needle
    assert normalise(folded.quote(start, start + len(needle))).text == needle


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_offsets_are_exact(text: str):
    """In plain ASCII each character other than whitespace leads back to itself."""
    folded = normalise(text)

    for position, character in enumerate(folded.text):
        if character != " ":
            start, end = folded.span(position, position + 1)
            assert end - start == 1
            assert unicodedata.normalize("NFKC", text[start]).lower().replace("`", "'") == character
