"""Whole runs, each in a process of its own that may be killed, and that starts in milliseconds.

The one idea: one process imports what a run needs and does nothing but fork, so that a test can afford a run for every step of
the journal. A run counts its steps (each statement of the ledger, each moment after a commit, each call, each request
about a batch), names them where a trace is asked for, and kills itself at the chosen one, or at the first of a kind.

``async with nursery(zygote, tmp_path) as runs: found = await runs.run(home=..., die_at=17)``
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from planted_keys import PLANTED

__all__ = ["Nursery", "nursery", "zygote"]

ZYGOTE = r'''
import asyncio, itertools, json, logging, os, re, select, signal, sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import anthropic, genai_prices, httpx, openai, tenacity
from tiered_eval import RunConfig, evaluate
from tiered_eval.calls.attempts import Attempts
from tiered_eval.cli.app import run_app
from tiered_eval.ledger import book, files, writer
from tiered_eval.pacing import RateGate, SharedAllowance
from tiered_eval.providers.openai_batch import OpenAIBatches
from tiered_eval.records import JudgeStage
from tiered_eval.runner.services import open_services
from tiered_eval.testing.builders import make_case, make_expectation

CLAIMS = ("Is polite", "Names a date", "Promises nothing", "Is short")
numbers, steps, die_at, trace = itertools.count(1), 0, None, None

def reach(step):
    """Pass a step of the journal, or die before it."""
    global steps
    steps = number = next(numbers)  # two threads pass steps, and each has a number of its own
    if trace is not None:
        os.write(trace, f"{number} {step}\n".encode())
    if die_at in {number, step}:
        os.kill(os.getpid(), signal.SIGKILL)

def kind_of(statement):
    """A statement without its values; of what it adds to a sum, the sign is told."""
    text = re.sub(r"'[^']*'", "?", " ".join(statement.split()))
    text = re.sub(r"(?<=\+ )(-?)[1-9]\d*", r"\1n", text)
    text = re.sub(r"(?<![\w?-])(?<!\+ )-?\d+\b", "?", text)
    return re.sub(r"(\?, ?)+(?=\?)", "", text)[:200]

def watched(connect):
    def connect_watched(path, *, for_reading=False):
        connection = connect(path, for_reading=for_reading)
        if not for_reading:
            connection.set_trace_callback(lambda statement: reach(kind_of(statement)))
        return connection
    return connect_watched

def around(owner, name, step):
    """Pass a step before and after a function."""
    inner = getattr(owner, name)
    def before_and_after(*args, **more):
        reach(f"before {step}")
        got = inner(*args, **more)
        reach(f"after {step}")
        return got
    setattr(owner, name, before_and_after)

def around_async(owner, name, step):
    inner = getattr(owner, name)
    async def before_and_after(*args, **more):
        reach(f"before {step}")
        got = await inner(*args, **more)
        reach(f"after {step}")
        return got
    setattr(owner, name, before_and_after)

files.connect = watched(files.connect)
around(book, "write_witness", "witness")
around(os, "replace", "replacement")
around(writer.Writer, "_write", "commit")
around_async(Attempts, "_send", "call")
around_async(OpenAIBatches, "submit", "submission")
around_async(OpenAIBatches, "poll", "look")

async def short(seconds):
    await asyncio.sleep(min(seconds, 0.02))

def setting(name, value):
    if name == "chain":
        return tuple(JudgeStage(**stage) for stage in value)
    return Decimal(value) if name.endswith("_usd") else value

async def main(options):
    cases = [
        make_case(
            f"Answer number {number} of the desk.",
            *(make_expectation("requirement", claim, id=claim) for claim in CLAIMS[: options["claims"]]),
            id=f"case-{number}",
        )
        for number in options["cases"]
    ]
    config = RunConfig(
        embedder="none", home=Path(options["home"]), gate="partial>=0",
        **{name: setting(name, value) for name, value in options["config"].items()},
    )
    clock = {"now": lambda: datetime.fromisoformat(options["at"])} if options["at"] else {}
    services = await open_services(config, run=options["run"], suite=options["suite"], deadline=None, sleep=short, **clock)
    try:
        report = await evaluate(cases, config, services=services)
    finally:
        await services.aclose()
    states = {
        f"{verdict.case_id} {verdict.expectation_id}": verdict.failure.type if verdict.failure else verdict.state
        for result in report.results for verdict in result.verdicts
    }
    print(report)  # searched for keys
    print(json.dumps({"states": states, "steps": steps, "exit_code": report.exit_code}))

def live(options):
    global die_at, trace
    die_at = options["die_at"]
    os.environ.update(options["environment"])
    for number, path in ((1, options["out"]), (2, options["err"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if options["trace"]:
        trace = os.open(options["trace"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    logging.basicConfig(level=logging.DEBUG, filename=options["log"])
    code = 1
    try:
        if options["command"]:
            os.chdir(options["folder"])
            code = run_app(options["command"])
        else:
            asyncio.run(main(options))
            code = 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

children, heard = {}, b""
print("ready", flush=True)
while True:
    lines = []
    if select.select([0], [], [], 0.005 if children else None)[0]:
        told = os.read(0, 65_536)
        if not told:
            break
        *lines, heard = (heard + told).split(b"\n")
    for options in map(json.loads, lines):
        pid = os.fork()
        if pid == 0:
            live(options)
        children[pid] = options["number"]
        print(json.dumps({"number": options["number"], "pid": pid}), flush=True)
    for pid in list(children):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            print(json.dumps({"number": children.pop(pid), "code": code}), flush=True)
for pid in children:
    os.kill(pid, signal.SIGKILL)
'''


class Run:
    """One run that was started."""

    def __init__(self, out: Path, err: Path) -> None:
        self.pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Of its exit; negative where a signal ended it."""
        self._out, self._err = out, err

    async def signal(self, number: int, *, after_s: float) -> None:
        """Send a signal after a while, unless it has ended by then."""
        pid = await self.pid
        await asyncio.wait({self.code}, timeout=after_s)
        if not self.code.done():
            os.kill(pid, number)

    def words(self) -> str:
        """What it said on both streams."""
        return "".join(path.read_text(encoding="utf-8") for path in (self._out, self._err) if path.exists())

    async def result(self) -> dict[str, Any] | None:
        """What it found out; None where it was killed."""
        code = await asyncio.wait_for(asyncio.shield(self.code), 60)
        if code < 0:
            return None
        assert code == 0, self._err.read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(self._out.read_text(encoding="utf-8").splitlines()[-1])
        return found


