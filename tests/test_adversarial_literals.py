"""Identifiers, code and scanned names: what looks like the literal and is another, and what is the literal in disguise.

Each row says what a careful reader would: *another* may not pass, *same* may not fail, a *plain* one of either must be decided.
Characters that cannot be told apart by eye stand as escapes. The sentences are invented.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, TypeAlias

import pytest

from tiered_eval import Evaluator, RunConfig

Truth: TypeAlias = Literal["stated", "absent"]

ANOTHER = [
    ("PO-4471", "PO-44710 is open.", "a digit more behind"),
    ("PO-4471", "PO-44712 and XPO-4471 are open.", "more before and behind"),
    ("PO-4471", "PO-4471-B is open.", "a suffix"),
    ("PO-4471", "PO-4471/2 is open.", "a part of it"),
    ("PO-4471", "PO-4471.1 is open.", "a revision of it"),
    ("PO-4471", "SPO-4471 is open.", "a letter before"),
    ("PO-4471", "EU-PO-4471 is open.", "a prefix"),
    ("PO-4471", "PO-4471_old is open.", "an underscore goes on"),
    ("PO-4471", "PO-04471 is open.", "a leading zero"),
    ("get_user", "It calls get_users().", "a plural"),
    ("get_user", "It calls get_user_by_id().", "a longer name"),
    ("get_user", "It calls widget_user().", "a longer name before"),
    ("foo.bar", "It sets foo.bar.baz.", "an attribute goes on"),
    ("--force", "It uses --force-with-lease.", "a longer option"),
    ("--force", "It does not use --force.", "denied"),
    ("sudo", "It runs pseudo code.", "inside a word"),
    ("rm -rf", "Never run rm -rf on it.", "a warning"),
    ("rm -rf", "Avoid rm -rf.", "a warning"),
    ("DROP TABLE", "I will not run DROP TABLE.", "refused"),
    ("DROP TABLE", 'The instruction "DROP TABLE users" was rejected.', "quoted and rejected"),
    ("PO-4471", "There is no order PO-4471.", "denied"),
    ("PO-4471", "PO-4471 does not exist.", "denied behind"),
    ("PO-4471", "PO-4471 could not be found.", "denied behind"),
    ("PO-4471", 'You asked "where is PO-4471?" and I cannot say.', "the question, quoted"),
    ("PO-4471", "Did you mean PO-4471?", "a question"),
    ("PO-4471", "It is either PO-4471 or PO-4472.", "one of two"),
    ("PO-4471", "I found PO-4472 instead of PO-4471.", "the other one"),
    ("PO-4471", "PO-4471 was replaced by PO-4472.", "replaced"),
    ("approved", "The request was disapproved.", "inside a word"),
    ("approved", "It was non-approved.", "a prefix with a hyphen"),
    ("approved", "The request was never approved.", "denied"),
    ("approved", "It is yet to be approved.", "to come"),
    ("approved", "It was almost approved.", "almost"),
    ("approved", "It would be approved by a kinder board.", "supposed"),
    ("paid", "The invoice will be paid in May.", "to come"),
    ("paid", "The invoice has yet to be paid.", "to come"),
    ("paid", "A prepaid card was used.", "inside a word"),
    ("INV-2031", "INV-2032 supersedes INV-2031.", "replaced"),
    ("TK-305", "TK-305 has been merged into TK-310.", "merged into another"),
    ("delete_user", "delete_user was deliberately not called.", "denied behind an adverb"),
    ("INV-2031", "I found nothing under INV-2031.", "nothing found"),
    ("v2.1", "It runs v2.1.3.", "a longer version"),
    ("v2.1", "It runs v2.10.", "another version"),
    ("10.0.0.1", "It is at 10.0.0.12.", "a longer address"),
    ("10.0.0.1", "It is at 110.0.0.1.", "a longer address"),
    ("user@x.example", "Write to superuser@x.example.", "a longer address"),
    ("user@x.example", "Write to user@x.example.org.", "another domain"),
]
DISGUISED = [
    ("PO-4471", "PO-\n4471 is open.", "wrapped at its hyphen"),
    ("PO-4471", "P\u041e-4471 is open.", "a Cyrillic letter"),
    ("PO-4471", "PO-44\u200b71 is open.", "a zero-width space"),
    ("PO-4471", "PO\u00ad-4471 is open.", "a soft hyphen"),
    ("PO-4471", "PO\u20114471 is open.", "a hyphen that does not break"),
    ("PO-4471", "PO\u20134471 is open.", "a dash for the hyphen"),
    ("PO-4471", "\uff30\uff2f\uff0d\uff14\uff14\uff17\uff11 is open.", "full width"),
    ("PO-4471", "po-4471 is open.", "small letters"),
    ("PO-4471", "`PO-4471` is open.", "as code"),
    ("PO-4471", "[PO-4471](https://x.example/o) is open.", "a link"),
    ("PO-4471", "PO-4471\u2019s status is open.", "a genitive"),
    ("PO-4471", "PO 4471 is open.", "a space for the hyphen"),
    ("PO-4471", "PO4471 is open.", "nothing for the hyphen"),
    ("caf\u00e9", "The cafe\u0301 is open.", "a letter and its accent apart"),
    ("stra\u00dfe", "Die STRASSE ist zu.", "capitals of a sharp s"),
    ("fi-12", "The \ufb01-12 is open.", "a ligature"),
    ("PO-4471", "PO-4471\u200d is open.", "a joiner behind it"),
    ("PO-4471", "\u202aPO-4471\u202c is open.", "marks of direction around it"),
    ("PO-4471", "PO-447\u0661 is open.", "an Arabic digit"),
    ("don't", "We don\u2019t ship.", "a curly apostrophe"),
]
MISREAD_AS_ANOTHER = [
    ("Anna Berg", "Anna Borg", "another family name"),
    ("Anna Berg", "Anne Berg signed it.", "another given name"),
    ("Otto Lang", "Otto Long signed it.", "another family name"),
    ("Jan Holm", "Jan Helm signed it.", "another family name"),
    ("Maria Dahl", "Mario Dahl signed it.", "another given name"),
    ("Karl Beck", "Karl Bock signed it.", "another family name"),
    ("Mr Hall", "Mr Hull", "another family name"),
    ("Lena Moss", "Lena Ross", "another initial letter"),
    ("Paul Webb", "Saul Webb", "another initial letter"),
    ("Karin", "Karen", "a single name"),
    ("Norda", "Norma", "a firm and a name"),
    ("signed by Anna Berg in May", "signed by Anna Borg in May", "a name in a line"),
    ("Anna Berg, Harbour Road", "Anna Borg, Harbour Road", "a name in an address"),
    ("Invoice 4471", "Invoice 4477", "another digit"),
    ("Invoice 4471", "Invoice 447", "a digit is gone"),
    ("Invoice 4471", "Invoice 14471", "a digit more"),
    ("3 May 1887", "8 May 1887", "another digit of a day"),
    ("3 May 1887", "3 May 1837", "another digit of a year"),
    ("EUR 12.50", "EUR 12.60", "another digit of a price"),
    ("EUR 12.50", "USD 12.50", "another currency"),
]
MISREAD = [
    ("Anna Berg", "Anna Bcrg signed it.", "a shape that scanners mix up"),
    ("Otto Lind", "0tto Lind signed it.", "a zero for the letter"),
    ("Otto Lind", "Otto Llnd signed it.", "an l for the i"),
    ("Harbour Logistics", "Harb0ur Log1stics", "digits for letters"),
    ("The committee met on Friday", "The cornmittee met on Friday", "rn for m"),
    ("Invoice 4471 of the harbour", "lnvoice 4471 of the harbour", "an l for the capital I"),
]
PLAIN: list[tuple[str, str, Truth, str]] = [
    ("PO-4471", "PO-4471.", "stated", "a full stop behind"),
    ("PO-4471", "(PO-4471)", "stated", "in brackets"),
    ("PO-4471", "Order PO-4471, not PO-4472, is late.", "stated", "the other one is denied"),
    ("PO-4471", "PO-4472 was replaced by PO-4471.", "stated", "the one that replaced it"),
    ("PO-4471", "PO-4471 was approved by the board.", "stated", "a passive is no denial"),
    ("get_user", "It calls get_user() first.", "stated", "a call"),
    ("--force", "It runs with --force.", "stated", "a full stop behind"),
    ("approved", "It was approved.", "stated", "as it is"),
    ("paid", "The invoice was paid.", "stated", "as it is"),
    ("INV-2031", "INV-2031 replaces INV-2030.", "stated", "the one that replaced it"),
    ("approved", "The request was approved on Monday.", "stated", "with a day behind it"),
    ("PO-4471", "PO-4472 is open.", "absent", "another number"),
    ("get_user", "It calls set_user().", "absent", "another name"),
    ("v2.1", "It runs v3.1.", "absent", "another version"),
]


@pytest.fixture
async def evaluator() -> AsyncIterator[Evaluator]:
    async with Evaluator(RunConfig(embedder="none", mode="offline")) as made:
        yield made


@pytest.mark.parametrize(("value", "response", "why"), ANOTHER)
async def test_another_literal_never_passes(evaluator: Evaluator, value: str, response: str, why: str):
    """What only looks like the literal, or is denied, is no silent pass."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state != "pass", why


