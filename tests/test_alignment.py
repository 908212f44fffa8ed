"""The bit-parallel search against the plain table of edit distances."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.alignment import Search, least_distance

SHORT = st.text(alphabet="abc", min_size=1, max_size=10)
TEXT = st.text(alphabet="abc", max_size=24)


def distances(pattern: str, text: str) -> list[int]:
    """Distance of the best match that ends at each place, the slow way."""
    above = [0] * (len(text) + 1)
    for row, ours in enumerate(pattern, start=1):
        line = [row]
        for column, theirs in enumerate(text, start=1):
            line.append(min(above[column] + 1, line[-1] + 1, above[column - 1] + (ours != theirs)))
        above = line
    return above


@given(SHORT, TEXT)
def test_the_best_place_is_the_best(pattern: str, text: str):
    """The distance found is the least that there is, at the place that is named."""
    score, end = Search(pattern, text).best_ends(most=1)[0]

    assert score == min(distances(pattern, text))
    assert score == distances(pattern, text)[end]


@given(SHORT, TEXT)
def test_the_least_distance_is_that_of_the_best_place(pattern: str, text: str):
    """A pattern that stands there costs nothing, any other as much as its best place."""
    assert least_distance(pattern, text) == min(distances(pattern, text))


@given(SHORT, TEXT)
def test_an_alignment_costs_what_the_distance_says(pattern: str, text: str):
    """The places are in order, and what is misread, lost or stray between them costs the distance."""
    search = Search(pattern, text)
    score, end = search.best_ends(most=1)[0]
    partners = search.partners(end)

    places = [theirs for theirs in partners if theirs is not None]
    misread = sum(
        theirs is not None and pattern[ours] != text[theirs] for ours, theirs in enumerate(partners)
    )
    stray = end - places[0] - len(places) if places else 0
    assert places == sorted(set(places))
    assert score == misread + len(pattern) - len(places) + stray


def test_equally_good_places_are_all_found():
    """Two passages that are equally like the pattern are two places."""
    assert sorted(end for _, end in Search("abcd", "abcd xx abcd").best_ends(most=6)) == [4, 12]


def test_no_more_places_than_asked_for():
    """The number of places is bounded."""
    assert len(Search("ab", "ab" * 100).best_ends(most=3)) == 3


@given(SHORT, TEXT, st.integers(1, 6))
def test_places_are_the_best_and_apart(pattern: str, text: str, most: int):
    """From left to right, first those with the least distance, then those one worse, each half a pattern from all before."""
    found = distances(pattern, text)
    expected: list[tuple[int, int]] = []
    for wanted in (min(found), min(found) + 1):
        for end, distance in enumerate(found):
            is_apart = all(abs(end - other) * 2 > len(pattern) for _, other in expected)
            if distance == wanted and is_apart:
                expected.append((distance, end))

    search = Search(pattern, text)

    assert search.best_ends(most=most) == expected[:most]
    assert search.least == min(found)
