"""Words of a text, in the form in which two texts can be compared.

The one idea: a token keeps where it stood and what it said, and carries a ``stem`` that is the same for
"approves", "approved" and "APPROVED", for "two" and "2", for "isn't" and "is not". The stemmer is light on
purpose: joining two different words makes a wrong pass, missing a rare form only makes a check climb.

Sits below coverage, the guards and the answer scorer; knows nothing of them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from tiered_eval.text.keeping import kept

__all__ = [
    "FUNCTION_WORDS",
    "Token",
    "fold",
    "holds_verb",
    "is_content",
    "is_past_form",
    "stem",
    "table_form",
    "tokens",
]


class Token(NamedTuple):
    """One word, number or CJK character of a text."""

    stem: str
    """Comparable form."""
    word: str
    """Lower case, without accents, apostrophes made plain; not stemmed."""
    start: int
    """Offset of the first code point in the text."""
    end: int
    is_capital: bool = False
    """Was its first letter a capital?"""


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(
    rf"""
    [{_CJK}]                                    # one character a token: there are no spaces to go by
  | (?<![^\W\d_])[^\W\d_]\.(?:\s?[^\W\d_]\.)+     # U.S., e.g., J. R. of a name
  | \d+(?:[.,:/]\d+)*                           # 1,234.5  14:30  3/4
  | %                                           # "percent", in one sign
  | [^\W\d_{_CJK}]+(?:['’ʼ][^\W\d_{_CJK}]+)*    # words, with their apostrophes inside
    """,
    re.VERBOSE,
)
_ASCII_WORD = re.compile(
    r"[A-Za-z0-9%](?:(?<=[A-Za-z])(?:[A-Za-z]+(?:'[A-Za-z]+)*|(?<![A-Za-z]{2})\.(?:\s?[A-Za-z]\.)+|(?:'[A-Za-z]+)*)"
    r"|(?<=\d)\d*(?:[.,:/]\d+)*|)"
)
"""The same for a text of ASCII characters, in twice the pace: it begins with a set, for which ``re`` looks ahead."""

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those it its he him his she her hers they them their theirs we us our ours you your
    yours i me my mine who whom whose which what there here
    is are was were be been being am do does did done have has had having will would shall
    of in on at to for from by with as into onto upon about over under between among through during
    and or but so then also such
    one ones s
    """.split()
)
"""Words that carry grammar and hardly any claim: one of them missing changes nothing. Negations, quantifiers,
modal verbs of possibility and words of time order are *not* among them."""

_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {
    word: str(value)
    for value, word in zip(
        range(30, 100, 10), "thirty forty fifty sixty seventy eighty ninety".split(), strict=True
    )
}
_ORDINAL_WORDS = {
    word: f"{value}th"
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
    )
}

