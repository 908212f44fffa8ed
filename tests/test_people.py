"""People in the loop: questions go out, verdicts come back, count, and become labels."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.calibration.reading import read_labels
from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError
from tiered_eval.people import HumanVerdicts, item_id, item_of, verdicts_for
from tiered_eval.people.asking import items_of_suite, sampled, unanswered
from tiered_eval.people.importing import import_rows
from tiered_eval.people.items import claim_text, item_from_json, item_to_json
from tiered_eval.people.labels import label_rows
from tiered_eval.people.pending import PENDING_FILE, read_pending
from tiered_eval.people.sheets import COLUMNS, Row, neutralised, parse_verdict, read_sheet, sheet_text
from tiered_eval.people.store import Judgement, PeopleStore, add_lines, read_lines
from tiered_eval.records import Case, Expectation, Report, Suite
from tiered_eval.runner import Evaluator, evaluate, plan
from tiered_eval.suite import load_suite
from tiered_eval.testing import make_case, make_expectation

AT = "2026-11-30T12:00:00+00:00"


def manual(text: str = "Reads warmly", **fields: object) -> Expectation:
    return make_expectation("requirement", text, id="tone", scorer="manual", **fields)  # type: ignore[arg-type]


def asked(response: str = "Hello!", *, input: str | None = "Say hello", **fields: object) -> Case:
    return make_case(response, manual(**fields), id=response, input=input)


def store_with(home: Path, *cases: Case) -> PeopleStore:
    """A home in which these cases were asked about."""
    store = PeopleStore(home)
    store.add_items([item_of(case, one) for case in cases for one in case.expectations])
    return store


def offline(home: Path, **fields: object) -> RunConfig:
    return RunConfig(mode="offline", embedder="none", home=home, **fields)  # type: ignore[arg-type]


async def run(home: Path, *cases: Case, **fields: object) -> Report:
    return await evaluate(Suite(name="s", cases=cases), offline(home, **fields))


def row(identity: str, verdict: object, *, line: int = 2, by: str = "", comment: str = "") -> Row:
    return Row(line, identity, verdict, comment, by)


class TestItems:
    """What a person is asked, and what makes it the same question."""

    @pytest.mark.parametrize(
        ("changed", "is_same", "why"),
        [
            (asked(), True, "the same again"),
            (asked("Hello"), False, "another response"),
            (asked(input="Greet me"), False, "another question"),
            (asked(text="Reads coldly"), False, "another claim"),
            (make_case("Hello!", replace(manual(), negated=True), input="Say hello"), False, "the opposite"),
            (replace(asked(), id="b"), True, "a case that was renamed"),
            (replace(asked(), tags=("x",), meta={"k": 1}), True, "what no person looks at"),
            (asked(weight=3.0), True, "what a claim weighs"),
            (asked(options={"threshold": 0.5}), True, "how it would be checked"),
            (asked(options={"unit": "days"}), False, "part of the claim"),
            (replace(asked(), fields={"n": 1}), False, "a structured part of the response"),
        ],
    )
    def test_the_same_question(self, changed: Case, is_same: bool, why: str):
        """An id stands for response, question and claim, and for nothing else."""
        first = item_id(asked(), asked().expectations[0])

        assert (item_id(changed, changed.expectations[0]) == first) is is_same

    def test_no_spreadsheet_takes_an_id_for_a_number(self):
        """It begins with letters and has none of what a number has."""
        made = item_id(asked(), manual())

        assert made.startswith("te-")
        assert len(made) == 35

    def test_the_claim_in_words(self):
        """Values, their combination and what belongs to the claim are said."""
        claim = claim_text(
            make_expectation(
                "must-contain", "45", "60", match="any", options={"unit": "days", "threshold": 0.5}
            )
        )

        assert claim == "must-contain: any of: 45 / 60 (unit: days)"

    def test_an_item_survives_being_written(self):
        """Structured parts, values and half characters come back."""
        case = make_case("\ud800 x", manual(), fields={"n": [1, {"a": None}]})
        item = item_of(case, case.expectations[0])

        assert item_from_json(json.loads(json.dumps(item_to_json(item)))) == item


class TestRuns:
    """What a run does with what is left to people."""

    async def test_left_to_people(self, tmp_path: Path):
        """A manual expectation ends as manual, for nobody's money, and its case stays open."""
        report = await run(tmp_path, asked())

        (verdict,) = report.results[0].verdicts
        assert (verdict.state, report.counts.manual, report.spend.calls) == ("manual", 1, 0)
        assert report.results[0].passed is None
        assert report.exit_code == 3

    @pytest.mark.parametrize("said", ["pass", "fail"])
    async def test_a_verdict_counts_from_then_on(self, said: str, tmp_path: Path):
        """What a person said is the verdict of the next run, and of each after it."""
        case = asked(dimension="tone", weight=2.0)
        PeopleStore(tmp_path).add(
            [Judgement(id=item_id(case, case.expectations[0]), verdict=said, comment="dry")]
        )  # type: ignore[arg-type]

        report = await run(tmp_path, case)

        (verdict,) = report.results[0].verdicts
        assert (verdict.state, verdict.scorer, verdict.tier) == (said, "people", None)
        assert (verdict.weight, verdict.dimension) == (2.0, "tone")
        assert verdict.reason == "judged by a person: dry"
        assert [(line.tier, line.decided) for line in report.tiers if line.decided] == [("people", 1)]

    async def test_another_response_is_another_question(self, tmp_path: Path):
        """A verdict on yesterday's response says nothing about today's."""
        case = asked()
        PeopleStore(tmp_path).add([Judgement(id=item_id(case, case.expectations[0]), verdict="pass")])

        report = await run(tmp_path, asked("Hello there!"))

        assert report.counts.manual == 1

    async def test_people_who_disagree_leave_it_open(self, tmp_path: Path):
        """One yes and one no are no verdict."""
        case = asked()
        identity = item_id(case, case.expectations[0])
        PeopleStore(tmp_path).add(
            [Judgement(id=identity, verdict="pass", by="a"), Judgement(id=identity, verdict="fail", by="b")]
        )

        report = await run(tmp_path, case)

        assert report.counts.manual == 1

    async def test_a_check_is_never_overruled(self, tmp_path: Path):
        """What a free check decided stays, whatever a person said."""
        case = make_case("PO-4471", make_expectation("must-contain", "PO-4471"))
        PeopleStore(tmp_path).add([Judgement(id=item_id(case, case.expectations[0]), verdict="fail")])

        report = await run(tmp_path, case)

        assert report.counts.passed == 1

    async def test_people_are_asked_before_a_model(self, tmp_path: Path):
        """What a person has judged costs no call, also where a judge would be asked."""
        case = make_case("Hello!", make_expectation("requirement", "Is polite"))
        said = HumanVerdicts([Judgement(id=item_id(case, case.expectations[0]), verdict="pass")])
        PeopleStore(tmp_path).add([Judgement(id=item_id(case, case.expectations[0]), verdict="pass")])

        report = await run(tmp_path, case, judges=("anthropic:claude-haiku-4-5",))
        planned = plan(
            Suite(name="s", cases=(case,)), offline(tmp_path, judges=("anthropic:claude-haiku-4-5",))
        )

        assert len(said) == 1
        assert report.counts.passed == 1
        assert planned.to_judge_most == 0

    async def test_an_escalating_one_climbs(self, tmp_path: Path):
        """With `escalate` the judge is asked; without one it is left to people all the same."""
        report = await run(tmp_path, asked(escalate=True))

        (verdict,) = report.results[0].verdicts
        assert verdict.state == "manual"
        assert [step.scorer for step in verdict.trail] == ["manual", "judge"]

    async def test_one_expectation_at_a_time(self, tmp_path: Path):
        """A harness that asks one by one gets the state as well."""
        async with Evaluator(offline(tmp_path)) as evaluator:
            verdict = await evaluator.check("requirement", "Is polite", response="Hi", scorer="manual")

        assert verdict.state == "manual"

    async def test_the_questions_of_a_run_are_written(self, tmp_path: Path):
        """Beside its results stands what a run left to people, and nothing else."""
        cases = [asked(), make_case("x", make_expectation("must-contain", "x")), asked("Go away.")]

        await run(tmp_path, *cases, results_path=tmp_path / "run" / "results.jsonl")

        items = list(read_pending(tmp_path / "run" / PENDING_FILE))
        assert [item.response for item in items] == ["Hello!", "Go away."]
        assert items[0] == item_of(cases[0], cases[0].expectations[0])

    async def test_a_place_that_is_used_again_holds_the_last_run(self, tmp_path: Path):
        """What an earlier run left to people is asked about no more, as its results are gone."""
        for response in ("Hello!", "Go away."):
            await run(tmp_path, asked(response), results_path=tmp_path / "run" / "results.jsonl")

        (item,) = read_pending(tmp_path / "run" / PENDING_FILE)
        assert item.response == "Go away."

    async def test_nothing_left_writes_nothing(self, tmp_path: Path):
        """A run without such expectations makes no such file."""
        await run(
            tmp_path,
            make_case("x", make_expectation("must-contain", "x")),
            results_path=tmp_path / "results.jsonl",
        )

        assert not (tmp_path / PENDING_FILE).exists()


