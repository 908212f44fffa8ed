"""The scorers contains, starts-with and ends-with: parts at token edges, and the share of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state, verdict
from tiered_eval.errors import SuiteError

ROWS = [
    ("net 45", "Terms: Net 45.", "pass", "case and a full stop"),
    ("5", "It is 25 days", "fail", "5 in 25"),
    ("45", "145 days", "fail", "the end of a longer number"),
    ("PO-4471", "PO-44710", "fail", "a longer identifier"),
    ("PO-4471", "see PO‑4471", "pass", "a hyphen that does not break"),
    ("1.10", "version 1.1", "fail", "another version"),
    ("café", "the cafe\u0301 opens", "pass", "decomposed"),
    ("refund", "It does not include a refund", "unsure", "denied"),
    ("heads OR tails", "heads", "fail", "an OR inside a value is text"),
    ("heads OR tails", "Choose heads or tails now", "pass", "and may stand there"),
    ("can't", "we can’t ship", "pass", "a curly apostrophe"),
    ("10²", "10 hoch 102", "fail", "a power is no number of one more digit"),
    ("102", "It is 10².", "fail", "nor the other way round"),
    ("us", "tell us", "pass", "a word"),
    ("us", "the status", "fail", "not inside a word"),
    (["net 45", "PO-4471"], "PO-4471 is on net 45", "pass", "both"),
    (["net 45", "PO-4471"], "PO-4471 is on net 30", "fail", "one of two"),
    (["net 45", "PO-4471"], "PO-4471 is not on net 45", "unsure", "one of two is denied"),
    (["net 45", "PO-4471", "fee"], "we have not seen PO-4471", "fail", "doubt cannot save what is absent"),
]


@pytest.mark.parametrize(("parts", "response", "wanted", "why"), ROWS)
def test_parts_are_found_at_token_edges(parts: Any, response: str, wanted: str, why: str):
    """A part is there when it stands by itself and is not denied; of several all must be."""
    assert state({"contains": parts}, response) == wanted, why
    assert state({"contains-all": parts}, response) == wanted, why


def test_the_share_found_is_the_score():
    """Two of four parts are half of them, and enough where half is asked for."""
    entry = {"contains": {"value": ["red", "green", "blue", "grey"], "pass_at": 0.5}}
    ended = verdict(entry, "red and blue")

    assert (ended.state, ended.score) == ("pass", 0.5)
    assert "2 of 4" in ended.reason


ANY = [
    (["red", "green"], "a green door", "pass", "the second"),
    (["red", "green"], "a blue door", "fail", "neither"),
    (["red", "green"], "the door is not green", "unsure", "denied"),
    (["red", "green"], "not green but red", "pass", "one is plain"),
]


@pytest.mark.parametrize(("parts", "response", "wanted", "why"), ANY)
def test_any_is_enough(parts: list[str], response: str, wanted: str, why: str):
    """`contains-any` and `mode: any` want one of them."""
    assert state({"contains-any": parts}, response) == wanted, why
    assert state({"contains": {"value": parts, "mode": "any"}}, response) == wanted, why


OPTIONS = [
    ({"case_sensitive": True}, "US", "tell us", "fail", "case counts"),
    ({"case_sensitive": True}, "US", "in the US", "pass", "the same case"),
    ({"bounded": False}, "bill", "rebilling", "pass", "plain inclusion"),
    ({"bounded": False}, "bull", "rebilling", "fail", "not included"),
]


@pytest.mark.parametrize(("options", "part", "response", "wanted", "why"), OPTIONS)
def test_options_narrow_and_widen(options: dict[str, Any], part: str, response: str, wanted: str, why: str):
    """Case may count, and edges may not."""
    assert state({"contains": {"value": part, **options}}, response) == wanted, why


NEGATED = [
    ({"not-contains": "free"}, "it costs a dollar", "pass", "absent"),
    ({"not-contains": "free"}, "it is free", "fail", "there"),
    ({"not-contains": "free"}, "it is not free", "unsure", "in doubt either way"),
    ({"not-contains": "refund"}, "We offer refunds.", "unsure", "another form of the word"),
    ({"contains": "refund"}, "We offer refunds.", "fail", "which may have been wanted as it is"),
    ({"not-contains-any": ["fee", "refund"]}, "We offer refunds.", "unsure", "in a list"),
    ({"not-contains": "cat"}, "concatenate", "pass", "a piece of another word"),
    ({"not-contains": "5"}, "It is 25.", "pass", "or number"),
    ({"not-contains-any": ["red", "green"]}, "blue", "pass", "none of them"),
    ({"not-contains-any": ["red", "green"]}, "green", "fail", "one of them"),
    ({"not-contains-all": ["red", "green"]}, "green", "pass", "not all of them"),
    ({"not-contains-all": ["red", "green"]}, "green and red", "fail", "all of them"),
    ({"not_icontains": "Free"}, "FREE", "fail", "underscores, and case aside"),
]


@pytest.mark.parametrize(("entry", "response", "wanted", "why"), NEGATED)
def test_not_turns_it_round(entry: dict[str, Any], response: str, wanted: str, why: str):
    """Pass and fail change places, and doubt stays doubt."""
    assert state(entry, response) == wanted, why


def test_not_with_a_list_must_say_what_it_means():
    """None of them, or not all of them? The author says which."""
    with pytest.raises(SuiteError, match="not-contains-any"):
        state({"not-contains": ["red", "green"]}, "blue")


def test_an_element_of_a_field_is_contained():
    """A list in a field contains its elements, whole."""
    entry = {"contains": {"value": "PO-44", "field": "orders"}}

    assert state(entry, fields={"orders": ["PO-44", "PO-45"]}) == "pass"
    assert state(entry, fields={"orders": ["PO-441"]}) == "fail"
    assert state(entry, fields={"other": 1}) == "fail"


STARTS = [
    ("Dear", "Dear Ms Lind", "pass", "the first word"),
    ("dear", "Dear Ms Lind", "pass", "case"),
    ("PO-44", "PO-4471 shipped", "fail", "a piece of an identifier"),
    ("PO-4471", "PO-4471 shipped", "pass", "the identifier"),
    ("4", "45 days", "fail", "a piece of a number"),
    ("Yes", "  \n**Yes**, it is", "pass", "space and marks before it"),
    ("Yes", "Yesterday", "fail", "a piece of a word"),
    ("Yes", "Well, yes", "fail", "not at the start"),
    ("Don't", "Don’t ship", "pass", "a curly apostrophe"),
    (["Yes", "No"], "No, it is late", "pass", "one of several"),
    ("É", "E\u0301t\u00e9", "fail", "a piece of a word, decomposed"),
    ("Été", "E\u0301te\u0301 chaud", "pass", "the word, decomposed"),
    ("Dear", "", "fail", "nothing"),
]


@pytest.mark.parametrize(("text", "response", "wanted", "why"), STARTS)
def test_a_start_ends_with_a_token(text: Any, response: str, wanted: str, why: str):
    """The beginning must be whole."""
    assert state({"starts-with": text}, response) == wanted, why


ENDS = [
    ("regards", "Kind regards", "pass", "the last word"),
    ("regards", "Kind regards.", "pass", "a full stop of the sentence"),
    ("regards.", "Kind regards.", "pass", "the author's own full stop"),
    ("regards!", "Kind regards.", "fail", "another end"),
    ("5 days", "25 days", "fail", "a piece of a number"),
    ("71", "PO-4471", "fail", "a piece of an identifier"),
    ("end", "the weekend", "fail", "a piece of a word"),
    ("END", "the end", "pass", "case"),
    ("end", "the end of it", "fail", "not at the end"),
    ("regards", "Kind regards\n\n", "pass", "space behind it"),
    ("regards", "**Kind regards**", "pass", "marks behind it"),
    (["soon", "later"], "see you later", "pass", "one of several"),
    ("regards", "", "fail", "nothing"),
    ("5", "It is -5.", "unsure", "a sign makes it another number"),
    ("com", "example.com", "unsure", "a point may join two words"),
]


@pytest.mark.parametrize(("text", "response", "wanted", "why"), ENDS)
def test_an_end_begins_with_a_token(text: Any, response: str, wanted: str, why: str):
    """The ending must be whole."""
    assert state({"ends-with": text}, response) == wanted, why


def test_characters_only_by_option():
    """With bounded: false a piece is enough, and with case_sensitive case counts."""
    assert state({"starts-with": {"value": "PO-44", "bounded": False}}, "PO-4471") == "pass"
    assert state({"ends-with": {"value": "END", "case_sensitive": True}}, "the end") == "fail"
