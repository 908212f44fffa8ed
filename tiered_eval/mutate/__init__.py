"""Expectations tried against responses that are wrong: does each of them notice?

The one idea: a weak expectation is green for ever and nobody looks at it again. So each is shown responses that were
spoilt on purpose (another number, a denial, the question said back, nothing at all); one that passes all the same is
named with what it let through and how to mend it. Free checks only: no model is asked.

Start at :func:`mutate_suite`; ``tiered-eval lint --mutate`` prints what it finds.
"""

from tiered_eval.mutate.suite import BROKEN, Mutation, mutate_suite

__all__ = ["BROKEN", "Mutation", "mutate_suite"]
