"""Batches whose process has gone: taken over, so that what was paid for is fetched and not asked again.

The one idea: the ledger knows of a batch all that is needed to book it: money, keys, ids, nonces. The questions themselves
are not kept, and need not be: whoever asks one again finds the answer under its key.

Route: ``batches`` takes them over before the first call of a run, and when somebody waits for one of their calls.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from tiered_eval.budget import Budget
from tiered_eval.calls.attempts import Attempts
from tiered_eval.calls.booking import Booking
from tiered_eval.calls.books import Books
from tiered_eval.calls.job import Job
from tiered_eval.calls.packs import pack_payloads
from tiered_eval.calls.replies import payload_from_reply
from tiered_eval.calls.tally import Heading
from tiered_eval.calls.terms import Terms, World
from tiered_eval.calls.trips import Seat, Trip
from tiered_eval.calls.vendors import Vendors, provider_of
from tiered_eval.errors import ConfigError, ProviderError, TieredEvalError
from tiered_eval.ledger import LEFT_IN_BATCH, BatchEntry, Claim, Ledger
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.base import BatchProvider
from tiered_eval.records import BatchHandle, ModelReply, Usage
from tiered_eval.text.plurals import plural

__all__ = ["LeftBehind"]


class LeftBehind:
    """What earlier runs on the home left in batches.

    Args:
        provider: finds a vendor's batches by its prefix.
        depart: sees a batch through.
    """

    def __init__(
        self,
        *,
        terms: Terms,
        world: World,
        books: Books,
        attempts: Attempts,
        vendors: Vendors,
        provider: Callable[[str], Awaitable[BatchProvider | None]],
        depart: Callable[[Trip], None],
    ) -> None:
        self.warnings: list[str] = []
        self.unreachable: dict[str, TieredEvalError] = {}
        """Why a call in a batch can neither be fetched nor made again, by its key."""
        self._is_waited_for = terms.waits_for_left_behind
        self._books = books
        self._attempts = attempts
        self._vendors = vendors
        self._provider = provider
        self._depart = depart
        self._sleep = world.sleep
        self._now = world.now
        self._adoption: asyncio.Task[None] | None = None

    async def adopt(self) -> None:
        """Take over what dead processes left, once. Raises LedgerError, ConfigError: the ledger cannot be used."""
        if self._adoption is None:
            self._adoption = asyncio.create_task(self._adopt_all())
        adoption = self._adoption
        await asyncio.wait({adoption})
        if not adoption.cancelled() and (error := adoption.exception()) is not None:
            raise error.with_traceback(None)

    async def adopt_again(self) -> None:
        """The same once more: somebody waits for a call of another process, which may have died meanwhile."""
        if self._adoption is not None and self._adoption.done():
            self._adoption = None
        await self.adopt()

    async def aclose(self) -> None:
        if self._adoption is not None:
            self._adoption.cancel()
            await asyncio.wait({self._adoption})

    async def _adopt_all(self) -> None:
        ledger = await self._books.open()
        for entry in await ledger.adopt_batches():
            try:
                trip = await self._resumed(entry, ledger)
            except TieredEvalError as error:
                # It stays in the ledger, for a run that has the key or the address.
                self._warn(entry, f"cannot be fetched: {error}")
                unreachable = ConfigError(f"this call travels in a batch that cannot be fetched: {error}")
                self.unreachable |= {key: unreachable for line in entry.lines for key in line.claim.keys}
                self._attempts.strand(sum(line.claim.bound for line in entry.lines))
                continue
            if trip is None:
                self._warn(entry, "is not waited for: its calls count as unknown, and are made again")
                await ledger.close_batch(entry.name, why=LEFT_IN_BATCH)
                continue
            self._warn(entry, "is fetched")
            self._depart(trip)

    async def _resumed(self, entry: BatchEntry, ledger: Ledger) -> Trip | None:
        """A trip that goes on where its process ended; None where it is not to be waited for.

        Raises:
            ConfigError, PriceUnknown: its vendor cannot be asked.
        """
        prefix, vendors_model = provider_of(entry.model)
        provider = await self._provider(prefix)
        if provider is None:
            raise ConfigError(f"no provider of batches serves the prefix {prefix!r}")
        handle = _handle_of(entry)
        if handle is not None and handle.origin != provider.origin:
            raise ConfigError(f"it is at {handle.origin}, and calls go to {provider.origin} now")
        if not self._is_waited_for and not await _has_ended(provider, handle):
            return None
        await self._vendors.load_price(entry.model)
        return Trip(
            name=entry.name,
            model=entry.model,
            vendors_model=vendors_model,
            provider=provider,
            ledger=ledger,
            tally=self._attempts.tally,
            seats={
                line.custom_id: Seat(self._booking_of(line.claim, ledger), line.nonce) for line in entry.lines
            },
            since=datetime.fromisoformat(entry.at).astimezone(UTC),
            sleep=self._sleep,
            now=self._now,
            handle=handle,
            is_new=False,
        )

    def _booking_of(self, claim: Claim, ledger: Ledger) -> Booking[ModelReply]:
        """The money of a call that another process claimed: part of our cap where it is the same one."""
        budget = self._attempts.budget if claim.scope == self._books.scope else Budget(None)
        job = _job_of(claim, self._vendors.prices, self._now)
        return self._attempts.book(job, claim, budget.take_over(claim.bound), ledger)

    def _warn(self, entry: BatchEntry, what: str) -> None:
        self.warnings.append(
            f"a batch of {plural(len(entry.lines), 'call')} to {entry.model} that an earlier run left behind {what}"
        )


def _handle_of(entry: BatchEntry) -> BatchHandle | None:
    """What the vendor finds it by; None where that was not written, or cannot be read: it is then looked for."""
    if entry.handle is None:
        return None
    try:
        return BatchHandle.from_json(json.loads(entry.handle))
    except (ValueError, KeyError, TypeError):
        return None


async def _has_ended(provider: BatchProvider, handle: BatchHandle | None) -> bool:
    if handle is None:
        return False
    try:
        return (await provider.poll(handle)).has_ended
    except ProviderError:
        return False


def _job_of(claim: Claim, prices: PriceBook, now: Callable[[], datetime]) -> Job[ModelReply]:
    """What is left to do about a call that another process submitted: book its answer and keep it."""

    def payloads(reply: ModelReply) -> list[str | None]:
        return pack_payloads(reply, claim.keys) if claim.others else [payload_from_reply(reply)]

    def cost(usage: Usage) -> int:
        return prices.cost_pico(usage, claim.model, now())

    async def send(timeout_s: float) -> ModelReply:
        raise ConfigError("a call that was left behind in a batch is not made again from there")

    def heading(kind: str) -> Heading:
        return Heading(tier="judge", model=claim.model, kind=kind)

    return Job(
        key=claim.key,
        provider=provider_of(claim.model)[0],
        heading=heading(claim.kind),
        tokens=0,
        bound=lambda: claim.bound,
        batch_bound=lambda: claim.bound,
        cost=cost,
        send=send,
        check=payloads,
        payloads=payloads,
        others=tuple((key, heading(kind)) for key, kind in claim.others),
    )
