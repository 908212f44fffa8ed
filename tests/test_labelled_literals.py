"""Literals of real responses, looked for in the response that they stand in: nearly all must be found without a judge.

Whatever doubts a value for the words around it costs a judge's call wherever those words stand. These tests bound that cost on
text that nobody wrote for a test.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.machine import LABELLED  # noqa: E402  # a folder of the checkout, no package
from tests.scoring import free_state  # noqa: E402

SOURCES = ("openqa_nq301", "factcheck_gpt", "judging_judges", "realsumm", "faithbench")
EACH = 60
"""Responses of a source."""
NUMBER = re.compile(
    r"(?<![\w.,/-])\d[\d,]*(?:\.\d+)?(?: (?:million|percent|years|days|miles|people))?(?![\w,/-]|\.\d)"
)
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+ [A-Z][a-z]+(?=[,.]| [a-z])")
WORD = re.compile(r"(?<=[a-z] )[a-z]{5,}(?= [a-z])")
LITERALS = [
    (NAME, 0.88, "names of two words"),
    (WORD, 0.80, "words of five letters and more"),
    (NUMBER, 0.60, "numbers: many are limits, ranges, days of a date or millions"),
]


def responses() -> Iterator[str]:
    rng = random.Random(7)
    for source in SOURCES:
        path = LABELLED / f"{source}.jsonl"
        if not path.exists():
            pytest.skip(f"the labelled data is not here: {path}")
        with path.open(encoding="utf-8") as lines:
            texts = {json.loads(line).get("response") or "" for line in lines}
        proper = sorted(text for text in texts if 40 < len(text) < 3000)
        yield from rng.sample(proper, min(EACH, len(proper)))


@pytest.mark.parametrize(("pattern", "least", "what"), LITERALS, ids=["names", "words", "numbers"])
def test_what_stands_in_a_real_response_is_mostly_found(pattern: re.Pattern[str], least: float, what: str):
    """The share of literals of a response that pass where they stand."""
    rng = random.Random(3)
    states: Counter[str] = Counter()
    for response in responses():
        if found := pattern.findall(response):
            states[free_state("must-contain", rng.choice(found), response)] += 1

    assert states.total() >= 100, what
    assert states["pass"] / states.total() >= least, f"{what}: {states}"
