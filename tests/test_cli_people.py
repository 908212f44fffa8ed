"""`export`, `import` and `label`: what is left to people, from the command line and from a real terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tiered_eval.cli.app import run_app
from tiered_eval.cli.keys import keys_of
from tiered_eval.people.store import PeopleStore

SUITE = """\
name: tone
cases:
  - id: kind
    input: Greet the customer
    response: "=HYPERLINK(1) Hello!"
    expect: [{manual: Reads warmly}, {must-contain: hello}]
  - id: curt
    response: "Go away.\\e[31m"
    expect: [{manual: Reads warmly}]
  - id: long
    response: "Dear customer, thank you for your patience."
    expect: [{manual: Reads warmly}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a suite that was run once; commands are given there."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIERED_EVAL_HOME", raising=False)
    assert run_app(["run", "suite.yaml", "-q", "--offline", "--embedder", "none"]) == 3
    return tmp_path


def fill_in(sheet: Path, *verdicts: str) -> None:
    """Write verdicts into the blank cells of a sheet, in its order."""
    rows = sheet.read_text(encoding="utf-8").splitlines()
    filled = [
        f"{row.removesuffix(',,,')},{verdict},," for row, verdict in zip(rows[1:], verdicts, strict=True)
    ]
    sheet.write_text("\n".join([rows[0], *filled]), encoding="utf-8")


