"""The loopback provider: a test double that is itself relied on, so its limits, faults and bill are tested."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import aiohttp
import pytest
from provider_faults import NONCE, REQUEST, SCHEMA

from tiered_eval.testing.loopback import (
    FAULTS,
    LoopbackServer,
    LoopbackSettings,
    loopback_process,
    serve_loopback,
)
from tiered_eval.testing.loopback.allowance import Allowance
from tiered_eval.testing.loopback.answers import answer_text, find_nonce, takes_first

CHAT = {
    "model": "m",
    "messages": [{"role": "user", "content": REQUEST.user_text(NONCE)}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
}


async def post(
    server: LoopbackServer, body: Any = CHAT, path: str = "/v1/chat/completions"
) -> tuple[int, Any, dict[str, str]]:
    """(status, JSON or text, headers)"""
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session,
        session.post(server.url + path, json=body) as reply,
    ):
        text = await reply.text()
        value = json.loads(text) if reply.content_type == "application/json" else text
        return reply.status, value, {name.lower(): value for name, value in reply.headers.items()}


async def test_answer_fits_the_schema_and_echoes_the_nonce():
    """A judge's question gets a judge's answer."""
    async with serve_loopback() as server:
        _, value, _ = await post(server)

    answer = json.loads(value["choices"][0]["message"]["content"])
    assert answer == {"nonce": NONCE, "evidence": "", "verdict": "met"}


@pytest.mark.parametrize(
    ("why", "schema", "expected"),
    [
        ("every kind of value", {"type": "boolean"}, True),
        ("bounds of a number", {"type": "integer", "minimum": 1, "maximum": 5}, 5),
        ("a constant", {"const": "fixed"}, "fixed"),
        ("nullable", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "The data say so."),
        ("a list of types", {"type": ["number", "null"], "maximum": 2}, 2.0),
        ("as many as asked", {"type": "array", "minItems": 2, "items": {"type": "boolean"}}, [True, True]),
        ("nothing", {"type": "null"}, None),
    ],
)
def test_any_schema_is_answered(why: str, schema: dict[str, Any], expected: Any):
    """Whatever a strict schema asks for is filled in."""
    whole = {"type": "object", "properties": {"value": schema}}

    assert json.loads(answer_text("DATA abc\n{}", whole))["value"] == expected


def test_schema_may_refer_to_its_definitions():
    """A reference is followed to where it points."""
    schema = {
        "type": "object",
        "properties": {"item": {"$ref": "#/$defs/Item"}},
        "$defs": {"Item": {"type": "object", "properties": {"nonce": {"type": "string"}}}},
    }

    assert json.loads(answer_text("DATA abc123\n{}", schema)) == {"item": {"nonce": "abc123"}}


def test_score_is_an_end_of_the_scale():
    """Where a question names the ends of a scale instead of its levels, the score is the one or the other."""
    prompt = 'DATA abc\n{"lowest": 1, "highest": 6}\nEND OF DATA abc'
    schema = {"type": "object", "properties": {"score": {"type": "number"}}}

    scores = [json.loads(answer_text(prompt, schema, pass_share=share))["score"] for share in (0.0, 1.0)]

    assert scores == [1, 6]


def test_score_is_one_of_the_levels():
    """A rubric's levels stand in the data, and the score is taken from them."""
    prompt = 'DATA abc\n{"levels": {"1": "poor", "3": "fair", "9": "good"}}\nEND OF DATA abc'
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}

    scores = {json.loads(answer_text(prompt, schema, pass_share=share))["score"] for share in (0.0, 1.0)}

    assert scores == {1, 9}


