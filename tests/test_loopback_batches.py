"""Batches, files and time at the loopback provider: relied on by tests of money, so tested itself."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import aiohttp
import pytest
from provider_faults import NONCE, REQUEST, SCHEMA

from tiered_eval.testing.loopback import (
    BATCH_FAULTS,
    ITEM_FAULTS,
    LoopbackServer,
    LoopbackSettings,
    loopback_process,
    serve_loopback,
)

CHAT = {
    "model": "gpt-6-luna",
    "messages": [{"role": "user", "content": REQUEST.user_text(NONCE)}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
    "prompt_cache_options": {"mode": "explicit"},
}
MESSAGE = {"model": "claude-haiku-5-5", "max_tokens": 100, "messages": CHAT["messages"]}


async def send(
    server: LoopbackServer, method: str, path: str, body: Any = None, data: Any = None
) -> tuple[int, Any]:
    """(status, JSON or text)"""
    async with (
        aiohttp.ClientSession(json_serialize=compact) as session,
        session.request(method, server.url + path, json=body, data=data) as reply,
    ):
        text = await reply.text()
        return reply.status, json.loads(text) if reply.content_type == "application/json" else text


def compact(value: Any) -> str:
    """As the SDKs write it."""
    return json.dumps(value, separators=(",", ":"))


async def submit_messages(server: LoopbackServer, count: int, **changes: Any) -> Any:
    requests = [{"custom_id": f"i{index}", "params": {**MESSAGE, **changes}} for index in range(count)]
    return (await send(server, "POST", "/v1/messages/batches", {"requests": requests}))[1]


async def upload(server: LoopbackServer, content: str, purpose: str = "batch") -> tuple[int, Any]:
    form = aiohttp.FormData()
    form.add_field("purpose", purpose)
    form.add_field("file", content.encode(), filename="batch.jsonl")
    return await send(server, "POST", "/v1/files", data=form)


async def submit_file(server: LoopbackServer, lines: list[Any]) -> Any:
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    _, file = await upload(server, content)
    body = {"input_file_id": file["id"], "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    return (await send(server, "POST", "/v1/batches", body))[1]


def entry(custom_id: str, **changes: Any) -> dict[str, Any]:
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": CHAT, **changes}


async def test_batch_begins_unfinished_and_ends_by_time_alone():
    """Nobody's polling is what makes it run; counts of Anthropic stay at zero until all of it is done."""
    async with serve_loopback(LoopbackSettings(batch_delay_s=100)) as server:
        batch = await submit_messages(server, 4)
        path = f"/v1/messages/batches/{batch['id']}"
        server.pass_time(60)
        _, half = await send(server, "GET", path)
        run = len(server.log)
        server.pass_time(60)
        _, done = await send(server, "GET", path)

    assert (batch["processing_status"], batch["results_url"]) == ("in_progress", None)
    assert (half["processing_status"], half["request_counts"]["succeeded"], run) == ("in_progress", 0, 2)
    assert (done["processing_status"], done["request_counts"]["succeeded"]) == ("ended", 4)


async def test_items_are_billed_when_they_run_at_half_the_price():
    """The bill does not wait for anybody to read the results, and says which batch a line belongs to."""
    async with serve_loopback(LoopbackSettings(batch_delay_s=100)) as server:
        batch = await submit_messages(server, 2)
        before = server.charged_pico
        server.pass_time(100)
        await send(server, "POST", "/v1/messages", MESSAGE)
        first, second = [call for call in server.log if call.batch]
        (alone,) = [call for call in server.log if not call.batch]

    assert before == 0
    assert (first.charged_pico * 2, first.batch, first.custom_id) == (alone.charged_pico, batch["id"], "i0")
    assert (first.end_s, second.end_s) == (pytest.approx(50, abs=1), pytest.approx(100, abs=1))


