"""Responses written to fool the mechanical tiers: what must never be a pass, and what must never be a fail.

Each row says what a careful reader would: *absent* may not pass, *stated* may not fail, and a *plain* one of either must
be decided. Doubt is right wherever a reader would hesitate. The sentences are invented.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, TypeAlias

import pytest

from tiered_eval import Evaluator, RunConfig

Truth: TypeAlias = Literal["stated", "absent"]

DENIED = [
    ("45", "The contract is not on net 45: it is on net 30.", "a colon behind the denied clause"),
    ("15:00", "The desk is not open from 06:30 to 15:00.", "the colon of a time ends no clause"),
    ("45", "Not: 45 days", "a label that is a denial alone"),
    ("45", "Wrong: 45 days. Right: 30 days.", "a label that says wrong"),
    ("PO-4471", "No match: PO-4471", "a label of a search"),
    ("45", "Had the term been 45 days, we would owe nothing.", "an inversion with a noun"),
    ("45", "Assume the term is 45 days.", "a supposition"),
    ("45", "Say it were 45 days.", "a supposition"),
    ("45", "You might think it's 45 days, but it's 30.", "what the reader may think"),
    ("45", "Some people claim the term is 45 days.", "a claim without its that"),
    ("45", "It used to be 45 days; now it is 30.", "the past"),
    ("45", "It was formerly 45 days and is now 30 days.", "the past"),
    ("45", "I doubt that it is 45 days.", "doubted"),
    ("45", "It is doubtful that the term is 45 days.", "doubted"),
    ("45", "It is unlikely to be 45 days.", "doubted"),
    ("45", "We reject 45 days.", "rejected by a verb before it"),
    ("45", "30, as opposed to 45", "set apart"),
    ("45", "Contrary to the 45 days in the memo, it is 30.", "set apart at the start"),
    ("PO-4471", "Everything but PO-4471 was shipped.", "all but this"),
    ("PO-4471", "All orders bar PO-4471 were approved.", "all but this"),
    ("45", "The 45 day term was never agreed.", "the number stands before its noun"),
    ("45", "The 45-day limit does not apply.", "the number stands before its noun"),
    ("45", "45... no, wait, 30.", "a correction"),
    ("45", "45 — no, 30.", "a correction"),
    ("45", "45, sorry, 30.", "a correction without a denial"),
    ("45", "I said 45 days earlier; that was wrong. It is 30 days.", "taken back by the next clause"),
]
LAYOUT = [
    ("45", "~~net 45~~ net 30", "struck through"),
    ("45", "<del>net 45</del> net 30", "struck through in HTML"),
    ("PO-4471", "~~PO-4471~~ PO-4472", "an identifier struck through"),
    ("45", "## Not supported\n\n- net 45\n- net 60\n", "a list below a heading"),
    ("45", "**Rejected**\n\n1. net 45\n2. net 60\n", "a list below a bold line"),
    ("PO-4471", "### Orders not approved\n* PO-4470\n* PO-4471", "an identifier in such a list"),
    ("45", "| Term | Applies |\n|---|---|\n| net 30 | yes |\n| net 45 | no |\n", "a row of two that says no"),
    ("45", "| Term | Fee | Valid |\n|---|---|---|\n| net 45 | 3 | no |\n", "a column that judges the row"),
    ("45", "| Term | Applies |\n|---|---|\n| net 30 | yes |\n| net 45 | ✗ |\n", "a cross in the row"),
    ("45", "net 30 ✅\nnet 45 ❌\n", "a cross on the line"),
    ("PO-4471", "PO-4471 | not found", "a row without borders"),
]
OTHER_AMOUNTS = [
    ("45", "45‰", "per mille"),
    ("45", "Article 45 applies.", "a label"),
    ("45", "§ 45 applies.", "a label"),
    ("45", "√45", "an operand"),
    ("45", "45 minus 3", "an operand"),
    ("45", "twice 45", "an operand"),
    ("45", "a third of 45", "an operand"),
    ("45", "the square root of 45", "an operand"),
    ("45", "45 squared", "an operand"),
    ("45", r"\frac{45}{2}", "an operand"),
    ("45", "x != 45", "unequal"),
    ("45", "x ≠ 45", "unequal"),
    ("45", "45 dozen", "a scale that is no number"),
    ("2", "2-thirds", "a fraction"),
    ("3", "3. Pay the fee.", "the mark of a list"),
    ("1 hour", "It takes 1 hour and 30 minutes.", "the first part of an amount"),
    ("30 minutes", "It takes 1 hour and 30 minutes.", "the last part of an amount"),
    ("2 years", "2 years and 6 months", "the first part of an amount"),
    ("5 feet", "5 feet 10 inches", "the first part of an amount"),
    ("$2", "2 dollars and 50 cents", "the first part of an amount"),
    ("2026", "It opens after 2026.", "a bound of time"),
    ("3 March 2026", "It opens two days after 3 March 2026.", "another day"),
    ("3 March 2026", "The day before 3 March 2026 it closed.", "another day"),
    ("14:30", "It opens after 14:30.", "a bound of time"),
    ("45 votes", "45 abstentions and 12 votes", "counts something else"),
    ("45 users", "45 admins, 12 users", "counts something else"),
    ("45 users", "45 fewer users", "a difference"),
    ("45 users", "45 of 60 users", "a share of them"),
]
LONGER_FORMS = [
    ("https://a.example/x", "See https://a.example/x?y=1", "a query goes on"),
    ("https://a.example/x", "See https://a.example/x/y", "a path goes on"),
    (
        "https://a.example/x",
        "See https://evil.example/?u=https://a.example/x",
        "handed on by another address",
    ),
    ("config.yaml", "It is in config.yaml.bak.", "another file"),
    ("config.yaml", "It is in my-config.yaml.", "another file"),
    ("1.4.2", "It runs 1.4.2-rc1.", "another version"),
    ("C++", "It is written in C.", "another language"),
    ("007", "Agent 7 is here.", "leading zeros are part of it"),
    ("C:\\temp\\x", "Saved in C:\\temp\\xy.", "another file"),
]
STATED = [
    ("1.5 hours", "It takes an hour and a half.", "words"),
    ("90 minutes", "It takes an hour and a half.", "words in another unit"),
    ("90 minutes", "It takes 1 hour 30 minutes.", "two units"),
    ("90 minutes", "It takes 1h30.", "two units, run together"),
    ("45 days", "It takes six weeks and three days.", "two units in words"),
    ("45 minutes", "It takes three quarters of an hour.", "a part of a unit"),
    ("1997", "In the summer of '97 it opened.", "a year without its century"),
    ("2026", "In the season 2025/26 it won.", "a year without its century"),
    ("12:00", "It closes at noon.", "a word for a time"),
    ("00:00", "It closes at midnight.", "a word for a time"),
    ("14:30", "It closes at half past two.", "a time in words"),
    ("14:30", "It closes at 2.30 pm.", "a point for a colon"),
    ("50%", "Half of all users left.", "a share in words"),
    ("75%", "Three in four users left.", "a share in words"),
    ("$2.50", "It costs 2 dollars and 50 cents.", "dollars and cents"),
    ("$0.45", "It costs 45 cents.", "cents alone"),
    ("45", "Superb Owl XLV", "a Roman numeral"),
    ("45", "四十五", "numerals of another script"),
    ("3 March 2026", "Stamp: 20260303", "a date without marks"),
    ("PO-4471", "PO-\n4471 is open.", "wrapped over a line end"),
    ("PO-4471", "PO 4471 is open.", "a space for the hyphen"),
    ("A12", "It leaves from gate A-12.", "a hyphen in between"),
    ("v1.4", "It runs version 1.4.", "the word for its letter"),
    ("PO-4471", "See https://x.example/orders?ref=PO-4471&x=1", "a value in a query"),
    ("PO-4471", "PO-4470/PO-4471", "one of two beside a slash"),
    ("192.168.0.1", "It listens at 192.168.0.1:80.", "an address with its port"),
]
STATEMENTS = [
    ("The check is done by the night shift", "The night shift is done by the check.", "changed over a by"),
    ("The manager of the bank left", "The bank of the manager left.", "changed over an of"),
    ("Room 12", "It is in room 12B.", "a letter goes on"),
    ("SKU 991", "The sku 991-B is in stock.", "a letter goes on"),
]
SCANNED = [
    ("Logistics", "Logisticsberg GmbH", "another name"),
    ("Harbour Logistics", "Harbour Logisticsberg", "the last word goes on"),
    ("The contract was signed", "The contract was resigned", "a longer word"),
    ("The contract was signed", "The contract was assigned", "a longer word"),
    ("Payment is due", "Payment is overdue", "a longer word"),
    ("The contract ends in May", "The contract ends in March", "another month"),
    ("net 45", "not 45", "a denial came in"),
    ("now valid", "not valid", "a denial came in"),
    ("$45", "€45", "another currency"),
    ("45%", "45", "the percent sign is gone"),
    ("DOC-2025-118", "DOC-2025-113", "another digit"),
    ("legal", "illegal", "the opposite"),
]
READABLE = [
    ("The contract ends in May", "Thc conlract cnds in May", "letters misread"),
    ("Invoice total 145.00", "lnvoice tota1 145.00", "letters misread"),
    ("DOC-2025-118", "D0C-2O25-118", "letters for digits"),
    ("Harbour Logistics", "Harbour Logist1cs GmbH", "another word behind it"),
]
PLAIN = [
    (
        "The check is done by the night shift",
        "The check is done by the night shift of the plant.",
        "stated",
        "in place",
    ),
    ("45 pages", "It has 45 pages of maps.", "stated", "in place"),
    ("45", "It is 45 days, not 30.", "stated", "the other one is denied"),
    ("45", "not 30 days but 45 days", "stated", "corrected to it"),
    ("45", "45 (not 30)", "stated", "the other one is denied, in brackets"),
    ("45", "There are no discounts, and the term is 45 days.", "stated", "the denial is of something else"),
    ("45", "Without doubt, the term is 45.", "stated", "no doubt at all"),
    ("45", "No exceptions: the term is 45 days.", "stated", "a label that denies something else"),
    (
        "45",
        "| Order | Days | Paid |\n|---|---|---|\n| A-1 | 45 | no |",
        "stated",
        "no speaks of another column",
    ),
    ("47", "45 + 2 = 47", "stated", "the result of a sum"),
    ("1451", "The lines add up to $1,451.", "stated", "a sum is no limit"),
    ("45 users", "45 active users", "stated", "a word in between"),
    ("45 users", "users: 45", "stated", "the noun before"),
    ("45 days", "The term is 45 days from receipt.", "stated", "as always"),
    ("2026", "It opened in March 2026.", "stated", "a month and year"),
    ("PO-4471", "**PO-4471**: open", "stated", "bold"),
    ("https://a.example/x", "See https://a.example/x.", "stated", "a full stop is no part of it"),
    ("1.4.2", "It runs v1.4.2.", "stated", "a version with its letter"),
    ("007", "Agent 007 is here.", "stated", "a code of digits"),
    ("config.yaml", "It is in /etc/config.yaml.", "stated", "a file in its folder"),
    ("PO-4471", "PO-44710 is open.", "absent", "another number"),
    ("config.yaml", "It is in myconfig.yaml.", "absent", "another file"),
    ("45 days", "45 weeks", "absent", "another unit"),
]


@pytest.fixture
async def evaluator() -> AsyncIterator[Evaluator]:
    async with Evaluator(RunConfig(embedder="none", mode="offline")) as made:
        yield made


@pytest.mark.parametrize(
    ("value", "response", "why"), [*DENIED, *LAYOUT, *OTHER_AMOUNTS, *LONGER_FORMS, *STATEMENTS]
)
async def test_what_is_not_said_never_passes(evaluator: Evaluator, value: str, response: str, why: str):
    """A value that the response holds and does not state is no silent pass."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state != "pass", why


