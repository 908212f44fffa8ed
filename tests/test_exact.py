"""The exact scorer: where a literal counts as found, and where it only looks so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.records import Case, Expectation, Outcome
from tiered_eval.scorers.exact import Exact
from tiered_eval.text.subject import Subject


def check(value: object, response: str, **options: object) -> Outcome:
    expectation = Expectation(id="e", kind="must-contain", values=(value,), scorer="exact", options=options)
    subject = Subject(Case(id="c", response=response, expectations=(expectation,)))
    return Exact().check(value, expectation, subject)


FOUND = [
    ("PO-4471", "PO-4471", "alone"),
    ("PO-4471", "See PO-4471.", "the end of a sentence"),
    ("PO-4471", "PO-4471, and more", "a comma"),
    ("PO-4471", "it (PO-4471) shipped", "brackets"),
    ("PO-4471", "PO-4471's terms", "a possessive"),
    ("PO-4471", "PO-4471’s terms", "a curly possessive"),
    ("PO-4471", "**PO-4471**", "bold"),
    ("PO-4471", "`PO-4471`", "a code mark"),
    ("PO-4471", "“PO-4471”", "quotes around it alone"),
    ("PO-4471", "po‑4471 shipped", "case and a non-breaking hyphen"),
    ("PO-4471", "PO-4471—late again", "an em dash ends it"),
    ("PO-4471", "PO-4471--late again", "so do two hyphens"),
    ("PO-4471", "#PO-4471", "a tag"),
    ("PO-4471", "- PO-4471\n- PO-4472", "a list"),
    ("PO-4471", "PO-44710 and PO-4471", "a near miss and then the thing itself"),
    ("PO-4471", "It is not PO-4471-B. It is PO-4471.", "a denied near miss and then the thing itself"),
    ("PO-4471", "PO-4471: shipped", "a colon"),
    ("PO-4471", "PO-4471; shipped", "a semicolon"),
    ("PO-4471", "PO-4471¹ shipped", "a footnote mark"),
    ("PO-4471", "PO\u200b-4471", "an invisible character inside"),
    ("net 45 days", "Terms are net\n45   days.", "across a line end"),
    ("New York", "a New York/London route", "a slash between words"),
    ("ship it", "We don't lie. Ship it!", "an exclamation mark"),
    (
        "Invoices are due in May.",
        "Invoices are due in May, as agreed",
        "the full stop is no part of a statement",
    ),
    ('"net 45"', "It says net 45 here", "quotes of the author mean the words"),
    ("東京", "首都は東京です", "a script without spaces"),
    ("서울", "수도는 서울이고", "particles are glued on"),
    ("C++", "written in C++, mostly", "symbols at its end"),
    ("net 45", "The terms are net **45**.", "one word of it is bold"),
    ("net 45", "*net* 45 applies", "the first word is in italics"),
    ("net 45", "net <b>45</b>", "HTML does the same"),
    ("net 45", "first net **45.5**, later net **45**", "a near miss and then the thing itself, both bold"),
    ("it's ok", "it's **ok** here", "its own apostrophe is no mark"),
    (4471, "order 4471 shipped", "a number in the suite is text here"),
    ("https://x.example/a", "see https://x.example/a.", "a link at the end of a sentence"),
    ("$45", "it costs $45", "a symbol at its start"),
]

ABSENT = [
    ("PO-4471", "nothing of the kind", "absent"),
    ("PO-4471", "", "an empty response"),
    ("PO-4471", "PO-44710", "a digit more"),
    ("PO-4471", "xPO-4471", "a letter before"),
    ("PO-4471", "PO-4471-B", "a longer identifier"),
    ("PO-4471", "PO‑4471‑B", "the same with non-breaking hyphens"),
    ("PO-4471", "PO-4471.2", "a version"),
    ("PO-4471", "PO-4471_old", "an underscore"),
    ("PO-4471", "PO-4471b", "a letter behind"),
    ("PO-4471", "PO-4471/2", "a part"),
    ("PO-4471", "US-PO-4471", "a longer identifier before"),
    ("PO-4471", "v1.PO-4471", "a dotted prefix"),
    ("PO-4471", "PO-4471.pdf", "a file"),
    ("PO-4471", "PO-4471@x.example", "an address"),
    ("4471", "PO-4471", "a piece of an identifier"),
    ("45", "145", "a digit before"),
    ("45", "4.5", "another number"),
    ("45", "1,045", "thousands"),
    ("45", "45.2", "a decimal"),
    ("45", "12:45", "a time"),
    ("45", "45/60", "a fraction"),
    ("net 45", "net 450", "a digit more at the end of a phrase"),
    ("C", "written in C++", "another language"),
    ("AT", "AT&T", "a piece of a name"),
    ("can", "we can't", "a contraction"),
    ("cafe", "café", "an accent"),
    ("https://x.example/a", "https://x.example/ab", "a longer link"),
    ("art", "a party", "inside a word"),
    ("net 45", "net **145**", "another number in bold"),
    ("net 45", "net **45.5**", "a decimal in bold"),
    ("net 45", "internet **45**", "the end of a longer word, then bold"),
    ("net 45", "net * 45", "a star between two words is no format"),
]

UNSURE = [
    ("PO-4471", "We could not find PO-4471.", "denied"),
    ("PO-4471", "PO-4471 is not in scope.", "denied behind"),
    ("PO-4471", "It is PO-4471 or PO-4472.", "one of two"),
    ("PO-4471", 'The buyer said "I never got PO-4471 at all".', "denied in a quotation"),
    ("PO-4471", 'The buyer said "send PO-4471 today".', "quoted"),
    ("PO-4471", "Do you mean PO-4471?", "asked"),
    ("PO-4471", "If it were PO-4471, we would know.", "supposed"),
    ("PO-4471", "https://x.example/PO-4471/edit", "a piece of a link"),
    ("PO-4471", "see PO-4471.The rest", "a lost space, or a longer name"),
    ("Paris", "a Paris-based firm", "a compound"),
    ("Paris", "non-Paris offices", "a compound that turns it round"),
    ("sugar", "it is sugar-free", "a compound that denies it"),
    ("45", "the change is -45", "a sign or a bullet"),
    ("45", "it is 45%", "a share"),
    ("Brien", "Mr O'Brien", "a piece of a name"),
    ("example", "see example.com", "a piece of an address"),
    ("\u200b", "anything", "nothing is left of the literal"),
    ("net 45", "We offer no net **45**.", "denied, and bold"),
    ("free trial", "their 'free' trial costs $5", "a word in scare quotes"),
    ("net 45", "net `45`", "a code mark inside, which may be a quote"),
]


@pytest.mark.parametrize(("value", "response", "why"), FOUND)
def test_the_literal_is_found(value: object, response: str, why: str):
    """Typography and ordinary punctuation do not hide a literal."""
    assert check(value, response).state == "pass", why


@pytest.mark.parametrize(("value", "response", "why"), ABSENT)
def test_a_piece_of_something_longer_is_not_the_literal(value: object, response: str, why: str):
    """Tokens are bounded: a longer identifier, number or word is another one."""
    assert check(value, response).state == "fail", why


@pytest.mark.parametrize(("value", "response", "why"), UNSURE)
def test_a_doubtful_match_climbs(value: object, response: str, why: str):
    """What is denied, quoted, asked, supposed or compounded is neither found nor absent."""
    assert check(value, response).state == "unsure", why


def test_evidence_quotes_the_response_as_written():
    """The evidence has the author's own characters and their place."""
    response = "Dear buyer,\n\nthe  order is “PO‑4471”."

    evidence = check("po-4471", response).evidence

    assert evidence is not None
    assert evidence.quote == "PO‑4471"
    assert response[evidence.start : evidence.end] == "PO‑4471"


