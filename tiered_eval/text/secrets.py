"""Takes keys out of text that leaves the process: onto a stream, into a report, into a kept run.

The one idea: a key is known by its place (an environment variable that is named like one) or by its shape. Whatever
writes text that others made passes it through here last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

__all__ = ["forms_of", "longest_first", "secrets_in", "without_secrets"]

_SECRET_NAME = re.compile(
    r"(?:API|ACCESS|AUTH|SECRET|PRIVATE)_?(?:KEY|TOKEN)|_TOKEN$|_SECRET$|_KEY$|PASSWORD"
)
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|gsk|xai|hf|ghp|gho|ghs)[-_](?=[\w-]*[0-9])(?=[\w-]*[A-Z])[\w-]{20,}"  # not "sk-learn-tutorial-one"
)
_SHORTEST_SECRET = 12
_HIDDEN = "[key hidden]"


def secrets_in(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values of environment variables that are named like keys, in each of their forms, longest first."""
    return longest_first(
        form
        for name, value in (os.environ if environment is None else environment).items()
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name.upper())
        for form in forms_of(value)
    )


def longest_first(forms: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order to look for them: of one that begins another, the rest of the other must not stay."""
    return tuple(sorted(set(forms), key=lambda form: (-len(form), form)))


def forms_of(secret: str) -> frozenset[str]:
    """As it is, as a URL has it, and as JSON may have it."""
    return frozenset({secret, quote(secret, safe=""), quote(secret), secret.replace("/", "\\/")})


def without_secrets(text: str, secrets: tuple[str, ...]) -> str:
    """``text`` without the given keys, and without what has the shape of one."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, _HIDDEN)
    return _SECRET_SHAPE.sub(_HIDDEN, text)
