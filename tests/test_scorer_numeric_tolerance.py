"""The scorer numeric-tolerance: JSON numbers within a tolerance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state, verdict
from tiered_eval.errors import ConfigError

ROWS = [
    (10, {"tolerance": 0.01}, 10, 1.0, "the same"),
    (10, {"tolerance": "0.01"}, 10.01, 1.0, "at the limit"),
    (10, {"tolerance": "0.01"}, 10.011, 0.0, "beyond it"),
    (0.3, {"tolerance": "0.1"}, 0.2, 1.0, "at the limit, where floats are off"),
    (5, {"tolerance": 1}, -5, 0.0, "the sign"),
    (10, {}, 10.0, 1.0, "no tolerance, one number"),
    (10, {"tolerance": 1}, "10", 0.0, "a text is no number"),
    (1, {"tolerance": 1}, True, 0.0, "nor is true"),
    (200, {"relative_tolerance": "0.01"}, 202, 1.0, "a share"),
    (10, {"tolerance": 1, "decay": 4}, 13, 0.5, "half way down outside of it"),
    (10, {"tolerance": 1, "decay": 4}, 15, 0.0, "at the end of the decay"),
    (10, {"tolerance": 1, "decay": 4}, 99, 0.0, "far away, never negative"),
    ([1, 2, 3, 4], {"tolerance": 0}, [1, 2, 3, 9], 0.75, "a list, one off"),
    ([1, 2], {}, [1], 0.5, "one is missing"),
    ([1, 2], {}, [1, 2, 3, 4], 0.5, "two too many"),
    ([1, 2], {}, 1, 0.0, "a number is no list"),
    (1, {}, [1], 0.0, "a list is no number"),
    ([1, 2], {}, [1, None], 0.5, "an element that is no number"),
]


@pytest.mark.parametrize(("expected", "options", "found", "score", "why"), ROWS)
def test_numbers_are_near_or_not(expected: Any, options: dict[str, Any], found: Any, score: float, why: str):
    """Inside of the tolerance all, outside nothing, or a part where the author asks for it."""
    entry = {"numeric_tolerance": {"value": expected, "field": "result", **options}}
    ended = verdict(entry, fields={"result": found})

    assert ended.score == pytest.approx(score), why
    assert ended.state == ("pass" if score == 1 else "fail"), why


def test_the_whole_response_may_be_the_number():
    """Without a field the response itself is read, as JSON and not as prose."""
    entry = {"numeric-tolerance": {"value": 42, "tolerance": 1}}

    assert (state(entry, "42.5"), state(entry, "about 42")) == ("pass", "fail")


def test_expecting_no_number_is_an_error():
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(ConfigError, match="a number or a list"):
        state({"numeric-tolerance": {"value": "ten"}}, "10")
