"""Recordings: what is written can be replayed, and what was not recorded is an error."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.errors import ConfigError, RecordingMissing
from tiered_eval.keys import recording_key
from tiered_eval.providers.recordings import load_recordings, write_recording
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.providers.replay import ReplayProvider
from tiered_eval.records import ModelReply, ModelRequest, Usage

REQUEST = ModelRequest(
    system="Judge the response.",
    user=("Data ", ": Net 45 days."),
    schema={"type": "object"},
    schema_name="requirement",
    prompt="judge/requirement.v1#3f2a9c04",
    max_tokens=1024,
)
OTHER = replace(REQUEST, user=("Data ", ": Net 60 days."))
TEXT = '{"nonce": "n-123", "verdict": "met"}'


def reply_of(text: str = TEXT, **details: Any) -> ModelReply:
    return ModelReply(
        text=text,
        stop_reason="end",
        model="gpt-6-luna",
        usage=Usage(input_tokens=120, output_tokens=20),
        nonce="n-123",
        **details,
    )


def record(place: Path, request: ModelRequest = REQUEST, **changes: Any) -> None:
    details: dict[str, Any] = {"model": "openai:gpt-6-luna", "origin": "hand-written", **changes}
    write_recording(place, request, details.pop("reply", reply_of()), **details)


async def ask(
    place: Path, request: ModelRequest = REQUEST, *, model: str = "gpt-6-luna", nonce: str = "n-999"
) -> ModelReply:
    provider = ReplayProvider(ProviderSettings(recordings=place))
    return await provider.complete(request, model=model, nonce=nonce, timeout_s=1.0)


async def test_recorded_reply_is_given_again_with_the_nonce_of_the_new_call(tmp_path: Path):
    """The text is the recorded one, but for the nonce, which belongs to the call."""
    record(tmp_path / "atlas.jsonl")

    reply = await ask(tmp_path)

    assert reply.text == '{"nonce": "n-999", "verdict": "met"}'
    assert (reply.nonce, reply.usage) == ("n-999", Usage(input_tokens=120, output_tokens=20))


async def test_question_that_was_not_recorded_is_an_error(tmp_path: Path):
    """A miss names the model and the place, and is never answered with something near."""
    record(tmp_path / "atlas.jsonl")

    with pytest.raises(RecordingMissing) as caught:
        await ask(tmp_path, OTHER)

    assert caught.value.key == recording_key(OTHER)
    assert str(tmp_path) in str(caught.value)


async def test_empty_folder_has_no_recordings(tmp_path: Path):
    """Without any recording each question is a miss."""
    with pytest.raises(RecordingMissing):
        await ask(tmp_path)


async def test_recording_of_the_asked_model_is_preferred(tmp_path: Path):
    """Where several models were recorded, each is replayed for itself, and the first for all others."""
    record(tmp_path / "a.jsonl", model="openai:gpt-6-luna")
    record(tmp_path / "a.jsonl", model="anthropic:claude-haiku-5-5", reply=reply_of("no"))

    texts = [(await ask(tmp_path, model=name)).text for name in ("claude-haiku-5-5", "gpt-6-luna", "other")]

    assert texts == ["no", '{"nonce": "n-999", "verdict": "met"}', '{"nonce": "n-999", "verdict": "met"}']


async def test_refusal_is_replayed_as_a_refusal(tmp_path: Path):
    """The reason for stopping is part of the recording."""
    refused = replace(reply_of(""), stop_reason="refusal", refusal="I cannot help with that.")
    record(tmp_path / "a.jsonl", reply=refused)

    reply = await ask(tmp_path)

    assert (reply.stop_reason, reply.refusal) == ("refusal", "I cannot help with that.")


def test_recording_is_an_object_that_people_can_read(tmp_path: Path):
    """A JSON reply is kept as an object beside its origin and day, not as escaped text."""
    record(tmp_path / "a.jsonl", recorded_at="2026-11-30", note="payment-terms")

    line = json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8"))

    assert line["reply"] == {"nonce": "{{nonce}}", "verdict": "met"}
    assert (line["origin"], line["recorded_at"], line["note"]) == (
        "hand-written",
        "2026-11-30",
        "payment-terms",
    )


@given(text=st.one_of(st.text(), st.dictionaries(st.text(), st.integers()).map(json.dumps)))
def test_any_text_survives_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, text: str):
    """What is recorded is read back character by character."""
    place = tmp_path_factory.mktemp("recordings") / "a.jsonl"
    record(place, reply=replace(reply_of(text), nonce=""))

    (recording,) = load_recordings(place)[recording_key(REQUEST)]

    assert recording.text == text


@pytest.mark.parametrize(
    ("why", "line", "says"),
    [
        ("cut off", '{"key": "k"', "not JSON"),
        ("no object", "[1]", "JSON object"),
        ("no key", '{"model": "m", "text": "t", "origin": "recorded"}', "'key'"),
        ("no origin", '{"key": "k", "model": "m", "text": "t"}', "'origin'"),
        ("origin made up", '{"key": "k", "model": "m", "text": "t", "origin": "real"}', "'origin'"),
        ("no reply", '{"key": "k", "model": "m", "origin": "recorded"}', "either"),
        (
            "two replies",
            '{"key": "k", "model": "m", "origin": "recorded", "text": "t", "reply": {}}',
            "either",
        ),
        ("text is no text", '{"key": "k", "model": "m", "origin": "recorded", "text": {}}', "'text'"),
        ("field misspelt", '{"key": "k", "model": "m", "origin": "recorded", "txt": "t"}', "'txt'"),
        (
            "stop reason",
            '{"key": "k", "model": "m", "origin": "recorded", "text": "t", "stop_reason": "x"}',
            "stop_reason",
        ),
        (
            "usage negative",
            '{"key": "k", "model": "m", "origin": "recorded", "text": "t", "usage": {"input_tokens": -1}}',
            "usage",
        ),
        (
            "usage a list",
            '{"key": "k", "model": "m", "origin": "recorded", "text": "t", "usage": [1]}',
            "usage",
        ),
    ],
)
def test_line_that_is_no_recording_is_named(tmp_path: Path, why: str, line: str, says: str):
    """A damaged line stops the replay with file and line, rather than being passed over."""
    (tmp_path / "a.jsonl").write_text("\n" + line + "\n", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"a\.jsonl:2: ") as caught:
        load_recordings(tmp_path)

    assert says in str(caught.value)


def test_two_replies_of_one_model_to_one_question_are_refused(tmp_path: Path):
    """Which of the two would be replayed is not for the order of files to decide."""
    record(tmp_path / "a.jsonl")
    record(tmp_path / "b.jsonl", reply=reply_of("another"))

    with pytest.raises(ConfigError, match=r"b\.jsonl:1: .*a\.jsonl:1"):
        load_recordings(tmp_path)


def test_absent_folder_is_named(tmp_path: Path):
    """A folder that is not there is a wrong set-up, not an empty one."""
    with pytest.raises(ConfigError, match="nowhere"):
        load_recordings(tmp_path / "nowhere")


def test_replay_without_a_folder_is_refused_at_once():
    """The missing setting is said when the provider is opened."""
    with pytest.raises(ConfigError, match="folder"):
        open_provider("replay", settings=ProviderSettings())


def test_unknown_prefix_gets_the_nearest_name():
    """A misspelt provider is answered with the one that was probably meant."""
    with pytest.raises(ConfigError, match="did you mean 'anthropic'"):
        open_provider("antropic", settings=ProviderSettings())
