"""From labels to a certificate and back: determinism, options, edges, and the decider that applies it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from calibration_worlds import KINDS, TIERS, world

from tiered_eval.calibration import path
from tiered_eval.calibration.calibrate import calibrate, forecast, transfer_bound
from tiered_eval.calibration.certificate import Certificate, load_certificate, save_certificate
from tiered_eval.calibration.certify import certify
from tiered_eval.calibration.decider import CertifiedDecider
from tiered_eval.calibration.design import Design, build_design, levels_of, route_at
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.plot import path_as_svg
from tiered_eval.calibration.promise import Promise, promise_in_words
from tiered_eval.calibration.scoring import ScoreWeights, Table, TierWeights, fit_weights, probabilities
from tiered_eval.calibration.wording import certificate_lines, certified_line, forecast_lines
from tiered_eval.errors import ConfigError

PRINTS = {"free": "free-1", "small": "small-model"}


def made(labels: list[Label], **options: object) -> Certificate:
    promise = Promise(**options)  # type: ignore[arg-type]  # as each test writes it
    return calibrate(labels, TIERS, promise, created="2026-01-01", fingerprints=PRINTS)


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return made(world(1000, 1))


def test_the_order_of_rows_does_not_matter(certificate: Certificate, tmp_path: Path):
    """The same labels in another order give the same bytes."""
    shuffled = world(1000, 1)
    random.Random(0).shuffle(shuffled)
    one, other = tmp_path / "one.json", tmp_path / "other.json"

    save_certificate(certificate, one)
    save_certificate(made(shuffled), other)

    assert one.read_bytes() == other.read_bytes()


def test_another_seed_is_another_split(certificate: Certificate):
    """The seed draws the roles."""
    assert made(world(1000, 1), seed=1).grants != certificate.grants


def test_a_certificate_survives_its_file(certificate: Certificate, tmp_path: Path):
    """What is read is what was written."""
    path = tmp_path / "certificate.json"

    save_certificate(certificate, path)

    assert load_certificate(path) == certificate


def test_the_file_has_the_tested_path_at_its_top(certificate: Certificate, tmp_path: Path):
    """Whoever opens it finds each step with its threshold, verdicts, errors and p, and the one that is certified."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)

    data = json.loads(path.read_text())

    [grant] = certificate.grants
    assert data["path"] == [[step.tau, step.n, step.errors, step.p] for step in grant.steps]
    assert data["tau_hat"] in [tau for tau, *_ in data["path"]]
    assert data["tiers"] == [tier.name for tier in TIERS]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"certificate": 99}', '{"certificate": 1, "options": {}}'])
def test_a_broken_file_is_told(text: str, tmp_path: Path):
    """A file that is no certificate is a fault of the set-up, not a traceback."""
    path = tmp_path / "certificate.json"
    path.write_text(text)

    with pytest.raises(ConfigError, match=r"certificate\.json"):
        load_certificate(path)


def scores_and_ahead(label: Label, spoken: int) -> tuple[dict[str, float | None], list[str]]:
    """What a run has seen when so many early tiers have spoken."""
    known = [name for tier in TIERS[:spoken] for name in tier.scores]
    return {name: label.scores[name] for name in known}, [tier.name for tier in TIERS[spoken:]]


def test_the_decider_takes_the_certified_route(certificate: Certificate):
    """Tier by tier, the decider decides as the tested cascade does, with the same probability."""
    labels = world(400, 9)
    table = Table(labels, ["lexical", "small"])
    [grant] = certificate.grants
    assert grant.tau is not None
    decided = route_at(certificate.design, levels_of(certificate.design, table), grant.tau)
    decider = CertifiedDecider(certificate, PRINTS)

    for at, label in enumerate(labels):
        found = None
        for spoken in (1, 2):
            scores, ahead = scores_and_ahead(label, spoken)
            found = found or decider.decide(label.kind, scores, ahead=ahead)
        assert (found is not None) == decided.early[at]
        if found is not None:
            assert found.tier == TIERS[decided.tier[at]].name
            assert (found.state == "pass") == decided.passes[at]
            assert found.certified
            assert min(found.q, 1 - found.q) == pytest.approx(decided.error[at], abs=1e-9)


