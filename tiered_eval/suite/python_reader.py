"""Takes cases from a Python function, named as ``module:function``.

The one idea: a suite in Python is code, and a suite may come from a stranger's pull request; so it runs
only when its user has said so. What the function itself raises is its author's to see, with its traceback.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from tiered_eval.suite.problems import Unreadable

__all__ = ["call_python", "is_python_name", "read_python"]

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")


def is_python_name(name: str) -> bool:
    """Does it read like ``module:function``?"""
    return bool(_NAME.match(name))


def read_python(name: str, *, allow_code: bool) -> list[Any]:
    """What the function yields: cases, or mappings as they would be written in YAML.

    Raises:
        Unreadable: code is not allowed, there is no such function, or it yields nothing.
    """
    cases = call_python(name, allow_code=allow_code)
    if isinstance(cases, str | bytes) or not isinstance(cases, Iterable):
        raise Unreadable(
            line=None,
            rule="bad-case",
            message=f"it returned a {type(cases).__name__}",
            fix="return or yield Case objects, or mappings as in a YAML suite",
        )
    return list(cases)


def call_python(name: str, *, allow_code: bool) -> Any:
    """What the function returns; the object itself where it is no function.

    Raises:
        Unreadable: code is not allowed, or there is no such function.
    """
    if not allow_code:
        raise Unreadable(
            line=None,
            rule="code-not-allowed",
            message="this is Python code, and code of a suite is not run unless you allow it",
            fix="pass --allow-code (allow_code=True) if you trust it; never for a stranger's pull request",
        )
    module_name, _, path = name.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, SyntaxError) as fault:
        raise Unreadable(
            line=fault.lineno if isinstance(fault, SyntaxError) else None,
            rule="no-function",
            message=f"it cannot be imported: {fault}",
            fix="check the name, and that the module is in this folder or installed",
        ) from fault
    finally:
        if here in sys.path:
            sys.path.remove(here)
    return found() if callable(found) else found
