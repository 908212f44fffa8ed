"""Reading a judge's reply, strictly.

The one idea: a reply either is exactly what was asked for, or it is an error; it is never searched for something that
looks like a verdict, since it may quote the judged text. The whole text is JSON, or prose followed by one fenced block
that ends the text. It echoes the nonce of its own question, so a reply that repeats a verdict out of the judged text
cannot count.

Evidence that the response does not contain is no reason to throw a paid reply away, but it is one not to trust it:
:attr:`Judgement.evidence_found` says so, and the judge scorer makes the outcome *unsure*.

A reply to several questions at once is cut into one for each (:func:`split_pack`), which is then read like any other.

Route: the calls door hands each reply to a parser made by :func:`judgement_parser`, and asks again on UnreadableReply.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn, TypeAlias

from tiered_eval.errors import ModelRefused, UnreadableReply
from tiered_eval.records import Evidence, ModelReply

__all__ = [
    "JudgeVerdict",
    "Judgement",
    "find_quote",
    "is_encodable",
    "judgement_parser",
    "load_answer",
    "split_pack",
    "unreadable",
]

JudgeVerdict: TypeAlias = Literal["met", "not-met", "scored", "cannot-tell"]

MAX_REPLY_CHARS = 200_000
"""A longer reply is not read; one that was asked for is a thousand characters."""
QUOTE_CHARS = 300
"""Longest quote that is shown as evidence."""

_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n(?P<body>[^`]*)\n?[ \t]*```\s*")
_ELLIPSIS = re.compile(r"\s*(?:\[?\.\.\.\]?|\[?…\]?)\s*")
_LOOKALIKES = str.maketrans(
    {"‘": "'", "’": "'", "‚": "'", "“": '"', "”": '"', "„": '"', "‐": "-", "‑": "-", "–": "-", "—": "-"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge said."""

    verdict: JudgeVerdict
    rationale: str
    evidence: Evidence | None
    """Where in the response the quoted passage stands; None when nothing was quoted or it was not found."""
    evidence_found: bool
    """False when the judge quoted something that the response does not contain."""
    score: int | None = None
    """Level of a rubric; None for other questions and when the judge could not tell."""


def judgement_parser(
    *, response: str, fields: str = "", levels: Sequence[int] | None = None
) -> Callable[[ModelReply], Judgement]:
    """A parser for replies about ``response``; with ``levels``, for scores on that scale.

    Args:
        fields: the structured parts of the response as the judge saw them; evidence may come from there too.

    The parser raises:
        UnreadableReply: the reply is malformed, cut off, or does not echo its nonce.
        ModelRefused: the model refused, or a content filter stepped in.
    """

    def parse(reply: ModelReply) -> Judgement:
        _refuse_other_stops(reply)
        answer = _load_object(reply)
        _check_shape(reply, answer, scored=levels is not None)
        score = None
        if levels is not None and answer["verdict"] == "scored":
            score = answer["score"]
            if score not in levels:
                unreadable(reply, f"score {score} is not one of the levels {list(levels)}")
        quote = answer["evidence"].strip()
        found = find_quote(quote, response)
        if found is None and (field := find_quote(quote, fields)):
            found = Evidence(field.quote)
        return Judgement(
            verdict=answer["verdict"],
            rationale=" ".join(answer["rationale"].split()),
            evidence=found,
            evidence_found=not quote or found is not None,
            score=score,
        )

    return parse


def load_answer(reply: ModelReply, keys: Collection[str]) -> dict[str, Any]:
    """The JSON object that a reply is, with exactly ``keys`` and its own nonce; what stands under them is not read.

    Raises:
        UnreadableReply: it is malformed, cut off, has other keys, or does not echo its nonce.
        ModelRefused: the model refused, or a content filter stepped in.
    """
    _refuse_other_stops(reply)
    answer = _load_object(reply)
    if set(answer) != {*keys}:
        unreadable(reply, f"its keys are {sorted(answer)[:8]}, expected {sorted(keys)}")
    if not reply.nonce or answer["nonce"] != reply.nonce:
        unreadable(reply, "it does not echo the nonce of its question, so it may repeat the judged text")
    return answer


def split_pack(reply: ModelReply, ids: Sequence[str]) -> dict[str, ModelReply]:
    """The answers of a reply to several questions, each as the reply that its question alone would have got.

    An id that is missing or answered twice is left out: of two answers neither can be trusted. An answer may still
    be unreadable; its own parser finds out.

    Raises:
        UnreadableReply: it is malformed, cut off, does not echo its nonce, or answers what was not asked.
        ModelRefused: the model refused, or a content filter stepped in.
    """
    answers = load_answer(reply, ("nonce", "answers"))["answers"]
    if not isinstance(answers, list) or not all(isinstance(answer, dict) for answer in answers):
        unreadable(reply, "its answers are not a list of objects")
    named = [answer.get("id") for answer in answers]
    if strangers := [name for name in named if name not in ids]:
        unreadable(reply, f"it answers {str(strangers[0])[:40]!r}, which was not asked")
    return {
        name: _alone(reply, answer)
        for name, answer in zip(named, answers, strict=True)
        if named.count(name) == 1
    }


