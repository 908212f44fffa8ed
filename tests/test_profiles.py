"""Thresholds by source and kind: what a profile answers, and what it refuses to hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile, load_profile


def write(folder: Path, thresholds: object) -> Path:
    path = folder / "mine.json"
    path.write_text(json.dumps({"name": "mine", "thresholds": thresholds}), encoding="utf-8")
    return path


def test_the_shipped_profile_knows_coverage():
    """Coverage has a threshold for statements without any set-up."""
    threshold = load_profile().threshold("coverage", "must-contain")

    assert threshold is not None
    assert 0.9 <= threshold <= 1.0


def test_an_unknown_embedder_has_no_threshold():
    """An embedder that nobody measured gets no number that was meant for another."""
    assert load_profile().threshold("python:mine:embed", "must-contain") is None


def test_an_unmeasured_kind_has_no_threshold():
    """A kind without an entry climbs, even for a known source."""
    profile = Profile(name="p", thresholds={"coverage": {"must-contain": 0.9}})

    assert profile.threshold("coverage", "rubric") is None


def test_a_star_holds_for_every_other_kind():
    """An entry of its own wins over the star."""
    profile = Profile(name="p", thresholds={"local": {"*": 0.9, "equivalent": 0.8}})

    assert profile.threshold("local", "must-contain") == 0.9
    assert profile.threshold("local", "equivalent") == 0.8


def test_a_file_of_the_user_is_read(tmp_path: Path):
    """A user's own thresholds replace the shipped ones."""
    profile = load_profile(write(tmp_path, {"coverage": {"must-contain": 0.5}}))

    assert profile.name == "mine"
    assert profile.threshold("coverage", "must-contain") == 0.5


@pytest.mark.parametrize(
    ("value", "why"),
    [(1.5, "above 1"), (-0.1, "below 0"), (float("nan"), "not a number"), (True, "a flag"), ("0.9", "text")],
)
def test_a_threshold_that_is_no_share_is_refused(tmp_path: Path, value: object, why: str):
    """A wrong threshold is named with its place, and never used."""
    path = write(tmp_path, {"coverage": {"must-contain": value}})

    with pytest.raises(ConfigError, match=r"thresholds\.coverage\.must-contain"):
        load_profile(path)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"thresholds": []}', '{"thresholds": {"coverage": 1}}', "{" * 9000]
)
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, text: str):
    """Anything but the documented form is a configuration error."""
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError):
        load_profile(path)


def test_a_missing_file_is_named(tmp_path: Path):
    """The message says which file was asked for."""
    with pytest.raises(ConfigError, match=r"absent\.json"):
        load_profile(tmp_path / "absent.json")
