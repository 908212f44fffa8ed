"""Case results on disk: written as they settle, read back in the order of the suite.

The one idea: one JSON line a case and eight bytes of memory for where it starts, so that a report over a
million expectations can be written without holding one of them. The file can be computed again at no cost
from the ledger, so it is flushed, not synced, until it is closed.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, overload

from tiered_eval.errors import ConfigError
from tiered_eval.records import CaseResult
from tiered_eval.records.codec import case_result_from_json, case_result_to_json
from tiered_eval.text.secrets import secrets_in, without_secrets

__all__ = ["ResultsFile", "StoredResults"]

_ABSENT = 0xFFFF_FFFF_FFFF_FFFF


class ResultsFile:
    """Appends results to a file; use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")
        except OSError as error:
            raise self._unwritable(error) from error
        self._secrets = secrets_in()
        self._offset = 0
        self._offsets = array("Q")
        self._encode = json.JSONEncoder(
            ensure_ascii=False, separators=(",", ":"), check_circular=False
        ).encode

    def append(self, result: CaseResult) -> None:
        """Write one result; it may settle before cases that come earlier in the suite.

        Raises:
            ConfigError: the disk is full, or the folder has gone.
        """
        # Lone surrogates are refused at load, but a value from Python code can still hold one.
        text = without_secrets(self._encode(case_result_to_json(result)), self._secrets)
        line = (text + "\n").encode("utf-8", "backslashreplace")
        offsets = self._offsets
        if result.index == len(offsets):
            offsets.append(self._offset)
        else:
            while len(offsets) <= result.index:
                offsets.append(_ABSENT)
            offsets[result.index] = self._offset
        try:
            self._file.write(line)
        except OSError as error:
            raise self._unwritable(error) from error
        self._offset += len(line)

    def close(self) -> StoredResults:
        """Make the file durable, and hand out its reader.

        Raises:
            ConfigError: as :meth:`append`.
        """
        if not self._file.closed:
            try:
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as error:
                raise self._unwritable(error) from error
            finally:
                with suppress(OSError):  # what could not be flushed is tried again, and lost
                    self._file.close()
        try:
            return StoredResults(self.path, self._offsets)
        except OSError as error:  # the folder was taken away while the run was under way
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ConfigError:
        why = error.strerror or str(error)
        return ConfigError(
            f"cannot write results to {self.path}: {why}; make room and run the same command again, "
            "what was paid for is kept"
        )

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class StoredResults(Sequence[CaseResult]):
    """The results of a file, in the order of the suite, read one at a time.

    A report of the same name may take the file's place (``--report jsonl`` into the run's own folder); then the
    places of its lines are looked up anew.
    """

    def __init__(self, path: Path, offsets: array[int]) -> None:
        self._path = path
        self._offsets = array("Q", (offset for offset in offsets if offset != _ABSENT))
        self._inode = path.stat().st_ino if self._offsets else 0

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[CaseResult]:
        with self._opened() as file:
            for offset in self._offsets:
                file.seek(offset)
                yield case_result_from_json(json.loads(file.readline()))

    @overload
    def __getitem__(self, index: int) -> CaseResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CaseResult]: ...
    def __getitem__(self, index: int | slice) -> CaseResult | Sequence[CaseResult]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        with self._opened() as file:
            file.seek(self._offsets[index])
            return case_result_from_json(json.loads(file.readline()))

    def _opened(self) -> BinaryIO:
        file = self._path.open("rb")
        inode = os.fstat(file.fileno()).st_ino
        if self._offsets and inode != self._inode:
            self._offsets, self._inode = StoredResults.load(self._path)._offsets, inode
        return file

    def changed(self, change: Callable[[CaseResult], CaseResult]) -> StoredResults:
        """The same file with every result changed, where the end of a run says something of all that came before it.

        Raises:
            ConfigError: there is no room for it. The file stays as it was.
        """
        beside = self._path.with_name(f"{self._path.name}.changed")
        try:
            with ResultsFile(beside) as file:
                for result in self:
                    file.append(change(result))
            os.replace(beside, self._path)
        except OSError as error:
            raise ConfigError(f"cannot write results to {self._path}: {error.strerror or error}") from error
        finally:
            with suppress(OSError):
                beside.unlink()
        return StoredResults.load(self._path)

    @classmethod
    def load(cls, path: Path) -> StoredResults:
        """Read the index of a file that an earlier run wrote; a last line that was cut short is left out."""
        starts: dict[int, int] = {}
        offset = 0
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    starts[json.loads(line)["index"]] = offset
                offset += len(line)
        return cls(path, array("Q", (starts[index] for index in sorted(starts))))
