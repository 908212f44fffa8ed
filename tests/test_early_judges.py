"""A cheap judge as a tier of a certificate: its score decides early or climbs, and the top judge is the reference."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from certified_shipments import run_certified
from scripted_services import ScriptedServices

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.calibrate import calibrate
from tiered_eval.calibration.certificate import Certificate, load_certificate, save_certificate
from tiered_eval.calibration.collecting import judge_fingerprint
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.promise import Promise
from tiered_eval.errors import ProviderUnavailable
from tiered_eval.records import Case, JudgeStage, Report, Verdict
from tiered_eval.testing.builders import make_case, make_expectation

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")

SMALL, LARGE = "small:judge", "large:judge"
CHAIN = (JudgeStage(models=(SMALL,)), JudgeStage(models=(LARGE,)))
TIERS = (TierSpec(name=SMALL, scores=(SMALL,), cost=0.1), TierSpec(name="top", scores=(), cost=1.0))
WRONG = 0.03


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    """The small judge differs from the top judge in 3 %, and at most 10 % are promised."""
    rng = random.Random(1)
    labels = []
    for number in range(700):
        met = rng.random() < 0.6
        said = met != (rng.random() < WRONG)
        labels.append(
            Label(id=str(number), case=str(number), kind="requirement", met=met, scores={SMALL: float(said)})
        )
    return calibrate(
        labels,
        TIERS,
        Promise(alpha=0.10, label_source="top_judge"),
        created="2026-01-01",
        fingerprints={SMALL: judge_fingerprint(SMALL)},
    )


def requirements(count: int) -> list[Case]:
    return [
        make_case("Good day.", make_expectation("requirement", f"meets q{number}e", id="r"), id=f"c{number}")
        for number in range(count)
    ]


def large_says(text: str) -> str:
    """The same for the same question; about 60 % are met."""
    return "met" if hash_of(text) % 10 < 6 else "not-met"


def small_says(text: str) -> str:
    """As the large one, but for a few."""
    said = large_says(text)
    return said if hash_of(text) % 101 > 3 else {"met": "not-met", "not-met": "met"}[said]


def hash_of(text: str) -> int:
    name = next(
        word for word in text.replace('"', " ").split() if word.startswith("q") and word.endswith("e")
    )
    return random.Random(name).randrange(10_100)


async def run_with(
    certificate: Certificate, cases: list[Case], tmp_path: Path, small: Any = small_says, **options: Any
) -> tuple[Report, ScriptedServices]:
    services = ScriptedServices(large_says, home=tmp_path / "home", seconds=lambda text: 0.0, **options)
    services.chain = CHAIN
    services.answers[SMALL] = small
    cap = Decimal(1) if "calls" in options else None
    report = await run_certified(certificate, cases, tmp_path, services, chain=CHAIN, max_cost_usd=cap)
    return report, services


def verdicts_of(report: Report) -> list[Verdict]:
    return [verdict for result in report.results for verdict in result.verdicts]


async def test_a_cheap_judge_decides_within_the_promise(certificate: Certificate, tmp_path: Path):
    """Every question goes to the small judge once; its verdicts are the certificate's, and the large one sees audits only."""
    report, services = await run_with(certificate, requirements(200), tmp_path)

    verdicts = verdicts_of(report)
    audited = [one for one in verdicts if one.audited]
    assert services.models.count((SMALL,)) == 200
    assert services.models.count((LARGE,)) == len(audited) > 3
    assert sum(one.certified for one in verdicts) == 200 - len(audited)
    assert all((one.tier, one.scorer) == ("judge", "certificate") for one in verdicts if one.certified)
    wrong = sum(
        one.certified and (one.state == "pass") != (large_says(f"q{n}e") == "met")
        for n, one in enumerate(verdicts)
    )
    assert wrong <= 20


