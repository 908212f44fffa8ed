"""Suites of other tools: what is carried over, what is named as left out, and that what comes out loads."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.cli.app import run_app
from tiered_eval.errors import ConfigError
from tiered_eval.importers import ImportedSuite, import_suite, suite_text
from tiered_eval.importers.files import parse_yaml
from tiered_eval.importers.outcome import Unsupported
from tiered_eval.importers.promptfoo_assertions import TYPES
from tiered_eval.importers.promptfoo_tests import parse_expected
from tiered_eval.importers.templates import filled
from tiered_eval.importers.writing import yaml_text
from tiered_eval.records import Case, Expectation
from tiered_eval.suite import load_suite
from tiered_eval.suite.source import plain
from tiered_eval.suite.yaml_reader import read_yaml


def imported(folder: Path, text: str, name: str = "promptfooconfig.yaml") -> ImportedSuite:
    (folder / name).write_text(text, encoding="utf-8")
    return import_suite(folder / name)


def loaded(suite: ImportedSuite, folder: Path, response: Any = "x") -> list[Case]:
    """The cases of the written suite, read by the suite's own loader, each with some response."""
    (folder / "out").mkdir()
    (folder / "out" / "suite.yaml").write_text(suite_text(suite), encoding="utf-8")
    waiting = {
        case["id"]: response
        for case in suite.suite["cases"]
        if "response" not in case and case.get("enabled", True)
    }
    (folder / "out" / "responses.json").write_text(json.dumps(waiting))
    if not waiting:
        return list(load_suite(folder / "out").cases)
    return list(load_suite(folder / "out", responses=folder / "out" / "responses.json").cases)


def promptfoo(*assertions: Any, **test: Any) -> str:
    config = {"prompts": ["{{q}}"], "tests": [{"vars": {"q": "Hi"}, "assert": list(assertions), **test}]}
    return yaml.safe_dump(config, sort_keys=False)


def one(folder: Path, assertion: Any, **test: Any) -> Expectation:
    """The one expectation that one assertion of promptfoo becomes."""
    suite = imported(folder, promptfoo(assertion, **test))
    ((case,),) = [loaded(suite, folder)]
    (made,) = case.expectations
    return made


def left_out(folder: Path, assertion: Any) -> str:
    """Why one assertion of promptfoo is left out."""
    suite = imported(folder, promptfoo({"type": "contains", "value": "a"}, assertion))
    (note,) = suite.left_out
    return str(note)


