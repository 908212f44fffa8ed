"""A provider's usage export settles unknown calls by the difference between its bill and our books."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tiered_eval.calls.usage_export import resolutions_from
from tiered_eval.calls.usage_rows import load_usage
from tiered_eval.errors import ConfigError
from tiered_eval.ledger import LEFT_IN_BATCH, PROCESS_ENDED, SettledCall, UnknownCall
from tiered_eval.pricing import PICO, PriceBook

MODEL = "openai:gpt-6-luna"
BOOK = PriceBook({MODEL: {"input": 1, "output": 5}})
SENT = "2026-11-30T12:00:00.000+00:00"
AT = "2026-11-30T12:02:00.000+00:00"
DAY = {"start": "2026-11-30T00:00:00Z", "end": "2026-12-01T00:00:00Z", "model": "gpt-6-luna"}


def unknown(number: int = 1, *, bound_usd: float = 0.01, **more: str) -> UnknownCall:
    values = {
        "key": f"k{number}",
        "why": "ProviderTimeout",
        "at": AT,
        "sent_at": SENT,
        "model": MODEL,
        **more,
    }
    return UnknownCall(number=number, run="r", attempt=0, bound=int(bound_usd * PICO), **values)


def settled(cost_usd: float, *, sent_at: str = SENT, at: str = AT, is_estimated: bool = False) -> SettledCall:
    return SettledCall(cost=int(cost_usd * PICO), sent_at=sent_at, at=at, is_estimated=is_estimated)


def written(folder: Path, rows: object, name: str = "usage.json") -> Path:
    path = folder / name
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows))
    return path


def resolved(
    path: Path, calls: list[UnknownCall], books: list[SettledCall]
) -> tuple[dict[int, float | None], list[str]]:
    """What each call was settled at, in dollars, and what is said of the others."""
    found, problems = resolutions_from(load_usage(path), calls, lambda *span: books, BOOK, source="test")
    return {each.number: None if each.cost is None else each.cost / PICO for each in found}, problems


@pytest.mark.parametrize(
    ("billed_usd", "costs"),
    [
        (0.05, {1: None, 2: None}),  # the bill is what was settled: neither was billed
        (0.08, {1: 0.01, 2: 0.02}),  # both at their worst case
        (0.90, {1: 0.01, 2: 0.02}),  # somebody else used the account: never above the worst case
        (0.065, {1: 0.005, 2: 0.01}),  # half of it: nobody knows whose, and the sum is right
    ],
)
def test_the_difference_is_what_the_unknown_calls_cost(
    tmp_path: Path, billed_usd: float, costs: dict[int, float | None]
):
    """The bill of the period less what was settled in it, in shares after the calls' bounds."""
    path = written(tmp_path, [DAY | {"cost_usd": billed_usd}])

    found, problems = resolved(
        path, [unknown(1, bound_usd=0.01), unknown(2, bound_usd=0.02)], [settled(0.05)]
    )

    assert problems == []
    assert found == {number: None if cost is None else pytest.approx(cost) for number, cost in costs.items()}


@pytest.mark.parametrize(
    ("row", "books", "says"),
    [
        ({"cost_usd": 0.01}, [settled(0.05)], "less than what was settled"),
        ({"cost_usd": 0.06}, [settled(0.05, is_estimated=True)], "sent no usage"),
        ({"cost_usd": 0.06}, [settled(0.05, at="2026-12-01T00:03:00.000+00:00")], "take a longer one"),
        ({"cost_usd": 0.06, "end": "2026-11-30T12:01:00Z"}, [], "take a longer one"),
        ({"cost_usd": 0.06, "start": "2026-11-28", "end": "2026-11-29"}, [], "no unknown call"),
        ({"cost_usd": 0.06, "model": "gpt-6-luna-mini"}, [], "no rows of this model"),
    ],
    ids=[
        "too little",
        "estimates",
        "cut through a call",
        "cut through the unknown",
        "another day",
        "another model",
    ],
)
def test_a_difference_that_says_nothing_leaves_the_call_unknown(
    tmp_path: Path, row: dict[str, object], books: list[SettledCall], says: str
):
    """Where bill and books do not cover the same calls, the worst case stays charged, and it is said why."""
    found, problems = resolved(written(tmp_path, [DAY | row]), [unknown()], books)

    assert found == {}
    assert len(problems) == 1
    assert says in problems[0]


