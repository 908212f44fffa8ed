"""``docs/cli.md`` says what ``--help`` says. Run this file to write it anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from tiered_eval.cli.app import app

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

_HEAD = """\
# The command line

Generated from the `--help` texts by `python tests/test_cli_docs.py`; do not edit.
How the report files look is in [report-schema.md](report-schema.md).
"""


def generated() -> str:
    """The whole page."""
    parts = [_HEAD, _section(app, "tiered-eval", None)]
    with click.Context(app, info_name="tiered-eval", **app.context_settings) as above:
        parts.extend(_sections(app, above))
    return "\n".join(parts)


def _sections(group: click.Group, above: click.Context) -> Iterator[str]:
    """One section a command; those of a group follow it."""
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        assert command is not None
        yield _section(command, name, above)
        if isinstance(command, click.Group):
            with click.Context(command, info_name=name, parent=above) as context:
                yield from _sections(command, context)


def _section(command: click.Command, name: str, above: click.Context | None) -> str:
    settings = {**app.context_settings, "terminal_width": 100}
    with click.Context(command, info_name=name, parent=above, **settings) as context:
        path = context.command_path
        return f"## `{path}`\n\n```text\n{command.get_help(context)}\n```\n"


def test_the_page_is_current():
    """Every option of every command stands in the documentation as it is."""
    assert PAGE.read_text(encoding="utf-8") == generated(), "run python tests/test_cli_docs.py"


if __name__ == "__main__":
    PAGE.write_text(generated(), encoding="utf-8")
