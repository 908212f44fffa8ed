"""What headers and error bodies say, read without a server: tables of spellings, and properties for the rest."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.providers.failures import ErrorBody, Scrubber, failure_from_status
from tiered_eval.providers.headers import limits_from_headers, retry_after_from_headers
from tiered_eval.records import RateLimits

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def in_seconds(seconds: float) -> str:
    return (NOW + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("why", "headers", "seconds"),
    [
        ("whole seconds", {"retry-after": "7"}, 7.0),
        ("parts of a second", {"retry-after": "0.5"}, 0.5),
        ("milliseconds", {"retry-after-ms": "1500"}, 1.5),
        ("milliseconds are more exact", {"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ("a date", {"retry-after": format_datetime(NOW + timedelta(seconds=30), usegmt=True)}, 30.0),
        ("a date gone by", {"retry-after": format_datetime(NOW - timedelta(seconds=30), usegmt=True)}, 0.0),
        ("a date without a zone", {"retry-after": "Mon, 30 Nov 2026 12:01:00 -0000"}, 60.0),
        ("nothing", {}, None),
        ("no time at all", {"retry-after": "soon"}, None),
        ("negative", {"retry-after": "-5"}, None),
        ("not a number", {"retry-after": "nan"}, None),
        ("for ever", {"retry-after": "inf"}, None),
        ("after the last day", {"retry-after": "Fri, 31 Dec 9999 23:59:59 -0100"}, None),
        ("in no year", {"retry-after": f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT"}, None),
    ],
)
def test_wait_is_read_in_all_spellings(why: str, headers: dict[str, str], seconds: float | None):
    """Seconds, milliseconds and dates are understood; everything else counts as not said."""
    assert retry_after_from_headers(headers, now=NOW) == seconds


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("100ms", 0.1),
        ("1h2m3.5s", 3723.5),
        ("7m12s", 432.0),
        ("250µs", 0.00025),
        ("12", 12.0),
        (in_seconds(20), 20.0),
        (in_seconds(-20), 0.0),
        ("1s later", None),
        ("9" * 400 + "h", None),
        ("9999-12-31T23:59:59-01:00", None),
        ("0001-01-01T00:00:00+01:00", None),
        ("", None),
    ],
)
def test_reset_is_read_in_all_spellings(reset: str, seconds: float | None):
    """Go durations, plain seconds and instants become seconds."""
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": reset,
    }

    limits = limits_from_headers(headers, now=NOW)

    assert limits is not None
    assert (limits.requests_limit, limits.requests_remaining) == (60, 59)
    assert limits.requests_reset_s == (None if seconds is None else pytest.approx(seconds))


def anthropic(**values: Any) -> dict[str, str]:
    return {f"anthropic-ratelimit-{name.replace('_', '-')}": str(value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("why", "headers", "expected"),
    [
        ("none", {}, None),
        ("other headers", {"content-type": "application/json"}, None),
        ("a proxy's placeholders", {"x-ratelimit-limit-requests": "-1"}, None),
        ("zero is no limit", {"x-ratelimit-limit-requests": "0"}, None),
        (
            "a quota of a day is not kept to by waiting",
            anthropic(requests_limit=50, requests_remaining=0, requests_reset=in_seconds(86_000)),
            None,
        ),
        (
            "nor one of ages, beside one of a minute",
            {
                "x-ratelimit-limit-requests": "5",
                "x-ratelimit-reset-requests": "1e300",
                "x-ratelimit-limit-tokens": "90000",
                "x-ratelimit-reset-tokens": "1s",
            },
            RateLimits(tokens_limit=90000, tokens_reset_s=1.0),
        ),
        (
            "tokens only",
            {"x-ratelimit-limit-tokens": "90000", "x-ratelimit-remaining-tokens": "89000"},
            RateLimits(tokens_limit=90000, tokens_remaining=89000),
        ),
        (
            "requests",
            anthropic(requests_limit=50, requests_remaining=49, requests_reset=in_seconds(1.2)),
            RateLimits(requests_limit=50, requests_remaining=49, requests_reset_s=1.2),
        ),
        (
            "the tightest of three token limits",
            anthropic(
                tokens_limit=1000,
                tokens_remaining=900,
                input_tokens_limit=800,
                input_tokens_remaining=700,
                output_tokens_limit=200,
                output_tokens_remaining=20,
            ),
            RateLimits(tokens_limit=200, tokens_remaining=20),
        ),
    ],
)
def test_limits_of_both_vendors_are_read(why: str, headers: dict[str, str], expected: RateLimits | None):
    """Two vendors, one record; what is absent or no limit is left out."""
    assert limits_from_headers(headers, now=NOW) == expected


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "retry-after",
                "retry-after-ms",
                "x-ratelimit-limit-requests",
                "x-ratelimit-remaining-requests",
                "x-ratelimit-reset-requests",
                "anthropic-ratelimit-tokens-limit",
                "anthropic-ratelimit-tokens-reset",
            ]
        ),
        st.one_of(st.text(), st.integers().map(str), st.floats().map(str)),
    )
)
def test_no_header_can_break_reading(headers: dict[str, str]):
    """Headers are somebody else's text: whatever they hold, a wait is never negative and nothing is raised."""
    wait_s = retry_after_from_headers(headers, now=NOW)
    limits_from_headers(headers, now=NOW)

    assert wait_s is None or wait_s >= 0


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["error", "code", "type", "message"]), inner)
        ),
    )
)
def test_no_error_body_can_break_reading(value: Any):
    """Bodies are somebody else's text: any JSON gives a message and a verdict on whose it is."""
    body = ErrorBody.read(json.dumps(value))

    assert isinstance(body.message, str)


