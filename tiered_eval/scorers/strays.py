"""What code of the user's may raise that is no error: ``SystemExit``, a cancellation of nobody's, the ``skip`` of a test framework.

The one idea: outside of the call that raised it, each of these means something else: the end of the program with exit code 0,
or a run that was cancelled. So each becomes an ordinary exception where the code was called, and with that the error of the
one expectation. A real Ctrl-C is passed on.

Used wherever a function, a class or a hook of the user's is called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from tiered_eval.errors import message_of

__all__ = ["Stray", "close", "guarded"]

T = TypeVar("T")


class Stray(Exception):
    """Something was raised that is no error."""

    def __init__(self, who: str, raised: BaseException) -> None:
        text = message_of(raised)
        super().__init__(f"{who} raised {type(raised).__name__}{f': {text}' if text else ''}")


def guarded(who: str, call: Callable[..., T], *positional: Any, **named: Any) -> T:
    """What a call of the user's code in the main thread returns.

    Raises:
        Stray: it raised what is no error.
        Whatever it raises.
    """
    try:
        return call(*positional, **named)
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as raised:
        raise Stray(who, raised) from raised


def close(found: Any) -> Any:
    """End a coroutine that was returned where nobody awaits one, before Python warns of it."""
    if inspect.iscoroutine(found):
        found.close()
    elif isinstance(found, list | tuple):
        for one in found:
            if inspect.iscoroutine(one):
                one.close()
    return found
