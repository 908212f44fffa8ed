"""The command ``run`` on real suites: free checks in this process, a judge and real signals in one of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from test_reports_schema import SCHEMA, faults

from tiered_eval.cli.app import run_app

PLANTED_KEY = "planted-key-5d1f0c7a90"

FREE = """
name: orders
cases:
  - id: order
    response: "PO-4471 is on net 45 days."
    expect:
      - must-contain: {value: PO-4471, scorer: exact}
      - must-contain: {value: PO-9000, scorer: exact}
  - id: refund
    response: "The refund was refused."
    expect:
      - must-contain: {value: refused, scorer: exact}
"""

JUDGED = """
name: judged
cases:
  - id: order
    response: "PO-4471 is on net 45 days."
    expect:
      - must-contain: {value: PO-4471, scorer: exact}
      - requirement: Does not promise a delivery date
"""


@pytest.fixture(autouse=True)
def quiet_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The tests see the same environment wherever they run."""
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "NO_COLOR", "TIERED_EVAL_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def suite(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "suite.yaml"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        (None, 1),  # every case must pass where nothing else is asked
        ("partial>=0.7", 0),
        ("partial>=0.8", 1),
        ("partial>=70%", 0),
    ],
)
def test_the_gate_decides_the_exit_code(gate: str | None, code: int, suite: Callable[[str], Path]):
    """A gate that is met is 0, one that is not is 1."""
    options = [] if gate is None else ["--gate", gate]

    assert run_app(["run", str(suite(FREE)), "--quiet", *options]) == code


