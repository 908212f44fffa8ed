"""docs/scorers.md: each scorer has its part, with its names, its options, a loading example, and when it is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiered_eval.catalogue import CATALOGUE, ScorerInfo
from tiered_eval.suite import load_suite

PAGE = (Path(__file__).parent.parent / "docs" / "scorers.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
YAML = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_each_scorer_has_a_part_and_each_part_a_scorer():
    """The page and the table name the same scorers, in the same order."""
    assert list(PARTS) == [scorer.name for scorer in CATALOGUE]


@pytest.mark.parametrize("scorer", list(CATALOGUE), ids=lambda scorer: scorer.name)
def test_a_part_is_whole(scorer: ScorerInfo):
    """It names every other name and option, and says when the scorer is wrong."""
    part = PARTS[scorer.name]
    names = [*(alias.name for alias in scorer.aliases), *(option.name for option in scorer.options)]

    assert [name for name in names if f"`{name}`" not in part] == []
    assert "\nWrong when " in part
    assert scorer.example in part


@pytest.mark.parametrize("text", YAML.findall(PAGE))
def test_the_examples_load(text: str, tmp_path: Path):
    """Each block of YAML is entries of `expect:`."""
    indented = "".join(f"      {line}\n" for line in text.splitlines())
    head = "cases:\n  - id: q1\n    input: w\n    response: x\n    context: y\n    ground_truth: {expected_answers: [1]}\n    expect:\n"
    (tmp_path / "suite.yaml").write_text(head + indented)

    assert load_suite(tmp_path, allow_code=True).expectation_count
