"""Scorers that a model grades, under the names that other tools gave them.

The one idea: who comes from another tool finds its names; what each of them does, and where it is stricter, is in
:mod:`tiered_eval.scorers.graded`.
"""

from __future__ import annotations

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo
from tiered_eval.catalogue.routed import ROUTED
from tiered_eval.catalogue.shared import SELECTING, pass_at

__all__ = ["GRADED"]

_FIELD, _GROUND_TRUTH = SELECTING
(_JUDGE,) = (scorer for scorer in ROUTED if scorer.name == "judge")
_ASKING = tuple(option for option in _JUDGE.options if option.name in ("models", "effort", "max_tokens"))
"""How a model is asked: as a judge is."""

RELATIONS = ("same", "superset", "subset", "irrelevant", "disagree", "nothing")


def _outcome(name: str, when: str) -> OptionInfo:
    return OptionInfo(
        name=name,
        type="text",
        choices=("pass", "fail", "unsure"),
        default="unsure",
        help=f"the outcome {when}",
    )


_EMPTY = _outcome("empty", "where there is no statement to judge")
_CONTEXT = (
    OptionInfo(name="context", type="texts", help="the context itself; the case's by default"),
    OptionInfo(
        name="context_field",
        type="text",
        help="path of the context in the response's fields or the case's meta, such as retrieved[*].text",
    ),
)

