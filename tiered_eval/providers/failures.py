"""What a failed call means: one table from status and code to our errors, for all vendors.

The one idea: the question is never what the SDK calls it, but what the status and the code in the body say about
three things: can waiting help, can another model help, and may it have been billed. *Not billed* is said only
where the provider itself turned the call away; a gateway's page in its place leaves it open.

Route: the provider files end every foreign exception here. Messages are scrubbed of keys before anyone sees them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from tiered_eval.errors import (
    ModelRefused,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    UnreadableReply,
)
from tiered_eval.providers.headers import limits_from_headers, retry_after_from_headers
from tiered_eval.records import Usage
from tiered_eval.text.secrets import forms_of, longest_first

__all__ = ["ErrorBody", "Scrubber", "failure_from_error_in_reply", "failure_from_status", "unreadable"]

SPENT_CODES = frozenset(
    {
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "insufficient_quota",
    }
)
"""Codes and types of a 429 that waiting does not cure: money, not speed, is at its end."""

OVERLOAD_CODES = frozenset({"server_is_overloaded", "slow_down", "overloaded_error", "ramp_limit_exceeded"})
"""Codes that ask for fewer calls at once, whatever their status is."""

FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "bio_policy", "cyber_policy"})
"""Codes of a 400 that is about what was said, not about how it was asked."""

CODE_STATUS: Mapping[str, int] = {
    "server_error": 500,
    "api_error": 500,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    **dict.fromkeys(OVERLOAD_CODES, 529),
    **dict.fromkeys(SPENT_CODES, 429),
    **dict.fromkeys(FILTER_CODES, 400),
}
"""The status that a code would have come with, for errors inside a 200."""

_LONGEST_MESSAGE = 300
_SHORTEST_KEY = 6
_NO_WORD = 12
"""Letters from which on a key is surely no word that an answer may have in it: ``ollama`` is a key as well."""
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|key|gsk|xai)-[A-Za-z0-9_*.-]{6,}|\bBearer\s+\S+", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Scrubber:
    """Takes keys out of what providers say; they quote them in their 401s."""

    def __init__(self, *secrets: str | None) -> None:
        known = [secret for secret in secrets if secret and len(secret) >= _SHORTEST_KEY]
        self.forms = longest_first(form for secret in known for form in forms_of(secret))
        """The known keys, in each way that they may be written."""
        self._values = [
            form.encode()
            for form in longest_first(
                form for secret in known if len(secret) >= _NO_WORD for form in forms_of(secret)
            )
        ]

    def __call__(self, text: str) -> str:
        return _KEY_SHAPE.sub("[key]", self.without_known(text))

    def without_known(self, text: str) -> str:
        """The text without the known keys; what only looks like one stays."""
        for form in self.forms:
            text = text.replace(form, "[key]")
        return text

    def answer(self, content: bytes) -> bytes:
        """An answer without the known keys. It is judged by and kept, so what may be a word of it stays."""
        for value in self._values:
            content = content.replace(value, b"[key]")
        return content


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """What an error's body says, in whichever of the known shapes."""

    message: str
    codes: frozenset[str] = frozenset()
    """Every code and type in it."""
    code: str | None = None
    """The most telling one."""
    number: int | None = None
    """A numeric code: a status, with some servers."""
    is_own: bool = False
    """The provider's own error, not a gateway's page."""

    @classmethod
    def read(cls, content: bytes | str) -> ErrorBody:
        """From the bytes of a body."""
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return cls(message=text)
        return cls.from_value(value)

    @classmethod
    def from_value(cls, value: Any) -> ErrorBody:
        """From parsed JSON: nested, flat, a bare string, or a list of one (as some compatible servers send)."""
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            value = value.get("error") or value
        if isinstance(value, str):
            return cls(message=value, is_own=True)
        if not isinstance(value, dict):
            return cls(message="")
        details = value.get("details")
        inner = value.get("innererror")
        names = [
            details.get("error_code") if isinstance(details, dict) else None,
            value.get("code"),
            inner.get("code") if isinstance(inner, dict) else None,
            value.get("type"),
            value.get("status"),
        ]
        codes = [name for name in names if isinstance(name, str) and name != "error"]
        number = value.get("code")
        if isinstance(number, str) and number.isdigit():
            number = int(number)
        return cls(
            message=str(value.get("message") or value.get("detail") or ""),
            codes=frozenset(codes),
            code=codes[0] if codes else None,
            number=number if isinstance(number, int) else None,
            is_own=bool(codes or value.get("message")),
        )


