"""What can be computed again: a store of bytes on disk, over ``diskcache``.

The one idea: nothing read from disk is ever executed or trusted. diskcache unpickles what it finds in its table
(CVE-2025-69872, and its ``JSONDisk`` does so as well); our disk knows raw bytes only, and every value carries a
checksum bound to its key. What fails is a miss. What was paid for is not here but in the ledger, since a cache may vanish.

Route: ``batching`` keeps embedding vectors here.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from tiered_eval.errors import ConfigError

__all__ = ["DiskStore", "Entry", "MemoryStore", "Store", "entries", "open_store", "prune"]

log = logging.getLogger(__name__)

SEAL_BYTES = 8
TABLE = "cache.db"
"""diskcache's file in the folder."""
NEVER = 2**62
SETTINGS: dict[str, object] = {
    "eviction_policy": "none",
    "cull_limit": 0,
    "size_limit": NEVER,
    "statistics": 0,
    "tag_index": 0,
    "disk_min_file_size": NEVER,  # everything in the table, nothing in files of its own
}
RAW = 1
"""diskcache's mode for a value that is the bytes themselves."""
READ_FAULTS = (sqlite3.Error, OSError, ValueError, TypeError, AttributeError)
"""What a damaged or planted table can make diskcache raise."""


class Store(Protocol):
    """Bytes by name. What it has lost is a miss, never an error."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, value: bytes) -> None: ...


class MemoryStore:
    """A store that ends with the process."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._values.get(key)

    def put(self, key: str, value: bytes) -> None:
        self._values[key] = value

    def close(self) -> None:
        """Nothing is open."""


class DiskStore:
    """A store in a folder of its own. Safe for several threads and processes.

    Raises:
        ConfigError: the folder holds settings of something else's making.
        sqlite3.Error, OSError: it cannot be opened; :func:`open_store` copes with that.
    """

    def __init__(self, folder: Path) -> None:
        import diskcache

        # `parents` would give the home that it makes the usual mode.
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        self.damaged = 0
        """Values that were there and could not be used."""
        self._cache: Any = diskcache.Cache(str(folder), disk=_strict_disk(), **SETTINGS)
        for name, wanted in SETTINGS.items():
            found = getattr(self._cache, name)
            if found != wanted:
                self._cache.close()
                raise ConfigError(
                    f"{folder}: the cache has {name} = {found!r}, not {wanted!r}; remove the folder"
                )

    def get(self, key: str) -> bytes | None:
        """The value, or None: not there, damaged, or not written by us."""
        try:
            sealed = self._cache.get(key)
        except READ_FAULTS as error:
            self._report(key, error)
            return None
        if sealed is None:
            return None
        if not isinstance(sealed, bytes) or sealed[:SEAL_BYTES] != _seal(key, sealed[SEAL_BYTES:]):
            self._report(key, None)
            return None
        return sealed[SEAL_BYTES:]

    def put(self, key: str, value: bytes) -> None:
        """Keep ``value``. What cannot be written is only not kept."""
        try:
            self._cache.set(key, _seal(key, value) + value)
        except READ_FAULTS as error:
            log.warning("the cache cannot be written: %s", error)

    def close(self) -> None:
        self._cache.close()

    def __enter__(self) -> DiskStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _report(self, key: str, error: Exception | None) -> None:
        self.damaged += 1
        log.warning("a value of the cache is damaged and is computed again (%s)", error or "checksum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One value as it lies on disk."""

    key: str
    value: bytes | None
    """None: damaged, or not written by us."""
    size: int
    """Bytes, with its checksum."""
    stored_at: float
    """Seconds since 1970."""


def entries(folder: Path) -> Iterator[Entry]:
    """Everything in the store in ``folder``, also what is damaged; nothing where there is no store.

    Read past diskcache, which ends at the first thing that it cannot take.

    Raises:
        ConfigError: the file cannot be read at all.
    """
    for _, entry in _rows(folder):
        yield entry


def prune(folder: Path, *, is_unwanted: Callable[[Entry], bool]) -> int:
    """Take away what is damaged and what is not wanted any more; returns how many values.

    Raises:
        ConfigError: the file cannot be read or written.
    """
    unwanted = [(number,) for number, entry in _rows(folder) if entry.value is None or is_unwanted(entry)]
    if unwanted:
        try:
            with closing(sqlite3.connect(folder / TABLE, timeout=30.0)) as connection, connection:
                connection.executemany("DELETE FROM Cache WHERE rowid = ?", unwanted)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise ConfigError(f"{folder}: the cache cannot be written ({error})") from error
    return len(unwanted)


def _rows(folder: Path) -> Iterator[tuple[int, Entry]]:
    path = folder / TABLE
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(path, timeout=30.0)) as connection:
            connection.execute("PRAGMA query_only = ON")
            for number, key, raw, stored_at, mode, filename, value in connection.execute(
                "SELECT rowid, key, raw, store_time, mode, filename, value FROM Cache"
            ):
                is_ours = raw == 1 and isinstance(key, str) and mode == RAW and filename is None
                is_ours = is_ours and isinstance(value, bytes)
                sealed = value if is_ours else b""
                is_whole = is_ours and sealed[:SEAL_BYTES] == _seal(key, sealed[SEAL_BYTES:])
                yield (
                    number,
                    Entry(
                        key=str(key),
                        value=sealed[SEAL_BYTES:] if is_whole else None,
                        size=len(sealed),
                        stored_at=float(stored_at) if isinstance(stored_at, int | float) else 0.0,
                    ),
                )
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's message may quote what is damaged
        raise ConfigError(
            f"{folder}: the cache cannot be read ({error}); remove the folder, it can be computed again"
        ) from error


