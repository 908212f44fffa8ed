"""From a value to its shape, and from kind and shape to the checks it gets."""

from __future__ import annotations

from typing import Any

import pytest

from tiered_eval.router import _shape_of_text, route, shape_of
from tiered_eval.testing import make_expectation
from tiered_eval.text.dates import MONTHS
from tiered_eval.text.numbers.words import WORDS
from tiered_eval.text.units import CURRENCY_CODES, known_spellings

SHAPES = [
    # identifiers: one written form
    ("PO-4471", "identifier", "a purchase order"),
    ("DOC-2025-118", "identifier", "a document id of several parts"),
    ("INV2025", "identifier", "letters and digits without a hyphen"),
    ("v2.3.1", "identifier", "a version is no number"),
    ("COVID-19", "identifier", "a name with a number in it"),
    ("UTF-8", "identifier", "a short prefix"),
    ("TEN-45", "identifier", "a prefix that is a number word"),
    ("AD-45", "identifier", "a prefix that is also a unit"),
    ("A4", "identifier", "two characters are enough"),
    ("9/11", "identifier", "a name, not a fraction or a date"),
    ("lookup_po", "identifier", "snake_case, the name of a tool"),
    ("getInvoice", "identifier", "camelCase"),
    ("getInvoice()", "identifier", "a camelCase call"),
    ("search()", "identifier", "a call in lower case"),
    ("src/app/main.py", "identifier", "a path"),
    ("https://example.org/terms", "identifier", "a URL"),
    ("www.example.org", "identifier", "a URL without its scheme"),
    ("billing@example.org", "identifier", "an e-mail address"),
    ('"net 45"', "identifier", "quoted: the literal is meant"),
    ("“Payment is due”", "identifier", "curly quotes"),
    ("`SELECT 1`", "identifier", "code between backticks"),
    # numbers: values, however they are written
    ("4471", "number", "digits alone"),
    (" 45 ", "number", "white space around it is nothing"),
    ("45 days", "number", "with a unit"),
    ("12 widgets", "number", "with a noun of no table"),
    ("$1,234.50", "number", "an amount"),
    ("EUR 45", "number", "a currency by its code"),
    ("45%", "number", "a percentage"),
    ("-5", "number", "a sign"),
    ("45-60", "number", "a range"),
    ("at least 45", "number", "a bound"),
    ("forty-five", "number", "in words"),
    ("1/2", "number", "a fraction"),
    ("2026-10-21", "number", "an ISO date"),
    ("Oct 21st, 2026", "number", "a date in words"),
    ("10/21/2026", "number", "a date in figures"),
    ("May 2026", "number", "a month and a year"),
    ("MAY-2026", "number", "a month where an identifier has its prefix"),
    ("14:30", "number", "a time"),
    (45, "number", "a number of YAML"),
    (0.45, "number", "a decimal of YAML"),
    # names and short phrases
    ("Paris", "name", "one word"),
    ("Anna Lind", "name", "two"),
    ("state-of-the-art", "name", "hyphens without digits"),
    ("7 Eleven", "name", "a name that begins with a number"),
    ("10 Downing Street", "name", "an address"),
    ("007", "identifier", "leading zeros: no number, and one written form"),
    ("one", "name", "more often a pronoun"),
    ("the May 2026 report", "name", "a date in a name"),
    ("not only cheap", "name", "an idiom that denies nothing"),
    # statements
    ("The invoice is due within a month of receipt", "statement", "a sentence"),
    ("The invoice is due within 45 days of its receipt", "statement", "a number in it changes nothing"),
    ("It does not ship abroad", "negated", "a denial"),
    ("no refunds", "negated", "a short one"),
    ("It ships to every country except France", "negated", "an exception"),
    # structured
    (True, "structured", "a truth value is no number"),
    (None, "structured", "nothing, as a field may be"),
    ({"a": 1}, "structured", "a JSON object"),
    ([1, 2], "structured", "a JSON array"),
]


@pytest.mark.parametrize(("value", "shape", "why"), SHAPES)
def test_a_value_has_its_shape(value: object, shape: str, why: str):
    """The shape follows from the value alone."""
    assert shape_of(value) == shape, why


_PREFIXES = sorted(
    {*CURRENCY_CODES, *MONTHS, *WORDS, *filter(str.isalpha, known_spellings()), "po", "no", "fy", "minus"}
)


@pytest.mark.parametrize(
    "prefix", [prefix.upper() for prefix in _PREFIXES if prefix.isascii() and len(prefix) > 1]
)
def test_a_serial_number_is_told_quickly_and_rightly(prefix: str):
    """Capitals, a hyphen and digits are taken for an identifier at once: the long way comes to the same."""
    for digits in ("4", "10", "45", "2026", "4471", "0042", "100000"):
        assert shape_of(f"{prefix}-{digits}") == _shape_of_text(f"{prefix}-{digits}")


