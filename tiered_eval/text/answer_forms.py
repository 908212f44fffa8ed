"""The forms in which a short gold answer may stand in a response, and where they stand.

The one idea: a gold is somebody's note ("the Bergen hall (city)", "Anna Lind Berg", "PIGEONS or DOVES"), and a response says
the same in its own form. Articles, glosses, middle names, alternatives and the order of a date are matters of form;
anything that could make another answer is not touched here.

Used by :mod:`tiered_eval.text.answers`, which says what finding one is worth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tiered_eval.text.passages import smallest
from tiered_eval.text.tokens import FUNCTION_WORDS, Token, stem, tokens

__all__ = ["LEADING", "Words", "content", "forms_of", "places_of", "read_words"]

_NAME = 2
"""Words of a name that has a given name and a family name."""
_SLACK = 1
"""Words that may stand between those of an answer in another order or form: "September 23, in 1889"."""
_JOINED = 6
"""Least letters for comparing without spaces: "sea shells" and "seashells"."""
LEADING = frozenset("the a an in at on by to from of for around about approximately".split())
"""Words that may open a gold answer without being a part of it."""
_IN_PARENTHESES = re.compile(r"\s*\(([^()]*)\)\s*")
_OR = re.compile(r"\s+or\s+", re.IGNORECASE)
_EXPLAINED = re.compile(r",\s+(?:who|which|whose|where)\b.*", re.DOTALL)
_TITLES = frozenset(
    "professor prof sir dr doctor lord lady dame mr mrs ms president king queen prince princess pope general".split()
)
_SHORT_NAMES = """
alexander alex|andrew andy|anthony tony|benjamin ben|catherine kate cathy|charles charlie|christopher chris|daniel dan danny
david dave|donald don|edward ed eddie|elizabeth liz|frederick fred|geoffrey jeff|gregory greg|jacob jake|james jim jimmy
jeffrey jeff|jennifer jen jenny|john johnny|jonathan jon|joseph joe|katherine kate kathy|kenneth ken|lawrence larry
margaret maggie|matthew matt|michael mike|nicholas nick|patrick pat|peter pete|richard rick dick|robert bob bobby rob
ronald ron|samuel sam|stephen steve|steven steve|susan sue|theodore ted|thomas tom tommy|timothy tim|william bill billy will
"""
"""English given names and what is short for them; the one is as good as the other before the same family name."""
_GIVEN = [group.split() for group in _SHORT_NAMES.strip().replace("\n", "|").split("|")]
_MANGLED = re.compile(
    "[\u00c2\u00c3\u00e2][\u0080-\u00bf\u20ac\u2013\u201a-\u203a\u0152-\u017e\u02c6\u02dc\u2122]"
)


@lru_cache(maxsize=4096)
def forms_of(value: str) -> tuple[tuple[Token, ...], ...]:
    """The gold as it is written, without its article, its parentheses, its alternatives, its middle name."""
    value = _EXPLAINED.sub("", _mended(value)) or value
    texts = [value, _IN_PARENTHESES.sub(" ", value), *_OR.split(value)]
    texts += [inside for inside in _IN_PARENTHESES.findall(value) if inside.isupper() and inside.isalpha()]
    forms: dict[tuple[str, ...], tuple[Token, ...]] = {}
    for text in dict.fromkeys(texts):
        form = tokens(text)
        while len(form) > 1 and form[0].word in LEADING:
            form = form[1:]
        is_one_name = "&" not in text  # "Anna & Otto Berg" are two
        others = (_without_middle_name(form), _without_title(form), *_names_like(form)) if is_one_name else ()
        for variant in (form, *others):
            if variant:
                forms.setdefault(tuple(token.stem for token in variant), variant)
    return tuple(forms.values())


def _mended(value: str) -> str:
    """Without soft hyphens; text whose UTF-8 was once read as Windows-1252 ("cafÃ©"), put right."""
    value = value.replace("\u00ad", "")
    if not _MANGLED.search(value):
        return value
    try:
        return value.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return value


def _without_middle_name(form: tuple[Token, ...]) -> tuple[Token, ...]:
    is_name = len(form) == 3 and all(token.is_capital and token.word.isalpha() for token in form)
    return (form[0], form[2]) if is_name else ()


def _without_title(form: tuple[Token, ...]) -> tuple[Token, ...]:
    """ "Henry Higgins" for "Professor Henry Higgins"; a title before one word is a part of the name."""
    has_title = len(form) > _NAME and form[0].word in _TITLES
    return form[1:] if has_title and all(token.is_capital for token in form[1:]) else ()


def _names_like(form: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    """A person's name with another form of the given name: "Dave Berg" for "David Berg", "A. L. Berg" for "Anna Lind Berg"."""
    is_name = len(form) >= _NAME and all(token.is_capital and token.word.isalpha() for token in form)
    if not is_name:
        return
    for group in _GIVEN:
        if form[0].word in group:
            for other in group:
                if other != form[0].word:
                    yield (_renamed(form[0], other), *form[1:])
    if len(form) > _NAME and all(len(token.word) > 1 for token in form):
        initials = "".join(token.word[0] for token in form[:-1])
        yield (_renamed(form[0], initials), form[-1])


