"""Fields that no response of a run has are told once, since their names are probably wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tiered_eval import RunConfig, evaluate
from tiered_eval.records import Case
from tiered_eval.runner.absent_fields import MOST_PATHS, AbsentFields
from tiered_eval.testing.builders import make_case, make_expectation


def case_of(number: int, response: str, field: str = "sumary", **options: Any) -> Case:
    asked = make_expectation("check", "secret", scorer="contains", options={"field": field, **options})
    asked = replace(asked, negated=True)
    return make_case(response, asked, id=str(number))


def warnings_of(*cases: Case) -> list[str]:
    fields = AbsentFields()
    for case in cases:
        fields.saw(case)
    return list(fields.warnings())


async def test_the_report_warns_of_a_field_that_no_case_has(tmp_path: Path):
    """A slip of the pen under not- passes nothing, and is named."""
    cases = [case_of(number, '{"summary": "all is well"}') for number in range(3)]

    report = await evaluate(cases, RunConfig(home=tmp_path / "home", embedder="none"))

    assert report.counts.passed == 0
    assert [line for line in report.warnings if "'sumary'" in line] == [
        "the field 'sumary' is asked for in 3 cases, and none has it: is it called that?"
    ]


@pytest.mark.parametrize(
    ("responses", "field", "why"),
    [
        (['{"summary": "a"}', '{"sumary": "b"}', '{"summary": "c"}'], "sumary", "one has it"),
        (['{"summary": "a"}'], "sumary", "one case is too few to tell"),
        (['{"calls": []}', '{"calls": []}'], "calls[0].name", "the list is there, and empty"),
        (['{"a": 1}', '{"a": 1}'], "a..b", "no path at all is an error of its own"),
    ],
)
def test_a_field_that_is_there_or_may_be_is_not_told(responses: list[str], field: str, why: str):
    """Only what no case has."""
    cases = [case_of(number, response, field) for number, response in enumerate(responses)]

    assert warnings_of(*cases) == [], why


def test_cases_are_counted_and_not_what_they_ask():
    """Two expectations on one field of one case are one case."""
    case = case_of(0, "{}", "sumary")
    twice = replace(
        case, expectations=(*case.expectations, *(replace(one, id="again") for one in case.expectations))
    )

    assert warnings_of(twice) == []
    assert "in 2 cases" in warnings_of(twice, replace(twice, id="b"))[0]


def test_what_must_be_absent_is_not_told():
    """Then that is what is asked for."""
    assert warnings_of(*(case_of(number, "{}", absent=True) for number in range(3))) == []


def test_memory_does_not_grow_with_the_paths():
    """A suite with a path of its own in each case is watched as far as the first of them."""
    fields = AbsentFields()

    for number in range(MOST_PATHS + 50):
        fields.saw(case_of(number, "{}", f"field{number}"))
        fields.saw(case_of(number, "{}", f"field{number}"))

    assert len(list(fields.warnings())) == MOST_PATHS
