"""The Python code that belongs to one suite: the files of its ``scorers/`` folder, and whatever it names as ``module:function``.

The one idea: a suite may come from a stranger's pull request, and a CI job has keys, so nothing here is imported before
its user has said that it may be. Each folder is a package of its own under a name that is made of its path and of its
files' texts, so that two suites may have files of one name, and a file that was edited is read anew.

Route: :mod:`tiered_eval.suite.own_scorers` and :mod:`tiered_eval.suite.hooks` ask for objects by name.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tiered_eval.suite.files import is_inside
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.python_reader import find_python, import_foreign, is_python_name

__all__ = ["FOLDER", "SuiteCode", "place_of"]

_OTHER_TOOLS = frozenset(
    {
        "agent_arena",
        "autoevals",
        "deepeval",
        "evals",
        "inspect_ai",
        "langsmith",
        "openevals",
        "promptfoo",
        "ragas",
    }
)
"""Packages that scorers of other tools inherit from."""
FOLDER = "scorers"
"""Beside the suite's file."""

_PACKAGE = "_tiered_eval_suite_"


class SuiteCode:
    """What a suite may run.

    Args:
        folder: the suite's own; None for what was made in Python.
        allow_code: has the user allowed it?
        allow_outside: may links lead out of the folder?
    """

    def __init__(self, folder: Path | None, *, allow_code: bool, allow_outside: bool = False) -> None:
        self._folder = None if folder is None else folder / FOLDER
        self._root = folder
        self.allow_code = allow_code
        self._allow_outside = allow_outside
        self._modules: dict[str, ModuleType] | None = None

    @property
    def has_folder(self) -> bool:
        """Is there a folder with code beside the suite?"""
        return self._folder is not None and self._folder.is_dir()

    def modules(self) -> Mapping[str, ModuleType]:
        """The files of the folder by their names, imported now; those that begin with ``_`` are for the others to import.

        Raises:
            Unreadable: code is not allowed, or one of them raised.
        """
        if self._modules is None:
            self._modules = self._imported() if self.has_folder else {}
        return self._modules

    def find(self, name: str) -> tuple[Any, str]:
        """What ``module:function`` names, and where it stands. Files of the folder come before installed modules.

        Raises:
            Unreadable: code is not allowed, or there is no such thing.
        """
        self.check_allowed(name)
        if not is_python_name(name):
            raise Unreadable(
                line=None,
                rule="no-function",
                message=f'"{name}" is not module:function',
                fix="write the module, a colon, and the name in it",
            )
        stem, _, path = name.partition(":")
        if not self.has_folder or stem not in self.modules():
            return find_python(name), name
        module = self.modules()[stem]
        found: Any = module
        for part in path.split("."):
            if not hasattr(found, part):
                raise Unreadable(
                    line=None,
                    rule="no-function",
                    message=f"{place_of(module)} has no {path}",
                    fix="check the name",
                )
            found = getattr(found, part)
        return found, name

    def check_allowed(self, what: str) -> None:
        """May code run?

        Raises:
            Unreadable: it may not.
        """
        if not self.allow_code:
            raise Unreadable(
                line=None,
                rule="code-not-allowed",
                message=f"{what} is code of the suite, and that is not run unless you allow it",
                fix="pass --allow-code (allow_code=True) if you trust it; never for a stranger's pull request, "
                "whose code would run with your keys",
            )

    def _imported(self) -> dict[str, ModuleType]:
        assert self._folder is not None, "has_folder"
        assert self._root is not None, "has_folder"
        self.check_allowed(f"what stands in {FOLDER}/")
        files = sorted(path for path in self._folder.glob("*.py") if path.is_file())
        for path in files:
            if not self._allow_outside and not is_inside(path, self._root):
                raise Unreadable(
                    line=None,
                    rule="outside-folder",
                    message=f"{FOLDER}/{path.name} leads out of the suite's folder",
                    fix="move it there, or pass --allow-outside (allow_outside=True)",
                )
            if "." in path.stem:
                raise Unreadable(
                    line=None,
                    rule="suite-code-failed",
                    message=f"{FOLDER}/{path.name} has a dot in its name, and cannot be imported",
                    fix="rename it",
                )
        package = _package(self._folder)
        writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:  # nothing is written into the suite's folder, so that no compiled file outlives an edit
            return {
                path.stem: import_foreign(f"{package}.{path.stem}", f"{FOLDER}/{path.name}")
                for path in files
                if not path.stem.startswith("_")
            }
        except Unreadable as fault:
            missing = fault.__cause__.name if isinstance(fault.__cause__, ImportError) else None
            if missing is not None and missing.partition(".")[0] in (FOLDER, *(path.stem for path in files)):
                fault.fix = "files of the folder import each other with a dot: from .other import name"
            elif missing is not None and missing.partition(".")[0] in _OTHER_TOOLS:
                fault.fix = (
                    "a scorer here inherits from nothing: decorate a function, or give a class a method, as "
                    "docs/custom-scorers.md shows"
                )
            raise
        finally:
            sys.dont_write_bytecode = writes_bytecode


def place_of(module: ModuleType) -> str:
    """A file of the folder as people know it."""
    return f"{FOLDER}/{Path(module.__file__ or module.__name__).name}"


def _package(folder: Path) -> str:
    """The name of the package that the folder is, made where it is not yet known.

    Everything in it that may be imported counts, folders in it too, and by its text: an edit need not change size or time.
    """
    digest = hashlib.blake2b(str(folder.resolve()).encode("utf-8", "surrogatepass"), digest_size=8)
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for path in (Path(inner, name) for name in sorted(names) if name.endswith(".py")):
            text = path.read_bytes() if path.is_file() else b""
            place = str(path.relative_to(folder)).encode("utf-8", "surrogatepass")
            digest.update(b"%d %s %d " % (len(place), place, len(text)))
            digest.update(text)
    name = f"{_PACKAGE}{digest.hexdigest()}"
    if name not in sys.modules:
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = importlib.util.module_from_spec(spec)
        importlib.invalidate_caches()
    return name
