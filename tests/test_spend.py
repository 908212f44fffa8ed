"""``tiered-eval spend``: the ledger tells the money, the kept runs what needed none."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import random
import re
from dataclasses import replace
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest
from report_samples import HOSTILE, result, sample_report, verdict

from tiered_eval.cli.app import run_app
from tiered_eval.ledger import Claim, Ledger, Resolution, RunEntry
from tiered_eval.records import Report, Spend, SpendLine, Step, TierLine
from tiered_eval.reports import kept
from tiered_eval.reports.judge_heavy import judge_heavy, mechanical_form
from tiered_eval.reports.spend_text import csv_text, json_text, text
from tiered_eval.reports.spending import HEADINGS, Line, Spending, read_spending
from tiered_eval.reports.wording import usd
from tiered_eval.results import ResultsFile

USD = 10**12
FIRST, LAST = "2026-11-28T10:00:00.000+00:00", "2026-11-30T10:00:00.000+00:00"


def claim(key: str, run: str, **more: object) -> Claim:
    values = {"model": "openai:small", "kind": "requirement", "bound": USD, "cap": None, **more}
    return Claim(key=key, scope=run, run=run, **values)  # type: ignore[arg-type]


def payload(tier: str | None = None) -> str:
    return json.dumps({"usage": {"service_tier": tier}})


def keep_run(home: Path, report: Report) -> None:
    folder = kept.run_folder(home, report.run_id)
    with ResultsFile(kept.results_path(folder)) as results:
        for each in report.results:
            results.append(each)
    kept.keep(report, folder)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two runs: $3.00 on the first day, $1.50 and an unknown dollar two days later; the second one was kept."""
    at = [FIRST]

    async def fill() -> None:
        with Ledger.open(tmp_path, now=lambda: at[0]) as ledger:
            ledger.begin_run(
                RunEntry(id="r1", suite="/suites/atlas.yaml", scope="r1", cap=None, started_at=FIRST)
            )
            for key, cost, tier in (("a", 2, "batch"), ("b", 1, None)):
                await ledger.claim(claim(key, "r1"))
                await ledger.settle(claim(key, "r1"), cost=cost * USD, payload=payload(tier))
            at[0] = LAST
            ledger.begin_run(
                RunEntry(id="r2", suite="/suites/fees.yaml", scope="r2", cap=None, started_at=LAST)
            )
            large = claim("c", "r2", model="anthropic:large", kind="", attempt=1)
            await ledger.claim(large)
            await ledger.settle(large, cost=USD // 2, payload="not json")
            vectors = claim("embedding-1", "r2", model="openai:embed", kind="embedding")
            await ledger.claim(vectors)
            await ledger.charge(vectors, cost=USD, why="embedding")
            await ledger.claim(claim("free", "r2"))
            await ledger.settle(claim("free", "r2"), cost=0, payload=payload())
            await ledger.claim(claim("lost", "r2"))
            await ledger.lose(claim("lost", "r2"), why="reset")

    asyncio.run(fill())
    spend = Spend(
        from_store=4,
        stored_usd=Decimal("0.40"),
        avoided_usd=Decimal(7),
        by_model=(
            SpendLine(
                name="openai:small", calls=0, from_store=4, cost_usd=Decimal(0), stored_usd=Decimal("0.40")
            ),
        ),
    )
    free = TierLine(
        tier="exact",
        decided=9,
        passed=9,
        failed=0,
        share=1.0,
        calls=0,
        cost_usd=Decimal(0),
        avoided_usd=Decimal(7),
    )
    keep_run(
        tmp_path,
        sample_report(run_id="r2", suite="Fees", started_at=LAST, spend=spend, tiers=(free,), results=()),
    )
    return tmp_path


def lines(spending: Spending, heading: str) -> dict[str, Line]:
    return {line.name: line for line in spending.by[heading]}


@pytest.mark.parametrize(
    ("heading", "billed"),
    [
        ("day", {"2026-11-28": "3", "2026-11-30": "1.5"}),
        ("run", {"r1": "3", "r2": "1.5"}),
        ("suite", {"atlas": "3", "Fees": "1.5"}),
        ("tier", {"judge": "3.5", "embedding": "1", "exact": "0"}),
        ("model", {"openai:small": "3", "openai:embed": "1", "anthropic:large": "0.5"}),
        ("kind", {"requirement": "3", "embedding": "1", "(none)": "0.5"}),
    ],
)
def test_each_heading_adds_up_to_what_was_billed(home: Path, heading: str, billed: dict[str, str]):
    """Every dollar of the ledger stands once under each heading."""
    spending = read_spending(home)

    assert {name: line.billed_usd for name, line in lines(spending, heading).items()} == {
        name: Decimal(amount) for name, amount in billed.items()
    }
    assert spending.total.billed_usd == Decimal("4.5")
    with Ledger.open(home) as ledger:
        assert spending.total.billed_usd * USD == ledger.totals().settled


def test_what_the_total_says(home: Path):
    """Batched, retried, free and unknown answers are counted apart, and the kept run tells what needed no call."""
    total = read_spending(home).total

    assert (total.answers, total.batched, total.retried, total.unpriced) == (5, 1, 1, 1)
    assert (total.unknown_calls, total.unknown_usd) == (1, Decimal(1))
    assert (total.from_store, total.stored_usd, total.avoided_usd) == (4, Decimal("0.40"), Decimal(7))


EVERYWHERE = ("answers", "billed_usd", "unknown_calls", "unknown_usd", "batched", "retried", "unpriced")
OF_RUNS = ("avoided_usd", "cache_saved_usd", "from_store", "stored_usd")
"""Told by the reports of whole runs; a model or a kind has no part of what was avoided."""


@pytest.mark.parametrize("seed", range(3))
def test_every_table_adds_up_to_one_total(tmp_path: Path, seed: int):
    """Whatever runs did, each column of a table has one sum, and no dollar stands in one table and not in another."""
    rng = random.Random(seed)
    asyncio.run(random_ledger(tmp_path, rng))
    for number in range(1, 6):
        report = free_run(number, *rng.choices("abcd", k=3), usd=str(rng.randint(1, 9)))
        store = [rng.randint(0, 5) for _ in range(2)]
        parts = tuple(
            SpendLine(
                name=f"m{place}", calls=0, from_store=count, cost_usd=Decimal(0), stored_usd=Decimal(count)
            )
            for place, count in enumerate(store)
        )
        spend = replace(
            report.spend,
            from_store=sum(store),
            stored_usd=Decimal(sum(store)),
            cache_saved_usd=Decimal(rng.randint(-2, 3)),
            by_model=parts,
            by_tier=parts,
            by_kind=parts,
        )
        keep_run(tmp_path, replace(report, spend=spend))

    spending = read_spending(tmp_path)

    missing = {"tier": {"cache_saved_usd"}, "model": set(OF_RUNS[:2]), "kind": set(OF_RUNS[:2])}
    for heading in HEADINGS:
        for column in {*EVERYWHERE, *OF_RUNS} - missing.get(heading, set()):
            found = sum(getattr(line, column) for line in spending.by[heading])
            assert found == getattr(spending.total, column), (heading, column)
    assert spending.total.billed_usd > 0


async def random_ledger(home: Path, rng: random.Random) -> None:
    """Calls of three runs that were settled, charged, lost and resolved."""
    with Ledger.open(home) as ledger:
        for run in ("r1", "r2", "x"):
            ledger.begin_run(RunEntry(id=run, suite=f"/s/{run}.yaml", scope=run, cap=None, started_at=FIRST))
        for number in range(24):
            made = claim(
                f"k{number}",
                rng.choice(["r1", "r2", "x"]),
                model=rng.choice(["openai:small", "anthropic:large"]),
                kind=rng.choice(["requirement", "rubric", ""]),
                attempt=rng.randint(0, 2),
            )
            await ledger.claim(made)
            fate = rng.choice(["settle", "settle", "charge", "lose", "embed"])
            cost = rng.choice([0, 1, 7]) * USD // 10
            if fate == "settle":
                await ledger.settle(made, cost=cost, payload=payload(rng.choice([None, "batch"])))
            elif fate == "lose":
                await ledger.lose(made, why="reset")
            else:
                await ledger.charge(made, cost=cost, why="embedding" if fate == "embed" else "ModelRefused")
        lost = ledger.unknown_calls()
        ledger.resolve([Resolution(number=one.number, cost=USD // 4, source="by hand") for one in lost[::2]])


def test_what_kept_answers_had_cost_stands_under_their_model(home: Path):
    """Not in the total alone."""
    small = lines(read_spending(home), "model")["openai:small"]

    assert (small.from_store, small.stored_usd) == (4, Decimal("0.40"))


@pytest.mark.parametrize("cost", [0, USD // 4], ids=["nothing", "a quarter"])
def test_an_unknown_call_that_was_settled_is_money_and_no_answer(home: Path, cost: int):
    """What it was billed counts; it answered nothing, came at no second attempt, and had a price."""
    with Ledger.open(home) as ledger:
        [lost] = ledger.unknown_calls()
        ledger.resolve([Resolution(number=lost.number, cost=cost, source="by hand")])
    total = read_spending(home).total

    assert (total.answers, total.batched, total.retried, total.unpriced) == (5, 1, 1, 1)
    assert (total.unknown_calls, total.billed_usd) == (0, Decimal("4.5") + Decimal(cost) / USD)


def test_what_was_imported_is_no_spending(home: Path):
    """Another home has paid for it: it is no answer, none at a price of 0, and no run that lacks a report."""
    before = read_spending(home)
    with Ledger.open(home) as ledger:
        kept = [reply for reply in ledger.kept_replies() if reply is not None]
        assert ledger.add_replies([replace(reply, key=f"foreign {reply.key}") for reply in kept]) > 0

    assert read_spending(home) == before


def test_since_leaves_earlier_days_out(home: Path):
    """A day bounds the ledger's money and the kept runs alike."""
    assert read_spending(home, since="2026-11-29").total.billed_usd == Decimal("1.5")
    assert read_spending(home, since="2026-12-01").total.from_store == 0


def test_runs_without_a_report_are_said(home: Path):
    """Their money is there; that they have no part in the other columns is told."""
    spending = read_spending(home)

    assert spending.not_kept == 1
    assert "1 run without a kept report" in text(spending)


# ── what was avoided ─────────────────────────────────────────────────────────────────────────────


def free_run(number: int, *responses: str, usd: str = "6", each: int = 3) -> Report:
    """The run of a day in which free checks decided ``each`` expectations of each response."""
    results = tuple(
        replace(
            result(place, f"case-{place}", *(verdict("c", f"e{index}") for index in range(each))),
            response_digest=digest or None,
        )
        for place, digest in enumerate(responses)
    )
    tier = TierLine(
        tier="exact",
        decided=each * len(responses),
        passed=each * len(responses),
        failed=0,
        share=1.0,
        calls=0,
        cost_usd=Decimal(0),
        avoided_usd=Decimal(usd),
    )
    return sample_report(
        run_id=f"r{number}",
        suite="s",
        started_at=f"2026-11-0{number}T10:00:00.000+00:00",
        spend=Spend(avoided_usd=Decimal(usd)),
        tiers=(tier,),
        results=results,
    )


AVOIDED: list[tuple[str, list[Report], list[str]]] = [
    ("the same responses again", [free_run(1, "a", "b"), free_run(2, "a", "b")], ["6", "0"]),
    ("one of two is new", [free_run(1, "a", "b"), free_run(2, "a", "new")], ["6", "3"]),
    ("all are new", [free_run(1, "a", "b"), free_run(2, "c", "d")], ["6", "6"]),
    ("an old one comes back", [free_run(1, "a"), free_run(2, "b"), free_run(3, "a")], ["6", "6", "0"]),
    ("more is asked of the same", [free_run(1, "a", each=2), free_run(2, "a", each=3)], ["6", "2"]),
    ("nobody knows which response it was", [free_run(1, ""), free_run(2, "")], ["6", "6"]),
    ("results were not kept", [free_run(1), free_run(2)], ["6", "6"]),
]


@pytest.mark.parametrize(("why", "runs", "avoided"), AVOIDED, ids=[why for why, *_ in AVOIDED])
def test_nothing_is_avoided_twice(tmp_path: Path, why: str, runs: list[Report], avoided: list[str]):
    """A later run of the same responses would have found its answers kept: only the first one saved anything."""
    for report in runs:
        keep_run(tmp_path, report)
    spending = read_spending(tmp_path)
    last = read_spending(tmp_path, since=runs[-1].started_at[:10])

    assert [line.avoided_usd for line in spending.by["run"]] == list(map(Decimal, avoided))
    assert spending.total.avoided_usd == sum(map(Decimal, avoided))
    assert last.total.avoided_usd == Decimal(avoided[-1])


# ── what always ends at the judge ────────────────────────────────────────────────────────────────

_RUNS = count()


def judged(*trail: Step, expectation: str = "e", tier: str = "judge", state: str = "pass") -> Report:
    """A run with one verdict, settled at a tier after a trail of checks."""
    each = verdict("case", expectation, state, tier=tier, trail=trail)
    return sample_report(run_id=f"run-{next(_RUNS)}", suite="s", results=(result(0, "case", each),))


NUMBER = Step("number", "number", "unsure", "two readings of 1.234")
QUOTED = Step("exact", "exact", "unsure", "found, but quoted")
ABSENT = Step("exact", "exact", "unsure", "not in the response")
COVERAGE = Step("coverage", "coverage", "unsure", "too little of it")


@pytest.mark.parametrize(
    ("trail", "is_found"),
    [
        ((NUMBER,), True),
        ((QUOTED,), True),
        ((ABSENT,), False),  # a statement that turns on a negation: exact is only a short cut for it
        ((QUOTED, COVERAGE), False),  # a phrase, which takes other steps as well
        ((), False),  # a requirement, which needs judgement
    ],
    ids=["number", "identifier", "statement", "phrase", "requirement"],
)
def test_what_looks_mechanical(trail: tuple[Step, ...], is_found: bool):
    """The value's kind shows in the checks that were unsure of it."""
    assert bool(judge_heavy([judged(*trail)])) is is_found


def test_what_a_free_check_settled_once_is_not_judge_heavy():
    """Only what ended at the judge in every run is listed, the most runs first."""
    runs = [
        judged(NUMBER),
        judged(NUMBER),
        judged(NUMBER, expectation="other"),
        judged(QUOTED, expectation="once"),
    ]
    runs.append(judged(tier="number", expectation="other"))

    assert [(each.expectation_id, each.runs) for each in judge_heavy(runs)] == [("e", 2), ("once", 1)]


@pytest.mark.parametrize(
    ("why", "requirement", "form"),
    [
        ("an identifier", "Mentions PO-4471", "must-contain: PO-4471"),
        (
            "with its subject and article",
            "The answer states the invoice number INV-20.",
            "must-contain: INV-20",
        ),
        ("a quoted text", 'It must contain the phrase "net 45 days"', "must-contain: net 45 days"),
        ("a denial", "The response does not mention 'Kramer'", "must-not-contain: Kramer"),
        ("an amount", "Includes $1,250.00", "must-contain: $1,250.00"),
        ("two claims", "Mentions PO-4471 and PO-4472", None),
        ("what it says about it", "States that PO-4471 was shipped", None),
        ("no literal", "Mentions the supplier", None),
        ("a manner", "Is polite", None),
        ("a condition", "Mentions PO-4471 only if it was asked for", None),
        ("another verb", "Explains why PO-4471", None),
    ],
)
def test_requirements_that_read_like_a_free_check(why: str, requirement: str, form: str | None):
    """One that only asks whether something stands there is told how to ask for it for free; no other is."""
    assert mechanical_form(requirement) == form


def test_a_mechanical_requirement_is_listed_with_what_it_cost():
    """Its money is added up over the runs."""
    asked = [
        replace(
            verdict("case", "r", "pass", tier="judge"),
            kind="requirement",
            expected="Mentions PO-4471",
            cost_usd=Decimal(cost),
        )
        for cost in ("0.001", "0.002")
    ]
    runs = [
        sample_report(run_id=f"run-{next(_RUNS)}", suite="s", results=(result(0, "case", each),))
        for each in asked
    ]

    [found] = judge_heavy(runs)
    assert (found.runs, found.cost_usd) == (2, Decimal("0.003"))
    assert found.why.endswith("must-contain: PO-4471")


# ── how it is shown ──────────────────────────────────────────────────────────────────────────────


def test_the_trend_shows_every_day(home: Path):
    """A day without spending has a line as well, and the longest bar is the dearest day's."""
    plot = text(read_spending(home)).partition("spent a day (UTC)\n")[2].partition("\n\n")[0]

    days = plot.splitlines()
    assert [line.split()[0] for line in days] == ["2026-11-28", "2026-11-29", "2026-11-30"]
    assert [line.count("█") for line in days] == [60, 0, 30]


def tables_of(shown: str) -> dict[str, dict[str, dict[str, str]]]:
    """Heading, line and column to what stands there, however the columns are laid out."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    heading, columns = "", list[str]()
    for line in shown.splitlines():
        if match := re.match(r"by (\w+) {2,}", line):
            heading, columns = match[1], re.split(r" {2,}", line[match.end() :])
        elif heading and line:
            name, *cells = re.split(r" {2,}", line.strip())
            row = found.setdefault(heading, {}).setdefault(name, {})
            row.update(zip(columns, cells, strict=True))
        else:
            heading = ""
    return found


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_every_table_shows_every_figure_at_any_width(home: Path, width: int):
    """What came by batches, again, or for nothing stands beside the money; a narrow terminal gets blocks, and no cut figure."""
    shown = text(read_spending(home), width=width)

    assert max(map(len, shown.splitlines())) <= width
    tables = tables_of(shown)
    assert set(tables) == set(HEADINGS)
    assert tables["model"]["openai:small"] == {
        "answers": "3",
        "billed": "$3.0000",
        "unknown": "$1.0000",
        "from store": "4",
        "avoided": "$0",
        "batched": "1",
        "retried": "0",
        "unpriced": "1",
    }
    assert tables["day"]["2026-11-28"]["batched"] == "1"
    assert tables["kind"]["(none)"]["retried"] == "1"


def test_what_never_happened_has_no_column():
    """A home without batches, second attempts and prices of 0 is not told of them line by line."""
    spending = Spending(home="h", since="")
    spending.by = {heading: [Line(name="one", answers=1)] for heading in HEADINGS}
    spending.by["day"] = [Line(name="2026-11-28", answers=1)]

    assert set(tables_of(text(spending))["run"]["one"]) == {
        "answers",
        "billed",
        "unknown",
        "from store",
        "avoided",
    }


def test_a_name_gives_way_before_a_figure_does():
    """Large sums and long names on a narrow terminal: the name is cut, with a mark, and the sum is whole."""
    large = Line(name="openai:" + "long-" * 20, answers=10**9, billed_usd=Decimal("123456789.12"))
    spending = Spending(home="h", since="", by={heading: [large] for heading in HEADINGS[1:]} | {"day": []})

    shown = text(spending, width=40)

    assert max(map(len, shown.splitlines())) <= 40
    assert "1,000,000,000" in shown
    assert usd(large.billed_usd) in shown


def test_json_and_csv_hold_the_same(home: Path):
    """Programs get exact decimals, in both forms."""
    spending = read_spending(home)

    content = json.loads(json_text(spending))
    rows = list(csv.DictReader(io.StringIO(csv_text(spending))))

    assert content["total"]["billed_usd"] == rows[0]["billed_usd"] == "4.5"
    assert set(content["by"]) == set(HEADINGS)
    assert len(rows) == 1 + sum(len(lines) for lines in content["by"].values())


def test_hostile_names_are_made_safe():
    """A suite's name cannot move the cursor, nor be a formula in a spreadsheet."""
    spending = Spending(home="h", since="")
    spending.by = {
        heading: [Line(name=HOSTILE), Line(name="=1+1")] for heading in HEADINGS if heading != "day"
    }
    spending.by["day"] = []

    assert "\x1b" not in text(spending)
    assert "'=1+1" in csv_text(spending)


@pytest.mark.parametrize("option", [[], ["--json"], ["--csv"], ["--since", "2026-11"], ["--since", "9999d"]])
def test_the_command_shows_it(home: Path, option: list[str], capsys: pytest.CaptureFixture[str]):
    """Each form is printed, and nothing is spent or changed."""
    assert run_app(["spend", "--home", str(home), *option]) == 0
    assert "4.5" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--since", "soon"], ["--json", "--csv"]])
def test_what_is_no_wish_is_refused(home: Path, options: list[str]):
    """A day that cannot be read, or two forms at once, is exit code 2."""
    assert run_app(["spend", "--home", str(home), *options]) == 2


def test_a_home_without_anything_is_an_error(tmp_path: Path):
    """No ledger and no run is a wrong folder, not a bill of nothing."""
    assert run_app(["spend", "--home", str(tmp_path)]) == 2
