"""``tiered-eval cache``: what is kept is counted, checked, thinned out, carried to another home, and recorded."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tiered_eval.cache import DiskStore, entries
from tiered_eval.calls.replies import payload_from_reply
from tiered_eval.calls.transfer import Transferred, export_lines
from tiered_eval.cli.app import run_app
from tiered_eval.ledger import Claim, Kept, Ledger, Totals
from tiered_eval.records import ModelReply, Usage
from tiered_eval.testing.loopback import loopback_process

KEYS = [character * 64 for character in "ab"]
OLD, NEW = "2020-01-01T00:00:00.000+00:00", "2026-11-30T00:00:00.000+00:00"


def payload(text: str) -> str:
    usage = Usage(input_tokens=10, output_tokens=5)
    return payload_from_reply(ModelReply(text=text, stop_reason="end", model="x", usage=usage, nonce="n"))


def fill(home: Path, *texts: str, at: tuple[str, ...] = (OLD, NEW)) -> None:
    """Keep a reply that cost a dollar for each text, and two vectors."""

    async def settle() -> None:
        for key, text, moment in zip(KEYS, texts, at, strict=True):
            with Ledger.open(home, now=lambda moment=moment: moment) as ledger:  # type: ignore[misc]  # a default of a lambda
                claim = Claim(key=key, scope="run", run="run", model="m:x", kind="k", bound=10**12, cap=None)
                await ledger.claim(claim)
                await ledger.settle(claim, cost=10**12, payload=payload(text))

    asyncio.run(settle())
    with DiskStore(home / "vectors") as store:
        store.put("one", b"\x00\x01")
        store.put("two", b"\x02\x03\x04")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    fill(place, "yes", "no")
    return place


def on_vectors(home: Path, statement: str) -> None:
    connection = sqlite3.connect(home / "vectors" / "cache.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


def kept_texts(home: Path) -> set[str]:
    with Ledger.open(home) as ledger:
        return {json.loads(reply.payload)["text"] for reply in ledger.kept_replies() if reply is not None}


def test_what_is_kept_is_counted(home: Path, capsys: pytest.CaptureFixture[str]):
    """Replies by model with what they had cost, vectors with their size."""
    assert run_app(["cache", "stats", "--json", "--home", str(home)]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["replies"]["m:x"]["replies"] == 2
    assert float(found["replies"]["m:x"]["cost_usd"]) == 2
    assert found["vectors"]["values"] == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE Cache SET value = x'00' WHERE key = 'one'",
        "UPDATE Cache SET mode = 4 WHERE key = 'one'",
        "UPDATE Cache SET filename = '../../elsewhere' WHERE key = 'one'",
        "UPDATE Cache SET raw = 0 WHERE key = 'one'",
        "UPDATE Cache SET value = 'text' WHERE key = 'one'",
    ],
    ids=["checksum", "a pickle", "a file", "a pickled key", "no bytes"],
)
def test_a_damaged_or_planted_vector_is_found_and_taken_away(home: Path, statement: str):
    """The rest is looked at all the same, and stays."""
    on_vectors(home, statement)

    assert run_app(["cache", "verify", "--home", str(home)]) == 2
    assert run_app(["cache", "prune", "--home", str(home)]) == 0
    assert run_app(["cache", "verify", "--home", str(home)]) == 0
    assert [entry.key for entry in entries(home / "vectors")] == ["two"]


@pytest.mark.parametrize("command", ["verify", "stats", "prune"])
def test_vectors_whose_table_is_garbled_are_said_to_be(
    home: Path, command: str, capsys: pytest.CaptureFixture[str]
):
    """The folder can be taken away, and the message says so; it is no fault of the program's."""
    file = home / "vectors" / "cache.db"
    on_vectors(home, "PRAGMA wal_checkpoint(TRUNCATE)")
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE Cache", b"CREATE TAB\xc5E Cache"))

    assert run_app(["cache", command, "--home", str(home)]) == 2
    assert "the cache cannot be" in capsys.readouterr().err


