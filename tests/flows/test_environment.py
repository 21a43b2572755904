"""OLLAMA_HOST means here what it means to Ollama (envconfig.Host of 0.17.4)."""

from __future__ import annotations

import pytest

from flows.environment import ollama_address
from pipeline.errors import ConfigError


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:99", "http://box:99"),
        (" box ", "http://box:11434"),
        ("'box:99'", "http://box:99"),
        ('" box:99 "', "http://box:99"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("https://box/ollama/", "https://box:443/ollama"),
        (":11434", "http://127.0.0.1:11434"),
        ("box:", "http://box:11434"),
        ("box:99999", "http://box:11434"),
        ("http://box:port", "http://box:80"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:99", "http://[::1]:99"),
        ("ollama.com", "https://ollama.com:443"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::]:99", "http://[::1]:99"),
    ],
)
def test_as_ollama_reads_it(said: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    assert ollama_address() == address


@pytest.mark.parametrize("said", ["ftp://box", "my box"])
def test_what_no_server_can_have_is_said(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    with pytest.raises(ConfigError, match=r"OLLAMA_HOST: '.*' is not an address such as"):
        ollama_address()
