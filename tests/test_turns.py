"""Whatever is held back, drawn, audited, refused or stopped: every question ends once, and no run waits for ever."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal
from pathlib import Path

import pytest
from scripted_services import ScriptedServices
from test_audited_run import shipment
from test_early_judges import CHAIN, LARGE, SMALL

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.calibrate import calibrate
from tiered_eval.calibration.certificate import save_certificate
from tiered_eval.calibration.collecting import judge_fingerprint, run_fingerprints
from tiered_eval.calibration.features import FEATURES, FreeScores
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.promise import Promise
from tiered_eval.errors import ProviderUnavailable
from tiered_eval.records import Case, Report
from tiered_eval.runner import jobs
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.virtual_time import run_in_virtual_time
from tiered_eval.text.subject import Subject

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")

FREE = TierSpec(name="free", scores=FEATURES, cost=0.0)
CHEAP = TierSpec(name=SMALL, scores=(SMALL,), cost=0.1)
TOP = TierSpec(name="top", scores=(), cost=1.0)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> list[Path | None]:
    """None, one that goes by free scores, and one that goes by a cheap judge as well."""
    rng, free, labels = random.Random(1), FreeScores(), []
    for number in range(500):
        case, is_met = shipment(number, rng)
        scores = free.of(case.expectations[0], Subject(case))
        labels.append(
            Label(id=f"s{number}", case=f"s{number}", kind="must-contain", met=is_met, scores=scores)
        )
        met = rng.random() < 0.5
        labels.append(
            Label(id=f"r{number}", case=f"r{number}", kind="requirement", met=met, scores={SMALL: float(met)})
        )
    prints = {"free": run_fingerprints(None, {})["free"], SMALL: judge_fingerprint(SMALL)}
    paths: list[Path | None] = [None]
    for tiers in ((FREE, TOP), (FREE, CHEAP, TOP)):
        names = {tier.name for tier in tiers}
        made = calibrate(
            labels,
            tiers,
            Promise(label_source="top_judge"),
            created="2026-01-01",
            fingerprints={name: print_ for name, print_ in prints.items() if name in names},
        )
        assert made.is_certified
        paths.append(tmp_path_factory.mktemp("certificate") / "certificate.json")
        save_certificate(made, paths[-1])
    return paths


def mixed(rng: random.Random) -> list[Case]:
    cases = []
    for number in range(rng.choice((1, 3, 12, 40))):
        case, _ = shipment(number, rng)
        extra = [make_expectation("must-cite", f"DOC-{number}", id="cite")]
        extra += [make_expectation("requirement", f"is so {n}", id=f"r{n}") for n in range(rng.randint(0, 3))]
        extra += [make_expectation("must-contain", "we hope that it may arrive", id="vague")] * rng.randint(
            0, 1
        )
        kept = case.expectations if rng.random() < 0.7 else ()
        cases.append(make_case(case.response, *kept, *extra, id=case.id))
    return cases


async def one_run(seed: int, certificates: list[Path | None], home: Path) -> tuple[Report, list[Case]]:
    """A run whose limits, faults, latencies and end are all drawn."""
    rng, loop = random.Random(seed), asyncio.get_running_loop()
    cases = mixed(rng)
    down = ProviderUnavailable("500", model=LARGE, status=500, billed="no")
    faults, delay = rng.choice((0.0, 0.3)), rng.choice((0.0, 1.0, 7.0))

    def answer(text: str) -> object:
        return down if rng.random() < faults else rng.choice(("met", "not-met", "cannot-tell"))

    limit = rng.choice((None, None, 20.0))
    services = ScriptedServices(
        answer,
        calls=rng.choice((None, 0, 5, 30)),
        seconds=lambda text: rng.random() * delay,
        at_once=rng.choice((1, 3, 16)),
        deadline=None if limit is None else loop.time() + limit * 0.98,
        home=home,
    )
    services.chain = rng.choice((CHAIN, CHAIN[1:]))
    config = RunConfig(
        embedder="none",
        chain=services.chain,
        certificate=rng.choice(certificates),
        gate="partial>=0",
        max_cost_usd=rng.choice((None, Decimal(1))),
        max_time_s=limit,
        when_short=rng.choice(("estimate", "decide")),
        pack=rng.choice(("auto", "never")),
        seed=seed,
        home=home,
    )
    stop = asyncio.Event()
    if rng.random() < 0.3:
        loop.call_later(rng.random() * 8, stop.set)
    try:
        report = await evaluate(cases, config, services=services, clock=loop.time, stop=stop)
    finally:
        await services.aclose()
    return report, cases


@pytest.mark.parametrize("window", [4096, 8, 1])
def test_every_question_ends_once(
    certificates: list[Path | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int
):
    """In runs with all of it drawn: each expectation has one verdict, in its place, and the sample is within its bounds."""
    monkeypatch.setattr(jobs, "OPEN_CASES", window)
    for seed in range(25):
        report, cases = run_in_virtual_time(one_run(seed, certificates, tmp_path / str(seed)))

        got = [
            (result.case_id, verdict.expectation_id)
            for result in report.results
            for verdict in result.verdicts
        ]
        assert got == [(case.id, one.id) for case in cases for one in case.expectations], seed
        assert report.counts.total == len(got)
        if report.sampled is not None:
            assert report.sampled.judged + report.sampled.open <= report.sampled.total <= len(got), seed
            assert 0.0 <= report.sampled.low <= report.sampled.high <= 1.0, seed
