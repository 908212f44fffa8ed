"""How code of responses was shut in, from the check to each report."""

from __future__ import annotations

import pytest
from report_samples import result, sample_report, verdict

from tiered_eval.aggregate import Tally
from tiered_eval.records import Step
from tiered_eval.reports import FORMATS, render, terminal, wording


def test_each_expectation_counts_once_where_its_code_ran():
    """Also where what the code came to was not the last word; what ran no code is in no count."""
    told = Step("code-exec", "exact", "unsure", "no test decides", ran_in="namespaces")
    tally = Tally()

    tally.add(
        result(
            0,
            "a",
            verdict("a", "1", ran_in="bubblewrap"),
            verdict("a", "2", "fail", ran_in="bubblewrap"),
            verdict("a", "3", "not-judged", trail=(told,)),
            verdict("a", "4", trail=(Step("exact", "exact", "unsure", "not found"),)),
        )
    )

    assert tally.ran_in == {"bubblewrap": 2, "namespaces": 1}


def test_the_words_name_each_kind():
    """Code that was not shut in is not passed over beside code that was."""
    said = wording.ran_in_line({"bubblewrap": 12, "none": 1})

    assert said == "in bubblewrap for 12 expectations, not shut in for 1 expectation"


@pytest.mark.parametrize("name", ["json", "junit", "md"])
def test_each_report_says_it(name: str):
    """Where code ran; a report of a run without any does not speak of it."""
    word = (
        '"ran_in": {' if name == "json" else "in bubblewrap for 3 expectations, not shut in for 1 expectation"
    )

    assert word in "".join(render(sample_report(), name))
    assert name == "json" or "bubblewrap for" not in "".join(render(sample_report(ran_in={}), name))
    assert name in FORMATS


def test_the_terminal_says_it():
    """Beside time and money."""
    shown = terminal.render(sample_report())

    assert "code ran    in bubblewrap for 3 expectations, not shut in for 1 expectation" in shown
    assert "code ran" not in terminal.render(sample_report(ran_in={}))