def test_a_near_miss_is_named():
    """A fail says which longer thing was there."""
    assert "PO-4471-B" in check("PO-4471", "See (PO-4471-B).").reason


def test_a_long_match_is_quoted_in_part():
    """The quote is cut to a readable length; its offsets are those of the whole."""
    statement = "very " * 100 + "long"

    evidence = check(statement, f"It is {statement}.").evidence

    assert evidence is not None
    assert len(evidence.quote) == 200
    assert evidence.end == 6 + len(statement)


@pytest.mark.parametrize(
    ("response", "state"),
    [("Net 45", "pass"), (" net 45. ", "pass"), ("It is net 45", "fail"), ("", "fail")],
)
def test_whole_wants_the_response_to_be_the_literal(response: str, state: str):
    """``whole`` allows for typography and a full stop, and nothing else."""
    assert check("net 45", response, whole=True).state == state


def test_unbounded_is_plain_inclusion():
    """``bounded: false`` takes a piece of a word, and looks at no surroundings."""
    assert check("4471", "not PO-44710", bounded=False).state == "pass"


@pytest.mark.parametrize(("response", "state"), [("Use IT here", "pass"), ("Use it here", "fail")])
def test_case_can_be_made_to_count(response: str, state: str):
    """``case_sensitive`` keeps upper and lower case apart."""
    assert check("IT", response, case_sensitive=True).state == state


def test_a_response_of_near_misses_costs_little():
    """A long response made of near misses is given up on, not searched for ever."""
    outcome = check("a-1", "a-11 " * 200_000)

    assert outcome.state == "unsure"


def test_a_lone_surrogate_is_no_trouble():
    """Text that cannot be encoded can be searched all the same."""
    assert check("PO-4471", "\ud800 PO-4471 is open").state == "pass"


@pytest.mark.parametrize("order", ["PO-4471", "PO-4480", "PO-4502"])
def test_each_of_several_orders_is_found(order: str):
    """A response may speak of more than one: another identifier near by takes none back."""
    response = "PO-4471 is on net 45. PO-4480 went out on Monday with the goods of PO-4502."

    assert check(order, response).state == "pass"


WORDS = st.text(alphabet="abcxyzé ,;\n", max_size=60)


@given(WORDS, st.from_regex(r"[A-Z]{2,4}-[0-9]{2,6}", fullmatch=True), WORDS)
def test_a_planted_identifier_is_found_where_it_stands(before: str, identifier: str, after: str):
    """Any identifier between spaces is found, and the evidence points at it."""
    response = f"{before} {identifier} {after}"

    outcome = check(identifier, response)

    assert outcome.state == "pass"
    assert outcome.evidence is not None
    assert response[outcome.evidence.start : outcome.evidence.end] == identifier


@given(
    st.from_regex(r"[A-Z]{2,4}-[0-9]{2,6}", fullmatch=True),
    st.sampled_from(["0", "9", "x", "_", "-B", ".2", "/3", "é"]),
)
def test_an_extended_identifier_is_never_found(identifier: str, extension: str):
    """Whatever is glued to an identifier makes it another one."""
    assert check(identifier, f"It is {identifier}{extension} here").state == "fail"
