"""Finds out which tool a file is from, and reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.importers.arena import is_arena, read_arena
from tiered_eval.importers.files import Folder, read_any
from tiered_eval.importers.openai_evals import is_openai, read_openai
from tiered_eval.importers.outcome import ImportedSuite
from tiered_eval.importers.promptfoo import is_promptfoo, read_promptfoo

__all__ = ["SOURCES", "find_source", "import_suite"]

SOURCES = ("promptfoo", "openai", "arena")
_NOTES_SHOWN = 3
FILES_IN_FOLDER = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json", "tests.yaml")


def import_suite(path: Path, *, source: str | None = None, allow_outside: bool = False) -> ImportedSuite:
    """Read a suite of another tool.

    Args:
        path: its file, or a folder with ``promptfooconfig.yaml`` or ``tests.yaml`` in it.
        source: one of :data:`SOURCES`; told by the file's shape where None.
        allow_outside: let the file name other files outside its own folder.

    Raises:
        ConfigError: it cannot be read, or is from no tool that is known here.
    """
    if path.is_dir():
        found = [path / name for name in FILES_IN_FOLDER if (path / name).is_file()]
        if not found:
            raise ConfigError(f"{path} has none of {', '.join(FILES_IN_FOLDER)} in it: name the file")
        path = found[0]
    value = read_any(path)
    source = source or find_source(value)
    folder = Folder(path.parent, allow_outside)
    imported: ImportedSuite
    if source == "promptfoo" and isinstance(value, dict):
        imported = read_promptfoo(value, folder)
    elif source == "openai":
        imported = read_openai(value, folder, path.stem)
    elif source == "arena":
        imported = read_arena(value, folder, path.stem)
    else:
        raise ConfigError(
            f"{path} looks like none of {', '.join(SOURCES)}: say which it is with --from, or check the file. "
            "promptfoo has `tests` beside `prompts` or `providers`; OpenAI evals have samples with `input` and `ideal`, "
            "a registry with `class`, or `testing_criteria`; agent-arena has `tests` with `reference` and `eval_type`"
        )
    if not imported.suite["cases"]:
        why = "".join(f"; {note}" for note in imported.left_out[:_NOTES_SHOWN])
        raise ConfigError(f"{path} has no tests in it that can be read{why}")
    return imported


def find_source(value: Any) -> str | None:
    """The tool that a file's content looks like."""
    if is_promptfoo(value):
        return "promptfoo"
    if is_openai(value):
        return "openai"
    return "arena" if is_arena(value) else None
