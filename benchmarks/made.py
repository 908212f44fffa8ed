"""Made-up suites of any size: invoices, purchase orders, payment terms. Nothing here is anybody's data."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tiered_eval.records import Case, Expectation
from tiered_eval.testing.builders import make_case, make_expectation

_WORDS = (
    "the invoice order payment terms supplier warehouse delivery contract approved review policy account service due "
    "within after receipt shipped region manager quarter department budget report agreement schedule signed carrier"
).split()
RESPONSE_CHARACTERS = 600


def made_response(rng: random.Random, *facts: str) -> str:
    """A response of some 600 characters with the facts spread over it."""
    words: list[str] = []
    length = sum(len(fact) + 1 for fact in facts)
    while length < RESPONSE_CHARACTERS:
        word = rng.choice(_WORDS) + rng.choice(("", "", "", "", ",", "."))
        words.append(word)
        length += len(word) + 1
    for fact in facts:
        words.insert(rng.randrange(len(words)), fact)
    return " ".join(words)


def mechanical_case(index: int, rng: random.Random) -> Case:
    """Two identifiers and two numbers, of each one there and one not: half of the checks pass, half fail."""
    order = f"PO-{rng.randrange(1000, 99_999)}"
    days = rng.randrange(2, 900)
    amount = f"${rng.randrange(1000, 9999):,}.50"
    return make_case(
        made_response(rng, order, f"{days} days", amount),
        make_expectation("must-contain", order, id="order"),
        make_expectation("must-contain", f"PO-{rng.randrange(100_000, 999_999)}", id="other-order"),
        make_expectation("must-contain", f"{days} days", id="days"),
        make_expectation("must-contain", f"{days + 1} days", id="other-days"),
        id=f"case-{index}",
    )


def judged_suite(
    *, cases: int, expectations: int, judged: int, duplicate_share: float, seed: int = 0
) -> list[Case]:
    """A suite of which ``judged`` expectations need a judge; that share of those repeats an earlier one exactly."""
    rng = random.Random(seed)
    duplicates = round(judged * duplicate_share)
    base, extra = divmod(expectations - judged, cases)
    distinct = judged - duplicates
    built: list[Case] = []
    for index in range(cases):
        order = f"PO-{10_000 + index}"
        days = rng.randrange(2, 900)
        response = made_response(rng, order, f"{days} days")
        wanted = base + (index < extra)
        free = [
            make_expectation("must-contain", order, id="order"),
            make_expectation("must-contain", f"{days} days", id="days"),
            make_expectation("must-not-contain", "PO-99999", id="trap"),
            make_expectation("must-not-contain", f"{days + 1} days", id="other"),
        ][:wanted]
        built.append(make_case(response, *free, id=f"case-{index}"))
    questions: list[tuple[Case, Expectation]] = []
    for number in range(distinct):
        asked = make_expectation(
            "requirement", f"Names the supplier of order {number}", id=f"judged-{number}"
        )
        questions.append((built[number % cases], asked))
    copies = [questions[rng.randrange(distinct)] for _ in range(duplicates)]
    for place, (original, asked) in enumerate(copies):
        # A case of its own with the same response and question: the very same call.
        questions.append((make_case(original.response, id=f"copy-{place}"), asked))
    return _merged(built, questions)


def left_over_suite(*, cases: int, expectations: int, left_over: int, seed: int = 0) -> list[Case]:
    """Long responses with the same number of expectations each, of which ``left_over`` at random need a judge."""
    rng = random.Random(seed)
    each = expectations // cases
    judged = set(rng.sample(range(expectations), left_over))
    built = []
    for index in range(cases):
        facts = [f"PO-{10_000 + expectations + number}" for number in range(index * each, (index + 1) * each)]
        half = len(facts) // 2
        response = made_response(rng, *facts[:half]) + " " + made_response(rng, *facts[half:])
        asked = [
            make_expectation(
                "requirement",
                f"Says who is responsible for order {fact}, and until when",
                id=f"judged-{place}",
            )
            if index * each + place in judged
            else make_expectation("must-contain", fact, id=f"order-{place}")
            for place, fact in enumerate(facts)
        ]
        built.append(make_case(response, *asked, id=f"case-{index}"))
    return built


def graded_suite(*, cases: int, rubrics: int, characters: int, seed: int = 0) -> list[Case]:
    """Long responses with several rubrics each."""
    rng = random.Random(seed)
    criteria = (
        "The tone is polite",
        "Every order has a date",
        "Nobody is blamed",
        "It can be acted on at once",
    )
    return [
        make_case(
            " ".join(made_response(rng) for _ in range(characters // RESPONSE_CHARACTERS)),
            *(
                make_expectation(
                    "rubric", f"{criteria[number % len(criteria)]} ({number})", id=f"rubric-{number}"
                )
                for number in range(rubrics)
            ),
            id=f"case-{index}",
        )
        for index in range(cases)
    ]


def _merged(cases: list[Case], questions: list[tuple[Case, Expectation]]) -> list[Case]:
    asked: dict[str, list[Expectation]] = {}
    extra: list[Case] = []
    for case, expectation in questions:
        if case.id.startswith("copy-"):
            extra.append(make_case(case.response, expectation, id=case.id))
        else:
            asked.setdefault(case.id, []).append(expectation)
    own = [
        make_case(case.response, *case.expectations, *asked.get(case.id, ()), id=case.id) for case in cases
    ]
    return [*own, *extra]


def streamed_lines(count: int, seed: int = 0) -> Iterator[dict[str, object]]:
    """``count`` cases of four expectations as the lines of a JSON Lines suite."""
    rng = random.Random(seed)
    for index in range(count):
        case = mechanical_case(index, rng)
        yield {
            "id": case.id,
            "response": case.response,
            "expect": [{"must-contain": expectation.value} for expectation in case.expectations],
        }