@pytest.mark.parametrize("name", ["questions", "criteria", "statements"])
def test_each_of_several_is_answered_under_its_id(name: str):
    """Packed questions, the criteria of a rubric and the statements of a text get one answer each."""
    prompt = (
        f'DATA abc\n{{"{name}": [{{"id": "x1", "text": "a"}}, {{"id": "x2", "text": "b"}}]}}\nEND OF DATA abc'
    )
    answer = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "verdict": {"type": "string", "enum": ["yes", "no"]}},
    }
    schema = {"type": "object", "properties": {"answers": {"type": "array", "items": answer}}}

    given = json.loads(answer_text(prompt, schema))["answers"]

    assert given == [{"id": "x1", "verdict": "yes"}, {"id": "x2", "verdict": "yes"}]


@pytest.mark.parametrize(
    ("prompt", "nonce"),
    [
        ("DATA abc-123\n{}", "abc-123"),
        ("Repeat the nonce `f00ba4cafe` in your reply.", "f00ba4cafe"),
        ("Nothing of the kind.", ""),
    ],
)
def test_nonce_is_found_where_prompts_put_it(prompt: str, nonce: str):
    """On our marker line, or after the word."""
    assert find_nonce(prompt) == nonce


def test_verdict_depends_on_the_question_and_not_on_its_nonce():
    """The same question has the same answer in every run, and the asked share of questions passes."""
    questions = [f"DATA %s\nquestion {number}\nEND OF DATA %s" for number in range(1000)]

    first = [takes_first(question % ("aaaaaa", "aaaaaa"), pass_share=0.7) for question in questions]
    again = [takes_first(question % ("bbbbbb", "bbbbbb"), pass_share=0.7) for question in questions]

    assert first == again
    assert 650 < sum(first) < 750


async def test_bill_adds_up_and_counts_answers_that_were_lost():
    """A torn-down answer is charged, a turned-away call is not; all of it in pico-dollars."""
    settings = LoopbackSettings(script=("none", "500", "reset"), input_price_pico=3, output_price_pico=5)
    async with serve_loopback(settings) as server:
        await post(server)
        await post(server)
        with pytest.raises(aiohttp.ClientError):
            await post(server)

        good, failed, lost = server.log
        assert good.charged_pico == good.input_tokens * 3 + good.output_tokens * 5 > 0
        assert failed.charged_pico == 0
        assert lost.charged_pico == good.charged_pico
        assert server.charged_pico == 2 * good.charged_pico


async def test_usage_that_is_told_is_what_is_charged():
    """The counts in the answer are those of the bill."""
    async with serve_loopback(LoopbackSettings(reasoning_tokens=7)) as server:
        _, value, _ = await post(server)
        call = server.log[0]

    assert value["usage"]["prompt_tokens"] == call.input_tokens
    assert value["usage"]["completion_tokens"] == call.output_tokens > 7


async def test_reply_may_cost_all_that_it_may():
    """With ``uses_max_tokens`` hidden reasoning takes the rest of the limit, whatever is said."""
    async with serve_loopback(LoopbackSettings(uses_max_tokens=True)) as server:
        await post(server, {**CHAT, "max_completion_tokens": 300})

        assert server.log[0].output_tokens == 300


async def test_limit_turns_surplus_calls_away():
    """Past the burst a 429 says when to come back, and what is left stands in the headers."""
    async with serve_loopback(LoopbackSettings(requests_per_minute=60, burst=2)) as server:
        replies = [await post(server) for _ in range(3)]

    assert [status for status, _, _ in replies] == [200, 200, 429]
    assert [headers["x-ratelimit-remaining-requests"] for _, _, headers in replies] == ["1", "0", "0"]
    assert replies[2][2]["retry-after"] == "1"


def test_allowance_refills_with_time():
    """A minute's limit comes back a little each second, up to the burst."""
    allowance = Allowance(LoopbackSettings(requests_per_minute=60, burst=2), now=0.0)

    waits = [allowance.take(1, now=now) for now in (0.0, 0.0, 0.0, 1.0, 1.0, 100.0, 100.0, 100.0)]

    assert waits == [None, None, 1.0, None, 1.0, None, None, 1.0]


