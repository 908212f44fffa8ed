"""The response starts, or ends, with a text.

The one idea: the beginning must end where a token ends, so that ``PO-44`` does not start ``PO-4471``; marks of formatting
before the first word, and the full stop after the last, are not the author's business unless he writes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tiered_eval.records import Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, evidence_of, texts_of
from tiered_eval.text.edges import edges_at
from tiered_eval.text.normalise import Normalised, normalise, normalise_cased

__all__ = ["EndsWith", "StartsWith"]

_MARKS = re.compile(r"(?:[\s*_`#>\"'(\[{|•]|[-+](?=\s))*")
_ENDINGS = " .!?…\"')]}*_`|"


class _Affix(SelectingScorer):
    """Options: ``case_sensitive``, and ``bounded: false`` to look at characters only."""

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all" if options.get("bounded", True) else "none"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        folded = given.subject.view(normalise_cased if options.get("case_sensitive") else normalise)
        fold = normalise_cased if options.get("case_sensitive") else normalise
        doubtful: Outcome | None = None
        for text in texts_of(expected):
            needle = fold(text).text
            start = self.place(folded.text, needle)
            if start is None or not needle:
                continue
            end = start + len(needle)
            evidence = evidence_of(folded.original, *folded.span(start, end))
            edges = edges_at(folded, start, end).state if options.get("bounded", True) else "clean"
            if edges == "clean":
                return Outcome("pass", self.reason, 1.0, evidence)
            if edges == "doubtful":
                doubtful = doubtful or Outcome(
                    "unsure", "it may be a piece of something longer", None, evidence
                )
        return doubtful or Outcome("fail", f"not so: {self.shown(folded)!r}", 0.0)

    reason: str

    def place(self, text: str, needle: str) -> int | None:
        """Where the needle stands, if it stands where it should."""
        raise NotImplementedError

    def shown(self, folded: Normalised) -> str:
        """What stands there instead."""
        raise NotImplementedError


class StartsWith(_Affix):
    """Does the response start with it, or with one of several?"""

    name = "starts-with"
    reason = "starts with it"

    def place(self, text: str, needle: str) -> int | None:
        if text.startswith(needle):
            return 0
        marks = _MARKS.match(text)
        return marks.end() if marks and text.startswith(needle, marks.end()) else None

    def shown(self, folded: Normalised) -> str:
        return folded.original.lstrip()[:60]


class EndsWith(_Affix):
    """Does the response end with it, or with one of several?"""

    name = "ends-with"
    reason = "ends with it"

    def place(self, text: str, needle: str) -> int | None:
        for end in range(len(text), len(text.rstrip(_ENDINGS)) - 1, -1):
            if end >= len(needle) and text.endswith(needle, 0, end):
                return end - len(needle)
        return None

    def shown(self, folded: Normalised) -> str:
        return folded.original.rstrip()[-60:]
