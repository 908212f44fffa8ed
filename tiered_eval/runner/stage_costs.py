"""What the questions of a suite cost at a chain of judges: at least, likely, at most.

The one idea: every question reaches the first stage, and nobody knows beforehand how many climb. The shares that are
assumed stand here and nowhere else; a plan says that they are assumptions, and its worst case rests on none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial

from tiered_eval.calls import PackQuestion, calls_for
from tiered_eval.config import Pack, PromptCache
from tiered_eval.errors import PriceUnknown
from tiered_eval.keys import recording_key
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.caching import longest_write
from tiered_eval.records import DecisionRequest, JudgeStage, ModelRequest
from tiered_eval.runner.front_savings import FrontSavings

__all__ = ["ANSWER_TOKENS", "AskedQuestion", "ChainCosts", "StageCosts", "climbing", "reaching"]

ANSWER_TOKENS = 120
"""Typical length of the answer to one question."""
BETWEEN = 0.3
"""Share of scores inside a band: of probabilities, levels, or shares of votes."""
CANNOT_TELL = 0.05
"""Share of answers in words that decide nothing."""
NO_MAJORITY = 0.1
"""Share of questions on which a panel does not agree."""
NEAR_THE_LINE = 0.1
"""Share of answers that more votes are asked for."""
PASSING = 0.7
"""Share of decided questions that pass; the others are those that ``confirm: fail`` sends on."""
NOBODY = ""
"""Stands for the judge where none is named: calls are counted, and cost nothing that could be told."""
MOST_DECISIONS = 400
"""Questions that a call to a decision model may carry."""


def climbing(stage: JudgeStage) -> float:
    """The share of questions that a stage is likely to hand on."""
    unsure = BETWEEN if stage.accept is not None else NO_MAJORITY if stage.panel else CANNOT_TELL
    confirmed = {None: 0.0, "pass": PASSING, "fail": 1.0 - PASSING}[stage.confirm]
    return unsure + (1.0 - unsure) * confirmed


def reaching(chain: Sequence[JudgeStage]) -> list[float]:
    """The share of questions that each stage of a chain is likely to be asked."""
    shares = [1.0]
    for stage in chain[:-1]:
        shares.append(shares[-1] * climbing(stage))
    return shares


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """One question, in the forms that stages may put it in."""

    in_words: ModelRequest
    by_numbers: DecisionRequest | None
    """None where it can be asked in words only."""
    is_certain: bool
    """Does it come to the judge whatever cheaper models say?"""
    share: float = 1.0
    """How likely it comes to the chain at all."""


@dataclass(slots=True, kw_only=True)
class StageCosts:
    """What one stage is asked. Money is US dollars."""

    stage: JudgeStage
    reach: float
    """Share of the questions that come to the chain that it is likely to be asked."""
    questions_most: int = 0
    questions_coming: float = 0.0
    """Those that are expected to come to the chain, of which ``reach`` is the share that comes to the stage."""
    calls_most: int = 0
    """After the first stage, and for votes after the first, one for each question: they come at different times, and what
    comes later cannot share the call of what came before."""
    calls_least: int = 0
    """Of the questions that are certain; of the first stage only."""
    certain_usd: Decimal = Decimal(0)
    likely_usd: Decimal = Decimal(0)
    """Both without what is saved by fronts of prompts that are kept."""
    certain_fronts: FrontSavings
    likely_fronts: FrontSavings
    worst_pico: int = 0

    @property
    def least_usd(self) -> Decimal:
        return self.certain_usd - self.certain_fronts.saved_usd

    @property
    def expected_usd(self) -> Decimal:
        return self.likely_usd - self.likely_fronts.saved_usd


class ChainCosts:
    """Questions and their money at one chain, case by case: questions of one case may share a call."""

    def __init__(
        self,
        chain: Sequence[JudgeStage],
        prices: PriceBook,
        pack: Pack,
        prompt_cache: PromptCache = "auto",
        uses_batches: bool = False,
    ) -> None:
        """``uses_batches``: nobody knows which of a batch's calls find a front kept, so none is taken to."""
        self._now = datetime.now(UTC)
        fronts = partial(
            FrontSavings, prices=prices, at=self._now, is_used=prompt_cache != "off" and not uses_batches
        )
        self.stages = [
            StageCosts(stage=stage, reach=reach, certain_fronts=fronts(), likely_fronts=fronts())
            for stage, reach in zip(chain, reaching(chain), strict=True)
        ]
        self._prices = prices
        self._pack = pack
        self._cache = prompt_cache
        self._seen: set[str] = set()
        self._asked: list[AskedQuestion] = []
        voices = [model for stage in chain for model in stage.voices]
        self.unpriced = next((model for model in voices if self._is_unpriced(model)), None)
        """A model of the chain that has no known price, if there is one."""
        self.is_priced = bool(voices) and self.unpriced is None

    def add(self, question: AskedQuestion) -> None:
        """Note one question, unless the very same one was noted before."""
        key = recording_key(question.in_words)
        if key not in self._seen:
            self._seen.add(key)
            self._asked.append(question)

    def close_case(self) -> None:
        """Count the calls that the questions of the last case make at each stage, and what they cost."""
        if not self._asked:
            return
        sure = [question for question in self._asked if question.is_certain]
        for number, costs in enumerate(self.stages):
            costs.questions_most += len(self._asked)
            costs.questions_coming += sum(question.share for question in self._asked)
            is_first = number == 0
            if costs.stage.is_decision:
                self._decide(costs, sure if is_first else [], is_first=is_first)
            else:
                for model in costs.stage.panel or costs.stage.models[:1] or (NOBODY,):
                    self._talk(costs, model, sure if is_first else [], is_first=is_first)
        self._asked.clear()

    @property
    def _share(self) -> float:
        """Of the case's questions, how many are expected to come to the chain."""
        return sum(question.share for question in self._asked) / len(self._asked)

    def _talk(self, costs: StageCosts, model: str, sure: Sequence[AskedQuestion], *, is_first: bool) -> None:
        """Calls in words to one model."""
        prices, votes = self._prices, costs.stage.votes
        questions = [_packable(each) for each in self._asked]
        calls = calls_for(questions, pack=self._pack, model=model)
        alone = calls_for(questions, pack="never", model=model)
        most = [*(calls if is_first else alone), *(alone * (votes - 1))]
        certain = calls_for([_packable(each) for each in sure], pack=self._pack, model=model)
        costs.calls_most += len(most)
        costs.calls_least += len(certain)
        if not self.is_priced:
            return
        likely = [
            prices.estimate_usd(
                call.request, model, output_tokens=ANSWER_TOKENS * call.questions, at=self._now
            )
            for call in calls
        ]
        extra_votes = NEAR_THE_LINE * (votes // 2)  # as many as settle it where they agree
        reach = costs.reach * self._share * (1.0 + extra_votes)
        costs.likely_usd += sum(likely, Decimal(0)) * Decimal(str(reach))
        costs.likely_fronts.add_case([call.request for call in calls], model, weight=reach)
        costs.certain_fronts.add_case([call.request for call in certain], model)
        costs.certain_usd += sum(
            (
                prices.estimate_usd(
                    call.request, model, output_tokens=ANSWER_TOKENS * call.questions, at=self._now
                )
                for call in certain
            ),
            Decimal(0),
        )
        costs.worst_pico += sum(
            prices.worst_case_pico(
                call.request, model, self._now, written=longest_write(self._kept(call.request), model=model)
            )
            for call in most
        )

    def _decide(self, costs: StageCosts, sure: Sequence[AskedQuestion], *, is_first: bool) -> None:
        """Calls by numbers: all questions on the response share them."""
        model = costs.stage.models[0]
        calls, certain = _decisions(self._asked), _decisions(sure)
        most = calls if is_first else [call for each in self._asked for call in _decisions([each])]
        costs.calls_most += len(most)
        costs.calls_least += len(certain)
        if not self.is_priced:
            return
        prices, at = self._prices, self._now
        likely = sum((prices.estimate_decision_usd(call, model, at=at) for call in calls), Decimal(0))
        costs.likely_usd += likely * Decimal(str(costs.reach * self._share))
        costs.certain_usd += sum(
            (prices.estimate_decision_usd(call, model, at=at) for call in certain), Decimal(0)
        )
        costs.worst_pico += sum(prices.worst_case_decision_pico(call, model, at) for call in most)

    def _kept(self, request: ModelRequest) -> ModelRequest:
        """The request with what may be asked of the vendor's prompt cache."""
        return replace(request, cache=self._cache)

    def _is_unpriced(self, model: str) -> bool:
        try:
            self._prices.price(model)
        except PriceUnknown:
            return True
        return False


def _packable(question: AskedQuestion) -> PackQuestion | ModelRequest:
    request = question.in_words
    form = request.packed
    return request if form is None else PackQuestion(key=recording_key(request), request=request, form=form)


def _decisions(asked: Sequence[AskedQuestion]) -> list[DecisionRequest]:
    """The calls that carry these questions."""
    groups: dict[tuple[object, ...], list[DecisionRequest]] = {}
    for question in asked:
        request = question.by_numbers
        if request is not None:
            groups.setdefault((request.system, request.user), []).append(request)
    return [
        _joined(group[start : start + MOST_DECISIONS])
        for group in groups.values()
        for start in range(0, len(group), MOST_DECISIONS)
    ]


def _joined(requests: Sequence[DecisionRequest]) -> DecisionRequest:
    """One request with the question of each, under names as long as those that are sent."""
    questions = tuple(
        replace(request.questions[0], name=f"{number:016}") for number, request in enumerate(requests)
    )
    return replace(requests[0], questions=questions)
