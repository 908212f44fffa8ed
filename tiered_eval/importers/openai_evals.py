"""OpenAI's evals: samples and registry of ``openai/evals``, and exports of the platform's Evals.

The one idea: there are three files that people have. Samples (JSON lines with ``input`` and ``ideal``), a registry entry
that says which class checks them, and from the platform an eval with its graders and the output items of a run. Each
is told by its shape.

Facts about the formats: github.com/openai/evals and the platform's API reference (read November 2026).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.importers.files import Folder, read_any
from tiered_eval.importers.openai_graders import grader_proposals
from tiered_eval.importers.outcome import Collector, ImportedSuite, Proposal, Unsupported, entry
from tiered_eval.suite.source import text_of

__all__ = ["NAME", "is_openai", "read_openai"]

NAME = "OpenAI evals"


def is_openai(value: object) -> bool:
    """Is it samples, a registry entry, or an export of the platform?"""
    if isinstance(value, list):
        return any(_is_row(row) for row in value[:20])  # one without an answer is named, and hides no others
    if not isinstance(value, Mapping):
        return False
    return "testing_criteria" in value or _eval_in(value) is not None or bool(list(_registered(value)))


def read_openai(value: Any, folder: Folder, stem: str) -> ImportedSuite:
    """The suite that the file stands for."""
    out = Collector()
    if isinstance(value, list):
        rows = [row for row in value if isinstance(row, Mapping)]
        found = next((one for row in rows if (one := _eval_in(row)) is not None), None)
        items = [row for row in rows if "datasource_item" in row or "item" in row]
        if items or found is not None:
            return _platform(out, found or {}, items, stem)
        _samples(out, rows, "Match", {}, "")
        return out.finish(NAME, stem)
    found = _eval_in(value)
    if found is not None:
        return _platform(out, found, list(_items_in(value)), stem)
    for name, registered in _registered(value):
        _registry(out, name, registered, folder)
    return out.finish(NAME, stem)


# Samples and registry of openai/evals


def _is_row(row: object) -> bool:
    if not isinstance(row, Mapping):
        return False
    return (
        ("input" in row and "ideal" in row)
        or "datasource_item" in row
        or "item" in row
        or _eval_in(row) is not None
    )


def _registered(value: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, entry_ in value.items():
        if isinstance(entry_, Mapping) and isinstance(entry_.get("class"), str) and ":" in entry_["class"]:
            yield str(name), entry_


def _registry(out: Collector, name: str, registered: Mapping[str, Any], folder: Folder) -> None:
    """The samples of one registered eval, checked as its class does."""
    args = registered.get("args")
    args = args if isinstance(args, Mapping) else {}
    kind = registered["class"].rpartition(":")[2]
    path = text_of(args.get("samples_jsonl"))
    try:
        if path is None:
            raise Unsupported("it names no samples_jsonl")
        rows = _samples_at(path, folder)
    except (Unsupported, ConfigError) as fault:
        out.leave_out(name, str(fault))
        return
    for option in sorted(args.keys() - _ARGS_READ.get(kind, {"samples_jsonl"})):
        out.leave_out(f"{name}.args.{option}", "it has nothing like it here")
    _samples(out, rows, kind, args, f"{name} ")


_ARGS_READ = {
    "Includes": {"samples_jsonl", "ignore_case"},
    "ModelBasedClassify": {"samples_jsonl", "modelgraded_spec", "modelgraded_spec_args", "eval_type"},
}


def _samples_at(path: str, folder: Folder) -> list[Mapping[str, Any]]:
    """Samples beside the registry's file, or in the ``data`` folder beside its ``evals``."""
    places = [folder]
    if folder.path.resolve().name == "evals":
        places.append(Folder(folder.path.resolve().parent / "data", folder.allow_outside))
    for place in places:
        for name in dict.fromkeys((path, Path(path).name)):
            try:
                rows = read_any(place.find(name))
            except Unsupported:
                continue
            return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    raise Unsupported(f"its samples {path} are neither beside it nor in the data folder")


def _samples(
    out: Collector, rows: list[Mapping[str, Any]], kind: str, args: Mapping[str, Any], prefix: str
) -> None:
    for number, row in enumerate(rows, start=1):
        place = f"{prefix}sample {number}"
        expect: list[Any] = []
        try:
            expect = out.accept(place, _class_proposals(kind, row, args))
        except Unsupported as fault:
            out.leave_out(place, str(fault))
        other = {str(key): value for key, value in row.items() if key not in ("input", "ideal", "id")}
        identity = text_of(row.get("id")) or f"{prefix}{number}"
        out.add_case(identity, expect, place, input=row.get("input"), meta={"sample": other} if other else {})


def _class_proposals(kind: str, row: Mapping[str, Any], args: Mapping[str, Any]) -> list[Proposal]:
    """What a class of openai/evals checks, as an expectation."""
    ideal = row.get("ideal")
    if kind == "ModelBasedClassify":
        return _model_graded(row, args)
    if ideal is None or ideal in ("", []):
        raise Unsupported("the sample has no ideal answer")
    one_of: Any = {"any": ideal} if isinstance(ideal, list) and len(ideal) > 1 else {"value": _single(ideal)}
    if kind == "Match":
        return [Proposal({"starts-with": {**one_of, "case_sensitive": True}}, _MATCH)]
    if kind == "Includes":
        ignores_case = text_of(args.get("ignore_case")) == "true"
        return [
            Proposal({"contains": {**one_of, **({} if ignores_case else {"case_sensitive": True})}}, _EDGES)
        ]
    if kind == "FuzzyMatch":
        return [
            Proposal(
                entry("equivalent", ideal),
                "`FuzzyMatch` is read as `equivalent`: one of the answers is given",
            )
        ]
    if kind == "JsonMatch":
        return [Proposal(entry("json-match", _parsed_json(ideal)))]
    raise Unsupported(f"the class {kind} does more than compare with the ideal answer")


