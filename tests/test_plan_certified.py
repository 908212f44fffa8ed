"""A plan with a certificate: what would be decided early and audited, computed as the run does it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from certified_shipments import made_certificate, shipments, suite_text
from past_audits import record_audits
from scripted_services import ScriptedServices
from test_audited_run import said_in
from test_early_judges import CHAIN, LARGE, SMALL, requirements
from test_early_judges import certificate as of_small_judge  # noqa: F401 - a fixture

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.certificate import Certificate, save_certificate
from tiered_eval.cli.app import run_app
from tiered_eval.ledger import Ledger
from tiered_eval.records import Suite
from tiered_eval.runner import Plan, plan

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")

JUDGE = "scripted:judge"
PRICES = {JUDGE: {"input": 1, "output": 1}}


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return made_certificate()


def planned(certificate: Certificate, folder: Path, count: int = 40, **options: object) -> Plan:
    save_certificate(certificate, folder / "certificate.json")
    config = RunConfig(
        judges=(JUDGE,),
        prices=PRICES,
        home=folder / "home",
        certificate=folder / "certificate.json",
        embedder="none",
        **options,  # type: ignore[arg-type]
    )
    return plan(Suite(name="s", cases=shipments(count)), config)


def test_a_plan_knows_the_share_that_is_audited(certificate: Certificate, tmp_path: Path):
    """A larger share is a larger bill, and told beforehand."""
    usual, every = (planned(certificate, tmp_path, 100, audit_rate=rate).certificate for rate in (None, 1.0))

    assert usual is not None
    assert every is not None
    assert usual.audits_most < every.audits_least == every.decided_free


def test_the_command_takes_the_share_that_is_audited(
    certificate: Certificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """As `run` does, where the plan is of a run with another share than usual."""
    (tmp_path / "suite.jsonl").write_text(suite_text(shipments(100)), encoding="utf-8")
    save_certificate(certificate, tmp_path / "certificate.json")
    command = ["plan", str(tmp_path / "suite.jsonl"), "--judge", JUDGE, "--embedder", "none", "--json"]

    assert run_app([*command, "--audit-rate", "100%"]) == 0

    found = json.loads(capsys.readouterr().out)["certificate"]
    assert found["audits_least"] == found["decided_free"] > 50


def test_the_command_takes_a_certificate_that_lies_elsewhere(
    certificate: Certificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """As `run` does, where one suite decides by the certificate of another."""
    (tmp_path / "suite.jsonl").write_text(suite_text(shipments(40)), encoding="utf-8")
    (tmp_path / "other").mkdir()
    save_certificate(certificate, tmp_path / "other" / "certificate.json")
    command = ["plan", str(tmp_path / "suite.jsonl"), "--judge", JUDGE, "--embedder", "none", "--json"]

    assert run_app([*command, "--certificate", str(tmp_path / "other" / "certificate.json")]) == 0

    assert json.loads(capsys.readouterr().out)["certificate"]["decided_free"] > 0


@pytest.mark.parametrize("count", [40, 300])
async def test_a_plan_counts_what_the_run_then_does(certificate: Certificate, tmp_path: Path, count: int):
    """Free scores decide the same, the same verdicts are audited, and no other call is made."""
    made = planned(certificate, tmp_path, count)
    services = ScriptedServices(said_in, home=tmp_path / "home", seconds=lambda text: 0.0)
    config = RunConfig(
        embedder="none", home=tmp_path / "home", certificate=tmp_path / "certificate.json", judges=(JUDGE,)
    )
    report = await evaluate(shipments(count), config, services=services)
    await services.aclose()

    found, use = made.certificate, report.certificate
    assert found is not None
    assert use is not None
    assert (found.covered, found.decided_free, found.decided_most) == (use.covered, use.early, use.early)
    assert found.audits_least == found.audits_most == use.audited
    assert made.to_judge_most == len(services.asked)
    assert made.by_scorer["certificate"] == use.early
    assert found.audits_expected_usd is not None
    assert 0 < found.audits_expected_usd <= (made.cost_expected_usd or 0)


def test_a_void_certificate_is_told_as_in_a_run(certificate: Certificate, tmp_path: Path):
    """Nothing of it is decided early then, and every expectation is priced at the judge."""
    made = planned(replace(certificate, fingerprints={"free": "another"}), tmp_path)

    assert made.certificate is not None
    assert made.certificate.void
    assert "void" in made.certificate.warnings[0]
    assert (made.certificate.decided_free, made.certificate.audits_most) == (0, 0)
    assert made.to_judge_most == 40


def test_a_stale_certificate_is_told_as_in_a_run(certificate: Certificate, tmp_path: Path):
    """The alarm stands in the ledger, and a plan makes none where there is none."""
    fresh = planned(certificate, tmp_path)
    assert not (tmp_path / "home").exists()
    assert fresh.certificate is not None
    assert not fresh.certificate.is_stale
    with Ledger.open(tmp_path / "home") as ledger:
        record_audits(ledger, certificate.name, 0.05, [True] * 20)

    made = planned(certificate, tmp_path)

    assert made.certificate is not None
    assert made.certificate.is_stale
    assert made.certificate.warnings[0].startswith("ALARM")
    assert made.to_judge_most == 40


def test_the_command_shows_it(certificate: Certificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """In words and in JSON, for the certificate beside the suite."""
    (tmp_path / "suite.jsonl").write_text(suite_text(shipments(40)), encoding="utf-8")
    save_certificate(certificate, tmp_path / "certificate.json")
    command = ["plan", str(tmp_path / "suite.jsonl"), "--judge", "openai:gpt-6-luna", "--embedder", "none"]

    assert run_app(command) == 0
    shown = capsys.readouterr().out
    assert run_app([*command, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)

    found = made["certificate"]
    assert "certificate    early verdicts differ from top judge in <= 5.0%" in shown
    assert f"{found['decided_free']} of 40 expectations of its kinds decided by free scores" in shown
    assert "5 audits of early verdicts at the last judge" in shown
    assert found["audits_least"] == 5


def test_each_kind_is_expected_to_climb_as_it_did(of_small_judge: Certificate, tmp_path: Path):  # noqa: F811
    """Of several promises each has a share of its own: one whose kind always climbs makes the others no dearer."""
    [grant] = of_small_judge.grants
    always = replace(grant, kind="must-cite", by_tier=dict.fromkeys(grant.by_tier, 0.0))
    several = replace(of_small_judge, grants=(always, replace(grant, kind="requirement")))
    save_certificate(several, tmp_path / "certificate.json")
    config = RunConfig(
        chain=CHAIN, certificate=tmp_path / "certificate.json", home=tmp_path / "home", embedder="none"
    )

    made = plan(Suite(name="s", cases=tuple(requirements(100))), config)

    assert made.stages[1].questions_expected <= 10


def test_what_a_cheap_judge_would_decide_is_a_range(of_small_judge: Certificate, tmp_path: Path):  # noqa: F811
    """It is asked about all, and the last one about all in the worst case, but about few as in calibration."""
    save_certificate(of_small_judge, tmp_path / "certificate.json")
    prices = {SMALL: {"input": 1, "output": 1}, LARGE: {"input": 10, "output": 10}}
    config = RunConfig(
        chain=CHAIN,
        prices=prices,
        home=tmp_path / "home",
        certificate=tmp_path / "certificate.json",
        embedder="none",
    )

    made = plan(Suite(name="s", cases=tuple(requirements(100))), config)

    found, (small, large) = made.certificate, made.stages
    assert found is not None
    assert (found.covered, found.decided_free, found.decided_most) == (100, 0, 100)
    assert found.audits_least == 0 < found.audits_most
    assert (small.questions_most, small.questions_expected, large.questions_most) == (100, 100, 100)
    assert large.questions_expected <= 10
    assert (made.to_judge_least, made.to_judge_most) == (100, 200)
