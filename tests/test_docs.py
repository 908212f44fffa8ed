"""Documentation that cannot go stale: named tests exist, examples run, public names are explained."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import tiered_eval
from tiered_eval.cli.app import app

ROOT = Path(__file__).parent.parent
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "cache").glob("*.md")])
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED_TEST = re.compile(r"`(test_\w+\.py)::(test_\w+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def examples(name: str) -> list[str]:
    return PYTHON.findall((ROOT / name).read_text(encoding="utf-8"))


@cache
def functions_in(file: str) -> set[str]:
    """The names of all functions of a test file; pages name some files a hundred times."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize(("page", "least"), [("promises.md", 20), ("calibration.md", 20)])
def test_promises_name_tests_that_exist(page: str, least: int):
    """Every test that a page names for what it promises is there."""
    named = NAMED_TEST.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    missing = [f"{file}::{test}" for file, test in named if test not in functions_in(file)]

    assert len(named) > least
    assert not missing


@pytest.mark.parametrize("name", ["README.md", "docs/library.md"])
def test_python_examples_run(name: str, tmp_path: Path):
    """Each Python example of a page runs as it stands, in an empty folder."""
    found = examples(name)
    assert found
    for code in found:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )

        assert done.returncode == 0, done.stderr


def test_the_readme_example_passes_everything(tmp_path: Path):
    """The ten lines of the README print what a reader expects of them."""
    [code] = examples("README.md")

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )

    assert done.stdout.strip() == "3 of 3 passed, $0.00 spent"


def test_public_names_are_explained():
    """Every name that the package exports appears in docs/library.md."""
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")

    assert [name for name in tiered_eval.__all__ if f"`{name}" not in text] == []


def test_public_names_are_there():
    """Every exported name can be imported, and the list is sorted."""
    assert tiered_eval.__all__ == sorted(tiered_eval.__all__)
    for name in tiered_eval.__all__:
        assert getattr(tiered_eval, name) is not None


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    """Links between pages lead to files that exist."""
    dead = [
        target
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not target.startswith("http") and not (page.parent / target).exists()
    ]

    assert not dead


def test_the_commands_of_a_pipeline_can_be_read():
    """What the page for CI jobs says is taken by the command line as it stands."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    commands = [
        shlex.split(line) for line in re.findall(r"(?<!`)tiered-eval ([a-z]+.*)$", page, re.MULTILINE)
    ]

    assert {name for name, *_ in commands} >= {"lint", "plan", "run", "spend"}
    # Below the program, since a command remembers by which names it was first asked for help.
    program = app.make_context("tiered-eval", ["run"])
    for name, *arguments in commands:
        app.commands[name].make_context(name, arguments, parent=program)
