"""Everything that tiered_eval raises, in one tree.

The one idea: the classes split by a question that the caller can act on. Is the *input* wrong
(:class:`SuiteError`), the *set-up* (:class:`ConfigError`), was it stopped *by design*
(:class:`BudgetExceeded`), or did the *outside* fail (:class:`ProviderError`), and can trying again help?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from tiered_eval.records import RateLimits, Step, Usage

__all__ = [
    "BudgetExceeded",
    "CallsStopped",
    "ConfigError",
    "CutShort",
    "DeadlineReached",
    "EmbedderMissing",
    "Interrupted",
    "JudgeMissing",
    "LedgerError",
    "ModelRefused",
    "NotKept",
    "PatternTimeout",
    "PriceUnknown",
    "Problem",
    "ProviderError",
    "ProviderRefused",
    "ProviderTimeout",
    "ProviderUnavailable",
    "RateLimited",
    "RecordingMissing",
    "SandboxError",
    "SuiteError",
    "TieredEvalError",
    "UnreadableReply",
    "message_of",
]

LONGEST_MESSAGE = 4000
"""Characters that are kept of the message of an exception, which may hold a whole response."""


def message_of(error: BaseException) -> str:
    """The message of any exception, cut; also of one whose own code cannot say it."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # foreign code, asked where an exception is being told of
        return "its message cannot be shown"
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"


class TieredEvalError(Exception):
    """The root: catch this to catch everything that tiered_eval raises on purpose."""

    cost_usd: Decimal = Decimal(0)
    """Billed for the calls that ended so, in US dollars, as far as nobody has told of it yet."""

    def bill(self, cost_usd: Decimal) -> None:
        """Note what was billed before it came to this."""
        self.cost_usd += cost_usd

    def take_cost(self) -> Decimal:
        """That amount, for whoever tells of it: one error may be raised for many who waited, and the money was spent once."""
        taken, self.cost_usd = self.cost_usd, Decimal(0)
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a suite, with all that is needed to mend it."""

    file: str
    line: int | None
    """First line is 1; None where the format has no lines (a Python suite)."""
    case_id: str | None
    field: str | None
    rule: str
    """Short stable name, such as ``duplicate-id``; for filters and documentation."""
    message: str
    """What was found."""
    fix: str
    """What to do."""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        case = f' case "{self.case_id}":' if self.case_id is not None else ""
        field = f" {self.field}:" if self.field else ""
        return f"{place}:{case}{field} {self.message} ({self.rule}); {self.fix}"


class SuiteError(TieredEvalError):
    """The suite is wrong. Holds the first problems found, and how many there are in all."""

    shown_limit: ClassVar[int] = 20

    def __init__(self, problems: Sequence[Problem], *, count: int | None = None) -> None:
        self.problems = tuple(problems)
        self.count = len(self.problems) if count is None else count
        super().__init__(str(self))

    def __str__(self) -> str:
        shown = [str(problem) for problem in self.problems[: self.shown_limit]]
        if self.count > len(shown):
            shown.append(f"... and {self.count - len(shown)} more ({self.count} in all)")
        return "\n".join(shown)


class ConfigError(TieredEvalError):
    """The options or the environment are wrong; found before the first call."""


class PriceUnknown(ConfigError):
    """A model has no known price, so its calls cannot be kept under a cap."""

    def __init__(self, model: str) -> None:
        self.model = model
        super().__init__(
            f"no price is known for {model!r}: give one with --price {model}=IN,OUT "
            "(US dollars a million tokens), or in a prices file"
        )


class EmbedderMissing(ConfigError):
    """No embedder can be used; the message says which package or setting is absent."""


class JudgeMissing(ConfigError):
    """No judge model is configured, so what needs judgement stays not judged."""


class Interrupted(TieredEvalError):
    """Dropped because the run, or a batch at its vendor, was told to end: work of this machine, or a call that nobody had worked
    on. Nothing was paid for it."""


class CutShort(TieredEvalError):
    """A check that asks several in turn could not go on. What was said before is no verdict, and must not be lost."""

    def __init__(
        self, error: TieredEvalError, *, trail: Sequence[Step], cost_usd: Decimal = Decimal(0)
    ) -> None:
        self.error = error
        """What kept it from going on."""
        self.trail = tuple(trail)
        self.cost_usd = cost_usd
        """Billed for what was said, in US dollars; what the error itself cost stays with it."""
        super().__init__(str(error))

    def take_cost(self) -> Decimal:
        """Of what was said, and of the error."""
        return super().take_cost() + self.error.take_cost()


class SandboxError(ConfigError):
    """Code could not be run shut in. That is no verdict: nobody knows what it would have done."""


class PatternTimeout(TieredEvalError):
    """A regular expression took longer than it may. That is no verdict: nobody knows whether it matches."""

    def __init__(self, *, pattern: str, limit_s: float) -> None:
        self.pattern = pattern
        self.limit_s = limit_s
        super().__init__(
            f"the pattern {pattern!r} took more than {limit_s:g} s; "
            "simplify it, raise `timeout_s`, or write it for RE2, which needs no limit"
        )


class LedgerError(TieredEvalError):
    """The ledger cannot be trusted or written, so nothing may be spent."""


class BudgetExceeded(TieredEvalError):
    """Stopped by design: the next call would not fit under a cap. Amounts are US dollars."""

    def __init__(
        self,
        *,
        cap_usd: Decimal,
        spent_usd: Decimal,
        reserved_usd: Decimal,
        wanted_usd: Decimal,
        scope: str | None = None,
    ) -> None:
        self.scope = scope
        """What the cap is on, such as ``month 2026-11 (UTC)``; None for the run's own."""
        self.cap_usd = cap_usd
        self.spent_usd = spent_usd
        self.reserved_usd = reserved_usd
        self.wanted_usd = wanted_usd
        super().__init__(
            f"the cap of ${_plain(cap_usd)}{f' on {scope}' if scope else ''} leaves no room for a call of at most ${_plain(wanted_usd)}: "
            f"${_plain(spent_usd)} spent, ${_plain(reserved_usd)} reserved"
        )


