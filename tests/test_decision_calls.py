"""Decisions through the door: one call for the questions of a response, one key and one share for each of them."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import AT, books, contents_below, opened, until
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval.calls import Gateway
from tiered_eval.calls.decided import answer_reader, recorded_form
from tiered_eval.calls.replies import payload_from_reply
from tiered_eval.errors import (
    BudgetExceeded,
    CallsStopped,
    ConfigError,
    NotKept,
    ProviderUnavailable,
    RecordingMissing,
    UnreadableReply,
)
from tiered_eval.ledger import Kept, Ledger, seal_of
from tiered_eval.pricing import PriceBook, usd_from_pico
from tiered_eval.providers.recordings import write_recording
from tiered_eval.providers.registry import (
    ProviderSettings,
    open_decision_provider,
    open_provider,
)
from tiered_eval.records import Completed, DecisionAnswer, Usage
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback
from tiered_eval.testing.scripted import Step, fault
from tiered_eval.testing.scripted_decisions import ScriptedDecider, make_decision

MODEL = "scripted-decisions:small"
OTHER = "scripted-decisions:other"
REAL = "openai-decisions:gpt-6-luna"
PRICES = PriceBook({MODEL: {"input": 1, "output": 0}, OTHER: {"input": 1, "output": 0}})


def price(usage: Usage) -> int:
    return PRICES.cost_pico(usage, MODEL, AT)


def bound(*texts: str) -> int:
    """Worst case of one call for these questions."""
    questions = (replace(make_decision(text).questions[0], name="x" * 16) for text in texts)
    request = replace(make_decision(), questions=tuple(questions))
    return PRICES.worst_case_decision_pico(request, MODEL, AT)


@asynccontextmanager
async def door(home: Path, decider: ScriptedDecider, **more: Any) -> AsyncIterator[Gateway]:
    more = {"prices": PRICES, **more}
    async with opened(home, None, open_decision_provider=lambda prefix: decider, **more) as gateway:
        yield gateway


async def decide(
    gateway: Gateway, *texts: str, models: Sequence[str] = (MODEL,), response: str = "Net 45 days."
) -> list[Completed[DecisionAnswer]]:
    """Ask all of them at once."""
    asked = [gateway.decide(make_decision(text, response=response), models=models) for text in texts]
    return list(await asyncio.gather(*asked))


# ── one call ─────────────────────────────────────────────────────────────────────────────────────


async def test_open_questions_about_one_response_share_a_call(tmp_path: Path):
    """Three questions leave together, each under a name of its own, and each gets its answer and its share."""
    shares = {"It is polite.": 0.9, "It names a price.": 0.2, "It is short.": 0.5}
    decider = ScriptedDecider(probability=lambda question: shares[question.instructions], price=price)

    async with door(tmp_path, decider) as gateway:
        answers = await decide(gateway, *shares)

    [asked] = decider.asked
    assert len({question.name for question in asked.request.questions}) == 3
    assert [answer.parsed.score for answer in answers] == list(shares.values())
    assert sum(answer.cost_usd for answer in answers) == usd_from_pico(decider.bill)
    assert books(tmp_path).settled == decider.bill


async def test_questions_about_other_responses_have_calls_of_their_own(tmp_path: Path):
    """One response never stands in the call of another."""
    decider = ScriptedDecider()

    async with door(tmp_path, decider) as gateway:
        await asyncio.gather(
            decide(gateway, "It is polite.", response="One."),
            decide(gateway, "It is polite.", response="Two."),
        )

    assert [len(asked.request.questions) for asked in decider.asked] == [1, 1]


async def test_a_call_carries_no_more_than_its_vendor_takes(tmp_path: Path):
    """Five questions to a vendor that takes two at once are three calls."""
    decider = ScriptedDecider(max_questions=2)

    async with door(tmp_path, decider) as gateway:
        await decide(gateway, *(f"It has {count} words." for count in range(5)))

    assert sorted(len(asked.request.questions) for asked in decider.asked) == [1, 2, 2]


async def test_an_answer_is_found_again_in_any_company(tmp_path: Path):
    """What was asked once is free, whatever else is asked with it, in the same run and in the next."""
    decider = ScriptedDecider()

    async with door(tmp_path, decider) as gateway:
        await decide(gateway, "It is polite.", "It is short.")
    async with door(tmp_path, decider, run="next") as gateway:
        polite, new = await decide(gateway, "It is polite.", "It is new.")

    assert (polite.from_store, polite.cost_usd, new.from_store) == (True, Decimal(0), False)
    assert [question.instructions for question in decider.asked[1].request.questions] == ["It is new."]


async def test_the_same_question_twice_is_asked_once(tmp_path: Path):
    """Who asks what is being asked joins that question, and pays nothing."""
    decider = ScriptedDecider()

    async with door(tmp_path, decider) as gateway:
        first, second = await decide(gateway, "It is polite.", "It is polite.")

    assert len(decider.asked[0].request.questions) == 1
    assert {first.from_store, second.from_store} == {True, False}


async def test_the_next_model_is_asked_where_the_first_is_down(tmp_path: Path):
    """Models of a stage are fallbacks, and the one that answered is named."""
    broken = fault("500")
    decider = ScriptedDecider([broken] * 5)

    async with door(tmp_path, decider) as gateway:
        [answer] = await decide(gateway, "It is polite.", models=(MODEL, OTHER))

    assert answer.model == OTHER
    assert [asked.model for asked in decider.asked] == ["small"] * 5 + ["other"]


# ── what can go wrong ────────────────────────────────────────────────────────────────────────────


async def test_a_failed_call_is_made_again(tmp_path: Path):
    """A 500 is not billed, and the retry answers every question."""
    decider = ScriptedDecider([fault("500")], price=price)

    async with door(tmp_path, decider) as gateway:
        answers = await decide(gateway, "It is polite.", "It is short.")

    assert len(answers) == len(decider.asked) == 2
    assert books(tmp_path).settled == decider.bill


async def test_an_outage_is_everybodys_error(tmp_path: Path):
    """Nobody waits for ever, and nobody gets a verdict."""
    decider = ScriptedDecider([fault("500")] * 5)

    async with door(tmp_path, decider) as gateway:
        results = await asyncio.gather(
            *(gateway.decide(make_decision(text), models=(MODEL,)) for text in ("It is a.", "It is b.")),
            return_exceptions=True,
        )

    assert [type(result) for result in results] == [ProviderUnavailable, ProviderUnavailable]


async def test_a_timeout_may_have_been_billed(tmp_path: Path):
    """A call whose answer never came is unknown at its worst case; the retry is another call."""
    decider = ScriptedDecider([fault("timeout")])

    async with door(tmp_path, decider) as gateway:
        await decide(gateway, "It is polite.")

    assert books(tmp_path).unknown == bound("It is polite.")


async def test_a_refusal_is_billed_and_not_kept(tmp_path: Path):
    """One question that the model declines takes nothing from the others, and is asked again another time."""
    answers: dict[str, float | None] = {"It is rude.": None, "It is short.": 0.9}
    decider = ScriptedDecider(probability=lambda question: answers[question.instructions], price=price)

    async with door(tmp_path, decider) as gateway:
        refused, answered = await decide(gateway, *answers)
        await decide(gateway, *answers)

    assert (refused.parsed.kind, answered.parsed.score) == ("refusal", 0.9)
    assert [len(asked.request.questions) for asked in decider.asked] == [2, 1]
    assert books(tmp_path).settled == decider.bill


async def test_a_call_that_does_not_fit_under_the_cap_is_cut_in_half(tmp_path: Path):
    """Room for half of the questions answers half of them, and the rest is told that the money is gone."""
    texts = [f"It says that item {count} is in stock." for count in range(4)]
    decider = ScriptedDecider(price=price)
    cap = usd_from_pico(bound(*texts[:2]) + 10)

    async with door(tmp_path, decider, cap_usd=cap) as gateway:
        results = await asyncio.gather(
            *(gateway.decide(make_decision(text), models=(MODEL,)) for text in texts), return_exceptions=True
        )

    answered = [result for result in results if isinstance(result, Completed)]
    refused = [result for result in results if isinstance(result, BudgetExceeded)]
    assert len(answered) + len(refused) == 4
    assert len(answered) >= 2
    assert decider.bill <= bound(*texts[:2]) + 10


@settings(max_examples=25, deadline=None)
@given(
    cap_share=st.floats(0.0, 1.2),
    faults=st.lists(st.sampled_from(["", "429", "500", "529", "reset", "timeout"]), max_size=12),
    counts=st.lists(st.integers(1, 5), min_size=1, max_size=4),
)
def test_decisions_never_spend_above_the_cap(
    cap_share: float, faults: list[str], counts: list[int], tmp_path_factory: pytest.TempPathFactory
):
    """Whatever fails and however many ask, the vendor's own bill stays under the cap and inside the books."""
    texts = [f"It says {count}." for count in range(max(counts))]
    cap = int(cap_share * len(counts) * bound(*texts))
    steps = [fault(kind) if kind else Step() for kind in faults]
    decider = ScriptedDecider(steps, price=price)

    async def run(home: Path) -> None:
        async with door(home, decider, cap_usd=usd_from_pico(cap)) as gateway:
            await asyncio.gather(
                *(
                    gateway.decide(make_decision(text, response=f"Case {case}."), models=(MODEL,))
                    for case, count in enumerate(counts)
                    for text in texts[:count]
                ),
                return_exceptions=True,
            )

    home = tmp_path_factory.mktemp("home")
    asyncio.run(run(home))

    totals = books(home)
    assert decider.bill <= cap
    assert totals.settled <= decider.bill <= totals.settled + totals.unknown


