"""Small things that runs hand on to each other: texts by name, beside the books.

The one idea: a note is changed from what it was, in one transaction, so that two runs at once change it one after the other.

Route: :class:`tiered_eval.ledger.Ledger` hands the change to its writer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

__all__ = ["change_note"]


def change_note(
    connection: sqlite3.Connection, *, name: str, change: Callable[[str | None], str]
) -> tuple[str, Exception | None]:
    """Write a note anew from what it was (None: nothing), and return it.

    What ``change`` raises leaves the note as it was and is returned: raised here it would end all writing.
    """
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    try:
        changed = change(None if row is None else row[0])
    except (KeyError, TypeError, ValueError) as error:
        return "", error
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, changed))
    return changed, None