class TestPromptfooAssertions:
    """One assertion, one expectation."""

    @pytest.mark.parametrize(
        ("assertion", "scorer", "values", "options", "why"),
        [
            ({"type": "equals", "value": "Ann"}, "exact-match", ("Ann",), {"strict": True}, "strictly equal"),
            (
                {"type": "contains", "value": 1.5},
                "contains",
                ("1.5",),
                {"case_sensitive": True},
                "a number is text there",
            ),
            ({"type": "icontains", "value": "a"}, "contains", ("a",), {"case_sensitive": False}, "any case"),
            (
                {"type": "contains-all", "value": 'a, "b, c"'},
                "contains",
                (("a", "b, c"),),
                {"mode": "all", "case_sensitive": True},
                "one text with commas is a list, quotes kept together",
            ),
            (
                {"type": "icontains-any", "value": ["a", "b"]},
                "contains",
                (("a", "b"),),
                {"mode": "any", "case_sensitive": False},
                "a list",
            ),
            (
                {"type": "starts-with", "value": "A"},
                "starts-with",
                ("A",),
                {"case_sensitive": True},
                "the same name",
            ),
            ({"type": "regex", "value": r"\d+"}, "regex", (r"\d+",), {}, "the fast engine where it can"),
            (
                {"type": "regex", "value": r"(?<=a)\d"},
                "regex",
                (r"(?<=a)\d",),
                {"engine": "regex"},
                "the other one for look-behind",
            ),
            ({"type": "is-json"}, "is-json", (None,), {}, "nothing expected"),
            (
                {"type": "is-json", "value": '{"type": "object"}'},
                "is-json",
                ({"type": "object"},),
                {},
                "a schema in a text",
            ),
            (
                {"type": "levenshtein", "value": "abc"},
                "levenshtein",
                ("abc",),
                {"max_distance": 5},
                "its default distance is 5",
            ),
            (
                {"type": "rouge-n", "value": "a b", "threshold": 0.4},
                "rouge",
                ("a b",),
                {"variant": "rouge1", "pass_at": 0.4},
                "a share",
            ),
            (
                {"type": "word-count", "value": {"min": 2, "max": 9}},
                "word-count",
                (None,),
                {"min": 2, "max": 9},
                "bounds",
            ),
            (
                {"type": "similar", "value": "It is late"},
                "semantic",
                ("It is late",),
                {"threshold": 0.75},
                "its default threshold",
            ),
            ({"type": "llm-rubric", "value": "Is polite"}, "llm-rubric", ("Is polite",), {}, "its name"),
            (
                {"type": "llm-rubric", "value": "Is polite", "threshold": 0.8},
                "llm-rubric",
                ("Is polite",),
                {"pass_at": 0.8},
                "its threshold",
            ),
            (
                {"type": "llm-rubric", "value": "Is polite", "threshold": 0},
                "llm-rubric",
                ("Is polite",),
                {},
                "a threshold that everything reaches is none",
            ),
            (
                {"type": "g-eval", "value": ["Is clear", "Is short"]},
                "g-eval",
                ("Is clear", "Is short"),
                {"pass_at": 0.7},
                "its default threshold is 0.7, of the mean",
            ),
            (
                {"type": "g-eval", "value": "Is clear"},
                "g-eval",
                ("Is clear",),
                {"pass_at": 0.7},
                "one criterion",
            ),
            ({"type": "factuality", "value": "Due"}, "factuality", ("Due",), {}, "a reference"),
            ({"type": "model-graded-factuality", "value": "Due"}, "factuality", ("Due",), {}, "its old name"),
            (
                {"type": "model-graded-closedqa", "value": "Says it"},
                "closed-qa",
                ("Says it",),
                {},
                "a criterion",
            ),
            (
                {"type": "answer-relevance", "threshold": 0.9},
                "answer-relevance",
                (None,),
                {"pass_at": 0.9},
                "a share",
            ),
            ({"type": "answer-relevance"}, "answer-relevance", (None,), {}, "the limit is ours"),
            ({"type": "human", "value": "Reads well"}, "manual", ("Reads well",), {}, "left to people"),
            (
                {"type": "llm-rubric", "value": "x", "provider": "openai:chat:gpt-4o"},
                "llm-rubric",
                ("x",),
                {"models": ("openai:gpt-4o",)},
                "its own judge",
            ),
        ],
    )
    def test_carried_over(
        self,
        assertion: dict[str, Any],
        scorer: str | None,
        values: tuple[Any, ...],
        options: dict[str, Any],
        why: str,
        tmp_path: Path,
    ):
        """Value, threshold and defaults keep their meaning."""
        made = one(tmp_path, assertion)

        assert (made.scorer, made.values, dict(made.options)) == (scorer, values, options)
        assert not made.negated

    @pytest.mark.parametrize(
        "kind", ["not-contains", "not-equals", "not-is-json", "not-regex", "not-llm-rubric"]
    )
    def test_not(self, kind: str, tmp_path: Path):
        """`not-` turns the claim round."""
        value = {} if kind == "not-is-json" else {"value": "a"}

        assert one(tmp_path, {"type": kind, **value}).is_negative

    def test_a_context_of_the_variables(self, tmp_path: Path):
        """Graders took question and context from the variables; here they are the case's."""
        config = {
            "prompts": ["{{q}} and {{query}}"],
            "tests": [
                {
                    "vars": {"query": "When?", "context": "It is due in May."},
                    "assert": [
                        {"type": "context-faithfulness", "threshold": 0.9},
                        {"type": "context-recall", "value": "Due in May", "threshold": 0.8},
                        {"type": "context-relevance"},
                        {"type": "not-context-faithfulness"},
                    ],
                }
            ],
        }

        suite = imported(tmp_path, yaml.safe_dump(config))
        (case,) = loaded(suite, tmp_path)

        assert (case.input, case.meta["context"]) == ("When?", "It is due in May.")
        assert [(made.scorer, made.negated, dict(made.options)) for made in case.expectations] == [
            ("context-faithfulness", False, {"pass_at": 0.9}),
            ("context-recall", False, {"pass_at": 0.8}),
            ("context-relevance", False, {}),
            ("context-faithfulness", True, {}),
        ]
        assert "without a threshold everything passed there" in str(suite.notes)

    def test_a_context_that_is_not_there(self, tmp_path: Path):
        """What has nothing to compare with is left out, and named."""
        suite = imported(
            tmp_path, promptfoo({"type": "context-faithfulness"}, {"type": "equals", "value": "a"})
        )

        assert "compares with a context, and there is none" in str(suite.left_out[0])

    def test_relations_of_factuality(self, tmp_path: Path):
        """What scores above 0 there passes here; what is not named scores as it does there."""
        options = {"factuality": {"subset": 0, "superset": 0.6, "disagree": 0}}

        made = one(tmp_path, {"type": "factuality", "value": "It is due"}, options=options)

        assert made.options["passes"] == ("same", "superset", "irrelevant")

    def test_scores_of_relations_that_are_none(self, tmp_path: Path):
        """They are named, and the usual relations pass."""
        suite = imported(
            tmp_path,
            promptfoo(
                {"type": "factuality", "value": "It is due"}, options={"factuality": {"subset": "low"}}
            ),
        )

        assert "a score that is no number" in str(suite.left_out[0])

    def test_a_context_out_of_the_response(self, tmp_path: Path):
        """A program that finds the context is not run; the note says what to write instead."""
        found = {"type": "context-faithfulness", "contextTransform": "output.context", "threshold": 0.9}

        suite = imported(tmp_path, promptfoo(found, {"type": "equals", "value": "a"}))

        assert "say where it is with `context_field`" in str(suite.left_out[0])

    def test_comparisons_of_several_outputs(self, tmp_path: Path):
        """`select-best` is named, as there is one response a case."""
        suite = imported(
            tmp_path, promptfoo({"type": "select-best", "value": "kind"}, {"type": "equals", "value": "a"})
        )

        assert "compares several outputs" in str(suite.left_out[0])

    def test_latency_and_cost(self, tmp_path: Path):
        """Thresholds keep their units: milliseconds and dollars."""
        suite = imported(
            tmp_path, promptfoo({"type": "latency", "threshold": 1500}, {"type": "cost", "threshold": 0.002})
        )

        (case,) = loaded(suite, tmp_path)

        assert [str(one.value) for one in case.expectations] == ["1.500", "0.002"]

    def test_a_negation_is_not_left_to_embeddings(self, tmp_path: Path):
        """`similar` with a negation would be refused; the router decides instead, and that is said."""
        suite = imported(tmp_path, promptfoo({"type": "similar", "value": "It is not late"}))

        ((case,),) = [loaded(suite, tmp_path)]

        assert (case.expectations[0].kind, case.expectations[0].scorer) == ("must-contain", None)
        assert "a negation is not left to embeddings" in str(suite.notes[0])

    @pytest.mark.parametrize("type_", ["llm-rubric", "g-eval"])
    def test_a_grade_from_0_on_gets_a_limit_and_a_word(self, type_: str, tmp_path: Path):
        """A threshold of 0 passed whatever was graded; the scorer's own limit holds here, and that is said."""
        suite = imported(tmp_path, promptfoo({"type": type_, "value": "Is polite", "threshold": 0}))
        (case,) = loaded(suite, tmp_path)
        assert case.expectations[0].options.get("pass_at") != 0
        assert "everything passed there, as from 0 on" in str(suite.notes)

    @pytest.mark.parametrize(
        ("assertion", "said"),
        [
            ({"type": "javascript", "value": "true"}, "it runs code"),
            ({"type": "python", "value": "file://check.py"}, "is a program"),
            ({"type": "moderation"}, "a moderation model"),
            ({"type": "similar:dot", "value": "a"}, "only the cosine"),
            ({"type": "brand-new", "value": "a"}, "nothing like `brand-new`"),
            ({"type": "contains", "value": "a", "transform": "output.trim()"}, "changes the response before"),
            ({"type": "contains", "value": "{{ nowhere }}"}, "there is no variable nowhere"),
            ({"type": "contains", "value": "{{ q | dump }}"}, "more than a variable"),
            ({"type": "contains", "value": "{% if q %}a{% endif %}"}, "a template with logic"),
            ({"type": "contains", "value": "file://nowhere.txt"}, "there is no file"),
            ({"type": "contains", "value": "file://../secret.txt"}, "outside the folder"),
            ({"type": "contains"}, "there is no value"),
            ({"type": "contains", "value": "a", "weight": "heavy"}, "no number"),
            ({"type": "regex", "value": "(("}, "cannot be compiled"),
            ({"type": "latency"}, "without a threshold"),
            ({"type": "rouge-n", "value": "a", "threshold": 0}, "passes from a threshold of 0"),
            ({"type": "bleu", "value": "a", "threshold": "0.0"}, "passes from a threshold of 0"),
            ({"type": "similar", "value": "It is late", "threshold": 0}, "passes from a threshold of 0"),
            ({"value": "a"}, "it has no type"),
            ({"$ref": "#/assertionTemplates/none"}, "is not there"),
            ("contains: a", "it is no mapping"),
        ],
    )
    def test_left_out_with_a_reason(self, assertion: Any, said: str, tmp_path: Path):
        """What cannot be carried over is named with its place and the reason."""
        note = left_out(tmp_path, assertion)

        assert said in note
        assert "tests[0].assert[1]" in note

    def test_weights_and_metrics(self, tmp_path: Path):
        """A weight stays, and a metric is a dimension."""
        made = one(tmp_path, {"type": "contains", "value": "a", "weight": 2.5, "metric": "Facts about {{q}}"})

        assert (made.weight, made.dimension) == (2.5, "Facts about Hi")

    def test_a_set_shares_its_weight(self, tmp_path: Path):
        """The assertions of a set have its weight together, in their proportions, and its metric."""
        suite = imported(
            tmp_path,
            promptfoo(
                {
                    "type": "assert-set",
                    "weight": 6,
                    "threshold": 0.5,
                    "metric": "Form",
                    "assert": [
                        {"type": "is-json"},
                        {"type": "contains", "value": "a", "weight": 2, "metric": "Own"},
                    ],
                }
            ),
        )

        ((case,),) = [loaded(suite, tmp_path)]

        assert [(one.weight, one.dimension) for one in case.expectations] == [(2.0, "Form"), (4.0, "Own")]
        assert case.pass_at == 0.5
        assert "there it was the mean of their scores" in str(suite.notes[-1])

    def test_a_set_among_others_has_no_limit_of_its_own(self, tmp_path: Path):
        """Nothing here can be passed by a part of a case, and that is said with the place."""
        part = {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "is-json"}, {"type": "is-sql"}]}
        suite = imported(tmp_path, promptfoo(part, {"type": "is-refusal"}))

        assert "pass_at" not in suite.suite["cases"][0]
        assert "tests[0].assert[0].threshold: an assert-set passed from 0.5 on" in str(suite.notes[0])

    @pytest.mark.parametrize(
        ("threshold", "pass_at", "said"),
        [
            (0.5, 0.5, "weighted share"),
            ("0.75", 0.75, "weighted share"),
            (1, None, "weighted share"),
            (0, None, "no share of the weights"),
            (1.5, None, "no share of the weights"),
            ("much", None, "no share of the weights"),
        ],
    )
    def test_the_threshold_of_a_test_is_that_of_its_case(
        self, tmp_path: Path, threshold: object, pass_at: float | None, said: str
    ):
        """What is no share is named: from 0 on everything passed there."""
        suite = imported(tmp_path, promptfoo({"type": "is-json"}, {"type": "is-sql"}, threshold=threshold))

        assert suite.suite["cases"][0].get("pass_at") == pass_at
        assert [str(note) for note in suite.notes if said in str(note) and "tests[0].threshold" in str(note)]


