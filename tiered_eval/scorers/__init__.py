"""One file a scorer or close family; each names its tier. The table of them is :mod:`tiered_eval.catalogue`."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tiered_eval.catalogue import CATALOGUE, Catalogue
from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile
from tiered_eval.scorers.base import Scorer
from tiered_eval.scorers.time_limits import LeftS, no_end

__all__ = ["load_scorer"]


def load_scorer(
    name: str, profile: Profile, catalogue: Catalogue = CATALOGUE, left_s: LeftS = no_end
) -> Scorer:
    """The scorer of that name, its module imported now. ``left_s`` bounds the calls of those of the user's own.

    Raises:
        ConfigError: there is none of that name, or it is the user's own and cannot be made.
    """
    info = catalogue.find(name)
    if info is None:
        missing = catalogue.why_missing(name)
        if missing is not None:
            raise ConfigError(f"{missing.message}; {missing.fix}")
        raise ConfigError(
            f"there is no scorer {name!r}; the scorers are {', '.join(info.name for info in catalogue)}"
        )
    if info.code is not None:
        from tiered_eval.scorers.custom import own_scorer

        return own_scorer(info, profile, left_s)
    module, _, attribute = info.target.partition(":")
    return cast(Scorer, getattr(import_module(module), attribute)(profile))
