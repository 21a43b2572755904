"""The bare loops that the layer is measured against do the same work."""

from __future__ import annotations

import random

import pytest

from bench.language import bare_count, bare_key, bare_shares, fresh_texts, vocabulary
from tests.language.shipped import shipped


@pytest.mark.parametrize("code", ["en", "ar", "am"])
def test_a_bare_loop_finds_what_the_layer_finds(code: str) -> None:
    language = shipped(code)
    for text in fresh_texts(vocabulary(code), 20, 25, random.Random(1)):
        assert bare_key(language)(text) == language.key(text)
        assert bare_count(text) == language.word_count(text)


@pytest.mark.parametrize("code", ["ja", "am"])
def test_bare_shares_are_the_layers(code: str) -> None:
    language = shipped(code)
    for text in fresh_texts(vocabulary(code), 20, 8, random.Random(1)):
        shares = bare_shares(language)(text)
        assert isinstance(shares, list)
        assert shares[0] == language.identify(text).script_share
