"""A whole suite: stream its cases, add them up, judge the gate, and end with a report.

The one idea: whatever stops a run (money, time, a signal), the report still accounts for every expectation once.
What was never read is counted as left over, so a figure's bounds always hold for the whole suite.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import tiered_eval
from tiered_eval.aggregate import Tally
from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError, TieredEvalError
from tiered_eval.gate import DEFAULT_GATE, parse_gate
from tiered_eval.people.pending import PENDING_FILE, Pending
from tiered_eval.profiles import Profile
from tiered_eval.records import (
    Case,
    CaseResult,
    CertificateUse,
    Report,
    Spend,
    Suite,
    chain_in_words,
)
from tiered_eval.results import ResultsFile, StoredResults
from tiered_eval.runner.absent_fields import AbsentFields
from tiered_eval.runner.against import GateAgainst
from tiered_eval.runner.avoided import AvoidedCalls
from tiered_eval.runner.certified import CertifiedChecks
from tiered_eval.runner.closing import Stopped, exit_code, tier_lines, why_stopped
from tiered_eval.runner.drawing import Drawing
from tiered_eval.runner.drawing_terms import drawing_for
from tiered_eval.runner.ending import run_to_end
from tiered_eval.runner.evaluator import Evaluator, new_run_id
from tiered_eval.runner.jobs import kept_for_writing_s
from tiered_eval.runner.progress import Progress, Telling
from tiered_eval.runner.rounds import Rounds, needs_rounds
from tiered_eval.runner.services import RunServices
from tiered_eval.scorecard import CardTally
from tiered_eval.suite import load_suite
from tiered_eval.suite.own_scorers import own_catalogue
from tiered_eval.suite.single import check_cases, check_ids, reader_for
from tiered_eval.text.plurals import plural

__all__ = ["evaluate", "evaluate_sync"]

GRACE_S = 5.0
"""After an interruption, calls in flight may still end for this long."""
LOOK_S = 0.05
"""Between looks at whether they have."""
UNREAD_S = 3.0
"""After a stop, cases that were not read are still listed one by one for this long, then only counted. At a deadline, for
half of the time that is kept for writing: whoever set it may be about to end the process."""


class _Sink(Protocol):
    def append(self, result: CaseResult) -> object: ...


async def evaluate(
    suite: Suite | Iterable[Case] | str | Path,
    config: RunConfig | None = None,
    *,
    run_id: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
    services: RunServices | None = None,
    profile: Profile | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Score a suite and report.

    Args:
        suite: a suite, cases made in Python, or the path of a suite to load, which is a part of the time that is allowed.
        progress: told how far the run is, at most ten times a second.
        stop: set it to end early; calls in flight get five seconds.
        services, profile, clock: for tests; made from ``config`` where None.

    Raises:
        SuiteError: the suite is wrong.
        ConfigError: the options or the environment are wrong. What was spent before that showed, as where a disk becomes
            full, stands in the notes of the error.
    """
    began, config = clock(), config or RunConfig()
    suite = _as_suite(suite, config)
    config = replace(config, time_used_s=config.time_used_s + clock() - began)
    run_id = run_id or new_run_id()
    evaluator = Evaluator(config, suite=suite, run_id=run_id, services=services, profile=profile, clock=clock)
    run = _Run(suite, evaluator, run_id=run_id, progress=progress, clock=clock)
    run.check_gate()
    try:
        async with evaluator:
            try:
                return await run.to_report(stop)
            except TieredEvalError:
                await run.let_calls_end()
                raise
    except (TieredEvalError, ExceptionGroup) as error:
        # Now that the last call has ended: what was open counts as well.
        if evaluator.services is not None:
            _tell_spent(error, evaluator.services.spend(avoided_pico=None))
        raise


def _tell_spent(error: Exception, spend: Spend) -> None:
    """Exit code 2 would else read as "nothing was spent"."""
    if spend.settled_usd or spend.unknown_usd:
        more = (
            f", and at most ${spend.unknown_usd.normalize():f} more may have been"
            if spend.unknown_usd
            else ""
        )
        error.add_note(
            f"until then ${spend.settled_usd.normalize():f} was spent{more}; answers that are in the ledger are not "
            "paid for again"
        )


