"""The alarm that a certificate has gone stale: rarely false, quick when it is true, kept over runs."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from past_audits import record_audits

from tiered_eval.calibration.audit import (
    ALARM_CAPITAL,
    ALARM_DETECTOR,
    AuditDraw,
    AuditState,
    audit_line,
    audit_rank,
    audit_state_from_json,
    audit_state_to_json,
    begin_audit,
    kind_warning,
    update,
)
from tiered_eval.calibration.audit_notes import audit_states, find_audit
from tiered_eval.calibration.drift import drift_warning, spread
from tiered_eval.cli.app import run_app
from tiered_eval.errors import LedgerError
from tiered_eval.ledger import Ledger

BASE = 0.05


def stream(rate: float, audits: int, seed: int) -> AuditState:
    rng = random.Random(seed)
    return update(begin_audit("c", BASE), (rng.random() < rate for _ in range(audits)))


def audits_until_alarm(rate: float, seed: int, *, quiet: int = 0) -> int:
    """Audits after a change that are needed to see it; 2,000 if it is not seen."""
    rng = random.Random(seed)
    state = update(begin_audit("c", BASE), (rng.random() < BASE for _ in range(quiet)))
    for count in range(1, 2001):
        state = update(state, [rng.random() < rate])
        if state.is_stale:
            return count
    return 2000


def test_capital_is_the_mean_of_the_likelihood_ratios():
    """The capital agrees with a direct product over the audits."""
    state = update(begin_audit("c", 0.1), [True, False, True])

    ratios = []
    for multiple in (1.4, 1.8, 2.4, 3.2, 4.4, 6.0):
        rate = 0.1 * multiple
        ratios.append((rate / 0.1) ** 2 * (1 - rate) / 0.9)
    assert state.capital == pytest.approx(sum(ratios) / 6)


def test_capital_is_a_fair_game_at_the_allowed_rate():
    """Its expectation over all outcomes of some audits is 1, which is what bounds the false alarms."""
    outcomes = [
        (update(begin_audit("c", 0.1), [bool(bits >> at & 1) for at in range(8)]), bits.bit_count())
        for bits in range(256)
    ]

    assert sum(state.capital * 0.1**ones * 0.9 ** (8 - ones) for state, ones in outcomes) == pytest.approx(1)


def test_a_certificate_that_holds_rarely_alarms():
    """Of 2,000 streams at exactly the allowed rate the capital raises the alarm in at most 5 %."""
    fired = sum(stream(BASE, 300, seed).worst_capital >= ALARM_CAPITAL for seed in range(2000))

    assert fired / 2000 <= 0.05


def test_the_detector_of_late_changes_is_rarely_false():
    """It begins anew for ever, so it is bounded by its mean: 2,000 audits or more at exactly the allowed rate."""
    lengths = []
    for seed in range(60):
        rng, state = random.Random(seed), begin_audit("c", BASE)
        while state.worst_detector < ALARM_DETECTOR:
            state = update(state, (rng.random() < BASE for _ in range(100)))
        lengths.append(state.audits)

    assert mean(lengths) >= 2000


@pytest.mark.parametrize(("factor", "limit"), [(2, 250), (4, 60)])
def test_a_rate_that_rose_is_found(factor: int, limit: int):
    """Doubled and quadrupled rates of disagreement are found within 250 and 60 audits, at the median."""
    assert median(audits_until_alarm(BASE * factor, seed) for seed in range(41)) <= limit


def test_a_late_change_is_found_although_the_capital_was_lost():
    """After a thousand quiet audits a quadrupled rate is still found soon."""
    assert median(audits_until_alarm(4 * BASE, seed, quiet=1000) for seed in range(15)) <= 150


def test_the_alarm_stays():
    """A stale certificate does not heal by itself."""
    stale = update(begin_audit("c", BASE), [True] * 10)

    calm = update(stale, [False] * 5000)

    assert stale.is_stale
    assert calm.capital < 1
    assert calm.is_stale


@given(st.lists(st.booleans(), max_size=60), st.integers(0, 60))
def test_runs_add_up(audits: list[bool], cut: int):
    """It makes no difference over how many runs the audits are spread, written down and read in between."""
    first = update(begin_audit("c", BASE), audits[:cut])
    kept = audit_state_from_json(json.loads(json.dumps(audit_state_to_json(first))))

    assert update(kept, audits[cut:]) == update(begin_audit("c", BASE), audits)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, float("nan")])
def test_an_impossible_rate_is_refused(rate: float):
    """A certificate that allows no disagreement at all, or any, cannot be audited."""
    with pytest.raises(ValueError, match="rate of disagreement"):
        begin_audit("c", rate)


def test_a_rate_near_one_can_still_be_audited():
    """Where no multiple of the rate is a rate, one bet in between is made."""
    assert update(begin_audit("c", 0.9), [True] * 200).is_stale


def test_a_damaged_state_is_refused():
    """More disagreements than audits are no state."""
    data = audit_state_to_json(begin_audit("c", BASE)) | {"audits": 1, "disagreements": 2}

    with pytest.raises(ValueError, match="fit together"):
        audit_state_from_json(data)


def test_about_the_asked_share_is_drawn():
    """The draw takes its share of many verdicts."""
    draw = AuditDraw(seed=1)

    taken = sum(draw.offer(f"case-{n}/e") for n in range(4000))

    assert 150 < taken < 250
    assert draw.top_up() == []


def test_a_small_run_has_its_least_number_of_audits():
    """Five are audited in every run that has five early verdicts, and no id twice."""
    draw = AuditDraw(seed=1, rate=0.05, least=5)
    ids = [f"case-{n}" for n in range(20)]
    taken = [id for id in ids if draw.offer(id)]

    taken += draw.top_up()

    assert len(taken) == 5
    assert len(set(taken)) == 5


def test_the_draw_does_not_depend_on_the_order():
    """The same ids are drawn in whichever order the verdicts settle, and others with another seed."""
    ids = [f"case-{n}" for n in range(300)]

    def drawn(order: list[str], seed: int) -> set[str]:
        draw = AuditDraw(seed=seed, least=25)
        return {id for id in order if draw.offer(id)} | set(draw.top_up())

    assert drawn(ids, 3) == drawn(ids[::-1], 3)
    assert drawn(ids, 3) != drawn(ids, 4)


def test_ranks_are_spread_evenly():
    """A rank is as good as a random number in [0, 1)."""
    ranks = [audit_rank(str(n), 0) for n in range(2000)]

    assert 0.47 < sum(ranks) / 2000 < 0.53
    assert min(ranks) >= 0
    assert max(ranks) < 1


def test_another_mix_of_kinds_is_said():
    """A run whose kinds are not those of the labels is warned about, a small difference is not."""
    certified = {"must-contain": 0.8, "requirement": 0.2}

    assert kind_warning(certified, {"must-contain": 75, "requirement": 25}) is None
    assert kind_warning(certified, {}) is None
    told = kind_warning(certified, {"must-contain": 10, "rubric": 90})
    assert told is not None
    assert "90% rubric" in told


def test_scores_that_are_spread_otherwise_are_said():
    """A run whose free checks are far less sure than on the labels is warned about; chance and small runs are not."""
    certified = spread([0.02] * 45 + [0.5] * 10 + [0.97] * 45)

    assert drift_warning(certified, [80, 6, 20, 4, 90]) is None
    assert drift_warning(certified, [9, 2, 30, 2, 9]) is None, "too few to say"
    told = drift_warning(certified, [40, 30, 60, 30, 40])
    assert told is not None
    assert "near certain here 40%, there 90%" in told


def test_a_certificate_without_a_spread_is_not_compared():
    """Certificates of before know none; no warning is made up."""
    assert drift_warning((), [0, 0, 500, 0, 0]) is None
    assert spread([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_a_spread_adds_up(probabilities: list[float]):
    """Every probability falls into one step, the ends included."""
    assert sum(spread(probabilities)) == pytest.approx(1.0)


def test_the_line_says_what_to_do_when_stale():
    """The alarm level is always there; the next step only when there is one."""
    assert audit_line(update(begin_audit("c", BASE), [False] * 60 + [True] * 3)).startswith("3 of 63 differ")
    assert "calibrate" in audit_line(update(begin_audit("c", BASE), [True] * 10))


def test_the_ledger_carries_audits_from_run_to_run(tmp_path: Path):
    """What a run recorded is there for the next one, apart for each certificate."""
    with Ledger.open(tmp_path) as ledger:
        record_audits(ledger, "one", BASE, [True, False])
        record_audits(ledger, "two", BASE, [False])
    with Ledger.open(tmp_path) as ledger:
        state = record_audits(ledger, "one", BASE, [True])

        assert (state.audits, state.disagreements) == (3, 2)
        assert find_audit(ledger, "one") == state
        assert [kept.certificate for kept in audit_states(ledger)] == ["one", "two"]
        assert find_audit(ledger, "three") is None


def test_audits_that_cannot_be_read_are_no_fresh_start(tmp_path: Path):
    """A damaged note is an error: beginning anew would silence an alarm."""
    with Ledger.open(tmp_path) as ledger:
        record_audits(ledger, "one", BASE, [True])
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("UPDATE meta SET value = '{}' WHERE name LIKE 'note:%'")
    connection.close()

    with Ledger.open(tmp_path) as ledger:
        with pytest.raises(LedgerError, match="certificate one"):
            record_audits(ledger, "one", BASE, [False])
        with pytest.raises(LedgerError, match="certificate one"):
            audit_states(ledger)


def test_the_command_shows_the_audits(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`tiered-eval audit` ends with 0 while certificates hold, and with 1 when one is stale."""
    home = ["--home", str(tmp_path)]
    assert run_app(["audit", *home]) == 0
    assert "no audit was settled yet" in capsys.readouterr().out

    with Ledger.open(tmp_path) as ledger:
        record_audits(ledger, "atlas-1", BASE, [False] * 40)
    assert run_app(["audit", *home]) == 0
    assert "certificate atlas-1: 0 of 40 differ" in capsys.readouterr().out

    with Ledger.open(tmp_path) as ledger:
        record_audits(ledger, "atlas-1", BASE, [True] * 20)
    assert run_app(["audit", *home, "--json"]) == 1
    [shown] = json.loads(capsys.readouterr().out)
    assert shown["is_stale"]
