"""promptfoo's configuration as a suite: tests, defaults, scenarios, variables, assertions.

The one idea: promptfoo renders a prompt for each test and asks a model; a suite here is told the responses. So each test
becomes a case whose ``input`` is the rendered prompt, and the responses are joined by id (or stand in the test as
``providerOutput``, or in an exported result).

Facts about the format are those of promptfoo 0.121 (read November 2026).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tiered_eval.importers.files import Folder, parse_json
from tiered_eval.importers.outcome import Collector, ImportedSuite, Unsupported
from tiered_eval.importers.promptfoo_assertions import JUDGED, NEGATION, proposals_for, with_relations
from tiered_eval.importers.promptfoo_tests import Test, merged, tests_of
from tiered_eval.importers.templates import filled, filled_in
from tiered_eval.suite.source import plain, text_of

__all__ = ["NAME", "is_promptfoo", "read_promptfoo"]

NAME = "promptfoo"
MOST_COMBINATIONS = 1_000
"""Cases that the lists among one test's variables may make."""

_READ = frozenset({"description", "prompts", "providers", "targets", "tests", "defaultTest", "scenarios"}) | {
    "assertionTemplates",
    "$schema",
    "tags",
    "results",
    "config",
    "outputPath",
    "sharing",
    "evalId",
}
_ASSERTION_READ = frozenset({"type", "value", "threshold", "weight", "metric", "assert", "provider"})
_CHANGES_OUTPUT = ("transform", "postprocess")
_PROMPT_OF_JUDGE = ("rubricPrompt", "config")
_SHARE_OF_PASSES = "the limit is `pass_at` of the case: the weighted share of expectations that pass; there it was the mean of their scores"
_Made: TypeAlias = tuple[str, Any]
"""The place of an assertion, and the entry that it became."""


def is_promptfoo(value: object) -> bool:
    """Does it look like promptfoo's configuration, or like results of it?"""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("results"), Mapping) and "results" in value["results"]:
        return True
    return bool({"tests", "scenarios"} & value.keys() and {"prompts", "providers", "targets"} & value.keys())


def read_promptfoo(value: Mapping[str, Any], folder: Folder) -> ImportedSuite:
    """The suite that a configuration, or its exported results, stand for."""
    out = Collector()
    results = value.get("results")
    reader = _Reader(out, folder, value)
    if isinstance(results, Mapping):
        reader.read_results(results.get("results"))
        config = value.get("config")
        name = config.get("description") if isinstance(config, Mapping) else None
        return out.finish(NAME, text_of(name) or "promptfoo")
    reader.read_config()
    return out.finish(NAME, text_of(value.get("description")) or "promptfoo")


