"""Several questions about one response as one call: the question, the answers, and whether it pays.

The one idea: a question has one key, however it travels. Its packed form has a prompt of its own and so a key of its own,
which is that of the question alone under that prompt; which others shared the call is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tiered_eval.calls.replies import payload_from_reply
from tiered_eval.errors import ProviderError, UnreadableReply
from tiered_eval.ledger import shares_of
from tiered_eval.parsing import split_pack
from tiered_eval.pricing import likely_tokens
from tiered_eval.prompting import render
from tiered_eval.records import ModelReply, ModelRequest, PackedForm, Usage

__all__ = ["PackQuestion", "alone_in_pack", "is_cheaper", "pack_of", "pack_payloads", "read_pack"]

PROMPT = "judge/packed"
TOKENS_EACH = 512
"""Room in the reply for each question after the first: an answer takes about 150 tokens."""
ID_TOKENS = 12
"""That an id takes in the question, and again in the answer."""
OUTPUT_TO_INPUT = 5
"""Price of a token out to one in, as with nearly every model of both vendors (2026-11-30)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackQuestion:
    """One of the questions of a pack."""

    key: str
    """Of its packed form."""
    request: ModelRequest
    """As it is asked alone."""
    form: PackedForm
    parse: Callable[[ModelReply], Any]

    @property
    def id(self) -> str:
        """What names it in question and answer."""
        return _id_from_key(self.key)


def _id_from_key(key: str) -> str:
    """Drawn from the content, so that no answer can be given by position."""
    return key[:8]


def alone_in_pack(request: ModelRequest, form: PackedForm) -> ModelRequest:
    """The question in its packed form, by itself: what its key is made of."""
    return _rendered(request, form.judged, [{"id": "q", **form.asked}], request.max_tokens)


def pack_of(questions: Sequence[PackQuestion]) -> ModelRequest:
    """One request for all of them. Their ``judged`` is the same, and so are effort and ``max_tokens``."""
    first = questions[0]
    asked = [{"id": question.id, **question.form.asked} for question in questions]
    room = first.request.max_tokens + TOKENS_EACH * (len(questions) - 1)
    return _rendered(first.request, first.form.judged, asked, room)


def _rendered(
    request: ModelRequest, judged: Mapping[str, Any], asked: Sequence[Mapping[str, Any]], max_tokens: int
) -> ModelRequest:
    return render(
        PROMPT,
        judged=judged,
        asked={"questions": asked},
        kind=request.kind,
        max_tokens=max_tokens,
        effort=request.effort,
        vote=request.vote,
    )


def is_cheaper(questions: Sequence[PackQuestion], packed: ModelRequest, model: str) -> bool:
    """Is one call likely to cost less than one for each? What the answers say costs the same either way."""
    apart = sum(likely_tokens(question.request, model) for question in questions)
    ids = len(questions) * ID_TOKENS * OUTPUT_TO_INPUT
    return likely_tokens(packed, model) + ids < apart


def read_pack(reply: ModelReply, questions: Sequence[PackQuestion]) -> dict[str, ModelReply]:
    """Key to answer, for those that their parsers can read; each with its share of the usage.

    Raises:
        ProviderError: not one of them can be used. It is not worth asking again as a pack.
    """
    try:
        answers = split_pack(reply, [question.id for question in questions])
    except ProviderError as error:
        error.retryable = False
        raise
    readable = {}
    for question, usage in zip(questions, _shared(reply.usage, len(questions)), strict=True):
        answer = answers.get(question.id)
        if answer is not None:
            with suppress(ProviderError):
                question.parse(answer)
                readable[question.key] = replace(answer, usage=usage)
    if not readable:
        nothing = UnreadableReply(
            f"no answer of {reply.model} to {len(questions)} questions can be used",
            text=reply.text,
            model=reply.model,
            request_id=reply.request_id,
            billed="yes",
            usage=reply.usage,
        )
        nothing.retryable = False
        raise nothing
    return readable


def pack_payloads(reply: ModelReply, keys: Sequence[str]) -> list[str | None]:
    """What is kept of a pack whose parsers are not at hand, in the order of ``keys``.

    Raises:
        ProviderError: nothing of it.
    """
    answers = split_pack(reply, [_id_from_key(key) for key in keys])
    payloads: list[str | None] = []
    for key, usage in zip(keys, _shared(reply.usage, len(keys)), strict=True):
        answer = answers.get(_id_from_key(key))
        payloads.append(None if answer is None else payload_from_reply(replace(answer, usage=usage)))
    return payloads


def _shared(usage: Usage, count: int) -> list[Usage]:
    """An equal share of the tokens for each question; the first takes what does not divide."""
    inputs, outputs = shares_of(usage.input_tokens, count), shares_of(usage.output_tokens, count)
    reads, writes = shares_of(usage.cache_read_tokens, count), shares_of(usage.cache_write_tokens, count)
    long_writes = shares_of(usage.cache_write_long_tokens, count)
    reasonings = shares_of(usage.reasoning_tokens, count)
    return [
        replace(
            usage,
            input_tokens=inputs[index],
            output_tokens=outputs[index],
            cache_read_tokens=reads[index],
            cache_write_tokens=writes[index],
            cache_write_long_tokens=long_writes[index],
            reasoning_tokens=reasonings[index],
            cost_usd=None,
        )
        for index in range(count)
    ]
