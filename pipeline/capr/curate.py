"""Stage 7: flags and splits make a dataset (ADAGE paper, sections 3.3 and 3.5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pipeline.capr.base import Base
from pipeline.capr.flags import flags
from pipeline.capr.rubrics import RUBRICS
from pipeline.capr.splitting import assign_splits, kept_splits
from pipeline.errors import StageError
from pipeline.params import Params
from pipeline.store.result import Rejection, StageResult

_OF_PROVERB = ("group", "meaning_from", "equivalent_en")
"""What an item says of its key proverb; the paper names English equivalents as a reason for high scores."""


class CurateParams(Params):
    """``drop_flagged`` leaves items with the paper's flag out; by default they stay, as in the paper."""

    drop_flagged: bool = False


def curate(
    items: pa.Table,
    judgements: pa.Table,
    proverbs: pa.Table,
    clusters: pa.Table,
    cluster_names: pa.Table,
    frozen_splits: Sequence[Mapping[str, str]],
    run_seed: int,
    params: CurateParams,
    base: Base | None,
) -> StageResult:
    """One row an item, with its split and flags; splits are by proverb, variants together.

    A base dataset's items come first and to the letter; those whose proverb was taken out of the seeds are
    rejected, and flagged ones where flagged items are dropped. Raises StageError when a judgement's digest is
    not its item's (it was made for another text).
    """
    selected = {row["proverb_id"]: row for row in proverbs.to_pylist() if row["selected"]}
    cluster_of = {row["proverb_id"]: row["cluster_id"] for row in clusters.to_pylist()}
    names = {row["cluster_id"]: row["name"] for row in cluster_names.to_pylist()}
    groups = {proverb_id: row["group"] for proverb_id, row in selected.items()}
    splits = assign_splits(
        list(groups),
        clusters={p: cluster_of.get(p, -1) for p in groups},
        groups=groups,
        frozen=kept_splits(frozen_splits, base),
        run_seed=run_seed,
    )
    ratings = _ratings(items, judgements)
    rows, rejected = _from_base(base, set(proverbs["proverb_id"].to_pylist()), params)
    for item in items.to_pylist():
        flagged = flags(ratings[item["item_id"]], item["answer"])
        if params.drop_flagged and flagged.flag_paper:
            rejected.append(
                Rejection(item["item_id"], "flagged", {"reasons": flagged.reasons, **flagged.means})
            )
            continue
        cluster = cluster_of[item["proverb_id"]]
        rows.append(
            {
                **item,
                "split": splits[item["proverb_id"]],
                "cluster_id": cluster,
                "cluster": names.get(cluster, f"cluster {cluster} (unnamed)"),
                **{name: selected[item["proverb_id"]][name] for name in _OF_PROVERB},
                "flag_paper": flagged.flag_paper,
                "flag_reasons": flagged.reasons,
                "ambiguous": flagged.ambiguous,
                "invalid": flagged.invalid,
                "valid_judges": flagged.valid_judges,
                **flagged.means,
            }
        )
    facts = {
        "proverbs_by_split": dict(Counter(splits.values())),
        "items_by_split": dict(Counter(row["split"] for row in rows)),
        "flagged": sum(row["flag_paper"] for row in rows),
        "flag_reasons": dict(Counter(reason for row in rows for reason in row["flag_reasons"])),
        "ambiguous": sum(row["ambiguous"] for row in rows),
        "invalid": sum(row["invalid"] for row in rows),
        "splits": splits,
    }
    expected = items.num_rows + (base.items.num_rows if base else 0)
    return StageResult(rows, rejected, expected, facts)


def _from_base(
    base: Base | None, known: Collection[str], params: CurateParams
) -> tuple[list[dict[str, Any]], list[Rejection]]:
    rows: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    for item in base.items.to_pylist() if base else []:
        if item["proverb_id"] not in known:
            rejected.append(Rejection(item["item_id"], "proverb_removed", {"proverb_id": item["proverb_id"]}))
        elif params.drop_flagged and item["flag_paper"]:
            means = {rubric: item[rubric] for rubric in RUBRICS}
            numbers = {"reasons": item["flag_reasons"], **means}
            rejected.append(Rejection(item["item_id"], "flagged_in_base", numbers))
        else:
            rows.append(item)
    return rows, rejected


def _ratings(items: pa.Table, judgements: pa.Table) -> dict[str, list[dict[str, Any]]]:
    digests = dict(zip(items["item_id"].to_pylist(), items["item_digest"].to_pylist(), strict=True))
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in judgements.to_pylist():
        if digests.get(row["item_id"]) != row["item_digest"]:
            raise StageError(
                f"judgement of {row['item_id']} by {row['judge']} was made for another text of the item "
                f"({row['item_digest']}, now {digests.get(row['item_id'])}): it is not used"
            )
        found[row["item_id"]].append(row)
    return found
