"""The promises about money, each against a vendor that keeps its own bill.

Promise 1 (the cap holds) and promise 2 (nothing lost, nothing paid twice) of docs/promises.md point here.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from planted_keys import KEEPS_KEYS, OPENAI_KEY, find_leaks

from tiered_eval.calls import Gateway, Terms, World
from tiered_eval.errors import BudgetExceeded, ProviderError, UnreadableReply
from tiered_eval.ledger import Ledger
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.records import ModelReply, ModelRequest, Usage
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback
from tiered_eval.testing.scripted import Asked, ScriptedProvider, Step, fault, make_request

pytestmark = KEEPS_KEYS

MODEL = "scripted:small"
BOOK = PriceBook({MODEL: {"input": 1, "output": 5}})
AT = datetime(2026, 11, 30, tzinfo=UTC)
SLOW = pytest.mark.slow
"""More of the same: some kills are in the default run, the rest in ``make test-slow``."""
FAULTS = ("429", "500", "529", "reset", "timeout")


def price(usage: Usage) -> int:
    return BOOK.cost_pico(usage, MODEL, AT)


def read(reply: ModelReply) -> str:
    try:
        return str(json.loads(reply.text)["verdict"])
    except (ValueError, KeyError):
        raise UnreadableReply(
            "no verdict", text=reply.text, model=MODEL, billed="yes", usage=reply.usage
        ) from None


# ── the cap ──────────────────────────────────────────────────────────────────────────────────────


def some_usage(rng: random.Random):
    """Usage of a call: anything up to all of ``max_tokens``."""

    def usage(request: ModelRequest) -> Usage:
        return Usage(input_tokens=rng.randrange(1, 60), output_tokens=rng.randrange(request.max_tokens + 1))

    return usage


def faulty(rng: random.Random, share: float):
    """A script in which so large a share of attempts fails, in every way that there is."""

    def step(asked: Asked) -> Step:
        if rng.random() >= share:
            return Step()
        kind = rng.choice((*FAULTS, "unreadable"))
        return Step(text="no verdict") if kind == "unreadable" else fault(kind)

    return step


@dataclass
class Run:
    """What one run under a cap came to."""

    bill: int
    settled: int
    unknown: int
    reserved: int
    answered: int
    refused: int


async def run_under_cap(home: Path, provider: ScriptedProvider, *, cap: int, calls: int, seed: int) -> Run:
    clock = HandClock(moves_itself=True)
    outcomes: Counter[str] = Counter()
    async with Gateway(
        home=home,
        prices=BOOK,
        terms=Terms(run="run", cap_usd=Decimal(cap).scaleb(-12)),
        world=World(
            open_provider=lambda prefix: provider,
            clock=clock,
            sleep=clock.sleep,
            rng=random.Random(seed),
        ),
    ) as gateway:

        async def ask(number: int) -> None:
            try:
                await gateway.complete(make_request(f"question {number}"), read, models=[MODEL])
                outcomes["answered"] += 1
            except BudgetExceeded:
                outcomes["refused"] += 1
            except ProviderError:
                outcomes["failed"] += 1

        await asyncio.gather(*(ask(number) for number in range(calls)))
    with Ledger.open(home) as ledger:
        totals = ledger.totals()
    return Run(
        provider.bill,
        totals.settled,
        totals.unknown,
        totals.reserved,
        outcomes["answered"],
        outcomes["refused"],
    )


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in range(1, 20))])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6], ids=["sound", "shaky", "mostly down"])
async def test_the_bill_never_passes_the_cap(tmp_path: Path, share: float, seed: int):
    """Sixty-four calls at once, any fault: the vendor's bill stays under the cap, and most of the cap is used."""
    rng = random.Random(seed)
    provider = ScriptedProvider(faulty(rng, share), usage=some_usage(rng), price=price, latency_s=0.005)
    worst = BOOK.worst_case_pico(make_request("question 100"), MODEL, AT)
    cap = 40 * worst

    run = await run_under_cap(tmp_path, provider, cap=cap, calls=300, seed=seed)

    assert run.bill <= cap
    assert run.settled <= run.bill <= run.settled + run.unknown
    assert run.settled + run.unknown <= cap
    assert run.reserved == 0
    assert run.refused > 0
    assert run.settled + run.unknown >= 0.8 * cap
    assert provider.most_open > 20