def test_more_days_than_a_calendar_has_are_refused(home: Path, capsys: pytest.CaptureFixture[str]):
    """Nothing is that old; one line says so, and nothing is taken away."""
    assert run_app(["cache", "prune", "--older-than", "999999999", "--replies", "--home", str(home)]) == 2

    assert "999999999 is not in the range" in capsys.readouterr().err
    assert kept_texts(home) == {"yes", "no"}


def test_old_replies_are_forgotten_only_when_asked(home: Path):
    """Their money stays in the books, and the ledger opens as before."""
    assert run_app(["cache", "prune", "--older-than", "30", "--home", str(home)]) == 0
    assert kept_texts(home) == {"yes", "no"}

    assert run_app(["cache", "prune", "--older-than", "1000", "--replies", "--home", str(home)]) == 0

    assert kept_texts(home) == {"no"}
    with Ledger.open(home) as ledger:
        assert ledger.totals() == Totals(settled=2 * 10**12, unknown=0, reserved=0)
    assert run_app(["ledger", "verify", "--home", str(home)]) == 0


# ── to another home ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def exported(home: Path, tmp_path: Path) -> Path:
    file = tmp_path / "kept.jsonl"
    assert run_app(["cache", "export", str(file), "--home", str(home)]) == 0
    return file


