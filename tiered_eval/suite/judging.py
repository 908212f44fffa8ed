"""Reads ``judge:`` of a suite: models, or a chain of stages, and how their calls travel.

    judge:
      chain:
        - {models: [openai-decisions:gpt-6-luna], accept: 0.95, reject: 0.05}
        - {models: [anthropic:claude-haiku-5-5, openai:gpt-6-luna], votes: 3, confirm: fail}
        - panel: [anthropic:claude-sonnet-5-5, openai:gpt-6.1-terra, compatible:our-model]
      pack: never

The one idea: what makes a judge another judge stands together in one place, and is wrong or right as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from tiered_eval.records.judging import Confirm, JudgeStage, StageFault, chain_faults, is_model_name
from tiered_eval.suite.options import BadValue, parse_integer, parse_number, parse_text, parse_texts
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import line_of

__all__ = ["Judging", "read_judging"]

_NAMES = ("models", "chain", "pack", "batch", "audit_rate")
_STAGE_NAMES = ("models", "panel", "accept", "reject", "votes", "confirm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Who judges, as a suite says it."""

    judges: tuple[str, ...] = ()
    chain: tuple[JudgeStage, ...] = ()
    pack: Literal["auto", "never"] | int | None = None
    batch: Literal["auto", "never", "always"] | None = None
    audit_rate: float | None = None


def read_judging(raw: Mapping[str, Any], scope: Scope) -> Judging:
    """What a suite says of its judges; what is wrong is reported to ``scope``."""
    given = raw.get("judge")
    if given is None:
        return Judging()
    line = line_of(raw, "judge", scope.line)
    if not isinstance(given, Mapping):
        return Judging(judges=_models(given, scope, line))
    scope.report_unknown(given, _NAMES, "judge", line=line)
    found = Judging(
        pack=_pack(given, scope), batch=_batch(given, scope), audit_rate=_audit_rate(given, scope)
    )
    if "chain" in given:
        if "models" in given:
            scope.report(
                "bad-chain",
                "both models and a chain",
                "give the models as a stage of the chain",
                field="judge",
                line=line,
            )
        return replace(found, chain=_chain(given["chain"], scope, line_of(given, "chain", line)))
    if "models" in given:
        return replace(found, judges=_models(given["models"], scope, line))
    return found


def _models(given: object, scope: Scope, line: int | None) -> tuple[str, ...]:
    """A plain list of models: a chain of one stage."""
    try:
        models = parse_texts(given)
    except BadValue as bad:
        scope.report_bad(bad, field="judge.models", line=line)
        return ()
    for fault in chain_faults((JudgeStage(models=models),)):
        scope.report(_rule(fault), fault.message, fault.fix, field="judge.models", line=line)
    return models


def _chain(given: object, scope: Scope, line: int | None) -> tuple[JudgeStage, ...]:
    if not isinstance(given, list):
        scope.report(
            "bad-chain",
            "the chain is no list",
            "write a list of stages, such as - {models: [anthropic:claude-haiku-5-5]}",
            field="judge.chain",
            line=line,
        )
        return ()
    before = scope.problems.error_count
    stages = tuple(_stage(entry, number, scope, line) for number, entry in enumerate(given, start=1))
    if scope.problems.error_count > before:
        return ()  # what is missing in a stage that cannot be read is no fault of its own
    for fault in chain_faults(stages):
        field = "judge.chain" if fault.stage is None else f"judge.chain.{fault.stage}.{fault.field}"
        scope.report(_rule(fault), fault.message, fault.fix, field=field, line=line)
    for number, stage in enumerate(stages, start=1):
        _warn_of_family(stage, number, scope, line)
    _warn_of_repeats(stages, scope, line)
    return stages


def _rule(fault: StageFault) -> str:
    return "bad-model" if fault.is_name else "bad-chain"


