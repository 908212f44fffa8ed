"""The table of scorers agrees with itself, and its examples are suites."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from tiered_eval.catalogue import CATALOGUE, KINDS, OptionInfo, ScorerInfo, nearest
from tiered_eval.records import TIERS
from tiered_eval.suite import load_suite
from tiered_eval.suite.options import parse_option

SCORERS = tuple(CATALOGUE)
OPTION_READ = re.compile(r"""options(?:\.get\(|\[)"([a-z_]+)\"""")
DEFAULTS = [(scorer, option) for scorer in SCORERS for option in scorer.options if option.default]


def test_scorers_stand_in_the_order_of_their_cost():
    """Names are unique, and tiers never get cheaper."""
    ranks = [TIERS.index(scorer.tier) for scorer in SCORERS]

    assert ranks == sorted(ranks)
    assert len({scorer.name for scorer in SCORERS}) == len(SCORERS)


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_a_scorer_is_described_whole(scorer: ScorerInfo):
    """Kinds are known, options are unique and have help, the target is a module and a class."""
    module, _, name = scorer.target.partition(":")

    assert set(scorer.kinds) <= set(KINDS)
    assert scorer.kinds
    assert scorer.summary
    assert module.startswith("tiered_eval.scorers.")
    assert name.isidentifier()
    assert len({option.name for option in scorer.options}) == len(scorer.options)
    assert all(option.help for option in scorer.options)


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_the_code_is_where_the_table_says(scorer: ScorerInfo):
    """The class is there, under the same name and in the same tier, and reads no option that is not in the table."""
    module_name, _, name = scorer.target.partition(":")
    module = import_module(module_name)
    found = getattr(module, name)
    read = set(OPTION_READ.findall(inspect.getsource(module)))
    family = [other for other in SCORERS if other.target.startswith(f"{module_name}:")]

    assert (found.name, found.tier) == (scorer.name, scorer.tier)
    # A step of a route may read what is an option of the whole route, such as `scanned`.
    shared = CATALOGUE.options_for("must-contain", None) if scorer.is_routed else {}
    assert read <= {option.name for other in family for option in other.options} | shared.keys()


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_the_example_of_a_scorer_loads(scorer: ScorerInfo, tmp_path: Path):
    """Each example is an expectation of a kind that the scorer can check."""
    (tmp_path / "suite.yaml").write_text(
        f"cases:\n  - id: q1\n    input: w\n    response: x\n    context: y\n    ground_truth: {{expected_answers: [1]}}\n    expect:\n      {scorer.example}\n"
    )

    (case,) = load_suite(tmp_path, allow_code=True).cases

    assert case.expectations[0].kind in scorer.kinds


@pytest.mark.parametrize(("scorer", "option"), DEFAULTS, ids=lambda info: info.name)
def test_a_default_is_a_value_that_would_be_accepted(scorer: ScorerInfo, option: OptionInfo):
    """What the table calls a default passes its own check."""
    assert parse_option(option, option.default) is not None


def test_options_of_one_name_agree_where_they_meet():
    """An expectation that the router may send to several scorers has one meaning for each option."""
    for kind in KINDS:
        reached = [scorer for scorer in SCORERS if kind in scorer.kinds and scorer.is_routed]
        types = {
            (option.name, option.type, option.low, option.high)
            for scorer in reached
            for option in scorer.options
        }

        assert len({name for name, *_ in types}) == len(types)


def test_options_depend_on_what_is_pinned():
    """A pinned scorer has its own options only, and the rest of the route when it may climb."""
    pinned = CATALOGUE.options_for("must-contain", "exact")
    climbing = CATALOGUE.options_for("must-contain", "exact", escalate=True)
    routed = CATALOGUE.options_for("must-contain", None)

    assert set(pinned) == {"bounded", "case_sensitive", "whole"}
    assert {"unit", "threshold", "bounded"} <= set(climbing)
    assert "scanned" in routed
    assert "engine" not in routed


def test_options_depend_on_the_kind():
    """What nothing would look at is not known: levels are for rubrics, units and scans for texts."""
    of = {kind: set(CATALOGUE.options_for(kind, None)) for kind in KINDS}

    assert {"levels", "pass_at"} <= of["rubric"]
    assert of["requirement"] == {"models", "effort", "max_tokens"}
    assert "levels" not in of["must-contain"]
    assert "scanned" not in of["behaviour"]
    assert {"unit", "scanned"} <= set(CATALOGUE.options_for("must-contain", "judge"))


NEAREST = [
    ("must_contain", KINDS, "must-contain"),
    ("must-contian", KINDS, "must-contain"),
    ("Requirement", KINDS, "requirement"),
    ("case_sensitve", ("case_sensitive", "whole"), "case_sensitive"),
    ("xylophone", KINDS, None),
    ("", KINDS, None),
]


@pytest.mark.parametrize(("name", "known", "meant"), NEAREST)
def test_the_nearest_name_is_offered(name: str, known: tuple[str, ...], meant: str | None):
    """A slip of the fingers finds its name; a stranger does not."""
    assert nearest(name, known) == meant
