"""Comparisons of runs whose early verdicts are in doubt: no pass rests on them in silence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from certified_shipments import made_certificate, run_certified, shipments
from paired_runs import report_of
from report_samples import verdict
from scripted_services import ScriptedServices
from test_audited_run import contrary, said_in

from tiered_eval.aggregate import case_result
from tiered_eval.calibration.comparison import compare_reports
from tiered_eval.cli.app import run_app
from tiered_eval.records import CertificateUse, Report
from tiered_eval.records.codec import report_to_json
from tiered_eval.reports.comparison import comparison_lines

CASES = 40

USE = CertificateUse(
    name="c", promise=("early verdicts differ from human in <= 5.0%",), void=(), covered=CASES, early=CASES, audited=5,
    differing=0, audits_ever=9, differing_ever=0, allowed=0.05, alarm_level=1.0, is_stale=False,
)  # fmt: skip
STALE = replace(USE, is_stale=True, alarm_level=40.0, differing_ever=9)
UNLIKE = replace(USE, unlike="80% of this run is not like the calibration data")


def early_run(
    run_id: str, use: CertificateUse | None, *, digest: str | None = None, failing: int = 0
) -> Report:
    """A run of which a certificate decided everything early; with a ``digest`` its responses are the base's."""
    scorer, is_certified = ("exact", False) if use is None else ("certificate", not use.is_doubted)
    results = [
        case_result(
            number,
            f"q{number}",
            (
                verdict(
                    f"q{number}",
                    "e0",
                    "fail" if number < failing else "pass",
                    scorer=scorer,
                    certified=is_certified,
                ),
            ),
            response_digest=digest,
        )
        for number in range(CASES)
    ]
    return replace(report_of(run_id, results), certificate=use)


@pytest.mark.parametrize(
    ("base", "candidate", "who", "why"),
    [
        (STALE, None, "the base b", "its audits raised the alarm during the run"),
        (UNLIKE, None, "the base b", "most of it was other data"),
        (None, STALE, "the candidate c", "the same on the other side"),
        (None, UNLIKE, "the candidate c", "the same on the other side"),
        (USE, STALE, "the base b", "the alarm came later, about the certificate of both"),
    ],
)
def test_a_pass_that_rests_on_doubted_verdicts_is_none(
    base: CertificateUse | None, candidate: CertificateUse | None, who: str, why: str
):
    """It is undecided, exit code 3, with the run and the reason in it and in a warning."""
    done = compare_reports(early_run("b", base), early_run("c", candidate))

    assert (done.state, done.exit_code) == ("undecided", 3), why
    assert who in done.reason
    assert any(doubt.startswith(who) for doubt in done.doubts)
    assert any(line.startswith("IN DOUBT") and who in line for line in done.warnings)
    assert next(comparison_lines(done)).startswith("UNDECIDED")


@pytest.mark.parametrize(
    ("use", "is_early", "digest", "why"),
    [
        (USE, True, None, "nothing speaks against the certificate"),
        (STALE, True, "d", "the responses are the same, so nothing rests on any verdict"),
        (replace(STALE, early=0), False, None, "it had been found wrong before, and the judge decided"),
        (STALE, False, None, "what it decided is in no case of the comparison"),
    ],
)
def test_no_doubt_where_nothing_doubtful_counts(
    use: CertificateUse, is_early: bool, digest: str | None, why: str
):
    """A stale certificate matters where it decided something that the comparison rests on, and nowhere else."""
    base, candidate = (
        replace(early_run(name, use if is_early else None, digest=digest), certificate=use)
        for name in ("b", "c")
    )

    done = compare_reports(base, candidate)

    assert (done.state, done.exit_code, done.doubts) == ("pass", 0, ()), why


def test_a_regression_stays_one():
    """A drop is as red as before; the warning says what it rests on."""
    done = compare_reports(early_run("b", STALE), early_run("c", None, failing=20))

    assert (done.state, done.exit_code) == ("fail", 1)
    assert any(line.startswith("IN DOUBT") for line in done.warnings)


def test_the_command_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """In its first line, on stderr and in JSON."""
    runs = [str(tmp_path / "base.json"), str(tmp_path / "candidate.json")]
    for path, use in zip(runs, (STALE, None), strict=True):
        Path(path).write_text(json.dumps(report_to_json(early_run(Path(path).stem, use))))

    code = run_app(["compare", *runs])
    shown = capsys.readouterr()
    json_code = run_app(["compare", *runs, "--json"])
    made = json.loads(capsys.readouterr().out)

    assert code == json_code == 3
    assert shown.out.startswith("UNDECIDED: ")
    assert "warning: IN DOUBT" in shown.err
    assert "base" in made["doubts"][0]
    assert made["state"] == "undecided"


async def test_a_gate_against_a_base_in_doubt_is_not_green(tmp_path: Path):
    """Neither in the run that is gated nor in `compare` afterwards, though nothing dropped."""
    certificate = made_certificate()
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    first = ScriptedServices(contrary, home=tmp_path / "first", seconds=lambda text: 0.0)
    base = await run_certified(certificate, shipments(600), tmp_path / "first", first, judges=first.judges)
    changed = [replace(case, response=f"{case.response} Regards.") for case in shipments(600)]
    second = ScriptedServices(said_in, home=tmp_path / "second", seconds=lambda text: 0.0)

    report = await run_certified(
        certificate,
        changed,
        tmp_path / "second",
        second,
        judges=second.judges,
        gate_against=base,
        gate_margin=0.9,
    )

    assert base.certificate is not None
    assert base.certificate.is_doubted
    assert report.against is not None
    assert report.gate is not None
    assert (report.against.state, report.gate.state, report.exit_code) == ("undecided", "undecided", 3)
    assert base.run_id in report.gate.reason
    assert compare_reports(base, report, margin=0.9).exit_code == 3
