"""The whole report as one JSON document.

The one idea: summary first, then the results one a line, written as they are read, so that the document of a
large run is as cheap as its lines. The schema is ``docs/report.schema.json``. Lone surrogates, which UTF-8 cannot
hold, come out as JSON escapes because :mod:`tiered_eval.reports.files` writes them with a backslash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tiered_eval.records import Report
from tiered_eval.records.codec import case_result_to_json, summary_to_json

__all__ = ["render"]


def render(report: Report) -> Iterator[str]:
    """The document, in pieces."""
    summary = json.dumps(summary_to_json(report), indent=2, ensure_ascii=False)
    yield summary.removesuffix("\n}") + ',\n  "results": ['
    before = "\n    "
    for result in report.results:
        yield before + json.dumps(case_result_to_json(result), ensure_ascii=False, separators=(",", ":"))
        before = ",\n    "
    yield "\n  ]\n}\n"
