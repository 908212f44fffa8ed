"""A certificate at work: what it covers is decided by it or climbs, and where it is void nothing is early."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from certified_shipments import certificate_of, shipment, shipment_labels, suite_text

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.certificate import Certificate, save_certificate
from tiered_eval.calibration.collecting import judge_fingerprint
from tiered_eval.calibration.features import FreeScores
from tiered_eval.calibration.labels import Label
from tiered_eval.calibration.promise import Promise
from tiered_eval.cli.app import run_app
from tiered_eval.profiles import Profile
from tiered_eval.records import Case
from tiered_eval.runner import Evaluator
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.subject import Subject

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return certificate_of(shipment_labels(600, 1), Promise())


async def verdicts_with(
    certificate: Certificate, tmp_path: Path, cases: list[Case], *, judges: tuple[str, ...] = ()
):
    path = tmp_path / "kept" / "certificate.json"
    path.parent.mkdir(exist_ok=True)
    save_certificate(certificate, path)
    config = RunConfig(
        embedder="none", mode="offline", home=tmp_path / "home", certificate=path, judges=judges
    )
    report = await evaluate(cases, config)
    return report, [verdict for result in report.results for verdict in result.verdicts]


async def test_a_certificate_passes_and_fails_early(certificate: Certificate, tmp_path: Path):
    """What the promise covers is decided both ways without a call, marked as certified, and rightly."""
    rng = random.Random(2)
    drawn = [shipment(number, rng) for number in range(100)]

    _, verdicts = await verdicts_with(certificate, tmp_path, [case for case, _ in drawn])

    decided = [(one, is_met) for one, (_, is_met) in zip(verdicts, drawn, strict=True) if one.is_decided]
    assert len(decided) > 50
    assert {one.state for one, _ in decided} == {"pass", "fail"}
    assert all(one.certified and one.q is not None for one, _ in decided)
    assert sum((one.state == "pass") != is_met for one, is_met in decided) <= 5


async def test_kinds_without_a_certificate_keep_their_route(certificate: Certificate, tmp_path: Path):
    """An identifier to be cited is decided as ever, and is not called certified."""
    case = make_case("See DOC-2025-118.", make_expectation("must-cite", "DOC-2025-118"), id="a")

    _, [verdict] = await verdicts_with(certificate, tmp_path, [case])

    assert (verdict.state, verdict.scorer, verdict.certified) == ("pass", "exact", False)


async def test_a_promise_about_a_claim_is_none_about_its_denial(tmp_path: Path):
    """Labels of `equivalent` are mostly met, `not-equivalent` mostly not: it is another kind, and keeps its plain route."""
    rng, drawn, labels = random.Random(2), [], []
    for number in range(900):
        case, is_met = shipment(number, rng, is_met=number % 10 > 0)
        claim = replace(case.expectations[0], kind="equivalent", match="any")
        scores = FreeScores().of(claim, Subject(case)) if number < 600 else {}
        labels.append(Label(id=case.id, case=case.id, kind="equivalent", met=is_met, scores=scores))
        drawn.append(replace(case, expectations=(claim, replace(claim, id="denied", negated=True))))
    certificate = certificate_of(labels[:600], Promise())

    _, verdicts = await verdicts_with(certificate, tmp_path, drawn[600:])

    assert any(one.certified for one in verdicts if one.kind == "equivalent")
    assert not any(one.certified for one in verdicts if one.kind == "not-equivalent")


async def test_a_profile_of_the_run_does_not_change_certified_scores(tmp_path: Path):
    """Labels were scored with the shipped thresholds, and so is the run that goes by them, whatever its own are."""
    labels = [
        Label(
            id=f"{at}", case=f"{at}", kind="must-cite", met=at % 2 > 0, scores={"ocr": 0.2 + 0.7 * (at % 2)}
        )
        for at in range(200)
    ]
    path = tmp_path / "certificate.json"
    save_certificate(certificate_of(labels, Promise()), path)
    claim = make_expectation("must-cite", "Box Torsby-Kalmar", options={"scanned": True})
    case = make_case("The file is at B0x T0rsby-Kalmar.", claim)
    config = RunConfig(embedder="none", mode="offline", home=tmp_path / "home", certificate=path)

    chances = set()
    for threshold in (0.3, 0.999):
        profile = Profile(name="own", thresholds={"fuzzy-ocr": {"*": threshold}})
        async with Evaluator(config, profile=profile) as evaluator:
            chances |= {result.verdicts[0].q async for result in evaluator.stream([case])}

    assert len(chances) == 1
    assert chances != {None}


async def test_what_no_label_was_like_climbs(certificate: Certificate, tmp_path: Path):
    """Labels had no question, the run has: scores that rest on it were never certified, and the report says what to do."""
    rng = random.Random(2)
    drawn = [shipment(number, rng)[0] for number in range(20)]
    asked = [replace(case, input="Where did it go?") for case in drawn]

    _, alike = await verdicts_with(certificate, tmp_path, drawn)
    report, verdicts = await verdicts_with(certificate, tmp_path, asked)

    assert any(verdict.certified for verdict in alike)
    assert {(verdict.certified, verdict.leftover) for verdict in verdicts} == {(False, "no-judge")}
    assert any("echo on 20" in warning and "question" in warning for warning in report.warnings)


async def test_a_pinned_scorer_still_decides_alone(certificate: Certificate, tmp_path: Path):
    """What the author pinned is the author's."""
    case = make_case("PO-4471", make_expectation("must-contain", "PO-4471", scorer="exact"), id="a")

    _, [verdict] = await verdicts_with(certificate, tmp_path, [case])

    assert (verdict.state, verdict.scorer) == ("pass", "exact")


