from __future__ import annotations

import pytest

from pipeline.embed.prefix import prefix_of


@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        ("intfloat/multilingual-e5-small", "query: "),
        ("intfloat/e5-large-v2", "query: "),
        ("/models/multilingual-e5-base", "query: "),
        ("jeffh/intfloat-multilingual-e5-large:f16", "query: "),
        ("intfloat/multilingual-e5-large-instruct", ""),
        ("sentence-transformers/LaBSE", ""),
        ("minilm", ""),
        ("note5-small", ""),
    ],
)
def test_e5_models_and_no_others_get_their_prefix(model: str, prefix: str) -> None:
    assert prefix_of(model) == prefix
