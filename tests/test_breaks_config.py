"""Options that make no sense are told before a run begins; the command line is not the only way in."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"concurrency": 0}, "nobody would ever work"),
        ({"concurrency": 2.5}, "half a call"),
        ({"concurrency": True}, "a flag is no number"),
        ({"max_time_s": float("nan")}, "a deadline that never comes, however it is compared"),
        ({"max_time_s": -1.0}, "before the run"),
        ({"max_time_s": "6m"}, "the command line's way to write it"),
        ({"home": "evals"}, "found to be no path deep in the run, else"),
        ({"results_path": "results.jsonl"}, "as above"),
        ({"request_timeout_s": 0.0}, "no attempt could end in time"),
        ({"request_timeout_s": float("nan")}, "as above"),
        ({"max_cost_usd": Decimal("NaN")}, "a cap that nothing exceeds"),
        ({"max_cost_usd": Decimal("Infinity")}, "no cap is said by None"),
        ({"max_cost_usd": Decimal(-1)}, "a debt"),
        ({"max_cost_usd": Decimal("1e400")}, "more than sums can be exact for"),
        ({"max_cost_usd": 0.5}, "money is exact"),
        ({"daily_cap_usd": 0.5}, "so is that of a day"),
        ({"monthly_cap_usd": Decimal("NaN")}, "and that of a month"),
        ({"suite_caps_usd": {"day": Decimal("NaN")}}, "and that of a suite"),
        ({"suite_caps_usd": {"week": Decimal(1)}}, "a period that nothing would be held against"),
        ({"max_error_rate": float("nan")}, "a share that nothing is above"),
        ({"max_error_rate": 1.5}, "more than all"),
        ({"audit_rate": 1.01}, "more than all, again"),
        ({"audit_rate": float("nan")}, "a share that nothing is below"),
        ({"mode": "ofline"}, "must not go live by a slip"),
        ({"when_short": "decid"}, "a slip must not choose for its author"),
        ({"batch": "no"}, "another slip"),
        ({"pack": "off"}, "and another"),
        ({"pack": 0}, "no question at all"),
        ({"judges": "openai:gpt-6-luna"}, "would be read letter by letter"),
        ({"judges": ("openai:gpt-6-luna", 3)}, "no name"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, Any], why: str):
    """It is a ConfigError that names the option and its value."""
    with pytest.raises(ConfigError, match=next(iter(options))):
        RunConfig(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": 1, "max_time_s": 0, "max_cost_usd": Decimal(0), "max_error_rate": 1},
        {"max_time_s": float("inf"), "pack": 6, "batch": "always", "mode": "replay"},
        {"judges": ["openai:gpt-6-luna"], "suite_caps_usd": {"ever": Decimal("0.01")}},
    ],
)
def test_the_edges_of_what_makes_sense_are_taken(options: dict[str, Any]):
    """Nothing to spend, no time and one call at once are all meant by somebody, and kept as they were given."""
    made = RunConfig(**options)

    assert {name: getattr(made, name) for name in options if name != "judges"} == {
        name: value for name, value in options.items() if name != "judges"
    }
