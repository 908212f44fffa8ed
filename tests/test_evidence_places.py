"""Where evidence has places, they are those of its quote in the response as it was given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scoring import verdict

ACCENT = "cafe\u0301"
"""With an accent that is a character of its own, so that composing it moves what follows."""
PIECES = st.sampled_from(
    "**|__|`|~~|==|<b>|</b>|<br>|</div>|<a href='y'>|</a>|[|](u)|> |# |- |\n|\r\n| |\u200b|\u00ad|\u202f|\u0301|İ|ﬁ|&amp;|45|days|net"
    '|PO-4471|2025-03-04|the fee is due|not|"|.'.split("|")
)
ENTRIES: tuple[dict[str, Any], ...] = (
    {"kind": "must-contain", "scorer": "exact", "value": "PO-4471"},
    {"kind": "must-contain", "scorer": "exact", "value": "the fee is due"},
    {"kind": "must-contain", "scorer": "fuzzy-ocr", "value": "PO-4471"},
    {"kind": "must-contain", "scorer": "number", "value": 45, "unit": "days"},
    {"kind": "must-contain", "scorer": "number", "value": "2025-03-04"},
    {"contains-any": ["net", "45"]},
    {"starts-with": "net"},
    {"numeric": 45},
    {"classification": {"value": "net", "labels": ["net", "gross"]}},
)
"""Scorers that decide alone, so that what they are unsure of is settled as well."""


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12).map("".join))
def test_a_place_holds_its_quote(response: str):
    """Whatever marks, invisible characters and accents stand around it."""
    for entry in ENTRIES:
        evidence = verdict(entry, response).evidence

        assert (
            evidence is None
            or evidence.start is None
            or response[evidence.start :].startswith(evidence.quote)
        )


@pytest.mark.parametrize(
    ("entry", "response", "why"),
    [
        (
            {"classification": {"value": "net", "labels": ["net", "gross"]}},
            f"At the {ACCENT}:\nCategory: net.",
            "compared with its accents composed",
        ),
        ({"contains": {"value": "net", "field": "terms"}}, '{"terms": "it is net"}', "found in a field"),
        (
            {"not-contains": {"value": "net", "field": "terms"}},
            '{"terms": "net 45"}',
            "found there by its opposite",
        ),
        ({"numeric": {"value": 45, "field": "terms"}}, '{"terms": "net 45"}', "a number in a field"),
    ],
)
def test_evidence_of_another_text_has_a_quote_and_no_place(entry: dict[str, Any], response: str, why: str):
    """A place in a part of the response, or in another form of it, is none in the response."""
    evidence = verdict(entry, response).evidence

    assert evidence is not None
    assert (evidence.quote in ("net", "45"), evidence.start, evidence.end) == (True, None, None), why
