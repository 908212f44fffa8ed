"""How figures, money and time are said: the same words in every report.

The one idea: a reader must be able to trust a rounded figure. A share is never rounded up to 1 or down to 0, an
amount that is not zero never shows as zero, and counts are listed so that they add up.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from tiered_eval.records import Counts, Figure, GateResult, Report, Spend, SpendLine, Step, TierLine, Verdict
from tiered_eval.reports.untrusted import one_line
from tiered_eval.text.plurals import plural

__all__ = [
    "busy_tiers",
    "cap_place",
    "cap_usd",
    "claim_words",
    "counts_line",
    "duration",
    "figure_line",
    "gate_line",
    "headings_line",
    "leftover_words",
    "next_steps",
    "plural",
    "ran_in_line",
    "reasons_line",
    "share",
    "spend_lines",
    "stages_line",
    "state_word",
    "step_words",
    "time_line",
    "usd",
    "worst",
]

_SMALLEST_SHOWN = Decimal("0.0001")

ERRORS_LOOKED_AT = 1_000
"""An outage repeats one error; so many of them are looked at for another one."""

_NEEDS_MENDING = frozenset({"ConfigError", "ProviderRefused", "RecordingMissing", "SandboxError"})
"""Failures that the same command again meets again, until somebody has changed something."""

_LEFTOVER_WORDS = {
    "budget": "the cap was reached",
    "deadline": "the time was used up",
    "no-judge": "no judge to ask",
    "unsure": "no check was sure",
    "interrupted": "interrupted",
    "not-needed": "not needed for the comparison with the base",
}


def usd(amount: Decimal | None) -> str:
    """Dollars: four decimals, two from $100 up; "unknown" for None."""
    if amount is None:
        return "unknown"
    if amount == 0:
        return "$0"
    if 0 < amount < _SMALLEST_SHOWN:
        return f"<${_SMALLEST_SHOWN}"
    return f"${amount:,.2f}" if amount >= 100 else f"${amount:.4f}"


def cap_usd(amount: Decimal) -> str:
    """A cap as it was given: ``$2.00``, ``$0.005``."""
    return f"${amount:,.2f}" if amount == round(amount, 2) else f"${amount.normalize():f}"


def cap_place(name: str) -> str:
    """What a cap is on, in words."""
    return (
        f"on the {name}"
        if name in ("run", "day", "month")
        else f"on the {name.replace('suite', 'suite,', 1)}"
    )


def share(value: float | None) -> str:
    """A share in [0, 1] with three decimals; a dash where there is none."""
    if value is None:
        return "–"
    if 0.9995 <= value < 1:
        return "0.999"
    if 0 < value < 0.0005:
        return "0.001"
    return f"{value:.3f}"


def duration(seconds: float) -> str:
    """``12.4 s``, ``3 min 20 s`` or ``1 h 04 min``."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def figure_line(figure: Figure) -> str:
    """A figure with its interval, and with its bounds where something was left undecided."""
    if figure.estimate is None:
        return f"nothing was decided (between {share(figure.bound_low)} and {share(figure.bound_high)} once it is)"
    text = f"{share(figure.estimate)}   95 % interval {share(figure.low)} to {share(figure.high)}"
    cases = plural(figure.n, "case")
    if figure.bound_low == figure.bound_high:
        return f"{text}   over {cases}"
    bounds = f"{share(figure.bound_low)} to {share(figure.bound_high)}"
    return f"{text}   over what was decided in {cases}   with leftovers {bounds}"


def counts_line(counts: Counts) -> str:
    """All five states, zeros included, so that anyone can add them up."""
    return (
        f"{plural(counts.total, 'expectation')} = {counts.passed:,} passed + {counts.failed:,} failed + "
        f"{counts.error:,} error + {counts.not_judged:,} not judged + {counts.manual:,} manual"
    )


def leftover_words(reason: str) -> str:
    """Why something was not judged, in words."""
    return _LEFTOVER_WORDS.get(reason, one_line(reason, 60))


def reasons_line(reasons: Mapping[str, int]) -> str:
    """Counts by reason, most first: ``the cap was reached: 8, no judge to ask: 2``."""
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{leftover_words(reason)}: {count:,}" for reason, count in ordered)


