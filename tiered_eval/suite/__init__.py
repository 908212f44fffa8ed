"""A suite in: reads YAML, JSON, JSON Lines, CSV and Python, and checks everything before a cent is spent.

Start at :func:`load_suite`. The format for authors is in ``docs/suites.md``.
"""

from tiered_eval.suite.loading import load_suite

__all__ = ["load_suite"]
