"""An author's regular expressions: compiled so that they cannot hang a run, and checked before one.

The one idea: RE2 takes time linear in the text whatever the pattern, so it is the engine unless the author
asks for the other one (look-around, back-references), which then runs under a time limit. A pattern that
can never match, or that matches everything, would score wrongly for ever; :func:`compile_problem` says so.

Used by the ``regex`` scorer and by lint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

__all__ = ["Engine", "compile_pattern", "compile_problem"]

Engine: TypeAlias = Literal["re2", "regex"]

LONGEST_PATTERN = 10_000
DEEPEST_GROUPS = 100
MOST_REPEATS = 1000
"""As RE2 has it; the other engine would take seconds to compile more."""
MOST_MEMORY = 8 * 2**20
"""Bytes that RE2 may use for one pattern."""

_COUNT = re.compile(r"(?<!\\)\{(\d*)(?:,(\d*))?\}")


@lru_cache(maxsize=1024)
def compile_pattern(
    pattern: str,
    *,
    engine: Engine = "re2",
    ignore_case: bool = False,
    multiline: bool = False,
    dotall: bool = False,
) -> Any:
    """The compiled pattern, kept; both engines' have ``search`` and ``groupindex`` as :mod:`re` has.

    Raises:
        ValueError: it cannot be compiled, with the engine's reason.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise ValueError(f"it has {len(pattern)} characters, and {LONGEST_PATTERN} is the limit")
    if _depth(pattern) > DEEPEST_GROUPS:
        raise ValueError(f"its groups are nested more than {DEEPEST_GROUPS} deep")
    if engine == "regex" and any(_is_large(count) for pair in _COUNT.findall(pattern) for count in pair):
        raise ValueError(f"it repeats something more than {MOST_REPEATS} times")
    flags = "".join(
        letter for letter, is_set in (("i", ignore_case), ("m", multiline), ("s", dotall)) if is_set
    )
    whole = f"(?{flags}){pattern}" if flags else pattern
    return _compile_re2(whole) if engine == "re2" else _compile_regex(whole)


