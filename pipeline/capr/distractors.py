"""Stage 5: scenarios become four-option items (ADAGE paper, section 3.1)."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.capr.base import Base
from pipeline.capr.calibration import PAPER_CAP, Cap, Similarities, calibrated_cap, distribution, within_pairs
from pipeline.capr.candidates import Caps, Choice, Pool, choose
from pipeline.capr.clustering import centroids
from pipeline.capr.domains import DOMAINS
from pipeline.capr.vectors import NO_EMBEDDING, Mask, usable
from pipeline.embed.interface import Embedder, Vectors
from pipeline.hashing import stable_order, stable_permutation
from pipeline.language.language import Language
from pipeline.params import Params
from pipeline.store.files import digest_json
from pipeline.store.result import Rejection, StageResult

_DIGEST = 12


class DistractorParams(Params):
    """``rule``: the paper's random-cluster option, or one that balances the key's medoid rank.
    ``similarity_cap``: the paper's 0.85, or calibrated; ``meaning_cap``: whether meanings are compared."""

    rule: Literal["paper", "balanced"] = "paper"
    similarity_cap: Literal["fixed", "calibrated"] = "calibrated"
    meaning_cap: bool = True


@dataclass(frozen=True)
class Options:
    """The distractors of some proverbs, with the pool and the caps they were chosen under.

    ``rows`` gives the pool's row of each proverb, ``choices`` a choice for each proverb asked for,
    ``distributions`` the similarities of all pairs of proverbs and of meanings.
    """

    pool: Pool
    rows: Mapping[str, int]
    choices: Mapping[str, Choice]
    calibration: Mapping[str, Any]
    distributions: Mapping[str, Any]

    def ids_of(self, proverb_id: str) -> set[str]:
        """The four proverbs a scenario of this one is shown with, empty where a role has no candidate."""
        rows = self.choices[proverb_id].rows
        return {proverb_id, *(self.pool.ids[row] for row in rows)} if rows else set()


def distractors(
    filtered: pa.Table,
    proverbs: pa.Table,
    clusters: pa.Table,
    language: Language,
    embedder: Embedder,
    run_seed: int,
    params: DistractorParams,
    base: Base | None,
) -> StageResult:
    """One item a filtered scenario; the scenarios of a proverb share their options.

    Caps are calibrated over all seeds of the language, whatever the limits, or are the base's. The key's
    place is dealt from a permutation of A-D by domain slot, so that a proverb's items spread over the places.
    A proverb whose text or meaning has no usable vector is neither key nor distractor. What each option has
    in common with the scenario is noted and decides nothing.
    """
    scenarios = filtered.to_pylist()
    owners = sorted({row["proverb_id"] for row in scenarios})
    options = choose_options(owners, proverbs, clusters, embedder, run_seed, params, base)
    text_of = {row["proverb_id"]: row["text"] for row in proverbs.to_pylist()}
    vectors = embedder.embed([row["text"] for row in scenarios])
    words_of: dict[str, frozenset[str]] = {}
    kept: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    for row, vector in zip(scenarios, vectors, strict=True):
        choice = options.choices[row["proverb_id"]]
        if choice.reason:
            numbers = {**choice.numbers, **options.calibration}
            rejected.append(Rejection(row["scenario_id"], choice.reason, numbers))
            continue
        item = _item(row, choice, options, text_of, run_seed)
        equal = _equal_options(item["options"])
        if equal:
            rejected.append(
                Rejection(row["scenario_id"], "equal_options", {"options": item["options"], "equal": equal})
            )
            continue
        for proverb_id in item["option_ids"]:
            words_of.setdefault(proverb_id, language.content_words(text_of[proverb_id]))
        pool_rows = [options.rows[i] for i in item["option_ids"]]
        told = set(row["content_words"])
        kept.append(
            {
                **item,
                "scenario_similarities": [float(vector @ options.pool.texts[at]) for at in pool_rows],
                "scenario_overlaps": [_share(words_of[i], told) for i in item["option_ids"]],
            }
        )
    facts = {
        "caps": options.calibration,
        "rule": params.rule,
        "distributions": options.distributions,
        "longer_than_embedder_window": {
            field: sum(embedder.cut(proverbs[field].to_pylist())) for field in ("text", "meaning")
        },
    }
    return StageResult(kept, rejected, len(scenarios), facts)


def choose_options(
    owners: Sequence[str],
    proverbs: pa.Table,
    clusters: pa.Table,
    embedder: Embedder,
    run_seed: int,
    params: DistractorParams,
    base: Base | None,
) -> Options:
    """The distractors of each proverb in ``owners`` (ids), or why it has none."""
    seeds = sorted(proverbs.to_pylist(), key=lambda row: row["proverb_id"])
    texts = embedder.embed([row["text"] for row in seeds])
    meanings = embedder.embed([row["meaning"] for row in seeds])
    sound = usable(texts) & usable(meanings)
    proverb_pairs, meaning_pairs = within_pairs(texts[sound]), within_pairs(meanings[sound])
    caps, calibration = _frozen_caps(base) if base else _caps(proverb_pairs, meaning_pairs, params)
    distributions = {
        "proverb_proverb": distribution(proverb_pairs, caps.proverb),
        "meaning_meaning": distribution(meaning_pairs, caps.meaning),
    }
    pool, rows = _pool(seeds, clusters, texts, meanings, sound)
    able = [p for p in owners if p in rows]
    choices = dict(zip(able, choose(pool, [rows[p] for p in able], caps, params.rule, run_seed), strict=True))
    clustered = set(clusters["proverb_id"].to_pylist())
    for proverb_id in owners:
        reason = NO_EMBEDDING if proverb_id in clustered else "not_clustered"
        choices.setdefault(proverb_id, Choice((), (), -1, reason))
    return Options(pool, rows, choices, calibration, distributions)


