"""Every dollar that a run settles stands on one of its verdicts, whatever befell its calls."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from gateways import AT, books
from hypothesis import given
from hypothesis import strategies as st
from made_up_minds import DECIDERS, TALKERS, Minds, Vendor
from test_chain_model import CHECKED, MINDS, PACKS, Bench, chains, suite, verdicts

from tiered_eval.errors import (
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    UnreadableReply,
)
from tiered_eval.records import DecisionReply, DecisionRequest, JudgeStage, ModelReply, ModelRequest


@dataclass(kw_only=True)
class Unlucky(Vendor):
    """Makes many calls fail, in each of the ways in which the bill may or may not grow."""

    rng: random.Random
    share: float
    may_be_billed: int = 0
    """Charged for calls whose answer got lost."""
    met: set[str] = field(default_factory=set)

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        fate = self._fate()
        if fate in ("limited", "down"):
            raise self._error(fate, model)
        before = self.bill
        reply = await super().complete(request, model=model, nonce=nonce, timeout_s=timeout_s)
        if fate == "lost":
            self.may_be_billed += self.bill - before
            raise self._error(fate, model)
        if fate == "empty":
            raise self._unreadable(model, reply.usage)
        if fate == "garbled":
            return ModelReply(
                text=reply.text[:-9], stop_reason="end", model=model, usage=reply.usage, nonce=nonce
            )
        return reply

    async def decide(
        self, request: DecisionRequest, *, model: str, nonce: str, timeout_s: float
    ) -> DecisionReply:
        fate = self._fate()
        if fate in ("limited", "down"):
            raise self._error(fate, model)
        before = self.bill
        reply = await super().decide(request, model=model, nonce=nonce, timeout_s=timeout_s)
        if fate == "lost":
            self.may_be_billed += self.bill - before
            raise self._error(fate, model)
        if fate in ("empty", "garbled"):
            raise self._unreadable(model, reply.usage)
        return reply

    def _fate(self) -> str:
        fate = "sound"
        if self.rng.random() < self.share:
            fate = self.rng.choice(["limited", "down", "lost", "empty", "empty", "garbled", "garbled"])
        self.met.add(fate)
        return fate

    def _error(self, fate: str, model: str) -> ProviderError:
        if fate == "limited":
            return RateLimited("slower", model=model, status=429, billed="no")
        if fate == "down":
            return ProviderUnavailable("down", model=model, status=500, billed="no")
        return ProviderTimeout("no answer", limit="read", model=model)

    def _unreadable(self, model: str, usage: Any) -> UnreadableReply:
        return UnreadableReply("no answer in it", text="", model=model, billed="yes", usage=usage)


def unlucky(bench: Bench, minds: Minds, seed: int, share: float) -> list[Unlucky]:
    """The vendors of a bench, with their luck gone."""
    rng = random.Random(seed)
    bench.vendors = {
        prefix: Unlucky(minds=minds, prefix=prefix, book=bench.book, at=AT, rng=rng, share=share)
        for prefix in bench.vendors
    }
    return list(bench.vendors.values())  # type: ignore[arg-type]  # as made above


@CHECKED
@given(
    chain=chains(),
    minds=MINDS,
    pack=PACKS,
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.05, 0.3, 0.7]),
    cap=st.none() | st.floats(0.1, 1.5),
)
def test_every_settled_dollar_is_on_a_verdict(
    chain: tuple[JudgeStage, ...],
    minds: Minds,
    pack: Any,
    seed: int,
    share: float,
    cap: float | None,
    tmp_path_factory: pytest.TempPathFactory,
):
    """Refused, unreadable, lost and failed calls, fallbacks, packs, votes, panels, chains, caps: the verdicts' costs are the
    bill, and the books enclose the vendors' own."""
    bench = Bench(tmp_path_factory.mktemp("home"), minds, chain, pack)
    vendors = unlucky(bench, minds, seed, share)
    dear = Decimal("0.004") * len(chain)

    for run in ("first", "again"):
        terms = {} if cap is None else {"cap_usd": dear * Decimal(str(round(cap, 3)))}
        report = asyncio.run(bench.run(suite(), run=run, **terms))
        assert sum(one.cost_usd for one in verdicts(report)) == report.spend.settled_usd
        assert report.spend.beside_usd == 0

    totals = books(bench.home)
    assert totals.settled <= bench.bill <= totals.settled + totals.unknown
    assert bench.bill - sum(vendor.may_be_billed for vendor in vendors) == totals.settled


def test_all_that_may_befall_a_call_befalls_some(tmp_path_factory: pytest.TempPathFactory):
    """The luck of the vendors above is as bad as it is said to be."""
    minds = Minds(seed=3)
    chain = (
        JudgeStage(models=DECIDERS[:1], accept=0.95, reject=0.05),
        JudgeStage(models=TALKERS[:2], votes=3),
        JudgeStage(panel=TALKERS),
    )
    met: set[str] = set()
    for seed in range(20):  # the order of the calls is the machine's, so no one seed is unlucky for sure
        bench = Bench(tmp_path_factory.mktemp("home"), minds, chain, "auto")
        vendors = unlucky(bench, minds, seed, 0.7)
        report = asyncio.run(bench.run(suite()))
        met = met.union(*(vendor.met for vendor in vendors))
        dear_errors = [one for one in verdicts(report) if one.state == "error" and one.cost_usd]
        if dear_errors and len(met) == 6:
            break

    assert met == {"sound", "limited", "down", "lost", "empty", "garbled"}
    assert dear_errors