class TestStore:
    """What is kept in the home."""

    def test_a_home_without_verdicts_has_none(self, tmp_path: Path):
        """Nothing is made, and nothing is looked up."""
        assert verdicts_for(tmp_path) is None
        assert not list(tmp_path.iterdir())

    def test_only_its_owner_may_read(self, tmp_path: Path):
        """Responses may be confidential."""
        store = store_with(tmp_path, asked())

        assert oct(store.items_path.stat().st_mode)[-3:] == "600"
        assert oct(store.items_path.parent.stat().st_mode)[-3:] == "700"

    def test_the_last_word_of_a_person_counts(self, tmp_path: Path):
        """A later verdict replaces an earlier one of the same person, and can be taken back."""
        store = PeopleStore(tmp_path)
        store.add(
            [Judgement(id="te-1", verdict="pass", by="a"), Judgement(id="te-1", verdict="fail", by="a")]
        )
        store.add([Judgement(id="te-2", verdict="pass"), Judgement(id="te-2", verdict=None)])

        assert [(key, said.verdict) for key, said in store.judgements().items()] == [(("te-1", "a"), "fail")]

    def test_a_line_that_a_kill_cut_off(self, tmp_path: Path):
        """What was written before it and after it counts."""
        store = PeopleStore(tmp_path)
        store.add([Judgement(id="te-1", verdict="pass")])
        with store.verdicts_path.open("ab") as file:
            file.write(b'{"id":"te-2","verd')
        store.add([Judgement(id="te-3", verdict="fail")])

        assert [key for key, _ in store.judgements()] == ["te-1", "te-3"]

    @pytest.mark.parametrize(
        "line", ["[1]", "verdict", '{"id": "te-1"}', '{"id": "te-1", "verdict": "maybe"}']
    )
    def test_damage_is_told(self, line: str, tmp_path: Path):
        """A file that someone has spoilt is refused, not read in part."""
        store = PeopleStore(tmp_path)
        store.verdicts_path.parent.mkdir()
        store.verdicts_path.write_text(line + "\n")

        with pytest.raises(ConfigError, match=r"verdicts\.jsonl"):
            store.judgements()

    def test_an_item_is_remembered_once(self, tmp_path: Path):
        """Asking again writes nothing."""
        store = store_with(tmp_path, asked(), asked())
        store_with(tmp_path, asked())

        assert len(list(read_lines(store.items_path))) == 1

    def test_a_place_that_cannot_be_written(self, tmp_path: Path):
        """It is told which."""
        (tmp_path / "people").write_text("")

        with pytest.raises(ConfigError, match="cannot write"):
            PeopleStore(tmp_path).add([Judgement(id="te-1", verdict="pass")])

    def test_writers_at_once(self, tmp_path: Path):
        """Two processes that add at the same time spoil nothing of each other."""
        path = tmp_path / "lines.jsonl"
        children = []
        for who in range(2):
            child = os.fork()
            if child == 0:
                for number in range(100):
                    add_lines(path, [{"id": f"{who}-{number}", "text": "x" * 500}], is_durable=False)
                os._exit(0)
            children.append(child)
        for child in children:
            assert os.waitpid(child, 0)[1] == 0

        assert len(list(read_lines(path))) == 200


