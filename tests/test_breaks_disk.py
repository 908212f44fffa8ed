"""A disk that is full, a folder that goes away: told in words, and nothing that was paid for is lost."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import urllib.request
from decimal import Decimal
from pathlib import Path

import pytest
from planted_keys import KEEPS_KEYS

from tiered_eval.aggregate import case_result
from tiered_eval.errors import ConfigError
from tiered_eval.reports.kept import load_kept
from tiered_eval.results import ResultsFile, StoredResults
from tiered_eval.testing.loopback import loopback_process

pytestmark = KEEPS_KEYS

ROW = '{{"id": "c{n}", "response": "Order PO-{n} is open.", "expect": [{{"must-contain": "PO-{n}"}}]}}\n'


@pytest.mark.parametrize("most_bytes", [0, 1_000, 20_000])
def test_a_full_disk_is_told_in_words(most_bytes: int, tmp_path: Path):
    """Wherever the room ends, the run ends with what to do about it, and never as a gate that is met."""
    rows = "".join(ROW.format(n=n) for n in range(1000, 1300))
    (tmp_path / "suite.jsonl").write_text(rows, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "tiered_eval", "run", "suite.jsonl", "--embedder", "none", "--home", "home"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes)),
    )

    print(done.stdout, done.stderr)  # searched for keys, as this process's own words
    assert done.returncode == 2, done.stderr
    assert "cannot write" in done.stderr
    assert "unforeseen" not in done.stderr
    assert "Warning" not in done.stderr


def on_a_small_disk(folder: str, room: str, command: str) -> list[str]:
    """A command that sees a small disk of its own in a folder; needs the right to mount one for itself."""
    return ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size={room} tmpfs {folder} && exec {command}"]


def can_mount(folder: Path) -> bool:
    """May an ordinary process mount a small disk for itself here?"""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(on_a_small_disk(str(folder), "64k", "true"), capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("why", "folder", "room"),
    [
        ("no room for results, the ledger is elsewhere", "home/runs", "16k"),
        ("no room for either", "home", "600k"),
    ],
)
def test_what_was_spent_before_the_disk_was_full_is_told(why: str, folder: str, room: str, tmp_path: Path):
    """Exit code 2 does not pass for "nothing was spent": the message encloses the vendor's own bill."""
    (tmp_path / "home" / "runs").mkdir(parents=True)
    if not can_mount(tmp_path / "home"):
        pytest.skip("no small disk can be mounted here")
    rows = [
        {
            "id": f"c{n}",
            "response": f"Order {n} is open. {'It waits. ' * 40}",
            "expect": [{"requirement": f"Says that order {n} is open"}],
        }
        for n in range(150)
    ]
    (tmp_path / "suite.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    command = (
        f"{sys.executable} -m tiered_eval run suite.jsonl --embedder none --home home "
        "--judge openai:gpt-6-luna --pack never --concurrency 8"
    )

    with loopback_process("--latency", "0.02") as url:
        done = subprocess.run(
            on_a_small_disk(folder, room, command),
            cwd=tmp_path,
            env={**os.environ, "OPENAI_BASE_URL": f"{url}/v1"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        with urllib.request.urlopen(f"{url}/_bill", timeout=10) as reply:
            billed = Decimal(json.load(reply)["charged_pico"]).scaleb(-12)

    print(done.stdout, done.stderr)  # searched for keys, as this process's own words
    assert done.returncode == 2, done.stderr
    told = re.search(r"until then \$([0-9.]+) was spent(?:, and at most \$([0-9.]+) more)?", done.stderr)
    assert told is not None, done.stderr
    settled, unknown = Decimal(told[1]), Decimal(told[2] or 0)
    assert 0 < settled <= billed <= settled + unknown
    assert unknown == 0, "calls in flight are let to their end"


def test_results_that_cannot_be_begun_are_a_fault_of_the_set_up(tmp_path: Path):
    """A library caller's ``results_path`` below a file names that path."""
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"results\.jsonl"):
        ResultsFile(tmp_path / "file" / "results.jsonl")


def stored(path: Path, indexes: list[int]) -> StoredResults:
    """Results that settled in the order of ``indexes``."""
    file = ResultsFile(path)
    for index in indexes:
        file.append(case_result(index, f"case-{index}", (), (), ""))
    return file.close()


def test_results_are_read_right_after_a_report_took_their_place(tmp_path: Path):
    """``--report jsonl`` writes the same name in another order; reports after it show the right cases."""
    results = stored(tmp_path / "results.jsonl", [2, 0, 10, 1])
    ids = [result.case_id for result in results]

    stored(tmp_path / "other.jsonl", [0, 1, 2, 10])
    (tmp_path / "other.jsonl").replace(tmp_path / "results.jsonl")

    assert [result.case_id for result in results] == ids == ["case-0", "case-1", "case-2", "case-10"]
    assert results[3].case_id == "case-10"
    assert [result.case_id for result in results[1:3]] == ["case-1", "case-2"]


def test_a_kept_run_that_is_nested_without_end_is_damaged(tmp_path: Path):
    """Whatever stands in a kept file, it is told and not unforeseen."""
    (tmp_path / "report.json").write_text("[" * 100_000, encoding="utf-8")

    with pytest.raises(ConfigError, match="damaged"):
        load_kept(tmp_path)


def test_a_kept_run_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A key that a response or an error echoed is hidden in the results of a run, as it is in its reports."""
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-1234567890")

    with ResultsFile(tmp_path / "results.jsonl") as file:
        file.append(case_result(0, "echoes planted-key-1234567890", ()))

    assert b"planted-key" not in (tmp_path / "results.jsonl").read_bytes()
    assert StoredResults.load(tmp_path / "results.jsonl")[0].case_id == "echoes [key hidden]"


def test_results_that_were_taken_away_are_told_in_words(tmp_path: Path):
    """Somebody cleaned the home up while the run was under way."""
    file = ResultsFile(tmp_path / "results.jsonl")
    file.append(case_result(0, "a", ()))
    (tmp_path / "results.jsonl").unlink()

    with pytest.raises(ConfigError, match="cannot write results"):
        file.close()
