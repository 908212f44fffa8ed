"""Records that are made quickly are the same as those made by their class."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from tiered_eval.records import Evidence, Outcome, Verdict
from tiered_eval.records.making import maker

make_outcome = maker(Outcome)
make_verdict = maker(Verdict)


def test_a_made_record_equals_one_of_its_class():
    """Positional arguments, names and defaults mean the same."""
    evidence = Evidence("45 days", 10, 17)

    assert make_outcome("pass", "found", 1.0, evidence) == Outcome("pass", "found", 1.0, evidence)
    assert make_outcome("fail", reason="absent") == Outcome("fail", "absent")
    arguments = {"case_id": "a", "expectation_id": "b", "kind": "k", "state": "pass", "reason": "r"}
    assert make_verdict(**arguments) == Verdict(**arguments)


def test_a_made_record_is_of_the_class():
    """It is no stand-in: type, hash, text, copies and pickles agree."""
    made, plain = make_outcome("pass", "found", 0.5), Outcome("pass", "found", 0.5)

    assert type(made) is Outcome
    assert (hash(made), repr(made)) == (hash(plain), repr(plain))
    assert replace(made, score=1.0) == replace(plain, score=1.0)
    assert pickle.loads(pickle.dumps(Evidence("x"))) == copy.copy(maker(Evidence)("x"))


def test_a_made_record_is_frozen():
    """Nobody changes it afterwards."""
    made = make_outcome("pass", "found")

    with pytest.raises(FrozenInstanceError):
        made.reason = "other"


def test_arguments_are_checked_as_by_the_class():
    """A missing, an unknown and a positional argument where names are wanted are refused."""
    with pytest.raises(TypeError):
        make_outcome("pass")
    with pytest.raises(TypeError):
        make_outcome("pass", "found", colour="red")
    with pytest.raises(TypeError):
        make_verdict("case")


def test_a_default_of_its_own_is_refused():
    """Sharing one list among all records would be a trap."""

    @dataclass(frozen=True, slots=True)
    class Listed:
        items: list[int] = field(default_factory=list)

    with pytest.raises(TypeError, match="items"):
        maker(Listed)
