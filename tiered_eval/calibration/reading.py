"""Label files: JSONL or CSV, with scores or with the texts that scores are made of.

The one idea: one row is one labelled expectation. Its label is ``human`` (the expectation is met: true or false), or
``label`` or ``verdict`` as exports of other tools call it; its scores
stand in ``scores`` and ``judges``, or the row has ``response``, ``expected`` and ``kind`` and the scores are made by the
engine. In CSV a score is a column ``scores.NAME`` or ``judges.NAME``. All faults are told at once.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiered_eval.calibration.labels import Label
from tiered_eval.catalogue import KINDS
from tiered_eval.errors import ConfigError, SuiteError
from tiered_eval.records import Case, Expectation, Match
from tiered_eval.suite.csv_reader import read_rows
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.single import read_expectation

__all__ = ["LabelRow", "read_labels"]

_SHOWN = 20
_TRUE = frozenset({"true", "1", "1.0", "yes", "pass", "passed", "met", "correct"})
_FALSE = frozenset({"false", "0", "0.0", "no", "fail", "failed", "not-met", "incorrect"})
_LABELS = ("human", "label", "verdict")
"""What a person's verdict may be called."""
_ANY_OF = frozenset({"equivalent"})
"""Kinds for which one of several expected values is enough."""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One row: the label, and the case to score where the row holds texts."""

    label: Label
    case: Case | None


def read_labels(path: Path, *, top: str | None = None, may_lack_label: bool = False) -> tuple[LabelRow, ...]:
    """The rows of a ``.jsonl`` or ``.csv`` file; ``top`` names the judge whose verdict is the top tier's.

    ``may_lack_label``: rows with texts need no label, as one will be bought.

    Raises:
        ConfigError: the file cannot be read, rows are wrong (the first 20 faults, each with its line), or none
            has a verdict of the top judge.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the labels {path} cannot be read: {error}") from error
    rows: list[LabelRow] = []
    faults: list[str] = []
    seen: set[str] = set()
    unnamed: Counter[str] = Counter()
    for line, row in _csv_rows(text) if path.suffix.lower() == ".csv" else _json_rows(text):
        try:
            read = _row(row, top, unnamed)
            if read.label.met is None and read.label.top is None and not (may_lack_label and read.case):
                raise ValueError(
                    "`human` is missing (or `label`, or `verdict`): true where the expectation is met, false where it is not"
                )
            if read.label.id in seen:
                raise ValueError(f"the id {read.label.id!r} stands twice")
            seen.add(read.label.id)
            rows.append(read)
        except ValueError as error:
            faults.append(f"{path}:{line}: {error}")
    if faults:
        more = f"\n... and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise ConfigError("\n".join(faults[:_SHOWN]) + more)
    if not rows:
        raise ConfigError(f"{path} holds no label")
    if top is not None and not may_lack_label and all(row.label.top is None for row in rows):
        names = sorted({name for row in rows for name in row.label.scores})
        raise ConfigError(
            f"{path}: no row has a verdict of {top!r}; they have {', '.join(names) or 'none of any judge'}"
        )
    return tuple(rows)


def _json_rows(text: str) -> Iterator[tuple[int, Any]]:
    if (fault := _one_value(text.strip())) is not None:
        yield 1, ValueError(fault)
        return
    for line, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            try:
                yield line, json.loads(content)
            except (ValueError, RecursionError) as error:
                yield line, ValueError(f"not JSON: {error}")


def _one_value(text: str) -> str | None:
    """What to do with a file that is a list of rows, or one row over several lines; None where each line is a row."""
    if not text.startswith("[") and "\n" not in text:
        return None
    try:
        value = json.loads(text)  # ends at the second row
    except (ValueError, RecursionError):
        return None
    rows = ".[]" if isinstance(value, list) else "."
    return f"the file is one JSON value; labels are JSON Lines, a row on each line: jq -c '{rows}' FILE > labels.jsonl"


def _csv_rows(text: str) -> Iterator[tuple[int, Any]]:
    try:
        for line, row in read_rows(io.BytesIO(text.encode())):
            plain: dict[str, Any] = {}
            for name, value in row.items():
                group, dot, inner = name.partition(".")
                if dot and group in ("scores", "judges"):
                    plain.setdefault(group, {})[inner] = value
                else:
                    plain[name] = value
            yield line, plain
    except Unreadable as fault:
        yield fault.line or 1, ValueError(f"{fault.message}; {fault.fix}")


