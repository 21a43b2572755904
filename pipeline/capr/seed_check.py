"""What a table of seeds is good for, said before any model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.capr.acquire import usable
from pipeline.capr.domains import DOMAINS
from pipeline.capr.expectations import Expectations, Sizes, clusters_of_meanings, expect, proverbs_needed
from pipeline.embed.interface import Embedder
from pipeline.language.language import Language
from pipeline.profile import Profile
from pipeline.seeds.table import SeedRow
from pipeline.seeds.variants import probable_variants
from pipeline.seeds.weak import WeakMeaning, weak_meanings
from pipeline.store.result import Rejection

HALF_WIDTH = 0.05


@dataclass(frozen=True)
class Variant:
    """Two proverbs of close wording; ``marked`` when ``variant_of`` keeps them in one split already."""

    proverb_id: str
    text: str
    of: str
    of_text: str
    similarity: float
    marked: bool


@dataclass(frozen=True)
class SeedCheck:
    """The findings; ``limited`` is what the profile's limits give, ``whole`` all seeds in all domains.

    ``sizes`` are those of clusters of meanings, None where no embedder was given or there are too few.
    """

    rows: int
    usable: int
    drafts: int
    least: int
    rejected: list[Rejection]
    variants: list[Variant]
    weak: list[WeakMeaning]
    limited: Expectations
    whole: Expectations
    limited_sizes: Sizes | None
    whole_sizes: Sizes | None
    memory_limit: int
    needed: tuple[int, int]

    def as_json(self) -> dict[str, Any]:
        """Plain data, everything listed."""
        return asdict(self)


def check_seeds(
    seeds: Sequence[SeedRow], language: Language, profile: Profile, embedder: Embedder | None
) -> SeedCheck:
    """Look at seed rows as a build of this profile would take them; asks no language model.

    ``embedder`` None: no cluster sizes from meanings. Raises nothing for bad rows: they are the findings.
    """
    params = profile.capr
    rows, rejected = usable(seeds, language, params.acquire)
    selected = [row for row in rows if row["selected"]]
    judges, setting = len(profile.roles.judges), params.cluster.k_range
    sizes = [
        clusters_of_meanings([row["meaning"] for row in some], embedder, setting) if embedder else None
        for some in (selected, rows)
    ]
    return SeedCheck(
        rows=len(seeds),
        usable=len(rows),
        drafts=sum(row["status"] != "reviewed" for row in rows),
        least=params.acquire.least,
        rejected=rejected,
        variants=_variants(rows, language),
        weak=weak_meanings(seeds, language),
        limited=expect(len(selected), params.scenarios.domains, judges, setting),
        whole=expect(len(rows), len(DOMAINS), judges, setting),
        limited_sizes=sizes[0],
        whole_sizes=sizes[1],
        memory_limit=int(params.cluster.memory_gib * 2**30),
        needed=proverbs_needed(HALF_WIDTH, len(DOMAINS)),
    )


def _variants(rows: Sequence[Mapping[str, Any]], language: Language) -> list[Variant]:
    found = probable_variants([language.proverb_key(row["text"]) for row in rows])
    return [
        Variant(
            rows[later]["proverb_id"],
            rows[later]["text"],
            rows[earlier]["proverb_id"],
            rows[earlier]["text"],
            similarity,
            rows[later]["group"] == rows[earlier]["group"],
        )
        for earlier, later, similarity in found
    ]
