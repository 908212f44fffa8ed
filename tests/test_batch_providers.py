"""Batches of both vendors through the real SDKs against a loopback server: every item ends once, and at half price."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from provider_faults import KEY, NONCE, REQUEST

from tiered_eval.errors import (
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    UnreadableReply,
)
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.base import BatchProvider, NeedsPreparation
from tiered_eval.providers.registry import ProviderSettings, has_batches, open_batch_provider
from tiered_eval.records import BatchHandle, BatchItem, BatchLimits, BatchResult
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

MODELS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-6-luna"}
VENDORS = sorted(MODELS)
EARLIER = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)


def items(vendor: str, count: int = 3, **changes: Any) -> list[BatchItem]:
    """Items whose texts and nonces differ."""
    return [
        BatchItem(
            custom_id=f"item-{index}",
            request=replace(REQUEST, user=(*REQUEST.user[:2], f" #{index}"), **changes),
            model=MODELS[vendor],
            nonce=f"{NONCE}{index}",
        )
        for index in range(count)
    ]


def by_id(found: list[BatchItem]) -> dict[str, BatchItem]:
    return {item.custom_id: item for item in found}


@asynccontextmanager
async def batches(vendor: str, **settings: Any) -> AsyncIterator[tuple[BatchProvider, LoopbackServer]]:
    async with serve_loopback(LoopbackSettings(**settings)) as server:
        base_url = server.url + ("" if vendor == "anthropic" else "/v1")
        provider = open_batch_provider(vendor, settings=ProviderSettings(base_urls={vendor: base_url}))
        try:
            yield provider, server
        finally:
            await provider.aclose()


async def read(
    provider: BatchProvider, handle: BatchHandle, found: list[BatchItem] | None = None
) -> list[BatchResult]:
    known = None if found is None else by_id(found)
    return [result async for result in provider.results(handle, known)]


async def outcomes(vendor: str, *faults: str) -> dict[str, BatchResult]:
    """The result of each of three items, of which the first meet these faults."""
    async with batches(vendor, item_script=faults) as (provider, _):
        found = items(vendor)
        handle = await provider.submit(found)
        results = await read(provider, handle, found)
    assert len(results) == len(found)
    return {result.custom_id: result for result in results}


# --- a batch that goes well -----------------------------------------------------------------------------------


@pytest.mark.parametrize("vendor", VENDORS)
async def test_every_item_gets_its_own_reply(vendor: str):
    """Results come in another order than the items, and each finds its item by id."""
    async with batches(vendor, seed=3) as (provider, server):
        found = items(vendor, 8)
        handle = await provider.submit(found)
        results = await read(provider, handle, found)
        bodies = {call.custom_id: call.body for call in server.log}

    assert [result.custom_id for result in results] != [item.custom_id for item in found]
    assert {result.custom_id for result in results} == set(by_id(found))
    for result in results:
        assert result.outcome == "succeeded"
        assert result.reply is not None
        nonce = by_id(found)[result.custom_id].nonce
        assert (json.loads(result.reply.text)["nonce"], result.reply.nonce) == (nonce, nonce)
        assert bodies[result.custom_id]["model"] == MODELS[vendor]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_batch_costs_half_to_the_last_pico_dollar(vendor: str):
    """What our price list books for the replies is what the provider charges, and half of single calls."""
    book, at = PriceBook(), datetime(2026, 11, 30, tzinfo=UTC)
    model = f"{vendor}:{MODELS[vendor]}"
    async with batches(vendor) as (provider, server):
        found = items(vendor, 5)
        results = await read(provider, await provider.submit(found), found)
        charged = server.charged_pico

    usages = [result.reply.usage for result in results if result.reply is not None]
    booked = [book.cost_pico(usage, model, at) for usage in usages]
    single = [book.cost_pico(replace(usage, service_tier=None), model, at) for usage in usages]
    assert sum(booked) == charged
    assert sum(booked) * 2 == sum(single) > 0


@pytest.mark.parametrize("vendor", VENDORS)
async def test_item_is_asked_what_a_single_call_is_asked(vendor: str):
    """The same prompt, schema and settings: a batch changes the price of an answer and nothing else."""
    from tiered_eval.providers.registry import open_provider

    async with serve_loopback() as server:
        base_url = server.url + ("" if vendor == "anthropic" else "/v1")
        settings = ProviderSettings(base_urls={vendor: base_url})
        (item,) = items(vendor, 1)
        batch, single = (
            open_batch_provider(vendor, settings=settings),
            open_provider(vendor, settings=settings),
        )
        await read(batch, await batch.submit([item]))
        await single.complete(item.request, model=item.model, nonce=item.nonce, timeout_s=10)
        await batch.aclose()
        await single.aclose()
        batched, called = server.log

    assert batched.body == called.body
    assert batched.charged_pico * 2 == called.charged_pico


@pytest.mark.parametrize("vendor", VENDORS)
async def test_state_tells_when_the_results_can_be_read(vendor: str):
    """While it runs it has not ended; afterwards its counts are whole."""
    async with batches(vendor, batch_delay_s=600.0, item_script=("400",)) as (provider, server):
        handle = await provider.submit(items(vendor, 4))
        running = await provider.poll(handle)
        with pytest.raises(ProviderRefused) as caught:
            await read(provider, handle)
        server.pass_time(601)
        ended = await provider.poll(handle)

    assert (running.has_ended, running.counts.total, running.counts.processing) == (False, 4, 4)
    assert caught.value.billed == "no"
    assert (ended.has_ended, ended.failure) == (True, None)
    assert (ended.counts.succeeded, ended.counts.errored, ended.counts.processing) == (3, 1, 0)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_handle_survives_the_process(vendor: str):
    """What was written down is enough for another process to read the results, even without the items."""
    async with batches(vendor) as (provider, server):
        kept = json.dumps((await provider.submit(items(vendor))).to_json())
        base_url = server.url + ("" if vendor == "anthropic" else "/v1")
        later = open_batch_provider(vendor, settings=ProviderSettings(base_urls={vendor: base_url}))
        results = await read(later, BatchHandle.from_json(json.loads(kept)))
        await later.aclose()

    assert {result.outcome for result in results} == {"succeeded"}
    assert all(result.reply is not None and result.reply.nonce == "" for result in results)


@pytest.mark.parametrize("broken", [{}, {"items": "3"}, {"items": 3, "batch_id": 7}])
def test_handle_that_is_none_is_refused(broken: dict[str, Any]):
    """A journal that was damaged does not become a question about nothing."""
    whole = dict.fromkeys(("provider", "origin", "batch_id", "model", "submitted_at"), "x")

    with pytest.raises((KeyError, TypeError)):
        BatchHandle.from_json({**whole, **broken})


@pytest.mark.parametrize("vendor", VENDORS)
async def test_results_may_be_read_again(vendor: str):
    """A reader that was killed half way reads the same again."""
    async with batches(vendor) as (provider, server):
        found = items(vendor)
        handle = await provider.submit(found)
        first, second = [await read(provider, handle, found) for _ in range(2)]
        charged = server.charged_pico

        assert first == second
        assert charged == server.charged_pico


@pytest.mark.parametrize("vendor", VENDORS)
async def test_size_of_an_item_is_what_it_takes_on_the_wire(vendor: str):
    """Batches can be cut by their size before they are sent."""
    async with batches(vendor) as (provider, _):
        found = items(vendor, 3)
        size = sum(provider.size_of(item) for item in found)
        provider.limits = BatchLimits(items=3, bytes=size)  # type: ignore[misc]  # to be at the limit
        await provider.submit(found)
        provider.limits = BatchLimits(items=3, bytes=size - 1)  # type: ignore[misc]
        with pytest.raises(ValueError, match="bytes"):
            await provider.submit(found)


@pytest.mark.parametrize(
    ("why", "change", "match"),
    [
        ("no items", lambda found: [], "not 0"),
        ("two of one id", lambda found: [found[0], found[0]], "ids of their own"),
        ("an id that is too long", lambda found: [replace(found[0], custom_id="x" * 65)], "64"),
        ("an id with a slash", lambda found: [replace(found[0], custom_id="../x")], "A-Z"),
        ("an empty id", lambda found: [replace(found[0], custom_id="")], "A-Z"),
        ("two models", lambda found: [found[0], replace(found[1], model="other")], "one model"),
    ],
)
@pytest.mark.parametrize("vendor", VENDORS)
async def test_batch_that_would_be_turned_away_is_not_sent(vendor: str, why: str, change: Any, match: str):
    """What the vendor would find out in an hour is found before anything is sent."""
    async with batches(vendor) as (provider, server):
        with pytest.raises(ValueError, match=match):
            await provider.submit(change(items(vendor)))

        assert not server.desk.asked


def test_both_vendors_and_no_other_have_batches():
    """A caller can ask before it plans for one."""
    assert [name for name in ("anthropic", "openai", "vllm", "replay") if has_batches(name)] == VENDORS


@pytest.mark.parametrize("vendor", VENDORS)
def test_batches_need_a_key_like_single_calls(vendor: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    """A missing key is said before the first item is rendered."""
    from tiered_eval.errors import ConfigError

    monkeypatch.delenv(f"{vendor.upper()}_API_KEY")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path / "none"))

    with pytest.raises(ConfigError, match="key"):
        open_batch_provider(vendor, settings=ProviderSettings(requires_key=True))
    assert isinstance(open_batch_provider(vendor, settings=ProviderSettings()), NeedsPreparation)


# --- items that do not go well --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "error", "billed"),
    [
        ("400", ProviderRefused, "no"),
        ("401", ProviderRefused, "no"),
        ("404", ProviderRefused, "no"),
        ("429", RateLimited, "no"),
        ("500", ProviderUnavailable, "no"),
        ("529", ProviderError, "no"),
        ("null-choices", UnreadableReply, "yes"),
        ("missing", UnreadableReply, "maybe"),
        ("odd", UnreadableReply, "maybe"),
    ],
)
@pytest.mark.parametrize("vendor", VENDORS)
async def test_errored_item_is_an_error_of_its_own(vendor: str, fault: str, error: type, billed: str):
    """One bad item says what happened to it and whether it was billed; the others have their replies."""
    results = await outcomes(vendor, fault)

    bad = results.pop("item-0")
    assert (bad.outcome, bad.reply) == ("errored", None)
    assert isinstance(bad.error, error)
    assert bad.error is not None
    assert bad.error.billed == billed
    assert {result.outcome for result in results.values()} == {"succeeded"}


@pytest.mark.parametrize(
    ("vendor", "outcome"),
    [
        ("anthropic", "expired"),
        ("anthropic", "cancelled"),
        ("openai", "expired"),
    ],  # OpenAI names no cancelled item
)
async def test_item_that_never_ran_is_no_error(vendor: str, outcome: str):
    """Expired and cancelled items are told apart from failures: they were not looked at, and cost nothing."""
    results = await outcomes(vendor, outcome)

    assert (results["item-0"].outcome, results["item-0"].error, results["item-0"].reply) == (
        outcome,
        None,
        None,
    )
    assert results["item-1"].outcome == "succeeded"


@pytest.mark.parametrize(
    ("fault", "stop_reason"), [("refusal", "refusal"), ("empty", "max_tokens"), ("cut", "max_tokens")]
)
@pytest.mark.parametrize("vendor", VENDORS)
async def test_reply_that_is_no_answer_is_still_a_reply(vendor: str, fault: str, stop_reason: str):
    """A refusal and a spent budget of tokens were paid for, and the judge decides what they mean."""
    reply = (await outcomes(vendor, fault))["item-0"].reply

    assert reply is not None
    assert (reply.stop_reason, reply.usage.service_tier) == (stop_reason, "batch")


@pytest.mark.parametrize("vendor", VENDORS)
async def test_reply_without_counts_is_bounded_where_its_item_is_known(vendor: str):
    """With the items at hand it costs its bound; without them nobody knows, and it says so."""
    async with batches(vendor, item_script=("no-usage",)) as (provider, _):
        found = items(vendor, 1)
        handle = await provider.submit(found)
        ((known,), (unknown,)) = await read(provider, handle, found), await read(provider, handle)

    assert known.reply is not None
    assert (known.reply.usage.is_estimated, known.reply.usage.service_tier) == (True, "batch")
    assert unknown.outcome == "errored"
    assert unknown.error is not None
    assert unknown.error.billed == "maybe"


@pytest.mark.parametrize("vendor", VENDORS)
async def test_unusable_reply_is_booked_at_the_price_of_a_batch(vendor: str):
    """An answer without content was billed all the same: at half, like the rest."""
    error = (await outcomes(vendor, "null-choices"))["item-0"].error

    assert error is not None
    assert error.usage is not None
    assert error.usage.service_tier == "batch"


@pytest.mark.parametrize("vendor", VENDORS)
async def test_line_that_is_no_json_does_not_take_the_others_with_it(vendor: str):
    """A broken line is told under no id, and its item as one that may have been billed."""
    async with batches(vendor, item_script=("unreadable",)) as (provider, _):
        found = items(vendor)
        results = await read(provider, await provider.submit(found), found)

    ids = sorted(result.custom_id for result in results)
    assert ids == ["", "item-0", "item-1", "item-2"]
    (lost,) = (result for result in results if result.custom_id == "item-0")
    assert lost.error is not None
    assert lost.error.billed == "maybe"


@pytest.mark.parametrize("vendor", VENDORS)
async def test_item_that_comes_twice_counts_once(vendor: str):
    """The same line again says nothing new."""
    assert (await outcomes(vendor, "twice"))["item-0"].outcome == "succeeded"


@pytest.mark.parametrize("vendor", VENDORS)
async def test_item_with_two_different_results_is_an_error(vendor: str):
    """Where the vendor says two things about one item, neither is taken silently."""
    async with batches(vendor, item_script=("conflict",)) as (provider, _):
        found = items(vendor)
        results = await read(provider, await provider.submit(found), found)

    (doubted,) = [result for result in results if result.custom_id == "item-0"]
    assert len(results) == 3
    assert doubted.outcome == "errored"
    assert isinstance(doubted.error, UnreadableReply)
    assert doubted.error.billed == "maybe"


# --- batches that do not go well ------------------------------------------------------------------------------


@pytest.mark.parametrize("vendor", VENDORS)
async def test_cancelled_batch_keeps_what_has_run(vendor: str):
    """Half of it had run: that has replies and is billed; the rest is cancelled, item by item, and is not."""
    async with batches(vendor, batch_delay_s=100.0) as (provider, server):
        found = items(vendor, 4)
        handle = await provider.submit(found)
        server.pass_time(60)
        state = await provider.cancel(handle)
        results = await read(provider, handle, found)
        by_ids_alone = [result async for result in provider.results(handle, dict.fromkeys(by_id(found)))]
        billed = sum(call.charged_pico > 0 for call in server.log)

    assert state.has_ended
    assert sorted(result.outcome for result in results) == ["cancelled"] * 2 + ["succeeded"] * 2
    assert [result.outcome for result in by_ids_alone] == [result.outcome for result in results]
    assert billed == 2


@pytest.mark.parametrize("vendor", VENDORS)
async def test_cancelling_what_has_ended_does_no_harm(vendor: str):
    """A batch that was quicker than the cancellation is read like any other."""
    async with batches(vendor) as (provider, _):
        handle = await provider.submit(items(vendor))
        state = await provider.cancel(handle)

    assert (state.has_ended, state.counts.succeeded) == (True, 3)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_cancelling_an_unknown_batch_says_so(vendor: str):
    """An id from elsewhere is not taken for a batch that has ended."""
    async with batches(vendor) as (provider, _):
        handle = replace(await provider.submit(items(vendor)), batch_id="batch_of_nobody")
        with pytest.raises(ProviderRefused) as caught:
            await provider.cancel(handle)

    assert caught.value.status == 404


@pytest.mark.parametrize("vendor", VENDORS)
async def test_expired_batch_keeps_what_has_run(vendor: str):
    """After a day the rest is expired, which is not the same as failed."""
    async with batches(vendor, batch_delay_s=200_000.0) as (provider, server):
        found = items(vendor, 4)
        handle = await provider.submit(found)
        server.pass_time(90_000)
        state = await provider.poll(handle)
        results = await read(provider, handle, found)

    assert (state.has_ended, state.counts.succeeded) == (True, 1)
    assert sorted(result.outcome for result in results) == ["expired"] * 3 + ["succeeded"]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_item_of_a_broken_line_may_have_run_before_the_rest_expired(vendor: str):
    """What the vendor billed for an item whose line is damaged is not taken for free because its batch expired."""
    async with batches(vendor, batch_delay_s=200_000.0, item_script=("unreadable",)) as (provider, server):
        found = items(vendor, 4)
        handle = await provider.submit(found)
        server.pass_time(90_000)
        results = {result.custom_id: result for result in await read(provider, handle, found)}
        billed = sum(call.charged_pico > 0 for call in server.log)

    error = results["item-0"].error
    assert billed == 1
    assert (results["item-0"].outcome, error and error.billed) == ("errored", "maybe")
    assert {results[f"item-{number}"].outcome for number in (1, 2, 3)} == {"expired"}


@pytest.mark.parametrize(("fault", "error"), [("failed", ProviderRefused), ("queue-full", RateLimited)])
async def test_batch_that_is_turned_away_as_a_whole_is_not_billed(fault: str, error: type):
    """OpenAI looks at the file first: then nothing of it ran, every item says why, and a full queue can be tried again."""
    async with batches("openai", batch_script=("none", fault)) as (provider, server):
        found = items("openai")
        handle = await provider.submit(found)
        state = await provider.poll(handle)
        results = await read(provider, handle, found)

        assert server.charged_pico == 0
    assert (state.has_ended, state.status) == (True, "failed")
    assert isinstance(state.failure, error)
    assert "turned away by the test" in str(state.failure)
    assert {(result.outcome, result.error and result.error.billed) for result in results} == {
        ("errored", "no")
    }


SUBMIT_FAULTS: list[tuple[str, type[ProviderError], str]] = [
    ("400", ProviderRefused, "no"),
    ("401", ProviderRefused, "no"),
    ("413", ProviderRefused, "no"),
    ("429", RateLimited, "no"),
    ("spend-limit", ProviderRefused, "no"),
    ("500", ProviderUnavailable, "maybe"),
    ("502", ProviderUnavailable, "maybe"),
    ("503", ProviderUnavailable, "no"),
    ("504", ProviderUnavailable, "maybe"),
    ("529", RateLimited, "no"),
    ("html", ProviderUnavailable, "maybe"),
    ("html-200", UnreadableReply, "maybe"),
    ("malformed", UnreadableReply, "maybe"),
    ("truncated", ProviderUnavailable, "maybe"),
    ("reset", ProviderUnavailable, "maybe"),
    ("error-200", ProviderError, "maybe"),
    ("hang", ProviderTimeout, "maybe"),
    ("drip", ProviderTimeout, "maybe"),
]


@pytest.mark.parametrize(("fault", "error", "billed"), SUBMIT_FAULTS)
@pytest.mark.parametrize("vendor", VENDORS)
async def test_submission_that_fails_says_whether_a_batch_may_run(
    vendor: str, fault: str, error: type, billed: str
):
    """A batch that was made although its answer was lost will be billed: that is said, and never denied."""
    script = (fault,) if vendor == "anthropic" else ("none", fault)
    async with batches(vendor, batch_script=script) as (provider, server):
        timeout_s = 0.5 if fault in {"hang", "drip"} else 10.0
        await warm(provider)
        with pytest.raises(ProviderError) as caught:
            await provider.submit(items(vendor), timeout_s=timeout_s)
        exists = bool(server.desk.batches)

    assert isinstance(caught.value, error)
    assert caught.value.billed == billed
    assert not (exists and billed == "no")
    assert KEY not in str(caught.value)


async def warm(provider: BatchProvider) -> None:
    """Import the SDK before a short limit begins to count."""
    assert isinstance(provider, NeedsPreparation)
    await provider.prepare()


@pytest.mark.parametrize("fault", ["500", "html", "reset", "malformed", "hang"])
async def test_upload_that_fails_costs_nothing(fault: str):
    """OpenAI's file alone runs nothing, whatever became of it."""
    async with batches("openai", batch_script=(fault,)) as (provider, server):
        await warm(provider)
        with pytest.raises(ProviderError) as caught:
            await provider.submit(items("openai"), timeout_s=0.5 if fault == "hang" else 10.0)

        assert not server.desk.batches
    assert caught.value.billed == "no"


