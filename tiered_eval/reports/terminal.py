"""The report as people read it at the end of a run.

The one idea: the headline first, then where it comes from, what it cost and what to do now. The text is made
here for a width, with or without colour; ``cli`` prints it. Rich is imported when a report is rendered, and its
markup is never used: model text is put in as plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from tiered_eval.records import CaseResult, Report, TierLine, Verdict
from tiered_eval.records.scorecard import Scorecard
from tiered_eval.reports import cards, wording
from tiered_eval.reports.against import against_lines, against_steps
from tiered_eval.reports.certified import certified_facts, certified_words, sampled_line
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import usd

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["render", "render_case"]

FAILED_SHOWN = 10
ERRORS_SHOWN = 5

_STATE_STYLE = {"pass": "green", "fail": "red", "error": "magenta", "not-judged": "yellow", "manual": "cyan"}
_CARD_STYLE = {"win": "bold green", "draw": "bold yellow", "loss": "bold red", "undecided": "bold yellow"}
_COLOURS = {
    "emerald": "green",
    "gold": "yellow",
    "coral": "bright_red",
    "purple": "magenta",
    "sky": "bright_cyan",
}
_COLUMNS = ("tier", "decided", "share", "passed", "failed", "calls", "cost", "avoided")
_ANY_WIDTH = 1_000
_NARROW_COLUMNS = ("tier", "decided", "share", "cost")
_GATE_STYLE = {"met": "green", "not-met": "red", "undecided": "yellow"}


def render(report: Report, *, width: int = 100, colour: bool = False, folder: str | None = None) -> str:
    """The whole report for a terminal that is ``width`` columns wide.

    ``folder`` is where the run is kept, if ``tiered-eval show`` would not find it by its id.
    """
    console = _console(width, colour)
    with console.capture() as captured:
        _print_headline(console, report)
        if report.scorecard is not None:
            _print_scorecard(console, report.scorecard)
        _print_tiers(console, report)
        console.print()
        _print_facts(console, report)
        _print_worst(console, report)
        _print_next(console, report, folder)
    return _without_trailing_space(captured.get())


def render_case(result: CaseResult, *, width: int = 100, colour: bool = False) -> str:
    """Every verdict on one case, with the trail of checks that led to it."""
    console = _console(width, colour)
    with console.capture() as captured:
        console.print(_styled(one_line(result.case_id), "bold"))
        if result.scorecard is not None:
            _print_scorecard(console, result.scorecard)
        for verdict in result.verdicts:
            _print_verdict(console, verdict, name=verdict.expectation_id)
            _print_trail(console, verdict)
    return _without_trailing_space(captured.get())


def _console(width: int, colour: bool) -> Console:
    from rich.console import Console

    return Console(
        file=StringIO(),  # nothing is printed here; a full disk behind standard output must not matter
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def _without_trailing_space(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def _styled(text: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(text, style=style)


def _print_indented(console: Console, text: str, indent: int, style: str = "") -> None:
    """``text`` wrapped with every line of it indented."""
    from rich.padding import Padding

    console.print(Padding(_styled(text, style), (0, 0, 0, indent)))


def _print_headline(console: Console, report: Report) -> None:
    console.print(_styled(f"{one_line(report.suite, 80)}, run {one_line(report.run_id, 60)}", "bold"))
    console.print()
    rows = [("partial", report.partial, "bold"), ("passed", report.passed, "")]
    rows += [(f"  {one_line(name, 30)}", figure, "") for name, figure in report.dimensions.items()]
    wide = max(11, *(len(name) for name, _, _ in rows))
    for name, figure, style in rows:
        console.print(_styled(f"  {name:<{wide}} {wording.figure_line(figure)}", style))
    if report.sampled is not None:
        console.print(_row("sampled", sampled_line(report.sampled), "bold"))
    console.print()
    console.print(_styled(f"  {wording.counts_line(report.counts)}"))
    console.print()


def _print_scorecard(console: Console, card: Scorecard) -> None:
    from rich.table import Table

    console.print(_styled(f"  scorecard {cards.card_line(card)}", _CARD_STYLE[card.result]))
    table = Table(box=None, pad_edge=True, padding=(0, 2), header_style="dim")
    for name in cards.HEAD:
        table.add_column(name, justify="left" if name in ("dimension", "note") else "right")
    for row, line in zip(cards.card_rows(card), card.breakdown.values(), strict=True):
        table.add_row(_styled(row[0], _COLOURS.get(line.colour, "")), *(_styled(cell) for cell in row[1:]))
    console.print(table)
    for label, text in cards.note_lines(card):
        console.print(_row(label, text, ""))
    console.print()


def _print_tiers(console: Console, report: Report) -> None:
    """The table of tiers; where it is too wide, the columns that matter most rather than ellipses in all."""
    table = _tier_table(report, _COLUMNS)
    unbounded = console.options.update(width=_ANY_WIDTH)
    if console.measure(table, options=unbounded).maximum > console.width:
        table = _tier_table(report, _NARROW_COLUMNS)
    console.print(table)


def _tier_table(report: Report, names: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=True, padding=(0, 2 if names == _COLUMNS else 1), header_style="dim")
    shown = [_COLUMNS.index(name) for name in names]
    for index in shown:
        table.add_column(_COLUMNS[index], justify="right" if index else "left", no_wrap=True)
    for line in wording.busy_tiers(report):
        cells = _tier_cells(line)
        table.add_row(*(_styled(cells[index]) for index in shown))
    total = report.counts.total
    open_ = total - report.counts.decided
    table.add_row("undecided", f"{open_:,}", _percent(open_ / total if total else 0.0), style="dim")
    return table


def _tier_cells(line: TierLine) -> tuple[str, ...]:
    avoided = "–" if line.avoided_usd is None else usd(line.avoided_usd)
    counts = (
        f"{line.decided:,}",
        _percent(line.share),
        f"{line.passed:,}",
        f"{line.failed:,}",
        f"{line.calls:,}",
    )
    return (line.tier, *counts, usd(line.cost_usd), avoided)


def _percent(value: float) -> str:
    return f"{value * 100:.1f} %"


def _print_facts(console: Console, report: Report) -> None:
    for label, text, style in _facts(report):
        console.print(_row(label, text, style))
    console.print()


def _facts(report: Report) -> Iterator[tuple[str, str, str]]:
    """Label, text and style of each fact about the run."""
    for position, line in enumerate(wording.spend_lines(report.spend)):
        yield ("spend" if position == 0 else "", line, "")
    for label, lines in (("by model", report.spend.by_model), ("by kind", report.spend.by_kind)):
        if spent := wording.headings_line(lines):
            yield (label, spent, "")
    if report.spend.by_stage:
        yield ("by stage", wording.stages_line(report.spend.by_stage), "")
    yield ("time", wording.time_line(report), "")
    if report.ran_in:
        yield ("code ran", wording.ran_in_line(report.ran_in), "yellow" if "none" in report.ran_in else "")
    if report.leftovers:
        yield ("not judged", wording.reasons_line(report.leftovers), "yellow")
    if report.failures:
        yield ("errors", wording.reasons_line(report.failures), "magenta")
    if report.certificate is not None:
        yield from certified_facts(report.certificate)
    for warning in report.warnings:
        yield ("warning", one_line(warning, 300), "yellow")
    for position, line in enumerate(against_lines(report.against) if report.against else ()):
        yield ("against" if position == 0 else "", line, "")
    style = "" if report.gate is None else _GATE_STYLE[report.gate.state]
    yield ("gate", wording.gate_line(report.gate), style)


def _row(label: str, text: str, style: str) -> Table:
    """A label and a text that wraps beside it."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_column(min_width=13, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(_styled(f"  {label}", "dim"), _styled(text, style))
    return grid


