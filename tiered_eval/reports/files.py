"""Writing report files whole or not at all.

The one idea: a file is written beside its place, flushed to disk and then renamed, so a reader (or a killed run)
never meets half a report. Keys are taken out piece by piece on the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tiered_eval.errors import ConfigError
from tiered_eval.reports.untrusted import secrets_in, without_secrets

__all__ = ["append_whole", "writable_folder", "write_whole"]


def write_whole(path: Path, pieces: Iterable[str]) -> Path:
    """Write ``pieces`` to ``path`` as UTF-8, replacing what was there in one step.

    Raises:
        ConfigError: the place cannot be written; whatever stood there before is untouched.
    """
    secrets = secrets_in()
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        writable_folder(path.parent)
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            for piece in pieces:
                file.write(without_secrets(piece, secrets))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # renamed, or never made: nothing to take away
            draft.unlink()
    return path


def append_whole(path: Path, pieces: Iterable[str], *, limit_bytes: int) -> bool:
    """Append to a file that others write as well; False, and nothing written, where it would grow past the limit.

    Raises:
        ConfigError: the file cannot be written.
    """
    text = without_secrets("".join(pieces), secrets_in())
    data = text.encode("utf-8", errors="replace")
    try:
        with path.open("ab") as file:
            if file.tell() + len(data) > limit_bytes:
                return False
            file.write(data)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error
    return True


def writable_folder(folder: Path) -> Path:
    """The folder, made if need be.

    Raises:
        ConfigError: it is not a folder that can be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot use {folder} as a folder: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"cannot write into {folder}: permission denied")
    return folder


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; folders cannot be flushed on every system."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
