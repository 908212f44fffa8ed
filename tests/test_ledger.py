"""The ledger: what is written stays written, adds up, and is refused when it cannot be trusted."""

from __future__ import annotations

import asyncio
import fcntl
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from tiered_eval.errors import ConfigError, LedgerError
from tiered_eval.ledger import (
    Busy,
    Cap,
    Claim,
    Granted,
    Kept,
    Ledger,
    NoRoom,
    Resolution,
    RunEntry,
    Totals,
    files,
    periods,
)
from tiered_eval.ledger.files import APPLICATION_ID, FORMAT, connect, kind_of_mount
from tiered_eval.ledger.owner import is_alive, remove_dead_locks


def make_claim(
    key: str = "k", *, bound: int = 100, cap: int | None = None, scope: str = "run", **more: object
) -> Claim:
    values = {"run": "run", "model": "m:x", "kind": "requirement", **more}
    return Claim(key=key, scope=scope, bound=bound, cap=cap, **values)  # type: ignore[arg-type]


def kill(ledger: Ledger) -> None:
    """End a ledger as ``kill -9`` would, once its queue is written: the lock is dropped, nothing is tidied."""
    ledger._writer.close()
    ledger._reader.close()
    ledger._owner.close(keep_name=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def ledger(home: Path) -> Iterator[Ledger]:
    with Ledger.open(home) as opened:
        yield opened


async def settled(ledger: Ledger, key: str = "k", *, cost: int = 40, payload: str = "{}") -> None:
    claim = make_claim(key)
    assert isinstance(await ledger.claim(claim), Granted)
    await ledger.settle(claim, cost=cost, payload=payload)


# ── what is written ──────────────────────────────────────────────────────────────────────────────


async def test_settled_reply_is_found_with_its_cost(ledger: Ledger):
    """Cost and reply are written together and found by the key."""
    await settled(ledger, cost=40, payload='{"text": "yes"}')

    kept = ledger.find(["k", "unknown"])["k"]

    assert (kept.payload, kept.cost, kept.model) == ('{"text": "yes"}', 40, "m:x")
    assert ledger.totals() == Totals(settled=40, unknown=0, reserved=0)


async def test_reservation_is_in_the_books_before_the_claim_is_answered(home: Path, ledger: Ledger):
    """When a claim is granted, its money is already on disk: another connection sees it."""
    await ledger.claim(make_claim(bound=70))

    reader = connect(home / "ledger.db", for_reading=True)
    reserved = reader.execute("SELECT reserved FROM budget").fetchone()[0]
    reader.close()

    assert reserved == 70


async def test_released_claim_leaves_nothing(ledger: Ledger):
    """A call that was not billed leaves no money and no key behind."""
    claim = make_claim()
    await ledger.claim(claim)
    await ledger.release(claim)

    assert ledger.totals() == Totals()
    assert isinstance(await ledger.claim(claim), Granted)


async def test_lost_call_stays_charged_and_is_listed(ledger: Ledger):
    """A call of unknown fate stays at its bound, and is named with the reason."""
    claim = make_claim(bound=70, attempt=2)
    await ledger.claim(claim)
    await ledger.lose(claim, why="ProviderTimeout")

    (unknown,) = ledger.unknown_calls()
    assert (unknown.key, unknown.bound, unknown.attempt, unknown.why) == ("k", 70, 2, "ProviderTimeout")
    assert ledger.totals() == Totals(unknown=70)


async def test_charge_books_a_cost_without_a_reply(ledger: Ledger):
    """An unreadable answer is spend, and its key is free for the next attempt."""
    claim = make_claim()
    await ledger.claim(claim)
    await ledger.charge(claim, cost=30, why="UnreadableReply")

    assert ledger.find(["k"]) == {}
    assert ledger.totals() == Totals(settled=30)
    assert isinstance(await ledger.claim(make_claim(attempt=1)), Granted)


async def test_settling_twice_is_booked_and_never_frees_money_twice(ledger: Ledger):
    """A claim that ends twice is a fault; the books then err on the dear side."""
    claim = make_claim()
    await ledger.claim(claim)
    await ledger.settle(claim, cost=10, payload="{}")
    await ledger.settle(claim, cost=10, payload="{}")
    await ledger.lose(claim, why="again")
    await ledger.release(claim)

    assert ledger.totals() == Totals(settled=20)


async def test_a_change_is_made_although_its_asker_is_cancelled(ledger: Ledger):
    """What was handed in is written, whatever becomes of the task that handed it in."""
    claim = make_claim()
    await ledger.claim(claim)
    task = asyncio.ensure_future(ledger.settle(claim, cost=5, payload="{}"))
    task.cancel()

    await ledger.release(make_claim("other"))  # one after it in the queue

    assert ledger.totals() == Totals(settled=5)


async def test_changes_of_one_moment_share_a_commit(ledger: Ledger):
    """Sixty-four reservations at once take a few commits, not sixty-four."""
    statements: list[str] = []
    ledger._writer.wait_for(lambda connection: connection.set_trace_callback(statements.append))

    await asyncio.gather(*(ledger.claim(make_claim(str(number))) for number in range(64)))

    assert statements.count("COMMIT") <= 16


# ── claims ───────────────────────────────────────────────────────────────────────────────────────


async def test_claim_of_a_settled_key_gives_the_reply(ledger: Ledger):
    """Nothing is paid twice: the second claim gets the kept reply."""
    await settled(ledger, payload='{"a": 1}')

    answer = await ledger.claim(make_claim())

    assert isinstance(answer, Kept)
    assert answer.payload == '{"a": 1}'


async def test_claim_of_another_living_process_is_busy(home: Path, ledger: Ledger):
    """While another opening of the ledger makes the call, the key is not ours."""
    with Ledger.open(home) as other:
        await other.claim(make_claim())

        assert isinstance(await ledger.claim(make_claim()), Busy)


async def test_claim_of_a_dead_process_is_taken_over(home: Path, ledger: Ledger):
    """A call whose process is gone is booked as unknown, and may be made again."""
    other = Ledger.open(home)
    await other.claim(make_claim(bound=70))
    kill(other)

    assert isinstance(await ledger.claim(make_claim(bound=10)), Granted)
    assert ledger.totals() == Totals(unknown=70, reserved=10)


async def test_claim_without_room_says_what_is_taken(ledger: Ledger):
    """A claim that does not fit under the cap is refused with the amounts, and reserves nothing."""
    await settled(ledger, "a", cost=50)
    await ledger.claim(make_claim("b", bound=30, cap=100))

    answer = await ledger.claim(make_claim("c", bound=21, cap=100))

    assert answer == NoRoom(settled=50, unknown=0, reserved=30)
    assert isinstance(await ledger.claim(make_claim("d", bound=20, cap=100)), Granted)


async def test_processes_that_share_a_scope_share_its_cap(home: Path, ledger: Ledger):
    """Two openings race for one cap, and together they stay under it."""
    with Ledger.open(home) as other:
        claims = [make_claim(f"{n}", bound=10, cap=95) for n in range(20)]
        answers = await asyncio.gather(
            *((ledger, other)[n % 2].claim(claim) for n, claim in enumerate(claims))
        )

    assert sum(isinstance(answer, Granted) for answer in answers) == 9
    assert ledger.totals().reserved <= 95


async def test_scopes_do_not_share_a_cap(ledger: Ledger):
    """What one run spent does not count against another one's cap."""
    await ledger.claim(make_claim("a", bound=100, cap=100, scope="one"))

    assert isinstance(await ledger.claim(make_claim("b", bound=100, cap=100, scope="two")), Granted)
    assert ledger.totals(scope="one").reserved == 100


async def test_unreadable_reply_is_replaced_and_its_cost_stays(ledger: Ledger):
    """A kept reply that the caller cannot read makes way for a new call; what it cost remains booked."""
    await settled(ledger, cost=40)
    seal = ledger.find(["k"])["k"].seal

    answer = await ledger.claim(make_claim(bound=10, distrusted=seal))

    assert isinstance(answer, Granted)
    assert ledger.totals() == Totals(settled=40, reserved=10)


@pytest.mark.parametrize(
    "change",
    [
        "payload = 'other'",
        "seal = x'00'",
        "key = 'moved'",
        "cost = 'x'",
        "payload = x'80049500'",
        "seal = NULL",
    ],
)
async def test_altered_reply_is_a_miss(home: Path, ledger: Ledger, change: str):
    """A reply that fails its checksum is not used, is counted, and the call is made again."""
    await settled(ledger)
    writer = connect(home / "ledger.db")
    writer.execute(f"UPDATE call SET {change}")
    writer.close()
    key = "moved" if "moved" in change else "k"

    assert ledger.find([key]) == {}
    assert ledger.damaged_replies == 1


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────


def test_runs_are_listed_and_found_by_the_beginning_of_their_name(ledger: Ledger):
    """A run can be named by its first letters, if they fit one run only."""
    for number, name in enumerate(["abc-1", "abd-2"]):
        ledger.begin_run(
            RunEntry(id=name, suite="atlas", scope=name, cap=5, started_at=f"2026-11-30T0{number}")
        )
    ledger.finish_run("abc-1", state="finished", summary='{"exit": 0}')

    found = ledger.find_run("abc")

    assert found is not None
    assert (found.state, found.summary, found.cap) == ("finished", '{"exit": 0}', 5)
    assert found.finished_at is not None
    assert ledger.find_run("ab") is None
    assert ledger.find_run("%") is None
    assert [run.id for run in ledger.runs()] == ["abd-2", "abc-1"]


def run_entry(name: str, suite: str = "atlas") -> RunEntry:
    return RunEntry(id=name, suite=suite, scope=name, cap=5, started_at="2026-11-30T00:00")


def test_a_run_goes_on_under_the_cap_of_one_that_was_killed(home: Path):
    """After kills, the next run of the suite takes over their scope, from the first of them on."""
    for name in ("first", "second"):
        killed = Ledger.open(home)
        assert killed.begin_run(run_entry(name)).scope == "first"
        kill(killed)

    with Ledger.open(home) as ledger:
        assert ledger.begin_run(run_entry("third")).scope == "first"
        states = {run.id: (run.scope, run.state) for run in ledger.runs()}

    assert states == {
        "first": ("first", "killed"),
        "second": ("first", "killed"),
        "third": ("first", None),
    }


def test_only_a_killed_run_of_the_same_suite_is_continued(home: Path, ledger: Ledger):
    """A run that ended, that still lives, or that is of another suite has its cap to itself."""
    ledger.begin_run(run_entry("living"))
    with Ledger.open(home) as other:
        other.begin_run(run_entry("ended"))
        other.finish_run("ended", state="ended")
    killed = Ledger.open(home)
    killed.begin_run(run_entry("of another suite", suite="other"))
    kill(killed)

    assert ledger.begin_run(run_entry("new")).scope == "new"


def test_locks_of_the_dead_are_removed_and_those_of_the_living_stay(home: Path, ledger: Ledger):
    """Opening tidies up after kills, and never takes a living process for a dead one."""
    kill(Ledger.open(home))

    with Ledger.open(home):
        names = {path.stem for path in (home / "locks").iterdir()}

        assert len(names) == 2
        assert ledger._owner.name in names


def test_a_lock_is_only_removed_while_it_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Else an owner that takes it in the moment before the removal would live without a name, and count as dead."""
    (tmp_path / "dead.lock").touch()
    held: list[bool] = []

    def unlink(path: Path) -> None:
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(True)
            else:
                held.append(False)

    monkeypatch.setattr(Path, "unlink", unlink)
    remove_dead_locks(tmp_path)

    assert held == [True]


def test_whoever_asks_for_an_owner_is_not_taken_for_it(tmp_path: Path):
    """Two processes that look at the same moment whether a third one lives both see that it does not."""
    path = tmp_path / "dead.lock"
    path.touch()
    with path.open() as asked_by_another:
        fcntl.flock(asked_by_another, fcntl.LOCK_SH)

        assert not is_alive(tmp_path, "dead")


# ── the file ─────────────────────────────────────────────────────────────────────────────────────


def test_every_commit_survives_power_loss(ledger: Ledger):
    """The writing connection syncs fully, on a write-ahead log, and waits when another one writes."""
    pragmas = {
        name: ledger._writer.wait_for(
            lambda connection, name=name: connection.execute(f"PRAGMA {name}").fetchone()[0]  # type: ignore[misc]  # a default of a lambda
        )
        for name in ("synchronous", "journal_mode", "busy_timeout", "application_id", "user_version")
    }

    assert pragmas == {
        "synchronous": 2,
        "journal_mode": "wal",
        "busy_timeout": 30_000,
        "application_id": APPLICATION_ID,
        "user_version": FORMAT,
    }


def modes_below(home: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Permissions of (folders, files), by name."""
    paths = [home, *home.rglob("*")]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in paths}
    folders = {path.name: modes[path.name] for path in paths if path.is_dir()}
    return folders, {name: mode for name, mode in modes.items() if name not in folders}


