"""What goes into the ledger and comes out of it. All amounts are integers of pico-dollars."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

from tiered_eval.ledger.periods import Cap

__all__ = [
    "BatchEntry",
    "BatchLine",
    "Busy",
    "Claim",
    "ClaimAnswer",
    "Granted",
    "Kept",
    "NoRoom",
    "Resolution",
    "RunEntry",
    "SettledCall",
    "Totals",
    "UnknownCall",
    "seal_of",
    "shares_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Wish to make one attempt at one call: the right to the key and the money for it, in one transaction."""

    key: str
    """Content key of the call; the embedding of a batch takes a name of its own."""
    scope: str
    """What the cap is on: a run, by default."""
    run: str
    model: str
    kind: str
    bound: int
    cap: int | None
    attempt: int = 0
    distrusted: bytes | None = None
    """Seal of a kept reply that could not be read: it is replaced, its cost stays booked."""
    others: tuple[tuple[str, str], ...] = ()
    """(key, kind) of the further questions that the call answers. They share its money, and are granted together or
    not at all; each answer is kept under its own key."""
    batch: str | None = None
    """Name of the batch that the call travels in: it then belongs to the batch, and outlives the process."""
    caps: tuple[Cap, ...] = ()
    """Caps next to the scope's: on a day, a month or a suite. The call must fit under each."""

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key, *(key for key, _ in self.others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The claim holds: the money is set aside on disk, and the key is ours until it ends."""

    claim: Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A reply that was paid for, by this run or an earlier one."""

    key: str
    model: str
    payload: str
    cost: int
    seal: bytes
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """Another living process is making this very call, or it travels in a batch."""

    owner: str
    is_in_batch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRoom:
    """A cap has no room for the bound: the scope's, or one of the others."""

    settled: int
    unknown: int
    reserved: int
    cap: int | None = None
    """The cap that is full, where it is not the scope's."""
    on: str | None = None
    """What that cap is on, for people."""


ClaimAnswer: TypeAlias = Granted | Kept | Busy | NoRoom


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Money of a scope, a run or the whole ledger."""

    settled: int = 0
    """Billed, as the providers' usage says."""
    unknown: int = 0
    """Worst case of the calls that may have been billed without an answer."""
    reserved: int = 0
    """Set aside for calls in flight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCall:
    """A call that may have been billed without an answer; it stays charged at its worst case."""

    key: str
    run: str
    model: str
    attempt: int
    bound: int
    why: str
    at: str
    """When it was given up, in UTC: for the call of a killed process, when the ledger was opened next."""
    number: int = 0
    """Names it, for ``tiered-eval ledger resolve``."""
    sent_at: str = ""
    """When it was claimed, just before it left, in UTC."""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledCall:
    """A call that was billed, with or without a reply that is kept."""

    cost: int
    sent_at: str
    at: str
    """When it was settled, in UTC."""
    is_estimated: bool = False
    """The cost is our bound, since the provider sent no usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What became of a call that was unknown."""

    number: int
    """Of the unknown call."""
    cost: int | None
    """Pico-dollars that it was billed; None where it was not billed."""
    source: str
    """How that is known, such as the name of the provider's usage export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """One call of a batch: what was set aside for it, and how its result is found and checked."""

    claim: Claim
    custom_id: str
    nonce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEntry:
    """A batch that was handed to a vendor, or was about to be."""

    name: str
    model: str
    """As configured, with its provider."""
    handle: str | None
    """JSON that the vendor finds it by; None where the process ended before the vendor's answer was written."""
    at: str
    """Before it was submitted, in UTC."""
    lines: tuple[BatchLine, ...]
    """Those that have not been settled yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One run of a suite, for ``tiered-eval show``."""

    id: str
    suite: str
    scope: str
    cap: int | None
    started_at: str
    finished_at: str | None = None
    """None: it is still going on, or was killed."""
    state: str | None = None
    """How it ended, in the caller's words; None until then."""
    summary: str | None = None
    """JSON of the caller's choosing, such as the report."""


def seal_of(key: str, payload: str) -> bytes:
    """Checksum that binds a payload to its key: a reply that was altered or moved is a miss."""
    return hashlib.blake2b(f"{key}\0{payload}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def shares_of(total: int, count: int) -> list[int]:
    """``total`` in ``count`` equal shares, exactly: the first takes what does not divide."""
    share = total // count
    return [total - share * (count - 1), *[share] * (count - 1)]