EXACT = ["exact*", "judge*"]
NUMBER = ["number*", "judge*"]
PHRASE = ["exact", "coverage", "semantic", "judge*"]
ROUTES: list[Any] = [
    # (kind, values, options, steps, why); a star marks a step that decides both ways
    ("must-contain", ["PO-4471"], {}, EXACT, "an identifier is there or not there"),
    ("must-contain", ["https://example.org"], {}, EXACT, "so is a URL"),
    ("must-contain", ['"net 45"'], {}, EXACT, "and a quoted literal"),
    ("must-contain", ["45 days"], {}, NUMBER, "a number is a value"),
    ("must-contain", [45], {"unit": "days"}, NUMBER, "with its unit as an option"),
    ("must-contain", ["net 45"], {"unit": "days"}, NUMBER, "a unit says that a number is meant"),
    ("must-contain", ["2026-10-21"], {}, NUMBER, "a date is a value too"),
    ("must-contain", ["Anna Lind"], {}, PHRASE, "a name may be put in other words: absence proves nothing"),
    ("must-contain", ["The invoice is due within a month of receipt"], {}, PHRASE, "so may a statement"),
    ("must-contain", ["It does not ship abroad"], {}, ["exact", "judge*"], "no similarity sees a negation"),
    ("must-contain", [{"a": 1}], {}, ["field*"], "JSON is compared as a value"),
    (
        "must-contain",
        ["DOC-2025-118"],
        {"scanned": True},
        ["exact", "fuzzy-ocr*", "judge*"],
        "letters may be misread",
    ),
    ("must-cite", ["DOC-2025-118"], {}, EXACT, "a citation is a literal"),
    ("must-cite", ["Terms of delivery"], {}, EXACT, "whatever it looks like"),
    ("must-cite", ["45"], {}, EXACT, "a number too"),
    ("must-cite", ["DOC-118"], {"scanned": True}, ["exact", "fuzzy-ocr*", "judge*"], "unless it was scanned"),
    ("must-not-contain", ["PO-4471"], {}, EXACT, "a trap is a literal"),
    ("must-not-contain", ["30"], {}, NUMBER, "a trap number is a value"),
    ("must-not-contain", ["net thirty terms"], {}, EXACT, "a short trap is a literal as well"),
    (
        "must-not-contain",
        ["The supplier delivers to the region of the warehouse"],
        {},
        ["exact", "coverage", "judge*"],
        "a trap sentence can be said in other words",
    ),
    ("must-not-contain", ["We do not refund"], {}, ["exact", "judge*"], "a trap that turns on a negation"),
    (
        "equivalent",
        ["Anna Lind"],
        {},
        ["answer", "coverage", "semantic", "judge*"],
        "a gold answer by its name",
    ),
    (
        "equivalent",
        ["45 days"],
        {},
        ["answer", "number", "coverage", "judge*"],
        "a gold answer that is a number",
    ),
    (
        "equivalent",
        ["a month", "30 days"],
        {},
        ["answer", "number", "coverage", "judge*"],
        "one of several is a number",
    ),
    ("behaviour", [True], {}, ["field*"], "a field of the response"),
    ("requirement", ["Is polite"], {}, ["judge*"], "needs judgement"),
    ("rubric", ["5: excellent; 1: poor"], {}, ["judge*"], "needs judgement"),
    ("must-contain", ["PO-4471", "PO-4472"], {}, EXACT, "values of one shape"),
    ("must-contain", ["PO-4471", "Anna Lind"], {}, PHRASE, "the most demanding shape serves all"),
    (
        "must-contain",
        ["Anna Lind", "It does not ship abroad"],
        {},
        ["exact", "judge*"],
        "a negation among them",
    ),
    ("must-contain", ["45", "45 days"], {}, NUMBER, "numbers only"),
    ("must-contain", ["45", "Anna Lind"], {}, PHRASE, "a number among words is looked for as words"),
]


@pytest.mark.parametrize(("kind", "values", "options", "steps", "why"), ROUTES)
def test_an_expectation_gets_its_route(
    kind: str, values: list[Any], options: dict[str, Any], steps: list[str], why: str
):
    """The route follows from the kind and the shape of the values."""
    chosen = route(make_expectation(kind, *values, options=options))

    assert [step.scorer + ("*" if "fail" in step.accepts else "") for step in chosen.steps] == steps, why


@pytest.mark.parametrize("scorer", ["exact", "number", "regex", "coverage"])
def test_a_pinned_scorer_decides_alone(scorer: str):
    """Its author asked for it, so nothing climbs, and the route says whose choice it was."""
    chosen = route(make_expectation("must-contain", "Anna Lind", scorer=scorer))

    assert [step.scorer for step in chosen.steps] == [scorer]
    assert chosen.steps[0].accepts == {"pass", "fail"}
    assert chosen.shape is None
    assert "author" in chosen.why


def test_a_pinned_scorer_that_may_climb_comes_first():
    """With ``escalate`` the rest of the route follows, and no step is made twice."""
    chosen = route(make_expectation("must-contain", "Anna Lind", scorer="coverage", escalate=True))

    assert [step.scorer for step in chosen.steps] == ["coverage", "exact", "semantic", "judge"]
    assert chosen.steps[0].accepts == {"pass", "fail"}


def test_every_step_says_why():
    """A reader of ``plan`` is told what each check is there for."""
    for kind, values, options, _, _ in ROUTES:
        chosen = route(make_expectation(kind, *values, options=options))

        assert chosen.why
        assert all(step.why for step in chosen.steps)


def test_a_route_is_one_value_for_its_kind_and_shape():
    """The same object again, so that a million expectations hold a handful of routes."""
    assert route(make_expectation("must-contain", "PO-1")) is route(make_expectation("must-contain", "PO-2"))
