"""Recordings of a run's kept replies, so that it can be replayed where there is no key.

The one idea: a recording belongs to a question, and the ledger knows replies by the hash of theirs. So the suite asks its
questions again, with calls off; whatever is kept answers, and is written down beside the question on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from tiered_eval.calls import recorded_form
from tiered_eval.config import RunConfig
from tiered_eval.keys import recording_key
from tiered_eval.ledger import Ledger
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.recordings import write_recording
from tiered_eval.records import (
    Completed,
    DecisionAnswer,
    DecisionRequest,
    JudgeStage,
    ModelReply,
    ModelRequest,
    Report,
    Spend,
    Suite,
    Tier,
)
from tiered_eval.runner.evaluator import new_run_id
from tiered_eval.runner.run import evaluate
from tiered_eval.runner.services import RunServices, open_services

__all__ = ["RecordingServices", "record"]

T = TypeVar("T")


class RecordingServices:
    """Services that write down each answer that passes; see ``RunServices``."""

    def __init__(self, services: RunServices, path: Path, *, clean: Callable[[str], str]) -> None:
        self._services = services
        self._path = path
        self._clean = clean
        self._written: set[tuple[str, str]] = set()

    @property
    def count(self) -> int:
        """Recordings written."""
        return len(self._written)

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        completed = await self._services.complete(request, parse, models=models)
        self._write(request, completed)
        return completed

    async def decide(self, request: DecisionRequest, *, models: Sequence[str]) -> Completed[DecisionAnswer]:
        completed = await self._services.decide(request, models=models)
        self._write(recorded_form(request), completed)
        return completed

    def _write(self, request: ModelRequest, completed: Completed[Any]) -> None:
        """Write an answer down beside its question, once."""
        place = (recording_key(request), completed.model)
        if place not in self._written:
            self._written.add(place)
            reply = completed.reply
            refusal = None if reply.refusal is None else self._clean(reply.refusal)
            reply = replace(reply, text=self._clean(reply.text), refusal=refusal)
            write_recording(self._path, request, reply, model=completed.model, origin="recorded")

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return await self._services.embed(texts)

    def leave(self) -> None:
        self._services.leave()

    @property
    def embedder_id(self) -> str | None:
        return self._services.embedder_id

    @property
    def judges(self) -> Sequence[str]:
        return self._services.judges

    @property
    def chain(self) -> Sequence[JudgeStage]:
        return self._services.chain

    @property
    def prices(self) -> PriceBook:
        return self._services.prices

    @property
    def spent_usd(self) -> Decimal:
        return self._services.spent_usd

    @property
    def provider_wait_s(self) -> float:
        return self._services.provider_wait_s

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._services.warnings

    def spend(self, *, avoided_pico: int | None) -> Spend:
        return self._services.spend(avoided_pico=avoided_pico)

    async def ledger(self, *, make: bool) -> Ledger | None:
        return await self._services.ledger(make=make)

    def open_at_once(self, tier: Tier) -> int:
        return self._services.open_at_once(tier)

    async def aclose(self) -> None:
        await self._services.aclose()


async def record(
    suite: Suite, config: RunConfig, path: Path, *, clean: Callable[[str], str] = lambda text: text
) -> tuple[int, Report]:
    """Append the kept replies to the suite's questions to a file of recordings. Makes no call and spends nothing.

    Args:
        config: the options of the run whose replies are meant: its judges, its ``pack``, its embedder.
        clean: takes out of a text what must not be written down.

    Returns:
        How many recordings were written, and the report, whose leftovers are the questions without a kept reply, but for
        those that are ``unsure``: their reply was kept and could not tell.
    """
    config = replace(config, mode="offline").merged_with(suite)
    run_id = new_run_id()
    services = await open_services(config, run=run_id, deadline=None)
    recording = RecordingServices(services, path, clean=clean)
    try:
        report = await evaluate(suite, config, run_id=run_id, services=recording)
    finally:
        await recording.aclose()
    return recording.count, report
