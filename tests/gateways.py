"""What the tests of the door share: a gateway whose waits take no time, and the books it leaves."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tiered_eval.calls import Gateway, Terms, World
from tiered_eval.errors import (
    UnreadableReply,
)
from tiered_eval.ledger import Ledger, Totals
from tiered_eval.pricing import PriceBook
from tiered_eval.records import Completed, ModelReply
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.scripted import make_request

SMALL = "scripted:small"
LARGE = "scripted:large"
OTHER = "other:model"
PRICES = {
    SMALL: {"input": 1, "output": 5},
    LARGE: {"input": 2, "output": 10},
    OTHER: {"input": 1, "output": 5},
}
BOOK = PriceBook(PRICES)
AT = datetime(2026, 11, 30, tzinfo=UTC)
TERMS = {field.name for field in fields(Terms)}
BOUND = BOOK.worst_case_pico(make_request(), SMALL, AT)


def read(reply: ModelReply) -> str:
    """A parser as strict as need be here: the verdict, if the nonce is echoed."""
    try:
        content = json.loads(reply.text)
        if content["nonce"] == reply.nonce:
            return str(content["verdict"])
    except (ValueError, KeyError):
        pass
    raise UnreadableReply("no verdict", text=reply.text, model=SMALL, billed="yes", usage=reply.usage)


@asynccontextmanager
async def opened(home: Path, provider: Any, **more: Any) -> AsyncIterator[Gateway]:
    """A gateway whose waits take no time, and whose day does not end, over one provider for every prefix (or a table of them)."""
    clock = more.pop("hand_clock", None) or HandClock(moves_itself=True)
    table = provider if isinstance(provider, dict) else None
    prices = more.pop("prices", None) or PriceBook(PRICES)
    allowed = {name: more.pop(name) for name in TERMS & more.keys()}
    world: dict[str, Any] = {
        "open_provider": table.__getitem__ if table else lambda prefix: provider,
        "clock": clock,
        "sleep": clock.sleep,
        "now": lambda: AT,
        "rng": random.Random(7),
        **more,
    }
    terms = Terms(**{"run": "run", **allowed})
    async with Gateway(home=home, prices=prices, terms=terms, world=World(**world)) as gateway:
        yield gateway


async def ask(
    gateway: Gateway,
    text: str = "Is it so?",
    *,
    models: tuple[str, ...] = (SMALL,),
    parse: Any = read,
    **more: Any,
) -> Completed[str]:
    return await gateway.complete(make_request(text, **more), parse, models=models)


def books(home: Path) -> Totals:
    with Ledger.open(home) as ledger:
        return ledger.totals()


def has_files(home: Path) -> bool:
    return home.exists()


def contents_below(home: Path) -> list[bytes]:
    return [path.read_bytes() for path in home.rglob("*") if path.is_file()]


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def until(is_so: Callable[[], bool]) -> None:
    """Let other tasks and the ledger's thread run until something is so."""
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 - it may be another thread that makes it so
            await asyncio.sleep(0.001)
