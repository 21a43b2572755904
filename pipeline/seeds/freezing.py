"""Freezing splits: what a run assigned goes into `splits.csv` and stays there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.errors import SeedError
from pipeline.seeds.table import SeedRow


def freeze_splits(frozen: Sequence[SeedRow], assigned: Mapping[str, str], since: str) -> list[SeedRow]:
    """The rows of `splits.csv` with the proverbs of ``assigned`` (proverb id -> split) added.

    Rows that are there stay to the letter, those of proverbs that are gone too: a proverb that comes back
    must not change its split. Raises SeedError when a frozen proverb was assigned another split.
    """
    known = {row["proverb_id"]: row for row in frozen}
    for proverb_id, split in assigned.items():
        if proverb_id in known and known[proverb_id]["split"] != split:
            raise SeedError(
                f"splits.csv: {proverb_id} is frozen in {known[proverb_id]['split']}, but the run has it in "
                f"{split}: it was built before the file was edited. Build again, then freeze"
            )
    new = sorted(set(assigned) - set(known))
    return [*frozen, *({"proverb_id": i, "split": assigned[i], "since": since} for i in new)]
