"""Statements whose words all stand in a response that does not make them.

Each row says what a careful reader would: *absent* may not pass; a *plain* statement must be decided. What turns the words
round is one kind a table: a condition, a refusal, somebody's words, changed roles, another quantity, another time. The
sentences are invented.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tiered_eval import Evaluator, RunConfig

SUPPOSED = [
    ("Velox bought Norda", "Had Velox bought Norda, the price would have doubled.", "counterfactual"),
    ("Velox bought Norda", "If Velox had bought Norda, it would have paid more.", "counterfactual"),
    ("Velox bought Norda", "Norda would be richer if Velox bought Norda.", "a condition behind"),
    ("Velox bought Norda", "Should Velox have bought Norda, nobody noticed.", "an inverted condition"),
    ("Velox bought Norda", "Did Velox buy Norda?", "a question"),
    ("Velox bought Norda", "Has Velox bought Norda yet?", "a question"),
    ("Velox bought Norda", "Suppose Velox bought Norda.", "supposed"),
    ("Velox bought Norda", "Imagine that Velox bought Norda.", "imagined"),
    ("Velox bought Norda", "Unless Velox bought Norda, the plan fails.", "a condition"),
    ("The pump starts", "The pump starts provided that the tank is full.", "a condition behind"),
    ("The pump starts", "The pump starts as long as the tank is full.", "a condition behind"),
    ("The pump starts", "The pump starts whenever nobody is looking, in theory.", "in theory"),
    ("The fee is refunded", "The fee is refunded in case of illness.", "a condition behind"),
    ("The fee is refunded", "The fee is refunded assuming the form is signed.", "a condition behind"),
    ("The fee is refunded", "The fee is refunded subject to approval.", "a condition behind"),
    ("The fee is refunded", "Pending approval, the fee is refunded.", "a condition before"),
    ("Velox bought Norda", "As if Velox bought Norda!", "as if"),
    ("Velox bought Norda", "Velox acted as though it bought Norda.", "as though"),
    ("Velox bought Norda", "I wish Velox bought Norda.", "a wish"),
    ("Velox bought Norda", "Suppose for a moment that Velox bought Norda.", "supposed"),
]
NOT_DONE = [
    ("The valve closes", "The valve fails to close.", "failed"),
    ("The valve closed", "The valve refused to close.", "refused"),
    ("The valve closed", "The valve almost closed.", "almost"),
    ("The valve closed", "The valve nearly closed in time.", "nearly"),
    ("Velox ships pumps", "Velox stopped shipping pumps.", "stopped"),
    ("Velox ships pumps", "Velox no longer ships pumps.", "no longer"),
    ("Velox ships pumps", "Velox ceased to ship pumps.", "ceased"),
    ("Velox ships pumps", "Velox has yet to ship pumps.", "not yet"),
    ("Velox ships pumps", "Velox neglected to ship pumps.", "neglected"),
    ("Velox ships pumps", "Velox is unable to ship pumps.", "unable"),
    ("Velox ships pumps", "Velox pretends to ship pumps.", "pretends"),
    ("Velox ships pumps", "Velox is far from shipping pumps.", "far from"),
    ("Velox ships pumps", "Velox quit shipping pumps.", "quit"),
    ("Velox ships pumps", "Velox abandoned shipping pumps.", "abandoned"),
    ("Velox ships pumps", "Velox would rather burn than ship pumps.", "rather than"),
    ("The board approved the budget", "The board has still not approved the budget.", "not yet"),
    ("The board approved the budget", "The board all but approved the budget.", "all but"),
    ("The board approved the budget", "The board narrowly missed approving the budget.", "missed"),
    ("The board approved the budget", "The board came close to approving the budget.", "close to"),
    ("The board approved the budget", "The board was about to approve the budget.", "about to"),
    ("The board approved the budget", "The board was supposed to approve the budget.", "supposed to"),
    ("The board approved the budget", "The board postponed approving the budget.", "postponed"),
    ("The board approved the budget", "The board considered approving the budget.", "considered"),
    ("The board approved the budget", "Nobody on the board approved the budget.", "nobody"),
    ("The board approved the budget", "The board was urged to approve the budget.", "urged"),
]
SOMEBODYS_WORDS = [
    ("Velox bought Norda", "Velox is said to have bought Norda.", "is said to"),
    ("Velox bought Norda", "The paper claims that Velox bought Norda.", "a claim"),
    ("Velox bought Norda", "Rumour has it that Velox bought Norda.", "a rumour"),
    ("Velox bought Norda", "Some analysts believe Velox bought Norda.", "believed"),
    ("Velox bought Norda", "According to a leaked mail, Velox bought Norda.", "according to"),
    ("Velox bought Norda", "The lawsuit alleges that Velox bought Norda.", "alleged"),
    ("Velox bought Norda", "Critics say that Velox bought Norda.", "somebody says so"),
    ("Velox bought Norda", "Lind told reporters that Velox bought Norda.", "somebody says so"),
    ("Velox bought Norda", "Velox reportedly bought Norda.", "reportedly"),
    ("Velox bought Norda", "It is a myth that Velox bought Norda.", "a myth"),
    ("Velox bought Norda", "It is not true that Velox bought Norda.", "denied as a whole"),
    ("Velox bought Norda", "It is false that Velox bought Norda.", "denied as a whole"),
    ("Velox bought Norda", "There is no evidence that Velox bought Norda.", "no evidence"),
    ("Velox bought Norda", "Lind denied that Velox bought Norda.", "denied by somebody"),
    ("Velox bought Norda", "Velox bought Norda, or so they say.", "taken back behind"),
    ("Velox bought Norda", "Velox bought Norda, according to a blog.", "somebody's words, behind"),
    ("Velox bought Norda", "Velox bought Norda, the paper claimed.", "somebody's words, behind"),
    ("Velox bought Norda", "The headline that Velox bought Norda was wrong.", "wrong, behind"),
    ("Velox bought Norda", "That Velox bought Norda is a rumour.", "a rumour, behind"),
    ("Velox bought Norda", "Velox bought Norda? No.", "asked and denied"),
    ("Velox bought Norda", "Velox supposedly bought Norda.", "supposedly"),
    ("Velox bought Norda", "The model predicted that Velox bought Norda.", "predicted"),
]
ROLES = [
    ("Velox bought Norda", "Norda bought Velox.", "changed over"),
    ("Velox bought Norda", "Velox was bought by Norda.", "a passive"),
    ("Velox was bought by Norda", "Norda was bought by Velox.", "two passives"),
    ("Velox was bought by Norda", "Velox bought Norda.", "a passive for an active"),
    ("The students pay the teachers", "The teachers pay the students.", "changed over"),
    ("Students of Norda pay a fee", "Norda pays a fee for students.", "somebody else pays"),
    ("The bank sued the broker", "The broker sued the bank.", "changed over"),
    ("The bank sued the broker", "The bank was sued by the broker.", "a passive"),
    ("The pump is larger than the valve", "The valve is larger than the pump.", "compared the other way"),
    ("The pump is larger than the valve", "The pump is as large as the valve.", "no larger"),
    ("Lind arrived before Berg", "Berg arrived before Lind.", "the other order"),
    ("Lind arrived after Berg", "Lind arrived before Berg.", "the opposite order"),
    ("The pump heats the tank", "The tank heats the pump.", "changed over"),
    ("Berg succeeded Lind", "Lind succeeded Berg.", "changed over"),
    ("Berg taught Lind", "Lind taught Berg.", "changed over"),
    ("Berg lent Lind the car", "Lind lent Berg the car.", "changed over"),
    ("Norda is a part of Velox", "Velox is a part of Norda.", "the whole and its part"),
    ("Norda belongs to Velox", "Velox belongs to Norda.", "changed over"),
    ("Sales rose and costs fell", "Costs rose and sales fell.", "two clauses changed over"),
    ("Lind beat Berg in the final", "Berg beat Lind in the final.", "changed over"),
    ("Oslo is north of Bergen", "Bergen is north of Oslo.", "a place changed over"),
    ("The editor thanked the author", "The author thanked the editor.", "changed over"),
    ("The train from Oslo goes to Bergen", "The train from Bergen goes to Oslo.", "the other way"),
    ("The rain caused the flood", "The flood caused the rain.", "cause and effect"),
    ("The pump sits above the tank", "The tank sits above the pump.", "changed over"),
    ("Holm sold the boat", "Holm was sold the boat.", "done to him"),
    ("The mayor fired the clerk", "The clerk says the mayor fired the cook.", "another clause's subject"),
    ("The mayor fired the clerk", "The mayor's deputy fired the clerk.", "somebody of his"),
    ("Lunch is included", "Breakfast is included and lunch is extra.", "said of the other one"),
    ("The firm offers care at home", "The firm offers a car at home.", "care is no car"),
    ("The team got the wine at last", "The team got the win at last.", "a wine is no win"),
    ("Holm sold the boat", "Holm's brother sold the boat.", "a relative"),
    ("Holm sold the boat", "Holm sold the boat's engine.", "a part of it"),
    ("Holm sold the boat to Dahl", "Dahl sold the boat to Holm.", "changed over"),
    ("Holm sold the boat to Dahl", "Holm bought the boat from Dahl.", "the opposite act"),
]
QUANTITIES = [
    ("All members voted", "Some members voted.", "some for all"),
    ("All members voted", "Most members voted.", "most for all"),
    ("All members voted", "Not all members voted.", "not all"),
    ("All members voted", "All but two members voted.", "all but"),
    ("All members voted", "Nearly all members voted.", "nearly all"),
    ("Members voted", "Few members voted.", "few"),
    ("Members voted", "No members voted.", "none"),
    ("Most members voted", "Some members voted.", "some for most"),
    ("Every valve was tested", "Every second valve was tested.", "every second"),
    ("The valves were tested", "None of the valves were tested.", "none"),
    ("The valves were tested", "Half of the valves were tested.", "half"),
    ("The valves were tested", "Only one of the valves was tested.", "only one"),
    ("The valves were tested", "The valves were tested except for two.", "an exception behind"),
    ("The valves were tested", "Hardly any of the valves were tested.", "hardly any"),
    ("The valves were tested", "All valves except the red ones were tested.", "an exception within"),
    ("The valves were tested", "Apart from the red ones, the valves were tested.", "an exception before"),
    ("The shop always opens at nine", "The shop sometimes opens at nine.", "sometimes"),
    ("The shop opens at nine", "The shop rarely opens at nine.", "rarely"),
    ("Both pumps run", "Neither pump runs.", "neither"),
    ("Both pumps run", "One of both pumps runs.", "one of them"),
    ("Only members may vote", "Members may vote.", "only is gone"),
    ("Members may vote", "Only members of the board may vote.", "a narrower group"),
    ("Employees get a bonus", "Senior employees get a bonus.", "a narrower group"),
    ("The battery lasts two days", "Two batteries last one day.", "numbers changed over"),
    ("All rooms have a bath", "Most rooms have a bath.", "most for all"),
    ("All rooms have a bath", "All rooms on the top floor have a bath.", "some of all"),
    ("Dogs are allowed", "Small dogs are allowed.", "a kind of them"),
    ("The filter removes lead", "Only the larger filter removes lead.", "one of several"),
    ("Minors need a permit", "Minors under ten need a permit.", "those of an age"),
    ("Refunds are paid in cash", "Refunds are sometimes paid in cash.", "sometimes"),
    ("Tickets are refundable", "Flexible tickets are refundable.", "a kind of them"),
    ("Tickets are refundable", "Tickets are refundable except on holidays.", "an exception behind"),
    ("Tickets are refundable", "Half of the tickets are refundable.", "half"),
    ("Guests can cancel free of charge", "Registered guests can cancel free of charge.", "a kind of them"),
    (
        "Guests can cancel free of charge",
        "Guests can cancel free of charge up to the day before arrival.",
        "a limit behind",
    ),
]
TIMES = [
    ("Velox opened a plant", "Velox will open a plant.", "to come"),
    ("Velox opened a plant", "Velox had planned to open a plant.", "planned"),
    ("Velox opened a plant", "Velox is going to open a plant.", "to come"),
    ("Velox opened a plant", "Velox intends to open a plant.", "intended"),
    ("Velox opened a plant", "Velox announced it would open a plant.", "announced"),
    ("Velox opened a plant", "Velox may have opened a plant.", "may have"),
    ("Velox opened a plant", "Velox agreed to open a plant.", "agreed to"),
    ("Velox opened a plant", "Velox promised to open a plant.", "promised"),
    ("Lind is the director", "Lind was the director until 2019.", "no longer"),
    ("Lind is the director", "Lind used to be the director.", "no longer"),
    ("Lind is the director", "Lind will be the director.", "not yet"),
    ("Lind is the director", "Lind is the former director.", "former"),
    ("Lind is the director", "Lind is the deputy director.", "another post"),
    ("Lind is the director", "Lind is the acting director.", "only for now"),
    ("Lind is the director", "Lind is not the director anymore.", "no longer"),
    ("The bridge is open", "The bridge was open before the flood.", "before something"),
    ("The bridge is open", "The bridge is open again only next year.", "to come"),
    ("The bridge is closed", "The bridge is open and the road is closed.", "said of another"),
    ("Berg won in 2019", "Berg lost in 2019 and won in 2021.", "another year"),
    ("Berg won in 2019", "Berg won in 2021, and Lind won in 2019.", "another winner"),
    ("The lift works", "The lift worked until 2020.", "no longer"),
    ("Lunch is included", "Lunch was included until last year.", "no longer"),
    ("Lunch is included", "Lunch will be included from May.", "to come"),
    ("The budget was approved", "The budget will be approved.", "to come"),
    ("The lift works", "The lift will work again in May.", "to come"),
    ("Holm sold the boat", "Holm wanted to sell the boat.", "wanted"),
    ("Holm sold the boat", "Holm offered to sell the boat.", "offered"),
    ("Holm sold the boat", "Holm decided against selling the boat.", "decided against it"),
]
STATED = [
    ("Velox bought Norda", "Velox bought Norda.", "as it is"),
    ("Velox bought Norda", "In May, Velox bought Norda for a good price.", "with more around it"),
    (
        "The board approved the budget",
        "The budget was approved by the board.",
        "a passive that keeps the roles",
    ),
    ("The board approved the budget", "On Monday the board approved the new budget.", "an adjective"),
    ("The pump starts", "The pump starts at once.", "an adverb behind"),
    ("The fee is refunded", "The fee is refunded within a week.", "a time behind"),
    ("Holm sold the boat", "In May Holm sold the boat.", "a time before"),
    ("Holm sold the boat", "The boat that Holm sold was old.", "a relative clause"),
    ("The mayor fired the clerk", "The clerk was fired by the mayor.", "a passive that keeps the roles"),
    ("Lunch is included", "Lunch is included in the price.", "more behind"),
    ("The old mill burnt down", "In 1901 the old mill burnt down.", "a time before"),
    ("Dogs are allowed", "Yes, dogs are allowed.", "a yes before"),
    ("The store closes at nine", "Please note that the store closes at nine.", "a note is no not"),
    ("The pilot landed at noon", "The pilot of the plane landed at noon.", "a plane is no plan"),
    ("All rooms have a bath", "All rooms have a bath and a balcony.", "more behind"),
    ("All members voted", "All members voted on Monday.", "a time behind"),
    ("Lind is the director", "Lind is the director of the plant.", "what it directs"),
    ("The bridge is open", "The bridge is open.", "as it is"),
    ("Velox ships pumps to Norway", "Velox ships steel pumps to Norway.", "an adjective of the object"),
    ("Velox was founded in Bergen", "Velox, a maker of pumps, was founded in Bergen.", "an aside"),
    ("The contract ends in May", "The contract ends in May. The lease ends in June.", "another sentence"),
    ("Payment is due in May", "The contract states that payment is due in May.", "a document says so"),
    ("Payment is due in May", "According to the contract, payment is due in May.", "a document says so"),
    ("Employees get a bonus", "All employees get a bonus.", "all of them"),
    (
        "The employees get a bonus",
        "The employees of the plant get a bonus.",
        "an article leaves the subject to the text",
    ),
]


@pytest.fixture
async def evaluator() -> AsyncIterator[Evaluator]:
    async with Evaluator(RunConfig(embedder="none", mode="offline")) as made:
        yield made


@pytest.mark.parametrize(
    ("value", "response", "why"), [*SUPPOSED, *NOT_DONE, *SOMEBODYS_WORDS, *ROLES, *QUANTITIES, *TIMES]
)
async def test_a_statement_that_is_not_made_never_passes(
    evaluator: Evaluator, value: str, response: str, why: str
):
    """Words that say another thing are no silent pass."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state != "pass", why


@pytest.mark.parametrize(("value", "response", "why"), STATED)
async def test_a_plain_statement_passes(evaluator: Evaluator, value: str, response: str, why: str):
    """Doubt about hard statements costs no easy one."""
    verdict = await evaluator.check("must-contain", value, response=response)

    assert verdict.state == "pass", why
