"""Opening the ledger's file, or refusing to.

The one idea: a ledger that is damaged, foreign, newer than this program or gone is never replaced by an empty one,
because then the money spent would start again at zero. Refusing costs nothing; the message says what to do.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

from tiered_eval.errors import ConfigError, LedgerError
from tiered_eval.ledger import periods

__all__ = [
    "APPLICATION_ID",
    "FORMAT",
    "UNREADABLE",
    "connect",
    "kind_of_mount",
    "missing_parts",
    "open_checked",
    "write_witness",
]

APPLICATION_ID = 0x7E5A_1ED6
"""Marks the file as ours, for ``file(1)`` and for us."""
FORMAT = 3
BUSY_TIMEOUT_S = 30.0
NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs"}
"""Their locks are not to be relied on, which SQLite's documentation of WAL says as well."""

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE budget (
    scope TEXT PRIMARY KEY, settled INTEGER NOT NULL, unknown INTEGER NOT NULL, reserved INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE run (
    id TEXT PRIMARY KEY, suite TEXT NOT NULL, scope TEXT NOT NULL, cap INTEGER, started_at TEXT NOT NULL,
    finished_at TEXT, state TEXT, summary TEXT, owner TEXT NOT NULL
);
CREATE INDEX run_unfinished ON run (suite) WHERE finished_at IS NULL;
CREATE TABLE call (
    key TEXT PRIMARY KEY, tenant TEXT NOT NULL DEFAULT '', scope TEXT NOT NULL, run TEXT NOT NULL,
    model TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('reserved', 'settled')),
    bound INTEGER NOT NULL, cost INTEGER, payload TEXT, seal BLOB, owner TEXT NOT NULL,
    attempt INTEGER NOT NULL, at TEXT NOT NULL
);
CREATE INDEX call_reserved ON call (owner) WHERE state = 'reserved';
CREATE TABLE charge (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, scope TEXT NOT NULL, run TEXT NOT NULL, model TEXT NOT NULL,
    kind TEXT NOT NULL, attempt INTEGER NOT NULL, cost INTEGER NOT NULL, why TEXT NOT NULL, at TEXT NOT NULL
);
CREATE TABLE lost (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, scope TEXT NOT NULL, run TEXT NOT NULL, model TEXT NOT NULL,
    kind TEXT NOT NULL, attempt INTEGER NOT NULL, bound INTEGER NOT NULL, why TEXT NOT NULL, at TEXT NOT NULL
);
"""
"""``call`` holds calls in flight and kept replies; ``charge`` what was billed without a reply to keep;
``lost`` what may have been billed. ``budget`` holds the sums, changed in the same transactions."""

BATCH_SCHEMA = """
CREATE TABLE batch (
    name TEXT PRIMARY KEY, model TEXT NOT NULL, owner TEXT NOT NULL, handle TEXT, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE batch_item (
    batch TEXT NOT NULL, custom_id TEXT NOT NULL, nonce TEXT NOT NULL, keys TEXT NOT NULL,
    PRIMARY KEY (batch, custom_id)
) WITHOUT ROWID;
"""
"""Since format 2: the batches that have not been fetched yet. The calls in one are rows of ``call`` that it owns."""

SUMS = """
SELECT
    (SELECT coalesce(sum(cost), 0) FROM call WHERE state = 'settled')
        + (SELECT coalesce(sum(cost), 0) FROM charge),
    (SELECT coalesce(sum(bound), 0) FROM lost WHERE id NOT IN (SELECT lost FROM resolved)),
    (SELECT coalesce(sum(bound), 0) FROM call WHERE state = 'reserved')
"""


UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged file raises; the second where SQLite's own message quotes what is damaged."""


def connect(path: Path, *, for_reading: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode with our settings: every commit is on disk before it returns."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    if for_reading:
        connection.execute("PRAGMA query_only = ON")
    return connection


def open_checked(home: Path) -> sqlite3.Connection:
    """The writing connection to the ledger in ``home``, made if there never was one.

    Raises:
        ConfigError: the folder cannot be used.
        LedgerError: the ledger cannot be trusted.
    """
    path = home / "ledger.db"
    _prepare_folder(home)
    try:
        # Made by us, so that nobody else can read it from its first moment; the -wal file copies its mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}; choose another home") from error
    connection: sqlite3.Connection | None = None
    try:
        connection = connect(path)
        _check_origin(connection, path)
        _use_wal(connection, path)
        _bring_up_to_date(connection)
        _check_content(connection, path)
    except UNREADABLE as error:
        if connection is not None:
            connection.close()
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise _locked(path) from error
        raise LedgerError(
            f"{path}: the ledger cannot be read ({error}); nothing was spent. Restore it from a copy"
        ) from error
    except LedgerError:
        if connection is not None:
            connection.close()
        raise
    return connection


def write_witness(connection: sqlite3.Connection, home: Path) -> None:
    """Note the ledger's name and total beside it, so that a ledger that vanished or went back is noticed."""
    content = json.dumps({"id": _ledger_id(connection), "settled_pico": _settled(connection)})
    path = home / "ledger.id"
    partial = home / f"ledger.id.{uuid.uuid4().hex}.tmp"
    file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, content.encode())
        os.fsync(file)
    finally:
        os.close(file)
    partial.replace(path)


def _prepare_folder(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{home}: the folder of the ledger cannot be made: {error.strerror}; choose another home"
        ) from error
    kind = _file_system(home)
    if kind in NETWORK_FILE_SYSTEMS:
        raise ConfigError(
            f"{home}: a ledger on a network file system ({kind}) is not safe; choose another home"
        )


def _file_system(folder: Path) -> str | None:
    """Kind of the file system that holds ``folder``; None where the system does not say."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return kind_of_mount(folder.resolve(), mounts)


def kind_of_mount(folder: Path, mounts: str) -> str | None:
    """Kind of the innermost mount that holds ``folder``, by the lines of proc(5)'s ``mountinfo``."""
    best: tuple[int, str | None] = (-1, None)
    for line in mounts.splitlines():
        fields, _, tail = line.partition(" - ")
        mount = Path(fields.split()[4].replace("\\040", " "))
        if folder.is_relative_to(mount) and len(mount.parts) >= best[0]:
            best = (len(mount.parts), tail.split()[0])
    return best[1]


def _check_origin(connection: sqlite3.Connection, path: Path) -> None:
    if _is_empty(connection):
        witness = path.parent / "ledger.id"
        # Asked again: another process that just made the ledger wrote the witness after its first commit.
        if witness.exists() and _is_empty(connection):
            raise LedgerError(
                f"{path}: the ledger is gone, but {witness} says that there was one; nothing was spent. "
                f"Restore it from a copy, or remove {witness.name} to start again at zero"
            )
        return
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise LedgerError(f"{path}: this is another program's file, not a ledger; choose another home")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise LedgerError(
            f"{path}: the ledger has format {version}, this program knows {FORMAT}; update tiered-eval"
        )


def _is_empty(connection: sqlite3.Connection) -> bool:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return bool(application == 0 and tables == 0)


def _use_wal(connection: sqlite3.Connection, path: Path) -> None:
    # Changing the mode needs the file alone, and does not wait by itself: two first openings may collide.
    for attempt in range(100):
        with contextlib.suppress(sqlite3.OperationalError):
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode == "wal":
                return
            raise LedgerError(
                f"{path}: this file system has no write-ahead log ({mode}); choose another home"
            )
        time.sleep(0.01 * min(attempt, 10))
    raise _locked(path)


def _locked(path: Path) -> LedgerError:
    return LedgerError(f"{path}: another process keeps the ledger locked; try again when it has ended")


def missing_parts(connection: sqlite3.Connection) -> list[str]:
    """Tables, columns, indexes and triggers that a ledger of this format has, and this one has not."""
    sound = sqlite3.connect(":memory:", isolation_level=None)
    try:
        _bring_up_to_date(sound)
        return sorted(_parts_of(sound) - _parts_of(connection))
    finally:
        sound.close()


def _parts_of(connection: sqlite3.Connection) -> set[str]:
    names = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
    columns = connection.execute(
        "SELECT part.name, col.name FROM sqlite_master AS part, pragma_table_info(part.name) AS col WHERE part.type = 'table'"
    ).fetchall()
    return {f"{kind} {name}" for kind, name in names} | {f"column {table}.{name}" for table, name in columns}


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            _make_tables(connection, SCHEMA.split(";"))
            connection.execute("INSERT INTO meta VALUES ('id', ?)", (uuid.uuid4().hex,))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        if version < 2:
            _make_tables(connection, BATCH_SCHEMA.split(";"))
        if version < 3:
            _make_tables(connection, periods.STATEMENTS)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _make_tables(connection: sqlite3.Connection, statements: Iterable[str]) -> None:
    for statement in filter(str.strip, statements):
        connection.execute(statement)


def _check_content(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise LedgerError(
            f"{path}: the ledger is damaged ({found}); nothing was spent. Restore it from a copy"
        )
    if missing := missing_parts(connection):
        raise LedgerError(
            f"{path}: the ledger has no {missing[0]}; nothing was spent. Restore it from a copy"
        )
    connection.execute("BEGIN")
    try:
        sums = connection.execute(SUMS).fetchone()
        by_time = periods.totals(connection)
        booked = connection.execute(
            "SELECT coalesce(sum(settled), 0), coalesce(sum(unknown), 0), coalesce(sum(reserved), 0) FROM budget"
        ).fetchone()
    finally:
        connection.execute("COMMIT")
    if {booked, *by_time} != {sums}:
        raise LedgerError(
            f"{path}: the ledger's amounts do not add up; nothing was spent. Restore it from a copy"
        )
    _check_witness(connection, path)


def _check_witness(connection: sqlite3.Connection, path: Path) -> None:
    witness = path.parent / "ledger.id"
    try:
        if witness.exists() and not witness.is_file():
            raise ValueError("no file")  # a pipe would be waited for
        content = json.loads(witness.read_text(encoding="utf-8"))
        is_same = content["id"] == _ledger_id(connection)
        is_complete = int(content["settled_pico"]) <= _settled(connection)
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"{witness}: cannot be read; remove it if {path.name} is the right ledger"
        ) from error
    if not is_same or not is_complete:
        raise LedgerError(
            f"{path}: this is not the ledger that was here last, or an older copy of it: {witness.name} has "
            f"{'another total' if is_same else 'another name'}. Restore the newer one, or remove "
            f"{witness.name} to go on with this one"
        )


def _ledger_id(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT value FROM meta WHERE name = 'id'").fetchone()
    if row is None:
        raise LedgerError("the ledger has lost its own name; nothing was spent. Restore it from a copy")
    return str(row[0])


def _settled(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(sum(settled), 0) FROM budget").fetchone()[0])
