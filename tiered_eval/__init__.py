"""tiered-eval: scores LLM outputs with the cheapest check that is good enough, and never spends above the cap.

Importing this package loads no SDK, no numpy and no price data: names are looked up when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Case": "tiered_eval.records",
    "CaseResult": "tiered_eval.records",
    "Evaluator": "tiered_eval.runner",
    "Expectation": "tiered_eval.records",
    "JudgeStage": "tiered_eval.records",
    "Report": "tiered_eval.records",
    "RunConfig": "tiered_eval.config",
    "Suite": "tiered_eval.records",
    "TieredEvalError": "tiered_eval.errors",
    "Verdict": "tiered_eval.records",
    "evaluate": "tiered_eval.runner",
    "evaluate_sync": "tiered_eval.runner",
    "load_suite": "tiered_eval.suite",
    "scorer": "tiered_eval.catalogue.declaring",
}

__all__ = [
    "Case",
    "CaseResult",
    "Evaluator",
    "Expectation",
    "JudgeStage",
    "Report",
    "RunConfig",
    "Suite",
    "TieredEvalError",
    "Verdict",
    "evaluate",
    "evaluate_sync",
    "load_suite",
    "scorer",
]

if TYPE_CHECKING:
    from tiered_eval.catalogue.declaring import scorer
    from tiered_eval.config import RunConfig
    from tiered_eval.errors import TieredEvalError
    from tiered_eval.records import Case, CaseResult, Expectation, JudgeStage, Report, Suite, Verdict
    from tiered_eval.runner import Evaluator, evaluate, evaluate_sync
    from tiered_eval.suite import load_suite


def __getattr__(name: str) -> Any:
    try:
        module = _PUBLIC[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