def _row(row: Any, top: str | None, unnamed: Counter[str]) -> LabelRow:
    """One row, checked; ``unnamed`` counts those without an id, by what they say.

    Raises:
        ValueError: it is wrong; the message says how, and what to write.
    """
    if isinstance(row, ValueError):
        raise row
    if not isinstance(row, dict):
        raise ValueError("a row is an object with id, kind and human")
    kind = row.get("kind")
    if not isinstance(kind, str) or not kind:
        raise ValueError("`kind` is missing: what is claimed, such as must-contain")
    scores = {**_scores(row, "scores"), **_scores(row, "judges")}
    response = row.get("response")
    identity = _identity(row, unnamed)
    case = _case(row, identity, kind) if isinstance(response, str) and not row.get("scores") else None
    if not scores and case is None:
        raise ValueError("a row needs `scores` or `judges`, or `response` and `expected` to make scores of")
    label = Label(
        id=identity,
        case=_case_name(row, identity),
        kind=kind,
        met=_label(row),
        second=_verdict(row, "human_2"),
        scores={name: score for name, score in scores.items() if name != top},
        top=None if top is None or scores.get(top) is None else (scores[top] or 0.0) >= 0.5,
        pair=_digest(json.dumps([response, row.get("expected")])) if isinstance(response, str) else "",
    )
    return LabelRow(label, case)


def _identity(row: Mapping[str, Any], unnamed: Counter[str]) -> str:
    """Its id, else a digest of what it says: the order of rows must not matter, so its line will not do."""
    if row.get("id") not in (None, ""):
        return str(row["id"])
    said = _digest(json.dumps(row, sort_keys=True))
    unnamed[said] += 1
    return f"{said}-{unnamed[said]}"


def _case_name(row: Mapping[str, Any], identity: str) -> str:
    """What labels of one case share: the name it was given, else its question, else its response."""
    named = next((one for one in (row.get("case"), _question(row)) if one not in (None, "")), None)
    if named is not None:
        return str(named)
    response = row.get("response")
    return _digest(response) if isinstance(response, str) else identity


def _scores(row: Mapping[str, Any], group: str) -> dict[str, float | None]:
    given = row.get(group) or {}
    if not isinstance(given, dict):
        raise ValueError(f"`{group}` is an object of name and score")
    return {str(name): _score(value, f"{group}.{name}") for name, value in given.items()}


def _score(value: Any, name: str) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.strip().lower() in _TRUE | _FALSE:
        return float(value.strip().lower() in _TRUE)
    try:
        score = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"`{name}` is no score: {value!r}") from None
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"`{name}` must lie between 0 and 1, found {value!r}")
    return score


def _label(row: Mapping[str, Any]) -> bool | None:
    """The label, ``human`` if it is there: beside it a column of another name may mean anything."""
    named = [name for name in _LABELS if row.get(name) not in (None, "")]
    if not named or named[0] == "human":
        return _verdict(row, "human")
    said = {name: _verdict(row, name) for name in named}
    if len({*said.values()}) > 1:
        raise ValueError(
            f"{' and '.join(f'`{name}`' for name in named)} contradict each other: name one of them `human`"
        )
    return said[named[0]]


def _verdict(row: Mapping[str, Any], name: str) -> bool | None:
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in _TRUE | _FALSE:
        return text in _TRUE
    raise ValueError(f"`{name}` is true or false, found {value!r}")


def _case(row: Mapping[str, Any], identity: str, kind: str) -> Case:
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is unknown; scores can be made for {', '.join(KINDS)}")
    expected = row.get("expected")
    values = tuple(expected) if isinstance(expected, list) else () if expected in (None, "") else (expected,)
    if not values:
        raise ValueError("`expected` is missing: the value, or a list of values")
    question = _question(row)
    options = _object(row, "options")
    if str(row.get("scanned", "")).lower() in _TRUE:
        options["scanned"] = True
    match = _match(row, kind)
    expectation = Expectation(id="0", kind=kind, values=values, match=match)
    if options:
        try:
            expectation = read_expectation(kind, list(values), match=match, options=options)
        except SuiteError as fault:
            raise ValueError(f"the options: {fault}") from None
    return Case(
        id=identity,
        response=row["response"],
        input=str(question) if question is not None else None,
        fields=_object(row, "fields"),
        expectations=(expectation,),
    )


def _question(row: Mapping[str, Any]) -> Any:
    """As sheets call it, or as suites do."""
    return row.get("question") if row.get("question") is not None else row.get("input")


def _match(row: Mapping[str, Any], kind: str) -> Match:
    match row.get("match"):
        case "any":
            return "any"
        case "all":
            return "all"
        case None | "":
            return "any" if kind in _ANY_OF else "all"
        case other:
            raise ValueError(f"`match` is any or all, found {other!r}")


def _object(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = row.get(name) or {}
    if not isinstance(value, dict):
        raise ValueError(f"`{name}` is an object of name and value")
    return dict(value)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
