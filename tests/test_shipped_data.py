"""Data that others made ships with its notice and its licence."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLES = ROOT / "tiered_eval" / "text" / "data"
LICENCE = TABLES / "WORDNET-LICENSE.txt"


@pytest.mark.parametrize("table", sorted({*TABLES.glob("*.txt")} - {LICENCE}), ids=lambda path: path.name)
def test_a_table_opens_with_its_makers_notice(table: Path):
    """Every word table names WordNet, its copyright and the file with its licence, in the first line."""
    with table.open(encoding="utf-8") as lines:
        first = next(lines)

    assert first.startswith("# Derived from WordNet 3.0, Copyright 2006 by Princeton University")
    assert LICENCE.name in first


def test_the_licence_is_named_where_packagers_look():
    """The licence of the word tables is among the licence files of the distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert str(LICENCE.relative_to(ROOT)) in project["license-files"]


def test_the_design_credits_every_source():
    """Whoever made labels that the shipped design was fitted on is named beside it, with the licence, in the wheel as well."""
    data = ROOT / "tiered_eval" / "calibration" / "data"
    credits = data / "DESIGN-SOURCES.txt"
    text = credits.read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    sources = json.loads((data / "design.json").read_text(encoding="utf-8"))["sources"]

    assert all(source in text for source in sources)
    assert "https://creativecommons.org/licenses/by/4.0/" in text
    assert str(credits.relative_to(ROOT)) in project["license-files"]
    assert credits.name in (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")


def test_the_documentation_says_whose_words_they_are():
    """A reader of the scorers' page learns where the tables come from."""
    assert "WordNet 3.0" in (ROOT / "docs" / "scorers.md").read_text(encoding="utf-8")
