"""Every fault of a provider, through whole runs: the right verdict or a named error, and never a fail by a fault.

Over our own loopback provider, and over two mock providers that others wrote.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gateways import books
from planted_keys import KEEPS_KEYS
from test_door_cap import FAULTS
from test_third_party_servers import command, free_port, llmock_base, running, script_llmock, until_up
from vendor_runs import run_over

from tiered_eval import errors
from tiered_eval.calls import World
from tiered_eval.config import RunConfig
from tiered_eval.errors import ProviderError
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.records import Case, JudgeStage, Report, Verdict
from tiered_eval.testing import make_case, make_expectation
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback

pytestmark = KEEPS_KEYS

MODELS = {"openai": "openai:gpt-6-luna", "anthropic": "anthropic:claude-haiku-5-5"}
VENDORS = ["openai", "anthropic"]
SLOW = [pytest.mark.slow, pytest.mark.timeout(300)]
CLAIMS = ("Is polite", "Names a date", "Promises nothing", "Is short")
NAMED = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, ProviderError)
}
NONCE = "n0nce4f1a7b"
"""Those who only say what they are told to say can echo this one."""
MET = json.dumps({"nonce": NONCE, "evidence": "", "rationale": "", "verdict": "met"})


def cases(count: int) -> list[Case]:
    return [
        make_case(
            f"Answer number {number}.",
            *(make_expectation("requirement", claim, id=claim) for claim in CLAIMS),
            id=f"case-{number}",
        )
        for number in range(count)
    ]


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A vendor at an address."""

    vendor: str
    url: str
    """As its SDK wants it."""
    nonce: Callable[[], str] | None = None

    async def run(self, home: Path, suite: list[Case], *, request_timeout_s: float = 2.0) -> Report:
        """A run in which waiting takes no time, and each question has a call of its own."""
        chain, prices = (JudgeStage(models=(MODELS[self.vendor],)),), PriceBook()
        settings = ProviderSettings(base_urls={self.vendor: self.url})
        clock = HandClock(moves_itself=True)
        given = {} if self.nonce is None else {"nonce": self.nonce}
        world = World(
            open_provider=lambda prefix: open_provider(prefix, settings=settings),
            clock=clock,
            sleep=clock.sleep,
            rng=random.Random(0),
            **given,
        )
        config = RunConfig(
            chain=chain, embedder="none", home=home, gate="partial>=0", pack="never", max_error_rate=1.0
        )
        return await run_over(world, suite, config, prices=prices, request_timeout_s=request_timeout_s)


def verdicts(report: Report) -> dict[tuple[str, str], Verdict]:
    return {
        (verdict.case_id, verdict.expectation_id): verdict
        for result in report.results
        for verdict in result.verdicts
    }


def states(report: Report) -> dict[tuple[str, str], str]:
    return {place: verdict.state for place, verdict in verdicts(report).items()}


def check_errors_are_named(report: Report) -> None:
    """Whatever has no verdict says which error of the provider it was."""
    found = [verdict for verdict in verdicts(report).values() if verdict.state == "error"]
    kinds = Counter(verdict.failure.type for verdict in found if verdict.failure is not None)
    assert kinds.total() == len(found)
    assert set(kinds) <= NAMED


# ── our own ──────────────────────────────────────────────────────────────────────────────────────


def own(vendor: str, url: str) -> Judge:
    return Judge(vendor=vendor, url=url + ("/v1" if vendor == "openai" else ""))


@pytest.mark.parametrize(
    ("vendor", "count"), [("openai", 15), *(pytest.param(vendor, 500, marks=SLOW) for vendor in VENDORS)]
)
async def test_what_was_asked_has_the_answer_of_a_sound_vendor_or_an_error(
    tmp_path: Path, vendor: str, count: int
):
    """All faults at the rates of a bad day: no verdict is another one than without them."""
    async with serve_loopback(LoopbackSettings(pass_share=0.5)) as server:
        sound = states(await own(vendor, server.url).run(tmp_path / "sound", cases(count)))
    settings = LoopbackSettings(pass_share=0.5, fault_rates=FAULTS, drip_interval_s=0.2, seed=count)
    async with serve_loopback(settings) as server:
        report = await own(vendor, server.url).run(tmp_path / "home", cases(count))
        billed = server.charged_pico
    totals = books(tmp_path / "home")

    assert set(sound.values()) == {"pass", "fail"}
    found = states(report)
    assert found.keys() == sound.keys()
    assert {place: state for place, state in found.items() if state not in {sound[place], "error"}} == {}
    check_errors_are_named(report)
    assert totals.settled <= billed <= totals.settled + totals.unknown


IN_DEFAULT_RUN = {("openai", "html"), ("openai", "empty"), ("openai", "error-200"), ("openai", "529")}