class TestPromptfooTests:
    """Where tests come from, and what they share."""

    def test_spelling_stays(self, tmp_path: Path):
        """A version, a word and a date that YAML would retype are what their author wrote."""
        text = "prompts: [x]\ntests:\n" + "".join(
            f"  - assert: [{{type: contains, value: {value}}}]\n"
            for value in ("1.10", "no", "2026-10-21", "007")
        )

        cases = loaded(imported(tmp_path, text), tmp_path)

        assert [case.expectations[0].value for case in cases] == ["1.10", "no", "2026-10-21", "007"]

    def test_anchors_and_templates(self, tmp_path: Path):
        """What is shared by anchors, merge keys and references is written out."""
        text = """\
prompts: [x]
assertionTemplates: {polite: {type: contains, value: please}}
tests:
  - assert: [&a {type: contains, value: b, weight: 2}, {<<: *a, value: c}, {$ref: '#/assertionTemplates/polite'}]
"""

        (case,) = loaded(imported(tmp_path, text), tmp_path)

        assert [(one.value, one.weight) for one in case.expectations] == [("b", 2), ("c", 2), ("please", 1)]

    def test_an_alias_bomb_is_refused(self, tmp_path: Path):
        """A few anchors that expand to billions do not."""
        lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]

        with pytest.raises(ConfigError, match="expands to too much"):
            imported(tmp_path, "\n".join(lines))

    def test_defaults(self, tmp_path: Path):
        """Assertions and variables of `defaultTest` are in each test, its own after them, unless it declines."""
        text = """\
prompts: ['{{a}} {{b}}']
defaultTest: {vars: {a: one, b: two}, assert: [{type: contains, value: '{{b}}'}]}
tests:
  - {vars: {b: 2}, assert: [{type: contains, value: own}]}
  - {assert: [{type: contains, value: own}], options: {disableDefaultAsserts: true}}
"""

        first, second = loaded(imported(tmp_path, text), tmp_path)

        assert [one.value for one in first.expectations] == ["2", "own"]
        assert first.input == "one 2"
        assert [one.value for one in second.expectations] == ["own"]

    def test_lists_of_variables(self, tmp_path: Path):
        """Each combination is a case, with an id of its own."""
        text = """\
prompts: ['{{a}}{{b}}']
tests: [{description: T, vars: {a: [x, y], b: ['1', '2']}, assert: [{type: contains, value: '{{a}}{{b}}'}]}]
"""

        cases = loaded(imported(tmp_path, text), tmp_path)

        assert [(case.id, case.input, case.expectations[0].value) for case in cases] == [
            ("T / 1", "x1", "x1"),
            ("T / 2", "x2", "x2"),
            ("T / 3", "y1", "y1"),
            ("T / 4", "y2", "y2"),
        ]

    def test_prompts(self, tmp_path: Path):
        """Each prompt is a case; a chat in JSON stays a chat; a prompt of a program is named."""
        chat = '[{"role": "user", "content": "Say {{q}}"}]'
        config = {
            "prompts": ["A {{q}}", chat, "file://prompt.py"],
            "tests": [{"vars": {"q": "hi"}, "assert": [{"type": "contains", "value": "a"}]}],
        }

        suite = imported(tmp_path, yaml.safe_dump(config))
        cases = loaded(suite, tmp_path)

        assert [case.id for case in cases] == ["test-1 / prompt 1", "test-1 / prompt 2"]
        assert cases[0].input == "A hi"
        assert "Say hi" in (cases[1].input or "")
        assert "made by a program" in str(suite.left_out[0])

    def test_csv(self, tmp_path: Path):
        """Columns are variables; `__expected` is an assertion in one line; other columns of its own are read or named."""
        (tmp_path / "tests.csv").write_text(
            "q,__expected,__expected2,__description,__metric,__metadata:team,__threshold,__provider\n"
            'Who?,Ann,"icontains-any: a,b",Names,Facts,blue,0.5,x\n'
            "How?,similar(0.9): by car,,,,,,\n"
        )

        suite = imported(tmp_path, "prompts: ['{{q}}']\ntests: file://tests.csv\n")
        first, second = loaded(suite, tmp_path)

        assert (first.id, first.input) == ("Names", "Who?")
        assert [(one.scorer, one.dimension) for one in first.expectations] == [
            ("exact-match", "Facts"),
            ("contains", "Facts"),
        ]
        assert first.meta["metadata"] == {"team": "blue"}
        assert second.expectations[0].options["threshold"] == 0.9
        assert [str(note) for note in suite.left_out] == [
            "left out: tests.csv:2: the column __provider has nothing like it here"
        ]
        assert (first.pass_at, second.pass_at) == (0.5, None)

    def test_notes_name_what_stands_there(self, tmp_path: Path):
        """Assertions are counted as the author wrote them, parts of the defaults are the defaults', equal notes are one."""
        suite = imported(
            tmp_path,
            """
prompts: ['A {{q}}', 'B {{q}}', 'C {{q}}']
defaultTest:
  options: {transform: 'output.trim()'}
  threshold: 0.5
  assert:
    - {type: is-json}
    - {type: moderation}
tests:
  - vars: {q: Hi}
    assert:
      - {type: is-sql}
      - {type: javascript, value: 'true'}
  - vars: {q: Ho}
    options: {disableDefaultAsserts: true, transform: 'x'}
    assert:
      - {type: perplexity, threshold: 3}
""",
        )

        left_out = [str(note).removeprefix("left out: ") for note in suite.left_out]
        starts = [text.partition(": ")[0] for text in left_out]
        assert starts == [
            "defaultTest.options.transform",
            "defaultTest.assert[1]",
            "tests[0].assert[1]",
            "tests[1].options.transform",
            "tests[1].assert[0]",
            "tests[1]",
        ]
        assert all(text.endswith("(in 3 cases)") for text in left_out)
        assert [str(note) for note in suite.notes if "defaultTest.threshold" in str(note)]

    def test_what_a_case_cannot_have_is_named_apart(self, tmp_path: Path):
        """Two graders that need a context, in a test without one, are two notes with a place each."""
        suite = imported(
            tmp_path,
            promptfoo(
                {"type": "is-json"},
                {"type": "context-faithfulness", "threshold": 0.9},
                {"type": "context-relevance", "threshold": 0.9},
            ),
        )

        places = [note.place for note in suite.left_out]
        assert places == ["tests[0].assert[1]", "tests[0].assert[2]"]

    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("Ann", {"type": "equals", "value": "Ann"}),
            ("contains: a: b", {"type": "contains", "value": "a: b"}),
            ("not-contains: a", {"type": "not-contains", "value": "a"}),
            ("similar(0.8): hello", {"type": "similar", "value": "hello", "threshold": "0.8"}),
            ("is-json", {"type": "is-json"}),
            ("latency(500)", {"type": "latency", "threshold": "500"}),
            ("grade: is polite", {"type": "llm-rubric", "value": "is polite"}),
            ("fn: output > 1", {"type": "javascript", "value": "output > 1"}),
            ("Answer: 42", {"type": "equals", "value": "Answer: 42"}),
            ("http://x.org", {"type": "equals", "value": "http://x.org"}),
            ("contains", {"type": "equals", "value": "contains"}),
        ],
    )
    def test_assertions_in_one_line(self, text: str, made: dict[str, Any]):
        """The notation of `__expected`; whatever is none of it is what the output equals."""
        assert parse_expected(text) == made

    def test_scenarios(self, tmp_path: Path):
        """Each set of a scenario meets each of its tests."""
        text = """\
prompts: ['{{lang}} {{q}}']
scenarios:
  - config: [{vars: {lang: de}}, {vars: {lang: fr}}]
    tests: [{vars: {q: a}, assert: [{type: contains, value: '{{lang}}'}]}]
"""

        cases = loaded(imported(tmp_path, text), tmp_path)

        assert [(case.input, case.expectations[0].value) for case in cases] == [
            ("de a", "de"),
            ("fr a", "fr"),
        ]

    def test_what_stands_in_files(self, tmp_path: Path):
        """Tests by a pattern, scenarios, their sets, variables and prompts are read from the files that are named."""
        files = {
            "t/b.yaml": "- {vars: {q: b}, assert: [{type: contains, value: '{{q}}'}]}",
            "t/a.yaml": "- {vars: file://v.yaml, assert: [{type: contains, value: '{{q}}'}]}",
            "v.yaml": "{q: a}",
            "s.yaml": "- {config: file://c.yaml, tests: [{assert: [{type: contains, value: '{{q}}'}]}]}",
            "c.yaml": "[{vars: {q: c}}, {vars: {q: d}}]",
            "p.txt": "Say {{q}}",
        }
        (tmp_path / "t").mkdir()
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        config = "{prompts: [{id: 'file://*.txt', label: p}], tests: 'file://t/*.yaml', scenarios: [file://s.yaml]}"

        suite = imported(tmp_path, config)

        assert suite.left_out == ()
        assert [(case.input, case.expectations[0].value) for case in loaded(suite, tmp_path)] == [
            (f"Say {letter}", letter) for letter in "abcd"
        ]

    @pytest.mark.parametrize(
        ("test", "place", "said"),
        [
            ({"vars": "file://gone.yaml"}, "tests[0].vars", "there is no file"),
            ({"vars": ["file://list.yaml"]}, "tests[0].vars", "holds no variables"),
            ({"vars": {"q": "file://gone.txt"}}, "tests[0].vars.q", "there is no file"),
            ({"assert": {"type": "contains", "value": "a"}}, "tests[0].assert", "it is no list"),
            ("file://gone/*.yaml", "tests[0]", "there is no file like"),
            ("file:///etc/*.yaml", "tests[0]", "cannot be followed"),
            ("file://../*/promptfooconfig.yaml", "tests[0]", "outside the folder"),
            ("file://list.yaml", "file://list.yaml[0]", "it is no mapping"),
        ],
    )
    def test_what_is_not_in_files_is_named(self, test: Any, place: str, said: str, tmp_path: Path):
        """Its place and why; no variable has the name of a file for its value."""
        (tmp_path / "list.yaml").write_text("[a, b]")
        sure = {"assert": [{"type": "contains", "value": "a"}, {"type": "not-contains", "value": "{{q}}"}]}
        other = {**sure, **test} if isinstance(test, dict) else test

        suite = imported(tmp_path, yaml.safe_dump({"prompts": ["x"], "tests": [other, sure]}))

        assert any(note.place == place and said in note.text for note in suite.left_out)
        assert "file://" not in json.dumps(suite.suite["cases"])

    def test_a_set_that_is_not_there_is_named(self, tmp_path: Path):
        """The tests of a scenario are not imported as if it had none."""
        text = "{prompts: [x], tests: [{assert: [{type: is-json}]}], scenarios: [{config: [file://c.yaml], tests: [{}]}]}"

        suite = imported(tmp_path, text)

        assert [note.place for note in suite.left_out] == ["scenarios[0].config[0]"]

    def test_who_grades(self, tmp_path: Path):
        """The judge of a test's options is asked where an assertion names none; one that is none here is named once."""
        graded = {"type": "llm-rubric", "value": "Is polite"}
        own = {**graded, "provider": {"id": "anthropic:messages:claude-opus-4-8", "config": {}}}
        other = {**graded, "provider": {"text": {"id": "ollama:x"}}}
        free = {"type": "contains", "value": "a"}
        suite = imported(
            tmp_path, promptfoo(graded, own, other, free, other, options={"provider": "openai:gpt-6"})
        )

        (case,) = loaded(suite, tmp_path)

        assert [one.options.get("models") for one in case.expectations] == [
            ("openai:gpt-6",),
            ("anthropic:claude-opus-4-8",),
            None,
            None,
            None,
        ]
        assert [(note.place, note.text) for note in suite.left_out] == [
            ("tests[0].assert[2].provider", "ollama:x is no judge here: the suite's judge is asked")
        ]

    def test_a_provider_of_what_no_model_decides(self, tmp_path: Path):
        """An embedder's name does not cost the assertion."""
        similar = {
            "type": "similar",
            "value": "It runs daily",
            "provider": "openai:embedding:text-embedding-4-large",
        }
        suite = imported(tmp_path, promptfoo(similar))

        assert [case["expect"] for case in suite.suite["cases"]] == [
            [{"similar": {"value": "It runs daily", "threshold": 0.75}}]
        ]
        assert [note.place for note in suite.left_out] == ["tests[0].assert[0].provider"]

    def test_a_weight_of_0_among_others(self, tmp_path: Path):
        """It is shown, and counts for nothing, as there; alone it leaves nothing to count."""
        free = {"type": "contains", "value": "a"}
        (case,) = loaded(imported(tmp_path, promptfoo(free, {**free, "weight": 0})), tmp_path)

        assert [one.weight for one in case.expectations] == [1, 0]
        alone = imported(tmp_path, promptfoo({**free, "weight": 0}))
        assert "all weights are 0" in str(alone.left_out)

    def test_responses_in_the_tests(self, tmp_path: Path):
        """`providerOutput` is the response, and then no file of responses is needed."""
        suite = imported(tmp_path, promptfoo({"type": "contains", "value": "a"}, providerOutput="a b"))

        (case,) = loaded(suite, tmp_path)

        assert suite.has_responses
        assert case.response == "a b"

    def test_exported_results(self, tmp_path: Path):
        """Results that promptfoo wrote have responses, and what was measured."""
        row = {
            "testCase": {"vars": {"q": "Hi"}, "assert": [{"type": "contains", "value": "{{q}}"}]},
            "prompt": {"raw": "Say Hi"},
            "vars": {"q": "Hi"},
            "response": {"output": "Hi!"},
            "latencyMs": 120,
            "cost": 0.001,
        }
        failed = {**row, "response": {"error": "503"}}
        data = {"results": {"results": [row, failed]}, "config": {"description": "Greets"}}

        suite = imported(tmp_path, json.dumps(data), "out.json")
        (case,) = loaded(suite, tmp_path)

        assert (suite.suite["name"], case.input, case.response) == ("Greets", "Say Hi", "Hi!")
        assert (case.meta["latency_ms"], case.meta["cost_usd"]) == (120, 0.001)
        assert "the provider failed" in str(suite.left_out[0])

    def test_a_case_without_expectations_is_switched_off(self, tmp_path: Path):
        """Its place is kept, and the suite still loads."""
        text = (
            promptfoo({"type": "javascript", "value": "x"})
            + "- vars: {q: b}\n  assert: [{type: contains, value: b}]\n"
        )

        suite = imported(tmp_path, text)

        assert [case.get("enabled", True) for case in suite.suite["cases"]] == [False, True]
        assert len(loaded(suite, tmp_path)) == 1


