"""The scorers is-xml, is-html and is-sql."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state
from tiered_eval.errors import SuiteError

XML = [
    ("<a><b/></a>", {}, "pass", "well-formed"),
    ('<?xml version="1.0"?>\n<a>x</a>\n', {}, "pass", "with a declaration and space"),
    ("<a><b></a>", {}, "fail", "a tag is not closed"),
    ("<a></a><b></b>", {}, "fail", "two roots"),
    ("<a>1 < 2</a>", {}, "fail", "a bare less-than"),
    ("<a>x</a> as asked", {}, "fail", "prose behind it"),
    ("Here: <a>x</a>", {}, "fail", "prose before it"),
    ("plain text", {}, "fail", "none"),
    ("", {}, "fail", "nothing"),
    ('<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', {}, "fail", "a document type may define anything"),
    ("```xml\n<a>x</a>\n```", {}, "fail", "a fence is no XML"),
    ("```xml\n<a>x</a>\n```", {"fenced": True}, "pass", "unless fences are taken off"),
    ("<a><b/></a>", {"elements": ["b"]}, "pass", "the element is there"),
    ("<a><b/></a>", {"elements": ["b", "c"]}, "fail", "one element is not"),
    ("<a>é</a>", {}, "pass", "letters beyond ASCII"),
]


@pytest.mark.parametrize(("response", "options", "wanted", "why"), XML)
def test_xml_is_one_document(response: str, options: dict[str, Any], wanted: str, why: str):
    """Well-formed, whole, and without a document type."""
    assert state({"is-xml": options}, response) == wanted, why


HTML = [
    ("<p>Hello</p>", "pass", "an element"),
    ("<!DOCTYPE html>\n<html><head><title>x</title></head><body>y</body></html>", "pass", "a page"),
    ("<ul><li>one<li>two</ul>", "pass", "what may stay open"),
    ("<p>one<br>two</p>", "pass", "what is never closed"),
    ("<div><p>one</div>", "pass", "a paragraph that ends with its parent"),
    ("<div>one", "fail", "not closed"),
    ("<div>one</span>", "fail", "another one closed"),
    ("<b>bold</b> text", "fail", "prose behind it"),
    ("Hello <b>you</b>", "fail", "prose before it"),
    ("1 < 2 and 3 > 2", "fail", "signs of comparison"),
    ("<thinking>hm</thinking>", "fail", "no element of HTML"),
    ("plain", "fail", "no element"),
    ("", "fail", "nothing"),
    ("<my-card>x</my-card>", "pass", "an element of one's own"),
    ("<script>if (a < b) { c() }</script>", "pass", "code in a script"),
]


@pytest.mark.parametrize(("response", "wanted", "why"), HTML)
def test_html_is_nothing_else(response: str, wanted: str, why: str):
    """Known elements, closed as they must be, no prose outside."""
    assert state("is-html", response) == wanted, why


SQL = [
    ("SELECT 1", {}, "pass", "a query"),
    ("select id from orders where total > 45;", {}, "pass", "lower case, with a semicolon"),
    ("WITH a AS (SELECT 1) SELECT * FROM a", {}, "pass", "a common table expression"),
    ("SELECT * FROM orders WHERE name = 'this OR that'", {}, "pass", "an OR inside a value"),
    ("SELEC * FROM orders", {}, "fail", "a misspelt word"),
    ("SELECT FROM WHERE", {}, "fail", "nothing selected"),
    ("SELECT (1", {}, "fail", "a bracket is not closed"),
    ("orders", {}, "fail", "a name is no statement"),
    ("Here is the query: SELECT 1", {}, "fail", "prose before it"),
    ("SELECT 1 -- the answer", {}, "pass", "a comment"),
    ("", {}, "fail", "nothing"),
    ("```sql\nSELECT 1\n```", {}, "fail", "a fence is no SQL"),
    ("```sql\nSELECT 1\n```", {"fenced": True}, "pass", "unless fences are taken off"),
    ("DROP TABLE orders", {"statements": ["select"]}, "fail", "only queries are allowed"),
    ("SELECT 1; DELETE FROM orders", {"statements": ["select"]}, "fail", "the second statement counts too"),
    ("SELECT 1", {"statements": ["SELECT"]}, "pass", "allowed"),
    ("SELECT `id` FROM `orders`", {"dialect": "mysql"}, "pass", "quotes of a dialect"),
    ("VACUUM", {}, "unsure", "a command that is not looked into"),
]


@pytest.mark.parametrize(("response", "options", "wanted", "why"), SQL)
def test_sql_can_be_parsed(response: str, options: dict[str, Any], wanted: str, why: str):
    """Statements that a parser takes, of the kinds that are allowed."""
    assert state({"is-sql": options}, response) == wanted, why


def test_an_unknown_dialect_is_refused_at_load():
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(SuiteError, match="dialect"):
        state({"is-sql": {"dialect": "klingon"}}, "SELECT 1")


@pytest.mark.parametrize("name", ["is-xml", "is-html", "is-sql"])
def test_what_is_too_long_is_not_parsed(name: str):
    """Beyond the limit nobody waits, and nothing is guessed."""
    assert state(name, f"<p>{'x' * 2_000_001}</p>") == "unsure"
