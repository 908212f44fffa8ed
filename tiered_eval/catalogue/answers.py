"""Scorers that look at what a response answers: a label, a text, a number, a day, an address."""

from __future__ import annotations

from dataclasses import replace

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo
from tiered_eval.catalogue.shared import CASED, SELECTING, TOLERANCES, pass_at

__all__ = ["ANSWERS"]

_BOUNDED = OptionInfo(
    name="bounded", type="flag", default="true", help="only at the edges of a token; false is plain inclusion"
)

ANSWERS: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="classification",
        tier="exact",
        target="tiered_eval.scorers.classification:Classification",
        summary="the response chooses this label among others; one that is denied or only named does not count",
        value="reference",
        options=(
            OptionInfo(name="labels", type="texts", help="all labels that there are"),
            CASED,
            *SELECTING,
        ),
        example="- classification: {value: billing, labels: [billing, technical, other]}",
        is_routed=False,
    ),
    ScorerInfo(
        name="exact-match",
        tier="exact",
        target="tiered_eval.scorers.exact_match:ExactMatch",
        summary="the whole answer is this, case and punctuation around words aside; of a list, any one",
        value="reference",
        aliases=(
            Alias(name="equals", options={"strict": True}),
            Alias(name="iequals", options={"strict": True, "case_sensitive": False}),
        ),
        options=(
            OptionInfo(name="strict", type="flag", default="false", help="character by character"),
            replace(CASED, default="", help="upper and lower case differ; by default they do if strict"),
            *SELECTING,
        ),
        example="- exact-match: [Canberra, Canberra ACT]",
        is_routed=False,
    ),
    ScorerInfo(
        name="contains",
        tier="exact",
        target="tiered_eval.scorers.contains:Contains",
        summary="the parts stand in the response at token edges, and are not denied; the share found is the score",
        value="reference",
        aliases=(
            Alias(name="contains-all", options={"mode": "all"}),
            Alias(name="contains-any", options={"mode": "any"}),
            Alias(name="icontains", options={"case_sensitive": False}),
            Alias(name="icontains-all", options={"mode": "all", "case_sensitive": False}),
            Alias(name="icontains-any", options={"mode": "any", "case_sensitive": False}),
            Alias(name="includes"),
            Alias(name="string-presence"),
        ),
        options=(
            OptionInfo(
                name="mode", type="text", choices=("all", "any"), default="all", help="of several parts"
            ),
            pass_at("1", "least share of the parts, with mode: all"),
            _BOUNDED,
            CASED,
            *SELECTING,
        ),
        example="- contains: [net 45, PO-4471]",
        is_routed=False,
    ),
    ScorerInfo(
        name="starts-with",
        tier="exact",
        target="tiered_eval.scorers.affixes:StartsWith",
        summary="the response starts with this; of a list, with any one",
        value="reference",
        aliases=(Alias(name="startswith"),),
        options=(_BOUNDED, CASED, *SELECTING),
        example="- starts-with: Dear customer",
        is_routed=False,
    ),
    ScorerInfo(
        name="ends-with",
        tier="exact",
        target="tiered_eval.scorers.affixes:EndsWith",
        summary="the response ends with this, its last full stop aside; of a list, with any one",
        value="reference",
        aliases=(Alias(name="endswith"),),
        options=(_BOUNDED, CASED, *SELECTING),
        example="- ends-with: Kind regards",
        is_routed=False,
    ),
    ScorerInfo(
        name="url",
        tier="exact",
        target="tiered_eval.scorers.url:Url",
        check="tiered_eval.scorers.url:address_fault",
        summary="the response gives this web address, however it is written; of a list, any one",
        value="reference",
        aliases=(Alias(name="contains-url"),),
        options=SELECTING,
        example="- url: https://example.com/terms",
        is_routed=False,
    ),
    ScorerInfo(
        name="numeric",
        tier="number",
        target="tiered_eval.scorers.numeric:Numeric",
        summary="the number that the response comes to is this one; of several numbers the meant one, never the first",
        value="reference",
        options=(
            TOLERANCES[0],
            OptionInfo(
                name="relative",
                type="flag",
                default="false",
                help="tolerance is a share of the expected number",
            ),
            TOLERANCES[1],
            OptionInfo(name="unit", type="text", help="picks the numbers with this unit"),
            OptionInfo(name="currency", type="text", help="picks the amounts of this currency, such as USD"),
            OptionInfo(name="label", type="text", help="picks the number behind these words"),
            OptionInfo(
                name="position",
                type="integer",
                low=-1000,
                high=1000,
                help="picks the number at this place: 1 is the first, -1 the last",
            ),
            OptionInfo(name="percent_as_fraction", type="flag", default="false", help="0.45 is also 45 %"),
            OptionInfo(
                name="round",
                type="flag",
                default="false",
                help="a number that rounds to the expected one will do",
            ),
            *SELECTING,
        ),
        example="- numeric: {value: 1299.50, currency: USD, tolerance: 0.01}",
        is_routed=False,
    ),
    ScorerInfo(
        name="date",
        tier="number",
        target="tiered_eval.scorers.dates:DateValue",
        summary="the response names this day, however it is written; the year may be left out",
        value="reference",
        aliases=(Alias(name="contains-date"),),
        options=(
            OptionInfo(name="year", type="flag", default="false", help="the year must be said too"),
            *SELECTING,
        ),
        example="- date: 2026-10-21",
        is_routed=False,
    ),
)