def _caps(
    proverb_pairs: Similarities, meaning_pairs: Similarities, params: DistractorParams
) -> tuple[Caps, dict[str, Any]]:
    if params.similarity_cap == "fixed":
        found = {"proverb": Cap(PAPER_CAP, None, 0), "meaning": Cap(PAPER_CAP, None, 0)}
    else:
        found = {
            "proverb": calibrated_cap(proverb_pairs),
            "meaning": calibrated_cap(meaning_pairs),
        }
    facts: dict[str, Any] = {f"{kind}_cap": asdict(cap) for kind, cap in found.items()}
    if not params.meaning_cap:
        facts["meaning_cap"] = None
    return Caps(found["proverb"].cap, found["meaning"].cap if params.meaning_cap else None), facts


def _frozen_caps(base: Base) -> tuple[Caps, dict[str, Any]]:
    how = f"frozen with base {base.version}"
    meaning = base.caps.meaning
    facts = {
        "proverb_cap": {"cap": base.caps.proverb, "how": how},
        "meaning_cap": None if meaning is None else {"cap": meaning, "how": how},
    }
    return Caps(base.caps.proverb, meaning), facts


def _pool(
    seeds: Sequence[dict[str, Any]], clusters: pa.Table, texts: Vectors, meanings: Vectors, sound: Mask
) -> tuple[Pool, dict[str, int]]:
    """The clustered proverbs with usable vectors in id order, so that row order decides nothing."""
    place = {row["proverb_id"]: i for i, row in enumerate(seeds) if sound[i]}
    labelled = sorted(
        (row for row in clusters.to_pylist() if row["proverb_id"] in place),
        key=lambda row: row["proverb_id"],
    )
    at = [place[row["proverb_id"]] for row in labelled]
    # Dense numbers: a cluster may have lost all its proverbs.
    numbers = np.unique([row["cluster_id"] for row in labelled], return_inverse=True)[1].astype(np.int64)
    pool = Pool(
        ids=[row["proverb_id"] for row in labelled],
        clusters=numbers,
        labels=[row["label_key"] for row in labelled],
        groups=[seeds[i]["group"] for i in at],
        texts=texts[at],
        meanings=meanings[at],
        nearest=_nearest_clusters(texts[at], numbers),
    )
    return pool, {proverb_id: i for i, proverb_id in enumerate(pool.ids)}


def _nearest_clusters(vectors: Vectors, clusters: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each cluster the one whose proverbs' mean vector is nearest; [] where there is none."""
    if not len(clusters):
        return clusters
    centers = centroids(vectors, clusters, [1] * len(clusters))
    apart = ((centers[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest: npt.NDArray[np.int64] = apart.argmin(axis=1).astype(np.int64)
    return nearest


def _item(
    scenario: dict[str, Any],
    choice: Choice,
    options: Options,
    text_of: Mapping[str, str],
    run_seed: int,
) -> dict[str, Any]:
    key = scenario["proverb_id"]
    pool, rows_of = options.pool, options.rows
    own = rows_of[key]
    roles = {pool.ids[row]: role for row, role in zip(choice.rows, choice.roles, strict=True)}
    order = stable_order(roles, run_seed, "order", scenario["scenario_id"])
    slot = list(DOMAINS).index(scenario["domain"])
    answer = stable_permutation(4, run_seed, "answer", key)[slot % 4]
    order.insert(answer, key)
    rows = [rows_of[i] for i in order]
    texts = [text_of[i] for i in order]
    # The set, not the order: the same four proverbs under the same scenario are the same item.
    item_id = f"{scenario['scenario_id']}.{digest_json(sorted(zip(order, texts, strict=True)))[:8]}"
    return {
        "item_id": item_id,
        "item_digest": digest_json([scenario["text"], texts])[:_DIGEST],
        "scenario_id": scenario["scenario_id"],
        "proverb_id": key,
        "domain": scenario["domain"],
        "scenario": scenario["text"],
        "options": texts,
        "option_ids": order,
        "roles": [roles.get(i, "key") for i in order],
        "similarities": [float(pool.texts[own] @ pool.texts[row]) for row in rows],
        "meaning_similarities": [float(pool.meanings[own] @ pool.meanings[row]) for row in rows],
        "answer": answer,
        "medoid_rank": choice.medoid_rank,
    }


def _share(words: Collection[str], told: Collection[str]) -> float:
    """Share of an option's content words that occur in the scenario's."""
    return sum(word in told for word in words) / len(words) if words else 0.0


def _equal_options(options: Sequence[str]) -> list[str]:
    """Options that are one text after NFKC, case folding and blanks: they could not be told apart."""
    seen: dict[str, str] = {}
    for option in options:
        shown = " ".join(unicodedata.normalize("NFKC", option).casefold().split())
        if shown in seen:
            return [seen[shown], option]
        seen[shown] = option
    return []
