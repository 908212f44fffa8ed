"""Words of other languages that may deny, suppose, limit or soften what their sentence holds.

The one idea: the cues and guards of this package read English. Of a sentence in another language they see nothing, so their
silence about it means nothing; there a single word of such a kind, wherever it stands, is doubt enough. What it reaches is not
looked at, and English is told by its own small words, since "die" and "son" are words there too.

Asked by :mod:`~tiered_eval.text.frames` once something is found.
"""

from __future__ import annotations

import re

import re2

__all__ = ["ENGLISH_SIGNS", "FOREIGN_SIGNS", "foreign_doubt", "is_english"]

_OF_ENGLISH = r"\b(?:the|of|and|it|are|you|your|has|have|this|that|with|were|from|they|which|would|should|there|their|its|she|he|i|we)\b"
_GERMAN = """
    nicht kein keine keinen keinem keiner keines nie niemals niemand nirgends ohne weder ausser außer anstatt statt
    wenn falls sofern wäre wären würde würden könnte könnten sollte hätte hätten soll sollen ob entweder
    angeblich vielleicht vermutlich wahrscheinlich womöglich eventuell wohl laut früher bisher ehemals ehemalige vorher zuvor
    rund etwa ungefähr circa knapp über unter mindestens höchstens maximal minimal bis mehr weniger gegen nur teilweise
    glaube glaubt denke meine angenommen gesagt heißt von\\s\\S+\\sauf fast\\s\\d verkürzt verlängert ersetzt abgelehnt storniert
"""
_FRENCH = """
    pas jamais aucun aucune sans sauf ni plutôt si serait seraient pourrait pourraient devrait aurait auraient
    crois croit pense dit avant supposons peut-être selon soi-disant probablement prétendument sans\\sdoute auparavant autrefois ancien ancienne
    environ près presque plus moins jusqu au-delà entre uniquement seulement partiellement à\\speu\\sprès passé remplacé refusé annulé lieu
"""
_SPANISH = """
    nunca jamás sin ningún ninguna ninguno ni tampoco excepto salvo si sería serían podría podrían debería habría tendría
    creo cree pienso parece dicen supongamos quizás quizá supuestamente según probablemente acaso antes antiguamente anterior
    unos unas aproximadamente casi cerca más menos hasta entre alrededor solo sólo solamente parcialmente bajó subió pasó
"""
_OTHERS = """
    credo penso acho penso dicono denk zegt myślę думаю говорят non mai senza nessun nessuna neanche tranne se sarebbe potrebbe forse secondo presunto prima circa quasi più meno almeno fino
    não nem sem nenhum nenhuma exceto seria poderia talvez supostamente antes cerca quase mais menos até
    niet geen nooit zonder behalve als zou zouden misschien volgens vroeger ongeveer bijna meer minder tot
    ikke ingen aldri uten hvis ville kanskje cirka inte aldrig utan om skulle kanske ungefär
    nie bez jeśli gdyby może podobno około prawie tylko ne není nikdy
    не нет ни без никогда если бы может около почти только до
"""
_UNSPACED = "不|错|没|沒|未|無|无|非|别|如果|若|约|約|ない|ません|なかった|もし|않|없|아니|만약|약"
_WORDS = "|".join(dict.fromkeys(f"{_GERMAN} {_FRENCH} {_SPANISH} {_OTHERS}".split()))
FOREIGN_SIGNS = rf"(?i:(?:^|[^\pL\pN_])(?:(?:{_WORDS})(?:[^\pL\pN_]|$)|[nj]['’]\pL|ne\s)|{_UNSPACED})"
"""For RE2: a text without any of these is turned round by no word of another language."""
_DOUBTFUL = re2.compile(FOREIGN_SIGNS)


_ENGLISH = re.compile(_OF_ENGLISH, re.IGNORECASE)
ENGLISH_SIGNS = f"(?i:{_OF_ENGLISH})"
_ASCII_ENGLISH = re2.compile(ENGLISH_SIGNS)
"""For ASCII, in which RE2 finds what ``re`` finds, several times faster."""


def is_english(sentence: str) -> bool:
    """Does a sentence hold one of the small words that only English has?"""
    return (_ASCII_ENGLISH if sentence.isascii() else _ENGLISH).search(sentence) is not None


def foreign_doubt(sentence: str) -> str | None:
    """Why a sentence that is not English may not state what it holds; None where no such word is in it."""
    if is_english(sentence):
        return None
    readable = sentence.encode("utf-8", "replace").decode("utf-8")  # RE2 cannot take a lone surrogate
    return "another language, with a word that may turn it round" if _DOUBTFUL.search(readable) else None
