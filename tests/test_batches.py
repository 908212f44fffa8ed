"""Judge calls in a vendor's batch: half the price, no call twice, and nothing lost when the process dies."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import AT, LARGE, PRICES, SMALL, books, opened, read
from test_packing import CLAIMS, RESPONSE, judge, question, questions_in, sizes, verdicts

from tiered_eval.calls import Gateway
from tiered_eval.calls.batches import TRIED_FROM
from tiered_eval.calls.terms import MAX_ATTEMPTS
from tiered_eval.config import RunConfig
from tiered_eval.errors import (
    BudgetExceeded,
    DeadlineReached,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
)
from tiered_eval.ledger import Ledger, Totals
from tiered_eval.ledger.files import APPLICATION_ID, FORMAT, SCHEMA, connect
from tiered_eval.parsing import judgement_parser
from tiered_eval.pricing import PriceBook
from tiered_eval.records import (
    BatchHandle,
    BatchItem,
    BatchSearch,
    BatchState,
    Completed,
    ModelRequest,
    Usage,
)
from tiered_eval.runner.services import open_services
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.scripted import ScriptedProvider, Step, make_request
from tiered_eval.testing.scripted_batches import ItemFate, ScriptedBatches

BOOK = PriceBook(PRICES)
USAGE = Usage(input_tokens=100, output_tokens=50)


def price(usage: Usage) -> int:
    return BOOK.cost_pico(usage, SMALL, AT)


def answer(request: ModelRequest, nonce: str) -> str:
    if request.schema_name == "verdict":
        return json.dumps({"nonce": nonce, "verdict": "met"})
    return judge()(request, nonce)


class Vendor:
    """One vendor with both ways to be asked, and one bill for both."""

    def __init__(self, *, script: Sequence[Step] = (), **batches: Any) -> None:
        self.single = ScriptedProvider(script, answer=answer, usage=lambda request: USAGE, price=price)
        self.batches = ScriptedBatches(
            **{"answer": answer, "usage": lambda request: USAGE, "price": price, **batches}
        )

    @property
    def bill(self) -> int:
        return self.single.bill + self.batches.bill

    @asynccontextmanager
    async def gateway(self, home: Path, **more: Any):
        options = {"uses_batches": True, "open_batch_provider": lambda prefix: self.batches, **more}
        async with opened(home, self.single, **options) as gateway:
            yield gateway


async def ask_all(gateway: Gateway, numbers: Sequence[int] = range(5), **more: Any) -> list[Any]:
    return await asyncio.gather(
        *(
            gateway.complete(make_request(f"question {number}", **more), read, models=[SMALL])
            for number in numbers
        ),
        return_exceptions=True,
    )


def answers(got: Sequence[Any]) -> list[str]:
    return [each.parsed if isinstance(each, Completed) else type(each).__name__ for each in got]


def check_books(home: Path, vendor: Vendor) -> None:
    totals = books(home)
    assert totals.settled <= vendor.bill <= totals.settled + totals.unknown
    assert totals.reserved == 0


# ── one batch ────────────────────────────────────────────────────────────────────────────────────


async def test_calls_that_are_asked_together_travel_together(tmp_path: Path):
    """Five questions are one batch, no single call, and each gets its own answer."""
    vendor = Vendor()
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)
        spend = gateway.statistics().spend

    assert (vendor.batches.sizes, vendor.single.asked) == ([5], [])
    assert answers(got) == ["met"] * 5
    assert books(tmp_path).settled == vendor.bill
    assert spend.settled_usd == Decimal(vendor.bill).scaleb(-12) == sum(each.cost_usd for each in got)
    assert spend.calls == 5


MANY = range(TRIED_FROM)


async def test_many_calls_travel_after_one_was_answered_alone(tmp_path: Path):
    """A day is not spent on finding out that the vendor takes no such call."""
    vendor = Vendor()
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway, MANY)
        more = await ask_all(gateway, range(100, 100 + TRIED_FROM))

    assert (len(vendor.single.asked), vendor.batches.sizes) == (1, [TRIED_FROM - 1, TRIED_FROM])
    assert answers([*got, *more]) == ["met"] * 2 * TRIED_FROM
    check_books(tmp_path, vendor)


async def test_calls_to_a_model_that_is_no_more_do_not_travel(tmp_path: Path):
    """Each is told the vendor's own refusal, after one call and without a batch."""
    gone = ProviderRefused("no such model", model=SMALL, status=404, billed="no")
    vendor = Vendor(script=[Step(error=gone)])
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway, MANY)

    assert answers(got) == ["ProviderRefused"] * TRIED_FROM
    assert (len(vendor.single.asked), vendor.batches.sizes, vendor.bill) == (1, [], 0)


