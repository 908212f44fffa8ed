"""The cap of one process: never passed, used to its end, first come first served."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval.budget import Budget
from tiered_eval.errors import BudgetExceeded


async def turn() -> None:
    """Let every ready task run."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_reservation_counts_until_it_ends():
    """Reserved money counts against the cap, then only what was really spent."""
    budget = Budget(100)

    reservation = await budget.reserve(60)
    assert budget.statistics().reserved == 60
    reservation.settle(10)

    statistics = budget.statistics()
    assert (statistics.spent, statistics.reserved) == (10, 0)


async def test_exact_fit_is_let_in():
    """A call that needs the last pico-dollar fits."""
    budget = Budget(100)
    (await budget.reserve(40)).settle(40)

    reservation = await budget.reserve(60)

    assert reservation.bound == 60


async def test_one_pico_dollar_too_many_is_refused():
    """A call that needs one pico-dollar more does not, and the refusal says all four amounts."""
    budget = Budget(10**12)
    (await budget.reserve(4 * 10**11)).settle(4 * 10**11)

    with pytest.raises(BudgetExceeded) as refused:
        await budget.reserve(6 * 10**11 + 1)

    assert refused.value.cap_usd == 1
    assert refused.value.spent_usd == Decimal("0.4")
    assert refused.value.reserved_usd == 0
    assert refused.value.wanted_usd == Decimal("0.600000000001")
    assert "the cap of $1 leaves no room for a call of at most $0.600000000001: $0.4 spent" in str(
        refused.value
    )


async def test_waits_while_a_call_in_flight_may_give_money_back():
    """With money outstanding, a call that does not fit waits, and goes on when there is room."""
    budget = Budget(100)
    first = await budget.reserve(90)
    waiting = asyncio.create_task(budget.reserve(50))
    await turn()
    assert not waiting.done()

    first.settle(5)

    assert (await waiting).bound == 50


async def test_goes_on_waiting_while_any_call_is_in_flight():
    """One call that gives too little back does not end the wait, while another one may give more."""
    budget = Budget(100)
    first, second = await budget.reserve(50), await budget.reserve(50)
    waiting = asyncio.create_task(budget.reserve(60))
    await turn()

    first.settle(50)
    await turn()
    assert not waiting.done()
    second.settle(0)
    with pytest.raises(BudgetExceeded):
        await waiting

    other = Budget(100)
    first, second = await other.reserve(50), await other.reserve(50)
    waiting = asyncio.create_task(other.reserve(60))
    await turn()
    first.settle(20)
    second.settle(20)

    assert (await waiting).bound == 60


async def test_is_refused_when_nothing_is_outstanding_any_more():
    """A waiting call is refused as soon as nobody can make room for it."""
    budget = Budget(100)
    first = await budget.reserve(90)
    waiting = asyncio.create_task(budget.reserve(50))
    await turn()

    first.settle(90)

    with pytest.raises(BudgetExceeded):
        await waiting


async def test_a_refused_call_makes_way_for_a_smaller_one():
    """After a refusal the next in line is considered, and fits if it is smaller."""
    budget = Budget(100)
    first = await budget.reserve(90)
    large = asyncio.create_task(budget.reserve(50))
    small = asyncio.create_task(budget.reserve(10))
    await turn()

    first.settle(90)

    with pytest.raises(BudgetExceeded):
        await large
    assert (await small).bound == 10


async def test_first_come_first_served():
    """A small call does not overtake a large one that waits, so the large one is not starved."""
    budget = Budget(100)
    first = await budget.reserve(60)
    order: list[str] = []

    async def ask(name: str, bound: int) -> None:
        (await budget.reserve(bound)).settle(bound)
        order.append(name)

    asked = [asyncio.create_task(ask("large", 70)), asyncio.create_task(ask("small", 10))]
    await turn()
    assert order == []
    first.settle(0)
    await asyncio.gather(*asked)

    assert order == ["large", "small"]


async def test_lost_money_stays_charged():
    """A call of unknown fate counts at its bound."""
    budget = Budget(100)
    (await budget.reserve(80)).lose()

    with pytest.raises(BudgetExceeded):
        await budget.reserve(21)

    assert budget.statistics().unknown == 80


async def test_released_money_is_free_again():
    """A call that was not billed leaves nothing behind."""
    budget = Budget(100)
    (await budget.reserve(100)).release()

    assert (await budget.reserve(100)).bound == 100


