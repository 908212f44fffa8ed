"""Making text of unknown origin safe to show.

The one idea: what a model wrote (and what a suite or a provider wrote) may move the cursor, reverse the reading
order, start a workflow command or hold a key that an error message echoed. Each is taken out at the place where
text leaves: :func:`one_line` where a value enters a rendering, :func:`without_secrets` and
:func:`without_commands` on the finished text.

Sources: ECMA-48 for escape sequences; Unicode TR 9 for bidirectional controls and "Trojan Source"
(CVE-2021-42574) for what they do to a reviewer; actions/runner ``ActionCommand.cs`` for workflow commands,
which are found after leading white space (``::``) or anywhere in a line (``##[``).
"""

from __future__ import annotations

import re

from tiered_eval.text.secrets import secrets_in, without_secrets

__all__ = ["many_lines", "one_line", "secrets_in", "without_commands", "without_secrets"]

_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS: titles, links
    r"|\x1b[ -/]*[0-~]?"  # the two-character ones
)
_SPACE = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    r"\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # bidi, zero width, interlinear
    r"\U000e0000-\U000e0fff]"  # tags: text that nobody sees and models read
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_COMMAND = re.compile(r"^([ \t]*):(?=:)", re.MULTILINE)
_OLD_COMMAND = re.compile(r"##(?=\[)")


def one_line(text: str, limit: int = 200) -> str:
    """``text`` on one line, without anything that a terminal or a reader's eye would obey.

    At most ``limit`` characters; what was cut off shows as an ellipsis.
    """
    if len(text) <= limit and text.isprintable() and "  " not in text:
        return text.strip()  # by far the most: nothing in it needs looking at
    # Ten times the limit is enough to fill it and keeps a 10 MB response from being worked through.
    kept = _ESCAPE_SEQUENCE.sub("", text[: limit * 10])
    kept = _SPACE.sub(
        " ", _UNSEEN.sub("", _SPACE.sub(" ", kept))
    ).strip()  # what is unseen may part two spaces
    kept = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", kept)
    if len(kept) > limit or len(text) > limit * 10:
        kept = kept[: limit - 1].rstrip() + "…"
    return kept


def many_lines(text: str, limit: int = 8_192) -> str:
    """``text`` with its line ends and nothing else that would be obeyed; at most ``limit`` characters."""
    lines = "\n".join(one_line(line, limit) for line in text[:limit].splitlines())
    return lines if len(text) <= limit and len(lines) <= limit else lines[: limit - 1] + "…"


def without_commands(text: str) -> str:
    """``text`` in which no line is a GitHub workflow command, whichever way its lines were wrapped."""
    return _OLD_COMMAND.sub("# #", _COMMAND.sub(r"\1: ", text))
