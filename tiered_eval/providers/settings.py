"""What a provider is told when it is opened. Keys are not here: each provider reads its own from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ProviderSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """Settings that all providers share."""

    request_timeout_s: float = 120.0
    """Longest silence of a connection. The bound on a whole attempt comes with each call."""
    concurrency: int = 64
    """Calls open at once, at most: the connection pool is a little larger, so nobody waits in it."""
    recordings: Path | None = None
    """Folder (or one file) of recorded replies, for ``replay``."""
    base_urls: Mapping[str, str] = field(default_factory=dict)
    """Prefix to base URL; wins over the environment."""
    compatible: str | None = None
    """Profile of the server behind ``compatible:``; None takes ``TIERED_EVAL_COMPATIBLE_PROFILE``, else ``generic``."""
    requires_key: bool = False
    """Refuse to open a provider without its key. Off where kept replies may answer everything."""
