"""``tiered-eval import-suite``: a suite of another tool as one of ours."""

from __future__ import annotations

from pathlib import Path

import click

from tiered_eval.cli.options import FOLDER
from tiered_eval.cli.output import complain, say
from tiered_eval.errors import ConfigError

__all__ = ["import_suite"]

SUITE_FILE = "suite.yaml"


@click.command("import-suite", short_help="Read a suite of another tool.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    required=True,
    metavar="DIR",
    help="Folder to write suite.yaml into.",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(["promptfoo", "openai", "arena"]),
    help="The tool that FILE is from (default: told by its content).",
)
@click.option("--allow-outside", is_flag=True, help="Let FILE name other files outside its own folder.")
@click.option("--strict", is_flag=True, help="End with 2 where something could not be carried over.")
@click.option("--force", is_flag=True, help="Replace suite.yaml if it is there.")
def import_suite(
    file: Path, output: Path, source: str | None, allow_outside: bool, strict: bool, force: bool
) -> int:
    """Read FILE, a suite of promptfoo, OpenAI evals or agent-arena, and write it as suite.yaml.

    Names each thing that could not be carried over, or that means something else here; the same notes stand at the
    top of the suite. Runs no code, and makes no call.
    """
    from tiered_eval.importers import import_suite as read_suite
    from tiered_eval.importers import suite_text
    from tiered_eval.reports.files import write_whole
    from tiered_eval.reports.wording import plural

    path = output / SUITE_FILE
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already: choose another folder, or pass --force")
    imported = read_suite(file, source=source, allow_outside=allow_outside)
    write_whole(path, [suite_text(imported)])
    for note in imported.notes:
        complain(str(note))
    if imported.omitted_notes:
        complain(f"... and {imported.omitted_notes:,} notes more")
    cases = imported.suite["cases"]
    count = sum(len(case.get("expect", ())) for case in cases)
    left_out = len(imported.left_out)
    say(
        f"{plural(len(cases), 'case')}, {plural(count, 'expectation')} from {imported.source} in {path}; "
        f"{left_out:,} left out"
    )
    if not count:
        say("Nothing is expected of any case, so there is nothing to run: add expectations of your own.")
    elif not imported.has_responses:
        say(
            f"Responses are not in it: tiered-eval run {path} --responses FILE, in the same folder, by the ids of its cases."
        )
    return 2 if strict and left_out else 0
