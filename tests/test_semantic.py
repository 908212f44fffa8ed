"""The embedding tier: accepts above a measured threshold, obeys the guards, and decides both ways only when pinned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tiered_eval.errors import EmbedderMissing
from tiered_eval.profiles import Profile
from tiered_eval.records import Completed, Match, ModelReply, ModelRequest, Outcome
from tiered_eval.scorers.semantic import Semantic
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.subject import Subject

PROFILE = Profile(name="test", thresholds={"table@1": {"must-contain": 0.9, "must-not-contain": 0.9}})
CLAIM = "Invoices are settled before the quarter ends"


class Table:
    """Services whose embedder knows a few texts: each is a point on a circle, given as its cosine to ``CLAIM``."""

    judges: Sequence[str] = ()

    def __init__(self, cosines: dict[str, float], *, id: str | None = "table@1") -> None:
        self.cosines = cosines
        self.id = id
        self.asked: list[str] = []

    @property
    def embedder_id(self) -> str | None:
        return self.id

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self.id is None:
            raise EmbedderMissing("no embedder is used")
        self.asked += texts
        cosines = [1.0 if text in CLAIMS else self.cosines.get(text.rstrip("."), 0.0) for text in texts]
        return [[cosine, (1 - cosine**2) ** 0.5] for cosine in cosines]

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], Any], *, models: Sequence[str]
    ) -> Completed[Any]:
        raise AssertionError("the embedding tier asks no judge")


CLAIMS = {CLAIM, "Goods leave within two days", "Velox pays the freight", "Refunds are not given"}
PAID = "Customers pay what they owe in the same three months"


async def ask(
    response: str,
    services: Table,
    *values: str,
    kind: str = "must-contain",
    match: Match = "all",
    scorer: str | None = None,
    threshold: float | None = None,
) -> Outcome:
    options = {} if threshold is None else {"threshold": threshold}
    expectation = make_expectation(kind, *(values or (CLAIM,)), match=match, scorer=scorer, options=options)
    return await Semantic(PROFILE).ask(expectation, Subject(make_case(response, expectation)), services)


async def test_a_near_sentence_passes_with_its_place():
    """The best sentence is the evidence, and its likeness the score."""
    outcome = await ask(f"Thank you. {PAID}. Bye.", Table({PAID: 0.95}))

    assert outcome.state == "pass"
    assert outcome.score == pytest.approx(0.95)
    assert outcome.evidence is not None
    assert outcome.evidence.quote == PAID


async def test_below_the_threshold_it_is_unsure_and_never_fails():
    """Unlikeness proves nothing."""
    outcome = await ask(f"{PAID}.", Table({PAID: 0.5}))

    assert outcome.state == "unsure"
    assert outcome.score == pytest.approx(0.5)


async def test_an_embedder_without_a_profile_climbs():
    """A threshold of one embedder is no threshold of another; its sentences are not even embedded."""
    services = Table({PAID: 0.99}, id="other@1")

    outcome = await ask(f"{PAID}.", services)

    assert outcome.state == "unsure"
    assert "other@1" in outcome.reason
    assert services.asked == [CLAIM]


async def test_without_an_embedder_the_step_cannot_be_made():
    """The runner hears why, and goes on with the route."""
    with pytest.raises(EmbedderMissing):
        await ask("Anything.", Table({}, id=None))


async def test_a_negated_claim_is_not_settled_by_likeness():
    """No embedder sees a "not"."""
    outcome = await ask("We keep the money.", Table({"We keep the money": 0.99}), "Refunds are not given")

    assert outcome.state == "unsure"
    assert "negation" in outcome.reason


@pytest.mark.parametrize(
    ("claim", "sentence", "why"),
    [
        (CLAIM, "Customers need not pay what they owe in good time", "denied"),
        (CLAIM, "Customers might pay what they owe in good time", "only possible"),
        ("Velox pays the freight", "The seller bears the cost of carriage", "a name is missing"),
        ("Goods leave within two days", "We dispatch parcels in 4 days", "another number"),
        (CLAIM, "Invoices are settled before the year ends", "nearly the same words"),
    ],
)
async def test_the_guards_are_obeyed(claim: str, sentence: str, why: str):
    """A near sentence with an objection is unsure."""
    assert (await ask(f"{sentence}.", Table({sentence: 0.97}), claim)).state == "unsure"


PINNED: dict[str, Any] = {"scorer": "semantic"}
NEAR = [
    (f"{PAID}.", 0.95, {}, "pass", "above the measured threshold"),
    (f"{PAID}.", 0.9, {}, "pass", "just at it"),
    (f"{PAID}.", 0.8999, {}, "unsure", "just below it: unlikeness proves nothing"),
    (f"{PAID}.", 0.0, {}, "unsure", "nor does it where nothing is alike"),
    (f"Thank you. {PAID}. Bye.", 0.95, {}, "pass", "one sentence of several is enough"),
    (f"{PAID}!", 0.95, {}, "pass", "a mark at its end is no other meaning"),
    (f"Is it so that {PAID}?", 0.95, {}, "unsure", "a question states nothing"),
    ("", 0.95, {}, "unsure", "an empty response leaves it open"),
    ("", 0.95, PINNED, "fail", "and fails where this alone decides"),
    (f"{PAID}.", 0.76, PINNED, "pass", "pinned, three quarters are enough"),
    (f"{PAID}.", 0.74, PINNED, "fail", "and less is a fail"),
    (f"{PAID}.", 0.6, {**PINNED, "threshold": 0.5}, "pass", "the author's threshold holds"),
    (f"{PAID}.", 0.8, {**PINNED, "threshold": 0.9}, "fail", "both ways"),
    (f"{PAID}.", 0.6, {"threshold": 0.5}, "pass", "also where it may climb"),
]


@pytest.mark.parametrize(("response", "likeness", "settings", "state", "why"), NEAR)
async def test_the_nearest_sentence_decides(
    response: str, likeness: float, settings: dict[str, Any], state: str, why: str
):
    """Its likeness passes from a threshold on; below, only a pinned scorer fails."""
    said = Table({PAID: likeness, f"{PAID}!": likeness, f"Is it so that {PAID}?": likeness})

    assert (await ask(response, said, **settings)).state == state, why


async def test_a_name_may_stand_in_the_sentences_before():
    """The best sentence may refer to it."""
    before, sentence = "Velox is the seller", "It bears the cost of carriage"

    outcome = await ask(f"{before}. {sentence}.", Table({sentence: 0.97}), "Velox pays the freight")

    assert outcome.state == "pass"


async def test_pinned_an_objection_above_the_threshold_is_unsure():
    """Never a silent pass, and no fail either: the words are near."""
    sentence = "Customers need not pay what they owe in good time"

    outcome = await ask(f"{sentence}.", Table({sentence: 0.9}), scorer="semantic")

    assert outcome.state == "unsure"
    assert outcome.evidence is not None


@pytest.mark.parametrize(
    ("match", "kind", "state"),
    [
        ("all", "must-contain", "fail"),
        ("any", "must-contain", "pass"),
        ("any", "must-not-contain", "fail"),
        ("all", "must-not-contain", "pass"),
    ],
)
async def test_several_values_are_combined(match: Match, kind: str, state: str):
    """One of two is near. For a negative kind the outcome is still about what is found: the runner inverts it."""
    two = Table({PAID: 0.9})
    two_claims = (CLAIM, "Velox pays the freight")

    async def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[1.0, 0.0] if text in {CLAIM, PAID} else [0.0, 1.0] for text in texts]

    two.embed = embed  # type: ignore[method-assign]  # two claims need two directions

    assert (await ask(f"{PAID}.", two, *two_claims, kind=kind, match=match, scorer="semantic")).state == state


async def test_a_response_of_a_thousand_sentences_climbs():
    """It is not embedded sentence by sentence."""
    services = Table({})

    assert (await ask("It is so. " * 1000, services)).state == "unsure"
    assert services.asked == []