def _compile_re2(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as fault:
        reason = fault.args[0] if fault.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(text) from None


def _compile_regex(pattern: str) -> Any:
    import regex

    try:
        return regex.compile(pattern, regex.VERSION0, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError, ValueError) as fault:
        raise ValueError(str(fault)) from None


def _is_large(count: str) -> bool:
    return len(count) > 4 or (count != "" and int(count) > MOST_REPEATS)


def _depth(pattern: str) -> int:
    depth = deepest = 0
    for character in pattern:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


def compile_problem(pattern: str, options: Mapping[str, Any]) -> str | None:
    """What is wrong with a pattern under its options, as a clause for a message; None when nothing is."""
    flags = {name: bool(options.get(name)) for name in ("ignore_case", "multiline", "dotall")}
    engine: Engine = "regex" if options.get("engine") == "regex" else "re2"
    try:
        compiled = compile_pattern(pattern, engine=engine, **flags)
    except ValueError as fault:
        return _with_advice(str(fault), engine)
    group = options.get("group")
    if group is not None:
        return _group_problem(compiled, str(group))
    if options.get("equals") is not None and compiled.groups > 1:
        return "`equals` needs `group`, as the pattern has several"
    if not flags["multiline"] and (problem := _impossible(pattern, engine)):
        return problem
    if options.get("equals") is None and engine == "re2" and _matches_everything(compiled):
        return "it matches the empty text, so it is found in every response"
    return None


def _with_advice(reason: str, engine: Engine) -> str:
    is_refused = re.match(r"invalid (?:perl operator|escape sequence: \\[1-9])", reason)
    if engine == "re2" and is_refused:
        return f"RE2 does not take it ({reason}); set `engine: regex` for look-around and back-references"
    return f"it cannot be compiled ({reason})"


def _group_problem(compiled: Any, group: str) -> str | None:
    if group.isdecimal():
        return None if int(group) <= compiled.groups else f"it has no group {group}"
    return None if group in compiled.groupindex else f'it has no group "{group}"'


_PROBES = ("", "漢", *map(chr, range(128)), "~\n~", "漢\n漢字", "\n\n", "a b", "1 2", "ab\nab")


def _matches_everything(compiled: Any) -> bool:
    """Is it found in texts that share nothing? Then it is found in all."""
    return all(compiled.search(text) is not None for text in _PROBES)


@dataclass(slots=True)
class _Branch:
    """What is known of one alternative, as far as it was read."""

    consumes: bool = False
    """Something that takes at least one character has been read."""
    ends: bool = False
    """The end of the text has been demanded."""
    starts: bool = False
    """The start of the text was demanded before anything was read."""


@dataclass(slots=True)
class _Group:
    """An open group: the alternatives that were read, and the one that is being read."""

    done: list[_Branch]
    branch: _Branch
    is_aside: bool
    """A look-around: takes no characters, and is not looked into."""


_TOKEN = re.compile(
    r"""(?P<escape>\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|x[0-9a-fA-F]{2}|.))
    |(?P<set>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\])
    |(?P<open>\((?:\?(?:P?<(?![=!])\w+>|[:>|]|<?[=!])|(?!\?)))
    |(?P<flags>\(\?)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIER = re.compile(r"(?:(?P<optional>\*|\?|\{0*(?:,\d*)?\})|\+|\{\d+(?:,\d*)?\})[?+]?")
_ZERO_WIDTH_ESCAPES = frozenset("bB")
_END_ESCAPES = frozenset("zZ")


def _impossible(pattern: str, engine: Engine) -> str | None:
    """Why a pattern can never match: something is demanded after the end or before the start of the text.

    Looks at anchors only, and says nothing where it is not sure (inline flags, quoted stretches).
    """
    if "\\Q" in pattern:
        return None
    groups = [_Group([], _Branch(), False)]
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None or token.lastgroup == "flags":
            return None
        at = token.end()
        text = token.group()
        if token.lastgroup == "open":
            is_aside = text[-1:] in "=!" and len(text) > 2
            groups.append(_Group([], _Branch(), is_aside or groups[-1].is_aside))
            continue
        group = groups[-1]
        if text == "|" and token.lastgroup == "other":
            group.done.append(group.branch)
            group.branch = _Branch()
            continue
        if text == ")" and token.lastgroup == "other":
            item = _closed(groups.pop())
            if not groups:
                return None
        else:
            item = _item(token.lastgroup or "", text, engine)
        quantifier = _QUANTIFIER.match(pattern, at)
        if quantifier:
            at = quantifier.end()
            if quantifier.group("optional"):
                continue
        if problem := _join(groups[-1].branch, item):
            if groups[-1].is_aside:
                return None
            is_whole = len(groups) == 1 and "|" not in pattern
            return f"{'it' if is_whole else 'a part of it'} can never match: {problem}"
    return None


def _item(kind: str, text: str, engine: Engine) -> _Branch:
    if kind == "escape":
        letter = text[1]
        if letter in _END_ESCAPES:
            return _Branch(ends=True)
        if letter == "A":
            return _Branch(starts=True)
        # A back-reference may take nothing.
        return _Branch(consumes=letter not in _ZERO_WIDTH_ESCAPES and not letter.isdecimal())
    if kind == "other" and text == "^":
        return _Branch(starts=True)
    if kind == "other" and text == "$":
        return _Branch(ends=engine == "re2")  # the other engine's $ lets one line end follow
    return _Branch(consumes=True)


def _closed(group: _Group) -> _Branch:
    """What a whole group demands: only what each of its alternatives does."""
    if group.is_aside:
        return _Branch()
    branches = [*group.done, group.branch]
    return _Branch(
        consumes=all(branch.consumes for branch in branches),
        ends=all(branch.ends for branch in branches),
        starts=all(branch.starts for branch in branches),
    )


def _join(branch: _Branch, item: _Branch) -> str | None:
    if item.starts and branch.consumes:
        return "it demands text before the start (^) of the response"
    if item.consumes and branch.ends:
        return "it demands text after the end ($) of the response"
    branch.starts = branch.starts or (item.starts and not branch.consumes)
    branch.consumes = branch.consumes or item.consumes
    branch.ends = branch.ends or item.ends
    return None
