"""From a Report to text: one module a format, each with one function.

The one idea: ``render(report)`` yields the text in pieces, a case at a time, so that the report of a million
expectations is written without being held. Renderers read a Report and decide nothing. A new format is a module
and a line in :data:`FORMATS`.

Route: ``runner.evaluate`` makes a Report, :func:`write` puts it beside the others; only ``cli`` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from tiered_eval.errors import ConfigError
from tiered_eval.records import Report

__all__ = ["FORMATS", "Format", "check_formats", "render", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of report file."""

    file_name: str
    module: str
    """Where its ``render(report) -> Iterator[str]`` is; imported when first used."""
    summary: str


FORMATS = MappingProxyType(
    {
        "json": Format(
            file_name="report.json",
            module="tiered_eval.reports.json",
            summary="everything, with a documented schema",
        ),
        "jsonl": Format(
            file_name="results.jsonl", module="tiered_eval.reports.jsonl", summary="one line a case"
        ),
        "junit": Format(
            file_name="junit.xml",
            module="tiered_eval.reports.junit",
            summary="JUnit XML, one test case an expectation",
        ),
        "md": Format(
            file_name="summary.md",
            module="tiered_eval.reports.markdown",
            summary="a Markdown summary, also for a GitHub job",
        ),
    }
)


def check_formats(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once and in their order.

    Raises:
        ConfigError: one is not a format; the message lists those that are.
    """
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name == "html":
            raise ConfigError(
                "there is no HTML report yet: use --report md for a page to read, or json to build your own"
            )
        if name not in FORMATS:
            raise ConfigError(f"there is no report format {name!r}: choose from {', '.join(FORMATS)}")
    return chosen


def render(report: Report, name: str) -> Iterator[str]:
    """The text of one report, in pieces.

    Raises:
        ConfigError: ``name`` is not a format.
    """
    (name,) = check_formats([name])
    renderer: Callable[[Report], Iterator[str]] = import_module(FORMATS[name].module).render
    return renderer(report)


def write(report: Report, name: str, folder: Path) -> Path:
    """Write one report into ``folder``, whole or not at all, and return the file's path.

    Raises:
        ConfigError: ``name`` is not a format, or the folder cannot be written.
    """
    from tiered_eval.reports.files import write_whole

    pieces = render(report, name)
    return write_whole(folder / FORMATS[name].file_name, pieces)
