"""Whether a sentence only tells what somebody says: critics, a leaked mail, "or so they say".

The one idea: "the contract says that payment is due in May" states when payment is due, since nobody but the contract could;
"critics say that Velox bought Norda" does not state that it did. So what counts is who is quoted: people without a name, or
a source behind an indefinite article, whom a text quotes where it will not say so itself.

A guard; what is reported in general ("alleged", "it is a myth that") are cues of :mod:`tiered_eval.text.polarity`.
"""

from __future__ import annotations

import re

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import stem

__all__ = ["attributed"]

_SAYING = frozenset(
    stem(word)
    for word in "say tell claim believe think argue suggest fear insist report allege predict suspect accord".split()
)
_REACH = 120
"""Characters before and behind a match in which its source stands."""
_SOURCES = (
    "(?:critics|analysts|some|many|people|they|sources|rivals|opponents|others|experts|insiders|fans|commentators|observers"
    "|sceptics|skeptics|bloggers|supporters|campaigners|neighbours|neighbors|friends)"
)
_SAY = (
    r"(?:say|said|believe[sd]?|claim(?:s|ed)?|think|thought|argue[sd]?|suggest(?:s|ed)?|fear(?:s|ed)?|hope[sd]?|insist(?:s|ed)?"
    r"|report(?:s|ed)?|whisper(?:s|ed)?)"
)
_VAGUE = rf"(?:an?|some|one|unnamed|unconfirmed|leaked|rumou?rs?|{_SOURCES})"
_BEFORE = re.compile(
    rf"\b{_SOURCES}\s+(?:[a-z]+\s+){{0,3}}?{_SAY}\s+(?:that\s+)?(?:the\s+|an?\s+)?$"
    rf"|\b(?:told|tells)\s+(?:[a-z]+\s+){{1,3}}that\s+(?:the\s+|an?\s+)?$"
    rf"|\baccording\s+to\s+{_VAGUE}\b[^.;]*,\s*(?:the\s+|an?\s+)?$"
)
_BEHIND = re.compile(
    rf"[\s,–—-]*(?:or\s+)?so\s+(?:he|she|it|{_SOURCES})\s+{_SAY}"
    rf"|[^.;]{{0,24}},\s*according\s+to\s+{_VAGUE}\b"
    r"|[^.;]{0,24},\s*(?:the\s+|an?\s+)?(?:[a-z]+\s+){1,2}(?:claim(?:s|ed)|alleg(?:es|ed)|believ(?:es|ed)|insist(?:s|ed)"
    r"|suspect(?:s|ed)|speculat(?:es|ed)|predict(?:s|ed))\s*[.!]?\s*$"
)


def attributed(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Somebody unnamed is quoted for it, before the match or behind it, and the claim does not say so too."""
    if not _SAYING.isdisjoint(claim.stems) or _SAYING.isdisjoint(place.stems):
        return None
    start, end = place.tokens[first].start, place.tokens[last].end
    before = place.text[max(place.start, start - _REACH) : start].lower()
    behind = place.text[end : min(place.end + 1, end + _REACH)].lower()
    return "only somebody says so" if _BEFORE.search(before) or _BEHIND.match(behind) else None
