"""Short gold answers: naming them in the opening gives them; a list of doubts says when it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.records import Outcome
from tiered_eval.scorers.answer import Answer
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.subject import Subject


def check(gold: str, response: str, question: str | None = None, *others: str) -> Outcome:
    expectation = make_expectation("equivalent", gold, *others, match="any")
    return Answer().check(gold, expectation, Subject(make_case(response, expectation, input=question)))


QUESTION = "which city hosts the fair"


@pytest.mark.parametrize(
    ("gold", "response", "why"),
    [
        ("Bergen", "Bergen", "the bare answer"),
        ("Bergen", "The fair is hosted by Bergen.", "in the opening sentence"),
        ("the Bergen hall", "It is in Bergen Hall.", "the article does not matter"),
        ("Bergen (city)", "Bergen.", "a gloss in parentheses"),
        ("(the port of) Bergen", "Bergen", "parentheses in front"),
        ("Bergen or Oslo", "Oslo", "alternatives in one gold"),
        ("Anna Lind Berg", "The fair was founded by Anna Berg.", "a middle name"),
        ("J. R. Berg", "It was J.R. Berg.", "initials"),
        ("23 September 1989", "It opened on September 23, 1989.", "a date in another order"),
        ("sea shells", "She sells seashells.", "written as one"),
        ("seashells", "She sells sea shells.", "written as two"),
        ("Bergen, Oslo and Narvik", "Oslo, Narvik and Bergen", "a list in another order"),
        ("cafÃ© Berg", "It is Café Berg.", "a gold whose accents were mangled"),
        ("7", "7", "a bare digit"),
        ("Professor Anna Berg", "Anna Berg opened it.", "without the title"),
        ("Robert Berg", "It was founded by Bob Berg.", "short for the given name"),
        ("Anna Lind Berg", "The fair was founded by A. L. Berg.", "initials"),
        ("A. L. Berg", "The fair was founded by Anna Lind Berg.", "initials spelled out"),
        ("Berg, who won in 1998", "The winner is Berg.", "the gold explains itself"),
        ("Bergen", "It is Bergen City.", "the question says that it is a city"),
        ("Berg", "The fair was opened by President Berg.", "a title before it"),
        ("Velox", "It was opened by Velox Ltd.", "the form of the firm"),
        (
            "France, Spain and Italy",
            "It borders Italy to the south, Spain and, to the north, France.",
            "each",
        ),
        ("Hydro\u00adgen", "It is hydrogen.", "a soft hyphen"),
    ],
)
def test_an_answer_that_is_given_passes(gold: str, response: str, why: str):
    """The forms in which a gold answer may stand."""
    assert check(gold, response, QUESTION).state == "pass"


@pytest.mark.parametrize(
    ("gold", "response", "question", "why"),
    [
        ("Bergen", "The fair is not in Bergen.", QUESTION, "denied"),
        ("Bergen", "Is it Bergen?", QUESTION, "asked"),
        (
            "fair",
            "The fair is held in Oslo every spring, at the old harbour.",
            QUESTION,
            "the question holds the word",
        ),
        ("Berg", "The fair was opened by Anna Berg Holm of the council.", QUESTION, "part of a longer name"),
        ("Bergen", "I'm sorry, I do not know. Perhaps Bergen hosts it.", QUESTION, "ignorance first"),
        (
            "Bergen",
            "Several cities took turns. One of them was Bergen.",
            QUESTION,
            "one of several, and late",
        ),
        ("Oslo", "It is Bergen, which grew faster than Oslo.", QUESTION, "what it is compared with"),
        (
            "Oslo",
            "The hosts are Oslo and three more.",
            "list the cities that host the fair",
            "one where several are asked",
        ),
        ("7", "It has 7 halls, a hotel and a garden.", QUESTION, "too short to be found by chance"),
        ("Bergen", "It might be Bergen, as far as is known.", QUESTION, "a guess"),
        ("Bergen", "It used to be Bergen, and now it is Oslo.", QUESTION, "a thing of the past"),
        ("Bergen", "Many think it is Bergen, which is wrong.", QUESTION, "somebody's belief"),
        ("Bergen", "It is Oslo, which lies south of Bergen.", QUESTION, "a place to go by"),
        ("Anna Berg", "Anna Berg Holm opened it.", QUESTION, "a longer name behind it"),
        ("1998", "It was planned in 1998 and opened in 2003.", "when did it open", "another year"),
        ("Bergen", "It is held in Oslo.", QUESTION, "not named"),
        ("Bergen", "", QUESTION, "nothing said"),
        ("Bergen and Oslo", "Bergen", QUESTION, "half of two"),
        (
            "France, Spain and Italy",
            "It borders Italy and a sea. Spain is far off, and so is France.",
            QUESTION,
            "two sentences",
        ),
        ("Oslo", "It is Bergen, while Oslo hosts the race.", QUESTION, "said of the other"),
        ("Oslo", "The previous long-serving host city of the fair, Oslo, gave it up.", QUESTION, "before it"),
        ("Rosa Lind", "Otto Berg runs it, with his mother, Rosa Lind, at the desk.", QUESTION, "a relative"),
        ("Oslo", "Oslo", "which two cities host the fair", "a bare answer, and one of two"),
        ("Anna & Otto Berg", "Anna Berg", "who founded it", "one of a pair"),
        ("Bergen", "There is no definitive answer, as some say Bergen.", QUESTION, "no answer at all"),
        (
            "Anna Berg",
            "Otto Lind hosts it. He followed the previous and rather long-serving presenter of the evening show, Anna Berg.",
            "who hosts it",
            "whom somebody followed, named after her titles",
        ),
        ("Berg", "The fair was opened by Berg Holm.", "who opened the fair", "a family name behind it"),
    ],
)
def test_an_answer_that_is_only_named_climbs(gold: str, response: str, question: str, why: str):
    """Each doubt on its own; none of them is a fail."""
    assert check(gold, response, question).state == "unsure"


@pytest.mark.parametrize(
    ("gold", "response", "question", "why"),
    [
        ("Oslo", "Berg did not visit Oslo.", "which city did Berg not visit", "a denial"),
        ("Norda", "Velox beat Norda in the final.", "whom did Velox beat", "whom it is compared with"),
        ("Rosa Lind", "It is his mother, Rosa Lind.", "what is the name of Otto's mother", "a relative"),
        ("2019", "It lasted until 2019.", "until when did it last", "an end"),
        ("Anna Berg", "Anna Berg won three times.", "which three times champion won", "times are no things"),
        ("Lind", "The sea there is the Lind Sea.", "which sea is it", "what the name is"),
    ],
)
def test_what_the_question_says_itself_is_no_doubt(gold: str, response: str, question: str, why: str):
    """A word of doubt that only repeats the question takes nothing away."""
    assert check(gold, response, question).state == "pass"


@pytest.mark.parametrize(
    ("question", "others", "response", "state", "why"),
    [
        ("who was the first to cross it", ("Otto Lind",), "Anna Berg", "unsure", "one thing, two answers"),
        ("who crossed it", ("Otto Lind",), "Anna Berg", "pass", "it may have been several"),
        (
            "who was the first to cross it",
            ("Berg", "Anna L. Berg"),
            "Anna Berg",
            "pass",
            "names of one person",
        ),
        (
            "who was the first to cross it",
            ("Otto Lind",),
            "Anna Berg and Otto Lind",
            "pass",
            "both are named",
        ),
        (
            "who was the first to cross it",
            ("Otto Berg Holm",),
            "Anna Berg",
            "pass",
            "half of the shorter name is in the other",
        ),
        ("who crossed it", ("unknown",), "Anna Berg", "unsure", "it may not be known"),
        ("what is the last name of Anna", ("Otto Lind",), "Anna Berg", "pass", "a last name is no last one"),
    ],
)
def test_accepted_answers_that_contradict_each_other(
    question: str, others: tuple[str, ...], response: str, state: str, why: str
):
    """Where one thing is asked for and different ones are accepted, somebody has to look."""
    assert check("Anna Berg", response, question, *others).state == state


def test_answers_that_share_a_word_of_many_are_different_ones():
    """A word in common makes no alias, where most words differ."""
    question = "what is the most common cause of the leak"

    assert check("a worn pump seal", "a worn pump seal", question, "a split tank seal").state == "unsure"
    assert check("a worn pump seal", "a worn pump seal", question, "the worn seal").state == "pass"


def test_another_day_of_the_right_year_climbs():
    """The year alone would do, but the response gives a day, and not the accepted one."""
    question = "when did it open"

    assert check("1998", "It opened on 7 May 1998.", question, "3 June 1998").state == "unsure"
    assert check("1998", "It opened on 3 June 1998.", question, "3 June 1998").state == "pass"
    assert check("1998", "It opened on 7 May 1998.", question).state == "pass"


def test_two_of_the_accepted_answers_settle_a_question_for_several():
    """Naming a second one shows that the list was answered."""
    assert check("Oslo", "Oslo and Bergen.", "list the cities that host the fair", "Bergen").state == "pass"


def test_one_clean_place_is_enough():
    """A doubtful mention elsewhere takes nothing away."""
    assert check("Bergen", "It is Bergen. Was it always Bergen?", QUESTION).state == "pass"


def test_the_evidence_points_at_the_place():
    """The quote holds the answer, at its offsets."""
    response = "The fair is hosted by Bergen."

    evidence = check("Bergen", response, QUESTION).evidence

    assert evidence is not None
    assert response[evidence.start : evidence.end] == "Bergen"


def test_without_a_question_it_still_works():
    """The question is a help, not a need."""
    assert check("Bergen", "Bergen it is.").state == "pass"


@given(st.text(max_size=40), st.text(max_size=120), st.text(max_size=40))
def test_no_text_breaks_it_and_nothing_fails(gold: str, response: str, question: str):
    """Any three texts end in pass or unsure."""
    assert check(gold, response, question).state in {"pass", "unsure"}


@given(st.sampled_from(["Bergen", "Anna Berg", "23 September 1989", "sea shells"]))
def test_the_answer_itself_is_an_answer(gold: str):
    """Whoever answers with the gold word for word is right."""
    assert check(gold, gold, QUESTION).state == "pass"


@pytest.mark.parametrize(
    ("response", "wanted"),
    [
        ("Yes and no.", "unsure"),
        ("Well yes, but actually no.", "unsure"),
        ("Yes. No, wait.", "unsure"),
        ("No, yes.", "unsure"),
        ("Yes/no", "unsure"),
        ("Yes.", "pass"),
        ("Yes, with no exceptions.", "pass"),
        ("Yes, see rule No. 5.", "pass"),
    ],
)
def test_yes_beside_no_is_no_clean_yes(response: str, wanted: str):
    """Whoever says both has not given the answer; "no" before its noun is another word."""
    assert check("yes", response, "Is it allowed?").state == wanted


@pytest.mark.parametrize(
    ("gold", "response", "wanted"),
    [
        ("Paris", "Paris or Rome", "unsure"),
        ("Paris", "It is Rome or maybe Paris.", "unsure"),
        ("Paris", "Paris/Rome", "unsure"),
        ("Paris", "Paris, Rome or Bonn", "unsure"),
        ("Paris", "Paris, in France.", "pass"),
        ("pass", "pass/fail", "unsure"),
        ("true", "True. Well, false.", "unsure"),
        ("true", "True.", "pass"),
    ],
)
def test_an_answer_that_leaves_the_choice_is_unsure(gold: str, response: str, wanted: str):
    """Nobody who offers two has given one."""
    assert check(gold, response, "Which is it?").state == wanted


def test_two_that_are_both_accepted_leave_no_choice():
    """Any of them is right."""
    assert check("Paris", "Paris or Rome", "Which is it?", "Rome").state == "pass"