_MATCH = "`Match` looks whether the response starts with the ideal answer, and so does `starts-with`, up to the edge of a word"
_EDGES = "`contains` looks between the edges of words and numbers here, so 5 is not in 25"


def _model_graded(row: Mapping[str, Any], args: Mapping[str, Any]) -> list[Proposal]:
    """The specs that come with openai/evals and mean what a scorer here does."""
    spec = text_of(args.get("modelgraded_spec")) or ""
    if spec.split("/")[0] == "fact":
        ideal = _single(row.get("ideal"))
        if ideal is None or ideal in ("", []):
            raise Unsupported("the sample has no ideal answer")
        if not isinstance(ideal, list):
            return [Proposal(entry("factuality", text_of(ideal) or ""), _GRADED)]
        note = f"{_GRADED}; of several ideal answers, any one will do"
        return [Proposal({"factuality": {"any": ideal}}, note)]
    if spec.split("/")[0] == "closedqa":
        return [Proposal(entry("closed-qa", _criteria(row, args)), _GRADED)]
    raise Unsupported(f"the model-graded spec {spec or 'without a name'} has a prompt of its own")


def _criteria(row: Mapping[str, Any], args: Mapping[str, Any]) -> str:
    """What ``closedqa`` asks of the answer: of the eval, else of the sample. It never sees the ideal answer."""
    given = args.get("modelgraded_spec_args")
    every = text_of(given.get("criteria")) if isinstance(given, Mapping) else None
    found = every or text_of(row.get("criteria"))
    if not found:
        raise Unsupported("closedqa without criteria, neither in modelgraded_spec_args nor in the sample")
    return found


_GRADED = "what a model grades is asked with the prompts of this tool"


def _single(ideal: Any) -> Any:
    return ideal[0] if isinstance(ideal, list) and len(ideal) == 1 else ideal


def _parsed_json(ideal: Any) -> Any:
    from tiered_eval.importers.files import parse_json

    if not isinstance(ideal, str):
        return ideal
    try:
        return parse_json(ideal)
    except ValueError:
        raise Unsupported("the ideal answer is no JSON") from None


# Exports of the platform


def _eval_in(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The eval of an export: the document itself, or under ``eval``."""
    for found in (value, value.get("eval")):
        if isinstance(found, Mapping) and isinstance(found.get("testing_criteria"), list):
            return found
    return None


def _items_in(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The output items, or the rows of the data source, wherever an export has them."""
    for name in ("output_items", "items", "data", "content"):
        listed = value.get(name)
        if isinstance(listed, Mapping):
            listed = listed.get("data")
        if isinstance(listed, list):
            yield from (row for row in listed if isinstance(row, Mapping))
    for path in (("data_source", "source"), ("run",)):
        inner: Any = value
        for part in path:
            inner = inner.get(part) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping):
            yield from _items_in(inner)


def _platform(
    out: Collector, found: Mapping[str, Any], items: list[Mapping[str, Any]], stem: str
) -> ImportedSuite:
    graders = found.get("testing_criteria")
    graders = graders if isinstance(graders, list) else []
    if not graders:
        out.leave_out(
            "testing_criteria", "the graders are not in this file: export the eval with its output items"
        )
    if not items:
        out.leave_out(
            "data", "there are no items in this file: export the output items of a run with the eval"
        )
    for number, row in enumerate(items, start=1):
        item = row.get("datasource_item", row.get("item"))
        item = item if isinstance(item, Mapping) else {}
        item = item["item"] if isinstance(item.get("item"), Mapping) else item
        place = f"item {number}"
        expect: list[Any] = []
        for index, grader in enumerate(graders):
            where = f"{place}, testing_criteria[{index}]"
            try:
                expect += out.accept(where, grader_proposals(grader, item))
            except Unsupported as fault:
                name = text_of(grader.get("name")) if isinstance(grader, Mapping) else None
                out.leave_out(f"testing_criteria[{index}]", f"{name or 'a grader'}: {fault}")
        sample = row.get("sample")
        response = _output(sample)
        if response is None and sample is not None:
            out.leave_out(place, "its output has no text: the model failed, or called a tool instead")
            continue
        identity = text_of(row.get("datasource_item_id")) or text_of(item.get("id"))
        out.add_case(
            f"item-{number}" if identity is None else f"item-{identity}",
            expect,
            place,
            response=response,
            input=_asked(sample, item),
            meta={"item": dict(item)} if item else {},
        )
    return out.finish(NAME, text_of(found.get("name")) or stem)


def _output(sample: Any) -> Any:
    """The response of an output item."""
    if not isinstance(sample, Mapping):
        return None
    if isinstance(text := sample.get("output_text"), str):
        return text
    messages = sample.get("output")
    texts = [
        message["content"]
        for message in (messages if isinstance(messages, list) else [])
        if isinstance(message, Mapping) and isinstance(message.get("content"), str)
    ]
    return texts[-1] if texts else None


def _asked(sample: Any, item: Mapping[str, Any]) -> Any:
    if isinstance(sample, Mapping) and isinstance(sample.get("input"), list) and sample["input"]:
        return [
            {"role": str(one["role"]), "content": str(one["content"])}
            for one in sample["input"]
            if isinstance(one, Mapping) and {"role", "content"} <= one.keys()
        ]
    return next((text for name in ("input", "question", "prompt") if (text := text_of(item.get(name)))), None)
