"""Audits of runs that are killed: each is counted once, in the order in which it was asked, whatever was killed when."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from certified_shipments import made_certificate, shipment, suite_text
from forked_runs import nursery
from hypothesis import given
from hypothesis import strategies as st
from planted_keys import KEEPS_KEYS

from tiered_eval.calibration.audit import begin_audit, update
from tiered_eval.calibration.audit_book import (
    MOST_RECENT,
    AuditBook,
    audit_book_from_json,
    audit_book_to_json,
)
from tiered_eval.calibration.audit_notes import change_audits, end_audits, find_audit, find_audits
from tiered_eval.calibration.certificate import save_certificate
from tiered_eval.ledger import Ledger
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")

pytestmark = KEEPS_KEYS

EMPTY = AuditBook(state=begin_audit("c", 0.05))


class Run:
    """One run among others; those in ``dead`` were killed."""

    dead: frozenset[str] = frozenset()

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def is_alive(self, owner: str) -> bool:
        return owner not in self.dead


class AfterKill(Run):
    """Comes after a run called ``killed``."""

    dead = frozenset({"killed"})


ONE, KILLED, NEXT = Run("one"), Run("killed"), AfterKill("next")


def counted(book: AuditBook) -> tuple[int, int, int]:
    """Audits, those that differ, and those that are open."""
    return book.state.audits, book.state.disagreements, len(book.open)


def test_a_kept_reply_that_may_have_counted_long_ago_counts_as_agreeing():
    """Names of a thousand audits are remembered. Behind them a kill may hide that one was counted: that must raise no alarm."""
    book = EMPTY
    for number in range(MOST_RECENT + 1):
        book = book.asked(f"a{number}", ONE).answered(f"a{number}", ONE, False, is_fresh=True)
    book = book.asked("a0", KILLED).asked("new", KILLED)

    again = book.asked("a0", NEXT).answered("a0", NEXT, True, is_fresh=False)
    bought = again.asked("new", NEXT).answered("new", NEXT, True, is_fresh=True)

    assert counted(again) == (MOST_RECENT + 2, 0, 1)
    assert counted(bought) == (MOST_RECENT + 3, 1, 0)


def test_a_promise_of_its_own_is_kept_with_an_open_audit():
    """What is read back from the ledger is held against the same promise; what an earlier version wrote, against the common one."""
    book = EMPTY.asked("a", ONE, 0.01)
    noted = audit_book_to_json(book)

    assert audit_book_from_json(noted) == book
    noted["open"] = [row[:4] for row in noted["open"]]
    assert audit_book_from_json(noted).open[0].allowed is None


def test_answers_wait_for_those_that_were_asked_before():
    """The second answer counts when the first is there, and both in the order of asking."""
    book = EMPTY.asked("a", ONE).asked("b", ONE).answered("b", ONE, True, is_fresh=True)
    assert counted(book) == (0, 0, 2)

    book = book.answered("a", ONE, False, is_fresh=True)

    assert counted(book) == (2, 1, 0)
    assert book.state == update(EMPTY.state, [False, True])


def test_a_kept_reply_is_no_news():
    """It was counted when it was bought, or it is one of those that the certificate was made from."""
    book = EMPTY.asked("a", ONE).answered("a", ONE, True, is_fresh=False)

    assert counted(book) == (0, 0, 0)


def test_a_kept_reply_is_news_where_a_killed_run_bought_it():
    """The reply was on disk, and what it means was not: the next run counts it, once."""
    book = EMPTY.asked("a", KILLED).asked("a", NEXT).answered("a", NEXT, True, is_fresh=False)
    again = book.asked("a", NEXT).answered("a", NEXT, True, is_fresh=False)

    assert counted(book) == counted(again) == (1, 1, 0)


def test_what_was_counted_before_a_kill_is_not_counted_again():
    """The resumed run gets the same reply from the store."""
    book = EMPTY.asked("a", KILLED).answered("a", KILLED, True, is_fresh=True)

    assert counted(book.asked("a", NEXT).answered("a", NEXT, True, is_fresh=False)) == (1, 1, 0)


def test_an_answer_behind_one_that_was_killed_keeps_its_place():
    """A slow audit that a kill cut off is asked again before those behind it count."""
    book = EMPTY.asked("slow", KILLED).asked("quick", KILLED).answered("quick", KILLED, False, is_fresh=True)

    book = book.asked("quick", NEXT).answered("quick", NEXT, False, is_fresh=False).asked("slow", NEXT)
    assert counted(book) == (0, 0, 2)

    assert book.answered("slow", NEXT, True, is_fresh=True).state == update(EMPTY.state, [True, False])


def test_what_nobody_asks_again_counts_as_agreeing():
    """Slow answers may be bad ones, but an alarm rests on answers only; what is behind it is not held up for ever."""
    book = EMPTY.asked("gone", KILLED).asked("b", NEXT).answered("b", NEXT, True, is_fresh=True)

    assert book.ended(NEXT).state == update(EMPTY.state, [False, True])


def test_a_run_that_ends_leaves_the_questions_of_others_open():
    """Another process on the same home is still asking."""
    book = EMPTY.asked("a", ONE).asked("b", NEXT).answered("b", NEXT, True, is_fresh=True).ended(NEXT)

    assert counted(book) == (0, 0, 2)
    assert counted(book.answered("a", ONE, False, is_fresh=True)) == (2, 1, 0)


def test_what_could_not_be_asked_is_no_audit():
    """Without money, or in an outage, nothing was drawn from what the judge says."""
    assert counted(EMPTY.asked("a", ONE).answered("a", ONE, None, is_fresh=True)) == (0, 0, 0)


EVENTS = st.lists(
    st.tuples(st.sampled_from(["ask", "answer", "answer", "kill"]), st.integers(0, 9)), max_size=60
)


@given(EVENTS, st.lists(st.booleans(), min_size=10, max_size=10), st.data())
def test_whatever_is_killed_when_each_audit_counts_once_and_in_order(
    events: list[tuple[str, int]], truth: list[bool], data: st.DataObject
):
    """Ten audits in any order of asking, answering and kills, then a run that is not killed: their bits, in the order of asking first."""
    book, generation, order, kept = EMPTY, 0, [], set[int]()

    def run() -> Run:
        found = Run(f"run {generation}")
        found.dead = frozenset(f"run {one}" for one in range(generation))
        return found

    def answer(book: AuditBook, place: int) -> AuditBook:
        is_fresh = place not in kept
        kept.add(place)
        return book.answered(str(place), run(), truth[place], is_fresh=is_fresh)

    asked_now = set[int]()
    for event, place in events:
        if event == "kill":
            generation, asked_now = generation + 1, set()
        elif event == "ask":
            book = book.asked(str(place), run())
            asked_now.add(place)
            order += [place] if place not in order else []
        elif place in asked_now:
            book = answer(book, place)
        book = audit_book_from_json(audit_book_to_json(book))
    for place in data.draw(st.permutations(range(10))):
        book = book.asked(str(place), run())
        order += [place] if place not in order else []
    for place in data.draw(st.permutations(range(10))):
        book = answer(book, place)

    assert book.open == ()
    assert book.state == update(EMPTY.state, [truth[place] for place in order])


async def test_two_openings_of_one_ledger_share_a_book(tmp_path: Path):
    """Each end leaves what the other one asks; a closed one is as good as killed."""
    first, second = Ledger.open(tmp_path), Ledger.open(tmp_path)
    await change_audits(first, "c", 0.05, lambda book: book.asked("a", first))
    await change_audits(second, "c", 0.05, lambda book: book.asked("b", second))
    await change_audits(second, "c", 0.05, lambda book: book.answered("b", second, True, is_fresh=True))

    assert end_audits(second, "c", 0.05).audits == 0
    first.close()
    assert end_audits(second, "c", 0.05).audits == 2
    second.close()


@pytest.mark.parametrize("stride", [60, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
async def test_killed_at_any_step_no_audit_is_lost_or_counted_twice(zygote: Any, tmp_path: Path, stride: int):
    """Killed with SIGKILL at each step of the journal and again in the resume; in the end the ledger has what it has without a kill."""
    certificate, rng = made_certificate(), random.Random(0)
    cases = [shipment(number, rng, is_met=number % 6 == 0)[0] for number in range(60)]
    (tmp_path / "suite.jsonl").write_text(suite_text(cases), encoding="utf-8")
    save_certificate(certificate, tmp_path / "certificate.json")
    options = (
        "--judge",
        "openai:gpt-6-luna",
        "--embedder",
        "none",
        "--gate",
        "partial>=0",
        "--pack",
        "never",
    )
    found = set()

    async with nursery(zygote, tmp_path) as runs:
        step, ended = stride, False
        while not ended:
            home = tmp_path / f"home-{step}"
            async with serve_loopback(LoopbackSettings(pass_share=0.0, api_key=None)) as server:
                told = {"OPENAI_BASE_URL": f"{server.url}/v1"}
                command = ("run", "suite.jsonl", *options, "--home", str(home), "-o", str(tmp_path / "out"))
                code, said = await runs.command(tmp_path, *command, environment=told, die_at=step)
                ended = code == 0
                if not ended:
                    assert code == -9, said
                    await runs.command(tmp_path, *command, environment=told, die_at=rng.randrange(1, 120))
                    code, said = await runs.command(tmp_path, *command, environment=told)
                    assert code == 0, said
            with Ledger.open(home) as ledger:
                state, book = find_audit(ledger, certificate.name), find_audits(ledger, certificate.name)
            assert state is not None
            assert book is not None
            assert book.open == ()
            found.add((state.audits, state.disagreements))
            step += stride

    assert step > 2 * stride
    assert len(found) == 1, found
    [(audits, differing)] = found
    assert audits >= 5
    assert differing >= 1
