"""Prices: exact by the price data, never free by accident, and a worst case that no usage within it exceeds."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval.errors import ConfigError, PriceUnknown
from tiered_eval.pricing import (
    PICO,
    PriceBook,
    Rate,
    dollars_from_pico,
    input_bound_tokens,
    load_prices,
    parse_price,
    pico_from_usd,
    usd_from_pico,
)
from tiered_eval.records import DecisionQuestion, DecisionRequest, ModelRequest, Usage
from tiered_eval.testing.scripted import make_request

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BOOK = PriceBook()
MICRO = 10**6
"""Pico-dollars a token, at a dollar a million."""

USAGES = {
    "short": Usage(input_tokens=1_000, output_tokens=200),
    "one token": Usage(input_tokens=1, output_tokens=1),
    "nothing": Usage(input_tokens=0, output_tokens=0),
    "cached": Usage(input_tokens=5_000, output_tokens=50, cache_read_tokens=4_096),
    "written": Usage(input_tokens=5_000, output_tokens=50, cache_write_tokens=4_096),
    "written for long": Usage(input_tokens=5_000, output_tokens=50, cache_write_long_tokens=2_048),
    "everything": Usage(
        input_tokens=9_999,
        output_tokens=77,
        cache_read_tokens=1_111,
        cache_write_tokens=2_222,
        cache_write_long_tokens=3_333,
    ),
    "at 100k": Usage(input_tokens=100_000, output_tokens=10),
    "above 100k": Usage(input_tokens=100_001, output_tokens=10, cache_read_tokens=90_000),
    "above 272k": Usage(input_tokens=272_001, output_tokens=10, cache_read_tokens=17),
    "batch": Usage(input_tokens=1_001, output_tokens=201, service_tier="batch"),
    "batch above 100k": Usage(input_tokens=123_457, output_tokens=3, service_tier="batch"),
    "flex": Usage(input_tokens=1_001, output_tokens=201, service_tier="flex"),
    "priority": Usage(input_tokens=1_001, output_tokens=201, service_tier="priority"),
    "default": Usage(input_tokens=1_001, output_tokens=201, service_tier="default"),
    "standard": Usage(input_tokens=1_001, output_tokens=201, service_tier="standard"),
}
MODELS = [
    "anthropic:claude-haiku-5-5",  # every token dearer above 100k
    "anthropic:claude-sonnet-5-5",  # cached reads at 0.05
    "anthropic:claude-opus-5",
    "anthropic:claude-haiku-4-5",
    "openai:gpt-6-luna",  # writes cost 1.25, dearer above 272k
    "openai:gpt-6.1-sol",
    "openai:gpt-5.4-mini",  # no long-context tier
    "openai:gpt-5.5",  # writes are free
    "openai-decisions:gpt-6-luna",  # output is free
    "openai:text-embedding-3-small",
]


def by_price_data(model: str, usage: Usage) -> Decimal:
    """The same bill, made by genai-prices itself."""
    from genai_prices import Usage as TheirUsage
    from genai_prices import calc_price

    prefix, _, name = model.partition(":")
    theirs = TheirUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens + usage.cache_write_long_tokens,
        cache_write_1h_tokens=usage.cache_write_long_tokens,
    )
    context = None
    if usage.service_tier:
        is_batch = usage.service_tier == "batch"
        context = {"processing": "batch"} if is_batch else {"service_tier": usage.service_tier}
    bill = calc_price(theirs, name, provider_id=prefix, genai_request_timestamp=AT, price_context=context)
    return bill.total_price


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("usage", USAGES.values(), ids=USAGES.keys())
def test_cost_is_exactly_that_of_the_price_data(model: str, usage: Usage):
    """The bill equals the price data's own, to the pico-dollar, rounded up."""
    expected = math.ceil(by_price_data(model, usage) * PICO)

    assert BOOK.cost_pico(usage, model, AT) == expected


def test_price_names_its_source_and_version():
    """A price says where it is from, so that a bill can be explained later."""
    source = BOOK.price("anthropic:claude-haiku-5-5").source

    assert source.startswith("genai-prices 0.")
    assert source.endswith("anthropic/claude-haiku-5-5")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("openai:gpt-99", "no such model"),
        ("openai:gpt-6.2-sol", "known to the vendor, not to the price data"),
        ("compatible:llama-3", "one's own server costs what its owner says"),
        ("azure:gpt-5.5", "a deployment's name says nothing about its model"),
        ("nobody:model", "no such provider"),
        ("gpt-6-luna", "no provider at all"),
        ("openrouter:perplexity/sonar-deep-research", "bills parts that no usage tells us"),
    ],
)
def test_unknown_price_is_refused(model: str, why: str):
    """A model whose price is not known is refused, never free."""
    with pytest.raises(PriceUnknown, match="--price"):
        PriceBook().price(model)


