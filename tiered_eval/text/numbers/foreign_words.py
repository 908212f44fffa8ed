"""Amounts in the words of other languages: "dreißig Tage", "trente jours", "2 Millionen", "zwei Wochen", "halb drei".

The one idea: they are not read, but a claim must not fail where its own amount may stand in them. So the words of its
number are made, in six languages, and looked for; of other lengths of time, large numbers and the clock any word will do. No
language has to be told but English, in whose sentences these are other words: "due" is two in Italian, "once" eleven in Spanish.

Asked by :mod:`~tiered_eval.text.numbers.hints` and :mod:`~tiered_eval.text.numbers.day_hints` once no number says the claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

from tiered_eval.text.accents import composed
from tiered_eval.text.dates import Day
from tiered_eval.text.foreign import is_english
from tiered_eval.text.numbers.claims import Claim
from tiered_eval.text.signs import ENGLISH, signs_in

__all__ = ["foreign_month", "said_in_foreign_words"]

# Accents are taken off both sides, so none are written here; an umlaut may be written with an e.
_GERMAN = (
    "eins zwei drei vier fue?nf sechs sieben acht neun zehn elf zwoe?lf dreizehn vierzehn fue?nfzehn sechzehn siebzehn achtzehn "
    "neunzehn zwanzig dreiss?ig vierzig fue?nfzig sechzig siebzig achtzig neunzig"
)
_DUTCH = (
    "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien "
    "negentien twintig dertig veertig vijftig zestig zeventig tachtig negentig"
)
_FRENCH = (
    r"un deux trois quatre cinq six sept(?!.{1,2}\d) huit neuf dix onze douze treize quatorze quinze seize dix.sept dix.huit "
    "dix.neuf vingt trente quarante cinquante soixante septante (?:huit|oct)ante nonante"
)
_SPANISH = (
    "un[oa]? dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho "
    "diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa"
)
_ITALIAN = (
    "un[oa]? due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette "
    "diciotto diciannove venti trenta quaranta cinquanta sessanta settanta ottanta novanta"
)
_PORTUGUESE = (
    "uma? (?:dois|duas) tres quatro cinco seis sete oito nove dez onze doze treze (?:cat|quat)orze quinze dez[ea]sseis dez[ea]ssete "
    "dezoito dez[ea]nove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"
)
_LANGUAGES = tuple(
    tuple(names.split()) for names in (_GERMAN, _DUTCH, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE)
)
"""The words for 1 to 19, then those for 20, 30 and so on to 90."""
_LASTING = r"(?:tag|woch|monat|jahr|stund|minut)ig\w*"
"""Behind a German number: "dreißigtägig"."""
_ONE = "ein(?:e[nmrs]?)?|een|une?|un[oa]|uma?"
"""Articles as well, and so of a unit only: "einen Tag"."""
_SCALES = (
    "hundert|cents?|cien(?:to)?s?|cem|cento|honderd|tausend|mille|mil|mila|duizend|million(?:en|s)|millon(?:es)?|milion[ei]|milhao|milhoes"
    "|miljoen|milliarden?|milliards?|miliard[oi]|miljard|[a-z]+(?:hundert|tausend|honderd|duizend|cento|mila|cient[oa]s)"
)
_LENGTHS = {
    "second": "sekunden?|secondes?|segundos?|second[oi]|seconden",
    "minute": "minuten?|minutos?|minut[oi]",
    "hour": "stunden?|heures?|horas?|or[ae]|uren|uur",
    "day": "tage?n?|jours?|dias?|giorn[oi]|dagen|dag",
    "week": "wochen?|semaines?|semanas?|settiman[ae]|weken|week",
    "month": "monate?n?|mois|mes(?:es)?|mes[ei]|maand(?:en)?",
    "quarter": "quartale?n?|trimestres?|trimestr[ei]|kwarta?al(?:en)?",
    "year": "jahre?n?|ans?|annees?|anos?|ann[oi]|jaar|jaren",
}
_CLOCK = (
    "halb|viertel|uhr|mittags?|mitternachts?|midi|minuit|heures?|demie|mediodia|medianoche|media|mezzogiorno|mezzanotte|mezza"
    "|meia|meio-dia|middag|middernacht|kwart|uur"
)
_MONTHS = (
    "januari?|janner|janvier|enero|gennaio|janeiro",
    "februari?|fevrier|febrero|febbraio|fevereiro",
    "marz|maerz|mars|marzo|marco|maart",
    "avril|abril|aprile",
    "mai|mayo|maggio|maio|mei",
    "juni|juin|junio|giugno|junho",
    "juli|juillet|julio|luglio|julho",
    "aout|agosto|augustus",
    "septembre|septiembre|settembre|setembro",
    "oktober|octobre|octubre|ottobre|outubro",
    "novembre|noviembre|novembro",
    "dezember|decembre|diciembre|dicembre|dezembro",
)
"""Those that English spells alike are read as dates."""
_FIRST = "erste[nr]?|1er|premier|primero|primo|primeiro|eerste"
_ENGLISH_TOO = re.compile(
    r"\b(?:to|for|by|be|within|after|not|payments?|days?|weeks?|months?|years?|hours?)\b"
)
"""Small words of English that other languages have not, besides those by which it is told elsewhere."""
_FOREIGN_LETTER = re.compile(r"[^\W\d_a-zA-Z]")
_FIGURE = re.compile(r"\d")
_SENTENCE_WORDS = 3
"""Fewer are a name or a label."""
_ENDS = (". ", "! ", "? ", "\n")


def said_in_foreign_words(claim: Claim, text: str) -> str | None:
    """Why the amount of a claim may be said in another language; None if nothing points to it."""
    if text.isascii() and ENGLISH in signs_in(text):  # as in nearly every text
        return None
    words = _words_for(claim)
    if not words:
        return None
    text = composed(text)
    plain = _plain(text)
    if found := _find(words, plain):
        return f'"{text[found.start() : found.end()]}" may say {claim.text} in another language'
    if not text.isascii() and _FOREIGN_LETTER.search(text) and not _FIGURE.search(text):
        is_sentence = len(text.split()) >= _SENTENCE_WORDS and not _is_english(plain)
        return "it has no figure, and is in another language" if is_sentence else None
    return None


def foreign_month(day: Day, text: str) -> tuple[int, int] | None:
    """Where the month of a day stands in another language, with the day beside it where it has one."""
    if day.month is None:
        return None
    month = f"(?:{_MONTHS[day.month - 1]})"
    if day.day is not None:
        said = f"(?:0?{day.day}{f'|{_FIRST}' if day.day == 1 else ''})"
        month = rf"{said}(?:\.|º|o)?\s(?:de\s|di\s)?{month}"
    found = _find(month, _plain(text))
    return found.span() if found else None


def _find(words: str, plain: str) -> re.Match[str] | None:
    """The first of the words in a sentence that is not English."""
    for found in _compiled(words).finditer(plain):
        if not _is_english(_sentence_at(plain, found.start())):
            return found
    return None


def _is_english(text: str) -> bool:
    return is_english(text) or _ENGLISH_TOO.search(text) is not None


@lru_cache(maxsize=1024)
def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b")


def _sentence_at(text: str, at: int) -> str:
    begin = max(text.rfind(end, 0, at) + len(end) for end in _ENDS)
    ends = [stop for end in _ENDS if (stop := text.find(end, at)) >= 0]
    return text[begin if begin > 1 else 0 : min(ends, default=len(text))]


@lru_cache(maxsize=1024)
def _words_for(claim: Claim) -> str:
    """One pattern for the words that may say a claim; empty where none are known."""
    want = claim.reading
    if want.kind == "time":
        return _CLOCK
    if want.kind != "plain" or want.value is None:
        return ""
    words: list[str] = []
    if want.value == 1 and want.unit:
        words.append(_ONE)
    elif 2 <= want.value <= 99 and want.value == want.value.to_integral_value():
        words.extend(_spelled(int(want.value)))
    elif want.value >= 100:
        words.append(_SCALES)
    if want.unit and want.unit.family == "time":
        words.extend(length for name, length in _LENGTHS.items() if name != want.unit.name)
    return "|".join(words)


def _spelled(number: int) -> Iterator[str]:
    """A number from 2 to 99 in each language."""
    tens, ones = divmod(number, 10)
    if number < 20 or not ones:
        at = number - 1 if number < 20 else 17 + tens
        yield from (names[at] for names in _LANGUAGES)
        yield f"{_LANGUAGES[0][at]}{_LASTING}"
    else:
        german, dutch, french, spanish, italian, portuguese = (
            (names[17 + tens], names[ones - 1]) for names in _LANGUAGES
        )
        yield f"{german[1].removesuffix('s') if ones == 1 else german[1]}und{german[0]}"
        yield f"{dutch[1]}en{dutch[0]}"
        yield rf"{french[0]}.(?:et.)?{french[1]}"
        yield f"{spanish[0]} y {spanish[1]}" if tens > 2 else f"veinti{spanish[1]}"
        yield f"{italian[0][:-1]}[aeiou]?{italian[1]}"
        yield f"{portuguese[0]} e {portuguese[1]}"
    if number >= 70:  # soixante-dix, quatre-vingt-dix
        below = number - (60 if number < 80 else 80)
        rest = _LANGUAGES[2][below - 1] if 0 < below < 20 else ""
        yield ("soixante" if number < 80 else "quatre.vingts?") + (f".(?:et.)?{rest}" if rest else "")


def _plain(text: str) -> str:
    """Small letters without accents, one for each character."""
    if not text.isascii():
        text = "".join(normalize("NFD", character)[0] for character in text)
    return text.lower().replace("ß", "s")
