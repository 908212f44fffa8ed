"""The one table of scorers: what they are called, what they cost, what may be set, and where the code is.

The one idea: everything that must know scorers *before* any of them runs (the suite's loader, lint, the
router, the command ``scorers``, the documentation) reads this table, which is strings only and imports no
scorer. A new scorer is one file in ``scorers/`` and one entry in the module of its family here.
"""

from tiered_eval.catalogue.answers import ANSWERS
from tiered_eval.catalogue.entries import (
    KINDS,
    NEGATION,
    Alias,
    Catalogue,
    Missing,
    Named,
    OptionInfo,
    OptionType,
    ScorerInfo,
    ValueType,
    canonical,
    nearest,
)
from tiered_eval.catalogue.forms import FORMS
from tiered_eval.catalogue.graded import GRADED
from tiered_eval.catalogue.likeness import LIKENESS
from tiered_eval.catalogue.measures import MEASURES
from tiered_eval.catalogue.people import PEOPLE
from tiered_eval.catalogue.routed import ROUTED
from tiered_eval.catalogue.running import RUNNING
from tiered_eval.catalogue.structures import STRUCTURES

__all__ = [
    "CATALOGUE",
    "KINDS",
    "NEGATION",
    "Alias",
    "Catalogue",
    "Missing",
    "Named",
    "OptionInfo",
    "OptionType",
    "ScorerInfo",
    "ValueType",
    "canonical",
    "nearest",
]

CATALOGUE = Catalogue(
    (*ROUTED, *ANSWERS, *FORMS, *STRUCTURES, *RUNNING, *MEASURES, *LIKENESS, *GRADED, *PEOPLE)
)
"""Every scorer that ships with the package."""
