"""The table of scorers of one suite: those that ship, and those of its author, of the caller, and of installed packages.

The one idea: others' scorers are looked for when a name comes up that does not ship, and not before. A suite that names
none imports nothing, and one that names one gets all of its folder, so that two of a name are seen.

Four places, and what they need: ``scorers={...}`` of the caller and the entry points of installed packages are trusted; the
suite's ``scorers/`` folder and ``module:function`` are the suite's code, which its user must have allowed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from tiered_eval.catalogue import (
    CATALOGUE,
    KINDS,
    NEGATION,
    Catalogue,
    Missing,
    Named,
    ScorerInfo,
    canonical,
)
from tiered_eval.catalogue.declaring import LONGEST_PATH, code_digest, declaration_of, info_of
from tiered_eval.catalogue.entries import LONGEST_NAME
from tiered_eval.errors import ConfigError
from tiered_eval.suite.code import FOLDER, SuiteCode, place_of
from tiered_eval.suite.heads import COMMON_SETTINGS, VALUE_ALIASES, VALUE_NAMES
from tiered_eval.suite.installed import Installed, find_installed, load_point, place_of_point
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.python_reader import is_python_name

__all__ = ["OwnCatalogue", "own_catalogue"]

MOST_FAULTS = 1000
"""Names that are remembered as nothing that may be had; a suite may hold a million of them."""

_NEVER_AN_OPTION = frozenset({*COMMON_SETTINGS, *VALUE_NAMES, *VALUE_ALIASES, "kind", "primitive"})

NAMES_SHOWN = 10
"""Of the scorers in the folder, where one is not among them."""

_BY_HAND = "scorers given by hand"


class OwnCatalogue(Catalogue):
    """The scorers that ship, and others as they are named.

    Args:
        base: those that are known already.
        code: what the suite may run.
        given: the caller's, by name.

    Raises:
        ConfigError: one of ``given`` is no scorer, or its name is taken.
    """

    def __init__(self, base: Catalogue, code: SuiteCode, given: Mapping[str, Any] | None = None) -> None:
        super().__init__(base)
        self.code = code
        self._reserved = _reserved(base)
        self._faults: dict[str, Missing] = {}
        self._installed: Installed | None = None
        self._has_folder_read = False
        self._folder_fault: Missing | None = None
        if isinstance(base, OwnCatalogue):  # what was found there is in the table already
            self._installed = base._installed
            self._has_folder_read, self._folder_fault = base._has_folder_read, base._folder_fault
        for name, scorer in (given or {}).items():
            self._register(info_of(name, scorer, origin=_BY_HAND))

    @property
    def own(self) -> tuple[ScorerInfo, ...]:
        """Those that do not ship and are known so far."""
        return tuple(info for info in self.scorers if info.code is not None)

    @property
    def digests(self) -> dict[str, str]:
        """The same by name, each with a digest of the file that its code stands in."""
        return {info.name: code_digest(info.code.code) for info in self.own}

    def named(self, name: str) -> Named | None:
        """What a name stands for; one that nobody has asked for yet is looked for now."""
        if name in self._reserved:  # a setting, as most keys of most entries are
            return None
        found = super().named(name)
        if found is not None or name in self._faults or canonical(name) in self._reserved:
            return found
        if len(name) > LONGEST_PATH or len(self._faults) >= MOST_FAULTS:
            return None
        if not is_python_name(name):
            name = canonical(name).removeprefix(NEGATION)
        try:
            self._look(name)
        except Unreadable as fault:
            self._faults[name] = Missing(fault.rule, fault.message, fault.fix)
        except ConfigError as fault:
            self._faults[name] = _bad(fault)
        return super().named(name)

    def why_missing(self, name: str) -> Missing | None:
        """Why a name stands for nothing, where somebody may have meant code by it."""
        return self._faults.get(name) or self._faults.get(canonical(name).removeprefix(NEGATION))

    def read_everything(self) -> tuple[str, ...]:
        """Look into the folder and at what is installed, whether it is named or not; and what is wrong with packages.

        Raises:
            ConfigError: something in the folder cannot be used.
        """
        try:
            if self.code.has_folder:
                self._read_folder()
        except Unreadable as fault:
            raise ConfigError(f"{fault.message}; {fault.fix}") from fault
        installed = self._all_installed()
        faults = dict(installed.faults)
        for name in installed.points:
            try:
                self._take_installed(name)
            except Unreadable as fault:
                faults[name] = fault.message
            except ConfigError as fault:
                faults[name] = str(fault)
        return tuple(faults.values())

    def _look(self, name: str) -> None:
        """Look for one name in all places that there are.

        Raises:
            Unreadable, ConfigError: there may be such a scorer, and it cannot be had.
        """
        if is_python_name(name):
            found, place = self.code.find(name)
            self._register(info_of(name, found, origin=place))
            return
        point = self._all_installed().points.get(name)
        if self.code.has_folder and (point is None or self.code.allow_code):
            self.code.check_allowed(f'"{name}" is nothing that ships; it may stand in {FOLDER}/, which')
            self._read_folder()
        if super().named(name) is None:
            self._take_installed(name)
        if self.code.has_folder and super().named(name) is None and _may_be_a_name(name):
            raise self._not_in_folder(name)

    def _not_in_folder(self, name: str) -> Unreadable:
        """Somebody may have forgotten to declare it."""
        found = [info.name for info in self.own if info.origin.startswith(f"{FOLDER}/")]
        shown = f"only {', '.join(found[:NAMES_SHOWN])}" if found else "none"
        more = f" and {len(found) - NAMES_SHOWN:,} more" if len(found) > NAMES_SHOWN else ""
        return Unreadable(
            line=None,
            rule="no-scorer",
            message=f'"{name}" is nothing that ships, and of the scorers in {FOLDER}/ there is {shown}{more}',
            fix=f"write `kind: value`; or put @tiered_eval.scorer() over the function in a file of {FOLDER}/ whose name "
            "does not begin with _",
        )

    def _read_folder(self) -> None:
        """Register everything in the folder, once; a fault in it is the fault of each of its names."""
        if self._folder_fault is not None:
            raise Unreadable(line=None, **self._folder_fault._asdict())
        if self._has_folder_read:
            return
        self._has_folder_read = True
        try:
            self._register(
                *(
                    info_of(name, scorer, origin=_line_of(scorer, module))
                    for module in self.code.modules().values()
                    for name, scorer in _scorers_in(module)
                )
            )
        except Unreadable as fault:
            self._folder_fault = Missing(fault.rule, fault.message, fault.fix)
            raise
        except ConfigError as fault:
            self._folder_fault = _bad(fault)
            raise

    def _register(self, *infos: ScorerInfo) -> None:
        """Add some, or none of them where the name of one is taken; a function that was named twice stays one.

        Raises:
            ConfigError: a name is taken; the message has both places.
        """
        added: dict[str, ScorerInfo] = {}
        for info in infos:
            there = super().named(info.name)
            other = there.scorer if there is not None else added.get(info.name)
            if other is None:
                self._check_free(info)
                added[info.name] = info
            elif other.code is None:
                raise ConfigError(f"{info.origin}: {info.name!r} is a scorer that ships; choose another name")
            elif other.code.code is not info.code.code:
                raise _twice(info.name, other.origin, info.origin)
        self._add(added.values())

    def _check_free(self, info: ScorerInfo) -> None:
        if info.name in self._reserved:
            raise ConfigError(
                f"{info.origin}: {info.name!r} is the name of a kind or an option; choose another"
            )
        taken = next((one.name for one in info.options if one.name in _NEVER_AN_OPTION), None)
        if taken is not None:
            raise ConfigError(
                f"{info.origin}: the scorer {info.name!r}: what a suite sets as {taken!r} is never an option of a scorer; "
                "choose another name"
            )
        point = None if self._installed is None else self._installed.points.get(info.name)
        if point is not None and info.origin != place_of_point(point):
            raise _twice(info.name, info.origin, place_of_point(point))

    def _all_installed(self) -> Installed:
        if self._installed is None:
            self._installed = find_installed()
        return self._installed

    def _take_installed(self, name: str) -> None:
        """Register what an installed package brings under that name, if one does.

        Raises:
            Unreadable, ConfigError: it cannot be had.
        """
        points, faults = self._all_installed()
        if name in faults:
            raise ConfigError(faults[name])
        if name in points:
            point = points[name]
            self._register(info_of(name, load_point(point), origin=place_of_point(point)))


def own_catalogue(
    code: SuiteCode | None = None,
    scorers: Mapping[str, Any] | None = None,
    *,
    base: Catalogue | None = None,
) -> OwnCatalogue:
    """The table for a suite; or without ``code`` for what is made in Python, whose caller says by calling that code may run.

    Raises:
        ConfigError: one of ``scorers`` is no scorer, or its name is taken.
    """
    if isinstance(base, OwnCatalogue) and code is None:
        if not scorers:
            return base
        code = base.code
    return OwnCatalogue(base or CATALOGUE, code or SuiteCode(None, allow_code=True), scorers)


def _reserved(base: Catalogue) -> frozenset[str]:
    """Keys of an entry that are never a scorer of somebody's own: looking for each of them would import what nobody named."""
    options = {name for info in base for option in info.options for name in (option.name, *option.aliases)}
    names = {*COMMON_SETTINGS, *VALUE_NAMES, *VALUE_ALIASES, *KINDS, *options, "kind", "primitive", "auto"}
    return frozenset({*names, *map(canonical, names)} - set(base.names))