def test_the_decider_waits_for_a_tier_that_has_not_spoken(certificate: Certificate):
    """Nothing is decided by a tier that is still ahead."""
    decider = CertifiedDecider(certificate, PRINTS)

    assert decider.decide(KINDS[0], {}, ahead=["free", "small", "top"]) is None
    assert decider.probability(KINDS[0], {}, ahead=["free", "small", "top"]) is None


def test_the_decider_is_quick(certificate: Certificate):
    """Far below 20 microseconds on a quiet machine; the bound leaves room for a busy one."""
    decider = CertifiedDecider(certificate, PRINTS)
    scores = {"lexical": 0.7, "small": 0.4}
    times = []
    for _ in range(30):
        start = perf_counter()
        for _ in range(100):
            decider.decide(KINDS[0], scores, ahead=())
        times.append((perf_counter() - start) / 100)

    assert min(times) < 20e-6


@pytest.mark.parametrize("current", [{}, {"free": "free-2", "small": "small-model"}, {"free": "free-1"}])
def test_another_fingerprint_voids_a_certificate(certificate: Certificate, current: dict[str, str]):
    """Where a score is made by something else, early tiers stop deciding, and the field is named."""
    decider = CertifiedDecider(certificate, current)

    decisions = [decider.decide(label.kind, label.scores, ahead=()) for label in world(50, 3)]

    assert decisions == [None] * 50
    assert any(line.startswith(("free", "small")) for line in decider.void)


def test_an_unseen_kind_escalates(certificate: Certificate):
    """A kind that calibration never saw is left to the top tier, and has no probability."""
    decider = CertifiedDecider(certificate, PRINTS)

    assert decider.decide("rubric", {"lexical": 1.0, "small": 1.0}, ahead=()) is None
    assert decider.probability("rubric", {"lexical": 1.0, "small": 1.0}, ahead=()) is None
    assert certificate.grant_for("rubric") is None


def test_a_kind_that_only_the_design_knows_escalates():
    """Labels of one kind certify nothing about another, whatever the design was fitted on."""
    human = [label for label in world(900, 1) if label.kind == KINDS[0]]
    judged = [
        replace(label, met=None, top=label.met) for label in world(900, 2, prefix="d")
    ]  # design labels, of all kinds
    certificate = made([*human, *judged])

    decider = CertifiedDecider(certificate, PRINTS)

    assert set(certificate.design.kinds) == set(KINDS)
    assert decider.decide(KINDS[0], {"lexical": 1.0, "small": 1.0}, ahead=()) is not None
    assert [decider.decide(kind, {"lexical": 1.0, "small": 1.0}, ahead=()) for kind in KINDS[1:]] == [
        None,
        None,
    ]
    assert certificate.grant_for(KINDS[1]) is None


@pytest.mark.parametrize(
    ("asked", "named", "why"),
    [
        ({"lexical": 1.0, "small": 1.0}, (), "as the labels were"),
        ({"lexical": None, "small": 1.0}, (), "some labels had no lexical score either"),
        ({"lexical": 1.0, "small": None}, ("small",), "every label had the small judge's score"),
        ({"lexical": 1.0, "small": 1.0, "extra": 0.2}, (), "a score that the certificate does not use"),
    ],
)
def test_what_no_label_was_like_is_left_to_the_top(
    certificate: Certificate, asked: dict[str, float | None], named: tuple[str, ...], why: str
):
    """A score that all labels had and is missing now is data that nothing was certified about."""
    decider = CertifiedDecider(certificate, PRINTS)

    assert decider.unlike_labels(KINDS[0], asked, ahead=()) == named, why
    assert not named or decider.decide(KINDS[0], {**asked, "lexical": 0.5}, ahead=()) is None, why


def test_a_score_that_no_label_had_decides_nothing():
    """Where labels were scored without it, nobody knows what it is worth."""
    bare = [replace(label, scores={**label.scores, "lexical": None}) for label in world(1000, 1)]
    decider = CertifiedDecider(made(bare), PRINTS)

    assert decider.decide(KINDS[0], {"lexical": None, "small": 1.0}, ahead=()) is not None
    assert decider.decide(KINDS[0], {"lexical": 1.0, "small": 1.0}, ahead=()) is None


def raised(data: dict[str, Any]) -> None:
    data["grants"][0]["tau"] *= 2


def weighed_otherwise(data: dict[str, Any]) -> None:
    data["design"]["weights"][0]["kinds"][KINDS[0]][0] += 1


