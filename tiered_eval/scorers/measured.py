"""What the answer took: seconds, dollars, tokens, calls, against a limit.

The one idea: the figure was measured by the harness and stands in the case, among its fields or its meta, under a name
that says its unit. Where it does not stand there it was not measured, which is an error: neither fast nor slow.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile
from tiered_eval.records import Case, Expectation, Outcome, Tier, Value
from tiered_eval.scorers.selecting import graded
from tiered_eval.text.json_values import as_number, is_list
from tiered_eval.text.paths import find_at, parse_path
from tiered_eval.text.subject import Subject

__all__ = ["ApiCallEfficiency", "Cost", "Latency", "TimeDecay", "TokenEfficiency", "budget_fault"]

_SECONDS = (
    "latency_s",
    "duration_s",
    "elapsed_s",
    "time_used_s",
    "time_used_secs",
    "latency_ms",
    "duration_ms",
    "elapsed_ms",
    "time_used_ms",
    "latencyMs",
)
_DOLLARS = ("cost_usd", "total_cost_usd", "price_usd", "cost")
_TOKENS = (
    "tokens_used",
    "total_tokens",
    "tokens",
    "usage.total_tokens",
    "trajectory.total_tokens",
    "tokenUsage.total",
)
_CALLS = (
    "api_calls",
    "api_call_count",
    "call_count",
    "llm_calls",
    "calls",
    "tool_call_count",
    "trajectory.calls",
    "trajectory.api_calls",
    "trajectory.tool_calls",
    "trajectory.llm_calls",
)
_PER_SECOND = Decimal(1000)


class _Measured:
    """Options: ``field``, where the figure stands, if not under one of its usual names."""

    name: str
    tier: Tier = "exact"
    what: ClassVar[str]
    places: ClassVar[Sequence[str]]

    def __init__(self, profile: Profile | None = None) -> None:
        self.profile = profile

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Is it within the limit?

        Raises:
            ConfigError: it was not measured, or there is no limit.
        """
        options = expectation.options
        used = self.measured(subject.case, options.get("field"))
        return self.weighed(used, value, options)

    @abstractmethod
    def weighed(self, used: Decimal, limit: Decimal | None, options: Mapping[str, Any]) -> Outcome:
        """What is to be said of the figure."""

    def measured(self, case: Case, path: str | None) -> Decimal:
        for place in (path,) if path is not None else self.places:
            for root in (case.fields, case.meta):
                found, _ = find_at(root, parse_path(place))
                number = _number(found[0]) if found else None
                if number is not None:
                    if number < 0:
                        raise ConfigError(f"{place} is {number}, which nothing can take")
                    is_milliseconds = place.endswith(("_ms", "Ms"))
                    return number / _PER_SECOND if is_milliseconds else number
        where = path or f"one of {', '.join(self.places[:3])} ..."
        raise ConfigError(f"the case does not say {self.what}: no number under {where} in its fields or meta")


def _number(found: Any) -> Decimal | None:
    """A figure; a list of what was counted is as many as it has entries."""
    return Decimal(len(found)) if is_list(found) else as_number(found)


class Latency(_Measured):
    """Did the answer come in time? Expected is the most it may take."""

    name = "latency"
    what = "how long the answer took"
    places = _SECONDS

    def weighed(self, used: Decimal, limit: Decimal | None, options: Mapping[str, Any]) -> Outcome:
        return _within(used, limit, f"{used.normalize():f} s")


class Cost(_Measured):
    """Was it cheap enough? Expected is the most that it may cost, in US dollars."""

    name = "cost"
    what = "what the answer cost"
    places = _DOLLARS

    def weighed(self, used: Decimal, limit: Decimal | None, options: Mapping[str, Any]) -> Outcome:
        return _within(used, limit, f"${used.normalize():f}")


def _within(used: Decimal, limit: Decimal | None, shown: str) -> Outcome:
    is_within = limit is not None and used <= limit
    return Outcome("pass" if is_within else "fail", shown, float(is_within))


class _Saved(_Measured):
    """The share of the limit that was left is the score; at the limit it is 0.

    Options: ``pass_at`` (0); ``optimal`` (0), up to which nothing counts as used.
    """

    def weighed(self, used: Decimal, limit: Decimal | None, options: Mapping[str, Any]) -> Outcome:
        limit = options.get("time_limit_secs", options.get("limit", limit))
        if limit is None or limit <= 0:
            raise ConfigError(f"{self.name} needs a limit above 0")
        free = Decimal(options.get("optimal", 0))
        if free >= limit:
            raise ConfigError(f"{self.name}: optimal {free} is not below the limit {limit}")
        reason = f"{used.normalize():f} of {limit.normalize():f} used"
        if used > limit:
            return Outcome("fail", reason, 0.0)
        left = 1 - max(Decimal(0), used - free) / (limit - free)
        return graded(float(left), options, default=0.0, reason=reason)


def budget_fault(expected: Any, options: Mapping[str, Any]) -> str | None:
    """What is wrong with a budget, for the loader of suites."""
    limit = options.get("limit", expected)
    if limit is None:
        return "there is no budget: give it as the value, or as `limit`"
    if expected is not None and expected != limit:
        return f"there are two budgets, {expected} and {limit}"
    if not limit > 0:
        return f"a budget of {limit} is no budget"
    if options.get("optimal", 0) >= limit:
        return f"optimal {options['optimal']} is not below the budget {limit}"
    return None


class TimeDecay(_Saved):
    """How much of the time was left?"""

    name = "time-decay"
    what = "how long the answer took"
    places = _SECONDS


class TokenEfficiency(_Saved):
    """How much of the budget of tokens was left?"""

    name = "token-efficiency"
    what = "how many tokens were used"
    places = _TOKENS


class ApiCallEfficiency(_Saved):
    """How much of the budget of calls was left?"""

    name = "api-call-efficiency"
    what = "how many calls were made"
    places = _CALLS