@pytest.mark.parametrize("vendor", VENDORS)
async def test_batch_whose_answer_was_lost_is_found_by_its_items(vendor: str):
    """Submitting again would pay twice; the batch that exists is picked up instead."""
    async with batches(vendor, seed=1) as (provider, server):
        await provider.submit(items(vendor, 2))
        server.desk.then(*["reset"] if vendor == "anthropic" else ["none", "reset"])
        found = items(vendor, 3)
        with pytest.raises(ProviderUnavailable):
            await provider.submit(found)
        await provider.submit([replace(item, custom_id=f"other{item.custom_id}") for item in found])
        search = await provider.find(list(by_id(found)), since=EARLIER)
        assert search.handle is not None
        results = await read(provider, search.handle, found)
        nowhere = await provider.find(["item-0", "item-9"], since=EARLIER)
        too_old = await provider.find(list(by_id(found)), since=datetime.now(UTC) + timedelta(hours=1))

    assert {result.custom_id for result in results} == set(by_id(found))
    assert {result.outcome for result in results} == {"succeeded"}
    assert search.handle.model == MODELS[vendor]
    assert (nowhere.handle, nowhere.may_be_running, too_old.handle) == (None, False, None)


@pytest.mark.parametrize(("vendor", "is_sure"), [("anthropic", False), ("openai", True)])
async def test_batch_that_still_runs_is_found_or_suspected(vendor: str, is_sure: bool):
    """OpenAI keeps a label of ours; of Anthropic's running batches nobody can tell, which is said too."""
    async with batches(vendor, batch_delay_s=60.0) as (provider, _):
        found = items(vendor)
        await provider.submit(found)
        search = await provider.find(list(by_id(found)), since=EARLIER)

    assert (search.handle is not None, search.may_be_running) == (is_sure, not is_sure)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_search_goes_through_all_pages(vendor: str, monkeypatch: pytest.MonkeyPatch):
    """An account with many batches is looked through to the end."""
    monkeypatch.setattr(f"tiered_eval.providers.{vendor}_batch._PAGE", 3)
    async with batches(vendor) as (provider, _):
        found = items(vendor, 2)
        await provider.submit(found)
        for index in range(10):
            await provider.submit([replace(items(vendor, 1)[0], custom_id=f"n{index}")])
        search = await provider.find(list(by_id(found)), since=EARLIER)

    assert search.handle is not None