class Nursery:
    """Starts runs. Use :func:`nursery`."""

    def __init__(self, zygote: subprocess.Popen[bytes], folder: Path) -> None:
        self._zygote = zygote
        self._folder = folder
        self._runs: dict[int, Run] = {}
        self._heard = b""

    async def start(
        self,
        *,
        home: Path,
        environment: dict[str, str],
        die_at: int | str | None = None,
        trace: Path | None = None,
        **more: Any,
    ) -> Run:
        """A run of cases with up to four requirements each; options of its configuration stand in ``config``.

        A trace has a line for each step that it passed, with its number and its kind; ``die_at`` is one of them.
        """
        number = next(_numbers)
        out, err = (self._folder / f"{number}.{stream}" for stream in ("out", "err"))
        run = self._runs[number] = Run(out, err)
        options = {
            "number": number,
            "home": str(home),
            "environment": {**PLANTED, **environment},
            "die_at": die_at,
            "out": str(out),
            "err": str(err),
            "log": str(out.with_suffix(".log")),
            "trace": str(trace or ""),
            "run": f"run-{number}",
            "suite": "desk",
            "cases": [0, 1],
            "claims": 4,
            "at": "",
            "config": {},
            "command": [],
            **more,
        }
        assert self._zygote.stdin is not None
        self._zygote.stdin.write(json.dumps(options).encode() + b"\n")
        self._zygote.stdin.flush()
        return run

    async def command(
        self, folder: Path, *arguments: str, environment: dict[str, str], **more: Any
    ) -> tuple[int, str]:
        """``tiered-eval`` with these arguments in a folder: its exit code, and what it said on both streams."""
        run = await self.start(
            home=folder, folder=str(folder), command=list(arguments), environment=environment, **more
        )
        return await asyncio.wait_for(asyncio.shield(run.code), 60), run.words()

    async def run(self, **options: Any) -> dict[str, Any] | None:
        """One run to its end; None where it was killed."""
        return await (await self.start(**options)).result()

    def hear(self) -> None:
        """Take in what the zygote says of its children."""
        assert self._zygote.stdout is not None
        *lines, self._heard = (self._heard + os.read(self._zygote.stdout.fileno(), 65_536)).split(b"\n")
        for told in map(json.loads, lines):
            run = self._runs.get(told["number"])  # None: a run of an earlier test that was given up
            if run is not None and "pid" in told:
                run.pid.set_result(told["pid"])
            elif run is not None:
                run.code.set_result(told["code"])


_numbers = itertools.count()


@pytest.fixture(scope="session")
def zygote() -> Iterator[subprocess.Popen[bytes]]:
    """The process that forks; what children say goes to files of their own."""
    with subprocess.Popen(
        [sys.executable, "-c", ZYGOTE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.stdin.close()  # it ends its children and itself


@asynccontextmanager
async def nursery(zygote: subprocess.Popen[bytes], folder: Path) -> AsyncIterator[Nursery]:
    """Starts runs whose words are written below ``folder``, where they are searched with the rest."""
    words = folder / "words"
    words.mkdir()
    assert zygote.stdout is not None
    runs, loop = Nursery(zygote, words), asyncio.get_running_loop()
    loop.add_reader(zygote.stdout.fileno(), runs.hear)
    try:
        yield runs
    finally:
        loop.remove_reader(zygote.stdout.fileno())
