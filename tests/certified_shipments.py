"""A suite about goods and where they went, whose claims a certificate on the free scores can decide.

The judge of these tests can read, so the certificate's labels are its verdicts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.calibrate import calibrate
from tiered_eval.calibration.certificate import Certificate, save_certificate
from tiered_eval.calibration.collecting import run_fingerprints
from tiered_eval.calibration.features import FEATURES, FreeScores
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.promise import Promise
from tiered_eval.records import Case, Report
from tiered_eval.runner.services import RunServices
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.subject import Subject

__all__ = [
    "GOODS",
    "PLACES",
    "TIERS",
    "certificate_of",
    "made_certificate",
    "run_certified",
    "shipment",
    "shipment_labels",
    "shipments",
    "suite_text",
]

GOODS = (
    "filters",
    "pumps",
    "valves",
    "gaskets",
    "bearings",
    "cables",
    "sensors",
    "panels",
    "hoses",
    "relays",
)
PLACES = ("Lindau", "Torsby", "Marlow", "Ostend", "Kalmar", "Bergen", "Tarnow", "Velden")
TIERS = (TierSpec(name="free", scores=FEATURES, cost=0.0), TierSpec(name="top", scores=(), cost=1.0))


def shipment(number: int, rng: random.Random, *, is_met: bool | None = None) -> tuple[Case, bool]:
    """A response that states where goods went, and a claim that is right or names another place."""
    goods, place = rng.choice(GOODS), rng.choice(PLACES)
    is_met = rng.random() < 0.5 if is_met is None else is_met
    claimed = place if is_met else rng.choice([other for other in PLACES if other != place])
    response = f"Note {number}. The {goods} were shipped to {place} on Monday, and the invoice followed."
    claim = make_expectation("must-contain", f"The {goods} were shipped to {claimed}", id="where")
    return make_case(response, claim, id=f"case-{number}"), is_met


def shipments(count: int, seed: int = 2) -> list[Case]:
    rng = random.Random(seed)
    return [shipment(number, rng)[0] for number in range(count)]


def shipment_labels(count: int, seed: int) -> list[Label]:
    """What people, or a judge that can read, say of as many shipments, with the free scores of each."""
    rng, free, labels = random.Random(seed), FreeScores(), []
    for number in range(count):
        case, is_met = shipment(number, rng)
        scores = free.of(case.expectations[0], Subject(case))
        labels.append(Label(id=case.id, case=case.id, kind="must-contain", met=is_met, scores=scores))
    return labels


def certificate_of(labels: Sequence[Label], promise: Promise) -> Certificate:
    """A certificate on free scores as this version of them says them."""
    fingerprints = {"free": run_fingerprints(None, {})["free"]}
    return calibrate(labels, TIERS, promise, created="2026-01-01", fingerprints=fingerprints)


def made_certificate() -> Certificate:
    """One whose labels are the top judge's, so that it says how often early verdicts may differ from it: in 5 %."""
    return certificate_of(shipment_labels(600, 1), Promise(label_source="top_judge"))


async def run_certified(
    certificate: Certificate, cases: Iterable[Case], folder: Path, services: RunServices, **options: Any
) -> Report:
    """A run over services that end with it; certificate and home lie in ``folder``."""
    path = folder / "kept" / "certificate.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_certificate(certificate, path)
    home = folder / "home"
    config = RunConfig(embedder="none", home=home, certificate=path, gate="partial>=0", **options)
    try:
        return await evaluate(cases, config, services=services)
    finally:
        await services.aclose()


def suite_text(cases: Iterable[Case]) -> str:
    """The cases as a suite in JSON lines."""
    rows = (
        {
            "id": case.id,
            "response": case.response,
            "expect": [{one.kind: one.value} for one in case.expectations],
        }
        for case in cases
    )
    return "\n".join(map(json.dumps, rows))
