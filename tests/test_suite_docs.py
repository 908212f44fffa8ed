"""docs/suites.md: its examples load, and it names everything that the code knows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tiered_eval.catalogue import CATALOGUE, KINDS
from tiered_eval.lint import RULES
from tiered_eval.suite import load_suite
from tiered_eval.suite.cases import CASE_NAMES
from tiered_eval.suite.settings import SUITE_NAMES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SOURCES = [*(ROOT / "tiered_eval" / "suite").glob("*.py"), ROOT / "tiered_eval" / "lint.py"]
RULE = re.compile(
    r"""(?:rule=|(?:report|BadValue|_refused)\(\s*|rule, fix = |rule, message, fix = )"([a-z]+(?:-[a-z0-9]+)*)\""""
)


def block(language: str, index: int) -> str:
    return [text for name, text in BLOCKS if name == language][index]


def of(language: str) -> range:
    return range(sum(name == language for name, _ in BLOCKS))


@pytest.mark.parametrize("index", of("yaml"))
def test_yaml_examples_load(index: int, tmp_path: Path):
    """Each YAML block is a suite, or the entries of `expect:`, and loads without a warning."""
    text = block("yaml", index)
    if text.startswith("- "):
        indented = "".join(f"      {line}\n" for line in text.splitlines())
        text = f"cases:\n  - id: q1\n    response: x\n    expect:\n{indented}"
    (tmp_path / "suite.yaml").write_text(text)

    suite = load_suite(tmp_path)

    assert suite.expectation_count
    assert suite.warnings == ()


def test_the_ways_to_write_one_are_one(tmp_path: Path):
    """The block that says so shows the same expectation three times."""
    text = next(text for name, text in BLOCKS if name == "yaml" and text.count("unit: days, weight: 2") == 3)
    indented = "".join(f"      {line}\n" for line in text.splitlines())
    (tmp_path / "suite.yaml").write_text(f"cases:\n  - id: q1\n    response: x\n    expect:\n{indented}")

    (case,) = load_suite(tmp_path).cases

    assert (
        len({(made.kind, made.values, made.weight, made.options["unit"]) for made in case.expectations}) == 1
    )


def test_the_json_suite_loads(tmp_path: Path):
    """The JSON example is a suite."""
    (tmp_path / "suite.json").write_text(block("json", 0))

    assert load_suite(tmp_path).case_count == 1


def test_the_responses_file_joins(tmp_path: Path):
    """The example of a responses file is one."""
    (tmp_path / "responses.json").write_text(block("json", 1))
    cases = [
        {"id": identity, "expect": [{"must-contain": "fee"}]} for identity in json.loads(block("json", 1))
    ]
    (tmp_path / "suite.json").write_text(json.dumps(cases))

    suite = load_suite(tmp_path, responses=tmp_path / "responses.json")

    assert [case.response for case in suite.cases] == ["PO-4471 is on net 45.", "Canberra."]


def test_the_table_loads(tmp_path: Path):
    """The CSV example is a suite of two cases."""
    (tmp_path / "suite.csv").write_text(block("csv", 0))

    suite = load_suite(tmp_path)

    assert (suite.case_count, suite.expectation_count) == (2, 4)


def test_the_python_suite_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The Python example yields two cases."""
    (tmp_path / "documented_suite.py").write_text(block("python", 0))
    monkeypatch.chdir(tmp_path)

    assert load_suite("documented_suite:cases", allow_code=True).case_count == 2


def test_every_name_is_documented():
    """Kinds, fields and settings all stand on the page, and so do the scorers that are routed, with their options."""
    scorers = [scorer for scorer in CATALOGUE if scorer.key_kind != "check"]
    options = {option.name for scorer in scorers for option in scorer.options}
    names = {*KINDS, *(scorer.name for scorer in scorers), *options, *CASE_NAMES, *SUITE_NAMES}

    assert not {name for name in names if f"`{name}`" not in PAGE and f"`{name}:`" not in PAGE} - {"cases"}


def test_every_rule_is_documented():
    """Each rule that the code can name stands on the page, and the page names no other."""
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    in_code = {*RULE.findall(source), *RULES}
    rows = re.findall(r"^\| (`.*?`) \|", PAGE[PAGE.index("## Rules") :], re.MULTILINE)
    on_page = {name for row in rows for name in re.findall(r"`(.*?)`", row)}

    assert len(in_code) > 50
    assert not in_code - on_page
    assert not {name for name in on_page if f'"{name}"' not in source}
