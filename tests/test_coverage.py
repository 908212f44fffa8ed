"""Coverage: passes when a sentence carries the statement, climbs otherwise, and never says absent."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Outcome
from tiered_eval.scorers.coverage import Coverage
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.subject import Subject


def check(
    value: object, response: str, *, kind: str = "must-contain", options: dict[str, object] | None = None
) -> Outcome:
    expectation = make_expectation(kind, value, options=options)
    return Coverage(load_profile()).check(value, expectation, Subject(make_case(response, expectation)))


@pytest.mark.parametrize(
    ("value", "response", "why"),
    [
        (
            "Invoices are due 45 days after receipt",
            "All invoices are due 45 days after receipt of the goods.",
            "added words",
        ),
        (
            "Invoices are due 45 days after receipt",
            "An invoice is due forty five days after receipt.".replace("forty five", "45"),
            "singular",
        ),
        (
            "The warranty lasts two years",
            "Coverage is broad. The warranty lasts 2 years.",
            "number word, second sentence",
        ),
        ("Velox acquired Norda in 2019", "Norda was acquired by Velox in 2019.", "passive"),
        (
            "Velox was founded in Bergen",
            "Velox makes pumps. It was founded in Bergen.",
            "the subject stands before",
        ),
        (
            "Velox won the Nordic prize",
            "Velox makes pumps. In 2019, it won the Nordic prize.",
            "a pronoun behind an opening phrase",
        ),
        (
            "Anna Lind joined in 2019",
            "Anna Lind is the director. Lind joined in 2019.",
            "the last name goes on",
        ),
        ("Anna Lind joined in 2019", "Anna Lind is fit. The 40-year-old joined in 2019.", "a person by age"),
        (
            "The Velox pump broke in 2019",
            "Velox sells a pump. The blue pump broke in 2019.",
            "the thing with its noun",
        ),
        (
            "Anna Lind paid in May",
            "Lind paid in May. Everybody was glad that Anna Lind did.",
            "a family name, written in full elsewhere",
        ),
        (
            "Anna Lind was born in Bergen",
            "Anna Lind ran the firm. Lind was its first head. She was born in Bergen.",
            "a pronoun for a family name",
        ),
        (
            "Velox offers tours",
            "The largest museum in Bergen is Velox. The museum offers tours.",
            "a noun that the name was given",
        ),
        ("Velox offers tours", "Velox is a small museum. The museum offers tours.", "given behind the name"),
        ("Velox offers tours", "She visited the museum Velox. The museum offers tours.", "beside the name"),
        ("Terns and gulls are sea birds", "It lists sea birds such as terns and gulls.", "a list of them"),
        (
            "The kit was built as part of Norda",
            "The kit was built by Lind as part of Norda.",
            "an actor more",
        ),
        ("In May the clerk paid", "The clerk paid in May.", "an adverbial moved"),
        ("The fee is 3 percent", "The annual fee is 3% of the balance.", "sign for a word"),
        ("Der Vertrag endet im Mai", "Der Vertrag endet im Mai 2027.", "another language"),
        ("合同期限为两年", "本合同期限为两年。", "a script without spaces"),
    ],
)
def test_a_statement_that_is_there_passes(value: str, response: str, why: str):
    """All its information stands in one sentence, unobjected."""
    outcome = check(value, response)

    assert outcome.state == "pass"
    assert outcome.score == pytest.approx(1.0)
    assert outcome.evidence is not None
    assert outcome.evidence.quote in response


@pytest.mark.parametrize(
    ("value", "response", "why"),
    [
        (
            "Invoices are due 45 days after receipt",
            "Invoices are due 30 days after receipt.",
            "another number",
        ),
        ("Invoices are due 45 days after receipt", "Invoices are not due 45 days after receipt.", "denied"),
        (
            "The plaintiff was fined 500 euros",
            "The plaintiff sued. The defendant was fined 500 euros.",
            "the other one",
        ),
        ("The warranty covers pumps", "The warranty covers valves.", "another thing"),
        ("The board approved the budget", "The board rejected the budget.", "opposite"),
        (
            "Velox was founded in Bergen",
            "Velox makes pumps. Norda was founded in Bergen.",
            "another subject, found before",
        ),
        (
            "Orders ship in two days",
            "Orders ship in five days. Two days pass before.",
            "words from two sentences",
        ),
        (
            "The lynx is respected",
            "The lynx hunts. These foxes are respected.",
            "a plural goes on about others",
        ),
        (
            "Anna Lind paid in May",
            "Anna Lind and Otto Lind left. Lind paid in May.",
            "a family name of two people",
        ),
        (
            "Velox was fined",
            "Velox sued Norda, which is a supplier. The supplier was fined.",
            "a noun that another name was given",
        ),
        ("Velox offers tours", "Velox lies by a museum. The museum offers tours.", "beside another thing"),
        ("Rosa works with Norda", "Rosa left. Norda has worked with Velox.", "begins with the object"),
        ("The pump is safe", "", "nothing said"),
        ("...", "Anything at all.", "no word expected"),
    ],
)
def test_whatever_is_doubtful_climbs(value: str, response: str, why: str):
    """Never a pass, and never a fail either."""
    assert check(value, response).state == "unsure"


def test_said_and_denied_is_for_a_judge():
    """A response that contradicts itself is not settled by its better half."""
    assert check("The pump is safe", "The pump is safe. No, the pump is not safe.").state == "unsure"


def test_the_reason_names_the_objection():
    """Whoever reads the trail sees which guard spoke."""
    assert "denied" in check("The pump is safe", "The pump is not safe.").reason


def test_a_part_gives_a_score_and_no_pass():
    """The share that is covered is reported."""
    outcome = check("The pump has a bronze impeller", "The pump is heavy.")

    assert outcome.state == "unsure"
    assert outcome.score is not None
    assert 0 < outcome.score < 1


def test_the_authors_threshold_wins_over_the_profiles():
    """An author may accept less; the guards stay."""
    response = "The pump has a bronze impeller."

    assert check("The pump has a cast bronze impeller", response).state == "unsure"
    assert check("The pump has a cast bronze impeller", response, options={"threshold": 0.6}).state == "pass"
    denied = check(
        "The pump has a cast bronze impeller", "The pump has no bronze impeller.", options={"threshold": 0.6}
    )
    assert denied.state == "unsure"


def test_a_kind_without_a_threshold_climbs():
    """Nothing is decided at a number that nobody measured."""
    expectation = make_expectation("must-contain", "The pump is safe")
    scorer = Coverage(Profile(name="empty", thresholds={}))

    outcome = scorer.check(
        "The pump is safe", expectation, Subject(make_case("The pump is safe.", expectation))
    )

    assert outcome.state == "unsure"


def test_a_short_gold_answer_is_left_to_the_answer_scorer():
    """For a question, the words of a name prove nothing by being there."""
    assert check("Bergen", "Bergen is nice.", kind="equivalent").state == "unsure"
    long = "It moved its seat from Bergen to Oslo in 2019"
    assert check(long, f"{long}, as planned.", kind="equivalent").state == "pass"


def test_a_value_that_is_no_text_climbs():
    """Coverage reads statements only."""
    assert check({"a": 1}, "a 1").state == "unsure"


def test_a_huge_response_costs_little():
    """Ten million characters climb at once."""
    began = time.process_time()

    assert check("The pump is safe", "The pump is safe. " * 600_000).state == "unsure"
    assert time.process_time() - began < 1.0


def test_a_long_run_without_sentences_costs_little():
    """The longest text that is read, without one full stop, stays within a second or two."""
    began = time.process_time()

    check("the pump of the depot is safe and sound", "pump depot safe sound " * 9000)

    assert time.process_time() - began < 3.0


@pytest.mark.parametrize(
    ("value", "piece"),
    [("45", "45. item from 45 to\n"), ("45 days", "U. ")],
    ids=["a list", "one word of initials"],
)
def test_a_long_text_of_one_kind_costs_little(value: str, piece: str):
    """What repeats itself through a long text costs no more than its length."""
    began = time.process_time()

    check(value, piece * (100_000 // len(piece)))

    assert time.process_time() - began < 5.0


WORDS = st.sampled_from(
    "pump valve depot invoice board plan signed repaired sold red large Velox Norda 45 2019".split()
)


@given(st.lists(WORDS, min_size=3, max_size=9), st.lists(WORDS, max_size=6))
def test_a_denied_statement_never_passes(words: list[str], more: list[str]):
    """Whatever stands around it, "it is not true that ..." is no pass."""
    claim = " ".join(words)

    assert check(
        claim, f"{' '.join(more)}. It is not true that {claim}."
    ).state != "pass" or claim in " ".join(more)


@given(st.text(max_size=80), st.text(max_size=200))
def test_no_text_breaks_it_and_nothing_fails(value: str, response: str):
    """Any pair of texts ends in pass or unsure."""
    assert check(value, response).state in {"pass", "unsure"}
