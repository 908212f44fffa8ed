"""From agreement with the top judge to agreement with people, where a few expectations have both verdicts.

The one idea: an early verdict that differs from a person differs from the judge, or the judge differs from the person. The
first is certified; the second is counted among early verdicts that people have labelled, and bounded as any count is.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from tiered_eval.calibration.calibrate import transfer_bound
from tiered_eval.calibration.certificate import Certificate
from tiered_eval.calibration.decider import CertifiedDecider
from tiered_eval.calibration.labels import Label
from tiered_eval.calibration.promise import at_least, at_most

__all__ = ["transfer_line"]


def transfer_line(certificate: Certificate, labels: Iterable[Label]) -> str | None:
    """How often early verdicts may differ from people; None where nothing is certified, or nobody labelled any of them.

    Args:
        certificate: of the top judge's labels, certified at its delta; the same again is spent here.
        labels: with the verdicts of people (``met``) and of the top judge. One a case is counted, as those of a case
            are not independent.
    """
    promise = certificate.promise
    if promise.alpha is None or promise.delta >= 0.5 or not certificate.is_certified:
        return None
    decider = CertifiedDecider(certificate, certificate.fingerprints)
    by_case: dict[str, Label] = {}
    for label in sorted(labels, key=lambda label: sha256(label.id.encode("utf-8", "surrogatepass")).digest()):
        is_labelled = label.met is not None and label.top is not None
        if is_labelled and decider.decide(label.kind, label.scores, ahead=()) is not None:
            by_case.setdefault(label.case, label)
    people = len(by_case)
    if not people:
        return None
    errors = sum(label.met != label.top for label in by_case.values())
    bound = transfer_bound(promise.alpha, errors, people, delta=2 * promise.delta)
    return (
        f"against people: early verdicts differ from them in <= {at_most(bound)} (confidence {at_least(1 - 2 * promise.delta)}; "
        f"the top judge differs from people in {errors} of {people} early verdicts that both have judged, one a case)"
    )
