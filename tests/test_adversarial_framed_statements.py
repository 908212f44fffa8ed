"""Statements that stand word for word in a sentence that does not make them, answers that are named and not given.

Each row says what a careful reader would: none of these may pass. The sentences are invented.
"""

from __future__ import annotations

from tests.scoring import free_state
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.answer import Answer
from tiered_eval.text.subject import Subject

STATEMENTS = [
    ("The office is closed", "I dreamt that the office is closed.", "a dream"),
    ("The office is closed", "The office is closed in a dream.", "a dream behind it"),
    ("The office is closed", "In the play, the office is closed.", "a play"),
    ("The office is closed", "In the novel the office is closed.", "a novel"),
    ("The office is closed", "In one of her stories, the office is closed.", "one of several"),
    ("The office is closed", "In Orwell's novel, the office is closed.", "whose novel"),
    ("The office is closed", "In the author’s dream the office is closed.", "whose dream"),
    ("The office is closed", "In a worst-case scenario, the office is closed.", "a scenario"),
    ("The office is closed", "In this example, the office is closed.", "an example"),
    ("The office is closed", "According to the legend, the office is closed.", "a legend"),
    ("The office is closed", "The story goes that the office is closed.", "a tale"),
    ("The office is closed", "For the sake of argument, the office is closed.", "supposed"),
    ("The office is closed", "In an alternative history, the office is closed.", "another world"),
    ("The office is closed", "On stage, the office is closed.", "a stage"),
    ("The office is closed", "He joked that the office is closed.", "a joke"),
    (
        "The study found a link between tea and sleep",
        "The study found no clear link between tea and sleep.",
        "no clear",
    ),
    (
        "The study found a link between tea and sleep",
        "The study set out to find a link between tea and sleep.",
        "an aim",
    ),
    ("The fee rose by 5 percent", "The fee rose to 5 percent.", "by and to"),
    ("The plant emits less than 40 tons", "The plant emits more than 40 tons.", "another limit"),
    ("Bids are due before noon on Friday", "Bids are due after noon on Friday.", "after for before"),
    ("He resigned because of the audit", "He resigned despite the audit.", "another reason"),
    (
        "Plan A costs 3 euros and plan B costs 5 euros",
        "Plan A costs 5 euros and plan B costs 3 euros.",
        "values changed over",
    ),
    (
        "The lamp has a maximum output of 60 watts",
        "The lamp has a minimum output of 60 watts.",
        "an opposite",
    ),
    ("The buyer pays the transport", "The seller pays the transport.", "the other party"),
    ("Training is mandatory for new staff", "Training is optional for new staff.", "an opposite"),
    ("Turn the dial to the left", "Turn the dial to the right.", "an opposite"),
    ("The gross salary is 3000 euros", "The net salary is 3000 euros.", "an opposite"),
    ("The minister opened the museum", "The prime minister opened the museum.", "another office"),
    ("The museum opened its new wing", "The museum is to open its new wing.", "to come"),
    (
        "The drug is safe in pregnancy",
        "It has not been shown that the drug is safe in pregnancy.",
        "not shown",
    ),
    ("The drug is safe in pregnancy", "We assume that the drug is safe in pregnancy.", "assumed"),
    (
        "The drug is safe in pregnancy",
        "The trial was meant to show that the drug is safe in pregnancy.",
        "an aim",
    ),
    ("The drug cures malaria", "The drug helps cure malaria in mice.", "in mice"),
    ("Coffee causes insomnia", "Coffee rarely, if ever, causes insomnia.", "rarely"),
    ("The road is closed to trucks", "The road is closed to trucks at night.", "a restriction of time"),
    ("The bakery sells bread on Sundays", "The bakery sells bread every day but Sundays.", "all but"),
    ("The museum is open on Mondays", "The museum is open daily except on Mondays.", "an exception"),
    (
        "Shares of Velox fell on Monday",
        "Shares of Norda fell on Monday, and those of Velox rose.",
        "of another",
    ),
    ("The manual is written in French", "The manual was translated from French.", "from it"),
    ("Velox bought Norda", "In the parallel world of the game, Velox bought Norda.", "a game"),
    ("Velox bought Norda", "It would be wrong to say Velox bought Norda.", "wrong to say"),
    ("Velox bought Norda", "Velox bought Norda shares worth a million.", "shares of it"),
    (
        "The valve closes at 4 bar",
        "The valve closes at 4 bar in the old model, at 6 in ours.",
        "another model",
    ),
    ("The valve closes at 4 bar", "Ideally the valve closes at 4 bar.", "ideally"),
    ("Cats can see red", "Whether cats can see red is debated.", "debated"),
    ("Cats can see red", "Cats can see red? Hardly.", "asked and denied"),
    ("The pass is valid for two zones", "The pass is valid for two zones off-peak.", "a restriction of time"),
    ("Rain is expected", "Rain was expected and never came.", "did not come"),
    ("Krol won the race", "Krol won the race in his dreams.", "a dream"),
    ("Krol won the race", "Krol won the race but was disqualified.", "taken back"),
    ("Krol won the race", "Bookmakers had Krol as favourite; Lund won the race.", "another winner"),
    ("Krol won the race", "The photo shows that Krol won the race is wrong.", "wrong"),
    ("The tower is open to visitors", "The tower is open to visitors with a ticket.", "a restriction"),
    ("The firm pays dividends", "The firm pays dividends when profits allow.", "a condition"),
    ("The firm pays dividends", "The firm pays dividends to preferred shareholders.", "to some"),
    ("Brandt scored the goal", "Brandt scored the goal, or was it Moen?", "a doubt behind"),
    ("The river is safe to swim in", "The river is safe to swim in, or was before the spill.", "the past"),
]
ANSWERS = [
    ("Canberra", "It is probably Canberra.", "What is the capital of Australia?", "a guess"),
    (
        "Canberra",
        "People confuse it with Canberra; it is Sydney.",
        "What is the capital of Australia?",
        "refuted",
    ),
    ("Canberra", "Some would answer Canberra.", "What is the capital of Australia?", "others' answer"),
    ("Elizabeth I", "Elizabeth II", "Who was queen in 1588?", "another queen"),
    ("Rocky", "Rocky III", "Which film won?", "another film"),
    ("Sudan", "South Sudan", "Which country is it?", "another country"),
    ("Guinea", "Equatorial Guinea", "Which country is it?", "another country"),
    ("Paris", "It is not known, though Paris has been suggested.", "Where was it made?", "a suggestion"),
    (
        "Canberra",
        "Canberra would be a fair guess, yet it is wrong.",
        "What is the capital of Australia?",
        "called wrong",
    ),
    ("Canberra", "It lies between Sydney and Canberra.", "Which city is it?", "a place near"),
    ("Canberra", "The Canberra Raiders won.", "Which city hosted the final?", "a team"),
    ("Mars", "Not Mars, as I first wrote.", "Which planet is it?", "denied"),
    ("Lisbon", "Lisbon used to be the capital.", "What is the capital?", "the past"),
    ("Lisbon", "People often think of Lisbon, though it is Porto.", "Which city is it?", "refuted"),
    ("Lisbon", "A suburb of Lisbon.", "Which city is it?", "a suburb"),
    (
        "Lisbon",
        "It was signed in Porto, not far from where the Lisbon road begins.",
        "Where was it signed?",
        "a road",
    ),
    ("Ada Lovelace", "Ada Lovelace is often named, wrongly.", "Who built it?", "wrongly"),
]


def test_a_framed_statement_never_passes():
    """Words that are supposed, restricted or told of others are no silent pass."""
    wrong = [row for row in STATEMENTS if free_state("must-contain", *row[:2]) == "pass"]

    assert wrong == []


def _given(value: str, response: str, question: str) -> str:
    expectation = Expectation(id="e", kind="equivalent", values=(value,))
    case = Case(id="c", input=question, response=response, expectations=(expectation,))
    return Answer().check(value, expectation, Subject(case)).state


def test_an_answer_that_is_only_named_never_passes():
    """An answer that is guessed, turned down or a part of another name is not given."""
    wrong = [row for row in ANSWERS if _given(*row[:3]) == "pass"]

    assert wrong == []
