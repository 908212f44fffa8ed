"""Fixtures that modules name without importing them."""

from planted_keys import planted_keys

__all__ = ["planted_keys"]
