"""promptfoo's tests, from wherever they stand: inline, in YAML or JSON files, in CSV, in scenarios.

The one idea: whatever the place, a test is a mapping; a row of CSV is turned into one, whose ``__expected`` cells are
assertions in promptfoo's one-line notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tiered_eval.importers.files import Folder
from tiered_eval.importers.outcome import Collector, Unsupported
from tiered_eval.importers.promptfoo_assertions import TYPES
from tiered_eval.suite.source import Spelled, text_of

__all__ = ["Test", "merged", "parse_expected", "tests_of"]

_READ = frozenset({"description", "vars", "assert", "threshold", "metadata", "options", "providerOutput"})
_OPTIONS_READ = frozenset(
    {"prefix", "suffix", "disableVarExpansion", "disableDefaultAsserts", "factuality", "provider"}
)
_LONGEST_NAME = 120

_EXPECTED = re.compile(
    r"(?P<kind>(?:not-)?[a-z][a-z0-9:-]*?)(?:\((?P<threshold>[0-9.]+)\))?(?::(?P<value>.*))?\Z", re.DOTALL
)
_BARE = frozenset({"is-json", "contains-json", "is-html", "is-xml", "is-sql", "is-refusal"})
_PROGRAMS = {"javascript": "javascript", "fn": "javascript", "eval": "javascript", "python": "python"}
_GRADED = ("grade", "llm-rubric")
_COLUMN = re.compile(r"__expected\d*\Z")
_THRESHOLD = re.compile(r"__config:__expected\d*:threshold\Z")


@dataclass(frozen=True, slots=True)
class Test:
    """One test, its defaults merged in."""

    place: str
    raw: Mapping[str, Any]
    defaults: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """What was merged into it, outermost first, with the place where each stands."""
    own: Mapping[str, Any] | None = None
    """The test as it was written; None where nothing was merged into it."""

    __test__ = False  # pytest: not a test of ours

    @property
    def variables(self) -> Mapping[str, Any]:
        found = self.raw.get("vars")
        return found if isinstance(found, Mapping) else {}

    @property
    def assertions(self) -> list[Any]:
        found = self.raw.get("assert")
        return found if isinstance(found, list) else []

    def place_of_assertion(self, index: int) -> str:
        """Where an assertion was written, counted as it is there."""
        if not self._drops_defaults:
            for place, part in self.defaults:
                listed = part.get("assert")
                count = len(listed) if isinstance(listed, list) else 0
                if index < count:
                    return f"{place}.assert[{index}]"
                index -= count
        return f"{self.place}.assert[{index}]"

    def place_of(self, name: str, option: str | None = None) -> str:
        """Where a part of it was written, or one of its options: in the test itself, else in its innermost default."""
        shown = name if option is None else f"{name}.{option}"
        own = self.raw if self.own is None else self.own
        for place, part in ((self.place, own), *reversed(self.defaults)):
            options = part.get(name)
            if name in part and (option is None or (isinstance(options, Mapping) and option in options)):
                return f"{place}.{shown}"
        return f"{self.place}.{shown}"

    @property
    def _drops_defaults(self) -> bool:
        return self.own is not None and _drops_defaults(self.own)

    @property
    def name(self) -> str | None:
        """Its description, where that can be an id."""
        text = text_of(self.raw.get("description"))
        return text if text and text.isprintable() and len(text) <= _LONGEST_NAME else None

    @property
    def metadata(self) -> dict[str, Any]:
        found = self.raw.get("metadata")
        return {"metadata": found} if isinstance(found, Mapping) and found else {}

    @property
    def relations(self) -> Mapping[str, Any]:
        """What a relation of ``factuality`` scores, where the test says so."""
        options = self.raw.get("options")
        found = options.get("factuality") if isinstance(options, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def unread(self) -> Iterator[tuple[str, str]]:
        """The places of what means something to promptfoo and nothing here, with why."""
        for name in [name for name in self.raw if name not in _READ]:
            yield self.place_of(str(name)), "it has nothing like it here"
        options = self.raw.get("options")
        given = options if isinstance(options, Mapping) else {}
        for name in [name for name in given if name not in _OPTIONS_READ]:
            why = (
                "it changes the response before it is checked: responses are given as they are here"
                if name in ("transform", "postprocess")
                else "it has nothing like it here"
            )
            yield self.place_of("options", str(name)), why


def tests_of(config: Mapping[str, Any], folder: Folder, out: Collector) -> Iterator[Test]:
    """Every test of a configuration, scenarios included, with the defaults of ``defaultTest``."""
    base: Mapping[str, Any] = {}
    for _, default in _listed(config.get("defaultTest"), "defaultTest", folder, out):
        base = default
    defaults = (("defaultTest", base),)
    for place, raw in _listed(config.get("tests"), "tests", folder, out):
        yield Test(place, _with_defaults(base, raw), defaults, raw)
    for place, scenario in _listed(config.get("scenarios"), "scenarios", folder, out):
        sets = list(_listed(scenario.get("config") or {}, f"{place}.config", folder, out))
        for number, (given_at, given) in enumerate(sets):
            parts = (*defaults, (given_at, given))
            for where, raw in _listed(scenario.get("tests"), f"{place}.tests", folder, out):
                own_place = f"{where} with config[{number}]"
                yield Test(own_place, _with_defaults(merged(base, given), raw), parts, raw)


def _listed(
    given: Any, place: str, folder: Folder, out: Collector
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tests of a list, of the files that it names, or of a file that stands for it; scenarios and their sets as well."""
    for index, one in enumerate(given if isinstance(given, list) else [] if given is None else [given]):
        where = f"{place}[{index}]" if isinstance(given, list) else place
        if isinstance(one, Mapping) and "path" in one and not {"vars", "assert"} & one.keys():
            one = one["path"]
        if isinstance(one, Mapping):
            yield where, _whole(one, where, folder, out)
            continue
        try:
            if not isinstance(one, str):
                raise Unsupported("it is neither a mapping nor a file")
            if not one.lower().endswith((".csv", ".yaml", ".yml", ".json", ".jsonl")):
                raise Unsupported(f"{one} is made by a program, or elsewhere")
            files = folder.names(one)
        except Unsupported as fault:
            out.leave_out(where, str(fault))
            continue
        for file in files:
            yield from _in_file(file, where, folder, out)


