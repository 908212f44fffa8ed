"""Sentences that share their words and differ in what they claim: each guard on its own ground."""

from __future__ import annotations

import pytest

from tiered_eval.scorers.exact import Exact
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.antonyms import are_opposed
from tiered_eval.text.guards import missing_name, objection, objection_around
from tiered_eval.text.idf import idf, most
from tiered_eval.text.passages import passages, read_claim, smallest, tightest, turns_round
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import stem


def objected(claim: str, sentence: str) -> str | None:
    read, place = read_claim(claim), read_claim(sentence)
    assert read is not None
    assert place is not None
    return objection(read, place)


@pytest.mark.parametrize(
    ("claim", "sentence", "why"),
    [
        ("The board approved the plan", "The board did not approve the plan", "denied"),
        ("The fee is waived for students", "The fee is waived for everyone except students", "set apart"),
        (
            "The policy covers theft",
            "The policy covers fire; theft is excluded",
            "excluded in the next clause",
        ),
        ("The policy covers theft", "The policy covers fire; it is silent on theft", "across a semicolon"),
        (
            "The drug reduces pain",
            "The drug treats pain, and exercise reduces stiffness",
            "across a new subject",
        ),
        ("Rent includes heating", "Rent includes water, heating is extra", "a clause behind a comma"),
        ("Returns are accepted", "Returns are accepted only if unopened", "tied to a condition"),
        ("Returns are accepted", "Returns are accepted unless the seal is broken", "an exception behind it"),
        (
            "The director resigned",
            "Had the director resigned, the shares would fall",
            "an inverted condition",
        ),
        ("The seal prevents leaks", "The seal does little to prevent leaks", "little of it"),
        (
            "At least 40 people came",
            "At most 40 people came, at the very least officially",
            "the other bound",
        ),
        ("The battery lasts 10 hours", "The battery lasts up to 10 hours", "a bound is no number"),
        ("The box weighs 5 kg", "The box weighs 5 kg more than allowed", "a difference"),
        ("Sales grew 5 percent in 2023", "Sales grew 5 percent in 2024, after 2023 was flat", "another year"),
        (
            "Sales grew 5 percent in 2023",
            "Sales grew 3 percent in 2023 and 5 percent in 2024",
            "two of a kind",
        ),
        ("The bill was paid in March", "The bill sent in March was paid in May", "two months"),
        ("The fair is on Tuesday", "The fair was moved from Tuesday to Friday", "two days"),
        ("Berg founded the firm", "Berg's father founded the firm", "owned by the name, not the name"),
        (
            "Berg founded the firm",
            "The firm was founded by Lind and Berg joined later",
            "the actor is another",
        ),
        ("Rosa taught Otto French and Ida Latin", "Rosa taught Ida French and Otto Latin", "pairs changed"),
        ("The board approved the plan", "The board never approved the plan", "denied by never"),
        ("Clerks signed the form", "No clerks signed the form", "denied by the determiner"),
        ("One clerk signed the form", "Not one clerk signed the form", "denied quantifier"),
        ("The board did not approve the plan", "The board approved the plan", "the denial is missing"),
        ("The clerk did not pay on time", "The clerk paid, not on time", "another word is denied"),
        ("She had filed it", "He thought she had filed it, but she had not", "denied behind, without a verb"),
        ("Only the manager may sign", "Not only the manager may sign", "an idiom that differs all the same"),
        ("It is a toxic substance", "It is a non-toxic substance", "denied by a prefix of its own"),
        ("The pump was repaired", "If it were cheap the pump was repaired", "supposed"),
        ("The pump was repaired", "The claim that the pump was repaired is open", "only reported"),
        ("The unit won the contract", "The unit almost won the contract", "almost"),
        ("The firm will open a store", "The firm might open a store", "possibility"),
        ("The firm paid the fine", "The firm refused to pay the fine, says a paid adviser", "refusal"),
        ("Mr Hale is the director", "Mr Hale is the former director", "a former one is none"),
        (
            "It ships in two days after five checks",
            "It ships in five days after two checks",
            "numbers changed over",
        ),
        ("One red lamp failed and two fans", "Two red lamps failed and one fan", "counts changed over"),
        ("The fee is 5 euros", "The fee was 5 euros and is now 3 euros", "a number that follows"),
        ("Hall Two shows films", "Hall One shows films", "another hall"),
        ("Revenue was 45 million", "Revenue was 54 million", "another number"),
        ("The valve must be open", "The valve must be closed", "antonym"),
        ("Sales rose in spring", "Sales fell in spring", "antonym of irregular forms"),
        ("Costs increased last year", "Costs decreased last year", "antonym"),
        ("The lynx chased the fox", "The fox chased the lynx", "subject and object"),
        ("Argon is heavier than neon", "Neon is heavier than argon", "compared the other way"),
        ("The audit came before the sale", "The sale came before the audit", "time order"),
        ("Rosa is Otto's teacher", "Otto is Rosa's teacher", "names changed over"),
        ("Norda bought Velox", "Norda was bought by Velox", "a passive in the same order"),
        (
            "The clerk signs what the auditor drafts",
            "It is drafted by the clerk and signed by the auditor",
            "two acts, their actors changed over",
        ),
        ("The van drove into the depot", "The van drove out of the depot", "direction"),
        (
            "The survey shows safe roads",
            "The survey shows bridges, but roads are safe",
            "put together across a but",
        ),
    ],
)
def test_same_words_another_claim(claim: str, sentence: str, why: str):
    """The guards object to each way of turning a sentence round."""
    assert objected(claim, sentence) is not None


