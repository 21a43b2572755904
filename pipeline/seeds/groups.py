"""Variants of one proverb are one group, however they are linked."""

from __future__ import annotations

from collections.abc import Mapping


def group_of(proverb_id: str, variant_of: Mapping[str, str]) -> str:
    """The proverb a chain of ``variant_of`` ends in; a circle ends in its smallest id."""
    chain = [proverb_id]
    while variant_of.get(chain[-1]):
        following = variant_of[chain[-1]]
        if following in chain:
            return min(chain[chain.index(following) :])
        chain.append(following)
    return chain[-1]
