"""The runner audits its certificate: a few early verdicts are judged as well, and an alarm stops them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from certified_shipments import (
    GOODS,
    PLACES,
    made_certificate,
    run_certified,
    shipment,
    shipments,
    suite_text,
)
from past_audits import record_audits
from scripted_services import ScriptedServices

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.audit_notes import find_audit
from tiered_eval.calibration.certificate import Certificate, save_certificate
from tiered_eval.cli.app import run_app
from tiered_eval.errors import ProviderUnavailable, SuiteError
from tiered_eval.ledger import Ledger
from tiered_eval.records import Case, JudgeStage, Report, Verdict
from tiered_eval.reports import write
from tiered_eval.runner import Evaluator, jobs
from tiered_eval.suite import load_suite
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.loopback import loopback_process

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return made_certificate()


def said_in(text: str) -> str:
    """A judge that can read: is the place that is claimed the one that the response names?"""
    named = {place for place in PLACES if f"shipped to {place}" in text}
    return "met" if len(named) == 1 else "not-met"


def contrary(text: str) -> str:
    return "not-met" if said_in(text) == "met" else "met"


async def run_with(
    certificate: Certificate,
    cases: list[Case],
    tmp_path: Path,
    answer: Callable[[str], Any] = said_in,
    max_cost_usd: Decimal | None = None,
    seed: int = 0,
    audit_rate: float | None = None,
    **options: Any,
) -> tuple[Report, ScriptedServices]:
    services = ScriptedServices(answer, home=tmp_path / "home", seconds=lambda text: 0.0, **options)
    report = await run_certified(
        certificate,
        cases,
        tmp_path,
        services,
        judges=services.judges,
        max_cost_usd=max_cost_usd,
        seed=seed,
        audit_rate=audit_rate,
    )
    return report, services


def verdicts_of(report: Report) -> list[Verdict]:
    return [verdict for result in report.results for verdict in result.verdicts]


def state_of(certificate: Certificate, home: Path) -> Any:
    with Ledger.open(home) as ledger:
        return find_audit(ledger, certificate.name)


async def test_a_share_of_early_verdicts_is_judged_as_well(certificate: Certificate, tmp_path: Path):
    """About 5 % of them are drawn; the judge's verdict is the one that counts, and what the certificate said stays in its trail."""
    report, _ = await run_with(certificate, shipments(600), tmp_path)

    audited = [verdict for verdict in verdicts_of(report) if verdict.audited]
    use = report.certificate
    assert use is not None
    assert 10 <= len(audited) == use.audited <= 60
    assert use.early == sum(verdict.certified or verdict.audited for verdict in verdicts_of(report))
    for verdict in audited:
        assert (verdict.tier, verdict.scorer, verdict.certified) == ("judge", "judge", False)
        assert verdict.q is not None
        assert verdict.trail[0].scorer == "certificate"
        assert verdict.trail[0].state == verdict.state


