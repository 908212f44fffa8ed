"""The scorers is-xml, is-html and is-sql."""

from __future__ import annotations

from io import StringIO
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tinyhtml5.parser import HTMLParser

from tests.scoring import state
from tiered_eval.errors import SuiteError
from tiered_eval.text.html_tags import find_html_fault

BOMB = '<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">'
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
    (
        '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
        {},
        "unsure",
        "what is declared inside may come to anything",
    ),
    (f"<!DOCTYPE a [{BOMB}]><a>&c;</a>", {}, "unsure", "entities that grow a thousandfold"),
    (
        '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
        {},
        "unsure",
        "a file of this machine",
    ),
    (
        '<!DOCTYPE a SYSTEM "http://example.com/a.dtd"><a/>',
        {},
        "pass",
        "a type that is named, and not fetched",
    ),
    ("<!DOCTYPE a><b>", {}, "fail", "one in front of a fault"),
    ("<a>&e;</a>", {}, "fail", "an entity that nobody declared"),
    ("<a b='1' b='2'/>", {}, "fail", "an attribute twice"),
    ("<a>" * 200_000 + "</a>" * 200_000, {}, "pass", "nested without end"),
    ("<a>" * 400_000, {}, "fail", "and never closed"),
    ("```xml\n<a>x</a>\n```", {}, "fail", "a fence is no XML"),
    ("```xml\n<a>x</a>\n```", {"fenced": True}, "pass", "unless fences are taken off"),
    ("<a><b/></a>", {"elements": ["b"]}, "pass", "the element is there"),
    ("<a><b/></a>", {"elements": ["b", "c"]}, "fail", "one element is not"),
    ("<a>é</a>", {}, "pass", "letters beyond ASCII"),
]


@pytest.mark.parametrize(("response", "options", "wanted", "why"), XML)
def test_xml_is_one_document(response: str, options: dict[str, Any], wanted: str, why: str):
    """Well-formed and whole; nothing is expanded, and nothing fetched."""
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
    ("<p>one<p>two", "pass", "paragraphs that nobody has to close"),
    ("<ul><li>a<ul><li>b</ul><li>c</ul>", "pass", "a list in a list"),
    ("<table><tr><td>a<td>b<tr><td>c</table>", "pass", "rows and cells that end each other"),
    ("<td>a cell</td>", "pass", "a part of a table by itself"),
    ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "pass", "terms and what they mean"),
    ("<textarea><b></textarea>", "pass", "tags that are text"),
    ("<p><b><div>x</div></b></p>", "fail", "a block ends its paragraph while something is open in it"),
    ("<section><span><p>x</span></section>", "fail", "a paragraph that its phrase cannot end"),
    ("<h1>one<h2>two</h2></h1>", "fail", "a heading in a heading"),
    ("<svg><p>x</p></svg>", "fail", "HTML in SVG"),
    ("<svg><circle r='1'/></svg>", "pass", "elements of SVG, which close themselves"),
    ("<div/>", "fail", "in HTML a tag does not close itself"),
    ("<p>one</p></p>", "fail", "a paragraph closed twice"),
    ("<p><ul><li>a</li></ul></p>", "fail", "a list ends its paragraph, so its end is too late"),
    ("<b><i>x</b></i>", "fail", "closed in the wrong order"),
    ("<a href='x'>one <a href='y'>two</a></a>", "fail", "a link in a link"),
    ("<p class='a' class='b'>x</p>", "fail", "an attribute twice"),
    ("<a href='x>one</a>", "fail", "a quotation mark is missing"),
    ("<p>x</p><!-- and", "fail", "a comment without its end"),
    ("</br>", "fail", "an end of what has none"),
    ("<p>AT&T &copy; 2026</p>", "pass", "a bare ampersand"),
    ("<ul><li><dl><dt>a<dd>b</dl><li>c</ul>", "pass", "a list of terms in an entry"),
    ("<div><li><dt><li></div>", "pass", "an entry in a term ends none outside of it"),
    ("<my-card><li>a</li></my-card>", "pass", "a custom element around what is closed"),
    ("<my-card><li>a</my-card>", "fail", "its end closes no entry of a list"),
]


@pytest.mark.parametrize(("response", "wanted", "why"), HTML)
def test_html_is_nothing_else(response: str, wanted: str, why: str):
    """Known elements, closed as they must be, no prose outside."""
    assert state("is-html", response) == wanted, why


LEAVES = st.sampled_from(("x", "y ", "<br>", "<img src=a>", "<input>", "<!-- c -->", "&amp;"))
NAMES = (
    "div span b p ul ol li h1 h2 a em i u code small strong section button dl dt dd pre form label blockquote article nav fieldset "
    "legend details figure video address textarea my-card center dialog menu"
).split()
"""Without ``main`` and ``summary``, which the parser does not know to be special elements of the standard."""


@st.composite
def pages(draw: st.DrawFn) -> str:
    """Tags that mostly pair, and now and then do not."""
    pieces: list[str] = []
    names: list[str] = []
    for _ in range(draw(st.integers(1, 10))):
        match draw(st.integers(0, 4)):
            case 0 | 1:
                names.append(draw(st.sampled_from(NAMES)))
                pieces.append(f"<{names[-1]}>")
            case 2:
                pieces.append(f"</{names.pop() if names else draw(st.sampled_from(NAMES))}>")
            case 3:
                pieces.append(draw(LEAVES))
            case _:
                pieces.append(
                    draw(st.sampled_from(("</b>", "</p>", "</li>", "<div/>", "<i a=1 a=2>", "</a>")))
                )
    pieces += [f"</{name}>" for name in reversed(names) if draw(st.integers(0, 9))]
    return "".join(pieces)


@given(pages())
def test_html_is_sound_where_the_standards_parser_finds_it_so(page: str):
    """What its elements may hold is not looked at, so tables are left out; text outside of elements is no fault there."""
    parser = HTMLParser()
    parser.parse_fragment(StringIO(f"<div>{page}</div>"))

    assert (find_html_fault(f"<div>{page}</div>") is None) == (not parser.errors)


@pytest.mark.parametrize(
    "unit",
    [
        "<x>",
        "<a ",
        "<!-- >",
        "<a b='>",
        "</",
        "<![if >",
        "<svg>",
        "<b>",
        "<p><b>",
        "<font a=1>",
        "<p>",
        "<button><p><i>",
    ],
)
def test_no_page_takes_long(unit: str):
    """Whatever is left open, twice as much of it takes about twice as long: 100,000 characters are read within a second."""
    began = process_time()

    find_html_fault(f"<p>{unit * (100_000 // len(unit))}>")

    assert process_time() - began < 1


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