def failure(status: int, body: Any, headers: dict[str, str] | None = None) -> Any:
    return failure_from_status(
        status,
        body if isinstance(body, str) else json.dumps(body),
        headers or {},
        model="m",
        request_id=None,
        scrub=Scrubber("planted-secret"),
        now=NOW,
    )


@pytest.mark.parametrize(
    "quoted",
    [
        "Incorrect API key provided: planted-secret.",
        "Incorrect API key provided: sk-proj-abcdef0123456789.",
        "Incorrect API key provided: sk-abc***************xyz9.",
        "bad header Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30",
    ],
)
def test_keys_are_taken_out_of_messages(quoted: str):
    """The key in use, and whatever looks like one, never reaches a message."""
    error = failure(401, {"error": {"message": quoted, "code": "invalid_api_key"}})

    assert "[key]" in str(error)
    for secret in ("planted-secret", "abcdef0123456789", "xyz9", "eyJhbGciOiJIUzI1NiJ9"):
        assert secret not in str(error)


def test_long_and_strange_messages_are_tamed():
    """A message stays one short line, whatever the server sends."""
    error = failure(500, {"error": {"message": "line\n\x1b[31mred " + "x" * 5000}})

    assert len(str(error)) < 400
    assert "\n" not in str(error)
    assert "\x1b" not in str(error)


def test_server_that_says_not_to_retry_is_believed():
    """``x-should-retry: false`` turns off the retry that the status would have had."""
    assert failure(500, {"error": {"message": "x"}}).retryable is True
    assert failure(500, {"error": {"message": "x"}}, {"x-should-retry": "false"}).retryable is False


@pytest.mark.parametrize(
    ("why", "status", "body", "billed"),
    [
        ("the provider's own 500", 500, {"error": {"message": "x", "type": "api_error"}}, "no"),
        ("a page with 500", 500, "<html>", "maybe"),
        ("its own 502", 502, {"error": {"message": "x"}}, "maybe"),
        ("gave up waiting", 408, {"error": {"message": "x"}}, "maybe"),
        ("turned away by a page", 429, "<html>", "no"),
        ("an unknown 5xx", 599, {"error": {"message": "x"}}, "maybe"),
    ],
)
def test_bill_is_denied_only_by_the_provider_itself(why: str, status: int, body: Any, billed: str):
    """A gateway's page leaves open what happened behind it."""
    assert failure(status, body).billed == billed