class TestSheets:
    """CSV and JSON lines."""

    @pytest.mark.parametrize(
        ("cell", "is_formula"),
        [
            ("=1+1", True),
            ("+1", True),
            ("-5 degrees", True),
            ("@SUM(A1)", True),
            ("\t=1", True),
            ("\r=1", True),
            ("\n=1", True),
            ("  =1", True),
            ("＝1", True),
            ("1+1", False),
            ("it's -5", False),
            ("", False),
        ],
    )
    def test_formulas_are_neutralised(self, cell: str, is_formula: bool):
        """What a spreadsheet would run gets an apostrophe, and nothing else is touched."""
        assert neutralised(cell) == (f"'{cell}" if is_formula else cell)

    @given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=80))
    def test_no_cell_begins_like_a_formula(self, response: str):
        """Whatever a model wrote, no cell of the sheet begins like a formula."""
        item = replace(item_of(asked(), manual()), response=response, claim=response, input=response)

        text = "".join(sheet_text([item], Path("x.csv")))
        (_, cells) = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))

        assert len(cells) == len(COLUMNS)
        assert not [
            cell for cell in cells if cell.lstrip(" ")[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") and cell
        ]

    @pytest.mark.parametrize(
        ("word", "said"),
        [
            ("pass", "pass"),
            ("Y", "pass"),
            (" TRUE ", "pass"),
            ("1.0", "pass"),
            (True, "pass"),
            (1, "pass"),
            ("fail", "fail"),
            ("No", "fail"),
            ("not met", "fail"),
            (False, "fail"),
            (0, "fail"),
            ("", None),
            ("?", None),
            (None, None),
        ],
    )
    def test_words_for_a_verdict(self, word: object, said: str | None):
        """What people and spreadsheets write is understood."""
        assert parse_verdict(word) == said

    @pytest.mark.parametrize("word", ["maybe", "2", "passs", ["pass"], 0.5])
    def test_a_word_that_is_no_verdict(self, word: object):
        """It is refused instead of being taken for a no."""
        with pytest.raises(ValueError, match="no verdict"):
            parse_verdict(word)

    @pytest.mark.parametrize("name", ["sheet.csv", "sheet.tsv", "sheet.jsonl"])
    def test_what_goes_out_comes_back(self, name: str, tmp_path: Path):
        """Each row of a sheet is read again, blank as it was written."""
        items = [item_of(case, case.expectations[0]) for case in (asked('say "x",\r\ny'), asked("ü\0"))]
        path = tmp_path / name
        path.write_text("".join(sheet_text(items, path)), newline="")

        rows = list(read_sheet(path))

        assert [row.id for row in rows] == [item.id for item in items]
        assert {parse_verdict(row.verdict) for row in rows} == {None}

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("id;verdict;comment\nte-1;pass;ok", "a spreadsheet of a country that writes decimal commas"),
            ("id\tverdict\tcomment\nte-1\tpass\tok", "pasted cells"),
            ("\ufeffid,verdict,comment\r\nte-1,pass,ok\r\n", "a byte order mark and DOS lines"),
            ("ID, Verdict ,comment\nte-1,pass,ok\n,,\n", "capitals, spaces, and an empty row"),
            ("verdict,comment,id\npass,ok,te-1", "columns in another order"),
            ("id,verdict,comment\nte-1,pass,'=ok", "a comment that was neutralised"),
        ],
    )
    def test_what_spreadsheets_make_of_it(self, text: str, why: str, tmp_path: Path):
        """A sheet that went through a spreadsheet is still read."""
        path = tmp_path / "sheet.csv"
        path.write_bytes(text.encode())

        (found,) = read_sheet(path)

        assert (found.id, found.verdict, found.comment.lstrip("=")) == ("te-1", "pass", "ok")

    @pytest.mark.parametrize(
        ("name", "data", "said"),
        [
            ("sheet.csv", b"name,verdict\nx,pass", "no columns `id` and `verdict`"),
            ("sheet.csv", b"id,verdict\nte-1,\xff", "not UTF-8"),
            ("sheet.csv", b"", "no columns"),
            ("sheet.jsonl", b"{", "no JSON"),
            ("sheet.jsonl", b"[1]", "no `id`"),
            ("sheet.xlsx", b"PK", "neither CSV nor JSON lines"),
        ],
    )
    def test_what_cannot_be_read(self, name: str, data: bytes, said: str, tmp_path: Path):
        """It is told what is wrong and what to do."""
        (tmp_path / name).write_bytes(data)

        with pytest.raises(ConfigError, match=said):
            list(read_sheet(tmp_path / name))

    def test_a_long_response(self, tmp_path: Path):
        """A response beyond the usual limit of a cell is no obstacle."""
        item = item_of(asked("x" * 300_000), manual())
        path = tmp_path / "sheet.csv"
        path.write_text("".join(sheet_text([item], path)), newline="")

        assert [row.id for row in read_sheet(path)] == [item.id]