async def test_a_cancelled_asker_leaves_the_others_their_call(tmp_path: Path):
    """The call goes on while one still waits for it."""
    decider = ScriptedDecider([Step(hangs=True)])

    async with door(tmp_path, decider) as gateway:
        tasks = [
            asyncio.create_task(gateway.decide(make_decision(text), models=(MODEL,)))
            for text in ("It is a.", "It is b.")
        ]
        await until(lambda: bool(decider.asked))
        tasks[0].cancel()
        await asyncio.wait({tasks[0]})

        assert not tasks[1].done()

        tasks[1].cancel()
        await asyncio.wait({tasks[1]})
        await until(lambda: gateway.statistics().spend.unknown_calls == 1)


async def test_closing_the_door_ends_an_open_call(tmp_path: Path):
    """Its askers are told, and its money is unknown."""
    decider = ScriptedDecider([Step(hangs=True)])

    async with door(tmp_path, decider) as gateway:
        task = asyncio.create_task(gateway.decide(make_decision(), models=(MODEL,)))
        await until(lambda: bool(decider.asked))

    with pytest.raises(CallsStopped):
        await task
    assert books(tmp_path).unknown > 0


async def test_what_another_process_asks_is_waited_for_and_the_rest_is_asked(tmp_path: Path):
    """Two openings of one home ask overlapping questions about one response: each question is billed once."""
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    first, second = ScriptedDecider(may_answer=wait, price=price), ScriptedDecider(price=price)
    their_clock = HandClock(moves_itself=True)

    async with door(tmp_path, first) as mine, door(tmp_path, second, hand_clock=their_clock) as theirs:
        asked = asyncio.create_task(decide(mine, "It is a.", "It is b."))
        await until(lambda: bool(first.asked))
        also = asyncio.create_task(decide(theirs, "It is b.", "It is c."))
        await until(lambda: len(their_clock.slept) > 3)  # looked, and looked again
        assert not second.asked
        gate.set()
        answers = [*await asked, *await also]

    assert [answer.parsed.score for answer in answers] == [0.9] * 4
    assert [question.instructions for question in second.asked[0].request.questions] == ["It is c."]
    assert (answers[2].from_store, answers[3].from_store) == (True, False)
    assert books(tmp_path).settled == first.bill + second.bill


