"""How much of their words two texts share: ROUGE, BLEU, and the cosine of their words.

The one idea: these are published figures and are computed as published, so that they can be compared with others': ROUGE (Lin
2004) over lower-cased words of letters and digits, without stemming; BLEU (Papineni et al. 2002) of one sentence with up to
four words, exponential smoothing and the tokens of ``mteval-v13a``, as sacreBLEU has it. They count words: a text
that says the opposite shares most of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tiered_eval.records import Outcome, Tier
from tiered_eval.scorers.selecting import Given, SelectingScorer, graded, texts_of

__all__ = ["Bleu", "LexicalCosine", "Rouge"]

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 5_000
"""ROUGE-L takes time in the product of both lengths; beyond this it is not computed."""
_BLEU_ORDERS = 4
_BREAKS = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
"""The rules of mteval-v13a, in their order."""


def words_of(text: str) -> list[str]:
    """The words, lower-cased."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=256)
def _kept_words(reference: str) -> tuple[str, ...]:
    return tuple(words_of(reference))


class _Overlap(SelectingScorer):
    tier: Tier = "coverage"
    default_pass_at = 0.75

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        scores = [self.score(text, given, options) for text in texts_of(expected)]
        if None in scores:
            return Outcome("unsure", f"more than {_MOST_WORDS:,} words, which are not compared")
        score = max(score for score in scores if score is not None)
        return graded(score, options, default=self.default_pass_at, reason=f"{self.name} {score:.3g}")

    def score(self, wanted: str, given: Given, options: Mapping[str, Any]) -> float | None:
        """From 0 to 1; None where the texts are too long for it."""
        raise NotImplementedError


class Rouge(_Overlap):
    """How many of the expected words, pairs, or words in order are there?

    Options: ``variant``, ``rouge1``, ``rouge2`` or ``rougeL``; ``measure``, ``f1``, ``recall`` or ``precision``; ``pass_at`` (0.75).
    """

    name = "rouge"

    def score(self, wanted: str, given: Given, options: Mapping[str, Any]) -> float | None:
        expected, found = _kept_words(wanted), given.subject.view(words_of)
        variant = options.get("variant", "rougeL")
        if variant == "rougeL":
            if max(len(expected), len(found)) > _MOST_WORDS:
                return None
            common, of_expected, of_found = _common_length(expected, found), len(expected), len(found)
        else:
            order = 1 if variant == "rouge1" else 2
            one, other = _grams(expected, order), _grams(found, order)
            common, of_expected, of_found = (one & other).total(), one.total(), other.total()
        recall = common / of_expected if of_expected else 0.0
        precision = common / of_found if of_found else 0.0
        match options.get("measure", "f1"):
            case "recall":
                return recall
            case "precision":
                return precision
            case _:
                return 2 * recall * precision / (recall + precision) if common else 0.0


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


def _common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Words of the longest common subsequence, a row of its table held as the bits of a number (Crochemore 2001)."""
    places: dict[str, int] = {}
    for index, word in enumerate(right):
        places[word] = places.get(word, 0) | (1 << index)
    every = (1 << len(right)) - 1
    row = every
    for word in left:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & every
    return len(right) - row.bit_count()


class Bleu(_Overlap):
    """How precise are its runs of one to four words? ``pass_at`` (0.5)."""

    name = "bleu"
    default_pass_at = 0.5

    def score(self, wanted: str, given: Given, options: Mapping[str, Any]) -> float | None:
        return bleu(given.subject.view(bleu_tokens), _kept_tokens(wanted))


@lru_cache(maxsize=256)
def _kept_tokens(reference: str) -> tuple[str, ...]:
    return tuple(bleu_tokens(reference))


def bleu_tokens(text: str) -> list[str]:
    """The tokens that BLEU counts, upper and lower case apart."""
    spaced = f" {' '.join(text.replace('&quot;', chr(34)).replace('&amp;', '&').split())} "
    for pattern, apart in _BREAKS:
        spaced = pattern.sub(apart, spaced)
    return spaced.split()


def bleu(found: Sequence[str], wanted: Sequence[str]) -> float:
    """BLEU of one sentence against one reference, from 0 to 1; runs that a short text has none of are left out."""
    if not found or not wanted:
        return 0.0
    logs = 0.0
    smoothing = 1.0
    orders = min(_BLEU_ORDERS, len(found))
    for order in range(1, orders + 1):
        right = _common(found, wanted, order)
        total = len(found) - order + 1
        if right == 0 and order == 1:
            return 0.0
        smoothing *= 1 if right else 2
        logs += math.log(right / total if right else 1 / (smoothing * total))
    brevity = 1.0 if len(found) >= len(wanted) else math.exp(1 - len(wanted) / len(found))
    return min(1.0, brevity * math.exp(logs / orders))


def _common(found: Sequence[str], wanted: Sequence[str], order: int) -> int:
    """Runs of that many words that both have, each as often as both have it."""
    left: dict[tuple[str, ...], int] = {}
    for run in zip(*(wanted[at:] for at in range(order)), strict=False):
        left[run] = left.get(run, 0) + 1
    common = 0
    for run in zip(*(found[at:] for at in range(order)), strict=False):
        if left.get(run, 0):
            left[run] -= 1
            common += 1
    return common


class LexicalCosine(_Overlap):
    """The cosine of the two sets of words: what some tools call semantic. ``pass_at`` (0.75)."""

    name = "lexical-cosine"

    def score(self, wanted: str, given: Given, options: Mapping[str, Any]) -> float | None:
        expected, found = set(_kept_words(wanted)), set(given.subject.view(words_of))
        if not expected or not found:
            return 0.0
        return len(expected & found) / math.sqrt(len(expected) * len(found))
