"""How much of their words two texts share: ROUGE, BLEU, and the cosine of their words.

The one idea: these are published figures, so that they can be compared with others', and the packages that others compute them
with compute them here: ``rouge-score`` for ROUGE (Lin 2004), ``sacrebleu`` for BLEU of one sentence (Papineni et al. 2002). What
is left to do here is what they leave open: how often a text is cut, how long one may be, and where an outcome begins.

Three places where the package is not called as its first page says, each held to it in the tests:

- Words are cut here and kept for the next expectation; rouge-score's own cutter knows a to z and 0 to 9 only, so that a Russian
  text would have no words. Texts in those letters have the same words either way.
- The words in order that ROUGE-L counts are counted by ``rapidfuzz``: for two texts of 1,000 words rouge-score fills a table of a
  million cells in Python (330 ms), and rapidfuzz needs 0.05 ms for the same number.
- BLEU goes in by ``compute_bleu``, from counts that are kept (of a line 27 µs a check instead of 94 by ``sentence_score``), and
  sacrebleu's memory of the last 65,536 texts is emptied: a run must not grow with its suite.

They count words: a text that says the opposite shares most of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

from tiered_eval.records import Outcome, Tier
from tiered_eval.scorers.extras import missing_package
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, graded, texts_of
from tiered_eval.text.accents import composed

__all__ = ["Bleu", "LexicalCosine", "Rouge"]

_WORD = re.compile(r"[^\W_]+")
_MOST_CHARACTERS = 100_000
"""Of either text; beyond it the work would be noticed."""
_MOST_PAIRS = 500_000
"""ROUGE-Lsum takes time in the product of both lengths in words: about 0.2 s here."""
_KEPT = 16
"""References whose words or counts are kept."""
_LONGEST_STEMMED = 60
"""Letters of a word that is stemmed: a longer one is none of English."""


def words_of(text: str) -> tuple[str, ...]:
    """The words, lower-cased."""
    return tuple(_WORD.findall(composed(text).lower()))


def stems_of(text: str) -> tuple[str, ...]:
    """The words, lower-cased, those of more than three letters without the endings of English (Porter 1980)."""
    stem = _stemmer()
    return tuple(stem(word) if 3 < len(word) <= _LONGEST_STEMMED else word for word in words_of(text))


class _Overlap(SelectingScorer):
    tier: Tier = "coverage"
    default_pass_at = 0.75

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        texts = texts_of(expected)
        if max(map(len, (given.text, *texts))) > _MOST_CHARACTERS:
            return Outcome("unsure", f"more than {_MOST_CHARACTERS:,} characters, which are not compared")
        score = self.score(texts, given, options)
        if score is None:
            return Outcome("unsure", "too many words, which are not compared")
        return graded(score, options, default=self.default_pass_at, reason=f"{self.name} {score:.3g}")

    def score(self, texts: Sequence[str], given: Given, options: Mapping[str, Any]) -> float | None:
        """From 0 to 1; None where the texts are too long for it."""
        raise NotImplementedError


class Rouge(_Overlap):
    """How many of the expected words, pairs, or words in order are there? Of several texts the best.

    Options: ``variant``, ``rouge1`` to ``rouge5``, ``rougeL`` or ``rougeLsum``; ``measure``, ``f1``, ``recall`` or ``precision``;
    ``stemming`` (false); ``pass_at`` (0.75).
    """

    name = "rouge"

    def score(self, texts: Sequence[str], given: Given, options: Mapping[str, Any]) -> float | None:
        variant = str(options.get("variant", "rougeL"))
        is_stemmed = bool(options.get("stemming"))
        if variant == "rougeLsum":
            wanted = sum(len(_kept_words(text)) for text in texts)
            if wanted * len(given.subject.view(words_of)) > _MOST_PAIRS:
                return None
            scores = [_summary_score(text, given.text, is_stemmed) for text in texts]
        else:
            found = given.subject.view(stems_of if is_stemmed else words_of)
            of = _in_order if variant == "rougeL" else _scorer(variant)
            scores = [of(_kept_words(text, is_stemmed), found) for text in texts]
        measure = {"recall": "recall", "precision": "precision"}.get(str(options.get("measure")), "fmeasure")
        return max(float(getattr(score, measure)) for score in scores)


@lru_cache(maxsize=_KEPT)
def _kept_words(reference: str, is_stemmed: bool = False) -> tuple[str, ...]:
    return (stems_of if is_stemmed else words_of)(reference)


@dataclass(frozen=True, slots=True)
class _Cutter:
    """What rouge-score cuts texts with: they may have been cut before."""

    cut: Callable[[str], tuple[str, ...]] = words_of

    def tokenize(self, text: str | tuple[str, ...]) -> tuple[str, ...]:
        return text if isinstance(text, tuple) else self.cut(text)


@lru_cache(maxsize=8)
def _scorer(variant: str, is_stemmed: bool = False) -> Callable[[Any, Any], Any]:
    """rouge-score's function of an expected and a found text that has recall, precision and fmeasure."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise missing_package("rouge", "rouge-score") from None
    scorer = RougeScorer([variant], tokenizer=_Cutter(stems_of if is_stemmed else words_of))
    return lambda wanted, found: scorer.score(wanted, found)[variant]


