"""Verdicts of people as labels, which calibration learns thresholds from.

The one idea: one line for each item with a verdict, in the order in which it was asked, with the response and the
claim beside it, so a label can be scored again by any check. People judge the response as it came; where a ``post_process``
stands before the checks, the label carries the text that the checks look at, since it is they that are measured by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tiered_eval.catalogue import NEGATION
from tiered_eval.people.items import Item, item_to_json
from tiered_eval.people.store import Judgement, PeopleStore

__all__ = ["label_rows"]


def label_rows(store: PeopleStore) -> Iterator[dict[str, Any]]:
    """The labels of a home as JSON values.

    ``human`` is the first verdict, "the expectation is met"; ``human_2`` that of another person, where there is one.

    Raises:
        ConfigError: the home cannot be read.
    """
    said: dict[str, list[Judgement]] = {}
    for judgement in store.judgements().values():
        said.setdefault(judgement.id, []).append(judgement)
    for item in store.items().values():
        if item.id in said:
            yield _row(item, said[item.id])


def _row(item: Item, judgements: list[Judgement]) -> dict[str, Any]:
    given = item_to_json(item)
    kind = item.kind.removeprefix(NEGATION)
    met = "pass" if kind == item.kind else "fail"  # "not-x is not met" is a label of x
    row: dict[str, Any] = {
        "id": item.id,
        "case": item.case_id,
        "kind": kind,
        "human": judgements[0].verdict == met,
    }
    if len(judgements) > 1:
        row["human_2"] = judgements[1].verdict == met
    if item.input is not None:
        row["question"] = item.input
    row["response"] = item.response if item.checked is None else item.checked
    row["expected"] = given.get("values", [])
    row["match"] = item.match
    for name in ("fields", "options"):
        if name in given:
            row[name] = given[name]
    return row