def _print_worst(console: Console, report: Report) -> None:
    failed, errors = wording.worst(report, failed=FAILED_SHOWN, errors=ERRORS_SHOWN)
    counts = report.counts
    for title, shown, count in (("failed", failed, counts.failed), ("errors", errors, counts.error)):
        if not shown:
            continue
        first = f"the first {len(shown)}" if title == "failed" else f"{len(shown)} that differ"
        more = "" if count == len(shown) else f", {first}"
        console.print(_styled(f"  {title} ({count:,}{more})", "bold"))
        for verdict in shown:
            _print_verdict(console, verdict, name=f"{verdict.case_id} / {verdict.expectation_id}")
        console.print()


def _print_verdict(console: Console, verdict: Verdict, *, name: str) -> None:
    line = f"{one_line(name, 80)}  {wording.state_word(verdict)}: {one_line(verdict.reason)}"
    how = ", ".join(_how(verdict))
    _print_indented(console, f"{line} ({how})", 4, _STATE_STYLE[verdict.state])
    if verdict.evidence is not None:
        _print_indented(console, f"“{one_line(verdict.evidence.quote)}”", 6, "dim")
    failure = verdict.failure
    if failure is not None and failure.message not in verdict.reason:
        _print_indented(console, one_line(f"{failure.type}: {failure.message}", 300), 6, "dim")


def _print_trail(console: Console, verdict: Verdict) -> None:
    """Each check that was made or skipped, and the traceback of an unexpected error."""
    for step in verdict.trail:
        score = "" if step.score is None else f" {step.score:.3f}"
        who = wording.step_words(step)
        _print_indented(console, f"{who}: {step.state}{score}, {one_line(step.reason)}", 6)
    if verdict.failure is not None and verdict.failure.traceback:
        for line in verdict.failure.traceback.splitlines():
            _print_indented(console, one_line(line, 400), 6)


def _how(verdict: Verdict) -> Iterable[str]:
    """What was claimed, and which check settled it."""
    yield wording.claim_words(verdict)
    if verdict.scorer:
        yield one_line(verdict.scorer, 40)
    if verdict.score is not None:
        yield f"score {verdict.score:.3f}"
    if verdict.model:
        yield one_line(verdict.model, 60)
    if verdict.from_store:
        yield "from the store"
    if certified := certified_words(verdict):
        yield certified


def _print_next(console: Console, report: Report, folder: str | None) -> None:
    console.print(_styled("  next", "bold"))
    for step in (*against_steps(report), *wording.next_steps(report, folder=folder)):
        _print_indented(console, step, 4)
