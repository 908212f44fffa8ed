"""Installed packages that bring scorers: a broken one is the matter of those who name its scorer, and of nobody else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tiered_eval import load_suite
from tiered_eval.cli.app import run_app
from tiered_eval.errors import SuiteError
from tiered_eval.suite.own_scorers import own_catalogue

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts packages with these entry points and modules where installed ones lie."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    before = set(sys.modules)

    def put(package: str, points: str, **modules: str) -> None:
        info = site / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[tiered_eval.scorers]\n{points}\n")
        for name, text in modules.items():
            (site / f"{name}.py").write_text(dedent(text))

    put(
        "wholesome",
        "brief = brief_checks:brief",
        brief_checks="def brief(response): return len(response) < 9",
    )
    yield put
    for name in set(sys.modules) - before:
        if name.endswith("_checks"):
            del sys.modules[name]


def suite(folder: Path, name: str) -> Path:
    path = folder / "suite.yaml"
    path.write_text(f"cases: [{{id: q1, response: short, expect: [{name}]}}]\n")
    return path


BROKEN = [
    ("other = no_such_checks:f", "", "cannot be imported", "its module is not there"),
    ("other = bad_checks:f", "raise ValueError('no luck')", "no luck", "its module raises"),
    ("other = bad_checks:f", "raise SystemExit(0)", "SystemExit", "its module ends the program"),
    ("other = bad_checks:f", "f = 3", "neither a function nor a class", "it names no function"),
    ("other = bad_checks:f", "", "has no f", "there is no such function"),
    ("other = bad_checks", "", "module:function", "it names a module only"),
    ("other =", "", "module:function", "it names nothing"),
    ("other", "", "cannot be read", "the list of entry points is none"),
    ("exact = bad_checks:f", "def f(response): return True", "ships", "its name is taken"),
    ("not-brief = bad_checks:f", "def f(response): return True", "not-", "it looks like a negation"),
]


@pytest.mark.parametrize(("points", "code", "told", "why"), BROKEN)
def test_a_broken_package_is_named_and_the_others_are_listed(
    install: Install, capsys: pytest.CaptureFixture[str], points: str, code: str, told: str, why: str
):
    """Whoever looks for a scorer may need another one."""
    install("sickly", points, bad_checks=code)

    assert run_app(["scorers"]) == 0

    shown = capsys.readouterr()
    assert "brief_checks:brief of the installed package wholesome" in shown.out
    assert "sickly" in shown.err
    assert told in shown.err


@pytest.mark.parametrize(("points", "code", "told", "why"), BROKEN)
def test_a_run_that_does_not_use_it_does_not_care(
    tmp_path: Path, install: Install, points: str, code: str, told: str, why: str
):
    """A suite is not wrong because somebody else's package is."""
    install("sickly", points, bad_checks=code)

    assert load_suite(suite(tmp_path, "brief")).expectation_count == 1


@pytest.mark.parametrize(("points", "code", "told", "why"), BROKEN[:5])
def test_whoever_names_it_is_told_why_it_cannot_be_had(
    tmp_path: Path, install: Install, points: str, code: str, told: str, why: str
):
    """With the package that it is of."""
    install("sickly", points, bad_checks=code)

    with pytest.raises(SuiteError, match=told) as caught:
        load_suite(suite(tmp_path, "other"))
    assert "sickly" in str(caught.value)


def test_two_packages_with_one_name_are_the_matter_of_that_name(tmp_path: Path, install: Install):
    """Which of them was meant nobody can know; all other names are as they were."""
    install("first", "other = a_checks:f", a_checks="def f(response): return True")
    install("second", "other = b_checks:f", b_checks="def f(response): return False")

    assert load_suite(suite(tmp_path, "brief")).expectation_count == 1
    with pytest.raises(SuiteError, match=r"installed package first.*installed package second"):
        load_suite(suite(tmp_path, "other"))
    assert len(own_catalogue().read_everything()) == 1


def test_what_lies_in_the_working_folder_is_not_installed(tmp_path: Path):
    """`python -m` looks there first, and a stranger's pull request may bring what looks like an installed package."""
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tiered_eval.scorers]\nwell-meant = strange:f\n")
    (tmp_path / "strange.py").write_text("open('was-run', 'w').close()\n")
    path = suite(tmp_path, "well-meant")

    done = subprocess.run(
        [sys.executable, "-m", "tiered_eval", "lint", str(path)],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )

    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "was-run").exists()
