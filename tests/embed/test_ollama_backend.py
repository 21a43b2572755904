from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest

from pipeline.embed.ollama_backend import OllamaEmbedder
from pipeline.errors import PrerequisiteError
from tests.servers.embeddings import embedding
from tests.servers.postgres import free_port
from tests.servers.real_ollama import CHAT_MODEL, EMBEDDING_MODEL, RealOllama
from tests.servers.scripted import ScriptedServer
from tests.servers.stranger import PAGE, stranger


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(models=["embedder", "multilingual-e5-small"]) as running:
        yield running


def test_vectors_come_in_order_and_the_body_is_exact(server: ScriptedServer) -> None:
    texts = [f"text {i}" for i in range(70)]
    vectors = OllamaEmbedder("embedder", server.address).embed(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [embedding(text) for text in texts], atol=1e-6)
    bodies = [request.body for request in server.requests if request.path == "/api/embed"]
    assert bodies == [
        {"model": "embedder", "input": texts[:64], "truncate": False},
        {"model": "embedder", "input": texts[64:], "truncate": False},
    ]


def test_e5_gets_its_prefix_there_too(server: ScriptedServer) -> None:
    embedder = OllamaEmbedder("multilingual-e5-small", server.address)
    embedder.embed(["石の上にも三年"])
    assert server.requests[-1].body["input"] == ["query: 石の上にも三年"]
    assert embedder.identity.endswith(" 'query: '")


def test_nothing_to_embed_asks_nothing(server: ScriptedServer) -> None:
    embedder = OllamaEmbedder("embedder", server.address)
    assert embedder.embed([]).shape[0] == 0
    assert embedder.cut([]) == []
    assert server.requests == []


def test_a_model_that_is_not_there_says_what_to_type(server: ScriptedServer) -> None:
    with pytest.raises(PrerequisiteError, match=r"has no model 'other'; type: ollama pull other"):
        _ = OllamaEmbedder("other", server.address).identity


def test_no_server_says_what_to_type() -> None:
    embedder = OllamaEmbedder("embedder", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(
        PrerequisiteError, match=r"no Ollama server answers at http://127\.0\.0\.1.*ollama serve"
    ):
        _ = embedder.identity
    with pytest.raises(PrerequisiteError, match="ollama serve"):
        embedder.embed(["a"])


@pytest.mark.parametrize(
    "answer", [PAGE, b'{"ok": true}', b"[]", b'{"models": [{}], "embeddings": [[1, 2]]}', b'{"models": 1}']
)
def test_a_server_that_is_no_ollama_is_said(answer: bytes) -> None:
    with stranger(answer) as address:
        embedder = OllamaEmbedder("embedder", address)
        said = rf"{address}/api/\w+ does not answer as Ollama does: .*check the embedder's address"
        with pytest.raises(PrerequisiteError, match=said):
            _ = embedder.identity
        with pytest.raises(PrerequisiteError, match=said):
            embedder.embed(["a", "b"])


@pytest.mark.ollama
def test_real_vectors_long_texts_and_errors(real_ollama: RealOllama) -> None:
    embedder = OllamaEmbedder(EMBEDDING_MODEL, real_ollama.address)
    digest = embedder.identity.split()[1]
    assert len(digest) == 64
    texts = ["a stitch in time saves nine", "word " * 900, "act early", "fish live in water"]
    vectors = embedder.embed(texts)
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert float(vectors[0] @ vectors[2]) > float(vectors[0] @ vectors[3])
    assert embedder.cut(texts) == [False, True, False, False]
    assert OllamaEmbedder(EMBEDDING_MODEL, real_ollama.address).cut(texts[:2]) == [False, True]
    with pytest.raises(PrerequisiteError, match="ollama pull nothing"):
        OllamaEmbedder("nothing", real_ollama.address).embed(["a"])
    with pytest.raises(PrerequisiteError, match=f"embedding with '{CHAT_MODEL}' failed with 501"):
        OllamaEmbedder(CHAT_MODEL, real_ollama.address).embed(["a"])


@pytest.mark.ollama
@pytest.mark.transformers
@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="the transformers extra is not here")
def test_minilm_is_the_same_through_both_backends(real_ollama: RealOllama) -> None:
    from pipeline.embed.transformers_backend import SentenceTransformers
    from tests.servers.real_ollama import minilm_folder

    texts = ["practice makes perfect", "the early bird catches the worm", "zwei Dinge", "石の上にも三年"]
    ours = OllamaEmbedder(EMBEDDING_MODEL, real_ollama.address).embed(texts)
    theirs = SentenceTransformers(str(minilm_folder())).embed(texts)
    assert (ours * theirs).sum(axis=1).min() > 0.9999
