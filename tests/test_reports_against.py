"""The comparison with a base in every report of a run."""

from __future__ import annotations

import json
from dataclasses import replace

from report_samples import HOSTILE, sample_report
from test_reports_schema import SCHEMA, faults

from tiered_eval.records import AgainstBase, AskedAgain, FigureChange, Report
from tiered_eval.records.codec import report_from_json, report_to_json
from tiered_eval.reports import junit, markdown, terminal
from tiered_eval.reports.against import against_lines
from tiered_eval.reports.github import annotation_lines

CHANGE = FigureChange(
    name="partial", base=0.9, candidate=0.85, change=-0.05, low=-0.08, high=-0.02, label="worse"
)
AGAINST = AgainstBase(
    base="20260101T000000-aaaaaa",
    margin=0.03,
    delta=0.05,
    state="fail",
    reason="partial changed by -0.050; a drop of 0.03 or more is a regression",
    is_early=False,
    pairs=40,
    same=10,
    judged=30,
    taken_over=12,
    flaky=1,
    changes=(CHANGE, replace(CHANGE, name="tone", label="tied")),
    asked_again=(
        AskedAgain(case_id="a", expectation_id="1", state="fail"),
        AskedAgain(case_id="b", expectation_id="1", state="pass"),
    ),
)


def compared(**changes: object) -> Report:
    return sample_report(against=replace(AGAINST, **changes))  # type: ignore[arg-type]


def test_what_was_compared_stands_in_one_line():
    """How many pairs, what was free, what was asked, and what the judge took back."""
    first, *figures = against_lines(AGAINST)

    assert first == (
        "40 pairs of cases with 20260101T000000-aaaaaa, 10 unchanged responses (12 verdicts taken over), "
        "30 changed cases judged, 2 changes asked again, 1 not repeated"
    )
    assert figures == [
        "partial 0.900 to 0.850: -0.050 (-0.080 to -0.020), worse",
        "tone 0.900 to 0.850: -0.050 (-0.080 to -0.020), tied",
    ]


def test_a_change_that_only_bounds_are_known_of_is_told_as_bounds():
    """A gate that was answered before a changed case was judged never says "no change" beside bounds that exclude it."""
    early = replace(CHANGE, base=1.0, candidate=1.0, change=0.0, low=-0.889, high=-0.333)

    _, line = against_lines(replace(AGAINST, is_early=True, changes=(early,)))

    assert line == "partial changed by -0.889 to -0.333, worse"


def test_every_report_tells_of_it():
    """The terminal, the page and the test report name the base and each figure; a drop has a next step."""
    report = compared()

    for text in (terminal.render(report, width=200), "".join(markdown.render(report))):
        assert "12 verdicts taken over" in text
        assert "partial 0.900 to 0.850" in text
        assert "tiered-eval compare" in text
    properties = "".join(junit.render(report))
    assert 'name="against.state" value="fail"' in properties
    assert 'name="against.tone"' in properties


def test_it_comes_back_from_json_as_it_was():
    """Nothing of it is lost in the file, and the file keeps to its schema."""
    report = compared()
    data = json.loads(json.dumps(report_to_json(report)))

    assert faults(data, SCHEMA) == []
    assert report_from_json(data).against == report.against


def test_names_of_unknown_origin_do_no_harm():
    """A dimension's name adds no line, no markup and no control character."""
    change = replace(CHANGE, name=HOSTILE)

    assert all(
        "\n" not in line and "\x1b" not in line for line in against_lines(replace(AGAINST, changes=(change,)))
    )
    assert "\x1b" not in terminal.render(compared(changes=(change,)))
    assert "<b>" not in "".join(markdown.render(compared(changes=(change,))))


def test_what_was_not_needed_is_a_next_step_and_no_warning():
    """An early answer is no trouble for CI; whoever wants all of it judged is told how."""
    report = replace(compared(state="pass"), leftovers={"not-needed": 7}, failures={})

    assert "Not asked about: 7 expectations" in terminal.render(report, width=200)
    assert not any("not judged" in line for line in annotation_lines(report))
    assert any("not judged" in line for line in annotation_lines(replace(report, leftovers={"budget": 1})))
