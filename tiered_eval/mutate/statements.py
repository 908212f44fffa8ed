"""Short responses that say an expected value outright.

The one idea: where the response at hand does not meet an expectation, or must not, a response that says the value has
to be made up. That needs the value as text: a literal, a number with its unit, or a pattern without wildcards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tiered_eval.records import Expectation, Value

__all__ = ["as_text", "in_passing", "outright", "traps_said"]

_PATTERN_FRAME = re.compile(r"\(\?[a-z]+\)|\\b|^\^|\$$|\\[AzZ]")
_ESCAPED = re.compile(r"\\([^\w\s]|\s)")
_WILD = re.compile(r"[\\.*+?\[\](){}|^$]")
_ONE_NUMBER = re.compile(r"(\d{1,15})((?: [^\W\d_]+)?)")
"""A whole number, perhaps with a word behind it: "30 days"."""
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_ONES = "zero one two three four five six seven eight nine ten eleven twelve".split()


def as_text(value: Value, expectation: Expectation) -> str | None:
    """The value as a response would say it; None where that cannot be known."""
    text = str(value).strip()
    if expectation.scorer == "regex":
        text = _literal_of(text)
    unit, currency = expectation.options.get("unit"), expectation.options.get("currency")
    if unit and str(unit) not in text:
        text = f"{text} {unit}"
    elif currency and str(currency) not in text:
        text = f"{text} {currency}"
    return text or None


def _literal_of(pattern: str) -> str:
    """The only text that a pattern means, or nothing."""
    bare = _PATTERN_FRAME.sub("", pattern)
    unescaped = _ESCAPED.sub(lambda match: "\0" + match[1], bare)
    if _WILD.search(re.sub(r"\0.", "", unescaped)):
        return ""
    return unescaped.replace("\0", "")


def outright(text: str) -> tuple[str, ...]:
    """Responses that say just this."""
    sentence = text if text.endswith((".", "!", "?")) else f"{text}."
    return (sentence, text) if text.count(" ") >= 3 else (f"The answer is {sentence}", sentence, text)


def in_passing(word: str) -> tuple[str, ...]:
    """Responses that hold an answer of one word and do not give it; none for a word that says more than yes."""
    if word.strip().casefold() not in ("yes", "no"):
        return ()
    return (
        "Yes and no: it depends.",
        "It is yes in some cases and no in others.",
        "There is no simple answer.",
    )


def traps_said(text: str, *, is_pattern: bool) -> Iterator[tuple[str, str]]:
    """(what was done, the sentence) for a text that must not be said: said plainly, and in other spellings.

    Args:
        is_pattern: leave numbers as they are, since a pattern is about their form.
    """
    yield "the trap said outright", f"In short: {text}."
    if text.replace(" ", "").isalpha():
        first, rest = text[0], text[1:]
        if first.islower():
            yield "the trap with a capital letter", f"{first.upper()}{rest}, as agreed."
        elif " " in text and rest.islower():
            yield "the trap in small letters", f"This means {text.lower()}."
        elif rest.islower() and not is_pattern:  # in small letters a name might be another word
            yield "the trap in capitals", f"NOTE: {text.upper()}."
    if not is_pattern and (number := _ONE_NUMBER.fullmatch(text)) is not None:
        digits, unit = number.groups()
        if len(digits) > 3 and digits[0] != "0":
            yield "the trap with a thousands separator", f"The answer is {int(digits):,}{unit}."
        if (word := _in_words(int(digits))) is not None:
            yield "the trap in words", f"The answer is {word}{unit}."


def _in_words(number: int) -> str | None:
    if number < len(_ONES):
        return _ONES[number]
    return _TENS[number // 10] if number < 100 and number % 10 == 0 else None