class TestImport:
    """What becomes of each row."""

    def test_verdicts_count(self, tmp_path: Path):
        """Those that are filled in are kept with who, when and why; blank ones stay open."""
        first, second = asked(), asked("Go away.")
        store = store_with(tmp_path, first, second)
        identity = item_id(first, manual())

        done = import_rows(
            [row(identity, "y", comment="warm"), row(item_id(second, manual()), "")], store, at=AT, by="ann"
        )

        assert (done.added, done.blank, done.problems) == (1, 1, ())
        assert list(store.judgements().values()) == [
            Judgement(id=identity, verdict="pass", by="ann", at=AT, comment="warm")
        ]

    def test_importing_again_adds_nothing(self, tmp_path: Path):
        """The same sheet twice is the same verdicts once."""
        store = store_with(tmp_path, asked())
        rows = [row(item_id(asked(), manual()), "pass")]
        import_rows(rows, store, at=AT)

        done = import_rows(rows, store, at=AT)

        assert (done.added, done.repeated) == (0, 1)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (lambda known: [row("te-0", "pass")], "nobody was asked about te-0"),
            (lambda known: [row("", "pass")], "a row without id"),
            (lambda known: [row(known, "maybe")], "'maybe' is no verdict"),
            (lambda known: [row(known, "pass"), row(known, "fail", line=9)], "fail here and pass on line 2"),
        ],
    )
    def test_rows_that_cannot_count(self, given, said: str, tmp_path: Path):
        """They are told with their line, and change nothing."""
        store = store_with(tmp_path, asked())

        done = import_rows(given(item_id(asked(), manual())), store, at=AT)

        assert (done.added, len(done.problems)) == (0, 1)
        assert said in done.problems[0]
        assert not store.judgements()

    def test_a_verdict_that_changed(self, tmp_path: Path):
        """It is told, and counts only where that is asked for."""
        store = store_with(tmp_path, asked())
        identity = item_id(asked(), manual())
        import_rows([row(identity, "pass")], store, at=AT)

        told = import_rows([row(identity, "fail")], store, at=AT)
        replaced = import_rows([row(identity, "fail")], store, at=AT, replace=True)

        assert "--replace" in told.problems[0]
        assert (replaced.added, replaced.problems) == (1, ())
        assert store.judgements()[identity, ""].verdict == "fail"

    def test_two_people(self, tmp_path: Path):
        """Both verdicts are kept, and a disagreement is told."""
        store = store_with(tmp_path, asked())
        identity = item_id(asked(), manual())

        done = import_rows([row(identity, "pass", by="ann"), row(identity, "fail", by="bo")], store, at=AT)

        assert (done.added, done.problems, done.disagreements) == (2, (), (identity,))


