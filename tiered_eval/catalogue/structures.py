"""Scorers that compare structure: JSON, sets, lists, numbers in fields, tool calls."""

from __future__ import annotations

from dataclasses import replace

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo
from tiered_eval.catalogue.shared import CASED, SELECTING, TOLERANCES, pass_at

__all__ = ["STRUCTURES"]

STRUCTURES: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="json-match",
        tier="exact",
        target="tiered_eval.scorers.json_match:JsonMatch",
        summary="the JSON of the response says what this JSON says; the share that agrees is the score",
        value="json",
        options=(
            pass_at("1"),
            *TOLERANCES,
            OptionInfo(
                name="lists",
                type="text",
                choices=("ordered", "sets"),
                default="ordered",
                help="does the order of elements matter?",
            ),
            replace(CASED, default="true"),
            *SELECTING,
        ),
        example="- json-match: {value: {order: PO-4471, days: 45}, pass_at: 0.5}",
        is_routed=False,
    ),
    ScorerInfo(
        name="set-overlap",
        tier="exact",
        target="tiered_eval.scorers.sets:SetOverlap",
        summary="how many of these elements are there; duplicates count once",
        value="json",
        aliases=(Alias(name="jaccard", options={"method": "jaccard"}),),
        options=(
            OptionInfo(
                name="method",
                type="text",
                choices=("intersection", "jaccard"),
                default="intersection",
                help="the share of the expected, or of all elements of both",
            ),
            pass_at("1"),
            *SELECTING,
        ),
        example="- set-overlap: {value: [a1, b2, c3], field: found, method: jaccard, pass_at: 0.7}",
        is_routed=False,
    ),
    ScorerInfo(
        name="coverage-ratio",
        tier="exact",
        target="tiered_eval.scorers.sets:CoverageRatio",
        summary="which share of these elements is there; others do no harm",
        value="json",
        options=(pass_at("1"), *SELECTING),
        example="- coverage-ratio: {value: [q1, q2, q3], field: attempted, pass_at: 0.6}",
        is_routed=False,
    ),
    ScorerInfo(
        name="exact-match-ratio",
        tier="exact",
        target="tiered_eval.scorers.sets:ExactMatchRatio",
        summary="element by element: which share of these is the same in its place",
        value="json",
        options=(pass_at("1"), *SELECTING),
        example="- exact-match-ratio: {field: answers, ground_truth_field: expected_answers, pass_at: 0.8}",
        is_routed=False,
    ),
    ScorerInfo(
        name="list-match",
        tier="exact",
        target="tiered_eval.scorers.sets:ListMatch",
        summary="the response lists these items, as JSON, as bullets or in a sentence",
        value="json",
        aliases=(Alias(name="list"), Alias(name="contains-list")),
        options=(
            OptionInfo(name="ordered", type="flag", default="false", help="in this order"),
            OptionInfo(name="extra", type="flag", default="true", help="others may be listed too"),
            pass_at("1"),
            *SELECTING,
        ),
        example='- list-match: {value: [Oslo, Bergen, "Portland, OR"], extra: false}',
        is_routed=False,
    ),
    ScorerInfo(
        name="numeric-tolerance",
        tier="exact",
        target="tiered_eval.scorers.numeric_tolerance:NumericTolerance",
        summary="a JSON number, or each of a list, is near this one",
        value="json",
        options=(
            *TOLERANCES,
            OptionInfo(
                name="decay",
                type="decimal",
                low=0.0,
                default="0",
                help="over this width outside of the tolerance the score falls to 0",
            ),
            pass_at("1"),
            *SELECTING,
        ),
        example="- numeric-tolerance: {value: 3.14, field: result, tolerance: 0.01}",
        is_routed=False,
    ),
    ScorerInfo(
        name="tool-call",
        tier="exact",
        target="tiered_eval.scorers.tool_call:ToolCall",
        check="tiered_eval.scorers.tool_call:call_fault",
        summary="these tools were called, with these arguments",
        value="json",
        aliases=(
            Alias(name="tool-calls"),
            Alias(name="tool-called"),
            Alias(name="tool-call-f1", options={"measure": "f1"}),
            Alias(name="tool-sequence", options={"order": True}),
            Alias(name="tool-correctness"),
            Alias(name="function-call"),
            Alias(name="tool-used"),
        ),
        options=(
            OptionInfo(
                name="arguments",
                type="text",
                choices=("subset", "exact", "ignore"),
                default="subset",
                help="those given must agree, all must, or none is looked at",
            ),
            OptionInfo(name="order", type="flag", default="false", help="in this order"),
            OptionInfo(name="extra", type="flag", default="true", help="other calls may be made too"),
            OptionInfo(
                name="measure",
                type="text",
                choices=("recall", "precision", "f1"),
                default="recall",
                help="what the score is; f1 where extra is false",
            ),
            pass_at("1"),
            *SELECTING,
        ),
        example="- tool-call: {value: {name: lookup_po, arguments: {po: PO-4471}}}",
        is_routed=False,
    ),
)