@pytest.mark.parametrize(
    ("why", "error"),
    [
        ("the call itself is at fault", ProviderRefused("too long", model=SMALL, status=400, billed="no")),
        ("single calls are out of reach", ProviderUnavailable("down", model=SMALL, status=503, billed="no")),
    ],
)
async def test_what_says_nothing_of_the_model_keeps_nobody_from_travelling(
    tmp_path: Path, why: str, error: ProviderError
):
    """The call that was tried alone goes with the others."""
    vendor = Vendor(script=[Step(error=error)] * MAX_ATTEMPTS)
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway, MANY)

    assert vendor.batches.sizes == [TRIED_FROM]
    assert answers(got) == ["met"] * TRIED_FROM


async def test_a_batch_is_booked_at_half_the_price(tmp_path: Path):
    """A model of a vendor with batches costs half in one, also where the user gave the price."""
    model = "openai:judge"
    book = PriceBook({model: {"input": 1, "output": 5}})
    vendor = Vendor(name="openai", price=lambda usage: book.cost_pico(usage, model, AT))
    async with vendor.gateway(tmp_path, prices=book) as gateway:
        await gateway.complete(make_request(), read, models=[model])

    assert books(tmp_path).settled == vendor.bill == (100 * 10**6 + 50 * 5 * 10**6) // 2


async def test_what_a_batch_brought_is_kept(tmp_path: Path):
    """The next run finds the answers of a batch like any other, and submits nothing."""
    vendor = Vendor()
    async with vendor.gateway(tmp_path) as gateway:
        await ask_all(gateway)
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)
    async with opened(tmp_path, vendor.single) as gateway:
        alone = await ask_all(gateway)

    assert vendor.batches.sizes == [5]
    assert all(each.from_store for each in (*got, *alone))


async def test_the_same_question_travels_once(tmp_path: Path):
    """Two who ask the same share one item of a batch."""
    vendor = Vendor()
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway, [1, 2, 1, 1])

    assert vendor.batches.sizes == [2]
    assert answers(got) == ["met"] * 4


async def test_a_batch_is_cut_by_what_the_vendor_takes(tmp_path: Path):
    """More questions than one batch may hold are several."""
    vendor = Vendor(most_items=3)
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway, range(7))

    assert vendor.batches.sizes == [3, 3, 1]
    assert answers(got) == ["met"] * 7


async def test_packs_travel_in_batches(tmp_path: Path):
    """Four questions on one response are one item of a batch, and each answer has its own key."""
    vendor = Vendor()
    parse = judgement_parser(response=RESPONSE)
    async with vendor.gateway(tmp_path, pack="auto") as gateway:
        got = await asyncio.gather(
            *(gateway.complete(question(claim), parse, models=[SMALL]) for claim in CLAIMS[:4])
        )
    async with vendor.gateway(tmp_path, pack="auto") as gateway:
        [again] = await asyncio.gather(gateway.complete(question(CLAIMS[2]), parse, models=[SMALL]))

    [batch] = vendor.batches.batches.values()
    assert [len(questions_in(item.request)) for item in batch.items.values()] == [4]
    assert verdicts(got) == ["met"] * 4
    assert again.from_store
    assert books(tmp_path).settled == vendor.bill


