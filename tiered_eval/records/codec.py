"""Results and reports as plain JSON values, and back.

The one idea: what is written can be read again and is then equal, so a kept report can be shown, compared and
re-rendered without the suite. Fields that are None or at their default are left out (most verdicts have no
trail, no cost and weight 1), which is what keeps a million of them small and quick. Money is a decimal string.

Route: ``results`` streams :func:`case_result_to_json` a line at a time; ``reports.json`` writes the whole. The
format is documented in ``docs/report-schema.md``; :data:`SCHEMA_VERSION` grows when a reader would misread it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from tiered_eval.errors import ConfigError
from tiered_eval.records.certified import CertificateUse, PeopleAudits, SampledScore
from tiered_eval.records.report import (
    AgainstBase,
    AskedAgain,
    CaseResult,
    Counts,
    Figure,
    FigureChange,
    GateResult,
    Report,
    Spend,
    SpendLine,
    TierLine,
)
from tiered_eval.records.scorecard import DimensionScore, EloLine, Scorecard, SubmissionWarning
from tiered_eval.records.verdicts import NO_METRICS, ZERO_USD, Evidence, Failure, Step, Verdict

__all__ = [
    "SCHEMA_VERSION",
    "case_result_from_json",
    "case_result_to_json",
    "plain_decimal",
    "report_from_json",
    "report_to_json",
    "summary_to_json",
    "verdict_from_json",
    "verdict_to_json",
]

SCHEMA_VERSION = 1

Json: TypeAlias = dict[str, Any]
T = TypeVar("T")


def plain_decimal(value: Decimal) -> str:
    """A decimal as people and other programs read it: no exponent, no zeros at the end."""
    return f"{value.normalize():f}"


def verdict_to_json(verdict: Verdict) -> Json:
    """One verdict, without its case's id: it stands inside its case.

    Written out field by field: this runs once for every expectation of a run, and a generic walk over the
    fields takes ten times as long.
    """
    data: Json = {
        "expectation_id": verdict.expectation_id,
        "kind": verdict.kind,
        "state": verdict.state,
        "reason": verdict.reason,
    }
    if verdict.expected:
        data["expected"] = verdict.expected
    if verdict.tier is not None:
        data["tier"] = verdict.tier
    if verdict.scorer is not None:
        data["scorer"] = verdict.scorer
    if verdict.score is not None:
        data["score"] = verdict.score
    if verdict.evidence is not None:
        data["evidence"] = _evidence_to_json(verdict.evidence)
    if verdict.trail:
        data["trail"] = [_step_to_json(step) for step in verdict.trail]
    if verdict.weight != 1.0:
        data["weight"] = verdict.weight
    if verdict.dimension is not None:
        data["dimension"] = verdict.dimension
    if verdict.model is not None:
        data["model"] = verdict.model
    if verdict.prompt is not None:
        data["prompt"] = verdict.prompt
    if verdict.cost_usd is not ZERO_USD and verdict.cost_usd:
        data["cost_usd"] = plain_decimal(verdict.cost_usd)
    if verdict.from_store:
        data["from_store"] = True
    if verdict.failure is not None:
        data["failure"] = _failure_to_json(verdict.failure)
    if verdict.leftover is not None:
        data["leftover"] = verdict.leftover
    if verdict.q is not None:
        data["q"] = verdict.q
    if verdict.q is not None or verdict.certified or verdict.audited:
        # Where a certificate was at work both are said of each verdict, so that "no" is not taken for "unknown".
        data["certified"], data["audited"] = verdict.certified, verdict.audited
    if verdict.metrics:
        data["metrics"] = dict(verdict.metrics)
    if verdict.ran_in is not None:
        data["ran_in"] = verdict.ran_in
    return data


def verdict_from_json(data: Mapping[str, Any], case_id: str) -> Verdict:
    """The verdict that :func:`verdict_to_json` wrote; ``KeyError`` where a required field is absent."""
    get = data.get
    evidence, failure, cost = get("evidence"), get("failure"), get("cost_usd")
    return Verdict(
        case_id=case_id,
        expectation_id=data["expectation_id"],
        kind=data["kind"],
        state=data["state"],
        reason=data["reason"],
        expected=get("expected", ""),
        tier=get("tier"),
        scorer=get("scorer"),
        score=get("score"),
        evidence=None
        if evidence is None
        else Evidence(evidence["quote"], evidence.get("start"), evidence.get("end")),
        trail=tuple([_step_from_json(step) for step in get("trail", ())]),
        weight=get("weight", 1.0),
        dimension=get("dimension"),
        model=get("model"),
        prompt=get("prompt"),
        cost_usd=ZERO_USD if cost is None else Decimal(cost),
        from_store=get("from_store", False),
        failure=None if failure is None else _known(Failure, failure),
        leftover=get("leftover"),
        q=get("q"),
        certified=get("certified", False),
        audited=get("audited", False),
        metrics=get("metrics", NO_METRICS),
        ran_in=get("ran_in"),
    )


def case_result_to_json(result: CaseResult) -> Json:
    """One case with its verdicts: a line of ``results.jsonl``."""
    data: Json = {
        "index": result.index,
        "case_id": result.case_id,
        "partial": result.partial,
        "partial_low": result.partial_low,
        "partial_high": result.partial_high,
        "passed": result.passed,
        "verdicts": [verdict_to_json(verdict) for verdict in result.verdicts],
    }
    if result.tags:
        data["tags"] = list(result.tags)
    if result.scorecard is not None:
        data["scorecard"] = _plain(result.scorecard)
    if result.response_digest is not None:
        data["response_digest"] = result.response_digest
    if result.asked_digest is not None:
        data["asked_digest"] = result.asked_digest
    if result.pass_at is not None:
        data["pass_at"] = result.pass_at
    return data


def case_result_from_json(data: Mapping[str, Any]) -> CaseResult:
    """The case that :func:`case_result_to_json` wrote; ``KeyError`` where a required field is absent."""
    case_id = data["case_id"]
    return CaseResult(
        index=data["index"],
        case_id=case_id,
        verdicts=tuple([verdict_from_json(verdict, case_id) for verdict in data["verdicts"]]),
        partial=data["partial"],
        partial_low=data["partial_low"],
        partial_high=data["partial_high"],
        passed=data["passed"],
        tags=tuple(data.get("tags", ())),
        scorecard=_scorecard_from_json(data.get("scorecard")),
        response_digest=data.get("response_digest"),
        asked_digest=data.get("asked_digest"),
        pass_at=data.get("pass_at"),
    )


def summary_to_json(report: Report) -> Json:
    """A report without its results: small, however large the run was."""
    data: Json = {"schema_version": SCHEMA_VERSION}
    for field in fields(report):
        if field.name != "results":
            data[field.name] = _plain(getattr(report, field.name))
    data["counts"]["total"] = report.counts.total
    return data


def report_to_json(report: Report) -> Json:
    """A whole report, results included."""
    return {**summary_to_json(report), "results": [case_result_to_json(result) for result in report.results]}


def report_from_json(data: Mapping[str, Any], results: Sequence[CaseResult] | None = None) -> Report:
    """The report that was written; ``results`` stand in where they were kept apart from it.

    Raises:
        ConfigError: it was written in a newer format, or is not a report.
        KeyError, TypeError, ValueError: it is damaged.
    """
    version = data.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise ConfigError(
            f"cannot read a report with schema_version {version!r}: this tiered-eval reads up to "
            f"{SCHEMA_VERSION}; use the version that wrote it, or a newer one"
        )
    gate = data.get("gate")
    if results is None:
        results = tuple([case_result_from_json(result) for result in data.get("results", ())])
    return _known(
        Report,
        data,
        counts=_known(Counts, data["counts"]),
        partial=_known(Figure, data["partial"]),
        passed=_known(Figure, data["passed"]),
        dimensions={name: _known(Figure, figure) for name, figure in data["dimensions"].items()},
        tags={name: _known(Figure, figure) for name, figure in data["tags"].items()},
        tiers=tuple([_known(TierLine, line, **_money(line)) for line in data["tiers"]]),
        spend=_spend_from_json(data["spend"]),
        gate=None if gate is None else _known(GateResult, gate),
        against=_against_from_json(data.get("against")),
        certificate=_certificate_from_json(data.get("certificate")),
        sampled=None if data.get("sampled") is None else _known(SampledScore, data["sampled"]),
        warnings=tuple(data["warnings"]),
        scorecard=_scorecard_from_json(data.get("scorecard")),
        results=results,
    )


def _certificate_from_json(data: Mapping[str, Any] | None) -> CertificateUse | None:
    if data is None:
        return None
    by_people = data.get("by_people")
    return _known(
        CertificateUse,
        data,
        promise=tuple(data["promise"]),
        void=tuple(data["void"]),
        by_people=None if by_people is None else _known(PeopleAudits, by_people),
    )


def _evidence_to_json(evidence: Evidence) -> Json:
    data: Json = {"quote": evidence.quote}
    if evidence.start is not None:
        data["start"] = evidence.start
    if evidence.end is not None:
        data["end"] = evidence.end
    return data


def _step_to_json(step: Step) -> Json:
    data: Json = {"scorer": step.scorer, "tier": step.tier, "state": step.state, "reason": step.reason}
    if step.score is not None:
        data["score"] = step.score
    if step.model is not None:
        data["model"] = step.model
    if step.stage is not None:
        data["stage"] = step.stage
    if step.ran_in is not None:
        data["ran_in"] = step.ran_in
    return data


def _step_from_json(data: Mapping[str, Any]) -> Step:
    get = data.get
    return Step(
        data["scorer"],
        data["tier"],
        data["state"],
        data["reason"],
        get("score"),
        get("model"),
        get("stage"),
        get("ran_in"),
    )


def _failure_to_json(failure: Failure) -> Json:
    data: Json = {"type": failure.type, "message": failure.message}
    if failure.traceback is not None:
        data["traceback"] = failure.traceback
    return data


def _scorecard_from_json(data: Mapping[str, Any] | None) -> Scorecard | None:
    if data is None:
        return None
    elo = data["elo"]
    return _known(
        Scorecard,
        data,
        breakdown={key: _known(DimensionScore, line) for key, line in data["breakdown"].items()},
        warnings=tuple([_known(SubmissionWarning, warning) for warning in data["warnings"]]),
        violations=tuple(data["violations"]),
        elo=None if elo is None else _known(EloLine, elo),
    )


def _against_from_json(data: Mapping[str, Any] | None) -> AgainstBase | None:
    if data is None:
        return None
    return _known(
        AgainstBase,
        data,
        changes=tuple([_known(FigureChange, change) for change in data["changes"]]),
        asked_again=tuple([_known(AskedAgain, one) for one in data["asked_again"]]),
    )


def _spend_from_json(data: Mapping[str, Any]) -> Spend:
    return _known(
        Spend,
        data,
        **_money(data),
        other_caps={name: Decimal(amount) for name, amount in data.get("other_caps", {}).items()},
        by_tier=_lines(data["by_tier"]),
        by_model=_lines(data["by_model"]),
        by_kind=_lines(data["by_kind"]),
        by_stage=_lines(data.get("by_stage", ())),
    )


def _lines(lines: Sequence[Mapping[str, Any]]) -> tuple[SpendLine, ...]:
    return tuple([_known(SpendLine, line, **_money(line)) for line in lines])


def _money(data: Mapping[str, Any]) -> dict[str, Decimal | None]:
    """The fields of an object that hold dollars, as Decimal."""
    return {
        name: None if value is None else Decimal(value)
        for name, value in data.items()
        if name.endswith("_usd")
    }


def _known(make: Callable[..., T], data: Mapping[str, Any], **converted: Any) -> T:
    """``make`` from the keys it has fields for; keys added by a later version are passed over."""
    names = {field.name for field in fields(make)}  # type: ignore[arg-type]  # always a record's class
    given = {name: value for name, value in data.items() if name in names}
    return make(**{**given, **{name: value for name, value in converted.items() if name in names}})


def _plain(value: Any) -> Any:
    """A record as JSON values. Nones stay here: a summary is small, and shows what could be known."""
    if isinstance(value, Decimal):
        return plain_decimal(value)
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    # Settings may hold anything; a path that cannot be written must not cost the report of a paid run.
    return value if value is None or isinstance(value, str | int | float) else str(value)
