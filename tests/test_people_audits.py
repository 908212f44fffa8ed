"""Audits by people: early verdicts go out unseen, come back, and are held against the promise of their certificate."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from certified_shipments import (
    certificate_of,
    made_certificate,
    run_certified,
    shipment_labels,
    shipments,
    suite_text,
)
from hypothesis import given
from hypothesis import strategies as st
from scripted_services import ScriptedServices
from test_audited_run import said_in, verdicts_of

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.audit import begin_audit, update
from tiered_eval.calibration.certificate import Certificate, save_certificate
from tiered_eval.calibration.people_audits import find_people_audits, people_audits, people_line
from tiered_eval.calibration.promise import Promise
from tiered_eval.cli.app import run_app
from tiered_eval.cli.keys import keys_of
from tiered_eval.errors import ConfigError
from tiered_eval.people import item_of
from tiered_eval.people.audits import (
    AUDITS_FILE,
    AskedAudit,
    DrawnAudit,
    DrawnForPeople,
    asked_audits,
    read_drawn,
    remember_asked,
)
from tiered_eval.people.labels import label_rows
from tiered_eval.people.store import Judgement, PeopleStore, Said
from tiered_eval.records import Case, Hook, Hooks, Report, Suite
from tiered_eval.reports import terminal
from tiered_eval.runner import plan
from tiered_eval.testing.builders import make_case, make_expectation

pytest.importorskip("numpy", reason="calibration needs numpy, which the extra [local] brings")

AT = "2026-12-01T00:00:00+00:00"
OTHER: dict[str, Said] = {"pass": "fail", "fail": "pass"}


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    """One whose labels are of people, so it promises how often early verdicts differ from them: in 5 %."""
    return certificate_of(shipment_labels(600, 1), Promise())


async def run(
    certificate: Certificate, cases: Sequence[Case], folder: Path, name: str = "first", **options: object
) -> Report:
    """A run without a judge, in the home of ``folder``, kept under a name there."""
    path = folder / "certificate.json"
    save_certificate(certificate, path)
    config = RunConfig(
        mode="offline",
        embedder="none",
        home=folder,
        certificate=path,
        gate="partial>=0",
        results_path=folder / "runs" / name / "results.jsonl",
        **options,  # type: ignore[arg-type]
    )
    return await evaluate(cases, config)


def drawn_in(folder: Path, name: str = "first") -> list[DrawnAudit]:
    return read_drawn(folder / "runs" / name / AUDITS_FILE)


def made_up(count: int, certificate: str = "c", allowed: float | None = 0.05) -> list[DrawnAudit]:
    """Audits of early passes."""
    cases = [make_case(f"Note {number}.", make_expectation("must-contain", "x")) for number in range(count)]
    items = [item_of(case, case.expectations[0]) for case in cases]
    return [
        DrawnAudit(
            item=item,
            audit=AskedAudit(id=item.id, certificate=certificate, early="pass", allowed=allowed),
        )
        for item in items
    ]


def answer(store: PeopleStore, drawn: Sequence[DrawnAudit], *, differing: bool, by: str = "") -> None:
    store.add(
        [
            Judgement(
                id=one.item.id, verdict=OTHER[one.audit.early] if differing else one.audit.early, by=by, at=AT
            )
            for one in drawn
        ]
    )


class TestDraw:
    """What a run leaves for people to check."""

    async def test_a_run_without_a_judge_draws_audits(self, certificate: Certificate, tmp_path: Path):
        """About 5 % of early verdicts, with the response and the claim; no call is made, and no verdict changes."""
        report = await run(certificate, shipments(600), tmp_path)

        drawn = drawn_in(tmp_path)
        early = {one.case_id: one.state for one in verdicts_of(report) if one.certified}
        assert 10 <= len(drawn) <= 60
        assert {one.item.case_id: one.audit.early for one in drawn}.items() <= early.items()
        assert {one.audit.certificate for one in drawn} == {certificate.name}
        assert {one.audit.allowed for one in drawn} == {0.05}
        assert all(one.item.response.startswith("Note ") for one in drawn)

    async def test_they_are_those_that_the_judge_audits(self, certificate: Certificate, tmp_path: Path):
        """One draw: whoever checks an early verdict, it is the same one."""
        services = ScriptedServices(said_in, home=tmp_path, seconds=lambda text: 0.0)
        report = await run_certified(
            certificate,
            shipments(600),
            tmp_path,
            services,
            judges=services.judges,
            results_path=tmp_path / "runs" / "first" / "results.jsonl",
        )

        audited = {one.case_id for one in verdicts_of(report) if one.audited}
        assert {one.item.case_id for one in drawn_in(tmp_path)} == audited

    @pytest.mark.parametrize(("rate", "low", "high"), [(0.0, 5, 5), (None, 5, 9), (1.0, 30, 40)])
    async def test_a_small_run_draws_five(
        self, certificate: Certificate, tmp_path: Path, rate: float | None, low: int, high: int
    ):
        """The same share, and the same least number, as for the judge."""
        await run(certificate, shipments(40), tmp_path, audit_rate=rate)

        assert low <= len(drawn_in(tmp_path)) <= high

    async def test_people_are_shown_the_response_as_it_came(self, certificate: Certificate, tmp_path: Path):
        """Where a hook stands before the checks, what it made is beside it."""
        hook = Hook(name="cut", call=lambda response: response.removesuffix(" Draft."))
        cases = [
            replace(
                case,
                response=f"{case.response} Draft.",
                expectations=tuple(replace(one, hooks=Hooks(post_process=hook)) for one in case.expectations),
            )
            for case in shipments(40)
        ]

        await run(certificate, cases, tmp_path)

        items = [one.item for one in drawn_in(tmp_path)]
        assert len(items) >= 5
        assert all(item.response.endswith(" Draft.") for item in items)
        assert all(item.checked == item.response.removesuffix(" Draft.") for item in items)

    async def test_a_run_that_decides_nothing_early_draws_none(
        self, certificate: Certificate, tmp_path: Path
    ):
        """A void certificate leaves nothing to check."""
        await run(replace(certificate, fingerprints={"free": "another"}), shipments(40), tmp_path)

        assert drawn_in(tmp_path) == []

    async def test_a_place_that_cannot_be_written_takes_no_verdict_away(
        self, certificate: Certificate, tmp_path: Path
    ):
        """The report says that people cannot be asked, and all is decided as without."""
        (tmp_path / "runs" / "first" / AUDITS_FILE).mkdir(parents=True)

        report = await run(certificate, shipments(100), tmp_path)

        assert any("people cannot be asked" in warning for warning in report.warnings)
        assert report.counts.error == 0
        assert sum(one.certified for one in verdicts_of(report)) > 50

    async def test_the_report_says_that_nobody_has_audited(self, certificate: Certificate, tmp_path: Path):
        """Without a judge, and before people were asked, nothing has shown yet that the certificate still holds."""
        report = await run(certificate, shipments(100), tmp_path)

        assert "none so far" in terminal.render(report, width=200)
        assert "export --audits" in terminal.render(report, width=200)

    async def test_a_place_that_is_used_again_holds_the_last_draw(
        self, certificate: Certificate, tmp_path: Path
    ):
        """As the results do that it stands beside."""
        await run(certificate, shipments(100), tmp_path)
        await run(certificate, shipments(100, seed=5), tmp_path)
        await run(certificate, shipments(100, seed=5), tmp_path, "second")

        assert drawn_in(tmp_path) == drawn_in(tmp_path, "second")

    def test_spares_are_the_lowest_ranks(self, tmp_path: Path):
        """However they came in; what is not missing is not written."""
        into = DrawnForPeople(tmp_path / AUDITS_FILE)
        drawn = made_up(30)
        ranks = list(range(30))
        random.Random(1).shuffle(ranks)
        for rank, one in zip(ranks, drawn, strict=True):
            into.add_spare(rank, one, most=5)

        into.end(3)
        into.end(3)

        wanted = {one.item.id for rank, one in zip(ranks, drawn, strict=True) if rank < 3}
        assert {one.item.id for one in read_drawn(tmp_path / AUDITS_FILE)} == wanted


class TestStanding:
    """What answers come to."""

    def test_agreeing_people_raise_nothing(self, tmp_path: Path):
        """Each answer is counted once, and the level falls."""
        store, drawn = PeopleStore(tmp_path), made_up(40)
        remember_asked(store, drawn)
        answer(store, drawn, differing=False)

        found = find_people_audits(tmp_path, "c")

        assert found is not None
        assert (found.answered, found.differing, found.open, found.is_stale) == (40, 0, 0, False)
        assert found.alarm_level is not None
        assert found.alarm_level < 1

    def test_differing_people_raise_the_alarm(self, tmp_path: Path):
        """As the judge's audits would with as many, for the rate that is certified."""
        store, drawn = PeopleStore(tmp_path), made_up(12)
        remember_asked(store, drawn)
        answer(store, drawn, differing=True)

        found = people_audits(store)["c"]

        assert found.is_stale
        assert found.alarm_level == update(begin_audit("c", 0.05), [True] * 12).capital
        assert "STALE" in people_line(found)

    def test_nobody_was_asked(self, tmp_path: Path):
        """Then there is nothing to show, and no file is made."""
        assert find_people_audits(tmp_path, "c") is None
        assert not list(tmp_path.iterdir())

    def test_another_certificate_is_not_meant(self, tmp_path: Path):
        """Each certificate is held against the verdicts that it gave."""
        store, first, second = PeopleStore(tmp_path), made_up(12, "a"), made_up(24, "b")[12:]
        remember_asked(store, [*first, *second])
        answer(store, first, differing=True)
        answer(store, second, differing=False)

        assert {name: one.is_stale for name, one in people_audits(store).items()} == {"a": True, "b": False}

    def test_what_was_judged_before_it_was_asked_is_no_news(self, tmp_path: Path):
        """It may have been a label of the very calibration that it would be held against."""
        store, drawn = PeopleStore(tmp_path), made_up(20)
        answer(store, drawn[:15], differing=True)

        remember_asked(store, drawn)
        remember_asked(store, drawn)

        assert [one.id for one in asked_audits(store)] == [one.item.id for one in drawn[15:]]

    def test_two_who_ask_at_once_count_once(self, tmp_path: Path):
        """Each has written down the same questions, not knowing of the other."""
        store, drawn = PeopleStore(tmp_path), made_up(4)
        remember_asked(store, drawn)
        path = store.items_path.with_name(AUDITS_FILE)
        path.write_text(path.read_text() * 2)
        answer(store, drawn, differing=True)

        found = people_audits(store)["c"]

        assert (found.answered, found.differing, found.open) == (4, 4, 0)

    def test_people_who_disagree_leave_it_open(self, tmp_path: Path):
        """As everywhere: one yes and one no are no answer."""
        store, drawn = PeopleStore(tmp_path), made_up(10)
        remember_asked(store, drawn)
        answer(store, drawn, differing=True, by="ann")
        answer(store, drawn[:8], differing=False, by="bo")

        found = people_audits(store)["c"]

        assert (found.answered, found.differing, found.open) == (2, 2, 8)

    def test_a_verdict_that_was_replaced_counts_as_it_is_now(self, tmp_path: Path):
        """A sheet that was filled in the wrong way round raises no alarm once it is put right."""
        store, drawn = PeopleStore(tmp_path), made_up(20)
        remember_asked(store, drawn)
        answer(store, drawn, differing=True)
        assert people_audits(store)["c"].is_stale

        answer(store, drawn, differing=False)

        assert not people_audits(store)["c"].is_stale

    @pytest.mark.parametrize(
        "promise", [Promise(label_source="top_judge"), Promise(alpha=None, relative=0.02)]
    )
    async def test_a_promise_about_the_judge_is_not_held_against_people(
        self, promise: Promise, certificate: Certificate, tmp_path: Path
    ):
        """What people say is shown; it can refute nothing that was not promised, and the line says so."""
        await run(replace(certificate, promise=promise), shipments(200), tmp_path)
        store, drawn = PeopleStore(tmp_path), drawn_in(tmp_path)
        remember_asked(store, drawn)
        answer(store, drawn, differing=True)

        (found,) = people_audits(store).values()

        assert found.differing == len(drawn) > 4
        assert not found.is_stale
        assert "promises no share that may differ from people" in people_line(found)

    @given(
        st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40),
        st.randoms(use_true_random=False),
    )
    def test_an_answer_that_is_missing_never_raises_an_alarm(
        self, told: list[tuple[bool, bool]], rng: random.Random
    ):
        """Whichever are left open, and however hard those are: the level was at least as high with all of them answered."""
        with TemporaryDirectory() as folder:
            store, drawn = PeopleStore(Path(folder)), made_up(len(told))
            remember_asked(store, drawn)
            order = list(zip(drawn, told, strict=True))
            rng.shuffle(order)
            for differing in (True, False):
                answered = [one for one, (differs, is_said) in order if is_said and differs is differing]
                answer(store, answered, differing=differing)

            found = people_audits(store)["c"]

        full = update(begin_audit("c", 0.05), [differs for differs, _ in told])
        assert found.answered == sum(is_answered for _, is_answered in told)
        assert found.differing == sum(differs and is_answered for differs, is_answered in told)
        assert not found.is_stale or full.is_stale

    def test_what_nobody_came_to_is_not_counted(self, tmp_path: Path):
        """A long sheet of which the first rows are filled in stands as a short one."""
        long, short = PeopleStore(tmp_path / "long"), PeopleStore(tmp_path / "short")
        drawn = made_up(500)
        remember_asked(long, drawn)
        remember_asked(short, drawn[:9])
        for store in (long, short):
            answer(store, drawn[:9], differing=True)

        a, b = people_audits(long)["c"], people_audits(short)["c"]

        assert a.alarm_level == b.alarm_level
        assert (a.open, b.open) == (491, 0)

    def test_damage_is_told(self, tmp_path: Path):
        """A file that someone has spoilt is no fresh start."""
        store = PeopleStore(tmp_path)
        remember_asked(store, made_up(2))
        path = store.items_path.with_name(AUDITS_FILE)
        path.write_text(path.read_text().replace('"pass"', '"maybe"'))

        with pytest.raises(ConfigError, match=r"audits\.jsonl is damaged"):
            people_audits(store)