async def test_looks_become_rarer(tmp_path: Path):
    """A batch is looked at after a minute, then less often, at least every five minutes."""
    clock = HandClock(moves_itself=True)
    vendor = Vendor(looks=8)
    async with vendor.gateway(tmp_path, hand_clock=clock) as gateway:
        await ask_all(gateway)

    waits = [wait for wait in clock.slept if wait >= 60]
    assert waits[0] == 60
    assert waits == sorted(waits)
    assert waits[-1] == 300


async def test_a_prefix_without_batches_is_asked_one_by_one(tmp_path: Path):
    """A vendor that has no batches is asked at once."""
    vendor = Vendor()
    async with vendor.gateway(tmp_path, open_batch_provider=lambda prefix: None) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert len(vendor.single.asked) == 5


# ── items that bring no answer ───────────────────────────────────────────────────────────────────

FATES: list[tuple[ItemFate, bool]] = [
    ("errored", False),
    ("maybe", True),
    ("unmentioned", True),
    ("unreadable", False),
]


@pytest.mark.parametrize(("fate", "is_unknown"), FATES, ids=[fate for fate, _ in FATES])
async def test_an_item_without_an_answer_is_asked_alone(tmp_path: Path, fate: ItemFate, is_unknown: bool):
    """Whatever befalls an item, it is asked alone, and is never a fail; what it may have cost stays in the books."""
    poor = set[str]()

    def fate_of(item: BatchItem) -> ItemFate:
        if not poor:
            poor.add(item.custom_id)
        return fate if item.custom_id in poor else "succeeded"

    vendor = Vendor(fate=fate_of)
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert len(vendor.single.asked) == 1
    assert (books(tmp_path).unknown > 0) == is_unknown
    check_books(tmp_path, vendor)


LEFT: list[tuple[ItemFate, str, str]] = [
    ("expired", "DeadlineReached", "expired at the vendor"),
    ("cancelled", "Interrupted", "was cancelled at the vendor"),
]


@pytest.mark.parametrize(("fate", "leaves", "why"), LEFT, ids=[fate for fate, *_ in LEFT])
async def test_an_item_that_never_ran_is_not_asked_alone(
    tmp_path: Path, fate: ItemFate, leaves: str, why: str
):
    """Expired and cancelled items are left over, at no cost and without a call at the full price; the next run asks again."""
    fates: dict[str, ItemFate] = {">question 0</": fate, ">question 3</": fate}
    vendor = Vendor(fate=lambda item: fates.get(item.request.user[1], "succeeded"))
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)
        warnings = gateway.statistics().warnings
    fates.clear()
    async with vendor.gateway(tmp_path, run="next") as gateway:
        again = await ask_all(gateway)

    assert answers(got) == [leaves, "met", "met", leaves, "met"]
    assert "the same command asks again" in str(got[0])
    assert any(f"2 calls to {SMALL}" in warning and why in warning for warning in warnings)
    assert (vendor.batches.sizes, vendor.single.asked) == ([5, 2], [])
    assert answers(again) == ["met"] * 5
    assert books(tmp_path) == Totals(settled=vendor.bill)


async def test_the_next_model_is_not_asked_for_what_never_ran(tmp_path: Path):
    """A batch whose time is up says nothing against its model, and the stand-in's price is another one."""
    vendor = Vendor(fate=lambda item: "expired")
    async with vendor.gateway(tmp_path) as gateway:
        with pytest.raises(DeadlineReached):
            await gateway.complete(make_request(), read, models=[SMALL, LARGE])

    assert (vendor.batches.sizes, vendor.single.asked) == ([1], [])


async def test_no_question_of_a_pack_that_expired_is_asked_alone(tmp_path: Path):
    """A pack that never ran is left over as a whole."""
    vendor = Vendor(fate=lambda item: "expired")
    parse = judgement_parser(response=RESPONSE)
    async with vendor.gateway(tmp_path, pack="auto") as gateway:
        got = await asyncio.gather(
            *(gateway.complete(question(claim), parse, models=[SMALL]) for claim in CLAIMS[:3]),
            return_exceptions=True,
        )

    assert answers(got) == ["DeadlineReached"] * 3
    assert vendor.single.asked == []
    assert books(tmp_path) == Totals()