GRADED: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="llm-judge",
        tier="judge",
        target="tiered_eval.scorers.graded.scores:LlmJudge",
        summary="a model scores the response from 0 to 1 by a criterion; of several the mean",
        aliases=(Alias(name="llm-as-judge"), Alias(name="llm-as-a-judge"), Alias(name="score-model")),
        options=(
            pass_at("0.5", "least score that passes"),
            OptionInfo(name="reference", type="text", help="a good answer, shown to the model"),
            _FIELD,
            *_ASKING,
        ),
        example="- llm-judge: {value: How helpful is it to a beginner?, pass_at: 0.7}",
        is_routed=False,
    ),
    ScorerInfo(
        name="llm-rubric",
        tier="judge",
        target="tiered_eval.scorers.graded.criteria:LlmRubric",
        summary="a model decides for each criterion; met in part counts half, the share is the score",
        options=(pass_at("1", "least share that passes"), _FIELD, *_ASKING),
        example="- llm-rubric: [Is polite, Names the next step]",
        is_routed=False,
    ),
    ScorerInfo(
        name="closed-qa",
        tier="judge",
        target="tiered_eval.scorers.graded.criteria:ClosedQa",
        summary="a model decides whether the answer to the question meets each criterion",
        aliases=(Alias(name="closedqa"), Alias(name="model-graded-closedqa")),
        options=(pass_at("1", "least share that passes"), _FIELD, *_ASKING),
        example="- closed-qa: Names the capital and no other city",
        is_routed=False,
        needs=("input",),
    ),
    ScorerInfo(
        name="factuality",
        tier="judge",
        target="tiered_eval.scorers.graded.factuality:Factuality",
        summary="a model says how the facts of the response stand to those of a reference answer",
        value="reference",
        aliases=(
            Alias(name="model-graded-factuality"),
            Alias(name="model-graded-fact"),
            Alias(name="fact"),
        ),
        options=(
            OptionInfo(
                name="passes",
                type="texts",
                choices=RELATIONS,
                help="the relations that pass; all but disagree and nothing by default",
            ),
            *SELECTING,
            *_ASKING,
        ),
        example="- factuality: {value: The invoice is due on 3 March, passes: [same, superset]}",
        is_routed=False,
    ),
    ScorerInfo(
        name="g-eval",
        tier="judge",
        target="tiered_eval.scorers.graded.scores:GEval",
        summary="a model follows steps to a level of an even scale; its share of the scale is the score",
        aliases=(Alias(name="geval"),),
        options=(
            pass_at("0.5", "least score that passes"),
            OptionInfo(name="steps", type="texts", help="how to evaluate, in order"),
            OptionInfo(
                name="scale",
                type="text",
                choices=("2", "4", "6", "8", "10"),
                default="6",
                help="how many levels there are; an even number, so that none is the middle",
            ),
            _FIELD,
            *_ASKING,
        ),
        example="- g-eval: {value: Coherence of the whole answer, steps: [Read it, List the breaks, Weigh them]}",
        is_routed=False,
    ),
    ScorerInfo(
        name="answer-relevance",
        tier="judge",
        target="tiered_eval.scorers.graded.statements:AnswerRelevance",
        summary="the share of the response's sentences that answer the question, as a model sees them",
        value="none",
        is_value_optional=True,
        aliases=(Alias(name="answer-relevancy"), Alias(name="response-relevancy")),
        options=(pass_at("0.5", "least share that passes"), _FIELD, *_ASKING),
        example="- answer-relevance: {pass_at: 0.8}",
        is_routed=False,
        needs=("input",),
    ),
    ScorerInfo(
        name="context-faithfulness",
        tier="judge",
        target="tiered_eval.scorers.graded.statements:ContextFaithfulness",
        summary="the share of the response's sentences that the context supports, each with a quote from it",
        value="none",
        is_value_optional=True,
        aliases=(Alias(name="faithfulness"), Alias(name="groundedness")),
        options=(pass_at("1", "least share that passes"), _EMPTY, *_CONTEXT, _FIELD, *_ASKING),
        example="- context-faithfulness: {pass_at: 0.9}",
        is_routed=False,
        needs=("context",),
    ),
    ScorerInfo(
        name="context-recall",
        tier="judge",
        target="tiered_eval.scorers.graded.statements:ContextRecall",
        summary="the share of the reference answer's sentences that the context holds",
        value="reference",
        aliases=(
            Alias(name="contextual-recall"),
            Alias(name="llm-context-recall"),
        ),
        options=(pass_at("1", "least share that passes"), _EMPTY, *_CONTEXT, _GROUND_TRUTH, *_ASKING),
        example="- context-recall: {value: The invoice is due on 3 March, pass_at: 0.8}",
        is_routed=False,
        needs=("context",),
    ),
    ScorerInfo(
        name="context-relevance",
        tier="judge",
        target="tiered_eval.scorers.graded.statements:ContextRelevance",
        summary="the share of the context's sentences that an answer to the question needs",
        value="none",
        is_value_optional=True,
        aliases=(Alias(name="context-relevancy"), Alias(name="contextual-relevancy")),
        options=(pass_at("0.5", "least share that passes"), _EMPTY, *_CONTEXT, *_ASKING),
        example="- context-relevance: {pass_at: 0.3}",
        is_routed=False,
        needs=("input", "context"),
    ),
    ScorerInfo(
        name="context-precision",
        tier="judge",
        target="tiered_eval.scorers.graded.ranking:ContextPrecision",
        summary="do the passages that serve the question stand before the others? The mean of the precision at their ranks",
        value="reference",
        is_value_optional=True,
        aliases=(
            Alias(name="contextual-precision"),
            Alias(name="llm-context-precision-with-reference"),
        ),
        options=(pass_at("0.5", "least score that passes"), *_CONTEXT, _GROUND_TRUTH, *_ASKING),
        example="- context-precision: {value: The invoice is due on 3 March, pass_at: 0.8}",
        is_routed=False,
        needs=("input", "context"),
    ),
    ScorerInfo(
        name="pairwise",
        tier="judge",
        target="tiered_eval.scorers.graded.pairwise:Pairwise",
        summary="a model prefers the response to a baseline in both orders; disagreement is a tie",
        value="reference",
        aliases=(Alias(name="battle"), Alias(name="pairwise-comparison")),
        options=(
            OptionInfo(name="by", type="texts", help="what makes a response the better one"),
            _outcome("tie", "of a tie; the score is 0.5"),
            *SELECTING,
            *_ASKING,
        ),
        example="- pairwise: {value: The answer of the last release, by: More helpful to a beginner}",
        is_routed=False,
    ),
)
