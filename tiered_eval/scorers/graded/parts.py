"""Cuts a text into numbered parts, so that a model is asked about each and can leave none out.

The one idea: who extracts the claims decides what is checked. Left to the model, a claim that it does not like, or that the
text tells it to skip, is not on the list and lowers no share. Sentences are cut here, for nothing and every time alike;
where there are too many, neighbours share a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tiered_eval.prompting import MAX_JUDGED_CHARS, as_json
from tiered_eval.text.sentences import split_sentences

__all__ = ["MOST_PARTS", "Part", "as_statements", "ids_of", "parts_of", "too_long"]

MOST_PARTS = 60
"""Of one question; more would make the answer long, and the model careless."""


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence, or several that stand together."""

    text: str
    start: int
    """Offset in the text that was cut."""
    end: int


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a text in order; at most :data:`MOST_PARTS`, and none without a letter or digit."""
    sentences = [
        sentence
        for sentence in split_sentences(text)
        if any(map(str.isalnum, text[sentence.start : sentence.end]))
    ]
    size = -(-len(sentences) // MOST_PARTS) or 1
    groups = [sentences[at : at + size] for at in range(0, len(sentences), size)]
    return tuple(
        Part(text[group[0].start : group[-1].end], group[0].start, group[-1].end) for group in groups
    )


def too_long(parts: Sequence[Part]) -> str | None:
    """Why these parts cannot be asked about, if so: a part whose middle was cut out cannot be judged."""
    characters = len(as_json(as_statements(parts)))
    if characters > MAX_JUDGED_CHARS:
        return f"{characters:,} characters are too many to be judged part by part"
    return None


def ids_of(parts: Sequence[Part]) -> tuple[str, ...]:
    """``S1``, ``S2`` and so on."""
    return tuple(f"S{number}" for number in range(1, len(parts) + 1))


def as_statements(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """The parts as they stand in a question."""
    return [{"id": name, "text": part.text} for name, part in zip(ids_of(parts), parts, strict=True)]
