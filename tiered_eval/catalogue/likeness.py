"""Scorers that measure how alike two texts are, in characters or in words."""

from __future__ import annotations

from dataclasses import replace

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo
from tiered_eval.catalogue.shared import CASED, SELECTING, pass_at

__all__ = ["LIKENESS"]

_MOST_EDITS = OptionInfo(
    name="max_distance", type="integer", low=0, help="the most edits, instead of pass_at"
)

_ALIKE = replace(pass_at("0.8"), beyond="a number of edits is `max_distance`")

_STEMMING = OptionInfo(
    name="stemming",
    type="flag",
    default="false",
    help="English endings do not count",
    aliases=("use_stemmer",),
)

LIKENESS: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="levenshtein",
        tier="coverage",
        target="tiered_eval.scorers.likeness:Levenshtein",
        summary="few enough edits turn the response into this; one less their share of the longer text is the score",
        value="reference",
        aliases=(
            Alias(name="edit-distance"),
            Alias(name="levenshtein-distance"),
        ),
        options=(_ALIKE, _MOST_EDITS, replace(CASED, default="true"), *SELECTING),
        packages=("rapidfuzz",),
        example="- levenshtein: {value: Kind regards, pass_at: 0.9}",
        is_routed=False,
    ),
    ScorerInfo(
        name="fuzzy-string",
        tier="coverage",
        target="tiered_eval.scorers.likeness:FuzzyString",
        summary="this answer but for slips of the pen, case and space aside; other digits are unsure",
        value="reference",
        aliases=(Alias(name="fuzzy"), Alias(name="fuzzy-match")),
        options=(_ALIKE, _MOST_EDITS, CASED, *SELECTING),
        packages=("rapidfuzz",),
        example="- fuzzy-string: {value: Northline Logistics, pass_at: 0.85}",
        is_routed=False,
    ),
    ScorerInfo(
        name="rouge",
        tier="coverage",
        target="tiered_eval.scorers.word_overlap:Rouge",
        summary="ROUGE: words, pairs or the order of words that the response shares with this text",
        value="reference",
        aliases=(
            Alias(name="rouge-n", options={"variant": "rouge1"}),
            Alias(name="rouge-1", options={"variant": "rouge1"}),
            Alias(name="rouge-2", options={"variant": "rouge2"}),
            Alias(name="rouge-3", options={"variant": "rouge3"}),
            Alias(name="rouge-4", options={"variant": "rouge4"}),
            Alias(name="rouge-5", options={"variant": "rouge5"}),
            Alias(name="rouge-l", options={"variant": "rougeL"}),
            Alias(name="rouge-lsum", options={"variant": "rougeLsum"}),
            Alias(name="rouge-score"),
        ),
        options=(
            OptionInfo(
                name="variant",
                type="text",
                choices=("rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rougeL", "rougeLsum"),
                default="rougeL",
                help="runs of one to five words, words in order, or words in order line by line",
                aliases=("rouge_type",),
            ),
            OptionInfo(
                name="measure",
                type="text",
                choices=("f1", "recall", "precision"),
                default="f1",
                help="what the score is",
            ),
            _STEMMING,
            pass_at("0.75"),
            *SELECTING,
        ),
        packages=("rouge_score", "rapidfuzz"),
        example="- rouge: {value: The invoice is due in 45 days, variant: rouge1, pass_at: 0.6}",
        is_routed=False,
    ),
    ScorerInfo(
        name="bleu",
        tier="coverage",
        target="tiered_eval.scorers.word_overlap:Bleu",
        summary="BLEU: how precise the response's runs of one to four words are",
        value="reference",
        aliases=(
            Alias(name="sacrebleu"),
            Alias(name="sentence-bleu"),
            Alias(name="bleu-score"),
        ),
        options=(
            OptionInfo(
                name="tokenize",
                type="text",
                choices=("13a", "intl", "zh", "char", "none"),
                default="13a",
                help="how sacrebleu cuts the texts",
                aliases=("tokenizer",),
            ),
            OptionInfo(
                name="smooth_method",
                type="text",
                choices=("exp", "floor", "add-k", "none"),
                default="exp",
                help="what runs that none of them has count for, as sacrebleu names it",
                aliases=("smoothing",),
            ),
            OptionInfo(
                name="max_ngram_order",
                type="integer",
                low=1,
                high=4,
                default="4",
                help="words of the longest run that counts",
                aliases=("max_order",),
            ),
            replace(CASED, default="true"),
            pass_at("0.5"),
            *SELECTING,
        ),
        packages=("sacrebleu",),
        example="- bleu: {value: The invoice is due in 45 days, pass_at: 0.4}",
        is_routed=False,
    ),
    ScorerInfo(
        name="lexical-cosine",
        tier="coverage",
        target="tiered_eval.scorers.word_overlap:LexicalCosine",
        summary="the cosine of the two sets of words; shared words, not shared meaning",
        value="reference",
        options=(pass_at("0.75"), *SELECTING),
        example="- lexical-cosine: {value: The invoice is due in 45 days, pass_at: 0.6}",
        is_routed=False,
    ),
)
