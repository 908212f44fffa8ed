"""Names that checks have in other tools, and what serves here where none of the same name does.

The one idea: whoever comes from another tool writes what they know. Where it means the same here it is an alias in the
table; where it only nearly does, a guess would score something else silently, so it is refused with what to write instead.

Read by the suite's loader for a name that nothing here has. Names are those of promptfoo 0.121, deepeval 3, ragas 0.3, inspect_ai 0.3,
OpenAI's evals and graders, openevals and LangChain's evaluators (read November 2026).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from tiered_eval.catalogue.entries import NEGATION, canonical

__all__ = ["ELSEWHERE", "find_advice"]

_RUBRIC = 'say what you mean by it: `llm-rubric: "..."` for a yes or no, `g-eval` or `llm-judge` for a degree'
_WHOLE = "only a whole response is looked at: `{0}`; for a part of one, put it into a field and name that with `field`"
_OWN = "write it in Python: `python: module:function`, or a scorer of your own (docs/custom-scorers.md)"
_OF_A_RUN = (
    "that is a figure of a run and not a check: `partial`, `passed` and their intervals are in every report"
)
_CALLS = "`tool-call` compares calls with those you expect, by names and arguments; `order: true` wants their order"
_REFERENCE = (
    "`factuality` against a reference, `equivalent` for a short answer, or `closed-qa` by a criterion"
)
_CONVERSATION = f"a case is one response, not a conversation; {_RUBRIC}"
_EDITS = "`fuzzy-string` for an answer with slips, `levenshtein` for the share of edits"
_TWO_COSINES = "`semantic` compares meanings with an embedder, `lexical-cosine` compares words"
_WORDS = "`rouge-1` is the F1 of words shared with a reference; `tool-call-f1` that of calls; `set-overlap` compares lists"
_NEAR_BLEU = "`bleu` and `rouge` are near"
_OTHER_MODEL = f"it asks a model of its own; {_RUBRIC}; or {_OWN}"

_ADVICE: Mapping[str, str] = {
    "perplexity perplexity-score": "it needs the probabilities of the model's tokens, which no response carries",
    "contains-xml": _WHOLE.format("is-xml"),
    "contains-html": _WHOLE.format("is-html"),
    "contains-sql": _WHOLE.format("is-sql"),
    "javascript ruby webhook": _OWN,
    "meteor gleu chrf chrf-score": f"{_NEAR_BLEU}; or {_OWN}",
    "moderation guardrails classifier pi toxicity bias pii pii-leakage misuse non-advice harmfulness maliciousness "
    "huggingface sentiment language readability": _OTHER_MODEL,
    "select-best max-score": "`pairwise` against a chosen response; `tiered-eval compare` for two whole runs",
    "finish-reason": "put it into the case's fields: `behaviour: {field: finish_reason, equals: stop}`",
    "is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call": "`is-json` with a schema and "
    "`field` checks the form of arguments; " + _CALLS,
    "trajectory trajectory-accuracy tool-call-accuracy tool-use argument-correctness": _CALLS,
    "trajectory:tool-used trajectory:tool-sequence trajectory:tool-args-match trajectory:step-count": _CALLS,
    "trajectory:goal-success task-completion agent-goal-accuracy goal-accuracy": _RUBRIC,
    "conversation-relevance turn-relevancy conversation-completeness knowledge-retention role-adherence "
    "role-violation topic-adherence": _CONVERSATION,
    "search-rubric agent-rubric aspect-critic aspect-critique simple-criteria simple-criteria-score rubrics-score "
    "instance-rubrics criteria labeled-criteria label-model conciseness helpfulness coherence correctness relevance "
    "prompt-alignment summarization summarization-score dag humor possible security summary translation": _RUBRIC,
    "score-string labeled-score-string": _RUBRIC,
    "pairwise-string labeled-pairwise-string": "`pairwise` compares with another response, in both orders",
    "assert-set": "write its entries one by one; `dimension` groups them, and `weight` weighs them",
    "hallucination": "`context-faithfulness`, which is its opposite: it passes where nothing is made up",
    "noise-sensitivity": "`context-faithfulness` and `factuality` are near",
    "answer-correctness factual-correctness answer-accuracy qa cot-qa context-qa model-graded-qa modelgraded": _REFERENCE,
    "context-entity-recall context-entities-recall": "`context-recall` is near",
    "multimodal-faithfulness": "`context-faithfulness`, of texts",
    "string-similarity string-distance non-llm-string-similarity text-similarity": _EDITS,
    "embedding-distance": "`semantic`, whose threshold is a likeness: one less the distance",
    "cosine cosine-similarity similarity": _TWO_COSINES,
    "json-equality": "`exact-match` for the same JSON, `json-match` for the share of it that agrees",
    "json-edit-distance": "`json-match`: the share of its values that agree",
    "sql-semantic-equivalence datacompy-score": f"compare what the queries return; {_OWN}",
    "match": "it is where the answer stands: `starts-with`, `ends-with`, `exact-match`, or `equivalent` anywhere",
    "string-check": "by its operation: `equals`, `not-equals`, `contains` or `icontains`",
    "pattern pattern-match": "`regex`, which searches; `^` and `$` want the whole response",
    "choice multiple-choice multi cot-classify": "`classification` with its `labels`",
    "f1 f1-score": _WORDS,
    "math": "`numeric` for a number, `equivalent` for a short answer",
    "accuracy mean std stderr pass@k pass-rate": _OF_A_RUN,
    "approx close-to numeric-match number-match tolerance contains-number": "`numeric` with a `tolerance`",
    "max-length min-length number-of-words token-count": "`word-count: {min: ..., max: ...}`; `unit: characters` counts those",
    "length": "`word-count` for words, `char-count` for characters, each as `{max: ...}` or `{min: ...}`",
    "email phone regex-any": "`regex`",
    "ocr": "`must-contain: {value: ..., scanned: true}`, or `fuzzy-string`",
    "time duration": "`latency` for a limit, `time-decay` for a degree",
    "tokens token-usage": "`token-efficiency`",
}

ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {name: advice for names, advice in _ADVICE.items() for name in names.split()}
)
"""From a name of another tool to what to do here."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS = ("-metric", "-evaluator", "-scorer", "-grader")


def find_advice(name: str, known: tuple[str, ...]) -> str | None:
    """What to write instead of a name of another tool; ``FaithfulnessMetric`` is read as ``faithfulness``."""
    plain = canonical(_HUMP.sub("-", name.strip())).removeprefix(NEGATION)
    for ending in _ENDINGS:
        plain = plain.removesuffix(ending)
    if plain in ELSEWHERE:
        return ELSEWHERE[plain]
    return f"did you mean {plain}?" if plain in known and plain != canonical(name) else None