def test_limit_on_tokens_counts_tokens():
    """A call larger than what is left waits for the rest."""
    allowance = Allowance(LoopbackSettings(tokens_per_minute=600), now=0.0)

    assert allowance.take(500, now=0.0) is None
    assert allowance.take(200, now=0.0) == pytest.approx(10.0)


async def test_script_comes_before_rates():
    """Scripted faults hit the first calls, in order; the shares count afterwards."""
    async with serve_loopback(LoopbackSettings(script=("404",), fault_rates={"503": 1.0})) as server:
        server.then("529")
        statuses = [(await post(server))[0] for _ in range(3)]

    assert statuses == [404, 529, 503]


async def test_same_seed_meets_the_same_faults():
    """A run against faults by chance can be repeated."""

    async def statuses() -> list[int]:
        async with serve_loopback(LoopbackSettings(fault_rates={"500": 0.5}, seed=3)) as server:
            return [(await post(server))[0] for _ in range(20)]

    first = await statuses()

    assert first == await statuses()
    assert set(first) == {200, 500}


@pytest.mark.parametrize(
    "path",
    ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/decisions"],
)
async def test_request_that_makes_no_sense_is_a_400(path: str):
    """A body that the vendor would refuse is refused here too."""
    async with serve_loopback() as server:
        status, value, _ = await post(server, {"model": "m"}, path)

    assert status == 400
    assert "error" in value


async def test_responses_speak_their_own_format():
    """The Responses endpoint answers with output items and its own counts."""
    body = {
        "model": "m",
        "instructions": "Judge.",
        "input": REQUEST.user_text(NONCE),
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
    }
    async with serve_loopback() as server:
        _, value, _ = await post(server, body, "/v1/responses")

    assert value["status"] == "completed"
    assert json.loads(value["output"][1]["content"][0]["text"])["nonce"] == NONCE
    assert value["usage"]["input_tokens"] > 0


def test_unknown_fault_is_refused():
    """A misspelt fault would make a test pass for nothing."""
    with pytest.raises(ValueError, match="unknown fault"):
        LoopbackSettings(script=("50O",))
    with pytest.raises(ValueError, match="between 0 and 1"):
        LoopbackSettings(fault_rates={"500": 0.7, "529": 0.7})


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - {"none", "hang", "drip"}))
async def test_every_fault_shows(fault: str):
    """A call with a fault ends, and differs from one without."""
    async with serve_loopback(LoopbackSettings(script=(fault, "none"))) as server:
        try:
            status, value, _ = await post(server)
        except (aiohttp.ClientError, ValueError):
            status, value = 0, None
        good_status, good, _ = await post(server)

    assert good_status == 200
    assert (status, without_id(value)) != (200, without_id(good))


def without_id(value: Any) -> Any:
    return {name: part for name, part in value.items() if name != "id"} if isinstance(value, dict) else value


def test_process_serves_and_ends_with_its_owner():
    """The server runs on its own, shows its log and its bill, and is gone when its owner is done."""
    with loopback_process("--latency", "0.01", "--script", "500") as url:
        request = urllib.request.Request(
            url + "/v1/chat/completions", json.dumps(CHAT).encode(), {"content-type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        caught.value.close()
        with urllib.request.urlopen(request) as reply:
            assert reply.status == 200
        with urllib.request.urlopen(url + "/_bill") as reply:
            bill = json.load(reply)

    assert bill["by_status"] == {"500": 1, "200": 1}
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(request)


def test_process_stops_on_a_signal():
    """A server that was started by hand ends cleanly on SIGTERM."""
    command = [sys.executable, "-m", "tiered_eval.testing.loopback"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        json.loads(process.stdout.readline())
        os.kill(process.pid, signal.SIGTERM)

        assert process.wait(10) == 0


def test_without_aiohttp_the_extra_is_named():
    """Whoever has not installed what it needs is told the command for it."""
    code = "import sys; sys.modules['aiohttp'] = None; import tiered_eval.testing.loopback"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.returncode == 1
    assert "pip install 'tiered-eval[testing]'" in done.stderr.splitlines()[-1]
