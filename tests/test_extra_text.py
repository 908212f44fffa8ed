"""The extra ``text``: what a suite is told where the packages of a scorer are not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scoring import state
from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import ConfigError
from tiered_eval.profiles import load_profile
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers import load_scorer
from tiered_eval.suite import references
from tiered_eval.text.subject import Subject

NEEDY = [scorer for scorer in CATALOGUE if scorer.packages]
ENTRIES = {
    "is-json": "is-json: {type: object}",
    "contains-json": "contains-json: {type: object}",
    "is-sql": "is-sql",
    "levenshtein": "levenshtein: Kind regards",
    "fuzzy-string": "fuzzy-string: Northline Logistics",
    "rouge": "rouge: due in 45 days",
    "bleu": "bleu: due in 45 days",
}
"""An entry of each scorer that needs a package."""
COMMAND = """
import sys
for name in {names!r}: sys.modules[name] = None
from tiered_eval.cli import main
main(["run", {suite!r}])
"""


def test_a_run_is_refused_that_could_not_compute(tmp_path: Path):
    """Exit code 2 before anything runs, and a message for each scorer that names it and what to install."""
    suite = tmp_path / "suite.yaml"
    entries = "".join(f"      - {entry}\n" for entry in ENTRIES.values())
    suite.write_text(f"cases:\n  - id: q1\n    response: x\n    expect:\n{entries}")
    names = sorted({name for scorer in NEEDY for name in scorer.packages})

    done = subprocess.run(
        [sys.executable, "-c", COMMAND.format(names=names, suite=str(suite))],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )

    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    assert set(ENTRIES) == {scorer.name for scorer in NEEDY}
    assert [name for name in ENTRIES if f"{name} needs the package" not in said] == []
    assert said.count("pip install 'tiered-eval[text]'") >= len(ENTRIES)


def test_what_needs_no_package_runs_without(monkeypatch: pytest.MonkeyPatch):
    """JSON without a schema is read by ourselves."""
    monkeypatch.setattr(references, "_is_installed", lambda name: False)

    assert state("is-json", "{}") == "pass"


DIRECT = [
    ("levenshtein", "x", "rapidfuzz.distance.Levenshtein", "levenshtein needs the package rapidfuzz"),
    ("is-sql", None, "sqlglot", "is-sql needs the package sqlglot"),
    ("is-json", {"title": "not compiled yet"}, "jsonschema", "a JSON Schema needs the package jsonschema"),
]


@pytest.mark.parametrize(("name", "value", "module", "said"), DIRECT)
def test_a_scorer_that_is_called_says_the_same(
    name: str, value: Any, module: str, said: str, monkeypatch: pytest.MonkeyPatch
):
    """Past the loader there is no verdict either."""
    monkeypatch.setitem(sys.modules, module, None)
    scorer: Any = load_scorer(name, load_profile())
    expectation = Expectation(id="e", kind="check", scorer=name, values=(value,))
    case = Case(id="c", response="SELECT 1", expectations=(expectation,))

    with pytest.raises(ConfigError, match=rf"{said}.*tiered-eval\[text\]"):
        scorer.check(value, expectation, Subject(case))