@pytest.mark.parametrize("options", [{}, {"calls": 500}], ids=["no cap", "a cap"])
async def test_a_small_run_is_audited_at_its_end(
    certificate: Certificate, tmp_path: Path, options: dict[str, int]
):
    """Where few are drawn, five in all are audited once every question has had its turn; nothing waits for ever."""
    report, services = await asyncio.wait_for(
        run_with(certificate, requirements(40), tmp_path, **options), timeout=20
    )

    assert services.models.count((LARGE,)) == sum(one.audited for one in verdicts_of(report)) == 5


async def test_what_it_leaves_open_goes_to_the_stage_behind(certificate: Certificate, tmp_path: Path):
    """A small judge that cannot tell decides nothing, and the large one is asked without a second question to the small one."""
    report, services = await run_with(certificate, requirements(30), tmp_path, lambda text: "cannot-tell")

    assert services.models.count((SMALL,)) == services.models.count((LARGE,)) == 30
    assert all(one.is_decided and not one.certified for one in verdicts_of(report))
    assert verdicts_of(report)[0].trail[-1].scorer == "certificate"


async def test_what_is_not_judged_says_what_the_certificate_knows(certificate: Certificate, tmp_path: Path):
    """Where the money ends behind the small judge, or before it, the probability stays with the verdict, and what was asked in its trail."""
    report, services = await run_with(
        certificate, requirements(30), tmp_path, lambda text: "cannot-tell", calls=31
    )

    left = [one for one in verdicts_of(report) if one.leftover == "budget"]
    assert len(services.asked) == 31
    known = [one for one in left if any("judge's score" in step.reason for step in one.trail)]
    assert known
    assert all(one.q is not None for one in known)
    assert not any(one.certified or one.audited for one in left)


async def test_a_certified_verdict_names_the_judge_whose_score_it_rests_on(
    certificate: Certificate, tmp_path: Path
):
    """With the prompt that it was asked by, as every verdict of a judge does."""
    report, _ = await run_with(certificate, requirements(40), tmp_path)

    assert all(one.model == "judge" and one.prompt for one in verdicts_of(report) if one.certified)


async def test_an_outage_of_the_cheap_judge_climbs(certificate: Certificate, tmp_path: Path):
    """A tier that cannot be asked has no score; it is no verdict, and the next tier is asked."""
    down = ProviderUnavailable("500", model=SMALL, status=500, billed="no")

    report, services = await run_with(certificate, requirements(10), tmp_path, lambda text: down)

    assert services.models.count((LARGE,)) == 10
    assert report.counts.error == 0


async def test_a_run_without_that_judge_finds_the_certificate_void(certificate: Certificate, tmp_path: Path):
    """Where the chain has no such cheaper stage nothing is decided early; the last stage is never early itself."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    services = ScriptedServices(large_says, home=tmp_path / "home", seconds=lambda text: 0.0)
    services.chain = (JudgeStage(models=(SMALL,)),)
    config = RunConfig(embedder="none", home=tmp_path / "home", certificate=path, judges=services.judges)

    report = await evaluate(requirements(10), config, services=services)
    await services.aclose()

    assert report.certificate is not None
    assert report.certificate.early == 0
    assert any("void" in warning and SMALL in warning for warning in report.warnings)


async def test_a_sample_takes_what_the_cheap_judge_decided(
    certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
):
    """Under a cap each question has one turn, whichever judges it goes to, and the interval covers what the full run would say."""
    cases = requirements(120)
    full, _ = await run_with(certificate, cases, tmp_path_factory.mktemp("full"))

    report, services = await run_with(certificate, cases, tmp_path_factory.mktemp("part"), calls=70)

    assert report.sampled is not None
    assert full.partial.estimate is not None
    assert report.sampled.low <= full.partial.estimate <= report.sampled.high
    assert len(services.asked) == 70


def test_the_fingerprint_follows_the_prompts(certificate: Certificate, tmp_path: Path):
    """It names the model, and is kept with the certificate."""
    save_certificate(certificate, tmp_path / "c.json")

    assert judge_fingerprint(SMALL).startswith(f"{SMALL}, judge prompts ")
    assert load_certificate(tmp_path / "c.json").fingerprints == {SMALL: judge_fingerprint(SMALL)}