class TestOpenAI:
    """Samples, registry, and exports of the platform."""

    SAMPLES = (
        '{"input": [{"role": "user", "content": "Capital of France?"}], "ideal": "Paris"}\n'
        '{"input": "2+2?", "ideal": ["4", "four"], "difficulty": 1}\n'
    )

    def test_samples(self, tmp_path: Path):
        """Samples alone are checked as `Match` does."""
        first, second = loaded(imported(tmp_path, self.SAMPLES, "samples.jsonl"), tmp_path)

        assert (first.expectations[0].scorer, first.expectations[0].value) == ("starts-with", "Paris")
        assert (second.expectations[0].values, second.expectations[0].match) == (("4", "four"), "any")
        assert second.meta["sample"] == {"difficulty": 1}

    @pytest.mark.parametrize(
        ("kind", "args", "scorer", "kind_of_ours"),
        [
            ("evals.elsuite.basic.match:Match", "", "starts-with", "check"),
            ("evals.elsuite.basic.includes:Includes", "", "contains", "check"),
            ("evals.elsuite.basic.fuzzy_match:FuzzyMatch", "", None, "equivalent"),
            (
                "evals.elsuite.modelgraded.classify:ModelBasedClassify",
                "modelgraded_spec: fact",
                "factuality",
                "check",
            ),
            (
                "evals.elsuite.modelgraded.classify:ModelBasedClassify",
                "modelgraded_spec: closedqa\n    modelgraded_spec_args: {criteria: Is it correct?}",
                "closed-qa",
                "check",
            ),
        ],
    )
    def test_registry(self, kind: str, args: str, scorer: str | None, kind_of_ours: str, tmp_path: Path):
        """The class of a registered eval says how its samples are checked, also in the repository's folders."""
        (tmp_path / "evals").mkdir()
        (tmp_path / "data" / "caps").mkdir(parents=True)
        (tmp_path / "data" / "caps" / "samples.jsonl").write_text(self.SAMPLES.splitlines()[0])
        text = f"caps: {{id: caps.v0}}\ncaps.v0:\n  class: {kind}\n  args:\n    samples_jsonl: caps/samples.jsonl\n"
        suite = imported(tmp_path / "evals", text + (f"    {args}\n" if args else ""), "caps.yaml")

        (case,) = loaded(suite, tmp_path)

        assert (case.expectations[0].kind, case.expectations[0].scorer) == (kind_of_ours, scorer)

    @pytest.mark.parametrize(
        ("args", "sample", "criterion"),
        [
            (
                ", modelgraded_spec_args: {criteria: Is it short?}",
                {"ideal": "Paris"},
                "Is it short?",
            ),  # of the eval
            (
                "",
                {"criteria": "Names one city"},
                "Names one city",
            ),  # of the sample, which needs no ideal answer
            ("", {"ideal": "Paris"}, None),  # the ideal answer is no criterion
        ],
    )
    def test_what_closedqa_asks(
        self, args: str, sample: dict[str, str], criterion: str | None, tmp_path: Path
    ):
        """The criterion is the one that was written, and never the ideal answer, which its judge does not see."""
        (tmp_path / "s.jsonl").write_text(json.dumps({"input": "Capital?", **sample}))
        text = f"x: {{class: 'a.b:ModelBasedClassify', args: {{samples_jsonl: s.jsonl, modelgraded_spec: closedqa{args}}}}}"

        suite = imported(tmp_path, text, "x.yaml")

        (case,) = suite.suite["cases"]
        assert case.get("expect") == (None if criterion is None else [{"closed-qa": criterion}])
        assert ("closedqa without criteria" in str(suite.left_out)) == (criterion is None)

    def test_several_ideal_answers_for_fact(self, tmp_path: Path):
        """Each of them is a reference of its own."""
        (tmp_path / "s.jsonl").write_text(json.dumps({"input": "2+2?", "ideal": ["4", "four"]}))
        text = "x: {class: 'a.b:ModelBasedClassify', args: {samples_jsonl: s.jsonl, modelgraded_spec: fact}}"

        (case,) = loaded(imported(tmp_path, text, "x.yaml"), tmp_path)

        assert (case.expectations[0].scorer, case.expectations[0].match) == ("factuality", "any")
        assert case.expectations[0].values == ("4", "four")

    def test_a_class_of_its_own(self, tmp_path: Path):
        """It is named, and its samples are switched off."""
        (tmp_path / "s.jsonl").write_text(self.SAMPLES)
        suite = imported(tmp_path, "x: {class: 'my.own:Solver', args: {samples_jsonl: s.jsonl}}", "x.yaml")

        assert "the class Solver does more" in str(suite.left_out[0])
        assert not any("expect" in case for case in suite.suite["cases"])

    def platform(self, *graders: dict[str, Any]) -> str:
        item = {
            "datasource_item_id": 7,
            "datasource_item": {"question": "Which?", "label": "billing"},
            "sample": {
                "input": [{"role": "user", "content": "Which?"}],
                "output": [{"role": "assistant", "content": "It is billing."}],
            },
        }
        return json.dumps(
            {"eval": {"name": "Labels", "testing_criteria": list(graders)}, "output_items": {"data": [item]}}
        )

    def test_graders(self, tmp_path: Path):
        """String checks and similarities are carried over with the reference of each item; responses are there."""
        text = self.platform(
            {
                "type": "string_check",
                "name": "Right",
                "input": "{{ sample.output_text }}",
                "reference": "{{ item.label }}",
                "operation": "ilike",
            },
            {
                "type": "string_check",
                "name": "Field",
                "input": "{{sample.output_json.kind}}",
                "reference": "{{item.label}}",
                "operation": "ne",
            },
            {
                "type": "text_similarity",
                "name": "Near",
                "input": "{{sample.output_text}}",
                "reference": "The {{item.label}} one",
                "evaluation_metric": "fuzzy_match",
                "pass_threshold": 0.8,
            },
        )

        suite = imported(tmp_path, text, "eval.json")
        (case,) = loaded(suite, tmp_path)

        assert (case.id, case.response) == ("item-7", "It is billing.")
        assert [(one.scorer, one.value, one.dimension) for one in case.expectations] == [
            ("contains", "billing", "Right"),
            ("exact-match", "billing", "Field"),
            ("fuzzy-string", "The billing one", "Near"),
        ]
        assert (case.expectations[1].negated, case.expectations[1].options["field"]) == (True, "kind")
        assert case.expectations[2].options["pass_at"] == 0.8

    @pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
    def test_runs_of_words_are_compared_by_their_length(self, order: int, tmp_path: Path):
        """Each ROUGE of the platform is one here."""
        near = {"type": "text_similarity", "input": "{{sample.output_text}}", "reference": "a b c d e"}

        suite = imported(
            tmp_path, self.platform({**near, "evaluation_metric": f"rouge_{order}"}), "eval.json"
        )
        (case,) = loaded(suite, tmp_path)

        (one,) = case.expectations
        assert (one.scorer, one.options["variant"]) == ("rouge", f"rouge{order}")

    def test_graders_that_ask_a_model(self, tmp_path: Path):
        """Their prompt is the criterion, filled in for the item; a range of scores becomes a share."""
        prompt = "Score {{ sample.output_text }} by {{ item.question }}"
        text = self.platform(
            {
                "type": "score_model",
                "name": "Good",
                "model": "gpt-6-luna",
                "input": [{"role": "user", "content": {"type": "input_text", "text": prompt}}],
                "range": [1, 5],
                "pass_threshold": 4,
            },
            {
                "type": "label_model",
                "name": "Mood",
                "model": "gpt-6-luna",
                "input": [{"role": "system", "content": "Name the mood."}],
                "labels": ["kind", "curt"],
                "passing_labels": ["kind"],
            },
        )

        (case,) = loaded(imported(tmp_path, text, "eval.json"), tmp_path)

        score, label = case.expectations
        assert (score.scorer, score.value, score.dimension) == (
            "llm-judge",
            "Score the response by Which?",
            "Good",
        )
        assert dict(score.options) == {"pass_at": 0.75, "models": ("openai:gpt-6-luna",)}
        assert (label.scorer, label.dimension) == ("llm-rubric", "Mood")
        assert label.value.startswith("Name the mood.")
        assert label.value.endswith("Of the labels 'kind', 'curt', the one that fits is 'kind'.")

    @pytest.mark.parametrize(
        ("grader", "said"),
        [
            ({"type": "python", "name": "p", "source": "..."}, "it runs code"),
            ({"type": "score_model", "name": "s"}, "its prompt has no text"),
            ({"type": "multi", "name": "m"}, "a score from other graders"),
            (
                {"type": "score_model", "input": [{"role": "user", "content": "{{sample.output_json.a}}"}]},
                "more of the sample than its output",
            ),
            (
                {
                    "type": "score_model",
                    "input": [{"role": "user", "content": "Score"}],
                    "range": [1, 1],
                    "pass_threshold": 1,
                },
                "its range or threshold is no number",
            ),
            (
                {"type": "label_model", "input": [{"role": "user", "content": "Choose"}], "labels": ["a"]},
                "none that passes",
            ),
            (
                {"type": "string_check", "input": "{{item.a}}", "reference": "b", "operation": "eq"},
                "does not compare the output",
            ),
            (
                {
                    "type": "string_check",
                    "input": "{{sample.output_text}}",
                    "reference": "{{item.gone}}",
                    "operation": "eq",
                },
                "there is no variable item.gone",
            ),
            (
                {
                    "type": "text_similarity",
                    "input": "{{sample.output_text}}",
                    "reference": "x",
                    "evaluation_metric": "meteor",
                },
                "nothing like the metric meteor",
            ),
        ],
    )
    def test_graders_that_are_left_out(self, grader: dict[str, Any], said: str, tmp_path: Path):
        """Each is named once, with the reason."""
        suite = imported(tmp_path, self.platform(grader), "eval.json")

        assert said in str(suite.left_out[0])

    def test_a_sample_without_an_answer_hides_no_others(self, tmp_path: Path):
        """The file is known by the rest, and what it lacks is named."""
        rows = [{"input": "2+2?"}, {"input": "3+3?", "ideal": "6"}]

        suite = imported(tmp_path, "\n".join(map(json.dumps, rows)), "sums.jsonl")

        assert suite.source == "OpenAI evals"
        assert ["expect" in case for case in suite.suite["cases"]] == [False, True]
        assert "no ideal answer" in str(suite.left_out[0])

    def test_items_that_lack_something(self, tmp_path: Path):
        """A failed output is no case, and each item counts that a grader could not be carried over for."""
        grader = {
            "type": "string_check",
            "name": "Same",
            "operation": "eq",
            "input": "{{sample.output_text}}",
            "reference": "{{item.answer}}",
        }
        good = {"output_text": "Paris"}
        items = [
            {"datasource_item": {"answer": "Paris"}, "sample": good},
            {"datasource_item": {}, "sample": good},
            {"datasource_item": {}, "sample": good},
            {"datasource_item": {"answer": "Rome"}, "sample": {"output": [], "error": {"code": "timeout"}}},
        ]
        export = {"eval": {"testing_criteria": [grader]}, "output_items": items}

        suite = imported(tmp_path, json.dumps(export), "export.json")

        assert suite.has_responses
        assert ["expect" in case for case in suite.suite["cases"]] == [True, False, False]
        notes = [str(note) for note in suite.left_out]
        assert "left out: testing_criteria[0]: Same: there is no variable item.answer (in 2 cases)" in notes
        assert any("item 4: its output has no text" in note for note in notes)


