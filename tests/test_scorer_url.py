"""The scorer url: addresses by where they lead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring import state
from tiered_eval.errors import SuiteError
from tiered_eval.text.urls import find_addresses, parse_address

TERMS = "https://example.com/terms"

ROWS = [
    (TERMS, "See https://example.com/terms.", "pass", "a full stop behind it"),
    (TERMS, "See [the terms](https://example.com/terms).", "pass", "a link"),
    (TERMS, "<https://EXAMPLE.com:443/terms/>", "pass", "case, default port, last slash"),
    (TERMS, "https://example.com/terms?utm_source=mail", "pass", "a tracking parameter"),
    (TERMS, "https://example.com/terms#top", "pass", "a place on the page"),
    (TERMS, "https://example.com/terms/2026", "fail", "a page below it"),
    (TERMS, "https://example.com/term", "fail", "a piece of it"),
    (TERMS, "https://example.com.evil.org/terms", "fail", "a host that starts like it"),
    (TERMS, "https://notexample.com/terms", "fail", "a host that ends like it"),
    (TERMS, "https://example.com/terms?page=2", "fail", "another query"),
    (TERMS, "http://example.com/terms", "fail", "another scheme"),
    ("example.com/terms", "http://example.com/terms", "pass", "no scheme is asked for"),
    (TERMS, "example.com/terms", "pass", "none is written"),
    ("https://example.com/a%20b", "https://example.com/a%20b", "pass", "percent-encoded"),
    ("https://example.com/a?x=1&y=2", "https://example.com/a?y=2&x=1", "pass", "the order of a query"),
    ("https://en.example.org/wiki/K2_(film)", "(https://en.example.org/wiki/K2_(film))", "pass", "brackets"),
    ("https://münchen.de/", "https://xn--mnchen-3ya.de", "pass", "a host in letters and in its code"),
    ("xn--mnchen-3ya.de", "Siehe MÜNCHEN.de/.", "pass", "the same the other way round, without a scheme"),
    ("https://strasse.de", "https://straße.de", "fail", "another host, since 2010"),
    ("https://xn--mnchen-3ya.de", "https://munchen.de", "fail", "without its dots"),
    (TERMS, "_example.com/terms_", "pass", "in italics"),
    (TERMS, "my_example.com/terms", "fail", "an underscore in a name"),
    (TERMS, "[example.com/terms](https://example.org/x)", "pass", "the words of a link"),
    (TERMS, "Do not use https://example.com/terms", "unsure", "denied"),
    (TERMS, "no address", "fail", "none"),
]


@pytest.mark.parametrize(("address", "response", "wanted", "why"), ROWS)
def test_an_address_is_compared_by_where_it_leads(address: str, response: str, wanted: str, why: str):
    """The same page, however it is written; no other page."""
    assert state({"url": address}, response) == wanted, why


def test_any_of_several():
    """Of a list one is enough."""
    assert state({"url": ["https://a.example/x", TERMS]}, TERMS) == "pass"


def test_what_is_no_address_is_refused_at_load():
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(SuiteError, match="no web address"):
        state({"url": "terms"}, TERMS)


@given(st.text())
def test_no_text_is_too_strange(text: str):
    """Whatever is found in a text can be looked at, and nothing raises."""
    for start, end in find_addresses(text):
        parse_address(text[start:end])
