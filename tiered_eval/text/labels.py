"""Which of a fixed set of labels a text names, and where.

The one idea: labels are looked for all at once with the longest first, so that ``account`` is not seen inside
``account_closure``; and a label of one letter is a label only where it is written as one, since "A" is also a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["LabelAt", "find_labels", "is_answer_at", "label_of"]

_ANNOUNCED = re.compile(
    r"(?:\b(?:answer|choice|option|label|class|classification|category|verdict|prediction|result|output|select(?:ed)?"
    r"|choose|chose|pick(?:ed)?|rating|score|grade|level|correction|sentiment|intent|topic|type|priority|severity)\b(?:\s+(?:is|was|are|would\s+be|option|letter|choice|label|category|class))*|\\boxed"
    r"|\#\#\#\#)[\s:=(\[{*_`\"'“‘>-]*$",
    re.IGNORECASE,
)
_MARK_BEFORE = re.compile(
    r"(?:^|\n)[\s>*_`\"'-]*[(\[]?$|[(\[]$|(?:option|choice|answer)\s+[\"'*_`(]*$", re.IGNORECASE
)
_MARK_AFTER = re.compile(r"[)\].:](?:\s|$|[*_`\"'])|[*_`\"']*\s*$|[*_`\"']*\s*\n")
_ARTICLE = re.compile(r"\s+[a-z]")
_NEAR = 60


class LabelAt(NamedTuple):
    """A label as the author wrote it, and where the text names it."""

    label: str
    start: int
    end: int


def find_labels(text: str, labels: Sequence[str], *, is_cased: bool = False) -> Iterator[LabelAt]:
    """The places that name one of the labels, in order."""
    pattern, by_form = _pattern(tuple(labels), is_cased)
    for match in pattern.finditer(text):
        label = by_form[_form(match[0], is_cased=is_cased or len(match[0]) == 1)]
        if len(label) > 1 or _is_written_as_label(text, match.start(), match.end()):
            yield LabelAt(label, match.start(), match.end())


def label_of(text: str, labels: Sequence[str], *, is_cased: bool = False) -> str | None:
    """The label that a text consists of, but for marks around it."""
    pattern, by_form = _pattern(tuple(labels), is_cased)
    stripped = text.strip(" \t\r\n.,;:!?\"'“”‘’()[]{}*_`#>")
    match = pattern.fullmatch(stripped)
    if match is None:
        return None
    return by_form[_form(match[0], is_cased=is_cased or len(match[0]) == 1)]


def is_answer_at(text: str, start: int) -> bool:
    """Do the words before this place announce an answer ("The category is ...")?"""
    return _ANNOUNCED.search(text[max(0, start - _NEAR) : start]) is not None


def _is_written_as_label(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _NEAR) : start]
    if _ANNOUNCED.search(before):
        return not (text[start] in "AI" and _ARTICLE.match(text, end))
    return bool(_MARK_BEFORE.search(before) and _MARK_AFTER.match(text, end))


def _form(text: str, *, is_cased: bool) -> str:
    form = re.sub(r"[\s_-]+", " ", text.translate(_APOSTROPHES))
    return form if is_cased else form.casefold()


_APOSTROPHES = str.maketrans("’‘", "''")


@lru_cache(maxsize=256)
def _pattern(labels: tuple[str, ...], is_cased: bool) -> tuple[re.Pattern[str], dict[str, str]]:
    forms = {_form(label, is_cased=is_cased or len(label) == 1): label for label in labels}
    written = [_written(label, is_cased) for label in sorted(labels, key=len, reverse=True)]
    return re.compile(rf"(?<![\w/-])(?<!\d[.,:])(?:{'|'.join(written)})(?![\w/]|-\w|[.,:]\d)"), forms


def _written(label: str, is_cased: bool) -> str:
    """A pattern for a label, whatever joins its words."""
    words = [re.escape(word).replace("'", "['’‘]") for word in re.split(r"[\s_-]+", label.strip()) if word]
    joined = r"[\s_-]+".join(words) or re.escape(label)
    return joined if is_cased or len(label) == 1 else f"(?i:{joined})"
