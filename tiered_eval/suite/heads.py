"""Finds what an entry of ``expect:`` is about: the key that is a kind, or the name of a scorer.

The one idea: every kind, scorer and alias of the catalogue works as a key, with ``not-`` before it or without. A kind
wins over a scorer's name, and a key that another key has as an option (``field``, ``equals``) is that option.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tiered_eval.catalogue import KINDS, NEGATION, Catalogue, ScorerInfo, ValueType, canonical
from tiered_eval.records import HOOK_STAGES

__all__ = ["COMMON_SETTINGS", "VALUE_ALIASES", "VALUE_NAMES", "Head", "find_head", "heads_of"]

COMMON_SETTINGS = frozenset(
    {"id", "weight", "dimension", "tags", "scorer", "enabled", "escalate", *HOOK_STAGES}
)
"""What every expectation may have."""

VALUE_NAMES = ("value", "values", "any", "all")
VALUE_ALIASES = {"criteria": "value", "criterion": "value", "text": "value", "expected": "value"}
_POINTERS = frozenset({*VALUE_NAMES, "ground_truth_field"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The key of an entry, and what it stands for."""

    key: str
    kind: str
    scorer: ScorerInfo | None = None
    """Pinned by the key; None where the key is a kind."""
    implied: Mapping[str, Any] = field(default_factory=dict)
    negated: bool = False

    @property
    def value_type(self) -> ValueType:
        return "texts" if self.scorer is None else self.scorer.value

    @property
    def id_stem(self) -> str:
        name = self.kind if self.scorer is None else self.scorer.name
        return f"{NEGATION}{name}" if self.negated else name

    def turned(self) -> Head:
        """The opposite claim."""
        return replace(self, negated=not self.negated)

    def takes_settings(self, raw: Mapping[str, Any]) -> bool:
        """Is a mapping behind the key the long form, and not a JSON value that is expected?"""
        if self.scorer is None or self.value_type not in ("json", "reference"):
            return True
        known = {name for option in self.scorer.options for name in (option.name, *option.aliases)}
        return not _POINTERS.isdisjoint(raw) or raw.keys() <= known | COMMON_SETTINGS

    def may_go_without_value(self, settings: Mapping[str, Any]) -> bool:
        """Does it expect nothing, or is what it expects elsewhere?"""
        if self.scorer is None:
            return False
        is_elsewhere = "ground_truth_field" in settings and self.scorer.value != "texts"
        return self.scorer.is_value_optional or is_elsewhere


def find_head(key: str, catalogue: Catalogue) -> Head | None:
    """What a key stands for; None where it is neither a kind nor a scorer."""
    if key in KINDS:
        return Head(key=key, kind=key)
    negated = canonical(key).startswith(NEGATION)
    name = (
        key.strip()[len(NEGATION) :] if negated else key
    )  # as it was written: module:function has its own spelling
    if negated and canonical(name) in KINDS:
        return Head(key=key, kind=canonical(name), negated=True)
    named = catalogue.named(name)
    if named is None:
        return None
    return Head(
        key=key, kind=named.scorer.key_kind, scorer=named.scorer, implied=named.options, negated=negated
    )


def heads_of(entry: Mapping[str, Any], catalogue: Catalogue) -> list[Head]:
    """The keys that an entry may be about; one in an entry that is right."""
    kinds = [Head(key=key, kind=key) for key in entry if key in KINDS]
    if kinds:
        return kinds
    heads = [head for key in entry if (head := find_head(str(key), catalogue))]
    if len(heads) < 2:
        return heads
    others = {head.key for head in heads}
    for head in heads:
        options = () if head.scorer is None else head.scorer.options
        if others - {head.key} <= {option.name for option in options}:
            return [head]
    return heads
