"""``tiered-eval run --gate-against``: the real command over a judge on this machine."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_reports_schema import SCHEMA, faults

from tiered_eval.cli.app import run_app
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

CASES = 60


class Judge:
    """A judge in a thread of its own. ``pass_share`` may be changed between runs, or after so many more calls."""

    def __init__(self, server: LoopbackServer) -> None:
        self._server = server

    @property
    def calls(self) -> int:
        return len(self._server.log)

    def passes(self, share: float) -> None:
        self._server.settings = replace(self._server.settings, pass_share=share)

    def changes_its_mind(self, *, after: int, share: float) -> None:
        """Pass ``share`` of all questions that come after so many more."""
        record, last = self._server.record, self.calls + after

        def recorded(call: Any) -> None:
            record(call)
            if self.calls >= last:
                self.passes(share)

        self._server.record = recorded  # type: ignore[method-assign]  # a mood that the server does not have


@contextmanager
def served() -> Iterator[LoopbackServer]:
    started: list[LoopbackServer] = []
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with serve_loopback(
            LoopbackSettings(input_price_pico=1_000_000, output_price_pico=1)
        ) as server:
            started.append(server)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield started[0]
    finally:
        over.set()
        thread.join()


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "TIERED_EVAL_HOME"):
        monkeypatch.delenv(name, raising=False)
    with served() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-nobody")
        yield Judge(server)


@pytest.fixture
def suite(tmp_path: Path) -> Callable[..., Path]:
    """Writes a suite in which the responses after the first ``same`` ones are of another ``version``."""

    def write(version: str = "first", *, same: int = 0, cases: int = CASES, name: str = "desk") -> Path:
        made = [
            {
                "id": f"case-{number}",
                "response": f"Order PO-{number:04} has left the house, says the {'first' if number < same else version} draft.",
                "expect": [
                    {"requirement": "Says where the order is", "id": "where", "dimension": "facts"},
                    {"must-contain": {"value": f"PO-{number:04}", "scorer": "exact"}, "id": "order"},
                ],
            }
            for number in range(cases)
        ]
        path = tmp_path / "suite.json"
        path.write_text(json.dumps({"name": name, "cases": made}), encoding="utf-8")
        return path

    return write


def run(suite: Path, *options: str, quiet: bool = True) -> int:
    """The command with a judge, its price, and no embedder."""
    fixed = ("--judge", "openai:desk", "--price", "openai:desk=1,5", "--embedder", "none", "--pack", "never")
    return run_app(["run", str(suite), *fixed, *(["-q"] if quiet else []), *options])


def last_report(suite: Path) -> dict[str, Any]:
    kept = (suite.parent / ".tiered_eval" / "runs").glob("*/report.json")
    report: dict[str, Any] = json.loads(max(kept, key=lambda path: path.stat().st_mtime_ns).read_text())
    return report


def test_identical_responses_cost_no_call(judge: Judge, suite: Callable[..., Path], tmp_path: Path):
    """Nothing changed: no call is made, even in another home, and each verdict is the base's and says so."""
    path = suite()
    assert run(path) == 0
    before = judge.calls

    code = run(path, "--gate-against", str(tmp_path / ".tiered_eval/runs"), "--home", str(tmp_path / "b"))
    assert code == 2  # a folder without a run

    base = next((tmp_path / ".tiered_eval/runs").iterdir())
    code = run(
        path,
        "--gate-against",
        str(base),
        "--home",
        str(tmp_path / "b"),
        "--report",
        "json",
        "-o",
        str(tmp_path / "out"),
    )

    report = json.loads((tmp_path / "out/report.json").read_text())
    assert (code, judge.calls) == (0, before)
    assert report["counts"]["passed"] == 2 * CASES
    assert (report["against"]["same"], report["against"]["taken_over"]) == (CASES, CASES)
    verdict = report["results"][3]["verdicts"][0]
    assert verdict["trail"][-1]["reason"].startswith(f"same response as in base {base.name}: ")
    assert faults(report, SCHEMA) == []


def test_changed_responses_that_are_as_good_end_early(judge: Judge, suite: Callable[..., Path]):
    """No drop: 0, with a part of the changed cases judged, and the rest said to be not needed."""
    path = suite(cases=200)
    assert run(path) == 0
    before = judge.calls

    code = run(suite("second", cases=200), "--gate-against", last_report(path)["run_id"])

    report = last_report(path)
    assert code == 0
    assert report["against"]["state"] == "pass"
    assert report["against"]["is_early"]
    assert judge.calls - before == report["against"]["judged"] < 200
    assert report["leftovers"] == {"not-needed": 200 - report["against"]["judged"]}
    assert report["gate"]["state"] == "met"


def test_a_regression_is_red_and_stays_so_in_compare(
    judge: Judge, suite: Callable[..., Path], capsys: pytest.CaptureFixture[str]
):
    """Half of the verdicts broke, and break again when asked again: 1, from the run and from compare."""
    assert run(suite(cases=200)) == 0
    base = last_report(suite(cases=200))["run_id"]
    before = judge.calls
    judge.passes(0.5)

    code = run(suite("second", cases=200), "--gate-against", base, quiet=False)
    shown = capsys.readouterr().out

    report = last_report(suite("second"))
    against = report["against"]
    assert code == 1
    assert (report["gate"]["state"], against["state"]) == ("not-met", "fail")
    assert {one["state"] for one in against["asked_again"]} == {"fail"}
    assert judge.calls - before == against["judged"] + len(against["asked_again"]) < 200
    assert "against" in shown
    home = suite("second").parent / ".tiered_eval"
    assert run_app(["compare", base, last_report(suite())["run_id"], "--home", str(home)]) == 1
    assert against["reason"] in capsys.readouterr().out