async def test_stranded_money_is_reserved_and_not_waited_for():
    """What will not end while the budget is in use counts against the cap, and who waits for room is refused."""
    budget = Budget(100)
    reservation = await budget.reserve(60)
    waiting = asyncio.create_task(budget.reserve(50))
    await turn()

    reservation.strand()

    with pytest.raises(BudgetExceeded):
        await waiting
    assert budget.statistics().reserved == 60
    assert (await budget.reserve(40)).bound == 40
    with pytest.raises(RuntimeError, match="ends once"):
        reservation.settle(1)


async def test_a_reservation_ends_once():
    """Ending a reservation twice is a fault of ours, and is said."""
    reservation = await Budget(100).reserve(10)
    reservation.settle(1)

    with pytest.raises(RuntimeError, match="once"):
        reservation.release()


async def test_cancelled_while_waiting_takes_nothing():
    """Who is cancelled in the queue leaves no money set aside, and the next is served."""
    budget = Budget(100)
    first = await budget.reserve(90)
    cancelled = asyncio.create_task(budget.reserve(95))
    next_one = asyncio.create_task(budget.reserve(10))
    await turn()

    cancelled.cancel()
    await turn()

    assert (await next_one).bound == 10
    first.settle(0)
    assert budget.statistics().reserved == 10


async def test_cancelled_in_the_moment_of_being_served_gives_back():
    """Served and cancelled at once: the money goes back."""
    budget = Budget(100)
    first = await budget.reserve(90)
    waiting = asyncio.create_task(budget.reserve(95))
    await turn()

    first.settle(0)
    waiting.cancel()
    await turn()

    assert waiting.cancelled()
    assert budget.statistics().reserved == 0


async def test_without_a_cap_everything_fits_and_is_counted():
    """No cap means no limit, not no books."""
    budget = Budget(None)
    (await budget.reserve(10**18)).settle(10**17)

    assert budget.statistics().spent == 10**17


async def test_cost_above_the_bound_is_booked_and_reported():
    """If a call costs more than its worst case, the truth is booked and the excess is told."""
    budget = Budget(100)
    (await budget.reserve(10)).settle(15)

    assert (budget.statistics().spent, budget.statistics().overrun) == (15, 5)


async def test_earlier_spending_of_the_scope_counts():
    """A cap that others have used before is smaller for us."""
    budget = Budget(100)
    budget.start_at(spent=50, unknown=40)

    with pytest.raises(BudgetExceeded):
        await budget.reserve(11)


async def test_a_free_call_fits_a_used_up_cap():
    """A model that costs nothing may be asked when the cap is used up."""
    budget = Budget(100)
    (await budget.reserve(100)).settle(100)

    assert (await budget.reserve(0)).bound == 0


CALLS = st.lists(
    st.tuples(
        st.integers(0, 120),  # bound
        st.floats(0, 1),  # share of it that is billed
        st.integers(0, 3),  # turns of the loop that it takes
        st.sampled_from(["settle", "lose", "release", "cancel"]),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(cap=st.integers(0, 500), calls=CALLS)
def test_the_cap_holds_for_any_calls_in_any_order(cap, calls):
    """Whatever calls come and however they end, the cap holds, and nobody waits for ever."""

    async def one(budget: Budget, bound: int, share: float, turns: int, end: str) -> None:
        reservation = await budget.reserve(bound)
        held = budget.statistics()
        assert held.spent + held.unknown + held.reserved <= cap
        try:
            for _ in range(turns):
                await asyncio.sleep(0)
            if end == "settle":
                reservation.settle(int(bound * share))
            elif end == "lose":
                reservation.lose()
        finally:
            if reservation.is_open:
                reservation.release()

    async def run() -> None:
        budget = Budget(cap)
        tasks = [asyncio.create_task(one(budget, *call)) for call in calls]
        await asyncio.sleep(0)
        for task, call in zip(tasks, calls, strict=True):
            if call[-1] == "cancel":
                task.cancel()
        async with asyncio.timeout(5):
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(end is None or isinstance(end, BudgetExceeded | asyncio.CancelledError) for end in ends)
        assert (budget.statistics().reserved, budget.statistics().waiting) == (0, 0)

    asyncio.run(run())
