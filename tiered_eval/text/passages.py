"""A sentence in the form that coverage and the guards look at: its tokens, and what stands where.

The one idea: a claim and the place in the response that may state it are the same kind of thing, a
:class:`Passage`. Questions about order ("are these words there in this order, and how tightly?") are
answered here; what the answers mean is up to the guards.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from operator import attrgetter

from tiered_eval.text.idf import idf
from tiered_eval.text.polarity import Cue, find_cues
from tiered_eval.text.sentences import split_sentences
from tiered_eval.text.tokens import FUNCTION_WORDS, Token, is_content, tokens

__all__ = ["Passage", "given_names", "passages", "read_claim", "smallest", "tightest", "turns_round"]

_EDGE = 2
"""Content words at each end of a claim that count as its subject and its object."""

_NAME_WORDS = 5
"""Of one name, its last ones; a longer run of capitals is a heading."""

_NOTHING: frozenset[str] = frozenset()
_START = attrgetter("start")


@dataclass(frozen=True)
class Passage:
    """Tokens of one sentence, of a few sentences in a row, or of an expectation."""

    text: str
    """The whole text that the tokens were read from."""
    tokens: tuple[Token, ...]
    """At least one."""
    cues: tuple[Cue, ...] = ()
    """Words that deny, suppose or report, with offsets in the same text as the tokens'."""
    implied: frozenset[str] = frozenset()
    """Stems that are meant and not written: "anna" where the text calls Anna Berg just "Berg"."""

    @cached_property
    def content(self) -> tuple[Token, ...]:
        """Tokens that carry the claim; all of them where none does ("to be or not to be" without its "not")."""
        return tuple([token for token in self.tokens if token.word not in FUNCTION_WORDS]) or self.tokens

    @cached_property
    def weights(self) -> tuple[tuple[str, float], ...]:
        """Stem and weight of each content word."""
        return tuple((token.stem, idf(token.stem)) for token in self.content)

    @cached_property
    def total_weight(self) -> float:
        """The information of all content words."""
        return sum([weight for _, weight in self.weights])

    @cached_property
    def content_stems(self) -> frozenset[str]:
        """The stems of the content words."""
        return frozenset(token.stem for token in self.content)

    @cached_property
    def held(self) -> frozenset[str]:
        """The stems that are there, written or meant."""
        return self.implied.union([token.stem for token in self.tokens])

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each stem occurs."""
        return Counter([token.stem for token in self.tokens])

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stems in order."""
        return tuple([token.stem for token in self.tokens])

    @cached_property
    def after(self) -> tuple[str | None, ...]:
        """For each token the stem of the next content token of the passage, None at the end."""
        following: str | None = None
        found: list[str | None] = []
        for token in reversed(self.tokens):
            found.append(following)
            if is_content(token):
                following = token.stem
        return tuple(reversed(found))

    def holds(self, stem: str) -> bool:
        """Is the stem there, written or meant?"""
        return stem in self.held

    def content_from(self, at: int, count: int) -> list[Token]:
        """So many content tokens, beginning with the token ``at``; without copying the rest of the passage."""
        return list(
            islice((self.tokens[i] for i in range(at, len(self.tokens)) if is_content(self.tokens[i])), count)
        )

    def index_at(self, offset: int) -> int:
        """Index of the first token that starts at ``offset`` in the text or after it."""
        return bisect_left(self.tokens, offset, key=_START)

    @property
    def start(self) -> int:
        """Offset of the first token in the text."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


@lru_cache(maxsize=4096)
def read_claim(text: str) -> Passage | None:
    """A whole text, such as an expectation's value, as one passage; None where it holds no word."""
    found = tokens(text)
    return Passage(text, found, find_cues(text)) if found else None


def passages(text: str) -> tuple[Passage, ...]:
    """One passage for each sentence of a text that holds a word; offsets are those of the text. A view of a Subject."""
    found = []
    every, cues = tokens(text), find_cues(text)
    given = given_names(text, every)
    at = cue = 0
    for sentence in split_sentences(text):
        first, first_cue = at, cue
        while cue < len(cues) and cues[cue].start < sentence.end:
            cue += 1
        at = bisect_left(every, sentence.end, at, key=_START)
        if first < at:
            part = every[first:at]
            implied = _implied(part, given) if given else _NOTHING
            found.append(Passage(text, part, cues[first_cue:cue], implied))
    return tuple(found)


def _implied(part: Sequence[Token], given: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return _NOTHING.union(*(given.get(token.stem, ()) for token in part if token.is_capital))


def given_names(text: str, every: Sequence[Token]) -> dict[str, frozenset[str]]:
    """For each family name of a text the words that stand before it where it is written in full.

    Left out where it is written in full in two ways: "Berg" may then be Anna or Otto Berg.
    """
    found: dict[str, frozenset[str]] = {}
    run: list[str] = []
    for at, token in enumerate(every):
        if not (token.is_capital and token.word.isalpha() and is_content(token)):
            if run:
                run = []
            continue
        is_next = bool(run) and text[every[at - 1].end : token.start] == " "
        run = [*run[1 - _NAME_WORDS :], token.stem] if is_next else [token.stem]
        following = every[at + 1] if at + 1 < len(every) else None
        is_last = following is None or not following.is_capital or text[token.end : following.start] != " "
        if len(run) > 1 and is_last:
            others = frozenset(run[:-1])
            earlier = found.get(token.stem, others)
            found[token.stem] = earlier & others if earlier & others else frozenset()
    return found


def tightest(wanted: Sequence[str], stems: Sequence[str]) -> tuple[int, int] | None:
    """First and last index of the shortest run of ``stems`` that holds ``wanted`` in order, with gaps; None if none does.

    One pass over ``stems``: for each prefix of ``wanted`` the latest place where it can have begun is kept.
    """
    if not wanted:
        return None
    begun: list[int | None] = [None] * len(wanted)
    best: tuple[int, int] | None = None
    places: dict[str, list[int]] = {}
    for place, stem in enumerate(wanted):
        places.setdefault(stem, []).insert(0, place)
    for index, stem in enumerate(stems):
        for place in places.get(stem, ()):
            begun[place] = index if place == 0 else begun[place - 1]
        first = begun[-1]
        if first is not None and stem == wanted[-1] and (best is None or index - first < best[1] - best[0]):
            best = (first, index)
    return best


def smallest(wanted: Collection[str], stems: Sequence[str]) -> tuple[int, int] | None:
    """First and last index of the shortest run of ``stems`` that holds each of ``wanted`` in any order."""
    missing = set(wanted)
    latest: dict[str, int] = {}
    best: tuple[int, int] | None = None
    for index, stem in enumerate(stems):
        if stem not in wanted:
            continue
        missing.discard(stem)
        latest.pop(stem, None)
        latest[stem] = index
        if not missing:
            first = next(iter(latest.values()))
            if best is None or index - first < best[1] - best[0]:
                best = (first, index)
    return best


def turns_round(wanted: Sequence[str], stems: Sequence[str]) -> bool:
    """Does ``stems`` say from right to left what ``wanted`` says from left to right?

    True when a word of the end of ``wanted`` comes before one of its middle, and that before one of its beginning:
    what was the subject is now behind the verb. Where a stem occurs often, first and last occurrence are both tried.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for index, stem in enumerate(stems):
        first.setdefault(stem, index)
        last[stem] = index
    for where in (first, last):
        places = [where[stem] for stem in wanted if stem in where]
        for end in places[-_EDGE:]:
            for start in places[:_EDGE]:
                if any(end < middle < start for middle in places[1:-1]):
                    return True
    return False
