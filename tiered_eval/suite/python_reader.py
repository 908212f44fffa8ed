"""Takes cases from a Python function, named as ``module:function``.

The one idea: a suite in Python is code, and a suite may come from a stranger's pull request; so it runs
only when its user has said so. What it raises is a fault of the suite, told with the place in its author's code.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from tiered_eval.errors import message_of
from tiered_eval.suite.problems import Unreadable

__all__ = ["call_python", "find_python", "import_foreign", "is_python_name", "read_python"]

T = TypeVar("T")

_FROM_FOLDERS: dict[str, tuple[str, str, object]] = {}
"""Modules that were imported from a working folder: the folder, the file, and what tells whether it was edited. Two suites in
one process may each have a ``checks.py``, and Python itself knows only one module of a name."""

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
    return _made_by_author(lambda: list(cases))


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
    found = find_python(name)
    return _made_by_author(found) if callable(found) else found


def find_python(name: str) -> Any:
    """What ``module:function`` names, looked for in the working folder too. The caller has seen to it that code may run.

    Raises:
        Unreadable: there is none.
    """
    module_name, _, path = name.partition(":")
    here = str(Path.cwd())
    _forget_others(here)
    before = set(sys.modules)
    sys.path.insert(0, here)
    try:
        found: Any = _imported(module_name)
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
        _remember(here, set(sys.modules) - before)
    return found


def _remember(here: str, added: set[str]) -> None:
    """Note what was imported from the working folder."""
    for name in added:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(here) and not file.startswith(_others()):
            _FROM_FOLDERS[name] = (here, file, _stamp(file))


def _forget_others(here: str) -> None:
    """Let a module of another folder, or one that was edited, not stand in for what is meant now.

    What was taken from it goes on working: a function keeps its module's names.
    """
    if all(folder == here and _stamp(file) == stamp for folder, file, stamp in _FROM_FOLDERS.values()):
        return
    for name in _FROM_FOLDERS:
        sys.modules.pop(name, None)
    _FROM_FOLDERS.clear()
    invalidate_caches()


def _stamp(file: str) -> object:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def import_foreign(module_name: str, file: str) -> ModuleType:
    """A file of a suite, imported under a name of ours.

    Raises:
        Unreadable: it cannot be; the message has the place.
    """
    try:
        module: ModuleType = _imported(module_name)
    except SyntaxError as fault:
        where = f"{file}:{fault.lineno}" if fault.lineno else file
        raise _not_importable(f"{where} is not Python: {fault.msg}") from fault
    except ImportError as fault:
        raise _not_importable(f"{file} cannot be imported: {fault}") from fault
    except Unreadable as fault:
        fault.message = f"{file}: {fault.message}"
        raise
    return module


def _not_importable(message: str) -> Unreadable:
    return Unreadable(line=None, rule="suite-code-failed", message=message, fix="mend the file")


def _imported(module_name: str) -> Any:
    """The module; what its own code raises is told as a fault of the suite, a missing one as an ImportError."""
    try:
        return import_module(module_name)
    except (ImportError, SyntaxError):
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # the skip of a test framework is no Exception
        raise _code_failed(fault) from fault


def _made_by_author(make: Callable[[], T]) -> T:
    """What foreign code makes.

    Raises:
        Unreadable: it raised; the message has the innermost place that is in its file, the cause its traceback.
    """
    try:
        return make()
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # foreign code may raise anything, and all of it is a fault of the suite
        raise _code_failed(fault) from fault


def _others() -> tuple[str, ...]:
    """Where code lies that others wrote: a fault is told with the last place before it went there."""
    import sysconfig  # slow to import, and seldom needed

    paths = sysconfig.get_paths()
    folders = (str(Path(__file__).parents[1]), *(paths[name] for name in ("stdlib", "platstdlib", "purelib")))
    return ("<frozen ", *(f"{folder}{os.sep}" for folder in folders))


def _code_failed(fault: BaseException) -> Unreadable:
    frames = traceback.extract_tb(fault.__traceback__)[1:]
    authors = [frame for frame in frames if not frame.filename.startswith(_others())] or frames
    place = f" at {authors[-1].filename}:{authors[-1].lineno}" if authors else ""
    return Unreadable(
        line=None,
        rule="suite-code-failed",
        message=f"its code raised {type(fault).__name__}: {message_of(fault)}{place}",
        fix="run the function by itself to see the whole traceback",
    )