async def test_only_the_owner_can_read_the_files(home: Path, ledger: Ledger):
    """Folders are 0700 and files 0600, the log and the locks included."""
    await settled(ledger)

    folders, files = modes_below(home)
    assert set(folders.values()) == {0o700}
    assert set(files.values()) == {0o600}
    assert "ledger.db-wal" in files


async def test_closing_leaves_no_lock_behind(home: Path):
    """A ledger that was closed properly leaves its lock folder empty, and can be closed twice."""
    opened = Ledger.open(home)
    await settled(opened)
    opened.close()
    opened.close()

    assert list((home / "locks").iterdir()) == []


async def test_closed_ledger_refuses_to_write(home: Path):
    """After closing, nothing is written any more, and that is said."""
    opened = Ledger.open(home)
    opened.close()

    with pytest.raises(LedgerError, match="closed"):
        opened.claim(make_claim())


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database at all, " * 200)


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 4096 * 2 + 100])


def scribbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 : 4096 * 3] = b"\xab" * 4096 * 2
    path.write_bytes(bytes(content))


def foreign(path: Path) -> None:
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.commit()
    other.close()


def newer(path: Path) -> None:
    statement(path, "PRAGMA user_version = 99")


def cooked(path: Path) -> None:
    statement(path, "UPDATE budget SET settled = 1")