@pytest.mark.parametrize("fate", ["expired", "cancelled"])
async def test_what_was_left_behind_and_never_ran_is_asked_again(tmp_path: Path, fate: ItemFate):
    """The next run finds that an earlier run's batch brought nothing: that is the time to ask again."""
    vendor: Vendor = Vendor(fate=lambda item: fate if len(vendor.batches.sizes) == 1 else "succeeded")
    await leave_behind(tmp_path, vendor, ask_all)
    async with vendor.gateway(tmp_path, run="next") as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert (vendor.batches.sizes, vendor.single.asked) == ([5, 5], [])
    check_books(tmp_path, vendor)


async def test_an_item_that_is_unreadable_twice_is_an_error(tmp_path: Path):
    """A reply that cannot be read in the batch is asked for once more, alone, and no oftener."""
    vendor = Vendor(fate=lambda item: "unreadable")
    vendor.single = ScriptedProvider(
        answer=lambda request, nonce: "nothing", usage=lambda request: USAGE, price=price
    )
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway, [1])

    assert answers(got) == ["UnreadableReply"]
    assert len(vendor.single.asked) == 1
    check_books(tmp_path, vendor)


async def test_results_that_break_off_are_read_again(tmp_path: Path):
    """What came before the break is booked once, the rest on the next reading."""
    vendor = Vendor(breaks=[3, 1])
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway, range(8))

    assert answers(got) == ["met"] * 8
    assert vendor.single.asked == []
    assert books(tmp_path).settled == vendor.bill


# ── submissions ──────────────────────────────────────────────────────────────────────────────────

SUBMISSIONS: list[tuple[list[str], list[int], int]] = [
    (["down"], [5], 0),
    (["refused"], [], 5),
    (["down", "down", "down"], [], 5),
    (["taken, unanswered"], [5], 0),
    (["not taken, unanswered"], [], 5),
]


@pytest.mark.parametrize(("submissions", "batches", "alone"), SUBMISSIONS, ids=lambda value: str(value))
async def test_a_submission_that_fails_is_made_good(
    tmp_path: Path, submissions: list[str], batches: list[int], alone: int
):
    """Never submitted twice where it may have been taken, never given up: what is not in a batch is asked alone."""
    vendor = Vendor(submissions=submissions)
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert vendor.batches.sizes == batches
    assert len(vendor.single.asked) == alone
    assert books(tmp_path).settled == vendor.bill
    assert books(tmp_path).unknown == 0


async def test_a_batch_that_appears_late_is_not_made_twice(tmp_path: Path):
    """A vendor may still be taking what it did not answer: that it knows of no such batch is believed a minute later."""
    vendor, clock = Vendor(submissions=["taken, unanswered"]), HandClock(moves_itself=True)
    find, submitted = vendor.batches.find, clock()

    async def find_late(custom_ids: Collection[str], **more: Any) -> BatchSearch:
        if clock() < submitted + 30:
            return BatchSearch(handle=None)
        return await find(custom_ids, **more)

    vendor.batches.find = find_late  # type: ignore[method-assign]  # the vendor's whim
    async with vendor.gateway(tmp_path, hand_clock=clock) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert (vendor.batches.sizes, vendor.single.asked) == ([5], [])
    check_books(tmp_path, vendor)


async def test_a_vendor_that_asks_for_an_absurd_wait_is_not_waited_for(tmp_path: Path):
    """A submission that may come again in a year is made call by call today."""
    vendor, clock = Vendor(), HandClock(moves_itself=True)

    async def refuse(items: Sequence[BatchItem], **more: Any) -> BatchHandle:
        raise RateLimited("later", model=SMALL, status=429, billed="no", retry_after_s=3e7)

    vendor.batches.submit = refuse  # type: ignore[method-assign]  # the vendor's whim
    async with vendor.gateway(tmp_path, hand_clock=clock) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert clock() < 3600


