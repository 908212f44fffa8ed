"""Responses that choose something else, for ``classification``.

The one idea: what must be noticed is another choice, and none. Which labels there are is the author's to say; where all of
them are right, any choice is.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiered_eval.mutate.mutants import Mutant
from tiered_eval.records import Expectation

__all__ = ["label_mutants"]

_MOST = 10
"""Labels that are tried; a suite may have hundreds."""


def label_mutants(expectation: Expectation) -> Iterator[Mutant]:
    """Responses that choose another label, or deny the one that is expected."""
    value = expectation.value
    wanted = [str(one) for one in (value if isinstance(value, list | tuple) else [value])]
    labels = [str(one) for one in expectation.options.get("labels") or ()]
    others = [label for label in labels if label not in wanted]
    if others or len(labels) > 1:
        for label in (others or labels)[:_MOST]:
            yield Mutant("another label" if others else "every label", f"The answer is {label}.")
    for label in wanted[:_MOST]:
        yield Mutant("its denial", f"The answer is not {label}.")
