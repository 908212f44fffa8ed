"""The page about providers names what there is, and the page about recordings shows one that can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tiered_eval.providers.compatible import PROFILES
from tiered_eval.providers.recordings import load_recordings
from tiered_eval.providers.registry import BATCH_PROVIDERS, DECISION_PROVIDERS, PROVIDERS
from tiered_eval.testing.loopback import BATCH_FAULTS, FAULTS, ITEM_FAULTS

ROOT = Path(__file__).parent.parent
PROVIDERS_PAGE = ROOT / "docs" / "providers.md"
RECORDINGS_PAGE = ROOT / "cache" / "README.md"


@pytest.mark.parametrize("prefix", sorted({*PROVIDERS, *DECISION_PROVIDERS, *BATCH_PROVIDERS}))
def test_every_prefix_is_explained(prefix: str):
    """Whoever adds a provider says what it is."""
    assert f"`{prefix}:`" in PROVIDERS_PAGE.read_text(encoding="utf-8")


def test_faults_that_the_page_shows_exist():
    """A fault of an example can be asked for."""
    text = PROVIDERS_PAGE.read_text(encoding="utf-8")
    shown = set(re.findall(r"(?:--fault|--item-fault) ([a-z0-9-]+)=", text))

    assert shown
    assert shown <= {*FAULTS, *ITEM_FAULTS, *BATCH_FAULTS}


@pytest.mark.parametrize("name", sorted(set(PROFILES) - {"generic"}))
def test_key_and_address_of_every_server_are_named(name: str):
    """The table of the page and the profiles of the code agree."""
    (row,) = re.findall(rf"^\| `{name}:` .*$", PROVIDERS_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    profile = PROFILES[name]

    assert profile.key_variable is None or profile.key_variable in row
    assert profile.base_url is None or profile.base_url in row or "its own" in row


def test_recording_of_the_page_can_be_read(tmp_path: Path):
    """The example of the format is one."""
    (example,) = re.findall(r"```json\n(.*?)\n```", RECORDINGS_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "page.jsonl").write_text(example + "\n", encoding="utf-8")

    ((key, (recording,)),) = load_recordings(tmp_path).items()

    assert key == json.loads(example)["key"]
    assert "{{nonce}}" in recording.text


def test_shipped_recordings_say_where_they_come_from():
    """Every recording in the project can be read, and says whether a model was asked."""
    recordings = load_recordings(ROOT / "cache" / "recordings")

    assert recordings
    assert {recording.origin for found in recordings.values() for recording in found} <= {
        "recorded",
        "hand-written",
    }
