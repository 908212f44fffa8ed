"""Suites of other tools, read as suites of ours.

The one idea: whatever cannot be carried over is named, with its place and the reason, and so is whatever means something
slightly different here. Each expectation is read by the suite's own loader before it is written, so what comes out loads.

Route: :func:`import_suite` finds out which tool a file is from and reads it; :mod:`writing` makes a suite of it; only ``cli``
writes files.
"""

from tiered_eval.importers.detecting import SOURCES, import_suite
from tiered_eval.importers.outcome import ImportedSuite, Note
from tiered_eval.importers.writing import suite_text

__all__ = ["SOURCES", "ImportedSuite", "Note", "import_suite", "suite_text"]