class TestNextRun:
    """What an alarm of people does."""

    async def refuted(self, certificate: Certificate, tmp_path: Path) -> None:
        await run(certificate, shipments(600), tmp_path)
        drawn = drawn_in(tmp_path)
        remember_asked(PeopleStore(tmp_path), drawn)
        answer(PeopleStore(tmp_path), drawn, differing=True)

    async def test_a_stale_certificate_decides_nothing(self, certificate: Certificate, tmp_path: Path):
        """As after the judge's alarm: it is said loudly, and everything goes to the judge."""
        await self.refuted(certificate, tmp_path)

        report = await run(certificate, shipments(30, seed=5), tmp_path, "second")

        use = report.certificate
        assert use is not None
        assert use.by_people is not None
        assert use.is_stale
        assert use.by_people.is_stale
        assert use.early == 0
        assert any(
            warning.startswith("ALARM") and "differ from people" in warning for warning in report.warnings
        )
        assert "certificate" not in report.settings
        assert drawn_in(tmp_path, "second") == []

    async def test_a_plan_says_so_beforehand(self, certificate: Certificate, tmp_path: Path):
        """It counts on no early verdict either."""
        await self.refuted(certificate, tmp_path)
        config = RunConfig(
            mode="offline", embedder="none", home=tmp_path, certificate=tmp_path / "certificate.json"
        )

        made = plan(Suite(name="s", cases=tuple(shipments(30))), config)

        assert made.certificate is not None
        assert made.certificate.is_stale
        assert made.certificate.decided_free == 0

    async def test_agreeing_people_stand_in_the_report(self, certificate: Certificate, tmp_path: Path):
        """The next run shows how often they differed, over all runs of the home."""
        await run(certificate, shipments(200), tmp_path)
        drawn = drawn_in(tmp_path)
        remember_asked(PeopleStore(tmp_path), drawn)
        answer(PeopleStore(tmp_path), drawn, differing=False)

        report = await run(certificate, shipments(200, seed=5), tmp_path, "second")

        assert report.certificate is not None
        assert report.certificate.by_people is not None
        assert report.certificate.by_people.answered == len(drawn)
        assert report.certificate.early > 0


