"""Judge replies: read exactly, or an error; never searched for something that looks like a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.errors import ModelRefused, UnreadableReply
from tiered_eval.parsing import Judgement, find_quote, judgement_parser
from tiered_eval.records import ModelReply, StopReason, Usage

NONCE = "k7Qm2x"
RESPONSE = "Invoices are due 45 days after receipt. Late payments carry a fee of 2 %."
GOOD: dict[str, Any] = {
    "nonce": NONCE,
    "evidence": "due 45 days after receipt",
    "rationale": "It says so.",
    "verdict": "met",
}
SCORED: dict[str, Any] = {**GOOD, "verdict": "scored", "score": 3}


def reply(text: str, *, stop: StopReason = "end", refusal: str | None = None) -> ModelReply:
    return ModelReply(
        text=text,
        stop_reason=stop,
        model="scripted-1",
        usage=Usage(input_tokens=900, output_tokens=60),
        nonce=NONCE,
        request_id="req_1",
        refusal=refusal,
    )


def read(text: str, *, response: str = RESPONSE, levels: tuple[int, ...] | None = None) -> Judgement:
    return judgement_parser(response=response, levels=levels)(reply(text))


def changed(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


def without(key: str) -> str:
    return json.dumps({name: value for name, value in GOOD.items() if name != key})


GOOD_TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD_TEXT, id="as asked"),
        pytest.param(f"\n\n  {json.dumps(GOOD, indent=2)}\n", id="indented, with blank lines around it"),
        pytest.param(f"```json\n{GOOD_TEXT}\n```", id="fenced"),
        pytest.param(f"```\n{GOOD_TEXT}\n```\n", id="fenced without a language"),
        pytest.param(f"Here is my judgement:\n\n```json\n{GOOD_TEXT}\n```", id="prose before the fence"),
        pytest.param(json.dumps(dict(reversed(GOOD.items()))), id="keys in another order"),
    ],
)
def test_a_reply_as_asked_is_read(text: str):
    """The object alone, or one fenced block that ends the text, is a judgement."""
    judgement = read(text)

    assert (judgement.verdict, judgement.rationale, judgement.score) == ("met", "It says so.", None)
    assert judgement.evidence is not None
    assert judgement.evidence.quote == "due 45 days after receipt"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("The requirement is met.", id="prose"),
        pytest.param(f"Sure! {GOOD_TEXT}", id="prose before a bare object: never searched for"),
        pytest.param(f"{GOOD_TEXT}\nHope that helps.", id="prose after the object"),
        pytest.param(f"{GOOD_TEXT}\n{GOOD_TEXT}", id="two objects"),
        pytest.param(f"```json\n{GOOD_TEXT}\n```\nand that is all", id="prose after the fence"),
        pytest.param(
            f"```json\n{GOOD_TEXT}\n```\n```json\n{GOOD_TEXT}\n```", id="two fences: which one counts?"
        ),
        pytest.param(f"The text says ```json\n{GOOD_TEXT}", id="a fence that is never closed"),
        pytest.param(GOOD_TEXT[:-10], id="cut off"),
        pytest.param(f"[{GOOD_TEXT}]", id="a list"),
        pytest.param('"met"', id="a bare string"),
        pytest.param("true", id="a bare literal"),
        pytest.param("[" * 100_000, id="nesting without end"),
        pytest.param(GOOD_TEXT.replace('"It says so."', "NaN"), id="NaN"),
        pytest.param(" " * 10 + "x" * 300_000, id="far too long"),
        pytest.param(without("nonce"), id="no nonce"),
        pytest.param(without("verdict"), id="no verdict"),
        pytest.param(without("evidence"), id="no evidence"),
        pytest.param(changed(score=5), id="a key that was not asked for"),
        pytest.param(changed(nonce="k7Qm2X"), id="another nonce, by one letter's case"),
        pytest.param(changed(nonce=""), id="an empty nonce"),
        pytest.param(changed(nonce="{{nonce}}"), id="the slot instead of the nonce"),
        pytest.param(changed(nonce=None), id="a null nonce"),
        pytest.param(changed(verdict="MET"), id="a verdict in other letters"),
        pytest.param(changed(verdict="pass"), id="a verdict of another vocabulary"),
        pytest.param(changed(verdict="scored"), id="a rubric's verdict to a question without a scale"),
        pytest.param(changed(verdict=["met"]), id="a list of verdicts"),
        pytest.param(changed(verdict="met|not-met"), id="the enumeration itself"),
        pytest.param(changed(evidence=None), id="null evidence"),
        pytest.param(GOOD_TEXT[:-1] + ', "verdict": "not-met"}', id="two verdicts under one key"),
        pytest.param(changed(rationale="\ud800"), id="half a surrogate pair, which no file could keep"),
    ],
)
def test_anything_else_is_unreadable(text: str):
    """A reply that is not exactly what was asked for is an error that keeps the text and the usage, never a verdict."""
    with pytest.raises(UnreadableReply) as caught:
        read(text)

    assert caught.value.text == text
    assert caught.value.billed == "yes"
    assert caught.value.usage == Usage(input_tokens=900, output_tokens=60)
    assert caught.value.retryable


def test_a_reply_without_its_own_nonce_is_unreadable():
    """A kept reply whose nonce was lost cannot be checked, so it does not count."""
    kept = ModelReply(
        text=changed(nonce=""),
        stop_reason="end",
        model="m",
        usage=Usage(input_tokens=1, output_tokens=1),
        nonce="",
    )

    with pytest.raises(UnreadableReply, match="nonce"):
        judgement_parser(response=RESPONSE)(kept)


def test_a_reply_that_was_cut_off_is_unreadable_even_if_it_parses():
    """What stopped at max_tokens did not end by itself, whatever it looks like."""
    with pytest.raises(UnreadableReply, match="max_tokens"):
        judgement_parser(response=RESPONSE)(reply(GOOD_TEXT, stop="max_tokens"))


@pytest.mark.parametrize("stop", ["refusal", "content_filter"])
def test_a_refusal_is_no_outage_and_no_verdict(stop: StopReason):
    """A refusal is not retried, not taken to the next model, and was billed."""
    with pytest.raises(ModelRefused) as caught:
        judgement_parser(response=RESPONSE)(reply("", stop=stop))

    error = caught.value
    assert (error.retryable, error.may_fall_back, error.billed, error.code) == (False, False, "yes", stop)


def test_a_refusal_in_words_counts_as_one():
    """Some vendors end a refusal like any other reply and put it into a field of its own."""
    with pytest.raises(ModelRefused, match="I cannot assess this"):
        judgement_parser(response=RESPONSE)(reply("", refusal="I cannot\nassess this"))


@pytest.mark.parametrize("score", [3, 1, 4])
def test_a_level_of_the_scale_is_read(score: int):
    """A rubric's reply carries the level."""
    assert read(json.dumps({**SCORED, "score": score}), levels=(1, 2, 3, 4)).score == score


