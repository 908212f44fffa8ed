"""Sentences that hold a claim's words in another place of the tree: clauses, complements, owners, names, degrees."""

from __future__ import annotations

import time

import pytest

from tiered_eval.profiles import load_profile
from tiered_eval.scorers.coverage import Coverage
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.attachment import other_complement, other_owner, other_preposition
from tiered_eval.text.passages import read_claim
from tiered_eval.text.subject import Subject


def state(claim: str, response: str) -> str:
    expectation = make_expectation("must-contain", claim)
    return Coverage(load_profile()).check(claim, expectation, Subject(make_case(response, expectation))).state


@pytest.mark.parametrize(
    ("claim", "response", "why"),
    [
        # Clauses
        ("Users can export reports", "Admins can export reports and users can view them.", "another subject"),
        ("Users export reports", "Admins export reports and users view them.", "without a modal verb"),
        ("Users can export reports", "Users can view boards and admins can export reports.", "in order"),
        ("Users export reports", "Users view boards and admins export reports.", "in order, no modal verb"),
        ("Users export reports", "Users view boards while admins export reports.", "while"),
        ("The plan covers dental care", "The plan covers eyes and excludes dental care.", "a second verb"),
        ("The shop sells bread", "The shop sells shoes and buys bread.", "a second verb, short"),
        ("Anna Berg won the race", "Anna Berg came second in the race that Lind won.", "a relative clause"),
        ("Otto paid for the dinner", "Rosa paid for the dinner that Otto cooked.", "its subject only"),
        ("Otto cooked the dinner", "Rosa cooked the dinner for Otto.", "behind a preposition"),
        ("Rosa was elected chair", "Rosa said Otto was elected chair.", "somebody else is spoken of"),
        ("Rosa likes tea", "Rosa says that Otto likes tea.", "the same behind a that"),
        ("Berg met the king in Oslo", "Berg, who met the king, was in Oslo.", "out of a relative clause"),
        ("The museum is free on Mondays", "The museum is closed on Mondays and free on Fridays.", "two days"),
        # Complements
        ("The train stops in Lyon", "The train to Lyon stops in Dijon.", "it goes there"),
        ("The train stops in Lyon", "The train from Lyon stops in Dijon.", "it comes from there"),
        ("The train stops in Lyon", "The Lyon train stops in Dijon.", "the name of the train"),
        ("The clerk works for Norda", "The clerk works with Norda.", "another preposition"),
        ("The clerk spoke against the plan", "The clerk spoke about the plan against advice.", "both there"),
        ("The pump failed in May", "The pump repaired in May failed.", "when it was repaired"),
        ("The film was shot in Bergen", "The film set in Bergen was shot in Oslo.", "where it is set"),
        ("The museum opened in 2004", "The museum, built in 2004, opened in 2009.", "two years"),
        ("The fund invests in oil", "The fund invests in gas between oil booms.", "another complement"),
        ("Pots date to the Middle Era", "Pots date to between the Middle and Late Era.", "between two"),
        ("The lamp warms the plants", "The lamp near the plants warms the water.", "which lamp"),
        ("Norda sued Velox", "Norda and Velox sued Lind.", "subjects both"),
        # Owners and names
        ("The auditor found the error", "The assistant of the auditor found the error.", "whose"),
        ("The mayor resigned", "The wife of the mayor resigned.", "whose"),
        ("Anna Berg won the race", "Anna Lind won the race ahead of Otto Berg.", "parts of two names"),
        ("The Middle Kingdom fell", "The Middle Kingdom of Kush fell.", "another kingdom"),
        # Degrees
        ("Velox is the largest maker", "Velox is the second largest maker.", "an ordinal"),
        ("Velox is the largest maker", "Velox is one of the largest makers.", "one of several"),
        ("Velox is the largest maker", "Velox is the largest maker in Bergen.", "among fewer"),
        ("Winters are cold", "Winters are less cold.", "less"),
        ("The new pump is faster", "The new pump is faster than the old valve.", "faster than what"),
        # Not yet, or not both
        ("The firm opened a store", "The firm will open a store.", "to come"),
        ("The firm opened a store", "The firm should open a store.", "a wish"),
        ("The bank raised rates", "The bank is ready to raise rates.", "an infinitive"),
        ("The firm sells pumps", "The firm sells pumps or valves.", "one side of an or"),
        ("The fee includes all others", "The fee includes all other costs.", "others and other things"),
    ],
)
def test_words_attached_to_something_else_climb(claim: str, response: str, why: str):
    """All the words are there, and the sentence does not say it."""
    assert state(claim, response) == "unsure"


