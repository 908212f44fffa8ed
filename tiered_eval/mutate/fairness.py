"""Which wrong responses an expectation must notice, given what it asks for.

The one idea: what the author did not ask for is no fault of the check. A pattern for a code need not see a denial, a number
with a tolerance need not see its neighbour, and a likeness that passes on half of the text is asking for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from tiered_eval.mutate import mutants
from tiered_eval.mutate.mutants import Mutant
from tiered_eval.records import Expectation
from tiered_eval.text.tokens import holds_verb

__all__ = ["LIKENESS", "PLAIN", "WHOLE_SENTENCE", "Base", "fair_mutants"]

_STATEMENT_WORDS = 4
WHOLE_SENTENCE = frozenset({"coverage", "semantic", "answer"})
"""Scorers that point at a sentence or a window, not at the words that count."""
LIKENESS = frozenset({"levenshtein", "fuzzy-string", "rouge", "bleu", "lexical-cosine"})
"""Scorers that compare whole texts and point at no place."""
PLAIN = frozenset({"exact-match", "starts-with", "ends-with", "numeric", "date", "url"})
"""Scorers by name of what a response says, whatever else it says of it: a denial is no matter of theirs."""
_NEVER_TOLERATED = frozenset({"a number half as large again", "a number a quarter larger"})
"""Whoever allows as much has asked for no number."""


class Base(NamedTuple):
    """A right response, and where in it the check found what it looked for."""

    text: str
    start: int
    end: int
    scorer: str


def fair_mutants(expectation: Expectation, base: Base) -> Iterator[Mutant]:
    """The mutants that the expectation must not pass, given what it asks for."""
    text, start, end, scorer = base
    is_statement = _is_statement(expectation.value)
    in_sentence = scorer in WHOLE_SENTENCE
    if in_sentence and not is_statement:
        return  # a name somewhere in a sentence: what else the sentence says is no matter of the expectation
    # Where a place is found by its likeness, it may hold numbers that nobody asked for, or misread letters.
    of = str(expectation.value) if in_sentence or scorer == "fuzzy-ocr" else None
    if _can_be_denied(expectation, text[start:end]):
        yield from mutants.negated(text, start, end, everywhere=in_sentence or scorer in LIKENESS)
    if scorer in LIKENESS and (replaced := mutants.half_replaced(text)) is not None:
        yield replaced
    if is_statement and (swapped := mutants.swapped_halves(str(expectation.value))) is not None:
        yield swapped
    yield from mutants.other_units(text, start, end, of=of)
    if not is_statement:
        yield from mutants.extended_words(
            text,
            start,
            end,
            of=of,
            is_pattern=scorer == "regex",
            every_word=expectation.options.get("bounded") is False,
        )
    for mutant in mutants.other_digits(text, start, end, of=of):
        if mutant.name in _NEVER_TOLERATED or not _is_tolerated(expectation, mutant):
            yield mutant


def _can_be_denied(expectation: Expectation, found: str) -> bool:
    """A pattern for a code, an amount or a name is about its form; all else is about what is said."""
    if expectation.kind == "must-cite" or expectation.scorer in PLAIN:
        return False
    if expectation.scorer == "exact" and expectation.options.get("whole"):
        return False
    if expectation.scorer in LIKENESS:
        return holds_verb(found)  # "With kind regards" cannot be untrue
    if expectation.scorer != "regex":
        return True
    return not any(letter.isdigit() for letter in found) and any(word[0].islower() for word in found.split())


def _is_statement(value: object) -> bool:
    return isinstance(value, str) and len(value.split()) >= _STATEMENT_WORDS


def _is_tolerated(expectation: Expectation, mutant: Mutant) -> bool:
    """Is the number that was put in within the tolerance that the author declared?"""
    options = expectation.options
    tolerance, relative = (
        Decimal(str(options.get(name) or 0)) for name in ("tolerance", "relative_tolerance")
    )
    if options.get("relative"):
        tolerance, relative = Decimal(0), tolerance
    if not tolerance and not relative:
        return False
    try:
        (start, end), *_ = mutant.changed
        wanted, found = (
            Decimal(text.replace(",", "")) for text in (str(expectation.value), mutant.text[start:end])
        )
    except InvalidOperation:
        return True  # nobody knows
    return abs(found - wanted) <= max(tolerance, relative * abs(wanted))
