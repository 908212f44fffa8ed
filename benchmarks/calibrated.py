"""``python -m benchmarks agreement --calibrated``: does a certificate keep its promise on people's labels it never saw?

Set-up: each labelled source is split by case, 200 times. Three quarters of the cases, at most 12,000 labels, are calibrated on
(40 % of them for the design, as users' labels would be); the others are measured. A case is a question, document, article or
receipt, with all that was labelled about it. Free scores are made by the engine, those of judges were recorded; prices of
judges are shares of the top one's, from published prices of mid 2024 (open models hosted) and 2026.
``mixed`` is every source with text, its kinds calibrated together, free checks only.

``error`` is the share of wrong early verdicts in the measured part, ``held_share`` the share of splits in which that was
at most alpha (with a relative promise: in which agreement was at most so much below the top judge's). Figures are medians over
splits, abstaining ones included (what abstains, holds; the share that abstained stands beside it). ``calibrate_s`` is the time of
one calibration, 12,000 labels for ``mixed``. A held share below 90 % would change our mind about the method.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.agreement import KINDS, cases_of
from tiered_eval.calibration.betting import case_means
from tiered_eval.calibration.calibrate import calibrate
from tiered_eval.calibration.certificate import Certificate
from tiered_eval.calibration.design import levels_of, route_at
from tiered_eval.calibration.features import FEATURES, FreeScores
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.promise import Promise
from tiered_eval.calibration.scoring import Table
from tiered_eval.text.subject import Subject

CALIBRATED_SHARE = 0.75
MOST_LABELS = 12_000
FREE = TierSpec(name="free", scores=FEATURES, cost=0.0)
PEOPLE = TierSpec(name="people", scores=(), cost=1.0)
STRICT = Promise(alpha=0.05, delta=0.10)
RELATIVE = Promise(alpha=None, relative=0.02, delta=0.10)


@dataclass(frozen=True)
class Setting:
    """What one source is calibrated with, and what must come out."""

    promise: Promise = STRICT
    tiers: tuple[TierSpec, ...] = (FREE, PEOPLE)
    top: str | None = None
    """The judge that takes what is not decided early; None: people do."""
    bars: tuple[tuple[str, str, float], ...] = ()
    """(figure, "at least" or "at most", value)."""


def judges(top: str, *tiers: tuple[str, float], free: bool = False) -> tuple[TierSpec, ...]:
    """Tiers of recorded judges, several names joined by a space make one tier."""
    early = [TierSpec(name=names, scores=tuple(names.split()), cost=cost) for names, cost in tiers]
    return (*((FREE,) if free else ()), *early, TierSpec(name=top, scores=(), cost=1.0))


HELD = ("held_share", "at least", 0.90)
ABSTAINS = ("decided_share", "at most", 0.0)
SETTINGS: dict[str, Setting] = {
    "bln600_ocr": Setting(bars=(("decided_share", "at least", 0.90), HELD)),
    "cannot_negation": Setting(),
    "evouna_nq": Setting(),
    "evouna_tq": Setting(),
    "factcheck_gpt": Setting(),
    "faithbench": Setting(
        tiers=judges(
            "people",
            ("hhem-1 hhem-2.1 hhem-2.1-english true-nli trueteacher", 0.01),
            ("gpt-3.5-turbo", 0.05),
            ("gpt-4o", 0.25),
            ("gpt-4-turbo", 0.5),
        ),
        bars=(ABSTAINS,),
    ),
    "financebench": Setting(),
    "judging_judges": Setting(
        tiers=judges(
            "gpt-4-turbo",
            ("lexical-exact-match lexical-contains", 0.0),
            ("llama3-8b mistral-7b judgelm-7b llama2-13b", 0.05),
            ("llama3-70b llama2-70b", 0.13),
        ),
        top="gpt-4-turbo",
        bars=(("cost_ratio", "at most", 0.56), ("agreement", "at least judge", 0.0), HELD),
    ),
    "openqa_nq301": Setting(
        tiers=judges("gpt-4", ("bem", 0.005), ("text-davinci-003", 0.5), free=True), top="gpt-4"
    ),
    "rb2_repeats": Setting(
        promise=RELATIVE,
        tiers=judges(
            "claude-sonnet-4.6", ("gpt-5.4-nano", 0.07), ("gpt-5.4-mini", 0.27), ("claude-haiku-4.5", 0.33)
        ),
        top="claude-sonnet-4.6",
        bars=(("cost_ratio", "at most", 0.28), HELD),
    ),
    "realsumm": Setting(),
    "sick_negation": Setting(bars=(("decided_share", "at least", 0.82), HELD)),
    "sroie_ocr": Setting(),
    "xstest": Setting(promise=RELATIVE, tiers=judges("gpt-4", ("lexical-refusal-match", 0.0)), top="gpt-4"),
}
MIXED_BARS = (
    ("decided_share", "at least", 0.62),
    ("error", "at most", 0.05),
    HELD,
    ("calibrate_s", "at most", 20.0),
)


def measure_calibrated(data: Path, sources: Sequence[str] | None, splits: int) -> dict[str, Any]:
    """The figures of every source, and of all with text together."""
    files = [path for path in sorted(data.glob("*.jsonl")) if not sources or path.stem in sources]
    if not files:
        return {"calibrated": True, "sources": [], "skipped": f"no labelled data in {data}"}
    free = FreeScores()
    mixed: list[Label] = []
    lines = []
    for path in files:
        rows = [json.loads(text) for text in path.read_text(encoding="utf-8").split("\n") if text]
        setting = SETTINGS.get(path.stem, Setting())
        labels = list(labels_of(rows, free, setting.top))
        mixed += [
            replace(label, top=None)
            for label, row in zip(labels, rows, strict=True)
            if row["response"] is not None
        ]
        if setting.top is not None:
            labels = [label for label in labels if label.top is not None]
        lines.append({"source": path.stem, **figures(labels, setting, splits)})
    result: dict[str, Any] = {"calibrated": True, "splits": splits, "sources": lines}
    if sources is None:
        result["mixed"] = figures(mixed, Setting(bars=MIXED_BARS), splits)
    return result


def labels_of(rows: Iterable[dict[str, Any]], free: FreeScores, top: str | None) -> Iterable[Label]:
    """Rows with the free scores of the engine and the recorded scores of judges."""
    for row in rows:
        scores: dict[str, float | None] = {}
        if row["response"] is not None and row["kind"] in KINDS:
            [case] = cases_of([row])
            scores.update(free.of(case.expectations[0], Subject(case)))
        scores.update((name, float(score)) for name, score in row["judges"].items() if score is not None)
        verdict = row["judges"].get(top)
        yield Label(
            id=row["id"],
            case=case_of(row),
            kind=row["kind"],
            met=row["human"],
            scores=scores,
            top=None if verdict is None else float(verdict) >= 0.5,
            pair=json.dumps([row["response"], row["expected"]]) if row["response"] is not None else "",
        )


def case_of(row: dict[str, Any]) -> str:
    """What labels of one case share: the question, else the document, else the response."""
    meta = row["meta"]
    named = row.get("question") or meta.get("doc") or meta.get("article") or meta.get("receipt")
    return str(named or row["response"] or row["id"].rsplit("-", 1)[0])


def figures(labels: Sequence[Label], setting: Setting, splits: int) -> dict[str, Any]:
    """Medians over the splits."""
    found = [one_split(labels, setting, seed) for seed in range(splits)]
    decided = [one for one in found if one["decided_share"] > 0]

    def middle(name: str, of: Sequence[dict[str, Any]]) -> float | None:
        known = [one[name] for one in of if one[name] is not None]
        return round(median(known), 4) if known else None

    result = {
        "n": len(labels),
        "cases": len({label.case for label in labels}),
        "promise": {"alpha": setting.promise.alpha, "relative": setting.promise.relative},
        "decided_share": middle("decided_share", found),
        "error": middle("error", decided),
        "error_per_case": middle("error_per_case", decided),
        "held_share": round(sum(one["held"] for one in found) / len(found), 4),
        "held_per_case_share": round(sum(one["held_per_case"] for one in found) / len(found), 4),
        "cost_ratio": middle("cost_ratio", found),
        "agreement": middle("agreement", found),
        "judge_agreement": middle("judge_agreement", found),
        "abstained_share": round(1 - len(decided) / len(found), 4),
        "calibrate_s": middle("calibrate_s", found),
    }
    result["must_reach"] = [[*bar, is_reached(result, bar)] for bar in setting.bars]
    return result


def one_split(labels: Sequence[Label], setting: Setting, seed: int) -> dict[str, Any]:
    """Calibrate on one part, measure on the other."""
    import numpy as np

    rng = np.random.default_rng(seed)
    cases = sorted({label.case for label in labels})
    order = dict(zip(cases, rng.permutation(len(cases)).tolist(), strict=True))
    ranked = sorted(labels, key=lambda label: order[label.case])
    size = min(MOST_LABELS, int(CALIBRATED_SHARE * len(ranked)))
    while size < len(ranked) and ranked[size].case == ranked[size - 1].case:
        size += 1
    promise = Promise(alpha=setting.promise.alpha, relative=setting.promise.relative, seed=seed)
    start = perf_counter()
    certificate = calibrate(ranked[:size], setting.tiers, promise, created="")
    took_s = perf_counter() - start
    return {"calibrate_s": took_s, **measured(certificate, ranked[size:])}


def measured(certificate: Certificate, labels: Sequence[Label]) -> dict[str, Any]:
    """How the certified cascade does on labels that it never saw."""
    import numpy as np

    design, promise = certificate.design, certificate.promise
    table = Table(labels, design.weights[-1].names)
    top_right = 1.0 - np.nan_to_num(table.top_wrong)
    has_judge = not bool(np.isnan(table.top_wrong).all())
    judge = float(top_right.mean()) if has_judge else None
    grant = certificate.grants[0]
    if grant.tau is None:
        return {
            "decided_share": 0.0,
            "error": None,
            "error_per_case": None,
            "held": True,
            "held_per_case": True,
            "cost_ratio": 1.0,
            "agreement": judge,
            "judge_agreement": judge,
        }
    deciding = [at for at, tier in enumerate(design.early) if tier.name in grant.deciding]
    decided = route_at(design, levels_of(design, table), grant.tau, deciding=deciding)
    early = decided.early
    right = np.where(early, decided.passes == table.met, top_right)
    wrong = 1.0 - right[early]
    error = float(wrong.mean()) if early.any() else 0.0
    error_per_case = float(case_means(wrong, table.case[early]).mean()) if early.any() else 0.0
    if promise.relative is not None:
        held = judge is not None and judge - float(right.mean()) <= promise.relative
        held_per_case = held
    else:
        assert promise.alpha is not None
        held, held_per_case = error <= promise.alpha, error_per_case <= promise.alpha
    return {
        "decided_share": float(early.mean()),
        "error": error,
        "error_per_case": error_per_case,
        "held": held,
        "held_per_case": held_per_case,
        "cost_ratio": float(decided.cost.mean()) / design.tiers[-1].cost,
        "agreement": float(right.mean()),
        "judge_agreement": judge,
    }


def is_reached(result: dict[str, Any], bar: tuple[str, str, float]) -> bool:
    name, how, value = bar
    found = result[name]
    if found is None:
        return False
    if how == "at least judge":
        return bool(found >= result["judge_agreement"])
    return bool(found >= value if how == "at least" else found <= value)


def show_calibrated(result: dict[str, Any]) -> str:
    """The table, and what must be reached."""
    if "skipped" in result:
        return f"skipped: {result['skipped']}"
    head = (
        f"{'source':<16} {'n':>6} {'cases':>6} {'promise':<13} {'decided':>8} {'error':>7} {'a case':>7} "
        f"{'held':>6} {'a case':>7} {'cost':>6} {'agrees':>7} {'judge':>7} {'abstained':>9}"
    )
    every = [*result["sources"], *([{"source": "mixed", **result["mixed"]}] if "mixed" in result else [])]
    reached = [
        f"{one['source']:<16} {name} {how} {value if how != 'at least judge' else one['judge_agreement']}: "
        f"{one[name]}{'' if is_met else '  NOT REACHED'}"
        for one in every
        for name, how, value, is_met in one["must_reach"]
    ]
    return "\n".join(
        [head, *map(shown_line, every), "", f"Must reach (medians over {result['splits']} splits):", *reached]
    )


def shown_line(one: dict[str, Any]) -> str:
    alpha, relative = one["promise"]["alpha"], one["promise"]["relative"]
    promise = f"alpha {alpha:g}" if alpha is not None else f"relative {relative:g}"
    shares = [
        one[name]
        for name in ("decided_share", "error", "error_per_case", "held_share", "held_per_case_share")
    ]
    decided, error, per_case, held, held_per_case = map(percent, shares)
    return (
        f"{one['source']:<16} {one['n']:>6} {one['cases']:>6} {promise:<13} {decided:>8} {error:>7} {per_case:>7} "
        f"{held:>6} {held_per_case:>7} {one['cost_ratio']:>6.2f} {percent(one['agreement']):>7} "
        f"{percent(one['judge_agreement']):>7} {percent(one['abstained_share']):>9}"
    )


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