# ── the cap ──────────────────────────────────────────────────────────────────────────────────────


async def test_the_whole_batch_is_reserved_when_it_is_submitted(tmp_path: Path):
    """While a batch is under way, the worst case of each of its calls is set aside, in the ledger too."""
    vendor = Vendor()
    vendor.batches.is_running = True
    clock = HandClock()
    async with vendor.gateway(tmp_path, hand_clock=clock) as gateway:
        asking = asyncio.create_task(ask_all(gateway))
        await until_looked_at(vendor, clock)
        reserved = books_while_open(tmp_path).reserved
        asking.cancel()
        await asyncio.wait({asking})

    bound = BOOK.worst_case_pico(make_request("question 1"), SMALL, AT, in_batch=True)
    assert reserved == 5 * bound


async def test_what_does_not_fit_travels_in_the_next_batch(tmp_path: Path):
    """Under a tight cap, batches follow each other while there is room, and the bill stays under it."""
    vendor = Vendor()
    bound = BOOK.worst_case_pico(make_request("question 10"), SMALL, AT, in_batch=True)
    cap = 4 * bound
    async with vendor.gateway(tmp_path, cap_usd=Decimal(cap).scaleb(-12)) as gateway:
        got = await ask_all(gateway, range(10, 10 + TRIED_FROM - 1))

    assert len(vendor.batches.sizes) > 1
    assert vendor.bill <= cap
    assert set(answers(got)) == {"met", "BudgetExceeded"}
    assert books(tmp_path).settled == vendor.bill >= cap - bound - 10**9
    assert vendor.batches.sizes[0] == 4


async def test_a_cap_of_nothing_submits_nothing(tmp_path: Path):
    """A cap of 0 means no batch either."""
    vendor = Vendor()
    async with vendor.gateway(tmp_path, cap_usd=Decimal(0)) as gateway:
        got = await ask_all(gateway)

    assert all(isinstance(each, BudgetExceeded) for each in got)
    assert vendor.batches.sizes == []


# ── runs that end before their batch ─────────────────────────────────────────────────────────────


async def until_looked_at(vendor: Vendor, clock: HandClock) -> None:
    """Move the clock until the vendor has been asked how the batch is doing."""
    async with asyncio.timeout(10):
        while not vendor.batches.reached.is_set():
            await clock.advance(2)
            await asyncio.sleep(0.002)


def books_while_open(home: Path) -> Totals:
    """The totals as another process reads them, without opening the ledger (which would tidy up)."""
    connection = connect(home / "ledger.db", for_reading=True)
    try:
        row = connection.execute("SELECT sum(settled), sum(unknown), sum(reserved) FROM budget").fetchone()
    finally:
        connection.close()
    return Totals(settled=row[0], unknown=row[1], reserved=row[2])


async def leave_behind(home: Path, vendor: Vendor, ask: Callable[[Gateway], Any], **more: Any) -> None:
    """A run that ends while its batch is under way."""
    clock = HandClock()
    vendor.batches.is_running = True
    vendor.batches.reached.clear()
    async with vendor.gateway(home, hand_clock=clock, **more) as gateway:
        asking = asyncio.create_task(ask(gateway))
        await until_looked_at(vendor, clock)
        asking.cancel()
        await asyncio.wait({asking})
        assert any("not fetched yet" in warning for warning in gateway.statistics().warnings)
    vendor.batches.is_running = False


