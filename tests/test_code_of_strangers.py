"""A stranger's pull request, scored in CI: without --allow-code no command runs anything of it, wherever it is planted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tiered_eval import load_suite
from tiered_eval.cli.app import run_app
from tiered_eval.errors import SuiteError

PLANTED = "open({mark!r}, 'a').close()\nimport tiered_eval\n\n@tiered_eval.scorer()\ndef mine(response): return True\n\nHOOKS = {{'hook': str.strip}}\nSCORERS = {{'other': mine}}\n"
NAMES = ("checks", "__init__", "conftest", "json", "scorers", "setup", "sitecustomize", "tiered_eval", "yaml")
"""Files that something might import: those that a suite names, and those that shadow others or are run by themselves."""

EXPECT = {
    "a name that may be in the folder": "expect: [mine]",
    "a negation of one": "expect: [not-mine]",
    "a function of a file of the folder": "expect: ['checks:mine']",
    "a function of a file beside the suite": "expect: [{python: 'checks:mine'}]",
    "a scorer that is pinned": "expect: [{must-contain: hi, scorer: mine}]",
    "one that ships": "expect: [must-contain: hello]",
    "a hook of a case": "post_process: hook\n    expect: [must-contain: hello]",
    "a hook of an expectation": "expect: [{must-contain: hello, pre_judge: hook}]",
}
BESIDE = {
    "a hook": "pre_judge: 'checks:mine'",
    "a hook in the defaults": "defaults: {must-contain: {post_process: hook}}",
    "a scorer in the defaults": "defaults: {scorer: mine}",
    "options of a scorer in the defaults": "defaults: {mine: {weight: 2}}",
    "an embedder": "embedder: 'python:checks:mine'",
    "a scorecard": "scorecard: {dimensions: {tone: {weight: 1, scorer: mine}}}",
    "responses": "responses: 'checks:mine'",
}
COMMANDS = [
    ["run", "SUITE", "--offline", "--quiet"],
    ["plan", "SUITE"],
    ["lint", "SUITE", "--mutate"],
    ["export", "--suite", "SUITE", "-o", "sheet.csv"],
    ["label", "--suite", "SUITE"],
    ["scorers", "--suite", "SUITE"],
    ["cache", "record", "SUITE"],
    ["calibrate", "SUITE"],
    ["compare", "SUITE", "SUITE"],
    ["show", "SUITE"],
    ["import-suite", "SUITE", "-o", "imported"],
]


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with code wherever somebody might run it, and the working folder."""
    checkout = tmp_path / "checkout"
    (checkout / "scorers").mkdir(parents=True)
    for folder in (checkout, checkout / "scorers"):
        for name in NAMES:
            (folder / f"{name}.py").write_text(PLANTED.format(mark=str(tmp_path / "was-run")))
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("TIERED_EVAL_HOME", str(tmp_path / "home"))
    return checkout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_command_runs_anything_of_it(
    strange: Path, capsys: pytest.CaptureFixture[str], command: list[str]
):
    """Nor does one leave the path changed, or a compiled file in the checkout."""
    path = list(sys.path)
    variants = [("", expect) for expect in EXPECT.values()]
    variants += [(beside, EXPECT["one that ships"]) for beside in BESIDE.values()]
    for beside, expect in variants:
        suite = strange / "suite.yaml"
        suite.write_text(f"{beside}\ncases:\n  - id: q1\n    response: hello\n    {expect}\n")

        run_app([str(suite) if part == "SUITE" else part for part in command])

        assert not (strange.parent / "was-run").exists(), (beside, expect)
    assert sys.path == path
    assert not list(strange.rglob("__pycache__"))


@pytest.mark.parametrize(
    "embedder", ["python:subprocess:run", "Python:os:system", "sentence-transformers:./model"]
)
def test_an_embedder_that_runs_code_must_be_allowed(tmp_path: Path, embedder: str):
    """`python:subprocess:run` would start whatever an expectation says, and a model's folder may hold Python files."""
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        f"embedder: {embedder!r}\ncases: [{{id: q, response: x y, expect: [semantic: touch]}}]\n"
    )

    with pytest.raises(SuiteError, match="--allow-code") as caught:
        load_suite(suite)

    assert [problem.rule for problem in caught.value.problems] == ["code-not-allowed"]
    assert load_suite(suite, allow_code=True).settings.embedder == embedder


@pytest.mark.parametrize("embedder", ["local:", "none", "openai:text-embedding-3-small"])
def test_other_embedders_need_no_permission(tmp_path: Path, embedder: str):
    """They run nothing that the suite brings."""
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        f"embedder: {embedder!r}\ncases: [{{id: q, response: x y, expect: [semantic: touch]}}]\n"
    )

    assert load_suite(suite).settings.embedder == embedder
