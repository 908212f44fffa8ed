"""The scorers set-overlap, coverage-ratio, exact-match-ratio and list-match."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from tests.scoring import state, verdict

OVERLAP = [
    (["a", "b"], ["a", "b"], 1.0, 1.0, "the same"),
    (["a", "b"], ["b", "a"], 1.0, 1.0, "a set has no order"),
    (["a", "b", "c", "d"], ["a", "b"], 0.5, 0.5, "half of them"),
    (["a", "b"], ["a", "b", "c", "d"], 1.0, 0.5, "two too many"),
    (["a", "a", "b"], ["a", "b"], 1.0, 1.0, "duplicates of the expected count once"),
    (["a", "b"], ["a", "a", "a"], 0.5, 0.5, "duplicates of the found count once"),
    ([], [], 1.0, 1.0, "both empty"),
    ([], ["a"], 1.0, 0.0, "nothing is expected"),
    (["a"], [], 0.0, 0.0, "nothing is found"),
    ([1, 2], [1.0, 2.0], 1.0, 1.0, "one number"),
    ([1], [True], 0.0, 0.0, "true is not 1"),
    (["1"], [1], 0.0, 0.0, "a text is no number"),
    ([{"id": 1, "x": 2}], [{"x": 2, "id": 1}], 1.0, 1.0, "objects, whatever the order of keys"),
    (["A"], ["a"], 0.0, 0.0, "case counts in data"),
]


@pytest.mark.parametrize(("expected", "found", "recall", "jaccard", "why"), OVERLAP)
def test_sets_overlap(expected: list[Any], found: list[Any], recall: float, jaccard: float, why: str):
    """The share of the expected, and the share of all, as the primitives of that platform have them."""
    for method, score in (("intersection", recall), ("jaccard", jaccard)):
        spec = {"primitive": "set_overlap", "field": "found", "ground_truth_field": "all", "method": method}
        ended = verdict(spec, fields={"found": found}, meta={"ground_truth": {"all": expected}})

        assert ended.score == pytest.approx(score), why
        assert ended.state == ("pass" if score == 1 else "fail"), why


COVERAGE = [
    (["q1", "q2"], ["q2", "q1", "q3"], 1.0, "others do no harm"),
    (["q1", "q2"], ["q1"], 0.5, "half"),
    (["q1", "q2"], [], 0.0, "none"),
    (["q1", "q1"], ["q1"], 1.0, "duplicates count once"),
    ([], [], 1.0, "both empty"),
    ([1, 2, 3], [1, 2, 9], 2 / 3, "numbers"),
    ([1], ["1"], 0.0, "a text is no number"),
    ([True], [1], 0.0, "true is not 1"),
    (["é"], ["e\u0301"], 1.0, "composed and decomposed accents are one"),
    ({"q1": "x", "q2": "y"}, {"q1": "z"}, 0.5, "a mapping stands for its keys"),
    (["a"], "a", 1.0, "one element without a list"),
    (["q1", "q2", "q3", "q4"], ["q1", "q2", "q3"], 0.75, "three of four"),
]


@pytest.mark.parametrize(("expected", "found", "score", "why"), COVERAGE)
def test_coverage_is_the_share_of_the_expected(expected: Any, found: Any, score: float, why: str):
    """What is there of what should be."""
    ended = verdict({"coverage_ratio": {"value": expected, "field": "found"}}, fields={"found": found})

    assert ended.score == pytest.approx(score), why


RATIO = [
    ([1, 2, 3], [1, 2, 3], 1.0, "all"),
    ([1, 2, 3], [1, 9, 3], 2 / 3, "one differs"),
    ([1, 2, 3], [3, 2, 1], 1 / 3, "place counts"),
    ([1, 2, 3], [1, 2], 2 / 3, "too few, over the expected length"),
    ([1, 2], [1, 2, 3], 1.0, "elements too many are ignored"),
    ([1, 2], [], 0.0, "none"),
    ([], [], 1.0, "nothing is expected"),
    ([1], [1.0], 1.0, "one number"),
    ([1], [True], 0.0, "true is not 1"),
    (["a"], ["A"], 0.0, "case counts"),
    (["1"], [1], 0.0, "a text is no number"),
    ([[1, 2], [3]], [[1, 2], [4]], 0.5, "nested lists, whole"),
    ([None], [None], 1.0, "null"),
]


@pytest.mark.parametrize(("expected", "found", "score", "why"), RATIO)
def test_elements_are_compared_in_their_places(expected: list[Any], found: list[Any], score: float, why: str):
    """The share of the expected length that is the same in its place."""
    spec = {"primitive": "exact_match_ratio", "field": "answers", "ground_truth_field": "expected"}
    ended = verdict(spec, fields={"answers": found}, meta={"ground_truth": {"expected": expected}})

    assert ended.score == pytest.approx(score), why


CITIES = ["Oslo", "Bergen", "Portland, OR"]

LISTS = [
    (CITIES, {}, '["Oslo", "Bergen", "Portland, OR"]', "pass", "as JSON"),
    (CITIES, {}, "- Oslo\n- Bergen\n- Portland, OR", "pass", "as bullets"),
    (CITIES, {}, "1. **Oslo**\n2. Bergen - on the coast\n3. Portland, OR", "pass", "numbered and explained"),
    (CITIES, {}, "They are Oslo, Bergen and Portland, OR.", "pass", "in a sentence, with an OR inside one"),
    (CITIES, {}, "They are Oslo and Bergen.", "fail", "one is missing"),
    (CITIES, {"pass_at": 0.6}, "They are Oslo and Bergen.", "pass", "two of three are enough here"),
    (CITIES, {}, "Oslo, Bergen, but not Portland, OR", "unsure", "one is denied"),
    (CITIES, {"ordered": True}, "Bergen, Oslo, Portland, OR", "fail", "another order"),
    (CITIES, {"ordered": True}, "Oslo, then Bergen, then Portland, OR", "pass", "this order"),
    (["a1", "b2"], {"extra": False}, "a1, b2", "pass", "no others"),
    (["a1", "b2"], {"extra": False}, "a1, b2, c3", "fail", "another one in a sentence"),
    (["a1", "b2"], {"extra": False}, "- a1\n- b2\n- c3", "fail", "another one as a bullet"),
    (["a1", "b2"], {"extra": False}, '["b2", "a1"]', "pass", "no others, as JSON"),
    (["a1", "b2"], {"extra": False}, "a1\nb2\nc3", "fail", "another one on a line of its own"),
    (["a1", "b2"], {"extra": False}, "a1\nb2", "pass", "lines without marks"),
    (CITIES, {}, "Oslo, Bergen, Portland,\nOR", "unsure", "an item across a line end"),
    (["5"], {}, "25 and 35", "fail", "5 in 25"),
    (["5", "25"], {}, "25", "fail", "one number is not two items"),
    (["Bosnia and Herzegovina", "Serbia"], {}, "Serbia, Bosnia and Herzegovina", "pass", "an and inside one"),
    (["café"], {}, "cafe\u0301, bar", "pass", "decomposed"),
    (["Oslo"], {}, "", "fail", "nothing"),
    ([2, 3], {}, "2 and 3", "pass", "numbers"),
]


@pytest.mark.parametrize(("items", "options", "response", "wanted", "why"), LISTS)
def test_items_are_read_from_prose(
    items: list[Any], options: dict[str, Any], response: str, wanted: str, why: str
):
    """However a response lists, its items are found."""
    assert state({"list-match": {"value": items, **options}}, response) == wanted, why


def test_prose_that_may_hide_items_is_unsure():
    """Where no others may be listed and a long clause stands among the items, nobody can tell."""
    entry = {"list-match": {"value": ["a1", "b2"], "extra": False}}

    assert state(entry, "a1, b2, while the one that we looked at last week has gone") == "unsure"


def test_sets_in_prose_are_sets():
    """set-overlap reads a sentence where there is no list."""
    entry = {"set-overlap": {"value": ["red", "green", "blue"], "pass_at": 0.6}}
    ended = verdict(entry, "We have red and blue.")

    assert (ended.state, round(ended.score or 0, 2)) == ("pass", 0.67)
    assert "not green" in ended.reason


@pytest.mark.parametrize("unit", ["yes no ", "yes, no, ", "not yes, never no, "])
def test_no_listing_takes_long(unit: str):
    """An item that is named thousands of times is looked at until it is plainly said, and not much longer."""
    began = process_time()

    verdict({"list-match": ["yes", "no"]}, unit * (30_000 // len(unit)))

    assert process_time() - began < 2


def test_what_was_not_read_is_not_missing():
    """An item behind the part that is read may be there, asked for or not: neither is a fail or a pass."""
    long = "It is so. " * 6_000

    assert state({"list-match": ["Oslo"]}, f"Oslo, and more. {long}") == "pass"
    assert state({"list-match": ["Oslo"]}, f"{long} It is Oslo.") == "unsure"
    assert (
        state({"list-match": {"value": ["Oslo"], "extra": False}}, f"Oslo{' ' * 50_000}, Bergen") == "unsure"
    )