def test_embedding_model_is_no_chat_model():
    """A price list without an output price is no price for a call that generates."""
    with pytest.raises(PriceUnknown):
        BOOK.worst_case_pico(make_request(), "openai:text-embedding-3-small", AT)

    assert BOOK.worst_case_texts_pico(["some text"], "openai:text-embedding-3-small", AT) > 0


def test_recorded_replies_cost_nothing():
    """A replayed model is priced at 0 on purpose, since nothing is called."""
    assert BOOK.worst_case_pico(make_request(), "replay:anything", AT) == 0


def test_user_price_wins_over_the_price_data():
    """What the user says a model costs is what it costs."""
    book = PriceBook({"openai:gpt-6-luna": {"input": "2", "output": 3, "cached_input": 1.5}})
    usage = Usage(input_tokens=10, output_tokens=10, cache_read_tokens=4)

    cost = book.cost_pico(usage, "openai:gpt-6-luna", AT)

    assert cost == 6 * 2_000_000 + 4 * 1_500_000 + 10 * 3_000_000
    assert book.price("openai:gpt-6-luna").source == "given by the user"


def test_zero_given_by_the_user_is_a_price():
    """A model of one's own may cost 0, if its owner says so."""
    book = PriceBook({"vllm:llama": {"input": 0, "output": 0}})

    assert book.worst_case_pico(make_request(), "vllm:llama", AT) == 0


@pytest.mark.parametrize(
    "entry",
    [
        {"input": 1},
        {"output": 1},
        {"input": -1, "output": 1},
        {"input": 1, "output": "1e400"},
        {"input": 10_000_000, "output": 1},
        {"input": "NaN", "output": 1},
        {"input": float("inf"), "output": 1},
        {"input": "cheap", "output": 1},
        {"input": True, "output": 1},
        {"input": None, "output": 1},
        {"input": 1, "output": 1, "per": "request"},
        [1, 2],
        "free",
    ],
    ids=str,
)
def test_what_is_no_price_is_refused(entry: object):
    """An override that cannot be read as two amounts is an error, not a 0."""
    with pytest.raises(ConfigError, match="price of 'm:x'"):
        PriceBook({"m:x": entry})


def test_parse_price_reads_the_option():
    """``MODEL=IN,OUT`` may have colons and equal signs in its model, and up to two cache prices."""
    assert parse_price("openai:gpt-6-luna=0.1,0.5") == (
        "openai:gpt-6-luna",
        {"input": Decimal("0.1"), "output": Decimal("0.5")},
    )
    assert parse_price("vllm:a=b/c = 1, 2, 0.5, 3")[1]["cache_write"] == 3


