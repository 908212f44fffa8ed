"""A run that is gated against an earlier one of the same suite: is it worse, and what need be asked to know?

The one idea: what cannot have changed is not asked. Where a response is the same as in the base, and so is all that is asked
about it and how, the base's verdicts are taken over. The changed cases are judged in a random order and in growing blocks,
until the answer is sure; what is left then is left over as not needed. What a certificate decides by free scores costs nothing,
so the gate knows it beforehand. Where the suite has a gate of its own as well,
everything is judged.

Money that ends before the answer is sure leaves a random beginning of that order judged. What lies behind it is no evidence for
anything, though a cheaper question of it could still have been paid for: it is left over, and the answer is undecided unless
the beginning was enough.

A drop is believed only after the judge has repeated what it rests on: from the first fail on, changed verdicts are asked
for again (another vote, so no kept reply answers), broken and mended ones alike. What is made of the answers, so that they
favour neither run, is in :mod:`tiered_eval.calibration.flakes`.

Route: :mod:`tiered_eval.runner.run` streams its cases through :meth:`GateAgainst.stream` instead of through the evaluator,
and hands its report to :meth:`GateAgainst.confirm` and :meth:`GateAgainst.on`.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from tiered_eval.calibration.comparison import DEFAULT_DELTA
from tiered_eval.calibration.flakes import Change, changes_among, changes_to_confirm, moods_among
from tiered_eval.calibration.pairing import is_unchanged
from tiered_eval.calibration.regression import Bounds, GateAnswer, GateCase, place_in_draw
from tiered_eval.calibration.suite_gate import FigureName, SuiteGate, differences, gate_cases
from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError
from tiered_eval.records import AgainstBase, Case, CaseResult, Report, Suite
from tiered_eval.records.certified import BY_CERTIFICATE
from tiered_eval.records.verdicts import State
from tiered_eval.runner import jobs
from tiered_eval.runner.base_run import BaseRun
from tiered_eval.runner.evaluator import Evaluator
from tiered_eval.runner.jobs import Job
from tiered_eval.runner.second_vote import SecondVote, question_of
from tiered_eval.runner.standing import gated, standing
from tiered_eval.runner.turns import Order

__all__ = ["GateAgainst"]

FIRST_BLOCK = 32
"""Changed cases that are judged before the gate is looked at for the first time."""
GROWTH = 0.5
"""A later block is this share of what was judged before it: reading the suite once a block stays cheap."""
BLOCK_SHARE = 0.5
"""Of the cases that may wait for a judge, the most that a block may have: its order is drawn when all of it waits."""
TURN_CASES = 64
"""Reading hands control to others after so many cases."""
ASKED_AT_ONCE = 256
"""Changes that are asked for again in one go."""
CUT_OFF = ("budget", "deadline", "interrupted")
"""Why somebody was not asked, where the run was at its end."""


class GateAgainst:
    """The comparison of one run with its base, while it goes on.

    Args:
        config: the run's, with a base and a margin in it.

    Raises:
        ConfigError: the base is of another suite, is damaged, or has nothing in common with this one; or no results
            are kept that could be compared. Nothing was spent.
    """

    def __init__(self, suite: Suite, config: RunConfig) -> None:
        assert config.gate_against is not None, "there is a base"
        if not config.keep_results and config.results_path is None:
            raise ConfigError(
                "a run that keeps no results cannot be compared with a base: give a results_path"
            )
        self._suite = suite
        self._config = config
        self._base = BaseRun(config.gate_against)
        self._base.check_suite(suite)
        self._has_own_gate = config.gate is not None
        self._cases: dict[FigureName, list[GateCase]] = {}
        self._known: dict[str, dict[FigureName, Bounds]] = {}
        """What the cases differ by whose candidate is judged."""
        self._waiting: set[str] = set()
        """Cases that something would have to be asked about."""
        self._flips: dict[str, tuple[CaseResult, CaseResult]] = {}
        """Judged cases with a verdict of the judge that changed, while the gate is open."""
        self._gate: SuiteGate | None = None
        self._is_confirming = False
        self._tried: set[tuple[str, str]] = set()
        self._asked_again: dict[tuple[str, str], State] = {}
        self._free: set[str] = set()
        """Changed cases of which a certificate decides all that is open, by free scores."""
        self._early_shares = 0.0
        """Of the scores of judged cases, in both runs together: what a certificate gave."""
        self._taken_over = self._judged = 0
        self._cut: list[str] = []
        """Changed cases that were not asked about to the end, as the money or the time was over."""

    async def stream(
        self, evaluator: Evaluator, cases: Iterable[Case], *, settings: Mapping[str, object]
    ) -> AsyncIterator[CaseResult]:
        """Results for ``cases``, which are those of the suite, in any order.

        ``settings`` are whatever decides the run's verdicts, as its report will say.
        """
        self._base.compare_settings(settings)
        async for result in self._unasked(evaluator, cases):
            yield result
        if self._has_own_gate:
            rest = self._judge(evaluator, self._waiting)
        else:
            async for result in self._needed(evaluator):
                yield result
            rest = self._not_needed(evaluator)
        async for result in rest:
            yield result

    async def confirm(self, report: Report, evaluator: Evaluator) -> None:
        """Ask again for what changed, where the whole run comes out as a regression."""
        if self._early() is None and self._standing(report)[0].state == "fail":
            await self._ask_again(changes_to_confirm(self._base.report, report), evaluator)

    def on(self, report: Report) -> Report:
        """The report with the comparison in it, and the gate and exit code that follow."""
        found, warnings = self._standing(report)
        found = replace(found, judged=self._judged, taken_over=self._taken_over)
        warnings = (*warnings, *self._doubts(found, report))
        report = replace(report, warnings=(*report.warnings, *warnings))
        own = report.gate if self._has_own_gate else None
        return gated(report, found, self._base.report, self._config, own=own)

    def _standing(self, report: Report) -> tuple[AgainstBase, tuple[str, ...]]:
        """How it stands, and what makes the two runs hard to compare."""
        found, warnings = standing(
            self._base.report, report, self._config, asked_again=self._asked_again, early=self._early()
        )
        if found.state == "undecided" and self._cut and self._gate is not None:
            found = replace(found, reason=f"{found.reason}{_likely(self._gate.answer())}")
        return found, warnings

    def _doubts(self, found: AgainstBase, report: Report) -> Iterator[str]:
        """How far the errors of early verdicts may have moved the change."""
        if not self._early_shares or not found.changes:
            return
        rate = None if report.certificate is None else report.certificate.allowed
        if rate is None:
            yield "early verdicts of a certificate are in the comparison, and how often they differ from the judge is not known"
            return
        changed = found.pairs - found.same
        reach = rate * self._early_shares / self._judged * changed / max(1, found.pairs)
        is_near = found.state != "undecided" and abs(found.changes[0].change + found.margin) <= reach
        more = ": that alone could turn the answer" if is_near else ""
        yield (
            f"early verdicts of a certificate are in the comparison; if as many of them are wrong as it allows ({rate:.1%}), and "
            f"all in one direction, the change is off by {reach:.3f}{more}"
        )

    def _early(self) -> GateAnswer | None:
        """The answer of the gate, where it was sure with changed cases left; else the whole run says."""
        if self._gate is None or self._gate.state == "undecided" or not self._unjudged():
            return None
        return self._gate.answer()

    def _unjudged(self) -> set[str]:
        """Changed cases that both runs have and that were not judged."""
        return {case.id for case in self._cases.get(None, ()) if not case.is_same} - self._known.keys()

    async def _unasked(self, evaluator: Evaluator, cases: Iterable[Case]) -> AsyncIterator[CaseResult]:
        """Whatever needs no call, and a note of the rest."""
        for index, case in enumerate(cases):
            if index % TURN_CASES == 0:
                await asyncio.sleep(0)
            before = self._base.find(case.id)
            seen = evaluator.glance(index, case)
            is_open = any(verdict.leftover == "not-needed" for verdict in seen.verdicts)
            if is_open and before is not None and (taken := self._base.taken_over(before, seen)) is not None:
                self._taken_over += sum(verdict.leftover == "not-needed" for verdict in seen.verdicts)
                seen, is_open = taken, False
            if before is not None:
                self._note_pair(before, seen, is_open=is_open)
                if is_open and not is_unchanged(before, seen) and _is_free(seen):
                    self._free.add(case.id)
            if is_open:
                self._waiting.add(case.id)
            else:
                yield seen

    def _note_pair(self, before: CaseResult, seen: CaseResult, *, is_open: bool) -> None:
        made = gate_cases(before, seen)
        for name, case in made.items():
            self._cases.setdefault(name, []).append(case)
        if made and not is_open and not made[None].is_same:
            self._known[seen.case_id] = {name: (case.low, case.high) for name, case in made.items()}

    async def _needed(self, evaluator: Evaluator) -> AsyncIterator[CaseResult]:
        """Judge changed cases until the answer is sure."""
        if not self._cases:
            return
        # A batch of a vendor takes up to a day, so there is but one.
        size = len(self._cases[None]) if self._config.uses_batches else FIRST_BLOCK
        order = _InDraw(self._config.seed)
        async for result in self._judge(evaluator, self._free):
            yield result
        self._settle_free()
        self._gate = self._gate_now()
        while not self._cut and self._gate is not None and (ids := set(self._gate.ahead(size))):
            async for result in self._judge(evaluator, ids, order):
                yield result
            if not self._cut and not ids & self._known.keys():
                return  # the suite has changed while it was being read
            if not self._show(self._gate, ids):
                self._gate = None
            elif self._is_confirming or self._gate.state == "fail":
                await self._confirm_so_far(evaluator)
            size = min(max(FIRST_BLOCK, int(GROWTH * self._judged)), int(BLOCK_SHARE * jobs.OPEN_CASES))
        if self._gate is None and not self._cut:
            async for result in self._judge(evaluator, self._unjudged(), order):
                yield result

    def _settle_free(self) -> None:
        """Let the gate know beforehand what cost nothing."""
        known = {id: self._known[id] for id in self._free & self._known.keys()}
        for name, inside in self._cases.items():
            self._cases[name] = [
                _settled(case, known[case.id][name]) if name in known.get(case.id, ()) else case
                for case in inside
            ]

    async def _confirm_so_far(self, evaluator: Evaluator) -> None:
        self._is_confirming = True
        asked = len(self._asked_again)
        changes = changes_among(self._flips.values())
        await self._ask_again(changes, evaluator)
        if len(self._asked_again) > asked:
            moods = moods_among(changes, self._asked_again)
            for id, (before, after) in self._flips.items():
                self._known[id] = differences(before, after, moods=moods)
            self._gate = self._gate_now()

    def _gate_now(self) -> SuiteGate | None:
        """A gate that has seen all that is known; None where no early answer can rest on it."""
        gate = SuiteGate(
            self._cases, margin=self._config.gate_margin, delta=DEFAULT_DELTA, seed=self._config.seed
        )
        return gate if self._show(gate, self._known) else None

    def _show(self, gate: SuiteGate, ids: Iterable[str]) -> bool:
        """Show what these cases came to; False where a free check said something else than at first."""
        try:
            gate.add({id: self._known[id] for id in ids if id in self._known})
        except ValueError:
            return False
        return True

    async def _judge(
        self, evaluator: Evaluator, ids: set[str], order: Order | None = None
    ) -> AsyncIterator[CaseResult]:
        """Judge these cases of the suite, in its order or in another one."""
        ids = set(ids)
        places = array("Q")

        def chosen() -> Iterator[Case]:
            for index, case in enumerate(self._suite.cases):
                if case.id in ids:
                    places.append(index)
                    yield case

        async for result in evaluator.stream(chosen(), are_read=True, order=order):
            self._waiting.discard(result.case_id)
            result = replace(result, index=places[result.index])
            self._note_judged(result)
            yield result

    def _note_judged(self, after: CaseResult) -> None:
        before = self._base.find(after.case_id)
        if before is None or is_unchanged(before, after):
            return
        if any(verdict.leftover in CUT_OFF for verdict in after.verdicts):
            self._cut.append(
                after.case_id
            )  # the beginning of the draw ends here at the latest, and the gate is not shown what is behind
            return
        self._judged += 1
        self._early_shares += _early_share(before) + _early_share(after)
        if found := differences(before, after):
            self._known[after.case_id] = found
        if not self._has_own_gate and changes_among([(before, after)]):
            self._flips[after.case_id] = before, after

    async def _not_needed(self, evaluator: Evaluator) -> AsyncIterator[CaseResult]:
        """The cases that nothing was asked about, as their free checks left them."""
        left = len(self._waiting)
        is_open = bool(self._cut) and self._early() is None
        wanted = self._unjudged() if is_open else set()
        for index, case in enumerate(self._suite.cases if left else ()):
            if index % TURN_CASES == 0:
                await asyncio.sleep(0)
            if case.id in self._waiting:
                seen = evaluator.glance(index, case)
                yield _unreached(seen) if case.id in wanted else seen
                left -= 1
                if not left:
                    return

    async def _ask_again(self, changes: Iterable[Change], evaluator: Evaluator) -> None:
        """Put what changed to the judge once more, as far as money and time go."""
        fresh = (change for change in changes if change.key not in self._tried)
        assert evaluator.services is not None, "the evaluator was entered"
        services = SecondVote(evaluator.services)
        while evaluator.stopped is None and (some := list(islice(fresh, ASKED_AT_ONCE))):
            self._tried.update(change.key for change in some)
            async for result in evaluator.stream(self._questions(some), services=services, are_read=True):
                for verdict in result.verdicts:
                    if verdict.is_decided:
                        self._asked_again[result.case_id, verdict.expectation_id] = verdict.state

    def _questions(self, changes: Sequence[Change]) -> list[Case]:
        """A case for each change, with nothing but what is asked again, in the order of the changes."""
        ids = {change.case_id for change in changes}
        found = {case.id: case for case in self._suite.cases if case.id in ids}
        return [question_of(found[change.case_id], change) for change in changes if change.case_id in found]


class _InDraw:
    """Has questions asked in the order of the gate's draw, so that whatever is answered is a random beginning of it."""

    is_patient = True

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def arrange(self, jobs: Sequence[Job], *, is_all: bool) -> list[Job]:
        """See :class:`~tiered_eval.runner.turns.Order`."""
        return sorted(jobs, key=lambda job: place_in_draw(job.owner.case.id, self._seed))

    def asked(self, job: Job) -> None:
        """See :class:`~tiered_eval.runner.turns.Order`."""


