"""``replay:`` answers from recordings, with no key, no network and no money.

The one idea: a question that was not recorded is an error, never a guess; which model the suite names does
not matter, but a recording of that very model is preferred.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from tiered_eval.errors import ConfigError, RecordingMissing
from tiered_eval.keys import recording_key
from tiered_eval.providers.recordings import NONCE_PLACEHOLDER, Recording, load_recordings
from tiered_eval.providers.settings import ProviderSettings
from tiered_eval.records import ModelReply, ModelRequest

__all__ = ["ReplayProvider"]


class ReplayProvider:
    """Gives recorded replies again. The recordings are read when the first call comes.

    Raises:
        ConfigError: no folder of recordings was named.
    """

    def __init__(self, settings: ProviderSettings, *, name: str = "replay") -> None:
        if settings.recordings is None:
            raise ConfigError("replay needs recordings: name their folder, or run without --replay")
        self.name = name
        self.origin = "replay:"
        self._place = settings.recordings
        self._recordings: Mapping[str, Sequence[Recording]] | None = None
        self._reading = asyncio.Lock()

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        """The recorded reply to this question, with this call's nonce in it.

        Raises:
            RecordingMissing: this question was never recorded.
            ConfigError: the recordings cannot be read.
        """
        async with self._reading:
            if self._recordings is None:
                self._recordings = await asyncio.to_thread(load_recordings, self._place)
        key = recording_key(request)
        recording = _choose(self._recordings.get(key, ()), model)
        if recording is None:
            raise RecordingMissing(key=key, model=model, place=str(self._place))
        return ModelReply(
            text=recording.text.replace(NONCE_PLACEHOLDER, nonce),
            stop_reason=recording.stop_reason,
            model=recording.model,
            usage=recording.usage,
            nonce=nonce,
            refusal=recording.refusal,
        )

    async def aclose(self) -> None:
        """Nothing is open."""


def _choose(recordings: Sequence[Recording], model: str) -> Recording | None:
    for recording in recordings:
        if model in {recording.model, recording.model.partition(":")[2]}:
            return recording
    return recordings[0] if recordings else None
