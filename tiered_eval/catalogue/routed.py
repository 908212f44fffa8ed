"""The scorers that the router chooses among, and ``regex``, which stands beside ``exact``.

The one idea: these decide kinds of claim (``must-contain``, ``equivalent``, ...); each is also a key of its own, which
pins it. What they are in general is :mod:`tiered_eval.catalogue.entries`.
"""

from __future__ import annotations

from dataclasses import replace

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo

__all__ = ["ROUTED"]

_LITERAL_KINDS = ("must-contain", "must-not-contain", "must-cite")
_TEXT_KINDS = (*_LITERAL_KINDS, "equivalent")


def _threshold(default: str, help_text: str) -> OptionInfo:
    return OptionInfo(name="threshold", type="number", above=0.0, high=1.0, default=default, help=help_text)


_SCANNED = OptionInfo(
    name="scanned",
    type="flag",
    default="false",
    help="the response was read by OCR: letters may be misread, digits never",
)
_CLAIM_OPTIONS = (
    OptionInfo(name="unit", type="text", help="part of the claim: 45 days are not 45 hours"),
    OptionInfo(name="currency", type="text", help="such as USD, part of the claim"),
    OptionInfo(
        name="tolerance", type="decimal", low=0.0, default="0", help="absolute, in the unit of the claim"
    ),
    OptionInfo(
        name="relative_tolerance",
        type="decimal",
        low=0.0,
        high=1.0,
        default="0",
        help="share of the expected value",
    ),
    OptionInfo(name="percent_as_fraction", type="flag", default="false", help="0.45 is also 45 %"),
    OptionInfo(
        name="round", type="flag", default="false", help="a value that rounds to the expected one will do"
    ),
)
"""What changes the claim, and not only how it is checked: a judge is told of it too."""

