"""Caps on days, months and suites: read from suite and environment, and held at the door with the run's own."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from gateways import AT, BOOK, BOUND, SMALL, ask, books, opened
from test_suite import CASE, load

from tiered_eval.config import RunConfig
from tiered_eval.errors import BudgetExceeded, ConfigError, SuiteError
from tiered_eval.ledger import Cap, Claim, Ledger
from tiered_eval.pricing import usd_from_pico
from tiered_eval.records import Suite, SuiteSettings
from tiered_eval.runner.services import open_services
from tiered_eval.testing.scripted import ScriptedProvider


def priced_provider(**more: object) -> ScriptedProvider:
    price = BOOK.price(SMALL)
    return ScriptedProvider(price=lambda usage: price.rates_at(None, None).cost_pico(usage), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("period", ["day", "month"])
async def test_the_refusal_names_the_cap(tmp_path: Path, period: str):
    """A run that has its own cap to itself is refused by that of the day, and told so."""
    cap = Cap(amount=BOUND, period=period)  # type: ignore[arg-type]
    async with opened(tmp_path, ScriptedProvider(), caps=(cap,), cap_usd=Decimal(1), run="first") as gateway:
        await ask(gateway, "one")
    async with opened(tmp_path, ScriptedProvider(), caps=(cap,), cap_usd=Decimal(1), run="second") as gateway:
        with pytest.raises(BudgetExceeded) as refused:
            await ask(gateway, "two")

    assert refused.value.scope is not None
    assert refused.value.scope.startswith(period)
    assert refused.value.cap_usd == usd_from_pico(BOUND)
    assert f"on {period} 20" in str(refused.value)


async def test_kept_replies_are_free_also_when_the_month_is_spent(tmp_path: Path):
    """A cap refuses calls, not answers."""
    cap = Cap(amount=BOUND, period="month")
    async with opened(tmp_path, ScriptedProvider(), caps=(cap,), run="first") as gateway:
        await ask(gateway, "one")

    async with opened(tmp_path, ScriptedProvider(), caps=(cap,), run="second") as gateway:
        assert (await ask(gateway, "one")).from_store


async def test_runs_at_once_share_the_cap_of_the_day(tmp_path: Path):
    """Two runs of 64 calls at once each, on one home: the bill stays under the cap, and most of it is used."""
    cap = 20 * BOUND
    provider = priced_provider()

    async def run(name: str) -> None:
        async with opened(tmp_path, provider, caps=(Cap(amount=cap, period="day"),), run=name) as gateway:
            await asyncio.gather(
                *(ask(gateway, f"{name} {number}") for number in range(64)), return_exceptions=True
            )

    await asyncio.gather(run("a"), run("b"))

    totals = books(tmp_path)
    assert provider.bill <= cap
    assert 0.8 * cap <= totals.settled + totals.unknown <= cap


async def test_what_waiting_cannot_help_is_refused_at_once(tmp_path: Path):
    """Money that another process holds for hours keeps nobody waiting for a cap that is spent anyway."""
    cap = Cap(amount=2 * BOUND - 1, period="day")
    async with opened(tmp_path, ScriptedProvider(), caps=(cap,), run="first") as gateway:
        await ask(gateway, "one")
    with Ledger.open(tmp_path, now=AT.isoformat) as other:
        held = Claim(key="held", scope="other", run="other", model=SMALL, kind="", bound=10, cap=None)
        await other.claim(held)
        spent = Claim(key="spent", scope="other", run="other", model=SMALL, kind="", bound=BOUND, cap=None)
        await other.claim(spent)
        await other.settle(spent, cost=BOUND, payload="{}")

        async with opened(tmp_path, ScriptedProvider(), caps=(cap,), run="second") as gateway:
            async with asyncio.timeout(5):
                with pytest.raises(BudgetExceeded, match="on day"):
                    await ask(gateway, "two")


async def test_a_day_is_that_of_the_worlds_clock(tmp_path: Path):
    """Whoever brings a clock of their own, with any time zone, decides which day (UTC) is spent."""
    cap = Cap(amount=BOUND, period="day")
    at = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    east = timezone(timedelta(hours=2))

    async with opened(tmp_path, ScriptedProvider(), caps=(cap,), now=lambda: at) as gateway:
        await ask(gateway, "one")
        at = at.astimezone(east)  # it is December there
        with pytest.raises(BudgetExceeded, match="on day 2026-11-30"):
            await ask(gateway, "two")
        at += timedelta(hours=1)
        await ask(gateway, "two")


class TestChoosing:
    def test_the_environment_caps_the_home(self, monkeypatch: pytest.MonkeyPatch):
        """Both variables are dollars, and what the caller chose comes first."""
        monkeypatch.setenv("TIERED_EVAL_DAILY_CAP", "$2.50")
        monkeypatch.setenv("TIERED_EVAL_MONTHLY_CAP", "40")

        config = RunConfig(daily_cap_usd=Decimal(1)).merged_with(Suite(name="s", cases=()))

        assert (config.daily_cap_usd, config.monthly_cap_usd) == (Decimal(1), Decimal(40))

    @pytest.mark.parametrize("text", ["lots", "-1", "nan", "1,50", "1e400", "1e13"])
    def test_a_cap_that_cannot_be_read_is_not_no_cap(self, text: str, monkeypatch: pytest.MonkeyPatch):
        """A mistake in the variable ends the run before anything is spent."""
        monkeypatch.setenv("TIERED_EVAL_MONTHLY_CAP", text)

        with pytest.raises(ConfigError, match="TIERED_EVAL_MONTHLY_CAP"):
            RunConfig().merged_with(Suite(name="s", cases=()))

    def test_a_suite_asks_for_its_own(self, tmp_path: Path):
        """Caps on all runs of a suite stand in its budget, beside that of one run."""
        budget = "budget: {usd: 1, usd_per_day: 2, usd_per_month: '30.5', usd_in_all: 400}"

        settings = load(tmp_path, f"{budget}\ncases: [{json.dumps(CASE)}]").settings

        assert settings.budget_usd == Decimal(1)
        assert settings.caps_usd == {"day": Decimal(2), "month": Decimal("30.5"), "ever": Decimal(400)}

    @pytest.mark.parametrize("budget", ["{usd_per_day: -1}", "{usd_per_month: much}", "{usd_per_week: 3}"])
    def test_a_wrong_budget_is_refused(self, tmp_path: Path, budget: str):
        """A cap that would not hold is an error of the suite."""
        with pytest.raises(SuiteError, match=r"budget\.usd_per"):
            load(tmp_path, f"budget: {budget}\ncases: [{json.dumps(CASE)}]")

    async def test_all_of_them_reach_the_door(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """A run carries the home's caps and its suite's to each claim."""
        monkeypatch.setenv("TIERED_EVAL_MONTHLY_CAP", "40")
        suite = Suite(name="s", cases=(), settings=SuiteSettings(caps_usd={"day": Decimal(2)}))
        config = RunConfig(home=tmp_path, embedder="none").merged_with(suite)

        services = await open_services(config, run="r", suite="s", deadline=None)
        caps = services._gateway._attempts._caps
        await services.aclose()

        assert caps == (
            Cap(amount=40 * 10**12, period="month"),
            Cap(amount=2 * 10**12, period="day", suite="s"),
        )
