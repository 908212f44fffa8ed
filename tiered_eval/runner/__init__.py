"""A whole suite, or one expectation at a time: from cases to verdicts to a report.

The one idea: free checks are made at once, where the case is read; what they leave open waits in a queue for a
fixed set of workers that ask models. So the first call leaves while the last case is still being read, and
memory does not grow with the suite.
"""

from tiered_eval.runner.evaluator import Evaluator
from tiered_eval.runner.planning import Plan, PlanLine, PlanStage, plan
from tiered_eval.runner.progress import Progress
from tiered_eval.runner.run import evaluate, evaluate_sync

__all__ = ["Evaluator", "Plan", "PlanLine", "PlanStage", "Progress", "evaluate", "evaluate_sync", "plan"]
