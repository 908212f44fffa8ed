"""The thresholds at which a score is good enough, each for one source and one kind.

The one idea: a threshold means nothing without the scorer or embedder that made the score and the kind of
expectation it was measured on: 0.75 lets everything pass for one embedder and nothing for another. So a
profile answers for a pair only, and where it has no answer the step climbs.

The shipped profile is ``default.json`` beside this module; users name their own file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tiered_eval.errors import ConfigError

__all__ = ["ANY_KIND", "Profile", "load_profile"]

ANY_KIND = "*"
"""In place of a kind: holds for every kind of that source that has no entry of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Thresholds by source (a scorer's name or an embedder's id) and kind."""

    name: str
    thresholds: Mapping[str, Mapping[str, float]]

    def threshold(self, source: str, kind: str) -> float | None:
        """The least score in [0, 1] that passes; None where none was measured, and then the step climbs."""
        kinds = self.thresholds.get(source)
        if kinds is None:
            return None
        return kinds.get(kind, kinds.get(ANY_KIND))


def load_profile(path: Path | None = None) -> Profile:
    """The profile in a JSON file, or the shipped one.

    Raises:
        ConfigError: the file cannot be read or is not a profile; the message names the entry.
    """
    if path is None:
        return _shipped()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the profile {path} cannot be read: {error}") from error
    return parse_profile(text, place=str(path))


@lru_cache(maxsize=1)
def _shipped() -> Profile:
    text = (files("tiered_eval.profiles") / "default.json").read_text(encoding="utf-8")
    return parse_profile(text, place="the shipped profile")


def parse_profile(text: str, *, place: str) -> Profile:
    """A profile from its JSON text; ``place`` names it in messages.

    Raises:
        ConfigError: as for :func:`load_profile`.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place}: not JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("thresholds"), dict):
        raise ConfigError(f'{place}: a profile is an object with "thresholds": {{source: {{kind: number}}}}')
    thresholds = {
        source: MappingProxyType(_checked(kinds, f"{place}: thresholds.{source}"))
        for source, kinds in data["thresholds"].items()
    }
    return Profile(name=str(data.get("name", place)), thresholds=MappingProxyType(thresholds))


def _checked(kinds: Any, where: str) -> dict[str, float]:
    if not isinstance(kinds, dict):
        raise ConfigError(f"{where}: kind to number is needed, found {kinds!r}")
    for kind, value in kinds.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0.0 <= value <= 1.0:
            raise ConfigError(f"{where}.{kind}: a number from 0 to 1 is needed, found {value!r}")
    return {kind: float(value) for kind, value in kinds.items()}