_IRREGULAR_FORMS = """
be:is are was were been being am|begin:began begun|become:became|break:broke broken|bring:brought|build:built
buy:bought|catch:caught|choose:chose chosen|come:came|die:died dying|do:does did done doing|draw:drew drawn
drink:drank drunk|drive:drove driven|eat:ate eaten|fall:fell fallen|feel:felt|fight:fought|find:found|flee:fled
fly:flew flown|forget:forgot forgotten|freeze:froze frozen|get:got gotten|give:gave given|go:went gone goes
grow:grew grown|hang:hung|have:has had having|hear:heard|hide:hid hidden|hold:held|keep:kept|know:knew known
lay:laid|lead:led|leave:left|lend:lent|lie:lying|lose:lost|make:made|mean:meant|meet:met|pay:paid|ride:rode ridden
ring:rang rung|rise:rose risen|run:ran|say:said says|see:saw seen|seek:sought|sell:sold|send:sent|shake:shook shaken
shine:shone|shoot:shot|sing:sang sung|sink:sank sunk|sit:sat|sleep:slept|speak:spoke spoken|spend:spent|stand:stood
steal:stole stolen|stick:stuck|strike:struck stricken|swear:swore sworn|swim:swam swum|take:took taken|teach:taught
tear:tore torn|tell:told|think:thought|throw:threw thrown|understand:understood|wake:woke woken|wear:wore worn
weave:wove woven|win:won|write:wrote written|man:men|woman:women|child:children|person:people|foot:feet|tooth:teeth
add:added adding adds|arise:arose arisen|awake:awoke awoken|beat:beaten|bear:borne|bend:bent|bid:bade bidden|bite:bitten
bleed:bled|blow:blew blown|breed:bred|burn:burnt|cling:clung|creep:crept|deal:dealt|dig:dug|dream:dreamt|dwell:dwelt
err:erred erring|eye:eyed eyeing|feed:fed|fling:flung|forbid:forbade forbidden|foresee:foresaw foreseen
forgive:forgave forgiven|free:freed|kneel:knelt|lean:leant|leap:leapt|learn:learnt|light:lit|mislead:misled
mistake:mistook mistaken|misunderstand:misunderstood|overcome:overcame|overhear:overheard|override:overrode overridden
overrun:overran|overtake:overtook overtaken|overthrow:overthrew overthrown|owe:owed owing|plead:pled|prove:proven
rebuild:rebuilt|repay:repaid|rewrite:rewrote rewritten|see:seeing|sew:sewn|show:shown|shrink:shrank shrunk|slide:slid
smell:smelt|sow:sown|speed:sped|spell:spelt|spill:spilt|spin:spun|spit:spat|spoil:spoilt|spring:sprang sprung
sting:stung|stride:strode|strive:strove striven|string:strung|sue:sued suing|sweep:swept|swell:swollen|swing:swung
tie:tied tying|tread:trod trodden|undergo:underwent undergone|undertake:undertook undertaken|undo:undid undone
uphold:upheld|use:used using uses|vie:vied vying|weep:wept|withdraw:withdrew withdrawn|withhold:withheld
withstand:withstood|agree:agreed|disagree:disagreed|guarantee:guaranteed
analysis:analyses|appendix:appendices|axis:axes|calf:calves|crisis:crises|criterion:criteria|hypothesis:hypotheses
index:indices|loaf:loaves|matrix:matrices|ox:oxen|phenomenon:phenomena|self:selves|thesis:theses|thief:thieves
bus:buses|gas:gases|vertex:vertices|goose:geese|mouse:mice|life:lives|wife:wives|knife:knives|leaf:leaves|half:halves|wolf:wolves|shelf:shelves
"""
"""Base to its irregular forms. Comparatives are left out: "better" is another claim than "good"."""
_IRREGULAR = {
    form: line.split(":")[0]
    for line in _IRREGULAR_FORMS.strip().replace("\n", "|").split("|")
    for form in line.split(":")[1].split()
}
_PLURALS = frozenset(
    "men women children people feet teeth analyses appendices axes calves crises criteria hypotheses indices loaves matrices oxen "
    "phenomena selves theses thieves vertices geese mice lives wives knives leaves halves wolves shelves being".split()
)
_KEPT = frozenset(
    "this his its is was has as us yes does others news series species united hundred speed need seed feed indeed "
    "thing king ring spring string bring sing wing during evening morning ceiling building something nothing "
    "anything everything red bed led bus gas plus lens always perhaps less unless christmas mars paris texas".split()
)
"""Ends like a suffix, and is none."""
_LONGEST_WORD = 60
"""Letters; a longer word has no ending to take off."""
_CONTRACTED = {"ca": "can", "wo": "will", "sha": "shall"}
_ACCENTS = re.compile("[\u0300-\u036f]")
"""Marks on Latin, Greek and Cyrillic letters; those of Japanese and Indic scripts make another letter."""
_LONG_L = re.compile(r"([aeiouy]\w*[^aeiouy]\w*[aeiouy]l)l\Z")
"""The end of a word of two syllables: "controlled" and "control", "install" and "instal" are written with one or two."""
_SILENT_E = re.compile(r"(?:qu|[^aeiouy])*[aeiouy][bcdfgklmnprstvz]")
"""One short syllable, as "not" in "noted": it would double its last letter if no e had been lost ("notted"), so the e stays."""
_DOUBLE = re.compile(r"([bdgmnprtz])\1\Z")


def fold(text: str) -> str:
    """Lower case, compatibility forms and accents removed, apostrophes plain."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").replace("ʼ", "'"))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", plain)).casefold()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The comparable form of one folded word."""
    if word[0].isdigit():
        return word.replace(",", "") if word.replace(",", "").isdigit() else word
    if found := _NUMBER_WORDS.get(word) or _ORDINAL_WORDS.get(word):
        return found
    word = _IRREGULAR.get(word, word)
    if not 3 < len(word) <= _LONGEST_WORD or word in _KEPT:
        return word
    return _without_suffix(word)


