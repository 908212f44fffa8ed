"""Options that several scorers have."""

from __future__ import annotations

from tiered_eval.catalogue.entries import OptionInfo

__all__ = ["CASED", "SELECTING", "TOLERANCES", "pass_at"]

SELECTING = (
    OptionInfo(
        name="field", type="text", help="path of the part that is checked, such as answer or items[0].name"
    ),
    OptionInfo(
        name="ground_truth_field",
        type="text",
        help="path of what is expected, in the case's ground_truth",
        aliases=("expected_field",),
    ),
)
"""Where what is compared comes from."""

CASED = OptionInfo(name="case_sensitive", type="flag", default="false", help="upper and lower case differ")

TOLERANCES = (
    OptionInfo(name="tolerance", type="decimal", low=0.0, default="0", help="how far off a number may be"),
    OptionInfo(
        name="relative_tolerance",
        type="decimal",
        low=0.0,
        high=1.0,
        default="0",
        help="the same as a share of the expected number",
    ),
)


def pass_at(default: str, what: str = "least score that passes") -> OptionInfo:
    """The limit of a scorer that has a degree. It is above 0: at 0 everything passes, whatever the scorer says."""
    return OptionInfo(
        name="pass_at", type="number", above=0.0, high=1.0, default=default, help=what, aliases=("threshold",)
    )