def free_of_charge(path: Path) -> None:
    statement(path, "UPDATE call SET cost = 0")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def gone(path: Path) -> None:
    path.unlink()


def swapped(path: Path) -> None:
    statement(path, "UPDATE meta SET value = 'another' WHERE name = 'id'")


def older(path: Path) -> None:
    statement(path, "UPDATE call SET cost = 1")
    statement(path, "UPDATE budget SET settled = 1")


def statement(path: Path, text: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(text)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (garbage, "cannot be read"),
        (torn, "cannot be read|damaged"),
        (scribbled, "cannot be read|damaged"),
        (foreign, "another program's"),
        (newer, "format 99"),
        (cooked, "do not add up"),
        (free_of_charge, "do not add up"),
        (emptied, "gone"),
        (gone, "gone"),
        (swapped, "another name"),
        (older, "another total"),
    ],
)
async def test_a_ledger_that_cannot_be_trusted_is_refused(home: Path, harm, says: str):
    """Damaged, foreign, newer, vanished or set back: no spending, and never a new start at zero."""
    with Ledger.open(home) as opened:
        await settled(opened, cost=40)
    harm(home / "ledger.db")

    for _ in range(2):  # refusing changes nothing, so it is refused again
        with pytest.raises(LedgerError, match=says):
            Ledger.open(home)


