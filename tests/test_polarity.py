"""Denials, suppositions, reports, quotations and questions around a match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.polarity import doubt_at, find_cues, has_negation, kept_cues, polarity

NEGATED = [
    ("The invoice is not due", "not"),
    ("It isn't due", "n't"),
    ("It isn’t due", "n't with a curly apostrophe"),
    ("It ISN'T due", "capitals"),
    ("It was never sent", "never"),
    ("There is no fee", "no"),
    ("None of the orders shipped", "none"),
    ("Nobody signed", "nobody"),
    ("Nothing is owed", "nothing"),
    ("Neither party signed", "neither"),
    ("Ships without a label", "without"),
    ("All plans except the free one", "except"),
    ("Refunds are refused unless asked for in time", "unless"),
    ("It is no longer sold", "no longer"),
    ("Pay the agent rather than the seller", "rather than"),
    ("Use net 45 instead of net 30", "instead of"),
    ("You cannot cancel", "cannot"),
    ("The claim fails to name a date", "fails to"),
    ("He denied the order", "denied"),
    ("It is false that it shipped", "false that"),
    ("The contract lacks a date", "lacks"),
    ("The price is far from final", "far from"),
    ("They refuse to pay", "refuse to"),
    ("It barely covers the cost", "barely"),
    ("Hardly any order is late", "hardly"),
    ("Anything but cheap", "anything but"),
]

NOT_NEGATED = [
    ("Not only cheap but good", "not only"),
    ("The order is due no later than Monday", "a bound"),
    ("Pay no more than 45", "a bound"),
    ("There is no doubt about it", "no doubt"),
    ("It opens not until nine", "not until"),
    ("It is nothing but a copy", "nothing but"),
    ("None other than the director", "none other than"),
    ("Order No. 5 shipped", "a number sign"),
    ("A notable knot in another note", "words that hold the letters"),
    ("The cannon in Nottingham", "again"),
    ("Paid in full", "plain"),
    ("", "empty"),
]


@pytest.mark.parametrize(("text", "why"), NEGATED)
def test_a_denial_is_seen(text: str, why: str):
    """Each cue counts as a negation, whatever its case and its apostrophe."""
    assert has_negation(text), why


@pytest.mark.parametrize(("text", "why"), NOT_NEGATED)
def test_idioms_and_lookalikes_deny_nothing(text: str, why: str):
    """Bounds, emphasis and letters inside other words are no negation."""
    assert not has_negation(text), why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is due", 1),
        ("It is not due", -1),
        ("It is not without faults", 1),
        ("Nobody never paid no fee", -1),
    ],
)
def test_two_denials_cancel_out(text: str, expected: int):
    """Polarity is the parity of the denials."""
    assert polarity(text) == expected


DOUBTFUL = [
    ("We could not find [PO-7] in the records.", "denied", "denied before"),
    ("There is no mention of [PO-7].", "denied", "no"),
    ("The order was never [PO-7].", "denied", "never"),
    ("It doesn’t mention [PO-7].", "denied", "curly apostrophe"),
    ("[PO-7] is not in scope.", "denied", "denied behind, as subject"),
    ("[PO-7] isn't in scope.", "denied", "contracted"),
    ("“[PO-7]” does not exist.", "denied", "in quotes, then denied"),
    ("[PO-7] is missing.", "denied", "by its predicate"),
    ("[PO-7]: not found", "denied", "in a listing"),
    ("[PO-7] (not found)", "denied", "in brackets"),
    ("[PO-7] is a common misconception.", "denied", "called a misconception"),
    ("All orders except [PO-7] shipped.", "denied", "set apart"),
    ("We shipped PO-8 instead of [PO-7].", "denied", "replaced"),
    ("We shipped PO-8 rather than [PO-7].", "denied", "contrast"),
    ("Unlike [PO-7] it is late.", "denied", "set apart at the start"),
    ("It is PO-8, not [PO-7].", "denied", "contrast after a comma"),
    ("The seller refuses to accept [PO-7].", "denied", "refusal"),
    ("He denied having sent [PO-7].", "denied", "denial as a verb"),
    ("No orders, invoices or notes on [PO-7] were found.", "denied", "through a list"),
    ("It is false that [PO-7] shipped.", "denied", "false that"),
    ("Nobody denies that [PO-7] is late.", "doubly denied", "two denials are hard to read"),
    ("Not found: [PO-7]", "denied", "a label"),
    ("Missing documents: DOC-1, [DOC-2]", "denied", "a label with a list"),
    ("**Rejected:** [PO-7]", "denied", "a label in bold"),
    ("The following were not found:\n\n- PO-6\n- [PO-7]\n", "denied", "a list under a denial"),
    ("Missing documents:\n1. DOC-1\n2. [DOC-2]", "denied", "a numbered list under a label"),
    ("**Not in scope**:\n* PO-6, late\n\n* the order [PO-7]", "denied", "a list under a heading in bold"),
    ("If it were [PO-7], we would know.", "hypothetical", "counterfactual"),
    ("It would have been [PO-7].", "hypothetical", "would have been"),
    ("Suppose [PO-7] is the order.", "hypothetical", "supposition"),
    ("If the date were earlier, the order would be [PO-7].", "hypothetical", "consequence of an if"),
    ("The claim that [PO-7] shipped is open.", "reported", "a claim"),
    ("It is allegedly [PO-7].", "reported", "allegedly"),
    ("You asked whether [PO-7] shipped.", "reported", "a question told again"),
    ("It falsely names [PO-7].", "reported", "falsely"),
    ("It is either [PO-7] as printed, I think", "one of several", "either"),
    ("It is [PO-7] or PO-8.", "one of several", "two candidates"),
    ("It is PO-8 or [PO-7].", "one of several", "the second of two candidates"),
    ('The buyer said "please pay [PO-7] today".', "quoted", "somebody's words"),
    ("The buyer wrote: “we never got [PO-7]”.", "denied", "denied inside a quotation"),
    ("“Ship [PO-7] now”, the buyer said.", "quoted", "said behind"),
    ("Is it [PO-7]? I will look it up.", "asked", "a question"),
    ("What became of [PO-7] in May?", "asked", "a question to its end"),
]

PLAIN = [
    ("This is [not spam].", "a denial that is a part of the match"),
    ("We [can’t ship] it.", "the same, as one word"),
    ("The order is [PO-7].", "said"),
    ("Not only [PO-7] but PO-8 shipped.", "an idiom"),
    ("It was not late; the order is [PO-7].", "another clause"),
    ("It is not PO-8 but [PO-7].", "but ends the reach"),
    ("It isn't PO-8. It is [PO-7].", "another sentence"),
    ("[PO-7], not PO-8, is the order.", "the contrast denies the other one"),
    ("No, it is [PO-7].", "an answer, not a denial"),
    ("Although it was not late, the order is [PO-7].", "a new subject"),
    ("Status: not late\nOrder: [PO-7]", "another line"),
    ("It is due no later than [June 4].", "a bound"),
    ("There is no doubt that it is [PO-7].", "an idiom"),
    ('It is called "[PO-7]" in the file.', "marks around the thing itself"),
    ('He said "[PO-7]" today.', "all of the quotation"),
    ("The song “Can't Wait” is [PO-7].", "a cue inside a title"),
    ("Is it late? The order is [PO-7].", "the question is another sentence"),
    ("The order that has no date is [PO-7].", "the denial ends with its relative clause"),
    ("The total (not counting freight) is [45.20].", "the denial ends with its bracket"),
    ("The buyer asked: [Did it ship?]", "a question, wanted as one"),
    ("If the order is late, pay by [June 4].", "a condition that supposes nothing"),
    ("It is [PO-7], and PO-8 has no date.", "a denial behind, of something else"),
    ("[PO-7] has no due date.", "it has none of something, and is there"),
    ("These were found:\n- PO-6\n- [PO-7]", "a list under a plain heading"),
    ("It was not late.\n\n- PO-6\n- [PO-7]", "a list under a sentence"),
    ("Not found:\n- PO-6\n\nFound:\n- [PO-7]", "a list under its own heading"),
    ("Found: [PO-7]", "a plain label"),
    ("It is due [45 days] or so after receipt.", "or so"),
    ("Apart from PO-8, the late order is [PO-7].", "an aside at the start"),
    ("It is [PO-7].", "short"),
    ("[PO-7]", "alone"),
]


def marked(text: str) -> tuple[str, int, int]:
    start = text.index("[")
    end = text.index("]") - 1
    return text.replace("[", "").replace("]", ""), start, end


@pytest.mark.parametrize(("text", "doubt", "why"), DOUBTFUL)
def test_a_match_that_is_not_simply_said_is_doubtful(text: str, doubt: str, why: str):
    """Each way of mentioning without saying is named."""
    assert doubt_at(*marked(text)) == doubt, why


@pytest.mark.parametrize(("text", "why"), PLAIN)
def test_a_match_that_is_said_is_not_doubted(text: str, why: str):
    """Cues that belong to something else cast no doubt."""
    assert doubt_at(*marked(text)) is None, why


@pytest.mark.parametrize("text", [row[0] for row in DOUBTFUL] + [row[0] for row in PLAIN])
def test_kept_cues_lead_to_the_same_doubt(text: str):
    """Cues of the whole text, kept by the caller, change the cost and not the answer."""
    plain, start, end = marked("A first line of no interest. " * 20 + "\n" + text)

    assert doubt_at(plain, start, end, kept_cues(plain)) == doubt_at(plain, start, end)


def test_cues_of_a_long_text_are_not_kept():
    """A text full of cues costs no more than the neighbourhood of a match."""
    assert kept_cues("not " * 10_000) is None
    assert kept_cues("not " * 10) == find_cues("not " * 10)


def test_a_cue_far_away_does_not_reach():
    """Reach is bounded, so that a long text costs no more than a short one."""
    text = "It was not " + "very " * 100 + "PO-7"

    assert doubt_at(text, len(text) - 4, len(text)) is None


@given(st.text())
def test_any_text_can_be_looked_at(text: str):
    """No text, surrogates and all, breaks the search; cues come in order, apart from each other."""
    cues = find_cues(text + " can\ud800 not ")

    ends = [0, *(cue.end for cue in cues)]
    assert all(end <= cue.start < cue.end for end, cue in zip(ends, cues, strict=False))
    assert cues
