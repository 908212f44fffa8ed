"""Whether a value stands where a plain assertion has it: behind a verb of fact, as a subject, or under a label.

The one idea: lists of what takes a value back never end, so this asks for what gives it. Going left from the value over its
article, its preposition and the noun that it names, one must come to a verb that tells how things are ("is", "costs", "was sent
to"), to the beginning of the clause, or to the noun it belongs to ("a refund of"). Behind an amount one must come to a mark or a
small word. What is neither is no denial; it is only not known to be plain, and a judge looks.

Asked by :mod:`~tiered_eval.text.frames`, of English sentences.
"""

from __future__ import annotations

import re

from tiered_eval.text.tokens import FUNCTION_WORDS, stem

__all__ = ["is_plain_amount", "is_plain_place"]

_CLAUSE = re.compile(r"[,:](?=\s|$)|[;()|\[\]=\n•–—>]|(?:^|\s)[-*+]\s|\s&\s")
_WORD = re.compile(r"[^\W_][\w'’-]*")
_DETERMINERS = frozenset(
    "the a an this that these those his her its our your my their both all every each some any another".split()
)
_PREPOSITIONS = frozenset(
    "in at on by with to from for of within into via near during through per under".split()
)
_ADVERBS = frozenset(
    "also now then still just already only even first always currently here there today not about too again together right well soon once"
    " exactly directly up out off down back over on net gross in very quite so too such".split()
)
_PRONOUNS = frozenset("it them him her us you me one himself herself itself themselves".split())
_OTHER_PREPOSITIONS = frozenset(
    "before after about over as like than until till against between beyond without besides except despite among around above"
    " below behind toward towards upon amid ex plus minus".split()
)
"""Behind these a value is a bound, a topic, a likeness or a place to go by."""
_JOINS = frozenset("and or but so that which who because since".split())
_LINKS = frozenset("is are was were be been am has have had 's".split())
_HELD_BACK = frozenset("to could might would may should ought being".split())
_OBJECT = 6
"""Words before a preposition among which its verb is looked for: "makes sugar by", "rose from 45 to"."""
_HELD = re.compile(r"\b(?:would|could|might|may)\b[^,;:]*$")
_NUMBERS = frozenset("one two three four five six seven eight nine ten".split())
_FACTS = """
    is are was were be been am has have had do does did
    accept achieve acquire add address adopt agree amount announce answer appear appoint apply approve arrive assign attach attend award
    audit assemble analyse analyze back bake balance ban base bear become begin book born borrow bring build buy call carry cause celebrate change charge choose close collect
    check chair clean clear climb code combine command compare compile compete come complete compose conclude confirm connect consist contact contain continue contribute cook cost count cover create credit
    damage date debut decide declare decline decrease dedicate deduct define detect determine disclose discuss dispatch distribute download deliver depend derive describe design develop die direct discover display divide donate drive drop due
    earn edit elect emit employ enable enclose end enter equal establish exist expire export extend
    examine exceed execute expand explain face fall feature feed file fill find finish fit fly follow form found freeze fund
    gain gather generate get give go graduate grant grow
    guide handle hang happen hear help hire hit hold host house
    identify import include increase indicate inform inherit install invent invest invite involve issue
    inspect interview introduce investigate join keep kill know land last launch lead learn leave lend let license lie link list live locate look lose
    load lower made maintain make manage manufacture mark marry match measure meet melt mention merge migrate move
    name need note number obtain occur offer open operate order organise organize originate own
    oversee pack paint park pass pay perform place plan plant play post pour prepare present preserve press print process produce propose
    process prove provide publish purchase quote
    raise range rank reach read receive recommend replace supersede record reduce refer refund register release remain remove rent repair reply report
    reflect reject relate rely remember rename render renew represent request rescue research require reserve reset resolve respond rest result retire return reveal ride rise run
    review revise sail sample save scan search seat schedule score secure see select sell send separate serve set settle share ship show sign sit situate sold speak
    solve sponsor specialise specialize spend stand star start state stay step store stretch study submit suffer supply support surround
    target take talk teach tie touch tour trace track translate tell test total trade train transfer travel treat turn type understand unlock update upgrade use
    value vary visit vote wait walk want watch wear weigh warn win work write yield
"""
_PAST = """
    became began bore born bought brought built caught chose came cost cut did drove drew drank ate fell fed felt fought found flew
    forgot froze got gave went grew heard held hid hit hurt kept knew laid led left lent let lay lit lost made meant met paid put quit
    read rode rang rose ran said saw sold sent set shook shone shot showed sang sank sat slept slid spoke spent stood stole struck
    swam took taught told thought threw understood woke wore won wrote written taken given known shown drawn driven chosen grown held
"""
_VERBS = frozenset(map(stem, _FACTS.split())) | frozenset(map(stem, _PAST.split()))
_VERBS_OUT = frozenset(
    "read reads calls called score scored thought want wants wanted looks looked felt feels sounds seems".split()
)
"""They look like facts and are others' words, wishes or guesses as often."""
_GOES_ON = re.compile(r"[ \t\u00a0]+([^\W\d_]+)")
_AMOUNT_GOES_ON = FUNCTION_WORDS | frozenset(
    "each every per within twice once daily weekly today yesterday tomorrow now later total altogether long wide tall high deep old because since while when after instead rather not until only away apart across".split()
) - frozenset("into about over under before".split())
_NOT_BEHIND = frozenset("into about over under before".split())


