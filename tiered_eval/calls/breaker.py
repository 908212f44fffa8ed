"""Giving up on a provider that is down, so that a run ends in seconds and not in hours of retries.

The one idea: many calls in a row that failed after all their retries are an outage, whichever process made them
(``pacing.outages``). While it lasts, calls fail at once; now and then a trial is let through, and its success ends it.

Nobody is condemned by what another process met: the first call of each is a trial of its own, and its other calls
wait for what becomes of it. They wait as well for calls of their process that left before, which go on with
their retries: where one of those gets through, a short outage has cost no more than it must.

Route: the gateway takes each call, with all its retries, through :meth:`Breaker.passage`.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING

from tiered_eval.calls.vendors import provider_of
from tiered_eval.errors import ProviderError, ProviderTimeout, ProviderUnavailable
from tiered_eval.text.plurals import plural

if TYPE_CHECKING:
    from tiered_eval.pacing import Outages, SharedOutages

__all__ = ["Breaker", "Passage"]

TRIAL_ATTEMPTS = 2
"""One that fails by chance must not condemn the rest."""
TRIAL_LONGEST_ASKED_S = 5.0
"""A trial does not keep others waiting for longer than this, where the provider asks for it."""
HOPE_S = 30.0
"""For so long after a model went down, calls wait for those that left before. By then five attempts have failed, unless
they hang, and for that nobody is held up."""


class _Way(Enum):
    OPEN = auto()
    FIRST_TRIAL = auto()
    """The first call of a process that has not met the outage; its others wait for it."""
    TRIAL = auto()
    """The one that may go now and then, of all processes."""


@dataclass(slots=True)
class _Own:
    """What this process knows of a model by itself."""

    met: float | None = None
    """The outage that a call of its own has met, by when it began."""
    last_error: str = ""
    under_way: int = 0
    """Calls that left while the model was within reach."""
    is_tried: bool = False
    """The first trial is under way."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when those who wait should look again."""


class Breaker:
    """The outages that one gateway goes by. Belongs to one event loop.

    Args:
        clock: monotonic seconds.
        now: the clock on the wall, for messages.
        outages: the picture of the provider that serves a model.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        outages: Callable[[str], SharedOutages],
    ) -> None:
        self._clock = clock
        self._now = now
        self._outages = outages
        self._own: dict[str, _Own] = {}

    @asynccontextmanager
    async def passage(self, model: str) -> AsyncIterator[Passage]:
        """The way of one call. How the block ends tells whether the model is there.

        Raises:
            ProviderUnavailable: at once and for nothing, since the model is out of reach.
        """
        own = self._own.setdefault(model, _Own())
        way = await self._way(model, own)
        own.under_way += way is _Way.OPEN
        own.is_tried |= way is _Way.FIRST_TRIAL
        try:
            yield Passage(self, model, is_trial=way is not _Way.OPEN)
        except ProviderError as error:
            if _is_outage(error):
                self._failed(model, own, error)
            else:
                self._answered(model, own)
            raise
        else:
            self._answered(model, own)
        finally:
            own.under_way -= way is _Way.OPEN
            own.is_tried &= way is not _Way.FIRST_TRIAL
            if way is _Way.FIRST_TRIAL or not own.under_way:
                _wake(own)

    def is_hopeless(self, model: str) -> bool:
        """Has it been down for so long that calls which left before need not be tried again?"""
        now = self._clock()
        since = self._outages(model).seen(now).down_since(model)
        return since is not None and now - since >= HOPE_S

    async def _way(self, model: str, own: _Own) -> _Way:
        """Wait until it is clear how a call may go. Raises ProviderUnavailable: it may not."""
        outages = self._outages(model)
        while True:
            now = self._clock()
            since = outages.seen(now).down_since(model)
            if since is None:
                return _Way.OPEN
            hope_s = since + HOPE_S - now
            if own.is_tried:
                await own.news.wait()
            elif own.under_way and hope_s > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(own.news.wait(), hope_s)
            else:
                return self._trial(model, own, outages, now)

    def _trial(self, model: str, own: _Own, outages: SharedOutages, now: float) -> _Way:
        # Looking and taking are one step, since another process may look as well.
        with outages.held(now) as picture:
            since = picture.down_since(model)
            if since is None:
                return _Way.OPEN
            is_first = since != own.met
            if is_first or now >= picture.trial_at(model):
                picture.let_through(model, now)
                return _Way.FIRST_TRIAL if is_first else _Way.TRIAL
        raise self._unavailable(model, own, picture)

    def _answered(self, model: str, own: _Own) -> None:
        outages, now = self._outages(model), self._clock()
        if outages.seen(now).heeds(model):
            with outages.held(now) as picture:
                picture.answered(model)
            _wake(own)

    def _failed(self, model: str, own: _Own, error: ProviderError) -> None:
        now = self._clock()
        with self._outages(model).held(now) as picture:
            picture.failed(model, now)
            own.met = picture.down_since(model)
        own.last_error = str(error)

    def _unavailable(self, model: str, own: _Own, picture: Outages) -> ProviderUnavailable:
        line = picture.lines[model]
        if line.is_down:
            why = f"{model} is unavailable: {plural(line.failures, 'call')} in a row failed"
        else:
            provider, _ = provider_of(model)
            why = f"{provider} is unavailable: no call to {', '.join(picture.silent_models())} was answered"
        rest = timedelta(seconds=math.ceil(max(0.0, line.trial_at - self._clock())))
        at = (self._now() + rest).strftime("%H:%M:%S")
        return ProviderUnavailable(
            f"{why}, the last with: {own.last_error} (the next one is let through at {at} UTC)",
            model=model,
            billed="no",
        )


class Passage:
    """One call on its way."""

    def __init__(self, breaker: Breaker, model: str, *, is_trial: bool) -> None:
        self._breaker = breaker
        self._model = model
        self._is_trial = is_trial
        self._outages = 0

    def may_go_on(self, error: ProviderError) -> bool:
        """After a failed attempt: is another one worth it?"""
        if not _is_outage(error):
            return True
        self._outages += 1
        if self._is_trial:
            return self._outages < TRIAL_ATTEMPTS and (error.retry_after_s or 0.0) <= TRIAL_LONGEST_ASKED_S
        return not self._breaker.is_hopeless(self._model)


def _is_outage(error: ProviderError) -> bool:
    """Anything else that a provider says is a sign of life."""
    return isinstance(error, ProviderUnavailable | ProviderTimeout)


def _wake(own: _Own) -> None:
    own.news.set()
    own.news = asyncio.Event()