def _summary_score(wanted: str, found: str, is_stemmed: bool) -> Any:
    """ROUGE-Lsum, a line being a sentence."""
    return _scorer("rougeLsum", is_stemmed)(wanted, found)


def _in_order(wanted: Sequence[str], found: Sequence[str]) -> Any:
    """ROUGE-L: the longest series of words that both have in the same order."""
    try:
        from rapidfuzz.distance import LCSseq
        from rouge_score import scoring
    except ImportError:
        raise missing_package("rouge", "rouge-score") from None
    common = LCSseq.similarity(wanted, found)
    precision, recall = common / (len(found) or 1), common / (len(wanted) or 1)
    return scoring.Score(precision=precision, recall=recall, fmeasure=scoring.fmeasure(precision, recall))


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    try:
        from nltk.stem.porter import PorterStemmer  # which rouge-score stems with, and brings along
    except ImportError:
        raise missing_package("rouge", "rouge-score") from None
    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@dataclass(frozen=True, slots=True)
class _Runs:
    """How often a text has each run of words, and how many words it has."""

    counts: Counter[tuple[str, ...]]
    words: int


class Bleu(_Overlap):
    """How precise are its runs of one to four words? Of several texts, a run counts if any has it, as BLEU is meant.

    Options: ``tokenize`` (13a), ``smooth_method`` (exp), ``max_ngram_order`` (4), ``case_sensitive`` (true), ``pass_at`` (0.5).
    """

    name = "bleu"
    default_pass_at = 0.5
    longest_run: ClassVar[int] = 4

    def score(self, texts: Sequence[str], given: Given, options: Mapping[str, Any]) -> float | None:
        order = int(options.get("max_ngram_order", self.longest_run))
        how = (str(options.get("tokenize", "13a")), bool(options.get("case_sensitive", True)), order)
        found = given.subject.view(_run_counter(*how))
        wanted = _wanted_runs(tuple(texts), *how)
        nearest = min((abs(runs.words - found.words), runs.words) for runs in wanted)[1]
        allowed = _merged(wanted)
        correct = [0] * order
        for run in found.counts.keys() & allowed.keys():
            correct[len(run) - 1] += min(found.counts[run], allowed[run])
        from sacrebleu.metrics.bleu import BLEU

        score = BLEU.compute_bleu(
            correct,
            [max(0, found.words - before) for before in range(order)],
            found.words,
            nearest,
            smooth_method=str(options.get("smooth_method", "exp")),
            effective_order=True,  # as sacrebleu asks for where sentences are scored
            max_ngram_order=order,
        ).score
        return min(1.0, score / 100)


@lru_cache(maxsize=_KEPT)
def _wanted_runs(texts: tuple[str, ...], tokenize: str, is_cased: bool, order: int) -> tuple[_Runs, ...]:
    count = _run_counter(tokenize, is_cased, order)
    return tuple(count(text) for text in texts)


def _merged(wanted: Sequence[_Runs]) -> Mapping[tuple[str, ...], int]:
    """How often any of the references has each run."""
    merged = wanted[0].counts
    for runs in wanted[1:]:
        merged = merged | runs.counts
    return merged


@lru_cache(maxsize=64)
def _run_counter(tokenize: str, is_cased: bool, order: int) -> Callable[[str], _Runs]:
    return partial(_count_runs, tokenize=tokenize, is_cased=is_cased, order=order)


def _count_runs(text: str, *, tokenize: str, is_cased: bool, order: int) -> _Runs:
    cut = _tokenizer(tokenize)
    from sacrebleu.metrics.helpers import extract_all_word_ngrams

    line = composed(text if is_cased else text.lower()).rstrip()
    counts, words = extract_all_word_ngrams(cut(line), 1, order)
    return _Runs(counts, words)


@lru_cache(maxsize=8)
def _tokenizer(name: str) -> Callable[[str], str]:
    """sacrebleu's tokenizer of that name, which remembers no text."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
    except ImportError:
        raise missing_package("bleu", "sacrebleu") from None
    tokenizer: Any = BLEU(tokenize=name, effective_order=True).tokenizer
    remembering = [
        kind.__call__ for kind in (type(tokenizer), TokenizerRegexp) if hasattr(kind.__call__, "cache_clear")
    ]

    def cut(text: str) -> str:
        tokens = str(tokenizer(text))
        for call in remembering:
            call.cache_clear()
        return tokens

    return cut


class LexicalCosine(_Overlap):
    """The cosine of the two sets of words: what some tools call semantic. ``pass_at`` (0.75)."""

    name = "lexical-cosine"

    def score(self, texts: Sequence[str], given: Given, options: Mapping[str, Any]) -> float | None:
        found = set(given.subject.view(words_of))
        return max(_cosine(set(_kept_words(text)), found) for text in texts)


def _cosine(left: set[str], right: set[str]) -> float:
    return len(left & right) / math.sqrt(len(left) * len(right)) if left and right else 0.0
