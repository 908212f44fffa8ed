"""Web addresses as values: found in prose, and compared by where they lead.

The one idea: scheme and host have no case, a default port, an empty fragment and tracking parameters lead nowhere else, and
percent-encoding has several spellings; path and query are compared as they are. RFC 3986, section 6.2, names these.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

__all__ = ["Address", "find_addresses", "parse_address"]

_REST = r"(?:(?!\][(\[])[^\s<>\"“”`{}|\\^])"
"""Not the end of a link's words, as in ``[example.com](https://example.com)``."""
_BEGIN = r"(?:(?<![\w@./-])|(?<=^_)|(?<=^__)|(?<=[\s(]_)|(?<=[\s(]__))"
"""Underscores in front are marks of formatting, unless they stand in a word."""
_URL = re.compile(
    rf"(?:https?://|www\.){_REST}+|{_BEGIN}(?:[^\W_](?:[^\W_]|-){{0,62}}\.)+[a-z]{{2,24}}(?:[:/?#]{_REST}*)?",
    re.IGNORECASE,
)
LONGEST = 2_048
"""Characters of an address; what follows is no part of one."""
_TRAILING = ".,;:!?'’*_~…"
_TRACKING = re.compile(r"(?:utm_\w+|fbclid|gclid|msclkid|mc_[ce]id)\Z", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_KEPT = "/:@!$&'()*+,;=-._~"
_BRACKETS = {")": "(", "]": "["}


class Address(NamedTuple):
    """What is compared of an address."""

    scheme: str
    """Empty where none was written."""
    host: str
    port: int | None
    path: str
    query: tuple[tuple[str, str], ...]
    fragment: str

    def leads_to(self, wanted: Address) -> bool:
        """Is it the wanted one? A scheme or fragment counts where the wanted one has it."""
        same_place = (self.host, self.port, self.path, self.query) == (
            wanted.host,
            wanted.port,
            wanted.path,
            wanted.query,
        )
        same_scheme = not wanted.scheme or not self.scheme or self.scheme == wanted.scheme
        return same_place and same_scheme and wanted.fragment in ("", self.fragment)


def find_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where addresses stand, without the punctuation of the sentence around them."""
    for match in _URL.finditer(text):
        start = match.start()
        end = min(match.end(), start + LONGEST)
        while end > start and _is_outside(text[start:end]):
            end -= 1
        yield start, end


def _is_outside(address: str) -> bool:
    """Does its last character belong to the sentence? A closing bracket does, unless one was opened in the address."""
    last = address[-1]
    if last in _BRACKETS:
        return address.count(last) > address.count(_BRACKETS[last])
    return last in _TRAILING


def _one_spelling(host: str) -> str:
    """A host as people read it: ``xn--mnchen-3ya.de`` is ``münchen.de`` (RFC 3492)."""
    labels = unicodedata.normalize("NFKC", host).lower().split(".")
    return ".".join(_read_label(label) if label.startswith("xn--") else label for label in labels)


def _read_label(label: str) -> str:
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label


@lru_cache(maxsize=4096)
def parse_address(text: str) -> Address | None:
    """The parts of an address that count; None where it is none."""
    written = text.strip()
    has_scheme = "://" in written
    try:
        parts = urlsplit(written if has_scheme else f"//{written}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if "." not in host and host != "localhost":
        return None
    scheme = parts.scheme.lower()
    if scheme not in ("", "http", "https", "ftp"):
        return None
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    return Address(
        scheme=scheme,
        host=_one_spelling(host),
        port=None if port in (None, _PORTS.get(scheme, 0)) else port,
        path=quote(unquote(parts.path), safe=_KEPT).rstrip("/"),
        query=tuple(sorted(pair for pair in pairs if not _TRACKING.match(pair[0]))),
        fragment=parts.fragment,
    )