async def test_a_user_may_start_again_after_a_loss(home: Path):
    """Who removes the witness as well gets a new ledger: that is a decision, not an accident."""
    with Ledger.open(home) as opened:
        await settled(opened)
    (home / "ledger.db").unlink()
    (home / "ledger.id").unlink()

    with Ledger.open(home) as opened:
        assert opened.totals() == Totals()


def test_a_home_that_cannot_be_made_is_a_matter_of_set_up(tmp_path: Path):
    """A file where the folder should be is a ConfigError that names it."""
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="choose another home"):
        Ledger.open(tmp_path / "file" / "home")


MOUNTS = """\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 24 0:40 / /net rw - nfs4 server:/export rw
31 30 0:41 / /net/local rw - tmpfs tmpfs rw
32 24 0:42 / /with\\040space rw - cifs //server/share rw
33 30 0:43 / /net/local rw - nfs4 server:/over rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/me/suite", "ext4"),
        ("/net/suite", "nfs4"),
        ("/network", "ext4"),
        ("/net/local/suite", "nfs4"),  # mounted over another one: the later line is what is seen
        ("/with space/suite", "cifs"),
    ],
)
def test_the_file_system_of_a_home_is_known(folder: str, kind: str):
    """The innermost mount that holds a folder says whether its locks can be relied on."""
    assert kind_of_mount(Path(folder), MOUNTS) == kind


def test_a_home_on_a_network_file_system_is_refused(home: Path, monkeypatch):
    """Where locks cannot be relied on there is no ledger, so nothing is spent."""
    monkeypatch.setattr(files, "kind_of_mount", lambda folder, mounts: "nfs4")

    with pytest.raises(ConfigError, match="network file system"):
        Ledger.open(home)


FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
from tiered_eval.errors import LedgerError
from tiered_eval.ledger import Claim, Ledger

async def main():
    ledger = Ledger.open(Path(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    for number in range(100):
        claim = Claim(key=str(number), scope="s", run="r", model="m", kind="k", bound=10, cap=None)
        try:
            await ledger.claim(claim)
            await ledger.settle(claim, cost=1, payload="x" * 10_000)
        except LedgerError as error:
            print("refused", number, error)
            break
    try:
        await ledger.claim(Claim(key="next", scope="s", run="r", model="m", kind="k", bound=10, cap=None))
    except LedgerError:
        print("stays refused")
    ledger.close()

asyncio.run(main())
"""


