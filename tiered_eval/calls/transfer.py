"""Kept replies and vectors as a file: to carry them to another home, such as a CI job's.

The one idea: a file is taken whole or not at all. Every line carries a checksum over itself, the last line one over all
of them, and a line that is damaged, cut off, doubled into another file or not ours refuses the file before anything is
kept. The checksums find accidents; they are no signature, so import files of people whom you trust to judge for you.

What a reply had cost does not travel: the home that imports it has not paid for it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tiered_eval.cache import Entry, Store
from tiered_eval.calls.replies import find_reply
from tiered_eval.errors import ConfigError
from tiered_eval.ledger import Kept, Ledger, seal_of

__all__ = ["Transferred", "check_file", "export_lines", "import_file"]

HEADER = {"format": "tiered-eval cache", "version": 1}
LINE_LIMIT_BYTES = 64_000_000
AT_ONCE = 200
_KEY = re.compile(r"[0-9a-f]{64}")
_FIELDS = {"reply": ("key", "model", "payload", "at"), "vector": ("key", "value")}


@dataclass(slots=True, kw_only=True)
class Transferred:
    """How much went through."""

    replies: int = 0
    vectors: int = 0
    left_out: int = 0
    """Damaged, or holding a key that must not leave (export); here already (import)."""


def export_lines(
    replies: Iterable[Kept | None],
    vectors: Iterable[Entry],
    *,
    is_safe: Callable[[str], bool],
    count: Transferred,
) -> Iterator[str]:
    """The lines of a file. ``is_safe`` says of a text that no key is in it."""
    yield _line(HEADER)
    whole = hashlib.blake2b(digest_size=16)
    for name, content in _contents(replies, vectors, is_safe, count):
        checksum = _checksum(name, content)
        whole.update(checksum.encode())
        yield _line({name: content, "sum": checksum})
    yield _line({"end": count.replies + count.vectors, "sum": whole.hexdigest()})


def check_file(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """What a file holds, line by line.

    Raises:
        ConfigError: a line is damaged or not ours, or the file is not complete; names the line. Whoever keeps nothing
            before the last one has come keeps all or nothing.
    """
    whole, count, is_ended = hashlib.blake2b(digest_size=16), 0, False
    place = str(path)
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(LINE_LIMIT_BYTES), b""), start=1):
                place = f"{path}:{number}"
                line = json.loads(raw)
                if is_ended or not isinstance(line, dict):
                    raise ValueError("there is more after the end" if is_ended else "no line of ours")
                if number == 1:
                    if line != HEADER:
                        raise ValueError("this is no export of a cache, or one of a newer version")
                elif "end" in line:
                    is_ended = line == {"end": count, "sum": whole.hexdigest()}
                    if not is_ended:
                        raise ValueError("lines are missing or in another order")
                else:
                    name, content = _checked(line)
                    whole.update(str(line["sum"]).encode())
                    count += 1
                    yield name, content
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"{place}: refused, nothing was imported: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not is_ended:
        raise ConfigError(f"{path}: refused, nothing was imported: the end of the file is missing")


def import_file(path: Path, ledger: Ledger, open_vectors: Callable[[], Store]) -> Transferred:
    """Keep what a file holds. What is here already stays as it is.

    Raises:
        ConfigError: the file is refused; nothing was kept.
        LedgerError: the ledger cannot be written.
    """
    for _ in check_file(path):
        pass  # all of it, before the first is kept
    done = Transferred()
    store: Store | None = None
    checked = check_file(path)
    while lines := list(islice(checked, AT_ONCE)):
        replies = [_reply(content) for name, content in lines if name == "reply"]
        added = ledger.add_replies(replies) if replies else 0
        done.replies += added
        done.left_out += len(replies) - added
        for content in (content for name, content in lines if name == "vector"):
            store = store or open_vectors()
            if store.get(content["key"]) is not None:
                done.left_out += 1
                continue
            store.put(content["key"], base64.b64decode(content["value"]))
            done.vectors += 1
    return done


def _contents(
    replies: Iterable[Kept | None],
    vectors: Iterable[Entry],
    is_safe: Callable[[str], bool],
    count: Transferred,
) -> Iterator[tuple[str, dict[str, str]]]:
    for reply in replies:
        if reply is None or find_reply(reply.payload) is None or not is_safe(reply.payload):
            count.left_out += 1
            continue
        count.replies += 1
        yield (
            "reply",
            {"key": reply.key, "model": reply.model, "payload": reply.payload, "at": reply.at},
        )
    for vector in vectors:
        if vector.value is None:
            count.left_out += 1
            continue
        count.vectors += 1
        yield "vector", {"key": vector.key, "value": base64.b64encode(vector.value).decode("ascii")}


def _checked(line: dict[str, Any]) -> tuple[str, dict[str, str]]:
    name = next((name for name in _FIELDS if name in line), None)
    if name is None or set(line) != {name, "sum"}:
        raise ValueError("no line of ours")
    content = line[name]
    if not isinstance(content, dict) or set(content) != set(_FIELDS[name]):
        raise ValueError(f"a {name} has {', '.join(_FIELDS[name])}")
    if not all(isinstance(value, str) for value in content.values()):
        raise ValueError(f"a {name} is made of texts")
    for value in content.values():
        value.encode()  # half a character can be written into no ledger, and raises a ValueError here
    if line["sum"] != _checksum(name, content):
        raise ValueError("the line is damaged: its checksum does not fit")
    if name == "reply" and (not _KEY.fullmatch(content["key"]) or find_reply(content["payload"]) is None):
        raise ValueError("a reply that this version cannot read")
    if name == "vector":
        try:
            base64.b64decode(content["value"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"a vector that cannot be read ({error})") from error
    return name, content


def _reply(content: dict[str, str]) -> Kept:
    key, payload = content["key"], content["payload"]
    return Kept(
        key=key, model=content["model"], payload=payload, cost=0, seal=seal_of(key, payload), at=content["at"]
    )


def _checksum(name: str, content: dict[str, str]) -> str:
    text = json.dumps([name, sorted(content.items())], ensure_ascii=True)
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=True, separators=(",", ":")) + "\n"