class CallsStopped(TieredEvalError):
    """Stopped by design: no new calls leave any more, for the reason that the message gives."""


class NotKept(TieredEvalError):
    """Only kept replies may be used, and there is none for this call."""

    def __init__(self, model: str) -> None:
        self.model = model
        super().__init__(
            f"no kept reply of {model} for this question, and calls are off; run without --offline"
        )


def _plain(amount: Decimal) -> str:
    """An amount without exponent and without zeros at its end."""
    return f"{Decimal(amount).normalize():f}"


class DeadlineReached(TieredEvalError):
    """Stopped by design: the time allowed for the run, or by a vendor for a batch, is used up."""


class RecordingMissing(TieredEvalError):
    """Replay was asked for, and this call was never recorded."""

    def __init__(self, *, key: str, model: str, place: str) -> None:
        self.key = key
        self.model = model
        self.place = place
        super().__init__(
            f"no recording of this call to {model} in {place} (key {key[:16]}); "
            "record it, or run without --replay"
        )


class ProviderError(TieredEvalError):
    """A model call failed. Raised by the provider files only, and by nothing above them."""

    retryable: bool = False
    """Can the same call succeed if it is made again?"""
    may_fall_back: bool = True
    """May the next model of the chain be tried? A refusal is an answer, not an outage."""
    stops_run: bool = False
    """Is every further call to this provider pointless (key, credit, spend limit)?"""

    def __init__(
        self,
        message: str,
        *,
        model: str,
        request_id: str | None = None,
        status: int | None = None,
        code: str | None = None,
        billed: Literal["no", "maybe", "yes"] = "maybe",
        usage: Usage | None = None,
        limits: RateLimits | None = None,
        retry_after_s: float | None = None,
        stops_run: bool = False,
    ) -> None:
        self.model = model
        self.request_id = request_id
        self.status = status
        """HTTP status; None where there was no answer."""
        self.code = code
        self.billed = billed
        """``no`` only when the provider itself said so or nothing was sent; ``yes`` comes with usage."""
        self.usage = usage
        self.limits = limits
        self.retry_after_s = retry_after_s
        self.stops_run = stops_run
        super().__init__(message)


class RateLimited(ProviderError):
    """429 or 529 that waiting can cure; ``retry_after_s`` is a floor where the provider gave one."""

    retryable = True


class ProviderUnavailable(ProviderError):
    """5xx, a reset or a refused connection: the same call may succeed later."""

    retryable = True


class ProviderTimeout(ProviderError):
    """No answer in time. ``limit`` says which one: connect, read or total. May have been billed."""

    retryable = True

    def __init__(
        self, message: str, *, limit: Literal["connect", "read", "total"], model: str, **details: object
    ) -> None:
        self.limit = limit
        super().__init__(message, model=model, **details)  # type: ignore[arg-type]  # passed through as given


class ProviderRefused(ProviderError):
    """4xx, a refusal or a content filter: it will not change by asking again."""


class ModelRefused(ProviderRefused):
    """The model declined, or a content filter stepped in: an answer of a kind, not an outage. Billed.

    The next model of the chain is not tried, since an answer that one model may not give is not made better by
    looking for one that will.
    """

    may_fall_back = False


class UnreadableReply(ProviderError):
    """An answer came, and is not one: malformed, truncated, without its ids or nonce. Billed."""

    retryable = True

    def __init__(self, message: str, *, text: str, model: str, **details: object) -> None:
        self.text = text
        """The raw reply, kept for whoever must find out why."""
        super().__init__(message, model=model, **details)  # type: ignore[arg-type]  # passed through as given
