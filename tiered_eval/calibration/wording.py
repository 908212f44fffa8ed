"""What a calibration says to people, in plain lines.

The one idea: the promise in its exact words, what it rests on, what it saves, and the next step; never a figure that the
test did not bear out. Used by the command line; the reports print the first line of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiered_eval.calibration.calibrate import Forecast
from tiered_eval.calibration.certificate import ANY_KIND, Certificate, Grant
from tiered_eval.calibration.certify import TestedStep
from tiered_eval.calibration.promise import NOT_PROMISED, Promise, at_least, at_most
from tiered_eval.text.plurals import plural

__all__ = ["certificate_lines", "certified_line", "forecast_lines"]

WORTH_ASKING = 0.02
"""More labels are recommended where they are expected to decide so much more."""
_ENOUGH = 250
"""Labels from which on a forecast can tell scores that say little from labels that are few."""
_TOO_FEW = "too few labels to say what more would bring: label 250, or 500 where no shipped design knows their kinds and scores"


def certified_line(certificate: Certificate, grant: Grant) -> str:
    """One line for reports: what is certified, with which confidence, by how many labels."""
    promise = certificate.promise
    scope = "" if grant.kind == ANY_KIND else f"{grant.kind}: "
    if not certificate.is_as_made:
        return f"{scope}nothing certified: the file was changed after it was made"
    who = "human" if promise.label_source == "human" else "top judge"
    rests_on = (
        f"confidence {at_least(1 - grant.delta)}, {plural(grant.n, 'label')}, {plural(grant.cases, 'case')}"
    )
    if certificate.judge_name is not None:
        rests_on += f", top judge {certificate.judge_name}"
    if grant.tau is None:
        return f"{scope}nothing certified ({rests_on}): everything escalates"
    if promise.alpha is None:
        return f"{scope}certified: at most {at_most(promise.relative or 0)} below the top judge on everything ({rests_on})"
    return f"{scope}certified: early verdicts differ from {who} in <= {at_most(promise.alpha)} ({rests_on})"


def certificate_lines(certificate: Certificate) -> Iterator[str]:
    """The promise, what it rests on, and what it saves."""
    if certificate.refusal is not None:
        yield f"Nothing certified: {certificate.refusal}."
        return
    yield from certificate.in_words()
    yield NOT_PROMISED
    yield ""
    for grant in certificate.grants:
        yield certified_line(certificate, grant)
        if grant.tau is not None and grant.step is not None:
            tiers = ", ".join(f"{name} {share:.0%}" for name, share in grant.by_tier.items())
            yield f"  decided early: {grant.step.n / grant.n:.0%} of the labels ({tiers}), {grant.step.errors} of them wrong"
            yield f"  expected cost: {grant.cost:.0%} of sending everything to the top tier, a saving of {1 - grant.cost:.0%}"
        elif not grant.steps:
            yield "  no threshold had a chance with so few labels, or with scores that say so little"
            yield "  next: label more, as far as the forecast says that it helps, or promise less with a larger alpha"
        else:
            yield from _first_failure(grant.steps[0], certificate.promise)
    design = (
        "a shipped design" if certificate.design_source not in ("human", "top_judge") else "labels of its own"
    )
    is_by_judge = certificate.design_source == "human" and certificate.promise.label_source == "top_judge"
    source = "top judge" if is_by_judge else certificate.design_source
    yield f"design: {design} ({source}, {plural(certificate.n_design, 'label')})"


def _first_failure(step: TestedStep, promise: Promise) -> Iterator[str]:
    """Why not even the strictest threshold passed: errors, or labels that are too few to show that there are hardly any."""
    failed = f"  the first threshold failed: {step.errors} of {step.n} early verdicts were wrong"
    if promise.alpha is not None and step.errors <= promise.alpha * step.n:
        yield f"{failed}, and so few labels do not show that errors are as rare as promised"
        yield "  next: label more, of other cases, or promise less with a larger alpha"
    else:
        yield failed
        yield "  next: look whether the labels are right; if they are, promise less with a larger alpha, or let the judge decide"


def forecast_lines(found: Sequence[Forecast]) -> Iterator[str]:
    """What these labels, and more of them, can be expected to bring; the first forecast is of what is there."""
    if not found:
        yield _TOO_FEW
        return
    now, *more = found
    yield f"expected of {plural(now.labels, 'label')}: {_expected(now)}"
    shown = now
    for one in more:
        if one.share >= shown.share + WORTH_ASKING:
            yield f"with {one.labels - now.labels:,} more: {_expected(one)}"
            shown = one
    if shown is now:
        yield (
            _TOO_FEW
            if now.labels < _ENOUGH
            else "more labels would hardly decide more: the scores are the limit"
        )


def _expected(one: Forecast) -> str:
    if one.share <= 0.0:
        return f"nothing certified (chance of any: {one.power:.0%})"
    return f"about {one.share:.0%} decided early, at {one.cost:.0%} of the cost"
