"""The number scorer: which numbers of a response state the claim, which do not, and which nobody can say."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.errors import ConfigError
from tiered_eval.records import Case, Expectation, Outcome
from tiered_eval.scorers.number import Number
from tiered_eval.text.numbers import claim_problem, is_number_claim, parse_claim
from tiered_eval.text.subject import Subject


def check(
    text: str, value: object, *, kind: str = "must-contain", question: str | None = None, **options: Any
) -> Outcome:
    expectation = Expectation(id="e", kind=kind, values=(value,), options=options)
    case = Case(id="c", response=text, input=question, expectations=(expectation,))
    return Number().check(value, expectation, Subject(case))


STATED = [
    # text, claim, options, expected, why
    ("Payment is due in 45 days.", 45, {}, "pass", "the plain case"),
    ("Payment is due in 45 days.", "45 days", {}, "pass", "the unit is part of the claim"),
    ("Payment is due in 45 days.", 45, {"unit": "days"}, "pass", "the unit as an option"),
    ("Payment is due in 45 days.", "45 hours", {}, "fail", "another unit"),
    ("The batch holds 145 parts.", 45, {}, "fail", "45 is not in 145"),
    ("The factor is 4.5 here.", 45, {}, "fail", "45 is not in 4.5"),
    ("A share of 45% was kept.", 45, {}, "fail", "45 is not in 45%"),
    ("A share of 45 percent was kept.", 45, {}, "fail", "nor in 45 percent"),
    ("There were 1,045 guests.", 45, {}, "fail", "45 is not in 1,045"),
    ("Install v1.45 first.", 45, {}, "fail", "45 is not in a version"),
    ("It was -45 outside.", 45, {}, "fail", "45 is not in -45"),
    ("It was −45 outside.", 45, {}, "fail", "nor with a real minus sign"),
    ("It was minus 45 outside.", 45, {}, "fail", "nor with the word"),
    ("She came in on the 45th day.", 45, {}, "unsure", "a rank is not a count, but close"),
    ("By 2045 it will be done.", 45, {}, "fail", "45 is not in 2045"),
    ("See PO-45 for this.", 45, {}, "fail", "an identifier"),
    ("See DOC-2025-45 for this.", 45, {}, "fail", "the tail of an identifier"),
    ("See A45 and B-45.", 45, {}, "fail", "identifiers with a letter"),
    ("Open https://example.org/45/terms now.", 45, {}, "fail", "a web address"),
    ("Write to desk45@example.org now.", 45, {}, "fail", "a mail address"),
    ("Host 10.45.0.1 is down.", 45, {}, "fail", "a network address"),
    ("Call 555-045-1200 please.", 45, {}, "fail", "a telephone number"),
    ("See report_45.pdf.", 45, {}, "fail", "a file name"),
    ("Part 4471B is out of stock.", 4471, {}, "fail", "a part number"),
    ("The limit is 10.", "1.0", {}, "fail", "1.0 is not 10"),
    ("The limit is 1.0.", 10, {}, "fail", "nor the other way round"),
    ("Use release 1.10.2.", "1.10", {}, "fail", "a version of three parts"),
    ("A total of 1,000 seats.", 1000, {}, "pass", "a thousands separator"),
    ("A total of 1000 seats.", "1,000", {}, "pass", "a thousands separator in the claim"),
    ("It costs $29.00 a month.", 29, {}, "pass", "trailing zeros and a currency do not change a bare number"),
    ("The answer (42).", 42, {}, "pass", "parentheses and a full stop"),
    ("It is 42!", 42, {}, "pass", "an exclamation mark"),
    ("**45** days", 45, {"unit": "days"}, "pass", "bold between number and unit"),
    ("The change is −**45** points.", 45, {}, "unsure", "a sign outside of the bold"),
    ("The change is -`45` points.", 45, {}, "unsure", "a sign outside of the code"),
    ("The change is minus **45** points.", 45, {}, "unsure", "a minus in words before the bold"),
    ("The change is **-45** points.", 45, {}, "fail", "a sign inside of the bold"),
    ("- **45** points", 45, {}, "pass", "the mark of a list, then bold"),
    ("The change was -5.", 5, {}, "fail", "the sign counts"),
    ("The change was 5.", -5, {}, "fail", "and the other way round"),
    ("The loss was -5.", 5, {}, "unsure", "a negative loss may be a loss"),
    ("Sales decreased by 5%.", "-5%", {}, "unsure", "the sign is in the words"),
    ("Net income was ($1,234).", "$1,234", {}, "unsure", "accounting writes a loss so"),
    ("Net income was ($1,234).", "-$1,234", {}, "unsure", "the same, from the other side"),
    ("Das sind 1.234,56 Euro.", "1234.56", {}, "pass", "the continental convention, unmistakable"),
    ("That is 1,234.56 euros.", "1234.56", {}, "pass", "the English convention"),
    ("Soit 1 234,56 au total.", "1234.56", {}, "pass", "spaces as thousands separators"),
    ("Das sind 1'234.50 Franken.", "1234.5", {}, "pass", "the Swiss convention"),
    ("It is 12,34,567 rupees.", 1234567, {}, "pass", "the Indian convention"),
    ("Der Wert ist 1.234.", 1234, {}, "unsure", "a thousand or a decimal: nobody knows"),
    ("Der Wert ist 1.234.", 1.234, {}, "unsure", "the same, from the other side"),
    ("Der Wert ist 1.234.", "1.234", {}, "pass", "the same notation on both sides"),
    ("The values are 1.234 and 2.5.", 1234, {}, "fail", "the second number shows the point is a decimal"),
    ("The values are 1.234 and 2.5.", 1.234, {}, "pass", "the same, from the other side"),
    ("The price is 1,234 EUR.", "1.234", {}, "unsure", "a claim that is ambiguous itself"),
    ("The ratio is 0.375.", 375, {}, "fail", "a leading zero makes it a decimal"),
    ("Options 3,5 apply.", 3, {}, "unsure", "a decimal comma or a list"),
    ("It costs €45.", "$45", {}, "fail", "another currency"),
    ("It costs 45 USD.", "$45", {}, "pass", "code for symbol"),
    ("It costs CAD 45.", "$45", {}, "unsure", "which dollar is not said"),
    ("It costs 45.", "$45", {}, "unsure", "no currency in the response"),
    ("It costs 45 dollars.", 45, {"currency": "USD"}, "pass", "the currency as an option"),
    ("The fee is 1,200 US dollars.", "USD 1200", {}, "pass", "a currency of two words"),
    ("A rate of 45%.", "45%", {}, "pass", "percent on both sides"),
    ("A rate of 45 per cent.", "45%", {}, "pass", "percent in words"),
    ("A rate of 45.", "45%", {}, "unsure", "no percent sign in the response"),
    ("A rise of 5 percentage points.", "5%", {}, "unsure", "points are not percent"),
    (
        "A rise of 50 basis points.",
        "0.5 percentage points",
        {},
        "pass",
        "a hundred basis points are one point",
    ),
    ("A rate of 45%.", 0.45, {}, "unsure", "a fraction only when asked"),
    ("A rate of 45%.", 0.45, {"percent_as_fraction": True}, "pass", "a fraction when asked"),
    ("A rate of 0.45.", "45%", {"percent_as_fraction": True}, "pass", "and the other way round"),
    ("It takes about 45 days.", 45, {}, "unsure", "an approximation"),
    ("It takes ~45 days.", 45, {}, "unsure", "an approximation by sign"),
    ("It takes 45 days or so.", 45, {}, "unsure", "an approximation that follows"),
    ("It takes about 45 days.", "about 45 days", {}, "pass", "an approximation on both sides"),
    ("It takes 45-60 days.", 45, {}, "unsure", "the end of a range"),
    ("It takes between 40 and 60 days.", 45, {}, "unsure", "inside a range"),
    ("It takes 50-60 days.", 45, {}, "fail", "outside the range"),
    ("It takes 45–60 days.", "45-60 days", {}, "pass", "the same range, another dash"),
    ("It takes from 45 to 60 days.", "45-60 days", {}, "pass", "the same range in words"),
    ("It takes 45 to 50 days.", "45-60 days", {}, "unsure", "a narrower range"),
    ("It takes at least 45 days.", 45, {}, "unsure", "a bound is not the number"),
    ("It takes at least 45 days.", "at least 45 days", {}, "pass", "the same bound"),
    ("It takes 45 or more days.", "at least 45 days", {}, "unsure", "the unit stands after the bound"),
    ("It takes 45 days or more.", ">= 45 days", {}, "pass", "the same bound, other words"),
    ("It takes no less than 45 days.", "at least 45 days", {}, "pass", "a denied comparison is a bound"),
    ("It takes more than 45 days.", "at least 45 days", {}, "unsure", "with or without the limit itself"),
    ("It takes up to 45 days.", "at least 45 days", {}, "fail", "the other side"),
    ("It takes 50 days.", "at least 45 days", {}, "unsure", "a number within the bound"),
    ("It takes 40 days.", "at least 45 days", {}, "fail", "a number outside the bound"),
    ("It takes a week.", "7 days", {}, "unsure", "a week without a number is not read, nor is it absent"),
    ("It takes one week.", "7 days", {}, "pass", "units convert where exact"),
    ("It takes 24 hours.", "1 day", {}, "pass", "units convert where exact"),
    ("It weighs 2.5 kg.", "2500 g", {}, "pass", "units convert where exact"),
    ("It is 3 km away.", "3000 m", {}, "pass", "units convert where exact"),
    ("It takes 45 business days.", "45 days", {}, "unsure", "other days"),
    ("The term is net 45.", "45 days", {}, "unsure", "no unit in the response"),
    ("It has 45 printed pages.", "45 pages", {}, "pass", "a noun of no table, with an adjective between"),
    ("It has 45 chapters.", "45 pages", {}, "unsure", "another noun: no table can say"),
    ("Revenue was $5.3bn.", "$5.3 billion", {}, "pass", "a scale, short and long"),
    ("Revenue was $5,300 million.", "$5.3bn", {}, "pass", "scales convert"),
    ("It has 3.5 million users.", 3500000, {}, "pass", "a scale against digits"),
    ("It holds five million records.", "5M", {}, "pass", "a scale in words"),
    ("It takes forty-five days.", "45 days", {}, "pass", "number words"),
    ("It takes 45 days.", "forty-five days", {}, "pass", "number words in the claim"),
    ("One hundred and five guests came.", 105, {}, "pass", "number words with and"),
    ("About twenty-five hundred came.", "about 2500", {}, "pass", "hundreds beyond ten"),
    ("A dozen eggs.", 12, {}, "pass", "a dozen"),
    ("Two-thirds agreed.", "2/3", {}, "pass", "a fraction in words"),
    ("Add 1/2 cup.", 0.5, {}, "pass", "a fraction"),
    ("Add 2½ cups.", 2.5, {}, "pass", "a fraction character"),
    ("We work 24/7 for you.", 24, {}, "unsure", "a part of what may be a fraction"),
    ("It was 1.2 x 10^5 in all.", 120000, {}, "pass", "scientific notation"),
    ("It was 1.2e-3 in all.", "0.0012", {}, "pass", "the same, for machines"),
    ("It was 10⁵ in all.", 100000, {}, "pass", "a raised exponent"),
    ("共 ４５ 件", 45, {}, "pass", "full-width digits"),
    ("المدة ٤٥ يوما", 45, {}, "pass", "Arabic-Indic digits"),
    ("अवधि ४५ दिन", 45, {}, "pass", "Devanagari digits"),
    ("It is one of the best.", 1, {}, "unsure", '"one" is a pronoun here'),
    ("There is one invoice.", 1, {}, "pass", '"one" counts here'),
    ("As shown in [45], it holds.", 45, {}, "unsure", "a citation mark"),
    ("1. Ship it.\n2. Bill it.\n3. Close it.", 3, {}, "fail", "the mark of a list says nothing"),
    ("The ratio is 3:1.", 3, {}, "unsure", "a part of a ratio"),
    ("It is not 45 days.", 45, {}, "unsure", "denied"),
    ("Some say 45 days, but it is 30 days.", 30, {"unit": "days"}, "pass", "said as its own"),
    ("No number at all.", 45, {}, "fail", "nothing to find"),
    ("", 45, {}, "fail", "an empty response"),
    ("It took 44.9 seconds.", 45, {"tolerance": "0.2"}, "pass", "within the absolute tolerance"),
    ("It took 44.7 seconds.", 45, {"tolerance": "0.2"}, "fail", "outside it"),
    ("It took about 45 seconds.", 45, {"tolerance": 1}, "pass", "who allows a tolerance allows about"),
    ("It took 103 seconds.", 100, {"relative_tolerance": 0.05}, "pass", "within the relative tolerance"),
    ("It took 106 seconds.", 100, {"relative_tolerance": 0.05}, "fail", "outside it"),
    ("The ratio is 39.73.", "39.7", {"round": True}, "pass", "rounds to the claim"),
    ("The ratio is 39.73.", "39.7", {}, "fail", "but only when asked"),
    ("Signed on 21 October 2026.", "2026-10-21", {}, "pass", "a date in another notation"),
    ("Signed on Oct 21st, 2026.", date(2026, 10, 21), {}, "pass", "a date that YAML has read"),
    ("Signed on 10/11/2026.", "2026-10-11", {}, "unsure", "day and month may be exchanged"),
    ("Signed on 10/21/2026.", "2026-10-21", {}, "pass", "there is no month 21"),
    ("Signed in October 2026.", "2026-10-21", {}, "unsure", "a part of the date"),
    ("Signed on 22 October 2026.", "2026-10-21", {}, "fail", "another day"),
    ("Signed on 21 October 2026.", "October 2026", {}, "pass", "the date says the month"),
    ("Signed on 21 October 2026.", 2026, {}, "pass", "the date says the year"),
    ("Signed on 21 October 2026.", 21, {}, "fail", "the day of a date is no number"),
    ("The call is at 2:30 pm.", "14:30", {}, "pass", "a time"),
    ("The call is at 2:30.", "14:30", {}, "unsure", "morning or afternoon"),
    ("In the 1990s it changed.", 1995, {}, "unsure", "inside a decade"),
    ("In 1997 it changed.", 1997, {}, "pass", "a year is a number"),
    ("Use C++17 here.", 17, {}, "unsure", "a plus sign inside a name"),
    ("A 3D model of the 5G mast.", 3, {}, "fail", "capitals glued to a figure make a name"),
    ("Use version 2.0 of it.", 2, {}, "unsure", "a version of two parts"),
    ("Call +44 20 7946 0958 now.", 20, {}, "fail", "a part of a telephone number"),
    ("45 (forty-five) days", "45 days", {}, "pass", "a number said twice, as contracts do"),
    ("forty-five (45) days", "45 days", {}, "pass", "the same, in the other order"),
    ("<b>45</b> days", "45 days", {}, "pass", "markup between number and unit"),
    ("half an hour", "30 minutes", {}, "pass", "a share of a unit"),
    ("A third of them left.", "1/3", {}, "unsure", "a share, or the third"),
    ("The odds are 2 to 1.", 2, {}, "unsure", "a descending pair is no range"),
    ("It rose by 3.2 percent to 103.2.", "103.2", {}, "pass", "an amount and a result are no range"),
    ("- 45 days\n- 30 days", "45 days", {}, "pass", "two items of a list are no range"),
    ("1) 45 days 2) 30 days", 1, {}, "unsure", "the mark of a list in a line"),
    ("They won twice.", 2, {}, "unsure", "an adverb for a number"),
    ("There were no errors.", 0, {}, "unsure", "none for zero"),
    ("See Step 3 for this.", 3, {}, "unsure", "a label of the document"),
    ("It has 45m users.", 45_000_000, {}, "unsure", "million or metre"),
    ("It is 45m long.", "45 m", {}, "pass", "metres on both sides"),
    ("The term is 30 days, not 45 days.", 45, {}, "unsure", "denied beside another number"),
    ("The term is 30 days, not 45 days.", 30, {}, "pass", "the number that is not denied"),
    ("It grew for two quarters.", 2, {}, "unsure", "two quarters, or a half"),
    ("In FY2021 it changed.", 2021, {}, "unsure", "a fiscal year is not quite the year"),
    ("Sales rose from 45 to 60 units.", 60, {}, "pass", "a change is not a range"),
    ("That is 45\u200b days.", 45, {}, "unsure", "an invisible character beside it"),
]


@pytest.mark.parametrize(("text", "value", "options", "state", "why"), STATED, ids=[row[4] for row in STATED])
def test_states_the_number(text: str, value: object, options: dict[str, Any], state: str, why: str):
    """Each row says why its response states the number, does not, or leaves it open."""
    outcome = check(text, value, **options)

    assert outcome.state == state, f"{why}: {outcome.reason}"


ANSWERS = [
    # response, gold, question, expected, why
    ("It was $5,409 million.", "5409", "What were inventories? Answer in USD millions.", "pass", "the question names the scale"),
    ("It was $5,409,312,000.", "5409", "What were inventories? Answer in USD millions.", "pass", "rounds to the gold in its scale"),
    ("It was $5,409.", "5409", "What were inventories? Answer in USD millions.", "pass", "the scale is taken as said"),
    ("It was $5,499 million.", "5409", "What were inventories? Answer in USD millions.", "fail", "another number"),
    ("The margin was 39.73%.", "0.397", "What was the margin in percent?", "pass", "a percentage for a fraction, rounded"),
    ("The margin was 38.2%.", "0.397", "What was the margin in percent?", "fail", "another percentage"),
    ("The count was 39.73.", "39.7", "What was the count?", "pass", "more digits than the gold"),
    ("The count was 7.6.", "8", "What was the count?", "fail", "one digit is too few to round to"),
    (
        "Start with 10 and 20, then 30, 40, 50 and 60, and so on. " + "The method goes on for a while. " * 12
        + "Adding 75 gives more. Therefore the total is 285.", "75", "What is the total?", "unsure", "a step, not the result",
    ),
    (
        "Start with 10 and 20, then 30, 40, 50 and 60, and so on. " + "The method goes on for a while. " * 12
        + "Adding 75 gives more. Therefore the total is 285.", "285", "What is the total?", "pass", "the result",
    ),
    ("The report names no costs. Therefore it is 0.", "0", "How much? If nothing is named, state 0.", "unsure", "the question holds it"),
    ("12", "12", "How many parts has volume 12?", "pass", "it holds it, and nothing else was said"),
    ("I do not have access to the plan. It may start in 2031.", "2031", "When does it start?", "unsure", "ignorance first"),
    ("It could be 14 by now.", "14", "How many are there?", "unsure", "a guess"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "gold", "question", "state", "why"), ANSWERS, ids=[row[4] for row in ANSWERS]
)
def test_answers_with_the_number(text: str, gold: str, question: str, state: str, why: str):
    """A gold number is compared in the unit that the question asks for, with what the response concludes."""
    outcome = check(text, gold, kind="equivalent", question=question)

    assert outcome.state == state, f"{why}: {outcome.reason}"


def test_another_day_of_the_expected_year_is_not_an_answer():
    """Where the gold has the day as well as the year, a response with another day of that year is doubtful."""
    expectation = Expectation(id="e", kind="equivalent", values=("1979", "21 July 1979"))
    case = Case(id="c", response="It came out on 10 July 1979.", expectations=(expectation,))

    assert Number().check("1979", expectation, Subject(case)).state == "unsure"


LABELLED = Path(__file__).parents[2] / "shared" / "data" / "labelled"


@pytest.mark.parametrize(
    ("source", "precision", "recall"),
    [("financebench", 0.96, 0.55), ("evouna_nq", 0.98, 0.70), ("openqa_nq301", 0.94, 0.40)],
)
def test_passes_agree_with_people_on_gold_numbers(source: str, precision: float, recall: float):
    """Where the gold answer is a number, what passes here is right to people, too, and it is not little."""
    path = LABELLED / f"{source}.jsonl"
    if not path.exists():
        pytest.skip(f"the labelled data is not beside this checkout: {path}")
    passed = true = right = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if not item["meta"].get("numeric_gold"):
            continue
        expectation = Expectation(id="e", kind="equivalent", values=tuple(item["expected"]))
        subject = Subject(
            Case(id="c", response=item["response"], input=item["question"], expectations=(expectation,))
        )
        golds = [gold for gold in item["expected"] if is_number_claim(gold)]
        found = any(Number().check(gold, expectation, subject).state == "pass" for gold in golds)
        passed, right, true = passed + found, right + (found and item["human"]), true + item["human"]

    assert right / passed >= precision, f"precision {right / passed:.3f}"
    assert right / true >= recall, f"recall {right / true:.3f}"


def test_evidence_quotes_the_response_with_sign_currency_and_unit():
    """Evidence is the response's own words, at their place."""
    text = "Thank you. The fee is US$ 1,200.00 a year."
    outcome = check(text, "$1200")

    assert outcome.evidence is not None
    assert outcome.evidence.quote == "US$ 1,200.00"
    assert text[outcome.evidence.start : outcome.evidence.end] == outcome.evidence.quote


