"""Runs whose batch expires or is cancelled at the vendor: what never ran is left over, costs nothing and is asked again."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import books
from planted_keys import KEEPS_KEYS

from tiered_eval import evaluate
from tiered_eval.config import RunConfig
from tiered_eval.ledger import Totals
from tiered_eval.records import JudgeStage, Report
from tiered_eval.reports import wording
from tiered_eval.runner.services import open_services
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

pytestmark = KEEPS_KEYS

SMALL, LARGE = "openai:gpt-6-luna", "anthropic:claude-haiku-5-5"
DECIDER = JudgeStage(models=("openai-decisions:gpt-6-luna",), accept=0.95, reject=0.05)
"""The loopback's probabilities are 0.9 and 0.1, so that every question climbs."""
CASES, RULES = 4, 3
DAY_S = 86_400.0

WAYS: dict[str, dict[str, Any]] = {
    "alone": {"judges": (SMALL,), "pack": "never"},
    "packed": {"judges": (LARGE,), "pack": "auto"},
    "chained": {"chain": (DECIDER, JudgeStage(models=(SMALL, LARGE)))},
    "panel": {
        "chain": (JudgeStage(panel=(SMALL, LARGE, "openai:third")),),
        "prices": {"openai:third": {"input": "0.1", "output": "0.5"}},
        "pack": "never",
    },
}


def expire(server: LoopbackServer) -> None:
    """A day is over, and half of what travels had its turn."""
    server.pass_time(DAY_S + 60)


def cancel(server: LoopbackServer) -> None:
    """Somebody stops what travels, when half of it had its turn."""
    server.pass_time(0.9 * DAY_S)
    for batch in server.desk.batches.values():
        batch.cancel()


async def run(
    home: Path, server: LoopbackServer, way: str, end: Callable[[LoopbackServer], None], **options: Any
) -> Report:
    """One run on the way; ``end`` is called when it waits for a batch."""
    clock = HandClock(moves_itself=True)

    async def sleep(seconds: float) -> None:
        if seconds >= 60:
            end(server)
        await clock.sleep(seconds)

    cases = [
        make_case(
            f"Answer number {number} of the desk.",
            *(
                make_expectation("requirement", f"Keeps to rule {rule}", id=f"r{rule}")
                for rule in range(RULES)
            ),
            id=f"case-{number}",
        )
        for number in range(CASES)
    ]
    config = RunConfig(**{"embedder": "none", "home": home, "batch": "always", **WAYS[way], **options})
    services = await open_services(
        config, run=f"run-{end.__name__}", suite="desk", deadline=None, clock=clock, sleep=sleep
    )
    try:
        return await evaluate(cases, config, services=services)
    finally:
        await services.aclose()


EXPIRED = (expire, "deadline", "deadline", 4)
CANCELLED = (cancel, "interrupted", None, 3)
"""Nobody told the run itself to end: too little was measured."""


@pytest.mark.parametrize(
    ("way", "end", "leftover", "stopped", "code"),
    [
        pytest.param("alone", *EXPIRED, id="one vendor's, expired"),
        pytest.param("alone", *CANCELLED, id="one vendor's, cancelled"),
        pytest.param("packed", *CANCELLED, id="the other's, in packs, cancelled"),
        pytest.param("chained", *EXPIRED, id="in a chain with a stand-in, expired"),
        pytest.param("panel", *CANCELLED, id="members of a panel, cancelled"),
    ],
)
async def test_what_never_ran_is_left_over_and_asked_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    end: Callable[[LoopbackServer], None],
    leftover: str,
    stopped: str | None,
    code: int,
):
    """No call at the full price, no verdict, nothing unknown; the books are the bill, and the same command has the rest."""
    settings = LoopbackSettings(batch_delay_s=2 * DAY_S, batch_expires_s=DAY_S)
    async with serve_loopback(settings) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        cut = await run(tmp_path, server, way, end)
        alone = [call for call in server.log if not call.batch and call.path != "/v1/decisions"]
        bill = server.charged_pico
        server.settings = LoopbackSettings()
        again = await run(tmp_path, server, way, lambda server: None)
        bill_in_all = server.charged_pico

    assert alone == []
    assert 0 < cut.leftovers[leftover] == cut.counts.not_judged < CASES * RULES
    assert (cut.counts.failed, cut.counts.error) == (0, 0)
    assert (cut.stopped, cut.exit_code) == (stopped, code)
    assert cut.spend.settled_usd == Decimal(bill).scaleb(-12)
    assert any("at the vendor" in warning for warning in cut.warnings)
    assert any("the same command" in step for step in wording.next_steps(cut))
    assert again.counts.passed == CASES * RULES
    assert books(tmp_path) == Totals(settled=bill_in_all)
