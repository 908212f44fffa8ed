"""People in the loop: what is left to them goes out, comes back, and counts from then on.

The one idea: a verdict belongs to *this response and this claim*, by a hash over both. It is found again in every later
run of the same suite, and in no run whose response or claim has changed.

Route: a run writes what is left to people beside its results (:mod:`pending`); ``export`` makes a sheet of it
(:mod:`sheets`) and remembers what was asked; ``import`` and ``label`` keep verdicts in the home (:mod:`store`); the runner
asks :func:`verdicts_for` before it asks a model; :mod:`labels` hands them to calibration. Early verdicts that a run draws for an
audit go the same way (:mod:`audits`), and are no labels.
"""

from tiered_eval.people.items import Item, item_id, item_of
from tiered_eval.people.verdicts import HumanVerdicts, verdicts_for

__all__ = ["HumanVerdicts", "Item", "item_id", "item_of", "verdicts_for"]