def test_the_call_of_a_killed_process_counts_for_when_it_left(tmp_path: Path):
    """It was given up days later, when the ledger was opened again; the export of its own day settles it."""
    call = unknown(why=PROCESS_ENDED, at="2026-12-05T09:00:00.000+00:00")

    found, _ = resolved(written(tmp_path, [DAY | {"cost_usd": 0}]), [call], [])

    assert found == {1: None}


def test_rows_that_name_calls_settle_those(tmp_path: Path):
    """A gateway's log that knows our calls, by number or by key, needs no difference."""
    path = written(tmp_path, "call,cost_usd\n1,0.004\nk2,0\n", "usage.csv")

    found, problems = resolved(path, [unknown(1), unknown(2)], [])

    assert (found, problems) == ({1: 0.004, 2: None}, [])


@pytest.mark.parametrize(
    ("row", "cost_usd"),
    [
        ({"input_tokens": 1000, "output_tokens": 200}, 0.002),
        ({"uncached_input_tokens": 400, "cache_read_input_tokens": 600, "output_tokens": 0}, 0.001),
        ({"uncached_input_tokens": 0, "cache_creation": {"ephemeral_5m_input_tokens": 800}}, 0.001),
    ],
    ids=["OpenAI", "Anthropic", "Anthropic, written to its cache"],
)
def test_tokens_are_priced(tmp_path: Path, row: dict[str, object], cost_usd: float):
    """Both vendors' usage APIs: buckets with results, each with tokens and no amount."""
    bucket = {"starting_at": "2026-11-30T00:00:00Z", "ending_at": "2026-12-01T00:00:00Z"}
    path = written(tmp_path, {"data": [bucket | {"results": [{"model": "gpt-6-luna-2026-10-01"} | row]}]})

    found, _ = resolved(path, [unknown()], [])

    assert found[1] == pytest.approx(cost_usd, rel=0.3)


HAIKU = "anthropic:claude-haiku-5-5"
ADDED_UP = {"model": "claude-haiku-5-5", "uncached_input_tokens": 4_000_000, "output_tokens": 0}
"""A day of short requests: $0.40 in all, and five times as much if they were one request of more than 100,000 tokens."""


def test_a_row_that_adds_up_short_requests_is_not_priced_as_a_long_one(tmp_path: Path):
    """Where no call can have had a long prompt, the tokens of a day cost what they cost request by request."""
    found, problems = resolved(
        written(tmp_path, [DAY | ADDED_UP]), [unknown(bound_usd=0.002, model=HAIKU)], [settled(0.0015)] * 266
    )

    assert problems == []
    assert found == {1: pytest.approx(0.001)}


@pytest.mark.parametrize(
    ("bound_usd", "books"),
    [(0.01, [settled(0.0015)] * 266), (0.002, [settled(0.399)])],
    ids=["unknown", "settled"],
)
def test_a_row_that_may_add_up_long_requests_says_nothing(
    tmp_path: Path, bound_usd: float, books: list[SettledCall]
):
    """Where a call may have had a long prompt, nobody can tell what a sum of tokens was billed at."""
    calls = [unknown(bound_usd=bound_usd, model=HAIKU)]

    found, problems = resolved(written(tmp_path, [DAY | ADDED_UP]), calls, books)

    assert found == {}
    assert "long prompt" in problems[0]


@pytest.mark.parametrize(("tier", "cost_usd"), [("priority", 0.002), ("flex", 0.0005), ("default", 0.001)])
def test_rows_are_priced_at_the_tier_that_served(tmp_path: Path, tier: str, cost_usd: float):
    """An account's own settings may have had calls served at another price; the export says which."""
    row = {"model": "gpt-5.4-mini", "service_tier": tier, "input_tokens": 0, "output_tokens": 0}
    book = PriceBook().price("openai:gpt-5.4-mini")
    tokens = int(0.001 * PICO * 10**6 / book.rates_at(datetime(2026, 11, 30, tzinfo=UTC), None).input.base)

    found, _ = resolved(
        written(tmp_path, [DAY | row | {"input_tokens": tokens}]), [unknown(model="openai:gpt-5.4-mini")], []
    )

    assert found[1] == pytest.approx(cost_usd, rel=0.01)