@pytest.mark.parametrize(
    "text", ["", "m", "m=", "m=1", "=1,2", "m=1,2,3,4,5", "m=a,b", "m=1,-2", "m=nan,1", "m=1;2", "m=inf,1"]
)
def test_parse_price_refuses(text: str):
    """Anything else is an error that repeats what was given."""
    with pytest.raises(ConfigError, match="--price"):
        parse_price(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.json", '{"vllm:m": {"input": 0.1, "output": 0.3}}'),
        ("p.toml", '["vllm:m"]\ninput = 0.1\noutput = "0.3"\n'),
        ("p.yaml", "vllm:m: {input: 0.1, output: 0.3}\n"),
        ("bom.yaml", "\ufeffvllm:m: {input: 0.1, output: 0.3}\n"),
    ],
)
def test_prices_file_is_read(tmp_path: Path, name: str, text: str):
    """A prices file may be JSON, TOML or YAML, and 0.1 in it is exactly a tenth."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    book = PriceBook(load_prices(path))

    assert book.cost_pico(Usage(input_tokens=1, output_tokens=1), "vllm:m", AT) == 400_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.json", b"{"),
        ("p.toml", b"= 1"),
        ("p.yaml", b"a: [1"),
        ("p.yaml", b"- 1"),
        ("p.yaml", b"\xff\xfe"),
        ("p.yaml", b"m: {input: 1}"),
        ("p.yaml", b"m: !!python/object:os.system {}"),
        ("p.json", b"[" * 100_000),
        ("p.yaml", b"#" * 1_000_001),
    ],
)
def test_prices_file_that_is_none_is_refused(tmp_path: Path, name: str, content: bytes):
    """A prices file that cannot be read is a ConfigError."""
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(ConfigError):
        load_prices(path)


def test_absent_prices_file_is_refused(tmp_path: Path):
    """A prices file that is not there is an error that names it."""
    with pytest.raises(ConfigError, match="nowhere"):
        load_prices(tmp_path / "nowhere.yaml")


def test_the_providers_own_figure_wins():
    """Where the provider says what it charged, that is the cost."""
    usage = Usage(input_tokens=10, output_tokens=10, cost_usd=Decimal("0.0000123456789"))

    assert BOOK.cost_pico(usage, "openai:gpt-6-luna", AT) == 12_345_679


@pytest.mark.parametrize("claimed", ["NaN", "-1", "Infinity", "0", "0.0"])
def test_a_figure_that_cannot_be_is_ignored(claimed: str):
    """A claimed cost that is negative, no number, or nothing where the price says otherwise does not replace the price."""
    honest = Usage(input_tokens=10, output_tokens=10)
    claiming = Usage(input_tokens=10, output_tokens=10, cost_usd=Decimal(claimed))

    assert BOOK.cost_pico(claiming, "openai:gpt-6-luna", AT) == BOOK.cost_pico(
        honest, "openai:gpt-6-luna", AT
    )


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input_tokens=-5, output_tokens=-5),
        Usage(input_tokens=10, output_tokens=0, cache_read_tokens=50),
        Usage(input_tokens=10, output_tokens=0, cache_read_tokens=-50),
    ],
)
def test_absurd_counts_never_make_a_negative_bill(usage: Usage):
    """Counts that contradict each other cost what they name, and never less than nothing."""
    assert BOOK.cost_pico(usage, "openai:gpt-6-luna", AT) >= 0


tokens = st.integers(0, 400_000)


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from([name for name in MODELS if "embedding" not in name]),
    prompt=tokens,
    output=st.integers(0, 5_000),
    shares=st.tuples(*[st.floats(0, 1 / 3)] * 3),
    slack=st.integers(0, 300_000),
    tier=st.sampled_from([None, "default", "standard", "priority", "fast", "flex", "batch"]),
)
def test_no_usage_within_the_bounds_costs_more_than_the_worst_case(
    model, prompt, output, shares, slack, tier
):
    """Whatever is cached, written or long, and whichever tier served: the worst case holds."""
    usage = Usage(
        input_tokens=prompt,
        output_tokens=output,
        cache_read_tokens=int(prompt * shares[0]),
        cache_write_tokens=int(prompt * shares[1]),
        cache_write_long_tokens=int(prompt * shares[2]),
        service_tier=tier,
    )

    worst = BOOK.price(model).worst_case_pico(prompt + slack, output, AT)

    assert BOOK.cost_pico(usage, model, AT) <= worst


@pytest.mark.parametrize("tier", [None, "default", "priority", "fast", "flex", "batch"])
@pytest.mark.parametrize("model", ["openai:gpt-6-luna", "openai:gpt-5.5", "openai:gpt-5.4-mini"])
def test_the_worst_case_holds_in_every_tier_that_may_serve(model: str, tier: str | None):
    """An account may be served at a dearer tier than was asked for, by its own settings."""
    usage = Usage(input_tokens=1_000, output_tokens=50_000, service_tier=tier)

    assert BOOK.cost_pico(usage, model, AT) <= BOOK.price(model).worst_case_pico(1_000, 50_000, AT)


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.startswith(("anthropic:", "openai:gpt"))]
)
def test_a_batch_is_reserved_at_half_the_price(model: str):
    """What is reserved for an item of a batch is half of a single call, and no batch usage costs more."""
    request = make_request()
    single = BOOK.worst_case_pico(request, model, AT)
    batched = BOOK.worst_case_pico(request, model, AT, in_batch=True)
    usage = Usage(
        input_tokens=input_bound_tokens(request),
        output_tokens=request.max_tokens,
        cache_write_tokens=100,
        service_tier="batch",
    )

    assert batched * 2 <= single + 1
    assert BOOK.cost_pico(usage, model, AT) <= batched


def test_user_price_is_halved_in_a_batch_of_a_vendor_that_halves_it():
    """A price of one's own is that of a single call; servers without batches have one price only."""
    book = PriceBook({name: {"input": 3, "output": 15} for name in ("anthropic:claude-9", "vllm:mine")})
    usage = Usage(input_tokens=1_000_001, output_tokens=1, service_tier="batch")

    assert book.cost_pico(usage, "anthropic:claude-9", AT) == (3_000_003 + 15) * MICRO // 2
    assert book.cost_pico(usage, "vllm:mine", AT) == (3_000_003 + 15) * MICRO


