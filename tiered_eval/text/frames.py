"""What a sentence puts around a value that it holds, so that it does not plainly say so.

The one idea: a check that knows only a value, and not what is claimed of it, may trust a plain assertion and nothing else. So the
sentence is asked for all that can stand between holding a value and saying it: a guess, a condition, an example, somebody
else's words, a comparison, a restriction behind it, a heading above it. The words are closed lists, read anywhere in
the sentence and not only where they surely apply: where one stands, a judge looks.

Asked by the exact and number scorers and by the guards, once something is found and :mod:`~tiered_eval.text.polarity`
has no doubt. Never of an answer to a question, whose question says what is claimed, nor of a scan.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from tiered_eval.text.foreign import foreign_doubt
from tiered_eval.text.layout import label_before
from tiered_eval.text.tokens import holds_verb, is_past_form

__all__ = ["Found", "doubt_of_frame", "kind_of"]

Found: TypeAlias = Literal["word", "act", "name", "identifier", "number", "statement"]
"""What was found: a common word or phrase, a participle, a name, letters with digits, a number, a whole statement."""

_LOOK = 240
"""Characters on either side in which the ends of the sentence are looked for."""
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"”’)\]*]|$)|\n")

_SUPPOSED = (
    r"suppos(?:e[ds]?|ing)|assum(?:e[ds]?|ing|ption)|imagin(?:e[ds]?|ing)|pretend\w*|picture\s+an?|let(?:'s|\s+us)\s+say|say\s+you"
    r"|hypothetical\w*|in\s+theory|ideally|in\s+an?\s+(?:perfect|ideal)\s+world|in\s+(?:the|a|an|this|that|his|her)\s+(?:\w+\s+)?"
    r"(?:novel|story|film|movie|tale|legend|fiction|dream|simulation|scenario)|placeholder|dummy|fictional|fictitious|made-up"
    r"|looks?\s+like\s+this|in\s+the\s+(?:form|format)|were\s+(?:we|you|they|it|he|she)\s+to|(?:for|as\s+an)\s+(?:example|instance)|e\.g\."
    r"|if|unless|whether|had\s+(?:we|you|they|it|he|she)|as\s+soon\s+as|until|once"
)
_GUESSED = (
    r"guess\w*|thinks?|thought|believe[ds]?|expect(?:s|ed|ation)?|suspect(?:s|ed)?|hope[ds]?|fear(?:s|ed)?|reckon\w*|presum\w+|perhaps"
    r"|maybe|possibl[ey]|probabl[ey]|likely|apparently|seem(?:s|ed|ingly)?|appear(?:s|ed)\s+to|tentative\w*|provisional\w*|preliminary"
    r"|uncertain|unsure|(?:not|n't)\s+sure|unclear|remains\s+to\s+be|memory\s+serves|(?:to|of)\s+my\s+knowledge|as\s+far\s+as|might|suggest(?:s|ed)"
    r"|rumou?r\w*|alleg\w+|supposedly|misconception|(?:please|let\s+me|to)\s+(?:check|verify|confirm|double-check)|make\s+sure|ensure"
    r"|(?:should|could|would|must|ought\s+to|needs?\s+to|has\s+to|have\s+to)\s+(?:be|have\s+been|have|get)|estimate[ds]?|projected|forecast\w*"
)
_SPEAKERS = (
    r"you|users?|customers?|clients?|colleagues?|callers?|friends?|neighbou?rs?|people|they|he|she|someone|somebody|everyone|blogs?"
    r"|forums?|posts?|adverts?|ads?|websites?|many|some|most|others|critics|rivals?|competitors?|witness(?:es)?|lawyers?"
)
_TOLD = (
    rf"(?:{_SPEAKERS})(?:\s+\w+){{0,2}}?\s+(?:says?|said|mention(?:s|ed)?|told|claim(?:s|ed)?|state[ds]?|quote[ds]?|insist(?:s|ed)?|argue[ds]?|want(?:s|ed)?"
    r"|wish(?:es|ed)?|call(?:s|ed)?\s+it|put\s+it\s+at|gives?)|you\s+(?:asked|wrote|meant|refer\w*|are\s+looking)|(?:as|like)\s+you"
    r"|(?:per|in|from|with)\s+your\s+(?:message|e-?mail|question|note|request|claim|query)|so-called|in\s+(?:his|her|their)\s+(?:opinion|view)"
)
_BEFORE = rf"\b(?:(?P<supposed>{_SUPPOSED})|(?P<guessed>{_GUESSED})|(?P<told>{_TOLD}))\b"
_COMPARED = (
    r"(?:(?<!no\sless\s)(?<!no\smore\s)(?<!not\sless\s)(?<!not\smore\s)(?<!no\sfewer\s)\bthan|\b(?:versus|vs\.?|unlike|compared\s+(?:with|to)|in\s+contrast\s+to|as\s+opposed\s+to|against|beats?|averages?\s+of|similar\s+to|akin\s+to"
    r"|(?:duplicate|copy|clone|version|variant)\s+of|as\s+(?:much|many|long|heavy|big|far|fast|high|cheap)\s+as|confus\w+\s+(?:\w+\s+)?(?:with|for)"
    r"|mist(?:ake|aken|ook)\s+(?:\w+\s+)?for|prior\s+to|beyond))\s+(?:[\w-]+\s+){0,3}$"
)
_RULED_OUT = (
    r"\b(?:waiv\w+|exclud\w+|omit\w*|exempt\w*\s+from|(?:free|aside|apart|away)\s+(?:of|from)|(?:out|short|devoid|instead|empty|bereft)\s+of|ban(?:s|ned)?"
    r"|prohibit\w*|forbid\w*|forbade|cancel\w*|abolish\w*|lacks?|lacking|lost|allergic\s+to|without\s+\w+ing|except(?:\s+for)?|save\s+for|minus|skip\w*"
    r"|pretend\w*\s+to\s+be|(?:dead|outdated|obsolete|expired|deprecated|fake|counterfeit|old|wrong|mistyped|another|similar)\s+\w+|vice|deputy|prime|acting|assistant"
    r"|partly|partially|mostly|largely|almost|nearly|half|semi|sometimes|occasionally|usually|rarely|somewhat|supposed\s+to\s+be)[\s-]+(?:an?\s+|the\s+|any\s+|its\s+)?$"
)
_TAKEN_BACK = (
    r"^[^.;!?]{0,40}?\b(?:costs?\s+extra|(?:is|are|comes?|was|were)\s+(?:\w+\s+)?(?:extra|optional|dead|outdated|obsolete|deprecated|void|expired|out\s+of\s+date"
    r"|a\s+(?:\w+\s+)?(?:myth|misconception|mistake|rumou?r|typo|joke|guess|lie))|(?:sold|billed|available|charged)\s+separately|redirects?\s+to"
    r"|belongs?\s+to\s+(?:an?other|someone|somebody|a\s+different)|says?\s+nothing|(?:is|are|was)\s+silent|give\s+or\s+take|or\s+so\b|or\s+thereabouts"
    r"|at\s+the\s+(?:earliest|latest)|below\s+zero|has\s+been\s+suggested|i\s+(?:think|guess|believe|suppose)|if\s+memory|as\s+far\s+as|they\s+say)\b"
    r"|^%?\s*(?:off|discount)\b|^-?ish\b|^\s?[a-z]*ish\s"
)
_RESTRICTED = (
    r"^[^.;!?]{0,60}?\b(?:only|exclusively|solely|if|unless|except\w*|excluding|apart\s+from|aside\s+from|save\s+for|other\s+than|provided|(?:as|so)\s+long\s+as"
    r"|subject\s+to|on\s+condition|in\s+case|(?:by|on|upon)\s+(?:appointment|request)|but\s+not|while\s+(?:stocks|supplies)|but\s+only|when|whenever)\b"
)
_NARROWED = (
    r"^,?\s+(?:on|at|for|to|in|during|with|by|while|where|till|until|before|after|from|within|up|down|below|above|under|over|per|inside|outside"
    r"|among|between)\b"
)
_COPULA = re.compile(
    r"\b(?:is|are|was|were|be|been|comes?|remains?|stays?)\s+(?:(?:\w+ly|also|always|now|still|both)\s+)*$"
)


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    reason: str
    applies_to: frozenset[str]


_EVERY = frozenset(("word", "act", "name", "identifier", "number"))
_RULES_BEFORE = (
    _Rule(re.compile(_COMPARED), "compared with it", _EVERY),
    _Rule(re.compile(_RULED_OUT), "set apart by the words before it", _EVERY),
)
_RULES_BEHIND = (
    _Rule(re.compile(_TAKEN_BACK), "taken back or softened behind it", _EVERY),
    _Rule(
        re.compile(_RESTRICTED),
        "restricted or contrasted behind it",
        frozenset(("word", "act", "name", "number")),
    ),
)
_FRAME = re.compile(_BEFORE)
_NARROWER = re.compile(_NARROWED)
_CONDITIONS = frozenset(("if", "unless", "once", "until", "as soon as", "whether"))
_NEXT_CLAUSE = re.compile(r";|,\s+(?:but|yet|however|while|whereas|although|though|so)\s")
_REASONS = {"supposed": "only supposed", "guessed": "not said outright", "told": "only told of somebody"}
_STATEMENT_SPACES = 3
"""From four words on, or with a verb, a literal says something."""
_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=4096)
def kind_of(quote: str) -> Found:
    """What a literal is beside characters, as it is written."""
    spaces = quote.count(" ")
    if spaces >= _STATEMENT_SPACES or (spaces and holds_verb(quote)):
        return "statement"
    if _DIGIT.search(quote) or "@" in quote or "://" in quote:
        return "identifier"
    if not quote.islower():
        return "name"
    return "act" if is_past_form(quote) else "word"


def doubt_of_frame(
    text: str, start: int, end: int, found: Found, own: frozenset[str] = frozenset()
) -> str | None:
    """Why the sentence around ``text[start:end]`` does not plainly say what it holds there; None where it does.

    ``own`` are the words of the claim, which frame nothing.
    """
    before, after = _sentence_around(text, start, end)
    if (label := label_before(text, start)) and _UNMEANT_LABEL.search(label.lower()):
        return "below or behind a label that takes it back"
    if doubt := foreign_doubt(f"{before} {after}"):
        return doubt
    return _doubt_before(before.lower(), found, own) or _doubt_behind(before.lower(), after.lower(), found)


_UNMEANT_LABEL = re.compile(
    r"\b(?:mistakes?|myths?|pitfalls?|don'?ts?|avoid\w*|cancel\w*|withdrawn|deprecated|expired|obsolete|former\w*|previous\w*|past|old|exclu\w+|missing"
    r"|out\s+of\s+scope|ruled\s+out|rejected|rumou?rs?|unconfirmed|proposed|planned|wish\s?list|optional|not|never|without|alternatives|competitors?|rivals?"
    r"|counterfeit|fake|examples?|samples?|templates?|typos?|wrong|errors?|incorrect|false|hypothe\w+|guess\w*|drafts?|questions?|ideas|to\s?-?do|open\s+points)\b"
)


def _sentence_around(text: str, start: int, end: int) -> tuple[str, str]:
    before = text[max(0, start - _LOOK) : start]
    ends = [found.end() for found in _SENTENCE_END.finditer(before)]
    stop = _SENTENCE_END.search(text, end, end + _LOOK)
    after = text[end : stop.start() if stop else end + _LOOK]
    return (before[ends[-1] :] if ends else before), after


def _doubt_before(before: str, found: Found, own: frozenset[str]) -> str | None:
    if not before:
        return None
    for frame in _FRAME.finditer(before):
        kind = frame.lastgroup
        if kind is not None and own.isdisjoint(frame[0].split()) and _reaches(before, frame, kind):
            return _REASONS[kind]
    for rule in _RULES_BEFORE:
        if found in rule.applies_to and rule.pattern.search(before):
            return rule.reason
    return None


def _reaches(before: str, frame: re.Match[str], kind: str) -> bool:
    """Is the value in the clause of the frame? What a condition leads to is said behind its comma."""
    if _NEXT_CLAUSE.search(before, frame.end()):
        return False
    return kind != "supposed" or frame[0] not in _CONDITIONS or "," not in before[frame.end() :]


def _doubt_behind(before: str, after: str, found: Found) -> str | None:
    if not after:
        return None
    for rule in _RULES_BEHIND:
        if found in rule.applies_to and rule.pattern.search(after):
            return rule.reason
    if found == "word" and _COPULA.search(before) and _NARROWER.match(after):
        return "only as far as the words behind it say"
    return None