def test_the_call_of_a_batch_that_went_on_counts_for_a_day(tmp_path: Path):
    """Its vendor may have billed it after we stopped looking: an export that ends before says nothing of it."""
    call = unknown(why=LEFT_IN_BATCH)
    longer = DAY | {"start": "2026-12-01T00:00:00Z", "end": "2026-12-03T00:00:00Z"}

    too_short = resolved(written(tmp_path, [DAY | {"cost_usd": 0}]), [call], [])
    long_enough = resolved(
        written(tmp_path, [DAY | {"cost_usd": 0}, longer | {"cost_usd": 0.004}]), [call], []
    )

    assert too_short[0] == {}
    assert "take a longer one" in too_short[1][0]
    assert long_enough == ({1: pytest.approx(0.004)}, [])


def test_a_call_in_a_gap_of_the_export_stays_unknown(tmp_path: Path):
    """A page that was lost is no proof that nothing was billed; each part settles its own calls."""
    before = {"start": "2026-11-28T00:00:00Z", "end": "2026-11-29T00:00:00Z", "cost_usd": 0}
    after = {"start": "2026-12-01T00:00:00Z", "end": "2026-12-02T00:00:00Z", "cost_usd": 0.003}
    later = {"sent_at": "2026-12-01T12:00:00.000+00:00", "at": "2026-12-01T12:02:00.000+00:00"}

    found, _ = resolved(written(tmp_path, [DAY | before, DAY | after]), [unknown(1), unknown(2, **later)], [])

    assert found == {2: pytest.approx(0.003)}


def test_an_empty_bucket_proves_that_nothing_was_billed(tmp_path: Path):
    """Both vendors' APIs list stretches of time without usage; one of them is no gap."""
    hours = [f"2026-11-30T{hour:02}:00:00Z" for hour in (10, 11, 12, 13)]
    buckets = [
        {"starting_at": start, "ending_at": end, "results": results}
        for start, end, results in zip(
            hours, hours[1:], ([{"model": "gpt-6-luna", "cost_usd": 0.02}], [], []), strict=False
        )
    ]
    early = {"sent_at": "2026-11-30T11:30:00.000+00:00", "at": "2026-11-30T11:32:00.000+00:00"}
    books = [settled(0.02, sent_at="2026-11-30T10:30:00.000+00:00", at="2026-11-30T10:32:00.000+00:00")]

    found, problems = resolved(written(tmp_path, {"data": buckets}), [unknown(**early)], books)

    assert (found, problems) == ({1: None}, [])


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("call,cost_usd\n1,0.004\n1,0.002\n", [unknown(1)]),
        ("call,cost_usd\n1,0.004\nk1,0.002\n", [unknown(1)]),
        ("key,cost_usd\nsame,0.004\n", [unknown(1, key="same"), unknown(2, key="same")]),
    ],
    ids=["twice", "by number and by key", "two attempts"],
)
def test_rows_that_name_calls_twice_settle_nothing(tmp_path: Path, text: str, calls: list[UnknownCall]):
    """Of two amounts for a call, or two calls for an amount, none is picked."""
    found, problems = resolved(written(tmp_path, text, "usage.csv"), calls, [])

    assert found == {}
    assert len(problems) == len(calls)
    assert "more than" in problems[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "no rows"),
        ('[{"model": "m", "start": "2026-11-30", "cost": 1, "currency": "EUR"}]', "EUR, not in US dollars"),
        ('[{"model": "m"}]', "expected a time and a model"),
        ('[{"model": "m", "start": "2026-11-30"}]', "expected a cost or tokens"),
        ('[{"model": "m", "start": "yesterday", "cost": 1}]', "row 1"),
        ('[{"model": "m", "start": "2026-11-30", "cost": -1}]', "not an amount"),
        ('[{"model": "m", "start": "2026-11-30", "cost": "1e1000000"}]', "not an amount"),
        ('[{"model": "m", "start": "2026-11-30", "input_tokens": -5}]', "-5 tokens"),
        ("[7]", "a row is an object"),
        ("{", "cannot read"),
    ],
)
def test_an_export_that_cannot_be_read_settles_nothing(tmp_path: Path, text: str, says: str):
    """A row that lacks something ends it with the place, before anything is settled."""
    with pytest.raises(ConfigError, match=says):
        load_usage(written(tmp_path, text))
