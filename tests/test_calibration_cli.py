"""``tiered-eval calibrate`` from a file to a certificate."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from calibration_worlds import KINDS, world

from tiered_eval.calibration.certificate import load_certificate
from tiered_eval.calibration.collecting import run_fingerprints
from tiered_eval.calibration.decider import CertifiedDecider
from tiered_eval.cli.app import run_app


def written(folder: Path, n: int = 800, **fields: object) -> Path:
    """A label file with two recorded scores."""
    path = folder / "labels.jsonl"
    rows = [
        {"id": one.id, "case": one.case, "kind": one.kind, "human": one.met, "scores": one.scores, **fields}
        for one in world(n, 1)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


JUDGES = ("--cost", "lexical=0", "--cost", "small=10%")


def run(path: Path, *options: str) -> tuple[int, Path]:
    out = path.parent / "certificate.json"
    return run_app(["calibrate", str(path), "--out", str(out), *options]), out


def test_a_certificate_is_written_and_the_promise_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The promise in its words, the forecast before it, and a file that can be applied."""
    code, out = run(written(tmp_path), *JUDGES)

    printed = capsys.readouterr().out
    certificate = load_certificate(out)
    assert code == 0
    assert certificate.is_certified
    assert printed.index("expected of 800 labels") < printed.index("With probability at least 0.9")
    assert "at most a share 0.05 differs from the label" in printed
    assert certificate.fingerprints == {"lexical": "lexical", "small": "small"}


