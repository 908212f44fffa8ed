"""Amounts in the words of other languages: no free check says that they are absent, and none that they are there."""

from __future__ import annotations

import pytest

from tests.scoring import free_state, state

SAID = [
    (30, "Die Frist beträgt dreißig Tage.", "German"),
    (30, "Die Frist betraegt dreissig Tage.", "without its letters"),
    (30, "Eine dreißigtägige Frist.", "joined to its unit"),
    (45, "fuenfundvierzig Tage", "ones before tens"),
    (21, "einundzwanzig Tage", "and the one of German"),
    (30, "Le délai est de trente jours.", "French"),
    (21, "vingt et un jours", "with its and"),
    (77, "soixante-dix-sept jours", "seventy is sixty and ten"),
    (95, "quatre-vingt-quinze jours", "eighty is four times twenty"),
    (95, "nonante-cinq jours", "but not in Belgium"),
    (22, "El plazo es de veintidós días.", "Spanish"),
    (33, "treinta y tres días", "in three words"),
    (28, "Il termine è di ventotto giorni.", "Italian, which drops a vowel"),
    (2, "Il pagamento è dovuto entro due giorni.", "a word that is English as well"),
    (22, "tweeëntwintig dagen", "Dutch"),
    (34, "trinta e quatro dias", "Portuguese"),
    (500, "fünfhundert Euro", "a hundred and more"),
    (2_000_000, "Der Umsatz lag bei 2 Millionen Euro.", "a figure and a word"),
    ("14 days", "Die Frist beträgt 2 Wochen.", "another length of time"),
    ("1 day", "Die Frist beträgt einen Tag.", "an article that is a number"),
    ("45 %", "Es sind fünfundvierzig Prozent.", "a share"),
    ("14:30", "Um halb drei.", "the clock"),
    (45, "Termin wynosi czterdzieści pięć dni.", "a language of which no word is known"),
    (45, "Срок составляет сорок пять дней.", "and another script"),
]


@pytest.mark.parametrize(("value", "response", "why"), SAID)
def test_an_amount_in_foreign_words_is_open(value: object, response: str, why: str):
    """It was "no number in the response": a fail, and of must-not-contain a pass."""
    assert free_state("must-contain", value, response) == "open", why
    assert free_state("must-not-contain", value, response) == "open", why


@pytest.mark.parametrize(
    ("value", "response"),
    [
        (35, "Le délai est de trente jours, pas plus que 40 jours."),
        ("45 days", "Die Frist beträgt 30 Tage."),
        (45, "Срок составляет 30 дней."),
        (45, "Zoë Smith"),
        (2, "Payment due within 45 days."),
        (11, "Pay once, by card."),
        (7, "Sept 12"),
        (100, "It costs 5 cents."),
        (45, "Not stated."),
    ],
)
def test_another_amount_and_english_stay_a_fail(value: object, response: str):
    """A word is doubt only where it is that of the claim, in a sentence that is not English."""
    assert free_state("must-contain", value, response) == "fail"


def test_numeric_knows_them_too():
    """Whether or not another number stands beside it."""
    assert state({"numeric": 30}, "Die Frist beträgt dreißig Tage.") == "unsure"
    assert state({"numeric": 30}, "Die Frist beträgt dreißig Tage, also 1 Monat.") == "unsure"
    assert state({"numeric": 31}, "Die Frist beträgt dreißig Tage, also 1 Monat.") == "fail"
    assert state({"numeric": 2}, "Take both of them.") == "unsure"


@pytest.mark.parametrize(
    ("day", "response"),
    [
        ("2026-10-21", "Am 21. Oktober 2026."),
        ("2026-10-21", "Le 21 octobre 2026."),
        ("2026-10-21", "El 21 de octubre de 2026."),
        ("2026-03-01", "Le 1er mars 2026."),
        ("2026-03-01", "Am ersten März 2026."),
    ],
)
def test_a_day_in_another_language_is_unsure(day: str, response: str):
    """The scorer date said that there is none."""
    assert state({"date": day}, response) == "unsure"
    assert state({"not-date": day}, response) == "unsure"


def test_another_day_in_another_language_is_a_fail():
    """Its figure is another one."""
    assert state({"date": "2026-10-22"}, "Am 21. Oktober 2026.") == "fail"
