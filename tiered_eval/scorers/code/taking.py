"""Finds the code in a response.

The one idea: what stands in a fence is code, and what stands around it is talk. Several blocks of the language are one
program, in their order, as a reader would paste them; a response without any fence is code as a whole, or has none.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

__all__ = ["Taken", "take_code"]

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[\w+#.-]*)[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_NAMES = {
    "python": ("python", "py", "python3", "py3"),
    "javascript": ("javascript", "js", "node"),
    "typescript": ("typescript", "ts"),
    "bash": ("bash", "sh", "shell"),
    "c": ("c",),
    "cpp": ("cpp", "c++", "cc"),
    "ruby": ("ruby", "rb"),
    "go": ("go", "golang"),
    "rust": ("rust", "rs"),
}
"""What blocks of a language are called."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The code of a response; None, and why, where there is none or it cannot be told."""

    code: str | None
    why: str = ""
    is_ambiguous: bool = False


def take_code(text: str, language: str, blocks: str) -> Taken:
    """The code of ``text``: of its ``first``, its ``last`` or ``all`` of its blocks."""
    text = text.replace("\r\n", "\n")
    found = [(match["tag"].lower(), _dedented(match)) for match in _FENCE.finditer(text)]
    names = _NAMES.get(language, (language,))
    of_language = [code for tag, code in found if tag in names] or [code for tag, code in found if not tag]
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


def _whole(text: str, language: str) -> Taken:
    """A response without a fence: code, if it reads as such."""
    if not text.strip():
        return Taken(None, "no code: the response is empty")
    if language == "python" and not _has_statements(text):
        return Taken(None, "no code in the response")
    return Taken(text)


def _has_statements(text: str) -> bool:
    """Is it Python, or Python with an error in it, rather than prose?"""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (
            re.search(r"^(?:def|class|import|from|for|while|if|print)\b.*[:()]", text, re.MULTILINE)
            is not None
        )
    return any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Name)) for node in body)


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _dedented(match: re.Match[str]) -> str:
    """A block inside a list is indented as a whole, its fence too."""
    indent = len(match[0]) - len(match[0].lstrip(" \t"))
    lines = match["code"].splitlines()
    return "\n".join(line[indent:] if not line[:indent].strip() else line for line in lines) + "\n"
