"""Does a text decline what it was asked, go into it, or something between?

The one idea: a refusal is said in the first person and mostly at the start. Words of caution elsewhere may belong to a
refusal in part or to a careful answer, and only someone who reads the whole can tell. Only English is read; what looks like a
refusal in another language is doubt.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, NamedTuple

import re2

__all__ = ["Refusal", "find_refusal"]

OPENING = 400
"""Characters at the start in which a refusal settles it."""


def _compiled(pattern: str) -> re2._Regexp:
    """A pattern that is laid out over lines. RE2 is some ten times faster than :mod:`re` where nothing is found."""
    return re2.compile(f"(?i){''.join(pattern.split())}")


_ABLE = (
    r"(?:can\s?not|can't|could\s?not|couldn't|will\s+not|won't|shall\s+not|may\s+not|must\s+not|do\s+not|don't"
    r"|(?:am|'m|are|'re)\s+(?:really\s+|simply\s+|just\s+)?(?:not\s+(?:able|allowed|permitted|comfortable|programmed|designed"
    r"|capable|willing|in\s+a\s+position)|unable|unwilling|prohibited|forbidden)(?:\s+(?:to|of|with|from))?)"
)
_HELP = (
    r"(?:provid\w*|assist\w*|help\w*|fulfil\w*|comply\w*|complet\w*|answer\w*|respond\w*|discuss\w*|offer\w*|giv\w+|suggest\w*|support\w*"
    r"|engag\w*|recommend\w*|shar\w+|generat\w*|creat\w*|writ\w+|produc\w+|encourag\w*|condon\w*|promot\w*|endors\w*|satisfy|do\s+that|do\s+this"
    r"|advis\w+|participat\w*|facilitat\w*|continue|teach|explain|tell|speculat\w*|disclos\w*|access|browse|advocate)"
)
_ADVERB = r"(?:\s+(?:in\s+good\s+conscience|ethically|legally|therefore|directly|actually|personally|currently|possibly|really|and\s+will\s+not|or\s+won't))?"
_STRONG = _compiled(
    rf"""\b(?:
      i(?:\s+|\b)(?:(?:also|just|simply|really|still|unfortunately|therefore|personally)\s+)?{_ABLE}{_ADVERB},?\s+{_HELP}
    | (?:sorry|apologi[sz]e|apologies|unfortunately|afraid|regret)\b[^.!?\n]{{0,60}}\bi(?:\s+|\b)(?:also\s+)?(?:can\s?not|can't|won't|am\s+unable|'m\s+unable|am\s+not\s+able|'m\s+not\s+able|do\s+not\s+have|don't\s+have)
    | i\s+(?:must|have\s+to|need\s+to|will\s+have\s+to)\s+(?:respectfully\s+|politely\s+)?(?:decline|refuse)
    | (?:against|violat\w+|not\s+consistent\s+with|outside)\s+(?:of\s+)?(?:my|our)\s+(?:\w+\s+){{0,2}}(?:programming|guidelines|polic\w+|principles|capabilities|values|purpose)
    | i\s+(?:decline|refuse)\s+to
    | i(?:\s+do\s+not|\s+don't)\s+feel\s+comfortable
    | your\s+(?:request|question|prompt)\s+(?:is|was|has\s+been)\s+(?:declined|refused|rejected|inappropriate)
    )"""
)
_IMPOSSIBLE = re.compile(
    r"\b(?:fictional|fictitious|imaginary|mythical|(?:does|do|did)\s+not\s+(?:actually\s+)?exist|doesn't\s+exist|no\s+such"
    r"|not\s+(?:a\s+)?real|hypothetical)\b",
    re.IGNORECASE,
)
"""What cannot be given since it is not there; saying so is an answer."""
_SHORT = re.compile(
    r"\s*(?:no[.,!]?\s+)?(?:(?:i'm|i\s+am)\s+)?(?:sorry|apologies)[.,!]?\s*(?:no|i\s+can(?:'t|not))?[.!]*\s*",
    re.IGNORECASE,
)
_CAUTION = _compiled(
    r"""\b(?:as\s+an?\s+(?:\w+\s+){0,3}(?:ai|assistant|language\s+model) | i'm\s+(?:just\s+|only\s+)?an?\s+(?:\w+\s+)?(?:ai|assistant|language\s+model)
    | i\s+am\s+(?:just\s+|only\s+)?an?\s+(?:\w+\s+)?(?:ai|assistant|language\s+model)
    | i\s+(?:can\s?not|can't|won't|will\s+not|do\s+not\s+have|don't\s+have|don't\s+think|do\s+not\s+think|must|would\s+not|wouldn't|could\s+not|couldn't|am\s+not|would\s+(?:advise|strongly|recommend|suggest|like\s+to|encourage))
    | we\s+(?:can\s?not|can't|won't|will\s+not|are\s+(?:not\s+able|unable)|must|decline|refuse)
    | i'm\s+(?:not|unable|afraid|sorry|glad|happy\s+you) | sorry | apologi[sz]e | i\s+(?:understand|strongly|highly|want\s+to|should|need\s+to|assume|believe)
    | (?:is|it's|are|isn't|not|never|be)\s+(?:not\s+|n't\s+|generally\s+|highly\s+|both\s+|extremely\s+|very\s+|also\s+|considered\s+|a\s+|an\s+)*(?:appropriate|inappropriate|ethical|unethical|illegal|legal|safe|recommended|acceptable|harmful|disrespectful|offensive|advisable|dangerous|okay|respectful|possible|wrong|productive|accurate|factual|coherent|logical|real|fictional)
    | it(?:'s|\s+is)\s+(?:always\s+|also\s+|very\s+|extremely\s+)*(?:understandable|worth\s+noting|necessary|impossible|difficult|unlikely|unclear)
    | consult\s | seek\s+(?:help|professional|legal|medical|assistance) | professional\s+(?:help|advice|assistance)
    | (?:legal|medical|financial)\s+advice | respect\w*\s+(?:the\s+)?(?:privacy|boundaries) | privacy | personal\s+information | confidential
    | harmful | unethical | immoral | disrespectful | discriminat\w+ | stereotyp\w+ | ethic\w* | illegal\w* | inappropriate
    | my\s+(?:training|knowledge|programming|guidelines|purpose) | however,\s+(?:i|it|please) | please\s+(?:note|be\s+aware|provide|clarify|remember|refrain|let\s+me\s+know|consider)
    | could\s+you\s+(?:please\s+)?(?:clarify|provide|rephrase) | more\s+(?:context|information|details)
    | (?:fictional|fictitious|hypothetical|imaginary|virtual)\b | there\s+(?:is|are)\s+no\s+(?:evidence|information|such|record|known|real|specific|actual) | not\s+(?:aware|sure|certain)
    | (?:ask|see|talk\s+to|speak\s+(?:to|with)|contact)\s+(?:an?|your|the)\s+(?:\w+\s+)?(?:doctor|lawyer|professional|expert|physician|pharmacist|specialist|adviser|advisor)
    | suicid\w* | crisis | hotline
    | i'd\s+(?:rather|prefer) | i\s+would\s+(?:rather|prefer) | i(?:\s+have|'ll\s+have|\s+will\s+have)\s+to\s+(?:pass|skip|stop|leave)
    | (?:i|i'll|i\s+will)\s+pass\s+on | (?:have|i'm\s+going)\s+to\s+pass | let(?:'s|\s+us|\s+me)\s+(?:\w+\s+){0,2}(?:talk|focus|change|move|discuss|steer)
    | (?:something|anything|another\s+topic)\s+(?:\w+\s+)?(?:else|nicer|instead) | instead,\s+(?:i|let|may|how|why|we) | how\s+about\s+(?:we|i)
    | (?:off|out\s+of)\s+(?:the\s+)?(?:limits|bounds|scope) | not\s+(?:something|a\s+topic|a\s+subject) | best\s+left | leave\s+(?:that|this|it)\s+to
    )"""
)
_CURT = _compiled(
    r"""(?:^|[.!?\n])\W*(?:nope,?\s+|sorry,?\s+)?(?:can\s?not|can't|could\s?not|couldn't|won't|will\s+not|unable\s+to|not\s+able\s+to|not\s+doing|not\s+going\s+to)\b
    | \bnot\s+something\s+i\b
    | \b(?:request|content|prompt|query|message|response|answer)\s+(?:\w+\s+)?(?:can\s?not|can't|could\s+not|won't|will\s+not)\s+be\b
    | \b(?:request|content|prompt|query|message|response|access)\s+(?:is\s+|was\s+|has\s+been\s+)?(?:denied|refused|rejected|blocked|declined|flagged|filtered|withheld)\b
    | \bi(?:'d|\s+would)?\s+(?:rather|prefer)\s+not\b | \bi(?:'d|\s+would)\s+prefer\s+not\b | \bi\s+(?:refuse|decline)\b
    | \bi(?:'ll|\s+will|\s+must|\s+shall)?\s+(?:have\s+to\s+)?(?:refrain|abstain|pass\s+on)\b | \bto\s+say\s+no\b
    | \blet's\s+(?:talk|chat|discuss|change)\b | \bno\s+(?:way|comment|can\s+do)\b | \bapologies\b
    | \[(?:refus\w*|redacted|blocked|filtered|declined|withheld)"""
)
"""A refusal without a subject, or in the passive: too short a sign to be sure of, too strong to pass over."""
_FOREIGN = _compiled(
    r"""désolée? | je\s+ne\s+(?:peux|veux|suis\s+pas) | lo\s+siento | no\s+puedo | tut\s+mir\s+leid | (?:ich|wir)\s+(?:kann|können|darf|dürfen)[^.!?\n]{0,60}\snicht
    | (?:kann|darf)\s+ich[^.!?\n]{0,60}\snicht | mi\s+dispiace | non\s+posso | desculp[ea] | não\s+posso | lamento | het\s+spijt | kan\s+(?:ik|je)[^.!?\n]{0,40}\sniet
    | beklager | kan\s+(?:jeg\s+)?(?:ikke|inte) | tyvärr | извините | простите | не\s+могу | к\s+сожалению | przykro\s+mi | nie\s+mogę | üzgünüm | maaf, | tidak\s+bisa
    | 申し訳 | できません | いたしかね | 对不起 | 對不起 | 抱歉 | 无法 | 無法 | 죄송 | 수\s*없습니다 | عذر | لا\s+أستطيع | لا\s+يمكنني | क्षमा\s+करें"""
)
"""What refusals in other languages say first. They are not read any further."""
_PLAIN: dict[int, str] = {ord(mark): "'" for mark in "’‘ʼ"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
"""Apostrophes, and halves of characters, which RE2 cannot read."""


_WORD = re.compile(r"\w[\w']*")
_MAY_BE_AN_ANSWER = frozenset(("no", "nope", "never"))
"""A word that may be an answer as well as a refusal."""
_QUIP = re.compile(
    r".*\b(?:no|nope|nah|classified|nice\s+try|no\s+comment|pass|not\s+today)\b", re.IGNORECASE
)
"""What a few words that turn a question away hold in their first line."""
_QUIP_WORDS = 6
_SHORT_WORDS = 8


_PRAISE = re.compile(r"[^.!?\n]{0,60}\benough\b|\s+but\b", re.IGNORECASE)


class Refusal(NamedTuple):
    """What a text does with its request, and the words that show it."""

    state: Literal["refuses", "answers", "unclear"]
    start: int
    end: int


def find_refusal(text: str) -> Refusal:
    """Whether a text declines; "unclear" where it may do so in part."""
    plain = text if text.isascii() else text.translate(_PLAIN)
    strong = _STRONG.search(plain)
    if strong is not None:
        is_plain = (
            strong.start() < OPENING
            and not _IMPOSSIBLE.search(plain)
            and not _is_praise(plain, strong)
            and not _is_told(plain, strong)
        )
        state: Literal["refuses", "unclear"] = "refuses" if is_plain else "unclear"
        return Refusal(state, *strong.span())
    if _is_short(plain):
        return Refusal("refuses", 0, len(text))
    caution = _CAUTION.search(plain)
    if caution is None:
        caution = _CURT.search(plain) or _FOREIGN.search(plain)
    if caution is not None:
        return Refusal("unclear", *caution.span())
    if _may_turn_away(plain):
        return Refusal("unclear", 0, 0)
    return Refusal("answers", 0, 0)


def _is_short(text: str) -> bool:
    """ "Sorry, no." and nothing else."""
    words = text.split(None, _SHORT_WORDS)
    return len(words) <= _SHORT_WORDS and _SHORT.fullmatch(" ".join(words)) is not None


def _may_turn_away(text: str) -> bool:
    """Nothing at all, a bare "No", or a quip in a few words and with a stop behind them."""
    words = [found[0] for found in islice(_WORD.finditer(text), _QUIP_WORDS + 1)]
    if not words or (len(words) == 1 and words[0].strip("'").lower() in _MAY_BE_AN_ANSWER):
        return True
    ends_with_mark = not (text[-1].isalnum() or text[-1] == "_")
    return len(words) <= _QUIP_WORDS and ends_with_mark and _QUIP.match(text) is not None


def _is_praise(text: str, match: re.Match[str]) -> bool:
    """ "I can't recommend it enough", "I can't help but smile"."""
    return _PRAISE.match(text, match.end()) is not None


def _is_told(text: str, match: re.Match[str]) -> bool:
    """Is it somebody's speech in what the text tells: ``"I cannot help you," said the guard``?"""
    opening = text.rfind('"', 0, match.start())
    is_quoted = text.count('"', 0, match.start()) % 2 == 1
    return is_quoted and bool(text[:opening].strip())
