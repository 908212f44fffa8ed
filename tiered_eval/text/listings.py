"""The items of a list that stands in prose: as bullets, numbered, or joined by commas and "and".

The one idea: the items that are looked for are known, so they are found first, longest first; what is left between the
commas are the items that were not asked for. That keeps "Portland, OR" and "Bosnia and Herzegovina" whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tiered_eval.text.normalise import normalise
from tiered_eval.text.plain_answers import plain_answer
from tiered_eval.text.polarity import doubt_at

__all__ = ["LONGEST", "Listing", "read_listing"]

LONGEST = 50_000
"""Characters of a text that are read."""
_MOST_PLACES = 200
"""Of one item that are looked at until one says it plainly."""
EXTRA_WORDS = 6
"""A piece of more words is prose around the list, not an item of it."""

_BULLET = re.compile(r"^[ \t]*(?:[-*•‣▪–+]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+(\S.*)$", re.MULTILINE)
_EXPLAINED = re.compile(r"\s+[-–—(]|:\s|\s=\s")
"""What an item may be explained behind: "Paris - the capital"."""
_SEPARATOR = re.compile(r"[,;\n]|\s(?:and|or|&|plus|as\s+well\s+as)\s|\.(?=\s|$)", re.IGNORECASE)
_HELD = "\ue000"
"""Stands for a known item while the rest is cut up."""


class Listing(NamedTuple):
    """What a text lists."""

    found: tuple[int, ...]
    """Places in the known items, in the order of the text, each once."""
    extra: tuple[str, ...]
    """Items that are none of the known."""
    doubtful: tuple[int, ...]
    """Known items that are named, and denied or only mentioned."""


def read_listing(text: str, known: Sequence[str]) -> Listing:
    """The items of ``text``; ``known`` are those that are looked for."""
    text = text[:LONGEST]
    bullets = [match[1] for match in _BULLET.finditer(text)]
    if len(bullets) > 1:
        return _from_bullets(bullets, known)
    if bullets and len(known) == 1:
        listing = _from_bullets(bullets, known)
        return listing if listing.found or listing.doubtful else _from_prose(bullets[0], known)
    return _from_prose(text, known)


def _from_bullets(bullets: Sequence[str], known: Sequence[str]) -> Listing:
    places = {plain_answer(item): index for index, item in reversed(list(enumerate(known)))}
    found: list[int] = []
    doubtful: list[int] = []
    extra: list[str] = []
    for bullet in bullets:
        forms = (plain_answer(bullet), plain_answer(_EXPLAINED.split(bullet, maxsplit=1)[0]))
        index = next((places[form] for form in forms if form in places), None)
        if index is None:
            extra.append(forms[1] or forms[0])
        elif _REMARKED.search(bullet):
            doubtful.append(index)
        elif index not in found:
            found.append(index)
    return Listing(tuple(found), tuple(dict.fromkeys(extra)), tuple(doubtful))


_REMARKED = re.compile(
    r"[-–—(:,;].*\b(?:closed|instead|not|no\s+longer|n't|excluded|except|cancell?ed|removed|unavailable|optional|maybe|unsure|tbd|tbc|wrong|replaced|skip\w*|see)\b",
    re.IGNORECASE,
)
"""A remark behind an item that may take it off the list: "Oslo (closed)"."""


def _from_prose(text: str, known: Sequence[str]) -> Listing:
    # A line end parts items; an item that is found only across one is not plainly there.
    folded = normalise(text.strip().replace("\n", " ; "))
    across = normalise(text).text if "\n" in text else ""
    held = folded.text
    places: dict[int, int] = {}
    doubtful: list[int] = []
    for index in sorted(range(len(known)), key=lambda index: -len(known[index])):
        needle = normalise(known[index]).text
        if not needle:
            continue
        pattern = rf"(?<![\w.-]){re.escape(needle)}(?!\w|[-.]\w)"
        said = [match.span() for match in re.finditer(pattern, held)]
        clean = next((span for span in said[:_MOST_PLACES] if _is_plainly_said(folded.text, *span)), None)
        held = re.sub(pattern, lambda match: _HELD * len(match[0]), held)
        if clean:
            places[index] = clean[0]
        elif said or (across and re.search(pattern, across)):
            doubtful.append(index)
    pieces = _SEPARATOR.split(held.rpartition(":")[2] if ":" in held else held)
    extra = (plain_answer(piece) for piece in pieces if _HELD not in piece)
    return Listing(
        found=tuple(sorted(places, key=places.__getitem__)),
        extra=tuple(dict.fromkeys(piece for piece in extra if piece)),
        doubtful=tuple(doubtful),
    )


def _is_plainly_said(text: str, start: int, end: int) -> bool:
    return doubt_at(text, start, end) in (None, "quoted", "one of several")
