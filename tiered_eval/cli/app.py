"""The commands together, and what becomes of errors.

The one idea: whoever runs this in CI acts on the exit code, so each code has one meaning and an unforeseen
exception has a code of its own: it is neither a failed gate (1) nor a promise that nothing was spent (2).
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from types import MappingProxyType

import click

from tiered_eval import __version__
from tiered_eval.cli.audit import audit
from tiered_eval.cli.cache import cache
from tiered_eval.cli.calibrate import calibrate
from tiered_eval.cli.compare import compare
from tiered_eval.cli.export import export
from tiered_eval.cli.import_ import import_
from tiered_eval.cli.import_suite import import_suite
from tiered_eval.cli.label import label
from tiered_eval.cli.ledger import ledger
from tiered_eval.cli.lint import lint
from tiered_eval.cli.output import complain, log_to_stderr, say_help
from tiered_eval.cli.plan import plan
from tiered_eval.cli.run import run
from tiered_eval.cli.scorers import scorers
from tiered_eval.cli.show import show
from tiered_eval.cli.spend import spend
from tiered_eval.cli.streams import held_streams
from tiered_eval.errors import BudgetExceeded, DeadlineReached, ProviderError, TieredEvalError

__all__ = ["EXIT_CODES", "app", "run_app"]

TRACEBACK_VARIABLE = "TIERED_EVAL_TRACEBACK"

EXIT_CODES = MappingProxyType(
    {
        0: "the gate is met",
        1: "the gate is not met",
        2: "the suite, the options or the environment are wrong; nothing was spent, or the message says how much",
        3: "measured too little: more errors than --max-error-rate allows, too much left undecided, or a certificate in doubt",
        4: "the cap or the deadline was reached before the gate could be decided",
        70: "a fault in tiered-eval itself; run the same command again, nothing that was paid for is lost",
        130: "interrupted by Ctrl-C; the partial report is written",
        143: "ended by SIGTERM; the partial report is written",
    }
)

_CODE_LINES = "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\nExit codes:\n{_CODE_LINES}",
)
@click.version_option(__version__, prog_name="tiered-eval")
def app() -> None:
    """Score LLM outputs with the cheapest check that is good enough, and never spend above the cap."""


for _command in (
    run,
    plan,
    lint,
    show,
    scorers,
    audit,
    compare,
    export,
    import_,
    label,
    import_suite,
    calibrate,
    ledger,
    cache,
    spend,
):
    app.add_command(_command)


def run_app(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; errors become messages."""
    with held_streams():
        log_to_stderr(0)
        return _exit_code_of(arguments)


def _exit_code_of(arguments: Sequence[str] | None) -> int:
    try:
        code = app.main(arguments, prog_name="tiered-eval", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        say_help(error.format_message())
        return 2
    except click.ClickException as error:
        complain(_shown(error))
        return 2
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return 130
    except SystemExit as error:
        # No command ends so: it is code of a suite or of a package, and its 0 must not read as "the gate is met".
        complain(f"some code ended the program with exit code {error.code}; nothing was decided by that")
        return 70
    except Exception as error:  # noqa: BLE001  # the edge of the program: Python's own exit code for it, 1, means "gate not met"
        cause = _single(error)
        if isinstance(cause, TieredEvalError):
            notes = (*getattr(error, "__notes__", ()), *getattr(cause, "__notes__", ()))
            complain("\n".join(dict.fromkeys((str(cause), *notes))))
            return _code_of(cause)
        complain(_unforeseen(error))
        return 70
    return code if isinstance(code, int) else 0


def _single(error: Exception) -> Exception:
    """The error itself, also where a task group has wrapped it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _code_of(error: TieredEvalError) -> int:
    if isinstance(error, BudgetExceeded | DeadlineReached):
        return 4
    return 3 if isinstance(error, ProviderError) else 2


def _shown(error: click.ClickException) -> str:
    """The message, and where the options are explained."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"\nSee: {context.command_path} --help" if context is not None else ""
    return f"{error.format_message()}{hint}"


def _unforeseen(error: Exception) -> str:
    if os.environ.get(TRACEBACK_VARIABLE):
        return "".join(traceback.format_exception(error))
    return (
        f"unforeseen {type(error).__name__}: {error}\n"
        f"Set {TRACEBACK_VARIABLE}=1 to see where. Run the same command again: what was paid for is kept."
    )
