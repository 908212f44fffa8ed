"""agent-arena's ``tests.yaml`` as a suite: its ten eval types under the scorers of the same name.

The one idea: a case has a reference, and an eval type that says how it is compared; type and options come from the case,
else from ``scorers`` of the project. What is asked of a judge, or left to people, keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from tiered_eval.importers.files import Folder
from tiered_eval.importers.outcome import Collector, ImportedSuite, Proposal, Unsupported, entry
from tiered_eval.suite.source import Spelled, plain, text_of

__all__ = ["NAME", "is_arena", "read_arena"]

NAME = "agent-arena"
PROJECT_FILES = ("project.yaml", "project.yml", "arena.yaml", "arena.yml", "config.yaml")
"""Where ``scorers`` may stand, if not among the tests."""

Rule: TypeAlias = Callable[[Any, Mapping[str, Any]], list[Proposal]]

_CASE_READ = frozenset(
    {"id", "name", "input", "prompt", "question", "reference", "expected", "eval_type", "options"}
) | {"weight", "tags", "category", "metadata", "meta", "output", "response", "judge", "enabled"}
_INPUTS = ("input", "prompt", "question")


def is_arena(value: object) -> bool:
    """Does it look like agent-arena's tests?"""
    tests = _tests_in(value)
    return bool(tests) and any(
        isinstance(test, Mapping) and ("eval_type" in test or ("reference" in test and "assert" not in test))
        for test in tests[:20]
    )


def read_arena(value: Any, folder: Folder, stem: str) -> ImportedSuite:
    """The suite that the tests stand for."""
    out = Collector()
    project = _project(value, folder)
    scorers = project.get("scorers")
    scorers = scorers if isinstance(scorers, Mapping) else {}
    judge = project.get("judge")
    prompt = text_of(judge.get("prompt")) if isinstance(judge, Mapping) else None
    if isinstance(value, Mapping):
        for name in value.keys() - {"tests", "cases", "scorers", "judge", "name", "description", "version"}:
            out.leave_out(str(name), "it has nothing like it here")
    for index, test in enumerate(_tests_in(value)):
        place = f"tests[{index}]"
        if isinstance(test, Mapping):
            _add(out, test, place, scorers, index + 1, prompt)
        else:
            out.leave_out(place, "it is no mapping")
    name = text_of(project.get("name")) or stem
    return out.finish(NAME, name, judge=_judge(out, judge))