class TestLabels:
    """What calibration gets."""

    def test_a_label_has_its_response_and_claim(self, tmp_path: Path):
        """Each verdict is a line with everything that it is about; open items are not."""
        first, second = asked(), asked("Go away.", input=None)
        store = store_with(tmp_path, first, second, asked("open"))
        import_rows(
            [row(item_id(first, manual()), "pass"), row(item_id(second, manual()), "fail", by="b")],
            store,
            at=AT,
        )
        import_rows([row(item_id(second, manual()), "pass", by="c")], store, at=AT)

        rows = list(label_rows(store))

        assert rows[0] == {
            "id": item_id(first, manual()),
            "case": "Hello!",
            "kind": "requirement",
            "human": True,
            "question": "Say hello",
            "response": "Hello!",
            "expected": ["Reads warmly"],
            "match": "all",
        }
        assert (rows[1]["human"], rows[1]["human_2"]) == (False, True)
        assert len(rows) == 2

    def test_calibration_reads_them(self, tmp_path: Path):
        """A label is read as the same claim on the same response; one on `not-x` as the opposite label of `x`."""
        plain = make_case(
            "It took 45 days.",
            make_expectation("must-contain", "45", options={"unit": "days", "tolerance": Decimal("0.5")}),
        )
        turned = make_case("Hello!", replace(manual(), negated=True))
        store = store_with(tmp_path, plain, turned)
        import_rows([row(identity, "pass") for identity in store.items()], store, at=AT)
        path = tmp_path / "labels.jsonl"
        path.write_text("".join(json.dumps(label) + "\n" for label in label_rows(store)))

        first, second = read_labels(path)

        assert first.case is not None
        (read,) = first.case.expectations
        assert (read.kind, read.values) == ("must-contain", ("45",))
        assert dict(read.options) == {"unit": "days", "tolerance": Decimal("0.5")}
        assert (first.label.met, first.case.response) == (True, "It took 45 days.")
        assert (second.label.kind, second.label.met) == ("requirement", False)


