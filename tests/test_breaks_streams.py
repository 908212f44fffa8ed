"""Streams that are closed or full, and code that exits: the exit code is still that of the run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
name: streams
cases:
  - {id: a, response: PO-4471 is open., expect: [{must-contain: PO-4471}]}
"""


def run(
    folder: Path, redirections: str = "", suite: str = "suite.yaml", options: str = ""
) -> tuple[int, str]:
    """The exit code of a run by a shell, and what it printed on both streams."""
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    command = f'"$0" -m tiered_eval run {suite} --embedder none --home home {options} {redirections}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable], cwd=folder, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("redirections", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_changes_no_exit_code(redirections: str, tmp_path: Path):
    """A service without streams gets the answer of the run, and its files are whole."""
    code, printed = run(tmp_path, redirections)

    assert code == 0, printed
    assert "unforeseen" not in printed
    [report] = tmp_path.glob("home/runs/*/report.json")
    assert report.read_bytes().startswith(b"{")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("redirections", [">/dev/full", "2>/dev/full", ">/dev/full 2>&1"])
def test_a_full_stream_changes_no_exit_code(redirections: str, tmp_path: Path):
    """A log on a full disk must not look like a gate that is not met."""
    code, printed = run(tmp_path, redirections)

    assert code == 0, printed
    assert "unforeseen" not in printed


@pytest.mark.parametrize("where", ["at import", "in the function", "while it yields"])
def test_a_suite_that_exits_is_never_green(where: str, tmp_path: Path):
    """``sys.exit(0)`` in the code of a suite is a fault of the suite."""
    text = {
        "at import": "raise SystemExit(0)\n",
        "in the function": "def cases():\n    raise SystemExit(0)\n",
        "while it yields": "def cases():\n    yield from ()\n    raise SystemExit(0)\n",
    }
    (tmp_path / "exits.py").write_text(text[where], encoding="utf-8")

    code, printed = run(tmp_path, suite="exits:cases", options="--allow-code")

    assert code == 2, printed
    assert "exits" in printed


def test_an_interruption_while_commands_are_imported_shows_no_traceback(tmp_path: Path):
    """Ctrl-C in the first tenths of a second ends with its own exit code."""
    (tmp_path / "tiered_eval_first.py").write_text(
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tiered_eval.cli.plan':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from tiered_eval.cli import main\n"
        "main(['--version'])\n",
        encoding="utf-8",
    )

    done = subprocess.run(
        [sys.executable, "tiered_eval_first.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stderr) == (130, "")


def test_code_that_closes_every_file_is_no_gate_that_is_not_met(tmp_path: Path):
    """What the run needs is gone, and its words with it: still neither exit code 0 nor 1, which would be an answer."""
    (tmp_path / "scorers").mkdir()
    (tmp_path / "scorers" / "rude.py").write_text(RUDE.format(does="os.closerange(0, 200)"), encoding="utf-8")
    (tmp_path / "cases.jsonl").write_text(
        '{"id": "q", "response": "x", "expect": ["rude"]}\n', encoding="utf-8"
    )

    code, printed = run(tmp_path, "", suite="cases.jsonl", options="--allow-code")

    assert code > 1, printed


RUDE = """
import os, sys
import tiered_eval

@tiered_eval.scorer()
def rude(response):
    {does}
    return True
"""


@pytest.mark.parametrize(
    "does",
    [
        "sys.stdout.close()",
        "sys.stdout.close(); sys.stderr.close()",
        "os.closerange(1, 3)",
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
        "sys.stdout = sys.stderr = None",
        "sys.stdout = open(os.devnull, 'w')",
        "sys.stdout = object()",
        "sys.stdout.buffer.close()",
        "sys.stdout.reconfigure(encoding='ascii', errors='strict')",
        "os.chdir(os.path.dirname(os.path.abspath(__file__)))",
    ],
)
def test_a_rude_scorer_takes_nothing_of_a_run_away(does: str, tmp_path: Path):
    """Code of a suite that closes a stream or goes to another folder: the gate's exit code, the report in its place, and its text."""
    (tmp_path / "scorers").mkdir()
    (tmp_path / "scorers" / "rude.py").write_text(RUDE.format(does=does), encoding="utf-8")
    cases = [f'{{"id": "q{number}", "response": "x", "expect": ["rude"]}}\n' for number in range(3)]
    (tmp_path / "cases.jsonl").write_text("".join(cases), encoding="utf-8")

    code, printed = run(tmp_path, "", suite="cases.jsonl", options="--allow-code --report json -o out")

    assert code == 0, printed
    assert "unforeseen" not in printed
    [kept] = tmp_path.glob("home/runs/*/report.json")
    assert json.loads(kept.read_text())["counts"]["passed"] == 3
    assert (tmp_path / "out" / "report.json").exists()
    assert {path.name for path in (tmp_path / "scorers").iterdir()} <= {"rude.py", "__pycache__"}
    assert "partial" in printed
