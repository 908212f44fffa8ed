"""Budget and ledger together, as two processes use them, against a model in Decimal dollars.

Any order of reservations, claims, ends of every kind, cancellations, kills and restarts: the books agree with the model,
enclose the vendor's bill, and never pass the cap. ``make test-slow`` tries 2,000 sequences.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tiered_eval.budget import Budget, Reservation
from tiered_eval.errors import BudgetExceeded
from tiered_eval.ledger import Busy, Claim, ClaimAnswer, Granted, Kept, Ledger, NoRoom, RunEntry, periods

CAP = 1_000
PICO = Decimal(1).scaleb(-12)
WHO = st.sampled_from(["left", "right"])
SHARES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)])
AT = "2026-11-30T12:00:00.000+00:00"


@dataclass
class Attempt:
    """One attempt of a process: waits for the budget, then has claimed, then ends."""

    claim: Claim
    task: asyncio.Task[ClaimAnswer | None]
    reservation: Reservation | None = None

    @property
    def key(self) -> str:
        return self.claim.key


@dataclass
class Process:
    """What one process has of the door: its view of the cap, and its ledger."""

    run: str
    ledger: Ledger
    budget: Budget
    waiting: list[Attempt] = field(default_factory=list)
    in_flight: dict[str, Attempt] = field(default_factory=dict)
    claimed: list[Attempt] = field(default_factory=list)
    """In the order in which the ledger was asked."""


class Door(RuleBasedStateMachine):
    """Two processes on one home and under one cap."""

    def __init__(self) -> None:
        super().__init__()
        # In memory where there is such a place: that commits survive a loss of power is another test's matter.
        self.folder = TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        self.loop = asyncio.new_event_loop()
        self.processes: dict[str, Process] = {}
        self.dead_holds: dict[str, Decimal] = {}
        """What killed processes had reserved, by key, until somebody notices."""
        self.kept: dict[str, Decimal] = {}
        self.settled = self.unknown = self.bill = Decimal(0)
        self.killed: set[str] = set()
        """Whose last run was killed, and goes on with the next one."""
        self.number = 0

    # ── the model ────────────────────────────────────────────────────────────────────────────────

    @property
    def reserved(self) -> Decimal:
        bounds = [
            attempt.claim.bound for one in self.processes.values() for attempt in one.in_flight.values()
        ]
        return sum(bounds) * PICO + sum(self.dead_holds.values(), Decimal(0))

    def notice_the_dead(self) -> None:
        self.unknown += sum(self.dead_holds.values(), Decimal(0))
        self.dead_holds.clear()

    def check_answer(self, claim: Claim, answer: ClaimAnswer) -> None:
        """What the ledger has to answer, by the model."""
        if claim.key in self.kept:
            assert isinstance(answer, Kept)
            assert answer.cost * PICO == self.kept[claim.key]
            return
        if any(claim.key in one.in_flight for one in self.processes.values()):
            assert isinstance(answer, Busy)
            return
        if claim.key in self.dead_holds:
            self.notice_the_dead()
        has_room = self.settled + self.unknown + self.reserved + claim.bound * PICO <= CAP * PICO
        assert isinstance(answer, Granted if has_room else NoRoom)
        if not has_room:
            self.notice_the_dead()

    # ── the real ones ────────────────────────────────────────────────────────────────────────────

    @initialize()
    def begin(self) -> None:
        self.home = Path(self.folder.name) / "home"
        for who in ("left", "right"):
            self.start(who)

    def start(self, who: str) -> None:
        """A process begins a run: in the scope of both, or that of its last one where that was killed."""
        ledger = Ledger.open(self.home, now=lambda: AT)
        self.notice_the_dead()
        self.number += 1
        run = f"{who} {self.number}"
        scope = run if who in self.killed else "shared"
        entry = RunEntry(id=run, suite=who, scope=scope, cap=CAP, started_at=AT)
        assert ledger.begin_run(entry).scope == "shared"
        self.killed.discard(who)
        before = ledger.totals(scope="shared")
        budget = Budget(CAP)
        budget.start_at(spent=before.settled, unknown=before.unknown)
        self.processes[who] = Process(run, ledger, budget)

    async def attempt(self, process: Process, claim: Claim) -> ClaimAnswer | None:
        """As ``calls.attempts`` does it, up to the moment before the call leaves."""
        try:
            reservation = await process.budget.reserve(claim.bound)
        except BudgetExceeded:
            return None
        [attempt] = [one for one in process.waiting if one.claim is claim]
        attempt.reservation = reservation
        answering = process.ledger.claim(claim)
        process.claimed.append(attempt)
        return await answering

    def let_it_run(self, process: Process) -> None:
        """Until everybody has an answer, or waits for the budget."""

        async def settle_down() -> None:
            # It is the ledger's thread that makes it so.
            while sum(not one.task.done() for one in process.waiting) > process.budget.statistics().waiting:  # noqa: ASYNC110
                await asyncio.sleep(0)

        self.loop.run_until_complete(settle_down())
        for attempt in process.claimed:
            answer = attempt.task.result()
            process.waiting.remove(attempt)
            assert answer is not None
            assert attempt.reservation is not None
            self.check_answer(attempt.claim, answer)
            if isinstance(answer, Granted):
                process.in_flight[attempt.key] = attempt
            else:
                attempt.reservation.release()
        given_back = bool(process.claimed)
        process.claimed.clear()
        for attempt in [one for one in process.waiting if one.task.done()]:
            process.waiting.remove(attempt)  # refused by its own budget
        if given_back and process.waiting:
            self.let_it_run(process)

    def end(self, change: Callable[[], Awaitable[None]], end_here: Callable[[], None]) -> None:
        """End a call as ``calls.booking`` does: the ledger is told first, so that who waits here finds its room there."""

        async def wait() -> None:
            written = change()
            end_here()
            await written

        self.loop.run_until_complete(wait())

    def living(self, who: str) -> Process | None:
        return self.processes.get(who)

    def flying(self, who: str, index: int) -> tuple[Process, Attempt, Reservation] | None:
        """One of the calls in flight of a process."""
        process = self.processes.get(who)
        if process is None or not process.in_flight:
            return None
        key = sorted(process.in_flight)[index % len(process.in_flight)]
        attempt = process.in_flight.pop(key)
        assert attempt.reservation is not None
        return process, attempt, attempt.reservation

    # ── what may happen ──────────────────────────────────────────────────────────────────────────

    @rule(who=WHO, bound=st.integers(0, 400), key=st.none() | st.integers(0, 3))
    def ask(self, who: str, bound: int, key: int | None) -> None:
        """A new question, or one that another process may ask as well."""
        process = self.living(who)
        if process is None:
            return
        self.number += 1
        name = f"new {self.number}" if key is None else f"shared {key}"
        if any(one.key == name for one in process.waiting):
            return  # a process has one flight for a key
        claim = Claim(
            key=name,
            scope="shared",
            run=who,
            model="m:x",
            kind="requirement",
            bound=bound,
            cap=CAP,
            attempt=self.number,
        )
        task = self.loop.create_task(self.attempt(process, claim))
        process.waiting.append(Attempt(claim, task))
        self.let_it_run(process)

    @rule(who=WHO, index=st.integers(0, 9), share=SHARES)
    def settle(self, who: str, index: int, share: Fraction) -> None:
        """The answer came, for no more than its worst case."""
        if (found := self.flying(who, index)) is None:
            return
        process, attempt, reservation = found
        cost = int(attempt.claim.bound * share)
        self.end(
            lambda: process.ledger.settle(attempt.claim, cost=cost, payload="{}"),
            lambda: reservation.settle(cost),
        )
        self.kept[attempt.key] = cost * PICO
        self.settled += cost * PICO
        self.bill += cost * PICO
        self.let_it_run(process)

    @rule(who=WHO, index=st.integers(0, 9), share=SHARES)
    def charge(self, who: str, index: int, share: Fraction) -> None:
        """An answer came that cannot be read: billed for nothing."""
        if (found := self.flying(who, index)) is None:
            return
        process, attempt, reservation = found
        cost = int(attempt.claim.bound * share)
        self.end(
            lambda: process.ledger.charge(attempt.claim, cost=cost, why="UnreadableReply"),
            lambda: reservation.settle(cost),
        )
        self.settled += cost * PICO
        self.bill += cost * PICO
        self.let_it_run(process)

    @rule(who=WHO, index=st.integers(0, 9), share=SHARES)
    def lose(self, who: str, index: int, share: Fraction) -> None:
        """No answer came; the vendor billed something or nothing. So it is with a call that is cancelled in flight."""
        if (found := self.flying(who, index)) is None:
            return
        process, attempt, reservation = found
        self.end(lambda: process.ledger.lose(attempt.claim, why="ProviderTimeout"), reservation.lose)
        self.unknown += attempt.claim.bound * PICO
        self.bill += int(attempt.claim.bound * share) * PICO
        self.let_it_run(process)

    @rule(who=WHO, index=st.integers(0, 9))
    def release(self, who: str, index: int) -> None:
        """The vendor turned it away."""
        if (found := self.flying(who, index)) is None:
            return
        process, attempt, reservation = found
        self.end(lambda: process.ledger.release(attempt.claim), reservation.release)
        self.let_it_run(process)

    @rule(who=WHO, index=st.integers(0, 9))
    def cancel_who_waits(self, who: str, index: int) -> None:
        """Somebody who waited for money goes away."""
        process = self.living(who)
        if process is None or not process.waiting:
            return
        attempt = process.waiting.pop(index % len(process.waiting))
        attempt.task.cancel()
        self.loop.run_until_complete(asyncio.wait({attempt.task}))
        self.let_it_run(process)

    @rule(who=WHO, bound=st.integers(0, 400))
    def cancel_who_claims(self, who: str, bound: int) -> None:
        """Somebody goes away while the claim is written: it is undone whether it was granted or not."""
        process = self.living(who)
        room = None if process is None else process.budget.find_room(bound)
        if process is None or room is None:
            return
        self.number += 1
        claim = Claim(
            key=f"new {self.number}", scope="shared", run=who, model="m:x", kind="", bound=bound, cap=CAP
        )

        async def go_away() -> None:
            process.ledger.claim(claim)
            await process.ledger.release(claim)

        # Whether there was room or not: a refusal takes the dead for what they are.
        if self.settled + self.unknown + self.reserved + bound * PICO > CAP * PICO:
            self.notice_the_dead()
        self.loop.run_until_complete(go_away())
        room.release()
        self.let_it_run(process)

    @rule(who=WHO, share=SHARES)
    def kill(self, who: str, share: Fraction) -> None:
        """As kill -9: the lock is dropped, nothing is tidied. What was in flight may have been billed."""
        if (process := self.processes.pop(who, None)) is None:
            return
        self.killed.add(who)
        self.abandon(process)
        for attempt in process.in_flight.values():
            self.dead_holds[attempt.key] = attempt.claim.bound * PICO
            self.bill += int(attempt.claim.bound * share) * PICO
        process.ledger._writer.close()
        process.ledger._reader.close()
        process.ledger._owner.close(keep_name=True)

    @rule(who=WHO)
    def restart(self, who: str) -> None:
        """The same command again; a process that lives is closed in order first."""
        process = self.processes.pop(who, None)
        if process is not None:
            self.abandon(process)
            for attempt in process.in_flight.values():
                self.dead_holds[attempt.key] = attempt.claim.bound * PICO
            process.ledger.finish_run(process.run, state="ended")
            process.ledger.close()
        self.start(who)

    def abandon(self, process: Process) -> None:
        for attempt in process.waiting:
            attempt.task.cancel()
        if process.waiting:
            self.loop.run_until_complete(asyncio.wait({attempt.task for attempt in process.waiting}))

    # ── what always holds ────────────────────────────────────────────────────────────────────────

    @precondition(lambda self: self.processes)
    @invariant()
    def the_books_are_right(self) -> None:
        for process in self.processes.values():
            totals = process.ledger.totals()
            assert (totals.settled * PICO, totals.unknown * PICO, totals.reserved * PICO) == (
                self.settled,
                self.unknown,
                self.reserved,
            )
            assert list(periods.disagreements(process.ledger._reader)) == []
            own = process.budget.statistics()
            assert own.spent + own.unknown + own.reserved <= CAP
            assert own.reserved == sum(attempt.claim.bound for attempt in process.in_flight.values())
            assert own.overrun == 0

    @invariant()
    def the_bill_is_inside(self) -> None:
        holds = sum(self.dead_holds.values(), Decimal(0))
        assert self.settled <= self.bill <= self.settled + self.unknown + holds
        assert self.settled + self.unknown + self.reserved <= CAP * PICO

    def teardown(self) -> None:
        for process in self.processes.values():
            self.abandon(process)
            process.ledger.close()
        self.loop.close()
        self.folder.cleanup()


@pytest.mark.parametrize(
    "sequences", [100, pytest.param(2_000, marks=[pytest.mark.slow, pytest.mark.timeout(1_200)])]
)
def test_whatever_happens_the_books_are_those_of_the_model(sequences: int):
    """Reserve, settle, lose, cancel, crash, resume, two writers: never a pico-dollar off, and never above the cap."""
    run_state_machine_as_test(
        Door,
        settings=settings(
            max_examples=sequences,
            stateful_step_count=15 if sequences < 1_000 else 20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