def is_plain_place(before: str, *, is_act: bool, is_labelled: bool) -> bool:
    """May what ends ``before`` be followed by a value that it asserts? ``before`` is the sentence up to the value, in small letters.

    ``is_labelled`` is for values that a noun may name: "order PO-4471". ``is_act`` is for participles, behind a form of "be".
    """
    if _HELD.search(before):
        return False
    clause = before[max((found.end() for found in _CLAUSE.finditer(before)), default=0) :]
    words = _WORD.findall(clause)
    if is_act:
        while words and (words[-1] in _ADVERBS or words[-1].endswith("ly")):
            words.pop()
        return not words or (words[-1] in _LINKS and not {"will", "shall"} & set(words[-3:]))
    words = _without_article(words)
    if words and words[-1] in _OTHER_PREPOSITIONS:
        return False
    if (
        is_labelled
        and len(words) > 1
        and words[-1] not in _JOINS
        and not _is_fact(words)
        and words[-1] not in _PREPOSITIONS
    ):
        words = _without_article(words[:-1])
    return _is_asserted(words)


def _is_asserted(words: list[str]) -> bool:
    """Do the words before a value, without its article, say how things are?"""
    if not words or words[-1] in _JOINS:
        return True
    if words[-1] in _OTHER_PREPOSITIONS:
        return False
    if words[-1] in _PREPOSITIONS:
        head = words[:-1]
        while head and (head[-1] in _PRONOUNS or head[-1] in _ADVERBS or head[-1].endswith("ly")):
            head.pop()
        if not head or any(_is_fact(head[:at]) for at in range(len(head), max(0, len(head) - _OBJECT), -1)):
            return True
        if len(head) == 1:
            return head[0] not in _NUMBERS
        is_named = any(word in _DETERMINERS or word.isdigit() for word in head[-4:-1])
        return head[-1] not in _PREPOSITIONS and (is_named or head[0] in _PREPOSITIONS)
    while len(words) > 1 and (words[-1] in _ADVERBS or words[-1].endswith("ly") or words[-1] in _PRONOUNS):
        words = words[:-1]
    return _is_fact(words) or len(words) == 1


def _is_fact(words: list[str]) -> bool:
    """Is the last word a verb of fact that is not held back by a "could" or a "to"?"""
    last = words[-1]
    if last in _LINKS:
        return words[-2:-1] == [] or words[-2] not in _HELD_BACK
    root = stem(last)
    if last == "called" and words[-2:-1] and words[-2] in _LINKS:
        return True
    if root not in _VERBS or last in _VERBS_OUT:
        return False
    return len(words) == 1 or words[-2] not in _HELD_BACK


def _without_article(words: list[str]) -> list[str]:
    """Without a determiner at the end, and the two adjectives behind it at most."""
    for back in range(1, min(4, len(words) + 1)):
        if words[-back] in _DETERMINERS:
            return words[:-back]
    return words


def is_plain_amount(after: str) -> bool:
    """May an amount with its unit be followed by ``after``: a mark, nothing, or a word that leaves it what it is?"""
    found = _GOES_ON.match(after)
    if found is None:
        return not after.startswith("-")
    word = found[1].lower()
    return word in _AMOUNT_GOES_ON and word not in _NOT_BEHIND
