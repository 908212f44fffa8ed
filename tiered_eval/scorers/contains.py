"""Parts that stand in the response: all of several, or any.

The one idea: each part is found as the scorer ``exact`` finds it, at the edges of a token and not denied; of several,
the share that was found is the score, and what is doubtful counts neither way until it decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tiered_eval.records import Expectation, Outcome
from tiered_eval.scorers.exact import Exact
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, graded, texts_of
from tiered_eval.text.accents import composed
from tiered_eval.text.json_values import is_list

__all__ = ["Contains"]

_EXACT = Exact()


class Contains(SelectingScorer):
    """Are the parts in the response?

    Options: ``mode``, ``all`` or ``any``; ``pass_at``, the share that must be found with ``all``; ``bounded: false`` for
    plain inclusion; ``case_sensitive``. A field that is a list contains its elements.
    """

    name = "contains"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all" if options.get("bounded", True) else "none"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        parts = texts_of(expected)
        outcomes = [_found(part, given, options) for part in parts]
        if len(outcomes) == 1:
            return outcomes[0]
        found = [outcome for outcome in outcomes if outcome.state == "pass"]
        unsure = [outcome for outcome in outcomes if outcome.state == "unsure"]
        if options.get("mode") == "any":
            return next(iter((*found, *unsure)), Outcome("fail", "none of them is in the response", 0.0))
        missing = [part for part, outcome in zip(parts, outcomes, strict=True) if outcome.state == "fail"]
        reason = f"{len(found)} of {len(parts)} are there"
        if missing:
            reason += f", not {', '.join(missing[:3])}"
        evidence = found[0].evidence if found else None
        least = graded(len(found) / len(parts), options, default=1.0, reason=reason, evidence=evidence)
        most = graded((len(found) + len(unsure)) / len(parts), options, default=1.0, reason=reason)
        if least.state == most.state:
            return least
        return Outcome("unsure", unsure[0].reason, least.score, unsure[0].evidence)


def _found(part: str, given: Given, options: Mapping[str, Any]) -> Outcome:
    is_cased = bool(options.get("case_sensitive"))
    if given.is_field and is_list(given.value):
        wanted = composed(part if is_cased else part.casefold())
        elements = (
            composed(text if is_cased else text.casefold())
            for entry in given.value
            for text in texts_of(entry)
        )
        is_there = wanted in elements
        return Outcome(
            "pass" if is_there else "fail", "an element" if is_there else "no element", float(is_there)
        )
    asked = _asked(bool(options.get("bounded", True)), is_cased, given.is_turned)
    return _EXACT.check(part, asked, given.subject)


@lru_cache(maxsize=8)
def _asked(is_bounded: bool, is_cased: bool, is_trap: bool) -> Expectation:
    """What the exact scorer is asked; a part that must not be there is a trap, also in another form of its word."""
    return Expectation(
        id="part",
        kind="must-not-contain" if is_trap else "must-contain",
        values=(),
        options={"bounded": is_bounded, "case_sensitive": is_cased} if is_cased or not is_bounded else {},
    )
