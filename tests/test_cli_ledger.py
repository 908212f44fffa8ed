"""``tiered-eval ledger``: the books are checked, and unknown calls are listed and settled."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tiered_eval.cli.app import run_app
from tiered_eval.errors import LedgerError
from tiered_eval.ledger import BatchLine, Claim, Ledger, Totals

Corrupt = Callable[[Path], object]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one kept reply and two unknown calls of a thousandth of a dollar each."""

    async def fill() -> None:
        with Ledger.open(tmp_path) as ledger:
            claims = [
                Claim(key=key, scope="run", run="run", model="m:x", kind="text", bound=10**9, cap=None)
                for key in ("kept", "lost", "also lost")
            ]
            for claim in claims:
                await ledger.claim(claim)
            await ledger.settle(claims[0], cost=5 * 10**8, payload="{}")
            for claim in claims[1:]:
                await ledger.lose(claim, why="ProviderTimeout")

    asyncio.run(fill())
    return tmp_path


def sql(statement: str) -> Corrupt:
    def run(home: Path) -> None:
        connection = sqlite3.connect(home / "ledger.db", isolation_level=None)
        connection.execute(statement)
        connection.close()

    return run


def in_file(text: bytes, instead: bytes) -> Corrupt:
    def run(home: Path) -> None:
        path = home / "ledger.db"
        content = path.read_bytes()
        assert text in content
        path.write_bytes(content.replace(text, instead, 1))

    return run


def test_a_sound_ledger_is_said_to_be(home: Path, capsys: pytest.CaptureFixture[str]):
    """All checks pass, and none of them changes the ledger."""
    before = (home / "ledger.db").read_bytes()

    assert run_app(["ledger", "verify", "--home", str(home)]) == 0

    assert "WRONG" not in capsys.readouterr().out
    assert (home / "ledger.db").read_bytes() == before


@pytest.mark.parametrize(
    ("corrupt", "wrong"),
    [
        (sql("UPDATE budget SET settled = 0"), {"sums", "witness"}),
        (sql("UPDATE period_sum SET unknown = 0"), {"periods"}),
        (sql("UPDATE call SET payload = '{ }'"), {"replies"}),
        (sql("DELETE FROM call WHERE key = 'kept'"), {"sums"}),
        (sql("DELETE FROM lost WHERE id = 1"), {"sums", "periods"}),
        (sql("UPDATE lost SET sent_at = '2020-01-01' WHERE id = 1"), {"periods"}),
        (sql("DELETE FROM meta"), {"witness"}),
        (sql("UPDATE budget SET scope = CAST('r' AS BLOB)"), {"file"}),
        (in_file(b"CREATE TRIGGER", b"CREATE TRIGG\xbdR"), {"file"}),
        (sql("ALTER TABLE lost RENAME COLUMN why TO whi"), {"integrity"}),
        (sql("DROP INDEX call_reserved"), {"integrity"}),
        (sql("PRAGMA application_id = 1"), {"format"}),
        (sql("PRAGMA user_version = 99"), {"format"}),
        (lambda home: (home / "ledger.id").write_text("?"), {"witness"}),
        (lambda home: (home / "ledger.db").chmod(0o644), {"permissions"}),
        (lambda home: (home / "ledger.db").write_bytes(b"not a database" * 99), {"file"}),
    ],
    ids=[
        "sums",
        "periods",
        "reply",
        "call",
        "lost",
        "day",
        "name",
        "type",
        "schema",
        "column",
        "index",
        "foreign",
        "newer",
        "witness",
        "mode",
        "no database",
    ],
)
def test_whatever_is_wrong_is_named(
    home: Path, capsys: pytest.CaptureFixture[str], corrupt: Corrupt, wrong: set[str]
):
    """Each kind of damage is found by its own check, with exit code 2."""
    corrupt(home)

    assert run_app(["ledger", "verify", "--json", "--home", str(home)]) == 2

    findings = json.loads(capsys.readouterr().out)
    assert {finding["name"] for finding in findings if not finding["is_good"]} == wrong