@pytest.mark.parametrize(
    ("claim", "sentence", "why"),
    [
        ("The fee rose by paying late", "By paying late the fee rose", "by doing is no agent"),
        ("The board approved the plan", "In March the board of directors approved the new plan", "modifiers"),
        (
            "The board did not approve the plan",
            "The board did not approve the plan in May",
            "the same denial",
        ),
        ("Velox was bought by Norda", "Norda bought Velox", "a passive explains the order"),
        ("Norda bought Velox", "Velox was bought by Norda", "and the other way"),
        (
            "The auditor signs what the clerk drafts",
            "It is drafted by the clerk and signed by the auditor",
            "two passives, each with its own actor",
        ),
        ("The clerk signed the form", "In May the clerk signed the form", "a month is no modal verb"),
        (
            "Ultima is an album of the band",
            "The albums of the band are Ultima and Prima",
            "what it is, listed",
        ),
        ("Rosa and Otto teach music", "Otto and Rosa teach music", "names side by side"),
        (
            "Lind served one term until 2021",
            "Berg, who had served two terms, knew Lind, who served one term until 2021",
            "another's number, before the match",
        ),
        ("Hall Two shows films", "There Hall Two shows films all week", "a number in a name"),
        ("It ships in five days", "Once paid, it ships in five days", "the same count"),
        ("The van drove into the depot", "The van then drove into the depot at noon", "the same direction"),
        ("The plan was approved", "The plan was approved, but not the budget", "a denial of something else"),
        ("The fee is 3 percent", "The fee is 3%", "sign and word"),
        ("The firm makes rubber", "The firm makes oil, soap, and rubber", "the end of a list"),
        ("The cup was a Berg win", "The cup was Berg's third win", "a number between owner and owned"),
        ("It opened in May", "It opened in May, he may add", "a modal verb behind it"),
        ("A little girl sings", "A little girl in red sings", "a little one is no denial"),
    ],
)
def test_harmless_differences(claim: str, sentence: str, why: str):
    """What changes nothing brings no objection."""
    assert objected(claim, sentence) is None


def test_a_guard_never_needs_the_place_to_share_a_word():
    """Two sentences without a common word are compared without an error."""
    assert objected("Invoices are due", "Lynxes hunt foxes") is None


def test_a_missing_name_is_named():
    """Likeness of meaning does not replace a name that stands nowhere near."""
    claim = read_claim("The contract with Velox ends in May")
    assert claim is not None

    assert missing_name(claim, passages("The contract with Norda ends in May.")) == "Velox"
    assert missing_name(claim, passages("Velox signed. Its contract ends in May.")) is None


def test_opposites_come_from_the_table_and_from_ours():
    """Pairs of WordNet and pairs of business text, in either order."""
    assert are_opposed(stem("legal"), stem("illegal"))
    assert are_opposed(stem("rejected"), stem("approved"))
    assert not are_opposed(stem("plan"), stem("board"))


def test_rare_words_weigh_more_than_common_ones():
    """An unknown word weighs the most, an article next to nothing."""
    assert most() == idf("zzqx") > idf(stem("company")) > idf("the") > 0


def test_the_tightest_run_keeps_the_order():
    """Of several runs the shortest one in order is taken."""
    stems = "b a x b a b".split()

    assert tightest(["a", "b"], stems) == (4, 5)
    assert tightest(["b", "b", "a", "a"], stems) is None


def test_the_smallest_run_takes_any_order():
    """Without an order the shortest run is found as well."""
    assert smallest({"a", "c"}, "a b c x c a".split()) == (4, 5)
    assert smallest({"a", "z"}, "a b c".split()) is None


def test_turning_round_needs_a_middle():
    """Two parts that changed places are a matter of style; around a verb they are another claim."""
    assert turns_round("fox chase lynx".split(), "lynx chase fox".split())
    assert not turns_round("in may fox chase lynx".split(), "fox chase lynx in may".split())


@pytest.mark.parametrize(
    ("response", "is_clean", "why"),
    [
        ("Only the clerk signed the form.", True, "said"),
        ("Not only the clerk signed the form.", False, "an idiom before it"),
        ("He thought the clerk signed the form, but she had not.", False, "taken back behind it"),
        ("It rained. The clerk signed the form. It did not help.", True, "a denial in another sentence"),
    ],
)
def test_a_literal_is_read_in_its_sentence(response: str, is_clean: bool, why: str):
    """Standing there word for word, a statement may still be taken back around it."""
    start = response.lower().index("the clerk")

    assert (objection_around(response, start, start + len("the clerk signed the form")) is None) is is_clean


def test_exact_does_not_pass_what_its_sentence_takes_back():
    """The exact tier hears the guards for literals that say something."""
    value = "the clerk signed the form"
    expectation = make_expectation("must-contain", value)

    def check(response: str) -> str:
        return Exact().check(value, expectation, Subject(make_case(response, expectation))).state

    assert check("In May the clerk signed the form.") == "pass"
    assert check("Not only the clerk signed the form.") == "unsure"