@pytest.mark.parametrize(
    ("claim", "response", "why"),
    [
        ("Users export reports", "Users of apps and tools export reports.", "tools belong to the phrase"),
        ("Users can export reports", "Users can view and export reports.", "one subject, two verbs"),
        ("Users can export reports", "Admins and users can export reports.", "two subjects"),
        ("Admins can export reports", "Admins and users can export reports.", "the first of two subjects"),
        ("Rosa and Otto teach music", "Otto and Rosa teach music.", "a list in another order"),
        ("Rosa leads the firm", "Rosa, who joined in 2010, leads the firm.", "a closed relative clause"),
        ("The museum opened in 2004", "The museum, designed by Berg, opened in 2004.", "a closed participle"),
        ("The river flows through Bergen", "The river rises in hills and flows through Bergen.", "goes on"),
        ("The lamp was sold at auction", "The lamp was found and later sold at auction.", "an adverb"),
        ("The plant makes pumps", "The plant in Bergen makes pumps.", "where the plant is"),
        ("Velox was founded in 1998", "Founded in 1998, Velox makes pumps.", "a participle in front"),
        ("The bed is ornate", "The ornate bed was left behind.", "an adjective in front"),
        ("Bees live in a pen for cattle", "Bees live in a cattle pen.", "a compound"),
        ("The goods are from Oslo", "The goods at Oslo were sold.", "origin and place"),
        ("It makes soap in Bergen", "It makes soap in Oslo, Narvik and Bergen.", "a list of places"),
        (
            "There are 80 boats using it",
            "It came 75th out of 80 boats that use it.",
            "a number of them, there",
        ),
        ("Invoices were found", "Thousands of invoices were found.", "a number of them"),
        ("Anna Berg won the race", "Anna and Otto Berg won the race.", "a name they share"),
        ("Guests pay by card", "Guests can pay by card or in cash.", "a free choice"),
        ("The bank raised rates", "The bank went on to raise rates.", "it did"),
        (
            "The bank will raise rates",
            "The bank will raise rates in May.",
            "the claim is about the future too",
        ),
        ("It is the second largest maker", "It is the second largest maker of pumps.", "the same ordinal"),
    ],
)
def test_harmless_structure_passes(claim: str, response: str, why: str):
    """What only adds to the sentence takes nothing away."""
    assert state(claim, response) == "pass"


def test_the_reason_names_the_word_and_what_it_hangs_on():
    """A reader of the trail can see which words were not attached as claimed."""
    claim, place = read_claim("The train stops in Lyon"), read_claim("The train to Lyon stops in Dijon")
    assert claim is not None
    assert place is not None

    assert other_preposition(claim, place, 0, 4) == '"lyon" hangs on another word than "in"'
    assert other_complement(claim, place, 0, 4) == 'another complement of "stop"'
    assert other_owner(claim, place, 0, 4) is None


@pytest.mark.parametrize(
    "response",
    [
        "Anna Berg " * 20_000,
        "Anna x y z w Berg sold it x y z w " * 4_000,
        "sold in a " * 9_000 + "pump by Anna Berg",
        "Anna Berg has sold and the board has a pump and " * 4_000,
    ],
    ids=["names", "parts of names", "complements", "clauses"],
)
def test_a_long_sentence_costs_little(response: str):
    """What hangs on what is found in linear time."""
    began = time.process_time()

    state("Anna Berg sold a pump in Oslo", response)

    assert time.process_time() - began < 2.0