def test_one_clean_statement_outweighs_a_doubtful_one():
    """A response that says about 45 and later 45 has said 45."""
    assert check("It takes about 45 days. The contract says 45 days.", 45).state == "pass"


def test_the_numbers_of_a_response_are_read_once():
    """Expectations on one response share its reading."""
    expectation = Expectation(id="e", kind="must-contain", values=(45,))
    subject = Subject(Case(id="c", response="It takes 45 days.", expectations=(expectation,)))
    Number().check(45, expectation, subject)
    subject.text = "changed after reading"

    assert Number().check(45, expectation, subject).state == "pass"


def test_a_text_with_too_many_numbers_is_never_a_fail():
    """What was not read cannot be absent."""
    outcome = check("7 " * 21_000, 45)

    assert outcome.state == "unsure"
    assert "more numbers" in outcome.reason


CLAIM_PROBLEMS = [
    ("PO-4471", {}, "no number", "an identifier"),
    ("forty or so winks and a nap", {}, None, "a number among words can be pinned"),
    ("45 days and 3 hours", {}, "2 numbers", "two numbers are two values"),
    ("", {}, "no number", "an empty value"),
    (True, {}, "expected a number", "a flag is not a number"),
    (float("nan"), {}, "no number that", "not a number"),
    (float("inf"), {}, "no number that", "not finite"),
    (10**5000, {}, "no number that", "no response states it"),
    ("x" * 500, {}, "500 characters", "a text"),
    ("45 days", {"unit": "hours"}, "another unit", "unit against unit"),
    ("$45", {"currency": "EUR"}, "another currency", "currency against currency"),
    ("$45", {"currency": "USD"}, None, "the option says which dollar"),
    ("45%", {"unit": "days"}, "another unit", "percent against unit"),
    (45, {"unit": "pages"}, None, "a noun of no table is a unit too"),
    (45, {"tolerance": -1}, "from 0 upwards", "a negative tolerance"),
    (45, {"tolerance": "lots"}, "not a number", "a tolerance in words"),
    (45, {"relative_tolerance": float("nan")}, "from 0 upwards", "a tolerance that is no number"),
    (45, {"date": True}, "not a date", "a number for a date"),
    ("2026-10-21", {"date": True}, None, "a date for a date"),
    ("2026-10-21", {"unit": "days"}, "has no unit", "a date with a unit"),
]


