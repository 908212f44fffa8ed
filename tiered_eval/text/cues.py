"""The words that turn a statement round: denials, suppositions, reports.

The one idea: a closed list that can be read and argued about, one pattern a kind. Idioms that only look like
denials ("not only", "no later than") are read first, so that they hide the words they contain. English only.

What the cues reach is decided in ``text.polarity``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import re2

from tiered_eval.text.keeping import kept

__all__ = ["STEMS", "Cue", "CueKind", "find_cues", "in_place_lower"]

CueKind: TypeAlias = Literal[
    "denial", "aside", "predicate", "hypothetical", "report", "choice", "doubt", "past"
]
"""``aside`` is a denial that sets something apart ("unlike", "except for"); ``predicate`` denies what stands before it."""

_IDIOM = r"""
    not\s+(?:only|just|merely|simply|solely|least|surprisingly|to\s+mention|until|before)
  | (?:if|whether\s+or|why|or)\s+not
  | (?:no|without|beyond|in|any|a)\s+doubt
  | no\s+(?:doubt|wonder|question|later|earlier|sooner|more|less|fewer|matter|problem)
  | no(?:\.\s*|\s*\#)\d+
  | (?:nothing|none|no\s+one|nobody)\s+(?:but|other\s+than|else\s+but|less\s+than)
  | without\s+(?:doubt|question|fail|exception|delay)
  | (?:cannot|can't|couldn't|could\s+not)\s+help\s+but
"""
_DENIAL = r"""
    (?:missing | absent | excluded | omitted | rejected | unavailable | invalid | not[ ]\w+)(?:[ ]\w+){0,2}\**:\**(?!\d)
  | (?:not | wrong | incorrect | no[ ](?:match(?:es)? | results? | hits? | records? | entry | entries | such[ ]\w+))\**:\**(?!\d)
  | [a-z]+n't | cannot | not | never | no\s+longer | no | none | nobody | nothing | nowhere | neither | nor
  | without | unless | lack(?:s|ed|ing)? | absence\s+of
  | hardly | barely | scarcely | seldom | rarely
  | rather\s+than | instead\s+of | far\s+from | anything\s+but | as\s+opposed\s+to
  | (?:everything|everyone|everybody|all(?:\s+[^\W\d]+)?)\s+(?:but|bar)
  | fail(?:s|ed|ing)?\s+to | unable\s+to | refus(?:e|es|ed|ing)\s+to
  | den(?:y|ies|ied|ying) | reject(?:s|ing)? | yet\s+to(?=\s+(?:be\s+)?[a-z])
  | (?:false|untrue|wrong|incorrect|mistaken)\s+(?:that|to\s+(?:say|claim|assume|think|believe))
"""
"""What follows is denied, up to the end of the clause; the first line is a label, such as "Not found:"."""
_ASIDE = r"except(?:ing)? | excluding | other\s+than | apart\s+from | unlike | contrary\s+to"
_PREDICATE = r"""
    (?:false | untrue | incorrect | wrong | mistaken | missing | absent | excluded | omitted | rejected | unavailable
    | unknown | invalid)(?=\s*(?:[^\w\s]|$)|\s+(?:and|as|at|because|by|for|from|here|in|on|or|since|to|under|until)\b)
  | myth | misconception | mistake | error | hoax | rumou?r(?!\s+has)
"""
_HYPOTHETICAL = r"""
    (?:would|could|might|should)(?:\s+have|'ve)(?:\s+been)?
  | if\s+(?:only\s+)?(?:it|he|she|they|we|you|i|this|that|there)\s+(?:were|had)
  | if\s+[^.;!?\n]{1,80}?\s+would
  | (?:were|had)\s+(?:it|he|she|they|we|you|i|this|that|there)
  | had\s+(?:the|its|our|their)\s+(?:\w+\s+){1,3}been | say\s+(?:it|they|there|that|the\s+\w+)\s+(?:was|were)
  | assume\s+(?:that\s+)?(?:the|it|this|there|an?)
  | suppos(?:e|ing) | imagin(?:e|ing) | hypothetically | let's\s+say | what\s+if
"""
_REPORT = r"""
    (?:claims? | idea | notion | belief | assertion | allegations? | suggestion | rumou?rs? | myth | theory)\s+that
  | claim(?:s|ed)?\s+(?:it|the\s+\w+(?:\s+\w+)?)\s+(?:is|are|was|were)
  | (?:might|may|could|would)\s+(?:\w+ly\s+)?(?:think|believe|assume|guess)
  | rumou?r\s+has\s+it | reportedly
  | alleged(?:ly)? | supposed(?:ly)? | purported(?:ly)? | so-called | rumou?red
  | mistakenly | wrongly | falsely | incorrectly
  | whether | (?:asked|asking|wondering?|wondered)\s+(?:if|about)
"""
_CHOICE = "either"
_DOUBT = r"""
    doubt(?:s|ed)? | doubtful | (?:un|not\s+)likely | improbable | dubious
  | avoid(?:s|ed|ing)?(?!ance) | beware\s+of | refrain(?:s|ed|ing)?\s+from | steer\s+clear\s+of | forget(?:\s+about)?(?=\s) | stop\s+using
"""
"""What follows is doubted, or warned of."""
_PAST = r"used\s+to\s+(?:be|have|cost|last|run|take) | formerly(?=\s+[$€£]?\d)"

_WORDS = re.compile(
    rf"""(?<![\w'])(?:
      (?P<idiom>{_IDIOM})
    | (?P<hypothetical>{_HYPOTHETICAL})
    | (?P<report>{_REPORT})
    | (?P<choice>{_CHOICE})
    | (?P<doubt>{_DOUBT})
    | (?P<past>{_PAST})
    | (?P<denial>{_DENIAL})
    | (?P<aside>{_ASIDE})
    | (?P<predicate>{_PREDICATE})
    )(?!\w)""",
    re.VERBOSE,
)
_STEMS = r"""
    no not never none nobody nothing nowhere neither nor cannot without unless or\s+not why\s+not
    lack lacks lacked lacking absence hardly barely scarcely seldom rarely rather instead far anything
    fail fails failed failing unable refus\w+ deny denies denied denying except excepting excluding other apart unlike
    false falsely untrue wrong wrongly incorrect incorrectly mistaken mistakenly missing absent excluded omitted
    rejected unavailable unknown invalid myth misconception mistake error
    would could might should if were had suppos\w+ imagin\w+ hypothetically let what
    claims? idea notion belief assertion allegations? suggestion rumou?rs? theory
    claimed may doubt doubts doubted doubtful unlikely improbable dubious used\s+to formerly reject rejects rejecting contrary
    as\s+opposed everything everyone everybody all(?:\s+[a-z]+)?\s+(?:but|bar) beyond in\s+doubt any\s+doubt a\s+doubt
    say\s+(?:it|they|there|that|the) assume avoid avoids avoided avoiding beware refrain refrains refrained refraining steer forget
    stop\s+using yet\s+to hoax rumou?r reportedly
    alleged allegedly purported purportedly so-called rumou?red whether asked asking wonder\w* either
"""
STEMS = rf"(?i)\b(?:{'|'.join(_STEMS.split())}|[a-z]+n['’]t)\b"
"""The first word of each cue, for RE2."""
_STEM = re2.compile(STEMS)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that turn round what stands beside them, with their offsets in the text."""

    kind: CueKind
    start: int
    end: int


@kept
def find_cues(text: str) -> tuple[Cue, ...]:
    """The cues of a text in their order; a pure function, fit for ``subject.view``."""
    cues = []
    lowered = ""
    past = 0
    for place in _places(text):
        lowered = lowered or in_place_lower(text)
        found = _WORDS.match(lowered, place) if place >= past else None
        if found:
            past = found.end()
            if found.lastgroup != "idiom":
                cues.append(Cue(cast(CueKind, found.lastgroup), place, past))
    return tuple(cues)


def in_place_lower(text: str) -> str:
    """Lower case with plain apostrophes, every character in its place."""
    if text.isascii():
        return text.lower()
    # Of all characters only the dotted capital I grows when it is lowered.
    return text.replace("’", "'").replace("İ", "I").lower()


def _places(text: str) -> list[int]:
    """Where cues may begin, found in linear time and many times faster than the cues themselves."""
    try:
        return [stem.start() for stem in _STEM.finditer(text)]
    except UnicodeEncodeError:  # RE2 cannot take a lone surrogate
        return [stem.start() for stem in _STEM.finditer(_SURROGATE.sub("?", text))]
