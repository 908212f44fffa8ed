"""Keys are taken out of texts whole, however many there are and whichever of them begins another."""

from __future__ import annotations

import logging

import pytest

from tiered_eval.providers.failures import Scrubber
from tiered_eval.providers.sdk_logs import hide_keys
from tiered_eval.text.secrets import longest_first, secrets_in, without_secrets

SHORT, LONG = "planted-0123456789", "planted-0123456789-and-a-tail"
TEXT = f"one is {LONG}, the other {SHORT}"


@pytest.mark.parametrize("keys", [(SHORT, LONG), (LONG, SHORT)])
def test_of_a_key_that_begins_another_nothing_is_left(keys: tuple[str, ...]):
    """Error texts, answers and what is kept of an environment: neither key, nor the tail of one."""
    scrub = Scrubber(*keys)
    environment = {f"{name}_API_KEY": key for name, key in zip("AB", keys, strict=True)}

    assert scrub(TEXT) == "one is [key], the other [key]"
    assert scrub.answer(TEXT.encode()) == b"one is [key], the other [key]"
    assert without_secrets(TEXT, secrets_in(environment)) == "one is [key hidden], the other [key hidden]"


@pytest.mark.parametrize("keys", [(SHORT, LONG), (LONG, SHORT)])
def test_logs_know_the_keys_of_all_providers_together(
    keys: tuple[str, ...], caplog: pytest.LogCaptureFixture
):
    """The keys of two providers are looked for in one order, whoever was opened first."""
    logger = logging.getLogger("openai.planted")
    for key in keys:
        hide_keys(Scrubber(key))

    with caplog.at_level(logging.DEBUG, logger="openai.planted"):
        logger.debug("%s", TEXT)

    assert caplog.messages == ["one is [key], the other [key]"]


def test_the_order_does_not_hang_on_the_hash_of_a_key():
    """The same keys are looked for in the same order in every process."""
    assert longest_first(["bb", "a", "cc", "bb"]) == ("bb", "cc", "a")
