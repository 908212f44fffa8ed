"""Progress: when a line is due, what it says, and that a terminal is left as it was found."""

from __future__ import annotations

import asyncio
import io
import sys
from decimal import Decimal

import pytest

from tiered_eval.cli.progress import (
    LinesDisplay,
    LiveDisplay,
    SilentDisplay,
    display_for,
    ticking,
)
from tiered_eval.records import Counts
from tiered_eval.runner import Progress


def progress(done: int, **fields: object) -> Progress:
    given = {
        "done": done,
        "total": 100,
        "cases": done,
        "by_tier": {"exact": done, "judge": 0},
        "counts": Counts(passed=done),
        "open_calls": 0,
        "spent_usd": Decimal("0.0123"),
        "cap_usd": Decimal(2),
        "elapsed_s": 1.0,
        "limit_s": 360.0,
        **fields,
    }
    return Progress(**given)  # type: ignore[arg-type]


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


class TestLines:
    def test_a_line_is_due_every_ten_seconds(self, clock: Clock):
        """A run that waits for its provider still shows that it lives, and its clock goes on."""
        lines: list[str] = []
        display = LinesDisplay(lines.append, clock)
        display.update(progress(5, open_calls=64))

        for second in range(1, 26):
            clock.now = second
            display.tick()

        assert len(lines) == 2
        assert (
            lines[0]
            == "5 of 100 (5 %), 5 passed, 0 failed, $0.0123 of $2.00, 11.0 s of 6 min 00 s, 64 waiting for a model"
        )

    def test_code_that_runs_is_no_model(self, clock: Clock):
        """Whoever waits is told for what."""
        lines: list[str] = []
        display = LinesDisplay(lines.append, clock)

        for for_code in (3, 5):
            display.update(progress(5, open_calls=5, open_for_code=for_code))
            clock.now += 10
            display.tick()

        assert lines[0].endswith(", 2 waiting for a model, 3 waiting for code to run")
        assert lines[1].endswith(" s of 6 min 00 s, 5 waiting for code to run")

    def test_a_line_is_due_every_ten_per_cent(self, clock: Clock):
        """A fast run shows a line for each tenth, and no more than one a second."""
        lines: list[str] = []
        display = LinesDisplay(lines.append, clock)

        for done in range(0, 101, 5):
            clock.now += 0.7
            display.update(progress(done))
            display.tick()

        assert 8 <= len(lines) <= 11

    def test_a_burst_is_one_line(self, clock: Clock):
        """A run that is over at once fills no log."""
        lines: list[str] = []
        display = LinesDisplay(lines.append, clock)

        for done in range(101):
            clock.now += 0.005
            display.update(progress(done))
            display.tick()

        assert lines == []

    def test_nothing_is_said_before_anything_is_known(self, clock: Clock):
        """No line is made up before the run has told how far it is."""
        lines: list[str] = []
        display = LinesDisplay(lines.append, clock)
        clock.now = 100.0

        display.tick()

        assert lines == []

    def test_an_unknown_total_is_no_share(self, clock: Clock):
        """A streamed suite shows how many are done, not of how many."""
        lines: list[str] = []
        display = LinesDisplay(lines.append, clock)
        display.update(progress(7, total=None, cap_usd=None, limit_s=None))
        clock.now = 11.0

        display.tick()

        assert lines == ["7 done, 7 passed, 0 failed, $0.0123, 12.0 s"]

    def test_all_but_one_is_not_all(self, clock: Clock):
        """100 % is shown when everything is done and not before."""
        lines: list[str] = []
        display = LinesDisplay(lines.append, clock)
        display.update(progress(999, total=1000))
        clock.now = 11.0

        display.tick()

        assert "(99 %)" in lines[0]


class TestLive:
    def test_shows_tiers_money_and_time(self, clock: Clock, monkeypatch: pytest.MonkeyPatch):
        """The display holds done of total, by tier, spend of cap and time of deadline."""
        screen = io.StringIO()
        screen.isatty = lambda: True  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "100")

        with LiveDisplay(clock) as display:
            display.update(progress(40, counts=Counts(passed=30, failed=8, error=2)))
            display.tick()

        shown = screen.getvalue()
        assert "40 of 100 (40 %)" in shown
        assert "exact 40" in shown
        assert "30 passed, 8 failed · 2 error, 0 not judged, 0 manual · $0.0123 of $2.00" in shown

    def test_the_cursor_comes_back(self, clock: Clock, monkeypatch: pytest.MonkeyPatch):
        """Whatever ends the run, the terminal has its cursor again."""
        screen = io.StringIO()
        screen.isatty = lambda: True  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")

        def interrupted() -> None:
            with LiveDisplay(clock) as display:
                display.update(progress(1))
                display.tick()
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()

        assert screen.getvalue().rindex("\x1b[?25h") > screen.getvalue().rindex("\x1b[?25l")


def test_the_stream_decides_on_the_display(monkeypatch: pytest.MonkeyPatch):
    """A pipe gets lines, and whoever asked for quiet gets nothing."""
    assert isinstance(display_for(io.StringIO(), quiet=False), LinesDisplay)
    assert isinstance(display_for(io.StringIO(), quiet=True), SilentDisplay)


async def test_ticking_ends_with_its_block():
    """No task outlives the run that it shows."""
    ticks = 0

    class Counted(SilentDisplay):
        def tick(self) -> None:
            nonlocal ticks
            ticks += 1

    async with ticking(Counted()):
        await asyncio.sleep(0)

    assert ticks == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}