def _renamed(token: Token, word: str) -> Token:
    return token._replace(word=word, stem=stem(word), end=token.start + len(word))


class Words(NamedTuple):
    """The words of a response, as they are searched."""

    tokens: tuple[Token, ...]
    stems: list[str]
    held: frozenset[str]
    """The stems without their places."""
    letters: str
    """All words without a space between them."""


def read_words(text: str) -> Words:
    """A view of a Subject."""
    found = tokens(text)
    stems = [token.stem for token in found]
    return Words(found, stems, frozenset(stems), "".join([token.word for token in found]))


def places_of(form: tuple[Token, ...], said: Words) -> Iterator[tuple[int, int]]:
    """First and last index of each place: word for word; else the same words close together, or written as one."""
    exact = _word_for_word([token.stem for token in form], said)
    if exact:
        yield from exact
        return
    yield from _spelled_out(form, said.tokens)
    words = {token.stem for token in content(form)}
    if len(words) > 1 and words <= said.held:
        run = smallest(words, said.stems)
        if run is not None and run[1] - run[0] < len(words) + _SLACK:
            yield run
            return
    joined = "".join([token.word for token in form])
    if len(joined) >= _JOINED and joined in said.letters:
        yield from _written_as_one(joined, len(form), said.tokens)


def _word_for_word(wanted: list[str], said: Words) -> list[tuple[int, int]]:
    if wanted[0] not in said.held:
        return []
    size = len(wanted)
    return [
        (at, at + size - 1)
        for at, stem in enumerate(said.stems)
        if stem == wanted[0] and said.stems[at : at + size] == wanted
    ]


def _written_as_one(joined: str, size: int, found: tuple[Token, ...]) -> Iterator[tuple[int, int]]:
    """ "Seashells" for "sea shells", and the other way round."""
    for width in (size - 1, size + 1):
        for at in range(len(found) - width + 1) if width else ():
            words = [token.word for token in found[at : at + width]]
            if words[0][0] == joined[0] and "".join(words) == joined:
                yield at, at + width - 1


def _spelled_out(form: tuple[Token, ...], found: tuple[Token, ...]) -> Iterator[tuple[int, int]]:
    """ "Anna Lind Berg" for the gold "A. L. Berg": words with these initials before the family name."""
    initials = form[0].word
    if len(form) != _NAME or not form[0].is_capital or form[0].end - form[0].start <= len(initials):
        return  # without the full stops of initials
    for last, token in enumerate(found):
        given = found[max(0, last - len(initials)) : last]
        if token.stem == form[1].stem and "".join(other.word[0] for other in given) == initials:
            yield last - len(initials), last


def content(form: tuple[Token, ...]) -> tuple[Token, ...]:
    """Its words without grammar; all of them where nothing else is there ("The Who")."""
    return tuple(token for token in form if token.word not in FUNCTION_WORDS) or form