def test_the_report_is_printed_and_the_run_kept(
    suite: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A run shows its headline and failures, says where it is kept, and can be shown again."""
    run_app(["run", str(suite(FREE))])
    shown = capsys.readouterr()
    home = tmp_path / ".tiered_eval"

    assert "partial     0.750" in shown.out
    assert "3 expectations = 2 passed + 1 failed + 0 error + 0 not judged + 0 manual" in shown.out
    assert "order / " in shown.out
    assert f"kept in {home / 'runs'}" in shown.err
    assert run_app(["show", "last", "--home", str(home)]) == 0
    assert capsys.readouterr().out == shown.out


def test_the_command_that_is_named_finds_the_run(
    suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
):
    """What the report says to type works from where the run was started, wherever the suite lies."""
    run_app(["run", str(suite(FREE))])
    printed = " ".join(capsys.readouterr().out.split())
    _, command, _ = printed.split("`")

    assert command.startswith("tiered-eval show ")
    assert run_app([*shlex.split(command)[1:-1], "order"]) == 0


def test_only_an_offline_run_is_told_to_leave_that_out(
    suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
):
    """The next step does not speak of an option that was not given."""
    path = suite(JUDGED)

    run_app(["run", str(path)])
    live = capsys.readouterr().out
    run_app(["run", str(path), "--offline"])

    assert "Name one with --judge" in live
    assert "--offline" not in live
    assert "leave out --offline" in " ".join(capsys.readouterr().out.split())


def test_an_offline_run_of_a_suite_with_a_judge_is_not_told_to_name_one(
    suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
):
    """The suite names its judge already, so the next step is to let it be asked."""
    run_app(["run", str(suite(JUDGED + 'judge: "openai:gpt-6-luna"\n')), "--offline"])

    said = " ".join(capsys.readouterr().out.split())
    assert "Leave out --offline" in said
    assert "--judge" not in said


def test_report_files_are_written(suite: Callable[[str], Path], tmp_path: Path):
    """Every format that was asked for is there, and tells of the same run."""
    place = tmp_path / "out"

    run_app(["run", str(suite(FREE)), "-q", "--report", "json,jsonl,junit,md", "-o", str(place)])

    assert sorted(path.name for path in place.iterdir()) == [
        "junit.xml",
        "report.json",
        "results.jsonl",
        "summary.md",
    ]
    report = json.loads((place / "report.json").read_text())
    assert report["counts"] == {
        "passed": 2,
        "failed": 1,
        "error": 0,
        "not_judged": 0,
        "manual": 0,
        "total": 3,
    }
    assert faults(report, SCHEMA) == []
    assert ET.parse(place / "junit.xml").getroot().get("failures") == "1"


def test_an_output_that_cannot_be_written_is_found_before_the_run(
    suite: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Where the reports cannot go, nothing is measured and nothing spent."""
    (tmp_path / "taken").write_text("a file")

    code = run_app(["run", str(suite(FREE)), "--report", "json", "-o", str(tmp_path / "taken" / "out")])

    assert code == 2
    assert "cannot use" in capsys.readouterr().err
    assert not (tmp_path / ".tiered_eval").exists()


def test_a_run_that_could_not_begin_is_not_kept(suite: Callable[[str], Path], tmp_path: Path):
    """A wrong judge is exit code 2 and leaves no run behind."""
    home = tmp_path / "home"

    assert run_app(["run", str(suite(FREE)), "--judge", "nobody:x", "--home", str(home)]) == 2
    assert list((home / "runs").iterdir()) == []


def test_a_github_job_gets_its_summary_and_annotations(
    suite: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """Inside a GitHub job the page is added to the job's summary, and failures become annotations."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    run_app(["run", str(suite(FREE)), "-q", "--report", "md", "-o", str(tmp_path)])

    assert summary.read_text().startswith("## orders: gate not met")
    assert "\n::error title=order / " in capsys.readouterr().out


def test_a_requirement_without_a_judge_is_not_green(
    suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
):
    """What nobody can judge is left over, the gate stays open, and the report says what to do."""
    code = run_app(["run", str(suite(JUDGED)), "--offline", "--embedder", "none"])

    shown = capsys.readouterr().out
    assert code == 3
    assert "no judge to ask: 1" in shown
    assert "--judge provider:model" in shown


def test_a_quiet_run_says_why_something_is_open(
    suite: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The log of a CI job names the first error, and why something was not judged; a clean run has three lines."""
    options = ["--quiet", "--embedder", "none", "--recordings", str(tmp_path)]

    run_app(["run", str(suite(JUDGED)), *options])
    left = capsys.readouterr().out
    run_app(["run", str(suite(JUDGED)), *options, "--replay", "--judge", "anthropic:claude-haiku-5-5"])
    broken = capsys.readouterr().out
    run_app(["run", str(suite(FREE)), *options])

    assert "not judged no judge to ask: 1" in left
    assert "errors RecordingMissing: 1, such as RecordingMissing: " in broken
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_plan_groups_routes_and_spends_nothing(
    suite: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A plan says what is free, what climbs, and what that costs at least, probably and at most."""
    path = suite(JUDGED)
    arguments = ["plan", str(path), "--judge", "openai:priced", "--price", "openai:priced=1,5"]

    assert run_app(arguments) == 0

    shown = capsys.readouterr().out
    assert "judged: 1 case, 2 expectations" in shown
    assert "settled free   1 (exact 1)" in shown
    assert "judge calls    1\n" in shown
    assert " lowest, $" in shown
    assert " expected, $" in shown
    assert "1 × requirement: judge" in shown
    assert sorted(found.name for found in tmp_path.iterdir()) == ["suite.yaml"]


def test_a_plan_for_programs(suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]):
    """The same as JSON, money as decimal strings."""
    run_app(
        ["plan", str(suite(JUDGED)), "--judge", "openai:priced", "--price", "openai:priced=1,5", "--json"]
    )

    made = json.loads(capsys.readouterr().out)
    assert made["to_judge_most"] == 1
    assert float(made["cost_worst_usd"]) > float(made["cost_expected_usd"]) > 0


def test_a_plan_lists_each_expectation(suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]):
    """Whoever wants to know about one expectation sees its route and where it stands."""
    run_app(["plan", str(suite(JUDGED)), "--each"])

    assert "must-contain: exact; settled by exact" in capsys.readouterr().out


@asynccontextmanager
async def silent_provider() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A provider that takes every call and never answers; the event is set when the first one came."""
    asked = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked


async def started(suite: Path, url: str, *options: str) -> asyncio.subprocess.Process:
    """``tiered-eval run`` as a process of its own, whose judge is at ``url``."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tiered_eval", "run", str(suite), "--embedder", "none"),
        *("--judge", "openai:silent", "--price", "openai:silent=1,5", "--max-cost", "1", *options),
        env={**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": PLANTED_KEY},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def first_call(process: asyncio.subprocess.Process, asked: asyncio.Event) -> None:
    """Wait until the process asks its judge; fail at once where it ends before."""
    ended = asyncio.create_task(process.wait())
    came = asyncio.create_task(asked.wait())
    await asyncio.wait({ended, came}, timeout=30, return_when=asyncio.FIRST_COMPLETED)
    for task in (ended, came):
        task.cancel()
    assert asked.is_set(), f"no call was made (exit code {process.returncode})"


def contents_of(folder: Path) -> list[bytes]:
    """Every file below ``folder``: reports, ledger, cache."""
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)],
)
async def test_a_signal_writes_the_partial_report(
    number: signal.Signals, code: int, suite: Callable[[str], Path], tmp_path: Path
):
    """A run that is ended reports what it has, the call in flight as unknown, and keeps no key anywhere."""
    place = tmp_path / "out"
    async with silent_provider() as (url, asked):
        process = await started(suite(JUDGED), url, "--report", "json,junit,md", "-o", str(place), "-vv")
        try:
            await first_call(process, asked)
            process.send_signal(number)
            out, err = await asyncio.wait_for(process.communicate(), timeout=30)
        finally:
            if process.returncode is None:
                process.kill()

    assert process.returncode == code, err.decode()
    report = json.loads((place / "report.json").read_text())
    assert faults(report, SCHEMA) == []
    assert report["stopped"] == "interrupted"
    assert report["exit_code"] == code
    assert report["leftovers"] == {"interrupted": 1}
    assert report["counts"]["passed"] == 1
    assert float(report["spend"]["unknown_usd"]) > 0
    assert not any(PLANTED_KEY.encode() in data for data in (out, err, *contents_of(tmp_path)))


async def test_the_second_signal_ends_at_once(suite: Callable[[str], Path]):
    """The second Ctrl-C does not wait for calls in flight."""
    async with silent_provider() as (url, asked):
        process = await started(suite(JUDGED), url)
        assert process.stderr is not None
        try:
            await first_call(process, asked)
            process.send_signal(signal.SIGINT)
            while b"once more ends at once" not in await asyncio.wait_for(
                process.stderr.readline(), timeout=30
            ):
                continue
            process.send_signal(signal.SIGINT)
            code = await asyncio.wait_for(process.wait(), timeout=3)
        finally:
            if process.returncode is None:
                process.kill()

    assert code == 130


def test_reading_the_suite_is_a_part_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """A suite that takes longer to read than --max-time leaves none for its cases."""
    (tmp_path / "slow_suite.py").write_text(
        "import threading\n"
        "from tiered_eval.testing import make_case, make_expectation\n"
        "def cases():\n"
        "    threading.Event().wait(0.6)\n"
        "    return [make_case('Order PO-1 is open.', make_expectation('must-contain', 'PO-1'))]\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    options = ["--allow-code", "--embedder", "none", "--home", str(tmp_path / "home"), "-q"]

    assert run_app(["run", "slow_suite:cases", *options, "--max-time", "0.5s"]) == 4
    assert "the time was used up: 1" in capsys.readouterr().out


async def test_a_deadline_ends_a_run_that_waits(suite: Callable[[str], Path], tmp_path: Path):
    """--max-time holds while a provider says nothing: the run ends with a report and exit code 4."""
    async with silent_provider() as (url, _):
        process = await started(
            suite(JUDGED), url, "--max-time", "1.5s", "--report", "json", "-o", str(tmp_path)
        )
        try:
            _, err = await asyncio.wait_for(process.communicate(), timeout=30)
        finally:
            if process.returncode is None:
                process.kill()

    assert process.returncode == 4, err.decode()
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["leftovers"] == {"deadline": 1}
    assert report["wall_s"] < 10


@asynccontextmanager
async def talkative_provider() -> AsyncIterator[str]:
    """A provider that refuses every call and repeats the key that it was sent."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line for line in head.splitlines() if line.lower().startswith("authorization:"))
        body = json.dumps(
            {"error": {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}}
        )
        writer.write(
            b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nConnection: close\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def test_a_key_that_a_provider_repeats_is_kept_nowhere(suite: Callable[[str], Path], tmp_path: Path):
    """An error that quotes the key is reported without it: on both streams, in each report, in the home."""
    async with talkative_provider() as url:
        options = ("--report", "json,jsonl,junit,md", "-o", str(tmp_path / "out"), "-vv")
        process = await started(suite(JUDGED), url, *options)
        out, err = await asyncio.wait_for(process.communicate(), timeout=40)

    assert process.returncode == 3, err.decode()
    assert b"Incorrect API key" in out
    leaks = [text for text in (out, err, *contents_of(tmp_path)) if PLANTED_KEY.encode() in text]
    assert leaks == []
