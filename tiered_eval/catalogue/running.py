"""The scorer that runs the code of a response."""

from __future__ import annotations

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo
from tiered_eval.catalogue.shared import SELECTING, TOLERANCES, pass_at

__all__ = ["RUNNING"]

RUNNING: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="code-exec",
        tier="exact",
        target="tiered_eval.scorers.code_exec:CodeExec",
        check="tiered_eval.scorers.code_exec:tests_fault",
        summary="the code of the response passes these tests, run shut in; the share that passes is the score",
        value="reference",
        is_value_optional=True,
        aliases=(Alias(name="code-execution"), Alias(name="unit-tests")),
        options=(
            OptionInfo(name="tests", type="texts", help="assertions in Python; the same as the value"),
            OptionInfo(
                name="cases",
                type="json",
                help="calls with args and expected or raises, or runs with stdin and stdout or exit_status",
            ),
            OptionInfo(name="function", type="text", help="the function that the cases call"),
            OptionInfo(
                name="language", type="text", default="python", help="what its code blocks are called"
            ),
            OptionInfo(
                name="command",
                type="texts",
                help="how code of another language is run; {file} is the file with it",
            ),
            OptionInfo(
                name="blocks",
                type="text",
                choices=("all", "first", "last"),
                default="all",
                help="which of several code blocks: all are joined to one program",
            ),
            OptionInfo(
                name="timeout_s",
                type="number",
                above=0.0,
                high=600.0,
                default="10",
                help="seconds for all calls or assertions together, or for each run",
                aliases=("timeout",),
            ),
            OptionInfo(
                name="memory_mb",
                type="integer",
                low=16,
                high=65_536,
                default="512",
                help="most memory it may take",
            ),
            OptionInfo(
                name="sandbox",
                type="text",
                choices=("auto", "bubblewrap", "namespaces", "none"),
                default="auto",
                help="how it is shut in; none runs it as yourself, with limits only",
                choices_that_run_code=("none",),
            ),
            *TOLERANCES,
            pass_at("1", "least share of tests that passes"),
            *SELECTING,
        ),
        example="- code-exec: {function: add, cases: [{args: [1, 2], expected: 3}]}",
        is_routed=False,
    ),
)
