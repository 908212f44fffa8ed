"""The scorer classification: naming a label is not choosing it."""

from __future__ import annotations

import pytest

from tests.scoring import state, verdict
from tiered_eval.errors import ConfigError

TICKETS = ["billing", "technical", "account", "account_closure"]
LETTERS = ["A", "B", "C", "D", "E"]

ROWS = [
    ("billing", TICKETS, "billing", "pass", "the label alone"),
    ("billing", TICKETS, "**Billing.**", "pass", "marks and case around it"),
    ("billing", TICKETS, "The category is billing.", "pass", "in a sentence"),
    ("account", TICKETS, "account_closure", "fail", "the longer label is another one"),
    ("account_closure", TICKETS, "This is about account closure.", "pass", "the longer label, with a space"),
    ("account", TICKETS, "It belongs to account-closure.", "fail", "the longer label, with a hyphen"),
    ("billing", TICKETS, "This is not billing, it is technical.", "fail", "the expected one is denied"),
    ("technical", TICKETS, "This is not billing, it is technical.", "pass", "the denied one does not count"),
    ("billing", TICKETS, "This is not billing.", "fail", "denied, and nothing else is named"),
    ("billing", TICKETS, "It touches billing and technical matters.", "unsure", "two are left"),
    ("technical", TICKETS, "It mentions billing. Category: technical", "pass", "one is announced"),
    ("billing", TICKETS, "Either billing or technical.", "unsure", "it does not choose"),
    ("billing", TICKETS, "Shipping", "fail", "none of the labels"),
    ("billing", TICKETS, "", "fail", "nothing is said"),
    ("billing", TICKETS, "rebilling", "fail", "a part of a word"),
    (["billing", "account"], TICKETS, "account", "pass", "either is right"),
    ("2", ["1", "2", "3"], "Rating: 2", "pass", "a figure as a label"),
    ("1", ["1", "2", "12"], "The answer is 1.5", "unsure", "a piece of a number"),
    ("1", ["1", "2", "12"], "The answer is 12", "fail", "a piece of a longer label"),
    ("B", LETTERS, "B", "pass", "a letter alone"),
    ("B", LETTERS, "(B)", "pass", "in brackets"),
    ("B", LETTERS, "The answer is B.", "pass", "announced"),
    ("A", LETTERS, "A dog is a mammal.", "fail", "the article is no choice"),
    ("A", LETTERS, "None of the above", "fail", "no option is chosen, though the words have an a and an e"),
    ("E", LETTERS, "None of the above", "fail", "nor the last one"),
    ("C", LETTERS, "A) iron\nB) gold\nC) tin\n\nAnswer: C", "pass", "the options are told again first"),
    ("A", LETTERS, "A) iron\nB) gold\nC) tin\n\nAnswer: C", "fail", "told again is not chosen"),
    ("A", LETTERS, "It could be A or B", "unsure", "letters that are not a choice"),
    ("A", LETTERS, "I think it's A", "unsure", "a letter that is not announced"),
    ("I", ["I", "II"], "I am not sure", "fail", "a pronoun"),
    ("B", LETTERS, r"So the result is \boxed{B}", "pass", "in a box"),
    (
        "None of the above",
        [*LETTERS, "None of the above"],
        "None of the above.",
        "pass",
        "a label of its own",
    ),
    ("yes", ["yes", "no"], "No, it is not.", "fail", "the other answer"),
    ("not spam", ["spam", "not spam"], "This is not spam.", "pass", "a label that holds a denial"),
    ("yes", ["yes", "no"], "Yes, there is no doubt.", "pass", "the first word, and a word that is no answer"),
    ("no", ["yes", "no"], "Yes, there is no doubt.", "fail", "which is not the other label"),
    ("yes", ["yes", "no"], "**Yes.** No invoice is open.", "pass", "in bold, and another sentence"),
    ("yes", ["yes", "no"], "Yes, but actually no.", "unsure", "taken back"),
    ("yes", ["yes", "no"], "Yes, or no if it is late.", "unsure", "left open"),
    ("yes", ["yes", "no"], "No. Yes.", "unsure", "both alone"),
    ("no", ["yes", "no"], "As an AI model, I have no access to that.", "unsure", "a word of what follows it"),
    ("no", ["yes", "no"], "There is no problem with that, it is open.", "unsure", "which may well mean yes"),
    ("no", ["yes", "no"], "The answer is no because it is late.", "pass", "announced, whatever follows"),
    ("yes", ["yes", "no"], "I say no because yes is odd.", "unsure", "neither comes first"),
    ("billing", TICKETS, "Billing. Not a technical matter.", "pass", "the other one is denied"),
    ("billing", TICKETS, "Billing: no. Technical: yes.", "unsure", "headings"),
    ("don't know", ["know", "don't know"], "I don’t know", "pass", "a curly apostrophe, the longer label"),
]


@pytest.mark.parametrize(("label", "labels", "response", "wanted", "why"), ROWS)
def test_the_chosen_label_is_compared(
    label: str | list[str], labels: list[str], response: str, wanted: str, why: str
):
    """The label that the response chooses decides; where it does not choose, nothing does."""
    assert state({"classification": {"value": label, "labels": labels}}, response) == wanted, why


ALONE = [
    ("billing", "pass", "the label alone"),
    ("The category is billing", "pass", "announced"),
    ("We looked at billing last week", "unsure", "named; other labels are not known"),
    ("technical", "fail", "something else"),
    ("not billing", "fail", "denied"),
]


@pytest.mark.parametrize(("response", "wanted", "why"), ALONE)
def test_without_labels_only_a_plain_choice_counts(response: str, wanted: str, why: str):
    """The short form knows one label, so that only an answer that announces it can be told."""
    assert state({"classification": "billing"}, response) == wanted, why


def test_case_may_count():
    """With case_sensitive a label in other case is none."""
    entry = {"classification": {"value": "US", "labels": ["US", "UK"], "case_sensitive": True}}

    assert state(entry, "It tells us") == "fail"
    assert state(entry, "The answer is US") == "pass"


def test_a_label_that_is_none_of_the_labels_is_an_error():
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(ConfigError, match="none of the labels"):
        state({"classification": {"value": "bills", "labels": TICKETS}}, "billing")


def test_evidence_is_where_the_choice_stands():
    """The verdict quotes the label in the response."""
    ended = verdict({"classification": {"value": "technical", "labels": TICKETS}}, "Category: technical")

    assert ended.evidence is not None
    assert (ended.evidence.quote, ended.score) == ("technical", 1.0)
