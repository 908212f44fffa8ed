"""Which models of a provider are down, as all processes on a home have met it together.

The one idea: an outage is the provider's and not the process's. Failures in a row are counted over all processes, in a
small file for each provider that is empty while all is well. What was said by whom stays out of it: an error text may
quote a key, and whoever gives up has met an error of its own.

It goes by model, since the next model of a chain is often the same vendor's, and is there for the very case that the
first one is overloaded. Two models that are down without a sign of life between them are an outage of the provider.

Instants are those of the monotonic clock, which all processes of a machine share until it is started again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path

from tiered_eval.pacing.shared_file import SharedFile

__all__ = ["FAILURES", "REST_S", "Outages", "SharedOutages"]

FAILURES = 10
"""Calls in a row. An outage lasts through five attempts of each; a share of failing calls does not."""
REST_S = 30.0
"""From one trial to the next."""
_MODELS = 2
"""So many that are down are an outage of the provider."""
_VERSION = 1
_FORGOTTEN_AFTER_S = 3600.0
"""What nobody has met for so long is over, or will be met again."""
_LIMIT_BYTES = 16_384


@dataclass(slots=True)
class Line:
    """One model whose last call failed."""

    failures: int
    """Calls in a row, of all processes."""
    failed_at: float
    down_since: float
    """Once so many failed that it is down."""
    trial_at: float
    """When the next call may be let through while it is out of reach."""
    is_silent: bool
    """Has no other model of the provider answered since?"""

    @property
    def is_down(self) -> bool:
        """Is this model given up, whatever the others do?"""
        return self.failures >= FAILURES


@dataclass(slots=True)
class Outages:
    """The picture itself, of one provider: a line for each model whose last call failed."""

    lines: dict[str, Line] = field(default_factory=dict)

    def forget_old(self, now: float) -> None:
        """Drop what nobody has met for long, or what was met before the machine, and so its clock, started again."""
        if self.lines:
            self.lines = {
                model: line
                for model, line in self.lines.items()
                if -1.0 <= now - line.failed_at <= _FORGOTTEN_AFTER_S
            }

    def down_since(self, model: str) -> float | None:
        """Since when it is out of reach, by itself or with its provider; None where it may be called.

        The instant tells one outage from another.
        """
        line = self.lines.get(model)
        if line is not None and line.is_down:
            return line.down_since
        silent = self.silent_models()
        return max(self.lines[name].down_since for name in silent) if silent else None

    def silent_models(self) -> list[str]:
        """The models in whose outage the provider is down; empty where it is not."""
        silent = [model for model, line in self.lines.items() if line.is_down and line.is_silent]
        return silent if len(silent) >= _MODELS else []

    def heeds(self, model: str) -> bool:
        """Would an answer of the model change anything?"""
        return model in self.lines or any(line.is_silent for line in self.lines.values())

    def answered(self, model: str) -> None:
        """The model has given a sign of life."""
        self.lines.pop(model, None)
        for line in self.lines.values():
            line.is_silent = False

    def failed(self, model: str, now: float) -> None:
        """A call failed for want of an answer, after all that it was tried."""
        line = self._line(model, now)
        line.failures += 1
        line.failed_at = now
        line.is_silent = True
        if line.failures == FAILURES:
            line.down_since = now
        if self.down_since(model) is not None:
            line.trial_at = max(line.trial_at, now + REST_S)

    def let_through(self, model: str, now: float) -> None:
        """A trial leaves: the next one follows after a rest."""
        self._line(model, now).trial_at = now + REST_S

    def trial_at(self, model: str) -> float:
        """When the next call may be let through."""
        line = self.lines.get(model)
        return line.trial_at if line is not None else 0.0

    def to_json(self) -> bytes:
        """All of it, for the file; nothing where all is well. What has no room is known to this process alone."""
        if not self.lines:
            return b""
        listed, room = [], _LIMIT_BYTES - len(f"[{_VERSION},[]]")
        for model, line in sorted(self.lines.items(), key=lambda item: -item[1].failed_at):
            text = json.dumps([model, *astuple(line)], separators=(",", ":"))
            if len(text) < room:
                room -= len(text) + 1
                listed.append(text)
        return f"[{_VERSION},[{','.join(listed)}]]".encode()

    def take_over(self, text: bytes, now: float) -> None:
        """Become what the file says.

        Raises:
            ValueError, TypeError: it is not what this version writes.
        """
        lines = {}
        if text:
            version, listed = json.loads(text)
            if version != _VERSION:
                raise ValueError(f"version {version}")
            for model, failures, failed_at, down_since, trial_at, is_silent in listed:
                lines[str(model)] = Line(
                    failures=int(failures),
                    failed_at=float(failed_at),
                    down_since=min(float(failed_at), float(down_since)),
                    trial_at=min(now + REST_S, float(trial_at)),
                    is_silent=bool(is_silent),
                )
        self.lines = lines

    def _line(self, model: str, now: float) -> Line:
        new = Line(failures=0, failed_at=now, down_since=0.0, trial_at=0.0, is_silent=True)
        return self.lines.setdefault(model, new)


class SharedOutages:
    """The picture in a file, shared by all processes that name the same one. Never raises, and never waits for long."""

    def __init__(self, path: Path) -> None:
        self._file = SharedFile(path, subject="the provider's outages", limit_bytes=_LIMIT_BYTES)
        self._outages = Outages()

    def seen(self, now: float) -> Outages:
        """The picture of now, to be looked at only; cheap enough for every call."""
        if self._file.has_news():
            with self._file.locked() as is_shared:
                if is_shared:
                    self._read(now)
        self._outages.forget_old(now)
        return self._outages

    @contextmanager
    def held(self, now: float) -> Iterator[Outages]:
        """The picture of now, to be changed until the block ends. No ``await`` inside."""
        with self._file.locked() as is_shared:
            if is_shared:
                self._read(now)
            self._outages.forget_old(now)
            yield self._outages
            if is_shared:
                self._file.write(self._outages.to_json())

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _read(self, now: float) -> None:
        text = self._file.news()
        if text is None:
            return
        try:
            self._outages.take_over(text, now)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            self._file.report_damage(error)
            self._file.write(self._outages.to_json())
