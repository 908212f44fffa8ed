"""Every report says what the Report says, and nothing that a model wrote is obeyed by whoever reads it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import HOSTILE, failing_report, figure, result, sample_report, verdict

from tiered_eval.errors import ConfigError
from tiered_eval.records import Counts, Failure, Report
from tiered_eval.records.codec import case_result_from_json, report_from_json
from tiered_eval.reports import FORMATS, check_formats, render, terminal, write
from tiered_eval.reports.github import annotation_lines
from tiered_eval.reports.markdown import append_to_job_summary

UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)


def text_of(report: Report, name: str) -> str:
    return "".join(render(report, name))


def hostile_report() -> Report:
    """Hostile text in every place that someone outside can write to."""
    found = verdict(
        HOSTILE,
        HOSTILE,
        "fail",
        kind=HOSTILE,
        reason=HOSTILE,
        model=HOSTILE,
        failure=Failure(type=HOSTILE, message=HOSTILE, traceback=HOSTILE),
    )
    return sample_report(
        suite=HOSTILE,
        results=(result(0, HOSTILE, found),),
        counts=Counts(failed=1),
        warnings=(HOSTILE,),
        dimensions={HOSTILE: figure()},
        failures={HOSTILE: 1},
    )


def test_unknown_format_names_the_known_ones():
    """A format that does not exist is refused with those that do."""
    with pytest.raises(ConfigError, match="json, jsonl, junit, md"):
        check_formats(["xml"])


def test_html_is_refused_with_what_to_do_meanwhile():
    """HTML is promised and absent; whoever asks is told so."""
    with pytest.raises(ConfigError, match="no HTML report yet"):
        check_formats(["json", "html"])


@pytest.mark.parametrize("name", FORMATS)
def test_writing_leaves_one_whole_file(name: str, tmp_path: Path):
    """A report is written under its own name, and no draft stays behind."""
    path = write(sample_report(), name, tmp_path / "new")

    assert [found.name for found in path.parent.iterdir()] == [FORMATS[name].file_name]
    assert path.read_text(encoding="utf-8") == text_of(sample_report(), name).encode(
        "utf-8", "backslashreplace"
    ).decode("utf-8")


def test_a_renderer_that_breaks_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An error halfway through writing does not damage the report of the run before."""
    write(sample_report(), "jsonl", tmp_path)
    before = (tmp_path / "results.jsonl").read_bytes()
    broken = sample_report(results=[*sample_report().results, None])

    with pytest.raises(AttributeError):
        write(broken, "jsonl", tmp_path)

    assert (tmp_path / "results.jsonl").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_a_file_is_a_config_error(tmp_path: Path):
    """A place that cannot be written is named, without a traceback of the system's."""
    place = tmp_path / "file"
    place.write_text("here first")

    with pytest.raises(ConfigError, match="cannot use"):
        write(sample_report(), "json", place)


def test_keys_in_the_environment_reach_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A key that a provider echoed in an error is hidden in every report file."""
    key = "planted-4f9c2e7781ab"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    found = verdict("a", "1", "error", reason=f"401: bad key {key}", failure=Failure(type="X", message=key))
    report = sample_report(results=(result(0, "a", found),), warnings=(key,))

    for name in FORMATS:
        assert key not in write(report, name, tmp_path).read_text(encoding="utf-8")


class TestJson:
    def test_is_read_back_as_the_same_report(self):
        """The JSON report holds all that the Report does."""
        assert report_from_json(json.loads(text_of(sample_report(), "json"))) == sample_report()

    def test_without_results_is_still_a_document(self):
        """A run that settled nothing has a report that can be read."""
        assert json.loads(text_of(sample_report(results=()), "json"))["results"] == []

    def test_carries_settled_unknown_and_reserved_money(self):
        """The bill can be checked: all three sums, and the ledger's totals, as exact decimals."""
        spend = json.loads(text_of(sample_report(), "json"))["spend"]

        assert spend["settled_usd"] == "0.0012"
        assert spend["unknown_usd"] == "0.003"
        assert spend["reserved_usd"] == "0.0004"
        assert spend["ledger_settled_usd"] == "1.5"
        assert spend["ledger_unknown_usd"] == "0.003"

    def test_counts_add_up(self):
        """The five states sum to the total that stands beside them."""
        counts = json.loads(text_of(sample_report(), "json"))["counts"]

        assert counts.pop("total") == sum(counts.values()) == 6

    def test_lines_are_one_case_each(self):
        """Each line of the JSONL report is one case's result."""
        lines = text_of(sample_report(), "jsonl").splitlines()

        assert tuple(case_result_from_json(json.loads(line)) for line in lines) == sample_report().results