@pytest.mark.parametrize(
    ("value", "options", "problem", "why"), CLAIM_PROBLEMS, ids=[row[3] for row in CLAIM_PROBLEMS]
)
def test_lint_can_ask_what_is_wrong_with_a_claim(
    value: object, options: dict[str, Any], problem: str | None, why: str
):
    """A claim that cannot be checked is named before the run, with its reason."""
    found = claim_problem(value, options)

    assert (found is None) if problem is None else (found is not None and problem in found), why


def test_a_claim_without_a_number_is_refused_when_checked():
    """A value that slipped past lint is an error of the set-up, never a verdict."""
    with pytest.raises(ConfigError, match="no number"):
        check("It is 45.", "PO-4471")


NUMBER_CLAIMS = [
    ("45", True), ("45 days", True), ("$1,200", True), ("45%", True), ("45-60", True), ("at least 45", True),
    ("3.5 million users", True), ("45 printed pages", True), ("Oct 21st 2026", True), ("2026-10-21", True),
    ("forty-five", True), ("in 1776", True), ("14:30", True), (45, True), (4.5, True), (Decimal("4.5"), True), (date(2026, 1, 2), True),
    ("in April 1917", True), ("Signed on 21 October 2026", False), ("21 October 2026 is the day", False), ("net 45", False), ("PO-4471", False), ("007", False), ("7 Eleven", False), ("Fifty Shades", False),
    ("one", False), ("first", False), ("Chapter 5", False), ("v1.45", False), ("1.2.3", False), ("45 days and 3 hours", False),
    ("The term is 45 days", False), ("45 is the limit", False), ("", False), ("Paris", False), (True, False), (None, False),
    ("555-1234", False), ("one-two", False), ("192.168.1.1", False),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), NUMBER_CLAIMS, ids=[repr(row[0]) for row in NUMBER_CLAIMS])
