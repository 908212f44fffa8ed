"""docs/custom-scorers.md and the example that it quotes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from tiered_eval import RunConfig, evaluate_sync, load_suite, scorer
from tiered_eval.catalogue.declaring import GIVEN
from tiered_eval.errors import SuiteError

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "custom-scorers.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "own_scorers"
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_passes(tmp_path: Path):
    """Every expectation of it, without a model."""
    config = RunConfig(home=tmp_path / "home", mode="offline", embedder="none")

    report = evaluate_sync(load_suite(EXAMPLE, allow_code=True), config)

    assert [one.reason for result in report.results for one in result.verdicts if one.state != "pass"] == []
    assert report.exit_code == 0


def test_the_example_is_refused_where_code_is_not_allowed():
    """As the page says."""
    with pytest.raises(SuiteError, match="code-not-allowed"):
        load_suite(EXAMPLE)


@pytest.mark.parametrize("code", PYTHON)
def test_the_code_on_the_page_is_that_of_the_example(code: str):
    """So that it runs."""
    assert code in (EXAMPLE / "scorers" / "house_style.py").read_text(encoding="utf-8")


def test_every_argument_and_parameter_is_explained():
    """Those of the decorator, and what a function may be given."""
    arguments = set(inspect.signature(scorer).parameters) - {"name", "summary"}

    assert [name for name in (*arguments, *GIVEN) if f"`{name}`" not in PAGE] == []
