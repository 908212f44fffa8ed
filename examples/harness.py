"""A harness with a loop of its own that asks for verdicts as it goes: many at once, batched under the hood.

python examples/harness.py                              # no key: what needs a judge stays "not-judged"
python examples/harness.py anthropic:claude-haiku-5-5   # at most ten cents
"""

import asyncio
import sys
from decimal import Decimal
from typing import Any

from tiered_eval import Evaluator, RunConfig, Verdict

QUESTION = "What are the payment terms on PO-4471?"
ANSWERS = {
    "good": "PO-4471 is on net 45: the invoice is due 45 days after receipt.",
    "wrong order": "PO-44710 is on net 45: the invoice is due 45 days after receipt.",
    "wrong unit": "PO-4471 carries a discount of 45 %. The invoice is due on receipt.",
}


async def score(evaluator: Evaluator, answer: str) -> list[Verdict]:
    def check(kind: str, value: object, **options: Any) -> asyncio.Future[Verdict]:
        return asyncio.ensure_future(evaluator.check(kind, value, response=answer, input=QUESTION, **options))

    verdicts = await asyncio.gather(
        check("must-contain", "PO-4471"),
        check("must-contain", 45, unit="days"),
        check("requirement", "Does not promise a delivery date"),
    )
    return list(verdicts)


async def main(judges: tuple[str, ...]) -> None:
    config = RunConfig(judges=judges, max_cost_usd=Decimal("0.10"), mode="live" if judges else "offline")
    async with Evaluator(config) as evaluator:
        scored = await asyncio.gather(*(score(evaluator, answer) for answer in ANSWERS.values()))
    for name, verdicts in zip(ANSWERS, scored, strict=True):
        print(
            f"{name:12}",
            *(f"{verdict.kind}: {verdict.state} ({verdict.scorer})" for verdict in verdicts),
            sep="  ",
        )


if __name__ == "__main__":
    asyncio.run(main(tuple(sys.argv[1:])))
