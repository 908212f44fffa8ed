"""A model provider on this machine: Anthropic Messages, OpenAI Chat, Responses, Embeddings and Decisions, and the
batches of both, over real HTTP.

The one idea: everything that can go wrong at a provider can be asked for here, at a set latency and under a set
limit, and the server keeps its own bill to compare ours with.

- ``async with serve_loopback(settings) as server:`` in the event loop of a test;
- ``with loopback_process("--latency", "1.0") as url:`` or ``python -m tiered_eval.testing.loopback`` as a process of
  its own, for benchmarks, where the server's work must not count as ours.

Needs aiohttp: ``pip install 'tiered-eval[testing]'``.
"""

from __future__ import annotations

from tiered_eval.testing.loopback.process import loopback_process
from tiered_eval.testing.loopback.settings import BATCH_FAULTS, FAULTS, ITEM_FAULTS, LoopbackSettings

try:
    from tiered_eval.testing.loopback.server import LoopbackServer, serve_loopback
    from tiered_eval.testing.loopback.work import LoggedCall
except ModuleNotFoundError as error:
    if error.name != "aiohttp":
        raise
    raise ImportError(
        "tiered_eval.testing.loopback needs aiohttp: pip install 'tiered-eval[testing]'"
    ) from error

__all__ = [
    "BATCH_FAULTS",
    "FAULTS",
    "ITEM_FAULTS",
    "LoggedCall",
    "LoopbackServer",
    "LoopbackSettings",
    "loopback_process",
    "serve_loopback",
]
