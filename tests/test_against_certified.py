"""A run with a certificate, gated against an earlier one with the same or with another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from certified_shipments import made_certificate, shipments
from scripted_services import ScriptedServices
from test_audited_run import said_in

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.certificate import Certificate, save_certificate
from tiered_eval.records import Case, Report

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return made_certificate()


async def run(
    cases: list[Case], certificate: Certificate, tmp_path: Path, base: Report | None = None
) -> tuple[Report, int]:
    """The report, and how often a judge was asked that can read."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    services = ScriptedServices(said_in, home=tmp_path / "home", seconds=lambda text: 0.0)
    config = RunConfig(
        embedder="none",
        home=tmp_path / "home",
        certificate=path,
        gate=None if base else "partial>=0",
        judges=services.judges,
        gate_against=base,
    )
    try:
        report = await evaluate(cases, config, services=services)
    finally:
        await services.aclose()
    return report, len(services.asked)


async def test_early_verdicts_on_what_did_not_change_are_taken_over(certificate: Certificate, tmp_path: Path):
    """The same certificate says the same of the same response: nothing is left over, and so the next base is whole."""
    base, _ = await run(shipments(60), certificate, tmp_path)

    report, asked = await run(shipments(60), certificate, tmp_path, base)

    assert report.against is not None
    assert (report.against.state, report.leftovers, asked) == ("pass", {}, 0)
    verdicts = [verdict for result in report.results for verdict in result.verdicts]
    before = [verdict for result in base.results for verdict in result.verdicts]
    assert any(verdict.certified for verdict in verdicts)
    assert [(one.state, one.certified) for one in verdicts] == [(one.state, one.certified) for one in before]


async def test_those_of_another_certificate_are_not(certificate: Certificate, tmp_path: Path):
    """What another certificate decided early may be decided otherwise now."""
    base, _ = await run(shipments(60), certificate, tmp_path)

    report, _ = await run(
        shipments(60), replace(certificate, created="2027-01-01T00:00:00+00:00"), tmp_path, base
    )

    assert report.against is not None
    assert report.against.taken_over == 0
    assert any("certificate was" in warning for warning in report.warnings)