def promised_more(data: dict[str, Any]) -> None:
    data["options"]["alpha"] = 0.01


def promised_more_at_the_top(data: dict[str, Any]) -> None:
    data["alpha"] = 0.01


def without_presence(data: dict[str, Any]) -> None:
    del data["presence"]


def without_seal(data: dict[str, Any]) -> None:
    del data["seal"]


@pytest.mark.parametrize(
    "change",
    [raised, weighed_otherwise, promised_more, promised_more_at_the_top, without_presence, without_seal],
)
def test_a_certificate_that_was_changed_decides_nothing(
    certificate: Certificate, tmp_path: Path, change: Callable[[dict[str, Any]], None]
):
    """A threshold, weight or promise that somebody wrote into the file was not tested, and the seal says so."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))

    changed = load_certificate(path)
    decider = CertifiedDecider(changed, PRINTS)

    assert "<=" not in certified_line(changed, changed.grants[0])
    assert [line.split(":")[0] for line in decider.void] == ["seal"]
    assert [decider.decide(one.kind, one.scores, ahead=()) for one in world(50, 3)] == [None] * 50


def test_another_layout_is_no_change(certificate: Certificate, tmp_path: Path):
    """Whoever keeps the file in one line, with its fields in another order, keeps the certificate."""
    path = tmp_path / "certificate.json"
    save_certificate(certificate, path)
    path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items()))))

    assert load_certificate(path) == certificate


def test_a_certificate_that_does_not_say_which_scores_its_labels_had_is_read(certificate: Certificate):
    """Nothing is unlike labels of which nothing is known."""
    decider = CertifiedDecider(replace(certificate, presence={}), PRINTS)

    assert decider.unlike_labels(KINDS[0], {"lexical": 1.0}, ahead=()) == ()


def test_steps_rise_and_stop_at_the_first_failure(certificate: Certificate):
    """Steps are tested strict to loose; all but perhaps the last passed, and the certified one is the last that did."""
    [grant] = certificate.grants
    taus = [step.tau for step in grant.steps]

    assert taus == sorted(taus)
    assert all(step.p <= grant.delta for step in grant.steps[:-1])
    assert grant.step is not None
    assert grant.step.p <= grant.delta


def test_each_kind_has_its_own_promise():
    """Per kind, delta is shared out, and a kind that cannot be certified escalates alone."""
    labels = world(3000, 2)
    [*good, weak] = KINDS
    spoilt = [
        replace(label, scores={"lexical": 0.5, "small": 0.5}) if label.kind == weak else label
        for label in labels
    ]

    certificate = made(spoilt, per_kind=True)
    decider = CertifiedDecider(certificate, PRINTS)

    grants = {grant.kind: grant for grant in certificate.grants}
    assert set(grants) == set(KINDS)
    assert [grant.delta for grant in grants.values()] == pytest.approx([0.1 / 3] * 3)
    assert grants[weak].tau is None
    assert all(grants[kind].tau is not None for kind in good)
    assert decider.decide(weak, {"lexical": 1.0, "small": 1.0}, ahead=()) is None


def test_a_cap_on_false_passes_is_another_test():
    """With a stricter promise for passes, no more is certified than without, and fewer of the passes are wrong."""
    labels = world(1500, 4)

    [loose], [strict] = made(labels).grants, made(labels, alpha_pass=0.02).grants

    assert loose.step is not None
    assert strict.step is None or strict.step.n <= loose.step.n


def test_a_promise_for_every_tier_leaves_out_a_bad_one():
    """A tier whose own verdicts are too often wrong may not decide, and the others still may."""
    rng = np.random.default_rng(0)
    labels = [
        replace(label, scores={**label.scores, "noise": float(rng.random())}) for label in world(1500, 5)
    ]
    tiers = (TierSpec(name="noise", scores=("noise",), cost=0.0), *TIERS)

    certificate = calibrate(labels, tiers, Promise(tier_alpha=0.05), created="")

    [grant] = certificate.grants
    assert grant.tau is not None
    assert grant.by_tier.get("noise", 0.0) == 0.0
    assert sum(grant.by_tier.values()) > 0.3


def test_a_tier_that_decided_nothing_has_shown_nothing():
    """A promise for every tier is not made for one without a verdict among the certification labels: in a run it could decide."""
    tiers = (
        TierSpec(name="a", scores=("a",), cost=0.0),
        TierSpec(name="b", scores=("b",), cost=0.1),
        TierSpec(name="top", scores=(), cost=1.0),
    )
    weights = [TierWeights((name,), {"k": (0.0, (ScoreWeights(1.0, 0.0, 0.0, 0.0),))}) for name in ("a", "b")]
    design = Design(tiers=tiers, weights=tuple(weights), savings=(1.0, 1.0))
    labels = [
        Label(id=str(at), case=str(at), kind="k", met=True, scores={"a": 0.99, "b": 0.5}) for at in range(200)
    ]
    table, promise = Table(labels, ["a", "b"]), Promise(tier_alpha=0.05)

    alone = certify(design, path.Path((0.2,), (0,)), table, promise, delta=0.1)
    both = certify(design, path.Path((0.2,), (0, 1)), table, promise, delta=0.1)

    assert alone.tau == 0.2
    assert both.tau is None


def with_top(labels: list[Label], error: float, seed: int) -> list[Label]:
    """A top judge that is wrong so often."""
    rng = np.random.default_rng(seed)
    return [replace(label, top=label.met if rng.random() >= error else not label.met) for label in labels]


def test_a_relative_promise_needs_no_alpha():
    """Against a fallible top judge the cascade is certified to be hardly worse, at a fraction of the cost."""
    certificate = made(with_top(world(2000, 6), 0.10, 1), alpha=None, relative=0.02)

    [grant] = certificate.grants
    assert grant.tau is not None
    assert grant.cost < 0.6
    assert "below that of sending everything to the top judge" in next(certificate.in_words())


def test_a_relative_promise_without_a_judge_is_not_made():
    """Where no label has the judge's verdict there is nothing to compare with."""
    assert not made(world(1000, 6), alpha=None, relative=0.02).is_certified


