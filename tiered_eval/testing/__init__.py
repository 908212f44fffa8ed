"""Fakes for testing suites, scorers and whatever is built on them: no key, no network, no waiting.

- :mod:`~tiered_eval.testing.builders`: a case or an expectation in one line;
- :mod:`~tiered_eval.testing.scripted`: a provider and an embedder that answer as told;
- :mod:`~tiered_eval.testing.clock`: a clock that a test moves by hand;
- :mod:`~tiered_eval.testing.virtual_time`: an event loop whose clock jumps, for whole runs;
- :mod:`~tiered_eval.testing.loopback`: a provider over real HTTP, with limits, faults and a bill (needs aiohttp, the
  ``testing`` extra, so it is imported from there).
"""

from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.scripted import ScriptedEmbedder, ScriptedProvider
from tiered_eval.testing.virtual_time import VirtualTimeLoop, run_in_virtual_time

__all__ = [
    "HandClock",
    "ScriptedEmbedder",
    "ScriptedProvider",
    "VirtualTimeLoop",
    "make_case",
    "make_expectation",
    "run_in_virtual_time",
]
