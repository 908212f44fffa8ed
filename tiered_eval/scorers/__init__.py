"""One file a scorer or close family; each names its tier. The table of them is :mod:`tiered_eval.catalogue`."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile
from tiered_eval.scorers.base import Scorer

__all__ = ["load_scorer"]


def load_scorer(name: str, profile: Profile) -> Scorer:
    """The scorer of that name, its module imported now.

    Raises:
        ConfigError: there is none of that name; the message has the nearest one.
    """
    info = CATALOGUE.find(name)
    if info is None:
        raise ConfigError(
            f"there is no scorer {name!r}; the scorers are {', '.join(info.name for info in CATALOGUE)}"
        )
    module, _, attribute = info.target.partition(":")
    return cast(Scorer, getattr(import_module(module), attribute)(profile))