class TestArena:
    """agent-arena's tests."""

    TYPES = (
        (
            "classification",
            {"reference": "billing", "options": {"labels": ["billing", "other"]}},
            "classification",
        ),
        ("exact_match", {"reference": "Paris"}, "exact-match"),
        ("contains", {"reference": ["a", "b"], "options": {"mode": "any"}}, "contains"),
        ("regex", {"reference": r"PO-\d+"}, "regex"),
        ("numeric", {"reference": 42, "options": {"tolerance": 0.01, "relative": True}}, "numeric"),
        ("json_match", {"reference": {"a": 1}}, "json-match"),
        ("semantic", {"reference": "It is late"}, "lexical-cosine"),
        ("code_exec", {"reference": "assert add(1, 2) == 3", "options": {"timeout": 5}}, "code-exec"),
        ("llm_judge", {"options": {"judge": {"prompt": "How polite is it?"}}}, "llm-judge"),
        ("manual", {"reference": "A kind answer"}, "manual"),
    )

    @pytest.mark.parametrize(("kind", "test", "scorer"), TYPES, ids=[row[0] for row in TYPES])
    def test_eval_types(self, kind: str, test: dict[str, Any], scorer: str | None, tmp_path: Path):
        """Each builtin type becomes the scorer of its name."""
        suite = imported(
            tmp_path, yaml.safe_dump([{"id": "t", "input": "Q", "eval_type": kind, **test}]), "tests.yaml"
        )

        (case,) = loaded(suite, tmp_path)

        assert (case.id, case.input, case.expectations[0].scorer) == ("t", "Q", scorer)
        assert not suite.left_out

    def test_the_judge_of_a_case(self, tmp_path: Path):
        """Prompt, model, limit and reference of `llm_judge` keep their meaning."""
        test = {
            "id": "t",
            "input": "Q",
            "eval_type": "llm_judge",
            "reference": "A kind answer",
            "judge": {"prompt": "How polite is it?", "model": "claude-sonnet-5"},
            "options": {"pass_at": 0.8},
        }

        (case,) = loaded(imported(tmp_path, yaml.safe_dump([test]), "tests.yaml"), tmp_path)

        (made,) = case.expectations
        assert (made.scorer, made.value) == ("llm-judge", "How polite is it?")
        assert dict(made.options) == {
            "pass_at": 0.8,
            "reference": "A kind answer",
            "models": ("anthropic:claude-sonnet-5",),
        }

    def test_defaults_of_the_project(self, tmp_path: Path):
        """Type, options and judge that a case does not name are the project's, from the file beside it."""
        (tmp_path / "project.yaml").write_text(
            "name: Triage\njudge: {model: claude-sonnet-5}\n"
            "scorers: {default: classification, options: {classification: {labels: [billing, other]}}}\n"
        )

        suite = imported(tmp_path, "tests: [{id: t, input: Q, reference: billing, weight: 2}]", "tests.yaml")
        (case,) = loaded(suite, tmp_path)

        assert suite.suite["name"] == "Triage"
        assert suite.suite["judge"] == {"models": ["anthropic:claude-sonnet-5"]}
        assert case.expectations[0].options["labels"] == ("billing", "other")
        assert case.expectations[0].weight == 2

    @pytest.mark.parametrize(
        ("own", "asked"),
        [({}, "How kind is it?"), ({"judge": {"prompt": "How short is it?"}}, "How short is it?")],
        ids=["the project's", "its own"],
    )
    def test_the_prompt_of_the_project(self, own: dict[str, object], asked: str, tmp_path: Path):
        """`llm_judge` asks what the project's judge is told to ask, unless a case says something else."""
        project = {"judge": {"model": "claude-sonnet-5", "prompt": "How kind is it?"}}
        (tmp_path / "project.yaml").write_text(yaml.safe_dump(project))
        tests = {"tests": [{"id": "t", "input": "Q", "eval_type": "llm_judge", **own}]}

        suite = imported(tmp_path, yaml.safe_dump(tests), "tests.yaml")
        (case,) = loaded(suite, tmp_path)

        assert not suite.left_out
        assert [(made.scorer, made.value) for made in case.expectations] == [("llm-judge", asked)]

    @pytest.mark.parametrize(
        ("test", "said"),
        [
            ({"eval_type": "tone", "reference": "x"}, "`tone` is a scorer of your own"),
            ({"eval_type": "classification", "reference": "x"}, "without labels"),
            ({"eval_type": "contains"}, "without a reference"),
            (
                {"eval_type": "semantic", "reference": "x", "options": {"embedding": "m:f"}},
                "the option embedding",
            ),
            (
                {"eval_type": "contains", "reference": "x", "post_process": "strip"},
                "changes the response before",
            ),
            ({"eval_type": "regex", "reference": "(("}, "cannot be compiled"),
        ],
    )
    def test_left_out_with_a_reason(self, test: dict[str, Any], said: str, tmp_path: Path):
        """A scorer of one's own, and what would score wrongly, are named."""
        other = {"id": "b", "input": "Q", "eval_type": "contains", "reference": "x"}
        suite = imported(tmp_path, yaml.safe_dump([{"id": "a", "input": "Q", **test}, other]), "tests.yaml")

        assert said in " ".join(str(note) for note in suite.left_out)


