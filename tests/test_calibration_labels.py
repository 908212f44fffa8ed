"""Label files, and who of the labels may be looked at when."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from calibration_worlds import world
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.calibration.labels import DESIGN_SHARE, Label, assign_roles, human_disagreement
from tiered_eval.calibration.reading import read_labels
from tiered_eval.errors import ConfigError


def label(at: int, case: str, **fields: object) -> Label:
    return Label(**{"id": str(at), "case": case, "kind": "k", "met": True, "scores": {}, **fields})  # type: ignore[arg-type]  # as each test writes it


@given(st.integers(1, 5), st.integers(0, 1000))
def test_roles_never_share_a_case(per_case: int, seed: int):
    """Every label has one role, and a case is never on both sides."""
    labels = world(120, 0, per_case=per_case)

    roles = assign_roles(labels, seed=seed)

    assert Counter(one.id for one in (*roles.design, *roles.certification)) == Counter(
        one.id for one in labels
    )
    assert not {one.case for one in roles.design} & {one.case for one in roles.certification}


def test_the_design_takes_two_fifths():
    """40 % of the human labels make the design where nothing else can."""
    roles = assign_roles(world(1000, 0), seed=0)

    assert len(roles.design) == pytest.approx(DESIGN_SHARE * 1000, abs=2)
    assert roles.design_source == "human"


def test_roles_do_not_depend_on_the_order_of_rows():
    """Roles are drawn by a hash of the case."""
    labels = world(200, 0, per_case=2)
    shuffled = random.Random(1).sample(labels, len(labels))

    assert assign_roles(labels, seed=3) == assign_roles(shuffled, seed=3)


def test_equal_pairs_share_a_role():
    """The same response and expectation under two ids, and in two cases, stands on one side."""
    labels = [label(at, f"case {at}", pair=f"pair {at // 2}") for at in range(400)]

    roles = assign_roles(labels, seed=0)

    assert not {one.pair for one in roles.design} & {one.pair for one in roles.certification}


@pytest.mark.parametrize("shipped", [None, "a shipped design"])
def test_what_recurs_is_always_tested(shipped: str | None):
    """A refusal that answers many questions is among the certification labels whatever the seed, as often as in a draw of cases."""
    labels = [label(at, f"case {at}", pair="refusal" if at % 10 == 0 else f"{at}") for at in range(400)]

    for seed in range(40):
        roles = assign_roles(labels, seed=seed, shipped=shipped)

        assert sum(one.pair == "refusal" for one in roles.certification) > 0.05 * len(roles.certification)


def test_pairs_that_only_the_judge_labelled_make_the_design():
    """Then all human labels are for certification, and no case of theirs is in the design."""
    human = [label(at, f"h{at}") for at in range(100)]
    judged = [label(at, f"j{at}", met=None, top=True) for at in range(100, 300)]
    shared = [label(at, f"h{at - 300}", met=None, top=True) for at in range(300, 320)]

    roles = assign_roles([*human, *judged, *shared], seed=0)

    assert roles.design_source == "top_judge"
    assert {one.id for one in roles.certification} == {one.id for one in human}
    assert {one.id for one in roles.design} == {one.id for one in judged}


def test_a_few_judged_pairs_are_no_design():
    """Fewer than a hundred are left aside."""
    labels = [label(at, f"h{at}") for at in range(100)] + [label(999, "j", met=None, top=True)]

    assert assign_roles(labels, seed=0).design_source == "human"


def test_a_shipped_design_leaves_most_labels_to_the_test():
    """Then 15 % of the labels plan the path, and the rest certify."""
    roles = assign_roles(world(1000, 0), seed=0, shipped="shipped-1")

    assert roles.design_source == "shipped-1"
    assert len(roles.design) == pytest.approx(150, abs=2)


def test_two_people_are_compared_where_both_labelled():
    """Disagreement is counted over what both have seen."""
    labels = [label(1, "a", second=True), label(2, "b", second=False), label(3, "c")]

    assert human_disagreement(labels) == (1, 2)


def written(path: Path, *rows: object) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8"
    )
    return path


def test_rows_with_scores(tmp_path: Path):
    """Scores and judges become scores; the top judge's verdict does not."""
    path = written(
        tmp_path / "labels.jsonl",
        {
            "id": "a",
            "case": "c",
            "kind": "requirement",
            "human": True,
            "scores": {"x": 0.25, "y": None},
            "judges": {"big": True, "small": 0.4},
        },
        "",
    )

    [row] = read_labels(path, top="big")

    assert row.case is None
    assert row.label.scores == {"x": 0.25, "y": None, "small": 0.4}
    assert (row.label.case, row.label.met, row.label.top) == ("c", True, True)