class TestAsking:
    """Which items are asked about."""

    def test_a_suite_asks_each_question_once(self):
        """Every expectation is one item, and equal ones are one."""
        cases = (asked(), replace(asked(), id="again"), make_case("x", make_expectation("must-contain", "x")))

        assert len(list(items_of_suite(Suite(name="s", cases=cases)))) == 2

    def test_a_sample_is_drawn_by_its_seed(self):
        """The same seed draws the same items, in their order."""
        items = [item_of(asked(str(number)), manual()) for number in range(50)]

        drawn = sampled(items, 10, seed=1)

        assert drawn == sampled(items, 10, seed=1) != sampled(items, 10, seed=2)
        assert [items.index(item) for item in drawn] == sorted(items.index(item) for item in drawn)
        assert sampled(items, None, seed=0) == items

    def test_who_has_answered(self, tmp_path: Path):
        """A second person is asked what the first has judged already."""
        store = store_with(tmp_path, asked())
        items = list(store.items().values())
        store.add([Judgement(id=items[0].id, verdict="pass", by="ann")])

        assert unanswered(items, store) == []
        assert unanswered(items, store, by="bo") == items


def test_a_plan_counts_no_call(tmp_path: Path):
    """A manual expectation names no model, so a plan counts no call for it."""
    planned = plan(
        Suite(name="s", cases=(asked(),)), offline(tmp_path, judges=("anthropic:claude-haiku-4-5",))
    )

    assert (planned.to_judge_most, planned.settled_free) == (0, 0)


def test_the_page_shows_expectations_that_load(tmp_path: Path):
    """The example of docs/people.md can be written in a suite."""
    page = (Path(__file__).parent.parent / "docs" / "people.md").read_text(encoding="utf-8")
    block = page.split("```yaml\n", 1)[1].split("```", 1)[0]
    indented = "".join(f"      {line}\n" for line in block.splitlines())
    (tmp_path / "suite.yaml").write_text(f"cases:\n  - id: q1\n    response: x\n    expect:\n{indented}")

    (case,) = load_suite(tmp_path).cases

    assert [one.scorer for one in case.expectations] == ["manual"] * 3