@pytest.mark.parametrize("command", [["verify"], ["unknown"], ["resolve", "1=billed"]])
def test_a_home_without_a_ledger_is_no_sound_one(tmp_path: Path, command: list[str]):
    """Nothing is made where there is nothing."""
    assert run_app(["ledger", *command, "--home", str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []


def test_unknown_calls_are_listed(home: Path, capsys: pytest.CaptureFixture[str]):
    """Each with its number, and the sum of what they may have cost."""
    assert run_app(["ledger", "unknown", "--home", str(home)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["1", "2"]
    assert "2 calls, $0.002 at most" in lines[2]


def test_calls_are_settled_by_hand_once(home: Path, capsys: pytest.CaptureFixture[str]):
    """One was billed less, one was not; asked again, nothing changes."""
    command = ["ledger", "resolve", "1=0.0004", "2=not-billed", "--home", str(home)]

    assert run_app(command) == 0
    assert "settled 2 calls: $0.0004 billed, $0.0016 given back" in capsys.readouterr().out
    assert run_app(command) == 2

    with Ledger.open(home) as ledger:
        assert ledger.totals() == Totals(settled=9 * 10**8, unknown=0, reserved=0)


def test_calls_are_settled_by_the_usage_export(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The bill of these days less what was settled; a dry run says the same and changes nothing."""
    usage = tmp_path / "usage.csv"
    usage.write_text("start,end,model,cost_usd\n2020-01-01,2099-01-01,x,0.0012\n")
    command = ["ledger", "resolve", "--usage", str(usage), "--home", str(home)]

    assert run_app([*command, "--dry-run"]) == 0
    assert run_app(command) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "would settle 2 calls: $0.0007 billed, $0.0013 given back",
        "settled 2 calls: $0.0007 billed, $0.0013 given back",
    ]
    with Ledger.open(home) as ledger:
        assert ledger.totals() == Totals(settled=12 * 10**8, unknown=0, reserved=0)


def test_what_the_export_cannot_settle_is_said(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The calls stay unknown, the reason is told, and the exit code says that not all was done."""
    usage = tmp_path / "usage.csv"
    usage.write_text("start,end,model,cost_usd\n2020-01-01,2099-01-01,another,0.0012\n")

    assert run_app(["ledger", "resolve", "--usage", str(usage), "--home", str(home)]) == 2

    assert "still unknown: m:x: the export has no rows of this model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1", "expected CALL="),
        ("one=billed", "expected CALL="),
        ("9=billed", "no unknown call 9"),
        *(
            (f"1={amount}", "an amount in US dollars")
            for amount in ("perhaps", "-2", "nan", "1e9", "1e1000000")
        ),
    ],
)
def test_what_is_no_settlement_is_refused(
    home: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]
):
    """A word that cannot be read, or more than any call costs, settles nothing."""
    assert run_app(["ledger", "resolve", text, "--home", str(home)]) == 2

    assert says in capsys.readouterr().err


def test_a_dry_run_refuses_what_the_real_one_would(home: Path, capsys: pytest.CaptureFixture[str]):
    """A call that is not unknown cannot be settled, and that is said before anything is."""
    command = ["ledger", "resolve", "9=not-billed", "--home", str(home)]

    assert run_app([*command, "--dry-run"]) == 2
    assert run_app(command) == 2

    said = capsys.readouterr().err.splitlines()
    assert [("there is no unknown call 9" in line) for line in said] == [True, True]


# ── damaged batches ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def batched_home(tmp_path: Path) -> Path:
    """A home whose last process died while a batch of two calls, one of them a pack, was under way."""

    async def fill() -> None:
        with Ledger.open(tmp_path) as ledger:
            claims = [
                Claim(
                    key=key,
                    scope="run",
                    run="run",
                    model="m:x",
                    kind="text",
                    bound=10**9,
                    cap=None,
                    batch="b",
                    others=others,
                )
                for key, others in (("alone", ()), ("first", (("second", "text"),)))
            ]
            lines = [BatchLine(claim=claim, custom_id=claim.key, nonce="n") for claim in claims]
            await ledger.open_batch("b", "m:x", lines)

    asyncio.run(fill())
    return tmp_path


BATCH_DAMAGES = [
    ("the batch is gone", "DELETE FROM batch", "batch b is not listed", 2),
    ("an item is gone", "DELETE FROM batch_item WHERE custom_id = 'first'", "2 calls of batch b", 1),
    ("an item's keys are garbled", "UPDATE batch_item SET keys = '[\"fir'", "3 calls of batch b", 2),
    ("an item's keys are no list", "UPDATE batch_item SET keys = '{}'", "3 calls of batch b", 2),
]


@pytest.mark.parametrize(
    ("why", "damage", "says", "lost"), BATCH_DAMAGES, ids=[why for why, *_ in BATCH_DAMAGES]
)
def test_a_call_that_no_batch_would_bring_back_is_named_and_given_up(
    batched_home: Path, capsys: pytest.CaptureFixture[str], why: str, damage: str, says: str, lost: int
):
    """Nobody waits for it for ever: it is unknown when its batch has ended, and at once where there is none."""
    sql(damage)(batched_home)

    code = run_app(["ledger", "verify", "--json", "--home", str(batched_home)])
    [finding] = [one for one in json.loads(capsys.readouterr().out) if one["name"] == "batches"]

    async def end_batches() -> Totals:
        with Ledger.open(batched_home) as ledger:
            for entry in await ledger.adopt_batches():
                for line in entry.lines:
                    ledger.release(line.claim)
                await ledger.close_batch(entry.name, why="its batch ended")
            return ledger.totals()

    assert (code, finding["is_good"]) == (2, False)
    assert says in finding["says"]
    assert asyncio.run(end_batches()) == Totals(unknown=lost * 10**9)


def test_two_ledgers_that_were_swapped_are_told_apart(
    home: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
):
    """Each is sound by itself, and not the one that the file beside it remembers: in both homes that is said, and nothing opens."""
    other = tmp_path_factory.mktemp("other")
    Ledger.open(other).close()
    ours, theirs = ((folder / "ledger.db").read_bytes() for folder in (home, other))
    (home / "ledger.db").write_bytes(theirs)
    (other / "ledger.db").write_bytes(ours)

    for folder in (home, other):
        assert run_app(["ledger", "verify", "--json", "--home", str(folder)]) == 2
        findings = json.loads(capsys.readouterr().out)
        assert {one["name"] for one in findings if not one["is_good"]} == {"witness"}
        with pytest.raises(LedgerError):
            Ledger.open(folder)
