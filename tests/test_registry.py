"""Finding a provider by its prefix, from here or from another package, and having it ready in time."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tiered_eval.calls import World
from tiered_eval.calls.vendors import Vendors
from tiered_eval.errors import ConfigError
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.base import NeedsPreparation
from tiered_eval.providers.registry import (
    BATCH_PROVIDERS,
    DECISION_PROVIDERS,
    EMBEDDING_PROVIDERS,
    PROVIDERS,
    ProviderSettings,
    open_batch_provider,
    open_decision_provider,
    open_embedding_provider,
    open_provider,
)
from tiered_eval.testing.scripted import ScriptedProvider

ANYWHERE = ProviderSettings(base_urls=dict.fromkeys(PROVIDERS, "http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("prefix", sorted(set(PROVIDERS) - {"replay"}))
def test_every_prefix_opens_under_its_own_name(prefix: str):
    """The table of strings points at classes that exist and take what they are given."""
    provider = open_provider(prefix, settings=ANYWHERE)

    assert (provider.name, provider.origin) == (prefix, "http://127.0.0.1:9")
    assert isinstance(provider, NeedsPreparation)


@pytest.mark.parametrize("prefix", sorted(EMBEDDING_PROVIDERS))
def test_every_prefix_of_embeddings_opens(prefix: str):
    """Providers of embeddings say how much one request may carry."""
    provider = open_embedding_provider(prefix, settings=ANYWHERE)

    assert provider.name == prefix
    assert provider.max_batch > 0


@pytest.mark.parametrize("prefix", sorted(DECISION_PROVIDERS))
def test_every_prefix_of_decisions_opens(prefix: str):
    """Providers of decisions say how many questions one request may carry."""
    provider = open_decision_provider(prefix, settings=ANYWHERE)

    assert (provider.name, provider.origin) == (prefix, "http://127.0.0.1:9")
    assert provider.max_questions > 1
    assert isinstance(provider, NeedsPreparation)


@pytest.mark.parametrize("prefix", sorted(BATCH_PROVIDERS))
def test_every_prefix_of_batches_opens_beside_its_chat_models(prefix: str):
    """A batch goes to the same place as the single calls it stands for, so their kept replies are shared."""
    provider, single = (
        open_batch_provider(prefix, settings=ANYWHERE),
        open_provider(prefix, settings=ANYWHERE),
    )

    assert (provider.name, provider.origin) == (single.name, single.origin)
    assert provider.limits.items > 1


def test_batches_of_nobody_are_refused():
    """A server without batches says so when one is opened."""
    with pytest.raises(ConfigError, match="vllm"):
        open_batch_provider("vllm", settings=ANYWHERE)


def test_opening_a_provider_imports_no_sdk():
    """A run whose replies are all kept learns where they are from without paying for an SDK."""
    code = (
        "import sys; from tiered_eval.providers.registry import *; "
        "[open_provider(name, settings=ProviderSettings()) for name in ('anthropic', 'openai', 'ollama')]; "
        "[open_batch_provider(name, settings=ProviderSettings()) for name in BATCH_PROVIDERS]; "
        "[open_decision_provider(name, settings=ProviderSettings()) for name in DECISION_PROVIDERS]; "
        "print([name for name in ('anthropic', 'openai', 'httpx2', 'aiohttp', 'pydantic') if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("prefix", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]
)
def test_missing_key_can_be_refused_when_a_provider_is_opened(
    prefix: str, variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Where calls will be made, the missing key is said before the first; where kept replies do, it is not asked for."""
    for name in (variable, "ANTHROPIC_AUTH_TOKEN", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path / "none"))

    open_provider(prefix, settings=ProviderSettings())
    with pytest.raises(ConfigError, match=variable):
        open_provider(prefix, settings=ProviderSettings(requires_key=True))
    monkeypatch.setenv(variable, "sk-test-0123456789")

    assert open_provider(prefix, settings=ProviderSettings(requires_key=True)).name == prefix


def test_server_on_this_machine_needs_no_key(monkeypatch: pytest.MonkeyPatch):
    """A loopback address is called without one."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    local = ProviderSettings(base_urls={"openai": "http://127.0.0.1:9/v1"}, requires_key=True)

    assert open_provider("openai", settings=local).origin == "http://127.0.0.1:9"


def test_another_package_adds_a_provider(monkeypatch: pytest.MonkeyPatch):
    """An entry point named like a prefix is found and called with the settings."""
    seen: list[tuple[Any, str]] = []

    class Point:
        name = "acme"

        def load(self) -> Any:
            def opened(settings: Any, name: str) -> str:
                seen.append((settings, name))
                return "opened"

            return opened

    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda group: [Point()] if group == "tiered_eval.providers" else [],
    )

    opened = open_provider("acme", settings=ANYWHERE)

    assert (opened, seen) == ("opened", [(ANYWHERE, "acme")])


async def test_missing_sdk_is_said_with_its_remedy(monkeypatch: pytest.MonkeyPatch):
    """Without the SDK the message says what to install, before anything is sent."""
    monkeypatch.setitem(sys.modules, "openai", None)  # type: ignore[arg-type]  # makes its import fail
    provider = open_provider("openai", settings=ANYWHERE)
    assert isinstance(provider, NeedsPreparation)

    with pytest.raises(ConfigError, match=r"pip install 'tiered-eval\[openai\]'"):
        await provider.prepare()


class SlowToStart(ScriptedProvider):
    """A provider that has to be prepared."""

    prepared = 0

    def check(self) -> None:
        pass

    async def prepare(self) -> None:
        self.prepared += 1


@pytest.mark.parametrize("prefix", ["openai", "anthropic"])
def test_missing_sdk_can_be_refused_when_a_provider_is_opened(prefix: str, monkeypatch: pytest.MonkeyPatch):
    """A run without the package ends before it begins, and not with an error for each expectation."""
    monkeypatch.setitem(sys.modules, prefix, None)

    with pytest.raises(ConfigError, match=rf"tiered-eval\[{prefix}\]"):
        open_provider(
            prefix, settings=ProviderSettings(base_urls={prefix: "http://127.0.0.1:9/v1"}, requires_key=True)
        )


@pytest.mark.parametrize(("kind", "times"), [(SlowToStart, 1), (ScriptedProvider, 0)])
async def test_provider_that_needs_preparation_gets_it(
    kind: type[ScriptedProvider], times: int, tmp_path: Path
):
    """The door prepares a provider that asks for it, and leaves others alone."""
    provider = kind()
    world = World(open_provider=lambda prefix: provider)
    vendors = Vendors(home=tmp_path, prices=PriceBook({}), world=world, concurrency=1)

    await vendors.prepare("scripted:small")

    assert getattr(provider, "prepared", 0) == times