async def test_a_certificate_of_other_scores_is_void(certificate: Certificate, tmp_path: Path):
    """Made with another version of the scores it decides nothing: what it covers climbs, and the report says why."""
    foreign = replace(certificate, fingerprints={"free": "free-scores-0"})
    case, _ = shipment(1, random.Random(3))

    report, [verdict] = await verdicts_with(foreign, tmp_path, [case])

    assert verdict.leftover == "no-judge"
    assert not verdict.certified
    assert any("void" in warning and "free-scores-0" in warning for warning in report.warnings)


@pytest.mark.parametrize("judged_by", [judge_fingerprint("openai:gpt-5-nano"), "openai:gpt-5-nano"])
@pytest.mark.parametrize(
    ("judge", "is_void"), [("openai:gpt-5-nano", False), ("openai:gpt-5-mini", True), (None, False)]
)
async def test_agreement_with_one_judge_is_none_with_another(
    certificate: Certificate, tmp_path: Path, judge: str | None, is_void: bool, judged_by: str
):
    """Labels that a judge gave, bought or on record, promise agreement with that judge; where another takes the rest, nothing is promised."""
    by_judge = replace(certificate, judged_by=judged_by)
    rng = random.Random(2)
    cases = [shipment(number, rng)[0] for number in range(20)]

    report, verdicts = await verdicts_with(
        by_judge, tmp_path, cases, judges=() if judge is None else (judge,)
    )

    assert any(verdict.certified for verdict in verdicts) is not is_void
    assert any("top judge: certified with openai:gpt-5-nano" in one for one in report.warnings) is is_void


@pytest.mark.parametrize(("judge", "is_early"), [("openai:gpt-5-nano", True), ("openai:gpt-5-mini", False)])
async def test_agreement_with_one_judge_is_none_with_an_expectation_s_own(
    certificate: Certificate, tmp_path: Path, judge: str, is_early: bool
):
    """Where an author names another judge for an expectation, no promise about the run's judge decides it instead."""
    by_judge = replace(certificate, judged_by=judge_fingerprint("openai:gpt-5-nano"))
    case, _ = shipment(1, random.Random(2), is_met=True)
    [claim] = case.expectations
    own = replace(case, expectations=(replace(claim, options={"models": (judge,)}),))

    _, [verdict] = await verdicts_with(by_judge, tmp_path, [own], judges=("openai:gpt-5-nano",))

    assert verdict.certified is is_early


async def test_a_judge_that_is_known_by_a_name_alone_is_named(certificate: Certificate, tmp_path: Path):
    """Nobody can tell whether it is the last judge of this run: the promise says whose verdicts it is about, and a warning why that matters."""
    by_judge = replace(
        certificate,
        judged_by="our-panel",
        promise=replace(certificate.promise, label_source="top_judge"),
    )
    rng = random.Random(2)
    cases = [shipment(number, rng)[0] for number in range(20)]

    report, verdicts = await verdicts_with(by_judge, tmp_path, cases, judges=("openai:gpt-5-nano",))

    assert report.certificate is not None
    assert "top judge our-panel)" in report.certificate.promise[0]
    assert any("our-panel on record" in one for one in report.warnings)
    assert any(verdict.certified for verdict in verdicts)


