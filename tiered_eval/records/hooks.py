"""Hooks: code of the author's that stands before the checks of an expectation, or before its judge.

The one idea: which hooks an expectation has is settled when its suite is read, so it is a plain part of the expectation,
and nothing has to be looked up when it is checked. ``digest`` tells whether two reports ran the same code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["HOOK_STAGES", "Hook", "Hooks"]

HOOK_STAGES = ("post_process", "pre_judge")
"""Before any check, and before a judge is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One function, as it was named."""

    name: str
    call: Callable[..., Any] = field(repr=False, hash=False)
    """Not shown, so that the same hook reads the same in every process; an object that is called need not be hashable."""
    digest: str = ""
    """16 hexadecimal digits over the file that it stands in; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The hooks of one expectation."""

    post_process: Hook | None = None
    """Given the response; what it returns is what all checks see, or decides."""
    pre_judge: Hook | None = None
    """Given case and expectation before a judge is asked; may show it another text, or decide."""
