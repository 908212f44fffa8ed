"""``openai-decisions:`` through the real SDK against a loopback server: answers that fit, and every way not to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
from provider_faults import FAULT_MEANINGS, KEY, NONCE, Meaning, meaning_of

from tiered_eval.errors import ConfigError, ProviderError, ProviderUnavailable, UnreadableReply
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.base import DecisionProvider, NeedsPreparation
from tiered_eval.providers.decisions import _Misfit, answers_from, decision_body
from tiered_eval.providers.registry import ProviderSettings, open_decision_provider, open_provider
from tiered_eval.records import DecisionQuestion, DecisionReply, DecisionRequest
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

MODEL = "gpt-6-luna"

PREDICATE = DecisionQuestion(name="no-date", kind="predicate", instructions="No delivery date is promised.")
CHOICE = DecisionQuestion(
    name="tone",
    kind="choice",
    instructions="What is its tone?",
    options={"polite": "Thanks the reader.", "curt": ""},
)
SCORE = DecisionQuestion(
    name="help",
    kind="score",
    instructions="How helpful is it?",
    options={"poor": "Answers nothing.", "fair": "", "good": "Answers all."},
)
REQUEST = DecisionRequest(
    system="Judge the response.",
    user=("DATA ", '\n{"response": "Net 45 days."}\nEND OF DATA ', "\n"),
    questions=(PREDICATE, CHOICE, SCORE),
    prompt="decision/requirement.v1#3f2a9c04",
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@asynccontextmanager
async def decisions(**settings: Any) -> AsyncIterator[tuple[DecisionProvider, LoopbackServer]]:
    async with serve_loopback(LoopbackSettings(**settings)) as server:
        provider = open_decision_provider(
            "openai-decisions", settings=ProviderSettings(base_urls={"openai": server.url + "/v1"})
        )
        try:
            yield provider, server
        finally:
            await provider.aclose()


async def decide(
    provider: DecisionProvider, request: DecisionRequest = REQUEST, *, timeout_s: float = 10.0
) -> DecisionReply:
    return await provider.decide(request, model=MODEL, nonce=NONCE, timeout_s=timeout_s)


# --- a call that succeeds -------------------------------------------------------------------------------------


async def test_each_question_is_answered_in_its_place():
    """One call answers all questions, each with a number between 0 and 1."""
    async with decisions() as (provider, _):
        reply = await decide(provider)

    predicate, choice, score = reply.answers
    assert (predicate.name, predicate.kind, predicate.score) == ("no-date", "predicate", 0.9)
    assert (choice.kind, choice.choice, choice.score, choice.confidence) == ("choice", "polite", None, 0.9)
    assert [option for option, _ in choice.probabilities] == ["polite", "curt"]
    assert (score.choice, score.score) == ("good", pytest.approx((0.05 * 1 + 0.9 * 2) / 2))
    assert (reply.model, reply.request_id) == (MODEL, "req_loopback_1")


async def test_other_answers_are_possible():
    """The loopback answers by the text, so that a test can have both kinds."""
    async with decisions(pass_share=0.0) as (provider, _):
        predicate, choice, score = (await decide(provider)).answers

    assert predicate.score == pytest.approx(0.1)
    assert (choice.choice, score.choice) == ("curt", "poor")


async def test_text_stands_alone_and_nothing_is_kept():
    """The judged text is in the user's message only, and caching is off, since writing might be charged for."""
    async with decisions() as (provider, server):
        await decide(provider)
        body = server.log[0].body

    assert [message["role"] for message in body["input"]] == ["system", "user"]
    assert body["input"][1]["content"] == REQUEST.user_text(NONCE)
    assert "Net 45" not in str(body["questions"])
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert [question["type"] for question in body["questions"]] == ["predicate", "choice", "score"]
    assert body["questions"][1]["choices"] == [
        {"value": "polite", "description": "Thanks the reader."},
        {"value": "curt"},
    ]
    assert [level["label"] for level in body["questions"][2]["levels"]] == ["poor", "fair", "good"]


async def test_bill_is_the_text_and_never_the_answers():
    """What is booked by the price list is what the provider charges: input at full price, output at none."""
    async with decisions() as (provider, server):
        usage = (await decide(provider)).usage
        charged = server.charged_pico

    booked = PriceBook().cost_pico(usage, f"openai-decisions:{MODEL}", datetime(2026, 11, 30, tzinfo=UTC))
    assert usage.output_tokens > 0
    assert booked == charged > 0


