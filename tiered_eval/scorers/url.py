"""The response gives the expected web address.

The one idea: addresses are values (:mod:`tiered_eval.text.urls`). The whole address counts: neither a page below it nor a host
that only starts like it is the one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, evidence_of, texts_of
from tiered_eval.text.polarity import doubt_at
from tiered_eval.text.urls import Address, find_addresses, parse_address

__all__ = ["Url", "address_fault"]

_MOST = 1000
_AROUND = 300
"""Characters on each side that may deny it."""


def address_fault(expected: Any, options: Mapping[str, Any]) -> str | None:
    """What is wrong with the expected addresses, for the loader of suites."""
    texts = () if expected is None else texts_of(expected)
    wrong = next((text for text in texts if parse_address(text) is None), None)
    return None if wrong is None else f"{wrong!r:.100} is no web address"


class Url(SelectingScorer):
    """Is the address, or one of several, in the response?"""

    name = "url"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "bold"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """Is one of the addresses given?

        Raises:
            ConfigError: what is expected is no address.
        """
        wanted = [_wanted(text) for text in texts_of(expected)]
        unsure: Outcome | None = None
        seen = ""
        for start, end, found in given.subject.view(_addresses):
            if found is None or not any(found.leads_to(address) for address in wanted):
                seen = seen or given.text[start:end]
                continue
            doubt = _doubt(given.text, start, end)
            evidence = evidence_of(given.text, start, end)
            if doubt is None:
                return Outcome("pass", "the address", 1.0, evidence)
            unsure = unsure or Outcome("unsure", f"found, but {doubt}", None, evidence)
        return unsure or Outcome(
            "fail", f"another address, {seen[:80]}" if seen else "there is no address", 0.0
        )


def _addresses(text: str) -> list[tuple[int, int, Address | None]]:
    """The first addresses of a text, read."""
    places = islice(find_addresses(text), _MOST)
    return [(start, end, parse_address(text[start:end])) for start, end in places]


def _doubt(text: str, start: int, end: int) -> str | None:
    """As of any other word: the colon of an address ends no clause, and heads no list."""
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    word = "x" * (end - start)
    return doubt_at(f"{before}{word}{after}", len(before), len(before) + len(word))


def _wanted(text: str) -> Address:
    address = parse_address(text)
    if address is None:
        raise ConfigError(f"{text!r} is no web address")
    return address
