"""The embedding batcher: shared batches, kept vectors, and askers that come, go and fail."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tiered_eval.batching import EmbeddingBatcher
from tiered_eval.cache import MemoryStore
from tiered_eval.errors import ConfigError, Interrupted, ProviderUnavailable


class Letters:
    """A made-up embedder: counts of a, b, c. ``gate`` holds every call until it is set."""

    id = "letters@1"
    parallel = 1

    def __init__(self, max_batch: int = 8) -> None:
        self.max_batch = max_batch
        self.batches: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()
        self.error: Exception | None = None
        self.is_closed = False

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.batches.append(list(texts))
        self.begun.set()
        await self.gate.wait()
        if self.error is not None and any("bad" in text for text in texts):
            raise self.error
        return [[float(text.count(letter)) for letter in "abc"] for text in texts]

    async def aclose(self) -> None:
        self.is_closed = True

    @property
    def seen(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


async def test_vectors_come_in_order_at_unit_length():
    """Each text gets its own vector, the same text the same one."""
    async with EmbeddingBatcher(Letters()) as batcher:
        first, second, third = await batcher.embed(["aab", "c", "aab"])

    assert list(first) == pytest.approx([2 / 5**0.5, 1 / 5**0.5, 0])
    assert list(second) == [0, 0, 1]
    assert first == third


async def test_a_null_vector_stays_one():
    """A text that the embedder knows nothing about is like nothing."""
    async with EmbeddingBatcher(Letters()) as batcher:
        assert list((await batcher.embed(["xyz"]))[0]) == [0, 0, 0]


async def test_askers_share_batches_and_texts():
    """Many at once make few calls, and each distinct text is embedded once."""
    embedder = Letters(max_batch=8)
    async with EmbeddingBatcher(embedder) as batcher:
        await asyncio.gather(*(batcher.embed([f"a{index % 10}", "common"]) for index in range(40)))

    assert sorted(embedder.seen) == sorted({*(f"a{index}" for index in range(10)), "common"})
    assert len(embedder.batches) <= 3


async def test_batches_hold_no_more_than_the_embedder_takes_and_are_sorted():
    """Texts of like length go together, so that little is padded."""
    embedder = Letters(max_batch=3)
    async with EmbeddingBatcher(embedder) as batcher:
        await batcher.embed(["aaaa", "b", "ccccc", "aa", "bbb", "cccccc", "aaaaaaa"])

    assert [len(text) for text in embedder.seen] == [1, 2, 3, 4, 5, 6, 7]
    assert [len(batch) for batch in embedder.batches] == [3, 3, 1]


async def test_texts_that_arrive_during_a_batch_are_the_next_one():
    """The queue fills while the embedder works; nobody waits for a clock."""
    embedder = Letters()
    embedder.gate.clear()
    async with EmbeddingBatcher(embedder, window_s=0) as batcher:
        first = asyncio.create_task(batcher.embed(["a"]))
        await embedder.begun.wait()
        others = [asyncio.create_task(batcher.embed([text])) for text in ("b", "c", "ab")]
        await asyncio.sleep(0)
        embedder.gate.set()
        await asyncio.gather(first, *others)

    assert embedder.batches == [["a"], ["b", "c", "ab"]]


async def test_a_text_in_flight_is_joined():
    """Asking for what is being embedded does not embed it again."""
    embedder = Letters()
    embedder.gate.clear()
    async with EmbeddingBatcher(embedder, window_s=0) as batcher:
        first = asyncio.create_task(batcher.embed(["a"]))
        await embedder.begun.wait()
        second = asyncio.create_task(batcher.embed(["a"]))
        await asyncio.sleep(0)
        embedder.gate.set()

        assert await first == await second
    assert embedder.seen == ["a"]


async def test_a_cancelled_asker_harms_nobody():
    """Whoever wants the same text still gets it."""
    embedder = Letters()
    embedder.gate.clear()
    async with EmbeddingBatcher(embedder, window_s=0) as batcher:
        going = asyncio.create_task(batcher.embed(["a", "b"]))
        staying = asyncio.create_task(batcher.embed(["a"]))
        await embedder.begun.wait()
        going.cancel()
        embedder.gate.set()

        assert [list(vector) for vector in await staying] == [[1, 0, 0]]
        with pytest.raises(asyncio.CancelledError):
            await going


async def test_a_text_that_nobody_wants_any_more_is_dropped():
    """Cancelled before its batch began, it costs nothing."""
    embedder = Letters()
    embedder.gate.clear()
    async with EmbeddingBatcher(embedder, window_s=0) as batcher:
        first = asyncio.create_task(batcher.embed(["a"]))
        await embedder.begun.wait()
        going = asyncio.create_task(batcher.embed(["b"]))
        await asyncio.sleep(0)
        going.cancel()
        await asyncio.wait({going})
        embedder.gate.set()
        await first
        await batcher.embed(["c"])

    assert embedder.seen == ["a", "c"]


async def test_a_failing_batch_fails_its_askers_only():
    """The next batch, and the other one, are as good as ever; what failed may be asked again."""
    embedder = Letters(max_batch=1)
    embedder.error = ProviderUnavailable("down", model="letters")
    async with EmbeddingBatcher(embedder) as batcher:
        good, bad = await asyncio.gather(
            batcher.embed(["a"]), batcher.embed(["bad b"]), return_exceptions=True
        )
        embedder.error = None
        again = await batcher.embed(["bad b"])

    assert not isinstance(good, BaseException)
    assert isinstance(bad, ProviderUnavailable)
    assert len(again) == 1


@pytest.mark.parametrize(
    ("rows", "why"),
    [([], "none"), ([[1.0], [2.0]], "too many"), ([[]], "empty"), ([[float("nan"), 1.0]], "not a number")],
)
async def test_an_embedder_that_answers_wrongly_is_not_believed(rows: list[list[float]], why: str):
    """One proper vector a text, or an error."""

    class Wrong(Letters):
        async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            return rows

    async with EmbeddingBatcher(Wrong()) as batcher:
        with pytest.raises(ConfigError, match="vector"):
            await batcher.embed(["a"])


async def test_kept_vectors_are_not_made_again():
    """A second run over the same store asks the embedder nothing."""
    store = MemoryStore()
    async with EmbeddingBatcher(Letters(), store) as batcher:
        before = await batcher.embed(["aab", "c"])
    again = Letters()
    async with EmbeddingBatcher(again, store) as batcher:
        after = await batcher.embed(["aab", "c"])

    assert after == before
    assert again.batches == []
    assert batcher.statistics().from_store == 2


async def test_vectors_of_another_embedder_are_not_taken():
    """The embedder's name and version are part of the key."""
    store = MemoryStore()
    async with EmbeddingBatcher(Letters(), store) as batcher:
        await batcher.embed(["a"])
    other = Letters()
    other.id = "letters@2"
    async with EmbeddingBatcher(other, store) as batcher:
        await batcher.embed(["a"])

    assert other.seen == ["a"]