def test_tells_number_claims_from_names_and_statements(value: object, expected: bool):
    """The router sends to this tier what consists of a number, and nothing that only holds one."""
    assert is_number_claim(value) is expected


NUMBERS = st.integers(min_value=2, max_value=999_999)
FILLER = st.sampled_from(
    [
        "The figure is {}.",
        "As agreed, {} it is",
        "({})",
        "It says: {}!",
        "result={}",
        "so {}, then more text",
        "**{}**",
        "\n{}\n",
    ]
)
FORMATS = st.sampled_from(["{}", "{:,}", "{}.0", "{:,}.00", "+{}"])


@given(number=NUMBERS, filler=FILLER, notation=FORMATS)
def test_a_planted_number_is_found_in_any_notation(number: int, filler: str, notation: str):
    """However a number is written and whatever stands around it, it passes."""
    assert check(filler.format(notation.format(number)), number).state == "pass"


@given(number=NUMBERS, other=NUMBERS, filler=FILLER, notation=FORMATS)
def test_a_different_number_never_passes(number: int, other: int, filler: str, notation: str):
    """No notation of another number passes for this one."""
    outcome = check(filler.format(notation.format(other)), number)

    assert number == other or outcome.state != "pass"


@given(
    number=NUMBERS,
    glue=st.sampled_from(
        ["PO-{}", "A{}", "v1.{}", "1{}", "{}7", "{}%", "-{}", "x_{}", "{}.5", "#{}", "{}-B"]
    ),
)
def test_a_number_with_something_glued_to_it_never_passes(number: int, glue: str):
    """Prefixed digits, identifiers, versions, percent and signs are other things than the number."""
    assert check(f"See {glue.format(number)} for this", number).state != "pass"


@given(text=st.text(max_size=200), number=NUMBERS)
def test_no_text_makes_it_raise(text: str, number: int):
    """Any response gets an outcome."""
    assert check(text, number).state in ("pass", "fail", "unsure")


@given(
    value=st.one_of(st.text(max_size=80), st.floats(), st.integers(), st.booleans(), st.none(), st.decimals())
)
def test_no_value_makes_lint_raise(value: object):
    """Lint gets an answer for any value, and a value without a problem can be parsed."""
    if claim_problem(value) is None:
        assert parse_claim(value).text is not None


def test_a_gold_answer_without_a_number_is_unsure():
    """Of several gold answers one may be a number; the others are left to the other scorers, without an error."""
    expectation = Expectation(id="e", kind="equivalent", values=("Anna Berg", "286"), match="any")
    subject = Subject(Case(id="c", response="She scored 286 points.", expectations=(expectation,)))

    assert Number().check("Anna Berg", expectation, subject).state == "unsure"