async def test_the_next_run_fetches_what_was_left_behind(tmp_path: Path):
    """A run that ended before its batch: the same questions again are answered from that batch, billed once."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all)
    assert books_while_open(tmp_path).reserved > 0

    async with vendor.gateway(tmp_path, run="again") as gateway:
        got = await ask_all(gateway)
        warnings = gateway.statistics().warnings

    assert answers(got) == ["met"] * 5
    assert (vendor.batches.sizes, vendor.single.asked) == ([5], [])
    assert books(tmp_path).settled == vendor.bill
    assert any("left behind" in warning for warning in warnings)
    check_books(tmp_path, vendor)


async def test_packs_that_were_left_behind_are_fetched(tmp_path: Path):
    """The answers of a pack come back under their own keys, also to a process that never saw the pack."""
    vendor = Vendor()
    parse = judgement_parser(response=RESPONSE)

    async def ask(gateway: Gateway) -> list[Any]:
        return await asyncio.gather(
            *(gateway.complete(question(claim), parse, models=[SMALL]) for claim in CLAIMS[:5])
        )

    await leave_behind(tmp_path, vendor, ask, pack="auto")
    async with vendor.gateway(tmp_path, run="again", pack="auto") as gateway:
        got = await ask(gateway)

    assert verdicts(got) == ["met"] * 5
    assert (vendor.batches.sizes, sizes(vendor.single)) == ([1], [])
    check_books(tmp_path, vendor)


async def test_what_was_packed_otherwise_before_is_not_asked_again(tmp_path: Path):
    """The next run packs other questions together, or asks one that was alone: what travels is waited for all the same."""
    vendor = Vendor()
    parse = judgement_parser(response=RESPONSE)

    def ask(claims: Sequence[str]) -> Callable[[Gateway], Any]:
        return lambda gateway: all_of(
            gateway.complete(question(claim), parse, models=[SMALL]) for claim in claims
        )

    await leave_behind(tmp_path / "alone", vendor, ask(CLAIMS[:1]), pack="auto")
    async with vendor.gateway(tmp_path / "alone", pack="auto") as gateway:
        first = await ask(CLAIMS[:3])(gateway)
    await leave_behind(tmp_path / "packed", vendor, ask(CLAIMS[:3]), pack="auto")
    async with vendor.gateway(tmp_path / "packed", pack="auto") as gateway:
        second = await ask(CLAIMS[2:5])(gateway)

    assert verdicts([*first, *second]) == ["met"] * 6
    asked = [
        [len(questions_in(item.request)) for item in batch.items.values()]
        for batch in vendor.batches.batches.values()
    ]
    assert asked == [[0], [2], [3], [2]]


async def all_of(asked: Iterable[Awaitable[Any]]) -> list[Any]:
    return await asyncio.gather(*asked)


async def test_a_run_without_batches_waits_for_one_that_was_left_behind(tmp_path: Path):
    """What travels in a batch is not asked again by a run that does not use batches itself."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all)

    async with vendor.gateway(tmp_path, uses_batches=False) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert vendor.single.asked == []


