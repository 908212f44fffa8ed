"""``tiered-eval ledger``: is it sound, what may have been billed without an answer, and what became of that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.options import FOLDER, prices_from
from tiered_eval.cli.output import complain, say
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.ledger import Ledger, Resolution, UnknownCall

__all__ = ["ledger"]

_HOME = click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder of the ledger (default: $TIERED_EVAL_HOME, else .tiered_eval here).",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON list, for programs.")


@click.group(short_help="Check the books, and settle what is unknown.")
def ledger() -> None:
    """Check the ledger of a home, list the calls that may have been billed without an answer, and settle them."""


@ledger.command(short_help="Check everything that can be checked.")
@_HOME
@_JSON
def verify(home: Path | None, as_json: bool) -> int:
    """Check the ledger: its file, its sums, its kept replies, and what lies beside it. Nothing is changed.

    Exit code 2 if anything is wrong.
    """
    from tiered_eval.cli.asking import home_from
    from tiered_eval.ledger import inspect

    findings = inspect(home_from(home))
    if as_json:
        say(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        say(
            "\n".join(
                f"{'ok   ' if found.is_good else 'WRONG'}  {found.name:<12} {found.says}"
                for found in findings
            )
        )
    return 0 if all(finding.is_good for finding in findings) else 2


@ledger.command(short_help="List the calls that may have been billed.")
@click.option("--run", metavar="RUN", help="Of this run only; a run id or the beginning of one.")
@_HOME
@_JSON
def unknown(run: str | None, home: Path | None, as_json: bool) -> int:
    """List the calls that may have been billed without an answer. Each counts against its caps at its worst case.

    `tiered-eval ledger resolve` settles them.
    """
    from tiered_eval.pricing import dollars_from_pico, usd_from_pico
    from tiered_eval.reports.untrusted import one_line
    from tiered_eval.reports.wording import plural

    with _opened(home) as book:
        calls = book.unknown_calls(run=_run_of(book, run), limit=_ALL)
    if as_json:
        rows = [asdict(call) | {"bound_usd": str(usd_from_pico(call.bound))} for call in calls]
        say(json.dumps(rows, indent=2))
        return 0
    if not calls:
        say("no call is unknown")
        return 0
    for call in reversed(calls):
        say(
            f"{call.number:>6}  {call.sent_at[:19]}Z  {one_line(call.model, 40):<32} {one_line(call.kind, 16):<16} "
            f"at most {dollars_from_pico(call.bound):<12} {one_line(call.why, 60)}  (run {call.run})"
        )
    total = dollars_from_pico(sum(call.bound for call in calls))
    say(f"{plural(len(calls), 'call')}, {total} at most; tiered-eval ledger resolve settles them")
    return 0


@ledger.command(short_help="Settle unknown calls.")
@click.argument("settled", nargs=-1, metavar="[CALL=WHAT]...")
@click.option(
    "--usage",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The provider's usage export, in CSV, JSON or JSON lines.",
)
@click.option(
    "--price",
    multiple=True,
    metavar="MODEL=IN,OUT",
    help="Price of a model, where the export has tokens only.",
)
@click.option("--prices", type=click.Path(path_type=Path), metavar="FILE", help="Prices by model.")
@click.option("--dry-run", is_flag=True, help="Say what would be settled, and change nothing.")
@_HOME
def resolve(
    settled: Sequence[str],
    usage: Path | None,
    price: Sequence[str],
    prices: Path | None,
    dry_run: bool,
    home: Path | None,
) -> int:
    """Settle unknown calls by what is known of them, each once.

    CALL is a number of `tiered-eval ledger unknown`, WHAT is not-billed, billed (at its worst case), or the amount
    in US dollars. With --usage, the difference between what the provider billed in a stretch of time and what the
    ledger settled in it is what the unknown calls of that stretch cost: export whole hours or days in which nothing
    else used the account. Rows with a `call` number or `key` settle that very call.

    Exit code 2 if a call that was asked for could not be settled; the other ones are.
    """
    from tiered_eval.pricing import dollars_from_pico
    from tiered_eval.reports.wording import plural

    if not settled and usage is None:
        raise click.UsageError("give CALL=WHAT, or the provider's usage export with --usage FILE")
    with _opened(home) as book:
        calls = {call.number: call for call in book.unknown_calls(limit=_ALL)}
        resolutions = [_resolution_of(text, calls) for text in settled]
        for resolution in resolutions if dry_run else ():
            _check_unknown(resolution.number, calls)
        problems: list[str] = []
        if usage is not None:
            named = {resolution.number for resolution in resolutions}
            left = [call for call in calls.values() if call.number not in named]
            found, problems = _from_export(usage, left, book, prices_from(price, prices))
            resolutions += found
        if not dry_run and resolutions:
            book.resolve(resolutions)
    billed = sum(resolution.cost or 0 for resolution in resolutions)
    freed = sum(calls[resolution.number].bound for resolution in resolutions) - billed
    say(
        f"{'would settle' if dry_run else 'settled'} {plural(len(resolutions), 'call')}: "
        f"{dollars_from_pico(billed)} billed, {dollars_from_pico(max(0, freed))} given back"
    )
    for problem in problems:
        complain(f"still unknown: {problem}")
    return 2 if problems else 0


_ALL = 1_000_000


def _opened(home: Path | None) -> Ledger:
    """The ledger of a home that has one.

    Raises:
        ConfigError: it has none.
    """
    from tiered_eval.cli.asking import home_from
    from tiered_eval.config import NAME_THE_HOME
    from tiered_eval.ledger import Ledger

    place = home_from(home)
    if not (place / "ledger.db").is_file():
        raise ConfigError(f"there is no ledger in {place}: {NAME_THE_HOME}")
    return Ledger.open(place)


def _run_of(book: Ledger, run: str | None) -> str | None:
    if run is None:
        return None
    entry = book.find_run(run)
    if entry is None:
        raise ConfigError(f"no run {run!r} is in the ledger, or several begin so")
    return entry.id


def _resolution_of(text: str, calls: dict[int, UnknownCall]) -> Resolution:
    """Read ``CALL=WHAT``. Raises ConfigError."""
    from decimal import Decimal, InvalidOperation

    from tiered_eval.config import is_amount
    from tiered_eval.ledger import Resolution
    from tiered_eval.pricing import pico_from_usd
    from tiered_eval.providers.usage import MOST_USD_A_CALL

    number, sign, what = text.partition("=")
    if not sign or not number.strip().isdecimal():
        raise ConfigError(f"{text!r}: expected CALL=not-billed, CALL=billed or CALL=0.0012")
    call = int(number)
    what = what.strip().lower()
    cost: int | None = None
    if what == "billed":
        _check_unknown(call, calls)
        cost = calls[call].bound
    elif what != "not-billed":
        try:
            amount = Decimal(what.removeprefix("$"))
        except InvalidOperation:
            amount = Decimal("NaN")
        if not is_amount(amount) or amount > MOST_USD_A_CALL:
            raise ConfigError(f"{text!r}: expected not-billed, billed, or an amount in US dollars")
        cost = pico_from_usd(amount)
    return Resolution(number=call, cost=cost or None, source="by hand")


def _check_unknown(call: int, calls: dict[int, UnknownCall]) -> None:
    """Raises ConfigError where that call is not unknown."""
    if call not in calls:
        raise ConfigError(f"there is no unknown call {call}; tiered-eval ledger unknown lists them")


def _from_export(
    path: Path, calls: Sequence[UnknownCall], book: Ledger, prices: dict[str, object]
) -> tuple[list[Resolution], list[str]]:
    from tiered_eval.calls.usage_export import resolutions_from
    from tiered_eval.calls.usage_rows import load_usage
    from tiered_eval.pricing import PriceBook

    rows = load_usage(path)
    return resolutions_from(
        rows, calls, book.settled_between, PriceBook(prices), source=f"usage export {path.name}"
    )