class TestWriting:
    """The YAML that is written."""

    @given(
        st.recursive(
            st.one_of(
                st.none(),
                st.booleans(),
                st.integers(-(10**9), 10**9),
                st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30),
                st.sampled_from(
                    ["no", "1.10", "1e3", "007", "null", "~", "a\nb\n", " x", "x ", "- a", "#", "{{", "="]
                ),
            ),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.text("abc-: ", min_size=1, max_size=6).filter(str.strip), inner, max_size=4
                )
            ),
            max_leaves=12,
        )
    )
    def test_what_is_written_is_read(self, value: Any):
        """Every value comes back through the suite's own reader, texts letter for letter."""
        assert plain(read_yaml(yaml_text({"v": value}), [])) == {"v": value}

    @pytest.mark.parametrize("text", ["\x85", "a\u2028b", "a\u2029\nb", "yes\x85"], ids=ascii)
    def test_rare_line_breaks_are_kept(self, text: str):
        """YAML knows more line breaks than ``\\n``; they come back as they were."""
        assert plain(read_yaml(yaml_text({"v": text}), [])) == {"v": text}

    def test_notes_stand_at_the_top(self, tmp_path: Path):
        """Whoever opens the suite sees what is missing."""
        suite = imported(
            tmp_path, promptfoo({"type": "contains", "value": "a"}, {"type": "javascript", "value": "x\n# y"})
        )

        head = suite_text(suite).split("name:")[0].splitlines()

        assert head[0] == "# Imported from promptfoo."
        assert all(line.startswith("#") for line in head if line)
        assert any("javascript: it runs code" in line for line in head)


