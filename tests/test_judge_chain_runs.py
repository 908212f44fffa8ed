"""Whole runs with a chain of judges, over real HTTP: what is sent, what it costs, and what is left when it ends early."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import books
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError
from tiered_eval.records import Case, JudgeStage, Report, Verdict
from tiered_eval.records.codec import report_from_json, report_to_json
from tiered_eval.reports import markdown, terminal
from tiered_eval.reports.wording import stages_line
from tiered_eval.runner import evaluate
from tiered_eval.runner.recording import record
from tiered_eval.suite import load_suite
from tiered_eval.testing import make_case, make_expectation
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

DECIDER = "openai-decisions:gpt-6-luna"
SMALL = "openai:gpt-6-luna"
LARGE = "anthropic:claude-haiku-5-5"
UNSURE = JudgeStage(models=(DECIDER,), accept=0.95, reject=0.05)
"""The loopback's probabilities are 0.9 and 0.1, so that every question climbs."""
SURE = JudgeStage(models=(DECIDER,), accept=0.85, reject=0.15)
LAST = JudgeStage(models=(LARGE,))
CHAIN = (UNSURE, JudgeStage(models=(SMALL,), confirm="pass"), LAST)
CLAIMS = ("Is polite", "Names a date", "Promises nothing", "Is short")


@asynccontextmanager
async def vendors(monkeypatch: pytest.MonkeyPatch, **options: Any) -> AsyncIterator[LoopbackServer]:
    """All vendors on one loopback server, with keys for them."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-planted-for-tests")
    async with serve_loopback(LoopbackSettings(**options)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def cases(count: int = 2, claims: Sequence[str] = CLAIMS) -> list[Case]:
    return [
        make_case(
            f"Answer number {number}.",
            *(make_expectation("requirement", claim, id=claim) for claim in claims),
            id=f"case-{number}",
        )
        for number in range(count)
    ]


async def run(home: Path, chain: Sequence[JudgeStage] = CHAIN, suite: Any = None, **options: Any) -> Report:
    config = RunConfig(
        **{"chain": tuple(chain), "embedder": "none", "home": home, "gate": "partial>=0", **options}
    )
    return await evaluate(cases() if suite is None else suite, config)


def verdicts(report: Report) -> list[Verdict]:
    return [verdict for result in report.results for verdict in result.verdicts]


def paths(server: LoopbackServer) -> Counter[str]:
    return Counter(call.path for call in server.log)


async def test_stages_are_asked_in_turn_and_their_bill_is_the_ledgers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Four questions of a response are one decision; what climbs is packed; and every dollar is in the books."""
    async with vendors(monkeypatch) as server:
        report = await run(tmp_path)

    assert paths(server) == {"/v1/decisions": 2, "/v1/chat/completions": 2, "/v1/messages": 2}
    assert {verdict.state for verdict in verdicts(report)} == {"pass"}
    assert all([step.stage for step in verdict.trail] == [1, 2] for verdict in verdicts(report))
    assert books(tmp_path).settled == server.charged_pico
    assert report.spend.settled_usd == Decimal(server.charged_pico).scaleb(-12)
    assert sum(verdict.cost_usd for verdict in verdicts(report)) == report.spend.settled_usd
    assert {line.name for line in report.spend.by_model} == {DECIDER, SMALL, LARGE}


async def test_the_report_says_what_each_stage_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All of the bill is some stage's; one judge alone has no stages."""
    async with vendors(monkeypatch):
        report = await run(tmp_path)
        alone = await run(tmp_path / "alone", (LAST,))
    stages = report.spend.by_stage

    assert [(line.name, line.calls) for line in stages] == [("stage 1", 2), ("stage 2", 2), ("stage 3", 2)]
    assert sum(line.cost_usd for line in stages) == report.spend.settled_usd
    assert [line.cost_usd for line in stages] == [
        line.cost_usd
        for model in (DECIDER, SMALL, LARGE)
        for line in report.spend.by_model
        if line.name == model
    ]
    shown = " ".join(terminal.render(report).split())
    assert f"by stage {stages_line(stages)}" in shown
    assert "By stage: stage 1" in "".join(markdown.render(report))
    assert report_from_json(report_to_json(report)) == report
    assert alone.spend.by_stage == ()


async def test_what_a_number_settles_goes_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """At the ends of its band a decision model is the only one asked."""
    async with vendors(monkeypatch, pass_share=0.5) as server:
        report = await run(tmp_path, (SURE, LAST))

    assert paths(server) == {"/v1/decisions": 2}
    assert {verdict.model for verdict in verdicts(report)} == {"gpt-6-luna"}
    assert {verdict.state for verdict in verdicts(report)} == {"pass", "fail"}