async def test_a_damaged_vector_is_a_miss():
    """Bytes that are no vector are made anew."""

    class Damaged(MemoryStore):
        def get(self, key: str) -> bytes | None:
            return b"abc"

    embedder = Letters()
    async with EmbeddingBatcher(embedder, Damaged()) as batcher:
        assert list((await batcher.embed(["a"]))[0]) == [1, 0, 0]
    assert embedder.seen == ["a"]


async def test_a_store_that_breaks_fails_the_askers_and_not_the_batcher():
    """They hear of it at once, and the next ones are served."""

    class Broken(MemoryStore):
        is_broken = True

        def get(self, key: str) -> bytes | None:
            if self.is_broken:
                raise ConfigError("the disk is gone")
            return None

    store = Broken()
    async with EmbeddingBatcher(Letters(), store) as batcher:
        with pytest.raises(ConfigError, match="the disk is gone"):
            await batcher.embed(["a"])
        store.is_broken = False

        assert len(await batcher.embed(["a"])) == 1


async def test_more_texts_than_may_wait_are_let_in_as_room_appears():
    """The queue is bounded and nothing is lost."""
    embedder = Letters(max_batch=2)
    async with EmbeddingBatcher(embedder, max_waiting=2) as batcher:
        vectors = await batcher.embed([f"a{index}" for index in range(25)])

    assert len(vectors) == 25
    assert max(len(batch) for batch in embedder.batches) <= 2


async def test_leaving_ends_the_waiting_and_the_embedder():
    """No asker hangs when the run is over."""
    embedder = Letters()
    embedder.gate.clear()
    async with EmbeddingBatcher(embedder, window_s=0) as batcher:
        waiting = asyncio.create_task(batcher.embed(["a"]))
        await embedder.begun.wait()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert embedder.is_closed


async def test_who_waits_for_this_machine_is_let_go_at_once():
    """When the run is told to end, neither a running batch nor a full queue holds anybody up."""
    embedder = Letters(max_batch=2)
    embedder.is_local = True  # type: ignore[attr-defined]  # as ThreadEmbedder says
    embedder.gate.clear()
    async with EmbeddingBatcher(embedder, window_s=0, max_waiting=2) as batcher:
        waiting = [asyncio.create_task(batcher.embed([text])) for text in "abcdefgh"]
        await embedder.begun.wait()

        batcher.leave()
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), timeout=5)
        with pytest.raises(Interrupted):
            await batcher.embed(["z"])

    assert {type(error) for error in ended} == {Interrupted}


async def test_what_is_paid_for_is_waited_for():
    """A call to a vendor goes on after the run was told to end."""
    embedder = Letters()
    embedder.gate.clear()
    async with EmbeddingBatcher(embedder, window_s=0) as batcher:
        waiting = asyncio.create_task(batcher.embed(["a"]))
        await embedder.begun.wait()

        batcher.leave()
        embedder.gate.set()

        assert len(await waiting) == 1


async def test_a_closed_batcher_refuses():
    """Asking before or after its time is an error, not a wait for ever."""
    batcher = EmbeddingBatcher(Letters())

    with pytest.raises(ConfigError, match="not open"):
        await batcher.embed(["a"])


async def test_nothing_asked_is_nothing_given():
    """An empty list needs no embedder."""
    embedder = Letters()
    async with EmbeddingBatcher(embedder) as batcher:
        assert await batcher.embed([]) == []
    assert embedder.batches == []


async def test_statistics_say_what_was_done():
    """Texts asked for, embedded and found are told apart."""
    async with EmbeddingBatcher(Letters(max_batch=2)) as batcher:
        await batcher.embed(["a", "b", "c", "a"])
        await batcher.embed(["a"])
        statistics = batcher.statistics()

    assert (statistics.asked, statistics.embedded, statistics.batches) == (5, 3, 2)
