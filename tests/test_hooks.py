"""Hooks: code before the checks of an expectation and before its judge; which one is taken, and what it may do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tiered_eval import Case, Evaluator, Expectation, RunConfig, Verdict, evaluate_sync, load_suite
from tiered_eval.errors import SuiteError
from tiered_eval.keys import recording_key
from tiered_eval.mutate import mutate_suite
from tiered_eval.people import item_of, verdicts_for
from tiered_eval.people.asking import items_of_suite
from tiered_eval.people.items import item_from_json, item_to_json
from tiered_eval.people.labels import label_rows
from tiered_eval.people.store import Judgement, PeopleStore
from tiered_eval.profiles import load_profile
from tiered_eval.records import Outcome
from tiered_eval.runner import plan
from tiered_eval.runner.checks import Checker, OpenExpectation
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.hooks import find_shown
from tiered_eval.scorers.judge import judge_request
from tiered_eval.suite.single import read_expectation
from tiered_eval.text.subject import Subject

CODE = """
    import asyncio

    def strip_thoughts(response):
        return response.rpartition("</think>")[2].strip()

    def shout(text):
        return text.upper()

    def needs_json(response, case):
        return response if "{" in response else {"pass": False, "reason": f"{case.id} holds no JSON"}

    def all_is_well(response):
        return {"pass": True, "reason": "said so"}

    def quiet(case, expectation):
        return None

    def short_ones_pass(response, expectation):
        return {"pass": True, "score": 0.9} if len(response) < 9 else None

    async def second_half(response):
        await asyncio.sleep(0)
        return response[len(response) // 2:]

    def broken(response):
        raise ValueError("no luck")

    def leaves(response):
        raise SystemExit(0)

    def forgets(response):
        pass

    def hesitates(response):
        return {"state": "unsure"}

    async def waits(response):
        return response

    def wants_more(response, weather):
        return response

    class Stripped:
        def __init__(self, response):
            self.text = response.strip()

    HOOKS = {name: value for name, value in list(globals().items()) if callable(value)}
"""


def write(folder: Path, text: str, code: str = CODE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "scorers").mkdir(exist_ok=True)
    (folder / "scorers" / "hooks.py").write_text(dedent(code))
    path = folder / "suite.yaml"
    path.write_text(dedent(text))
    return path


def states(path: Path, **config: Any) -> list[str]:
    """The states of all verdicts of a suite, in order."""
    settings = RunConfig(home=path.parent / "home", mode="offline", embedder="none", **config)
    report = evaluate_sync(load_suite(path, allow_code=True), settings)
    return [one.state for result in report.results for one in result.verdicts]


def one(folder: Path, response: str, entry: str, beside: str = "") -> Verdict:
    """The verdict of one entry of `expect:`, with settings beside the cases."""
    text = f"{beside}\ncases:\n  - id: q1\n    response: {response!r}\n    expect: [{entry}]\n"
    config = RunConfig(home=folder / "home", mode="offline", embedder="none")
    report = evaluate_sync(load_suite(write(folder, text), allow_code=True), config)
    return report.results[0].verdicts[0]


# post_process


def test_checks_see_the_text_that_the_hook_made(tmp_path: Path):
    """What a model thought aloud is no part of its answer; evidence is a place in the text that was checked."""
    ended = one(
        tmp_path, "<think>Perhaps 30?</think> It is 45.", "must-contain: '45'", "post_process: strip_thoughts"
    )

    assert ended.state == "pass"
    assert ended.evidence is not None
    assert (ended.evidence.quote, ended.evidence.start) == ("45", 6)


def test_a_trap_is_looked_for_in_that_text_too(tmp_path: Path):
    """The thought does not count against the answer."""
    response, trap = "<think>Perhaps 30?</think> It is 45.", "must-not-contain: '30'"

    assert one(tmp_path, response, trap, "post_process: strip_thoughts").state == "pass"
    assert one(tmp_path, response, trap).state == "not-judged", "a guess that is thought aloud is doubt"


@pytest.mark.parametrize(
    "entry", ["must-contain: x", "must-not-contain: y", "not-is-json", "requirement: Is short"]
)
def test_a_hook_may_decide_and_is_never_turned_round(tmp_path: Path, entry: str):
    """A response that is broken is broken also where something must not be in it."""
    ended = one(tmp_path, "x", entry, "post_process: needs_json")

    assert (ended.state, ended.scorer, ended.tier) == ("fail", "post_process", "exact")
    assert (ended.reason, ended.cost_usd) == ("q1 holds no JSON", 0)
    assert one(tmp_path, "x", entry, "post_process: all_is_well").state == "pass"


def test_the_innermost_hook_wins_and_none_undoes_an_outer_one(tmp_path: Path):
    """Beside the cases, in a case, in an expectation."""
    path = write(
        tmp_path,
        """
        post_process: shout
        cases:
          - {id: a, response: x, expect: [exact-match: {value: X, strict: true}]}
          - {id: b, response: x, post_process: none, expect: [exact-match: {value: x, strict: true}]}
          - id: c
            response: x
            post_process: none
            expect:
              - exact-match: {value: X, strict: true, post_process: shout}
              - exact-match: {value: x, strict: true}
          - {id: d, response: x, equivalent: X}
        """,
    )

    assert states(path) == ["pass"] * 5


DEFAULTS = [
    ("defaults: {post_process: shout}", "", "", "PLEASE", "for all"),
    ("defaults: {must-contain: {post_process: shout}}", "", "", "PLEASE", "for a kind"),
    ("defaults: {must-cite: {post_process: shout}}", "", "", "please", "for another kind"),
    (
        "post_process: shout\ndefaults: {post_process: none}",
        "",
        "",
        "please",
        "within those beside the cases",
    ),
    (
        "defaults: {post_process: none, must-contain: {post_process: shout}}",
        "",
        "",
        "PLEASE",
        "a kind is inner",
    ),
    (
        "defaults: {must-contain: {post_process: shout}}",
        "post_process: none",
        "",
        "please",
        "a case is inner",
    ),
    (
        "defaults: {must-contain: {post_process: shout}}",
        "",
        "post_process: none",
        "please",
        "and an expectation",
    ),
    ("defaults: {must-contain: {post_process: none}}", "post_process: shout", "", "PLEASE", "either way"),
]


@pytest.mark.parametrize(("beside", "case", "entry", "wanted", "why"), DEFAULTS)
def test_a_hook_may_stand_in_the_defaults(
    tmp_path: Path, beside: str, case: str, entry: str, wanted: str, why: str
):
    """As other settings of an expectation do."""
    text = (
        f"{beside}\ncases:\n  - id: a\n    response: please\n"
        f"    expect: [{{must-contain: {{value: please{entry and f', {entry}'}}}}}]\n{case and f'    {case}'}\n"
    )
    [loaded] = load_suite(write(tmp_path, text), allow_code=True).cases

    shown = find_shown(loaded.expectations[0], Subject(loaded))

    assert shown is not None
    assert shown.response == wanted


def test_a_wrong_hook_in_the_defaults_is_told_with_its_place(tmp_path: Path):
    """Once, and not for each expectation."""
    text = "defaults: {must-contain: {pre_judge: nobody}}\ncases:\n  - {id: a, response: x, expect: [must-contain: x]}\n"

    with pytest.raises(SuiteError, match=r"defaults\.must-contain\.pre_judge.*nobody") as caught:
        load_suite(write(tmp_path, text), allow_code=True)
    assert len(caught.value.problems) == 1


def test_a_hook_is_run_once_for_all_expectations_of_a_case():
    """They share the text, and what is computed from it."""
    calls: list[str] = []

    def count(response: str) -> str:
        calls.append(response)
        return response

    async def run() -> None:
        async with Evaluator(RunConfig(mode="offline")) as evaluator:
            made = await evaluator.check("must-contain", "x", response="x", post_process=count)
            assert made.state == "pass"
            calls.clear()
            hooked = read_expectation("must-contain", "x", options={"post_process": count})
            both = (replace(hooked, id="a"), replace(hooked, id="b"))
            await evaluator.score(Case(id="c", response="x y", expectations=both))

    asyncio.run(run())

    assert calls == ["x y"]


# What goes wrong


@pytest.mark.parametrize("stage", ["post_process", "pre_judge"])
@pytest.mark.parametrize("name", ["broken", "leaves", "hesitates"])
def test_a_hook_that_fails_is_an_error(tmp_path: Path, stage: str, name: str):
    """Never a fail; what it raised is kept with its traceback."""
    ended = one(tmp_path, "x", "requirement: Is short", f"{stage}: {name}")

    assert ended.state == "error"
    assert ended.failure is not None
    if name == "broken":
        assert "hooks.py" in (ended.failure.traceback or "")
    if name == "hesitates":
        assert f"the {stage} hesitates returned" in ended.failure.message


def test_a_post_process_that_forgets_to_return_is_an_error(tmp_path: Path):
    """None is no text."""
    assert one(tmp_path, "x", "must-contain: x", "post_process: forgets").state == "error"


WRONG = [
    ("post_process: nobody", "bad-hook", "nobody has it"),
    ("post_process: waits", "bad-hook", "an async one where nobody can wait"),
    ("pre_judge: wants_more", "bad-hook", "it asks for what nobody gives"),
    ("pre_judge: [a, b]", "not-text", "a list"),
    ("post_process: 'hooks:nobody'", "no-function", "a name that is not in the file"),
    ("post_process: 'hooks:HOOKS'", "bad-hook", "what is no function"),
    ("post_process: Stripped", "bad-hook", "a class, whose objects are no texts"),
    ("post_proces: shout", "unknown-field", "a slip in the stage"),
]


@pytest.mark.parametrize(("beside", "rule", "why"), WRONG)
def test_a_hook_that_cannot_be_used_is_refused_at_load(tmp_path: Path, beside: str, rule: str, why: str):
    """With its line, before anything is spent."""
    path = write(tmp_path, f"{beside}\ncases:\n  - {{id: a, response: x, expect: [must-contain: x]}}\n")

    with pytest.raises(SuiteError) as caught:
        load_suite(path, allow_code=True)

    assert [(problem.rule, problem.line) for problem in caught.value.problems] == [(rule, 1)], why


@pytest.mark.parametrize("place", ["suite", "case", "expectation"])
def test_a_hook_is_code_and_must_be_allowed(tmp_path: Path, place: str):
    """Wherever it is named."""
    hook = "post_process: shout"
    text = {
        "suite": f"{hook}\ncases:\n  - {{id: a, response: x, expect: [must-contain: x]}}\n",
        "case": f"cases:\n  - {{id: a, response: x, {hook}, expect: [must-contain: x]}}\n",
        "expectation": f"cases:\n  - {{id: a, response: x, expect: [must-contain: {{value: x, {hook}}}]}}\n",
    }[place]

    with pytest.raises(SuiteError, match="code-not-allowed"):
        load_suite(write(tmp_path, text))


# pre_judge


class Answers:
    """A judge that keeps what it was shown."""

    name = "judge"
    tier = "judge"
    judges_whole = True

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        self.shown.append(subject.text)
        return Outcome("fail", "the judge says so", 0.1)


def judged(folder: Path, entry: str, beside: str, response: str = "a long response") -> tuple[Any, list[str]]:
    """What the judge's step of one expectation ends with, and what the judge was shown."""
    text = f"{beside}\ncases:\n  - {{id: q1, response: {response}, expect: [{entry}]}}\n"
    [case] = load_suite(write(folder, text), allow_code=True).cases
    judge = Answers()
    checker = Checker(load_profile(), lambda name, profile: judge)  # type: ignore[arg-type, return-value]  # all that is used of it
    opened = checker.begin(case.expectations[0], Subject(case))
    assert isinstance(opened, OpenExpectation)
    return asyncio.run(checker.ask(opened, None)), judge.shown  # type: ignore[arg-type]  # the judge needs none


def test_a_judge_is_asked_where_the_hook_says_nothing(tmp_path: Path):
    """None is: go on."""
    ended, shown = judged(tmp_path, "requirement: Is short", "pre_judge: quiet")

    assert (ended.state, shown) == ("fail", ["a long response"])


def test_a_judge_may_be_shown_another_text(tmp_path: Path):
    """Also one that the hook had to wait for."""
    ended, shown = judged(tmp_path, "requirement: Is short", "pre_judge: second_half")

    assert (ended.state, shown) == ("fail", ["response"])


@pytest.mark.parametrize("entry", ["requirement: Is short", "not-requirement: Is short"])
def test_a_hook_may_decide_in_the_place_of_the_judge(tmp_path: Path, entry: str):
    """At no cost, and as it stands: it is about the expectation, not- included."""
    ended, shown = judged(tmp_path, entry, "pre_judge: short_ones_pass", response="short")

    assert (ended.state, ended.score, ended.scorer, ended.tier) == ("pass", 0.9, "pre_judge", "exact")
    assert (shown, ended.cost_usd, ended.model) == ([], 0, None)


def test_a_hook_decides_where_there_is_no_judge_at_all(tmp_path: Path):
    """It is run before anybody looks for a model."""
    assert one(tmp_path, "short", "requirement: Is short", "pre_judge: short_ones_pass").state == "pass"
    assert (
        one(tmp_path, "a longer one", "requirement: Is short", "pre_judge: short_ones_pass").state
        == "not-judged"
    )


def test_the_end_of_a_run_cuts_a_hook_off(tmp_path: Path):
    """One that waits for ever is no reason to write no report."""
    code = "import asyncio\nasync def hangs(response):\n    await asyncio.Event().wait()\n"
    text = "pre_judge: 'hooks:hangs'\ncases:\n  - {id: a, response: x, expect: [requirement: Is kind]}\n"
    suite = load_suite(write(tmp_path, text, code), allow_code=True)

    report = evaluate_sync(suite, RunConfig(home=tmp_path / "home", max_time_s=0.3, embedder="none"))

    assert report.leftovers == {"deadline": 1}


def test_pre_judge_is_not_run_where_a_free_check_decides(tmp_path: Path):
    """It stands before the judge and before nothing else."""
    assert one(tmp_path, "PO-4471", "must-contain: PO-4471", "pre_judge: broken").state == "pass"


# What follows for keys and comparisons


def questions(path: Path) -> list[str]:
    """The content keys of what a judge would be asked."""
    checker = Checker(load_profile())
    keys = []
    for case in load_suite(path, allow_code=True).cases:
        for expectation in case.expectations:
            opened = checker.begin(expectation, Subject(case))
            assert isinstance(opened, OpenExpectation)
            keys.append(recording_key(judge_request(expectation, opened.subject)))
    return keys


def test_the_question_to_a_judge_is_kept_under_the_text_that_the_hook_made(tmp_path: Path):
    """Another text is another question; the same text, however it was made, is the same one."""
    path = write(
        tmp_path,
        """
        cases:
          - {id: a, response: please, expect: [requirement: Is kind]}
          - {id: b, response: please, post_process: shout, expect: [requirement: Is kind]}
          - {id: c, response: PLEASE, expect: [requirement: Is kind]}
        """,
    )

    plainly, shouted, capitals = questions(path)

    assert plainly != shouted
    assert shouted == capitals


def test_a_report_says_which_hooks_were_run(tmp_path: Path):
    """With a digest of their file, so that a comparison can tell that one was edited."""
    text = "post_process: shout\ncases:\n  - {id: a, response: x, expect: [must-contain: x]}\n"
    config = RunConfig(home=tmp_path / "home", mode="offline")
    before = evaluate_sync(load_suite(write(tmp_path, text), allow_code=True), config).settings["code"]
    edited = dedent(CODE).replace("upper()", "lower()")
    after = evaluate_sync(load_suite(write(tmp_path, text, edited), allow_code=True), config).settings["code"]

    assert isinstance(before, Mapping)
    assert list(before) == ["shout"]
    assert re.fullmatch("[0-9a-f]{16}", before["shout"])
    assert before != after


def test_a_case_with_another_hook_asks_for_something_else(tmp_path: Path):
    """And for the same again when the same suite is loaded, so that verdicts of another run may stand in for it."""
    text = "cases:\n  - {id: a, response: x, post_process: HOOK, expect: [must-contain: x]}\n"

    def digest(hook: str, folder: str) -> str:
        suite = load_suite(write(tmp_path / folder, text.replace("HOOK", hook)), allow_code=True)
        return next(iter(suite.cases)).asked_digest

    assert digest("shout", "one") == digest("shout", "two")
    assert digest("shout", "one") != digest("strip_thoughts", "one")


def test_a_plan_runs_the_hooks_before_the_free_checks(tmp_path: Path):
    """It tells what a run would do."""
    text = "post_process: needs_json\ncases:\n  - {id: a, response: x, expect: [requirement: Is kind]}\n"

    made = plan(load_suite(write(tmp_path, text), allow_code=True))

    assert (made.by_scorer, made.to_judge_most) == ({"post_process": 1}, 0)


def test_questions_on_two_texts_of_one_response_share_no_call(tmp_path: Path):
    """A pack shows a judge one text, and it is another one behind a hook."""
    text = """
        judge: [openai:gpt-6-luna]
        cases:
          - id: a
            response: please
            expect:
              - requirement: Is kind
              - requirement: Is short
              - requirement: {value: Is loud, post_process: shout}
              - requirement: {value: Is clear, post_process: shout}
        """
    path = write(tmp_path, text)
    bare = write(tmp_path / "bare", text.replace(", post_process: shout", ""))

    made = plan(load_suite(path, allow_code=True))

    assert made.to_judge_most == 2
    assert plan(load_suite(bare, allow_code=True)).to_judge_most == 1


def test_people_see_the_response_as_it_came_and_their_verdict_counts(tmp_path: Path):
    """The sheet has what the suite has, and what they say of that is found behind the hook."""
    text = "post_process: shout\ncases:\n  - {id: a, response: please, expect: [manual: Is kind]}\n"
    suite = load_suite(write(tmp_path, text), allow_code=True)
    [case] = suite.cases
    item = item_of(case, case.expectations[0])
    store = PeopleStore(tmp_path / "home")
    store.add_items([item])
    store.add([Judgement(id=item.id, verdict="pass", by="me")])

    report = evaluate_sync(suite, RunConfig(home=tmp_path / "home", mode="offline"))
    glanced = Checker(load_profile(), people=verdicts_for(tmp_path / "home")).glance(
        case.expectations[0], Subject(case)
    )

    assert item.response == "please"
    assert report.counts.passed == 1
    assert isinstance(glanced, Verdict)
    assert glanced.state == "pass"


def test_a_label_carries_the_text_that_the_checks_look_at(tmp_path: Path):
    """Calibration scores checks on it, and in a run no check sees anything else."""
    text = "post_process: shout\ncases:\n  - {id: a, response: please, expect: [must-contain: kind]}\n"
    [item] = items_of_suite(load_suite(write(tmp_path, text), allow_code=True))
    store = PeopleStore(tmp_path / "home")
    store.add_items([item_from_json(item_to_json(item))])
    store.add([Judgement(id=item.id, verdict="pass", by="me")])

    [row] = label_rows(store)

    assert (item.response, row["response"]) == ("please", "PLEASE")


def test_a_label_follows_a_hook_that_was_changed(tmp_path: Path):
    """The same question, asked again behind another hook, is about another text."""
    text = "post_process: HOOK\ncases:\n  - {id: a, response: please, expect: [must-contain: kind]}\n"
    store = PeopleStore(tmp_path / "home")
    for hook in ("shout", "none", "shout", "strip_thoughts"):
        path = write(tmp_path, text.replace("HOOK", hook))
        [item] = items_of_suite(load_suite(path, allow_code=True))
        store.add_items([item])
        store.add([Judgement(id=item.id, verdict="pass", by="me")])

    [row] = label_rows(store)

    assert row["response"] == "please"


@pytest.mark.parametrize("hook", ["all_is_well", "broken"])
def test_people_are_not_asked_where_a_hook_decides_or_fails(tmp_path: Path, hook: str):
    """Nothing would come of what they say."""
    text = f"post_process: {hook}\ncases:\n  - {{id: a, response: please, expect: [must-contain: kind]}}\n"

    assert not list(items_of_suite(load_suite(write(tmp_path, text), allow_code=True)))


class CoversEverything:
    """A certificate that would decide whatever it is asked about."""

    judges = ()

    def covers(self, expectation: Expectation) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("it was asked")


def test_no_certificate_decides_where_a_hook_stands_before_the_judge(tmp_path: Path):
    """It was made of judges' answers, and knows nothing of the hook."""
    text = "cases:\n  - {id: a, response: some words, HOOKexpect: [must-contain: The sky is blue]}\n"
    checker = Checker(load_profile(), certified=CoversEverything())  # type: ignore[arg-type]  # all that is used of one
    [hooked] = load_suite(write(tmp_path, text.replace("HOOK", "pre_judge: quiet, ")), allow_code=True).cases
    [bare] = load_suite(write(tmp_path, text.replace("HOOK", ""))).cases

    assert isinstance(checker.begin(hooked.expectations[0], Subject(hooked)), OpenExpectation)
    with pytest.raises(AssertionError, match="it was asked"):
        checker.begin(bare.expectations[0], Subject(bare))


# Weak spots


def test_weak_spots_are_looked_for_in_the_text_that_the_hook_made(tmp_path: Path):
    """A mutant is made where the check found what it looked for, and that is a place in that text."""
    text = """
        post_process: HOOK
        cases:
          - id: a
            response: "<think>Perhaps 30 days?</think> It takes 45 days."
            expect:
              - must-contain: {value: 45, unit: days}
              - {kind: must-contain, scorer: regex, value: "4"}
        """
    plain = text.replace("<think>Perhaps 30 days?</think> ", "").replace("post_process: HOOK", "")
    hooked = load_suite(write(tmp_path, text.replace("HOOK", "strip_thoughts")), allow_code=True)
    bare = load_suite(write(tmp_path / "bare", plain), allow_code=True)

    found, wanted = mutate_suite(hooked), mutate_suite(bare)

    assert found.tried == wanted.tried == 2
    assert [problem.message for problem in found.problems] == [problem.message for problem in wanted.problems]
    assert len(found.problems) == 1


@pytest.mark.parametrize("hook", ["broken", "leaves", "needs_json", "forgets"])
def test_what_a_hook_keeps_from_its_checks_has_no_weak_spots(tmp_path: Path, hook: str):
    """It decides or fails, so there is nothing to try; and nothing ends the command."""
    text = f"post_process: {hook}\ncases:\n  - {{id: a, response: x, expect: [must-contain: x]}}\n"

    done = mutate_suite(load_suite(write(tmp_path, text), allow_code=True))

    assert (done.tried, done.untried, done.problems) == (0, 1, ())