class TestExportAndImport:
    """The way of a sheet."""

    def test_there_and_back(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """What goes out as a sheet comes back as verdicts that count."""
        assert run_app(["export", "--manual", "-o", "sheet.csv"]) == 0
        fill_in(folder / "sheet.csv", "pass", "fail", "pass")
        assert run_app(["import", "sheet.csv"]) == 0
        capsys.readouterr()

        code = run_app(["run", "suite.yaml", "-q", "--offline", "--embedder", "none"])

        assert code == 1
        assert "3 passed + 1 failed + 0 error + 0 not judged + 0 manual" in capsys.readouterr().out

    def test_the_sheet_runs_nothing(self, folder: Path):
        """A response that is a formula is text in the sheet."""
        run_app(["export", "--manual", "-o", "sheet.csv"])

        text = (folder / "sheet.csv").read_text(encoding="utf-8")
        assert ",'=HYPERLINK(1) Hello!," in text
        assert ",=HYPERLINK" not in text

    def test_what_is_judged_is_not_asked_again(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """A second sheet holds what is still open; with --again it holds all."""
        run_app(["export", "-o", "first.csv"])
        fill_in(folder / "first.csv", "pass", "", "")
        run_app(["import", "first.csv"])

        run_app(["export", "-o", "second.csv"])
        run_app(["export", "--again", "-o", "third.jsonl"])

        assert (folder / "second.csv").read_text(encoding="utf-8").count("te-") == 2
        assert len((folder / "third.jsonl").read_text(encoding="utf-8").splitlines()) == 3

    def test_a_sheet_is_not_written_over(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """Someone may have filled it in."""
        (folder / "manual.csv").write_text("precious")

        assert run_app(["export"]) == 2
        assert (folder / "manual.csv").read_text() == "precious"
        assert "--force" in capsys.readouterr().err
        assert run_app(["export", "--force"]) == 0

    def test_rows_that_cannot_count_are_told(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """The command ends with 2, and the other rows count."""
        run_app(["export", "-o", "sheet.csv"])
        fill_in(folder / "sheet.csv", "pass", "perhaps", "pass")
        with (folder / "sheet.csv").open("a") as file:
            file.write("\nte-0,,,,,,pass,,")
        capsys.readouterr()

        code = run_app(["import", "sheet.csv"])

        told = capsys.readouterr()
        assert code == 2
        assert "'perhaps' is no verdict" in told.err
        assert "nobody was asked about te-0" in told.err
        assert "2 verdicts added, 0 known already, 0 left open, 2 rows left out" in told.out

    def test_another_home_knows_nothing(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """A sheet belongs to the home that it was exported from."""
        run_app(["export", "-o", "sheet.csv"])
        fill_in(folder / "sheet.csv", "pass", "pass", "pass")

        assert run_app(["import", "sheet.csv", "--home", "elsewhere"]) == 2
        assert "--home" in capsys.readouterr().err
        assert not (folder / "elsewhere").exists()

    def test_labels(self, folder: Path):
        """Verdicts become labels, each with its response."""
        run_app(["export", "-o", "sheet.csv"])
        fill_in(folder / "sheet.csv", "pass", "fail", "")
        run_app(["import", "sheet.csv"])

        assert run_app(["export", "--labels"]) == 0

        rows = [
            json.loads(line) for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        assert [(row["case"], row["human"]) for row in rows] == [("kind", True), ("curt", False)]
        assert rows[0]["response"] == "=HYPERLINK(1) Hello!"

    def test_every_expectation_of_a_suite(self, folder: Path):
        """A suite without a run can be asked about as well, or a sample of it."""
        assert run_app(["export", "--suite", "suite.yaml", "-o", "all.jsonl"]) == 0
        assert run_app(["export", "--suite", "suite.yaml", "--sample", "2", "-o", "two.jsonl"]) == 0

        assert len((folder / "all.jsonl").read_text(encoding="utf-8").splitlines()) == 4
        assert len((folder / "two.jsonl").read_text(encoding="utf-8").splitlines()) == 2

    def test_an_unknown_run(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """It is told which runs there are."""
        assert run_app(["export", "nonsense"]) == 2
        assert "no run 'nonsense' is kept" in capsys.readouterr().err

    @pytest.mark.parametrize("command", ["export", "label"])
    def test_a_folder_that_is_no_run(
        self, command: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ):
        """It is refused; "nothing was left to people" would be said of a run."""
        (tmp_path / "elsewhere").mkdir()

        assert run_app([command, str(tmp_path / "elsewhere")]) == 2
        assert "is not the folder of a kept run" in capsys.readouterr().err


class Terminal:
    """A command at a pseudo terminal: what it shows is read, and keys are pressed."""

    def __init__(self, *arguments: str) -> None:
        self.shown = ""
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.execv(sys.executable, [sys.executable, "-m", "tiered_eval", *arguments])

    def wait_for(self, text: str, *, within_s: float = 20) -> None:
        """Read until ``text`` has been shown since the last key."""
        self._read_until(lambda shown: text in shown, within_s)
        assert text in self.shown, self.shown

    def press(self, keys: str) -> None:
        self.shown = ""
        os.write(self.handle, keys.encode())

    def end(self) -> int:
        """Read to the end; the exit code."""
        self._read_until(lambda shown: False, 20)
        os.close(self.handle)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read_until(self, is_enough: Callable[[str], bool], within_s: float) -> None:
        end = time.monotonic() + within_s
        while not is_enough(self.shown) and time.monotonic() < end:
            if not select.select([self.handle], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.handle, 65_536)
            except OSError:  # Linux: the other end was closed
                return
            if not data:
                return
            self.shown += data.decode(errors="replace")


class TestLabel:
    """Asking in the terminal."""

    def test_one_key_a_verdict(self, folder: Path):
        """Keys are taken without Enter, each verdict is kept at once, and quitting loses nothing."""
        terminal = Terminal("label", "--by", "ann")
        terminal.wait_for("1 of 3")
        terminal.wait_for("q quit")
        terminal.press("y")
        terminal.wait_for("2 of 3")
        kept = PeopleStore(folder / ".tiered_eval").judgements()
        terminal.press("\x1b[A")  # an arrow is no verdict
        terminal.press("n")
        terminal.wait_for("3 of 3")
        terminal.press("q")

        assert terminal.end() == 0
        assert [(said.by, said.verdict) for said in kept.values()] == [("ann", "pass")]
        after = PeopleStore(folder / ".tiered_eval").judgements()
        assert [said.verdict for said in after.values()] == ["pass", "fail"]
        assert "2 verdicts, 1 still open" in terminal.shown

    def test_back_takes_back(self, folder: Path):
        """A slip of the finger is undone."""
        terminal = Terminal("label")
        terminal.wait_for("1 of 3")
        terminal.press("n")
        terminal.wait_for("2 of 3")
        terminal.press("b")
        terminal.wait_for("1 of 3")
        assert not PeopleStore(folder / ".tiered_eval").judgements()
        terminal.press("y")
        terminal.wait_for("2 of 3")
        terminal.press("q")

        assert terminal.end() == 0
        assert [said.verdict for said in PeopleStore(folder / ".tiered_eval").judgements().values()] == [
            "pass"
        ]

    def test_a_response_moves_no_cursor(self, folder: Path):
        """What a model wrote is shown as text."""
        terminal = Terminal("label")
        terminal.wait_for("1 of 3")
        terminal.press("s")
        terminal.wait_for("Go away.")
        terminal.wait_for("q quit")
        shown = terminal.shown
        terminal.press("\x04")

        assert terminal.end() == 0
        assert "\x1b" not in shown

    def test_the_terminal_is_set_back(self, folder: Path):
        """After the command, and after Ctrl-C, keys are lines again."""
        terminal = Terminal("label")
        before = termios.tcgetattr(terminal.handle)[3] & termios.ICANON
        terminal.wait_for("q quit")
        during = termios.tcgetattr(terminal.handle)[3] & termios.ICANON
        terminal.press("\x03")
        terminal.wait_for("interrupted")
        after = termios.tcgetattr(terminal.handle)[3] & termios.ICANON

        assert terminal.end() == 130
        assert (bool(before), bool(during), bool(after)) == (True, False, True)

    def test_without_a_terminal(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        """A pipe gives one answer a line, and its end is the end."""
        read, write = os.pipe()
        os.write(write, b"yes\nwhat\nno\n")
        os.close(write)
        with os.fdopen(read) as stream:
            monkeypatch.setattr("tiered_eval.cli.label.keys_of", lambda: keys_of(stream))
            code = run_app(["label"])

        assert code == 0
        assert "2 verdicts, 1 still open" in capsys.readouterr().out

    def test_nothing_to_ask(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """It says so and ends well."""
        assert run_app(["label", "--suite", "suite.yaml", "--sample", "1", "--help"]) == 0
        (folder / "empty").mkdir()
        (folder / "empty" / "report.json").touch()

        assert run_app(["label", "empty"]) == 0
        assert "nothing was left to people" in capsys.readouterr().err