def test_a_full_disk_stops_spending(home: Path):
    """What cannot be written down is not spent: a clear error, for good, and the file stays sound."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(home)], capture_output=True, text=True, timeout=60, check=True
    )

    assert "cannot be written" in done.stdout
    assert "stays refused" in done.stdout
    written = int(done.stdout.split()[1])
    with Ledger.open(home) as opened:
        totals = opened.totals()
    assert totals.settled >= written
    assert totals.reserved == 0


def test_a_cap_beyond_all_bills_is_no_fault_of_the_ledger(home: Path):
    """Ten million dollars are more than the file's integers hold, and a way to say "no cap"."""
    with Ledger.open(home) as ledger:
        ledger.begin_run(replace(run_entry("large"), cap=10**19))
        noted = ledger.find_run("large")

    assert noted is not None
    assert noted.cap is not None
    assert noted.cap > 9 * 10**18


async def test_text_that_cannot_be_written_stops_spending_and_holds_nobody_up(home: Path, ledger: Ledger):
    """Half a character ends all writing like a full disk does; whoever waits is told, and other processes go on."""
    changes = [ledger.claim(make_claim("a", model="m\ud800")), ledger.claim(make_claim("b"))]

    refused = await asyncio.gather(*changes, return_exceptions=True)
    with pytest.raises(LedgerError, match="cannot be written"):
        await ledger.claim(make_claim("c"))
    with Ledger.open(home) as other:
        granted = await other.claim(make_claim("b"))

    assert all(isinstance(each, LedgerError) for each in refused)
    assert isinstance(granted, Granted)


def replaced(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    shutil.copyfile(path.with_suffix(".old"), path)


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("ledger.db", Path.unlink),
        ("ledger.db-wal", Path.unlink),
        ("ledger.db", replaced),
        ("", shutil.rmtree),
    ],
    ids=["ledger", "log", "exchanged", "home"],
)
async def test_a_ledger_that_is_taken_away_while_it_is_open_stops_spending(home: Path, name: str, harm):
    """What would be written to a file that nobody finds again is not spent: an error, for good."""
    with Ledger.open(home) as opened:
        await settled(opened, "before")
        harm(home / name)

        for key in ("first", "second"):
            with pytest.raises(LedgerError, match=r"was taken away|cannot be written"):
                await opened.claim(make_claim(key))


CLAIM_AND_DIE = """
import asyncio, os, sys
from pathlib import Path
from tiered_eval.ledger import Claim, Ledger

async def main():
    ledger = Ledger.open(Path(sys.argv[1]))
    await ledger.claim(Claim(key="k", scope="s", run="r", model="m", kind="k", bound=70, cap=None))
    os._exit(9)

asyncio.run(main())
"""


def test_what_a_killed_process_had_in_flight_is_unknown(home: Path):
    """A process that died between reserving and settling leaves an unknown call at its bound."""
    subprocess.run([sys.executable, "-c", CLAIM_AND_DIE, str(home)], timeout=60, check=False)

    with Ledger.open(home) as opened:
        totals, (unknown,) = opened.totals(), opened.unknown_calls()

    assert totals == Totals(unknown=70)
    assert unknown.why == "its process ended"
    assert list((home / "locks").iterdir()) == []


def test_a_pack_of_a_killed_process_is_one_unknown_call(home: Path):
    """Questions that shared a call are listed as the call that it was, and all of them may be asked again."""
    pack = "others=(('b', ''), ('c', ''))"
    script = CLAIM_AND_DIE.replace("bound=70", f"bound=70, {pack}")
    assert pack in script
    subprocess.run([sys.executable, "-c", script, str(home)], timeout=60, check=False)

    with Ledger.open(home) as opened:
        (unknown,) = opened.unknown_calls()
        opened.resolve([Resolution(number=unknown.number, cost=30, source="by hand")])
        totals = opened.totals()

    assert unknown.bound == 70
    assert totals == Totals(settled=30)