@pytest.mark.parametrize(
    ("vendor", "fault"),
    [
        pytest.param(vendor, fault, marks=() if (vendor, fault) in IN_DEFAULT_RUN else SLOW)
        for fault in (*FAULTS, "408", "502", "503", "504", "html-200", "cut", "null-choices", "wrong-nonce")
        for vendor in VENDORS
    ],
)
async def test_a_vendor_with_nothing_but_one_fault_judges_nothing(tmp_path: Path, vendor: str, fault: str):
    """The vendor would say no to every question: a fail would be its own answer, and each fault is an error instead."""
    settings = LoopbackSettings(pass_share=0.0, fault_rates={fault: 1.0}, drip_interval_s=0.2)
    async with serve_loopback(settings) as server:
        report = await own(vendor, server.url).run(tmp_path / "home", cases(1), request_timeout_s=0.3)

    assert set(states(report).values()) == {"error"}
    check_errors_are_named(report)


# ── others' ──────────────────────────────────────────────────────────────────────────────────────


def behaviours(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """What llmock does call after call: mostly the answer, and faults at the rates of a bad day."""
    faults: list[tuple[float, dict[str, Any]]] = [
        (0.05, {"type": "fail", "status": 429, "retry_after": 1}),
        (0.02, {"type": "fail", "status": 500}),
        (0.01, {"type": "fail", "status": 529}),
        (0.01, {"type": "fail", "status": 503}),
        (0.005, {"type": "delay", "seconds": 60.0}),
        (0.01, {"type": "reply", "text": MET[:-9]}),
        (0.01, {"type": "reply", "text": "<html>Bad Gateway</html>"}),
        (0.01, {"type": "reply", "text": MET.replace(NONCE, "0" * 16)}),
    ]
    rates = [rate for rate, _ in faults]
    choices = [fault for _, fault in faults]
    answer = {"type": "reply", "text": MET}
    return rng.choices([answer, *choices], [1 - sum(rates), *rates], k=count)


@pytest.mark.parametrize(
    ("vendor", "count"), [("openai", 8), *(pytest.param(vendor, 100, marks=SLOW) for vendor in VENDORS)]
)
async def test_llmock_makes_nothing_fail(tmp_path: Path, vendor: str, count: int):
    """It says yes to everything, when it says something: passes and errors, never a fail."""
    port = free_port()
    with running(command("llmock"), "serve", "--port", str(port), "--log-level", "error", port=port) as url:
        await script_llmock(url, *behaviours(random.Random(count), count * len(CLAIMS) * 2))
        judge = Judge(vendor=vendor, url=llmock_base(url, vendor), nonce=lambda: NONCE)
        report = await judge.run(tmp_path / "home", cases(count), request_timeout_s=3.0)

    found = Counter(states(report).values())
    assert set(found) <= {"pass", "error"}
    assert found["pass"] >= 0.9 * count * len(CLAIMS)
    check_errors_are_named(report)


FAKELLM_RULES = """
version: 1
rules:
  - name: overloaded
    when: {messages_contain: "Answer number 0."}
    respond: {status: 529, error: overloaded}
  - name: limited
    when: {messages_contain: "Answer number 1."}
    respond: {status: 429, error: slow down}
  - name: broken
    when: {messages_contain: "Answer number 2."}
    respond: {status: 500, error: broken}
  - name: away
    when: {messages_contain: "Answer number 3."}
    respond: {status: 503, error: away}
  - name: cut off
    when: {messages_contain: "Answer number 4."}
    respond: {content: '{"nonce": "n0nce4f1a7b", "verd'}
  - name: nothing
    when: {messages_contain: "Answer number 5."}
    respond: {content: ""}
  - name: anything else
    respond: {content: 'MET'}
""".replace("MET", MET)


@pytest.mark.parametrize("vendor", ["openai", pytest.param("anthropic", marks=pytest.mark.slow)])
async def test_fakellm_makes_nothing_fail(tmp_path: Path, vendor: str):
    """Six cases meet one fault each, again and again, and end as errors; the others pass."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(FAKELLM_RULES, encoding="utf-8")
    port = free_port()
    with running(command("fakellm"), "serve", "--port", str(port), "--config", str(rules), port=port) as url:
        await until_up(url)
        judge = Judge(vendor=vendor, url=url + ("/v1" if vendor == "openai" else ""), nonce=lambda: NONCE)
        report = await judge.run(tmp_path / "home", cases(10), request_timeout_s=20.0)

    by_case = {case_id: state for (case_id, _), state in states(report).items()}
    assert by_case == {f"case-{number}": "error" if number < 6 else "pass" for number in range(10)}
    check_errors_are_named(report)
