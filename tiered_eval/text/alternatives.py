"""Claims whose subject is written twice: "Anna Berg / the director has resigned".

The one idea: people who note down what a text must say often put a name and what stands for it side by side, and either
will do. That is so only where one side is a name of several words or a definite description of it; in "Windows/Linux
hosts are supported" or "TCP/IP" a slash joins two things, and such a claim is left as it is.

Used by the coverage scorer.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["readings_of"]

_NAME = r"[^\W\d_a-z][\w.'’-]*(?:\s+[^\W\d_a-z][\w.'’-]*)+"
_DESCRIPTION = r"[Tt]he\s+[^\W\d_]+"
_PRONOUN = r"(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey)"
_NOUN = r"[^\W\d_]+"
_TWICE = re.compile(
    rf"(?:(?P<name>{_NAME})\s*/\s*(?:(?P<after>{_DESCRIPTION})|{_PRONOUN})"
    rf"|(?P<before>{_DESCRIPTION}|{_NOUN})\s*/\s*(?P<named>{_NAME}))(?=\s+[a-z])"
)


@lru_cache(maxsize=4096)
def readings_of(value: str) -> tuple[str, ...]:
    """The claim in each of its readings: with the name, and with its description; itself where it has one only.

    A pronoun beside a name is dropped: alone it would claim nothing of anybody.
    """
    found = _TWICE.match(value.strip())
    if found is None:
        return (value,)
    rest = value.strip()[found.end() :]
    subjects = (found["name"] or found["named"], found["after"] or found["before"])
    return tuple(f"{subject}{rest}" for subject in subjects if subject)
