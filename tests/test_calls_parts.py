"""The parts of the door, each alone: kept replies, flights, the tally."""

from __future__ import annotations

import asyncio
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest
from gateways import ask, opened
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.calls.flights import Flights
from tiered_eval.calls.replies import find_reply, payload_from_reply
from tiered_eval.calls.tally import CallTally, Heading
from tiered_eval.errors import CallsStopped
from tiered_eval.records import ModelReply, StopReason, Usage
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.scripted import ScriptedProvider

MODEL = "scripted:small"

# ── kept replies ─────────────────────────────────────────────────────────────────────────────────

texts = st.text(st.characters(), max_size=30)
counts = st.integers(0, 10**9)
replies = st.builds(
    ModelReply,
    text=texts,
    stop_reason=st.sampled_from(get_args(StopReason)),
    model=texts,
    nonce=texts,
    request_id=st.none() | texts,
    latency_s=st.floats(0, 1e6),
    refusal=st.none() | texts,
    usage=st.builds(
        Usage,
        input_tokens=counts,
        output_tokens=counts,
        cache_read_tokens=counts,
        cache_write_tokens=counts,
        cache_write_long_tokens=counts,
        reasoning_tokens=counts,
        service_tier=st.none() | texts,
        is_estimated=st.booleans(),
        cost_usd=st.none() | st.decimals(0, 1000, places=12),
    ),
)


@given(replies)
def test_a_reply_comes_back_as_it_was(reply: ModelReply):
    """What is kept is the whole reply; its payload is ASCII, whatever is in it."""
    payload = payload_from_reply(reply)

    assert payload.isascii()
    assert find_reply(payload) == reply


GOOD = json.loads(
    payload_from_reply(
        ModelReply(
            text="{}",
            stop_reason="end",
            model="m",
            nonce="n",
            usage=Usage(input_tokens=1, output_tokens=1),
        )
    )
)


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "null",
        "[]",
        "{",
        "{}",
        json.dumps({**GOOD, "version": 2}),
        json.dumps({**GOOD, "text": None}),
        json.dumps({**GOOD, "text": ["met"]}),
        json.dumps({**GOOD, "stop_reason": "because"}),
        json.dumps({**GOOD, "usage": None}),
        json.dumps({**GOOD, "usage": {"input_tokens": 1}}),
        json.dumps({**GOOD, "usage": {**GOOD["usage"], "input_tokens": "many"}}),
        json.dumps({**GOOD, "usage": {**GOOD["usage"], "cost_usd": "dear"}}),
        json.dumps({key: value for key, value in GOOD.items() if key != "nonce"}),
        "[" * 100_000,
    ],
)
def test_anything_else_is_a_miss(payload: str):
    """A payload that this version did not write is no reply, and no error."""
    assert find_reply(payload) is None


# ── flights ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_flight_is_begun_once_and_its_key_is_free_afterwards():
    """Askers of one key share a flight; when it has landed the next one begins anew."""
    flights: Flights[int] = Flights()
    begun: list[int] = []

    async def fly() -> int:
        begun.append(1)
        await asyncio.sleep(0)
        return len(begun)

    together = await asyncio.gather(
        flights.join("k", fly), flights.join("k", fly), flights.join("other", fly)
    )
    later = await flights.join("k", fly)

    assert together == [(2, True), (2, False), (2, True)]
    assert later == (3, True)


async def test_closing_cancels_flights_and_tells_the_askers():
    """Whoever waits when the flights are ended is told so."""
    flights: Flights[None] = Flights()

    async def fly() -> None:
        await asyncio.Event().wait()

    askers = [asyncio.create_task(flights.join("k", fly)) for _ in range(2)]
    await asyncio.sleep(0)

    await flights.aclose()

    ends = await asyncio.gather(*askers, return_exceptions=True)
    assert [type(end) for end in ends] == [CallsStopped, CallsStopped]


async def test_closing_waits_until_a_flight_has_tidied_up():
    """A cancelled flight may book what became of it before closing goes on."""
    flights: Flights[None] = Flights()
    booked: list[str] = []

    async def fly() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            booked.append("lost")

    asker = asyncio.create_task(flights.join("k", fly))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    await flights.aclose()

    assert booked == ["lost"]
    asker.cancel()


# ── the tally ────────────────────────────────────────────────────────────────────────────────────


def test_lost_calls_are_no_billed_calls():
    """A call of unknown fate is counted apart from the calls that were billed."""
    tally = CallTally(HandClock())
    heading = Heading("judge", MODEL, "requirement")
    tally.bill(heading, 5 * 10**11, Usage(input_tokens=3, output_tokens=2))
    tally.lose(heading, 10**12)

    spend = tally.spend(cap=2 * 10**12, reserved=0)

    assert (spend.settled_usd, spend.unknown_usd, spend.cap_usd) == (Decimal("0.5"), 1, 2)
    assert (spend.calls, spend.unknown_calls) == (1, 1)
    assert (spend.by_kind[0].input_tokens, spend.by_kind[0].output_tokens) == (3, 2)


async def test_waiting_is_counted_while_it_lasts():
    """The time with an open call is known before the call has ended."""
    clock = HandClock()
    tally = CallTally(clock)
    tally.open_call()
    await clock.advance(3.0)

    assert tally.provider_wait_s == 3.0


# ── what it opens ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed under /proc")
async def test_a_closed_gateway_leaves_no_file_of_its_home_open(tmp_path: Path):
    """A harness that scores run after run in one process does not run out of files."""
    async with opened(tmp_path, ScriptedProvider()) as gateway:
        await ask(gateway)

    assert open_files_below(tmp_path) == []


def open_files_below(folder: Path) -> list[str]:
    links = [os.path.realpath(entry) for entry in Path("/proc/self/fd").iterdir()]
    return [link for link in links if link.startswith(str(folder))]