def ran_in_line(ran_in: Mapping[str, int]) -> str:
    """How code of responses was shut in: ``in bubblewrap for 12 expectations, not shut in for 1 expectation``."""
    return ", ".join(
        f"{'not shut in' if where == 'none' else f'in {one_line(where, 40)}'} for {plural(count, 'expectation')}"
        for where, count in ran_in.items()
    )


def busy_tiers(report: Report) -> list[TierLine]:
    """The tiers that had anything to do."""
    return [line for line in report.tiers if line.decided or line.calls or line.cost_usd]


def spend_lines(spend: Spend) -> Iterator[str]:
    """The bill: what was spent of the cap, what is uncertain, what it avoided."""
    cap = "no cap" if spend.cap_usd is None else f"cap {cap_usd(spend.cap_usd)}"
    cap += "".join(f", {cap_usd(amount)} {cap_place(name)}" for name, amount in spend.other_caps.items())
    yield (
        f"{usd(spend.settled_usd)} settled, {usd(spend.unknown_usd)} unknown, "
        f"{usd(spend.reserved_usd)} still reserved; {cap}"
    )
    calls = f"{plural(spend.calls, 'call')} paid, {spend.from_store:,} answered from the store"
    if spend.stored_usd:
        calls += f" (bought earlier for {usd(spend.stored_usd)})"
    yield calls
    if spend.cache_read_tokens or spend.cache_write_tokens:
        yield cache_line(spend)
    if spend.avoided_usd is not None:
        yield f"about {usd(spend.avoided_usd)} avoided by checks that need no judge"
    if spend.ledger_settled_usd != spend.settled_usd or spend.ledger_unknown_usd != spend.unknown_usd:
        yield (
            f"{usd(spend.ledger_settled_usd)} settled and {usd(spend.ledger_unknown_usd)} unknown "
            "in this home so far, all runs together"
        )


def cache_line(spend: Spend) -> str:
    """What the fronts of prompts came to that vendors kept ready."""
    saved = spend.cache_saved_usd
    came_to = f"saved {usd(saved)}" if saved >= 0 else f"cost {usd(-saved)} more than it saved"
    return (
        f"prompt caching {came_to} ({spend.cache_read_tokens:,} tokens read, "
        f"{spend.cache_write_tokens:,} written)"
    )


def headings_line(lines: Sequence[SpendLine]) -> str:
    """Money and calls under each heading, dearest first: ``requirement $0.0050 (40 calls)``."""
    ordered = sorted(lines, key=lambda line: (-line.cost_usd, -line.calls, line.name))
    return ", ".join(
        f"{one_line(line.name, 60)} {usd(line.cost_usd)} ({plural(line.calls, 'call')})"
        for line in ordered
        if line.calls or line.cost_usd
    )


def stages_line(lines: Sequence[SpendLine]) -> str:
    """Money and calls of each stage of a chain of judges, in the order in which they are asked."""
    return ", ".join(
        f"{one_line(line.name, 60)} {usd(line.cost_usd)} ({plural(line.calls, 'call')}"
        + (f", {line.from_store:,} from the store)" if line.from_store else ")")
        for line in lines
    )


def time_line(report: Report) -> str:
    """Wall clock, and how much of it was waiting for a provider."""
    return f"{duration(report.wall_s)}, {duration(report.provider_wait_s)} of it waiting for the provider"


def gate_line(gate: GateResult | None) -> str:
    """The gate and what became of it."""
    if gate is None:
        return "none"
    state = gate.state.replace("-", " ")
    return f"{one_line(gate.expression, 120)}: {state} ({one_line(gate.reason, 240)})"


def step_words(step: Step) -> str:
    """Which check an entry of a trail is about: the scorer, its stage in a chain of judges, and the model that spoke."""
    stage = "" if step.stage is None else f", stage {step.stage}"
    model = f" ({one_line(step.model, 60)})" if step.model else ""
    return f"{step.scorer}{stage}{model}"


def state_word(verdict: Verdict) -> str:
    """``fail``, ``error``, ``not judged``: the state as it is shown."""
    return verdict.state.replace("-", " ")


