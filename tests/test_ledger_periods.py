"""Caps next to the run's: on a day, a month, a suite; and the sums that they are held against."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tiered_eval.errors import LedgerError
from tiered_eval.ledger import (
    PROCESS_ENDED,
    Cap,
    Claim,
    Granted,
    Ledger,
    NoRoom,
    Resolution,
    RunEntry,
    Totals,
    files,
    periods,
)

NOON = "2026-11-30T12:00:00.000+00:00"
NEXT_DAY = "2026-12-01T00:00:01.000+00:00"
SUM = "SELECT settled, unknown, reserved FROM period_sum WHERE suite = ? AND period = ?"


class Calendar:
    """The instant that the ledger writes, moved by hand."""

    def __init__(self, at: str = NOON) -> None:
        self.at = at

    def __call__(self) -> str:
        return self.at


def claim_of(key: str, *caps: Cap, bound: int = 60, run: str = "run") -> Claim:
    return Claim(
        key=key, scope=run, run=run, model="m:x", kind="requirement", bound=bound, cap=None, caps=caps
    )


def run_of(suite: str, run: str = "run") -> RunEntry:
    return RunEntry(id=run, suite=suite, scope=run, cap=None, started_at=NOON)


def sums(home: Path, period: str, suite: str = "") -> tuple[int, ...]:
    connection = files.connect(home / "ledger.db", for_reading=True)
    row = connection.execute(SUM, (suite, period)).fetchone()
    connection.close()
    return row or (0, 0, 0)


def disagreements(home: Path) -> list[str]:
    connection = files.connect(home / "ledger.db", for_reading=True)
    found = list(periods.disagreements(connection))
    connection.close()
    return found


@pytest.mark.parametrize(
    ("cap", "on"),
    [
        (Cap(amount=100, period="day"), "day 2026-11-30 (UTC)"),
        (Cap(amount=100, period="month"), "month 2026-11 (UTC)"),
        (Cap(amount=100, period="ever", suite="atlas"), "suite atlas"),
        (Cap(amount=100, period="day", suite="atlas"), "suite atlas, day 2026-11-30 (UTC)"),
        (Cap(amount=100, period="month", suite="atlas"), "suite atlas, month 2026-11 (UTC)"),
    ],
)
async def test_a_cap_holds_across_runs_and_says_what_it_is_on(tmp_path: Path, cap: Cap, on: str):
    """What an earlier run spent in the same day, month or suite counts, whatever its own cap was."""
    with Ledger.open(tmp_path, now=Calendar()) as ledger:
        ledger.begin_run(run_of("atlas", "first"))
        ledger.begin_run(run_of("atlas", "second"))
        first = claim_of("a", run="first")
        await ledger.claim(first)
        await ledger.settle(first, cost=50, payload="{}")

        answer = await ledger.claim(claim_of("b", cap, run="second"))

    assert answer == NoRoom(settled=50, unknown=0, reserved=0, cap=100, on=on)


@pytest.mark.parametrize(
    "cap",
    [
        Cap(amount=100, period="day"),
        Cap(amount=100, period="month"),
        Cap(amount=100, period="ever", suite="b"),
    ],
    ids=["next day", "next month", "other suite"],
)
async def test_a_cap_forgets_other_days_months_and_suites(tmp_path: Path, cap: Cap):
    """A new day or month begins at zero, and a suite does not pay for another one."""
    calendar = Calendar()
    with Ledger.open(tmp_path, now=calendar) as ledger:
        ledger.begin_run(run_of("a", "first"))
        ledger.begin_run(run_of("b", "second"))
        first = claim_of("a", bound=90, run="first")
        await ledger.claim(first)
        await ledger.settle(first, cost=90, payload="{}")
        calendar.at = NEXT_DAY

        assert isinstance(await ledger.claim(claim_of("b", cap, run="second")), Granted)


async def test_of_several_caps_the_one_that_cannot_be_waited_for_refuses(tmp_path: Path):
    """Money that is reserved may come back; so the cap that has nothing reserved decides."""
    with Ledger.open(tmp_path, now=Calendar()) as ledger:
        ledger.begin_run(run_of("busy", "first"))
        ledger.begin_run(run_of("spent", "second"))
        await ledger.claim(claim_of("a", bound=10, run="first"))
        spent = claim_of("b", bound=90, run="second")
        await ledger.claim(spent)
        await ledger.settle(spent, cost=90, payload="{}")

        day, suite = Cap(amount=120, period="day"), Cap(amount=140, period="ever", suite="spent")
        answer = await ledger.claim(claim_of("c", day, suite, run="second"))

    assert isinstance(answer, NoRoom)
    assert answer.on == "suite spent"


async def test_money_of_a_killed_process_is_not_waited_for(tmp_path: Path):
    """What it had reserved is unknown from the moment that somebody needs the room, not from the next opening on."""
    cap = Cap(amount=100, period="day")
    with Ledger.open(tmp_path, now=Calendar()) as ledger:
        killed = Ledger.open(tmp_path, now=Calendar())
        await killed.claim(claim_of("a"))
        killed._writer.close()
        killed._reader.close()
        killed._owner.close(keep_name=True)

        answer = await ledger.claim(claim_of("b", cap, run="second"))

        assert answer == NoRoom(settled=0, unknown=60, reserved=0, cap=100, on="day 2026-11-30 (UTC)")
        assert [call.why for call in ledger.unknown_calls()] == [PROCESS_ENDED]


@pytest.mark.parametrize("end", ["settle", "charge", "lose", "unusable"])
async def test_a_call_counts_for_the_day_of_its_claim(tmp_path: Path, end: str):
    """A call that ends after midnight stays on the day under whose cap it was let through."""
    calendar = Calendar()
    with Ledger.open(tmp_path, now=calendar) as ledger:
        claim = claim_of("a")
        await ledger.claim(claim)
        calendar.at = NEXT_DAY
        if end == "settle":
            await ledger.settle(claim, cost=40, payload="{}")
        elif end == "unusable":
            await ledger.settle_pack(claim, cost=40, payloads=[None])
        elif end == "charge":
            await ledger.charge(claim, cost=40, why="embedding")
        else:
            await ledger.lose(claim, why="reset")

    assert sums(tmp_path, "2026-11-30") == ((0, 60, 0) if end == "lose" else (40, 0, 0))
    assert sums(tmp_path, "2026-12-01") == (0, 0, 0)
    assert disagreements(tmp_path) == []


async def test_every_way_of_ending_keeps_the_sums(tmp_path: Path):
    """Settled, charged, lost, released, distrusted and resolved calls leave sums that the rows add up to."""
    with Ledger.open(tmp_path, now=Calendar()) as ledger:
        ledger.begin_run(run_of("atlas"))
        claims = {name: claim_of(name) for name in ("settled", "charged", "lost", "released", "open")}
        for claim in claims.values():
            await ledger.claim(claim)
        await ledger.settle(claims["settled"], cost=40, payload="{}")
        await ledger.charge(claims["charged"], cost=30, why="embedding")
        await ledger.lose(claims["lost"], why="reset")
        await ledger.release(claims["released"])
        seal = ledger.find(["settled"])["settled"].seal
        again = Claim(
            key="settled", scope="run", run="run", model="m:x", kind="", bound=5, cap=None, distrusted=seal
        )
        assert isinstance(await ledger.claim(again), Granted)
        number = ledger.unknown_calls()[0].number
        ledger.resolve([Resolution(number=number, cost=7, source="test")])

        assert sums(tmp_path, "2026-11", "atlas") == (40 + 30 + 7, 0, 60 + 5)
        assert disagreements(tmp_path) == []


def older_ledger(home: Path) -> None:
    """A ledger as format 2 left it: a kept reply, a charge and a lost call."""
    home.mkdir()
    connection = sqlite3.connect(home / "ledger.db")
    connection.executescript(files.SCHEMA + files.BATCH_SCHEMA)
    connection.execute(f"PRAGMA application_id = {files.APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 2")
    connection.execute("INSERT INTO meta VALUES ('id', 'older')")
    connection.execute(
        "INSERT INTO run VALUES ('r', 'atlas', 'r', NULL, ?, ?, 'ended', NULL, 'o')", (NOON, NOON)
    )
    connection.execute(
        "INSERT INTO call VALUES ('k', '', 'r', 'r', 'm:x', '', 'settled', 0, 40, '{}', x'00', 'o', 0, ?)",
        (NOON,),
    )
    connection.execute(
        "INSERT INTO charge VALUES (1, 'e', 'r', 'r', 'm:x', '', 0, 5, 'embedding', ?)", (NOON,)
    )
    connection.execute("INSERT INTO lost VALUES (1, 'l', 'r', 'r', 'm:x', '', 0, 60, 'reset', ?)", (NOON,))
    connection.execute("INSERT INTO budget VALUES ('r', 45, 60, 0)")
    connection.commit()
    connection.close()


def test_an_older_ledger_is_brought_up_to_date(tmp_path: Path):
    """A file of format 2 opens with its money, and its days and suites are added up from its rows."""
    older_ledger(tmp_path / "home")

    with Ledger.open(tmp_path / "home") as ledger:
        assert ledger.totals() == Totals(settled=45, unknown=60, reserved=0)

    for suite in ("", "atlas"):
        for period in ("", "2026-11", "2026-11-30"):
            assert sums(tmp_path / "home", period, suite) == (45, 60, 0)
    assert disagreements(tmp_path / "home") == []


DAMAGES = [
    "UPDATE period_sum SET settled = 0 WHERE period = '2026-11-30'",
    "DELETE FROM period_sum WHERE period = '2026-11'",
    "DROP TRIGGER call_changed",
]


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_ledger_whose_days_do_not_add_up_is_refused(tmp_path: Path, damage: str):
    """A cap of the day held against too small a sum would let more out: nothing is spent over such a ledger."""
    with Ledger.open(tmp_path, now=Calendar()) as ledger:
        ledger.begin_run(run_of("atlas", "first"))
        first = claim_of("a", run="first")
        await ledger.claim(first)
        await ledger.settle(first, cost=50, payload="{}")
    Ledger.open(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute(damage)
    connection.commit()
    connection.close()

    with pytest.raises(LedgerError, match="nothing was spent"):
        Ledger.open(tmp_path)


def test_a_note_beside_the_ledger_that_is_no_file_keeps_nobody_waiting(tmp_path: Path):
    """A pipe under its name would be waited for without end."""
    Ledger.open(tmp_path).close()
    (tmp_path / "ledger.id").unlink()
    os.mkfifo(tmp_path / "ledger.id")

    with pytest.raises(LedgerError, match=r"ledger\.id: cannot be read"):
        Ledger.open(tmp_path)


def test_a_ledger_that_is_kept_locked_is_not_told_as_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever waits for a copy or a tool that reads it needs no older ledger, but patience."""
    Ledger.open(tmp_path).close()
    monkeypatch.setattr(files, "BUSY_TIMEOUT_S", 0)
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")

    with pytest.raises(LedgerError, match="locked; try again") as refused:
        Ledger.open(tmp_path)

    other.close()
    assert "copy" not in str(refused.value)


