"""Whoever comes from another tool finds each check under the name it has there, or is told what serves instead."""

from __future__ import annotations

import re

import pytest

from tiered_eval.catalogue import CATALOGUE, KINDS
from tiered_eval.catalogue.elsewhere import ELSEWHERE, find_advice
from tiered_eval.suite.cases import CaseReader
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope

THE_SAME = {
    "promptfoo": """equals contains icontains contains-all contains-any icontains-all icontains-any not-icontains
        not-icontains-any starts-with regex is-json contains-json is-xml is-html is-sql levenshtein rouge-n bleu word-count
        latency cost is-refusal python similar llm-rubric model-graded-closedqa model-graded-factuality factuality g-eval
        answer-relevance context-faithfulness context-recall context-relevance tool-call-f1 human not-is-refusal""",
    "deepeval": """g_eval answer_relevancy faithfulness contextual_recall contextual_precision contextual_relevancy
        json_correctness tool_correctness exact_match""",
    "ragas": """faithfulness response_relevancy answer_relevancy context_recall context_precision llm_context_recall
        answer_similarity semantic_similarity answer_semantic_similarity bleu_score rouge_score string_presence exact_match
        tool_call_f1 llm_context_precision_with_reference""",
    "inspect_ai": "includes answer exact model_graded_fact",
    "OpenAI evals": "includes fuzzy_match json_match fact closedqa battle score_model",
    "LangSmith and LangChain": "exact_match regex_match json_validity json_schema",
    "agent-arena": "classification exact_match contains regex numeric json_match semantic code_exec llm_judge manual",
    "Clawdiators": """exact_match exact_match_ratio numeric_tolerance fuzzy_string time_decay coverage_ratio set_overlap
        token_efficiency api_call_efficiency call_efficiency""",
    "anybody": "startswith endswith iequals char_count jaccard human_review valid_json levenshtein_distance",
}
NEARLY = [
    ("perplexity", "probabilities", "promptfoo"),
    ("contains-sql", "is-sql", "promptfoo"),
    ("contains-xml", "is-xml", "promptfoo"),
    ("contains-html", "is-html", "promptfoo"),
    ("not-contains-html", "is-html", "promptfoo, turned"),
    ("javascript", "custom-scorers", "promptfoo"),
    ("select-best", "pairwise", "promptfoo"),
    ("trajectory:tool-used", "tool-call", "promptfoo"),
    ("assert-set", "one by one", "promptfoo"),
    ("hallucination", "context-faithfulness", "deepeval"),
    ("HallucinationMetric", "context-faithfulness", "deepeval, by its class"),
    ("FaithfulnessMetric", "faithfulness?", "deepeval, by its class"),
    ("ToxicityMetric", "model of its own", "deepeval"),
    ("PII", "model of its own", "anybody"),
    ("length", "char-count", "anybody, who may mean characters"),
    ("NonLLMStringSimilarity", "fuzzy-string", "ragas, by its class"),
    ("LLMContextRecall", "llm-context-recall?", "ragas, by its class"),
    ("summarization", "llm-rubric", "deepeval"),
    ("answer_correctness", "factuality", "ragas"),
    ("noise_sensitivity", "context-faithfulness", "ragas"),
    ("aspect_critic", "llm-rubric", "ragas"),
    ("model_graded_qa", "factuality", "inspect_ai"),
    ("f1", "rouge-1", "inspect_ai"),
    ("match", "ends-with", "inspect_ai and OpenAI evals, which mean two things by it"),
    ("choice", "classification", "inspect_ai"),
    ("pattern", "regex", "inspect_ai"),
    ("string_check", "icontains", "OpenAI's graders"),
    ("text_similarity", "levenshtein", "OpenAI's graders"),
    ("label_model", "llm-rubric", "OpenAI's graders"),
    ("qa", "factuality", "LangChain"),
    ("embedding_distance", "semantic", "LangChain"),
    ("json_edit_distance", "json-match", "LangChain"),
    ("helpfulness", "llm-rubric", "openevals"),
    ("accuracy", "figure of a run", "anybody"),
]
IN_TICKS = re.compile(r"`([a-z][a-z0-9-]*)")
NO_NAMES = {
    "partial",
    "passed",
    "tiered-eval",
    "order",
    "field",
    "dimension",
    "weight",
    "labels",
    "tolerance",
    "unit",
}
"""Figures, commands and options that an advice names."""


