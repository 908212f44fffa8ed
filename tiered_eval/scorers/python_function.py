"""A function of the author's decides.

The one idea: code of a suite is run only when its user has said so; the loader has seen to that before this is reached. What the
function raises ends as an error with its traceback, never as a fail, and so does an answer that is none.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.copies import own_copy
from tiered_eval.scorers.said import outcome_of
from tiered_eval.scorers.selecting import Given, SelectingScorer
from tiered_eval.scorers.strays import close, guarded
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.python_reader import find_python, is_python_name

__all__ = ["PythonFunction"]


class PythonFunction(SelectingScorer):
    """What ``module:function`` says of the response.

    It is called with the response and a mapping of ``input``, ``fields``, ``meta`` and ``options``; what it may return is read
    by :mod:`tiered_eval.scorers.said`. Options: ``pass_at`` (1 for a score) and ``config``, handed on.
    """

    name = "python"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """Call it.

        Raises:
            ConfigError: there is no such function, or what it returned is no answer.
        """
        function = find_function(str(expected))
        case = given.subject.case
        context = {
            "input": case.input,
            "fields": own_copy(case.fields),
            "meta": own_copy(case.meta),
            "options": own_copy(options.get("config")),
        }
        said = guarded(str(expected), function, own_copy(given.value), context)
        if inspect.isawaitable(said):
            close(said)
            raise ConfigError(f"{expected} returned something to await; name it as a scorer of its own")
        return outcome_of(said, str(expected), pass_at=float(options.get("pass_at", 1.0)))


def find_function(name: str) -> Callable[..., Any]:
    """The function of that name, its module looked for in the working folder too.

    Raises:
        ConfigError: there is none.
    """
    return _function(name, os.getcwd())


@lru_cache(maxsize=256)
def _function(name: str, here: str) -> Callable[..., Any]:
    """``here`` is where it is looked for: another folder may have another function of that name."""
    if not is_python_name(name):
        raise ConfigError(f"{name!r} is not module:function")
    try:
        found = find_python(name)
    except Unreadable as fault:
        raise ConfigError(f"{name}: {fault.message}") from fault
    if not callable(found):
        raise ConfigError(f"{name} is no function")
    function: Callable[..., Any] = found
    return function