def test_a_newer_ledger_is_refused(tmp_path: Path):
    """A file of a format that this program does not know is left as it is."""
    Ledger.open(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute(f"PRAGMA user_version = {files.FORMAT + 1}")
    connection.close()

    with pytest.raises(LedgerError, match="update tiered-eval"):
        Ledger.open(tmp_path)


SPENDER = """
import asyncio, sys
from pathlib import Path
from tiered_eval.ledger import PROCESS_ENDED, Cap, Claim, Granted, Ledger

async def main(home, name):
    with Ledger.open(Path(home), now=lambda: "2026-11-30T12:00:00.000+00:00") as ledger:
        for number in range(30):
            claim = Claim(key=f"{name}-{number}", scope=name, run=name, model="m:x", kind="", bound=100, cap=None,
                          caps=(Cap(amount=2000, period="day"), Cap(amount=1500, period="month")))
            if isinstance(await ledger.claim(claim), Granted):
                await ledger.settle(claim, cost=70 + number % 30, payload="{}")

asyncio.run(main(*sys.argv[1:]))
"""


def test_processes_share_the_cap_of_the_month(tmp_path: Path):
    """Several processes at once, each with a run of its own, stay under one cap and use it."""
    Ledger.open(tmp_path).close()
    processes = [
        subprocess.Popen([sys.executable, "-c", SPENDER, str(tmp_path), f"p{number}"]) for number in range(3)
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]

    with Ledger.open(tmp_path) as ledger:
        spent = ledger.totals().settled
    assert 1400 <= spent <= 1500
    assert disagreements(tmp_path) == []