async def test_the_least_number_is_that_of_a_run(
    certificate: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A suite that is read in rounds takes no five spare audits in each of them."""
    monkeypatch.setattr(jobs, "OPEN_CASES", 60)

    report, _ = await run_with(
        certificate, shipments(200), tmp_path, max_cost_usd=Decimal(1), calls=190, audit_rate=0.0
    )

    assert report.certificate is not None
    assert report.certificate.audited == 5


@pytest.mark.parametrize(("rate", "low", "high"), [(0.0, 5, 5), (0.5, 30, 60), (1.0, 80, 100)])
async def test_the_share_that_is_audited_can_be_chosen(
    certificate: Certificate, tmp_path: Path, rate: float, low: int, high: int
):
    """None but the least number, about half, or every early verdict."""
    report, _ = await run_with(certificate, shipments(100), tmp_path, audit_rate=rate)

    assert report.certificate is not None
    assert low <= report.certificate.audited <= high
    assert rate < 1.0 or report.certificate.audited == report.certificate.early


@pytest.mark.parametrize(("chosen", "rate"), [(None, 0.2), (0.4, 0.4)])
def test_a_suite_says_which_share_is_audited(tmp_path: Path, chosen: float | None, rate: float):
    """As a setting of its judge, where the caller says nothing."""
    path = tmp_path / "suite.yaml"
    path.write_text(
        "judge: {models: [openai:gpt-5-nano], audit_rate: 0.2}\ncases: [{id: a, response: x, expect: [must-contain: x]}]\n"
    )

    assert RunConfig(audit_rate=chosen).merged_with(load_suite(path)).audit_rate == rate


@pytest.mark.parametrize("rate", ["1.5", "-0.1", "much"])
def test_a_share_that_is_none_is_refused(tmp_path: Path, rate: str):
    """Where it stands, and what may stand there."""
    path = tmp_path / "suite.yaml"
    path.write_text(
        f"judge: {{models: [openai:gpt-5-nano], audit_rate: {rate}}}\ncases: [{{id: a, response: x, expect: [must-contain: x]}}]\n"
    )

    with pytest.raises(SuiteError, match=r"judge\.audit_rate"):
        load_suite(path)


async def test_audits_are_kept_over_runs(certificate: Certificate, tmp_path: Path):
    """The ledger adds the audits of every run up, under the certificate's name."""
    first, _ = await run_with(certificate, shipments(300), tmp_path)
    second, _ = await run_with(certificate, shipments(300, seed=9), tmp_path)

    assert first.certificate is not None
    assert second.certificate is not None
    state = state_of(certificate, tmp_path / "home")
    assert state.audits == first.certificate.audited + second.certificate.audited
    assert second.certificate.audits_ever == state.audits
    assert (state.disagreements, state.is_stale) == (0, False)


async def test_a_small_run_has_five_audits(certificate: Certificate, tmp_path: Path):
    """Where fewer than five are drawn, the next in turn are audited when the suite is read."""
    report, services = await run_with(certificate, shipments(40), tmp_path)

    climbed = sum(not (one.certified or one.audited) for one in verdicts_of(report))
    assert sum(one.audited for one in verdicts_of(report)) == 5
    assert len(services.asked) == 5 + climbed


async def test_the_same_verdicts_are_audited_in_every_run(certificate: Certificate, tmp_path: Path):
    """The draw is a hash of claim and response, so a suite that is run again asks nothing new; another seed draws others."""

    def audited(report: Report) -> list[str]:
        return [one.case_id for one in verdicts_of(report) if one.audited]

    first, _ = await run_with(certificate, shipments(200), tmp_path)
    second, _ = await run_with(certificate, shipments(200)[::-1], tmp_path)

    assert sorted(audited(first)) == sorted(audited(second))


async def test_the_alarm_stops_early_verdicts_in_this_run_and_the_next(
    certificate: Certificate, tmp_path: Path
):
    """A judge that says the contrary throughout raises the alarm: it is said loudly, a gate that was met is no success, and the next run asks about everything."""
    first, _ = await run_with(certificate, shipments(600), tmp_path, contrary)
    second, services = await run_with(certificate, shipments(30, seed=5), tmp_path)

    assert first.certificate is not None
    assert first.certificate.is_stale
    assert first.exit_code == 3
    assert any(warning.startswith("ALARM") for warning in first.warnings)
    assert not any(one.certified for one in verdicts_of(first))
    assert 0 < len([one for one in verdicts_of(first) if "in doubt" in one.reason]) < 500
    assert second.certificate is not None
    assert second.certificate.early == 0
    assert len(services.asked) == 30
    assert any("earlier run" in warning for warning in second.warnings)
    assert first.settings["certificate"] == certificate.name
    assert "certificate" not in second.settings
    assert second.exit_code == 0


async def test_an_audit_that_cannot_be_made_takes_no_verdict_away(certificate: Certificate, tmp_path: Path):
    """In an outage the early verdicts stand, none is called audited, and nothing counts for the alarm."""
    down = ProviderUnavailable("judge: 500", model="scripted:judge", status=500, billed="no")

    report, _ = await run_with(certificate, shipments(40), tmp_path, lambda text: down)

    early = [one for one in verdicts_of(report) if one.certified]
    assert len(early) >= 20
    assert sum(any("audit" in step.reason for step in one.trail) for one in early) == 5
    assert state_of(certificate, tmp_path / "home") is None


async def test_a_harness_that_asks_one_by_one_is_audited_too(certificate: Certificate, tmp_path: Path):
    """Drawn verdicts are judged and noted when the evaluator ends; no case waits for the end of anything."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    services = ScriptedServices(contrary, home=tmp_path / "home", seconds=lambda text: 0.0)
    config = RunConfig(embedder="none", home=tmp_path / "home", certificate=path, judges=services.judges)

    async with Evaluator(config, services=services) as evaluator:
        results = [await evaluator.score(case) for case in shipments(100)]
    await services.aclose()

    audited = sum(verdict.audited for result in results for verdict in result.verdicts)
    assert audited > 0
    assert state_of(certificate, tmp_path / "home").disagreements == audited


async def test_what_was_handed_out_as_certified_is_taken_back_at_the_end(
    certificate: Certificate, tmp_path: Path
):
    """Who reads a stream has seen early verdicts before the alarm went off, and learns from the evaluator that nothing is promised of them."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    services = ScriptedServices(contrary, home=tmp_path / "home", seconds=lambda text: 0.0)
    config = RunConfig(embedder="none", home=tmp_path / "home", certificate=path, judges=services.judges)

    async with Evaluator(config, services=services) as evaluator:
        results = [result async for result in evaluator.stream(shipments(600))]
    await services.aclose()

    assert any(verdict.certified for result in results for verdict in result.verdicts)
    assert evaluator.certificate is not None
    assert evaluator.certificate.doubt is not None


@pytest.mark.parametrize("form", ["json", "jsonl", "junit"])
async def test_no_report_calls_certified_what_is_in_doubt(
    certificate: Certificate, tmp_path: Path, form: str
):
    """Each form is written when the run has ended, from results that are corrected."""
    report, _ = await run_with(certificate, shipments(600), tmp_path, contrary)

    text = write(report, form, tmp_path / "out").read_text()

    assert "in doubt" in text
    assert '"certified": true' not in text
    assert '"certified":true' not in text
    assert "\ncertified\n" not in text


async def test_audits_ask_the_last_stage_of_a_chain(certificate: Certificate, tmp_path: Path):
    """What early verdicts are held against is the top judge, and not a cheaper stage that would have settled it."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    services = ScriptedServices(said_in, home=tmp_path / "home", seconds=lambda text: 0.0)
    services.chain = (JudgeStage(models=("small:judge",)), JudgeStage(models=("large:judge",)))
    config = RunConfig(embedder="none", home=tmp_path / "home", certificate=path, judges=services.judges)
    cases = [*shipments(40), make_case("Good day.", make_expectation("requirement", "polite"), id="r")]

    async with Evaluator(config, services=services) as evaluator:
        results = [result async for result in evaluator.stream(cases)]
    await services.aclose()

    asked = [models for text, models in zip(services.asked, services.models, strict=True) if "Note" in text]
    climbed = sum(not (one.certified or one.audited) for result in results for one in result.verdicts) - 1
    assert asked.count(("large:judge",)) == 5
    assert asked.count(("small:judge",)) == climbed


async def test_a_stream_that_is_left_early_ends_in_order(certificate: Certificate, tmp_path: Path):
    """Verdicts that wait for the end of the stream hold nothing up when nobody wants the rest."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    services = ScriptedServices(said_in, home=tmp_path / "home", seconds=lambda text: 0.0)
    config = RunConfig(embedder="none", home=tmp_path / "home", certificate=path, judges=services.judges)

    async with asyncio.timeout(5), Evaluator(config, services=services) as evaluator:
        stream = evaluator.stream(shipments(30))
        await anext(stream)
        await stream.aclose()
    await services.aclose()

    assert len(services.asked) < 5


async def test_without_a_judge_nothing_is_audited(certificate: Certificate, tmp_path: Path):
    """Early verdicts need no judge, and their audits ask for none."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    config = RunConfig(embedder="none", mode="offline", home=tmp_path / "home", certificate=path)

    report = await evaluate(shipments(40), config)

    assert not any(one.audited for one in verdicts_of(report))
    assert not (tmp_path / "home").exists()


def made_mixed(seed: int) -> tuple[list[Case], dict[str, bool]]:
    """Claims that the certificate can decide, of which the judge sees 4 % otherwise, beside requirements; and what the judge says of each."""
    rng, cases, truth = random.Random(seed), [], {}
    for number in range(60):
        case, is_met = shipment(number, rng)
        truth[f"Note {number}."] = is_met != (rng.random() < 0.04)
        asked = tuple(
            make_expectation("requirement", f"meets {number}q{question}e", id=f"q{question}")
            for question in range(2)
        )
        truth |= {f"meets {number}q{question}e": rng.random() < 0.7 for question in range(2)}
        cases.append(replace(case, expectations=(*case.expectations, *asked)))
    return cases, truth


def test_audits_are_the_sample_of_early_verdicts(certificate: Certificate, tmp_path: Path):
    """Under a cap the score is that of judging everything, early verdicts included: its interval covers what the judge would say of all."""
    held = 0
    for seed in range(20):
        cases, truth = made_mixed(seed)

        def answer(text: str, truth: dict[str, bool] = truth) -> str:
            asked = next((claim for claim in truth if claim in text and claim.startswith("meets")), None)
            claim = asked or next(claim for claim in truth if claim in text)
            return "met" if truth[claim] else "not-met"

        report, _ = asyncio.run(
            run_with(
                certificate, cases, tmp_path / str(seed), answer, calls=70, max_cost_usd=Decimal(1), seed=seed
            )
        )
        assert report.sampled is not None
        assert report.certificate is not None
        assert report.certificate.audited >= 2
        full = sum(truth.values()) / len(truth)
        held += report.sampled.low <= full <= report.sampled.high

    assert held >= 17


def test_audits_come_in_between_under_a_cap(certificate: Certificate, tmp_path: Path):
    """Two audits come first of all, as fewer say nothing; the others are spread, so that what climbs is not starved."""
    cases, _ = made_mixed(3)

    report, services = asyncio.run(
        run_with(certificate, cases, tmp_path, lambda text: "met", calls=40, max_cost_usd=Decimal(1))
    )

    is_audit = ["meets" not in text for text in services.asked]
    assert is_audit[:2] == [True, True]
    assert sum(is_audit) <= 6
    assert report.sampled is not None


async def test_a_certificate_that_knows_no_judge_raises_no_alarm(certificate: Certificate, tmp_path: Path):
    """Where nobody measured how often early verdicts and the judge differ, audits are shown and the report says what to do."""
    grants = tuple(replace(grant, early_vs_top_rate_upper=None) for grant in certificate.grants)

    report, _ = await run_with(replace(certificate, grants=grants), shipments(200), tmp_path, contrary)

    assert report.certificate is not None
    assert report.certificate.audited == report.certificate.differing > 0
    assert report.certificate.alarm_level is None
    assert any("--top" in warning for warning in report.warnings)
    assert report.exit_code == 0


async def test_a_run_that_looks_unlike_the_labels_is_warned_about(certificate: Certificate, tmp_path: Path):
    """Where the free checks are unsure about most of it, the promise is about other data: a warning, no more."""
    rng = random.Random(6)
    cases = [
        make_case(
            f"Note {number}. We think that most of what was ordered may have left by now, {rng.choice(PLACES)} included.",
            make_expectation(
                "must-contain", f"The {rng.choice(GOODS)} were shipped to {rng.choice(PLACES)} on Monday"
            ),
            id=f"case-{number}",
        )
        for number in range(150)
    ]
    shifted = replace(certificate, q_mix=(0.0, 0.0, 0.0, 0.0, 1.0))

    report, _ = await run_with(shifted, cases, tmp_path)
    usual, _ = await run_with(certificate, shipments(150), tmp_path)

    assert any("calibration data" in warning for warning in report.warnings)
    assert not any("calibration data" in warning for warning in usual.warnings)


async def test_audits_that_cannot_be_read_void_the_certificate(certificate: Certificate, tmp_path: Path):
    """Damaged notes are no fresh start: nothing is decided early, and the report says why."""
    import sqlite3

    with Ledger.open(tmp_path / "home") as ledger:
        record_audits(ledger, certificate.name, 0.05, [True])
    with sqlite3.connect(tmp_path / "home" / "ledger.db") as connection:
        connection.execute("UPDATE meta SET value = '{}' WHERE name LIKE 'note:%'")
    connection.close()

    report, _ = await run_with(certificate, shipments(20), tmp_path)

    assert report.certificate is not None
    assert report.certificate.early == 0
    assert any("audits" in warning and "void" in warning for warning in report.warnings)


@pytest.mark.parametrize(("is_met", "code", "said"), [(False, 0, "0 of"), (True, 1, "STALE")])
def test_the_command_shows_the_audits_of_a_real_run(
    certificate: Certificate,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_met: bool,
    code: int,
    said: str,
):
    """Over HTTP, with a provider that finds nothing met: early fails agree with it, early passes do not."""
    rng = random.Random(4)
    cases = [shipment(number, rng, is_met=is_met)[0] for number in range(150)]
    suite = tmp_path / "suite.jsonl"
    suite.write_text(suite_text(cases))
    save_certificate(certificate, tmp_path / "certificate.json")
    monkeypatch.setenv("OPENAI_API_KEY", "loopback-key")
    home = ["--home", str(tmp_path / "home")]

    with loopback_process("--pass-share", "0") as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        judge = [
            "--judge",
            "openai:gpt-6-luna",
            "--embedder",
            "none",
            "--gate",
            "partial>=0",
            "--report",
            "json,junit",
        ]
        ended = run_app(["run", str(suite), *judge, *home, "-o", str(tmp_path / "out")])
    shown = capsys.readouterr().out
    audited = run_app(["audit", *home])

    assert ended == (3 if is_met else 0), shown
    assert audited == code
    assert said in capsys.readouterr().out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["certificate"]["audited"] >= 5
    assert any(one.get("audited") for result in report["results"] for one in result["verdicts"])