@pytest.mark.parametrize("options", [("--proxy",), ("--relative", "2%")])
def test_a_top_judge_that_labelled_nothing_is_told(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A misspelt name is not taken for a judge with whom nothing can be certified."""
    path = written(tmp_path, judges={"big-judge": True})

    code, out = run(path, "--top", "bigjudge", *options, *JUDGES)

    assert code == 2
    assert (
        "no row has a verdict of 'bigjudge'; they have big-judge, lexical, small" in capsys.readouterr().err
    )
    assert not out.exists()


def test_without_numpy_the_extra_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """An installation without the extra is told what to install, and not of a fault."""
    path = written(tmp_path, 20)
    monkeypatch.setitem(sys.modules, "numpy", None)

    code, _ = run(path, *JUDGES)

    assert code == 2
    assert "tiered-eval[local]" in capsys.readouterr().err


def test_nothing_certified_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """With twenty labels everything escalates; the output says so, and so does the file."""
    code, out = run(written(tmp_path, 20), *JUDGES)

    assert code == 0
    assert "Nothing certified: everything escalates to the top tier." in capsys.readouterr().out
    assert not load_certificate(out).is_certified


def test_few_labels_hear_how_many_more_would_help(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Multiples of a few are a few: the forecast looks as far as labels are worth having, before it asks for any."""
    run(written(tmp_path, 40), *JUDGES)

    printed = capsys.readouterr().out
    assert "expected of 40 labels: nothing certified" in printed
    assert re.search(r"with (460|960) more: about \d+% decided early", printed)
    assert "the scores are the limit" not in printed
    assert "next: label more" in printed


def test_next_to_no_labels_are_told_how_many_to_make(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Nothing can be reckoned from one label, and that is said."""
    code, _ = run(written(tmp_path, 1), *JUDGES)

    assert code == 0
    assert "too few labels to say what more would bring: label 250" in capsys.readouterr().out


def test_a_few_labels_are_not_told_that_their_scores_are_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Twenty texts plan with three, from which nothing follows, and least of all that labelling is in vain."""
    path = tmp_path / "labels.jsonl"
    rows = [
        {
            "id": f"a{n}",
            "kind": "must-contain",
            "human": n % 2 == 0,
            "response": f"Gate {n} is {'shut' if n % 2 else 'open'} today.",
            "expected": f"gate {n} is open",
        }
        for n in range(20)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    run(path, "--forecast-only")

    printed = capsys.readouterr().out
    assert "the scores are the limit" not in printed
    assert "label 250" in printed


@pytest.mark.parametrize("option", ["--out", "--plot"])
@pytest.mark.parametrize(("place", "said"), [("file/c.json", "cannot use"), ("folder", "is a directory")])
def test_a_place_that_cannot_be_written_is_found_first(
    option: str, place: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Before anything is scored or bought, and not with a traceback at the end."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()

    code, _ = run(written(tmp_path), *JUDGES, option, str(tmp_path / place))

    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert said in captured.err


def test_the_folder_of_a_certificate_is_made(tmp_path: Path):
    """A folder that is not there yet is no error."""
    out = tmp_path / "certificates" / "atlas.json"

    assert run(written(tmp_path), *JUDGES, "--out", str(out))[0] == 0
    assert load_certificate(out).is_certified


def test_scores_that_a_run_cannot_make_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A certificate that every run would find void is told as such when it is written."""
    run(written(tmp_path), *JUDGES)

    assert "a run does not make these scores itself: lexical, small" in capsys.readouterr().out


def test_a_forecast_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """--forecast-only says what to expect, and stops."""
    code, out = run(written(tmp_path), *JUDGES, "--forecast-only")

    assert code == 0
    assert "expected of 800 labels" in capsys.readouterr().out
    assert not out.exists()


def test_options_reach_the_promise(tmp_path: Path):
    """What was asked for stands in the certificate."""
    _, out = run(
        written(tmp_path, judges={"big": True}), *JUDGES, "--top", "big", "--relative", "2%", "--alpha", "8%",
        "--delta", "0.2", "--alpha-pass", "6%", "--tier-alpha", "9%", "--per-kind", "--seed", "3",
        "--false-pass-weight", "2",
    )  # fmt: skip

    promise = load_certificate(out).promise
    assert (promise.relative, promise.alpha, promise.delta) == (0.02, 0.08, 0.2)
    assert (promise.alpha_pass, promise.tier_alpha, promise.per_kind, promise.seed) == (0.06, 0.09, True, 3)
    assert promise.false_pass_weight == 2.0


def test_confidence_is_delta_the_other_way_round(tmp_path: Path):
    """Nine in ten is a delta of exactly one tenth, and the usual one."""
    path = written(tmp_path, 60)

    deltas = [
        load_certificate(run(path, *JUDGES, *options)[1]).promise.delta
        for options in ((), ("--confidence", "90%"), ("--confidence", "0.95"))
    ]

    assert deltas == [0.1, 0.1, 0.05]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("--proxy",), "openai:big"),
        (("--relative", "5%"), "openai:big"),
        ((), None),
    ],
)
def test_a_judge_on_record_is_the_one_that_the_promise_is_about(
    tmp_path: Path, options: tuple[str, ...], name: str | None
):
    """Its name is in the certificate where agreement with it was promised, and not where people alone gave the labels."""
    path = written(tmp_path, 200, judges={"openai:big": True})

    _, out = run(path, *JUDGES, "--top", "openai:big", *options)

    assert load_certificate(out).judged_by == name


def test_a_relative_promise_alone_has_no_alpha(tmp_path: Path):
    """--relative by itself promises nothing about early verdicts."""
    _, out = run(written(tmp_path, judges={"big": True}), *JUDGES, "--top", "big", "--relative", "2%")

    assert load_certificate(out).promise.alpha is None


def test_proxy_labels_come_from_the_top_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """--proxy promises agreement with the judge, in those words."""
    _, out = run(written(tmp_path, judges={"big": True}), *JUDGES, "--top", "big", "--proxy")

    certificate = load_certificate(out)
    assert certificate.promise.label_source == "top_judge"
    assert certificate.is_certified
    assert "differs from the top judge's verdict" in capsys.readouterr().out


def test_proxy_labels_with_people_beside_them_say_what_carries_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Where people have labelled some of it too, the output bounds how often early verdicts differ from people."""
    path = tmp_path / "labels.jsonl"
    rows = [
        {
            "id": one.id,
            "case": one.case,
            "kind": one.kind,
            "scores": one.scores,
            "judges": {"big": one.met},
            **({"human": one.met != (at % 50 == 0)} if at % 2 == 0 else {}),
        }
        for at, one in enumerate(world(1200, 1))
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    run(path, *JUDGES, "--top", "big", "--proxy")

    printed = capsys.readouterr().out
    found = re.search(
        r"against people: .* <= ([\d.]+)% \(confidence 80%; .* in (\d+) of (\d+) early", printed
    )
    assert found is not None, printed
    bound, errors, people = float(found[1]), int(found[2]), int(found[3])
    assert 100 * errors / people + 5.0 < bound < 100 * errors / people + 12.0
    assert people > 200


def test_a_false_pass_that_weighs_more_makes_passes_rarer(tmp_path: Path):
    """With a weight early passes take less risk, and fewer of the early verdicts are passes."""

    def passes(*options: str) -> float:
        _, out = run(written(tmp_path, 1500), *JUDGES, *options)
        certificate = load_certificate(out)
        decider = CertifiedDecider(certificate, certificate.fingerprints)
        early = [decider.decide(one.kind, one.scores, ahead=()) for one in world(1500, 1)]
        states = [one.state for one in early if one is not None]
        return states.count("pass") / len(states)

    assert passes("--false-pass-weight", "5") < passes()


def texts(folder: Path) -> Path:
    """A label file without scores."""
    path = folder / "labels.jsonl"
    rows = [
        {
            "id": at,
            "kind": "must-contain",
            "human": at % 3 > 0,
            "response": f"On day {at} the lift is closed."
            if at % 3
            else f"On day {at} the ferry sails at noon.",
            "expected": "the lift is closed",
        }
        for at in range(150)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_it_is_said_which_runs_decide_by_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A certificate beside a suite is taken without being named, so its writer hears of it."""
    run(texts(tmp_path))

    assert f"runs of a suite in {tmp_path} decide by it" in capsys.readouterr().out


def test_texts_are_scored_by_the_engine(tmp_path: Path):
    """Rows with texts get the free scores, and the shipped design saves labels."""
    code, out = run(texts(tmp_path))

    certificate = load_certificate(out)
    assert code == 0
    assert certificate.is_certified
    assert certificate.design_source == "shipped-1"
    assert certificate.fingerprints == run_fingerprints(None, {})


def test_the_picture_is_drawn(tmp_path: Path):
    """--plot writes one stand-alone SVG."""
    picture = tmp_path / "path.svg"

    run(written(tmp_path), *JUDGES, "--plot", str(picture))

    assert picture.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name the early checks"),
        (("--cost", "lexikal=0"), "no label has a score"),
        (("--cost", "lexical=dear"), "is not a share"),
        ((*JUDGES, "--relative", "2%"), "name it with --top"),
        ((*JUDGES, "--proxy"), "--proxy takes labels from a top judge"),
        ((*JUDGES, "--judge", "x:y"), "for --proxy only"),
        ((*JUDGES, "--alpha", "0"), "alpha must lie between 0 and 1"),
        ((*JUDGES, "--alpha", "150%"), "is not between 0 and 1"),
        ((*JUDGES, "--delta", "10%", "--confidence", "90%"), "say the same"),
        (
            (*JUDGES, "--confidence", "1"),
            "--confidence 1: give a share above 0 and below 1, such as 0.9 or 90%",
        ),
        ((*JUDGES, "--confidence", "0%"), "--confidence 0: give a share above 0 and below 1"),
    ],
)
def test_options_that_cannot_be_meant(
    options: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Wrong options end in 2, with what to write instead, and no certificate."""
    code, out = run(written(tmp_path, 50), *options)

    assert code == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_wrong_labels_end_in_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A fault in the file is told with its line."""
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"kind": KINDS[0], "human": "perhaps", "scores": {"x": 1}}))

    code, _ = run(path)

    assert code == 2
    assert "labels.jsonl:1" in capsys.readouterr().err