def test_the_bound_for_audits_covers_what_was_seen():
    """Early verdicts against the top judge: the upper bound lies above the share that was seen."""
    [grant] = made(with_top(world(1500, 7), 0.03, 2)).grants

    assert grant.early_vs_top_rate_upper is not None
    assert 0.02 < grant.early_vs_top_rate_upper < 0.15


def test_labels_of_a_case_do_not_count_one_by_one_for_audits():
    """Where judge and early checks part company case by case, the bound is wider than the same count of single cases gives."""
    labels = world(1500, 7, per_case=5)
    turned = {case for at, case in enumerate(sorted({label.case for label in labels})) if at % 40 == 0}
    judged = [replace(label, top=label.met != (label.case in turned)) for label in labels]

    [together] = made(judged).grants
    [apart] = made([replace(label, case=label.id) for label in judged]).grants

    assert together.early_vs_top_rate_upper is not None
    assert apart.early_vs_top_rate_upper is not None
    assert together.early_vs_top_rate_upper > 1.2 * apart.early_vs_top_rate_upper


def test_proxy_labels_are_never_called_human():
    """With the top judge's labels, the words say so, and audits are held against alpha."""
    certificate = made(world(1000, 8), label_source="top_judge")

    [grant] = certificate.grants
    assert "the top judge's verdict" in next(certificate.in_words())
    assert "human" not in certified_line(certificate, grant)
    assert grant.early_vs_top_rate_upper == 0.05


def test_the_transfer_to_people_adds_what_people_saw():
    """Alpha against the judge plus the bound of judge against people, both at half of delta."""
    assert transfer_bound(0.05, 0, 100, delta=0.1) == pytest.approx(0.05 + 1 - 0.05 ** (1 / 100), rel=1e-6)
    assert transfer_bound(0.5, 9, 10, delta=0.1) == 1.0


def test_people_who_disagree_more_than_alpha_are_refused():
    """Labels cannot bear out a promise that is finer than they are."""
    labels = world(400, 9)
    rated = [
        replace(label, second=(not label.met) if at % 10 == 0 else label.met)
        for at, label in enumerate(labels)
    ]

    certificate = made(rated)

    assert not certificate.is_certified
    assert certificate.refusal is not None
    assert "two people disagree about 40 of 400" in certificate.refusal
    assert next(certificate_lines(certificate)).startswith("Nothing certified: two people")