def test_a_mood_of_the_judge_is_not_red(judge: Judge, suite: Callable[..., Path]):
    """What the judge takes back when it is asked again is a flake and no regression, in compare as well."""
    path = suite(cases=30)
    assert run(path) == 0
    base = last_report(path)["run_id"]
    judge.passes(0.5)
    judge.changes_its_mind(after=30, share=1.0)

    code = run(suite("second", cases=30), "--gate-against", base)

    against = last_report(path)["against"]
    assert code == 0
    assert against["flaky"] == len(against["asked_again"]) > 5
    assert (
        run_app(
            ["compare", base, last_report(suite())["run_id"], "--home", str(path.parent / ".tiered_eval")]
        )
        == 0
    )


def test_money_that_ends_leaves_it_undecided(judge: Judge, suite: Callable[..., Path]):
    """A cap for a few calls cannot show that nothing dropped: 4."""
    path = suite()
    assert run(path) == 0

    code = run(suite("second"), "--gate-against", last_report(path)["run_id"], "--max-cost", "0.005")

    report = last_report(path)
    assert code == 4
    assert report["against"]["state"] == "undecided"
    assert report["leftovers"]["budget"] > 0


def test_a_gate_of_its_own_has_everything_judged(judge: Judge, suite: Callable[..., Path]):
    """With a gate on the figure as well both must hold, and nothing is left out."""
    path = suite()
    assert run(path) == 0
    base = last_report(path)["run_id"]

    met = run(suite("second", same=20), "--gate-against", base, "--gate", "partial>=0.9")
    full = last_report(path)
    judge.passes(0.9)
    not_met = run(
        suite("third", same=20), "--gate-against", base, "--gate", "partial>=0.99", "--margin", "0.5"
    )

    assert (met, not_met) == (0, 1)
    assert full["leftovers"] == {}
    assert (full["against"]["judged"], full["against"]["taken_over"]) == (CASES - 20, 20)
    assert full["gate"]["expression"] == f"partial>=0.9 and no drop of 0.03 against {base}"
    assert last_report(path)["against"]["state"] == "pass"


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("nowhere.json", "no run is kept"),
        ("damaged.json", "is damaged"),
        ("other-suite.json", "is a run of the suite"),
        ("no-common-case.json", "no case in common"),
        ("damaged-results.json", "damaged"),
        ("summary-only.json", "its results are not beside it"),
        ("twice.json", "twice"),
        ("report.json.gz", "compressed"),
    ],
)
def test_a_wrong_base_ends_with_2_before_a_call(
    base: str,
    said: str,
    judge: Judge,
    suite: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    """Missing, damaged, incomplete, of another suite, or with nothing in common: said in words, and nothing is spent."""
    path = suite(cases=3)
    assert run(path, "--report", "json", "-o", str(tmp_path / "out")) == 0
    good = json.loads((tmp_path / "out/report.json").read_text())
    written = {
        "damaged.json": {"schema_version": 1},
        "other-suite.json": {**good, "suite": "another"},
        "no-common-case.json": {
            **good,
            "results": [{**one, "case_id": f"x{one['case_id']}"} for one in good["results"]],
        },
        "damaged-results.json": {**good, "results": [{"index": 0}]},
        "summary-only.json": {name: value for name, value in good.items() if name != "results"},
        "twice.json": {**good, "results": [*good["results"], good["results"][0]]},
    }
    (tmp_path / "report.json.gz").write_bytes(gzip.compress(json.dumps(good).encode()))
    for name, content in written.items():
        (tmp_path / name).write_text(json.dumps(content))
    before = judge.calls
    capsys.readouterr()

    home = tmp_path / "fresh"
    code = run(suite("second", cases=3), "--gate-against", str(tmp_path / base), "--home", str(home))

    assert (code, judge.calls) == (2, before)
    assert said in capsys.readouterr().err
    assert not list(home.glob("runs/*/*"))


def test_a_base_that_nobody_named_is_refused(
    judge: Judge, suite: Callable[..., Path], capsys: pytest.CaptureFixture[str]
):
    """As where a variable of the CI job is empty."""
    assert run(suite(cases=3), "--gate-against", "") == 2
    assert "no run is named" in capsys.readouterr().err
    assert judge.calls == 0


def test_no_margin_reads_as_what_it_is(judge: Judge, suite: Callable[..., Path]):
    """Any drop is a regression, and that is how it is said."""
    path = suite(cases=5)
    assert run(path) == 0
    judge.passes(0.0)

    assert run(suite("second", same=4, cases=5), "--gate-against", "last", "--margin", "0") == 1
    gate = last_report(path)["gate"]
    assert gate["expression"].startswith("no drop at all against ")
    assert gate["reason"] == "partial changed by -0.100; any drop is a regression"


def test_a_margin_without_a_base_is_refused(suite: Callable[..., Path], capsys: pytest.CaptureFixture[str]):
    """A margin alone would be a gate that nobody looks at."""
    assert run(suite(cases=3), "--margin", "0.1") == 2
    assert "--gate-against" in capsys.readouterr().err
