"""Every report says what was certified, what its audits found, and on how much of the suite a sampled score rests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from report_samples import result, sample_report, verdict

from tiered_eval.records import CertificateUse, Counts, PeopleAudits, Report, SampledScore, Step, Verdict
from tiered_eval.records.codec import (
    case_result_from_json,
    case_result_to_json,
    report_from_json,
    report_to_json,
)
from tiered_eval.reports import junit, markdown, terminal
from tiered_eval.reports.certified import certified_facts, certified_words, sampled_line

USE = CertificateUse(
    name="2026-11-30-3f2a91c0",
    promise=(
        "certified: early verdicts differ from human in <= 5.0% (confidence 90%, 312 labels, 118 cases)",
    ),
    void=(),
    covered=200,
    early=159,
    audited=8,
    differing=1,
    audits_ever=61,
    differing_ever=3,
    allowed=0.05,
    alarm_level=0.4,
    is_stale=False,
)
SAMPLED = SampledScore(
    estimate=0.853, low=0.827, high=0.879, like_low=0.806, like_high=0.9, judged=160, open=0, total=816
)


def texts(**changes: Any) -> dict[str, str]:
    """The report in each form for people and CI systems, on one line each."""
    report = sample_report(certificate=USE, sampled=SAMPLED, **changes)
    return {
        "terminal": " ".join(terminal.render(report, width=2000).split()),
        "markdown": " ".join("".join(markdown.render(report)).replace("\\", "").split()),
        "junit": " ".join("".join(junit.render(report)).split()),
    }


@pytest.mark.parametrize("form", ["terminal", "markdown", "junit"])
def test_the_promise_and_its_audits_are_shown(form: str):
    """What is certified in the certificate's words, how many were decided by it, and the level of the alarm."""
    text = texts()[form]

    assert "early verdicts differ from human in" in text
    assert "159 of 200" in text
    assert "3 of 61" in text
    assert "alarm level 0.4 of 20" in text


def test_a_bound_is_never_told_as_less():
    """What may differ is rounded up, for the judge's audits and for those by people."""
    people = PeopleAudits(answered=37, differing=1, open=0, allowed=0.0304, alarm_level=0.4, is_stale=False)
    told = [line for _, line, _ in certified_facts(replace(USE, allowed=0.0204, by_people=people))]

    assert any("in all (at most 2.1% certified)" in line for line in told)
    assert any("differ from people (at most 3.1% certified)" in line for line in told)


@pytest.mark.parametrize("form", ["terminal", "markdown", "junit"])
def test_a_sampled_score_names_what_it_rests_on(form: str):
    """The estimate, the interval for this suite and for cases like these, and how much was judged."""
    text = texts()[form]

    for part in ("0.853", "0.827 to 0.879", "0.806 to 0.900", "judged 160 of 816"):
        assert part in text


@pytest.mark.parametrize("form", ["terminal", "markdown", "junit"])
def test_audits_by_people_are_shown_beside_the_judges(form: str):
    """What people said has a line of its own, and an alarm stands on the line of whoever raised it."""
    people = PeopleAudits(answered=37, differing=9, open=3, allowed=0.05, alarm_level=31.0, is_stale=True)
    report = sample_report(certificate=replace(USE, is_stale=True, by_people=people))
    text = {
        "terminal": terminal.render(report, width=2000),
        "markdown": "".join(markdown.render(report)),
        "junit": "".join(junit.render(report)),
    }[form]

    (mine,) = [line for line in text.splitlines() if "9 of 37 differ from people" in line]
    (other,) = [line for line in text.splitlines() if "3 of 61 in all" in line]
    assert "3 open" in mine
    assert "STALE" in mine
    assert "STALE" not in other


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_a_stale_certificate_is_said(form: str):
    """After the alarm the line says what follows from it."""
    report = sample_report(certificate=replace(USE, is_stale=True, alarm_level=44.0))
    text = {"terminal": terminal.render(report, width=2000), "markdown": "".join(markdown.render(report))}[
        form
    ]

    assert "STALE" in text
    assert "calibrated again" in text