async def test_a_higher_judge_never_sees_what_a_lower_one_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The bytes that reach the last stage are those of a run that has no other stage."""
    async with vendors(monkeypatch) as server:
        await run(tmp_path / "chain", pack="never", prompt_cache="off")
        in_chain = [call.body for call in server.log if call.path == "/v1/messages"]
        await run(tmp_path / "alone", (LAST,), pack="never", prompt_cache="off")
        alone = [call.body for call in server.log if call.path == "/v1/messages"][len(in_chain) :]

    assert sorted(map(without_nonce, in_chain)) == sorted(map(without_nonce, alone))
    assert not any(
        word in without_nonce(body) for body in in_chain for word in ("0.9", "probability 0", "gpt-6-luna")
    )


def without_nonce(body: Any) -> str:
    """What a model was sent, but for the nonce of its call."""
    text = json.dumps(body, sort_keys=True)
    nonce = text.partition("DATA ")[2].partition("\\n")[0]
    return text.replace(nonce, "NONCE")


async def test_votes_and_a_panel_have_keys_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A second run with another chain pays only for what nobody was asked before."""
    panel = JudgeStage(panel=(SMALL, LARGE))
    async with vendors(monkeypatch) as server:
        await run(tmp_path, (LAST,))
        before = len(server.log)
        report = await run(tmp_path, (panel,))

    assert Counter(call.path for call in list(server.log)[before:]) == {"/v1/chat/completions": 2}
    assert all(len(verdict.trail) == 2 for verdict in verdicts(report))


async def test_words_travel_in_batches_and_numbers_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The vendor takes no decisions in a batch; what climbs from them goes at half the price."""
    async with vendors(monkeypatch) as server:
        report = await run(tmp_path, (UNSURE, LAST), batch="always", max_time_s=3600.0)

    assert paths(server)["/v1/decisions"] == 2
    assert {verdict.state for verdict in verdicts(report)} == {"pass"}
    assert books(tmp_path).settled == server.charged_pico
    assert {call.batch != "" for call in server.log if call.path != "/v1/decisions"} == {True}


async def test_the_same_command_again_is_free_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Every stage's answer is kept, so nothing is asked twice; offline neither."""
    async with vendors(monkeypatch) as server:
        first = await run(tmp_path)
        asked = len(server.log)
        again = await run(tmp_path)
        offline = await run(tmp_path, mode="offline")

    assert len(server.log) == asked
    assert again.spend.settled_usd == offline.spend.settled_usd == 0
    told = [
        [(one.state, one.reason, one.trail) for one in verdicts(report)] for report in (first, again, offline)
    ]
    assert told[0] == told[1] == told[2]


async def test_a_chain_is_recorded_and_replayed_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Answers by numbers are recorded like any other, beside their question."""
    path = suite_file(tmp_path)
    async with vendors(monkeypatch):
        first = await evaluate(load_suite(path), RunConfig(embedder="none", home=tmp_path / "home"))
    config = RunConfig(embedder="none", home=tmp_path / "home")
    count, _ = await record(load_suite(path), config, tmp_path / "recordings" / "all.jsonl")
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")

    replayed = await evaluate(
        load_suite(path),
        RunConfig(embedder="none", home=tmp_path / "new", mode="replay", recordings=tmp_path / "recordings"),
    )

    assert count == 2
    assert [one.state for one in verdicts(replayed)] == [one.state for one in verdicts(first)] == ["pass"]
    assert [reasons(one) for one in verdicts(replayed)] == [reasons(one) for one in verdicts(first)]


def reasons(verdict: Verdict) -> list[tuple[int | None, str, str]]:
    """What each stage said; a recording names its model as it was configured."""
    return [(step.stage, step.state, step.reason) for step in verdict.trail]


def suite_file(folder: Path) -> Path:
    path = folder / "suite.yaml"
    path.write_text(
        """
judge:
  chain:
    - {models: [openai-decisions:gpt-6-luna], accept: 0.95, reject: 0.05}
    - {models: [anthropic:claude-haiku-5-5]}
cases:
  - {id: one, response: Net 45., expect: [{requirement: Names a term}]}
""",
        encoding="utf-8",
    )
    return path


# ── what can go wrong ────────────────────────────────────────────────────────────────────────────


async def test_an_outage_of_a_lower_stage_is_bridged_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The decision endpoint is away; the next stage decides, and the verdict says whom it replaced."""
    async with vendors(monkeypatch, script=("404",)) as server:
        report = await run(tmp_path, (UNSURE, LAST), cases(1))

    assert paths(server) == {"/v1/decisions": 1, "/v1/messages": 1}
    assert {one.state for one in verdicts(report)} == {"pass"}
    assert {one.trail[0].state for one in verdicts(report)} == {"error"}


