"""One word of a claim in another word: when it still says the same, and when it does not."""

from __future__ import annotations

import pytest

from tiered_eval.profiles import load_profile
from tiered_eval.scorers.coverage import Coverage
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.antonyms import are_opposed
from tiered_eval.text.paraphrase import are_synonyms, restated
from tiered_eval.text.passages import read_claim
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import stem


def state(claim: str, response: str) -> str:
    expectation = make_expectation("must-contain", claim)
    return Coverage(load_profile()).check(claim, expectation, Subject(make_case(response, expectation))).state


@pytest.mark.parametrize(
    ("claim", "response", "why"),
    [
        ("The course requires a deposit", "The course needs a deposit.", "a verb"),
        ("The firm purchased two cars", "In May the firm bought two cars.", "a verb, irregular"),
        ("Two kids found the purse", "Two children found the purse.", "a noun"),
        ("It lies in a calm bay", "It lies in a serene bay.", "an adjective"),
        ("Preserving the books is costly", "The preservation of the books is costly.", "the noun of a verb"),
        ("The man reported that a pipe burst", "The man said a pipe had burst.", "a verb of speech"),
        ("The hiring occurred in May", "Anna was hired in May.", "what is told has occurred"),
        ("It was built by hand in particular", "It was particularly built by hand.", "an adverb"),
    ],
)
def test_one_other_word_for_it_passes(claim: str, response: str, why: str):
    """A synonym of a common sense, or the noun of the verb, may stand in a word's place."""
    assert state(claim, response) == "pass"


@pytest.mark.parametrize(
    ("claim", "response", "why"),
    [
        ("The course requires a deposit", "The course does not need a deposit.", "denied all the same"),
        ("The course requires a deposit", "The course needs a guarantee.", "two other words"),
        ("Hiring managers sign contracts", "Hiring and managing people who sign contracts.", "who does it"),
        ("The test takes a minute", "The test takes a moment.", "no measure of time"),
        ("Velox purchased two cars", "Norda bought two cars.", "another name"),
        ("The firm purchased two cars", "The firm bought three cars.", "another number"),
        (
            "The plan decreases cost and decreases pay",
            "The plan increases cost and decreases pay.",
            "repeated",
        ),
        ("The hiring occurred in May", "Anna might be hired in May.", "what is only possible has not"),
        ("The hiring occurred in May", "They plan on hiring in May.", "nor what is planned"),
        ("The man claimed a pipe burst", "The man said a pipe had burst.", "a claim is more than a word"),
        ("The otter swims well", "The fox bought a well.", "nothing in common"),
        ("Kids shout", "Children shout.", "too short to be sure"),
    ],
)
def test_whatever_changes_more_climbs(claim: str, response: str, why: str):
    """The table helps with one plain word only, and no guard is skipped."""
    assert state(claim, response) == "unsure"


def test_the_claim_is_restated_in_the_words_of_the_sentence():
    """Guards look at the word that is there."""
    claim, sentence = read_claim("The course requires a deposit"), read_claim("The course needs a deposit")
    assert claim is not None
    assert sentence is not None

    other = restated(claim, sentence)

    assert other is not None
    assert other.stems == sentence.stems


@pytest.mark.parametrize("word", "not all half minute want second".split())
def test_no_word_stands_for_a_dangerous_one(word: str):
    """Words of grammar, amount and time have no synonyms."""
    assert not any(are_synonyms(stem(word), stem(other)) for other in "noted whole moment need sec".split())


def test_no_pair_is_both():
    """What is opposed is no synonym."""
    assert are_synonyms(stem("needs"), stem("required"))
    assert not are_synonyms(stem("increase"), stem("decrease"))
    assert are_opposed(stem("increase"), stem("decrease"))