KILLED = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from tiered_eval.calls import Gateway, Terms, World
    from tiered_eval.pricing import PriceBook
    from tiered_eval.testing.scripted import Step
    from tiered_eval.testing.scripted_decisions import ScriptedDecider, make_decision

    MODEL = "scripted-decisions:small"

    class Telling(ScriptedDecider):
        async def decide(self, request, **more):
            print("sent", flush=True)
            return await super().decide(request, **more)

    async def main():
        decider = Telling([Step(hangs=True)])
        world = World(open_provider=None, open_decision_provider=lambda prefix: decider)
        prices = PriceBook({MODEL: {"input": 1, "output": 0}})
        async with Gateway(home=Path(sys.argv[1]), prices=prices, terms=Terms(run="run"), world=world) as gateway:
            await asyncio.gather(*(
                gateway.decide(make_decision(text), models=(MODEL,)) for text in ("It is a.", "It is b.")
            ))

    asyncio.run(main())
    """
)


def run_until_sent(home: Path) -> None:
    """Kill a process while its call is open."""
    with subprocess.Popen([sys.executable, "-c", KILLED, str(home)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"sent\n"
        process.send_signal(signal.SIGKILL)


async def test_a_kill_leaves_its_call_unknown_and_the_next_run_answers(tmp_path: Path):
    """What was in flight at ``kill -9`` is charged at its worst case and listed once; every question gets its answer."""
    run_until_sent(tmp_path)
    decider = ScriptedDecider(price=price)

    async with door(tmp_path, decider, run="next") as gateway:
        answers = await decide(gateway, "It is a.", "It is b.")

    totals = books(tmp_path)
    assert [answer.parsed.score for answer in answers] == [0.9, 0.9]
    assert (totals.settled, totals.unknown) == (decider.bill, bound("It is a.", "It is b."))


# ── kept, recorded, read ─────────────────────────────────────────────────────────────────────────


async def test_offline_answers_from_what_was_kept(tmp_path: Path):
    """Without calls a kept answer counts, and a question without one is not kept."""
    decider = ScriptedDecider()
    async with door(tmp_path, decider) as gateway:
        await decide(gateway, "It is polite.")

    async with door(tmp_path, decider, mode="offline", run="next") as gateway:
        [kept] = await decide(gateway, "It is polite.")
        with pytest.raises(NotKept):
            await decide(gateway, "It is new.")

    assert kept.parsed.score == 0.9
    assert len(decider.asked) == 1


async def test_a_recorded_answer_is_replayed(tmp_path: Path):
    """An answer is recorded as the reply to its question alone; another question has no recording."""
    decider = ScriptedDecider()
    async with door(tmp_path / "home", decider) as gateway:
        [bought] = await decide(gateway, "It is polite.")
    place = tmp_path / "recordings" / "one.jsonl"
    write_recording(
        place, recorded_form(make_decision("It is polite.")), bought.reply, model=MODEL, origin="recorded"
    )
    settings = ProviderSettings(recordings=place.parent)

    async with opened(
        tmp_path / "other",
        None,
        mode="replay",
        open_provider=lambda prefix: open_provider(prefix, settings=settings),
    ) as gateway:
        [answer] = await decide(gateway, "It is polite.")
        with pytest.raises(RecordingMissing):
            await decide(gateway, "It is new.")

    assert (answer.parsed.score, answer.cost_usd) == (0.9, Decimal(0))


async def test_an_answer_that_cannot_be_read_is_asked_again(tmp_path: Path):
    """A kept text that is no answer is a miss, is counted, and what is bought alone takes its place."""
    decider = ScriptedDecider()
    async with door(tmp_path, decider) as gateway:
        [bought] = await decide(gateway, "It is old.")
        key = gateway.jobs.decision_key(make_decision("It is polite."), MODEL)
    payload = payload_from_reply(replace(bought.reply, text='{"kind": "oracle"}'))
    with Ledger.open(tmp_path) as ledger:
        ledger.add_replies(
            [Kept(key=key, model=MODEL, payload=payload, cost=0, seal=seal_of(key, payload), at="2026-11-30")]
        )

    async with door(tmp_path, decider, run="next") as gateway:
        answers = await decide(gateway, "It is polite.", "It is new.")
        damaged = gateway.statistics().damaged_replies
    async with door(tmp_path, decider, run="third") as gateway:
        [again] = await decide(gateway, "It is polite.")

    assert [answer.parsed.score for answer in (*answers, again)] == [0.9, 0.9, 0.9]
    assert (damaged, again.from_store) == (1, True)
    assert [len(asked.request.questions) for asked in decider.asked] == [1, 1, 1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "choice"}, "the answer to another sort of question"),
        ({"score": None}, "no probability at all"),
        ({"score": "high"}, "a word"),
        ({"score": True}, "a truth value is no number"),
        ({"probabilities": [["a", 1.0]]}, "options that were not asked for"),
        ({"extra": 1}, "a field of another version"),
    ],
)
async def test_a_kept_answer_is_read_strictly(change: dict[str, Any], why: str, tmp_path: Path):
    """Whatever is not exactly an answer to this question is none."""
    async with door(tmp_path, ScriptedDecider()) as gateway:
        [bought] = await decide(gateway, "It is polite.")
    reply = bought.reply
    text = json.dumps({**json.loads(reply.text), **change})
    changed = replace(reply, text=text)

    with pytest.raises(UnreadableReply):
        answer_reader(make_decision("It is polite.").questions[0])(changed)


async def test_a_model_that_nobody_serves_is_refused_before_the_first_call(tmp_path: Path):
    """A decision model needs a provider of decisions, whatever chat providers there are."""
    async with opened(tmp_path, ScriptedDecider(), prices=PRICES) as gateway:
        with pytest.raises(ConfigError, match="decisions"):
            await gateway.check_models([MODEL])


# ── over real HTTP ───────────────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def real_door(home: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-for-tests")
    async with serve_loopback(LoopbackSettings(**settings)) as server:
        provider_settings = ProviderSettings(base_urls={"openai": server.url + "/v1"})
        async with opened(
            home,
            None,
            prices=PriceBook(),
            open_decision_provider=lambda prefix: open_decision_provider(prefix, settings=provider_settings),
        ) as gateway:
            yield gateway, server


async def bill_and_books(home: Path, server: LoopbackServer) -> tuple[int, int, int]:
    totals = books(home)
    return totals.settled, server.charged_pico, totals.settled + totals.unknown


async def test_the_vendors_bill_is_what_the_ledger_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Over HTTP, through the real SDK, by the price list: input is charged and answers are not."""
    async with real_door(tmp_path, monkeypatch) as (gateway, server):
        answers = await decide(gateway, "It is polite.", "It is short.", models=(REAL,))

    assert [answer.parsed.score for answer in answers] == [0.9, 0.9]
    assert len(server.log) == 1
    assert books(tmp_path).settled == server.charged_pico > 0
    assert not any(b"sk-planted-for-tests" in content for content in contents_below(tmp_path))


@pytest.mark.parametrize("misfit", ["wrong-nonce", "wrong-schema", "cut", "empty"])
async def test_answers_that_do_not_fit_are_asked_for_once_more(
    misfit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A misfit is paid for and never believed; the second reading counts."""
    async with real_door(tmp_path, monkeypatch, script=(misfit,)) as (gateway, server):
        answers = await decide(gateway, "It is polite.", "It is short.", models=(REAL,))

    assert [answer.parsed.kind for answer in answers] == ["predicate", "predicate"]
    assert len(server.log) == 2
    settled, charged, most = await bill_and_books(tmp_path, server)
    assert settled <= charged <= most


async def test_a_rate_limit_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A 429 holds the call back, and costs nothing."""
    async with real_door(tmp_path, monkeypatch, script=("429",)) as (gateway, server):
        await decide(gateway, "It is polite.", models=(REAL,))

    assert books(tmp_path).settled == server.charged_pico
    assert [call.status for call in server.log] == [429, 200]