class TestJunit:
    def test_states_have_their_elements(self):
        """A fail is a failure, an error an error, and what nobody decided is skipped with its reason."""
        root = ET.fromstring(text_of(sample_report(), "junit"))

        found = {
            (case.get("classname"), case.get("name")): [
                child.tag for child in case if child.tag != "system-out"
            ]
            for case in root.iter("testcase")
        }
        assert found == {
            ("payment", "1 must-contain"): [],
            ("payment", "2 must-contain"): ["failure"],
            ("hostile", "1 must-contain"): ["error"],
            ("hostile", "2 must-contain"): ["skipped"],
            ("people", "1 must-contain"): ["skipped"],
            ("people", "2 requirement"): [],
        }

    def test_head_counts_are_those_of_its_cases(self):
        """What a CI page shows as totals is what it finds when it counts."""
        root = ET.fromstring(text_of(sample_report(), "junit"))
        suite = root[0]

        for head in (root, suite):
            assert int(head.get("tests", "")) == len(list(root.iter("testcase")))
            assert int(head.get("failures", "")) == len(list(root.iter("failure")))
            assert int(head.get("errors", "")) == len(list(root.iter("error")))
            assert int(head.get("skipped", "")) == len(list(root.iter("skipped")))

    def test_skipped_says_why(self):
        """A leftover names the reason that it was not judged for."""
        messages = [
            element.get("message")
            for element in ET.fromstring(text_of(sample_report(), "junit")).iter("skipped")
        ]

        assert messages[0] is not None
        assert "the cap was reached" in messages[0]

    @given(any_text, any_text, any_text)
    def test_any_text_makes_a_document(self, case_id: str, reason: str, quote: str):
        """Whatever stands in a response, the document can be parsed."""
        found = verdict(case_id, quote, "fail", reason=reason, failure=Failure(type=quote, message=reason))
        report = sample_report(suite=case_id, results=(result(0, case_id, found),), warnings=(reason,))

        root = ET.fromstring(text_of(report, "junit").encode("utf-8"))

        assert [case.tag for case in root.iter("testcase")] == ["testcase"]

    def test_names_stay_unique(self):
        """Ids that look alike once they are cut or cleaned are told apart."""
        ids = ["a" * 600 + "1", "a" * 600 + "2", "a\x00b", "a\x01b", "ab", "ab "]
        results = tuple(result(i, case_id, verdict(case_id, "1")) for i, case_id in enumerate(ids))

        root = ET.fromstring(text_of(sample_report(results=results), "junit"))

        names = [case.get("classname") or "" for case in root.iter("testcase")]
        assert len(set(names)) == len(ids)
        assert all(len(name) <= 512 for name in names)

    def test_names_within_a_case_stay_unique(self):
        """Two expectations of one id (a harness may give none) are two test cases."""
        results = (result(0, "a", verdict("a", "1"), verdict("a", "1")),)

        root = ET.fromstring(text_of(sample_report(results=results), "junit"))

        assert len({case.get("name") for case in root.iter("testcase")}) == 2

    def test_long_text_is_cut(self):
        """A ten-megabyte reply does not make a ten-megabyte test page."""
        found = verdict("a", "1", "fail", reason="long " * 2_000_000)
        text = text_of(sample_report(results=(result(0, "a", found),)), "junit")

        assert len(text) < 40_000


