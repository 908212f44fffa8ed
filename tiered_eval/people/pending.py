"""What a run leaves to people, written beside its results as it settles.

The one idea: a result names its expectation and holds no response, so the questions are written while the case is at
hand. Only cases that may leave something to people are remembered, and only until they settle.

Route: ``runner`` tells it of each case and result; ``export`` and ``label`` read the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tiered_eval.catalogue.people import MANUAL
from tiered_eval.errors import ConfigError
from tiered_eval.people.items import Item, item_from_json, item_of, item_to_json
from tiered_eval.people.store import add_lines, read_lines
from tiered_eval.records import Case, CaseResult

__all__ = ["PENDING_FILE", "Pending", "read_pending"]

PENDING_FILE = "manual.jsonl"


class Pending:
    """Writes the questions of one run to ``path``, in the place of an earlier run's. It is made when there is the first one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: dict[int, Case] = {}
        with suppress(OSError):  # what keeps it there keeps the next one from being written
            path.unlink(missing_ok=True)

    def saw(self, index: int, case: Case) -> None:
        """Remember a case that may leave something to people."""
        if any(expectation.scorer == MANUAL for expectation in case.expectations):
            self._open[index] = case

    def settle(self, result: CaseResult) -> None:
        """Write what the case left to people, and let it go.

        Raises:
            ConfigError: the file cannot be written.
        """
        case = self._open.pop(result.index, None)
        if case is None:
            return
        left = {verdict.expectation_id for verdict in result.verdicts if verdict.state == "manual"}
        items = [item_of(case, one) for one in case.expectations if one.id in left]
        # Not flushed one by one: a run that is made again writes them again, at no cost.
        add_lines(self._path, [item_to_json(item) for item in items], is_durable=False)


def read_pending(path: Path) -> Iterator[Item]:
    """The questions of a run, each once.

    Raises:
        ConfigError: the file cannot be read, or is damaged.
    """
    seen: set[str] = set()
    for data in read_lines(path):
        try:
            item = item_from_json(data)
        except (KeyError, TypeError) as error:
            raise ConfigError(f"a line of {path} is damaged ({type(error).__name__}: {error})") from error
        if item.id not in seen:
            seen.add(item.id)
            yield item
