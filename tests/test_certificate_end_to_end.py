"""From labels that a judge gives to runs that ask it seldom: calibrate, run, audit, over HTTP and by the commands alone.

The provider's judges can read: a large one that is right, and a small one that errs now and then.
"""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from certified_shipments import GOODS, PLACES
from forked_runs import Nursery, nursery
from planted_keys import KEEPS_KEYS

from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback
from tiered_eval.testing.loopback.answers import answer_text, find_nonce
from tiered_eval.testing.loopback.work import Said, Work

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")

pytestmark = [KEEPS_KEYS, pytest.mark.timeout(120)]

LARGE = "anthropic:claude-haiku-5-5"
SMALL = "openai:gpt-6-luna"
DECIDER = "openai-decisions:gpt-6-luna"
ERRS, CANNOT_TELL = 2, 25
"""Of a hundred answers of the small judge."""


def is_met(prompt: str) -> bool:
    """Does the response name the place that is claimed?"""
    return len({place for place in PLACES if f"shipped to {place}" in prompt}) == 1


def verdict(model: str, prompt: str) -> str:
    met = is_met(prompt)
    doubt = zlib.crc32(prompt.replace(find_nonce(prompt), "").encode()) % 100
    if model == "gpt-6-luna" and doubt < ERRS + CANNOT_TELL:
        return "cannot-tell" if doubt >= ERRS else "not-met" if met else "met"
    return "met" if met else "not-met"


def plain(asked: Mapping[str, Any]) -> str:
    """A question by numbers, without its name in the call."""
    return json.dumps({key: value for key, value in asked.items() if key != "name"})


def said(work: Work, fault: str) -> Said:
    """What the judges of the loopback provider say; the small one is wrong about some, and says of others that it cannot tell."""
    question = work.question
    if question.asked:
        likely = {"met": 0.97, "not-met": 0.03, "cannot-tell": 0.5}
        answers = [
            {
                "type": "predicate",
                "name": asked["name"],
                "probability": likely[verdict(question.model, f"{question.prompt} {plain(asked)}")],
            }
            for asked in question.asked
        ]
        return Said(text=json.dumps(answers))
    answer = json.loads(answer_text(question.prompt, question.schema, pass_share=1.0))
    place = next(place for place in PLACES if f"shipped to {place} on Monday" in question.prompt)
    answer |= {
        "verdict": verdict(question.model, question.prompt),
        "evidence": f"shipped to {place} on Monday",
    }
    return Said(text=json.dumps(answer))


