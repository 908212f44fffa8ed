"""The options of a run: where things are kept and found when nobody says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiered_eval.config import HOME_VARIABLE, RunConfig, home_for, recordings_for
from tiered_eval.records import Suite, SuiteSettings


def suite_at(path: Path, **settings: object) -> Suite:
    return Suite(name="s", cases=(), path=path, settings=SuiteSettings(**settings))  # type: ignore[arg-type]


def test_recordings_are_found_above_the_suite(tmp_path: Path):
    """A suite of a project replays the recordings of the project."""
    (tmp_path / "cache" / "recordings").mkdir(parents=True)
    (tmp_path / "examples" / "atlas").mkdir(parents=True)

    found = recordings_for(suite_at(tmp_path / "examples" / "atlas" / "suite.yaml"))

    assert found == tmp_path / "cache" / "recordings"


def test_the_nearest_recordings_win(tmp_path: Path):
    """Recordings beside the suite come before those of the project, and chosen ones before both."""
    suite = tmp_path / "examples" / "atlas"
    for folder in (tmp_path, suite):
        (folder / "cache" / "recordings").mkdir(parents=True)

    assert recordings_for(suite_at(suite)) == suite / "cache" / "recordings"
    assert recordings_for(suite_at(suite), chosen=tmp_path / "mine") == tmp_path / "mine"


@pytest.mark.parametrize("named", [True, False])
def test_the_home_is_beside_the_suite_or_where_the_variable_points(
    named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The environment names one home for all suites; without it each suite has its own."""
    monkeypatch.delenv(HOME_VARIABLE, raising=False)
    if named:
        monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "elsewhere"))

    home = home_for(suite_at(tmp_path / "suite.yaml"))

    assert home == tmp_path / ("elsewhere" if named else ".tiered_eval")


def test_what_the_caller_chose_wins_over_the_suite(tmp_path: Path):
    """A suite's own settings are taken only where the caller said nothing."""
    suite = suite_at(tmp_path, judges=("openai:a",), gate="partial>=0.9", budget_s=60.0)

    merged = RunConfig(judges=("openai:b",), max_time_s=5.0).merged_with(suite)

    assert merged.judges == ("openai:b",)
    assert merged.max_time_s == 5.0
    assert merged.gate == "partial>=0.9"
