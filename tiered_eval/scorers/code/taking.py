"""Finds the code in a response.

The one idea: what stands in a fence is code, and what stands around it is talk. Several blocks of the language are one
program, in their order, as a reader would paste them; a response without any fence is code as a whole, or has none, or
mixes the two, which nobody should take apart by guessing.

Responses are read line by line: a pattern over the whole would take for ever for a few hundred thousand backticks.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Taken", "take_code"]

_OPENING = re.compile(r"(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[\w+#.-]*)")
_STATEMENT = re.compile(r"[ \t]*(?:>>> )?(?:(?:async )?def|class|import|from|for|while|if|print|@)\b.*[:()]")
_BEGINNING = re.compile(r"[ \t]*(?:>>> |(?:async )?def |class |import |from |@\w)")
_MOST_PARSED = 200_000
"""Characters of what is parsed here, in the loop that all others wait for; longer code is Python's own to refuse."""
_MOST_ENDS = 50
"""Places where code among prose may end, tried from the last on."""
_NAMES = {
    "python": ("py", "ipython"),
    "javascript": ("js", "node"),
    "typescript": ("ts",),
    "bash": ("sh", "shell"),
    "cpp": ("c++", "cc"),
    "ruby": ("rb",),
    "go": ("golang",),
    "rust": ("rs",),
}
"""What blocks of a language are called, beside its name; a version behind it does not matter."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The code of a response; None, and why, where there is none or it cannot be told."""

    code: str | None
    why: str = ""
    is_ambiguous: bool = False


def take_code(text: str, language: str, blocks: str) -> Taken:
    """The code of ``text``: of its ``first``, its ``last`` or ``all`` of its blocks."""
    text = text.replace("\r\n", "\n")
    found = list(_blocks(text.split("\n")))
    names = {*_NAMES.get(language, ()), language}
    of_language = [code for tag, code in found if {tag, tag.rstrip("0123456789.")} & names]
    of_language = of_language or [code for tag, code in found if not tag]
    of_language = [code for code in of_language if code.strip()]
    if not found:
        return _whole(text, language)
    if not of_language:
        return Taken(None, f"no {language} in the response: its blocks are of another language, or empty")
    if blocks == "first":
        return Taken(of_language[0])
    if blocks == "last":
        return Taken(of_language[-1])
    joined = "\n\n".join(of_language)
    is_broken = len(of_language) > 1 and language == "python" and not _is_python(joined)
    if is_broken and any(map(_is_python, of_language)):
        return Taken(None, "several blocks of code, which do not make one program", is_ambiguous=True)
    return Taken(joined)


def _blocks(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Every block in a fence, with what its language is called; one that is cut off ends with the text."""
    left = iter(lines)
    for line in left:
        opening = _OPENING.match(line)
        if opening is None or (opening["mark"][0] == "`" and "`" in line[opening.end() :]):
            continue  # code within a line has backticks on both sides
        indent = len(opening["indent"])
        inside = []
        for inner in left:
            if _is_closing(inner.strip(" \t"), opening["mark"]):
                break
            # A block inside a list is indented as a whole, its fence too.
            inside.append(inner if inner[:indent].strip() else inner[indent:])
        yield opening["tag"].lower(), "\n".join(inside).rstrip("\n") + "\n"


def _is_closing(line: str, mark: str) -> bool:
    return line.startswith(mark) and not line.strip("`~")


def _whole(text: str, language: str) -> Taken:
    """A response without a fence."""
    if not text.strip():
        return Taken(None, "no code: the response is empty")
    if language != "python" or _has_statements(text):
        return Taken(text)
    dedented = textwrap.dedent(text)
    if _has_statements(dedented):
        return Taken(dedented)
    lines = text.split("\n")
    if not any(map(_STATEMENT.match, lines)):
        return Taken(None, "no code in the response")
    if _has_code_within(lines):
        return Taken(None, "code and prose, and no fence that tells where one begins", is_ambiguous=True)
    return Taken(text)  # code with a mistake in it


def _has_statements(text: str) -> bool:
    """Is it Python, and more than a word that could be a name?"""
    tree = _parsed(text)
    return tree is not None and any(
        not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Name)) for node in tree.body
    )


def _has_code_within(lines: list[str]) -> bool:
    """Does some of it read as code by itself?"""
    begin = next((at for at, line in enumerate(lines) if _BEGINNING.match(line)), None)
    if begin is None or sum(map(len, lines)) > _MOST_PARSED:
        return False
    if lines[begin].lstrip().startswith(">>> "):
        return True
    ends = [at for at in range(begin + 1, len(lines) + 1) if at == len(lines) or not lines[at].strip()]
    return any(
        _is_python(textwrap.dedent("\n".join(lines[begin:end]))) for end in ends[: -_MOST_ENDS - 1 : -1]
    )


def _is_python(code: str) -> bool:
    return len(code) > _MOST_PARSED or _parsed(code) is not None


def _parsed(code: str) -> ast.Module | None:
    if len(code) > _MOST_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # an odd escape in the code of a response is nothing to tell the user of
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