def _in_file(
    file: str, place: str, folder: Folder, out: Collector
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        rows = folder.value(file)
    except Unsupported as fault:
        out.leave_out(place, str(fault))
        return
    is_csv = file.lower().endswith(".csv")
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=2 if is_csv else 0):
        name = f"{file.removeprefix('file://')}:{number}" if is_csv else f"{file}[{number}]"
        if isinstance(row, Mapping):
            yield name, _from_row(row, name, out) if is_csv else _whole(row, name, folder, out)
        else:
            out.leave_out(name, "it is no mapping")


def _whole(raw: Mapping[str, Any], place: str, folder: Folder, out: Collector) -> Mapping[str, Any]:
    """A test with the variables that it has in files; what has another shape than it must is noted."""
    whole = dict(raw)
    if not isinstance(raw.get("assert", []), list):
        out.leave_out(f"{place}.assert", "it is no list")
    given = raw.get("vars")
    if isinstance(given, Mapping) or given is None:
        return whole
    whole["vars"] = {}
    for name in given if isinstance(given, list) else [given]:
        try:
            for file in folder.names(str(name)):
                found = folder.value(file)
                if not isinstance(found, Mapping):
                    raise Unsupported(f"{file} holds no variables")
                whole["vars"].update(found)
        except Unsupported as fault:
            out.leave_out(f"{place}.vars", str(fault))
    return whole


def _with_defaults(base: Mapping[str, Any], raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if _drops_defaults(raw):
        base = {name: value for name, value in base.items() if name != "assert"}
    return merged(base, raw)


def _drops_defaults(raw: Mapping[str, Any]) -> bool:
    options = raw.get("options")
    return isinstance(options, Mapping) and text_of(options.get("disableDefaultAsserts")) == "true"


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` over ``base``: variables and options by name, assertions one after the other."""
    found = {**base, **own}
    for name in ("vars", "options", "metadata"):
        parts = [part[name] for part in (base, own) if isinstance(part.get(name), Mapping)]
        if parts:
            found[name] = {key: value for part in parts for key, value in part.items()}
    lists = [part["assert"] for part in (base, own) if isinstance(part.get("assert"), list)]
    if lists:
        found["assert"] = [one for part in lists for one in part]
    return found


def _from_row(row: Mapping[str, str], place: str, out: Collector) -> dict[str, Any]:
    """The test that a row of CSV stands for."""
    test: dict[str, Any] = {"vars": {}, "assert": [], "options": {}, "metadata": {}}
    thresholds = {
        name[len("__config:") : -len(":threshold")]: value
        for name, value in row.items()
        if _THRESHOLD.match(name) and value
    }
    for name, value in row.items():
        if _COLUMN.match(name):
            if value.strip():
                made = parse_expected(value.strip())
                if name in thresholds:
                    made["threshold"] = Spelled(thresholds[name])
                test["assert"].append(made)
        elif name == "__description":
            test["description"] = value or None
        elif name in ("__prefix", "__suffix"):
            test["options"][name.removeprefix("__")] = value
        elif name == "__threshold":
            test["threshold"] = value or None
        elif name == "__providerOutput":
            test["providerOutput"] = value or None
        elif name == "__metric":
            test["metric"] = value
        elif name.startswith("__metadata:"):
            if value:
                test["metadata"][name.removeprefix("__metadata:")] = value
        elif name.startswith("__"):
            if value and not _THRESHOLD.match(name):
                out.leave_out_once(place, f"the column {name} has nothing like it here")
        else:
            test["vars"][name] = value
    metric = test.pop("metric", None)
    if metric:
        test["assert"] = [{"metric": metric, **one} for one in test["assert"]]
    return {name: value for name, value in test.items() if value not in (None, {}, [])}


def parse_expected(text: str) -> dict[str, Any]:
    """An assertion in one line, such as ``similar(0.8): hello``; any other text is what the output equals."""
    prefix, colon, rest = text.partition(":")
    if colon and prefix.strip() in _PROGRAMS:
        return {"type": _PROGRAMS[prefix.strip()], "value": rest.strip()}
    if colon and prefix.strip() in _GRADED:
        return {"type": "llm-rubric", "value": rest.strip()}
    match = _EXPECTED.match(text)
    if match is not None:
        kind = match["kind"]
        bare = kind.removeprefix("not-")
        if bare in TYPES and (match["value"] is not None or bare in _BARE or match["threshold"]):
            made: dict[str, Any] = {"type": kind}
            if match["value"] is not None and match["value"].strip():
                made["value"] = match["value"].strip()
            if match["threshold"]:
                made["threshold"] = Spelled(match["threshold"])
            return made
    return {"type": "equals", "value": text}
