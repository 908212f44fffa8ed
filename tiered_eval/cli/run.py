"""``tiered-eval run``: score a suite, keep the run, write the reports, and answer with the exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiered_eval.cli.options import (
    DURATION,
    FOLDER,
    SHARE,
    TIME_LIMIT,
    USD,
    early_options,
    format_names,
    judge_options,
    mode_from,
    pack_option,
    prices_from,
    suite_from,
    suite_options,
)
from tiered_eval.cli.output import complain, has_colour, log_to_stderr, say, say_commands, width_of
from tiered_eval.cli.streams import standard_stream
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.cli.interrupts import Interrupts
    from tiered_eval.config import Batch, Pack, PromptCache, RunConfig, WhenShort
    from tiered_eval.records import Report, Suite

__all__ = ["run"]


@click.command(short_help="Score a suite.")
@suite_options
@judge_options
@pack_option
@click.option(
    "--batch",
    type=click.Choice(["auto", "never", "always"]),
    help="Judge by the vendors' batches: half the price, within a day. auto: when --max-time is 2h or more "
    "(default: the suite's, else auto).",
)
@click.option(
    "--prompt-cache",
    type=click.Choice(["auto", "off"]),
    default="auto",
    show_default=True,
    help="Let vendors keep the front of prompts ready for the next call. auto: where that is cheaper.",
)
@click.option(
    "--max-cost",
    type=USD,
    metavar="USD",
    help="Never spend more than this, retries included. $TIERED_EVAL_DAILY_CAP and $TIERED_EVAL_MONTHLY_CAP cap all runs of the home.",
)
@click.option("--max-time", type=TIME_LIMIT, metavar="TIME", help="End after this time, such as 90s or 6m.")
@click.option(
    "--when-short",
    type=click.Choice(["estimate", "decide"]),
    default="estimate",
    show_default=True,
    help="Where money or time may not suffice: estimate the suite's score, or decide as many cases as possible.",
)
@click.option(
    "--gate", metavar="GATE", help="What must hold, such as 'partial>=0.95' (default: all cases pass)."
)
@click.option(
    "--gate-against",
    metavar="BASE",
    help="An earlier run that this one must not fall behind, named as for compare. No more is judged than that needs, "
    "unless there is a gate as well.",
)
@click.option(
    "--margin",
    type=SHARE,
    metavar="SHARE",
    help="Drop of partial that --gate-against takes for a regression; 0 accepts none (default: 0.03).",
)
@early_options
@click.option(
    "--max-error-rate",
    type=SHARE,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Checks that may fail to be made before the run counts as having measured too little.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 4096),
    default=64,
    show_default=True,
    metavar="N",
    help="Model calls open at once, at most.",
)
@click.option(
    "--request-timeout",
    type=DURATION,
    default="120s",
    show_default=True,
    metavar="TIME",
    help="Bound on one attempt of one call.",
)
@click.option("--offline", is_flag=True, help="Ask no model: use kept replies, leave the rest not judged.")
@click.option("--replay", is_flag=True, help="Use recorded replies only; one that is missing is an error.")
@click.option("--recordings", type=FOLDER, metavar="DIR", help="Folder of recorded replies, for --replay.")
@click.option("--seed", type=int, default=0, show_default=True, help="For whatever is drawn at random.")
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="LIST",
    help="Report files to write: json, jsonl, junit, md. Comma-separated or repeated.",
)
@click.option(
    "-o", "--output", type=FOLDER, metavar="DIR", help="Folder for the report files (default: the run's own)."
)
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder of ledger, cache and runs (default: $TIERED_EVAL_HOME, else .tiered_eval beside the suite).",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress, and a few lines at the end.")
@click.option("-v", "--verbose", count=True, help="Tell more; -vv tells each detail.")
def run(
    suite: str,
    responses: Path | None,
    allow_outside: bool,
    allow_code: bool,
    reports: Sequence[str],
    output: Path | None,
    quiet: bool,
    verbose: int,
    gate_against: str | None,
    margin: float | None,
    **chosen: Any,
) -> int:
    """Score every expectation of SUITE and report.

    SUITE is a YAML, JSON, JSONL or CSV file, a folder with a suite in it, or module:function.

    The first Ctrl-C ends the run in order, with a partial report; the same command goes on from there.
    In a GitHub job, --report md is added to the job's summary and the worst failures become annotations.
    """
    from tiered_eval.cli.interrupts import Interrupts
    from tiered_eval.runner.ending import run_to_end

    began = time.monotonic()
    log_to_stderr(verbose)
    formats = format_names(reports)
    if formats and output is not None:
        from tiered_eval.reports.files import writable_folder

        output = writable_folder(output).absolute()  # now, not when the money is spent
    if margin is not None and gate_against is None:
        raise ConfigError("--margin is a drop from a base: name the base with --gate-against")
    config = _config_from(**chosen)
    loaded = suite_from(suite, responses=responses, allow_outside=allow_outside, allow_code=allow_code)
    if gate_against is not None:
        config = _against(config, loaded, gate_against, margin)
    with Interrupts() as interrupts:
        report, folder = run_to_end(lambda: _measure(loaded, config, interrupts, began=began, quiet=quiet))
        all_written = _write_files(report, formats, output or folder)
        _print(report, folder, quiet=quiet)
    return report.exit_code if all_written else report.exit_code or 2


def _config_from(
    *,
    judge: Sequence[str],
    embedder: str | None,
    price: Sequence[str],
    prices: Path | None,
    pack: Pack | None,
    batch: Batch | None,
    prompt_cache: PromptCache,
    max_cost: Decimal | None,
    max_time: float | None,
    when_short: WhenShort,
    gate: str | None,
    certificate: Path | None,
    audit_rate: float | None,
    max_error_rate: float,
    concurrency: int,
    request_timeout: float,
    offline: bool,
    replay: bool,
    recordings: Path | None,
    seed: int,
    home: Path | None,
) -> RunConfig:
    from tiered_eval.config import RunConfig
    from tiered_eval.gate import parse_gate

    if gate is not None:
        parse_gate(gate)
    return RunConfig(
        judges=tuple(judge),
        embedder=embedder,
        pack=pack,
        batch=batch,
        prompt_cache=prompt_cache,
        max_cost_usd=max_cost,
        max_time_s=max_time,
        concurrency=concurrency,
        request_timeout_s=request_timeout,
        mode=mode_from(offline=offline, replay=replay),
        home=home,
        recordings=recordings,
        prices=prices_from(price, prices),
        when_short=when_short,
        gate=gate,
        certificate=certificate,
        audit_rate=audit_rate,
        max_error_rate=max_error_rate,
        seed=seed,
    )


def _against(config: RunConfig, suite: Suite, base: str, margin: float | None) -> RunConfig:
    """The options with the base that was named in them."""
    from dataclasses import replace

    from tiered_eval.config import home_for
    from tiered_eval.reports import kept

    report = kept.find_report(base, home_for(suite, chosen=config.home))
    margin = config.gate_margin if margin is None else margin
    return replace(config, gate_against=report, gate_margin=margin)


async def _measure(
    suite: Suite, config: RunConfig, interrupts: Interrupts, *, began: float, quiet: bool
) -> tuple[Report, Path]:
    """Run, and keep the run. Returns the report and the folder that it is kept in.

    What passed since ``began``, on the monotonic clock, is a part of the run's time: a large suite takes a while to read.
    """
    from dataclasses import replace

    from tiered_eval.cli.progress import display_for, ticking
    from tiered_eval.config import home_for
    from tiered_eval.reports import kept
    from tiered_eval.runner import evaluate
    from tiered_eval.runner.evaluator import new_run_id

    run_id = new_run_id()
    folder = kept.run_folder(home_for(suite, chosen=config.home).absolute(), run_id)
    config = replace(config, results_path=kept.results_path(folder), time_used_s=time.monotonic() - began)
    display = display_for(sys.stderr, quiet=quiet)
    try:
        async with ticking(display):
            report = await evaluate(
                suite, config, run_id=run_id, progress=display.update, stop=interrupts.stop()
            )
    finally:
        kept.discard_if_empty(folder)
    report = interrupts.on(report)
    kept.keep(report, folder)
    return report, folder


def _write_files(report: Report, formats: Sequence[str], folder: Path) -> bool:
    """Write the report files; one that cannot be written keeps none of the others from being."""
    from tiered_eval.reports import write
    from tiered_eval.reports.markdown import append_to_job_summary

    all_written = True
    for name in formats:
        try:
            path = write(report, name, folder)
            if name == "md":
                append_to_job_summary(report)
        except ConfigError as error:
            complain(f"{error}; the run itself is kept")
            all_written = False
        else:
            complain(f"wrote {path}")
    return all_written


def _print(report: Report, folder: Path, *, quiet: bool) -> None:
    from tiered_eval.cli.asking import folder_to_name
    from tiered_eval.reports import terminal, wording
    from tiered_eval.reports.certified import doubt_line, sampled_line
    from tiered_eval.reports.github import annotation_lines, is_github
    from tiered_eval.reports.untrusted import one_line

    if quiet:
        say(f"partial {wording.figure_line(report.partial)}")
        if report.sampled is not None:
            say(f"sampled {sampled_line(report.sampled)}")
        if report.certificate is not None and report.certificate.is_doubted:
            say(f"certificate {doubt_line(report.certificate)}")
        say(wording.counts_line(report.counts))
        for error in wording.worst(report, failed=0, errors=1)[1]:
            say(f"errors {wording.reasons_line(report.failures)}, such as {one_line(error.reason, 200)}")
        if report.leftovers:
            say(f"not judged {wording.reasons_line(report.leftovers)}")
        for warning in report.warnings:
            say(f"warning {one_line(warning, 300)}")
        say(f"gate {wording.gate_line(report.gate)}")
    else:
        out = standard_stream("stdout")  # code of the suite may have taken it away
        width, colour = width_of(out), has_colour(out)
        say(terminal.render(report, width=width, colour=colour, folder=folder_to_name(folder)))
        complain(f"kept in {folder}")
    if is_github():
        say_commands(list(annotation_lines(report)))