def _alone(reply: ModelReply, answer: dict[str, Any]) -> ModelReply:
    own = {key: value for key, value in answer.items() if key != "id"}
    # ASCII, so that half a surrogate pair stays readable until its parser refuses it.
    return replace(reply, text=json.dumps({"nonce": reply.nonce, **own}))


def _refuse_other_stops(reply: ModelReply) -> None:
    """Let pass only a reply that its model ended itself."""
    if reply.stop_reason in ("refusal", "content_filter") or reply.refusal:
        said = f": {' '.join(reply.refusal.split())[:200]}" if reply.refusal else ""
        how = (
            "a content filter stopped the reply"
            if reply.stop_reason == "content_filter"
            else "the model refused"
        )
        raise ModelRefused(
            f"{how}{said}",
            model=reply.model,
            request_id=reply.request_id,
            code=reply.stop_reason,
            billed="yes",
            usage=reply.usage,
        )
    if reply.stop_reason == "max_tokens":
        unreadable(
            reply, "it reached max_tokens before its end; raise the option max_tokens, or lower effort"
        )


def _load_object(reply: ModelReply) -> dict[str, Any]:
    """The JSON object that the reply is, or that its one fenced block at the end holds."""
    text = reply.text.strip()
    if not text:
        unreadable(reply, "it is empty")
    if len(text) > MAX_REPLY_CHARS:
        unreadable(reply, f"it has {len(text):,} characters")
    if text.count("```") == 2 and (fenced := _FENCED.fullmatch(text, text.index("```"))):
        text = fenced["body"]
    try:
        loaded = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        unreadable(reply, f"it is not one JSON object ({error})")
    if not isinstance(loaded, dict):
        unreadable(reply, f"it is a JSON {type(loaded).__name__}, not an object")
    return loaded


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are unique: of two verdicts neither can be trusted."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands there twice")
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_shape(reply: ModelReply, answer: dict[str, Any], *, scored: bool) -> None:
    """Exactly the keys that were asked for, each of its type, and the nonce of this very question."""
    texts = ("nonce", "evidence", "rationale", "verdict")
    wanted = {*texts, "score"} if scored else set(texts)
    if set(answer) != wanted:
        unreadable(reply, f"its keys are {sorted(answer)[:8]}, expected {sorted(wanted)}")
    for key in texts:
        if not isinstance(answer[key], str):
            unreadable(reply, f"{key} is a {type(answer[key]).__name__}, expected text")
        if not is_encodable(answer[key]):
            unreadable(reply, f"{key} holds half a surrogate pair")
    if scored and type(answer["score"]) is not int:
        unreadable(reply, f"score is {answer['score']!r}, expected a whole number")
    if not reply.nonce or answer["nonce"] != reply.nonce:
        unreadable(reply, "it does not echo the nonce of its question, so it may repeat the judged text")
    verdicts = ("scored", "cannot-tell") if scored else ("met", "not-met", "cannot-tell")
    if answer["verdict"] not in verdicts:
        unreadable(reply, f"verdict is {answer['verdict'][:40]!r}, expected one of {', '.join(verdicts)}")


def is_encodable(text: str) -> bool:
    """Is it whole text, without half a surrogate pair?"""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def unreadable(reply: ModelReply, what: str) -> NoReturn:
    """Refuse a reply that was paid for.

    Raises:
        UnreadableReply: always; its message says ``what`` is wrong, and the text is kept.
    """
    raise UnreadableReply(
        f"the reply of {reply.model} cannot be used: {what}",
        text=reply.text,
        model=reply.model,
        request_id=reply.request_id,
        billed="yes",
        usage=reply.usage,
    )


def find_quote(quote: str, response: str) -> Evidence | None:
    """Where ``quote`` stands in ``response``, forgiving what a careful copyist changes; None if it does not.

    Forgiven are whitespace, case, kinds of quotation marks and dashes, invisible characters, marks around the quote, and
    an ellipsis in it, whose parts have to follow each other.
    """
    if quote and (exact := response.find(quote)) >= 0:
        return _evidence(response, exact, exact + len(quote))
    parts = [folded for part in _ELLIPSIS.split(quote) if (folded := _fold(part)[0].strip(" \"'.,;:"))]
    if not parts:
        return None
    text, places = _fold(response)
    start, at = -1, 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return None
        start = found if start < 0 else start
        at = found + len(part)
    return _evidence(response, places[start], places[at - 1] + 1)


def _evidence(response: str, start: int, end: int) -> Evidence:
    quote = response[start:end]
    return Evidence(quote if len(quote) <= QUOTE_CHARS else f"{quote[:QUOTE_CHARS]}…", start, end)


def _fold(text: str) -> tuple[str, list[int]]:
    """Text as it is compared, and for each of its characters the offset in ``text`` that it came from."""
    folded: list[str] = []
    places: list[int] = []
    for offset, character in enumerate(text.translate(_LOOKALIKES)):
        if character.isspace():
            if folded and folded[-1] != " ":
                folded.append(" ")
                places.append(offset)
        elif character.isascii() or unicodedata.category(character) != "Cf":
            for each in character.casefold():
                folded.append(each)
                places.append(offset)
    return "".join(folded), places