def evaluate_sync(suite: Suite | Iterable[Case] | str | Path, config: RunConfig | None = None) -> Report:
    """:func:`evaluate`, for callers without an event loop."""
    return run_to_end(lambda: evaluate(suite, config))


def _as_suite(suite: Suite | Iterable[Case] | str | Path, config: RunConfig) -> Suite:
    scorers = config.scorers
    if isinstance(suite, Suite):
        if suite.path is None:
            check_ids(suite.cases)
        return suite
    if isinstance(suite, str | Path):
        return load_suite(Path(suite), scorers=scorers)
    catalogue = own_catalogue(scorers=scorers)
    cases = check_cases(suite, reader=reader_for(catalogue))
    return Suite(
        name="cases",
        cases=cases,
        catalogue=catalogue,
        case_count=len(cases),
        expectation_count=sum(len(case.expectations) for case in cases),
    )


class _Run:
    """One run in the making."""

    def __init__(
        self,
        suite: Suite,
        evaluator: Evaluator,
        *,
        run_id: str,
        progress: Callable[[Progress], None] | None,
        clock: Callable[[], float],
    ) -> None:
        self._suite = suite
        self._evaluator = evaluator
        self._config = evaluator.config
        self._gate = parse_gate(self._config.gate or DEFAULT_GATE)
        self._run_id = run_id
        self._clock = clock
        self._tally = Tally()
        self._warnings: list[str] = list(suite.warnings)
        self._fields = AbsentFields()
        self._kept: list[CaseResult] = []
        self._outside = 0
        """Verdicts given early by something else than a certificate."""
        self._began = clock()
        self._telling = Telling(progress, suite, evaluator, self._tally, clock=clock)
        self._unread_since: float | None = None
        self._avoided = AvoidedCalls(0, 0.0, is_known=False)
        self._pending: Pending | None = None
        self._against = None if self._config.gate_against is None else GateAgainst(suite, self._config)
        scorecard = suite.settings.scorecard
        self._cards = None if scorecard is None else CardTally(scorecard)
        self._drawing: Drawing | None = None
        self._read = [0, 0]
        """Cases and expectations that were handed to the evaluator."""

    def check_gate(self) -> None:
        """Refuse a gate on a dimension or tag that no case carries, before anything is spent.

        Raises:
            ConfigError: as said.
        """
        self._gate.check_cases(self._suite.cases)

    async def to_report(self, stop: asyncio.Event | None) -> Report:
        started_at = datetime.now(UTC).isoformat(timespec="seconds")
        file: ResultsFile | None = None
        if (path := self._config.results_path) is not None:
            file, self._pending = ResultsFile(path), Pending(path.with_name(PENDING_FILE))
        try:
            async with self._watched(stop):
                await self._score_all(file)
            await self._evaluator.note_audits()
        finally:
            stored = file.close() if file is not None else None
        if self._tally.cases == 0:
            raise ConfigError(f"suite {self._suite.name!r} has no cases: nothing was measured")
        self._kept.sort(key=lambda result: result.index)
        results = self._told_doubts(stored if stored is not None else tuple(self._kept))
        if self._against is None:
            return self._report(started_at, results)
        async with self._watched(stop):
            await self._against.confirm(self._report(started_at, results), self._evaluator)
        return self._against.on(self._report(started_at, results))

    def _told_doubts(self, results: Sequence[CaseResult]) -> Sequence[CaseResult]:
        """The results, none of which calls certified what turned out to be in doubt."""
        use = self._certificate_use()
        if use is None or not use.is_doubted:
            return results
        if isinstance(results, StoredResults):
            return results.changed(CertifiedChecks.in_doubt)
        return tuple(map(CertifiedChecks.in_doubt, results))

    def _certificate_use(self) -> CertificateUse | None:
        """What the certificate did so far; None without one."""
        use = self._evaluator.certificate
        return None if use is None else replace(use, outside=self._outside)

    async def let_calls_end(self) -> None:
        """Begin nothing more, and wait for calls in flight: they are paid for, so their answers should be kept."""
        self._evaluator.stop("interrupted")
        if self._evaluator.services is not None:
            self._evaluator.services.leave()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                while self._evaluator.open_jobs.total:  # noqa: ASYNC110 - once a run, and only where it fails
                    await asyncio.sleep(LOOK_S)

    async def _score_all(self, file: ResultsFile | None) -> None:
        tally, keep = self._tally, self._config.keep_results and file is None
        sink: _Sink | None = file if file is not None else (self._kept if keep else None)
        services = self._evaluator.services
        assert services is not None, "the evaluator was entered"
        avoided = self._avoided = AvoidedCalls.for_chain(services.chain, services.prices)
        if self._against is None and services.chain:
            self._drawing = drawing_for(
                self._config,
                has_certificate=self._evaluator.certified is not None,
                spent=self._spent_share,
                left_s=self._evaluator.left_s,
                at_once=services.open_at_once("judge"),
                is_large=needs_rounds(self._suite),
            )
        async for result in self._results(services):
            if self._cards is not None:
                result = self._cards.scored(result)
            if self._pending is not None:
                self._pending.settle(result)
            self._outside += _outside(result)
            tally.add(result, avoided_pico=avoided.pico(result.index))
            if self._drawing is not None:
                self._drawing.add(result)
            if sink is not None:
                sink.append(result)
            self._telling.look()
        self._telling.tell()

    def _results(self, services: RunServices) -> AsyncIterator[CaseResult]:
        """The results of the suite's cases, as they settle."""
        drawing = self._drawing
        if drawing is not None and drawing.is_patient:
            rounds = Rounds(
                self._suite,
                drawing,
                seed=self._config.seed,
                limit_s=self._config.max_time_s,
                spent=self._spent_share,
                saw=self._saw,
                listed=self._listed,
            )
            return rounds.stream(self._evaluator)
        cases = (case for _, case in self._listed(enumerate(self._suite.cases)))
        if self._against is None:
            is_limited = drawing is not None and drawing.is_ordering
            return self._evaluator.stream(cases, are_read=True, order=drawing if is_limited else None)
        return self._against.stream(self._evaluator, cases, settings=self._settings(services))

    def _spent_share(self) -> float:
        """How much of the money or the time is used up, whichever is more."""
        services, cap, limit = self._evaluator.services, self._config.max_cost_usd, self._config.max_time_s
        assert services is not None, "the evaluator was entered"
        money = float(services.spent_usd / cap) if cap else 0.0
        return max(money, (self._clock() - self._began) / limit if limit else 0.0)

    def _listed(self, cases: Iterable[tuple[int, Case]]) -> Iterator[tuple[int, Case]]:
        """Cases of the suite by their index. After a stop the rest is listed for a while, then counted only."""
        for index, case in cases:
            if self._evaluator.stopped is not None and self._is_late():
                return
            self._saw(index, case)
            yield index, case

    def _saw(self, index: int, case: Case) -> None:
        """Take note of a case that is about to be checked."""
        self._avoided.saw(index, case)
        self._fields.saw(case)
        if self._cards is not None:
            self._cards.saw(index, case)
        if self._pending is not None:
            self._pending.saw(index, case)
        self._read[0] += 1
        self._read[1] += len(case.expectations)

    def _is_late(self) -> bool:
        now = self._clock()
        if self._unread_since is None:
            self._unread_since = now
        limit = self._config.max_time_s if self._evaluator.stopped == "deadline" else None
        if now - self._unread_since < (UNREAD_S if limit is None else kept_for_writing_s(limit) / 2):
            return False
        suite = self._suite
        if suite.case_count is None or suite.expectation_count is None:
            return False
        read, expectations = self._read
        cases = suite.case_count - read
        self._tally.add_unread(
            cases=cases,
            expectations=suite.expectation_count - expectations,
            leftover=self._evaluator.stopped or "interrupted",
        )
        if self._cards is not None:
            self._cards.add_unread(cases)
        if self._drawing is not None:
            self._drawing.cut("not all of it was read", unread=cases)
        self._warnings.append(
            f"not read before the run ended: {plural(cases, 'case')}, counted and not listed"
        )
        return True

    @asynccontextmanager
    async def _watched(self, stop: asyncio.Event | None) -> AsyncIterator[None]:
        """Pass a wish to stop on to the evaluator, and cut calls in flight off after the grace."""
        if stop is None:
            yield
            return

        async def watch() -> None:
            await stop.wait()
            self._evaluator.stop("interrupted")
            if self._evaluator.services is not None:
                self._evaluator.services.leave()
            await asyncio.sleep(GRACE_S)
            await self._evaluator.abandon()

        watcher = asyncio.create_task(watch())
        try:
            yield
        finally:
            watcher.cancel()
            await asyncio.wait({watcher})

    def _report(self, started_at: str, results: Sequence[CaseResult]) -> Report:
        tally, evaluator = self._tally, self._evaluator
        services = evaluator.services
        assert services is not None, "the evaluator was entered"
        sampled = None if self._drawing is None else self._drawing.score()
        likely = (sampled.low, sampled.high) if sampled is not None and sampled.estimate is not None else None
        gate = self._gate.judge(tally.figures(), sampled=likely)
        stopped = why_stopped(evaluator.stopped, tally)
        certificate = self._certificate_use()
        avoided_pico = sum(counts.avoided_pico for counts in tally.tiers.values())
        spend = services.spend(avoided_pico=avoided_pico if self._avoided.is_known else None)
        spend = replace(spend, beside_usd=spend.settled_usd - tally.cost_usd)
        return Report(
            run_id=self._run_id,
            suite=self._suite.name,
            started_at=started_at,
            wall_s=self._clock() - self._began,
            provider_wait_s=services.provider_wait_s,
            cases=tally.cases,
            counts=tally.counts(),
            partial=tally.partial,
            passed=tally.passed,
            dimensions=tally.dimensions(),
            tags=tally.tags(),
            tiers=tier_lines(tally, spend),
            leftovers=dict(sorted(tally.leftovers.items())),
            failures=dict(sorted(tally.failures.items())),
            ran_in=dict(sorted(tally.ran_in.items())),
            spend=spend,
            gate=gate,
            certificate=certificate,
            sampled=sampled,
            exit_code=exit_code(
                tally.counts(),
                gate,
                stopped,
                self._config.max_error_rate,
                is_doubted=certificate is not None and certificate.is_doubted,
            ),
            stopped=stopped,
            warnings=(*self._warnings, *self._fields.warnings(), *self._doubts(stopped), *services.warnings),
            scorecard=None if self._cards is None else self._cards.card(),
            settings=self._settings(services),
            results=results,
        )

    def _doubts(self, stopped: Stopped | None) -> Iterator[str]:
        """What speaks against early verdicts, and against taking what was judged for a sample."""
        if self._evaluator.certified is not None:
            yield from self._evaluator.certified.warnings
        drawing = self._drawing
        if stopped in ("budget", "deadline") and drawing is not None and drawing.trouble is not None:
            yield (
                f"what was judged is no random sample of the suite ({drawing.trouble}): "
                "only the bounds hold for what was left over"
            )

    def _settings(self, services: RunServices) -> dict[str, object]:
        """Whatever decides the verdicts, so that two reports can tell whether they asked the same."""
        config, certified = self._config, self._evaluator.certified
        return {
            "version": tiered_eval.__version__,
            "judges": chain_in_words(services.chain),
            "embedder": services.embedder_id or config.embedder or "local:",
            "profile": self._evaluator.profile_name,
            "mode": config.mode,
            "pack": config.packing,
            "gate": self._gate.expression,
            "max_error_rate": config.max_error_rate,
            "seed": config.seed,
            **({"certificate": certified.in_force} if certified is not None and certified.in_force else {}),
            **({"code": code} if (code := {**self._evaluator.catalogue.digests, **self._suite.code}) else {}),
        }


def _outside(result: CaseResult) -> int:
    """How many of its verdicts were given below the judge, with no certificate behind them."""
    return sum(
        verdict.is_decided
        and verdict.tier not in (None, "judge")
        and not (verdict.certified or verdict.audited)
        for verdict in result.verdicts
    )
