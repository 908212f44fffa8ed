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
from tiered_eval.config import Pack
from tiered_eval.errors import ProviderError, UnreadableReply
from tiered_eval.ledger import shares_of
from tiered_eval.parsing import split_pack
from tiered_eval.pricing import likely_tokens
from tiered_eval.prompting import as_json, render
from tiered_eval.records import ModelReply, ModelRequest, PackedForm, Usage
from tiered_eval.text.plurals import plural

__all__ = [
    "MOST_IN_A_PACK",
    "PackQuestion",
    "PlannedCall",
    "alike",
    "alone_in_pack",
    "calls_for",
    "is_cheaper",
    "most_in_a_pack",
    "pack_of",
    "pack_payloads",
    "read_pack",
    "shared_usage",
]

PROMPT = "judge/packed"
MOST_IN_A_PACK = 6
"""More questions at once make a judge worse, and save little: the share of the response is small by then."""
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
    parse: Callable[[ModelReply], Any] = lambda reply: None
    """Raises a ProviderError for an answer that is none."""

    @property
    def id(self) -> str:
        """What names it in question and answer."""
        return _id_from_key(self.key)


def _id_from_key(key: str) -> str:
    """Drawn from the content, so that no answer can be given by position."""
    return key[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call as a plan counts it."""

    request: ModelRequest
    questions: int


def most_in_a_pack(pack: Pack) -> int:
    """How many questions may share a call; 1 where none may."""
    if pack == "never":
        return 1
    return MOST_IN_A_PACK if pack == "auto" else max(1, min(pack, MOST_IN_A_PACK))


def calls_for(
    questions: Sequence[PackQuestion | ModelRequest], *, pack: Pack, model: str
) -> list[PlannedCall]:
    """The calls that the questions of one case make, if all of them are asked at once."""
    limit = most_in_a_pack(pack)
    alone = [PlannedCall(request=each, questions=1) for each in questions if isinstance(each, ModelRequest)]
    groups: dict[object, list[PackQuestion]] = {}
    for each in questions:
        if isinstance(each, PackQuestion):
            groups.setdefault(alike(each.request, each.form), []).append(each)
    calls = alone
    for group in groups.values():
        for start in range(0, len(group), limit):
            chunk = group[start : start + limit]
            packed = pack_of(chunk) if len(chunk) > 1 else None
            if packed is not None and (pack != "auto" or is_cheaper(chunk, packed, model)):
                calls.append(PlannedCall(request=packed, questions=len(chunk)))
            else:
                calls.extend(PlannedCall(request=each.request, questions=1) for each in chunk)
    return calls


def alike(request: ModelRequest, form: PackedForm) -> tuple[object, ...]:
    """Questions for which this is the same may share a call."""
    return request.effort, request.max_tokens, request.vote, as_json(form.judged)


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
    packed = render(
        PROMPT,
        judged=judged,
        asked={"questions": asked},
        kind=request.kind,
        max_tokens=max_tokens,
        effort=request.effort,
        vote=request.vote,
    )
    return replace(packed, stage=request.stage)


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
    for question, usage in zip(questions, shared_usage(reply.usage, len(questions)), strict=True):
        answer = answers.get(question.id)
        if answer is not None:
            with suppress(ProviderError):
                question.parse(answer)
                readable[question.key] = replace(answer, usage=usage)
    if not readable:
        nothing = UnreadableReply(
            f"no answer of {reply.model} to {plural(len(questions), 'question')} can be used",
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
    for key, usage in zip(keys, shared_usage(reply.usage, len(keys)), strict=True):
        answer = answers.get(_id_from_key(key))
        payloads.append(None if answer is None else payload_from_reply(replace(answer, usage=usage)))
    return payloads


def shared_usage(usage: Usage, count: int) -> list[Usage]:
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
