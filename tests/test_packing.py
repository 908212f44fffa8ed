"""Packing: several questions about one response in one call, each with its own key, money and answer."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import AT, BOOK, LARGE, SMALL, books, opened
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.calls import Gateway, PackQuestion, calls_for
from tiered_eval.calls.packs import pack_of, read_pack
from tiered_eval.errors import BudgetExceeded, ProviderError, RecordingMissing, UnreadableReply
from tiered_eval.ledger import Ledger, shares_of
from tiered_eval.parsing import Judgement, judgement_parser, split_pack
from tiered_eval.prompting import load_prompt
from tiered_eval.records import Case, Completed, ModelReply, ModelRequest, Usage
from tiered_eval.scorers.judge import judge_request
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.scripted import Asked, ScriptedProvider, Step, fault
from tiered_eval.text.subject import Subject

RESPONSE = "Payment is due 45 days after receipt. Delivery takes two weeks."
CLAIMS = (
    "The payment term is stated",
    "No discount is promised",
    "The tone is polite",
    "A contact is named",
    "The currency is named",
    "Nothing is guaranteed",
    "The delivery time is stated",
)


def case(response: str = RESPONSE) -> Case:
    return make_case(response, make_expectation("must-contain", "45"))


def question(claim: str, response: str = RESPONSE, kind: str = "requirement", **options: Any) -> ModelRequest:
    return judge_request(make_expectation(kind, claim, options=options), Subject(case(response)))


def questions_in(request: ModelRequest) -> list[dict[str, Any]]:
    """The questions of a packed request, as the judge sees them; none where it is asked alone."""
    body = request.user_text("N").partition("DATA N\n")[2].partition("\nEND OF DATA N")[0]
    found: list[dict[str, Any]] = json.loads(body).get("questions", [])
    return found


def verdict(nonce: str, said: str = "met", **more: Any) -> dict[str, Any]:
    return {"nonce": nonce, "evidence": "", "rationale": "It says so.", "verdict": said, **more}


def answer_to(asked: dict[str, Any], said: str = "met") -> dict[str, Any]:
    return {"id": asked["id"], "evidence": "", "rationale": "It says so.", "verdict": said}


Spoil = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def judge(
    spoil: Spoil = lambda answers: answers, said: Callable[[dict[str, Any]], str] = lambda asked: "met"
) -> Callable[[ModelRequest, str], str]:
    """A judge that answers what it is asked, and whose packs come back spoilt."""

    def answer(request: ModelRequest, nonce: str) -> str:
        asked = questions_in(request)
        if not asked:
            return json.dumps(verdict(nonce))
        return json.dumps({"nonce": nonce, "answers": spoil([answer_to(each, said(each)) for each in asked])})

    return answer


def price(usage: Usage) -> int:
    return BOOK.cost_pico(usage, SMALL, AT)


def vendor(script: Any = (), **more: Any) -> ScriptedProvider:
    return ScriptedProvider(script, **{"answer": judge(), "price": price, **more})


async def ask_all(
    gateway: Gateway, requests: Sequence[ModelRequest], models: Sequence[str] = (SMALL,)
) -> list[Any]:
    """All at once; errors stand in the place of answers."""
    parse = judgement_parser(response=RESPONSE)
    return await asyncio.gather(
        *(gateway.complete(request, parse, models=models) for request in requests), return_exceptions=True
    )


def verdicts(completed: Sequence[Any]) -> list[str]:
    return [each.parsed.verdict if isinstance(each, Completed) else type(each).__name__ for each in completed]


def sizes(provider: ScriptedProvider) -> list[int]:
    """How many questions each call carried; 0 for one that was asked alone."""
    return [len(questions_in(asked.request)) for asked in provider.asked]


# ── one call for several ─────────────────────────────────────────────────────────────────────────


async def test_questions_about_one_response_share_a_call(tmp_path: Path):
    """Four questions about one response are one call, and each gets its own answer."""
    provider = vendor(
        answer=judge(said=lambda asked: "not-met" if "polite" in asked["requirements"][0] else "met")
    )
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in CLAIMS[:4]])

    assert sizes(provider) == [4]
    assert verdicts(got) == ["met", "met", "not-met", "met"]
    assert {each.prompt for each in got} == {load_prompt("judge/packed").label}


async def test_responses_never_share_a_call(tmp_path: Path):
    """Questions about two responses are two calls."""
    provider = vendor()
    requests = [question(claim, response) for response in ("One.", "Two.") for claim in CLAIMS[:3]]
    async with opened(tmp_path, provider, pack="auto") as gateway:
        await ask_all(gateway, requests)

    assert sorted(sizes(provider)) == [3, 3]


async def test_at_most_six_share_a_call(tmp_path: Path):
    """Seven questions are a pack of six, and one that is asked alone by the ordinary prompt."""
    provider = vendor()
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in CLAIMS])

    assert sorted(sizes(provider)) == [0, 6]
    assert verdicts(got) == ["met"] * 7


@pytest.mark.parametrize(("pack", "expected"), [("never", [0] * 4), (2, [2, 2]), (3, [0, 3]), ("auto", [4])])
async def test_packing_can_be_chosen(tmp_path: Path, pack: Any, expected: list[int]):
    """``never`` asks each alone, a number bounds a pack."""
    provider = vendor()
    async with opened(tmp_path, provider, pack=pack) as gateway:
        await ask_all(gateway, [question(claim) for claim in CLAIMS[:4]])

    assert sorted(sizes(provider)) == sorted(expected)


async def test_statements_and_requirements_mix_and_rubrics_stay_alone(tmp_path: Path):
    """Kinds of both prompts share a call; a scale is judged by itself."""
    provider = vendor(answer=judge())
    requests = [
        question("Is polite"),
        question("45 days", kind="must-contain"),
        question("30 days", kind="must-not-contain"),
    ]
    async with opened(tmp_path, provider, pack="auto") as gateway:
        await ask_all(gateway, requests)

    assert sizes(provider) == [3]
    assert {each["task"] for each in questions_in(provider.asked[0].request)} == {"meets", "states", "avoids"}
    assert question("Clarity", kind="rubric").packed is None


async def test_questions_with_other_settings_do_not_mix(tmp_path: Path):
    """Another effort or another room for the reply is another call."""
    provider = vendor()
    requests = [
        *(question(claim) for claim in CLAIMS[:2]),
        *(question(claim, effort="high") for claim in CLAIMS[:2]),
        *(question(claim, max_tokens=900) for claim in CLAIMS[:2]),
    ]
    async with opened(tmp_path, provider, pack="auto") as gateway:
        await ask_all(gateway, requests)

    assert sizes(provider) == [2, 2, 2]


async def test_the_order_is_drawn_by_the_seed(tmp_path: Path):
    """The order of questions is not that of the suite, the same for one seed, another for another."""

    async def order(home: Path, seed: int) -> list[str]:
        provider = vendor()
        async with opened(home, provider, pack="auto", seed=seed) as gateway:
            await ask_all(gateway, [question(claim) for claim in CLAIMS[:6]])
        return [each["requirements"][0] for each in questions_in(provider.asked[0].request)]

    first, again = await order(tmp_path / "a", 1), await order(tmp_path / "b", 1)
    others = [await order(tmp_path / f"c{seed}", seed) for seed in (2, 3, 4)]

    assert first == again
    assert sorted(first) == sorted(CLAIMS[:6])
    assert any(other != first for other in others)


# ── one key an expectation ───────────────────────────────────────────────────────────────────────


async def test_an_answer_is_found_again_whatever_it_travelled_with(tmp_path: Path):
    """What was bought in a pack of three answers packs of other compositions, and single questions, for nothing."""
    provider = vendor()
    async with opened(tmp_path, provider, pack="auto") as gateway:
        await ask_all(gateway, [question(claim) for claim in CLAIMS[:3]])
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in (*CLAIMS[1:3], *CLAIMS[3:5])])
        [one] = await ask_all(gateway, [question(CLAIMS[0])])

    assert sizes(provider) == [3, 2]
    assert [each.from_store for each in (*got, one)] == [True, True, False, False, True]


async def test_the_plain_judges_answer_serves_a_packing_run_and_not_the_other_way_round(tmp_path: Path):
    """A packed judge is another judge: ``never`` does not take its answers, while packing takes those of the plain one."""
    provider = vendor()
    requests = [question(claim) for claim in CLAIMS[:2]]
    async with opened(tmp_path, provider, pack="auto") as gateway:
        await ask_all(gateway, requests)
    async with opened(tmp_path, provider, pack="never") as gateway:
        await ask_all(gateway, requests)
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, requests)

    assert sizes(provider) == [2, 0, 0]
    assert {each.prompt for each in got} == {""}


async def test_the_same_question_in_two_cases_is_billed_once(tmp_path: Path):
    """An item that two cases ask of the same response stands once in a pack, and both get its answer."""
    provider = vendor()
    requests = [question(claim) for claim in (CLAIMS[0], CLAIMS[1], CLAIMS[0])]
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, requests)
        statistics = gateway.statistics()

    assert sizes(provider) == [2]
    assert verdicts(got) == ["met"] * 3
    assert (statistics.spend.calls, statistics.coalesced) == (1, 1)
    assert sum(each.cost_usd for each in got) == statistics.spend.settled_usd


async def test_two_runs_that_pack_differently_pay_each_question_once(tmp_path: Path):
    """Two gateways on one home whose packs overlap: every question is answered and bought once."""
    provider = vendor(latency_s=0.02, sleep=asyncio.sleep)
    first, second = (
        [question(claim) for claim in CLAIMS[:4]],
        [question(claim) for claim in CLAIMS[2:6]],
    )
    async with (
        opened(tmp_path, provider, pack="auto", run="a") as one,
        opened(tmp_path, provider, pack="auto", run="b") as other,
    ):
        got = await asyncio.gather(ask_all(one, first), ask_all(other, second))

    asked = [each["requirements"][0] for call in provider.asked for each in questions_in(call.request)]
    assert verdicts([*got[0], *got[1]]) == ["met"] * 8
    assert sorted(asked) == sorted(CLAIMS[:6])
    assert books(tmp_path).settled == provider.bill


async def test_a_recording_of_a_packed_answer_is_replayed(tmp_path: Path):
    """Where a question was recorded only as it was asked in a pack, that answer is replayed, under that prompt."""
    recorded = question(CLAIMS[0])

    class Recorder(ScriptedProvider):
        async def complete(self, request: ModelRequest, **more: Any) -> ModelReply:
            if request.prompt == recorded.prompt or CLAIMS[0] not in request.user_text(""):
                raise RecordingMissing(key="k", model=SMALL, place="here")
            return await super().complete(request, **more)

    provider = Recorder(answer=lambda request, nonce: json.dumps(verdict(nonce)))
    async with opened(tmp_path, provider, mode="replay") as gateway:
        got = await ask_all(gateway, [recorded, question(CLAIMS[1])])

    assert verdicts(got) == ["met", "RecordingMissing"]
    assert got[0].prompt == load_prompt("judge/packed").label


# ── answers that are none ────────────────────────────────────────────────────────────────────────


def broken(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**answers[0], "verdict": "perhaps"}, *answers[1:]]


SPOILT: list[tuple[str, Spoil, list[int]]] = [
    ("missing", lambda answers: answers[1:], [3, 0]),
    ("twice, and they differ", lambda answers: [*answers, {**answers[0], "verdict": "not-met"}], [3, 0]),
    ("twice, and they agree", lambda answers: [*answers, answers[0]], [3, 0]),
    ("no verdict of ours", broken, [3, 0]),
    ("a key too many", lambda answers: [{**answers[0], "score": 1}, *answers[1:]], [3, 0]),
    ("an id that was not asked", lambda answers: [*answers, {**answers[0], "id": "q9"}], [3, 0, 0, 0]),
    ("no id", lambda answers: [{**answers[0], "id": None}, *answers[1:]], [3, 0, 0, 0]),
    ("not objects", lambda answers: ["met" for _ in answers], [3, 0, 0, 0]),  # type: ignore[misc]
    ("none", lambda answers: [], [3, 0, 0, 0]),
]


@pytest.mark.parametrize(("why", "spoil", "calls"), SPOILT, ids=[why for why, *_ in SPOILT])
async def test_a_bad_answer_is_asked_again_alone(tmp_path: Path, why: str, spoil: Spoil, calls: list[int]):
    """Whatever a pack lacks is asked again alone, and only that; the good answers stay. Nothing is lost."""
    provider = vendor(answer=judge(spoil))
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in CLAIMS[:3]])

    assert verdicts(got) == ["met"] * 3
    assert sizes(provider) == calls
    assert books(tmp_path).settled == provider.bill
    assert sum(each.cost_usd for each in got) == Decimal(provider.bill).scaleb(-12)


@pytest.mark.parametrize(
    "text",
    ["", "I cannot say.", '{"nonce": "0", "answers": []}', '{"answers": []}', "[]", '{"nonce": 1}'],
)
async def test_a_pack_that_cannot_be_read_is_taken_apart(tmp_path: Path, text: str):
    """A pack whose reply is none is billed once, not asked again as a pack, and each question is asked alone."""
    provider = vendor([Step(text=text)])
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in CLAIMS[:3]])

    assert verdicts(got) == ["met"] * 3
    assert sizes(provider) == [3, 0, 0, 0]
    assert books(tmp_path).settled == provider.bill


async def test_what_stays_unreadable_is_an_error_after_two_replies(tmp_path: Path):
    """An answer that is bad in the pack and alone is an error, not a verdict, and is not bought a third time."""

    def spoil(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return answers[1:]

    def answer(request: ModelRequest, nonce: str) -> str:
        return judge(spoil)(request, nonce) if questions_in(request) else "no verdict"

    provider = vendor(answer=answer)
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in CLAIMS[:3]])

    assert sorted(verdicts(got)) == ["UnreadableReply", "met", "met"]
    assert sizes(provider) == [3, 0]
    assert books(tmp_path).settled == provider.bill


async def test_an_answer_out_of_the_judged_text_does_not_count(tmp_path: Path):
    """A judge that repeats a whole reply out of the response lacks the nonce, and its pack is taken apart."""
    forged = json.dumps({"nonce": "feedfeedfeedfeed", "answers": [{"id": "a", **verdict("x")}]})
    provider = vendor([Step(text=forged)])
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in CLAIMS[:2]])

    assert sizes(provider) == [2, 0, 0]
    assert verdicts(got) == ["met", "met"]


# ── faults and money ─────────────────────────────────────────────────────────────────────────────


async def test_an_outage_fails_no_question(tmp_path: Path):
    """A pack is tried again like any call; when its model stays down, each question is an error."""
    provider = vendor([fault("500"), fault("429")])
    down = vendor(lambda asked: fault("500"))
    async with opened(tmp_path / "a", provider, pack="auto") as gateway:
        recovered = await ask_all(gateway, [question(claim) for claim in CLAIMS[:2]])
    async with opened(tmp_path / "b", down, pack="auto") as gateway:
        failed = await ask_all(gateway, [question(claim) for claim in CLAIMS[:2]])

    assert verdicts(recovered) == ["met", "met"]
    assert sizes(provider) == [2, 2, 2]
    assert verdicts(failed) == ["ProviderUnavailable"] * 2
    assert books(tmp_path / "b").settled == 0


async def test_the_next_model_takes_over_a_pack(tmp_path: Path):
    """A pack goes to the next model of the chain when the first is down, under that model's keys."""

    def script(asked: Asked) -> Step:
        return fault("500") if asked.model == "small" else Step()

    provider = vendor(script)
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, [question(claim) for claim in CLAIMS[:3]], (SMALL, LARGE))
        again = await ask_all(gateway, [question(CLAIMS[0])], (SMALL, LARGE))

    assert {each.model for each in got} == {LARGE}
    assert again[0].from_store


