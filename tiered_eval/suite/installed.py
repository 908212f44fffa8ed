"""The scorers that installed packages bring, by the entry point group ``tiered_eval.scorers``.

The one idea: a package that is broken, or clashes with another one, is the matter of those who name its scorer. All others
run as if it were not there, and ``tiered-eval scorers`` lists it with what is wrong.

Used by :mod:`tiered_eval.suite.own_scorers`. None of the packages is imported here before its scorer is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tiered_eval.catalogue import canonical
from tiered_eval.errors import ConfigError, message_of
from tiered_eval.suite.python_reader import import_foreign

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "Installed", "find_installed", "load_point", "place_of_point"]

GROUP = "tiered_eval.scorers"
"""The entry points by which a package brings scorers: ``name = "module:function"``."""


class Installed(NamedTuple):
    """What installed packages say that they bring."""

    points: dict[str, EntryPoint]
    faults: dict[str, str]
    """Why a name cannot be had; under ``package NAME``, which no scorer can be called, why none of a package's can."""


def find_installed() -> Installed:
    """The entry points by name; none of them is imported."""
    found = Installed({}, {})
    for point in _points(found.faults):
        name = canonical(point.name)
        other = found.points.setdefault(name, point)
        if not point.pattern.match(point.value or "") or not point.attr:
            found.faults[name] = (
                f"{name!r} of the installed package {_package_of(point)}: {point.value!r} is not module:function"
            )
        elif (other.value, _package_of(other)) != (point.value, _package_of(point)):
            places = " and ".join(sorted(map(place_of_point, (other, point))))
            found.faults[name] = f"two scorers are called {name!r}: {places}; rename one"
    return found


def load_point(point: EntryPoint) -> Any:
    """What an entry point names.

    Raises:
        Unreadable: its module cannot be imported.
        ConfigError: there is no such thing in it.
    """
    found: Any = import_foreign(point.module, place_of_point(point))
    for part in point.attr.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"{place_of_point(point)}: {point.module} has no {point.attr}")
        found = getattr(found, part)
    return found


def place_of_point(point: EntryPoint) -> str:
    """An entry point as people know it."""
    return f"{point.value} of the installed package {_package_of(point)}"


def _points(faults: dict[str, str]) -> Iterator[EntryPoint]:
    """The entry points of the group; a package whose list of them cannot be read is told in ``faults``."""
    from importlib import metadata  # slow to import, and seldom needed

    try:
        yield from metadata.entry_points(group=GROUP)
    except (TypeError, ValueError, AttributeError, KeyError, OSError):
        seen: set[str] = set()
        for package in metadata.distributions():
            name = str(package.name)
            if name in seen:
                continue  # the first on the path is the one that is imported
            seen.add(name)
            try:
                yield from package.entry_points.select(group=GROUP)
            except (TypeError, ValueError, AttributeError, KeyError, OSError) as fault:
                faults[f"package {name}"] = (
                    f"the entry points of the installed package {name} cannot be read: {message_of(fault)}"
                )


def _package_of(point: EntryPoint) -> str:
    return (
        str(point.dist.name)
        if point.dist is not None
        else str(point.value).partition(":")[0].partition(".")[0]
    )
