"""Problems of a suite: what is told each time, and what once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiered_eval.errors import SuiteError
from tiered_eval.suite import load_suite
from tiered_eval.suite.problems import KEPT_ERRORS, TOLD_ONCE, Problems


def note(problems: Problems, rule: str, message: str, times: int, severity: str = "error") -> None:
    for line in range(times):
        problems.add(
            file="s.yaml", line=line + 1, rule=rule, message=message, fix="mend it", severity=severity
        )


@pytest.mark.parametrize("rule", sorted(TOLD_ONCE))
def test_one_broken_file_is_one_error(rule: str):
    """What is wrong with code is told at its first place, with the number of places that name it."""
    problems = Problems()

    note(problems, rule, "scorers/a.py:1 is not Python", 3)

    (told,) = problems.errors
    assert (told.line, problems.error_count) == (1, 1)
    assert told.message == "scorers/a.py:1 is not Python; in 3 places, of which this is the first"


def test_different_mistakes_stay_apart():
    """Two files, or a warning beside an error, are told each."""
    problems = Problems()

    note(problems, "bad-scorer", "a is none", 2)
    note(problems, "bad-scorer", "b is none", 1)
    note(problems, "bad-scorer", "a is none", 1, severity="warning")

    assert [each.message.split(";")[0] for each in problems.errors] == ["a is none", "b is none"]
    assert [each.message for each in problems.warnings] == ["a is none"]


def test_mistakes_of_the_author_are_told_at_each_place():
    """The same slip in two cases has two lines to be mended."""
    problems = Problems()

    note(problems, "unknown-kind", "there is no kind mustcontain", 2)

    assert [each.line for each in problems.errors] == [1, 2]


def test_what_is_told_once_stays_counted_where_no_more_is_kept():
    """Beyond what is kept, errors still count."""
    problems = Problems()

    note(problems, "unknown-kind", "x", KEPT_ERRORS)
    note(problems, "bad-scorer", "a is none", 2)

    assert len(problems.errors) == KEPT_ERRORS
    assert problems.error_count > KEPT_ERRORS


def test_a_suite_with_a_broken_file_of_scorers_says_so_once(tmp_path: Path):
    """However many expectations name a scorer that may be in it."""
    (tmp_path / "scorers").mkdir()
    (tmp_path / "scorers" / "broken.py").write_text("def polite(:\n")
    suite = tmp_path / "suite.yaml"
    suite.write_text("cases:\n- {id: a, response: Good day., expect: [polite: 1, kind-word: 2, polite: 3]}\n")

    with pytest.raises(SuiteError) as caught:
        load_suite(suite, allow_code=True)

    (told,) = caught.value.problems
    assert "in 3 places" in told.message


def test_code_that_is_not_shut_in_is_one_warning(tmp_path: Path):
    """Each expectation that asks for it is counted in it."""
    tests = "{code-exec: 'assert f(1) == 2', sandbox: none}"
    suite = tmp_path / "suite.yaml"
    suite.write_text(f"cases:\n- {{id: a, response: 'f = abs', expect: [{tests}, {tests}]}}\n")

    (told,) = load_suite(suite, allow_code=True).warnings

    assert "code-not-shut-in" in told
    assert "in 2 places" in told
