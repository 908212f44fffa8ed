"""The promise itself: how often a certificate is wrong, in worlds where the truth is known.

The default run makes few draws; ``make test-slow`` makes the 500 of the specification.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from calibration_worlds import TIERS, world

from tiered_eval.calibration.betting import case_means
from tiered_eval.calibration.binomial import kmax
from tiered_eval.calibration.calibrate import ShippedDesign, calibrate
from tiered_eval.calibration.certificate import Certificate
from tiered_eval.calibration.certify import certify, wrong_of
from tiered_eval.calibration.design import Design, build_design, levels_of, route_at
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.path import Path
from tiered_eval.calibration.promise import Promise
from tiered_eval.calibration.scoring import ScoreWeights, Table, TierWeights

ALPHA, DELTA = 0.05, 0.10
TRUTH = 20_000
"""Labels by which the true error of a certified cascade is measured."""


@lru_cache(maxsize=4)
def truth(*, is_useless: bool = False, per_case: int = 1, trap_share: float = 0.0) -> Table:
    labels = world(TRUTH, 10**6, is_useless=is_useless, per_case=per_case, trap_share=trap_share)
    return Table(labels, ["lexical", "small"])


def true_error(certificate: Certificate, table: Table, *, is_by_case: bool = False) -> float:
    """Averaged over verdicts or over cases; 0 where nothing is decided early."""
    [grant] = certificate.grants
    if grant.tau is None:
        return 0.0
    decided = route_at(certificate.design, levels_of(certificate.design, table), grant.tau)
    early = decided.early
    wrong = wrong_of(decided, table)[early].astype(float)
    if is_by_case:
        wrong = case_means(wrong, table.case[early])
    return float(wrong.mean()) if len(wrong) else 0.0


def certified(labels: list[Label], seed: int) -> Certificate:
    return calibrate(labels, TIERS, Promise(alpha=ALPHA, delta=DELTA, seed=seed), created="")


def allowed(draws: int, sigmas: float = 2.0) -> float:
    """Share of broken promises that delta and chance explain."""
    return DELTA + sigmas * (DELTA * (1 - DELTA) / draws) ** 0.5


def broken_share(n: int, draws: int, *, is_useless: bool = False) -> float:
    broken = [
        true_error(certified(world(n, seed, is_useless=is_useless), seed), truth(is_useless=is_useless))
        > ALPHA
        for seed in range(draws)
    ]
    return float(np.mean(broken))


def test_good_scores_are_put_to_use():
    """With 1,000 labels more than half of the verdicts are certified, in every draw: the tests below are not about nothing."""
    for seed in range(5):
        [grant] = certified(world(1000, seed), seed).grants

        assert grant.step is not None
        assert grant.step.n > 0.5 * grant.n


@pytest.mark.parametrize(("n", "draws"), [(120, 20), (250, 20), (1000, 12)])
def test_the_promise_holds_in_a_few_draws(n: int, draws: int):
    """True early error above alpha in no more draws than delta and chance explain."""
    assert broken_share(n, draws) <= allowed(draws)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("n", [120, 250, 1000])
def test_the_promise_holds(n: int):
    """500 draws: true early error above alpha in at most 10 % + 2 sigma of them."""
    assert broken_share(n, 500) <= allowed(500)


def test_useless_scores_abstain_or_hold_in_a_few_draws():
    """Scores that say nothing do not break the promise."""
    assert broken_share(250, 15, is_useless=True) <= allowed(15)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("n", [120, 250, 1000])
def test_useless_scores_abstain_or_hold(n: int):
    """The same in 500 draws."""
    assert broken_share(n, 500, is_useless=True) <= allowed(500)


def with_top(labels: list[Label], seed: int) -> list[Label]:
    """A top judge that is wrong in 3 %."""
    is_wrong = np.random.default_rng(seed).random(len(labels)) < 0.03
    return [replace(one, top=one.met != bool(wrong)) for one, wrong in zip(labels, is_wrong, strict=True)]


@lru_cache(maxsize=2)
def judged_truth(per_case: int) -> Table:
    return Table(with_top(world(TRUTH, 10**6, per_case=per_case), 0), ["lexical", "small"])


def broken_clauses(certificate: Certificate, table: Table) -> set[str]:
    """The clauses of the promise that are not true, for any of its grants; averaged per case."""
    promise, broken = certificate.promise, set()
    for grant in certificate.grants:
        if grant.tau is None:
            continue
        deciding = [at for at, tier in enumerate(certificate.design.early) if tier.name in grant.deciding]
        levels = levels_of(certificate.design, table)
        decided = route_at(certificate.design, levels, grant.tau, deciding=deciding)
        wrong = wrong_of(decided, table).astype(float)
        of_kind = np.array([grant.kind in ("*", table.kinds[code]) for code in table.kind])
        tested = [("alpha", decided.early, promise.alpha), ("pass", decided.passes, promise.alpha_pass)]
        tested += [("tier", decided.tier == at, promise.tier_alpha) for at in deciding]
        for name, rows, share in tested:
            means = case_means(wrong[rows & of_kind], table.case[rows & of_kind])
            if share is not None and len(means) and means.mean() > share:
                broken.add(name)
        worse = np.where(decided.early, wrong - table.top_wrong, 0.0)
        if promise.relative is not None and case_means(worse, table.case).mean() >= promise.relative:
            broken.add("relative")
    return broken


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("per_case", [1, 4])
@pytest.mark.parametrize(
    "options",
    [
        {"alpha_pass": 0.03},
        {"tier_alpha": 0.05},
        {"alpha": None, "relative": 0.02},
        {"per_kind": True},
        {"alpha_pass": 0.04, "tier_alpha": 0.06, "relative": 0.03},
    ],
)
def test_every_further_promise_holds(options: dict[str, Any], per_case: int):
    """200 draws with each option: all clauses of the promise are true at once in at least 90 % (2 sigma)."""
    broken = [
        bool(
            broken_clauses(
                calibrate(
                    with_top(world(1000, seed, per_case=per_case), seed + 1),
                    TIERS,
                    Promise(delta=DELTA, seed=seed, **options),
                    created="",
                ),
                judged_truth(per_case),
            )
        )
        for seed in range(200)
    ]

    assert np.mean(broken) <= allowed(200)


def adversarial(n: int, seed: int) -> list[Label]:
    """Honest human labels, and twice as many design labels that are random."""
    design = world(2 * n, seed + 50_000, random_labels=True, prefix="d")
    judged = [
        Label(id=one.id, case=one.case, kind=one.kind, met=None, top=one.met, scores=one.scores)
        for one in design
    ]
    return [*world(n, seed), *judged]


def adversarial_broken_share(n: int, draws: int) -> float:
    found = [certified(adversarial(n, seed), seed) for seed in range(draws)]
    assert {one.design_source for one in found} == {"top_judge"}
    return float(np.mean([true_error(one, truth()) > ALPHA for one in found]))


def test_random_design_labels_do_no_harm_in_a_few_draws():
    """A bad design decides little, and never breaks the promise."""
    assert adversarial_broken_share(250, 12) <= allowed(12)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("n", [120, 250, 1000])
def test_random_design_labels_do_no_harm(n: int):
    """The same in 500 draws."""
    assert adversarial_broken_share(n, 500) <= allowed(500)


def recurring(n: int, seed: int, *, is_refused: bool = True) -> list[Label]:
    """Labels of one kind; one in twelve is the same refusal, in answer to another question, and the checks are as sure of it as can be."""
    rng = np.random.default_rng(seed)
    is_refusal = (rng.random(n) < 1 / 12) & is_refused
    met = np.where(is_refusal, rng.random(n) < 0.1, rng.random(n) < 0.6)
    score = (1.0 / (1.0 + np.exp(np.where(met, -3.0, 3.0) + 1.2 * rng.normal(size=n)))).round(4)
    score = np.where(rng.random(n) < 0.8, score.round(), score)
    return [
        Label(
            id=str(at),
            case=f"{seed} {at}",
            kind="k",
            met=bool(met[at]),
            scores={"s": 1.0 if is_refusal[at] else float(score[at])},
            pair="refusal" if is_refusal[at] else "",
        )
        for at in range(n)
    ]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_recurs_does_not_break_the_promise():
    """500 draws with a shipped design that knows nothing of a refusal which is wrong: it is never left to the design alone."""
    tiers = (TierSpec(name="free", scores=("s",), cost=0.0), TierSpec(name="top", scores=(), cost=1.0))
    design = build_design(Table(recurring(3000, 77, is_refused=False), ["s"]), tiers, alpha=ALPHA)
    shipped = ShippedDesign(name="shipped", design=design)
    table = Table(recurring(TRUTH, 10**6), ["s"])

    found = [
        calibrate(
            recurring(300, seed),
            tiers,
            Promise(alpha=ALPHA, delta=DELTA, seed=seed),
            created="",
            shipped=shipped,
        )
        for seed in range(500)
    ]

    assert np.mean([true_error(one, table) > ALPHA for one in found]) <= allowed(500)


def border_runs(runs: int) -> list[bool]:
    """Is any of 20 nested steps certified, where every verdict is wrong at 0.0501 whatever its score?"""
    tiers = (TierSpec(name="free", scores=("s",), cost=0.0), TierSpec(name="top", scores=(), cost=1.0))
    weights = TierWeights(("s",), {"k": (0.0, (ScoreWeights(1.0, 0.0, 0.0, 0.0),))})
    design = Design(tiers=tiers, weights=(weights,), savings=(1.0,))
    path = Path(tuple(float(tau) for tau in np.linspace(0.2, 0.4, 20)), (0,))
    promise = Promise(alpha=ALPHA, delta=DELTA)
    rng = np.random.default_rng(3)
    found = []
    for _ in range(runs):
        scores, met = 0.55 + 0.44 * rng.random(300), rng.random(300) >= 0.0501
        labels = [
            Label(id=str(at), case=str(at), kind="k", met=bool(ok), scores={"s": float(score)})
            for at, (score, ok) in enumerate(zip(scores, met, strict=True))
        ]
        found.append(certify(design, path, Table(labels, ["s"]), promise, delta=DELTA).tau is not None)
    return found


def test_nested_steps_at_the_border_in_a_few_runs():
    """A rate just above alpha at each of 20 nested steps: any certification in at most 10 % + 3 sigma."""
    assert 0.02 < np.mean(border_runs(400)) <= allowed(400, sigmas=3)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nested_steps_at_the_border():
    """The same in 20,000 runs."""
    assert np.mean(border_runs(20_000)) <= allowed(20_000, sigmas=3)


def trap_outcomes(draws: int) -> list[bool]:
    """Promise broken (averaged per case), in worlds where 4.5 % of the cases of five fool all early tiers at once."""
    table = truth(per_case=5, trap_share=0.045)
    found = [certified(world(1000, seed, per_case=5, trap_share=0.045), seed) for seed in range(draws)]
    return [true_error(one, table, is_by_case=True) > ALPHA for one in found]


def test_trap_cases_do_not_break_the_promise_in_a_few_draws():
    """Labels of a case go wrong together, and the betting test takes it into account."""
    assert np.mean(trap_outcomes(8)) <= allowed(8)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_trap_cases_do_not_break_the_promise():
    """Holds in at least 90 % of 300 draws (2 sigma)."""
    assert np.mean(trap_outcomes(300)) <= allowed(300)


def test_the_binomial_would_lie_about_trap_cases():
    """Why it is not used: at a true error of just above alpha that comes in cases of five, it certifies too often."""
    rng = np.random.default_rng(4)
    cases, size, runs = 60, 5, 4_000
    errors = size * rng.binomial(cases, 0.0501, runs)

    certified_share = (errors <= kmax(cases * size, ALPHA, DELTA)).mean()

    assert certified_share > DELTA + 3 * (DELTA * (1 - DELTA) / runs) ** 0.5


@pytest.mark.parametrize(
    ("n", "alpha", "is_useless", "why"),
    [
        (20, 0.05, False, "twelve certification labels refute nothing"),
        (400, 0.004, False, "alpha is below what these scores can tell"),
        (400, 0.05, True, "the scores say nothing"),
    ],
)
def test_nothing_certifiable_means_that_all_escalates(n: int, alpha: float, is_useless: bool, why: str):
    """Where nothing can be certified the certificate has no threshold, and says so."""
    labels = world(n, 7, is_useless=is_useless)

    certificate = calibrate(labels, TIERS, Promise(alpha=alpha), created="")

    assert not certificate.is_certified, why
    assert [*certificate.in_words()] == ["Nothing certified: everything escalates to the top tier."]
