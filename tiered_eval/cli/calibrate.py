"""``tiered-eval calibrate``: from labels to a certificate that lets early checks decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiered_eval.cli.calibrate_outlook import Outlook, fingerprints_of, shipped_for, tiers_of
from tiered_eval.cli.calibrate_scores import Scoring
from tiered_eval.cli.options import FOLDER, SHARE, USD
from tiered_eval.cli.output import say

if TYPE_CHECKING:
    from tiered_eval.calibration.certificate import Certificate
    from tiered_eval.calibration.labels import Label, TierSpec
    from tiered_eval.calibration.promise import Promise

__all__ = ["calibrate"]

_FILE = click.Path(path_type=Path, dir_okay=False)
DEFAULT_ALPHA = 0.05
DEFAULT_DELTA = 0.10


@click.command(short_help="Certify how often early checks are right.")
@click.argument("labels", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--alpha",
    type=SHARE,
    metavar="SHARE",
    help="Largest share of wrong early verdicts (default: 5%, unless --relative is given).",
)
@click.option(
    "--delta",
    type=SHARE,
    metavar="SHARE",
    help="Probability that the promise fails (default: 10%).",
)
@click.option(
    "--confidence", type=SHARE, metavar="SHARE", help="The same said the other way round: 1 - delta."
)
@click.option("--alpha-pass", type=SHARE, metavar="SHARE", help="Largest share of wrong early passes.")
@click.option(
    "--tier-alpha",
    type=SHARE,
    metavar="SHARE",
    help="Largest share of wrong verdicts of every early tier by itself.",
)
@click.option(
    "--relative",
    type=SHARE,
    metavar="SHARE",
    help="Agree with the labels at most so much less than the top judge on everything; needs --top.",
)
@click.option(
    "--false-pass-weight",
    type=click.FloatRange(1.0, 1000.0),
    default=1.0,
    show_default=True,
    metavar="N",
    help="A false pass is as bad as so many false fails: early passes take less risk.",
)
@click.option("--per-kind", is_flag=True, help="A promise of its own for each kind.")
@click.option(
    "--top",
    metavar="NAME",
    help="The recorded judge that takes what is not decided early (default: people do).",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="NAME=SHARE",
    help="Cost of a recorded judge over that of the top tier. Repeat it; one that is not named is left out.",
)
@click.option(
    "--proxy",
    is_flag=True,
    help="Take the top judge's verdicts for labels; what is promised is agreement with it.",
)
@click.option(
    "--judge",
    multiple=True,
    metavar="MODEL",
    help="For --proxy: buy verdicts of this judge, provider:model, for rows with texts.",
)
@click.option(
    "--early-judge",
    "early_judges",
    multiple=True,
    metavar="MODEL",
    help="Buy the scores of this cheap judge for rows with texts, as an early tier; say with --cost what it costs. Repeatable.",
)
@click.option(
    "--max-cost", type=USD, metavar="USD", help="For --judge and --early-judge: hard cap in US dollars."
)
@click.option(
    "--price",
    multiple=True,
    metavar="MODEL=IN,OUT",
    help="Price of a model, US dollars a million tokens in and out. Repeatable.",
)
@click.option("--prices", type=_FILE, metavar="FILE", help="File of prices, JSON or YAML.")
@click.option(
    "--embedder",
    metavar="NAME",
    default="none",
    show_default=True,
    help="Score with an embedder too: local:, openai:MODEL, ...",
)
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder of ledger and cache (default: .tiered_eval beside LABELS).",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="For the split and the orders of betting."
)
@click.option(
    "--out",
    type=_FILE,
    default=Path("certificate.json"),
    show_default=True,
    metavar="FILE",
    help="Where the certificate goes.",
)
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw the tested thresholds as SVG.")
@click.option(
    "--forecast-only", is_flag=True, help="Say what these labels and more can be expected to bring, and stop."
)
def calibrate(
    labels: Path,
    top: str | None,
    costs: Sequence[str],
    proxy: bool,
    judge: Sequence[str],
    early_judges: Sequence[str],
    max_cost: Decimal | None,
    price: Sequence[str],
    prices: Path | None,
    embedder: str,
    home: Path | None,
    out: Path,
    plot: Path | None,
    forecast_only: bool,
    **promised: Any,
) -> int:
    """Find how much may be decided early, from LABELS, a JSONL or CSV file of labelled expectations.

    A row has id, kind, human (or label, or verdict: true where the expectation is met), and either scores or response and expected. The certificate
    says what was promised, what it rests on, and from which scores; where nothing can be certified everything escalates.
    """
    import asyncio
    import os

    # Before numpy is loaded. The matrices are narrow, and threads over them wait for each other, most of all on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tiered_eval.calibration.reading import read_labels
    from tiered_eval.calibration.scoring import check_numpy
    from tiered_eval.calibration.transfer import transfer_line

    check_numpy()
    promise = _promise_from(proxy=proxy, **promised)
    _check(promise.relative, top, proxy=proxy, judge=judge, early_judges=early_judges, costs=costs)
    rows = read_labels(labels, top=top, may_lack_label=bool(judge))
    if not forecast_only:
        _check_places(out, plot)
    home = home or labels.parent / ".tiered_eval"
    scoring = Scoring(judge, early_judges, max_cost, price, prices, embedder, home)

    outlook = Outlook(promise, top, costs, buys_scores=bool(early_judges), goes_on=not forecast_only)
    labelled, embedder_id = asyncio.run(scoring.scored(rows, is_worth_buying=outlook.is_worth_buying))
    if forecast_only and scoring.buys_for(rows):
        return 0
    found = labelled
    if proxy:
        found = [replace(label, met=label.top) for label in found if label.top is not None]
    outlook.tell(found)
    if not forecast_only:
        tiers = tiers_of(found, top, costs)
        fingerprints = fingerprints_of(tiers, embedder_id, early_judges)
        judged_by = _judged_by(promise, judge, top)
        certificate = _certify(found, tiers, promise, fingerprints, judged_by=judged_by, out=out, plot=plot)
        if proxy and (transferred := transfer_line(certificate, labelled)) is not None:
            say(transferred)
    return 0


def _promise_from(
    *,
    alpha: float | None,
    delta: float | None,
    confidence: float | None,
    relative: float | None,
    proxy: bool,
    **others: Any,
) -> Promise:
    """The promise that the options ask for.

    Raises:
        ConfigError: it cannot be made.
        UsageError: delta is given twice, or the confidence is none that labels can bear out.
    """
    from tiered_eval.calibration.promise import Promise

    return Promise(
        alpha=DEFAULT_ALPHA if alpha is None and relative is None else alpha,
        delta=_delta(delta, confidence),
        relative=relative,
        label_source="top_judge" if proxy else "human",
        **others,
    )


def _delta(delta: float | None, confidence: float | None) -> float:
    if delta is not None and confidence is not None:
        raise click.UsageError("--delta and --confidence say the same: give one of them")
    if confidence is not None and not 0.0 < confidence < 1.0:
        raise click.UsageError(
            f"--confidence {confidence:g}: give a share above 0 and below 1, such as 0.9 or 90%; "
            "a promise that rests on labels is never certain"
        )
    if confidence is not None:
        return round(1.0 - confidence, 12)  # 0.1, and not 0.09999999999999998
    return DEFAULT_DELTA if delta is None else delta


def _judged_by(promise: Promise, bought: Sequence[str], top: str | None) -> str | None:
    """The judge that the promise is about: one whose verdicts were bought, or one on record."""
    from tiered_eval.calibration.collecting import judge_fingerprint

    if bought:
        return judge_fingerprint(bought[0])
    is_about_judge = promise.label_source == "top_judge" or promise.relative is not None
    return top if is_about_judge else None


def _check_places(*places: Path | None) -> None:
    """See to it that files can be written there: now, not when labels are bought.

    Raises:
        ConfigError: they cannot.
    """
    from tiered_eval.reports.files import writable_folder

    for place in places:
        if place is not None:
            writable_folder(place.parent)


def _certify(
    labels: Sequence[Label],
    tiers: Sequence[TierSpec],
    promise: Promise,
    fingerprints: Mapping[str, str],
    *,
    judged_by: str | None,
    out: Path,
    plot: Path | None,
) -> Certificate:
    """Test, say what came out, and write it."""
    from datetime import UTC, datetime

    from tiered_eval.calibration.calibrate import calibrate as certified
    from tiered_eval.calibration.certificate import save_certificate
    from tiered_eval.calibration.plot import path_as_svg
    from tiered_eval.calibration.wording import certificate_lines

    certificate = certified(
        labels,
        tiers,
        promise,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        fingerprints=fingerprints,
        shipped=shipped_for(labels, tiers),
        judged_by=judged_by,
    )
    say("")
    for line in certificate_lines(certificate):
        say(line)
    save_certificate(certificate, out)
    say(f"written: {out}")
    say(_use(fingerprints, out))
    if plot is not None and certificate.grants and promise.alpha is not None:
        plot.write_text(path_as_svg(certificate.grants[0], promise.alpha), encoding="utf-8")
        say(f"drawn: {plot}")
    return certificate


def _use(fingerprints: Mapping[str, str], out: Path) -> str:
    """How a certificate gets to work, if a run can make its scores at all."""
    from tiered_eval.runner.certified import FILE_NAME

    foreign = [name for name, made in fingerprints.items() if made == "recorded" or made == name]
    if foreign:
        return (
            f"a run does not make these scores itself: {', '.join(foreign)}. Decide by it from Python (CertifiedDecider); "
            "in a run it is void, and what it covers goes to the judge"
        )
    if out.name != FILE_NAME:
        return f"a run decides by it with --certificate {out}"
    folder = "this folder" if out.parent == Path() else str(out.parent)
    return f"runs of a suite in {folder} decide by it, others with --certificate {out}"


def _check(
    relative: float | None,
    top: str | None,
    *,
    proxy: bool,
    judge: Sequence[str],
    early_judges: Sequence[str],
    costs: Sequence[str],
) -> None:
    """Refuse options that cannot be meant together.

    Raises:
        UsageError: they are such.
    """
    if relative is not None and (top is None or proxy):
        raise click.UsageError(
            "--relative compares with a top judge: name it with --top, and let people label"
        )
    if proxy and top is None and not judge:
        raise click.UsageError(
            "--proxy takes labels from a top judge: name a recorded one with --top, or buy them with --judge"
        )
    for model in early_judges:
        if not any(cost.startswith(f"{model}=") for cost in costs):
            raise click.UsageError(
                f"--early-judge {model}: say what it costs over the top judge, such as --cost {model}=10%"
            )
    if judge and not proxy:
        raise click.UsageError("--judge buys labels, and is for --proxy only")