@pytest.mark.parametrize(("value", "response", "why"), [*DENIED, *LAYOUT])
async def test_a_trap_that_is_denied_is_not_sprung(evaluator: Evaluator, value: str, response: str, why: str):
    """A trap that the response denies is no silent fail."""
    verdict = await evaluator.check("must-not-contain", value, response=response)

    assert verdict.state != "fail", why


@pytest.mark.parametrize(("value", "response", "why"), STATED)
async def test_what_is_said_otherwise_never_fails(evaluator: Evaluator, value: str, response: str, why: str):
    """A value that the response states in another form is no silent fail, and as a trap no silent pass."""
    wanted = await evaluator.check("must-contain", value, response=response)
    trap = await evaluator.check("must-not-contain", value, response=response)

    assert wanted.state != "fail", why
    assert trap.state != "pass", why


@pytest.mark.parametrize(("value", "response", "truth", "why"), PLAIN)
async def test_plain_cases_are_decided(
    evaluator: Evaluator, value: str, response: str, truth: Truth, why: str
):
    """Doubt about hard cases costs no easy one."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state == ("pass" if truth == "stated" else "fail"), why


@pytest.mark.parametrize(("value", "response", "why"), SCANNED)
async def test_another_text_is_no_misread_one(evaluator: Evaluator, value: str, response: str, why: str):
    """A scan that reads as something else is no silent pass."""
    verdict = await evaluator.check("must-contain", value, response=response, scanned=True)

    assert verdict.state != "pass", why


@pytest.mark.parametrize(("value", "response", "why"), READABLE)
async def test_a_misread_text_is_accepted(evaluator: Evaluator, value: str, response: str, why: str):
    """Doubt about other texts costs no misread one."""
    verdict = await evaluator.check("must-contain", value, response=response, scanned=True)

    assert verdict.state == "pass", why
