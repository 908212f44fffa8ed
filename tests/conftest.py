"""Fixtures that modules name without importing them."""

from forked_runs import zygote
from planted_keys import planted_keys

__all__ = ["planted_keys", "zygote"]