READ_FAULTS = [
    "401",
    "404",
    "429",
    "500",
    "503",
    "529",
    "html",
    "html-200",
    "reset",
    "truncated",
    "hang",
    "drip",
]


def again(fault: str) -> list[str]:
    """A fault that shows: what only asks is asked again by the transport, once, when its connection breaks."""
    return [fault, fault] if fault == "reset" else [fault]


@pytest.mark.parametrize("fault", [*READ_FAULTS, "malformed", "error-200"])
@pytest.mark.parametrize("vendor", VENDORS)
async def test_poll_that_fails_costs_nothing_and_decides_nothing(vendor: str, fault: str):
    """Whatever goes wrong while asking, the batch goes on, and the next answer tells how it is."""
    async with batches(vendor) as (provider, server):
        handle = await provider.submit(items(vendor))
        server.desk.then(*again(fault))
        with pytest.raises(ProviderError) as caught:
            await provider.poll(handle, timeout_s=0.3 if fault in {"hang", "drip"} else 10.0)
        state = await provider.poll(handle)

    assert caught.value.billed == "no"
    assert state.has_ended


@pytest.mark.parametrize("fault", READ_FAULTS)
@pytest.mark.parametrize("vendor", VENDORS)
async def test_results_that_break_off_can_be_read_again(vendor: str, fault: str):
    """A failure while reading is raised, not taken for the end; no half of it is used, and nothing is billed anew."""
    async with batches(vendor) as (provider, server):
        found = items(vendor, 6)
        handle = await provider.submit(found)
        server.desk.then(*again(fault) if vendor == "anthropic" else ["none", *again(fault)])
        timeout_s = 0.3 if fault in {"hang", "drip"} else 10.0
        first: list[BatchResult] = []
        error: ProviderError | None = None
        try:
            async for result in provider.results(handle, by_id(found), timeout_s=timeout_s):
                first.append(result)
        except ProviderError as failure:
            error = failure
        second = await read(provider, handle, found)

    assert error is not None
    assert error.billed == "no"
    assert not first
    assert {result.custom_id for result in second} == set(by_id(found))
    assert {result.outcome for result in second} == {"succeeded"}


