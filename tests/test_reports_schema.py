"""The documented schema of the JSON report is the one that is written."""

from __future__ import annotations

import json
import re
import typing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from report_samples import sample_report

from tiered_eval.records import (
    TIERS,
    AgainstBase,
    AskedAgain,
    CaseResult,
    CertificateUse,
    Counts,
    Evidence,
    Failure,
    Figure,
    FigureChange,
    GateResult,
    OutcomeState,
    PeopleAudits,
    Report,
    SampledScore,
    Spend,
    SpendLine,
    State,
    Step,
    TierLine,
    Verdict,
)
from tiered_eval.records.codec import SCHEMA_VERSION, report_to_json
from tiered_eval.records.scorecard import DimensionScore, EloLine, Scorecard, SubmissionWarning
from tiered_eval.reports import FORMATS

DOCS = Path(__file__).parent.parent / "docs"
SCHEMA: dict[str, Any] = json.loads((DOCS / "report.schema.json").read_text(encoding="utf-8"))

RECORDS = [
    AgainstBase,
    AskedAgain,
    CaseResult,
    CertificateUse,
    Counts,
    DimensionScore,
    EloLine,
    Evidence,
    Failure,
    Figure,
    FigureChange,
    GateResult,
    PeopleAudits,
    SampledScore,
    Scorecard,
    Spend,
    SpendLine,
    Step,
    SubmissionWarning,
    TierLine,
    Verdict,
]


def faults(value: Any, schema: dict[str, Any], place: str = "$") -> list[str]:
    """Where ``value`` breaks the schema: the part of JSON Schema that the document uses, no property left out."""
    if "$ref" in schema:
        schema = {**SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], **schema}
    found: list[str] = []
    if "oneOf" in schema and sum(not faults(value, option, place) for option in schema["oneOf"]) != 1:
        found.append(f"{place}: none of the choices")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is not in {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{place}: {value!r} is not {schema['const']!r}")
    if "type" in schema and not _is_type(value, schema["type"]):
        return [*found, f"{place}: {value!r} is no {schema['type']}"]
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{place}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place}.{name} is missing" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            inner = known.get(name, schema.get("additionalProperties"))
            if inner is None and known:
                found.append(f"{place}.{name} is not documented")
            elif inner is not None:
                found += faults(item, inner, f"{place}.{name}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += faults(item, schema.get("items", {}), f"{place}[{index}]")
    return found


def _is_type(value: Any, names: str | list[str]) -> bool:
    types = {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
    }
    return any(types[name] for name in ([names] if isinstance(names, str) else names))


def test_a_report_keeps_to_the_schema():
    """Every value of a report is documented, and of the documented type."""
    assert faults(json.loads(json.dumps(report_to_json(sample_report()))), SCHEMA) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("novelty", 1),  # a field that nobody documented
        ("wall_s", "12"),  # a wrong type
        ("stopped", "tired"),  # a wrong word
        ("schema_version", 2),
    ],
)
def test_the_checker_finds_faults(place: str, value: object):
    """The test above can fail: a report that breaks the schema is found."""
    data = {**report_to_json(sample_report()), place: value}

    assert len(faults(data, SCHEMA)) == 1


def test_the_version_is_the_documented_one():
    """The schema and its page speak of the version that is written."""
    assert SCHEMA["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    assert f"`schema_version` is {SCHEMA_VERSION}." in (DOCS / "report-schema.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_field_of_a_record_is_documented(record: type):
    """A field added to a record is added to the schema."""
    written = {field.name for field in fields(record)}
    if record is Verdict:
        written.discard("case_id")  # stands at the case
    if record is Counts:
        written.add("total")

    assert set(SCHEMA["$defs"][record.__name__]["properties"]) == written


def test_every_field_of_the_report_is_documented():
    """The same for the report itself."""
    written = {field.name for field in fields(Report)} | {"schema_version"}

    assert set(SCHEMA["properties"]) == written


def test_the_words_are_those_of_the_records():
    """States and tiers in the schema are those that the code knows."""
    definitions = SCHEMA["$defs"]

    assert definitions["Tier"]["enum"] == list(TIERS)
    assert definitions["Verdict"]["properties"]["state"]["enum"] == list(typing.get_args(State))
    assert definitions["Step"]["properties"]["state"]["enum"][:3] == list(typing.get_args(OutcomeState))


def test_the_page_names_every_format():
    """Each report format and its file stands on the page."""
    page = (DOCS / "report-schema.md").read_text(encoding="utf-8")

    assert all(f"| `{name}` | `{form.file_name}` |" in page for name, form in FORMATS.items())
