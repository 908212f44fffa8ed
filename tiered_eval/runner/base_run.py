"""The run that another one is gated against: its results by case, and what of them still holds.

The one idea: a verdict of the base may stand in for a call only where the call would be the same: the same response, the
same input and expectations, judged by the same models with the same prompts and settings. Anything that is not known to be
the same is asked again.

Used by :mod:`tiered_eval.runner.against`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from tiered_eval.aggregate import case_result
from tiered_eval.calibration.comparison import check_results, same_embedder
from tiered_eval.calibration.pairing import is_same_claim, is_unchanged
from tiered_eval.errors import ConfigError
from tiered_eval.prompting import load_prompt
from tiered_eval.records import CaseResult, Report, Step, Suite, Verdict
from tiered_eval.records.certified import BY_CERTIFICATE
from tiered_eval.records.verdicts import ZERO_USD, OutcomeState

__all__ = ["BaseRun"]

_NO_MATTER = frozenset({"gate", "max_error_rate", "mode", "seed", "embedder"})
"""Settings that change no verdict; the embedder is compared apart, as it has no full name before it is opened."""

_TAKEN = "same response as in base"


class BaseRun:
    """A base's results, found by case. Holds where each stands, and no result.

    Raises:
        ConfigError: it cannot be read, or has a case twice.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self._is_judged_alike = False
        try:
            self._places = _places(report)
        except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
            raise ConfigError(
                f"the results of the base {report.run_id} are damaged or gone ({type(error).__name__}: {error}); "
                "name another run to compare with"
            ) from error

    def find(self, case_id: str) -> CaseResult | None:
        """What the base says of a case."""
        place = self._places.get(case_id)
        return None if place is None else self.report.results[place]

    def check_suite(self, suite: Suite) -> None:
        """Refuse a base that cannot be compared with a run of ``suite``; reads no further than it must.

        Raises:
            ConfigError: it is of another suite, or no case asks for the same.
        """
        base = self.report
        if base.suite and base.suite != suite.name:
            raise ConfigError(
                f"the base {base.run_id} is a run of the suite {base.suite!r}, and this is {suite.name!r}; "
                "name a run of this suite"
            )
        check_results(base)
        for case in suite.cases:
            if (before := self.find(case.id)) is not None:
                old = {verdict.expectation_id: verdict for verdict in before.verdicts}
                for one in case.expectations:
                    match = old.get(one.id)
                    if match is not None and is_same_claim(match, one.claim, one.expected):
                        return
        raise ConfigError(
            f"the base {base.run_id} has no case in common with this suite that asks for the same: nothing can be "
            "compared; name a run of this suite, with the same case ids"
        )

    def compare_settings(self, settings: Mapping[str, object]) -> None:
        """Note whether the base was judged as this run will be; else none of its verdicts is taken over."""
        before = self.report.settings
        names = (settings.keys() | before.keys()) - _NO_MATTER
        self._is_judged_alike = (
            bool(before)
            and all(_plain(before.get(name)) == _plain(settings.get(name)) for name in names)
            and same_embedder(before.get("embedder"), settings.get("embedder"))
        )

    def taken_over(self, before: CaseResult, seen: CaseResult) -> CaseResult | None:
        """``seen`` with the base's verdicts where it would have to ask; None where they may not stand in for all of them.

        Weights and dimensions are those of ``seen``, and so is what its free checks say.
        """
        if not self._is_judged_alike or not is_unchanged(before, seen):
            return None
        if before.asked_digest is None or before.asked_digest != seen.asked_digest:
            return None
        old = {verdict.expectation_id: verdict for verdict in before.verdicts}
        verdicts = []
        for verdict in seen.verdicts:
            if verdict.leftover == "not-needed":
                match = old.get(verdict.expectation_id)
                if match is None or not _may_stand(match):
                    return None
                verdict = self._taken(match, verdict)
            verdicts.append(verdict)
        return case_result(
            seen.index,
            seen.case_id,
            tuple(verdicts),
            seen.tags,
            seen.response_digest,
            seen.asked_digest,
            seen.pass_at,
        )

    def _taken(self, old: Verdict, new: Verdict) -> Verdict:
        assert old.tier is not None, "a model or a certificate gave it"
        trail = tuple(step for step in old.trail if not step.reason.startswith(_TAKEN))
        state: OutcomeState = "pass" if old.state == "pass" else "fail"
        entry = Step(
            old.scorer or "", old.tier, state, f"{_TAKEN} {self.report.run_id}: {old.reason}", old.score
        )
        return replace(
            old,
            weight=new.weight,
            dimension=new.dimension,
            trail=(*trail, entry),
            cost_usd=ZERO_USD,
            from_store=True,
        )


def _places(report: Report) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, result in enumerate(report.results):
        if places.setdefault(result.case_id, place) != place:
            raise ConfigError(
                f"the base {report.run_id} has the case {result.case_id!r} twice, and it is not known which of them "
                "counts; name another run to compare with"
            )
    return places


def _may_stand(verdict: Verdict) -> bool:
    """Was it decided by a model, with a prompt that is still the one in use, or early by the certificate of both runs?

    What the certificate said of this response the base has audited, where it was drawn: another run would draw the same. What was
    given early and is in doubt does not stand.
    """
    if not verdict.is_decided:
        return False
    if verdict.certified:
        return True
    if verdict.scorer == BY_CERTIFICATE or verdict.tier not in ("embedding", "judge"):
        return False
    return verdict.prompt is None or _is_current(verdict.prompt)


@cache
def _is_current(label: str) -> bool:
    """Is a prompt, named as verdicts name it (``judge/statement.v2#1a2b3c4d``), the one that would be asked today?"""
    name, _, _ = label.rpartition(".v")
    try:
        return load_prompt(name).label == label
    except ConfigError:
        return False


def _plain(value: object) -> str:
    """A setting as a report that was kept gives it back."""
    return json.dumps(value, sort_keys=True, default=str)