class TestMarkdown:
    def test_a_cell_stays_a_cell(self):
        """Bars, line ends, markup and images in a reply neither break the table nor load anything."""
        page = text_of(hostile_report(), "md")
        (row,) = [line for line in page.splitlines() if line.startswith("| red")]

        assert len(re.split(r"(?<!\\)\|", row)[1:-1]) == 5
        assert "<b>" not in page
        assert "![" not in page

    def test_hundreds_of_failures_are_bounded_and_counted(self):
        """A page lists the first failures and says how many more there are."""
        page = text_of(failing_report(300), "md")

        assert page.count("| case-") == 50
        assert "250 more" in page

    def test_is_far_below_the_limit_of_a_job_summary(self):
        """Even with the longest texts the page fits into a job's summary."""
        long = "x" * 100_000
        results = tuple(result(i, long, verdict(long, long, "fail", reason=long)) for i in range(200))
        report = sample_report(
            results=results,
            counts=Counts(failed=200),
            warnings=(long,) * 500,
            dimensions={f"{long}{i}": figure() for i in range(500)},
        )

        assert len(text_of(report, "md").encode()) < 256 * 1024

    def test_mentions_call_nobody(self):
        """A name that a model wrote after an at sign notifies no one."""
        report = sample_report(warnings=("ask @someone",))

        assert "@someone" not in text_of(report, "md")

    def test_summary_is_appended_to_what_is_there(self, tmp_path: Path):
        """The summary of a job keeps what earlier steps wrote."""
        path = tmp_path / "summary"
        path.write_text("# before\n")

        written = append_to_job_summary(sample_report(), {"GITHUB_STEP_SUMMARY": str(path)})

        assert written == path
        assert path.read_text().startswith("# before\n## atlas: gate not met\n")

    def test_summary_without_room_is_left_alone(self, tmp_path: Path, caplog: pytest.LogCaptureFixture):
        """A summary that would grow past GitHub's limit, and be refused whole, is not appended to."""
        path = tmp_path / "summary"
        path.write_bytes(b"x" * (1024 * 1024 - 10))

        assert append_to_job_summary(sample_report(), {"GITHUB_STEP_SUMMARY": str(path)}) is None
        assert path.stat().st_size == 1024 * 1024 - 10
        assert "no room left" in caplog.text

    def test_no_summary_outside_of_a_job(self):
        """Without the variable nothing is written."""
        assert append_to_job_summary(sample_report(), {}) is None


class TestTerminal:
    def test_says_the_headline_the_counts_and_the_bill(self):
        """The lines that a reader needs are there, with figures that add up."""
        text = terminal.render(sample_report(), width=140)

        assert (
            "partial       0.667   95 % interval 0.200 to 0.800   over what was decided in 3 cases   " in text
        )
        assert "   with leftovers 0.400 to 0.600" in text
        assert "6 expectations = 2 passed + 1 failed + 1 error + 1 not judged + 1 manual" in text
        assert "$0.0012 settled, $0.0030 unknown, $0.0004 still reserved; cap $2.00" in text
        assert "anthropic:judge-1 $0.0012 (1 call)" in text
        assert re.search(r"by kind +requirement \$0.0012 \(1 call\)$", text, re.MULTILINE)
        assert "$1.5000 settled and $0.0030 unknown in this home so far" in text
        assert "12.5 s, 9.8 s of it waiting for the provider" in text
        assert "the cap was reached: 1" in text
        assert "ProviderUnavailable: 1" in text
        assert "partial>=0.95: not met" in text
        assert "payment / 2  fail: the response says 30 (must-contain, number)" in text
        assert "“30 days”" in text
        assert "raise --max-cost" in text

    @pytest.mark.parametrize("width", [40, *range(78, 92), 140])
    def test_the_tier_table_is_never_cut(self, width: int):
        """A narrow terminal gets fewer columns, and no ellipses where figures should be."""
        text = terminal.render(sample_report(scorecard=None), width=width)

        table = re.split(r"^ +tier ", text, flags=re.MULTILINE)[1].partition("spend")[0]
        assert "…" not in table
        assert ("avoided" in table) == ("  judge" in table)
        assert ("avoided" in table) or width < 90
        assert re.search(r"^ +judge +1 +16.7 % .*\$0.0012", table, re.MULTILINE)

    @pytest.mark.parametrize("width", [40, 140])
    def test_tier_table_adds_up(self, width: int):
        """Decided by tier and undecided sum to all expectations."""
        text = terminal.render(sample_report(), width=width)

        rows = re.findall(r"^ +(exact|number|judge|undecided) +(\d+) ", text, re.MULTILINE)
        assert sum(int(count) for _, count in rows) == 6

    def test_without_colour_nothing_is_obeyed(self):
        """No control, ANSI or bidirectional character of a model's text reaches the terminal."""
        text = terminal.render(hostile_report(), width=60)

        assert not UNSEEN.search(text)

    def test_colour_is_ours_only(self):
        """With colour on, the only escape sequences are those for colours that this report chose."""
        text = terminal.render(hostile_report(), width=60, colour=True)

        assert not UNSEEN.search(re.sub(r"\x1b\[[0-9;]*m", "", text))
        assert "\x1b[1;31mred" not in text

    def test_a_long_list_is_counted(self):
        """The first ten failures are shown, and how many there are."""
        text = terminal.render(failing_report(300))

        assert text.count("not in the response") == 10
        assert "failed (300, the first 10)" in text

    def test_an_outage_is_shown_once(self):
        """An error that repeats is shown once, beside those that differ from it."""
        results = tuple(
            result(
                i,
                f"case-{i}",
                verdict(f"case-{i}", "1", "error", reason=f"503 from {'this' if i else 'that'} place"),
            )
            for i in range(40)
        )

        text = terminal.render(sample_report(results=results, counts=Counts(error=40)))

        assert "errors (40, 2 that differ)" in text
        assert text.count("503 from") == 2

    def test_reads_no_more_results_than_it_shows(self):
        """The worst cases of a large run are found without reading it to its end."""
        read = 0

        class Counted(tuple):
            def __iter__(self):
                nonlocal read
                for item in tuple.__iter__(self):
                    read += 1
                    yield item

        report = failing_report(300)
        terminal.render(sample_report(results=Counted(report.results), counts=report.counts))

        assert read <= 11

    def test_nothing_decided_is_no_figure(self):
        """A run that decided nothing shows no share, only what is possible."""
        text = terminal.render(sample_report(partial=figure(None, bound_low=0.0, bound_high=1.0)))

        assert "partial       nothing was decided" in text

    def test_one_case_is_explained_step_by_step(self):
        """A case is shown with every check that was made on the way to its verdict."""
        text = terminal.render_case(sample_report().results[2])

        assert "coverage: unsure 0.610, below the threshold" in text


