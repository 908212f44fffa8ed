"""What an entry of the table of scorers is: its name, its cost, what may be set, and where its code is.

The one idea: entries are strings, so that whatever must know a scorer before it runs can do so without importing it.
The entries themselves stand in the neighbouring modules, one a family.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from tiered_eval.records import TIERS, Tier

__all__ = [
    "KINDS",
    "NEGATION",
    "Alias",
    "Catalogue",
    "Named",
    "Need",
    "OptionInfo",
    "OptionType",
    "ScorerInfo",
    "ValueType",
    "canonical",
    "nearest",
]

KINDS: tuple[str, ...] = (
    "must-contain",
    "must-not-contain",
    "must-cite",
    "equivalent",
    "behaviour",
    "requirement",
    "rubric",
    "check",
)
"""What can be claimed about a response; ``check`` claims what its scorer says, and is written as the scorer's name."""

NEGATION = "not-"
"""Before a kind or a scorer's name it turns the verdict round: pass and fail change places, and nothing else does."""

LONGEST_NAME = 64

OptionType: TypeAlias = Literal["text", "texts", "flag", "number", "decimal", "integer", "levels", "json"]
"""``decimal`` is kept exactly as written, ``number`` is a float; ``levels`` are a rubric's, worst first."""

Need: TypeAlias = Literal["input", "context"]
"""What of a case a scorer cannot do without."""

ValueType: TypeAlias = Literal["texts", "reference", "json", "decimal", "duration", "none"]
"""How what is expected is read. ``texts``: one or several, any or all of which must hold. ``reference``: one text or a
list of them, kept together, or JSON. ``json``: as it is. ``decimal``, ``duration`` (in seconds): a limit. ``none``:
there is nothing to expect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionInfo:
    """One thing that an author may set on an expectation."""

    name: str
    type: OptionType
    help: str
    default: str = ""
    """As an author would write it; empty where there is none."""
    low: float | None = None
    """Smallest value that is allowed."""
    high: float | None = None
    above: float | None = None
    """The value must be larger than this."""
    beyond: str = ""
    """What to do where a value is out of range, since it was probably meant otherwise."""
    choices: tuple[str, ...] = ()
    choices_that_run_code: tuple[str, ...] = ()
    """Those that run code on this machine as its user; they are allowed as ``ScorerInfo.runs_code`` is, and warned of."""
    kinds: tuple[str, ...] = ()
    """The kinds it is for; empty where it is for all that the scorer can check."""
    aliases: tuple[str, ...] = ()
    """Other tools' names for it."""
    is_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """Another name for a scorer, which may stand for some of its options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerInfo:
    """One scorer, as far as it can be known without importing it."""

    name: str
    tier: Tier
    target: str
    """``module:Class`` of the code."""
    summary: str
    kinds: tuple[str, ...] = ("check",)
    """The kinds of expectation that it can check."""
    key_kind: str = "check"
    """The kind that its name stands for when it is the key of an entry, as in ``- levenshtein: ...``."""
    aliases: tuple[Alias, ...] = ()
    value: ValueType = "texts"
    is_value_optional: bool = False
    options: tuple[OptionInfo, ...] = ()
    example: str = ""
    """One list entry of ``expect:``, in YAML."""
    is_routed: bool = True
    """May the router choose it, or does it run only where an author pins it?"""
    needs: tuple[Need, ...] = ()
    """What a case has to have next to its response; lint refuses one without."""
    runs_code: bool = False
    """Does it run code that the suite names? Then its user must have allowed that."""
    check: str = ""
    """``module:function`` that is given value and options at load, and says what is wrong; empty where nothing more is."""
    packages: tuple[str, ...] = ()
    """Modules of the extra ``text`` that it cannot work without; where what is expected is optional, only with it."""
    code: Any = None
    """A scorer that does not ship: what was declared of it (:mod:`tiered_eval.catalogue.declaring`), instead of ``target``."""
    origin: str = ""
    """Where a scorer that does not ship was found, for people."""

    @property
    def required(self) -> tuple[str, ...]:
        """The options that an author must give."""
        return tuple(option.name for option in self.options if option.is_required)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a name stands for: a scorer, and the options that the name implies."""

    scorer: ScorerInfo
    options: Mapping[str, Any] = field(default_factory=dict)


class Missing(NamedTuple):
    """Why a name stands for nothing, where there is more to say than that nobody knows it."""

    rule: str
    message: str
    fix: str


class Catalogue:
    """The scorers that a suite may name, in the order of their cost."""

    def __init__(self, scorers: Iterable[ScorerInfo]) -> None:
        self.scorers: tuple[ScorerInfo, ...] = ()
        self._named: dict[str, Named] = {}
        self._add(scorers)

    def _add(self, scorers: Iterable[ScorerInfo]) -> None:
        added = tuple(scorers)
        named: dict[str, Named] = {}
        for scorer in added:
            for alias in (Alias(name=scorer.name), *scorer.aliases):
                if alias.name in self._named or alias.name in named:
                    raise ValueError(f"two scorers are called {alias.name}")
                named[alias.name] = Named(scorer=scorer, options=alias.options)
        self.scorers = tuple(sorted((*self.scorers, *added), key=lambda scorer: TIERS.index(scorer.tier)))
        self._named.update(named)

    def __iter__(self) -> Iterator[ScorerInfo]:
        return iter(self.scorers)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name and alias."""
        return tuple(self._named)

    def find(self, name: str) -> ScorerInfo | None:
        """The scorer of that name or alias."""
        named = self.named(name)
        return None if named is None else named.scorer

    def named(self, name: str) -> Named | None:
        """What a name or alias stands for; underscores and hyphens are the same."""
        return self._named.get(name) or self._named.get(canonical(name))

    def why_missing(self, name: str) -> Missing | None:
        """Why there is no such name; None where all that can be said is that nobody knows it."""
        return None

    def options_for(self, kind: str, scorer: str | None, *, escalate: bool = False) -> dict[str, OptionInfo]:
        """What may be set: the pinned scorer's options, or those of every scorer that the kind may reach."""
        reached = [
            info
            for info in self.scorers
            if info.name == scorer or ((scorer is None or escalate) and info.is_routed and kind in info.kinds)
        ]
        return {
            option.name: option
            for info in reached
            for option in info.options
            if not option.kinds or kind in option.kinds
        }


def canonical(name: str) -> str:
    """A name as the table writes it."""
    return name.strip().lower().replace("_", "-") if len(name) <= LONGEST_NAME else name


@lru_cache(maxsize=1024)
def nearest(name: str, known: tuple[str, ...], likeness: float = 0.6) -> str | None:
    """The known name that ``name`` was probably meant to be, if one is close: ``likeness`` in [0, 1]."""
    if len(name) > LONGEST_NAME:
        return None  # comparing takes time in the square of the length
    close = get_close_matches(name.lower().replace("_", "-"), known, n=1, cutoff=likeness)
    close = close or get_close_matches(name.lower(), known, n=1, cutoff=likeness)
    return close[0] if close else None