@pytest.mark.parametrize(
    ("model", "entry", "short", "long"),
    [
        ("anthropic:claude-9", {"input": 4, "output": 1}, 5, 8),
        ("anthropic:claude-9", {"input": 4, "output": 1, "cache_write": 10}, 10, 16),
        ("openai:gpt-9", {"input": 4, "output": 1}, 5, 5),
        ("vllm:mine", {"input": 4, "output": 1}, 4, 4),
    ],
)
def test_user_price_knows_what_the_vendor_adds_for_writing(
    model: str, entry: dict[str, int], short: int, long: int
):
    """Two amounts say nothing of kept prompts; what the vendor adds for them is reserved and booked all the same."""
    book = PriceBook({model: entry})
    written, for_long = (
        Usage(input_tokens=100, output_tokens=0, **{name: 100})  # type: ignore[arg-type]
        for name in ("cache_write_tokens", "cache_write_long_tokens")
    )

    assert book.cost_pico(written, model, AT) == 100 * short * MICRO
    assert book.cost_pico(for_long, model, AT) == 100 * long * MICRO
    assert book.price(model).worst_case_pico(100, 0, AT) == 100 * max(short, long) * MICRO


def decision_request(count: int) -> DecisionRequest:
    question = DecisionQuestion(
        name="q", kind="choice", instructions="Which?", options={"a": "x" * 50, "b": ""}
    )
    return DecisionRequest(
        system="Read it.", user=("DATA ", " Net 45 days."), questions=(question,) * count, prompt="decision/x"
    )


def test_a_decision_is_bounded_by_its_text_and_all_its_questions():
    """Every byte that is sent may be a token, and the answers are free where the price list says so."""
    one, ten = (
        BOOK.worst_case_decision_pico(decision_request(count), "openai-decisions:gpt-6-luna", AT)
        for count in (1, 10)
    )

    assert one < ten < 10 * one
    assert ten - one >= 9 * (len("qWhich?ab") + 50) * 100_000


def test_a_decision_with_a_price_for_output_has_its_answers_bounded():
    """A price of one's own may charge for answers; then they are reserved for."""
    book = PriceBook({"openai-decisions:gpt-6-luna": {"input": 0, "output": 1}})

    assert book.worst_case_decision_pico(decision_request(2), "openai-decisions:gpt-6-luna", AT) > 0


@given(text=st.text(max_size=200), system=st.text(max_size=50))
def test_a_prompt_never_has_more_tokens_than_its_bound(text: str, system: str):
    """The bound counts every byte that is sent, nonce and schema included."""
    request = ModelRequest(
        system=system,
        user=("a", text, "b"),
        schema={"type": "object", "description": text},
        schema_name="s",
        prompt="p",
        max_tokens=1,
    )
    sent = system + request.user_text("n" * 64)

    assert input_bound_tokens(request) >= len(sent.encode("utf-8", "surrogatepass")) + len(text.encode())


def test_a_frozen_schema_has_a_bound():
    """A schema may be any mapping, not only a dict."""
    frozen = replace(make_request(), schema=MappingProxyType({"type": "object"}))

    assert input_bound_tokens(frozen) == input_bound_tokens(replace(frozen, schema={"type": "object"}))


def test_a_lone_surrogate_has_a_bound():
    """Text that is no valid Unicode is counted, not an error."""
    assert input_bound_tokens(make_request("\ud800")) > 0


@given(st.decimals(min_value=0, max_value=1000, places=15))
def test_dollars_are_rounded_up_to_pico_dollars(amount: Decimal):
    """No conversion loses money, and none adds a whole pico-dollar."""
    pico = pico_from_usd(amount)

    assert 0 <= usd_from_pico(pico) - amount < Decimal(1).scaleb(-12)


@pytest.mark.parametrize(
    ("pico", "text"),
    [(0, "$0"), (1, "$0.000000000001"), (10**12, "$1"), (25 * 10**12, "$25"), (10**9, "$0.001")],
)
def test_amounts_are_written_for_people(pico: int, text: str):
    """No exponent, no zeros at the end, nothing rounded."""
    assert dollars_from_pico(pico) == text


def test_rate_changes_just_above_the_start_of_a_tier():
    """A tier begins after its number of tokens, not at it."""
    rate = Rate(1, ((100, 5), (200, 9)))

    assert [rate.at(count) for count in (0, 100, 101, 200, 201)] == [1, 1, 5, 5, 9]


def test_dearest_rate_sees_a_cheaper_long_tier():
    """A longer prompt may be cheaper; the worst case is then the shorter one."""
    assert Rate(9, ((100, 2),)).dearest(1_000) == 9


def test_estimate_is_below_the_worst_case():
    """An estimate for plans is a likely figure, not the bound."""
    request = make_request("word " * 400)

    estimate = BOOK.estimate_usd(request, "openai:gpt-6-luna", at=AT)

    assert 0 < estimate < usd_from_pico(BOOK.worst_case_pico(request, "openai:gpt-6-luna", AT))