OPEN_TOGETHER = """
import sys
from pathlib import Path
from tiered_eval.ledger import Ledger

sys.stdin.readline()
with Ledger.open(Path(sys.argv[1])) as ledger:
    print(ledger.totals())
"""


def test_first_openings_at_the_same_time_make_one_ledger(home: Path):
    """Processes that start together on an empty home agree on one file."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_TOGETHER, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

    ends = [process.communicate(timeout=60) for process in processes]

    assert [process.returncode for process in processes] == [0] * 4, ends


# ── a model of the books ─────────────────────────────────────────────────────────────────────────


class Books(RuleBasedStateMachine):
    """The ledger against a model in Decimal dollars: any order of claims, ends, closings and kills."""

    claims = Bundle("claims")
    cap = 1_000

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory()
        self.home = Path(self.folder.name) / "home"
        self.loop = asyncio.new_event_loop()
        self.ledger = Ledger.open(self.home, now=lambda: "2026-11-30T12:00:00.000+00:00")
        self.number = 0
        self.settled = self.unknown = Decimal(0)
        self.open_claims: dict[str, Claim] = {}

    def run(self, change) -> object:
        async def wait() -> object:
            return await change()

        return self.loop.run_until_complete(wait())

    @property
    def reserved(self) -> Decimal:
        return sum((Decimal(claim.bound) for claim in self.open_claims.values()), Decimal(0))

    @rule(target=claims, bound=st.integers(0, 400), month_cap=st.sampled_from([None, 700]))
    def claim(self, bound: int, month_cap: int | None):
        self.number += 1
        caps = () if month_cap is None else (Cap(amount=month_cap, period="month"),)
        claim = make_claim(f"key-{self.number}", bound=bound, cap=self.cap, caps=caps)
        answer = self.run(lambda: self.ledger.claim(claim))
        has_room = self.settled + self.unknown + self.reserved + bound <= (month_cap or self.cap)
        assert isinstance(answer, Granted) == has_room
        if not has_room:
            return multiple()
        self.open_claims[claim.key] = claim
        return claim

    @rule(claim=consumes(claims), share=st.fractions(0, 1))
    def settle(self, claim: Claim, share) -> None:
        if self.open_claims.pop(claim.key, None):
            cost = int(claim.bound * share)
            self.run(lambda: self.ledger.settle(claim, cost=cost, payload="{}"))
            self.settled += cost
            assert self.ledger.find([claim.key])[claim.key].cost == cost

    @rule(claim=consumes(claims))
    def charge(self, claim: Claim) -> None:
        if self.open_claims.pop(claim.key, None):
            self.run(lambda: self.ledger.charge(claim, cost=claim.bound, why="unreadable"))
            self.settled += claim.bound

    @rule(claim=consumes(claims))
    def lose(self, claim: Claim) -> None:
        if self.open_claims.pop(claim.key, None):
            self.run(lambda: self.ledger.lose(claim, why="timeout"))
            self.unknown += claim.bound

    @rule(claim=consumes(claims))
    def release(self, claim: Claim) -> None:
        if self.open_claims.pop(claim.key, None):
            self.run(lambda: self.ledger.release(claim))

    @precondition(lambda self: self.unknown)
    @rule(share=st.none() | st.fractions(0, 1))
    def resolve(self, share) -> None:
        lost = self.ledger.unknown_calls()[0]
        cost = None if share is None else int(lost.bound * share)
        self.ledger.resolve([Resolution(number=lost.number, cost=cost, source="model")])
        self.unknown -= lost.bound
        self.settled += cost or 0

    @rule()
    def forget_replies(self) -> None:
        self.ledger.forget_replies(before="9999")

    @rule(is_killed=st.booleans())
    def reopen(self, is_killed: bool) -> None:
        if is_killed:
            kill(self.ledger)
        else:
            self.ledger.close()
        self.unknown += self.reserved
        self.open_claims.clear()
        self.ledger = Ledger.open(self.home, now=lambda: "2026-11-30T12:00:00.000+00:00")

    @invariant()
    def books_agree(self) -> None:
        totals = self.ledger.totals()
        assert (totals.settled, totals.unknown, totals.reserved) == (
            self.settled,
            self.unknown,
            self.reserved,
        )
        assert totals.settled + totals.unknown + totals.reserved <= self.cap
        assert list(periods.disagreements(self.ledger._reader)) == []

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.close()
            self.loop.close()
            self.folder.cleanup()


TestBooks = Books.TestCase
TestBooks.settings = settings(max_examples=10, stateful_step_count=15, deadline=None)