async def test_never_leaves_a_running_batch_where_it_is(tmp_path: Path):
    """With ``never``, a batch that has not ended is not waited for: its calls are unknown, said so, and made again."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all)
    vendor.batches.is_running = True

    async with vendor.gateway(tmp_path, uses_batches=False, waits_for_left_behind=False) as gateway:
        got = await ask_all(gateway)
        warnings = gateway.statistics().warnings

    assert answers(got) == ["met"] * 5
    assert len(vendor.single.asked) == 5
    assert any("not waited for" in warning for warning in warnings)
    totals = books(tmp_path)
    assert totals.unknown == 5 * BOOK.worst_case_pico(make_request("question 1"), SMALL, AT, in_batch=True)
    assert totals.reserved == 0


async def test_a_batch_whose_process_dies_is_taken_over_by_who_waits_for_it(tmp_path: Path):
    """A run that waits for calls in the batch of another process goes on with that batch when the process has gone."""
    vendor = Vendor()
    vendor.batches.is_running = True
    clock = HandClock()
    async with vendor.gateway(tmp_path, run="waits", uses_batches=False) as waiting:
        await waiting.ledger()
        async with vendor.gateway(tmp_path, run="dies", hand_clock=clock) as dying:
            asking = asyncio.create_task(ask_all(dying))
            await until_looked_at(vendor, clock)
            got = asyncio.create_task(ask_all(waiting))
            await asyncio.sleep(0.05)
            asking.cancel()
            await asyncio.wait({asking})
        assert not got.done()
        vendor.batches.is_running = False
        async with asyncio.timeout(10):
            answered = await got

    assert answers(answered) == ["met"] * 5
    assert (vendor.batches.sizes, vendor.single.asked) == ([5], [])
    check_books(tmp_path, vendor)


async def test_a_deadline_does_not_lose_a_batch(tmp_path: Path):
    """When the time is up, the calls of a batch are left over, and the next run has their answers."""
    vendor = Vendor()
    vendor.batches.is_running = True
    clock = HandClock(moves_itself=True)

    async with vendor.gateway(tmp_path, hand_clock=clock, deadline_s=lambda: 0.3) as gateway:
        late = await ask_all(gateway)
    vendor.batches.is_running = False
    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)

    assert all(isinstance(each, DeadlineReached) for each in late)
    assert answers(got) == ["met"] * 5
    assert vendor.batches.sizes == [5]
    check_books(tmp_path, vendor)


async def test_an_intent_without_a_batch_is_no_money_spent(tmp_path: Path):
    """A kill between the intent and the submission: the vendor knows no such batch, so nothing is charged or lost."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all)
    forget_handle(tmp_path)
    vendor.batches.batches.clear()

    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert vendor.batches.finds == 1
    assert vendor.batches.sizes == [5]
    assert books(tmp_path).unknown == 0
    check_books(tmp_path, vendor)


async def test_a_submission_that_was_not_journalled_is_found(tmp_path: Path):
    """A kill between the submission and the note of its id: the batch is found by its items, and fetched."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all)
    forget_handle(tmp_path)

    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert (vendor.batches.finds, vendor.batches.sizes, vendor.single.asked) == (1, [5], [])
    check_books(tmp_path, vendor)


def forget_handle(home: Path, left: str | None = None) -> None:
    connection = connect(home / "ledger.db")
    connection.execute("UPDATE batch SET handle = ?", (left,))
    connection.close()


@pytest.mark.parametrize("left", ["", "{", "[]", '{"batch_id": 5}', '"batch-0"'])
async def test_a_note_that_cannot_be_read_is_no_note(tmp_path: Path, left: str):
    """A batch whose note was damaged is looked for by its items, like one without."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all)
    forget_handle(tmp_path, left)

    async with vendor.gateway(tmp_path) as gateway:
        got = await ask_all(gateway)

    assert answers(got) == ["met"] * 5
    assert (vendor.batches.finds, vendor.single.asked) == (1, [])
    check_books(tmp_path, vendor)


