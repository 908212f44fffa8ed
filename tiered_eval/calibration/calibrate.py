"""From labels to a certificate: design, path, certify.

The one idea: three steps in one direction. Design labels make the scoring and the path; certification labels are then
looked at once, by the test; and what the test says is written down, also when it says that nothing may be decided early.

Spec of the method: docs/calibration.md. Needs numpy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tiered_eval.calibration.betting import betting_bound, case_means
from tiered_eval.calibration.binomial import upper_bound
from tiered_eval.calibration.certificate import ANY_KIND, Certificate, Grant, Presence
from tiered_eval.calibration.certify import Certified, certify
from tiered_eval.calibration.design import Design, build_design, levels_of, route_at
from tiered_eval.calibration.drift import spread
from tiered_eval.calibration.labels import Label, Roles, TierSpec, assign_roles, human_disagreement
from tiered_eval.calibration.path import Path, plan_path
from tiered_eval.calibration.promise import Promise
from tiered_eval.calibration.scoring import Table, probabilities
from tiered_eval.errors import ConfigError
from tiered_eval.text.plurals import plural

__all__ = ["Forecast", "ShippedDesign", "calibrate", "forecast", "transfer_bound"]

LEAST_TWICE_LABELLED = 20
"""Expectations that two people have labelled, from which on their disagreement is taken for what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedDesign:
    """A design that is there before any label, and its name."""

    name: str
    design: Design


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is to be expected of a number of labels, reckoned before any of them is asked for."""

    labels: int
    """For certification and, where labels make the design, for that too."""
    power: float
    """Probability that anything is certified."""
    share: float
    """Share decided early that is as likely as not to be reached."""
    cost: float
    """Over that of the top tier on everything."""


def calibrate(
    labels: Iterable[Label],
    tiers: Sequence[TierSpec],
    promise: Promise,
    *,
    created: str,
    fingerprints: Mapping[str, str] | None = None,
    shipped: ShippedDesign | None = None,
    judged_by: str | None = None,
) -> Certificate:
    """Certify as much as the labels bear out; a certificate without grants that hold is a result, too.

    ``judged_by`` says which judge gave the labels, if one did: a run with another one takes no promise about it.

    Raises:
        ConfigError: there are fewer than two tiers, or a tier is named twice.
    """
    _check_tiers(tiers)
    roles = assign_roles(labels, seed=promise.seed, shipped=shipped.name if shipped else None)
    design, table = _designed(roles, tiers, promise, shipped)
    refusal = _refusal((*roles.design, *roles.certification), promise)
    names = table.names
    groups = sorted({label.kind for label in roles.certification}) if promise.per_kind else [ANY_KIND]
    grants = []
    for kind in groups if refusal is None else ():
        chosen = [label for label in roles.certification if kind in (ANY_KIND, label.kind)]
        planned = [label for label in table.labels if kind in (ANY_KIND, label.kind)]
        grants.append(
            _grant(
                kind,
                design,
                Table(planned, names),
                Table(chosen, names),
                promise,
                promise.delta / len(groups),
            )
        )
    mix = Counter(label.kind for label in roles.certification)
    return Certificate(
        promise=promise,
        design=design,
        design_source=roles.design_source,
        grants=tuple(grants),
        n_design=len(roles.design),
        n_cert=len(roles.certification),
        n_cases=len({label.case for label in roles.certification}),
        kind_mix={kind: count / mix.total() for kind, count in sorted(mix.items())},
        fingerprints=dict(fingerprints or {}),
        created=created,
        refusal=refusal,
        q_mix=_q_mix(design, Table(roles.certification, names)),
        judged_by=judged_by,
        presence={
            kind: _presence([label for label in roles.certification if label.kind == kind], names)
            for kind in sorted(mix)
        },
    )


def _presence(labels: Sequence[Label], names: Sequence[str]) -> Presence:
    """Which scores these labels had."""
    counts = Counter(name for label in labels for name in names if label.scores.get(name) is not None)
    return Presence(
        always=tuple(name for name in names if counts[name] == len(labels)),
        never=tuple(name for name in names if not counts[name]),
    )


def _q_mix(design: Design, table: Table) -> tuple[float, ...]:
    """How the first tier sees the certification labels; runs are compared with it."""
    return spread(probabilities(design.weights[0], table).tolist()) if design.weights and table.n else ()


def forecast(
    labels: Iterable[Label],
    tiers: Sequence[TierSpec],
    promise: Promise,
    sizes: Sequence[int],
    *,
    shipped: ShippedDesign | None = None,
) -> tuple[Forecast, ...]:
    """What to expect of so many labels in all; looks at design labels only."""
    roles = assign_roles(labels, seed=promise.seed, shipped=shipped.name if shipped else None)
    design, table = _designed(roles, tiers, promise, shipped)
    if not table.n or not roles.certification:
        return ()
    held = len(roles.certification)
    share = held / (held + (len(roles.design) if roles.design_source == "human" else 0))
    per_case = held / len({label.case for label in roles.certification})
    found = []
    for size in sizes:
        certified = size * share
        path = plan_path(
            design, table, promise, labels=certified, cases=certified / per_case, delta=promise.delta
        )
        found.append(Forecast(labels=size, power=path.power, share=path.hoped_share, cost=path.hoped_cost))
    return tuple(found)


def transfer_bound(alpha: float, errors: int, people: int, *, delta: float) -> float:
    """Bound on how often early verdicts differ from *people* where the top judge labelled.

    ``alpha`` was certified against the top judge at ``delta / 2``; of ``people`` early verdicts with a human label, the top
    judge differed from the person in ``errors``. Holds with probability ``1 - delta``.
    """
    return min(1.0, alpha + upper_bound(errors, people, delta / 2))


def _check_tiers(tiers: Sequence[TierSpec]) -> None:
    names = [tier.name for tier in tiers]
    if len(tiers) < 2 or len(set(names)) < len(names):
        raise ConfigError(f"calibration needs an early tier and a top tier, each named once; found {names}")
    if tiers[-1].cost <= 0:
        raise ConfigError(f"the top tier {names[-1]!r} must cost something: what it costs is what is saved")


def _designed(
    roles: Roles, tiers: Sequence[TierSpec], promise: Promise, shipped: ShippedDesign | None
) -> tuple[Design, Table]:
    """The design, and the table that its path is planned on."""
    names = list(dict.fromkeys(name for tier in tiers[:-1] for name in tier.scores))
    if shipped is None:
        table = Table(roles.design, names)
        return (
            build_design(
                table, tiers, alpha=promise.planned_alpha, false_pass_weight=promise.false_pass_weight
            ),
            table,
        )
    design = replace(shipped.design, false_pass_weight=promise.false_pass_weight)
    return design, Table(roles.design, names)


def _refusal(labels: Sequence[Label], promise: Promise) -> str | None:
    if promise.label_source == "top_judge":
        return None  # `met` is the judge's then
    differ, of = human_disagreement(labels)
    if promise.alpha is not None and of >= LEAST_TWICE_LABELLED and differ / of > promise.alpha:
        return (
            f"two people disagree about {differ:,} of {plural(of, 'expectation')} ({differ / of:.1%}), more often than the "
            f"{promise.alpha:.1%} that would be promised; settle the labels or raise alpha"
        )
    return None


def _grant(kind: str, design: Design, planned: Table, table: Table, promise: Promise, delta: float) -> Grant:
    path = (
        plan_path(design, planned, promise, labels=table.n, cases=table.cases, delta=delta)
        if planned.n
        else Path((), ())
    )
    certified = certify(design, path, table, promise, delta=delta)
    by_tier: dict[str, float] = {}
    upper: float | None = None
    cost = 1.0
    if certified.tau is not None:
        decided = route_at(design, levels_of(design, table), certified.tau, deciding=path.deciding)
        by_tier = {
            tier.name: float((decided.tier == at).mean())
            for at, tier in enumerate(design.early)
            if at in path.deciding
        }
        cost = float(decided.cost.mean()) / design.tiers[-1].cost
        upper = _rate_against_top(design, certified, path, table, promise)
    return Grant(
        kind=kind,
        delta=delta,
        tau=certified.tau,
        deciding=tuple(design.early[at].name for at in path.deciding),
        steps=certified.steps,
        n=table.n,
        cases=table.cases,
        is_clustered=certified.is_clustered,
        by_tier=by_tier,
        cost=cost,
        early_vs_top_rate_upper=upper,
    )


def _rate_against_top(
    design: Design, certified: Certified, path: Path, table: Table, promise: Promise
) -> float | None:
    """Upper bound on early-vs-top disagreement: alpha itself where the label is the top judge's verdict.

    With several labels a case the binomial is too sure of itself here as well.
    """
    import numpy as np

    if promise.label_source == "top_judge":
        return promise.alpha
    assert certified.tau is not None, "asked for certified thresholds only"
    decided = route_at(design, levels_of(design, table), certified.tau, deciding=path.deciding)
    pairs = [
        (label.case, bool(passes) != label.top)
        for passes, is_early, label in zip(decided.passes, decided.early, table.labels, strict=True)
        if is_early and label.top is not None
    ]
    if not pairs:
        return None
    differ = [is_other for _, is_other in pairs]
    by_case = case_means(np.array(differ, dtype=np.float64), np.array([case for case, _ in pairs]))
    if len(by_case) < len(pairs):
        return betting_bound(by_case, delta=promise.delta, seed=promise.seed)
    return upper_bound(sum(differ), len(pairs), promise.delta)