def _stage(entry: object, number: int, scope: Scope, line: int | None) -> JudgeStage:
    """One stage; an empty one where it cannot be read, which is reported."""
    place = f"judge.chain.{number}"
    if not isinstance(entry, Mapping):
        scope.report(
            "not-a-mapping", "a stage is no mapping", "write {models: [...]}", field=place, line=line
        )
        return JudgeStage()
    scope.report_unknown(entry, _STAGE_NAMES, place, line=line)
    read: dict[str, Any] = {}
    for name, parse in (
        ("models", parse_texts),
        ("panel", parse_texts),
        ("accept", parse_number),
        ("reject", parse_number),
        ("votes", parse_integer),
        ("confirm", parse_text),
    ):
        if entry.get(name) is None:
            continue
        try:
            read[name] = parse(entry[name])
        except BadValue as fault:
            scope.report_bad(fault, field=f"{place}.{name}", line=line_of(entry, name, line))
    return JudgeStage(**{**read, "confirm": cast(Confirm | None, read.get("confirm"))})


def _warn_of_family(stage: JudgeStage, number: int, scope: Scope, line: int | None) -> None:
    """Models of one vendor err together, so that their agreement says little."""
    families = {model.partition(":")[0] for model in stage.panel if is_model_name(model)}
    if len(stage.panel) > 1 and len(families) == 1:
        scope.report(
            "one-family",
            f"all members of the panel are {families.pop()} models, which often err together",
            "take one of another vendor into the panel",
            field=f"judge.chain.{number}.panel",
            line=line,
            severity="warning",
        )


def _warn_of_repeats(stages: tuple[JudgeStage, ...], scope: Scope, line: int | None) -> None:
    """The same model has the same answer to the same question, which is kept: asking on settles nothing."""
    heard: dict[str, int] = {}
    for number, stage in enumerate(stages, start=1):
        first = stage.panel or stage.models[:1]
        for model in first:
            if model in heard:
                scope.report(
                    "same-judge",
                    f"stage {number} asks {model}, whose answer stage {heard[model]} had already",
                    "take another model, or remove one of the stages",
                    field=f"judge.chain.{number}",
                    line=line,
                    severity="warning",
                )
        for model in first:
            heard.setdefault(model, number)


def _pack(given: Mapping[str, Any], scope: Scope) -> Literal["auto", "never"] | int | None:
    raw = given.get("pack")
    if raw is None:
        return None
    try:
        word = str(raw).strip().lower()
        if word in ("auto", "never"):
            return cast(Literal["auto", "never"], word)
        count = parse_integer(raw)
        if not 2 <= count <= 6:
            raise BadValue("out-of-range", f"{count} expectations in a call", "give 2 to 6, auto or never")
    except BadValue as fault:
        fix = "give auto, never, or a number from 2 to 6"
        scope.report(
            fault.rule, fault.message, fix, field="judge.pack", line=line_of(given, "pack", scope.line)
        )
        return None
    return count


def _batch(given: Mapping[str, Any], scope: Scope) -> Literal["auto", "never", "always"] | None:
    raw = given.get("batch")
    if raw is None:
        return None
    word = str(raw).strip().lower()
    if word not in ("auto", "never", "always"):
        scope.report(
            "bad-choice",
            f"{word[:40]!r} is none of auto, never, always",
            "use one of them",
            field="judge.batch",
            line=line_of(given, "batch", scope.line),
        )
        return None
    return cast(Literal["auto", "never", "always"], word)


def _audit_rate(given: Mapping[str, Any], scope: Scope) -> float | None:
    raw = given.get("audit_rate")
    if raw is None:
        return None
    try:
        rate = parse_number(raw)
        if not 0.0 <= rate <= 1.0:
            raise BadValue(
                "out-of-range", f"a share of {rate:g} cannot be audited", "give a share from 0 to 1"
            )
    except BadValue as bad:
        scope.report_bad(bad, field="judge.audit_rate", line=line_of(given, "audit_rate", scope.line))
        return None
    return rate