def failure_from_status(
    status: int,
    content: bytes | str,
    headers: Mapping[str, str],
    *,
    model: str,
    request_id: str | None,
    scrub: Scrubber,
    now: datetime,
) -> ProviderError:
    """The error for an HTTP status that is not a success.

    Args:
        headers: looked up in lower case.
        now: in UTC, for dates in the headers.
    """
    body = ErrorBody.read(content)
    failure = _failure(status, body, model=model, request_id=request_id, scrub=scrub)
    failure.limits = limits_from_headers(headers, now=now)
    failure.retry_after_s = retry_after_from_headers(headers, now=now)
    if headers.get("x-should-retry") == "false":
        failure.retryable = False
    return failure


def failure_from_error_in_reply(
    value: Any, *, model: str, request_id: str | None, usage: Usage | None, scrub: Scrubber
) -> ProviderError:
    """The error for an error body that came with status 200: after routing, so it may have been billed."""
    body = ErrorBody.from_value(value)
    status = next((CODE_STATUS[code] for code in sorted(body.codes) if code in CODE_STATUS), None)
    if body.number is not None and 400 <= body.number <= 599:
        status = body.number
    failure = _failure(status or 500, body, model=model, request_id=request_id, scrub=scrub)
    failure.billed = "maybe" if usage is None else "yes"
    failure.usage = usage
    return failure


def unreadable(
    why: str,
    text: str,
    *,
    model: str,
    request_id: str | None,
    scrub: Scrubber,
    usage: Usage | None = None,
) -> UnreadableReply:
    """The error for a 200 that is no answer."""
    return UnreadableReply(
        f"{model}: {why}",
        text=scrub(text),
        model=model,
        request_id=_scrubbed(request_id, scrub),
        status=200,
        billed="maybe" if usage is None else "yes",
        usage=usage,
    )


def _failure(
    status: int, body: ErrorBody, *, model: str, request_id: str | None, scrub: Scrubber
) -> ProviderError:
    kind, stops_run = _kind_of(status, body.codes)
    request_id, code = _scrubbed(request_id, scrub), _scrubbed(body.code, scrub)
    return kind(
        _message(status, body, code=code, model=model, request_id=request_id, scrub=scrub),
        model=model,
        request_id=request_id,
        status=status,
        code=code,
        billed=_billed(status, is_own=body.is_own),
        stops_run=stops_run,
    )


def _kind_of(status: int, codes: frozenset[str]) -> tuple[type[ProviderError], bool]:
    """(class of the error, does it end all calls to this provider)"""
    if status in {401, 402}:
        return ProviderRefused, True
    if status == 429:
        spent = bool(codes & SPENT_CODES)
        return (ProviderRefused, True) if spent else (RateLimited, False)
    if status == 529 or (status >= 500 and codes & OVERLOAD_CODES):
        return RateLimited, False
    if status in {408, 409} or status >= 500:
        return ProviderUnavailable, False
    if codes & FILTER_CODES:
        return ModelRefused, False
    return ProviderRefused, False


def _billed(status: int, *, is_own: bool) -> Literal["no", "maybe"]:
    """Turned away means not billed: any 4xx but those that say "gave up waiting", and a provider's own 5xx."""
    if status in {408, 499, 502, 504}:
        return "maybe"
    if 400 <= status < 500:
        return "no"
    return "no" if is_own and status in {500, 503, 529} else "maybe"


def _scrubbed(text: str | None, scrub: Scrubber) -> str | None:
    return None if text is None else scrub(text)


def _message(
    status: int, body: ErrorBody, *, code: str | None, model: str, request_id: str | None, scrub: Scrubber
) -> str:
    said = _CONTROL.sub(" ", scrub(body.message)).strip()
    if not body.is_own:
        said = "no error body of the provider's own" + (f", but: {said}" if said else "")
    if len(said) > _LONGEST_MESSAGE:
        said = said[:_LONGEST_MESSAGE] + " ..."
    named = f" {code}" if code else ""
    request = f" (request {request_id})" if request_id else ""
    return f"{model}: HTTP {status}{named}: {said}{request}"
