"""Whether a run is like the calibration data: what is said of it, and when nothing of it is certified any more."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.calibration.drift import STRONG_DRIFT, most_is_unlike, spread, variation

SURE = (0.45, 0.03, 0.04, 0.03, 0.45)
"""Free checks that are nearly certain of nine in ten."""
ALIKE = [45, 3, 4, 3, 45]
ONE_KIND = {"must-contain": 1.0}


@pytest.mark.parametrize(
    ("seen", "kinds", "cases", "is_unlike", "why"),
    [
        (ALIKE, {"must-contain": 100}, 100, False, "the same data"),
        ([5, 10, 70, 10, 5], {"must-contain": 100}, 100, True, "checks that were sure are so no more"),
        ([20, 5, 50, 5, 20], {"must-contain": 100}, 100, False, "half of it is as it was: a warning is enough"),
        ([0, 3, 4, 3, 90], {"must-contain": 100}, 100, False, "a good system passes everything"),
        (ALIKE, {"must-contain": 30, "equivalent": 70}, 100, True, "most of it is of another kind"),
        ([5, 10, 70, 10, 5], {"must-contain": 100}, 29, True, ""),
        ([1, 2, 14, 2, 1], {"must-contain": 20}, 20, True, ""),
    ],
)  # fmt: skip
def test_most_of_a_run_is_unlike(
    seen: list[int], kinds: dict[str, int], cases: int, is_unlike: bool, why: str
):
    """Only a shift of most of a run counts, and only in a run that is large enough to tell."""
    found = most_is_unlike(ONE_KIND, kinds, SURE, seen, cases=cases)

    assert (found is not None) is (is_unlike and bool(why)), why or "too small a run"


def test_the_reason_says_how_much_is_unlike_by_what_and_what_to_do():
    """By scores or by kinds, whichever is more."""
    by_score = most_is_unlike(ONE_KIND, {"must-contain": 100}, SURE, [5, 10, 70, 10, 5], cases=100)
    by_kind = most_is_unlike(ONE_KIND, {"equivalent": 100}, SURE, ALIKE, cases=100)

    assert by_score is not None
    assert by_score.startswith("80% of this run")
    assert "free checks" in by_score
    assert "calibrate again" in by_score
    assert by_kind is not None
    assert by_kind.startswith("100% of this run")
    assert "kinds" in by_kind


def test_kinds_with_promises_of_their_own_may_be_mixed_otherwise():
    """Each keeps its own share of wrong verdicts, however many there are of it."""
    assert most_is_unlike(None, {"equivalent": 100}, SURE, ALIKE, cases=100) is None


def test_a_certificate_that_knows_no_spread_is_compared_by_kinds_alone():
    """Those of the first releases have none."""
    assert most_is_unlike(ONE_KIND, {"must-contain": 100}, (), [0, 0, 100, 0, 0], cases=100) is None


def test_chance_alone_makes_no_run_unlike():
    """The fewest labels and cases, all expectations of a case alike, scores spread evenly: none of 2,000 runs reaches the limit."""
    rng = random.Random(7)
    reached = 0
    for _ in range(2000):
        labels = spread(rng.random() for _ in range(45))
        seen = Counter(rng.randrange(5) for _ in range(30))
        reached += variation(dict(enumerate(labels)), seen) >= STRONG_DRIFT

    assert reached == 0


def test_a_run_that_is_really_unlike_is_found():
    """Thirty cases suffice where the checks have become unsure of most."""
    rng = random.Random(8)
    found = 0
    for _ in range(200):
        seen = Counter(rng.choices(range(5), (0.05, 0.2, 0.5, 0.2, 0.05), k=30))
        found += variation(dict(enumerate(SURE)), seen) >= STRONG_DRIFT

    assert found >= 190


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 50)))
def test_variation_is_a_share(counts: dict[str, int]):
    """It lies between 0 and 1, and is 0 for what is spread alike."""
    total = sum(counts.values())
    alike = {one: count / total for one, count in counts.items()} if total else {}

    assert variation(alike, counts) == pytest.approx(0.0)
    assert 0.0 <= variation({"z": 1.0}, counts) <= 1.0


def test_rounding_never_makes_a_share_of_more_than_all():
    """Added one after the other these shares come to more than 1, and so they may where a certificate has rounded them."""
    counts = dict(zip("abcdefgh", [34, 3, 42, 9, 45, 49, 9, 57], strict=True))
    shares = [1.0, *(count / 248 for count in counts.values())]

    assert sum(shares) / 2 > 1.0, "what this test is about"
    assert variation({"z": 1.0}, counts) == 1.0
    assert variation({"y": 0.5001, "z": 0.5001}, counts) == 1.0
