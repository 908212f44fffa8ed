"""Homes that cannot be trusted or written to, met by whole commands: a clear message, no spend, and no verdict from damage.

The vendor is the loopback provider; its own bill shows that nothing was spent. Whoever runs as root is stopped by no mode
of a file, so a read-only home is one that is mounted so.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked_runs import nursery
from planted_keys import KEEPS_KEYS, PLANTED

from tiered_eval.testing.loopback import LoopbackServer, loopback_process, serve_loopback

pytestmark = KEEPS_KEYS

COMMAND = ("--judge", "openai:gpt-6-luna", "--home", "home", "--gate", "partial>=0", "--pack", "never")


def write_suite(folder: Path, *claims: str) -> str:
    """A suite in which each claim is asked of a judge, and one statement of the embedder; returns its name."""
    case = {
        "id": "desk",
        "response": "The fee is waived for members. The order is open.",
        "expect": [
            *({"requirement": claim} for claim in claims),
            {"kind": "must-contain", "scorer": "semantic", "value": "The charge is dropped for members"},
        ],
    }
    path = folder / "suite.json"
    path.write_text(json.dumps({"name": "desk", "cases": [case]}), encoding="utf-8")
    return path.name


def scribbled(home: Path) -> None:
    content = bytearray((home / "ledger.db").read_bytes())
    content[4096 : 4096 * 3] = b"\xab" * 4096 * 2
    (home / "ledger.db").write_bytes(bytes(content))


def foreign(home: Path) -> None:
    (home / "ledger.db").unlink()
    changed(home, "CREATE TABLE notes (text)")


def newer(home: Path) -> None:
    changed(home, "PRAGMA user_version = 99")


def vanished(home: Path) -> None:
    (home / "ledger.db").unlink()


def torn(home: Path) -> None:
    os.truncate(home / "ledger.db", 4096 * 3 + 100)


def cooked(home: Path) -> None:
    changed(home, "UPDATE call SET cost = 0")


def changed(home: Path, statement: str) -> None:
    connection = sqlite3.connect(home / "ledger.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


LEDGERS = [
    (vanished, "is gone"),
    *(
        pytest.param(*harm, marks=pytest.mark.slow)
        for harm in (
            (newer, "format 99"),
            (scribbled, "damaged"),
            (torn, "cannot be read|damaged"),
            (foreign, "another program's"),
            (cooked, "do not add up"),
        )
    ),
]


def told_of(server: LoopbackServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{server.url}/v1"}


@pytest.mark.parametrize(("harm", "says"), LEDGERS)
async def test_a_ledger_that_cannot_be_trusted_ends_the_run_before_a_call(
    zygote: Any, tmp_path: Path, harm: Callable[[Path], None], says: str
):
    """Exit code 2, one message that says what to do, and not a cent at the vendor; also when it is tried again."""
    suite = write_suite(tmp_path, "Is polite")
    async with serve_loopback() as server, nursery(zygote, tmp_path) as runs:
        code, said = await runs.command(tmp_path, "run", suite, *COMMAND, environment=told_of(server))
        billed = server.charged_pico
        assert (code, billed > 0) == (0, True), said
        harm(tmp_path / "home")
        suite = write_suite(tmp_path, "Is polite", "Names a date")

        for _ in range(2):
            code, said = await runs.command(tmp_path, "run", suite, *COMMAND, environment=told_of(server))

            assert code == 2, said
            assert any(part in said for part in says.split("|"))
            assert "Traceback" not in said
            assert "unforeseen" not in said
        assert server.charged_pico == billed


@pytest.mark.slow
@pytest.mark.parametrize("harm", [b"garbage " * 4096, b""], ids=["garbage", "nothing"])
async def test_a_damaged_cache_is_begun_anew_and_no_verdict_comes_from_it(
    zygote: Any, tmp_path: Path, harm: bytes
):
    """Vectors can be computed again, so the run goes on; what it finds is what it found before."""
    suite = write_suite(tmp_path, "Is polite")
    verdicts = []
    async with serve_loopback() as server, nursery(zygote, tmp_path) as runs:
        for _ in range(2):
            code, said = await runs.command(
                tmp_path,
                *("run", suite, *COMMAND, "--report", "json,jsonl", "-o", "out"),
                environment=told_of(server),
            )
            assert code == 0, said
            rows = map(json.loads, (tmp_path / "out" / "results.jsonl").read_text().splitlines())
            verdicts.append([(one["state"], one["reason"]) for row in rows for one in row["verdicts"]])
            for path in (tmp_path / "home" / "vectors").iterdir():
                if path.is_file():
                    path.write_bytes(harm)

    assert verdicts[0] == verdicts[1]


def in_own_mounts(script: str) -> list[str]:
    """A shell script that may mount folders as it likes, seen by nobody else."""
    return ["unshare", "-rm", "sh", "-c", script]


READ_ONLY = "mount --bind home home && mount -o remount,bind,ro home"
SMALL_DISK = "mount -t tmpfs -o size=16k tmpfs out"


def skip_unless(mount: str, folder: Path) -> None:
    """Skip where an ordinary process may not mount for itself."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not here, so nothing can be mounted for one process")
    if subprocess.run(in_own_mounts(mount), cwd=folder, capture_output=True).returncode:
        pytest.skip("no folder can be mounted here")


