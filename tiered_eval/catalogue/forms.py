"""Scorers that look at what a response is: JSON, markup, SQL, a refusal, of some length, or as a function says."""

from __future__ import annotations

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo
from tiered_eval.catalogue.shared import SELECTING, pass_at

__all__ = ["FORMS"]

_FIELD = SELECTING[:1]
_FENCED = OptionInfo(
    name="fenced", type="flag", default="false", help="a Markdown fence around all of it is taken off"
)

FORMS: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="is-json",
        tier="exact",
        target="tiered_eval.scorers.json_form:IsJson",
        check="tiered_eval.scorers.json_form:schema_fault",
        summary="the whole response is one JSON value, valid under a JSON Schema if one is given",
        value="json",
        is_value_optional=True,
        aliases=(
            Alias(name="is-valid-json"),
            Alias(name="json-schema"),
            Alias(name="valid-json"),
            Alias(name="json-validity"),
            Alias(name="json-correctness"),
        ),
        options=_FIELD,
        packages=("jsonschema",),
        example="- is-json: {type: object, required: [order]}",
        is_routed=False,
    ),
    ScorerInfo(
        name="contains-json",
        tier="exact",
        target="tiered_eval.scorers.json_form:ContainsJson",
        check="tiered_eval.scorers.json_form:schema_fault",
        summary="an object or a list stands in the response, valid under a JSON Schema if one is given",
        value="json",
        is_value_optional=True,
        options=_FIELD,
        packages=("jsonschema",),
        example="- contains-json",
        is_routed=False,
    ),
    ScorerInfo(
        name="is-xml",
        tier="exact",
        target="tiered_eval.scorers.markup:IsXml",
        summary="the whole response is one well-formed XML document; nothing in it is expanded",
        value="none",
        is_value_optional=True,
        options=(
            OptionInfo(name="elements", type="texts", help="elements that must be in it"),
            _FENCED,
            *_FIELD,
        ),
        example="- is-xml: {elements: [order, item]}",
        is_routed=False,
    ),
    ScorerInfo(
        name="is-html",
        tier="exact",
        target="tiered_eval.scorers.markup:IsHtml",
        summary="the whole response is HTML: known elements, opened and closed as the standard has it, no prose outside",
        value="none",
        is_value_optional=True,
        options=(_FENCED, *_FIELD),
        example="- is-html",
        is_routed=False,
    ),
    ScorerInfo(
        name="is-sql",
        tier="exact",
        target="tiered_eval.scorers.markup:IsSql",
        check="tiered_eval.scorers.markup:dialect_fault",
        summary="the whole response is SQL that can be parsed",
        value="none",
        is_value_optional=True,
        options=(
            OptionInfo(name="dialect", type="text", help="such as postgres or sqlite, as sqlglot names them"),
            OptionInfo(
                name="statements", type="texts", help="the only statements that may be, such as select"
            ),
            _FENCED,
            *_FIELD,
        ),
        packages=("sqlglot",),
        example="- is-sql: {dialect: postgres, statements: [select]}",
        is_routed=False,
    ),
    ScorerInfo(
        name="is-refusal",
        tier="exact",
        target="tiered_eval.scorers.refusal:IsRefusal",
        summary="the response declines what it was asked; in part is unsure",
        value="none",
        is_value_optional=True,
        aliases=(Alias(name="refusal"),),
        options=_FIELD,
        example="- not-is-refusal",
        is_routed=False,
    ),
    ScorerInfo(
        name="word-count",
        tier="exact",
        target="tiered_eval.scorers.word_count:WordCount",
        summary="the response is this long, or between two lengths",
        value="decimal",
        is_value_optional=True,
        aliases=(Alias(name="char-count", options={"unit": "characters"}),),
        options=(
            OptionInfo(name="min", type="integer", low=0, help="the least length"),
            OptionInfo(name="max", type="integer", low=0, help="the greatest length"),
            OptionInfo(
                name="unit",
                type="text",
                choices=("words", "characters", "sentences", "lines"),
                default="words",
                help="what is counted",
            ),
            *_FIELD,
        ),
        example="- word-count: {min: 40, max: 120}",
        is_routed=False,
    ),
    ScorerInfo(
        name="python",
        tier="exact",
        target="tiered_eval.scorers.python_function:PythonFunction",
        summary="a function of your own decides; runs only with --allow-code",
        value="reference",
        aliases=(Alias(name="python-function"),),
        options=(
            pass_at("1"),
            OptionInfo(name="config", type="json", help="handed to the function, as options"),
            *_FIELD,
        ),
        example='- python: "checks:is_polite"',
        is_routed=False,
        runs_code=True,
    ),
)
