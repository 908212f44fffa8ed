"""A regular expression is found in the response.

The one idea: the author says exactly which text counts, so nothing is folded, bounded or doubted here; and no
pattern can hang a run. RE2 takes time linear in the response; the other engine, for look-around and
back-references, runs under a time limit, and running into it is an error and never a fail.

Runs only where an author pins it. Patterns are compiled, kept and checked by ``text.patterns``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

from tiered_eval.errors import ConfigError, PatternTimeout
from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.text.accents import composed, is_composed
from tiered_eval.text.patterns import Engine, compile_pattern
from tiered_eval.text.subject import Subject

__all__ = ["Regex"]

TIMEOUT_S = 1.0
"""Limit on one check with ``engine: regex`` where the author sets none."""
_MOST_MATCHES = 10_000
"""Matches whose group is compared before giving up."""
_QUOTE_LENGTH = 200
_SURROGATE = re.compile("[\ud800-\udfff]")


class Regex:
    """Is the pattern found, and, with ``equals``, does its group hold that text?

    Options: ``engine`` (``re2`` or ``regex``), ``timeout_s``, ``ignore_case``, ``multiline``, ``dotall``,
    ``group`` (number or name; the pattern's only group by default) and ``equals``.
    """

    name = "regex"
    tier: Tier = "exact"

    def __init__(self, profile: Profile | None = None, *, clock: Callable[[], float] = monotonic) -> None:
        """``profile`` is taken for the sake of the table of scorers; a pattern has no threshold."""
        self._clock = clock

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Is the pattern found in the response?

        Raises:
            ConfigError: the pattern cannot be compiled, or has no such group.
            PatternTimeout: the search took longer than ``timeout_s``.
        """
        options = expectation.options
        outcome = self._searched(str(value), subject.text, options)
        if outcome.state == "pass" or (is_composed(str(value)) and is_composed(subject.text)):
            return outcome
        again = self._searched(composed(str(value)), composed(subject.text), options)
        return again if again.state != "fail" else outcome

    def _searched(self, pattern: str, text: str, options: Mapping[str, Any]) -> Outcome:
        compiled = _compiled(pattern, options)
        wanted = options.get("equals")
        group = _group(pattern, compiled, options)
        held: str | None = None
        for count, match in enumerate(self._matches(pattern, compiled, text, options)):
            if wanted is None and match.start(group) >= 0:
                return Outcome("pass", "the pattern is found", 1.0, _evidence(text, match, group))
            if wanted is not None and match.group(group) == str(wanted):
                return Outcome("pass", "the group holds it", 1.0, _evidence(text, match, group))
            held = held or match.group(group)
            if count >= _MOST_MATCHES:
                return Outcome("unsure", "there are too many matches to look at them all")
        if wanted is None or held is None:
            return Outcome("fail", "the pattern is not found", 0.0)
        return Outcome("fail", f"the group holds {held[:_QUOTE_LENGTH]!r}", 0.0)

    def _matches(self, pattern: str, compiled: Any, text: str, options: Mapping[str, Any]) -> Iterator[Any]:
        """The matches in their order."""
        if options.get("engine") != "regex":
            # RE2 takes UTF-8, in which a lone surrogate cannot be written.
            yield from compiled.finditer(_SURROGATE.sub("\ufffd", text))
            return
        limit_s = float(options.get("timeout_s") or TIMEOUT_S)
        deadline = self._clock() + limit_s
        place = 0
        while place <= len(text):
            try:
                match = compiled.search(text, place, timeout=max(1e-3, deadline - self._clock()))
            except TimeoutError:
                raise PatternTimeout(pattern=pattern, limit_s=limit_s) from None
            if match is None:
                return
            yield match
            place = match.end() + (match.end() == match.start())


def _compiled(pattern: str, options: Mapping[str, Any]) -> Any:
    engine: Engine = "regex" if options.get("engine") == "regex" else "re2"
    try:
        return compile_pattern(
            pattern,
            engine=engine,
            ignore_case=bool(options.get("ignore_case")),
            multiline=bool(options.get("multiline")),
            dotall=bool(options.get("dotall")),
        )
    except ValueError as fault:
        raise ConfigError(f"the pattern {pattern!r} cannot be compiled: {fault}") from None


def _group(pattern: str, compiled: Any, options: Mapping[str, Any]) -> int:
    asked = options.get("group")
    if asked is None:
        return 1 if options.get("equals") is not None and compiled.groups == 1 else 0
    name = str(asked)
    number = int(name) if name.isdecimal() else compiled.groupindex.get(name)
    if number is None or number > compiled.groups:
        raise ConfigError(f"the pattern {pattern!r} has no group {name!r}")
    return int(number)


def _evidence(text: str, match: Any, group: int) -> Evidence:
    start, end = match.span(group)
    return Evidence(text[start : min(end, start + _QUOTE_LENGTH)], start, end)
