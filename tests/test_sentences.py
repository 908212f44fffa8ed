"""Sentence boundaries: two signs are needed, an end and a beginning."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.sentences import _CANDIDATE, _ends_here, split_sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "sentences", "why"),
    [
        ("It rains. We stay.", ["It rains.", "We stay."], "the plain case"),
        ("Dr. Moss paid. He left.", ["Dr. Moss paid.", "He left."], "a title"),
        ("It costs $3.50 now. Good.", ["It costs $3.50 now.", "Good."], "a decimal point"),
        ("See e.g. the annex. Then sign.", ["See e.g. the annex.", "Then sign."], "an abbreviation inside"),
        ("See Annex B. Then sign.", ["See Annex B. Then sign."], "it could be an initial: one is safer"),
        ("Call J. R. Hart. He knows.", ["Call J. R. Hart.", "He knows."], "initials"),
        ("We meet at 5 p.m. Bring it.", ["We meet at 5 p.m.", "Bring it."], "an abbreviation at the end"),
        ("See No. 5 first. Stop.", ["See No. 5 first.", "Stop."], "a number sign"),
        ("Did he? No! Yes.", ["Did he?", "No!", "Yes."], "other marks"),
        ('"Go." She went.', ['"Go."', "She went."], "a closing quote"),
        ("Wait... Then go.", ["Wait...", "Then go."], "an ellipsis before a capital"),
        ("Wait... and go.", ["Wait... and go."], "an ellipsis before a small letter"),
        ("It broke. see below", ["It broke. see below"], "no beginning: the text goes on"),
        ("- one\n- two", ["- one", "- two"], "bullets"),
        ("1. Ship it.\n2. Bill it.", ["1. Ship it.", "2. Bill it."], "a numbered list"),
        ("Terms\n\nNet 45 applies.", ["Terms", "Net 45 applies."], "a heading"),
        ("a line that is\nwrapped here", ["a line that is\nwrapped here"], "a wrapped line"),
        ("東京です。大阪です！はい", ["東京です。", "大阪です！", "はい"], "full stops of CJK need no space"),
        ("he won . they lost .", ["he won .", "they lost ."], "text that a tokenizer has spaced"),
        ("", [], "nothing"),
        (" \n ", [], "nothing but space"),
    ],
)
def test_boundaries(text: str, sentences: list[str], why: str):
    """Each row is one habit of written text."""
    assert split(text) == sentences


def test_a_denial_is_never_cut_from_its_sentence():
    """An abbreviation between "not" and what it denies must not end the sentence."""
    assert split("We do not ship to approx. 40 countries.") == ["We do not ship to approx. 40 countries."]


@given(st.text(alphabet="aB .!?\n-1。\"'()", max_size=120))
def test_sentences_cover_all_but_white_space(text: str):
    """They come in order, do not overlap, and leave out only white space."""
    end = 0
    for sentence in split_sentences(text):
        assert not text[end : sentence.start].strip()
        assert text[sentence.start : sentence.end].strip() == text[sentence.start : sentence.end] != ""
        end = sentence.end
    assert not text[end:].strip()


@pytest.mark.parametrize(
    "piece", ["a. ", "A. ", "\n", "...", "1.", "。", "No. 1 ", '"', " ", "? ", '? "', "1. "]
)
def test_time_grows_with_the_length_only(piece: str):
    """A long text of one kind of mark takes no more than its share of time."""
    began = time.process_time()

    split_sentences(piece * (200_000 // len(piece)))

    assert time.process_time() - began < 2.0


PASSED_OVER = r"(?:(?<=\s.)|(?!\s[a-z]))"
"""What keeps the pattern from stopping before small letters."""


@given(st.text(alphabet='aB1 .!?…\n"”)'))
def test_stops_that_are_passed_over_end_nothing(text: str):
    """Looking at each stop, those before small letters included, finds the same sentences."""
    assert PASSED_OVER in _CANDIDATE.pattern
    each = re.compile(_CANDIDATE.pattern.replace(PASSED_OVER, ""), re.VERBOSE)
    start, slowly = 0, []
    for match in each.finditer(text):
        if _ends_here(text, start, match):
            slowly.append(text[start : match.end()])
            start = match.end()
    slowly.append(text[start:])

    assert split(text) == [piece.strip() for piece in slowly if piece.strip()]