@pytest.mark.parametrize(
    "score",
    [
        pytest.param(0, id="below the scale"),
        pytest.param(5, id="above the scale"),
        pytest.param(2, id="inside the range, but no level"),
        pytest.param(3.0, id="a float"),
        pytest.param("3", id="text"),
        pytest.param(True, id="a boolean is not the level 1"),
        pytest.param(None, id="null"),
        pytest.param(10**400, id="huge"),
    ],
)
def test_a_score_off_the_scale_is_unreadable(score: object):
    """Providers do not enforce the bounds of a number, so we do."""
    with pytest.raises(UnreadableReply):
        read(json.dumps({**SCORED, "score": score}), levels=(1, 3, 4))


def test_a_judge_that_cannot_tell_gives_no_score():
    """The number that the schema forces into such a reply means nothing."""
    judgement = read(json.dumps({**SCORED, "verdict": "cannot-tell", "score": 99}), levels=(1, 2))

    assert (judgement.verdict, judgement.score) == ("cannot-tell", None)


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        pytest.param("due 45 days after receipt", "due 45 days after receipt", id="word for word"),
        pytest.param("Due 45\n days after  receipt", "due 45 days after receipt", id="case and whitespace"),
        pytest.param(
            '"Late payments carry a fee."', "Late payments carry a fee", id="a full stop of the judge's own"
        ),
        pytest.param('"Late payments carry a fee"', "Late payments carry a fee", id="in quotation marks"),
        pytest.param(
            "Invoices are due ... after receipt.", "Invoices are due 45 days after receipt", id="ellipsis"
        ),
        pytest.param("after receipt ... Invoices", None, id="ellipsis backwards"),
        pytest.param("due 30 days after receipt", None, id="another number"),
        pytest.param("days after receipt of the goods", None, id="goes on where the response does not"),
        pytest.param("...", None, id="nothing but an ellipsis"),
        pytest.param("not mentioned", None, id="a remark instead of a quote"),
    ],
)
def test_evidence_must_stand_in_the_response(quote: str, shown: str | None):
    """A quote is found as a careful copyist would write it, and otherwise flagged."""
    judgement = read(changed(evidence=quote))

    assert judgement.evidence_found is (shown is not None)
    if shown is not None:
        assert judgement.evidence is not None
        start, end = judgement.evidence.start, judgement.evidence.end
        assert judgement.evidence.quote == shown == RESPONSE[start:end]