async def test_an_outage_of_the_last_stage_is_an_error_with_its_trail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What the decision model said is told, and is no verdict."""
    async with vendors(monkeypatch, script=("none", "404")):
        report = await run(tmp_path, (UNSURE, LAST), cases(1, CLAIMS[:1]))

    [verdict] = verdicts(report)
    assert (verdict.state, verdict.failure is not None) == ("error", True)
    assert [(step.stage, step.state, step.score) for step in verdict.trail] == [(1, "unsure", 0.9)]


async def test_what_settled_nothing_is_paid_for_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A verdict that is none, or an error, says what was billed on the way to it."""
    async with vendors(monkeypatch) as server:
        unsure = await run(tmp_path / "unsure", (UNSURE,))
        server.then("none", "404", "404")
        failed = await run(tmp_path / "failed", (UNSURE, LAST))

    assert {one.state for one in verdicts(unsure)} == {"not-judged"}
    assert {one.state for one in verdicts(failed)} >= {"error"}
    for report in (unsure, failed):
        assert sum(one.cost_usd for one in verdicts(report)) == report.spend.settled_usd > 0


async def test_money_that_ends_in_a_chain_leaves_its_questions_unjudged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The cap has room for the numbers only: not judged, for want of money, and never what the numbers said."""
    async with vendors(monkeypatch) as server:
        report = await run(tmp_path, (UNSURE, LAST), max_cost_usd=Decimal("0.0009"))

    assert paths(server) == {"/v1/decisions": 2}
    assert {(one.state, one.leftover) for one in verdicts(report)} == {("not-judged", "budget")}
    assert all(one.trail[0].stage == 1 for one in verdicts(report))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cap=st.decimals("0", "0.01", places=6),
    seed=st.integers(0, 1000),
    faulty=st.floats(0, 0.4),
    stages=st.lists(
        st.sampled_from(
            [
                UNSURE,
                SURE,
                JudgeStage(models=(SMALL, LARGE), votes=3),
                JudgeStage(panel=(SMALL, LARGE)),
                JudgeStage(models=(SMALL,), confirm="fail"),
            ]
        ),
        max_size=3,
    ),
)
def test_a_chain_never_spends_above_the_cap(
    cap: Decimal,
    seed: int,
    faulty: float,
    stages: list[JudgeStage],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
):
    """Whatever stages there are and whatever fails: the vendors' bill is under the cap and inside the books, and every
    expectation is accounted for."""
    home = tmp_path_factory.mktemp("home")
    rng = random.Random(seed)
    kinds = ("400", "404", "malformed", "refusal", "wrong-nonce", "wrong-schema", "error-200", "no-usage")
    script = tuple(rng.choice(kinds) if rng.random() < faulty else "none" for _ in range(30))

    async def spend() -> tuple[Report, int]:
        async with vendors(monkeypatch, script=script, pass_share=0.5, seed=seed) as server:
            report = await run(home, (*stages, LAST), cases(3), max_cost_usd=cap, max_time_s=30.0)
            return report, server.charged_pico

    report, charged = asyncio.run(spend())

    assert Decimal(charged).scaleb(-12) <= cap
    assert report.counts.total == 12
    if (home / "ledger.db").exists():
        totals = books(home)
        assert charged <= totals.settled + totals.unknown
        if "no-usage" not in script:  # there we book what it can have been at most
            assert totals.settled <= charged


# ── before the first call ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("stage", "found"),
    [
        (JudgeStage(models=("anthropic:claude-nobody-9",)), "no price"),
        (JudgeStage(panel=(SMALL, "anthropic:claude-nobody-9")), "no price"),
        (JudgeStage(models=("nobody-decisions:x",), accept=0.9, reject=0.1), "nobody-decisions"),
    ],
)
async def test_each_model_of_a_chain_is_checked_before_anything_is_spent(
    stage: JudgeStage, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Also one that is asked last, and only sometimes."""
    async with vendors(monkeypatch) as server:
        with pytest.raises(ConfigError, match=found):
            await run(tmp_path, (stage, LAST))

    assert not server.log


@pytest.mark.parametrize(
    "stage", [JudgeStage(models=(DECIDER,), accept=0.9, reject=0.1), JudgeStage(panel=(SMALL, LARGE))]
)
async def test_a_stage_without_a_key_is_not_left_out_in_silence(
    stage: JudgeStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A chain without one of its stages, or a panel without a member, would be another judge."""
    async with vendors(monkeypatch):
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name)
        with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
            await run(tmp_path, (stage, LAST))


async def test_a_fallback_without_a_key_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The stage still has a model, so it is what it was meant to be."""
    stage = JudgeStage(models=(SMALL, LARGE))
    async with vendors(monkeypatch):
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name)
        report = await run(tmp_path, (replace(stage, confirm="fail"), LAST))

    assert any("left out" in warning for warning in report.warnings)
    assert report.settings["judges"] == [
        f"stage 1: {LARGE}; a fail is confirmed",
        f"stage 2: {LARGE}",
    ]