async def test_the_cap_holds_when_every_call_costs_its_worst(tmp_path: Path):
    """If each call costs all that was reserved for it, the cap is met to the last call and not passed."""
    worst = BOOK.worst_case_pico(make_request("question 100"), MODEL, AT)
    usage = Usage(input_tokens=0, output_tokens=0, cost_usd=Decimal(worst - 2_000_000).scaleb(-12))
    provider = ScriptedProvider(usage=lambda request: usage, price=price)

    run = await run_under_cap(tmp_path, provider, cap=10 * worst, calls=64, seed=0)

    assert run.answered == 10
    assert run.refused == 54
    assert run.bill == run.settled <= 10 * worst


async def test_a_cap_of_nothing_lets_nothing_out(tmp_path: Path):
    """A cap of 0 means no paid call at all."""
    provider = ScriptedProvider(price=price)

    run = await run_under_cap(tmp_path, provider, cap=0, calls=5, seed=0)

    assert (run.refused, provider.asked) == (5, [])


# ── real SDKs, real HTTP, every fault ────────────────────────────────────────────────────────────

WIRE_FAULTS = (
    "429 500 502 503 529 html html-200 reset malformed truncated hang error-200 refusal empty cut "
    "null-choices wrong-nonce fenced"
).split()


@pytest.mark.parametrize("prefix", ["openai", "anthropic"])
async def test_the_books_enclose_the_vendors_bill(tmp_path: Path, prefix: str, monkeypatch):
    """Through the real SDK, with every fault of the wire: settled <= billed <= settled + unknown <= cap; no key anywhere."""
    monkeypatch.setenv(f"{prefix.upper()}_API_KEY", OPENAI_KEY)
    model = f"{prefix}:judge"
    clock = HandClock(moves_itself=True)
    errors: list[str] = []
    cap = Decimal("0.005")
    # Each fault for certain, and few calls at once: on a busy machine the answers to 64 would all come too late, and
    # what is lost uses the cap up. With 64 at once: test_door_cap.py.
    rates = dict.fromkeys(WIRE_FAULTS, 0.02) | {"hang": 0.0}
    faults = {"script": WIRE_FAULTS, "fault_rates": rates}
    async with serve_loopback(LoopbackSettings(**faults, api_key=OPENAI_KEY, seed=3)) as server:
        url = server.url + ("/v1" if prefix == "openai" else "")
        settings = ProviderSettings(base_urls={prefix: url})
        async with Gateway(
            home=tmp_path,
            prices=PriceBook({model: {"input": Decimal("0.1"), "output": Decimal("0.5")}}),
            terms=Terms(run="run", cap_usd=cap, request_timeout_s=1.5, concurrency=8),
            world=World(
                open_provider=lambda name: open_provider(name, settings=settings),
                clock=clock,
                sleep=clock.sleep,
                rng=random.Random(0),
            ),
        ) as gateway:

            async def ask(number: int) -> None:
                try:
                    await gateway.complete(make_request(f"q{number}", max_tokens=200), read, models=[model])
                except (ProviderError, BudgetExceeded) as error:
                    errors.append(f"{type(error).__name__} {error}")

            await asyncio.gather(*(ask(number) for number in range(80)))
            statistics = gateway.statistics()
        billed, kinds = server.charged_pico, {call.fault for call in server.log}
    with Ledger.open(tmp_path) as ledger:
        totals = ledger.totals()

    assert len(kinds) > 12
    assert totals.settled <= billed <= totals.settled + totals.unknown
    assert totals.settled + totals.unknown <= cap * 10**12
    assert totals.reserved == 0
    assert statistics.spend.settled_usd == Decimal(totals.settled).scaleb(-12)
    assert statistics.warnings == ()
    assert find_leaks("".join(errors).encode()) == []


# ── several processes, and kills ─────────────────────────────────────────────────────────────────

