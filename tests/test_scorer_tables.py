"""Each scorer of the catalogue has a table of examples: at least 12 rows, each with a word on why it is there.

A new scorer fails here until its table is named below.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from tiered_eval.catalogue import CATALOGUE

LEAST = 12
TABLES = {
    "exact": "exact:the_literal_is_found exact:a_piece_of_something_longer_is_not_the_literal",
    "answer": "answer:an_answer_that_is_given_passes answer:an_answer_that_is_only_named_climbs",
    "regex": "regex:a_pattern_is_found_as_its_options_say",
    "field": "field:a_field_is_compared_as_the_value_it_is",
    "classification": "scorer_classification:the_chosen_label_is_compared",
    "exact-match": "scorer_exact_match:case_and_punctuation_around_words_do_not_count",
    "contains": "scorer_contains:parts_are_found_at_token_edges",
    "starts-with": "scorer_contains:a_start_ends_with_a_token",
    "ends-with": "scorer_contains:an_end_begins_with_a_token",
    "url": "scorer_url:an_address_is_compared_by_where_it_leads",
    "is-json": "scorer_json_form:the_whole_or_a_part_is_json",
    "contains-json": "scorer_json_form:the_whole_or_a_part_is_json",
    "is-xml": "scorer_markup:xml_is_one_document",
    "is-html": "scorer_markup:html_is_nothing_else",
    "is-sql": "scorer_markup:sql_can_be_parsed",
    "is-refusal": "scorer_refusal:refusals_are_told_from_answers",
    "word-count": "scorer_word_count:words_are_counted",
    "python": "scorer_python:what_a_function_returns_is_read",
    "json-match": "scorer_json_match:the_share_of_values_that_agree_is_the_score",
    "set-overlap": "scorer_sets:sets_overlap",
    "coverage-ratio": "scorer_sets:coverage_is_the_share_of_the_expected",
    "exact-match-ratio": "scorer_sets:elements_are_compared_in_their_places",
    "list-match": "scorer_sets:items_are_read_from_prose",
    "numeric-tolerance": "scorer_numeric_tolerance:numbers_are_near_or_not",
    "tool-call": "scorer_tool_call:calls_are_paired",
    "code-exec": "scorer_code_exec:no_response_passes_without_being_right",
    "latency": "scorer_measured:latency_is_within_its_limit",
    "cost": "scorer_measured:cost_is_within_its_limit",
    "time-decay": "scorer_measured:time_decays_to_nothing",
    "token-efficiency": "scorer_measured:a_budget_of_tokens",
    "api-call-efficiency": "scorer_measured:a_budget_of_calls",
    "number": "number:states_the_number",
    "numeric": "scorer_numeric:the_number_that_is_meant_is_compared",
    "date": "scorer_numeric:a_day_is_a_value",
    "fuzzy-ocr": "fuzzy_ocr:a_misread_literal_is_found fuzzy_ocr:another_value_is_not_a_misreading",
    "coverage": "coverage:a_statement_that_is_there_passes coverage:whatever_is_doubtful_climbs",
    "levenshtein": "scorer_likeness:likeness_is_one_less_the_share_of_edits",
    "fuzzy-string": "scorer_likeness:slips_are_forgiven_and_digits_are_not",
    "rouge": "scorer_word_overlap:rouge_is_as_published",
    "bleu": "scorer_word_overlap:bleu_is_as_published",
    "lexical-cosine": "scorer_word_overlap:the_cosine_is_of_words",
    "semantic": "semantic:the_nearest_sentence_decides",
    "judge": "judge:an_answer_counts_as_far_as_it_can_be_checked",
    "llm-judge": "graded_scores:a_score_decides_at_its_threshold",
    "llm-rubric": "graded_criteria:criteria_are_counted",
    "closed-qa": "graded_criteria:an_answer_is_judged_by_its_question",
    "factuality": "graded_factuality:a_relation_passes_or_does_not",
    "g-eval": "graded_scores:a_level_is_a_share_of_its_scale",
    "answer-relevance": "graded_statements:a_response_is_relevant_to_its_question",
    "context-faithfulness": "graded_statements:a_response_is_faithful_to_its_context",
    "context-recall": "graded_statements:a_context_recalls_the_reference",
    "context-relevance": "graded_statements:a_context_is_relevant_to_the_question",
    "context-precision": "graded_ranking:what_serves_should_be_found_first",
    "pairwise": "graded_pairwise:only_what_wins_in_both_orders_has_won",
    "manual": "scorer_manual:nothing_is_decided",
}
"""The tests that are a scorer's table, as ``file:test``, each without its ``test_``."""


def rows_of(test: str) -> Iterator[dict[str, Any]]:
    """The rows of one test by the names of its arguments, as pytest runs them."""
    module, _, name = test.partition(":")
    function = getattr(import_module(f"test_{module}"), f"test_{name}")
    for mark in function.pytestmark:
        if mark.name == "parametrize" and "why" in mark.args[0]:
            yield from (
                dict(zip(mark.args[0], getattr(row, "values", row), strict=True)) for row in mark.args[1]
            )


def test_every_scorer_has_a_table():
    """The catalogue and the list of tables name the same scorers."""
    assert sorted(TABLES) == sorted(scorer.name for scorer in CATALOGUE)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_twelve_rows_with_a_why(name: str):
    """Rows differ from each other, and each says in words what it is there for."""
    rows = [row for test in TABLES[name].split() for row in rows_of(test)]
    tried = [repr({key: value for key, value in row.items() if key != "why"}) for row in rows]

    assert len(set(tried)) >= LEAST
    assert [row for row in rows if not any(map(str.isalpha, row["why"]))] == []