def problem_of(entry: object) -> tuple[str, str]:
    """The rule that an entry breaks, and what to do."""
    problems = Problems()
    ExpectationReader(CATALOGUE, allow_code=True).read([entry], Scope("suite.yaml", problems))
    first = problems.errors[0]
    return first.rule, first.fix or ""


@pytest.mark.parametrize(("tool", "names"), THE_SAME.items(), ids=list(THE_SAME))
def test_what_means_the_same_has_the_same_name(tool: str, names: str):
    """With hyphens or underscores."""
    bare = [name.removeprefix("not-") for name in names.split()]

    assert [name for name in bare if CATALOGUE.find(name) is None and name not in KINDS] == []


@pytest.mark.parametrize(("name", "said", "why"), NEARLY)
def test_what_means_something_else_is_refused_with_advice(name: str, said: str, why: str):
    """As a key and as a pinned scorer; a guess would score something else."""
    assert problem_of({name: "x"})[0] == "unknown-kind"
    assert said in problem_of({name: "x"})[1]
    assert problem_of({"must-contain": {"value": "x", "scorer": name}})[0] == "unknown-scorer"
    assert said in problem_of({"must-contain": {"value": "x", "scorer": name}})[1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hallucination", "context-faithfulness"),
        ("ToxicityMetric", "model of its own"),
        ("AnswerRelevancyMetric", "answer-relevancy?"),
        ("contains-xml", "is-xml"),
        ("is_refussal", "is-refusal?"),
    ],
)
def test_a_name_alone_gets_the_same_advice(name: str, said: str):
    """It was "text without a kind", as if it were what is expected."""
    rule, fix = problem_of(name)

    assert rule == "unknown-kind"
    assert said in fix


@pytest.mark.parametrize("key", ["type", "eval_type", "metric"])
def test_an_entry_of_another_tool_is_told_how_to_be_written(key: str):
    """`{type: contains, value: a}` is promptfoo's."""
    rule, fix = problem_of({key: "contains", "value": "a"})

    assert rule == "unknown-kind"
    assert "`- contains: ...`" in fix
    assert "import-suite" in fix


def test_a_case_of_another_tool_is_told_where_its_checks_go():
    """`assert` is promptfoo's, and was taken for a slip of `answer`."""
    problems = Problems()
    case = {"id": "a", "response": "x", "assert": [{"type": "contains", "value": "x"}]}

    CaseReader(ExpectationReader(CATALOGUE)).read(case, Scope("suite.yaml", problems), number=1)

    assert "did you mean expect, with entries such as `- contains: ...`?" in (problems.errors[0].fix or "")


def test_where_a_limit_is_the_value_an_example_says_so():
    """promptfoo's limits of seconds and dollars are a threshold."""
    assert "`latency: 2.5 s`" in problem_of({"latency": {"threshold": 500}})[1]
    assert "`cost: 0.002`" in problem_of({"cost": {"threshold": 0.01}})[1]


def test_no_advice_is_about_a_name_that_is_known():
    """It would never be read."""
    assert [name for name in ELSEWHERE if CATALOGUE.find(name) is not None or name in KINDS] == []


@pytest.mark.parametrize("advice", sorted(set(ELSEWHERE.values())))
def test_an_advice_names_what_there_is(advice: str):
    """Each scorer that it tells to use exists."""
    named = {name.removeprefix("not-") for name in IN_TICKS.findall(advice)} - NO_NAMES

    assert [name for name in named if CATALOGUE.find(name) is None and name not in KINDS] == []


@pytest.mark.parametrize("name", ["", "-", "metric", "Metric", "not-", "x" * 500, "_", "\u00e9"])
def test_a_name_that_nobody_has_gets_no_advice(name: str):
    """Nor does a strange one stop the reading."""
    assert find_advice(name, CATALOGUE.names) is None