async def test_worst_case_covers_the_bill():
    """What is reserved before is never less than what is charged."""
    at = datetime(2026, 11, 30, tzinfo=UTC)
    many = replace(REQUEST, questions=tuple(replace(PREDICATE, name=f"q{index}") for index in range(400)))
    async with decisions() as (provider, server):
        assert len((await decide(provider, many)).answers) == 400
        charged = server.charged_pico

    assert charged <= PriceBook().worst_case_decision_pico(many, f"openai-decisions:{MODEL}", at)


async def test_missing_usage_is_bounded_from_above():
    """A server that does not count is charged at the bound that was reserved, and says so."""
    async with decisions(script=("no-usage",)) as (provider, server):
        usage = (await decide(provider)).usage

    assert usage.is_estimated
    assert usage.input_tokens >= server.log[0].input_tokens


async def test_refused_questions_are_answers_of_their_own():
    """A refusal has no number, so nobody can take it for a low one."""
    async with decisions(script=("refusal",)) as (provider, _):
        answers = (await decide(provider)).answers

    assert {(answer.kind, answer.score, answer.choice) for answer in answers} == {("refusal", None, None)}


async def test_lone_surrogate_is_sent_as_a_question_mark():
    """Text that UTF-8 cannot carry does not fail in the SDK, and its options are still recognised."""
    odd = replace(CHOICE, options={"polite\ud800": "", "curt": "\udfff"})
    async with decisions() as (provider, _):
        (answer,) = (await decide(provider, replace(REQUEST, questions=(odd,)))).answers

    assert answer.choice == "polite\ud800"


# --- questions that cannot be asked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("why", "questions", "match"),
    [
        ("none", (), "1 to 400"),
        ("too many", tuple(replace(PREDICATE, name=f"q{index}") for index in range(401)), "1 to 400"),
        ("two of one name", (PREDICATE, PREDICATE), "names of their own"),
        ("a name that is none", (replace(PREDICATE, name="two words"),), "A-Z"),
        ("options where there are none", (replace(PREDICATE, options={"a": "", "b": ""}),), "0 to 0"),
        ("a choice of one", (replace(CHOICE, options={"a": ""}),), "2 to 255"),
        ("a choice of too many", (replace(CHOICE, options={str(n): "" for n in range(256)}),), "2 to 255"),
        ("a score without levels", (replace(SCORE, options=None),), "2 to 255"),
    ],
)
async def test_question_that_makes_no_sense_is_not_sent(
    why: str, questions: tuple[DecisionQuestion, ...], match: str
):
    """What the vendor would refuse is found before anything is sent."""
    async with decisions() as (provider, server):
        with pytest.raises(ValueError, match=match):
            await decide(provider, replace(REQUEST, questions=questions))

        assert not server.log


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("another model", {"model": "gpt-6.1-sol"}),
        ("no questions", {"questions": []}),
        ("no instructions", {"questions": [{"type": "predicate", "instructions": ""}]}),
        ("an unknown type", {"questions": [{"type": "essay", "instructions": "Write."}]}),
        (
            "a choice of one",
            {"questions": [{"type": "choice", "instructions": "?", "choices": [{"value": "a"}]}]},
        ),
        ("one level", {"questions": [{"type": "score", "instructions": "?", "levels": [{"label": "a"}]}]}),
    ],
)
async def test_loopback_refuses_what_the_vendor_would(why: str, change: dict[str, Any]):
    """The double is as strict as the original, so that a wrong question does not pass a test."""
    body = {**decision_body(REQUEST, model=MODEL, nonce=NONCE), **change}
    async with (
        serve_loopback() as server,
        aiohttp.ClientSession() as session,
        session.post(server.url + "/v1/decisions", json=body) as reply,
    ):
        assert reply.status == 400


# --- answers that do not fit ----------------------------------------------------------------------------------

RIGHT = [
    {"type": "predicate", "name": "no-date", "probability": 0.25},
    {
        "type": "choice",
        "name": "tone",
        "choice": "curt",
        "confidence": 0.7,
        "probabilities": [{"value": "curt", "probability": 0.7}, {"value": "polite", "probability": 0.3}],
    },
    {
        "type": "score",
        "name": "help",
        "score": 1.0,
        "confidence": 1.0,
        "probabilities": [
            {"label": "poor", "value": 0, "probability": 0.0},
            {"label": "fair", "value": 1, "probability": 1},
            {"label": "good", "value": 2, "probability": 0.0},
        ],
    },
]


def changed(index: int, **changes: Any) -> list[Any]:
    return [{**answer, **changes} if place == index else answer for place, answer in enumerate(RIGHT)]


