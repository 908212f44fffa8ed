"""Keys planted in the environment, and a search for them in everything that a test left behind.

The one idea: a key that got out is found whatever it was written in: as it is, cut short, in base64, for a URL, as
hexadecimal digits, inside JSON. A module whose runs are to be searched says ``pytestmark = KEEPS_KEYS``.
"""

from __future__ import annotations

import base64
import gzip
import io
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

__all__ = ["ANTHROPIC_KEY", "KEEPS_KEYS", "OPENAI_KEY", "PLANTED", "find_leaks", "planted_keys"]

OPENAI_KEY = "sk-planted+0123/456789==abcdef"
ANTHROPIC_KEY = "sk-ant-planted+98765/43210==fedcba"
PLANTED = {"OPENAI_API_KEY": OPENAI_KEY, "ANTHROPIC_API_KEY": ANTHROPIC_KEY}
"""Each has letters that a URL and base64 would write otherwise."""
KEEPS_KEYS = pytest.mark.usefixtures("planted_keys")


def forms_of(key: str) -> set[bytes]:
    """What a key may look like in a file: whole or in part, as it is or encoded."""
    core = key[8:24]
    forms = {core.encode(), quote(core, safe="").encode(), core.encode().hex().encode()}
    forms.add(core.replace("/", "\\/").encode())
    for offset in range(3):
        # The same bytes look different at each place in base64; the ends depend on their neighbours.
        encoded = base64.b64encode(b"\0" * offset + core.encode())[4:-4]
        forms |= {encoded, encoded.replace(b"+", b"-").replace(b"/", b"_")}
    return forms


FORMS = {form for key in PLANTED.values() for form in forms_of(key)}


def find_leaks(content: bytes) -> list[bytes]:
    """The forms of planted keys that are in there."""
    return [form for form in FORMS if form in content]


@pytest.fixture
def planted_keys(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> Iterator[None]:
    """Keys in the environment; afterwards none of them is in a file, a log, a stream, or an exception's text.

    Everybody's logs are searched at their most talkative; child processes have those of the SDKs on their streams.
    What child processes say belongs below ``tmp_path``, where it is searched with the rest.
    """
    for name, value in {**PLANTED, "OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug"}.items():
        monkeypatch.setenv(name, value)
    caplog.set_level("DEBUG")
    yield
    said = capfd.readouterr()
    logged = "".join(record.getMessage() + (record.exc_text or "") for record in caplog.get_records("call"))
    places = {"a log": logged.encode(), "stdout": said.out.encode(), "stderr": said.err.encode()}
    leaks = {place: found for place, content in places.items() if (found := find_leaks(content))}
    for path in tmp_path.rglob("*"):
        if path.is_file() and (found := [leak for part in _parts_of(path) for leak in find_leaks(part)]):
            leaks[path.relative_to(tmp_path).as_posix()] = found
    assert leaks == {}, leaks


def _parts_of(path: Path) -> Iterator[bytes]:
    """A file as it is and, where it is packed or a database, what is in it."""
    content = path.read_bytes()
    yield content
    if content.startswith(b"\x1f\x8b"):
        yield gzip.decompress(content)
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from map(archive.read, archive.namelist())
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            for member in tar.getmembers():
                if (file := tar.extractfile(member)) is not None:
                    yield file.read()
    if content.startswith(b"SQLite format 3"):
        # A long value is cut into pages, and a key could lie across two of them.
        try:
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            try:
                yield "\n".join(connection.iterdump()).encode("utf-8", "replace")
            finally:
                connection.close()
        except sqlite3.DatabaseError:
            return
