"""What a calibration found, as a file that a run can apply and a person can check.

The one idea: a certificate holds all that is needed to decide early (weights, savings, ``tau``), all that shows that
it may (the tests, with their counts), and the fingerprints of whatever made the scores. Where one of these differs
at run time, the certificate says nothing any more.

Written by :mod:`tiered_eval.calibration.calibrate`, applied by :mod:`tiered_eval.calibration.decider`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tiered_eval.calibration.certify import TestedStep
from tiered_eval.calibration.design import Design
from tiered_eval.calibration.labels import TierSpec
from tiered_eval.calibration.promise import Promise, promise_in_words
from tiered_eval.calibration.scoring import ScoreWeights, TierWeights
from tiered_eval.errors import ConfigError

__all__ = [
    "ANY_KIND",
    "VERSION",
    "Certificate",
    "Grant",
    "Presence",
    "design_as_json",
    "design_from_json",
    "load_certificate",
    "save_certificate",
]

VERSION = 1
ANY_KIND = "*"
SEAL = "seal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One promise that was tested: for all kinds together, or for one."""

    kind: str
    """:data:`ANY_KIND` for all kinds together."""
    delta: float
    tau: float | None
    """The loosest threshold that passed; None: nothing is certified and everything escalates."""
    deciding: tuple[str, ...]
    """The early tiers that may decide."""
    steps: tuple[TestedStep, ...]
    n: int
    """Certification labels."""
    cases: int
    is_clustered: bool
    by_tier: Mapping[str, float]
    """Share of the certification labels that each early tier decides at ``tau``."""
    cost: float
    """At ``tau``, over that of sending everything to the top tier."""
    early_vs_top_rate_upper: float | None
    """Upper bound on how often an early verdict differs from the top tier's; what audits are held against."""

    @property
    def step(self) -> TestedStep | None:
        """The step that was certified."""
        return next((step for step in reversed(self.steps) if step.tau == self.tau), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """Which scores the certification labels of a kind had. What differs is data that no label tells anything about."""

    always: tuple[str, ...]
    """Names that every one of them had."""
    never: tuple[str, ...]
    """Names that none of them had, such as those that rest on a question where rows had none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A design, what was promised about it, and what the labels said."""

    promise: Promise
    design: Design
    design_source: str
    """``human``, ``top_judge``, or the name of a shipped design."""
    grants: tuple[Grant, ...]
    n_design: int
    n_cert: int
    n_cases: int
    """Cases among the certification labels."""
    kind_mix: Mapping[str, float]
    """Share of each kind among the certification labels."""
    fingerprints: Mapping[str, str]
    """Tier to whatever made its scores: versions, model, prompt, embedder."""
    created: str
    """Time of calibration, ISO 8601."""
    refusal: str | None = None
    """Why nothing was tested at all."""
    q_mix: tuple[float, ...] = ()
    """How the first early tier's probabilities are spread over the certification labels, in equal steps from 0 to 1."""
    presence: Mapping[str, Presence] = field(default_factory=dict)
    """By kind."""
    judged_by: str | None = None
    """The judge that the promise is about: the one that was asked, model and prompts, or the name of one on record. None where
    the promise is about people alone, and in certificates of the first releases, which did not say."""
    is_as_made: bool = True
    """Does its file say what was written, by its seal? A promise that somebody changed was tested by nobody."""

    @property
    def name(self) -> str:
        """What its audits are kept under: the day it was made, and a digest of all that it says."""
        text = json.dumps(_as_json(self), sort_keys=True)
        return f"{self.created[:10]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def judge_name(self) -> str | None:
        """The judge that the promise is about, by name."""
        return None if self.judged_by is None else self.judged_by.split(", judge prompts ")[0]

    @property
    def is_certified(self) -> bool:
        """May any early tier decide anything?"""
        return any(grant.tau is not None for grant in self.grants)

    def grant_for(self, kind: str) -> Grant | None:
        """The promise that covers a kind, if certification labels were of it; that the design knows it promises nothing."""
        if kind not in self.kind_mix or kind not in self.design.kinds:
            return None
        return next((grant for grant in self.grants if grant.kind in (ANY_KIND, kind)), None)

    def in_words(self) -> Iterator[str]:
        """The promises that were kept, and for the others that they were not; one sentence each."""
        for grant in self.grants:
            scope = "" if grant.kind == ANY_KIND else f" ({grant.kind})"
            if grant.tau is None:
                yield f"Nothing certified{scope}: everything escalates to the top tier."
            else:
                words = promise_in_words(self.promise, delta=grant.delta, is_clustered=grant.is_clustered)
                yield words + scope


def save_certificate(certificate: Certificate, path: Path) -> None:
    """Write it as JSON; the same certificate is the same bytes.

    Raises:
        ConfigError: the file cannot be written.
    """
    data = _as_json(certificate) | _at_a_glance(certificate)
    text = json.dumps(data | {SEAL: _seal(data)}, indent=1, sort_keys=True) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the certificate {path}: {error.strerror or error}") from error


def load_certificate(path: Path) -> Certificate:
    """Read one. Where it was changed after it was made, :attr:`Certificate.is_as_made` is False and it decides nothing.

    Raises:
        ConfigError: the file cannot be read, or is no certificate of this version.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["certificate"] != VERSION:
            raise ConfigError(
                f"{path}: a certificate of version {data['certificate']}, this is {VERSION}; recalibrate"
            )
        return replace(_certificate_from(data), is_as_made=data.get(SEAL) == _seal(data))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the certificate {path} cannot be read: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is not a certificate: {type(error).__name__}: {error}") from error


def _seal(data: Mapping[str, Any]) -> str:
    """A digest of all that a file says. It keeps nobody from forging one, but no change goes unnoticed."""
    text = json.dumps({name: value for name, value in data.items() if name != SEAL}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _as_json(certificate: Certificate) -> dict[str, Any]:
    promise = certificate.promise
    [first, *_] = certificate.grants or (None,)
    return {
        "certificate": VERSION,
        "alpha": promise.alpha,
        "delta": promise.delta,
        "options": asdict(promise),
        "label_source": promise.label_source,
        "promise": list(certificate.in_words()),
        "design": design_as_json(certificate.design),
        "design_source": certificate.design_source,
        "grants": [asdict(grant) for grant in certificate.grants],
        "tau_hat": first.tau if first is not None else None,
        "n_design": certificate.n_design,
        "n_cert": certificate.n_cert,
        "n_cases": certificate.n_cases,
        "kind_mix": dict(certificate.kind_mix),
        "q_mix": list(certificate.q_mix),
        "judged_by": certificate.judged_by,
        "presence": {kind: asdict(presence) for kind, presence in certificate.presence.items()},
        "fingerprints": dict(certificate.fingerprints),
        "seed": promise.seed,
        "created": certificate.created,
        "refusal": certificate.refusal,
    }


def _at_a_glance(certificate: Certificate) -> dict[str, Any]:
    """What the first grant and the design say, once more at the top of the file, for whoever reads it; not read back."""
    [first, *_] = certificate.grants or (None,)
    return {
        "path": [[step.tau, step.n, step.errors, step.p] for step in first.steps]
        if first is not None
        else [],
        "tiers": [tier.name for tier in certificate.design.tiers],
        "savings": list(certificate.design.savings),
        "early_vs_top_rate_upper": first.early_vs_top_rate_upper if first is not None else None,
    }


def _certificate_from(data: Mapping[str, Any]) -> Certificate:
    return Certificate(
        promise=Promise(**data["options"]),
        design=design_from_json(data["design"]),
        design_source=data["design_source"],
        q_mix=tuple(data.get("q_mix", ())),  # certificates of the first releases have none, nor the next
        judged_by=data.get("judged_by"),
        presence={
            kind: Presence(always=tuple(one["always"]), never=tuple(one["never"]))
            for kind, one in data.get("presence", {}).items()
        },
        grants=tuple(
            Grant(
                **{
                    **grant,
                    "deciding": tuple(grant["deciding"]),
                    "steps": tuple(TestedStep(**step) for step in grant["steps"]),
                }
            )
            for grant in data["grants"]
        ),
        **{
            name: data[name]
            for name in ("n_design", "n_cert", "n_cases", "kind_mix", "fingerprints", "created", "refusal")
        },
    )


def design_as_json(design: Design) -> dict[str, Any]:
    """A design as plain values; weights are lists of slope, one, zero and missing."""
    return {
        "tiers": [
            {"name": tier.name, "scores": list(tier.scores), "cost": tier.cost} for tier in design.tiers
        ],
        "savings": list(design.savings),
        "false_pass_weight": design.false_pass_weight,
        "weights": [
            {
                "scores": list(weights.names),
                "kinds": {
                    kind: [intercept, *([one.slope, one.one, one.zero, one.missing] for one in every)]
                    for kind, (intercept, every) in weights.by_kind.items()
                },
            }
            for weights in design.weights
        ],
    }


def design_from_json(data: Mapping[str, Any]) -> Design:
    """The inverse of :func:`design_as_json`."""
    return Design(
        tiers=tuple(
            TierSpec(name=tier["name"], scores=tuple(tier["scores"]), cost=tier["cost"])
            for tier in data["tiers"]
        ),
        savings=tuple(data["savings"]),
        false_pass_weight=data["false_pass_weight"],
        weights=tuple(
            TierWeights(
                tuple(weights["scores"]),
                {
                    kind: (intercept, tuple(ScoreWeights(*one) for one in every))
                    for kind, (intercept, *every) in weights["kinds"].items()
                },
            )
            for weights in data["weights"]
        ),
    )