CHILD = '''
"""A run of its own process. The vendor's bill is a file, one line for each call, written before the answer."""
import asyncio, json, logging, os, signal, sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from tiered_eval.calls import Gateway, Terms, World
from tiered_eval.errors import BudgetExceeded
from tiered_eval.ledger import Cap, Ledger
from tiered_eval.pricing import PriceBook
from tiered_eval.records import ModelReply, Usage
from tiered_eval.testing.scripted import make_request

options = json.loads(sys.argv[1])
logging.basicConfig(level=logging.DEBUG, filename=options["log"])
bill = os.open(options["bill"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
count = 0

def reach(point):
    """Die here, as by the power of a kill, when this point is reached for the chosen time."""
    global count
    if point == options.get("die_at"):
        count += 1
        if count == options["die_after"]:
            os.kill(os.getpid(), signal.SIGKILL)

class Vendor:
    name, origin = "scripted", "scripted://vendor"

    async def complete(self, request, *, model, nonce, timeout_s):
        reach("sent")
        os.write(bill, (request.user[1] + "\\n").encode())
        await asyncio.sleep(options.get("latency_s", 0.005))
        reach("answered")
        usage = Usage(input_tokens=0, output_tokens=50)
        return ModelReply(text="met", stop_reason="end", model=model, usage=usage, nonce=nonce)

    async def aclose(self):
        pass

def watch(statement):
    if statement == "COMMIT":
        reach("committing")

async def main():
    cap = options.get("cap_usd")
    clock = {"now": lambda: datetime.fromisoformat(options["at"])} if "at" in options else {}
    async with Gateway(
        home=Path(options["home"]),
        prices=PriceBook({"scripted:small": {"input": 0, "output": 1}}),
        terms=Terms(
            run=options["run"],
            scope=options.get("scope"),
            suite=options.get("suite"),
            cap_usd=None if cap is None else Decimal(cap),
            caps=tuple(Cap(amount=amount, period=period) for period, amount in options.get("caps", [])),
            concurrency=8,
        ),
        world=World(open_provider=lambda prefix: Vendor(), **clock),
    ) as gateway:
        ledger = await gateway.ledger()
        ledger._writer.wait_for(lambda connection: connection.set_trace_callback(watch))
        settle = ledger.settle

        def settle_and_reach(*args, **more):
            written = settle(*args, **more)
            written.add_done_callback(lambda done: reach("settled"))
            return written

        ledger.settle = settle_and_reach

        async def ask(number):
            try:
                got = await gateway.complete(
                    make_request(f"q{number}"), lambda reply: reply.text, models=["scripted:small"]
                )
            except BudgetExceeded:
                return "refused"
            return got.parsed

        answers = await asyncio.gather(*(ask(number) for number in options["questions"]))
    print(json.dumps(answers))

asyncio.run(main())
'''
COST = 50 * 10**6
"""Pico-dollars of one of the vendor's calls; the worst case is twice as much."""


