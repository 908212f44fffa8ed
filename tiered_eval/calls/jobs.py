"""From a question to a job: what is sent for it, what that may cost, what is kept of the answer, and under which key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from tiered_eval.calls.decided import as_one_reply, cut_apart, is_refusal
from tiered_eval.calls.job import BYTES_A_TOKEN, Job
from tiered_eval.calls.packs import PackQuestion, read_pack
from tiered_eval.calls.replies import payload_from_reply
from tiered_eval.calls.tally import Heading, heading_of
from tiered_eval.calls.terms import World
from tiered_eval.calls.vendors import Vendors, provider_of
from tiered_eval.keys import content_key, decision_key
from tiered_eval.pricing import decision_bound_tokens, input_bound_tokens
from tiered_eval.providers.caching import longest_write
from tiered_eval.records import DecisionRequest, ModelReply, ModelRequest

__all__ = ["Jobs"]


class Jobs:
    """Makes jobs for one gateway."""

    def __init__(self, *, vendors: Vendors, world: World) -> None:
        self._vendors = vendors
        self._now = world.now
        self._nonce = world.nonce

    def key(self, request: ModelRequest, model: str) -> str:
        """What the answer of ``model`` to ``request`` is kept under."""
        return content_key(request, model=model, origin=self._vendors.provider(provider_of(model)[0]).origin)

    def decision_key(self, request: DecisionRequest, model: str) -> str:
        """What the answer to the one question of ``request`` is kept under."""
        [question] = request.questions
        origin = self._vendors.decider(provider_of(model)[0]).origin
        return decision_key(request, question, model=model, origin=origin)

    def most_questions(self, model: str) -> int:
        """How many questions one call to a model that answers by probabilities may carry."""
        return self._vendors.decider(provider_of(model)[0]).max_questions

    async def prepare(self, model: str) -> None:
        """Have price and client at hand, before a job for the model is made. Raises ConfigError, PriceUnknown."""
        await self._vendors.load_price(model)
        await self._vendors.prepare(model)

    def alone(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], Any],
        model: str,
        key: str,
        *,
        readings: int | None = None,
    ) -> Job[ModelReply]:
        """One question, one call."""
        return self._chat(
            request,
            model,
            key=key,
            check=parse,
            payloads=lambda reply: [payload_from_reply(reply)],
            readings=readings,
        )

    def pack(self, questions: Sequence[PackQuestion], request: ModelRequest, model: str) -> Job[ModelReply]:
        """Several questions, one call."""

        def payloads(reply: ModelReply) -> list[str | None]:
            answers = read_pack(reply, questions)
            return [
                payload_from_reply(answers[question.key]) if question.key in answers else None
                for question in questions
            ]

        return self._chat(
            request,
            model,
            key=questions[0].key,
            check=lambda reply: read_pack(reply, questions),
            payloads=payloads,
            others=tuple((question.key, heading_of(question.request, model)) for question in questions[1:]),
        )

    def decision(self, asked: Sequence[tuple[str, DecisionRequest]], model: str) -> Job[ModelReply]:
        """Questions about one text by their keys, one call, whose reply holds an answer for each, in their order."""
        prefix, name = provider_of(model)
        provider = self._vendors.decider(prefix)
        prices = self._vendors.prices
        first_key, first = asked[0]
        # Named by its content, so that no answer can be given by position.
        questions = tuple(replace(each.questions[0], name=key[:16]) for key, each in asked)
        request = replace(first, questions=questions)

        async def send(timeout_s: float) -> ModelReply:
            reply = await provider.decide(request, model=name, nonce=self._nonce(), timeout_s=timeout_s)
            return as_one_reply(reply)

        def payloads(reply: ModelReply) -> list[str | None]:
            answers = cut_apart(reply, len(asked))
            return [None if is_refusal(answer) else payload_from_reply(answer) for answer in answers]

        def bound() -> int:
            return prices.worst_case_decision_pico(request, model, self._now())

        return Job(
            key=first_key,
            provider=prefix,
            heading=heading_of(first, model),
            tokens=decision_bound_tokens(request) // BYTES_A_TOKEN,
            bound=bound,
            batch_bound=bound,
            cost=lambda usage: prices.cost_pico(usage, model, self._now()),
            send=send,
            check=lambda reply: None,  # the provider has compared answers and questions
            payloads=payloads,
            others=tuple((key, heading_of(each, model)) for key, each in asked[1:]),
        )

    def _chat(
        self,
        request: ModelRequest,
        model: str,
        *,
        key: str,
        check: Callable[[ModelReply], object],
        payloads: Callable[[ModelReply], Sequence[str | None]],
        others: tuple[tuple[str, Heading], ...] = (),
        readings: int | None = None,
    ) -> Job[ModelReply]:
        prefix, name = provider_of(model)
        provider = self._vendors.provider(prefix)
        price = self._vendors.prices.price(model)
        prompt_tokens = input_bound_tokens(request)

        def worst(*, in_batch: bool) -> int:
            # As it is sent: the job may have been told meanwhile what the vendor is to keep.
            written = longest_write(job.request or request, model=model, in_batch=in_batch)
            return price.worst_case_pico(
                prompt_tokens, request.max_tokens, self._now(), in_batch=in_batch, written=written
            )

        def send(timeout_s: float) -> Awaitable[ModelReply]:
            nonce = job.nonce or self._nonce()
            return provider.complete(job.request or request, model=name, nonce=nonce, timeout_s=timeout_s)

        job: Job[ModelReply] = Job(
            key=key,
            provider=prefix,
            heading=heading_of(request, model),
            tokens=prompt_tokens // BYTES_A_TOKEN + request.max_tokens,
            bound=lambda: worst(in_batch=False),
            batch_bound=lambda: worst(in_batch=True),
            cost=lambda usage: price.cost_pico(usage, self._now()),
            send=send,
            check=check,
            payloads=payloads,
            others=others,
            request=request,
            readings=readings,
        )
        return job
