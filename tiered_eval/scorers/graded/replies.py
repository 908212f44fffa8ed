"""Reads what models answer to the questions of the graded scorers, strictly.

The one idea: as with the judge, a reply is exactly what was asked for or an error. Where several things were asked there is
one answer to each, under its own id; one too few or too many and the reply counts for nothing, as nobody can tell which
answer the model left out, or was talked out of.

Evidence is looked up in the texts that it may come from. What is not there is no reason to throw a paid reply away,
but nothing may rest on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiered_eval.parsing import find_quote, is_encodable, load_answer, unreadable
from tiered_eval.records import Evidence, ModelReply

__all__ = ["Answer", "answers_parser", "single_parser"]


_LETTERS = 3
"""From so many on a quote says something; a digit does alone, and so does the whole of a short text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model said about one thing."""

    verdict: str
    evidence: Evidence | None = None
    """What it quoted, where it stands in the first of the sources; without a place in another; None for nothing, or if it is nowhere."""
    is_true_quote: bool = True
    """False when it quotes what none of the sources holds."""
    rationale: str = ""
    score: float | None = None
    """In [0, 1], of questions that ask for one."""
    is_thin: bool = False
    """Is the quote so little that it stands in nearly any text: a full stop, ``a``, ``it``?"""

    @property
    def is_shown(self) -> bool:
        """Did it quote something that is really there?"""
        return self.evidence is not None

    @property
    def is_supported(self) -> bool:
        """The same, and enough of it for a verdict to rest on what it says."""
        return self.is_shown and not self.is_thin


def single_parser(
    *, sources: Sequence[str], verdicts: Collection[str], key: str = "verdict", has_score: bool = False
) -> Callable[[ModelReply], Answer]:
    """A parser for replies with one answer, whose verdict stands under ``key``.

    It raises:
        UnreadableReply: the reply is not what was asked for; a score outside [0, 1] is not.
        ModelRefused: the model refused, or a content filter stepped in.
    """
    keys = ("nonce", "evidence", "rationale", key, *(("score",) if has_score else ()))

    def parse(reply: ModelReply) -> Answer:
        answer = load_answer(reply, keys)
        score = _score(reply, answer["score"]) if has_score else None
        return _answer(reply, answer, sources, verdicts, key, score=score)

    return parse


def answers_parser(
    *,
    ids: Sequence[str],
    sources: Sequence[str] | Mapping[str, Sequence[str]],
    verdicts: Collection[str],
    rationale_in_each: bool,
) -> Callable[[ModelReply], tuple[Answer, ...]]:
    """A parser for replies with an answer to each of ``ids``; the answers come in that order.

    Args:
        sources: where quotes may come from, for all answers or by id.
        rationale_in_each: is there a rationale in each answer? Else there is one beside them.

    It raises:
        UnreadableReply: the reply is not what was asked for; an answer that is missing, or given twice, is not.
        ModelRefused: the model refused, or a content filter stepped in.
    """
    inner = {"id", "evidence", "verdict", *(("rationale",) if rationale_in_each else ())}
    outer = ("nonce", "answers") if rationale_in_each else ("nonce", "rationale", "answers")

    def parse(reply: ModelReply) -> tuple[Answer, ...]:
        loaded = load_answer(reply, outer)
        answers = loaded["answers"]
        if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
            unreadable(reply, "its answers are not a list of objects")
        if strange := next((one for one in answers if set(one) != inner), None):
            unreadable(reply, f"the keys of an answer are {sorted(strange)[:8]}, expected {sorted(inner)}")
        given = [one["id"] for one in answers]
        if sorted(map(str, given)) != sorted(ids):
            unreadable(reply, f"it has {len(given)} answers to {len(ids)} questions, or under other ids")
        shared = None if rationale_in_each else _text(reply, loaded, "rationale")
        by_id = {
            one["id"]: _answer(
                reply,
                one if shared is None else {**one, "rationale": shared},
                sources[one["id"]] if isinstance(sources, Mapping) else sources,
                verdicts,
                "verdict",
            )
            for one in answers
        }
        return tuple(by_id[name] for name in ids)

    return parse


def _answer(
    reply: ModelReply,
    answer: Mapping[str, Any],
    sources: Sequence[str],
    verdicts: Collection[str],
    key: str,
    *,
    score: float | None = None,
) -> Answer:
    verdict = _text(reply, answer, key)
    if verdict not in verdicts:
        unreadable(reply, f"{key} is {verdict[:40]!r}, expected one of {', '.join(verdicts)}")
    quote = _text(reply, answer, "evidence").strip()
    evidence = _find(quote, sources)
    return Answer(
        verdict=verdict,
        evidence=evidence,
        is_true_quote=not quote or evidence is not None,
        rationale=" ".join(_text(reply, answer, "rationale").split()),
        score=score,
        is_thin=_is_thin(quote, sources),
    )


def _is_thin(quote: str, sources: Sequence[str]) -> bool:
    said = _said(quote)
    tells = len(said) >= _LETTERS or not said.isascii() or any(map(str.isdigit, said))
    return not tells and not (said and said in map(_said, sources))


def _said(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _find(quote: str, sources: Sequence[str]) -> Evidence | None:
    for index, source in enumerate(sources):
        if found := find_quote(quote, source):
            return found if index == 0 else Evidence(found.quote)
    return None


def _text(reply: ModelReply, answer: Mapping[str, Any], key: str) -> str:
    value = answer[key]
    if not isinstance(value, str):
        unreadable(reply, f"{key} is a {type(value).__name__}, expected text")
    if not is_encodable(value):
        unreadable(reply, f"{key} holds half a surrogate pair")
    return value


def _score(reply: ModelReply, value: Any) -> float:
    """A number in [0, 1]; ``8/10``, 8, true and infinity are none, and nobody guesses what they were to be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        unreadable(reply, f"score is {str(value)[:40]!r}, expected a number from 0 to 1")
    if not 0 <= value <= 1:  # nor is anything that is no number at all
        unreadable(reply, f"score is {str(value)[:40]}, expected a number from 0 to 1")
    return float(value)