def _without_suffix(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "os")):
        word = word[:-1]
        if word in _KEPT:
            return word
    if word.endswith("eed"):
        return word
    for suffix in ("ing", "ed"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and len(base) >= 2 and any(vowel in base for vowel in "aeiouy"):
            if _SILENT_E.fullmatch(base):
                return base + "e"
            return _LONG_L.sub(r"\1", _DOUBLE.sub(r"\1", base)).removesuffix("e")
    if len(word) <= 3 or (word.endswith("e") and _SILENT_E.fullmatch(word, 0, len(word) - 1)):
        return word
    return _LONG_L.sub(r"\1", word).removesuffix("e")


def table_form(stemmed: str) -> str:
    """A stem as the tables of words hold it: without the silent e of "note", which they do not tell from "not"."""
    return stemmed[:-1] if stemmed.endswith("e") and _SILENT_E.fullmatch(stemmed[:-1]) else stemmed


@kept
def tokens(text: str) -> tuple[Token, ...]:
    """All tokens of a text, in order; a possessive ``'s`` is left out and ``n't`` is a token of its own."""
    found: list[Token] = []
    for match in (_ASCII_WORD if text.isascii() else _WORD).finditer(text):
        start, end = match.span()
        plain = _plain(match[0])
        if plain is None:
            _add(found, match[0], start, end)
        else:
            stemmed, word, is_capital = plain
            found.append(_new(Token, (stemmed, word, start, end, is_capital)))
    return tuple(found)


_new = tuple.__new__
"""What ``Token(...)`` does in the end; most of the time of reading a text went into what it does before."""
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})


@lru_cache(maxsize=65_536)
def _plain(piece: str) -> tuple[str, str, bool] | None:
    """Stem, word and capital of a piece that is one token whatever stands beside it; None for any other."""
    word = fold(piece)
    is_dotted = "." in word and not word[0].isdigit()
    if piece == "%" or is_dotted or "'" in word or word in {"cannot", "cent"} or word in _ORDINAL_ENDINGS:
        return None
    return stem(word), word, piece[0].isupper()


def _add(found: list[Token], piece: str, start: int, end: int) -> None:
    """Add the token or tokens that a piece with an apostrophe, full stops or a part in its neighbour makes."""
    word = "percent" if piece == "%" else fold(piece)
    if "." in word and not word[0].isdigit():
        word = "".join(char for char in word if char.isalpha())
    if "'" in word:
        head, _, tail = word.rpartition("'")
        if tail == "t" and head.endswith("n") and len(head) > 1:
            base = _CONTRACTED.get(head[:-1], head[:-1])
            found += (Token(stem(base), base, start, end - 3), Token("not", "n't", end - 3, end))
            return
        word = head if tail in {"s", "d", "ll", "re", "ve", "m"} else head + tail
    if word == "cannot":
        found += (Token("can", "can", start, end - 3), Token("not", "not", end - 3, end))
        return
    is_capital = piece[0].isupper()
    if word == "cent" and found and found[-1].word == "per":
        per = found.pop()
        word, start, is_capital = "percent", per.start, per.is_capital
    if found and word in _ORDINAL_ENDINGS and found[-1].end == start and found[-1].stem.isdigit():
        last = found.pop()
        found.append(Token(f"{last.stem}th", last.word + word, last.start, end))
        return
    found.append(Token(stem(word), word, start, end, is_capital))


def is_content(token: Token) -> bool:
    """Does the token carry part of a claim?"""
    return token.word not in FUNCTION_WORDS


_VERB_FORMS = frozenset("is are was were has had does did can will must may".split())
_ARTICLES = frozenset({"the", "a", "an"})


def is_past_form(word: str) -> bool:
    """Is a folded word the past or the participle of a verb, as far as its form shows?"""
    if word in _IRREGULAR:
        return word not in _PLURALS
    return word.endswith("ed") and word not in _KEPT and not word.endswith("eed")


def holds_verb(text: str) -> bool:
    """Has a short text a verb behind its first word, as far as forms show: "Velox bought Norda", "the pump starts"?

    A word in capitals belongs to a name, and one behind a hyphen is no verb.
    """
    found = tokens(text)
    for at, token in enumerate(found[1:], start=1):
        word = token.word
        if token.is_capital or text[token.start - 1] == "-":
            continue
        if word in _VERB_FORMS or is_past_form(word):
            return True
        is_last = at == len(found) - 1 and at > 1 and found[0].word in _ARTICLES
        if is_last and word.endswith("s") and not word.endswith("ss"):
            return True
    return False
