"""Unknown calls are listed, and settled once, by what the provider's records say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tiered_eval.errors import ConfigError
from tiered_eval.ledger import Claim, Ledger, Resolution, Totals


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path) as opened:
        yield opened


async def lost(ledger: Ledger, *keys: str, bound: int = 60) -> list[int]:
    """Lose a call under each key; returns their numbers."""
    for key in keys:
        claim = Claim(key=key, scope="run", run="run", model="m:x", kind="k", bound=bound, cap=None)
        await ledger.claim(claim)
        await ledger.lose(claim, why="reset")
    return [call.number for call in reversed(ledger.unknown_calls())]


async def test_unknown_calls_say_when_they_left(ledger: Ledger):
    """A listed call has a number to name it by, its kind, and the moment of its claim."""
    await lost(ledger, "a")

    call = ledger.unknown_calls()[0]

    assert (call.number, call.kind, call.why) == (1, "k", "reset")
    assert call.sent_at <= call.at


async def test_settled_calls_leave_the_list_and_the_unknown_money(ledger: Ledger):
    """One was billed less than its bound, one was not billed: the cap gets back what neither took."""
    billed, not_billed, _ = await lost(ledger, "a", "b", "c")

    ledger.resolve(
        [
            Resolution(number=billed, cost=25, source="export.csv"),
            Resolution(number=not_billed, cost=None, source="export.csv"),
        ]
    )

    assert [call.key for call in ledger.unknown_calls()] == ["c"]
    assert ledger.totals(scope="run") == Totals(settled=25, unknown=60, reserved=0)


@pytest.mark.parametrize(
    "numbers", [[1, 1], [1, 99], [2]], ids=["named twice", "not there", "settled before"]
)
async def test_a_call_is_settled_once(ledger: Ledger, numbers: list[int]):
    """What cannot be settled changes nothing, also for the calls named beside it."""
    await lost(ledger, "a", "b")
    ledger.resolve([Resolution(number=2, cost=5, source="first")])
    before = ledger.totals()

    with pytest.raises(ConfigError, match="nothing was settled"):
        ledger.resolve([Resolution(number=number, cost=None, source="again") for number in numbers])

    assert ledger.totals() == before


async def test_a_ledger_with_settled_calls_opens_again(tmp_path: Path):
    """The amounts still add up, and a number is never given to another call."""
    with Ledger.open(tmp_path) as first:
        (number,) = await lost(first, "a")
        first.resolve([Resolution(number=number, cost=10, source="export")])

    with Ledger.open(tmp_path) as again:
        assert again.totals() == Totals(settled=10, unknown=0, reserved=0)
        assert await lost(again, "b") == [number + 1]
