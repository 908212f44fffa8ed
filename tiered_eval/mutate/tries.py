"""One expectation, tried on one wrong response after another.

The one idea: an expectation is spoilt value by value. Where a value was found decides what is changed, so the check's
own evidence is where its mutants come from; a value that the response at hand does not state is tried on a response
that does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from tiered_eval.errors import message_of
from tiered_eval.mutate import mutants
from tiered_eval.mutate.fairness import LIKENESS, PLAIN, WHOLE_SENTENCE, Base, fair_mutants
from tiered_eval.mutate.fields import as_fields, field_mutants, fields_of
from tiered_eval.mutate.forms import FORMS, WrongCase, form_mutants
from tiered_eval.mutate.labels import label_mutants
from tiered_eval.mutate.mutants import Mutant
from tiered_eval.mutate.statements import as_text, in_passing, outright, traps_said
from tiered_eval.mutate.structures import STRUCTURES, structure_mutants
from tiered_eval.records import Case, Expectation, Value, Verdict
from tiered_eval.runner.checks import Checker
from tiered_eval.text.sentences import split_sentences
from tiered_eval.text.subject import Subject

__all__ = ["Passed", "Trial"]

LONGEST_RESPONSE = 20_000
"""Characters of a response that are spoilt as a whole; each of its mutants is read anew."""
MOST_MUTANTS = 200
"""Of one right response; a likeness is compared with the whole text, which may hold thousands of numbers."""
_SHOWN = 80
_MOST_PLACES = 3
_CHECKS = LIKENESS | PLAIN | {"contains", "classification"}
"""Scorers by name that look at words. Beside them there are those that read structures; the others measure or run."""


class Passed(NamedTuple):
    """A wrong response that an expectation let through."""

    mutant: str
    """What was done to the response."""
    excerpt: str
    """The part of it that shows that, quoted."""


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
        elif expectation.scorer in FORMS:
            yield from self._forms(expectation)
        elif expectation.scorer in STRUCTURES:
            yield from self._wrong(expectation, structure_mutants(expectation, self.case))
        elif expectation.scorer == "classification":
            yield from self._shown(expectation, (*_empty_words(self.case), *label_mutants(expectation)))
        else:
            yield from self._shown(expectation, _empty_words(self.case))
            yield from self._elsewhere(expectation)
            yield from self._shown(expectation, self._vague(expectation))
            for value in dict.fromkeys(map(_hashable, _parts(expectation))):
                yield from self._spoilt(replace(expectation, values=(value,)), expectation)

    def can_try(self, expectation: Expectation) -> bool:
        """Is it a claim about words or fields that a free check can pass? A requirement always asks a model."""
        if expectation.scorer in ("judge", "semantic"):
            return False
        if expectation.kind == "behaviour":
            return not expectation.negated
        if expectation.kind == "check":
            is_trap = expectation.is_negative
            if not is_trap and expectation.scorer in STRUCTURES:
                return True
            return (
                expectation.scorer in ({"contains"} if is_trap else _CHECKS | FORMS)
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

    def _shown(self, expectation: Expectation, wrong: Iterable[Mutant]) -> Iterator[Passed]:
        for mutant in wrong:
            if self._passes(expectation, mutant):
                yield Passed(mutant.name, mutant.excerpt())

    def _vague(self, expectation: Expectation) -> Iterator[Mutant]:
        """Other responses with the words that are looked for, where these say little: a unit, a yes."""
        for part in _parts(expectation) if expectation.scorer in (None, "exact", "contains") else ():
            if isinstance(part, str):
                yield from mutants.other_amounts(self.case.response[:LONGEST_RESPONSE], part)
                yield from (Mutant("the word in passing", text) for text in in_passing(part))

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

    def _spoilt(self, part: Expectation, whole: Expectation) -> Iterator[Passed]:
        """What a value lets through by itself, unless the others that are asked for with it notice."""
        for base in self._bases(part):
            for mutant in islice(fair_mutants(part, base), MOST_MUTANTS):
                if self._passes(part, mutant) and not self._is_noticed(whole, base, mutant):
                    yield Passed(mutant.name, mutant.excerpt())

    def _is_noticed(self, whole: Expectation, base: Base, mutant: Mutant) -> bool:
        if whole.match == "any" or sum(1 for _ in _parts(whole)) < 2 or base.text not in self.case.response:
            return False
        spoilt = self.case.response.replace(base.text, mutant.text, 1)
        verdict = self._verdict(whole, self._subject(spoilt))
        return verdict is not None and verdict.state == "fail"

    def _bases(self, expectation: Expectation) -> Iterator[Base]:
        """Right responses; where the value stands in several places, a check may point at another one than before."""
        base = self._base(expectation)
        for _ in range(_MOST_PLACES):
            if base is None:
                return
            yield base
            if base.scorer in WHOLE_SENTENCE | LIKENESS:
                return
            base = self._found(expectation, base.text[base.end :].lstrip(" ,;:."))

    def _base(self, expectation: Expectation) -> Base | None:
        """A short right response: the sentence that states it, else the whole, else one made for it."""
        if expectation.scorer in LIKENESS and len(self.case.response) <= LONGEST_RESPONSE:
            whole = self._found(expectation, self.case.response)
            if whole is not None:
                return whole
        verdict = self._verdict(expectation, Subject(self.case))
        if verdict is not None and verdict.state == "pass" and (where := _place(verdict)) is not None:
            for sentence in split_sentences(self.case.response):
                if sentence.start <= where[0] and where[1] <= sentence.end:
                    alone = self._found(expectation, self.case.response[sentence.start : sentence.end])
                    if alone is not None:
                        return alone
            if len(self.case.response) <= LONGEST_RESPONSE:
                return Base(self.case.response, *where, verdict.scorer or "")
        said = as_text(expectation.value, expectation)
        made = (self._found(expectation, text) for text in (outright(said) if said else ()))
        return next((base for base in made if base is not None), None)

    def _found(self, expectation: Expectation, text: str) -> Base | None:
        verdict = self._verdict(expectation, self._subject(text))
        if verdict is None or verdict.state != "pass":
            return None
        where = (0, len(text)) if verdict.scorer in LIKENESS else _place(verdict)
        return None if where is None else Base(text, *where, verdict.scorer or "")

    def _traps(self, expectation: Expectation) -> Iterator[Passed]:
        for value in _parts(expectation):
            said = as_text(value, expectation)
            if said is None:
                continue
            for name, sentence in traps_said(said, is_pattern=expectation.scorer == "regex"):
                text = f"{self.case.response[:LONGEST_RESPONSE]} {sentence}".strip()
                if self._passes(expectation, Mutant(name, text)):
                    yield Passed(name, Mutant("", sentence).excerpt())

    def _forms(self, expectation: Expectation) -> Iterator[Passed]:
        wrong = _made(form_mutants(expectation, self.case, LONGEST_RESPONSE))
        passed = list(self._wrong(expectation, wrong))
        # A limit is a claim as soon as it keeps something out, on whichever side.
        if expectation.scorer != "word-count" or len(passed) == len(wrong):
            yield from passed

    def _wrong(self, expectation: Expectation, wrong: Iterable[WrongCase]) -> Iterator[Passed]:
        for name, case, shown in _made(wrong):
            self.made += 1
            verdict = self._verdict(expectation, Subject(case))
            if verdict is not None and verdict.state == "pass":
                yield Passed(name, shown[:_SHOWN])

    def _fields(self, expectation: Expectation) -> Iterator[Passed]:
        root = fields_of(self.case)
        if not root:
            return
        # A response that is no JSON keeps the check from looking there once all fields are gone.
        wrong = (
            WrongCase(
                mutant.name,
                replace(self.case, fields=as_fields(mutant.fields), response=""),
                json.dumps(mutant.shown, ensure_ascii=False),
            )
            for mutant in field_mutants(expectation, root)
        )
        yield from self._wrong(expectation, wrong)


def _made(wrong: Iterable[WrongCase]) -> list[WrongCase]:
    """The wrong cases; none for a structure that is nested deeper than anybody writes."""
    try:
        return list(wrong)
    except RecursionError:
        return []


def _empty_words(case: Case) -> Iterator[Mutant]:
    """Responses that answer nothing."""
    yield Mutant("an empty response", "")
    yield from (Mutant("the question said back", text) for text in _echoes(case.input or ""))
    yield from (Mutant("a refusal", text) for text in mutants.REFUSALS)


def _echoes(question: str) -> tuple[str, ...]:
    """The question as a response: as it stands, and restated, for a check that knows a question when it sees one."""
    question = question.strip()
    bare = question.rstrip("?!. ")
    return (question, f"{bare}.") if bare else ()


def _parts(expectation: Expectation) -> Iterator[Value]:
    """The values one by one, and the texts of a list that is one value (``contains: [net 45, PO-4471]``)."""
    for value in expectation.values:
        if isinstance(value, tuple):
            yield from value
        else:
            yield value


def _place(verdict: Verdict) -> tuple[int, int] | None:
    evidence = verdict.evidence
    if evidence is None or evidence.start is None or evidence.end is None:
        return None
    return evidence.start, evidence.end


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | None) else str(value)