def test_rows_with_texts(tmp_path: Path):
    """Without scores a row holds the case to score; rows of one response are one case."""
    row = {
        "kind": "equivalent",
        "human": "pass",
        "question": "How many moons?",
        "response": "Two.",
        "expected": ["two", "2"],
    }
    path = written(
        tmp_path / "labels.jsonl", {**row, "id": 1}, {**row, "id": 2, "expected": "three", "human": "no"}
    )

    first, second = read_labels(path)

    assert first.case is not None
    assert first.case.expectations[0].values == ("two", "2")
    assert first.case.expectations[0].match == "any"
    assert first.label.case == second.label.case
    assert first.label.pair != second.label.pair
    assert second.label.met is False


@pytest.mark.parametrize(
    ("fields", "is_met", "why"),
    [
        ({"label": "pass"}, True, "as most tools write it"),
        ({"label": "failed"}, False, "in the past tense"),
        ({"label": 1}, True, "a number"),
        ({"label": 0.0}, False, "a number out of a table of numbers"),
        ({"verdict": "PASS"}, True, "another name"),
        ({"verdict": False}, False, "as JSON has it"),
        ({"label": "correct", "verdict": "1"}, True, "both, and they agree"),
        ({"human": False, "label": "billing"}, False, "beside `human` a label may be anything"),
        ({"human": "", "label": "fail"}, False, "an empty cell of a table"),
    ],
)
def test_other_names_of_a_label(tmp_path: Path, fields: dict[str, object], is_met: bool, why: str):
    """Exports of other tools are read as they are."""
    path = written(tmp_path / "labels.jsonl", {"id": 1, "kind": "k", "scores": {"x": 1}, **fields})

    [row] = read_labels(path)

    assert row.label.met is is_met, why


@pytest.mark.parametrize("name", ["question", "input"])
def test_the_question_is_called_as_in_sheets_or_suites(name: str, tmp_path: Path):
    """Some scores rest on it, so it is not lost under the name that suites have for it; and it is the case of its rows."""
    row = {"kind": "equivalent", "human": True, name: "How many moons?", "response": "Two.", "expected": "2"}

    [read] = read_labels(written(tmp_path / "labels.jsonl", {**row, "id": 1}))

    assert read.case is not None
    assert read.case.input == "How many moons?"
    assert read.label.case == "How many moons?"


def test_a_table_of_columns(tmp_path: Path):
    """CSV says the same, with a column a score; an empty field is missing."""
    path = written(
        tmp_path / "labels.csv",
        "id,case,kind,human,scores.lexical,judges.small,human_2",
        "a,c1,must-contain,1,0.5,true,no",
        "b,c2,must-contain,false,,0.2,",
    )

    first, second = (row.label for row in read_labels(path))

    assert (first.met, first.second, first.scores) == (True, False, {"lexical": 0.5, "small": 1.0})
    assert (second.met, second.second, second.scores) == (False, None, {"small": 0.2})


def test_a_long_response_in_a_table_is_read(tmp_path: Path):
    """Longer than the 128 KiB a cell that Python's csv reads of itself."""
    path = tmp_path / "labels.csv"
    path.write_text(
        f"kind,human,response,expected\nmust-contain,yes,{'gate ' * 40_000},gate\n", encoding="utf-8"
    )

    [row] = read_labels(path)

    assert row.case is not None
    assert len(row.case.response) == 200_000


def test_a_table_of_semicolons_is_read(tmp_path: Path):
    """What spreadsheets write where the comma is the decimal mark, with a byte order mark and CRLF."""
    path = tmp_path / "labels.csv"
    path.write_bytes(b"\xef\xbb\xbfid;kind;human;scores.s\r\na;must-contain;TRUE;0.5\r\n")

    [row] = read_labels(path)

    assert (row.label.id, row.label.met, row.label.scores) == ("a", True, {"s": 0.5})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "id,kind,human,human,scores.s\na,k,true,false,1\n",
            r"labels\.csv:1: the column \"human\" is there twice",
        ),
        ("id,kind,human,scores.s\na,k,true\n", r"labels\.csv:2: 3 cells under 4 headings"),
        ('id,kind,human,scores.s\na,k,true,"1\nb,k,true,1\n', r"labels\.csv:2: .*quoted cell"),
        ("id,kind,human,scores.s\na,k,tr\0ue,1\n", r"labels\.csv:2: .*U\+0000"),
    ],
)
def test_a_broken_table_is_told_with_its_line(table: str, message: str, tmp_path: Path):
    """Which of two columns counts, or where a quoted cell ends, is not guessed."""
    path = tmp_path / "labels.csv"
    path.write_text(table, encoding="utf-8")

    with pytest.raises(ConfigError, match=message):
        read_labels(path)