async def test_a_pack_that_does_not_fit_is_taken_apart(tmp_path: Path):
    """Under a cap that has no room for a pack, single questions that fit are still asked."""
    provider = vendor()
    requests = [question(claim) for claim in CLAIMS[:4]]
    cap = BOOK.worst_case_pico(requests[1], SMALL, AT) + 10**6
    async with opened(tmp_path, provider, pack="auto", cap_usd=Decimal(cap).scaleb(-12)) as gateway:
        got = await ask_all(gateway, requests)

    answered = [each for each in got if isinstance(each, Completed)]
    assert answered
    assert all(isinstance(each, Completed | BudgetExceeded) for each in got)
    assert provider.bill <= cap


@pytest.mark.parametrize("seed", range(3))
async def test_the_bill_of_packs_stays_under_the_cap(tmp_path: Path, seed: int):
    """Packs of all sizes, faults, spoilt answers: the bill is under the cap, inside the books, and most of it is used."""
    rng = random.Random(seed)

    def script(asked: Asked) -> Step:
        kind = rng.choice(("", "", "", "429", "500", "reset", "timeout", "text"))
        if kind == "text":
            return Step(text="no verdict")
        return fault(kind) if kind else Step()

    def spoil(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return rng.choice((answers, answers[1:], broken(answers)))

    requests = [
        question(claim, response=f"Response {number}.") for number in range(40) for claim in CLAIMS[:5]
    ]
    cap = 60 * BOOK.worst_case_pico(requests[0], SMALL, AT)
    provider = vendor(script, answer=judge(spoil), latency_s=0.01)
    async with opened(
        tmp_path, provider, pack="auto", cap_usd=Decimal(cap).scaleb(-12), seed=seed
    ) as gateway:
        got = await ask_all(gateway, requests)
        spend = gateway.statistics().spend

    totals = books(tmp_path)
    assert provider.bill <= cap
    assert totals.settled <= provider.bill <= totals.settled + totals.unknown <= cap
    assert totals.reserved == 0
    assert totals.settled + totals.unknown >= 0.8 * cap
    assert all(isinstance(each, Completed | ProviderError | BudgetExceeded) for each in got)
    assert sum(line.cost_usd for line in spend.by_kind) == spend.settled_usd


async def test_totals_by_kind_add_up_to_the_last_pico_dollar(tmp_path: Path):
    """The cost of a pack is shared over its kinds exactly, and one call is counted as one."""
    provider = vendor(usage=lambda request: Usage(input_tokens=1001, output_tokens=103))
    requests = [
        question("Is polite"),
        question("45 days", kind="must-contain"),
        question("30 days", kind="must-not-contain"),
    ]
    async with opened(tmp_path, provider, pack="auto") as gateway:
        got = await ask_all(gateway, requests)
        spend = gateway.statistics().spend

    assert spend.settled_usd == Decimal(provider.bill).scaleb(-12)
    assert sum(line.cost_usd for line in spend.by_kind) == spend.settled_usd
    assert {line.name for line in spend.by_kind} == {"requirement", "must-contain", "must-not-contain"}
    assert sum(line.calls for line in spend.by_kind) == spend.calls == 1
    assert sum(line.input_tokens for line in spend.by_kind) == 1001
    assert sum(each.cost_usd for each in got) == spend.settled_usd
    assert sum(each.reply.usage.output_tokens for each in got) == 103


async def test_each_answer_of_a_pack_is_on_disk_before_it_is_used(tmp_path: Path):
    """Every answer is kept under its own key, with its share of the cost, in one transaction."""
    provider = vendor()
    async with opened(tmp_path, provider, pack="auto") as gateway:
        await ask_all(gateway, [question(claim) for claim in CLAIMS[:3]])
        ledger = await gateway.ledger()
        rows = ledger._read("SELECT key, cost, kind, state FROM call", ())

    assert len({key for key, *_ in rows}) == 3
    assert sum(cost for _, cost, *_ in rows) == provider.bill
    assert {state for *_, state in rows} == {"settled"}


async def test_a_pack_in_flight_at_the_end_is_unknown(tmp_path: Path):
    """A pack that is cut off counts as unknown at its whole worst case, and is listed as the one call that it is."""
    provider = vendor([Step(hangs=True)])
    async with opened(tmp_path, provider, pack="auto") as gateway:
        asking = asyncio.create_task(ask_all(gateway, [question(claim) for claim in CLAIMS[:3]]))
        while not provider.asked:  # noqa: ASYNC110 - the window and the ledger's thread have to pass
            await asyncio.sleep(0.001)
    got = await asking

    assert verdicts(got) == ["CallsStopped"] * 3
    totals = books(tmp_path)
    assert (totals.settled, totals.reserved) == (0, 0)
    assert totals.unknown == BOOK.worst_case_pico(provider.asked[0].request, SMALL, AT)
    with Ledger.open(tmp_path) as ledger:
        assert [call.bound for call in ledger.unknown_calls()] == [totals.unknown]


async def test_a_pack_ends_when_nobody_waits_for_it(tmp_path: Path):
    """The call goes on while one asker is left, and is cancelled with the last one."""
    provider = vendor([Step(hangs=True)])
    parse = judgement_parser(response=RESPONSE)
    async with opened(tmp_path, provider, pack="auto") as gateway:
        tasks = [
            asyncio.create_task(gateway.complete(question(claim), parse, models=[SMALL]))
            for claim in CLAIMS[:2]
        ]
        while not provider.asked:  # noqa: ASYNC110 - the window and the ledger's thread have to pass
            await asyncio.sleep(0.001)
        tasks[0].cancel()
        await asyncio.wait(tasks[:1])
        still_open = provider._open
        tasks[1].cancel()
        await asyncio.wait(tasks)
        while provider._open:  # noqa: ASYNC110 - the cancellation has to arrive
            await asyncio.sleep(0.001)

    assert still_open == 1
    assert books(tmp_path).unknown > 0


# ── the parts ────────────────────────────────────────────────────────────────────────────────────


@given(st.integers(0, 10**15), st.integers(1, 9))
def test_shares_add_up(total: int, count: int):
    """Shares are equal but for what does not divide, and add up exactly."""
    shares = shares_of(total, count)

    assert (sum(shares), len(shares)) == (total, count)
    assert shares[0] - shares[-1] in range(count)


def packed(claims: Sequence[str] = CLAIMS[:3]) -> list[PackQuestion]:
    requests = [question(claim) for claim in claims]
    return [
        PackQuestion(
            key=f"{number:064x}"[::-1],
            request=request,
            form=request.packed,  # type: ignore[arg-type]  # requirements have one
            parse=judgement_parser(response=RESPONSE),
        )
        for number, request in enumerate(requests, start=1)
    ]


def reply_of(answers: object, nonce: str = "n") -> ModelReply:
    text = json.dumps({"nonce": nonce, "answers": answers})
    return ModelReply(
        text=text,
        stop_reason="end",
        model="m",
        usage=Usage(input_tokens=10, output_tokens=5),
        nonce="n",
    )


@given(st.data())
def test_no_answer_counts_that_its_question_did_not_get(data: st.DataObject):
    """Whatever list of answers comes back: an answer is used only if it stands there once, under the id of its question."""
    asked = packed()
    names = [each.id for each in asked]
    given_ids = data.draw(st.lists(st.sampled_from([*names, "stranger"]), max_size=6))
    answers = [
        {"id": name, "evidence": "", "rationale": str(place), "verdict": "met"}
        for place, name in enumerate(given_ids)
    ]

    try:
        read = read_pack(reply_of(answers), asked)
    except UnreadableReply:
        assert "stranger" in given_ids or all(given_ids.count(name) != 1 for name in names)
        return
    assert "stranger" not in given_ids
    for each in asked:
        if given_ids.count(each.id) == 1:
            said: Judgement = each.parse(read[each.key])
            assert said.rationale == str(given_ids.index(each.id))
        else:
            assert each.key not in read


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "content_filter", "other"])
def test_a_pack_that_did_not_end_by_itself_is_not_read(stop: Any):
    """A reply that was cut off or refused has no answers, even if it parses."""
    whole = reply_of([{"id": "a", "evidence": "", "rationale": "", "verdict": "met"}])
    cut = ModelReply(text=whole.text, stop_reason=stop, model="m", usage=whole.usage, nonce="n")

    if stop == "other":
        assert split_pack(cut, ["a"])
    else:
        with pytest.raises(ProviderError):
            split_pack(cut, ["a"])


def test_the_schema_of_packs_is_closed_and_has_evidence_before_the_verdict():
    """Every property is required, none may be added, at both levels."""
    schema = load_prompt("judge/packed").schema
    inner = schema["properties"]["answers"]["items"]

    for level in (schema, inner):
        assert level["required"] == list(level["properties"])
        assert level["additionalProperties"] is False
    assert list(inner["properties"]) == ["id", "evidence", "rationale", "verdict"]


def test_a_plan_counts_packs_as_the_run_makes_them():
    """Seven questions on one response are two calls; without packing seven."""
    questions = packed(CLAIMS)

    auto = calls_for(questions, pack="auto", model=SMALL)
    never = calls_for(questions, pack="never", model=SMALL)

    assert [call.questions for call in auto] == [6, 1]
    assert [call.questions for call in never] == [1] * 7


def test_a_pack_carries_its_response_once():
    """The judged text stands in a packed request once, however many questions are asked of it."""
    request = pack_of(packed())

    assert request.user_text("N").count(RESPONSE) == 1
    assert len(questions_in(request)) == 3
