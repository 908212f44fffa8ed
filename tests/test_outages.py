"""The file in which processes share what they have met of outages: worth nothing but time, and empty while all is well."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
import time
from pathlib import Path

import pytest

from tiered_eval.pacing import FAILURES, REST_S, SharedOutages

MODEL, OTHER = "vendor:small", "vendor:large"


def fail(shared: SharedOutages, *, times: int = FAILURES, now: float = 0.0, model: str = MODEL) -> None:
    for _ in range(times):
        with shared.held(now) as outages:
            outages.failed(model, now)


def since(path: Path, now: float, model: str = MODEL) -> float | None:
    """Since when it is down for a process that starts now."""
    return SharedOutages(path).seen(now).down_since(model)


def test_the_file_is_empty_while_all_is_well(tmp_path: Path):
    """Nothing is written for calls that are answered, and nothing stays of an outage that is over."""
    path = tmp_path / "outages"
    shared = SharedOutages(path)
    assert not shared.seen(0.0).heeds(MODEL)
    assert path.read_bytes() == b""

    fail(shared)
    assert path.read_bytes() != b""
    with shared.held(1.0) as outages:
        outages.answered(MODEL)

    assert path.read_bytes() == b""


def test_what_another_process_wrote_is_seen_without_a_lock(tmp_path: Path):
    """A look takes no lock where the file says what it said, and takes in what is new."""
    path = tmp_path / "outages"
    one, other = SharedOutages(path), SharedOutages(path)
    assert one.seen(0.0).down_since(MODEL) is None
    fail(other, now=5.0)
    assert one.seen(6.0).down_since(MODEL) == 5.0
    holder = os.open(path, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    began = time.process_time()

    for _ in range(100):
        assert one.seen(6.0).down_since(MODEL) == 5.0

    os.close(holder)
    assert time.process_time() - began < 0.02  # one wait for the lock would be as long as that


@pytest.mark.parametrize(
    ("met_at", "now"), [(0.0, 3601.0), (100_000.0, 5.0)], ids=["an hour ago", "before the machine started"]
)
def test_an_old_outage_is_forgotten(tmp_path: Path, met_at: float, now: float):
    """What nobody has met for an hour, or on another clock, is no outage."""
    fail(SharedOutages(tmp_path / "outages"), now=met_at)

    assert since(tmp_path / "outages", now) is None


def test_an_outage_that_goes_on_is_remembered(tmp_path: Path):
    """It is old when nobody has met it for an hour, not when it began an hour ago."""
    shared = SharedOutages(tmp_path / "outages")
    fail(shared, now=0.0)

    fail(shared, times=1, now=3000.0)

    assert since(tmp_path / "outages", 4000.0) == 0.0


def test_a_trial_is_never_further_off_than_a_rest(tmp_path: Path):
    """Whatever the file says."""
    line = [MODEL, FAILURES, 0.0, 1e300, 1e300, True]
    (tmp_path / "outages").write_text(json.dumps([1, [line]]))

    outages = SharedOutages(tmp_path / "outages").seen(3.0)

    assert outages.down_since(MODEL) == 0.0
    assert outages.trial_at(MODEL) == 3.0 + REST_S


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[1]",
        b"null",
        b"[9, []]",
        b"[1, [[]]]",
        b"[1, 5]",
        b"\xff\xfe",
        b'[1, [["vendor:small", 1e999, 0, 0, 0, true]]]',
        b'[1, [["vendor:small", 10, NaN, NaN, NaN, true]]]',
        b'[1, [["vendor:small", 10, 0, 0, 0]]]',
    ],
)
def test_a_damaged_file_is_no_outage(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture):
    """Damage costs what was learnt and nothing else; what is met next is written over it."""
    path = tmp_path / "outages"
    path.write_bytes(content)

    assert since(path, 0.0) is None
    fail(SharedOutages(path))

    assert since(path, 0.0) == 0.0
    assert sum("is damaged" in record.message for record in caplog.records) <= 1


def test_a_place_that_cannot_be_written_leaves_each_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """A process goes by what it has met itself, and says so once."""
    (tmp_path / "file").write_text("")
    shared = SharedOutages(tmp_path / "file" / "outages")

    with caplog.at_level(logging.WARNING):
        fail(shared)

    assert shared.seen(0.0).down_since(MODEL) == 0.0
    assert sum("outages cannot be shared" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize("looks", [0, 3])
def test_what_cannot_be_read_is_said_once(tmp_path: Path, looks: int, caplog: pytest.LogCaptureFixture):
    """Not for each call: from then on a process goes by what it has met itself."""
    os.mkfifo(tmp_path / "outages")
    shared = SharedOutages(tmp_path / "outages")

    with caplog.at_level(logging.WARNING):
        assert [shared.seen(0.0).down_since(MODEL) for _ in range(looks)] == [None] * looks
        fail(shared)

    assert shared.seen(0.0).down_since(MODEL) == 0.0
    assert [record.message for record in caplog.records if "outages" in record.message] == [
        f"{tmp_path / 'outages'}: the provider's outages cannot be shared with other processes "
        "([Errno 29] Illegal seek); this one goes by its own"
    ]


def test_a_lock_that_is_never_given_back_holds_up_nobody(tmp_path: Path):
    """A process that was stopped while it held the lock is not waited for."""
    path = tmp_path / "outages"
    path.touch()
    holder = os.open(path, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    shared, began = SharedOutages(path), time.monotonic()

    fail(shared)

    os.close(holder)
    assert shared.seen(0.0).down_since(MODEL) == 0.0
    assert time.monotonic() - began < 2.0


def test_the_file_stays_small(tmp_path: Path):
    """However many models failed; the newest are kept, and no name makes it unreadable."""
    path = tmp_path / "outages"
    shared = SharedOutages(path)
    for number in range(300):
        fail(shared, times=1, now=float(number), model=f"vendor:{'m' * 100}{number}")
    fail(shared, now=300.0)
    fail(shared, times=1, now=301.0, model="vendor:" + "m" * 100_000)

    assert path.stat().st_size <= 16_384
    fail(shared, times=1, now=302.0, model=OTHER)
    assert since(path, 303.0) == 300.0


def test_only_the_owner_can_read_the_file(tmp_path: Path):
    """Folder and file are as private as the ledger beside them."""
    fail(SharedOutages(tmp_path / "pacing" / "outages"))

    assert stat.S_IMODE((tmp_path / "pacing").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "pacing" / "outages").stat().st_mode) == 0o600


def test_a_look_costs_microseconds(tmp_path: Path):
    """Each call looks twice while all is well."""
    shared, count = SharedOutages(tmp_path / "outages"), 2000
    shared.seen(0.0)
    began = time.process_time()

    for _ in range(count):
        shared.seen(1.0).down_since(MODEL)
        shared.seen(1.0).heeds(MODEL)

    assert (time.process_time() - began) / count < 0.0002