def test_a_case_of_number_0_is_a_case(tmp_path: Path):
    """Its labels belong together like those of any other."""
    rows = [
        {"id": at, "case": at // 2, "kind": "k", "human": True, "scores": {"x": 1}, "question": f"q{at}"}
        for at in range(4)
    ]

    labels = [row.label for row in read_labels(written(tmp_path / "labels.jsonl", *rows))]

    assert [label.case for label in labels] == ["0", "0", "1", "1"]


def test_rows_without_ids_have_the_same_roles_in_any_order(tmp_path: Path):
    """A row is known by what it says, not by its line; equal rows are still several labels."""
    rows = [{"kind": "k", "human": at % 3 > 0, "scores": {"x": at % 50 / 50}} for at in range(200)]
    shuffled = random.Random(1).sample(rows, len(rows))

    one, other = (
        assign_roles([row.label for row in read_labels(written(tmp_path / name, *of))], seed=0)
        for name, of in (("one.jsonl", rows), ("other.jsonl", shuffled))
    )

    assert one == other
    assert len(one.design) + len(one.certification) == 200


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "not JSON"),
        ([], "a row is an object"),
        ({"human": True, "scores": {"x": 1}}, "`kind` is missing"),
        ({"kind": "k", "scores": {"x": 1}}, "`human` is missing"),
        ({"kind": "k", "human": "maybe", "scores": {"x": 1}}, "`human` is true or false"),
        ({"kind": "k", "label": "maybe", "scores": {"x": 1}}, "`label` is true or false"),
        ({"kind": "k", "label": 1, "verdict": "fail", "scores": {"x": 1}}, "contradict each other"),
        ({"kind": "k", "human": True}, "a row needs `scores`"),
        ({"kind": "k", "human": True, "scores": {"x": 1.2}}, "between 0 and 1"),
        ({"kind": "k", "human": True, "scores": {"x": float("nan")}}, "between 0 and 1"),
        ({"kind": "k", "human": True, "scores": {"x": "high"}}, "is no score"),
        ({"kind": "k", "human": True, "scores": [1]}, "an object of name and score"),
        ({"kind": "k", "human": True, "response": "r", "expected": "e"}, "kind 'k' is unknown"),
        ({"kind": "must-contain", "human": True, "response": "r"}, "`expected` is missing"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(row: object, message: str, tmp_path: Path):
    """What is wrong, where, and what to write."""
    path = written(tmp_path / "labels.jsonl", {"kind": "k", "human": True, "scores": {"x": 1}}, row)

    with pytest.raises(ConfigError, match=rf"labels\.jsonl:2: .*{message}"):
        read_labels(path)


def test_all_faults_are_told_at_once(tmp_path: Path):
    """The first twenty, and how many more."""
    path = written(tmp_path / "labels.jsonl", *[{"kind": "k"}] * 25)

    with pytest.raises(ConfigError, match=r"(?s)labels\.jsonl:20: .*and 5 more"):
        read_labels(path)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("is_list", [True, False])
def test_one_json_value_is_told_once(indent: int | None, is_list: bool, tmp_path: Path):
    """A list of rows, or a row over several lines, gets one hint and not a fault for each of its lines."""
    row = {"id": "a", "kind": "k", "human": True, "scores": {"x": 1}}
    path = tmp_path / "labels.json"
    path.write_text(json.dumps([row, row] if is_list else row, indent=indent))

    if indent is None and not is_list:
        assert len(read_labels(path)) == 1
    else:
        with pytest.raises(ConfigError, match=r"one JSON value.*jq -c") as told:
            read_labels(path)
        assert "\n" not in str(told.value)


def test_an_id_stands_once(tmp_path: Path):
    """Two rows of one id are a fault, not two labels."""
    row = {"id": "a", "kind": "k", "human": True, "scores": {"x": 1}}

    with pytest.raises(ConfigError, match="stands twice"):
        read_labels(written(tmp_path / "labels.jsonl", row, row))


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_told(content: str, tmp_path: Path):
    """No label is not a calibration."""
    path = tmp_path / "labels.jsonl"
    path.write_text(content)

    with pytest.raises(ConfigError, match="holds no label"):
        read_labels(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path):
    """The path stands in the message."""
    with pytest.raises(ConfigError, match="cannot be read"):
        read_labels(tmp_path / "missing.jsonl")


def test_a_label_that_will_be_bought_may_be_missing(tmp_path: Path):
    """Where the judge's verdict is bought, a row of texts needs none; a row of scores still does."""
    texts = {"id": 1, "kind": "must-contain", "response": "A gate.", "expected": "gate"}
    scores = {"id": 2, "kind": "must-contain", "scores": {"x": 1}}

    [row] = read_labels(written(tmp_path / "texts.jsonl", texts), may_lack_label=True)

    assert row.label.met is None
    with pytest.raises(ConfigError, match="`human` is missing"):
        read_labels(written(tmp_path / "scores.jsonl", scores), may_lack_label=True)
