"""``tiered-eval cache``: kept replies and vectors, counted, checked, thinned out, carried away and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiered_eval.cli.options import FOLDER, suite_from, suite_options
from tiered_eval.cli.output import complain, say
from tiered_eval.errors import ConfigError
from tiered_eval.text.plurals import plural

if TYPE_CHECKING:
    from tiered_eval.cache import Entry
    from tiered_eval.ledger import Kept, Ledger

__all__ = ["cache"]

VECTORS = "vectors"
"""Folder of the vectors in a home."""
FILE = click.Path(path_type=Path, dir_okay=False)

_HOME = click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder of ledger and vectors (default: $TIERED_EVAL_HOME, else .tiered_eval here).",
)


@click.group(short_help="Look after kept replies and vectors.")
def cache() -> None:
    """Look after what a home keeps: replies, which were paid for and lie in the ledger, and vectors."""


@cache.command(short_help="Count what is kept.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@_HOME
def stats(as_json: bool, home: Path | None) -> int:
    """Count kept replies by model with what they had cost, and vectors."""
    from tiered_eval.pricing import usd_from_pico
    from tiered_eval.reports.wording import usd

    with ExitStack() as stack:
        replies = _replies(stack, _existing(home))
        by_model: dict[str, dict[str, Any]] = {}
        for reply in filter(None, replies):
            line = by_model.setdefault(reply.model, {"replies": 0, "cost_pico": 0, "bytes": 0})
            line["replies"] += 1
            line["cost_pico"] += reply.cost
            line["bytes"] += len(reply.payload)
    sizes = [entry.size for entry in _vectors(_existing(home))]
    found = {
        "replies": {
            model: {
                "replies": line["replies"],
                "cost_usd": str(usd_from_pico(line["cost_pico"])),
                "bytes": line["bytes"],
            }
            for model, line in sorted(by_model.items())
        },
        "vectors": {"values": len(sizes), "bytes": sum(sizes)},
    }
    if as_json:
        say(json.dumps(found, indent=2))
        return 0
    for model, line in sorted(by_model.items()):
        noun = "kept reply" if line["replies"] == 1 else "kept replies"
        say(f"{line['replies']:>8,} {noun} of {model}, {usd(usd_from_pico(line['cost_pico']))}")
    say(f"{len(sizes):>8,} {'vector' if len(sizes) == 1 else 'vectors'}, {sum(sizes):,} bytes")
    return 0


@cache.command(short_help="Check everything that is kept.")
@_HOME
def verify(home: Path | None) -> int:
    """Check each kept reply and each vector against its checksum. Nothing is changed.

    Exit code 2 if something is damaged: it counts as not kept, and is asked for or computed again.
    """
    place = _existing(home)
    with ExitStack() as stack:
        replies = [reply is not None for reply in _replies(stack, place)]
    vectors = [entry.value is not None for entry in _vectors(place)]
    damaged = replies.count(False) + vectors.count(False)
    say(
        f"replies: {replies.count(True):,} sound, {replies.count(False):,} damaged\n"
        f"vectors: {vectors.count(True):,} sound, {vectors.count(False):,} damaged"
    )
    if damaged:
        complain("what is damaged counts as not kept; tiered-eval cache prune takes damaged vectors away")
    return 2 if damaged else 0


@cache.command(short_help="Take away what is damaged or old.")
@click.option(
    "--older-than", type=click.IntRange(0, 36_500), metavar="DAYS", help="Also what was kept longer ago."
)
@click.option("--replies", is_flag=True, help="Old replies as well; asking for them again costs money.")
@_HOME
def prune(older_than: int | None, replies: bool, home: Path | None) -> int:
    """Take away damaged vectors, and with --older-than old ones.

    Kept replies stay unless --replies is given, since they were paid for; what they cost stays in the books.
    """
    from tiered_eval.cache import prune as prune_vectors

    place = _existing(home)
    if replies and older_than is None:
        raise click.UsageError("--replies needs --older-than DAYS")
    limit = datetime.now(UTC) - timedelta(days=older_than or 0)
    gone = prune_vectors(
        place / VECTORS,
        is_unwanted=lambda entry: older_than is not None and entry.stored_at < limit.timestamp(),
    )
    forgotten = 0
    if replies:
        with ExitStack() as stack:
            book = _ledger(stack, place)
            if book is not None:
                forgotten = book.forget_replies(before=limit.isoformat(timespec="milliseconds"))
    say(f"took away {plural(gone, 'vector')} and {_replies_in_words(forgotten)}")
    return 0


@cache.command(name="export", short_help="Write what is kept into a file.")
@click.argument("file", type=FILE)
@click.option("--no-vectors", is_flag=True, help="Replies only.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@_HOME
def export_(file: Path, no_vectors: bool, force: bool, home: Path | None) -> int:
    """Write kept replies and vectors into FILE, as JSON lines with checksums, for `tiered-eval cache import`.

    A reply in which a key is found is left out, and so is what is damaged.
    """
    from tiered_eval.calls.transfer import Transferred, export_lines
    from tiered_eval.reports.files import write_whole
    from tiered_eval.reports.untrusted import secrets_in, without_secrets

    place = _existing(home)
    _check_free(file, force=force)
    secrets = secrets_in()
    count = Transferred()
    with ExitStack() as stack:
        lines = export_lines(
            _replies(stack, place),
            () if no_vectors else _vectors(place),
            is_safe=lambda text: without_secrets(text, secrets) == text,
            count=count,
        )
        write_whole(file, lines)
    say(
        f"{_replies_in_words(count.replies)} and {plural(count.vectors, 'vector')} in {file}; {count.left_out:,} left out"
    )
    return 0


@cache.command(name="import", short_help="Keep what a file holds.")
@click.argument("file", type=FILE)
@_HOME
def import_(file: Path, home: Path | None) -> int:
    """Keep the replies and vectors of FILE, which `tiered-eval cache export` wrote. They cost nothing here.

    A file with a damaged or foreign line, or without its end, is refused whole. What is kept already stays as it is.
    The checksums find accidents and are no signature: whoever wrote the file could decide your verdicts.
    """
    from tiered_eval.cache import open_store
    from tiered_eval.calls.transfer import check_file, import_file
    from tiered_eval.cli.asking import home_from
    from tiered_eval.ledger import Ledger

    place = home_from(home)
    for _ in check_file(file):
        pass  # before a home is made for it
    with Ledger.open(place) as book, ExitStack() as stack:

        def vectors() -> Any:
            store = open_store(place / VECTORS)
            stack.callback(store.close)
            return store

        done = import_file(file, book, vectors)
    say(
        f"kept {_replies_in_words(done.replies)} and {plural(done.vectors, 'vector')}; already here: {done.left_out:,}"
    )
    return 0


@cache.command(short_help="Record kept replies, for --replay.")
@suite_options
@click.option(
    "--judge", multiple=True, metavar="MODEL", help="Judge models of the run (default: the suite's)."
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="The file to write (default: cache/recordings/NAME.jsonl beside the suite).",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option("--home", type=FOLDER, metavar="DIR", help="Folder of the ledger (default: as for a run).")
def record(
    suite: str,
    responses: Path | None,
    allow_outside: bool,
    allow_code: bool,
    judge: Sequence[str],
    output: Path | None,
    force: bool,
    home: Path | None,
) -> int:
    """Write the kept replies to SUITE's questions as recordings, so that `run --replay` needs no key.

    Nothing is asked and nothing spent. Keys are taken out; look the file over before you publish it, since replies quote
    what was judged. Exit code 3 if a question has no kept reply.
    """
    from tiered_eval.config import RunConfig
    from tiered_eval.reports.untrusted import secrets_in, without_secrets
    from tiered_eval.runner.ending import run_to_end
    from tiered_eval.runner.recording import record as record_replies

    loaded = suite_from(suite, responses=responses, allow_outside=allow_outside, allow_code=allow_code)
    beside = (loaded.path or Path()).absolute()
    folder = beside if beside.is_dir() else beside.parent
    path = output or folder / "cache" / "recordings" / f"{loaded.name.replace('/', '-')}.jsonl"
    _check_free(path, force=force)
    draft = path.with_name(f".{path.name}.tmp")
    draft.unlink(missing_ok=True)
    secrets = secrets_in()
    try:
        count, report = run_to_end(
            lambda: record_replies(
                loaded,
                RunConfig(judges=tuple(judge), home=home),
                draft,
                clean=lambda text: without_secrets(text, secrets),
            )
        )
        if count:
            draft.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
    # What is unsure has a kept reply, which could not tell.
    left = report.counts.not_judged + report.counts.error - report.leftovers.get("unsure", 0)
    say(
        f"recorded {_replies_in_words(count)}{f' in {path}' if count else ''}; without one: {plural(left, 'expectation')}"
    )
    return 3 if left else 0


def _existing(home: Path | None) -> Path:
    """The home, if there is one. Raises ConfigError."""
    from tiered_eval.cli.asking import home_from
    from tiered_eval.config import NAME_THE_HOME

    place = home_from(home)
    if not (place / "ledger.db").is_file() and not (place / VECTORS).is_dir():
        raise ConfigError(f"nothing is kept in {place}: {NAME_THE_HOME}")
    return place


def _ledger(stack: ExitStack, home: Path) -> Ledger | None:
    from tiered_eval.ledger import Ledger

    return stack.enter_context(Ledger.open(home)) if (home / "ledger.db").is_file() else None


def _replies(stack: ExitStack, home: Path) -> Iterable[Kept | None]:
    book = _ledger(stack, home)
    return () if book is None else book.kept_replies()


def _vectors(home: Path) -> Iterable[Entry]:
    from tiered_eval.cache import entries

    return entries(home / VECTORS)


def _replies_in_words(count: int) -> str:
    return plural(count, "reply", "replies")


def _check_free(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already: choose another name, or pass --force")
