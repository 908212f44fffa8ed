"""Made-up worlds for the tests of calibration: the true error of a cascade is known in them.

A shared difficulty ties the tiers together, kinds differ in how good their scores are, and scores have atoms at 0 and 1,
as those of real checks do.
"""

from __future__ import annotations

import numpy as np

from tiered_eval.calibration.labels import Label, TierSpec

TIERS = (
    TierSpec(name="free", scores=("lexical",), cost=0.0),
    TierSpec(name="small", scores=("small",), cost=0.1),
    TierSpec(name="top", scores=(), cost=1.0),
)
KINDS = ("must-contain", "equivalent", "requirement")
_SHARPNESS = (2.2, 1.6, 1.0)


def world(
    n: int,
    seed: int,
    *,
    per_case: int = 1,
    is_useless: bool = False,
    random_labels: bool = False,
    trap_share: float = 0.0,
    prefix: str = "",
) -> list[Label]:
    """``n`` labels. ``random_labels`` loses all connection of label and scores; in a trap case all early scores say met, and it is not."""
    rng = np.random.default_rng(seed)
    cases = -(-n // per_case)
    kind = rng.integers(0, len(KINDS), n)
    case = np.repeat(np.arange(cases), per_case)[:n]
    met = rng.random(n) < 0.6
    is_trap = (rng.random(cases) < trap_share)[case]
    met &= ~is_trap
    difficulty = rng.normal(size=n)
    sign = np.where(met | is_trap, 1.0, -1.0)
    sharp = np.array(_SHARPNESS)[kind]
    lexical = _score(rng, sign * sharp * 1.2 * (not is_useless) - np.abs(difficulty) * sign, 0.25)
    small = _score(rng, sign * sharp * 2.4 * (not is_useless) - np.abs(difficulty) * sign * 1.2, 0.35)
    lexical[is_trap], small[is_trap] = 1.0, 1.0
    lexical[rng.random(n) < 0.05] = np.nan
    shown = rng.random(n) < 0.5 if random_labels else met
    return [
        Label(
            id=f"{prefix}{at}",
            case=f"{prefix}{case[at]}",
            kind=KINDS[kind[at]],
            met=bool(shown[at]),
            scores={
                "lexical": None if np.isnan(lexical[at]) else float(lexical[at]),
                "small": float(small[at]),
            },
        )
        for at in range(n)
    ]


def _score(rng: np.random.Generator, middle: np.ndarray, atoms: float) -> np.ndarray:
    """A graded score around a logit; some of them are pushed to exactly 0 or 1."""
    score = 1.0 / (1.0 + np.exp(-(middle + rng.normal(size=len(middle)))))
    is_atom = rng.random(len(middle)) < atoms
    return np.where(is_atom, np.round(score), np.round(score, 4))
