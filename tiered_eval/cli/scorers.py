"""``tiered-eval scorers``: which checks there are, what may be set, and how each is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.output import complain, say
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.catalogue import Alias, OptionInfo, ScorerInfo

__all__ = ["scorers"]

_EXPECTED = {
    "texts": "",
    "reference": "a text, a list of them, or JSON",
    "json": "a JSON value",
    "decimal": "a number",
    "duration": "a length of time, such as 1.5 s",
    "none": "nothing",
}
"""What may stand behind the name, for scorers that take more than texts."""

_HIDDEN = {"target", "check", "code"}


@click.command(short_help="List the scorers.")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "--suite",
    type=click.Path(exists=True, path_type=Path),
    metavar="SUITE",
    help="Also list those in this suite's scorers/ folder, with --allow-code.",
)
@click.option("--allow-code", is_flag=True, help="Let the suite's code run, to see what it declares.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list, for programs.")
def scorers(words: tuple[str, ...], suite: Path | None, allow_code: bool, as_json: bool) -> int:
    """List the scorers, cheapest tier first, with their options and an example of each.

    With WORDs, those alone that have one of them in a name or in what they say of themselves.

    Scorers of installed packages are among them, and of a suite where it is named and its code allowed.
    """
    from tiered_eval.suite.code import SuiteCode
    from tiered_eval.suite.own_scorers import own_catalogue

    folder = suite if suite is None or suite.is_dir() else suite.parent
    catalogue = own_catalogue(SuiteCode(folder, allow_code=allow_code))
    for fault in catalogue.read_everything():
        complain(f"left out: {fault}")
    found = [info for info in catalogue if not words or any(_speaks_of(info, word) for word in words)]
    if not found:
        raise ConfigError(f"no scorer speaks of {' or '.join(words)}: `tiered-eval scorers` lists them all")
    if as_json:
        say(json.dumps([_as_json(info) for info in found], indent=2))
        return 0
    say("\n\n".join("\n".join(_lines(info)) for info in found))
    return 0


def _speaks_of(info: ScorerInfo, word: str) -> bool:
    names = (info.name, *(alias.name for alias in info.aliases))
    wanted = word.lower()
    return any(wanted.replace("_", "-") in name for name in names) or wanted in info.summary.lower()


def _as_json(info: ScorerInfo) -> dict[str, object]:
    """The entry as it stands in the catalogue; where the code of ours lies is nobody's business."""
    entry = asdict(replace(info, code=None))  # what a user declared may hold anything
    return {name: value for name, value in entry.items() if name not in _HIDDEN}


def _lines(info: ScorerInfo) -> Iterator[str]:
    yield f"{info.name}  ({info.tier} tier{'' if info.is_routed else ', only where it is named'})"
    yield f"  {info.summary}"
    if info.origin:
        yield f"  from: {info.origin}"
    if info.kinds != ("check",):
        yield f"  for: {', '.join(info.kinds)}"
    if info.aliases:
        yield f"  also called: {', '.join(map(_alias, info.aliases))}"
    if expected := _EXPECTED[info.value]:
        or_nothing = ", or nothing" if info.is_value_optional and info.value != "none" else ""
        yield f"  expects: {expected}{or_nothing}"
    for option in info.options:
        yield f"  {option.name}: {_described(option)}"
    if info.example:
        yield f"  example:  {info.example}"


def _alias(alias: Alias) -> str:
    implied = ", ".join(f"{name}: {_as_written(value)}" for name, value in alias.options.items())
    return f"{alias.name} ({implied})" if implied else alias.name


def _as_written(value: object) -> str:
    """As a suite's author writes it: a flag in small letters, anything else letter for letter."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _described(option: OptionInfo) -> str:
    limits = ["needed"] if option.is_required else []
    if option.choices:
        limits.append(" | ".join(option.choices))
    if option.above is not None:
        limits.append(f"above {option.above:g}")
    if option.low is not None:
        limits.append(f"from {option.low:g}")
    if option.high is not None:
        limits.append(f"to {option.high:g}")
    if option.default:
        limits.append(f"default {option.default}")
    also = f", also {', '.join(option.aliases)}" if option.aliases else ""
    described = f"{option.help} ({option.type}{also})"
    return f"{described} [{', '.join(limits)}]" if limits else described
