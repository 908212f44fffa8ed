"""The response chooses one of several labels, and it is the right one.

The one idea: naming a label is not choosing it. The longest label wins where one is part of another, a denied label does
not count, and where two are left the response must say which one is its answer; else nobody can tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Evidence, Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, evidence_of, texts_of
from tiered_eval.text.accents import composed
from tiered_eval.text.frames import doubt_of_frame
from tiered_eval.text.labels import LabelAt, find_labels, is_answer_at, label_of
from tiered_eval.text.polarity import doubt_at, kept_cues

__all__ = ["Classification"]

_MOST_PLACES = 200
_ARTICLE = re.compile(r"(?<=\bA)\s+[a-z]|(?<=\bI)(?:\s+[a-z]|['’])")
"""What makes a capital a word: "A dog", "I am"."""


class Classification(SelectingScorer):
    """Which label does the response choose?

    Options: ``labels``, all that it may choose from, and ``case_sensitive``. Without ``labels`` only a response that is
    the label, or announces it, can be told.
    """

    name = "classification"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """Is the chosen label (one of) the expected?

        Raises:
            ConfigError: an expected label is none of ``labels``.
        """
        is_cased = bool(options.get("case_sensitive"))
        given = given.composed()
        wanted = tuple(map(composed, texts_of(expected)))
        known = tuple(map(composed, options.get("labels") or ()))
        labels = known or wanted
        right = {label_of(text, labels, is_cased=is_cased) for text in wanted}
        if None in right:
            raise ConfigError(f"{' or '.join(wanted)} is none of the labels {', '.join(labels)}")
        alone = label_of(given.text, labels, is_cased=is_cased)
        if alone is not None:
            return _decided(LabelAt(alone, 0, len(given.text)), right, given)
        said, doubtful = _named(given, labels, is_cased=is_cased)
        if not said and not doubtful:
            return _none_named(given.text, labels)
        chosen = _chosen(said, given.text)
        if chosen is None and known:
            chosen = _leading(said, doubtful, given.text)
        if chosen is None and not doubtful and known:
            names = {place.label for place in said}
            chosen = said[0] if len(names) == 1 else None
        if chosen is None:
            either = sorted({place.label for place in (*said, *doubtful)})
            return Outcome("unsure", f"names {' and '.join(either)} without a clear choice")
        return _decided(chosen, right, given)


def _named(given: Given, labels: Sequence[str], *, is_cased: bool) -> tuple[list[LabelAt], list[LabelAt]]:
    """The places that say a label, and those that may; denied ones are left out."""
    said, doubtful = [], []
    cues = given.subject.view(kept_cues)
    for place, _ in zip(
        find_labels(given.text, labels, is_cased=is_cased), range(_MOST_PLACES), strict=False
    ):
        doubt = doubt_at(given.text, place.start, place.end, cues) or _doubt_around(given.text, place)
        if doubt is None or doubt == "quoted":
            said.append(place)
        elif doubt != "denied":
            doubtful.append(place)
    return said, doubtful


def _doubt_around(text: str, place: LabelAt) -> str | None:
    """ "It reads like spam, although ...": the label is what it looks like, or the sentence turns away from it."""
    if is_answer_at(text, place.start):
        return None
    if text[place.start : place.end].casefold() == "no" and _GOES_ON.match(text, place.end):
        return "a word of what follows"  # "I have no access", and perhaps "No problem, it is open"
    if _LOOKS.search(text, max(0, place.start - _NEAR), place.start) or _TURNS.match(text, place.end):
        return "only what it looks like"
    return doubt_of_frame(text, place.start, place.end, "statement", frozenset({"would", "'d"}))


_NEAR = 60
_LOOKS = re.compile(
    r"\b(?:looks?|reads?|sounds?|feels?|seems?)\s+(?:\w+\s+)?(?:like|as)\b[^.!?\n]*$", re.IGNORECASE
)
_TURNS = re.compile(r"[^.!?\n]{0,60}[,;:–—]\s*(?:yet|although|though|but|however|while)\b", re.IGNORECASE)


def _chosen(said: Sequence[LabelAt], text: str) -> LabelAt | None:
    """The label that the response calls its answer; None where it calls none so, or several."""
    announced = [place for place in said if is_answer_at(text, place.start)]
    if announced and len({place.label for place in announced}) == 1:
        return announced[0]
    return None


_BEFORE_ANY = re.compile(r"[\s*_`#>\"'“‘(\[-]*")
_STOP = re.compile(r"[*_`\"'”’)\]]*(?:[.,;!–—]|\s-\s|\s*\n)")
_GOES_ON = re.compile(r"\s+[^\W\d_]")
_TURNING = re.compile(
    r"\b(?:but|yet|however|though|although|or|rather|actually|wait|maybe|perhaps|possibly|instead|unless|if|except|when|depends"
    r"|until|correction|sorry|unsure|otherwise)\b",
    re.IGNORECASE,
)


def _leading(said: Sequence[LabelAt], doubtful: Sequence[LabelAt], text: str) -> LabelAt | None:
    """ "Yes, there is no doubt": the label that comes first and alone, where others are words in what follows."""
    first = said[0] if said else None
    if first is None or not _BEFORE_ANY.fullmatch(text, 0, first.start) or not _STOP.match(text, first.end):
        return None
    others = [place for place in (*said, *doubtful) if place.label != first.label]
    is_clear = all(
        place.start > first.end
        and _GOES_ON.match(text, place.end)
        and not _TURNING.search(text, first.end, place.start)
        for place in others
    )
    return first if is_clear else None


def _decided(chosen: LabelAt, right: set[str | None], given: Given) -> Outcome:
    evidence = evidence_of(given.text, chosen.start, chosen.end)
    if not given.is_as_written:
        evidence = Evidence(evidence.quote)
    if chosen.label in right:
        return Outcome("pass", f"chooses {chosen.label}", 1.0, evidence)
    return Outcome("fail", f"chooses {chosen.label}", 0.0, evidence)


def _none_named(text: str, labels: Sequence[str]) -> Outcome:
    """No label is named as one; a capital by itself may be, as in "It is A or B"."""
    letters = "".join(re.escape(label) for label in labels if len(label) == 1)
    if letters and any(not _ARTICLE.match(text, at.end()) for at in re.finditer(rf"\b[{letters}]\b", text)):
        return Outcome("unsure", "a letter stands there, but not as a choice")
    return Outcome("fail", "chooses none of the labels", 0.0)
