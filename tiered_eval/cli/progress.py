"""How far a run is, while it runs: a display that changes on a terminal, single lines elsewhere.

The one idea: the run tells, a display decides when to show. ``update`` keeps the newest figures, ``tick`` is
called several times a second, so the clock goes on while a run waits for its provider. No threads.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from tiered_eval.cli.output import complain, is_terminal
from tiered_eval.reports.wording import cap_usd, duration, usd

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tiered_eval.runner import Progress

__all__ = ["Display", "LinesDisplay", "LiveDisplay", "SilentDisplay", "display_for", "ticking"]

TICK_S = 0.25
LINE_EVERY_S = 10.0
LINE_EVERY_SHARE = 0.1
LINE_AT_MOST_EVERY_S = 1.0


class Display(Protocol):
    """Shows progress; used as a context manager."""

    def update(self, progress: Progress) -> None: ...
    def tick(self) -> None: ...
    def __enter__(self) -> Display: ...
    def __exit__(self, *exc_info: object) -> None: ...


def display_for(stream: TextIO, *, quiet: bool) -> Display:
    """The display that suits the stream."""
    if quiet:
        return SilentDisplay()
    return LiveDisplay() if is_terminal(stream) else LinesDisplay()


@asynccontextmanager
async def ticking(display: Display, sleep: Callable[[float], Any] = asyncio.sleep) -> AsyncIterator[None]:
    """Let a display show itself now and then for as long as the block runs."""

    async def tick() -> None:
        while True:
            display.tick()
            await sleep(TICK_S)

    with display:
        task = asyncio.create_task(tick())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


class SilentDisplay:
    """Shows nothing."""

    def update(self, progress: Progress) -> None:
        """Nothing is kept."""

    def tick(self) -> None:
        """Nothing is shown."""

    def __enter__(self) -> SilentDisplay:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing to clear away."""


class _Newest:
    """The newest figures, and how old they are."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._progress: Progress | None = None
        self._at = clock()

    def update(self, progress: Progress) -> None:
        self._progress, self._at = progress, self._clock()

    def elapsed_s(self, progress: Progress) -> float:
        return progress.elapsed_s + self._clock() - self._at


class LinesDisplay(_Newest):
    """A line every ten seconds or ten per cent, for logs."""

    def __init__(
        self, print_line: Callable[[str], None] = complain, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(clock)
        self._print = print_line
        self._shown_at = clock()
        self._shown_share = 0.0

    def tick(self) -> None:
        """Print a line if it is time for one."""
        progress = self._progress
        if progress is None:
            return
        since = self._clock() - self._shown_at
        share = progress.done / progress.total if progress.total else 0.0
        is_further = share >= self._shown_share + LINE_EVERY_SHARE and since >= LINE_AT_MOST_EVERY_S
        if since < LINE_EVERY_S and not is_further:
            return
        self._shown_at, self._shown_share = self._clock(), share
        self._print(", ".join(_facts(progress, self.elapsed_s(progress))))

    def __enter__(self) -> LinesDisplay:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Lines stay where they are."""


class LiveDisplay(_Newest):
    """A bar and two lines at the bottom of a terminal, gone when the run ends."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stderr, markup=False, highlight=False)
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def tick(self) -> None:
        """Redraw."""
        progress = self._progress
        if progress is not None:
            self._live.update(self._drawn(progress), refresh=True)

    def __enter__(self) -> LiveDisplay:
        self._live.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._live.stop()

    def _drawn(self, progress: Progress) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        first, *others = _facts(progress, self.elapsed_s(progress))
        head = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=progress.total or None, completed=progress.done, width=40)
        head.add_row(bar, Text(first))
        return Group(head, Text(_by_tier(progress), style="dim"), Text(" · ".join(others)))


def _by_tier(progress: Progress) -> str:
    """``exact 210 · number 80``: what was decided, cheapest tier first."""
    return " · ".join(f"{tier} {count:,}" for tier, count in progress.by_tier.items() if count)


def _facts(progress: Progress, elapsed_s: float) -> Iterator[str]:
    """What is known, most wanted first."""
    counts = progress.counts
    if progress.total:
        # Rounded down: 100 % is for a run that is done.
        yield f"{progress.done:,} of {progress.total:,} ({progress.done * 100 // progress.total} %)"
    else:
        yield f"{progress.done:,} done"
    yield f"{counts.passed:,} passed, {counts.failed:,} failed"
    others = counts.error + counts.not_judged + counts.manual
    if others:
        yield f"{counts.error:,} error, {counts.not_judged:,} not judged, {counts.manual:,} manual"
    cap = "" if progress.cap_usd is None else f" of {cap_usd(progress.cap_usd)}"
    yield f"{usd(progress.spent_usd)}{cap}"
    limit = "" if progress.limit_s is None else f" of {duration(progress.limit_s)}"
    yield f"{duration(elapsed_s)}{limit}"
    if for_model := progress.open_calls - progress.open_for_code:
        yield f"{for_model:,} waiting for a model"
    if progress.open_for_code:
        yield f"{progress.open_for_code:,} waiting for code to run"