def test_a_promise_about_the_judge_asks_nobody_what_people_think_of_each_other():
    """A second person's verdict beside the judge's is no disagreement of two people, and no reason to refuse."""
    labels = [replace(label, second=not label.met) for label in world(1000, 1)]

    certificate = made(labels, label_source="top_judge")

    assert certificate.refusal is None
    assert certificate.is_certified


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([], "no label at all"),
        (world(1, 0), "one case"),
        (world(30, 0, per_case=30), "one case with many labels"),
        ([replace(one, scores={}) for one in world(300, 0)], "no score at all"),
        ([replace(one, scores={"lexical": 0.5, "small": 0.5}) for one in world(300, 0)], "constant scores"),
    ],
)
def test_what_cannot_be_certified_escalates(labels: list[Label], why: str):
    """Edges of the data end in an honest nothing."""
    assert not made(labels).is_certified, why


def test_equal_labels_are_certified_as_any():
    """Where every label is met, passing is right; the regression stays defined."""
    certificate = made([replace(one, met=True) for one in world(500, 0)])

    [grant] = certificate.grants
    assert grant.step is not None
    assert grant.step.errors == 0


def mostly_met(label: Label, at: int, **scores: float | None) -> Label:
    """A label of a world in which hardly anything is wrong, and nobody sees what."""
    return replace(label, met=at % 80 != 0, scores={**label.scores, **scores})


def test_how_often_labels_are_met_is_no_reason_for_a_verdict():
    """Passing everything would keep a promise of 5 % where 1 % is wrong, but a score that is the same for all looks at nothing."""
    constant = [mostly_met(one, at, lexical=0.7, small=0.5) for at, one in enumerate(world(1000, 1))]

    assert not made(constant).is_certified


def test_a_tier_that_has_nothing_to_look_at_decides_nothing():
    """Kinds of which a tier has no score are left to the next one, however often they are met."""
    labels = [
        mostly_met(one, at, lexical=None) if one.kind == KINDS[0] else one
        for at, one in enumerate(world(2000, 1))
    ]
    certificate = made(labels)
    decider = CertifiedDecider(certificate, PRINTS)

    assert certificate.is_certified
    assert decider.decide(KINDS[0], {"lexical": None}, ahead=["small", "top"]) is None
    levels = levels_of(certificate.design, Table(labels, ["lexical", "small"]))
    assert not np.isfinite(levels.level[0][[one.scores["lexical"] is None for one in labels]]).any()


def test_ties_are_in_or_out_together():
    """Rows of one level are decided by the same tau."""
    labels = [replace(one, scores={"lexical": 1.0, "small": None}) for one in world(100, 1)]
    table = Table(labels, ["lexical", "small"])
    design = build_design(table, TIERS, alpha=0.05)
    levels = levels_of(design, table)

    for kind in range(3):
        rows = table.kind == kind
        tau = float(levels.level[0][rows][0])
        assert set(route_at(design, levels, tau, deciding=(0,)).early[rows].tolist()) == {True}
        assert set(route_at(design, levels, tau * (1 - 1e-6), deciding=(0,)).early[rows].tolist()) == {False}


def test_weights_and_arrays_agree():
    """The pure regression and the one over arrays are the same function."""
    labels = world(200, 2)
    table = Table(labels, ["lexical", "small"])
    weights = fit_weights(table, ["lexical", "small"])

    expected = probabilities(weights, table)

    assert [weights.q(label.kind, label.scores) for label in labels] == pytest.approx(
        expected.tolist(), abs=1e-12
    )


def test_a_missing_score_is_not_a_zero():
    """None has a weight of its own."""
    weights = fit_weights(Table(world(2000, 3), ["lexical"]), ["lexical"])

    assert weights.q(KINDS[0], {"lexical": 0.0}) < 0.5 < weights.q(KINDS[0], {"lexical": None})


def test_a_kind_with_few_labels_follows_the_pool():
    """Three labels of a kind do not make rules of their own."""
    pool = [label for label in world(2000, 4) if label.kind == KINDS[0]]
    few = [replace(label, id=f"x{at}", kind="rare") for at, label in enumerate(pool[:3])]
    weights = fit_weights(Table([*pool, *few], ["lexical"]), ["lexical"])

    for score in (0.05, 0.5, 0.95):
        scores = {"lexical": score}
        assert weights.q("rare", scores) == pytest.approx(weights.q(KINDS[0], scores), abs=0.15)


