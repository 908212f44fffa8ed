"""The alarm that a certificate has gone stale: rarely false, quick when it is true, kept over runs."""

from __future__ import annotations

import json
import random
import sqlite3
from math import log, prod
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from past_audits import record_audits

from tiered_eval.calibration.audit import (
    ALARM_CAPITAL,
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


def test_capital_is_the_sum_over_all_beginnings():
    """The capital agrees with a direct sum: half of the stake from the first audit on, a little from each later one on, the rest unspent."""
    audits = [True, False, True]

    capital = update(begin_audit("c", 0.1), audits).capital

    left = [1.0, *(0.5 * (100 / (100 + n)) ** 0.5 for n in (1, 2, 3))]
    won = []
    for multiple in (1.4, 1.8, 2.4, 3.2, 4.4, 6.0):
        ratios = [multiple if differs else (1 - 0.1 * multiple) / 0.9 for differs in audits]
        won.append(sum((left[at] - left[at + 1]) * prod(ratios[at:]) for at in range(3)))
    assert capital == pytest.approx(left[3] + sum(won) / 6)


def test_capital_is_a_fair_game_at_the_allowed_rate():
    """Its expectation over all outcomes of some audits is 1, which is what bounds the false alarms."""
    outcomes = [
        (update(begin_audit("c", 0.1), [bool(bits >> at & 1) for at in range(8)]), bits.bit_count())
        for bits in range(256)
    ]

    assert sum(state.capital * 0.1**ones * 0.9 ** (8 - ones) for state, ones in outcomes) == pytest.approx(1)


def test_a_certificate_that_holds_rarely_alarms():
    """Of 2,000 streams at exactly the allowed rate at most 5 % raise the alarm."""
    fired = sum(stream(BASE, 300, seed).is_stale for seed in range(2000))

    assert fired / 2000 <= 0.05


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_certificate_that_holds_rarely_alarms_however_long_it_is_watched():
    """Of 2,000 streams of 3,000 audits at exactly the allowed rate at most 5 % raise the alarm as well."""
    fired = sum(stream(BASE, 3000, seed).is_stale for seed in range(2000))

    assert fired / 2000 <= 0.05


@pytest.mark.parametrize(("factor", "limit"), [(2, 250), (4, 60)])
def test_a_rate_that_rose_is_found(factor: int, limit: int):
    """Doubled and quadrupled rates of disagreement are found within 250 and 60 audits, at the median."""
    assert median(audits_until_alarm(BASE * factor, seed) for seed in range(41)) <= limit


@pytest.mark.parametrize(("factor", "limit"), [(2, 450), (4, 100)])
def test_a_late_change_is_found_although_the_first_stake_was_lost(factor: int, limit: int):
    """After a thousand quiet audits doubled and quadrupled rates are still found soon, at the median."""
    found = (audits_until_alarm(factor * BASE, seed, quiet=1000) for seed in range(21))

    assert median(found) <= limit


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


def test_each_audit_is_held_against_its_own_promise():
    """Five of 100 are no surprise where 10 % may differ, and one where 1 % may, whatever other kinds are allowed."""
    weak, strict = 0.10, 0.01
    differing = [at % 20 == 0 for at in range(100)]

    loose = update(begin_audit("c", weak), differing, [weak] * 100)
    tight = update(begin_audit("c", weak), differing, [strict] * 100)
    mixed = update(begin_audit("c", weak), [False, False], [weak, strict])

    assert loose.worst_capital < ALARM_CAPITAL <= tight.worst_capital
    assert loose.capital < 1
    assert loose == update(begin_audit("c", weak), differing)
    assert mixed.allowed == pytest.approx((weak + strict) / 2)


def test_promises_that_hold_rarely_alarm():
    """Two kinds with promises of their own, both just kept: at most 5 % of histories reach the alarm, with room for chance."""
    rng, alarms = random.Random(5), 0
    for _ in range(400):
        rates = [rng.choice((0.02, 0.10)) for _ in range(150)]
        state = update(begin_audit("c", 0.10), [rng.random() < rate for rate in rates], rates)
        alarms += state.is_stale

    assert alarms <= 400 * 0.05 + 9


def of_an_early_release(audits: list[bool], *, has_logs: bool = True) -> dict[str, object]:
    """The note that the first releases wrote: one bet from the first audit on, and a detector that began anew at each."""
    multiples = (1.4, 1.8, 2.4, 3.2, 4.4, 6.0)
    ratios = [[one if differs else (1 - one * BASE) / (1 - BASE) for differs in audits] for one in multiples]
    detectors = [sum(prod(every[at:]) for at in range(len(every))) for every in ratios]
    noted: dict[str, object] = {
        "certificate": "c",
        "base_rate": BASE,
        "audits": len(audits),
        "disagreements": sum(audits),
        "detectors": detectors,
        "worst_capital": 1.5,
        "worst_detector": sum(detectors) / 6,
    }
    if has_logs:
        noted |= {"logs": [sum(map(log, every)) for every in ratios], "expected": len(audits) * BASE}
    return noted


@pytest.mark.parametrize("has_logs", [True, False])
@given(audits=st.lists(st.booleans(), max_size=12))
def test_what_an_early_release_noted_goes_on(has_logs: bool, audits: list[bool]):
    """Its figures become stakes: never more than all audits come to now, so it raises no alarm, and what it counted stays."""
    found = audit_state_from_json(of_an_early_release(audits, has_logs=has_logs))

    now = update(begin_audit("c", BASE), audits)
    assert found.capital <= now.capital * (1 + 1e-9)
    assert found.capital >= now.capital / 2
    assert (found.audits, found.disagreements) == (now.audits, now.disagreements)
    assert found.allowed == pytest.approx(now.allowed)


def test_an_alarm_of_an_early_release_stays():
    """Its detector went off at 2,000; what it found stale is stale."""
    noted = of_an_early_release([False, True]) | {"worst_detector": 2000.0}

    assert audit_state_from_json(noted).is_stale


def test_a_state_of_a_later_release_is_refused():
    """Nobody knows what it means, and beginning anew would silence an alarm."""
    with pytest.raises(ValueError, match="another version"):
        audit_state_from_json(audit_state_to_json(begin_audit("c", BASE)) | {"version": 3})


def test_the_line_says_what_to_do_when_stale():
    """The alarm level is always there; the next step only when there is one."""
    assert audit_line(update(begin_audit("c", BASE), [False] * 60 + [True] * 3)).startswith("3 of 63 differ")
    assert "calibrate" in audit_line(update(begin_audit("c", BASE), [True] * 10))


def test_the_line_says_no_more_than_was_certified():
    """A share of 2.04 % is told as 2.1 %: rounded to the nearest, it would claim more than was tested."""
    assert "(at most 2.1% certified)" in audit_line(update(begin_audit("c", 0.0204), [False] * 9))


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
