"""Numbers that stand in a response and are not what it says: old values, limits, parts, dates, counts of something else.

Each row says what a careful reader would: *absent* may not pass, *stated* may not fail, *open* may do neither; a *plain* row
of either must be decided. The sentences are invented.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, TypeAlias

import pytest

from tiered_eval import Evaluator, RunConfig

Truth: TypeAlias = Literal["stated", "absent"]

OLD_VALUES = [
    ("45 days", "The term changed from 45 to 30 days.", "the old value of a change"),
    ("45 days", "The term went from 45 days to 30 days in May.", "the old value, with its unit"),
    ("45 days", "They shortened the term from 45 days to 30.", "the old value behind a verb"),
    ("$45", "The fee was raised from $45 to $60.", "the old value of a price"),
    ("45", "The desk count grew from 45 to 60.", "the old value of a count"),
    ("45 days", "The term was 45 days until March; now it is 30.", "true until some time ago"),
    ("45 days", "Until March the term was 45 days.", "true until some time ago, said first"),
    ("45 days", "Previously 45 days, the term is 30 days today.", "previously"),
    ("45 days", "The previous term of 45 days no longer holds.", "the previous one"),
    ("45 days", "Originally the term was 45 days; it is now 30.", "originally, and now another"),
    ("45 days", "The term is now 30 days (previously 45 days).", "an old value in brackets"),
    ("45 days", "The term is 30 days, down from 45 days.", "down from"),
    ("45", "It has 60 desks, up from 45.", "up from"),
    ("45 days", "30 days replaces 45 days in the new contract.", "replaced by the other one"),
    ("45 days", "The 45 days were cut to 30.", "cut to another one"),
    ("45 days", "The old limit of 45 days was replaced by 30.", "the old limit"),
    ("$45", "The ticket was $45 last year and costs $60 now.", "last year's"),
    ("45 days", "We had agreed on 45 days before the amendment to 30.", "before an amendment"),
    ("45 users", "It had 45 users once; it has none today.", "once"),
    ("45 days", "The former 45-day term is gone.", "the former one"),
    ("14 days", "The notice period, once 14 days, is 7 days nowadays.", "once"),
    ("14 days", "We cut the notice period from 14 days down to 7.", "down to another"),
    ("14 days", "It stood at 14 days before the reform and stands at 7 now.", "stood, and now another"),
    ("14 days", "Seven days took the place of 14 days.", "its place was taken"),
    ("14 days", "In 2019 it was still 14 days; since then it has been 7.", "since then another"),
    ("14 days", "The 14-day period was abolished last spring.", "abolished"),
    ("60 days", "Our old policy gave you 60 days. Today you have 30.", "an old policy"),
    ("60 days", "Earlier drafts had 60 days. The final text has 30.", "an earlier draft"),
    ("8 hours", "Down from 8 hours, the ride now takes 5.", "the old value of a change, said first"),
    ("$99", "It was $99 until the sale ended; it is $129 now.", "true until some time ago"),
    ("$99", "The old price of $99 has been replaced by $129.", "replaced"),
]
NOT_THIS = [
    ("45", "Avoid net 45.", "a warning against it"),
    ("45 days", "Do not accept 45 days.", "told not to"),
    ("45 days", "not 45 but 30 days", "corrected to another"),
    ("45 days", "The term is 30 days rather than 45 days.", "rather than"),
    ("45 days", "Use 30 days instead of 45 days.", "instead of"),
    ("45 days", "It is 30 days, never 45 days.", "never"),
    ("45 days", "They asked for 45 days and got 30.", "asked for and not got"),
    ("45 days", "The supplier wanted 45 days; we settled on 30.", "wanted"),
    ("45 days", "The draft proposed 45 days.", "only proposed"),
    ("45 days", "The request for 45 days was turned down.", "turned down"),
    ("45 days", "Our target is 45 days.", "a target"),
    ("45 days", "The term will become 45 days if the board agrees.", "on a condition"),
    ("45 days", "Is the term 45 days?", "a question"),
    ("45 days", "Anything but 45 days.", "anything but"),
    ("45 days", "Forget the 45 days.", "told to forget it"),
    ("45 days", "Beware of the 45 days that some sites quote.", "a warning against it"),
    ("45 days", "The sales team said 45 days, but the contract says 30.", "somebody's words, corrected"),
    ("45 days", "Allegedly, it takes 45 days.", "alleged"),
    ("45", "The answer is close to 45.", "close to it"),
    ("14 days", "The union demanded 14 days.", "demanded"),
    ("14 days", "They had hoped for 14 days.", "hoped for"),
    ("14 days", "Don't assume 14 days.", "told not to"),
    ("8 hours", "The minister promised 8 hours.", "promised"),
    ("60 days", "Most rivals offer 60 days. We offer 30.", "what others do"),
    ("60 days", "It could be 60 days in some states, but here it is 30.", "what could be"),
    ("60 days", "60 days would be too long, so we chose 30.", "what would be"),
    ("60 days", "I first thought it was 60 days. It is in fact 30.", "thought at first"),
    ("8 hours", "The ride would take 8 hours by bus, but by train it takes 5.", "what would be"),
    ("8 hours", "The advert claims 8 hours, yet tests show 5.", "a claim that is contradicted"),
]
LIMITS = [
    ("45 days", "It takes between 40 and 50 days.", "inside a range"),
    ("45 days", "It takes between 45 and 60 days.", "the end of a range"),
    ("45 days", "It takes 30 to 45 days.", "the end of a range"),
    ("45 days", "It takes up to 45 days.", "a limit"),
    ("45 days", "It takes at most 45 days.", "a limit"),
    ("45 days", "It takes no more than 45 days.", "a limit"),
    ("45 days", "It takes more than 45 days.", "another number"),
    ("45 days", "It takes less than 45 days.", "another number"),
    ("45 days", "It takes just under 45 days.", "another number"),
    ("45 days", "It takes roughly 45 days.", "an approximation"),
    ("45 days", "It takes 45 days or more.", "a limit behind it"),
    ("45 days", "It takes 45+ days.", "a limit behind it"),
    ("45 days", "It takes 45-60 days.", "a range with a hyphen"),
    ("45 days", "It takes 30–45 days.", "a range with a dash"),
    ("45 days", "It takes anywhere from 45 to 90 days.", "a range"),
    ("45 days", "It takes 45 ± 5 days.", "a tolerance"),
    ("45 days", "It takes 45 days plus two more for shipping.", "a part of a sum"),
    ("45 days", "It takes twice 45 days.", "a multiple"),
    ("45 days", "It takes half of 45 days.", "a part"),
    ("45 days", "It takes somewhere around 45 days.", "an approximation"),
    ("45 days", "It takes 45 days longer than the old one.", "a difference"),
    ("45 days", "It takes 45 days less than before.", "a difference"),
    ("45 days", "It was extended by 45 days.", "a difference"),
]
PARTS = [
    ("60 users", "45 of 60 users agreed.", "the whole that a part is taken of"),
    ("45 users", "45 out of 60 users agreed.", "a part of a whole"),
    ("45 users", "45 of the 60 users agreed.", "a part of a whole"),
    ("45", "It scored 45/60.", "a share"),
    ("60", "It scored 45/60.", "a share"),
    ("45 days", "It takes 45 days per invoice.", "a rate"),
    ("45 days", "It allows 45 days each year.", "a rate"),
    ("$45", "It costs $45 per month.", "a rate"),
    ("$45", "It costs $45/month.", "a rate with a slash"),
    ("$45", "It costs $45 a head.", "a rate with an article"),
    ("14 days", "You accrue 14 days per quarter.", "a rate"),
    ("20 seats", "12 of 20 seats are taken.", "the whole that a part is taken of"),
    ("20", "Section 20(b) applies.", "a section with a letter"),
    ("20", "Dial 020 7946 0018.", "a telephone number"),
    ("14 days", "The stay was shortened by 14 days.", "a difference"),
    ("$99", "The price dropped by $99.", "a difference of money"),
    ("9 people", "3 of the 9 people left.", "the whole that a part is taken of"),
    ("3", "Mambo No. 3 was next.", "a name"),
    ("500", "Error 500 was returned.", "a code"),
    ("60 days", "Every 60 days the filter must be replaced.", "a rate"),
    ("60 days", "The 30- to 60-day window is flexible.", "the end of a range"),
    ("€20", "It costs €20 more than last year.", "a difference of money"),
    ("45", "Version 45 is out.", "a version"),
    ("45", "See page 45.", "a page"),
    ("45", "See section 45.", "a section"),
    ("45", "See p. 45 for more.", "a page, abbreviated"),
    ("45", "Room 45 is free.", "a label"),
    ("45", "Call 555-45-1234.", "a telephone number"),
    ("45", "Call +1 45 555 1234.", "a telephone number"),
    ("45", "It starts at 10:45.", "the minutes of a time"),
    ("10", "It starts at 10:45.", "the hour of a time"),
    ("12", "It starts on 2026-12-03.", "the month of a date"),
    ("3", "It starts on 3 December 2026.", "the day of a date"),
    ("45", "The limit is 45e3.", "an exponent"),
    ("45", "The server is at 10.45.0.1.", "a part of an address"),
    ("45", "Line 45: missing semicolon", "a line number"),
    ("45", "Take bus 45.", "a name that is a number"),
    ("45", "He is ranked 45th.", "a rank"),
    ("45", "Order no. 45 is late.", "a label"),
    ("45", "Question 45 was left out.", "a label"),
    ("1", "1. Open the lid.\n2. Close it.", "the marks of a list"),
    ("2", "1. Open the lid.\n2. Close it.", "the marks of a list"),
    ("45", "44. Open the lid.\n45. Close it.", "the marks of a long list"),
    ("45", "It weighs 45 hundred kilos.", "a scale in words"),
    ("45", "It cost 45 million.", "a scale in words"),
    ("45", "It is 45K.", "a scale"),
    ("1.234", "Es kostet 1.234,56 Euro.", "separators of another language"),
    ("12", "The lot sold for 12,34,567 rupees.", "Indian grouping"),
    ("3", "It takes 3 1/2 days.", "a mixed fraction"),
    ("3", "It takes 3½ days.", "a mixed fraction"),
    ("45 kg", "It weighs 45 kg more than the old one.", "a difference"),
    ("-5", "It made a profit of 5.", "another sign"),
    ("$5", "It made a loss of $5.", "a loss"),
    ("$45", "It costs €45.", "another currency"),
    ("$45", "It costs 45 Canadian dollars.", "another dollar"),
    ("$45", "It costs A$45.", "another dollar"),
    ("45 GBP", "It costs 45 Egyptian pounds.", "another pound"),
    ("45 users", "It has 45 non-paying accounts.", "counts something else"),
    ("45 invoices", "45 customers sent 12 invoices.", "counts something else"),
    ("45 users", "45 potential users were invited.", "not yet users"),
    ("45 users", "45 former users left a note.", "no longer users"),
    ("45 days", "It takes 45 business days.", "business days"),
    ("45", "x45", "an identifier"),
    ("45%", "It grew by 45 percentage points.", "points, not percent"),
    ("45 days", "Day 45 is the last.", "a rank, not a length"),
]
SAID = [
    ("-5", "It made a loss of 5.", "a loss is negative"),
    ("12", "It needs a dozen bolts.", "a dozen"),
    ("24", "It needs two dozen bolts.", "two dozens"),
    ("4500", "It weighs forty-five hundred kilos.", "hundreds in words"),
    ("1234.56", "Es kostet 1.234,56 Euro.", "separators of another language"),
    ("1234567", "The lot sold for 12,34,567 rupees.", "Indian grouping"),
    ("3.5 days", "It takes 3½ days.", "a mixed fraction"),
    ("3.5 days", "It takes 3 1/2 days.", "a mixed fraction"),
    ("0.5", "It takes ½ a page.", "a fraction"),
    ("45000", "The limit is 4.5e4.", "scientific notation"),
    ("45000", "The limit is 4.5 × 10^4.", "scientific notation with a cross"),
    ("45000", "The limit is 45k.", "a scale"),
    ("100", "She turned a hundred.", "an article for one"),
    ("45 days", "It takes forty-five days.", "in words"),
    ("45", "Forty five it is.", "in words without a hyphen"),
    ("1500000", "It made 1.5 million.", "a scale in words"),
    ("14 days", "It takes a fortnight.", "a fortnight"),
    ("7 days", "It takes a week.", "a week"),
    ("$45", "It costs forty-five dollars.", "in words, with its currency"),
    ("45%", "It is 45 per cent.", "two words for the sign"),
    ("0.45", "It is 45%.", "a share written as percent"),
]
PLAIN: list[tuple[str, str, Truth, str]] = [
    ("30 days", "The term changed from 45 to 30 days.", "stated", "the new value of a change"),
    ("$60", "The fee was raised from $45 to $60.", "stated", "the new value of a price"),
    ("30 days", "The term is 30 days, down from 45 days.", "stated", "the present one of two"),
    ("30 days", "Use 30 days instead of 45 days.", "stated", "the present one of two"),
    ("30 days", "The term is 30 days rather than 45 days.", "stated", "the present one of two"),
    ("45 days", "The term is 45 days until further notice.", "stated", "until some time to come"),
    ("45 days", "Payment is due 45 days after receipt of the invoice.", "stated", "after marks a start"),
    ("45 days", "Invoices are due within 45 days.", "stated", "within"),
    ("45", "The team has 45 members and one coach.", "stated", "a count beside another"),
    ("45 users", "All 45 users agreed.", "stated", "all of them"),
    ("45 users", "The plan covers 45 users from March on.", "stated", "from some time on"),
    ("$1,234.50", "The total is $1234.50.", "stated", "without its separator"),
    ("1,000", "It holds 1000 litres.", "stated", "without its separator"),
    ("-5", "It was -5 at night.", "stated", "a sign"),
    ("2.5", "It is 2.50 in total.", "stated", "a zero more"),
    ("45", "The oldest of them is 45.", "stated", "old is an age here"),
    ("45 km", "From Bergen it is 45 km to Voss.", "stated", "from a place"),
    ("45 days", "It takes 46 days.", "absent", "another number"),
    ("45 days", "It takes 45 hours.", "absent", "another unit"),
    ("45%", "It grew by 54%.", "absent", "another number"),
    ("$45", "It costs $450.", "absent", "another number"),
    ("45", "It takes 4.5 days.", "absent", "another number"),
    ("14 days", "The notice period rose to 14 days from 7.", "stated", "the new value before the old one"),
    ("14 days", "It is 14 days now; it was 7 days before.", "stated", "the present one of two"),
    ("14 days", "You have 14 days from delivery to return it.", "stated", "from marks a start"),
    ("30 days", "Our old policy gave you 60 days. Today you have 30 days.", "stated", "today's"),
    ("30 days", "Most rivals offer 60 days. We offer 30 days.", "stated", "ours"),
    ("$129", "It was $99 until the sale ended; it is $129 now.", "stated", "the present one of two"),
    ("24 hours", "Support is open 24 hours a day.", "stated", "all day is no rate"),
]


@pytest.fixture
async def evaluator() -> AsyncIterator[Evaluator]:
    async with Evaluator(RunConfig(embedder="none", mode="offline")) as made:
        yield made


@pytest.mark.parametrize(("value", "response", "why"), [*OLD_VALUES, *NOT_THIS, *LIMITS, *PARTS])
async def test_a_number_that_is_not_said_never_passes(
    evaluator: Evaluator, value: str, response: str, why: str
):
    """A number that only stands there is no silent pass."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state != "pass", why


@pytest.mark.parametrize(("value", "response", "why"), SAID)
async def test_a_number_said_otherwise_never_fails(evaluator: Evaluator, value: str, response: str, why: str):
    """A number in another form is no silent fail, and as a trap no silent pass."""
    wanted = await evaluator.check("must-contain", value, response=response)
    trap = await evaluator.check("must-not-contain", value, response=response)

    assert wanted.state != "fail", why
    assert trap.state != "pass", why


@pytest.mark.parametrize(("value", "response", "truth", "why"), PLAIN)
async def test_plain_numbers_are_decided(
    evaluator: Evaluator, value: str, response: str, truth: Truth, why: str
):
    """Doubt about hard numbers costs no easy one."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state == ("pass" if truth == "stated" else "fail"), why