def _tests_in(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        value = value.get("tests", value.get("cases"))
    return value if isinstance(value, list) else []


def _project(value: Any, folder: Folder) -> Mapping[str, Any]:
    """Where scorers and judge are set: the tests' own file, else the project's beside it."""
    if isinstance(value, Mapping) and ("scorers" in value or "judge" in value):
        return value
    for name in PROJECT_FILES:
        try:
            found = folder.value(name)
        except Unsupported:
            continue
        if isinstance(found, Mapping):
            return found
    return value if isinstance(value, Mapping) else {}


def _add(
    out: Collector,
    test: Mapping[str, Any],
    place: str,
    scorers: Mapping[str, Any],
    number: int,
    prompt: str | None,
) -> None:
    """Adds one test; ``prompt`` is what a judge is asked where the test does not say."""
    for name in sorted(test.keys() - _CASE_READ):
        why = (
            "it changes the response before it is checked: give the responses as they are to be checked"
            if name == "post_process"
            else "it has nothing like it here"
        )
        out.leave_out(f"{place}.{name}", why)
    kind = (text_of(test.get("eval_type")) or text_of(scorers.get("default")) or "").replace("-", "_")
    every = scorers.get("options")
    shared = every.get(kind) if isinstance(every, Mapping) else None
    own = test.get("options")
    options = {
        **({"prompt": prompt} if prompt and kind == "llm_judge" else {}),
        **(shared if isinstance(shared, Mapping) else {}),
        **(own if isinstance(own, Mapping) else {}),
        **({"judge": test["judge"]} if isinstance(test.get("judge"), Mapping) else {}),
    }
    expect: list[Any] = []
    try:
        expect = out.accept(place, _proposals(kind, test.get("reference", test.get("expected")), options))
        expect = [_weighed(one, text_of(test.get("weight"))) for one in expect]
    except Unsupported as fault:
        out.leave_out(place, str(fault))
    tags = [text_of(tag) for tag in _listed(test.get("tags")) + _listed(test.get("category"))]
    metadata = test.get("metadata", test.get("meta"))
    out.add_case(
        text_of(test.get("id")) or text_of(test.get("name")) or f"test-{number}",
        expect,
        place,
        response=test.get("output", test.get("response")),
        input=next((test[name] for name in _INPUTS if name in test), None),
        tags=[tag for tag in tags if tag],
        meta={"metadata": metadata} if metadata else {},
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _weighed(made: Any, weight: str | None) -> Any:
    """The entry with the weight of its case."""
    if weight is None or weight in ("1", "1.0"):
        return made
    if isinstance(made, str):
        return {made: {"weight": Spelled(weight)}}
    ((name, value),) = made.items()
    is_long = isinstance(value, Mapping) and bool({"value", "any", "all", "weight"} & value.keys())
    return {name: {**(value if is_long else {"value": value}), "weight": Spelled(weight)}}


def _proposals(kind: str, reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    rule = _TYPES.get(kind)
    if rule is None:
        why = "there is no eval type" if not kind else f"`{kind}` is a scorer of your own"
        raise Unsupported(f"{why}: write it in Python and name it with `python: module:function`")
    if reference is None and kind not in ("llm_judge", "manual"):
        raise Unsupported(f"{kind} without a reference")
    return rule(reference, options)


def _only(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The options of those names; any other is not ours to guess.

    Raises:
        Unsupported: there is another one.
    """
    if other := sorted(options.keys() - {*names}):
        raise Unsupported(f"the option {other[0]} has nothing like it here")
    return {name: options[name] for name in names if name in options}


def _classification(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    labels = _only(options, "labels").get("labels")
    if not labels:
        raise Unsupported("classification without labels")
    return [Proposal(entry("classification", reference, labels=labels))]


def _exact_match(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    strict = text_of(_only(options, "strict").get("strict")) == "true"
    return [Proposal(entry("exact-match", reference, strict=strict or None))]


def _contains(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    mode = text_of(_only(options, "mode").get("mode")) or "all"
    mode_given = mode if isinstance(reference, list) and mode != "all" else None
    return [Proposal(entry("contains", reference, mode=mode_given), _EDGES)]


_EDGES = "`contains` looks between the edges of words and numbers here, and not inside a denial"


def _regex(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    given = _only(options, "group", "expected", "equals")
    settings = {"group": given.get("group"), "equals": given.get("equals", given.get("expected"))}
    return [
        Proposal(entry("regex", reference, **settings)),
        Proposal(entry("regex", reference, engine="regex", **settings)),
    ]


def _numeric(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    given = _only(options, "tolerance", "relative")
    relative = True if text_of(given.get("relative")) == "true" else None
    change = "`numeric` does not take the first of several numbers: say which by unit, label or position"
    return [
        Proposal(entry("numeric", reference, tolerance=given.get("tolerance"), relative=relative), change)
    ]


def _json_match(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    return [Proposal(entry("json-match", reference, **_only(options, "pass_at")))]


def _semantic(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    given = _only(options, "threshold", "pass_at")
    text = text_of(reference)
    if text is None:
        raise Unsupported("the reference is no text")
    lexical = entry("lexical-cosine", text, pass_at=given.get("pass_at", given.get("threshold")))
    return [Proposal(lexical, "`semantic` without an embedding function is lexical: `lexical-cosine` here")]


def _code_exec(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    given = _only(options, "language", "timeout_s", "timeout", "memory_mb")
    change = "`code_exec` runs the code shut in here, without network and files of yours; there it ran as you"
    return [Proposal(entry("code-exec", reference, **given), change)]


def _llm_judge(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    judge = options.get("judge")
    asked = judge if isinstance(judge, Mapping) else options
    criteria = (
        text_of(asked.get("prompt")) or text_of(options.get("criteria")) or text_of(options.get("prompt"))
    )
    if criteria is None:
        raise Unsupported("llm_judge without a prompt")
    pass_at = text_of(options.get("pass_at", options.get("threshold")))
    model = _vendor_model(text_of(asked.get("model")))
    made = entry(
        "llm-judge",
        criteria,
        pass_at=None if pass_at is None else float(pass_at),
        reference=None if reference is None else text_of(reference) or str(plain(reference)),
        models=None if model is None else [model],
    )
    return [Proposal(made, "the judge's prompt is the criterion here; the rest of the question is ours")]


def _manual(reference: Any, options: Mapping[str, Any]) -> list[Proposal]:
    text = text_of(reference)
    claim = f"Is as good as this: {text}" if text else "Is good"
    return [
        Proposal(entry("manual", claim), "`manual` scores nothing until people have judged; it is never 0.5")
    ]


_TYPES: Mapping[str, Rule] = MappingProxyType(
    {
        "classification": _classification,
        "exact_match": _exact_match,
        "contains": _contains,
        "regex": _regex,
        "numeric": _numeric,
        "json_match": _json_match,
        "semantic": _semantic,
        "code_exec": _code_exec,
        "llm_judge": _llm_judge,
        "manual": _manual,
    }
)


def _judge(out: Collector, given: Any) -> dict[str, Any] | None:
    """The judge of the suite, where its model's vendor can be told."""
    model = text_of(given.get("model")) if isinstance(given, Mapping) else None
    if model is None:
        return None
    named = _vendor_model(model)
    if named is None:
        out.leave_out("judge.model", f"whose model {model} is cannot be told: write provider:model")
        return None
    return {"models": [named]}


def _vendor_model(model: str | None) -> str | None:
    """``provider:model``, where the vendor can be told by the model's name."""
    if model is None:
        return None
    if model.startswith("claude"):
        return f"anthropic:{model}"
    return f"openai:{model}" if model.startswith(("gpt", "o")) else None
