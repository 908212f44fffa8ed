"""Services of a run whose judge follows a rule: no provider, no ledger unless asked for, and a bill that can end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from tiered_eval.errors import BudgetExceeded, DeadlineReached, EmbedderMissing
from tiered_eval.ledger import Ledger
from tiered_eval.parsing import Judgement
from tiered_eval.pricing import PriceBook
from tiered_eval.records import Completed, Evidence, JudgeStage, ModelReply, ModelRequest, Spend, Usage

Answer = Callable[[str], Any]
"""From the text that is judged to ``met``, ``not-met`` or ``cannot-tell``, or an exception to raise."""


class ScriptedServices:
    """See ``RunServices``.

    Args:
        answer: the verdict on a question, by all that the judge is shown.
        calls: how many questions there is money for; None for any number.
        seconds: how long one takes, by what the judge is shown.
        at_once: calls open at once.
        deadline: on the loop's clock; calls that are open then end there.
        home: where the ledger is, for audits.
        is_kept: questions whose reply is in the store: free, at once, and no call.
    """

    judges = ("scripted:judge",)
    chain: tuple[JudgeStage, ...] = (JudgeStage(models=judges),)
    embedder_id = None
    provider_wait_s = 0.0
    warnings: tuple[str, ...] = ()

    def __init__(
        self,
        answer: Answer,
        *,
        calls: int | None = None,
        seconds: Callable[[str], float] = lambda text: 1.0,
        at_once: int = 8,
        deadline: float | None = None,
        home: Path | None = None,
        is_kept: Callable[[str], bool] = lambda text: False,
    ) -> None:
        self.prices = PriceBook({"scripted:judge": {"input": 1, "output": 1}})
        self.asked: list[str] = []
        """What was shown to the judge, in the order in which it arrived."""
        self.models: list[Sequence[str]] = []
        """Who was to answer it."""
        self.answers: dict[str, Answer] = {}
        """Of single models; others follow the common rule."""
        self._answer = answer
        self._calls = self._left = calls
        self._seconds = seconds
        self._at_once = at_once
        self._deadline = deadline
        self._home = home
        self._is_kept = is_kept
        self._ledger: Ledger | None = None

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise EmbedderMissing("none")

    async def complete(self, request: ModelRequest, parse: Any, *, models: Sequence[str]) -> Completed[Any]:
        text = "".join(request.user)
        is_kept = self._is_kept(text)
        if self._left is not None and not is_kept:
            if self._left == 0:
                raise BudgetExceeded(
                    cap_usd=Decimal(1), spent_usd=Decimal(1), reserved_usd=Decimal(0), wanted_usd=Decimal(1)
                )
            self._left -= 1
        if not is_kept:
            self.asked.append(text)
            self.models.append(models)
            await self._wait(self._seconds(text))
        said = self.answers.get(models[0], self._answer)(text)
        if isinstance(said, Exception):
            raise said
        shown = Evidence("shown") if said == "met" else None
        judgement = Judgement(verdict=said, rationale="as told", evidence=shown, evidence_found=True)
        reply = ModelReply(
            text="", stop_reason="end", model="judge", usage=Usage(input_tokens=1, output_tokens=1), nonce=""
        )
        return Completed(
            parsed=judgement, reply=reply, cost_usd=Decimal(0), from_store=is_kept, model="scripted:judge"
        )

    async def _wait(self, seconds: float) -> None:
        now = asyncio.get_running_loop().time()
        if self._deadline is not None and now + seconds > self._deadline:
            await asyncio.sleep(max(0.0, self._deadline - now))
            raise DeadlineReached("the time was used up")
        await asyncio.sleep(seconds)

    @property
    def spent_usd(self) -> Decimal:
        """Of one dollar, where there is money for a number of calls."""
        return Decimal(0) if not self._calls else Decimal(self._calls - (self._left or 0)) / self._calls

    def spend(self, *, avoided_pico: int | None) -> Spend:
        return Spend(calls=len(self.asked))

    def leave(self) -> None: ...

    def open_at_once(self, tier: str) -> int:
        return self._at_once

    async def ledger(self, *, make: bool) -> Ledger | None:
        if self._ledger is None and self._home is not None:
            self._ledger = Ledger.open(self._home)
        return self._ledger

    async def aclose(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