class TestGithub:
    def test_ten_errors_at_most(self):
        """GitHub drops what is beyond ten errors a step, so nine are named and the rest counted."""
        lines = [line for line in annotation_lines(failing_report(300)) if line.startswith("::error")]

        assert len(lines) == 10
        assert "291 more, 300 in all" in lines[-1]

    def test_a_reply_cannot_start_a_command(self):
        """A model's text stays inside the annotation that quotes it."""
        for line in annotation_lines(hostile_report()):
            assert not UNSEEN.search(line)
            assert "\n" not in line
            assert line.startswith(("::error title=", "::warning title="))

    def test_properties_are_escaped(self):
        """Colons and commas in an id do not end the title of an annotation."""
        found = verdict("a:b,c%", "1", "fail")
        (line, *_) = annotation_lines(
            sample_report(results=(result(0, "a", found),), counts=Counts(failed=1))
        )

        assert line.startswith("::error title=a%3Ab%2Cc%25 / 1::")


def test_a_clean_run_says_that_nothing_is_to_do():
    """Where everything passed, the report does not invent work."""
    spend = sample_report().spend
    report = sample_report(
        counts=Counts(passed=6),
        leftovers={},
        failures={},
        stopped=None,
        spend=type(spend)(settled_usd=Decimal("0.1")),
    )

    assert "Nothing: everything was decided and passed." in terminal.render(report)


@pytest.mark.parametrize(
    ("failure", "advice"),
    [
        ("ProviderRefused", "mend what the errors name"),  # a wrong key
        ("ConfigError", "mend what the errors name"),  # no key
        ("RecordingMissing", "mend what the errors name"),  # nothing was recorded
        ("SandboxError", "mend what the errors name"),  # no box for code
        ("ProviderUnavailable", "could not be made: run the same command again"),  # passes by itself
    ],
)
def test_trying_again_is_advised_only_where_it_may_help(failure: str, advice: str):
    """A wrong key stays wrong: the next step is to mend it, and not to run the same command again."""
    assert advice in terminal.render(sample_report(failures={failure: 1}), width=200)