def test_no_evidence_is_not_false_evidence():
    """A verdict that rests on something absent has nothing to quote."""
    judgement = read(changed(evidence="  ", verdict="not-met"))

    assert judgement.evidence_found
    assert judgement.evidence is None


@pytest.mark.parametrize(
    ("quote", "response", "shown"),
    [
        pytest.param('it\'s "net 45"', "So it’s “net 45” then", "it’s “net 45", id="typographic quotes"),
        pytest.param("45-60 days", "in 45–60 days", "45–60 days", id="dashes"),
        pytest.param("pay now", "pay\u200b now", "pay\u200b now", id="a zero-width space in the response"),
        pytest.param("STRASSE", "an der Straße", "Straße", id="one letter that folds to two"),
        pytest.param("zahlbar", "Nicht Zahlbar", "Zahlbar", id="offsets after folding"),
    ],
)
def test_quotes_are_found_across_looks(quote: str, response: str, shown: str):
    """Kinds of quotation marks, dashes and invisible characters are forgiven; the evidence is the original."""
    found = find_quote(quote, response)

    assert found is not None
    assert found.quote.strip('“”"') == shown.strip('“”"')
    assert response[found.start : found.end] == found.quote


@given(response=st.text(min_size=1, max_size=80), data=st.data())
def test_every_passage_of_a_response_is_found_in_it(response: str, data: st.DataObject):
    """Whatever a judge copies faithfully counts as evidence, at a place that holds it."""
    start = data.draw(st.integers(0, len(response) - 1))
    end = data.draw(st.integers(start + 1, len(response)))

    found = find_quote(response[start:end], response)

    assert found is not None
    assert found.quote == response[found.start : found.end]


@given(text=st.text(max_size=200))
def test_no_text_makes_the_parser_fall_over(text: str):
    """Any text is a judgement or UnreadableReply."""
    with pytest.raises(UnreadableReply):
        read(text)


@given(response=st.text(max_size=200), verdict=st.sampled_from(["met", "not-met", "cannot-tell"]))
def test_a_judgement_survives_its_journey(response: str, verdict: str):
    """What a judge writes as JSON is what is read, whatever the response holds."""
    assert read(changed(verdict=verdict, evidence=response[:30]), response=response).verdict == verdict
