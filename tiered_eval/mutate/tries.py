"""One expectation, tried on one wrong response after another.

The one idea: an expectation is spoilt value by value. Where a value was found decides what is changed, so the check's
own evidence is where its mutants come from; a value that the response at hand does not state is tried on a response
that does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from tiered_eval.errors import message_of
from tiered_eval.mutate import mutants
from tiered_eval.mutate.fields import field_mutants
from tiered_eval.mutate.mutants import Mutant
from tiered_eval.mutate.statements import as_text, outright, traps_said
from tiered_eval.records import Case, Expectation, Value, Verdict
from tiered_eval.runner.checks import Checker
from tiered_eval.text.sentences import split_sentences
from tiered_eval.text.subject import Subject

__all__ = ["Passed", "Trial"]

LONGEST_RESPONSE = 20_000
"""Characters of a response that are spoilt as a whole; each of its mutants is read anew."""
_SHOWN = 80
_STATEMENT_WORDS = 4
_WHOLE_SENTENCE = frozenset({"coverage", "semantic", "answer"})
"""Scorers that point at a sentence or a window, not at the words that count."""
_LIKENESS = frozenset({"levenshtein", "fuzzy-string", "rouge", "bleu", "lexical-cosine"})
"""Scorers that compare whole texts and point at no place."""
_FORMS = frozenset({"exact-match", "starts-with", "ends-with", "numeric", "date", "url"})
"""Scorers by name of what a response says, whatever else it says of it: a denial is no matter of theirs."""
_CHECKS = _LIKENESS | _FORMS | {"contains"}
"""Scorers by name that look at words. The others measure, run, or read structures."""
_TOLERATED = frozenset({"the number plus 1", "the number minus 1", "one digit changed"})


class Passed(NamedTuple):
    """A wrong response that an expectation let through."""

    mutant: str
    """What was done to the response."""
    excerpt: str
    """The part of it that shows that, quoted."""


class _Base(NamedTuple):
    """A right response, and where in it the check found what it looked for."""

    text: str
    start: int
    end: int
    scorer: str


class Trial:
    """The wrong responses for one case, and what its expectations make of them."""

    def __init__(self, case: Case, checker: Checker, others: Sequence[str]) -> None:
        self.case = case
        self.made = 0
        """Mutants shown so far."""
        self.fault: str | None = None
        """The first exception of the checks of the expectation that was tried last."""
        self._checker = checker
        self._others = [self._subject(text) for text in others]
        self._subjects: dict[str, Subject] = {}

    def passed_by(self, expectation: Expectation) -> Iterator[Passed]:
        """What the expectation lets through although it must not."""
        self.fault = None
        if expectation.kind == "behaviour":
            yield from self._fields(expectation)
        elif expectation.is_negative:
            yield from self._traps(expectation)
        else:
            yield from self._empty_words(expectation)
            for value in dict.fromkeys(map(_hashable, _parts(expectation))):
                yield from self._spoilt(replace(expectation, values=(value,)))

    def can_try(self, expectation: Expectation) -> bool:
        """Is it a claim about words or fields that a free check can pass? A requirement always asks a model."""
        if expectation.scorer in ("judge", "semantic"):
            return False
        if expectation.kind == "behaviour":
            return not expectation.negated
        if expectation.kind == "check":
            is_trap = expectation.is_negative
            return (
                expectation.scorer in ({"contains"} if is_trap else _CHECKS)
                and "field" not in expectation.options
            )
        return expectation.kind in ("must-contain", "must-not-contain", "must-cite", "equivalent")

    def _subject(self, text: str) -> Subject:
        return Subject(replace(self.case, response=text))

    def _verdict(self, expectation: Expectation, subject: Subject) -> Verdict | None:
        """What the free checks say; None where they leave it open or cannot look."""
        try:
            made = self._checker.begin(expectation, subject)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # ours or the user's own scorer: it is named as a finding
            self.fault = self.fault or f"{type(error).__name__}: {message_of(error)}"
            return None
        return made if isinstance(made, Verdict) else None

    def _passes(self, expectation: Expectation, mutant: Mutant) -> bool:
        self.made += 1
        subject = self._subjects.get(mutant.text)
        if subject is None:
            subject = self._subjects[mutant.text] = self._subject(mutant.text)
        verdict = self._verdict(expectation, subject)
        if verdict is None or verdict.state != "pass":
            return False
        evidence = verdict.evidence
        return evidence is None or mutant.touches(evidence.start, evidence.end)

    def _empty_words(self, expectation: Expectation) -> Iterator[Passed]:
        """Responses that answer nothing, or something else."""
        whole = [Mutant("an empty response", "")]
        whole.extend(Mutant("the question said back", text) for text in _echoes(self.case.input or ""))
        whole.extend(Mutant("a refusal", text) for text in mutants.REFUSALS)
        for mutant in whole:
            if self._passes(expectation, mutant):
                yield Passed(mutant.name, mutant.excerpt())
        yield from self._elsewhere(expectation)

    def _elsewhere(self, expectation: Expectation) -> Iterator[Passed]:
        """Other cases' responses. A few may say the same by chance; more than a quarter of them do not."""
        found = [
            subject.text
            for subject in self._others
            if (verdict := self._verdict(expectation, subject)) is not None and verdict.state == "pass"
        ]
        self.made += len(self._others)
        if found and len(found) * 4 > len(self._others):
            yield Passed("another case's response", Mutant("", found[0]).excerpt())

    def _spoilt(self, expectation: Expectation) -> Iterator[Passed]:
        base = self._base(expectation)
        if base is None:
            return
        for mutant in _fair_mutants(expectation, base):
            if self._passes(expectation, mutant):
                yield Passed(mutant.name, mutant.excerpt())

    def _base(self, expectation: Expectation) -> _Base | None:
        """A short right response: the sentence that states it, else the whole, else one made for it."""
        verdict = self._verdict(expectation, Subject(self.case))
        if verdict is not None and verdict.state == "pass" and (where := _place(verdict)) is not None:
            for sentence in split_sentences(self.case.response):
                if sentence.start <= where[0] and where[1] <= sentence.end:
                    alone = self._found(expectation, self.case.response[sentence.start : sentence.end])
                    if alone is not None:
                        return alone
            if len(self.case.response) <= LONGEST_RESPONSE:
                return _Base(self.case.response, *where, verdict.scorer or "")
        said = as_text(expectation.value, expectation)
        made = (self._found(expectation, text) for text in (outright(said) if said else ()))
        return next((base for base in made if base is not None), None)

    def _found(self, expectation: Expectation, text: str) -> _Base | None:
        verdict = self._verdict(expectation, self._subject(text))
        if verdict is None or verdict.state != "pass":
            return None
        where = (0, len(text)) if verdict.scorer in _LIKENESS else _place(verdict)
        return None if where is None else _Base(text, *where, verdict.scorer or "")

    def _traps(self, expectation: Expectation) -> Iterator[Passed]:
        for value in _parts(expectation):
            said = as_text(value, expectation)
            if said is None:
                continue
            for name, sentence in traps_said(said, is_pattern=expectation.scorer == "regex"):
                text = f"{self.case.response[:LONGEST_RESPONSE]} {sentence}".strip()
                if self._passes(expectation, Mutant(name, text)):
                    yield Passed(name, Mutant("", sentence).excerpt())

    def _fields(self, expectation: Expectation) -> Iterator[Passed]:
        root = self.case.fields or _json_of(self.case.response)
        if not root:
            return
        for mutant in field_mutants(expectation, root):
            self.made += 1
            # A response that is no JSON keeps the check from looking there once all fields are gone.
            changed = replace(self.case, fields=_as_fields(mutant.fields), response="")
            verdict = self._verdict(expectation, Subject(changed))
            if verdict is not None and verdict.state == "pass":
                yield Passed(mutant.name, json.dumps(mutant.shown, ensure_ascii=False)[:_SHOWN])