async def test_time_of_the_reader_is_not_the_vendors_time():
    """A slow reader does not run into the limit that is there for a slow vendor."""
    now = [0.0]
    async with batches("anthropic") as (provider, _):
        client = provider._client  # type: ignore[attr-defined]  # the seam below, with a clock moved by hand
        client._clock = lambda: now[0]
        handle = await provider.submit(items("anthropic"))
        path = f"/v1/messages/batches/{handle.batch_id}/results"
        count = 0
        async for _line in client.lines(path, model="any", timeout_s=5.0):
            count += 1
            now[0] += 60.0

    assert count == 3


@pytest.mark.parametrize("vendor", VENDORS)
async def test_id_from_a_journal_cannot_lead_elsewhere(vendor: str):
    """A handle is read from a file; what is in it does not become part of an address unchecked."""
    async with batches(vendor) as (provider, server):
        handle = replace(await provider.submit(items(vendor)), batch_id="../../v1/chat/completions?x=")
        asked = len(server.desk.asked)
        with pytest.raises(ValueError, match="no id"):
            await provider.poll(handle)

        assert len(server.desk.asked) == asked


@pytest.mark.parametrize("vendor", VENDORS)
async def test_key_is_in_no_error(vendor: str):
    """Providers quote keys when they turn them away."""
    async with batches(vendor, api_key="another") as (provider, _):
        with pytest.raises(ProviderRefused) as caught:
            await provider.submit(items(vendor))

    assert KEY not in f"{caught.value!r}{caught.value}"
    assert caught.value.stops_run


