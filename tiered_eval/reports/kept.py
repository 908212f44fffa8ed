"""Runs that are kept in the home folder, to be shown again.

The one idea: a run's folder, ``<home>/runs/<run id>/``, holds its summary in ``report.json`` and its results in
``results.jsonl``, which grew while the run was under way. Run ids sort by the second in which a run began, so the last run is the
last name; of several of one second it is the one that was kept last.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from tiered_eval.aggregate import Tally
from tiered_eval.config import NAME_THE_HOME
from tiered_eval.errors import ConfigError
from tiered_eval.records import Report
from tiered_eval.records.codec import report_from_json, summary_to_json
from tiered_eval.reports.files import write_whole
from tiered_eval.results import StoredResults

__all__ = [
    "LAST",
    "discard_if_empty",
    "find_kept",
    "find_report",
    "keep",
    "load_file",
    "load_kept",
    "results_path",
    "run_folder",
]

LAST = "last"
"""Names the run that began last."""

_REPORT = "report.json"
_RESULTS = "results.jsonl"
_GZIP = b"\x1f\x8b"


def run_folder(home: Path, run_id: str) -> Path:
    """Where a run is kept; made if need be, for its owner only.

    Raises:
        ConfigError: the home cannot be written.
    """
    folder = home / "runs" / run_id
    try:
        for place in (home, home / "runs", folder):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot keep runs in {home}: {error.strerror or error}; choose another place with --home"
        ) from error
    return folder


def results_path(folder: Path) -> Path:
    """Where the results of the run in ``folder`` grow."""
    return folder / _RESULTS


def discard_if_empty(folder: Path) -> None:
    """Take away the folder of a run that ended before its first result."""
    results = results_path(folder)
    with suppress(OSError):  # already gone, or not empty after all
        if not results.exists() or results.stat().st_size == 0:
            results.unlink(missing_ok=True)
            folder.rmdir()


def keep(report: Report, folder: Path) -> Path:
    """Keep the summary of a run beside its results.

    Raises:
        ConfigError: the folder cannot be written.
    """
    return write_whole(folder / _REPORT, [json.dumps(summary_to_json(report), indent=2, ensure_ascii=False)])


def find_kept(home: Path, name: str) -> Path:
    """The folder of the run that ``name`` means: a run id, the beginning of one, or ``last``.

    Raises:
        ConfigError: there is no such run, or there are several.
    """
    runs = home / "runs"
    kept = [path.parent.name for path in sorted(runs.glob(f"*/{_REPORT}"), key=_when)]
    if not kept:
        raise ConfigError(f"no run is kept in {runs}: {NAME_THE_HOME}, or give the folder of a run")
    if name == LAST:
        return runs / kept[-1]
    found = [name] if name in kept else [run for run in kept if run.startswith(name)]
    if len(found) != 1:
        several = (
            f"{name!r} means {len(found)} runs in {runs}" if found else f"no run {name!r} is kept in {runs}"
        )
        raise ConfigError(f"{several}; the latest are {', '.join((found or kept)[-5:])}")
    return runs / found[0]


def _when(report: Path) -> tuple[str, int, str]:
    """The second in which the run of a kept report began, and when it was kept."""
    run, kept_ns = report.parent.name, 0
    with suppress(OSError):  # taken away meanwhile
        kept_ns = report.stat().st_mtime_ns
    return run.rpartition("-")[0] or run, kept_ns, run


def find_report(run: str, home: Path) -> Report:
    """The report that ``run`` means: a run of ``home`` (see :func:`find_kept`), the folder of one, or a file.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    if not run:
        raise ConfigError("no run is named: give a run id, last, or the path of a report")
    given = Path(run)
    if given.is_dir():
        return load_kept(given)
    if given.is_file():
        return load_file(given)
    return load_kept(find_kept(home, run))


def load_kept(folder: Path) -> Report:
    """The report of the run in ``folder``; its results are read as they are asked for.

    Raises:
        ConfigError: nothing is kept there, or it cannot be read.
    """
    return load_file(folder / _REPORT)


def load_file(path: Path) -> Report:
    """The report in a file: a summary with its results inside or beside it, or results alone.

    Results alone say nothing of how they came about: their report has no settings.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        if path.suffix == ".jsonl":
            beside = path.with_name(_REPORT)
            if path.name == _RESULTS and beside.is_file():
                return load_file(beside)
            return _report_of(StoredResults.load(path), path)
        content = path.read_bytes()
        if content.startswith(_GZIP):
            raise ConfigError(f"{path} is compressed: unpack it first, as with gunzip")
        data = json.loads(content)
        stored = results_path(path.parent)
        is_inside = "results" in data or not stored.is_file()
        return report_from_json(data, None if is_inside else StoredResults.load(stored))
    except OSError as error:
        raise ConfigError(f"cannot read the run in {path.parent}: {error.strerror or error}") from error
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path} is damaged, or is no report of a run ({type(error).__name__}: {error})"
        ) from error


def _report_of(results: StoredResults, path: Path) -> Report:
    """A report with the figures of its results and no more."""
    tally = Tally()
    for result in results:
        tally.add(result)
    return Report(
        run_id=str(path),
        suite="",
        started_at="",
        wall_s=0.0,
        provider_wait_s=0.0,
        cases=tally.cases,
        counts=tally.counts(),
        partial=tally.partial,
        passed=tally.passed,
        dimensions=tally.dimensions(),
        tags=tally.tags(),
        leftovers=dict(tally.leftovers),
        failures=dict(tally.failures),
        results=results,
    )
