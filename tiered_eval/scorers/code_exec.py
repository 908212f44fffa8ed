"""The code in the response does what its tests ask.

The one idea: it runs shut in (:mod:`tiered_eval.sandbox`) and never judges itself (:mod:`tiered_eval.scorers.code`). Code that
hangs, crashes or ends early is wrong, and fails; a box that cannot be made is nobody's answer, and an error.

It costs processor time and no money: tier ``exact``, with a queue of its own as wide as the machine has processors.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from tiered_eval.errors import ConfigError, SandboxError
from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier
from tiered_eval.sandbox import Isolation, Limits, choose_isolation, is_working, why_not
from tiered_eval.sandbox.limits import MEGABYTE
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.code.forms import Calls, Form, read_form
from tiered_eval.scorers.code.judging import Tested, Trial, run_tests
from tiered_eval.scorers.code.taking import take_code
from tiered_eval.scorers.selecting import find_in_response, graded, ground_truth, missing
from tiered_eval.text.json_values import Closeness
from tiered_eval.text.plurals import plural
from tiered_eval.text.subject import Subject

__all__ = ["CodeExec", "tests_fault"]

_QUOTE_LENGTH = 400
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "javascript": ("node", "{file}"),
    "bash": ("bash", "{file}"),
    "ruby": ("ruby", "{file}"),
}
"""How a language is run where the author does not say."""
_ENDINGS = {"javascript": "js", "typescript": "ts", "bash": "sh", "ruby": "rb", "rust": "rs", "python": "py"}


def tests_fault(expected: Any, options: Mapping[str, Any]) -> str | None:
    """What is wrong with the tests, for the loader of suites."""
    if "ground_truth_field" in options:
        return None  # they stand in each case
    try:
        form = read_form(expected, options)
        _command(form, options)
    except ConfigError as fault:
        return str(fault)
    return None


class CodeExec:
    """Do the tests pass?

    Expected are Python assertions, as a text or a list of texts, or ``cases``: of calls (``function``, ``args``, ``expected``
    or ``raises``), or of whole runs (``stdin``, ``stdout``, ``exit_status``). The share that passes is the score. Options:
    ``tests``, ``cases``, ``function``, ``language``, ``command``, ``blocks``, ``timeout_s``, ``memory_mb``, ``sandbox``,
    ``tolerance``, ``relative_tolerance``, ``pass_at``, ``field``, ``ground_truth_field``.
    """

    name = "code-exec"
    tier: Tier = "exact"
    judges_whole = True
    is_local = True

    def __init__(
        self, profile: Profile | None = None, *, nonce: Callable[[], str] = secrets.token_hex
    ) -> None:
        """``profile`` is taken for the sake of the table of scorers; ``nonce`` makes the secrets of the reports."""
        self._nonce = nonce
        self.at_once = max(1, os.cpu_count() or 1)

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """Run the tests of an expectation against the code of a response.

        Raises:
            ConfigError: the tests are none.
            SandboxError: the code could not be run shut in.
        """
        options = expectation.options
        value: Any = expectation.value
        if "ground_truth_field" in options:
            value = ground_truth(subject.case, str(options["ground_truth_field"]))
        form = read_form(value, options)
        text, why = _text_of(subject, options)
        if text is None:
            return missing(why, is_turned=expectation.is_negative)
        language = _language(options)
        taken = take_code(text, language, str(options.get("blocks", "all")))
        if taken.code is None:
            return Outcome("unsure", taken.why) if taken.is_ambiguous else Outcome("fail", taken.why, 0.0)
        trial = Trial(
            code=taken.code,
            isolation=await _isolation(str(options.get("sandbox", "auto"))),
            limits=_limits(options),
            closeness=Closeness(
                tolerance=Decimal(options.get("tolerance", 0)),
                relative=Decimal(options.get("relative_tolerance", 0)),
            ),
            command=_command(form, options),
            file=f"solution.{_ENDINGS.get(language, language)}",
            function=None if "function" not in options else str(options["function"]),
        )
        return _outcome(await run_tests(trial, form, self._nonce), trial.isolation, options)


def _text_of(subject: Subject, options: Mapping[str, Any]) -> tuple[str | None, str]:
    """Where the code is looked for; None, and why, where there is nothing."""
    if "field" not in options:
        return subject.text, ""
    path = str(options["field"])
    found, came_to = find_in_response(subject, path)
    if not found or not isinstance(found[0], str):
        return None, f"there is no text at {path}: {came_to}"
    return found[0], ""


async def _isolation(asked: str) -> Isolation:
    kinds: dict[str, Isolation] = {"bubblewrap": "bubblewrap", "namespaces": "namespaces", "none": "none"}
    kind = kinds.get(asked)
    if kind is None:
        return await choose_isolation()
    if not await is_working(kind):
        raise SandboxError(
            f"the sandbox {kind} does not work on this machine ({why_not(kind)}); `sandbox: auto` takes one that does"
        )
    return kind


def _limits(options: Mapping[str, Any]) -> Limits:
    seconds = float(options.get("timeout_s", 10))
    return Limits(
        wall_s=seconds, cpu_s=int(seconds) + 1, memory_bytes=int(options.get("memory_mb", 512)) * MEGABYTE
    )


def _language(options: Mapping[str, Any]) -> str:
    return str(options.get("language", "python")).lower()


def _command(form: Form, options: Mapping[str, Any]) -> tuple[str, ...]:
    """How the code is run; empty for Python.

    Raises:
        ConfigError: the author must say how, or cannot have tests of this form.
    """
    language, given = _language(options), options.get("command")
    if not re.fullmatch(r"[\w+#.-]+", language):  # it becomes the end of a file's name
        raise ConfigError(f"{language!r} is no name of a language")
    if given is not None:
        command = (given,) if isinstance(given, str) else tuple(map(str, given))
        return command if any("{file}" in part for part in command) else (*command, "{file}")
    if language == "python":
        return ()
    if isinstance(form, Calls):
        raise ConfigError(
            "calls are of Python functions; for another language give cases with stdin and stdout"
        )
    if language not in _COMMANDS:
        raise ConfigError(f"how is {language} run? Add `command:`, such as [{language}, '{{file}}']")
    return _COMMANDS[language]


def _outcome(tested: Sequence[Tested], isolation: Isolation, options: Mapping[str, Any]) -> Outcome:
    where = "not shut in" if isolation == "none" else f"in {isolation}"
    passed = sum(one.state == "passed" for one in tested)
    reason = f"{passed} of {plural(len(tested), 'test')} passed ({where})"
    failed = next((one for one in tested if one.state == "failed"), None)
    untestable = next((one for one in tested if one.state == "untestable"), None)
    if untestable is not None and not _is_decided(tested, options):
        return Outcome(
            "unsure",
            f"{reason}; {untestable.name}: {untestable.message}; use `cases` instead",
            ran_in=isolation,
        )
    evidence = None
    if failed is not None:
        shown = f"{failed.name}: {failed.message}" if failed.message else failed.name
        evidence = Evidence(shown[:_QUOTE_LENGTH])
        reason = f"{reason}; first to fail: {shown[:_QUOTE_LENGTH]}"
    outcome = graded(passed / len(tested), options, default=1.0, reason=reason, evidence=evidence)
    return replace(outcome, ran_in=isolation)


def _is_decided(tested: Sequence[Tested], options: Mapping[str, Any]) -> bool:
    """Is the verdict the same, whatever the tests that cannot be judged would have come to?"""
    least = sum(one.state == "passed" for one in tested) / len(tested)
    most = sum(one.state != "failed" for one in tested) / len(tested)
    pass_at = float(options.get("pass_at", 1.0))
    return least >= pass_at or most < pass_at
