"""Remembers a million case ids in sixteen megabytes, to notice one that is given twice.

The one idea: open addressing over 64-bit hashes in an array, with the place of each id beside it where a
caller wants to find it again. Python salts its string hash for each process, so nobody can craft two ids
that collide; that two of a million do by chance has odds of about 1 to 40 million.
"""

from __future__ import annotations

from array import array

__all__ = ["SeenIds"]

_MASK = 2**64 - 1


class SeenIds:
    """A set of ids, each with an optional place (a byte offset)."""

    def __init__(self, *, with_places: bool = False) -> None:
        self._bits = 10
        self._count = 0
        self._hashes = array("Q", bytes(8 << self._bits))
        self._places = array("Q", bytes(8 << self._bits)) if with_places else None

    def __len__(self) -> int:
        return self._count

    def add(self, identity: str, place: int = 0) -> bool:
        """Keep an id; False when it was there already."""
        wanted = (hash(identity) & _MASK) or 1  # 0 marks a free slot
        hashes = self._hashes
        last = len(hashes) - 1
        slot = wanted & last
        while found := hashes[slot]:
            if found == wanted:
                return False
            slot = (slot + 1) & last
        hashes[slot] = wanted
        if self._places is not None:
            self._places[slot] = place
        self._count += 1
        if self._count * 8 > len(hashes) * 5:
            self._grow()
        return True

    def slot_of(self, identity: str) -> int | None:
        """Where an id is kept; None if it is not. Valid until the next ``add``."""
        wanted = (hash(identity) & _MASK) or 1
        hashes = self._hashes
        last = len(hashes) - 1
        slot = wanted & last
        while found := hashes[slot]:
            if found == wanted:
                return slot
            slot = (slot + 1) & last
        return None

    def place_at(self, slot: int) -> int:
        """The place that was given with the id in a slot."""
        return self._places[slot] if self._places is not None else 0

    @property
    def slots(self) -> int:
        """How many slots there are now."""
        return len(self._hashes)

    def _grow(self) -> None:
        old_hashes, old_places = self._hashes, self._places
        self._bits += 1
        last = (1 << self._bits) - 1
        hashes = self._hashes = array("Q", bytes(8 << self._bits))
        if old_places is not None:
            self._places = array("Q", bytes(8 << self._bits))
        for index, wanted in enumerate(old_hashes):
            if not wanted:
                continue
            slot = wanted & last
            while hashes[slot]:
                slot = (slot + 1) & last
            hashes[slot] = wanted
            if self._places is not None and old_places is not None:
                self._places[slot] = old_places[index]
