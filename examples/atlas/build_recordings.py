"""Writes cache/recordings/atlas.jsonl: the hand-written judge replies of judgements.yaml, under the keys of their questions.

The key of a recording is a hash over the question, so it changes with a prompt, with a case and with an expectation.
Run this again after any of these, and commit what it writes:

    python examples/atlas/build_recordings.py

The replies are made up by people to show how a report looks. They say nothing about what a model would answer, and no
model was asked; so they carry no usage, and the name of their model is `hand-written`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tiered_eval.keys import recording_key
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.judge import judge_request
from tiered_eval.suite import load_suite
from tiered_eval.text.subject import Subject

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "cache" / "recordings" / "atlas.jsonl"
MODEL = "hand-written"


def load_judgements() -> dict[str, dict[str, dict[str, Any]]]:
    """Case id to expectation id to what a person says about it."""
    loaded: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
        (HERE / "judgements.yaml").read_text("utf-8")
    )
    return loaded


def recordings() -> Iterator[str]:
    """The lines of the file, in the order of the suite; a question that is asked twice is recorded once."""
    judgements = load_judgements()
    written = set()
    for case in load_suite(HERE).cases:
        for expectation in case.expectations:
            judgement = judgements[case.id][expectation.id]
            if "rationale" not in judgement:
                continue
            key = recording_key(judge_request(expectation, Subject(case)))
            if key not in written:
                written.add(key)
                yield line(key, case, expectation, judgement)


def line(key: str, case: Case, expectation: Expectation, judgement: dict[str, Any]) -> str:
    """One recording. What a judge says follows from the label; its words are in the judgement."""
    holds = judgement["state"] == "pass"
    reply = {"nonce": "{{nonce}}", "evidence": judgement["evidence"], "rationale": judgement["rationale"]}
    if expectation.kind == "rubric":
        reply |= {"verdict": "scored", "score": judgement["score"]}
    else:
        reply |= {"verdict": "met" if holds else "not-met"}
    note = f"{case.id} {expectation.id}"
    return json.dumps(
        {"key": key, "model": MODEL, "origin": "hand-written", "note": note, "reply": reply},
        ensure_ascii=True,
    )


if __name__ == "__main__":
    text = "".join(f"{recording}\n" for recording in recordings())
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.name}: {text.count(chr(10))} replies")