def _scorers_in(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What a file declares: its ``SCORERS``, and what the decorator marked in it."""
    listed = getattr(module, "SCORERS", {})
    if not isinstance(listed, Mapping):
        raise ConfigError(f"{place_of(module)}: SCORERS must be a mapping of names to functions or classes")
    yield from listed.items()
    known = [id(scorer) for scorer in listed.values()]
    for scorer in vars(module).values():
        declared = declaration_of(scorer)
        is_here = getattr(scorer, "__module__", None) == module.__name__
        if declared is not None and is_here and id(scorer) not in known:
            known.append(id(scorer))
            yield str(declared.name), scorer


def _line_of(scorer: Any, module: ModuleType) -> str:
    try:
        lines: Callable[[Any], tuple[object, int]] = inspect.getsourcelines
        return f"{place_of(module)}:{lines(inspect.unwrap(scorer))[1]}"
    except (OSError, TypeError, ValueError):
        return place_of(module)


def _may_be_a_name(text: str) -> bool:
    """Is it rather a name than a text that was written without its kind?"""
    return len(text) <= LONGEST_NAME and not any(character.isspace() for character in text)


def _twice(name: str, one: str, other: str) -> ConfigError:
    return ConfigError(f"two scorers are called {name!r}: {one} and {other}; rename one")


def _bad(fault: ConfigError) -> Missing:
    return Missing("bad-scorer", str(fault), "mend it")