class _Reader:
    """Reads one configuration into a collector."""

    def __init__(self, out: Collector, folder: Folder, config: Mapping[str, Any]) -> None:
        self.out = out
        self.folder = folder
        self.config = config
        self.number = 0
        self._is_alone = False
        """Is the assert-set that is read all of its test, so that its threshold is the case's?"""
        self._grader: Any = None
        """Who grades where an assertion of the test that is read names nobody."""

    def read_config(self) -> None:
        for name in [name for name in self.config if name not in _READ]:
            self.out.leave_out(str(name), "it has nothing to do with scoring, or nothing like it here")
        providers = self.config.get("providers", self.config.get("targets"))
        if isinstance(providers, list) and len(providers) > 1:
            self.out.change(
                "providers",
                f"{len(providers)} of them: score each one's responses in a run of its own, with --responses",
            )
        prompts = list(self._prompts())
        for test in tests_of(self.config, self.folder, self.out):
            self._read_test(test, prompts)

    def read_results(self, rows: Any) -> None:
        """Exported results: each row is a test with the response that it got."""
        for index, row in enumerate(rows if isinstance(rows, list) else []):
            self.number += 1
            place = f"results[{index}]"
            test_case = row.get("testCase") if isinstance(row, Mapping) else None
            if not isinstance(test_case, Mapping):
                self.out.leave_out(place, "it has no testCase")
                continue
            response = row.get("response")
            output = response.get("output") if isinstance(response, Mapping) else None
            if output is None:
                self.out.leave_out(place, "it has no response: the provider failed")
                continue
            prompt = row.get("prompt")
            raw = prompt.get("raw") if isinstance(prompt, Mapping) else None
            meta = {
                name: plain(row[key])
                for name, key in (("latency_ms", "latencyMs"), ("cost_usd", "cost"))
                if row.get(key) is not None
            }
            test = Test(
                place, {**test_case, "vars": {**row.get("vars", {}), **(test_case.get("vars") or {})}}
            )
            self._add(test, test.variables, input=_input(raw), response=output, meta=meta, suffix="")

    def _prompts(self) -> Iterator[str]:
        given = self.config.get("prompts")
        listed = given if isinstance(given, list) else [given] if given is not None else []
        for index, prompt in enumerate(listed):
            text = prompt.get("raw", prompt.get("id")) if isinstance(prompt, Mapping) else prompt
            place = f"prompts[{index}]"
            if not isinstance(text, str):
                self.out.leave_out(place, "it is no text: cases have no `input` from it")
                continue
            if not text.startswith("file://"):
                yield text
                continue
            try:
                if not text.endswith((".txt", ".md", ".json")):
                    raise Unsupported(f"{text} is made by a program")
                for name in self.folder.names(text):
                    parts = self.folder.text(name).split("\n---\n")
                    yield from (part.strip() for part in parts if part.strip())
            except Unsupported as fault:
                self.out.leave_out(place, f"{fault}: cases have no `input` from it")

    def _read_test(self, test: Test, prompts: list[str]) -> None:
        self.number += 1
        sets = list(self._variable_sets(test))
        for number, variables in enumerate(sets, start=1):
            variant = f" / {number}" if len(sets) > 1 else ""
            for index, prompt in enumerate(prompts or [None], start=1):
                suffix = variant + (f" / prompt {index}" if len(prompts) > 1 else "")
                asked = None
                try:
                    asked = self._rendered(prompt, test, variables)
                except Unsupported as fault:
                    self.out.leave_out(test.place, f"its input: {fault}")
                self._add(
                    test,
                    variables,
                    input=asked,
                    response=test.raw.get("providerOutput"),
                    meta={},
                    suffix=suffix,
                )

    def _variable_sets(self, test: Test) -> Iterator[Mapping[str, Any]]:
        """promptfoo makes one test of each combination of the lists among the variables."""
        variables = dict(test.variables)
        for name, value in test.variables.items():
            if isinstance(value, str) and value.startswith("file://"):
                try:
                    variables[name] = self.folder.text(value)
                except Unsupported as fault:
                    self.out.leave_out(f"{test.place}.vars.{name}", str(fault))
                    del variables[name]  # a text with the name of the file in it would be another claim
        lists = {name: value for name, value in variables.items() if isinstance(value, list)}
        options = test.raw.get("options")
        is_off = isinstance(options, Mapping) and text_of(options.get("disableVarExpansion")) == "true"
        if not lists or is_off:
            yield variables
            return
        if math.prod(len(value) for value in lists.values()) > MOST_COMBINATIONS:
            self.out.leave_out(test.place, f"its variables make more than {MOST_COMBINATIONS:,} tests")
            return
        for chosen in itertools.product(*lists.values()):
            yield {**variables, **dict(zip(lists, chosen, strict=True))}

    def _rendered(self, prompt: str | None, test: Test, variables: Mapping[str, Any]) -> Any:
        if prompt is None:
            only = list(variables.values())
            return text_of(only[0]) if len(only) == 1 else None
        options = test.raw.get("options")
        given = options if isinstance(options, Mapping) else {}
        text = f"{given.get('prefix', '')}{prompt}{given.get('suffix', '')}"
        return _input(filled(text, variables))

    def _add(
        self,
        test: Test,
        variables: Mapping[str, Any],
        *,
        input: Any,
        response: Any,
        meta: dict[str, Any],
        suffix: str,
    ) -> None:
        for where, why in test.unread():
            self.out.leave_out(where, why)
        options = test.raw.get("options")
        self._grader = options.get("provider") if isinstance(options, Mapping) else None
        self._is_alone = test.raw.get("threshold") is None and self._only_set(test) is not None
        found: list[_Made] = []
        for index, raw in enumerate(test.assertions):
            found += self._assertion(raw, test.place_of_assertion(index), variables, 1.0, None)
        expect = [made for _, made in found]
        try:
            expect = [with_relations(made, test.relations) for made in expect]
        except ValueError:
            self.out.leave_out(test.place_of("options", "factuality"), "a score that is no number")
        kept = {"vars": dict(variables)} if variables else {}
        if input is None:
            input = text_of(variables.get("query"))  # what graders take for the question
        self.out.add_case(
            f"{test.name or f'test-{self.number}'}{suffix}",
            expect,
            test.place,
            places=[where for where, _ in found],
            response=response,
            input=input,
            pass_at=self._pass_at(test),
            context=_context(variables, expect),
            meta={**meta, **kept, **test.metadata},
        )

    def _pass_at(self, test: Test) -> float | None:
        """The share with which a test passed; None where all of it had to, or nothing of the kind can be said."""
        place, given = test.place_of("threshold"), text_of(test.raw.get("threshold"))
        if given is None and (alone := self._only_set(test)) is not None:
            place, given = f"{test.place_of_assertion(0)}.threshold", text_of(alone.get("threshold"))
        if given is None:
            return None
        try:
            share = float(given)
        except ValueError:
            share = math.nan
        if not 0 < share <= 1:
            self.out.leave_out(place, f"a threshold of {given} is no share of the weights")
            return None
        self.out.change(place, _SHARE_OF_PASSES)
        return share if share < 1 else None

    def _only_set(self, test: Test) -> Mapping[str, Any] | None:
        """The assert-set that is all of a test, so that its threshold is the test's."""
        if len(test.assertions) != 1:
            return None
        try:
            raw = self._resolved(test.assertions[0])
        except Unsupported:
            return None
        return raw if text_of(raw.get("type")) == "assert-set" else None

    def _assertion(
        self, raw: Any, place: str, variables: Mapping[str, Any], scale: float, metric: str | None
    ) -> list[_Made]:
        """The expectations that one assertion, or a set of them, becomes."""
        try:
            raw = self._resolved(raw)
            kind = text_of(raw.get("type"))
            if kind is None:
                raise Unsupported("it has no type")
            weight = scale * float(text_of(raw.get("weight", 1)) or 1)
            named = text_of(raw.get("metric"))
            metric = metric if named is None else filled(named, variables)
            if kind == "assert-set":
                return self._set(raw, place, variables, weight, metric)
            accepted = self.out.accept(place, self._proposals(kind, raw, place, variables, weight, metric))
            return [(place, made) for made in accepted]
        except Unsupported as fault:
            kind = text_of(raw.get("type")) if isinstance(raw, Mapping) else None
            self.out.leave_out(place, f"{kind}: {fault}" if kind else str(fault))
        except ValueError:
            self.out.leave_out(place, "a weight or threshold that is no number")
        return []

    def _proposals(
        self,
        kind: str,
        raw: Mapping[str, Any],
        place: str,
        variables: Mapping[str, Any],
        weight: float,
        metric: str | None,
    ) -> Any:
        for name in _CHANGES_OUTPUT:
            if name in raw:
                raise Unsupported(f"`{name}` changes the response before it is checked")
        if "contextTransform" in raw:
            raise Unsupported(
                "`contextTransform` takes the context out of the response: say where it is with `context_field`"
            )
        for name in [name for name in raw if name not in _ASSERTION_READ]:
            why = (
                "judges are asked with our prompts"
                if name in _PROMPT_OF_JUDGE
                else "it has nothing like it here"
            )
            self.out.leave_out(f"{place}.{name}", why)
        settings: dict[str, Any] = {"weight": _short(weight) if weight != 1 else None, "dimension": metric}
        if kind.removeprefix(NEGATION) in JUDGED:
            settings["models"] = self._judge(raw.get("provider", self._grader), place)
        elif "provider" in raw:
            self.out.leave_out(
                f"{place}.provider", "no model is asked about this one, or an embedder: give --embedder"
            )
        value = self._value(raw.get("value"), variables)
        return proposals_for(kind, value, text_of(raw.get("threshold")), _given(settings))

    def _value(self, value: Any, variables: Mapping[str, Any]) -> Any:
        if isinstance(value, str) and value.startswith("file://"):
            if not value.endswith((".txt", ".md", ".json", ".yaml", ".yml")):
                raise Unsupported(f"{value} is a program")
            is_text = value.endswith((".txt", ".md"))
            value = self.folder.text(value).strip() if is_text else self.folder.value(value)
        return filled_in(value, variables)

    def _set(
        self,
        raw: Mapping[str, Any],
        place: str,
        variables: Mapping[str, Any],
        weight: float,
        metric: str | None,
    ) -> list[_Made]:
        """The assertions of a set, which share its weight."""
        inside = raw.get("assert")
        if not isinstance(inside, list) or not inside:
            raise Unsupported("an assert-set without assertions")
        weights = [
            float(text_of(one.get("weight", 1)) or 1) if isinstance(one, Mapping) else 1.0 for one in inside
        ]
        total = sum(weights)
        threshold = text_of(raw.get("threshold"))
        if threshold is not None and float(threshold) < 1 and not self._is_alone:
            self.out.change(
                f"{place}.threshold",
                f"an assert-set passed from {threshold} on; its assertions count one by one here, with its weight",
            )
        scale = weight / total if total else 0.0
        return [
            made
            for index, one in enumerate(inside)
            for made in self._assertion(one, f"{place}.assert[{index}]", variables, scale, metric)
        ]

    def _resolved(self, raw: Any) -> Mapping[str, Any]:
        """The assertion itself, also where it is a reference to a template."""
        if not isinstance(raw, Mapping):
            raise Unsupported("it is no mapping")
        reference = raw.get("$ref")
        if not isinstance(reference, str):
            return raw
        templates = self.config.get("assertionTemplates")
        name = reference.removeprefix("#/assertionTemplates/")
        found = templates.get(name) if isinstance(templates, Mapping) else None
        if not isinstance(found, Mapping):
            raise Unsupported(f"the template {reference} is not there")
        return merged(found, {key: value for key, value in raw.items() if key != "$ref"})

    def _judge(self, provider: Any, place: str) -> list[str] | None:
        """The judge that a grader's provider stands for."""
        while isinstance(provider, Mapping):  # {id: ...}, or one for each type: {text: {id: ...}}
            provider = provider.get("id", provider.get("text"))
        if provider is None:
            return None
        provider = text_of(provider) or "a list"
        vendor, _, rest = provider.partition(":")
        model = rest.rpartition(":")[2]
        if vendor in ("openai", "anthropic") and model:
            return [f"{vendor}:{model}"]
        self.out.leave_out_once(
            f"{place}.provider", f"{provider} is no judge here: the suite's judge is asked"
        )
        return None


def _short(weight: float) -> float | int:
    return int(weight) if weight.is_integer() else round(weight, 9)


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _context(variables: Mapping[str, Any], expect: list[Any]) -> Any:
    """The variable that graders take for the context, where one of them asks for it."""
    asks = any("context-" in str(next(iter(one), "")) for one in expect if isinstance(one, Mapping))
    asks = asks or any(isinstance(one, str) and "context-" in one for one in expect)
    return plain(variables["context"]) if asks and variables.get("context") else None


def _input(text: Any) -> Any:
    """A prompt as text, or as the messages that it is JSON of."""
    if not isinstance(text, str):
        return None
    if text.lstrip().startswith("["):
        try:
            messages = parse_json(text)
        except ValueError:
            return text
        if messages and all(
            isinstance(one, Mapping) and {"role", "content"} <= one.keys() for one in messages
        ):
            return messages
    return text