def test_answers_are_read_whatever_order_their_options_have():
    """Probabilities are matched by option, and put into the order of the question."""
    predicate, choice, score = answers_from(RIGHT, REQUEST.questions)

    assert predicate.score == 0.25
    assert choice.probabilities == (("polite", 0.3), ("curt", 0.7))
    assert (score.score, score.choice) == (0.5, "fair")


@pytest.mark.parametrize(
    ("why", "answers"),
    [
        ("nothing", None),
        ("no list", {"no-date": 0.5}),
        ("one too few", RIGHT[:2]),
        ("one too many", [*RIGHT, RIGHT[0]]),
        ("another order", [RIGHT[1], RIGHT[0], RIGHT[2]]),
        ("another name", changed(0, name="other")),
        ("no name", changed(0, name=None)),
        ("no object", [0.9, *RIGHT[1:]]),
        ("another kind", changed(0, type="score")),
        ("an unknown kind", changed(0, type="essay")),
        ("above 1", changed(0, probability=1.01)),
        ("below 0", changed(0, probability=-0.01)),
        ("not a number", changed(0, probability=float("nan"))),
        ("a truth value", changed(0, probability=True)),
        ("a text", changed(0, probability="0.9")),
        ("missing", changed(0, probability=None)),
        ("an unknown option", changed(1, choice="angry")),
        ("not the likeliest option", changed(1, choice="polite")),
        ("no confidence", changed(1, confidence=None)),
        ("no probabilities", changed(1, probabilities=None)),
        ("an option missing", changed(1, probabilities=[{"value": "curt", "probability": 1.0}])),
        (
            "not 1 in all",
            changed(1, probabilities=[{"value": name, "probability": 0.4} for name in ("curt", "polite")]),
        ),
        ("levels of another question", changed(2, probabilities=[{"label": "x", "probability": 1.0}] * 3)),
    ],
)
def test_answers_that_do_not_fit_are_none(why: str, answers: Any):
    """An answer that slipped by one place would be a verdict on another question, so nothing of the reply is used."""
    with pytest.raises(_Misfit):
        answers_from(answers, REQUEST.questions)


@pytest.mark.parametrize("fault", ["wrong-nonce", "wrong-schema", "cut", "empty", "null-choices"])
async def test_reply_that_does_not_fit_is_unreadable_and_billed(fault: str):
    """It was paid for, and it is no verdict."""
    async with decisions(script=(fault,)) as (provider, server):
        with pytest.raises(UnreadableReply) as caught:
            await decide(provider)

        assert server.charged_pico > 0
    assert caught.value.billed == "yes"
    assert caught.value.usage is not None


# --- faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "meaning"),
    [*FAULT_MEANINGS, ("error-200", Meaning(error=ProviderUnavailable, retryable=True, billed="maybe"))],
)
async def test_fault_becomes_the_error_that_says_what_to_do(fault: str, meaning: Meaning):
    """The same table as for every other call of this vendor."""
    async with decisions(script=(fault,)) as (provider, _):
        assert isinstance(provider, NeedsPreparation)
        await provider.prepare()
        with pytest.raises(ProviderError) as caught:
            await decide(provider, timeout_s=0.3 if fault in {"hang", "drip"} else 10.0)

    assert meaning_of(caught.value) == meaning


async def test_key_is_in_no_error():
    """Providers quote keys when they turn them away."""
    async with decisions(api_key="another") as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await decide(provider)

    assert KEY not in f"{caught.value!r}{caught.value}"


def test_missing_key_can_be_refused_when_it_is_opened(monkeypatch: pytest.MonkeyPatch):
    """Before the first call, if calls will be made."""
    monkeypatch.delenv("OPENAI_API_KEY")

    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        open_decision_provider("openai-decisions", settings=ProviderSettings(requires_key=True))


def test_decision_model_is_no_chat_model():
    """It can hold no conversation, so it does not open as one."""
    with pytest.raises(ConfigError, match="openai-decisions"):
        open_provider("openai-decisions", settings=ProviderSettings())


@pytest.mark.parametrize("own", [True, False])
async def test_address_of_the_vendor_holds_unless_it_has_its_own(own: bool):
    """One vendor, one address; a proxy for this endpoint alone can be set."""
    addresses = {"openai": "http://127.0.0.1:8/v1"}
    if own:
        addresses["openai-decisions"] = "http://127.0.0.1:9/v1"
    provider = open_decision_provider("openai-decisions", settings=ProviderSettings(base_urls=addresses))

    assert provider.origin == f"http://127.0.0.1:{9 if own else 8}"