def _echoes(question: str) -> tuple[str, ...]:
    """The question as a response: as it stands, and restated, for a check that knows a question when it sees one."""
    question = question.strip()
    bare = question.rstrip("?!. ")
    return (question, f"{bare}.") if bare else ()


def _fair_mutants(expectation: Expectation, base: _Base) -> Iterator[Mutant]:
    """The mutants that the expectation must not pass, given what it asks for."""
    text, start, end, scorer = base
    is_statement = _is_statement(expectation.value)
    in_sentence = scorer in _WHOLE_SENTENCE
    if in_sentence and not is_statement:
        return  # a name somewhere in a sentence: what else the sentence says is no matter of the expectation
    # Where a place is found by its likeness, it may hold numbers that nobody asked for, or misread letters.
    of = str(expectation.value) if in_sentence or scorer == "fuzzy-ocr" else None
    for mutant in mutants.other_digits(text, start, end, of=of):
        if not (mutant.name in _TOLERATED and _is_tolerant(expectation)):
            yield mutant
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
    if _can_be_denied(expectation, text[start:end]):
        yield from mutants.negated(text, start, end, everywhere=in_sentence or scorer in _LIKENESS)
    if is_statement and (swapped := mutants.swapped_halves(str(expectation.value))) is not None:
        yield swapped


def _can_be_denied(expectation: Expectation, found: str) -> bool:
    """A pattern for a code, an amount or a name is about its form; all else is about what is said."""
    if expectation.kind == "must-cite" or expectation.scorer in _FORMS:
        return False
    if expectation.scorer == "exact" and expectation.options.get("whole"):
        return False
    if expectation.scorer != "regex":
        return True
    return not any(letter.isdigit() for letter in found) and any(word[0].islower() for word in found.split())


def _parts(expectation: Expectation) -> Iterator[Value]:
    """The values one by one, those of a list that is one value as well (``contains: [net 45, PO-4471]``)."""
    for value in expectation.values:
        if expectation.scorer == "contains" and isinstance(value, tuple):
            yield from value
        else:
            yield value


def _is_statement(value: object) -> bool:
    return isinstance(value, str) and len(value.split()) >= _STATEMENT_WORDS


def _is_tolerant(expectation: Expectation) -> bool:
    options = expectation.options
    try:
        tolerance = Decimal(str(options.get("tolerance") or 0))
        relative = Decimal(str(options.get("relative_tolerance") or 0))
        return tolerance >= 1 or relative * abs(Decimal(str(expectation.value))) >= 1
    except InvalidOperation:
        return True


def _place(verdict: Verdict) -> tuple[int, int] | None:
    evidence = verdict.evidence
    if evidence is None or evidence.start is None or evidence.end is None:
        return None
    return evidence.start, evidence.end


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _json_of(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_fields(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {"items": value}