def said_by(arguments: list[str], folder: Path, url: str = "") -> tuple[int, str]:
    """Exit code and words of a process; its words are kept, and searched with the rest."""
    environment = {**os.environ, **PLANTED, "OPENAI_BASE_URL": f"{url}/v1"}
    with (folder / "said.txt").open("a+b") as said:
        start = said.tell()
        done = subprocess.run(
            arguments, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT, timeout=50
        )
        said.seek(start)
        return done.returncode, said.read().decode()


def bill_of(url: str) -> int:
    with urllib.request.urlopen(f"{url}/_bill", timeout=10) as reply:
        return int(json.load(reply)["charged_pico"])


@pytest.mark.parametrize("is_new", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_home_that_cannot_be_written_ends_the_run_before_a_call(tmp_path: Path, is_new: bool):
    """What cannot be written down is not spent: exit code 2, with the folder and the reason."""
    (tmp_path / "home").mkdir()
    skip_unless(READ_ONLY, tmp_path)
    suite = write_suite(tmp_path, "Is polite")
    command = shlex.join([sys.executable, "-m", "tiered_eval", "run", suite, *COMMAND])

    with loopback_process() as url:
        if not is_new:
            assert said_by(["sh", "-c", command], tmp_path, url)[0] == 0
            write_suite(tmp_path, "Is polite", "Names a date")
        before = bill_of(url)
        code, said = said_by(in_own_mounts(f"{READ_ONLY} && {command}"), tmp_path, url)
        spent = bill_of(url) - before

    assert code == 2, said
    assert "home" in said
    assert "Traceback" not in said
    assert "unforeseen" not in said
    assert spent == 0


@pytest.mark.slow
def test_a_report_that_a_full_disk_cuts_is_no_report(tmp_path: Path):
    """Where the room ends within a report, nothing is left that could pass for a whole one, and the exit code says so."""
    rows = [
        {"id": f"c{n}", "response": f"Order PO-{n} is open.", "expect": [{"must-contain": f"PO-{n}"}]}
        for n in range(1000, 1400)
    ]
    (tmp_path / "suite.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "out").mkdir()
    skip_unless(SMALL_DISK, tmp_path)
    command = [
        sys.executable,
        "-m",
        "tiered_eval",
        "run",
        "suite.jsonl",
        "--embedder",
        "none",
        "--home",
        "home",
    ]
    run = shlex.join([*command, "--report", "json,jsonl,junit,md", "-o", "out"])

    code, said = said_by(
        in_own_mounts(f"{SMALL_DISK} && {run}; code=$?; cp -r out copies; exit $code"), tmp_path
    )

    assert code == 2, said
    assert "cannot write" in said or "cannot be written" in said
    assert "Traceback" not in said
    for path in (tmp_path / "copies").glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    for path in (tmp_path / "copies").glob("*.jsonl"):
        assert len(path.read_text(encoding="utf-8").splitlines()) == len(rows)