class Shop:
    """A home, a vendor's bill, and processes that run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._words: dict[int, Path] = {}
        """What each process says, where it is searched for keys."""
        self.home = folder / "home"
        self.bill = folder / "bill"
        self.bill.touch()

    def start(self, **options: object) -> subprocess.Popen[str]:
        words = self._folder / f"process-{len(self._words)}.words"
        settings = {
            "home": str(self.home),
            "bill": str(self.bill),
            "log": str(words.with_suffix(".log")),
            "run": "run",
            "questions": list(range(24)),
            **options,
        }
        with words.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-c", CHILD, json.dumps(settings)],
                stdout=out,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self._words[process.pid] = words
        return process

    def finish(self, process: subprocess.Popen[str]) -> list[str]:
        process.communicate(timeout=60)
        said = self._words[process.pid].read_text()
        assert process.returncode == 0, said
        answers: list[str] = json.loads(said.splitlines()[-1])
        return answers

    def asked(self) -> Counter[str]:
        """How often the vendor was asked each question."""
        return Counter(self.bill.read_text().split())

    def settled_keys(self) -> int:
        with Ledger.open(self.home) as ledger:
            return ledger.totals().settled // COST

    def check_books(self) -> None:
        with Ledger.open(self.home) as ledger:
            totals = ledger.totals()
        billed = self.asked().total() * COST
        assert totals.settled <= billed <= totals.settled + totals.unknown
        assert totals.reserved == 0


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


STEPS = [("committing", 4), ("sent", 11), ("answered", 11), ("settled", 11)]
"""A point of the journal, and how often it is passed before the kill. Many changes share a commit, so those are few."""
MORE_STEPS = [
    *(("committing", after) for after in (1, 2, 3, 5, 6)),
    *((point, after) for point in ("sent", "answered", "settled") for after in (1, 2, 17, 23)),
]


@pytest.mark.parametrize(
    ("die_at", "die_after"), [*STEPS, *(pytest.param(*step, marks=SLOW) for step in MORE_STEPS)]
)
def test_killed_at_any_step_and_run_again(shop: Shop, die_at: str, die_after: int):
    """Killed at a step of the journal, then run again: all answers, and only calls in flight are paid again."""
    killed = shop.start(die_at=die_at, die_after=die_after)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    before = shop.asked()
    settled_before = shop.settled_keys()
    with Ledger.open(shop.home) as ledger:
        in_flight = len(ledger.unknown_calls())

    answers = shop.finish(shop.start(run="again"))

    assert answers == ["met"] * 24
    paid_again = shop.asked().total() - 24
    assert 0 <= paid_again <= in_flight <= 8
    assert before.total() - settled_before <= in_flight
    shop.check_books()


def test_a_killed_run_and_its_resume_share_one_cap(shop: Shop):
    """What was spent before the kill counts: run and resume together stay under the cap, and the resume says so."""
    under_cap = {"suite": "atlas", "cap_usd": str(Decimal(18 * COST).scaleb(-12))}
    killed = shop.start(die_at="sent", die_after=12, **under_cap)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL

    answers = shop.finish(shop.start(run="resumed", **under_cap))
    fresh = shop.finish(shop.start(run="fresh", questions=[100, 101], **under_cap))

    assert answers.count("refused") > 0
    with Ledger.open(shop.home) as ledger:
        totals = ledger.totals(scope="run")
        assert [(run.id, run.scope, run.state) for run in ledger.runs()] == [
            ("fresh", "fresh", "ended"),
            ("resumed", "run", "ended"),
            ("run", "run", "killed"),
        ]
    assert totals.settled + totals.unknown <= 18 * COST
    assert fresh == ["met", "met"]
    shop.check_books()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in range(1, 6))])
def test_killed_again_and_again_at_random(shop: Shop, seed: int):
    """Killed from outside at random moments, also while it resumes: it ends with all answers and honest books."""
    rng = random.Random(seed)
    kills = 0
    for number in range(2):
        process = shop.start(run=f"run-{number}", latency_s=0.02)
        asked = shop.asked().total() + rng.randrange(1, 8)
        deadline = time.monotonic() + 30
        while shop.asked().total() < asked and process.poll() is None and time.monotonic() < deadline:
            os.sched_yield()
        process.kill()
        process.communicate(timeout=60)
        kills += process.returncode == -signal.SIGKILL
        shop.check_books()

    answers = shop.finish(shop.start(run="last"))

    assert kills >= 1
    assert answers == ["met"] * 24
    with Ledger.open(shop.home) as ledger:
        assert shop.asked().total() - 24 <= len(ledger.unknown_calls(limit=10_000))
    shop.check_books()


@pytest.mark.parametrize("count", [3, pytest.param(8, marks=SLOW)])
def test_the_same_suite_in_several_processes_is_paid_once(shop: Shop, count: int):
    """Processes on one home ask the same at the same time: each question is asked once."""
    processes = [shop.start(run=f"run-{number}", latency_s=0.05) for number in range(count)]

    all_answers = [shop.finish(process) for process in processes]

    assert all_answers == [["met"] * 24] * count
    assert set(shop.asked().values()) == {1}
    shop.check_books()


def test_processes_that_share_a_scope_stay_under_one_cap(shop: Shop):
    """Three processes, one cap: together they do not pass it, and they use it."""
    cap_usd = Decimal(30 * COST).scaleb(-12)
    processes = [
        shop.start(
            run=f"run-{number}",
            scope="shared",
            cap_usd=str(cap_usd),
            questions=list(range(number * 100, number * 100 + 24)),
        )
        for number in range(3)
    ]

    answers = [answer for process in processes for answer in shop.finish(process)]

    billed = shop.asked().total()
    assert billed <= 30
    assert billed >= 0.8 * 30
    assert answers.count("met") == billed
    shop.check_books()


@pytest.mark.parametrize("caps", [[("day", 30 * COST)], [("day", 40 * COST), ("month", 30 * COST)]])
def test_processes_with_runs_of_their_own_share_the_cap_of_the_day(shop: Shop, caps: list[tuple[str, int]]):
    """Three runs at once, one of them killed on its way: together they stay under the tightest cap, and use it."""
    processes = [
        shop.start(
            run=f"run-{number}",
            at="2026-11-30T12:00:00+00:00",  # a midnight on the way would open the next day's cap
            caps=caps,
            questions=list(range(number * 100, number * 100 + 24)),
            **({"die_at": "sent", "die_after": 5} if number == 0 else {}),
        )
        for number in range(3)
    ]
    processes[0].communicate(timeout=60)

    answers = [answer for process in processes[1:] for answer in shop.finish(process)]

    with Ledger.open(shop.home) as ledger:
        totals = ledger.totals()
    assert shop.asked().total() <= 30
    assert totals.settled + totals.unknown >= 0.8 * 30 * COST
    assert answers.count("refused") > 0
    shop.check_books()
