"""`tiered-eval compare`: which runs it takes, what it prints, and its exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from paired_runs import case_of, report_of

from tiered_eval import RunConfig, evaluate_sync
from tiered_eval.calibration.comparison import compare_reports
from tiered_eval.cli.app import run_app
from tiered_eval.records import CaseResult, Report
from tiered_eval.reports import write
from tiered_eval.reports.kept import find_kept, keep, results_path, run_folder
from tiered_eval.results import ResultsFile
from tiered_eval.testing.builders import make_case, make_expectation


def kept(home: Path, run_id: str, results: list[CaseResult]) -> Report:
    """A run as ``tiered-eval run`` keeps it."""
    report = report_of(run_id, results)
    folder = run_folder(home, run_id)
    with ResultsFile(results_path(folder)) as file:
        for result in results:
            file.append(result)
    keep(report, folder)
    return report


def cases(states: str) -> list[CaseResult]:
    return [case_of(f"c{n}", states, index=n) for n in range(30)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two kept runs: an earlier one in which all passed, and the last, in which a third broke."""
    kept(tmp_path, "20260101T000000-aaaaaa", cases("ppp"))
    kept(tmp_path, "20260102T000000-bbbbbb", cases("ppf"))
    return tmp_path


def test_a_regression_ends_with_1_and_names_what_broke(home: Path, capsys: pytest.CaptureFixture[str]):
    """The last run is compared with the named one, paired by case."""
    code = run_app(["compare", "20260101", "--home", str(home)])

    shown = capsys.readouterr().out
    assert code == 1
    assert shown.startswith("REGRESSION: partial changed by -0.333")
    assert "c0: 1.000 to 0.667, now failing: e2" in shown
    assert "over 30 pairs of cases" in shown


@pytest.mark.parametrize("runs", [["last"], ["last", "last"], ["20260102", "last"]])
def test_a_run_is_not_compared_with_itself(runs: list[str], home: Path, capsys: pytest.CaptureFixture[str]):
    """A job that names the last run as its base would be green for ever."""
    assert run_app(["compare", *runs, "--home", str(home)]) == 2
    assert "both are the run 20260102T000000-bbbbbb" in capsys.readouterr().err


def test_the_other_way_round_is_better(home: Path, capsys: pytest.CaptureFixture[str]):
    """Compared with the worse run the better one passes."""
    assert run_app(["compare", "last", "20260101", "--home", str(home)]) == 0
    assert "better" in capsys.readouterr().out


def test_a_run_is_tied_with_its_like(home: Path, capsys: pytest.CaptureFixture[str]):
    """No difference is a tie and no regression."""
    kept(home, "20260103T000000-cccccc", cases("ppf"))

    assert run_app(["compare", "20260102", "last", "--home", str(home)]) == 0
    assert "tied" in capsys.readouterr().out


@pytest.mark.parametrize("names", [("bbbbbb", "aaaaaa"), ("aaaaaa", "bbbbbb")])
def test_the_last_of_two_runs_of_one_second_is_the_one_that_was_kept_last(
    names: tuple[str, str], tmp_path: Path
):
    """Their names tell the second only; what comes after it is drawn at random."""
    for at, name in enumerate(names):
        folder = run_folder(tmp_path, f"20260101T000000-{name}")
        report = keep(report_of(folder.name, cases("p")), folder)
        os.utime(report, (at, at))

    assert find_kept(tmp_path, "last").name.endswith(names[-1])


def test_a_larger_margin_accepts_the_drop(home: Path):
    """The margin is the drop that is not accepted any more."""
    assert run_app(["compare", "20260101", "--home", str(home), "--margin", "40%"]) == 0


def test_report_files_can_be_compared(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A report.json with its results inside, and results alone, are runs as well."""
    whole = write(report_of("whole", cases("ppp")), "json", tmp_path / "files")
    alone = tmp_path / "files" / "mine.jsonl"
    alone.write_bytes(results_path(home / "runs" / "20260102T000000-bbbbbb").read_bytes())

    assert run_app(["compare", str(whole), str(alone)]) == 1
    assert "how one of the runs was judged is not known" in capsys.readouterr().err


def test_json_for_programs(home: Path, capsys: pytest.CaptureFixture[str]):
    """One object with the verdict, every figure and the largest drops."""
    run_app(["compare", "20260101", "--home", str(home), "--json"])

    shown = json.loads(capsys.readouterr().out)

    assert (shown["state"], shown["exit_code"], shown["suite"]["label"]) == ("fail", 1, "worse")
    assert shown["worst"][0]["broken"] == ["e2"]


@pytest.mark.parametrize("run", ["nowhere", "2026"])
def test_a_run_that_is_not_one_ends_with_2(home: Path, run: str, capsys: pytest.CaptureFixture[str]):
    """No such run, or several that begin so: the message names those that there are."""
    assert run_app(["compare", run, "--home", str(home)]) == 2
    assert "20260102T000000-bbbbbb" in capsys.readouterr().err


def test_a_summary_without_its_results_ends_with_2(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Whoever kept the report and not the results beside it learns what is missing."""
    [folder, *_] = sorted((home / "runs").iterdir())
    alone = tmp_path / "report.json"
    alone.write_bytes((folder / "report.json").read_bytes())

    assert run_app(["compare", str(alone), "last", "--home", str(home)]) == 2
    assert "its results are not beside it" in capsys.readouterr().err


def test_a_damaged_file_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What is no report is refused with the name of the file."""
    file = tmp_path / "report.json"
    file.write_text("[1, 2]", encoding="utf-8")

    assert run_app(["compare", str(file), str(file)]) == 2
    assert "report.json is damaged" in capsys.readouterr().err


def test_runs_know_whether_the_response_changed(tmp_path: Path):
    """A real run notes a digest of each response, so an unchanged one is known to differ by nothing."""
    expectation = make_expectation("must-contain", "PK-1")
    config = RunConfig(home=tmp_path / "home", embedder="none")

    first, again, other = (
        evaluate_sync([make_case(text, expectation, id="q")], config).results[0].response_digest
        for text in ("PK-1 is late.", "PK-1 is late.", "PK-1 is early.")
    )

    assert first == again
    assert first != other


@pytest.mark.parametrize(("value", "unpaired"), [("PK-2", 1), ("PK-1", 0)])
def test_an_expectation_that_was_edited_is_not_compared(value: str, unpaired: int, tmp_path: Path):
    """Another value under the same id is another question: its answers make no pair."""
    config = RunConfig(home=tmp_path / "home", embedder="none")
    late = make_expectation("must-contain", "late", id="late")

    base, candidate = (
        evaluate_sync(
            [make_case("PK-1 is late.", late, make_expectation("must-contain", wanted, id="order"), id="q")],
            config,
        )
        for wanted in ("PK-1", value)
    )

    assert compare_reports(base, candidate).unpaired == unpaired
