"""What the model does for one request, alone or as an item of a batch: an answer, its tokens, a line of the bill."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tiered_eval.testing.loopback.answers import answer_text, find_nonce
from tiered_eval.testing.loopback.caching import CacheCounts
from tiered_eval.testing.loopback.decisions import ANSWER_TOKENS, decided, distorted
from tiered_eval.testing.loopback.wire import Counts, Endpoint, Question, Said, count_tokens, error_body

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.server import LoopbackServer

__all__ = ["LoggedCall", "Work"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One request as the server saw it."""

    number: int
    at_s: float
    """Seconds since the server started."""
    end_s: float
    """When its answer began to leave, or when it was given up; for an item of a batch, when it had run."""
    path: str
    model: str
    nonce: str
    prompt: str
    """System and user text."""
    body: Mapping[str, Any]
    """The request's JSON, whole."""
    status: int
    fault: str
    input_tokens: int
    """All of the prompt, what was read from or written to what is kept included."""
    output_tokens: int
    charged_pico: int
    """What this call cost, in pico-dollars, whether or not its answer arrived."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_long_tokens: int = 0
    batch: str = ""
    """The batch that it was an item of."""
    custom_id: str = ""


class Work:
    """One request, from what it asks to what it costs."""

    def __init__(
        self,
        *,
        server: LoopbackServer,
        endpoint: Endpoint,
        path: str,
        number: int,
        at_s: float,
        batch: str = "",
    ) -> None:
        self.server = server
        self.endpoint = endpoint
        self.path = path
        self.number = number
        self.at_s = at_s
        self.batch = batch
        self.custom_id = ""
        self.body: Mapping[str, Any] = {}
        self.question = Question(model="", prompt="", schema=None)
        self.input_tokens = 0
        self.cached = CacheCounts()

    def read(self, body: Any, *, size: str) -> None:
        """Take in the request.

        Args:
            size: its text, for the count of tokens.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the vendor would refuse it.
        """
        self.body, self.question = body, self.endpoint.read(body)
        self.input_tokens = count_tokens(size)
        self.cached = self.server.prompts.look_up(self.endpoint.vendor, body, now=self.at_s)

    def answer(self, fault: str, *, at_s: float) -> tuple[Counts | None, dict[str, Any]]:
        """(what is charged, the answer's JSON); what is marked in the prompt is kept from now on."""
        vendor = self.endpoint.vendor
        if fault == "error-200":
            status = 529 if vendor == "anthropic" else 503
            return None, error_body(vendor, status, "an upstream server failed", code="503")
        self.server.prompts.keep(vendor, self.body, now=at_s)
        said = self._said(fault)
        counts = self._counts(said, fault)
        told = None if fault == "no-usage" else replace(counts, is_batch=bool(self.batch))
        answer = self.endpoint.write(self.question, said, told, number=self.number)
        return counts, self.endpoint.without_content(answer) if fault == "null-choices" else answer

    def log(self, status: int, fault: str, counts: Counts | None, *, end_s: float) -> None:
        """Write a line of the bill.

        Args:
            counts: None where nothing is charged.
        """
        self.server.record(
            LoggedCall(
                number=self.number,
                at_s=self.at_s,
                end_s=end_s,
                path=self.path,
                model=self.question.model,
                nonce=find_nonce(self.question.prompt),
                prompt=self.question.prompt,
                body=self.body,
                status=status,
                fault=fault,
                input_tokens=counts.input if counts else 0,
                output_tokens=counts.output if counts else 0,
                charged_pico=self._charge(counts) if counts else 0,
                cache_read_tokens=counts.cached.read if counts else 0,
                cache_write_tokens=counts.cached.write if counts else 0,
                cache_write_long_tokens=counts.cached.write_long if counts else 0,
                batch=self.batch,
                custom_id=self.custom_id,
            )
        )

    def _said(self, fault: str) -> Said:
        question, share = self.question, self.server.settings.pass_share
        if question.texts:
            return Said(text="")
        if question.asked:
            return Said(text=json.dumps(distorted(decided(question, pass_share=share), fault)))
        return _distort(Said(text=answer_text(question.prompt, question.schema, pass_share=share)), fault)

    def _counts(self, said: Said, fault: str) -> Counts:
        question = self.question
        if question.texts:
            return Counts(input=self.input_tokens, output=0)
        if question.asked:
            return Counts(input=self.input_tokens, output=ANSWER_TOKENS * len(question.asked))
        spoken = 0 if fault == "empty" else count_tokens(said.text)
        reasoning = self.server.settings.reasoning_tokens
        if fault == "empty" or self.server.settings.uses_max_tokens:
            limits = ("max_tokens", "max_completion_tokens", "max_output_tokens")
            most = next((int(self.body[name]) for name in limits if self.body.get(name)), 100)
            reasoning = max(0, most - spoken)
        output = reasoning + spoken
        return Counts(input=self.input_tokens, output=output, reasoning=reasoning, cached=self.cached)

    def _charge(self, counts: Counts) -> int:
        """In pico-dollars, rounded up."""
        settings, cached = self.server.settings, counts.cached
        plain = counts.input - cached.read - cached.write - cached.write_long
        hundredths = settings.input_price_pico * (
            100 * plain
            + settings.cache_read_percent * cached.read
            + settings.cache_write_percent * cached.write
            + settings.cache_write_long_percent * cached.write_long
        )
        if not self.question.asked:
            hundredths += 100 * settings.output_price_pico * counts.output
        parts = 100
        if self.batch:
            hundredths, parts = hundredths * settings.batch_percent, 10_000
        return -(-hundredths // parts)


def _distort(said: Said, fault: str) -> Said:
    """What a model says that does not do as it was told, or may not."""
    match fault:
        case "refusal":
            return Said(text="I cannot help with that.", ending="refusal")
        case "content-filter":
            return Said(text="", ending="content_filter")
        case "empty":
            return Said(text="", ending="max_tokens")
        case "cut":
            return Said(text=said.text[: len(said.text) // 2], ending="max_tokens")
        case "wrong-nonce":
            return Said(text=json.dumps({**_as_object(said.text), "nonce": "0" * 16}))
        case "wrong-schema":
            return Said(text='{"answer": 42}')
        case "fenced":
            return Said(text=f"Here is the JSON that you asked for:\n\n```json\n{said.text}\n```")
    return said


def _as_object(text: str) -> dict[str, Any]:
    value = json.loads(text) if text.startswith("{") else {}
    return value if isinstance(value, dict) else {}