@pytest.mark.parametrize(("value", "response", "why"), DISGUISED)
async def test_a_disguised_literal_never_fails(evaluator: Evaluator, value: str, response: str, why: str):
    """A literal in other characters is no silent fail, and as a trap no silent pass."""
    wanted = await evaluator.check("must-contain", value, response=response)
    trap = await evaluator.check("must-not-contain", value, response=response)

    assert wanted.state != "fail", why
    assert trap.state != "pass", why


@pytest.mark.parametrize(("value", "response", "why"), MISREAD_AS_ANOTHER)
async def test_another_name_is_no_misread_one(evaluator: Evaluator, value: str, response: str, why: str):
    """A scan that holds another name or number is no silent pass."""
    verdict = await evaluator.check("must-contain", value, response=response, scanned=True)

    assert verdict.state != "pass", why


@pytest.mark.parametrize(("value", "response", "why"), MISREAD)
async def test_a_misread_name_is_accepted(evaluator: Evaluator, value: str, response: str, why: str):
    """Doubt about other names costs no misread one."""
    verdict = await evaluator.check("must-contain", value, response=response, scanned=True)

    assert verdict.state == "pass", why


@pytest.mark.parametrize(("value", "response", "truth", "why"), PLAIN)
async def test_plain_literals_are_decided(
    evaluator: Evaluator, value: str, response: str, truth: Truth, why: str
):
    """Doubt about hard literals costs no easy one."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state == ("pass" if truth == "stated" else "fail"), why