def _is_free(seen: CaseResult) -> bool:
    """Would a certificate decide all of it that is open, at no cost?"""
    return all(
        bool(verdict.trail) and verdict.trail[-1].scorer == BY_CERTIFICATE
        for verdict in seen.verdicts
        if verdict.leftover == "not-needed"
    )


def _settled(case: GateCase, difference: Bounds) -> GateCase:
    low, high = difference
    return replace(case, low=low, high=high, predicted=(low + high) / 2)


def _early_share(result: CaseResult) -> float:
    """Of a case's score, what a certificate gave."""
    total = sum(verdict.weight for verdict in result.verdicts)
    early = sum(verdict.weight for verdict in result.verdicts if verdict.certified)
    return early / total if total > 0 else 0.0


def _unreached(seen: CaseResult) -> CaseResult:
    """A case that would have been asked about, had there been money."""
    reason = "the money was at an end before its turn in the draw"
    verdicts = tuple(
        replace(verdict, leftover="budget", reason=reason) if verdict.leftover == "not-needed" else verdict
        for verdict in seen.verdicts
    )
    return replace(seen, verdicts=verdicts)


def _likely(so_far: GateAnswer) -> str:
    """What a beginning of the draw says of all cases, where it decides nothing."""
    if so_far.difference is None or so_far.judged < 2:
        return ""
    return (
        f"; the first {so_far.judged} of {so_far.cases - so_far.same} changed cases in random order make a change by "
        f"{so_far.difference:+.3f} likely (95 % interval {so_far.low:+.3f} to {so_far.high:+.3f}), which decides nothing"
    )
