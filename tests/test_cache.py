"""The cache: keeps bytes, and neither runs nor trusts what it finds."""

from __future__ import annotations

import logging
import pickle
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tiered_eval.cache import SETTINGS, DiskStore, MemoryStore, open_store
from tiered_eval.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "vectors"


@pytest.fixture
def store(folder: Path) -> Iterator[DiskStore]:
    with DiskStore(folder) as opened:
        yield opened


def plant(folder: Path, statement: str, *values: object) -> None:
    """Change the table behind the store's back."""
    connection = sqlite3.connect(folder / "cache.db")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


class Bomb:
    """Pickled, it writes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("make", [lambda folder: DiskStore(folder), lambda folder: MemoryStore()])
def test_what_is_put_is_got(folder: Path, make):
    """Bytes come back as they were; what was never put is a miss; the last value wins."""
    store = make(folder)
    store.put("a", b"one")
    store.put("a", b"\x00two\xff")
    store.put("empty", b"")

    assert store.get("a") == b"\x00two\xff"
    assert store.get("empty") == b""
    assert store.get("b") is None
    store.close()


def test_values_survive_closing(folder: Path):
    """What one run kept, the next one finds, however large it is."""
    with DiskStore(folder) as first:
        first.put("large", b"x" * 200_000)

    with DiskStore(folder) as second:
        assert second.get("large") == b"x" * 200_000
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("mode", [0, 2, 3, 4, 5])
def test_planted_pickle_is_never_run(folder: Path, store: DiskStore, tmp_path: Path, mode: int):
    """A row that says it is a pickle, or anything but bytes, is a miss, and its code does not run."""
    store.put("a", b"value")
    trap = tmp_path / "sprung"
    bomb = pickle.dumps(Bomb(trap))

    plant(folder, "UPDATE Cache SET mode = ?, value = ?", mode, bomb)

    assert store.get("a") is None
    assert not trap.exists()
    assert store.damaged == 1


@pytest.mark.parametrize("mode", [0, 2, 3, 4])
def test_only_raw_bytes_are_fetched(folder: Path, store: DiskStore, mode: int):
    """Even a value with the right checksum is refused if the row calls it anything but bytes."""
    store.put("a", b"value")
    plant(folder, "UPDATE Cache SET mode = ?", mode)

    assert store.get("a") is None


def test_planted_pickle_key_is_never_run(folder: Path, store: DiskStore, tmp_path: Path):
    """A key that is a pickle is not loaded either, when the table is gone through."""
    trap = tmp_path / "sprung"
    store.put("a", b"value")
    plant(folder, "UPDATE Cache SET raw = 0, key = ?", pickle.dumps(Bomb(trap)))

    with pytest.raises(ValueError, match="planted"):
        list(store._cache)

    assert not trap.exists()
    assert store.get("a") is None


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_planted_file_name_is_not_followed(folder: Path, store: DiskStore, tmp_path: Path, mode: int):
    """A row that points at a file outside reads nothing from it, and overwriting the row does not delete it."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    store.put("a", b"value")
    plant(folder, "UPDATE Cache SET mode = ?, value = NULL, filename = ?", mode, str(secret))

    assert store.get("a") is None
    store.put("a", b"new")

    assert secret.read_bytes() == b"secret"
    assert store.get("a") == b"new"


def test_altered_and_moved_values_are_misses(folder: Path, store: DiskStore, caplog):
    """A value whose checksum does not fit its key is computed again, and that is said."""
    store.put("a", b"value of a")
    store.put("b", b"value of b")
    plant(folder, "UPDATE Cache SET value = (SELECT value FROM Cache WHERE key = 'b') WHERE key = 'a'")

    with caplog.at_level(logging.WARNING):
        assert store.get("a") is None

    assert store.get("b") == b"value of b"
    assert "damaged" in caplog.text


@pytest.mark.parametrize("value", ["text", 3, 1.5, None, ["list"], bytearray(b"x")])
def test_only_bytes_are_kept(store: DiskStore, value):
    """Anything but bytes would have to be pickled, and is refused."""
    with pytest.raises(TypeError):
        store._cache.set("a", value)


def test_only_the_owner_can_look_inside(folder: Path, store: DiskStore):
    """The folder, and the home that it makes, are 0700."""
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


def test_nothing_is_evicted(folder: Path):
    """No size or age throws anything out, also where the folder was made with other settings."""
    import diskcache

    folder.mkdir(parents=True)
    diskcache.Cache(str(folder), size_limit=10, eviction_policy="least-recently-used").close()

    with DiskStore(folder) as store:
        for number in range(200):
            store.put(str(number), b"x" * 1_000)
        assert all(store.get(str(number)) for number in range(200))
        assert {name: getattr(store._cache, name) for name in SETTINGS} == SETTINGS


def test_settings_that_do_not_hold_are_refused(folder: Path, monkeypatch):
    """If the settings asked for are not those in force, the store is not used."""
    import diskcache

    monkeypatch.setattr(diskcache.Cache, "cull_limit", 10, raising=False)
    original = diskcache.Cache.reset
    monkeypatch.setattr(
        diskcache.Cache,
        "reset",
        lambda self, key, *rest, **more: None if key == "cull_limit" else original(self, key, *rest, **more),
    )

    with pytest.raises(ConfigError, match="cull_limit"):
        DiskStore(folder)


@pytest.mark.parametrize("content", [b"no database " * 500, b"SQLite format 3\x00" + b"\xff" * 5_000])
def test_damaged_store_is_put_aside(folder: Path, content: bytes, caplog):
    """A store that cannot be opened is kept under another name, and a new one is begun."""
    folder.mkdir(parents=True)
    (folder / "cache.db").write_bytes(content)

    store = open_store(folder)
    store.put("a", b"value")

    assert isinstance(store, DiskStore)
    assert store.get("a") == b"value"
    assert (folder.parent / "vectors.damaged-1" / "cache.db").exists()
    assert "damaged" in caplog.text
    store.close()


def test_where_nothing_can_be_written_memory_serves(tmp_path: Path, caplog):
    """A cache that cannot be made costs speed, not the run."""
    (tmp_path / "file").write_text("")

    store = open_store(tmp_path / "file" / "vectors")
    store.put("a", b"value")

    assert store.get("a") == b"value"
    assert "memory" in caplog.text


def test_damage_while_open_is_a_miss(folder: Path, store: DiskStore):
    """A table that vanishes under the store makes misses, not errors."""
    store.put("a", b"value")
    plant(folder, "DROP TABLE Cache")

    store.put("b", b"value")

    assert store.get("a") is None