async def test_a_batch_at_another_address_stays_for_a_run_that_has_it(tmp_path: Path):
    """A batch is not looked for at another server: its calls are errors that say so, and other calls are made."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all)
    vendor.batches.origin = "scripted://elsewhere"
    async with vendor.gateway(tmp_path, run="elsewhere") as gateway:
        elsewhere = await ask_all(gateway, [0, 1, 99])
        warnings = gateway.statistics().warnings
    vendor.batches.origin = "scripted://here"
    async with vendor.gateway(tmp_path, run="back") as gateway:
        got = await ask_all(gateway)

    assert answers(elsewhere) == ["ConfigError", "ConfigError", "met"]
    assert any("cannot be fetched" in warning for warning in warnings)
    assert answers(got) == ["met"] * 5
    assert vendor.batches.sizes == [5, 1]
    check_books(tmp_path, vendor)


async def test_a_batch_that_nobody_may_look_at_fails_its_calls_and_stays(tmp_path: Path):
    """When the key is refused while a batch is under way, its calls are errors at once; a later run fetches it."""
    vendor = Vendor()
    look = vendor.batches.poll

    async def refuse(handle: BatchHandle, **more: Any) -> BatchState:
        raise ProviderRefused(
            "the key is refused", model=handle.model, status=401, billed="no", stops_run=True
        )

    vendor.batches.poll = refuse  # type: ignore[method-assign]  # the vendor's whim
    async with vendor.gateway(tmp_path) as gateway:
        refused = await ask_all(gateway)
        again = await ask_all(gateway, [0])
    vendor.batches.poll = look  # type: ignore[method-assign]
    async with vendor.gateway(tmp_path, run="later") as gateway:
        got = await ask_all(gateway)

    assert answers([*refused, *again]) == ["ProviderRefused"] * 6
    assert answers(got) == ["met"] * 5
    assert (vendor.batches.sizes, vendor.single.asked) == ([5], [])
    check_books(tmp_path, vendor)


async def test_a_batch_of_a_killed_run_counts_against_the_same_cap(tmp_path: Path):
    """What a killed run's batch may cost is part of the cap of the run that continues it."""
    vendor = Vendor()
    bound = BOOK.worst_case_pico(make_request("question 10"), SMALL, AT, in_batch=True)
    cap = Decimal(6 * bound).scaleb(-12)
    await leave_behind(
        tmp_path, vendor, lambda gateway: ask_all(gateway, range(10, 15)), scope="shared", cap_usd=cap
    )

    async with vendor.gateway(tmp_path, scope="shared", cap_usd=cap) as gateway:
        got = await ask_all(gateway, range(10, 40))

    assert answers(got[:5]) == ["met"] * 5
    assert vendor.bill <= 6 * bound
    assert "BudgetExceeded" in answers(got)
    check_books(tmp_path, vendor)


# ── the set-up ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("config", "uses"),
    [
        ({}, False),
        ({"max_time_s": 360.0}, False),
        ({"max_time_s": 7200.0}, True),
        ({"batch": "always"}, True),
        ({"batch": "always", "mode": "offline"}, False),
        ({"batch": "never", "max_time_s": 86400.0}, False),
    ],
    ids=str,
)
def test_batches_are_used_where_the_time_allows(config: dict[str, Any], uses: bool):
    """``auto`` needs a deadline of two hours or more: without one, somebody may be waiting."""
    assert RunConfig(**config).uses_batches is uses


@pytest.mark.parametrize(
    ("config", "at_once"),
    [
        ({"pack": "never", "prompt_cache": "off"}, 8),
        ({"pack": 3, "prompt_cache": "off"}, 24),
        ({"pack": "never", "judges": ("anthropic:claude-haiku-5-5",)}, 32),
        (
            {
                "pack": "never",
                "judges": ("compatible:own",),
                "prices": {"compatible:own": {"input": 1, "output": 2}},
            },
            8,
        ),
        ({}, 48),
        ({"mode": "offline"}, 8),
        ({"batch": "always"}, 4096),
    ],
    ids=str,
)
async def test_as_many_may_wait_as_fill_packs_and_batches(
    tmp_path: Path, config: dict[str, Any], at_once: int, monkeypatch: pytest.MonkeyPatch
):
    """More expectations wait for a judge where they share calls, travel in a batch, or are held until another one about
    the same response is answered: they take no place away from one that could leave. None is held for a vendor that
    is not known to keep prompts."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    monkeypatch.setenv("TIERED_EVAL_COMPATIBLE_BASE_URL", "http://127.0.0.1:1/v1")
    services = await open_services(
        RunConfig(home=tmp_path, concurrency=8, **config), run="run", deadline=None
    )

    assert services.open_at_once("judge") == at_once
    await services.aclose()


def test_a_ledger_of_the_first_format_is_brought_up_to_date(tmp_path: Path):
    """A ledger that was made before there were batches opens, and can hold some."""
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.executescript(SCHEMA)
    connection.execute("INSERT INTO meta VALUES ('id', 'old')")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()

    with Ledger.open(tmp_path) as ledger:
        version = ledger._read("PRAGMA user_version", ())[0][0]
        tables = {name for (name,) in ledger._read("SELECT name FROM sqlite_master", ())}

    assert version == FORMAT
    assert {"batch", "batch_item"} <= tables
