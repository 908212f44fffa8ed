"""Whole runs whose calls go through a door of their own, to a vendor that the test brings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gateways import BOOK

from tiered_eval import RunConfig, evaluate
from tiered_eval.calls import Gateway, Terms, World
from tiered_eval.pricing import PriceBook
from tiered_eval.records import Case, Report
from tiered_eval.runner.services import LiveServices

__all__ = ["run_over"]


async def run_over(
    world: World,
    cases: Iterable[Case],
    config: RunConfig,
    *,
    prices: PriceBook = BOOK,
    judged_at_once: int = 64,
    **terms: Any,
) -> Report:
    """A run of the cases. ``config`` names the home; ``terms`` are the door's where they are not the config's."""
    assert config.home is not None, "a run of a test has a home of its own"
    own = {"run": "run", "pack": config.packing, "seed": config.seed}
    gateway = Gateway(home=config.home, prices=prices, terms=Terms(**{**own, **terms}), world=world)
    services = LiveServices(
        gateway,
        chain=config.stages,
        embedder="none",
        prices=prices,
        home=config.home,
        judged_at_once=judged_at_once,
    )
    try:
        return await evaluate(cases, config, services=services)
    finally:
        await services.aclose()
