"""What a run ends with: figures, money and time, and the results one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from tiered_eval.records.certified import CertificateUse, SampledScore
from tiered_eval.records.scorecard import Scorecard
from tiered_eval.records.verdicts import State, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The verdicts on one case, in the order of its expectations."""

    index: int
    """Position of the case in its suite, from 0."""
    case_id: str
    verdicts: tuple[Verdict, ...]
    partial: float | None
    """Weighted share of the decided expectations that passed; None when none was decided."""
    partial_low: float
    """The same, with everything undecided counted as failed."""
    partial_high: float
    """The same, with everything undecided counted as passed."""
    passed: bool | None
    """All passed, or as much of it as ``pass_at`` asks for; None while what is undecided can still change that."""
    tags: tuple[str, ...] = ()
    scorecard: Scorecard | None = None
    """Where the suite asks for one."""
    response_digest: str | None = None
    """Says whether two runs looked at the same response; see ``Case.response_digest``."""
    asked_digest: str | None = None
    """Says whether two runs asked the same about it; see ``Case.asked_digest``. None where plain free checks settled all."""
    pass_at: float | None = None
    """See ``Case.pass_at``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Expectations by state. They add up to ``total``."""

    passed: int = 0
    failed: int = 0
    error: int = 0
    not_judged: int = 0
    manual: int = 0

    @property
    def total(self) -> int:
        """All expectations, whatever became of them."""
        return self.passed + self.failed + self.error + self.not_judged + self.manual

    @property
    def decided(self) -> int:
        """Those that passed or failed."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A share with its 95 % interval, and with bounds where something was left undecided."""

    estimate: float | None
    """Over what was decided; None when nothing was."""
    low: float
    """Lower end of the 95 % interval for cases like these, clustered by case."""
    high: float
    bound_low: float
    """For this suite, with everything undecided counted as failed."""
    bound_high: float
    """For this suite, with everything undecided counted as passed."""
    n: int
    """Cases that the figure rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierLine:
    """What one tier did in a run."""

    tier: str
    decided: int
    passed: int
    failed: int
    share: float
    """Of all expectations."""
    calls: int
    cost_usd: Decimal
    avoided_usd: Decimal | None
    """What its verdicts would have cost at the judge; None where no judge has a known price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLine:
    """Money and calls under one heading (a tier, a model, a kind)."""

    name: str
    calls: int
    """Calls billed in this run."""
    from_store: int
    cost_usd: Decimal
    input_tokens: int = 0
    output_tokens: int = 0
    stored_usd: Decimal = Decimal(0)
    """What the answers from the store had cost when they were bought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """The bill of a run, in US dollars."""

    settled_usd: Decimal = Decimal(0)
    """Billed in this run, as the providers' usage says."""
    beside_usd: Decimal = Decimal(0)
    """Of it, what stands on no verdict: embeddings, answers fetched from a batch of an earlier run, questions put a second time
    to confirm a change, calls whose asker had gone. Below 0 where scorers of the user's own tell costs of their own."""
    unknown_usd: Decimal = Decimal(0)
    """Worst case of the calls of this run that may have been billed without an answer."""
    reserved_usd: Decimal = Decimal(0)
    """Still set aside when the run ended: 0 unless it was interrupted."""
    cap_usd: Decimal | None = None
    other_caps: Mapping[str, Decimal] = field(default_factory=dict)
    """Caps next to the run's, by what they are on: ``day``, ``month``, ``suite a day``, ``suite in all``, ..."""
    avoided_usd: Decimal | None = None
    """What the expectations decided without a call would have cost at the judge (an estimate)."""
    stored_usd: Decimal = Decimal(0)
    """What the replies taken from the store had cost when they were bought."""
    cache_read_tokens: int = 0
    """Of prompts whose front the vendor had kept."""
    cache_write_tokens: int = 0
    """Of fronts that the vendor was paid to keep."""
    cache_saved_usd: Decimal = Decimal(0)
    """What the same calls would have cost had no front been kept, less what they cost; below 0 where it did not pay."""
    calls: int = 0
    from_store: int = 0
    unknown_calls: int = 0
    by_tier: tuple[SpendLine, ...] = ()
    by_model: tuple[SpendLine, ...] = ()
    by_kind: tuple[SpendLine, ...] = ()
    by_stage: tuple[SpendLine, ...] = ()
    """``stage 1``, ``stage 2``, ... of a chain of judges, ``early judges`` of a certificate and its ``audits``; empty without these."""
    ledger_settled_usd: Decimal = Decimal(0)
    """All that this home's ledger has ever settled."""
    ledger_unknown_usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What the gate said. ``undecided`` when leftovers could still turn it."""

    expression: str
    state: Literal["met", "not-met", "undecided"]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChange:
    """How one figure changed against the base, over the cases that both runs have."""

    name: str
    """``partial``, or the name of a dimension."""
    base: float
    candidate: float
    change: float
    """Candidate less base."""
    low: float
    """95 % interval for cases like these."""
    high: float
    label: Literal["better", "worse", "tied"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain:
    """What the judge said when it was asked once more about a verdict that had changed."""

    case_id: str
    expectation_id: str
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstBase:
    """How a run compares with the base that it was gated against."""

    base: str
    """Id of the base's run."""
    margin: float
    """The drop that is a regression."""
    delta: float
    state: Literal["pass", "fail", "undecided"]
    """``fail`` is a regression."""
    reason: str
    is_early: bool
    """The answer was sure before every case was asked about, and the rest was not asked."""
    pairs: int
    """Cases that both runs have."""
    same: int
    """Of those, cases whose response did not change."""
    judged: int
    """Of the changed ones, those that were asked about."""
    taken_over: int
    """Verdicts of the base on unchanged responses that were taken over without a call."""
    flaky: int
    """Changes that the judge did not repeat."""
    changes: tuple[FigureChange, ...]
    """The suite's figure first. Of an early answer: over what was decided."""
    asked_again: tuple[AskedAgain, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that is known at the end of a run. Renderers read it and decide nothing."""

    run_id: str
    suite: str
    started_at: str
    """ISO 8601, UTC."""
    wall_s: float
    provider_wait_s: float
    """Wall clock during which at least one call was open and nothing else was left to do but wait."""
    cases: int
    counts: Counts
    partial: Figure
    passed: Figure
    dimensions: Mapping[str, Figure] = field(default_factory=dict)
    tags: Mapping[str, Figure] = field(default_factory=dict)
    tiers: tuple[TierLine, ...] = ()
    leftovers: Mapping[str, int] = field(default_factory=dict)
    """Not judged, by reason."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Errors, by exception class."""
    spend: Spend = field(default_factory=Spend)
    gate: GateResult | None = None
    against: AgainstBase | None = None
    """Where the run was gated against a base."""
    certificate: CertificateUse | None = None
    """Where one could decide early."""
    sampled: SampledScore | None = None
    """Where not all that needs the judge was judged, and what was is a random part of it."""
    ran_in: Mapping[str, int] = field(default_factory=dict)
    """Expectations for which code of a response ran, by how it was shut in: ``bubblewrap``, ``namespaces``, ``none``."""
    exit_code: int = 0
    stopped: Literal["budget", "deadline", "interrupted"] | None = None
    """Why the run ended early; None when it did not."""
    warnings: tuple[str, ...] = ()
    scorecard: Scorecard | None = None
    """Of the whole run, where the suite asks for one."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Whatever decides the verdicts, for comparing two reports: judge chain, prompts, embedder, seed, version."""
    results: Sequence[CaseResult] = ()
    """In the order of the suite. Large runs read them back from disk."""
