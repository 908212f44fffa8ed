"""The texts that a response was to rest on: what a retriever found, or what its author was given.

The one idea: such texts belong to the case, beside its response, and stand where the tools that people use put them; an
expectation may point elsewhere, or bring its own. Nobody who asks for a context gets an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tiered_eval.records import Case
from tiered_eval.text.paths import find_at, parse_path

__all__ = ["CONTEXT_NAMES", "contexts_of"]

CONTEXT_NAMES = ("context", "contexts", "retrieved_contexts", "retrieval_context")
"""As this tool, ragas and DeepEval call them."""

_TEXT_OF_DOCUMENT = ("page_content", "content", "text")
"""Where a retriever's documents keep their words."""


def contexts_of(case: Case, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The contexts of an expectation, none of them blank; empty where there is none.

    They are its option ``context``, else what stands at the path ``context_field`` in the fields of the response or in
    the case's ``meta``, else what these hold under one of the usual names.

    Raises:
        ValueError: ``context_field`` is no path.
    """
    if "context" in options:
        return tuple(_texts_in(options["context"]))
    roots = (case.fields, case.meta)
    if "context_field" in options:
        path = parse_path(str(options["context_field"]))
        places = (find_at(root, path)[0] for root in roots)
    else:
        places = ([root[name]] for root in roots for name in CONTEXT_NAMES if name in root)
    return next((texts for found in places if (texts := tuple(_texts_in(found)))), ())


def _texts_in(value: Any) -> Iterator[str]:
    """Every text of a text, a document, or a list of such."""
    if isinstance(value, str):
        if value and not value.isspace():
            yield value
    elif isinstance(value, Mapping):
        yield from _texts_in(next((value[name] for name in _TEXT_OF_DOCUMENT if name in value), None))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _texts_in(entry)
