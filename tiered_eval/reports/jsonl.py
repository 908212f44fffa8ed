"""The results as JSON lines: one case a line, in the order of the suite, without the summary."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tiered_eval.records import Report
from tiered_eval.records.codec import case_result_to_json

__all__ = ["render"]


def render(report: Report) -> Iterator[str]:
    """The lines."""
    for result in report.results:
        yield json.dumps(case_result_to_json(result), ensure_ascii=False, separators=(",", ":")) + "\n"