ROUTED: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="exact",
        key_kind="must-contain",
        tier="exact",
        target="tiered_eval.scorers.exact:Exact",
        summary="the literal stands in the response, bounded at token edges, case and typography aside",
        kinds=_TEXT_KINDS,
        options=(
            OptionInfo(
                name="bounded",
                type="flag",
                default="true",
                help="PO-4471 is not in PO-44710; false is plain inclusion",
            ),
            OptionInfo(
                name="case_sensitive", type="flag", default="false", help="upper and lower case differ"
            ),
            OptionInfo(
                name="whole",
                type="flag",
                default="false",
                help="the response is the literal and nothing else",
            ),
        ),
        example="- must-contain: {value: PO-4471, scorer: exact}",
    ),
    ScorerInfo(
        name="answer",
        key_kind="equivalent",
        tier="exact",
        target="tiered_eval.scorers.answer:Answer",
        summary="the response gives one of the accepted answers to the question, not merely names it",
        kinds=("equivalent",),
        example="- equivalent: [Mount Everest, Everest]",
    ),
    ScorerInfo(
        name="regex",
        key_kind="must-contain",
        tier="exact",
        target="tiered_eval.scorers.regex:Regex",
        summary="a regular expression is found in the response, in linear time",
        kinds=_TEXT_KINDS,
        aliases=(Alias(name="regex-match"),),
        options=(
            OptionInfo(
                name="engine",
                type="text",
                choices=("re2", "regex"),
                default="re2",
                help="regex has look-around and back-references, and a time limit",
            ),
            OptionInfo(
                name="timeout_s",
                type="number",
                above=0.0,
                high=60.0,
                default="1",
                help="seconds that one search with engine: regex may take",
            ),
            OptionInfo(
                name="ignore_case", type="flag", default="false", help="upper and lower case are the same"
            ),
            OptionInfo(name="multiline", type="flag", default="false", help="^ and $ match at each line"),
            OptionInfo(name="dotall", type="flag", default="false", help="the dot matches line ends too"),
            OptionInfo(name="group", type="text", help="the group that `equals` is compared with"),
            OptionInfo(name="equals", type="text", help="what the group must hold"),
        ),
        example="- {kind: must-contain, scorer: regex, value: 'PO-\\d{4}'}",
        is_routed=False,
    ),
    ScorerInfo(
        name="field",
        key_kind="behaviour",
        tier="exact",
        target="tiered_eval.scorers.field:Field",
        summary="a structured part of the response (a tool call, a JSON field) is as stated",
        kinds=("behaviour",),
        options=(
            OptionInfo(name="field", type="text", help="path, such as tool_calls[0].name"),
            OptionInfo(name="equals", type="json", help="the field is this value, of the same type"),
            OptionInfo(name="contains", type="json", help="the text or list in the field holds this"),
            OptionInfo(name="one_of", type="json", help="the field is one of these"),
            OptionInfo(name="exists", type="flag", help="the field is there"),
            OptionInfo(name="absent", type="flag", help="the field is not there"),
        ),
        example='- behaviour: {field: "tool_calls[0].name", equals: lookup_po}',
    ),
    ScorerInfo(
        name="number",
        key_kind="must-contain",
        tier="number",
        target="tiered_eval.scorers.number:Number",
        summary="the response states this number, amount, percentage or date, with its unit",
        kinds=("must-contain", "must-not-contain", "must-cite", "equivalent"),
        options=(
            *_CLAIM_OPTIONS,
            OptionInfo(name="date", type="flag", default="false", help="the value is a date"),
        ),
        example="- must-contain: {value: 45, unit: days}",
    ),
    ScorerInfo(
        name="fuzzy-ocr",
        key_kind="must-cite",
        tier="ocr",
        target="tiered_eval.scorers.fuzzy_ocr:FuzzyOcr",
        summary="the literal is in scanned text, OCR confusions tolerated and digits never",
        kinds=_LITERAL_KINDS,
        options=(_SCANNED, _threshold("", "least similarity that passes; the shipped one was measured")),
        example="- must-cite: {value: DOC-2025-118, scanned: true}",
    ),
    ScorerInfo(
        name="coverage",
        key_kind="must-contain",
        tier="coverage",
        target="tiered_eval.scorers.coverage:Coverage",
        summary="the response holds the information of the statement; numbers, names and polarity agree",
        kinds=("must-contain", "equivalent"),
        options=(_threshold("", "least share of the information; the profile's by default"),),
        example="- must-contain: Invoices are due 45 days after receipt",
    ),
    ScorerInfo(
        name="semantic",
        key_kind="must-contain",
        aliases=(
            Alias(name="similar"),
            Alias(name="embedding-similarity"),
            Alias(name="semantic-similarity"),
            Alias(name="answer-similarity"),
            Alias(name="answer-semantic-similarity"),
        ),
        tier="embedding",
        target="tiered_eval.scorers.semantic:Semantic",
        summary="a sentence of the response is close in meaning to the statement, by embedding",
        kinds=("must-contain", "must-not-contain", "equivalent"),
        options=(
            replace(
                _threshold("0.75", "least cosine similarity that passes"),
                aliases=("pass_at", "min_score", "min_similarity"),
            ),
        ),
        example="- must-contain: {value: Invoices are due 45 days after receipt, scorer: semantic}",
    ),
    ScorerInfo(
        name="judge",
        key_kind="requirement",
        tier="judge",
        target="tiered_eval.scorers.judge:Judge",
        summary="a model reads the response and decides, giving its evidence first",
        kinds=(*_TEXT_KINDS, "requirement", "rubric"),
        options=(
            OptionInfo(
                name="models", type="texts", help="provider:model, tried in order; the suite's by default"
            ),
            OptionInfo(
                name="effort",
                type="text",
                choices=("none", "minimal", "low", "medium", "high"),
                default="low",
                help="how long the model may think",
            ),
            OptionInfo(
                name="max_tokens",
                type="integer",
                low=16,
                high=32_000,
                help="bound on what one reply may cost",
            ),
            OptionInfo(
                name="levels",
                type="levels",
                kinds=("rubric",),
                help="a rubric's levels in words, worst first",
            ),
            OptionInfo(
                name="pass_at",
                type="number",
                kinds=("rubric",),
                low=0.0,
                high=100.0,
                default="0.5",
                help="a rubric passes at this score in [0, 1], or at this level when levels are given",
            ),
            *(replace(option, kinds=_TEXT_KINDS) for option in (*_CLAIM_OPTIONS, _SCANNED)),
        ),
        example="- requirement: Does not promise a delivery date",
    ),
)