def worst(report: Report, *, failed: int, errors: int) -> tuple[list[Verdict], list[Verdict]]:
    """The first expectations that failed, and the first with each different error, in the order of the suite.

    Reading stops as soon as enough are found: a large run is not read to its end for one more.
    """
    fails: list[Verdict] = []
    by_reason: dict[str, Verdict] = {}
    fails_left = min(failed, report.counts.failed)
    errors_left = min(ERRORS_LOOKED_AT, report.counts.error) if errors else 0
    for result in report.results if fails_left or errors_left else ():
        for verdict in result.verdicts:
            if verdict.state == "fail" and fails_left:
                fails_left -= 1
                fails.append(verdict)
            elif verdict.state == "error" and errors_left:
                by_reason.setdefault(verdict.reason, verdict)
                errors_left = 0 if len(by_reason) == errors else errors_left - 1
        if not fails_left and not errors_left:
            break
    return fails, list(by_reason.values())


def next_steps(report: Report, *, folder: str | None = None) -> list[str]:
    """What to do now, most pressing first.

    ``folder`` names the run in commands where its id would not be found from here.
    """
    run = report.run_id if folder is None else shlex.quote(folder)
    steps = [*_unfinished_steps(report), *_open_steps(report, run)]
    if report.counts.failed:
        steps.append(
            f"{plural(report.counts.failed, 'expectation')} failed: "
            f"`tiered-eval show {run} --case ID` shows every check that was made on a case."
        )
    if not steps and not report.leftovers:
        steps.append("Nothing: everything was decided and passed.")
    return steps


def claim_words(verdict: Verdict, limit: int = 80) -> str:
    """What was claimed: the kind, and what was looked for."""
    kind = one_line(verdict.kind, 40)
    return f"{kind} “{one_line(verdict.expected, limit)}”" if verdict.expected else kind


def _unfinished_steps(report: Report) -> Iterator[str]:
    """For a run that ended early."""
    if report.stopped == "interrupted":
        yield "The run was interrupted: the same command goes on where it stopped and pays for nothing twice."
    elif report.stopped == "budget":
        yield (
            "The cap was reached: raise --max-cost and run the same command again; "
            "what is already judged is not paid for twice."
        )
    elif report.stopped == "deadline":
        yield (
            "The time was used up: run the same command again, with a higher --max-time where that was the end of it "
            "and not a vendor's day for a batch; it goes on where it stopped."
        )
    elif left := report.leftovers.get("interrupted"):
        yield (
            f"{plural(left, 'expectation')} travelled in a batch that was cancelled at the vendor: "
            "the same command asks again."
        )


def _error_step(report: Report) -> str:
    """What to do about checks that could not be made: trying again alone helps only against what passes by itself."""
    could_not = f"{plural(report.counts.error, 'check')} could not be made"
    again = "run the same command again, only these are asked"
    if _NEEDS_MENDING.intersection(report.failures):
        return f"{could_not}: mend what the errors name, such as a key, a model or a sandbox; then {again}."
    return f"{could_not}: {again}. If they stay, the errors say why."


def _open_steps(report: Report, run: str) -> Iterator[str]:
    """For what was not decided, or may cost money still."""
    counts, left = report.counts, report.leftovers
    if counts.error:
        yield _error_step(report)
    if left.get("no-judge"):
        is_offline = report.settings.get("mode") == "offline"
        step = "Name one with --judge provider:model" + (", and leave out --offline" if is_offline else "")
        if is_offline and report.settings.get("judges"):
            step = "Leave out --offline to have it asked"
        yield f"Waiting for a judge: {plural(left['no-judge'], 'expectation')}. {step}."
    if left.get("unsure"):
        yield (
            f"No check was sure about {plural(left['unsure'], 'expectation')}: state more sharply what is "
            "expected, add a stronger judge, or read them yourself."
        )
    if report.spend.unknown_calls:
        yield (
            f"{plural(report.spend.unknown_calls, 'call')} may have been billed without an answer "
            f"(at most {usd(report.spend.unknown_usd)}): compare with the provider's bill; "
            "`tiered-eval ledger unknown` on its home lists them."
        )
    if counts.manual:
        yield (
            f"Left to people: {plural(counts.manual, 'expectation')}. `tiered-eval label {run}` asks here, "
            f"`tiered-eval export --manual {run}` makes a sheet of them."
        )