@pytest.mark.parametrize("tiers", [TIERS[2:], (TIERS[0], TIERS[0], TIERS[2])])
def test_tiers_that_make_no_cascade_are_refused(tiers: tuple[TierSpec, ...]):
    """One tier, or one twice, is a fault of the set-up."""
    with pytest.raises(ConfigError, match="early tier and a top tier"):
        calibrate(world(50, 0), tiers, Promise(), created="")


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 0.0},
        {"alpha": 1.5},
        {"delta": 1.0},
        {"alpha": None},
        {"relative": -0.1},
        {"false_pass_weight": 0.5},
        {"seed": -1},
    ],
)
def test_promises_out_of_range_are_refused(options: dict[str, float | None]):
    """A promise is a share between 0 and 1, and there must be one; what is drawn for it begins at a seed from 0."""
    with pytest.raises(ConfigError):
        Promise(**options)  # type: ignore[arg-type]  # wrong on purpose


def test_a_false_pass_that_counts_more_passes_less():
    """With a weight on false passes, a doubtful pass is no pass."""
    labels = world(800, 5)
    table = Table(labels, ["lexical", "small"])

    plain, careful = (
        levels_of(build_design(table, TIERS, alpha=0.05, false_pass_weight=weight), table).passes[1].mean()
        for weight in (1.0, 5.0)
    )

    assert careful < plain


def test_the_promise_is_printed_word_for_word():
    """The sentence of the specification."""
    assert promise_in_words(Promise()) == (
        "With probability at least 0.9 over the draw of the calibration labels: of the early verdicts on data like the "
        "calibration data, at most a share 0.05 differs from the label."
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"alpha": 0.0204, "delta": 0.125}, "<= 2.1% (confidence 87.5%,"),
        ({"alpha": 0.0501}, "<= 5.1% (confidence 90%,"),
        ({"alpha": 0.07, "delta": 0.05}, "<= 7.0% (confidence 95%,"),
        ({"alpha": 0.05, "per_kind": True}, "<= 5.0% (confidence 96.6%,"),
        (
            {"alpha": None, "relative": 0.0211},
            "at most 2.2% below the top judge on everything (confidence 90%,",
        ),
    ],
)
def test_no_line_promises_more_than_was_tested(options: dict[str, Any], said: str):
    """Shares are rounded up and confidences down: 96.67 % is not 97 %."""
    certificate = made(with_top(world(1500, 6), 0.1, 1), **options)

    assert said in certified_line(certificate, certificate.grants[0])


def test_labels_that_are_right_but_few_are_not_called_wrong(certificate: Certificate):
    """Where hardly an early verdict was wrong and the first step failed all the same, more labels help, and not another look at them."""
    [grant] = certificate.grants
    step = replace(grant.steps[0], n=30, errors=0, p=0.2)
    few = replace(certificate, grants=(replace(grant, tau=None, steps=(step,)),))

    lines = [*certificate_lines(few)]

    assert any("0 of 30 early verdicts were wrong, and so few labels do not show" in line for line in lines)
    assert any(line.startswith("  next: label more, of other cases") for line in lines)


def test_clusters_are_said_to_be_averaged_per_case():
    """With several labels a case the promise is about the average of cases, and says so."""
    certificate = made(world(1500, 6, per_case=3))

    assert certificate.is_certified
    assert "averaged per case" in next(certificate.in_words())


def test_a_forecast_rises_with_labels_and_sees_no_certification_label():
    """More labels decide more; what the certification labels say is not looked at."""
    labels = world(400, 7)

    found = forecast(labels, TIERS, Promise(), [200, 400, 1600])

    shares = [one.share for one in found]
    assert shares == sorted(shares)
    assert shares[-1] > 0.3
    assert any("more" in line for line in forecast_lines(found))


def test_lines_for_people_name_labels_cases_and_confidence(certificate: Certificate):
    """The one line of reports, and the picture, say what the promise rests on."""
    [grant] = certificate.grants

    assert certified_line(certificate, grant) == (
        f"certified: early verdicts differ from human in <= 5.0% (confidence 90%, {grant.n} labels, {grant.cases} cases)"
    )
    assert any("expected cost" in line for line in certificate_lines(certificate))
    picture = path_as_svg(grant, 0.05)
    assert picture.count("<circle") == len(grant.steps)
    assert "certified" in picture
