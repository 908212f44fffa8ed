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


def changed(count: int) -> list[Case]:
    """The same shipments, with another word at the end of each response."""
    return [replace(case, response=f"{case.response} Regards.") for case in shipments(count)]


async def test_what_the_certificate_decides_is_known_before_anybody_is_asked(
    certificate: Certificate, tmp_path: Path
):
    """Changed cases of which it decides everything cost no call but audits, and the judge is asked about others only."""
    base, _ = await run(shipments(120), certificate, tmp_path)

    report, asked = await run(changed(120), certificate, tmp_path, base)

    verdicts = [verdict for result in report.results for verdict in result.verdicts]
    assert report.against is not None
    assert report.certificate is not None
    assert report.against.state == "pass"
    assert sum(verdict.certified for verdict in verdicts) > 0.8 * len(verdicts)
    assert report.certificate.audited >= 5
    assert asked == sum(verdict.tier == "judge" for verdict in verdicts)


async def test_what_errors_of_early_verdicts_could_do_is_said(certificate: Certificate, tmp_path: Path):
    """The comparison rests on early verdicts as well, so the report carries the share of them that may be wrong."""
    base, _ = await run(shipments(120), certificate, tmp_path)

    report, _ = await run(changed(120), certificate, tmp_path, base)

    assert any("the change is off by 0.0" in warning for warning in report.warnings)


async def test_a_glance_counts_nothing(certificate: Certificate, tmp_path: Path):
    """What was only looked at is neither covered nor early nor audited in the report."""
    base, _ = await run(shipments(120), certificate, tmp_path)

    report, _ = await run(changed(120), certificate, tmp_path, base)

    use = report.certificate
    judged = [result for result in report.results if all(verdict.is_decided for verdict in result.verdicts)]
    assert use is not None
    assert use.covered == sum(len(result.verdicts) for result in judged)