async def test_results_that_are_too_many_for_memory_wait_in_a_file(monkeypatch: pytest.MonkeyPatch):
    """Beyond a size they are read back from a file, each to its item."""
    monkeypatch.setattr("tiered_eval.providers.batch._KEPT_IN_MEMORY", 100)
    async with batches("anthropic", item_script=("conflict", "twice")) as (provider, _):
        found = items("anthropic", 5)
        results = await read(provider, await provider.submit(found), found)

    nonces = {result.custom_id: result.reply.nonce for result in results if result.reply is not None}
    assert nonces == {item.custom_id: item.nonce for item in found[1:]}
    assert all(
        json.loads(result.reply.text)["nonce"] == result.reply.nonce for result in results if result.reply
    )


@pytest.mark.parametrize("vendor", VENDORS)
async def test_large_batch_is_read_line_by_line(vendor: str):
    """Six hundred items come back whole, each once."""
    async with batches(vendor, item_fault_rates={"500": 0.03, "expired": 0.03, "refusal": 0.03}) as (
        provider,
        server,
    ):
        found = items(vendor, 600)
        results = await read(provider, await provider.submit(found), found)
        charged = server.charged_pico

    book, at = PriceBook(), datetime(2026, 11, 30, tzinfo=UTC)
    model = f"{vendor}:{MODELS[vendor]}"
    assert len(results) == len({result.custom_id for result in results}) == 600
    assert {result.outcome for result in results} == {"succeeded", "errored", "expired"}
    booked = sum(book.cost_pico(result.reply.usage, model, at) for result in results if result.reply)
    assert booked == charged
    assert Decimal(booked) > 0
