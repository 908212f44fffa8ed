"""What a verdict says it looked for, from the expectation to the reports."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from tiered_eval import Case, Expectation, Report, evaluate_sync
from tiered_eval.config import RunConfig
from tiered_eval.reports import junit, markdown, terminal


@pytest.mark.parametrize(
    ("values", "options", "shown"),
    [
        (("PO-4471",), {}, "PO-4471"),  # a text as its author wrote it
        (("45",), {"unit": "days"}, "45 days"),  # the unit is a part of the claim
        (("net 45", "45 days"), {}, "net 45 / 45 days"),  # several values
        ((2,), {"field": "days", "equals": 2}, "days: 2"),  # a structured value, with the place of it
        ((True,), {"field": "late", "equals": True}, "late: true"),  # as JSON has it
        (("error",), {"field": "error", "absent": True}, "error"),  # the field alone is the claim
        ((Decimal("2.000"),), {}, "2"),  # as a number, not as a text with the zeros that it was reckoned with
        ((Decimal(20000),), {}, "20000"),  # and never as a power of ten
        ((None,), {"max": 120}, ""),  # a check without a value
        (("a" * 300,), {}, "a" * 199 + "…"),  # bounded, since every verdict carries it
    ],
)
def test_what_is_expected_in_few_words(values: tuple[object, ...], options: dict[str, object], shown: str):
    """Values, unit and field, and never more than 200 characters."""
    assert Expectation(id="e", kind="must-contain", values=values, options=options).expected == shown


@pytest.fixture(scope="module")
def report() -> Report:
    claim = Expectation(id="order", kind="must-contain", values=("PO-9000",))
    case = Case(id="late", response="PO-4471 is late.", expectations=(claim,))
    return evaluate_sync([case], RunConfig(mode="offline", embedder="none"))


@pytest.mark.parametrize(
    "rendered",
    [
        lambda report: terminal.render(report),
        lambda report: terminal.render_case(report.results[0]),
        lambda report: "".join(markdown.render(report)),
        lambda report: "".join(junit.render(report)),
    ],
    ids=["terminal", "case", "markdown", "junit"],
)
def test_a_failure_says_what_was_looked_for(rendered: Callable[[Report], str], report: Report):
    """Whoever reads a report need not open the suite to see what is missing."""
    assert "PO-9000" in rendered(report)