def rows(count: int, seed: int, kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    """Responses with one claim each."""
    rng, made = random.Random(seed), []
    for number in range(count):
        goods, place = rng.choice(GOODS), rng.choice(PLACES)
        claimed = place if rng.random() < 0.5 else rng.choice([one for one in PLACES if one != place])
        kind = kinds[number % len(kinds)]
        claim = {
            "must-contain": f"The {goods} were shipped to {claimed}",
            "requirement": f"Lets the reader know that goods were shipped to {claimed}",
            "equivalent": f"The {goods} were shipped to {claimed}",
        }[kind]
        response = (
            f"Note {seed}-{number}. The {goods} were shipped to {place} on Monday, and the invoice followed."
        )
        made.append({"id": f"{seed}-{number}", "kind": kind, "response": response, "expected": claim})
    return made


def suite_of(made: list[dict[str, Any]], early: str) -> str:
    band = {"accept": 0.99, "reject": 0.01} if early == DECIDER else {}
    cases = [
        {"id": row["id"], "response": row["response"], "expect": [{row["kind"]: row["expected"]}]}
        for row in made
    ]
    chain = [{"models": [early], **band}, {"models": [LARGE]}]
    return json.dumps({"name": "shipments", "judge": {"chain": chain}, "cases": cases})


async def calibrated(runs: Nursery, folder: Path, early: str, told: dict[str, str]) -> str:
    """What the command says; the certificate lies beside the suite."""
    labels = "\n".join(map(json.dumps, rows(160, 1, ("must-contain", "requirement", "requirement"))))
    (folder / "labels.jsonl").write_text(labels, encoding="utf-8")
    code, words = await runs.command(
        folder,
        *("calibrate", "labels.jsonl", "--proxy", "--judge", LARGE, "--early-judge", early),
        *("--cost", f"{early}=10%", "--alpha", "10%", "--max-cost", "5", "--embedder", "local:"),
        environment=told,
    )
    assert code == 0, words
    return words


async def ran(runs: Nursery, folder: Path, told: dict[str, str], *options: str) -> dict[str, Any]:
    code, words = await runs.command(
        folder,
        *("run", "suite.json", "--embedder", "local:", "--gate", "partial>=0", "--home", "home"),
        *("-o", "out", "--report", "json,junit", "--pack", "never", *options),
        environment=told,
    )
    assert code == 0, words
    report: dict[str, Any] = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    return report


def asked(server: LoopbackServer, model: str) -> Counter[str]:
    """Prompts that a model was asked, without their nonces."""
    name = model.partition(":")[2]
    calls = [call for call in server.log if call.model == name]
    return Counter(call.prompt.replace(call.nonce, "") if call.nonce else call.prompt for call in calls)


@pytest.mark.parametrize("early", [SMALL, pytest.param(DECIDER, marks=pytest.mark.slow)])
async def test_free_then_embedding_then_small_judge_then_top(
    zygote: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: str
):
    """Each tier decides what the certificate lets it, the top judge takes the rest and the audits, and the bill says who cost what."""
    monkeypatch.setattr(Work, "_said", said)
    made = rows(80, 2, ("must-contain", "requirement", "requirement", "equivalent"))
    (tmp_path / "suite.json").write_text(suite_of(made, early), encoding="utf-8")
    async with nursery(zygote, tmp_path) as runs, serve_loopback(LoopbackSettings(api_key=None)) as server:
        told = {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}
        words = await calibrated(runs, tmp_path, early, told)
        assert "certified: early verdicts differ from top judge in <= 10.0%" in words
        assert "human" not in words
        server.log.clear()
        report = await ran(runs, tmp_path, told)
        small, large = asked(server, early), asked(server, LARGE)
        kept = await ran(runs, tmp_path, told, "--offline")
        assert len(server.log) == small.total() + large.total()

    found = list(zip(made, (one for result in report["results"] for one in result["verdicts"]), strict=True))
    certified = [(row, one) for row, one in found if one.get("certified")]
    audited = [(row, one) for row, one in found if one.get("audited")]
    covered = [one for row, one in found if row["kind"] != "equivalent"]
    ways = Counter((row["kind"], one["tier"], one.get("model")) for row, one in certified)
    name = early.partition(":")[2]

    # Each question is put to a judge once, and the top judge sees no opinion of another one.
    assert max(small.values()) == max(large.values()) == 1
    assert not any(
        "certificate" in prompt or "cannot-tell" in prompt.partition("DATA")[2] for prompt in large
    )
    # Free scores and the embedding take what they may, the small judge the rest: each says so.
    assert ways["requirement", "judge", name] > 20, ways
    assert any(kind == "must-contain" for kind, *_ in ways)
    assert all(one["scorer"] == "certificate" and one["q"] == one["score"] for _, one in certified)
    assert sum((one["state"] == "pass") != is_met(json.dumps(row)) for row, one in certified) <= 0.15 * len(
        certified
    )
    # On the bill each call stands under what it was for.
    calls = {line["name"]: line["calls"] for line in report["spend"]["by_stage"]}
    assert calls["audits"] == len(audited)
    assert calls["early judges"] > 20
    assert sum(calls.values()) == small.total() + large.total()
    # What it leaves open climbs to the top judge, which is the one that audits.
    climbed = [one for one in covered if not one.get("certified") and not one.get("audited")]
    assert climbed
    assert len(audited) >= 5
    assert {one["model"] for one in climbed} | {one["model"] for _, one in audited} == {"claude-haiku-5-5"}
    assert all("q" in one and one["trail"][-1]["scorer"] == "certificate" for one in climbed)
    assert all(one["tier"] == "judge" and one["trail"][-1]["scorer"] == "certificate" for _, one in audited)
    assert not any("q" in one for row, one in found if row["kind"] == "equivalent")
    # The bill: verdicts add up to it, and what was avoided is what needed no judge.
    spent = sum(Decimal(one.get("cost_usd", "0")) for _, one in found)
    tiers = {line["tier"]: line for line in report["tiers"]}
    assert spent == Decimal(report["spend"]["settled_usd"]) == Decimal(tiers["judge"]["cost_usd"])
    assert tiers["judge"]["calls"] == report["spend"]["calls"] == small.total() + large.total()
    assert Decimal(tiers["judge"]["avoided_usd"]) == 0
    use = report["certificate"]
    assert (use["void"], use["covered"]) == ([], len(covered))
    assert use["early"] == len(certified) + len(audited)
    # Kept replies say the same, and no audit counts twice.
    assert kept["counts"] == report["counts"]
    assert kept["certificate"]["audits_ever"] == use["audits_ever"] == len(audited)