class TestReading:
    """Files and templates."""

    def test_scalars_of_yaml(self):
        """What JSON types is typed and keeps its spelling; all else is text."""
        value = parse_yaml("{a: 1.10, b: yes, c: 0x1F, d: null, e: 2026-10-21, f: true, g: 1_000}")

        assert {key: str(item) for key, item in value.items()} == {
            "a": "1.10",
            "b": "yes",
            "c": "0x1F",
            "d": "None",
            "e": "2026-10-21",
            "f": "true",
            "g": "1_000",
        }

    def test_tags_are_refused(self):
        """No object of any language is made."""
        with pytest.raises(ValueError, match="tag"):
            parse_yaml("a: !!python/object/apply:os.system [true]")

    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("a {{ x }} b", "a 1 b"),
            ("{{x}}{{ y.z }}", "12"),
            ("{{ l[1] }}", "b"),
            ("{{ y }}", '{"z": 2}'),
            ("{ x }", "{ x }"),
            ("{{ l[1] | upper }} {{l[1]|upper|lower}}", "B b"),
            ("{{ s | trim }}", "c"),
        ],
    )
    def test_templates(self, text: str, made: str):
        """Variables, their parts, and nothing else."""
        assert filled(text, {"x": 1, "y": {"z": 2}, "l": ["a", "b"], "s": " c "}) == made

    @pytest.mark.parametrize(
        "text",
        [
            "{{ x + 1 }}",
            "{{ gone }}",
            "{{ f(x) }}",
            "{% for %}",
            "{{ null }}",
            "{{ x | dump }}",
            "{{ x | default('a') }}",
        ],
    )
    def test_templates_that_are_more(self, text: str):
        """They are refused instead of being left empty."""
        with pytest.raises(Unsupported):
            filled(text, {"x": 1, "null": None})

    @pytest.mark.parametrize(
        ("name", "text", "said"),
        [
            ("x.yaml", "a: [", "cannot read"),
            ("x.yaml", "a: b", "looks like none of"),
            ("x.json", "{", "cannot read"),
            ("x.json", '{"tests": [], "prompts": []}', "no tests"),
            (
                "x.json",
                '{"tests": "https://example.com/t.csv", "prompts": []}',
                "no tests .*is not a file of this folder",
            ),
            ("x.yaml", "", "looks like none of"),
        ],
    )
    def test_what_is_no_suite(self, name: str, text: str, said: str, tmp_path: Path):
        """It is told."""
        with pytest.raises(ConfigError, match=said):
            imported(tmp_path, text, name)