async def test_a_run_that_is_unlike_the_labels_is_no_success(certificate: Certificate, tmp_path: Path):
    """Most of it is other data than was certified: no verdict is called certified, and a gate that was met ends with 3."""
    unsure = replace(certificate, q_mix=(0.0, 0.1, 0.8, 0.1, 0.0))
    config = RunConfig(gate="partial>=0", embedder="none", mode="offline", home=tmp_path / "home")
    rng = random.Random(2)
    cases = [shipment(number, rng)[0] for number in range(120)]
    codes, reports = [], []
    for name, one in (("alike", certificate), ("unlike", unsure)):
        path = tmp_path / f"{name}.json"
        save_certificate(one, path)
        kept = tmp_path / name / "results.jsonl"
        report = await evaluate(cases, replace(config, certificate=path, results_path=kept))
        codes.append(report.exit_code)
        reports.append(report)

    alike, unlike = reports
    early = [verdict for result in unlike.results for verdict in result.verdicts if verdict.is_decided]
    assert codes == [0, 3]
    assert any(verdict.certified for result in alike.results for verdict in result.verdicts)
    assert len(early) > 50
    assert not any(verdict.certified for verdict in early)
    assert all("in doubt" in verdict.reason for verdict in early)
    assert '"certified":true' not in (tmp_path / "unlike" / "results.jsonl").read_text()
    assert unlike.certificate is not None
    assert unlike.certificate.unlike is not None
    assert any(warning.startswith("DOUBT") for warning in unlike.warnings)


def test_a_quiet_run_says_why_it_is_no_success(
    certificate: Certificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Exit code 3 beside a gate that is met is explained in a line."""
    rng = random.Random(2)
    (tmp_path / "suite.jsonl").write_text(suite_text([shipment(number, rng)[0] for number in range(120)]))
    save_certificate(replace(certificate, q_mix=(0.0, 0.1, 0.8, 0.1, 0.0)), tmp_path / "certificate.json")

    options = ["--offline", "--embedder", "none", "--gate", "partial>=0", "--quiet"]
    code = run_app(["run", str(tmp_path / "suite.jsonl"), *options])

    assert code == 3
    assert "certificate IN DOUBT" in capsys.readouterr().out


def test_a_quiet_run_has_its_warnings(
    certificate: Certificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A job whose certificate is void, so that all of it goes to the judge, is told so in its log."""
    (tmp_path / "suite.jsonl").write_text(suite_text([shipment(1, random.Random(2))[0]]))
    save_certificate(certificate, tmp_path / "certificate.json")
    changed = (tmp_path / "certificate.json").read_text().replace('"alpha": 0.05', '"alpha": 0.01')
    (tmp_path / "certificate.json").write_text(changed)

    run_app(["run", str(tmp_path / "suite.jsonl"), "--offline", "--embedder", "none", "--quiet"])

    assert "warning the certificate is void" in capsys.readouterr().out


async def test_early_verdicts_outside_of_the_certificate_are_counted(
    certificate: Certificate, tmp_path: Path
):
    """A kind that it does not cover, and a pinned scorer: the report says how many, as nothing is promised about them."""
    rng = random.Random(2)
    cases = [shipment(number, rng)[0] for number in range(10)]
    cite = make_case("See DOC-2025-118.", make_expectation("must-cite", "DOC-2025-118"), id="a")
    pinned = make_case("PO-4471", make_expectation("must-contain", "PO-4471", scorer="exact"), id="b")

    report, _ = await verdicts_with(certificate, tmp_path, [*cases, cite, pinned])

    assert report.certificate is not None
    assert (report.certificate.covered, report.certificate.outside) == (10, 2)


async def test_nothing_certified_means_that_everything_climbs(tmp_path: Path):
    """Too few labels certify nothing; no untested threshold steps in, and the report says so."""
    few = certificate_of(shipment_labels(20, 4), Promise())
    case, _ = shipment(1, random.Random(5))

    report, [verdict] = await verdicts_with(few, tmp_path, [case])

    assert verdict.leftover == "no-judge"
    assert any("certifies nothing" in warning for warning in report.warnings)


async def test_the_certificate_beside_a_suite_is_taken(certificate: Certificate, tmp_path: Path):
    """A file called certificate.json in the suite's folder is used without being named."""
    case, is_met = shipment(7, random.Random(8))
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        f"cases:\n  - id: a\n    response: {case.response!r}\n    expect:\n      - must-contain: {case.expectations[0].value!r}\n"
    )
    save_certificate(certificate, tmp_path / "certificate.json")

    report = await evaluate(suite, RunConfig(embedder="none", mode="offline"))

    [verdict] = report.results[0].verdicts
    assert verdict.scorer in ("certificate", None)
    assert verdict.trail or (verdict.certified and (verdict.state == "pass") == is_met)
