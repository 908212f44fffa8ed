"""Reads JSON: a whole document with the line of every key, or one line of JSON Lines at full speed.

The one idea: both keep numbers as they are spelled and notice keys given twice, which :mod:`json` alone
does not. The document reader is our own, since no parser in the standard library says where a value
stood; the line reader is the C one, as a line needs no further place.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # there since Python 2.6, absent from the stubs
from typing import Any

from tiered_eval.suite.problems import Unreadable, too_deep
from tiered_eval.suite.source import DEEPEST, Located, LocatedList, Spelled

__all__ = ["LineReader", "read_json"]

MOST_NODES = 3_000_000

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN_STRING = re.compile(r'"([^"\\\x00-\x1f]*)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}


class LineReader:
    """Reads one JSON value a line; keys given twice in it are left in ``repeats``."""

    def __init__(self) -> None:
        self.repeats: list[str] = []
        self._decode = JSONDecoder(
            object_pairs_hook=self._mapping,
            parse_float=Spelled,
            parse_int=Spelled,
            parse_constant=_refuse_constant,
        ).decode

    def read(self, text: str, line: int) -> Any:
        """The value of one line.

        Raises:
            Unreadable: it is not JSON.
        """
        self.repeats.clear()
        try:
            return self._decode(text)
        except JSONDecodeError as fault:
            raise _bad_json(text, fault.pos, fault.msg, line=line) from None
        except RecursionError:
            raise too_deep(line) from None
        except Unreadable as fault:
            fault.line = line
            raise

    def _mapping(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.repeats.append(key)
                seen.add(key)
        return mapping


def _refuse_constant(word: str) -> Any:
    raise Unreadable(
        line=None,
        rule="not-finite",
        message=f"{word} is not a number that can be compared",
        fix="give a finite number, or null",
    )


def _bad_json(text: str, at: int, message: str, *, line: int | None = None) -> Unreadable:
    if text[at : at + 1] == "\0":
        rule, message, fix = "nul-character", "the control character U+0000", "remove it"
    else:
        rule, fix = "bad-json", "mend the syntax there"
        if line is not None:
            at = min(at, len(text.rstrip()))  # the end of its only line, and not the start of a next one
        column = at - (text.rfind("\n", 0, at) + 1) + 1
        message = f"no JSON at column {column}: {message[:1].lower()}{message[1:]}"
    return Unreadable(
        line=line if line is not None else text.count("\n", 0, at) + 1, rule=rule, message=message, fix=fix
    )


def read_json(text: str, repeats: list[tuple[int, str]]) -> Any:
    """The value of a JSON text; keys given twice are added to ``repeats`` with their lines.

    Raises:
        Unreadable: it is not JSON, or too deep.
    """
    return _Document(text, repeats).read()


class _Document:
    """One pass over a text, with a stack instead of recursion."""

    def __init__(self, text: str, repeats: list[tuple[int, str]]) -> None:
        self.text = text
        self.repeats = repeats
        self.at = 0
        self.line = 1
        self.nodes = 0
        self.open: list[Located | LocatedList] = []
        self.keys: list[str] = []

    def read(self) -> Any:
        root = LocatedList(1)  # holds the one value, so that each value has a holder
        self.open.append(root)
        self.keys.append("")
        self._skip()
        self._value()
        while len(self.open) > 1:
            self._step()
        self._skip()
        if self.at < len(self.text):
            raise self._fault("extra data")
        return root[0]

    def _step(self) -> None:
        """Read what comes next in the innermost container: an entry, or its end."""
        holder = self.open[-1]
        is_mapping = isinstance(holder, Located)
        closing = "}" if is_mapping else "]"
        self._skip()
        if self._next() == closing:
            self.at += 1
            self.open.pop()
            self.keys.pop()
            return
        if holder:
            if self._next() != ",":
                raise self._fault(f"expecting ',' or '{closing}'")
            self.at += 1
            self._skip()
        if is_mapping:
            self._key(holder)
        self._value()

    def _key(self, holder: Any) -> None:
        if self._next() != '"':
            raise self._fault("expecting a key in double quotes")
        key = self._string()
        if key in holder:
            self.repeats.append((self.line, key))
        holder.lines[key] = self.line
        self.keys[-1] = key
        self._skip()
        if self._next() != ":":
            raise self._fault("expecting ':'")
        self.at += 1
        self._skip()

    def _value(self) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise Unreadable(
                line=self.line,
                rule="too-large",
                message=f"more than {MOST_NODES:,} values",
                fix="write it as JSON Lines",
            )
        first = self._next()
        if first == '"':
            self._place(self._string())
        elif first == "{" or first == "[":
            self.at += 1
            container = Located(self.line) if first == "{" else LocatedList(self.line)
            self._place(container)
            if len(self.open) > DEEPEST:
                raise too_deep(self.line)
            self.open.append(container)
            self.keys.append("")
        elif number := _NUMBER.match(self.text, self.at):
            self._place(Spelled(number.group()))
            self.at = number.end()
        else:
            self._place(self._word())

    def _word(self) -> Any:
        word = _WORD.match(self.text, self.at)
        name = word.group() if word else ""
        if name in ("NaN", "Infinity") or self.text.startswith("-Infinity", self.at):
            fault = Unreadable(
                line=self.line,
                rule="not-finite",
                message=f"{name or '-Infinity'} is not a number that can be compared",
                fix="give a finite number, or null",
            )
            raise fault
        if name not in _WORDS:
            raise self._fault("expecting a value")
        self.at += len(name)
        return _WORDS[name]

    def _place(self, value: Any) -> None:
        holder = self.open[-1]
        if isinstance(holder, Located):
            holder[self.keys[-1]] = value
        else:
            holder.append(value)
            holder.lines.append(self.line)

    def _string(self) -> str:
        plain = _PLAIN_STRING.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            return plain.group(1)
        try:
            value: str
            value, self.at = scanstring(self.text, self.at + 1, True)
        except JSONDecodeError as fault:
            raise _bad_json(self.text, fault.pos, fault.msg) from None
        return value

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        if space:
            self.line += self.text.count("\n", self.at, space.end())
            self.at = space.end()

    def _fault(self, message: str) -> Unreadable:
        return _bad_json(self.text, self.at, message)
