"""How options are read: money, time, shares, prices, and the options that commands share.

The one idea: an option is checked where it is read, so a command gets values that it can use, and a wrong one is
exit code 2 before anything else happens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from tiered_eval.cli.output import complain
from tiered_eval.reports.wording import duration

if TYPE_CHECKING:
    from tiered_eval.config import Mode, Pack
    from tiered_eval.records import Suite

__all__ = [
    "DURATION",
    "FILE",
    "FOLDER",
    "SHARE",
    "TIME_LIMIT",
    "USD",
    "early_options",
    "format_names",
    "judge_options",
    "mode_from",
    "pack_option",
    "prices_from",
    "suite_from",
    "suite_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?")


class _Folder(click.Path):
    """A folder, there or not. An empty name, as a shell makes of an unset variable, does not mean the one that it is in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty name is no folder", param, ctx)
        return super().convert(value, param, ctx)


class _Usd(click.ParamType[Decimal]):
    """US dollars, exactly as written."""

    name = "usd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        from tiered_eval.config import MOST_USD, is_amount

        try:
            amount = Decimal(str(value).removeprefix("$"))
        except InvalidOperation:
            self.fail(f"{value!r} is not an amount in US dollars, such as 2.00", param, ctx)
        if not is_amount(amount):
            self.fail(f"{value!r} cannot be a cap: give an amount from 0 to {MOST_USD:,}", param, ctx)
        return amount


class _Duration(click.ParamType[float]):
    """Seconds, written as ``90``, ``90s``, ``6m`` or ``1h30m``. A number without a unit may be taken and its meaning said."""

    name = "duration"

    def __init__(self, *, tells_unit: bool = False) -> None:
        self._tells_unit = tells_unit

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(str(value).replace(" ", "").lower())
        if not value or match is None:
            self.fail(f"{value!r} is not a time, such as 90s, 6m or 1h30m", param, ctx)
        hours, minutes, seconds = (float(part or 0) for part in match.groups())
        total = hours * 3600 + minutes * 60 + seconds
        if total <= 0:
            self.fail(f"{value!r} leaves no time at all", param, ctx)
        if self._tells_unit and str(value).strip()[-1].isdigit() and param is not None:
            complain(f"{param.opts[0]} {value} is {duration(total)}: write s for seconds, m for minutes")
        return total


class _Share(click.ParamType[float]):
    """A share from 0 to 1, also as a percentage."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            self.fail(f"{value!r} is not a share, such as 0.02 or 2%", param, ctx)
        if not 0 <= share <= 1:
            self.fail(f"{value!r} is not between 0 and 1", param, ctx)
        return share


class _EmbedderName(click.ParamType[str]):
    """``none``, or a name that some embedder can have."""

    name = "embedder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from tiered_eval.providers.embedders import check_embedder

        check_embedder(value)
        return str(value)


class _Pack(click.ParamType[Any]):
    """``auto``, ``never``, or how many expectations may share a judge call."""

    name = "pack"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pack:
        text = str(value).strip().lower()
        if text in {"auto", "never"}:
            return cast("Pack", text)
        if not re.fullmatch(r"[2-6]", text):
            self.fail(f"{value!r} is not auto, never, or a number from 2 to 6", param, ctx)
        return int(text)


FOLDER = _Folder(path_type=Path, file_okay=False)
USD = _Usd()
PACK = _Pack()
DURATION = _Duration()
TIME_LIMIT = _Duration(tells_unit=True)
"""For a limit of a whole run, which people think of in minutes."""
SHARE = _Share()


def suite_options(command: Command) -> Command:
    """What every command that reads a suite takes."""
    for decorate in (
        click.option(
            "--allow-code",
            is_flag=True,
            help="Let the suite run code of its own: its scorers, its hooks, and a suite in Python.",
        ),
        click.option(
            "--allow-outside", is_flag=True, help="Let the suite name files outside its own folder."
        ),
        click.option(
            "--responses",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Take the responses from this file, joined by case id.",
        ),
        click.argument("suite", type=str),
    ):
        command = decorate(command)
    return command


def judge_options(command: Command) -> Command:
    """Which models judge, and what they cost: the same for a run and for its plan."""
    for decorate in (
        click.option(
            "--prices",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Prices by model, in JSON, YAML or TOML.",
        ),
        click.option(
            "--price",
            multiple=True,
            metavar="MODEL=IN,OUT",
            help="Price of a model, in US dollars a million tokens in and out. Repeatable.",
        ),
        click.option(
            "--embedder",
            type=_EmbedderName(),
            metavar="NAME",
            help="local:, openai:MODEL, none, ... (default: local:).",
        ),
        click.option(
            "--judge",
            multiple=True,
            metavar="MODEL",
            help="Judge model as provider:model, instead of the suite's. Repeat it to name the ones to fall back to, in "
            "order; a chain of judges stands in the suite.",
        ),
    ):
        command = decorate(command)
    return command


def pack_option(command: Command) -> Command:
    """May expectations share a judge call? The same for a run and for its plan."""
    return click.option(
        "--pack",
        type=PACK,
        metavar="HOW",
        help="Judge what is left over on one response in one call: auto, never, or at most so many, 2 to 6 "
        "(default: the suite's, else auto).",
    )(command)


def early_options(command: Command) -> Command:
    """Which certificate decides early, and which share of that is checked? The same for a run and for its plan."""
    audited = click.option(
        "--audit-rate",
        type=SHARE,
        metavar="SHARE",
        help="Early verdicts of a certificate that the judge checks as well, five at least (default: the suite's, else 5%).",
    )
    return click.option(
        "--certificate",
        type=FILE,
        metavar="FILE",
        help="A calibration's certificate that may decide early (default: certificate.json beside the suite).",
    )(audited(command))


def suite_from(suite: str, *, responses: Path | None, allow_outside: bool, allow_code: bool) -> Suite:
    """The suite that the options name.

    Raises:
        SuiteError: it is wrong.
    """
    from tiered_eval.suite import load_suite

    return load_suite(suite, responses=responses, allow_outside=allow_outside, allow_code=allow_code)


def prices_from(price: Sequence[str], prices: Path | None) -> dict[str, Any]:
    """Prices of the file, and over them those of single options.

    Raises:
        ConfigError: one cannot be read.
    """
    if not price and prices is None:
        return {}
    from tiered_eval.pricing import load_prices, parse_price

    found = load_prices(prices) if prices is not None else {}
    return found | dict(parse_price(text) for text in price)


def mode_from(*, offline: bool, replay: bool) -> Mode:
    """Where replies may come from.

    Raises:
        UsageError: both were asked for.
    """
    if offline and replay:
        raise click.UsageError(
            "--offline and --replay cannot be combined: one uses kept replies, one recordings"
        )
    if offline:
        return "offline"
    return "replay" if replay else "live"


def format_names(given: Sequence[str]) -> tuple[str, ...]:
    """The report formats of ``--report a,b --report c``.

    Raises:
        ConfigError: one is unknown.
    """
    from tiered_eval.reports import check_formats

    return check_formats(name.strip() for text in given for name in text.split(",") if name.strip())
