"""Reads the tests of an author before they run: which of their statements are tests, and how many there are.

The one idea: what would never run is no test that passes. The same reading says so when the suite is loaded, and tells in
the box how much is left undone where the code ends the tests early.

It is a module of the box too, and uses the standard library only.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator

__all__ = [
    "body_of_main",
    "count_tests",
    "is_pythons_own",
    "is_runner",
    "is_test",
    "never_run",
    "wants_fixtures",
]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOING_THINGS = frozenset({"antigravity", "idlelib", "lib2to3", "this", "turtledemo"})
"""Parts of Python that do something when they are imported."""


def is_test(node: ast.stmt) -> bool:
    """Does a statement judge something, and not only prepare or print?"""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return False
    if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)):
        return True
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_pythons(node.value.func)
    )


def _is_pythons(called: ast.expr) -> bool:
    """Is it a function of Python itself, which asserts nothing: ``print``, ``random.seed``?"""
    if isinstance(called, ast.Name):
        return hasattr(builtins, called.id)
    is_of_module = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
    return is_of_module and ast.unparse(called) in (
        "random.seed",
        "sys.setrecursionlimit",
        "warnings.simplefilter",
    )


def is_runner(node: ast.stmt) -> bool:
    """Does it start a runner of tests? None is needed: they are found."""
    return isinstance(node, ast.Expr) and any(
        isinstance(inner, ast.Attribute)
        and inner.attr == "main"
        and isinstance(inner.value, ast.Name)
        and inner.value.id in ("unittest", "pytest")
        for inner in ast.walk(node)
    )


def body_of_main(node: ast.stmt) -> list[ast.stmt] | None:
    """What stands under ``if __name__ == "__main__":``."""
    is_main = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
    return node.body if is_main and isinstance(node, ast.If) else None


def count_tests(tree: ast.Module, function: str | None) -> int:
    """How many tests there are, each that is begun one by itself."""
    return sum(_count(node, function) for node in tree.body)


def _count(node: ast.stmt, function: str | None) -> int:
    if (body := body_of_main(node)) is not None:
        return sum(_count(inner, function) for inner in body)
    if isinstance(node, _FUNCTIONS):
        return node.name.startswith("test") or (node.name == "check" and function is not None)
    if isinstance(node, ast.ClassDef):
        return len(_test_methods(node))
    return not is_runner(node) and is_test(node)


def _test_methods(kind: ast.ClassDef) -> list[str]:
    return [node.name for node in kind.body if isinstance(node, _FUNCTIONS) and node.name.startswith("test")]


def never_run(tree: ast.Module, function: str | None) -> Iterator[str]:
    """Names of what holds assertions and is no test, nor used by one."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in tree.body:
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)) or node.name in used or node.decorator_list:
            continue
        is_asserting = any(isinstance(inner, ast.Assert) for inner in ast.walk(node))
        if isinstance(node, ast.ClassDef):
            is_found = bool(node.bases) or (node.name.startswith("Test") and not _has_init(node))
            if (is_asserting or _test_methods(node)) and not is_found:
                yield node.name
        elif is_asserting and not _count(node, function):
            yield node.name


def wants_fixtures(tree: ast.Module) -> Iterator[str]:
    """Names of tests that a fixture, or a table of pytest's, would have to call."""
    for node in tree.body:
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            given = node.args
            required = [*given.posonlyargs, *given.args][: -len(given.defaults) or None]
            if required and all("parametrize" in ast.unparse(one) for one in node.decorator_list):
                yield node.name


def _has_init(kind: ast.ClassDef) -> bool:
    return any(isinstance(node, _FUNCTIONS) and node.name == "__init__" for node in kind.body)


def is_pythons_own(module: str) -> bool:
    """Is it a module of Python's that can be imported without anything happening?

    The code says which module it has imported, and may say anything: ``unittest.__main__`` would look for tests in the folder
    of the code, and run them here.
    """
    parts = module.split(".")
    return parts[0] in sys.stdlib_module_names and not any(
        part.startswith("_") or part in _DOING_THINGS for part in parts
    )