_WORDS = ["a", "{{q}}", "{{", "file://x.txt", "file://\0", "1.10", "no", "(?<=a)b", "a,b", "x" * 300, ""]
_JUNK = st.recursive(
    st.sampled_from([*_WORDS, 0, -1, 0.5, 1e308, True, None]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "value", "weight", "assert", "vars", "id", "labels", "options"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
_ASSERTION = st.fixed_dictionaries(
    {"type": st.sampled_from([*TYPES, "assert-set", "not-contains", "none"]), "value": _JUNK},
    optional={"weight": _JUNK, "threshold": _JUNK, "metric": _JUNK, "provider": _JUNK, "assert": _JUNK},
)
_PROMPTFOO = st.fixed_dictionaries(
    {
        "prompts": st.just(["{{q}}"]) | _JUNK,
        "tests": st.lists(
            st.fixed_dictionaries(
                {"assert": st.lists(_ASSERTION, max_size=2), "vars": _JUNK},
                optional={
                    "threshold": _JUNK,
                    "options": _JUNK,
                    "description": _JUNK,
                    "providerOutput": _JUNK,
                },
            ),
            max_size=2,
        ),
    },
    optional={"defaultTest": _JUNK, "scenarios": _JUNK, "providers": _JUNK},
)
_ARENA = st.fixed_dictionaries(
    {
        "tests": st.lists(
            st.fixed_dictionaries(
                {"eval_type": st.sampled_from([row[0] for row in TestArena.TYPES]), "reference": _JUNK},
                optional={"options": _JUNK, "weight": _JUNK, "tags": _JUNK, "id": _JUNK, "input": _JUNK},
            ),
            max_size=2,
        )
    },
    optional={"scorers": _JUNK, "judge": _JUNK},
)
_SAMPLES = st.lists(st.fixed_dictionaries({"input": _JUNK, "ideal": _JUNK}), max_size=2)


@given(st.one_of(_PROMPTFOO, _ARENA, _SAMPLES))
def test_whatever_is_read_loads(value: Any):
    """Any file of the rough shape is refused with a message, or becomes a suite that our own loader reads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            suite = imported(folder, json.dumps(value), "x.json")
        except ConfigError:
            return
        if any(case.get("enabled", True) for case in suite.suite["cases"]):
            loaded(suite, folder)


class TestCommand:
    """`tiered-eval import-suite`."""

    def test_it_writes_and_tells(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """The suite is written, each thing that is missing is named, and the way to go on is said."""
        (tmp_path / "promptfooconfig.yaml").write_text(
            promptfoo({"type": "contains", "value": "a"}, {"type": "webhook", "value": "http://x"})
        )

        code = run_app(["import-suite", str(tmp_path), "-o", str(tmp_path / "new")])

        told = capsys.readouterr()
        assert code == 0
        assert "1 case, 1 expectation from promptfoo" in told.out
        assert "--responses FILE" in told.out
        assert "webhook: it calls another server" in told.err
        (tmp_path / "new" / "r.json").write_text('{"test-1": "a"}')
        assert (
            run_app(["run", str(tmp_path / "new"), "--responses", str(tmp_path / "new" / "r.json"), "-q"])
            == 0
        )

    def test_strict(self, tmp_path: Path):
        """With --strict something left out is an error; without, it is not."""
        (tmp_path / "p.yaml").write_text(promptfoo({"type": "contains", "value": "a"}, {"type": "webhook"}))

        assert run_app(["import-suite", str(tmp_path / "p.yaml"), "-o", str(tmp_path / "a"), "--strict"]) == 2
        assert run_app(["import-suite", str(tmp_path / "p.yaml"), "-o", str(tmp_path / "b")]) == 0

    def test_a_suite_is_not_written_over(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """Work of one's own is safe."""
        (tmp_path / "p.yaml").write_text(promptfoo({"type": "contains", "value": "a"}))
        (tmp_path / "suite.yaml").write_text("mine")

        assert run_app(["import-suite", str(tmp_path / "p.yaml"), "-o", str(tmp_path)]) == 2
        assert (tmp_path / "suite.yaml").read_text() == "mine"
        assert "--force" in capsys.readouterr().err


def test_the_page_names_what_is_carried_over():
    """docs/importing.md names each assertion that has a scorer here."""
    page = (Path(__file__).parent.parent / "docs" / "importing.md").read_text(encoding="utf-8")
    named = {"icontains", "contains-all", "contains-any", "icontains-all", "icontains-any"}  # as `contains` …

    missing = {kind for kind in TYPES if f"`{kind}`" not in page} - named

    assert missing == {"similar:cosine"}
