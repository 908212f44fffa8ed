"""What a scorer says where the package that it computes with is not installed.

The one idea: a figure that cannot be computed is no verdict. The suite's loader refuses such a scorer before anything runs
(``ScorerInfo.packages``); whoever gets past it, by calling the scorer, is told the same.
"""

from __future__ import annotations

from tiered_eval.errors import ConfigError

__all__ = ["missing_package"]


def missing_package(scorer: str, package: str) -> ConfigError:
    """The error to raise; ``package`` as it is installed."""
    return ConfigError(f"{scorer} needs the package {package}: pip install 'tiered-eval[text]'")