class TestCommands:
    """The way out and back, from the command line."""

    @pytest.fixture
    def folder(
        self,
        certificate: Certificate,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> Path:
        """A folder with a suite and its certificate, run once without a judge; commands are given there."""
        (tmp_path / "suite.jsonl").write_text(suite_text(shipments(200)))
        save_certificate(certificate, tmp_path / "certificate.json")
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("TIERED_EVAL_HOME", raising=False)
        run_app(["run", "suite.jsonl", "-q", "--offline", "--embedder", "none"])
        capsys.readouterr()
        return tmp_path

    @staticmethod
    def truth(row: dict[str, str]) -> str:
        """What a person who reads sees."""
        return "pass" if row["claim"].rsplit(" ", 1)[1] in row["response"] else "fail"

    def fill_in(self, path: Path, *, is_contrary: bool = False) -> int:
        """Answer every row of a sheet."""
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            said = self.truth(row)
            row["verdict"] = OTHER[said] if is_contrary else said  # type: ignore[index]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        return len(rows)

    def test_there_and_back(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """A sheet goes out without what the certificate said, comes back, and counts once however often it is imported."""
        assert run_app(["export", "--audits", "-o", "sheet.csv"]) == 0
        text = (folder / "sheet.csv").read_text(encoding="utf-8")
        count = self.fill_in(folder / "sheet.csv")
        assert run_app(["import", "sheet.csv"]) == 0
        first = capsys.readouterr().out
        assert run_app(["import", "sheet.csv"]) == 0
        again = capsys.readouterr().out
        assert run_app(["audit"]) == 0
        shown = capsys.readouterr().out

        assert count >= 5
        assert "pass" not in text
        assert "certified" not in text
        line = f"0 of {count} differ from people (at most 5.0% certified)"
        assert line in first
        assert line in again
        assert line in shown

    @pytest.mark.parametrize("name", ["sheet.csv", "sheet.jsonl"])
    def test_the_early_verdict_is_not_shown(self, folder: Path, name: str):
        """A row holds what any row holds, with nothing in the place of the verdict."""
        run_app(["export", "--audits", "-o", name])
        run_app(["export", "--suite", "suite.jsonl", "--sample", "5", "-o", f"other-{name}"])

        def keys(path: Path) -> set[str]:
            if path.suffix == ".jsonl":
                return {key for line in path.read_text().splitlines() for key in json.loads(line)}
            return set(path.read_text(encoding="utf-8-sig").splitlines()[0].split(","))

        assert keys(folder / name) == keys(folder / f"other-{name}")
        if name.endswith(".jsonl"):
            assert {json.loads(line)["verdict"] for line in (folder / name).read_text().splitlines()} == {
                None
            }

    def test_they_can_be_judged_in_the_terminal(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        """`label` asks the same questions, and says at the end how the certificate stands; what was not reached is open."""
        (path,) = (folder / ".tiered_eval" / "runs").glob(f"*/{AUDITS_FILE}")
        questions = read_drawn(path)
        keys = ["y" if one.audit.early == "pass" else "n" for one in questions[:3]]
        read, write = os.pipe()
        os.write(write, "\n".join([*keys, "q", ""]).encode())
        os.close(write)

        with os.fdopen(read) as stream:
            monkeypatch.setattr("tiered_eval.cli.label.keys_of", lambda: keys_of(stream))
            code = run_app(["label", "--audits"])

        shown = capsys.readouterr().out
        assert code == 0
        assert "certified:" not in shown
        assert "0 of 3 differ from people (at most 5.0% certified)" in shown
        assert f"{len(questions) - 3} open" in shown

    def test_an_alarm_ends_with_1_and_stops_the_certificate(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ):
        """`import` says it at once, `audit` from then on, in text and in JSON, and the next run decides nothing early."""
        run_app(["export", "--audits", "-o", "sheet.csv"])
        count = self.fill_in(folder / "sheet.csv", is_contrary=True)
        run_app(["import", "sheet.csv"])
        imported = capsys.readouterr().out
        code, shown = run_app(["audit"]), capsys.readouterr().out
        json_code, made = run_app(["audit", "--json"]), json.loads(capsys.readouterr().out)
        run_app(["run", "suite.jsonl", "--offline", "--embedder", "none"])
        told = capsys.readouterr().out

        assert "STALE" in imported
        assert (code, json_code) == (1, 1)
        assert "STALE" in shown
        (one,) = made
        assert (one["by"], one["audits"], one["disagreements"], one["is_stale"]) == (
            "people",
            count,
            count,
            True,
        )
        assert "0 of 200 expectations of its kinds decided early" in told
        assert f"by people   {count} of {count} differ from people" in told

    def test_a_changed_verdict_needs_replace(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """Else the first one stands, and the row is told."""
        run_app(["export", "--audits", "-o", "sheet.csv"])
        count = self.fill_in(folder / "sheet.csv")
        run_app(["import", "sheet.csv"])
        self.fill_in(folder / "sheet.csv", is_contrary=True)
        capsys.readouterr()

        refused = run_app(["import", "sheet.csv"])
        kept = capsys.readouterr().out
        replaced = run_app(["import", "sheet.csv", "--replace"])
        changed = capsys.readouterr().out

        assert (refused, replaced) == (2, 0)
        assert f"0 of {count} differ" in kept
        assert f"{count} of {count} differ" in changed

    def test_audits_are_no_labels(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """They are a sample of early verdicts only; one that a random sample of the suite draws as well is a label."""
        run_app(["export", "--audits", "-o", "sheet.csv"])
        count = self.fill_in(folder / "sheet.csv")
        run_app(["import", "sheet.csv"])
        store = PeopleStore(folder / ".tiered_eval")
        alone = list(label_rows(store))

        run_app(["export", "--suite", "suite.jsonl", "-o", "all.csv"])

        assert alone == []
        assert len(list(label_rows(store))) == count

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["export", "--audits", "--manual"], "cannot be combined"),
            (["export", "--audits", "--labels"], "cannot be combined"),
            (["export", "--audits", "--suite", "suite.jsonl"], "cannot be combined"),
            (["label", "--audits", "--suite", "suite.jsonl"], "cannot be combined"),
        ],
    )
    def test_what_cannot_be_combined(
        self, folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
    ):
        """It is refused before anything is written."""
        assert run_app(arguments) == 2
        assert said in capsys.readouterr().err

    def test_a_run_that_drew_nothing(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        """Without a certificate nothing is early, and both commands say so."""
        (folder / "certificate.json").unlink()
        shutil.rmtree(folder / ".tiered_eval" / "runs")
        run_app(["run", "suite.jsonl", "-q", "--offline", "--embedder", "none"])
        capsys.readouterr()

        assert run_app(["export", "--audits"]) == 0
        assert run_app(["label", "--audits"]) == 0

        assert capsys.readouterr().err.count("nothing was drawn for an audit") == 2


async def test_the_judge_and_people_are_held_apart(certificate: Certificate, tmp_path: Path):
    """One verdict that both check counts once for each: two lines in the report, each with its own level."""
    proxy = replace(
        made_certificate(), promise=Promise()
    )  # knows how often early verdicts differ from the judge, and from people
    services = ScriptedServices(said_in, home=tmp_path / "home", seconds=lambda text: 0.0)
    results = tmp_path / "home" / "runs" / "first" / "results.jsonl"
    await run_certified(
        proxy, shipments(200), tmp_path, services, judges=services.judges, results_path=results
    )
    drawn, store = read_drawn(results.with_name(AUDITS_FILE)), PeopleStore(tmp_path / "home")
    remember_asked(store, drawn)
    answer(store, drawn, differing=True)
    again = ScriptedServices(said_in, home=tmp_path / "home", seconds=lambda text: 0.0)

    report = await run_certified(proxy, shipments(30, seed=5), tmp_path, again, judges=again.judges)

    use = report.certificate
    assert use is not None
    assert use.by_people is not None
    assert (use.differing_ever, use.audits_ever) == (0, len(drawn))
    assert use.by_people.differing == len(drawn)
    assert use.is_stale


def test_audit_refuses_a_home_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """In a wrong folder no certificate is known to hold, so the answer is not 0."""
    assert run_app(["audit", "--home", str(tmp_path / "elsewhere")]) == 2
    assert "name the home with --home" in capsys.readouterr().err
