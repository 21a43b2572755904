from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pipeline.embed.transformers_backend import SentenceTransformers
from pipeline.errors import PrerequisiteError
from tests.servers.real_ollama import minilm_folder

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def embedder() -> SentenceTransformers:
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed: pip install 'adage[transformers]'")
    return SentenceTransformers(str(minilm_folder()))


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra is installed here")
def test_a_missing_extra_says_what_to_type() -> None:
    with pytest.raises(
        PrerequisiteError, match=r"LaBSE needs an extra; type: pip install 'adage\[transformers\]'"
    ):
        SentenceTransformers("sentence-transformers/LaBSE").embed(["a"])


def test_a_commit_given_needs_no_loading() -> None:
    embedder = SentenceTransformers("intfloat/multilingual-e5-small", COMMIT)
    assert embedder.revision == COMMIT
    assert embedder.identity == f"sentence-transformers multilingual-e5-small {COMMIT} 'query: '"


def test_a_folder_is_known_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    before = SentenceTransformers(str(tmp_path)).identity
    assert SentenceTransformers(str(tmp_path)).identity == before
    (tmp_path / "model.safetensors").write_bytes(b"Weights")
    assert SentenceTransformers(str(tmp_path)).identity != before


@pytest.mark.transformers
def test_vectors_are_unit_rows_by_meaning(embedder: SentenceTransformers) -> None:
    vectors = embedder.embed(["a stitch in time saves nine", "act early", "fish live in water"])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert float(vectors[0] @ vectors[1]) > float(vectors[0] @ vectors[2])
    assert embedder.embed([]).shape[0] == 0


@pytest.mark.transformers
def test_texts_past_the_window_are_said_to_be_cut(embedder: SentenceTransformers) -> None:
    # MiniLM's window is 256 tokens, two of them special.
    assert embedder.cut(["word", "word " * 254, "word " * 255]) == [False, False, True]
    assert embedder.cut([]) == []


@pytest.mark.transformers
def test_a_name_nobody_has_says_what_to_type(embedder: SentenceTransformers, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing")
    with pytest.raises(PrerequisiteError, match=r"nothing cannot be loaded: .*type: hf download"):
        SentenceTransformers(missing).embed(["a"])


@pytest.mark.transformers
def test_an_open_revision_is_resolved_at_load(embedder: SentenceTransformers, tmp_path: Path) -> None:
    # The hub's cache as a download leaves it; the hub itself is switched off.
    folder = tmp_path / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(COMMIT)
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / COMMIT).symlink_to(embedder.name)
    program = (
        "from pipeline.embed.transformers_backend import SentenceTransformers;"
        "print(SentenceTransformers('sentence-transformers/all-MiniLM-L6-v2').revision)"
    )
    told = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, env=told, capture_output=True, text=True
    )
    assert done.stdout.strip() == COMMIT, done.stderr