def open_store(folder: Path) -> DiskStore | MemoryStore:
    """The store in ``folder``. A damaged one is put aside and begun anew; where nothing can be written, memory serves.

    Raises:
        ConfigError: the folder holds settings of something else's making.
    """
    try:
        return DiskStore(folder)
    except READ_FAULTS as error:
        first = error
    aside = _free_name(folder)
    try:
        folder.rename(aside)
        store = DiskStore(folder)
    except READ_FAULTS as error:
        log.warning("%s: the cache cannot be used (%s); vectors are kept in memory only", folder, error)
        return MemoryStore()
    log.warning(
        "%s: the cache was damaged (%s); it is now %s, and a new one is begun", folder, first, aside.name
    )
    return store


@functools.cache
def _strict_disk() -> type[Any]:
    """A disk that stores and fetches bytes, and refuses everything else that diskcache knows."""
    import diskcache

    class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
        def put(self, key: object) -> tuple[str, bool]:
            if not isinstance(key, str):
                raise TypeError(f"a key is a text, got {type(key).__name__}")
            return key, True

        def get(self, key: object, raw: object) -> str:
            if not raw or not isinstance(key, str):
                raise ValueError("a key that is not a text was planted in the cache")
            return key

        def store(
            self, value: object, read: bool, key: object = None
        ) -> tuple[int, int, None, sqlite3.Binary]:
            if read or not isinstance(value, bytes):
                raise TypeError(f"a value is bytes, got {type(value).__name__}")
            return 0, RAW, None, sqlite3.Binary(value)

        def fetch(self, mode: int, filename: object, value: object, read: bool) -> bytes:
            # Anything else was planted: a pickle would be run, a file name may lead anywhere.
            if mode != RAW or filename is not None or read or not isinstance(value, bytes):
                raise ValueError(f"a value of mode {mode} was planted in the cache")
            return value

        def remove(self, file_path: object) -> None:
            """Values have no files; a name that says otherwise was planted, and is not followed."""

    return BytesDisk


def _seal(key: str, value: bytes) -> bytes:
    return hashlib.blake2b(
        key.encode("utf-8", "surrogatepass") + b"\0" + value, digest_size=SEAL_BYTES
    ).digest()


def _free_name(folder: Path) -> Path:
    number = 1
    while (aside := folder.with_name(f"{folder.name}.damaged-{number}")).exists():
        number += 1
    return aside
