"""What `adage seeds check` found, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from flows.backends import Backends
from flows.cli.text import brief, paragraph
from pipeline.capr.expectations import Expectations, Interval, Sizes
from pipeline.capr.seed_check import HALF_WIDTH, SeedCheck
from pipeline.embed.cache import CachedEmbedder
from pipeline.language.language import Language
from pipeline.profile import Profile
from pipeline.seeds.weak import REASONS
from pipeline.store.root import Root

_MOST_EMBEDDED = 100
"""A long explanation takes the embedded embedder up to 0.15 s on one core."""

_SHOWN = 5
_NAME, _COLUMN = 34, 22


def cheap_embedder(place: Root, settings: Profile, texts: Sequence[str]) -> tuple[CachedEmbedder | None, str]:
    """The profile's embedder where it costs seconds, and what to say about it."""
    spec = settings.embedder
    if spec.backend != "embedded":
        return None, f"No model was used: the embedder of this profile ({spec.backend}) may need a GPU."
    embedder = CachedEmbedder(Backends.embedder(spec), place.artifacts / "vectors.sqlite")
    fresh = embedder.missing(texts)
    if fresh > _MOST_EMBEDDED:
        return None, (
            f"No model was used: {fresh} meanings are not embedded yet, and so many would take minutes."
        )
    return embedder, f"Used: the embedder {embedder.name} on this machine. No language model was called."


def finding_lines(check: SeedCheck, language: Language, profile: str) -> list[str]:
    """Rows, variants, weak meanings, then what to expect with the profile's limits and without."""
    lines = [
        f"{language.name} ({language.code}): {check.rows} seed rows, {check.usable} usable, "
        f"{check.drafts} not reviewed by a native speaker"
    ]
    for reason, rows in groupby(sorted(check.rejected, key=lambda r: r.reason), key=lambda r: r.reason):
        ids = [rejection.row_id for rejection in rows]
        lines += paragraph(_some(ids), f"  {len(ids)} {reason}: ")
    if check.limited.proverbs < check.least:
        lines.append(f"  too few: a build needs at least {check.least} within the limits")
    return [*lines, *_variants(check, language), *_weak(check, language), *_expected(check, profile)]


def _variants(check: SeedCheck, language: Language) -> list[str]:
    unmarked = [v for v in check.variants if not v.marked]
    lines = ["", f"Probable variants: {len(check.variants)}, of them {len(unmarked)} not marked"]
    for variant in unmarked[:_SHOWN]:
        texts = [brief(text, language.direction) for text in (variant.text, variant.of_text)]
        lines += paragraph(f"{texts[0]} ~ {texts[1]} ({variant.similarity:.2f})", "  ")
        lines.append(f"    if so, write variant_of {variant.of} into row {variant.proverb_id}")
    return lines + _rest(len(unmarked))


def _weak(check: SeedCheck, language: Language) -> list[str]:
    lines = ["", f"Weak meanings: {len(check.weak)}"]
    for reason, group in groupby(check.weak, key=lambda weak: weak.reason):
        found = list(group)
        lines += paragraph(f"{len(found)} {REASONS[reason]}", "  ")
        for weak in found[:_SHOWN]:
            same = f" (as {weak.of})" if weak.of else ""
            lines += paragraph(f"{weak.proverb_id}{same} {brief(weak.text, language.direction)}", "    ")
        lines += _rest(len(found))
    return lines


def _expected(check: SeedCheck, profile: str) -> list[str]:
    scopes = [(check.limited, check.limited_sizes), (check.whole, check.whole_sizes)]
    lines = ["", _row("What to expect", [f"profile {profile}", "all seeds"])]
    lines += [_row(f"  {name}", [show(e, sizes) for e, sizes in scopes]) for name, show in _ROWS.items()]
    if check.whole.memory > check.memory_limit:
        lines += paragraph(
            f"clustering all seeds would be refused: the limit is {_bytes(check.memory_limit)} "
            "(capr.cluster.memory_gib)",
            "  ",
        )
    apart, alike = check.needed
    lines += paragraph(
        "Intervals resample proverbs, around an accuracy of 50 %, where they are widest. For +-"
        f"{HALF_WIDTH * 100:.0f} points it takes {apart} proverbs in all ten domains if a proverb's items "
        f"are right or wrong independently, {alike} if they are all right or all wrong. Items, clusters and "
        "calls are the most there can be: rejected scenarios and shared labels make fewer, asking again "
        "makes more calls.",
        "  ",
    )
    return lines


_ROWS: dict[str, Callable[[Expectations, Sizes | None], str]] = {
    "proverbs x domains": lambda e, s: f"{e.proverbs} x {e.domains}",
    "items": lambda e, s: str(e.proverbs * e.domains),
    "in the test split": lambda e, s: _test_split(e),
    "95 % interval, items independent": lambda e, s: _interval(e.apart),
    "95 % interval, all alike": lambda e, s: _interval(e.alike),
    "clusters": lambda e, s: f"{e.k.low} to {e.k.high}" if e.k else "too few proverbs",
    "proverbs a cluster, mean": lambda e, s: (
        f"{e.proverbs / e.k.high:.1f} to {e.proverbs / e.k.low:.1f}" if e.k else "-"
    ),
    "clusters if labels were meanings": lambda e, s: _sizes(s),
    "memory of clustering": lambda e, s: _bytes(e.memory),
    "calls: label": lambda e, s: str(e.calls.label),
    "calls: name_clusters": lambda e, s: str(e.calls.name_clusters),
    "calls: scenarios": lambda e, s: str(e.calls.scenarios),
    "calls: judge": lambda e, s: str(e.calls.judge),
    "calls: all": lambda e, s: str(e.calls.total),
}


def _row(name: str, cells: list[str]) -> str:
    return f"{name:<{_NAME}}" + "".join(f"{cell:>{_COLUMN}}" for cell in cells)


def _test_split(sizes: Expectations) -> str:
    plural = "" if sizes.test_proverbs == 1 else "s"
    return f"{sizes.test_items} from {sizes.test_proverbs} proverb{plural}"


def _interval(interval: Interval | None) -> str:
    return f"{interval.low:.0%} to {interval.high:.0%}" if interval else "no test proverb"


def _sizes(sizes: Sizes | None) -> str:
    return f"{sizes.k} of {sizes.least}-{sizes.most}, {sizes.alone} alone" if sizes else "-"


def _bytes(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**29 else f"{count / 2**20:.1f} MiB"


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")


def _rest(count: int) -> list[str]:
    return [f"    and {count - _SHOWN} more (--json lists all)"] if count > _SHOWN else []
