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

_CLAUSE_MARKS = (
    ", ",
    ": ",
    ";",
    "(",
    ")",
    "|",
    "[",
    "]",
    "=",
    "\n",
    "•",
    " - ",
    " * ",
    " + ",
    " – ",
    "—",
    ">",
    " & ",
)
"""Behind the last of them begins the clause."""
_WORD = re.compile(r"[^\W_][\w'’-]*")
_DETERMINERS = frozenset(
    "the a an this that these those his her its our your my their both all every each some any another".split()
)
_PREPOSITIONS = frozenset(
    "in at on by with to from for of within into via near during through per under".split()
)
_ADVERBS = frozenset(
    "also now then still just already only even first always currently here there today not about too again together right well soon once"
    " exactly directly up out off down back over on in".split()
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
_NOUN_PHRASE = 4
_OBJECT = 8
"""Words before a preposition among which its verb is looked for: "makes sugar by", "rose from 45 to"."""
_HOLDING_BACK = frozenset("would could might may".split())
_LABELS = frozenset(
    """agent order ticket invoice file case version number code id release booking account contract customer reference ref no nr item part model
    article section clause page paragraph document policy claim serial key token job batch lot flight room gate row line issue bug patch
    build branch tag commit function method class variable field column table option flag command package module library python node java
    director author manager chair president minister engineer artist painter writer professor doctor captain coach player winner
    dr mr mrs ms sir city town village river mount lake port protocol http http/2 rfc iso din error status level step total rate figure
    price fee rent cost amount sum dose term period deadline""".split()
)
"""Nouns that a value right behind them names or numbers."""
_SUBJECTS = frozenset("i we you he she it they".split())
_DEGREES = frozenset("net gross very quite so too exactly roughly mostly highly".split())
_NUMBERS = frozenset("one two three four five six seven eight nine ten".split())
_FACTS = """
    is are was were be been am has have had do does did
    accept accord achieve acquire add address adopt agree amount announce answer appear appoint apply approve arrive ask assign attach attend award
    audit assemble analyse analyze back bake balance ban base bear become begin book born borrow bring build buy call carry cause celebrate change charge choose close collect
    check chair clean clear climb code combine command compare compile compete come complete compose conclude confirm connect consist contact contain continue contribute cook cost count cover create credit
    damage date debut decide declare decline decrease dedicate deploy deduct define detect determine disclose discuss dispatch distribute download deliver depend derive describe design develop die direct discover display divide donate drive drop due
    earn edit elect emit employ enable enclose end enter equal establish exist expire export extend
    examine exceed execute expand explain face fall feature feed file fill find finish fit fix flow fly follow form found freeze fund
    gain gather generate get give go graduate grant grow
    guide handle hang happen hear help hire hit hold host house
    identify import include increase indicate inform inherit install invent invest invite involve issue
    inspect interview introduce investigate join keep kill know land last launch lead learn leave lend license lie link list live locate look lose
    load lower made maintain make manage manufacture mark marry match measure meet melt mention merge migrate mix move
    name need note number obtain occur offer open operate order organise organize originate own
    oversee pack paint park pass pay perform place plan plant play post pour prepare present preserve press print process produce propose
    process prove provide publish purchase quote
    rain raise range rank reach read receive recommend replace supersede record reduce refer refund register release remain remove rent repair reply report
    reflect reject relate rely remember rename render renew represent request rescue research require reserve reset resolve respond rest result retire return reveal ride rise run
    review revise sail sample save scan search seat schedule score secure see select sell send separate serve set settle share ship show sign sit situate sold speak
    solve sponsor specialise specialize spend stand star start state stay step store stretch study submit suffer supply support surround
    target take talk teach tie touch tour trace track translate tell test total trade train transfer travel treat turn type understand unlock update upgrade use
    value vary visit vote wait walk want watch wear weigh warn win work write yield
"""
_PAST = """
    founded leaves scored unpacked became began bore born bought brought built caught chose came cost cut did drove drew drank ate fell fed felt fought found flew
    forgot froze got gave went grew heard held hid hit hurt kept knew laid led left lent let lay lit lost made meant met paid put quit
    read rode rang rose ran said saw sold sent set shook shone shot showed sang sank sat slept slid spoke spent stood stole struck
    swam took taught told thought threw understood woke wore won wrote written taken given known shown drawn driven chosen grown held
"""
_VERBS = frozenset(map(stem, _FACTS.split())) | frozenset(map(stem, _PAST.split()))
_VERBS_OUT = frozenset(
    "read reads called thought want wants wanted looks looked felt feels sounds seems".split()
)
"""They look like facts and are others' words, wishes or guesses as often."""
_GOES_ON = re.compile(r"[ \t\u00a0]+([^\W\d_]+)")
_AMOUNT_GOES_ON = FUNCTION_WORDS | frozenset(
    "each every per within twice once daily weekly today yesterday tomorrow now later total altogether long wide tall high deep old because since while when after instead rather not until only away apart across".split()
) - frozenset("into about over under before".split())
_NOT_BEHIND = frozenset("into about over under before".split())


def is_plain_place(before: str, after: str, *, is_act: bool, is_labelled: bool, is_subject: bool) -> bool:
    """May a value between ``before`` and ``after`` be asserted there? They are the rest of its sentence, in small letters.

    ``is_labelled`` is for values that a noun may name: "order PO-4471"; ``is_subject`` for those that open a clause as its
    subject; ``is_act`` for participles, behind a form of "be".
    """
    if _is_undone(after):
        return False
    if before and not before[-1].isspace():
        before = _PIECE.sub("", before)
    begins = [before.rfind(mark) + len(mark) for mark in _CLAUSE_MARKS if mark in before]
    clause = before[max(begins, default=0) :]
    words = _WORD.findall(clause)
    if not _HOLDING_BACK.isdisjoint(words):
        return False
    if is_act:
        while words and (words[-1] in _ADVERBS or words[-1].endswith("ly")):
            words.pop()
        return not words or (words[-1] in _LINKS and not {"will", "shall"} & set(words[-3:]))
    words = _without_article(words)
    if is_labelled and words and words[-1] in _LABELS:
        words = _without_article(words[:-1])
    if is_subject and not words and not clause.strip():
        return _begins_fact(after)
    return _is_asserted(words)


def _is_undone(after: str) -> bool:
    """Does a passive behind the value tell what is no plain fact of it: "was floated", "was misfiled"?"""
    if _DENIED.match(after):
        return True
    found = _PASSIVE.match(after)
    return found is not None and stem(found[1]) not in _VERBS and found[1] not in _STATES


_PIECE = re.compile(r"[^\s(\[\"'“‘*_`]*[\w/.@:]$")
"""What a value is joined to: the "v" of "v1.4.2", the folders of a file."""
_PASSIVE = re.compile(
    r"[\s\w]{0,24}?\b(?:was|were|is|are|been|got|be)\s+(?:\w+ly\s+|also\s+|now\s+)?(\w{2,}(?:ed|wn))\b"
)
_DENIED = re.compile(r"\s(?:has|have|had|is|are|was|were)\s+(?:no|never|hardly|not)\b")
_STATES = frozenset(
    "attached enclosed expected required located based called named known red married retired shown".split()
)


def _begins_fact(after: str) -> bool:
    """Is the word behind a value that opens its sentence a verb of fact, a small word, or nothing?"""
    found = _GOES_ON.match(after)
    if found is None or found[1].lower() in FUNCTION_WORDS:
        return True
    word = found[1].lower()
    return (stem(word) in _VERBS and word not in _VERBS_OUT) or word.endswith("ly")


def _is_asserted(words: list[str]) -> bool:
    """Do the words before a value, without its article, say how things are?"""
    while words and words[-1] in _DEGREES:
        words = words[:-1]
    if (
        not words
        or words[-1] in _JOINS
        or (words == words[-1:] and words[0] in _SUBJECTS)
        or words[-2:] == ["known", "as"]
    ):
        return True
    if words[-1] in _OTHER_PREPOSITIONS:
        return False
    if words[-1] in _PREPOSITIONS:
        return _is_complement(words[-1], words[:-1])
    while len(words) > 1 and (words[-1] in _ADVERBS or words[-1].endswith("ly") or words[-1] in _PRONOUNS):
        words = words[:-1]
    return _is_fact(words)


def _is_complement(preposition: str, head: list[str]) -> bool:
    """Does a phrase behind this preposition belong to a verb of fact, to a noun that it is "of", or open its clause?"""
    while head and (head[-1] in _PRONOUNS or head[-1] in _ADVERBS or head[-1].endswith("ly")):
        head = head[:-1]
    if not head or _is_fact(head):
        return True
    if any(_is_fact(head[max(0, at - 2) : at]) for at in _reach(head) if head[at - 1] not in _LINKS):
        return True
    if len(head) == 1:
        return head[0] not in _NUMBERS and (preposition == "of" or head[0].endswith("s"))
    if head[0] in _PREPOSITIONS or head[0].isdigit() or head[-2].isdigit():
        return True
    if head[0] in _DETERMINERS and len(head) <= _NOUN_PHRASE and not head[-1].endswith("ed"):
        return True
    return preposition == "of" and (head[-2] in _DETERMINERS or head[-3:-2] == ["the"])


def _reach(head: list[str]) -> range:
    """Where the verb of a phrase may end, from near to far."""
    return range(len(head) - 1, max(0, len(head) - _OBJECT), -1)


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
    """Without a determiner at the end, and an adjective behind it; "the referee disallowed" ends with none."""
    if words and words[-1] in _DETERMINERS:
        return words[:-1]
    if len(words) > 1 and words[-2] in _DETERMINERS and not words[-1].endswith(("ed", "s")):
        return words[:-2] if words[-1] not in _PREPOSITIONS | _LINKS else words
    return words


def is_plain_amount(after: str) -> bool:
    """May an amount with its unit be followed by ``after``: a mark, nothing, or a word that leaves it what it is?"""
    found = _GOES_ON.match(after)
    if found is None:
        return not after.startswith("-")
    word = found[1].lower()
    return word in _AMOUNT_GOES_ON and word not in _NOT_BEHIND