def test_another_home_keeps_it_at_no_cost(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Replies and vectors are there, nothing was paid, and importing again changes nothing."""
    other = tmp_path / "other"

    assert run_app(["cache", "import", str(exported), "--home", str(other)]) == 0
    assert run_app(["cache", "import", str(exported), "--home", str(other)]) == 0

    assert "kept 0 replies and 0 vectors; already here: 4" in capsys.readouterr().out
    assert kept_texts(other) == {"yes", "no"}
    assert {entry.key: entry.value for entry in entries(other / "vectors")} == {
        "one": b"\x00\x01",
        "two": b"\x02\x03\x04",
    }
    with Ledger.open(other) as ledger:
        assert ledger.totals() == Totals()
    assert run_app(["ledger", "verify", "--home", str(other)]) == 0


def test_what_is_here_already_stays(exported: Path, tmp_path: Path):
    """An import never replaces a reply that this home paid for."""
    other = tmp_path / "other"
    fill(other, "maybe", "never")

    assert run_app(["cache", "import", str(exported), "--home", str(other)]) == 0

    assert kept_texts(other) == {"maybe", "never"}


Lines = list[str]


def swapped(lines: Lines) -> Lines:
    return [lines[0], lines[2], lines[1], *lines[3:]]


def forged(lines: Lines) -> Lines:
    """A reply whose text was changed and whose payload still reads well."""
    return [line.replace("yes", "yep") for line in lines]


def foreign(lines: Lines) -> Lines:
    return [lines[0], '{"other": {}, "sum": ""}', *lines[1:]]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda lines: lines[:-1], "the end of the file is missing"),
        (lambda lines: [lines[0], *lines[2:]], "lines are missing"),
        (lambda lines: lines[1:], ":1: "),
        (lambda lines: [*lines, lines[1]], "more after the end"),
        (lambda lines: [lines[0].replace("1", "2"), *lines[1:]], "newer version"),
        (lambda lines: [lines[0], lines[1][:40], *lines[2:]], ":2: "),
        (swapped, "another order"),
        (forged, "checksum"),
        (foreign, ":2: "),
        (lambda lines: [], "the end of the file is missing"),
        (lambda lines: ["[]"], "no line of ours"),
    ],
    ids=[
        "cut",
        "left out",
        "no head",
        "doubled",
        "newer",
        "half a line",
        "swapped",
        "forged",
        "foreign",
        "empty",
        "list",
    ],
)
def test_a_damaged_or_foreign_file_is_refused_whole(
    exported: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Lines], Lines],
    place: str,
):
    """The line is named, and not even a home is made for what came before it."""
    exported.write_text("\n".join(change(exported.read_text().splitlines())))

    assert run_app(["cache", "import", str(exported), "--home", str(tmp_path / "other")]) == 2

    assert place in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("field", ["model", "payload"])
def test_text_that_no_ledger_can_hold_is_refused_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], field: str
):
    """Half a character, in a line whose checksum fits, is found before anything is kept."""
    sound = {"model": "m:x", "payload": payload("yes"), "cost": 0, "seal": b"", "at": NEW}
    broken = sound | {
        field: {"model": "m:\ud800", "payload": payload("").replace('""', '"\ud800"', 1)}[field]
    }
    replies = [Kept(key=key, **parts) for key, parts in zip(KEYS, (sound, broken), strict=True)]  # type: ignore[arg-type]  # of several types
    file = tmp_path / "kept.jsonl"
    file.write_text("".join(export_lines(replies, (), is_safe=lambda text: True, count=Transferred())))

    assert run_app(["cache", "import", str(file), "--home", str(tmp_path / "other")]) == 2

    assert ":3: refused" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_a_reply_with_a_key_in_it_is_not_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """A key that a model repeated stays in the home that it was kept in."""
    planted = "planted-key-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", planted)
    fill(tmp_path / "home", f"your key is {planted}", "no")
    file = tmp_path / "kept.jsonl"

    assert run_app(["cache", "export", str(file), "--home", str(tmp_path / "home")]) == 0

    assert "1 left out" in capsys.readouterr().out
    assert planted not in file.read_text()
    assert base64.b64encode(planted.encode()).decode()[:20] not in file.read_text()


@pytest.mark.parametrize("command", [["stats"], ["verify"], ["prune"], ["export", "f.jsonl"]])
def test_a_home_where_nothing_is_kept_is_an_error(tmp_path: Path, command: list[str]):
    """A wrong folder is not an empty cache."""
    assert run_app(["cache", *command, "--home", str(tmp_path)]) == 2


# ── recordings ───────────────────────────────────────────────────────────────────────────────────

SUITE = """
name: tiny
judge: {models: ["openai:gpt-6-luna"]}
embedder: none
gate: partial>=0
cases:
  - id: order
    response: "PO-4471 is on net 45 days."
    expect:
      - requirement: Names the order
      - requirement: Names a supplier
"""


def test_kept_replies_are_recorded_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """A run's replies, recorded, give the same verdicts without a key, a server or a ledger."""
    planted = "planted-key-0123456789abcdef"
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE)
    recordings = tmp_path / "cache" / "recordings"
    with loopback_process() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", planted)
        assert run_app(["run", str(suite), "-q", "--home", str(tmp_path / "home")]) == 0
        shown = capsys.readouterr().out
    # The server is gone: recording makes no call.
    assert run_app(["cache", "record", str(suite), "--home", str(tmp_path / "home")]) == 0
    assert "recorded 2 replies" in capsys.readouterr().out
    assert planted not in (recordings / "tiny.jsonl").read_text()
    monkeypatch.delenv("OPENAI_API_KEY")

    assert run_app(["run", str(suite), "-q", "--replay", "--home", str(tmp_path / "fresh")]) == 0

    assert capsys.readouterr().out == shown


def test_a_kept_reply_that_could_not_tell_is_recorded_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Its expectation stays not judged, and still no question is without a kept reply."""
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        SUITE.replace("requirement: Names a supplier", "must-contain: The supplier is Osei Components")
    )
    home = str(tmp_path / "home")
    with loopback_process() as url:  # It quotes nothing, so its yes to a statement does not count.
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        assert run_app(["run", str(suite), "-q", "--home", home]) == 0
    assert "no check was sure: 1" in capsys.readouterr().out

    assert run_app(["cache", "record", str(suite), "--home", home]) == 0

    assert "without one: 0 expectations" in capsys.readouterr().out


def test_a_question_without_a_kept_reply_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Nothing is recorded of it, no file is left, and the exit code tells."""
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE)

    assert run_app(["cache", "record", str(suite), "--home", str(tmp_path / "home")]) == 3

    assert "recorded 0 replies; without one: 2 expectations" in capsys.readouterr().out
    assert not list(tmp_path.rglob("*.jsonl"))