@pytest.mark.parametrize("form", ["terminal", "markdown", "junit"])
def test_a_run_of_other_data_is_said_to_be_in_doubt(form: str):
    """Why nothing is promised of it stands before the promise."""
    report = sample_report(
        certificate=replace(USE, unlike="80% of this run is not like the calibration data")
    )
    text = {
        "terminal": terminal.render(report, width=2000),
        "markdown": "".join(markdown.render(report)),
        "junit": "".join(junit.render(report)),
    }[form]

    place = text.find("80% of this run")
    assert place >= 0
    assert form == "junit" or place < text.find("early verdicts differ from human")


@pytest.mark.parametrize("form", ["terminal", "markdown", "junit"])
def test_early_verdicts_outside_of_the_certificate_are_said(form: str):
    """Where there are some, beside those that it decided."""
    report = sample_report(certificate=replace(USE, outside=57))
    text = {
        "terminal": terminal.render(report, width=2000),
        "markdown": "".join(markdown.render(report)),
        "junit": "".join(junit.render(report)),
    }[form]

    assert "57 early verdicts outside" in text or 'name="certificate.outside" value="57"' in text


def test_a_void_certificate_decided_nothing():
    """Nothing is said to have been decided early, and where it went."""
    text = terminal.render(
        sample_report(certificate=replace(USE, void=("other scores",), early=0)), width=2000
    )

    assert "void: all 200 expectations of its kinds went to the judge" in text


@pytest.mark.parametrize(
    ("changes", "shown", "why"),
    [
        ({"estimate": None}, "no estimate", "too few calls: nothing is made up"),
        ({"open": 3}, "3 without an answer counted both ways", "slow answers may be bad ones"),
        ({"mode": "decide"}, "about chosen cases", "partial is no estimate of the suite's score then"),
    ],
)
def test_the_line_says_what_is_missing(changes: dict[str, Any], shown: str, why: str):
    """Where the interval is wide or absent the reason stands beside it."""
    assert shown in sampled_line(replace(SAMPLED, **changes)), why


def audited() -> Verdict:
    trail = (
        Step("certificate", "coverage", "unsure", "the free scores do not suffice for its promise"),
        Step("certificate", "embedding", "pass", "certified: 0.981", 0.981),
    )
    return verdict("a", "1", "fail", tier="judge", scorer="judge", audited=True, q=0.981, trail=trail)


def test_verdicts_carry_their_certificate_through_every_form():
    """Probability, certified and audited survive JSON, and stand in JUnit and on the terminal."""
    early = verdict("a", "2", "pass", certified=True, q=0.97, scorer="certificate")
    case = result(0, "a", audited(), early)
    report = sample_report(results=(case,), counts=Counts(passed=1, failed=1), failures={}, leftovers={})

    assert case_result_from_json(case_result_to_json(case)) == case
    assert "audited, pass by the certificate" in "".join(junit.render(report))
    assert "probability of being met 0.970" in "".join(junit.render(report))
    assert "audited, pass by the certificate" in terminal.render(report, width=2000)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"q": 0.97, "certified": True}, {"q": 0.97, "certified": True, "audited": False}),
        ({"q": 0.6}, {"q": 0.6, "certified": False, "audited": False}),
        ({"q": 0.97, "audited": True}, {"q": 0.97, "certified": False, "audited": True}),
        ({}, {}),
    ],
)
def test_every_verdict_that_a_certificate_looked_at_says_what_came_of_it(
    made: dict[str, Any], said: dict[str, Any]
):
    """Also where it decided nothing; without a certificate there is nothing to say."""
    data = case_result_to_json(result(0, "a", verdict("a", "1", "pass", **made)))

    [written] = data["verdicts"]
    assert {name: written[name] for name in ("q", "certified", "audited") if name in written} == said


def test_a_report_is_read_again_as_it_was_written():
    """The certificate and the sampled score come back equal."""
    report: Report = sample_report(certificate=USE, sampled=SAMPLED)

    again = report_from_json(report_to_json(report))

    assert (again.certificate, again.sampled) == (USE, SAMPLED)


def test_other_verdicts_have_nothing_to_do_with_a_certificate():
    """No word where there is none."""
    assert certified_words(verdict("a", "1")) is None