async def test_odd_bill_of_a_batch_is_rounded_up():
    """Half of an odd number of pico-dollars is not given away."""
    settings = LoopbackSettings(input_price_pico=1, output_price_pico=0)
    async with serve_loopback(settings) as server:
        await submit_messages(server, 1)
        (call,) = server.log

    assert call.charged_pico == -(-call.input_tokens // 2)


@pytest.mark.parametrize(
    ("why", "lines", "code"),
    [
        ("the same id twice", [entry("a"), entry("a")], "duplicate_custom_id"),
        ("no JSON", [entry("a"), "{"], "invalid_json_line"),
        ("no body", [{"custom_id": "a"}], "invalid_json_line"),
        ("two models", [entry("a"), entry("b", body={**CHAT, "model": "other"})], "mismatched_model"),
        ("another endpoint", [entry("a", url="/v1/responses")], "mismatched_url"),
        ("an id that is too long", [entry("a" * 65)], "invalid_json_line"),
        ("nothing", [""], "empty_file"),
    ],
)
async def test_file_that_makes_no_sense_fails_the_whole_batch(why: str, lines: list[Any], code: str):
    """OpenAI takes the file, looks at it, and says later which line is wrong; nothing runs."""
    async with serve_loopback() as server:
        batch = await submit_file(server, lines)
        _, seen = await send(server, "GET", f"/v1/batches/{batch['id']}")

        assert not server.log
    assert (batch["status"], seen["status"]) == ("validating", "failed")
    assert code in {problem["code"] for problem in seen["errors"]["data"]}
    assert (seen["output_file_id"], seen["error_file_id"]) == (None, None)


async def test_duplicate_ids_are_turned_away_at_once():
    """Anthropic looks before it takes a batch."""
    async with serve_loopback() as server:
        requests = [{"custom_id": "a", "params": MESSAGE}] * 2
        status, _ = await send(server, "POST", "/v1/messages/batches", {"requests": requests})

    assert status == 400


async def test_item_that_makes_no_sense_errors_alone():
    """Parameters of an item are looked at when it runs."""
    async with serve_loopback() as server:
        batch = await submit_messages(server, 1, temperature=0.0)
        _, text = await send(server, "GET", f"/v1/messages/batches/{batch['id']}/results")

        assert server.charged_pico == 0
    assert json.loads(text)["result"]["type"] == "errored"


async def test_file_for_anything_else_is_refused():
    """Only what batches are made of."""
    async with serve_loopback() as server:
        status, _ = await upload(server, "{}", purpose="assistants")

    assert status == 400


@pytest.mark.parametrize(
    "path",
    ["/v1/messages/batches/x", "/v1/messages/batches/x/results", "/v1/batches/x", "/v1/files/x/content"],
)
async def test_what_is_not_there_is_a_404(path: str):
    """An id of nobody's is not found."""
    async with serve_loopback() as server:
        status, value = await send(server, "GET", path)

    assert status == 404
    assert "error" in value


@pytest.mark.parametrize("name", ["batch_script", "item_script", "item_fault_rates"])
def test_unknown_fault_is_refused(name: str):
    """A misspelt fault would make a test pass for nothing."""
    value: Any = {"misspelt": 0.5} if name.endswith("rates") else ("misspelt",)

    with pytest.raises(ValueError, match="unknown fault"):
        LoopbackSettings(**{name: value})


async def test_unknown_fault_is_refused_later_too():
    """The same for what is asked for while it runs."""
    async with serve_loopback() as server:
        with pytest.raises(ValueError, match="unknown fault"):
            server.desk.then("misspelt")
        with pytest.raises(ValueError, match="unknown fault"):
            server.desk.then_items("drip")


@pytest.mark.parametrize("fault", sorted(set(ITEM_FAULTS) - {"none"}))
async def test_every_fault_of_an_item_shows(fault: str):
    """A result with a fault differs from one without."""
    async with serve_loopback(LoopbackSettings(item_script=(fault,))) as server:
        texts = []
        for _ in range(2):
            batch = await submit_messages(server, 1)
            _, text = await send(server, "GET", f"/v1/messages/batches/{batch['id']}/results")
            texts.append(text.replace("_2", "_1"))

    assert texts[0] != texts[1]
    assert json.loads(texts[1])["result"]["type"] == "succeeded"


@pytest.mark.parametrize("fault", sorted(set(BATCH_FAULTS) - {"none", "hang", "drip"}))
async def test_every_fault_of_a_request_about_a_batch_shows(fault: str):
    """A request with a fault ends, and differs from one without."""
    async with serve_loopback(LoopbackSettings(batch_script=("none", fault))) as server:
        try:
            batch = await submit_file(server, [entry("a")])
            status = (
                batch.get("id") and (await send(server, "GET", f"/v1/batches/{batch['id']}"))[1]["status"]
            )
        except (aiohttp.ClientError, AttributeError, ValueError):
            status = None
        good = await submit_file(server, [entry("a")])
        _, seen = await send(server, "GET", f"/v1/batches/{good['id']}")

    assert status != "completed"
    assert seen["status"] == "completed"


async def test_results_come_in_another_order_each_batch():
    """Nobody can rely on the order of the items; the same seed gives the same one."""

    async def order() -> list[str]:
        async with serve_loopback(LoopbackSettings(seed=5)) as server:
            batch = await submit_messages(server, 20)
            _, text = await send(server, "GET", f"/v1/messages/batches/{batch['id']}/results")
            return [json.loads(line)["custom_id"] for line in text.splitlines()]

    first = await order()

    assert first == await order()
    assert first != sorted(first)


async def test_call_is_logged_with_its_start_and_its_end():
    """How long a provider was at work can be told from its own log."""
    async with serve_loopback(LoopbackSettings(latency_s=0.05, script=("none", "400"))) as server:
        for _ in range(2):
            await send(server, "POST", "/v1/chat/completions", CHAT)
        good, turned_away = server.log

    assert 0.05 <= good.end_s - good.at_s < 1
    assert turned_away.end_s - turned_away.at_s < 0.05


async def test_price_of_what_is_kept_is_in_the_bill():
    """Reads, writes and the rest each have their own price."""
    body = {
        **MESSAGE,
        "system": [{"type": "text", "text": "x" * 4000, "cache_control": {"type": "ephemeral"}}],
    }
    async with serve_loopback(LoopbackSettings(input_price_pico=100, output_price_pico=0)) as server:
        for _ in range(2):
            await send(server, "POST", "/v1/messages", body)
        written, read = server.log

    assert (written.cache_write_tokens, read.cache_read_tokens) == (1001, 1001)
    assert written.charged_pico == 100 * (written.input_tokens - 1001) + 125 * 1001
    assert read.charged_pico == 100 * (read.input_tokens - 1001) + 10 * 1001


@pytest.mark.parametrize(
    "system",
    [
        [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "2h"}}],
        [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5,
    ],
)
async def test_marks_that_the_vendor_refuses_are_refused(system: Any):
    """A time that is not offered, and more than four marks."""
    async with serve_loopback() as server:
        status, _ = await send(server, "POST", "/v1/messages", {**MESSAGE, "system": system})

    assert status == 400


def test_process_plays_batches_and_lets_time_pass():
    """A benchmark or a test of kills can have batches that outlive its own process."""
    options = ["--batch-delay", "3600", "--item-script", "expired", "--item-fault", "500=0.0"]
    with loopback_process(*options) as url:

        def ask(path: str, value: Any = None) -> Any:
            data = None if value is None else json.dumps(value).encode()
            request = urllib.request.Request(url + path, data, {"content-type": "application/json"})
            with urllib.request.urlopen(request) as reply:
                return json.loads(reply.read() or b"null")

        requests = [{"custom_id": f"i{index}", "params": MESSAGE} for index in range(3)]
        batch = ask("/v1/messages/batches", {"requests": requests})
        before = ask("/_bill")
        ask("/_pass", {"seconds": 3601})
        counts = ask(f"/v1/messages/batches/{batch['id']}")["request_counts"]
        bill = ask("/_bill")

    assert (before["calls"], before["batches"]) == (0, 1)
    assert (counts["succeeded"], counts["expired"]) == (2, 1)
    assert (bill["batched"], bill["charged_pico"] > 0) == (2, True)
