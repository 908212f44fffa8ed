"""promptfoo's assertions as expectations: one small function a type.

The one idea: a type becomes the scorer of the same name where there is one, with its own meaning of ``value`` and
``threshold`` said in our options. What is left out is left out with a reason, never approximated to something laxer.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from tiered_eval.importers.outcome import Proposal, Unsupported, entry
from tiered_eval.suite.source import Spelled, plain, text_of

__all__ = ["JUDGED", "NEGATION", "TYPES", "proposals_for", "split_list", "with_relations"]

NEGATION = "not-"

Settings: TypeAlias = dict[str, Any]
"""What every expectation may have: weight, dimension."""
Rule: TypeAlias = Callable[[str, Any, "str | None", Settings], list[Proposal]]
"""From (name with its ``not-``, value, threshold, settings) to the ways to write it."""

_BOUNDED = (
    "`contains` and `starts-with` look between the edges of words and numbers here, so 5 is not in 25; "
    "`bounded: false` is plain inclusion"
)
_MEASURED = "`latency` and `cost` need what was measured: put latency_ms, cost_usd into `meta` of each case"
_RUBRIC = "what a model grades is asked with the prompts of this tool; the words of the rubric are kept"
_PARTLY = f"{_RUBRIC}; a criterion is met, met in part (0.5) or not met, and no score in between"
_NOTHING_SAID = (
    "a response that states none of the facts fails `factuality` here; there it passed as a subset of them"
)
_NO_LIMIT = "without a threshold everything passed there, as from 0 on; here the limit is that of the scorer, unless you set `pass_at`"


def proposals_for(kind: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    """The ways to write one assertion, best first.

    Raises:
        Unsupported: there is none; the text says why.
    """
    negated = kind.startswith(NEGATION)
    bare = kind.removeprefix(NEGATION)
    rule = TYPES.get(bare)
    if rule is None:
        raise Unsupported(_LEFT_OUT.get(bare, f"promptfoo has nothing like `{bare}` that is known here"))
    name = f"{NEGATION}{bare}" if negated else bare
    return rule(name, value, threshold, settings)


def split_list(value: Any) -> list[Any]:
    """A list, also where it was written as one text with commas."""
    if isinstance(value, list):
        return value
    text = text_of(value)
    if text is None:
        raise Unsupported("the value is neither a text nor a list")
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), []) if part.strip()]


def _needed(value: Any) -> Any:
    if value is None or value in ("", [], {}):
        raise Unsupported("there is no value")
    return value


def _text(value: Any) -> str:
    text = text_of(_needed(value))
    if text is None:
        raise Unsupported("the value is no text")
    return text


def _renamed(name: str, ours: str) -> str:
    return f"{NEGATION}{ours}" if name.startswith(NEGATION) else ours


def _equals(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    if isinstance(value, Mapping | list):
        made = entry(_renamed(name, "json-match"), value, **settings)
        return [Proposal(made, "`equals` with a JSON value tolerates keys that are not expected")]
    return [Proposal(entry(name, _needed(value), **settings))]


def _contains(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(name, _text(value), case_sensitive=True, **settings), _BOUNDED)]


def _contains_many(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(name, split_list(_needed(value)), case_sensitive=True, **settings), _BOUNDED)]


def _icontains(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(name, _text(value), **settings), _BOUNDED)]


def _icontains_many(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(name, split_list(_needed(value)), **settings), _BOUNDED)]


def _regex(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    pattern = _text(value)
    return [
        Proposal(entry(name, pattern, **settings)),
        Proposal(entry(name, pattern, engine="regex", **settings)),
    ]


def _with_schema(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    schema = _parsed(value)
    return [Proposal(entry(name, schema, **settings))]


def _parsed(value: Any) -> Any:
    """A schema, also where it was written as one text."""
    if not isinstance(value, str) or not value.strip():
        return value or None
    from tiered_eval.importers.files import parse_yaml

    try:
        return parse_yaml(value)
    except ValueError as fault:
        raise Unsupported(f"the schema is neither JSON nor YAML: {fault}") from None


def _bare(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(name, **settings))]


def _xml(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    given = value.get("requiredElements") if isinstance(value, Mapping) else value
    elements = split_list(given) if given else None
    return [Proposal(entry(name, elements=elements, **settings))]


def _sql(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    given = value if isinstance(value, Mapping) else {}
    dialect = text_of(given.get("databaseType"))
    if given.keys() - {"databaseType"}:
        raise Unsupported("the lists of allowed tables and columns have nothing like them here")
    dialect = dialect and _DIALECTS.get(dialect.lower(), dialect.lower())
    return [Proposal(entry(name, dialect=dialect, **settings))]


def _levenshtein(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(name, _text(value), max_distance=int(float(threshold or 5)), **settings))]


def _share(default: str) -> Rule:
    """A score that passes from the threshold on."""

    def rule(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
        return [Proposal(entry(name, _needed(value), pass_at=_limit(threshold, default), **settings))]

    return rule


def _limit(threshold: str | None, default: str) -> float:
    """The least score that passes; raises Unsupported where that is 0, since a check that passes everything is none."""
    least = float(threshold or default)
    if not least:
        raise Unsupported("everything passes from a threshold of 0 on")
    return least


def _similar(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    values = _needed(value) if isinstance(value, list) else [_text(value)]
    ours, said = _renamed(name, "similar"), _renamed(name, "must-contain")
    given: Any = {"any": values} if len(values) > 1 else {"value": values[0]}
    return [
        Proposal({ours: {**given, "threshold": _limit(threshold, "0.75"), **settings}}, _SENTENCES),
        Proposal({said: {**given, **settings}}, "a negation is not left to embeddings: the router decides"),
    ]


_SENTENCES = "`similar` compares with the nearest sentence here, not with the whole response"


def _latency(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    if threshold is None:
        raise Unsupported("latency without a threshold")
    return [Proposal(entry(name, f"{threshold} ms", **settings), _MEASURED)]


def _cost(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    if threshold is None:
        raise Unsupported("cost without a threshold")
    return [Proposal(entry(name, Spelled(threshold), **settings), _MEASURED)]


def _word_count(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    if isinstance(value, Mapping):
        return [Proposal(entry(name, min=value.get("min"), max=value.get("max"), **settings))]
    return [Proposal(entry(name, _needed(value), **settings))]


def _passes_at(threshold: str | None, default: float | None = None) -> float | None:
    """A threshold as ``pass_at``; None where everything passed from 0 on, which is no limit here."""
    if threshold is None:
        return default
    return float(threshold) or None


def _rubric(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    made = entry(name, _text(value), pass_at=_passes_at(threshold), **settings)
    if threshold and not float(threshold):
        return [Proposal(made, _NO_LIMIT)]
    return [Proposal(made, _PARTLY if threshold else _RUBRIC)]


def _g_eval(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    criteria = [_text(part) for part in (value if isinstance(value, list) else [value])]
    given: Any = {"all": criteria} if len(criteria) > 1 else {"value": _needed(criteria)[0]}
    said = _NO_LIMIT if threshold and not float(threshold) else _RUBRIC
    return [Proposal({name: {**given, "pass_at": _passes_at(threshold, 0.7) or 0.7, **settings}}, said)]


def _closed_qa(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(_renamed(name, "closed-qa"), _text(value), **settings), _RUBRIC)]


def _factuality(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(_renamed(name, "factuality"), _text(value), **settings), _NOTHING_SAID)]


def with_relations(made: Any, scores: Mapping[str, Any]) -> Any:
    """An entry; if it is about factuality, with the relations that score above 0 as those that pass.

    Raises:
        ValueError: a score is no number.
    """
    if not scores or not isinstance(made, Mapping):
        return made
    ((name, value),) = made.items()
    if name.removeprefix(NEGATION) != "factuality":
        return made
    given = {theirs: float(text_of(score) or "") for theirs, score in scores.items()}
    passes = [ours for theirs, (ours, usual) in _RELATIONS.items() if given.get(theirs, usual) > 0]
    return {name: {**(value if isinstance(value, Mapping) else {"value": value}), "passes": passes}}


_RELATIONS = {
    "agree": ("same", 1),
    "superset": ("superset", 1),
    "subset": ("subset", 1),
    "differButFactual": ("irrelevant", 1),
    "disagree": ("disagree", 0),
}
"""What promptfoo calls a relation, what it is called here, and what it scores there if nothing is said."""


def _share_of_statements(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    """What has no value: an answer against its question, or against its context."""
    made = entry(name, pass_at=_passes_at(threshold), **settings)
    return [Proposal(made, _RUBRIC if threshold and float(threshold) else _NO_LIMIT)]


def _recall(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    made = entry(name, _text(value), pass_at=_passes_at(threshold), **settings)
    return [Proposal(made, _RUBRIC if threshold and float(threshold) else _NO_LIMIT)]


def _human(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    return [Proposal(entry(_renamed(name, "manual"), text_of(value) or "Is good", **settings))]


def _tool_call_f1(name: str, value: Any, threshold: str | None, settings: Settings) -> list[Proposal]:
    names = [plain(one) for one in split_list(_needed(value))]
    return [Proposal(entry(name, names, pass_at=float(threshold or 1), **settings))]


_DIALECTS = {"postgresql": "postgres", "transactsql": "tsql", "mariadb": "mysql", "flinksql": "flink"}

TYPES: Mapping[str, Rule] = MappingProxyType(
    {
        "equals": _equals,
        "contains": _contains,
        "icontains": _icontains,
        "contains-all": _contains_many,
        "contains-any": _contains_many,
        "icontains-all": _icontains_many,
        "icontains-any": _icontains_many,
        "starts-with": _contains,
        "regex": _regex,
        "is-json": _with_schema,
        "contains-json": _with_schema,
        "is-html": _bare,
        "is-xml": _xml,
        "is-sql": _sql,
        "is-refusal": _bare,
        "levenshtein": _levenshtein,
        "rouge-n": _share("0.75"),
        "bleu": _share("0.5"),
        "similar": _similar,
        "similar:cosine": _similar,
        "latency": _latency,
        "cost": _cost,
        "word-count": _word_count,
        "llm-rubric": _rubric,
        "g-eval": _g_eval,
        "model-graded-closedqa": _closed_qa,
        "model-graded-factuality": _factuality,
        "factuality": _factuality,
        "answer-relevance": _share_of_statements,
        "context-faithfulness": _share_of_statements,
        "context-recall": _recall,
        "context-relevance": _share_of_statements,
        "human": _human,
        "tool-call-f1": _tool_call_f1,
    }
)

JUDGED = frozenset(
    {
        "llm-rubric",
        "g-eval",
        "model-graded-closedqa",
        "model-graded-factuality",
        "factuality",
        "answer-relevance",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
    }
)
"""Types that a model decides, so that a provider may be named with them."""

_CODE = "it runs code: write a scorer in Python and name it with `python: module:function`"
_FROM_PROVIDER = "it looks at what a provider returns beside the text"
_CALLS = (
    "calls are not checked against a provider's tools here; `tool-call` compares them with those you expect"
)
_LEFT_OUT = {
    "javascript": _CODE,
    "python": f"{_CODE} (it gets other arguments there)",
    "ruby": _CODE,
    "webhook": "it calls another server",
    "gleu": "there is no GLEU here; `bleu` and `rouge` are near",
    "meteor": "there is no METEOR here; `bleu` and `rouge` are near",
    "perplexity": _FROM_PROVIDER,
    "perplexity-score": _FROM_PROVIDER,
    "finish-reason": _FROM_PROVIDER,
    "guardrails": _FROM_PROVIDER,
    "moderation": "it asks a moderation model",
    "classifier": "it asks a classifier of its own",
    "select-best": "it compares several outputs of one test; a suite here scores one set of responses",
    "max-score": "it compares several outputs of one test; a suite here scores one set of responses",
    "contains-xml": "only a whole document is checked here; `is-xml` is near",
    "contains-html": "only a whole document is checked here; `is-html` is near",
    "contains-sql": "only a whole response is checked here; `is-sql` is near",
    "is-valid-function-call": _CALLS,
    "is-valid-openai-function-call": _CALLS,
    "is-valid-openai-tools-call": _CALLS,
    "trajectory:tool-used": _CALLS,
    "conversation-relevance": "it looks at each turn of a conversation; `answer-relevance` looks at one response",
    "search-rubric": "its judge searches the web; `llm-rubric` and `factuality` are near",
    "agent-rubric": "its judge is an agent; `llm-rubric` is near",
    "pi": "it asks a scoring model of its own; `llm-judge` is near",
    "similar:dot": "only the cosine is compared here; `similar` is near",
    "similar:euclidean": "only the cosine is compared here; `similar` is near",
}
