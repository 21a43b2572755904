"""The report's charts, each drawn from the numbers of the table that stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.report.figures import INK, LINE, MAIN, MUTED, SECOND, STEPS, new_axes, to_svg
from pipeline.report.ratings import SCORES, Rubric
from pipeline.report.rows import StageRows
from pipeline.report.similarity import Distribution

_WIDTH = 420
_NARROW = 300
_BAR = 34
_MARGIN = 44
_THICK = 0.56
_TEXT = 12


def rows_chart(stages: Sequence[StageRows]) -> str:
    """A bar a stage: the share of its expected rows that it kept, then the share it rejected."""
    axes = new_axes(_WIDTH, _MARGIN + _BAR * len(stages))
    names = [stage.name for stage in stages]
    kept = [stage.kept_share for stage in stages]
    lost = [1 - share if stage.expected else 0.0 for stage, share in zip(stages, kept, strict=True)]
    axes.barh(names, kept, color=MAIN, height=_THICK)
    axes.barh(names, lost, left=kept, color=SECOND, height=_THICK)
    for place, stage in enumerate(stages):
        axes.text(1.02, place, f"{stage.kept:,}", color=INK, va="center", fontsize=_TEXT)
        if stage.rejected:
            axes.text(1.21, place, f"−{stage.rejected:,}", color=SECOND, va="center", fontsize=_TEXT)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.36)
    axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.set_xlabel("share of the rows a stage expects")
    axes.xaxis.set_label_coords(0.37, -0.09)
    axes.spines["bottom"].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=LINE, linewidth=0.8)
    said = "; ".join(f"{s.name}: {s.kept} of {s.expected} kept" for s in stages)
    return to_svg(axes, "rows", f"Rows kept and rejected by stage. {said}.")


def silhouette_chart(scores: Sequence[Mapping[str, Any]], chosen: int) -> str:
    """Both silhouettes over the number of clusters; the chosen one is marked. Gaps where undefined."""
    axes = new_axes(_WIDTH, 260)
    numbers = [score["k"] for score in scores]
    for name, color, style in (("unweighted", MUTED, "--"), ("weighted", MAIN, "-")):
        values = [float("nan") if score[name] is None else score[name] for score in scores]
        axes.plot(numbers, values, style, color=color, linewidth=1.8, marker="o", markersize=4, label=name)
    best = next(score["weighted"] for score in scores if score["k"] == chosen)
    axes.axvline(chosen, color=LINE, linewidth=1.2, zorder=0)
    if best is not None:
        axes.plot([chosen], [best], "o", color=MAIN, markersize=10, fillstyle="none", markeredgewidth=1.8)
    axes.text(
        chosen,
        1.02,
        f"k = {chosen}",
        color=INK,
        fontsize=_TEXT,
        ha="center",
        transform=axes.get_xaxis_transform(),
    )
    axes.set_xticks(numbers[:: 1 + len(numbers) // 12])
    axes.set_xlabel("number of clusters k")
    axes.locator_params(axis="y", nbins=5)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=LINE, linewidth=0.8)
    axes.margins(x=0.06, y=0.15)
    axes.legend(frameon=False, fontsize=_TEXT, labelcolor=MUTED, loc="best", handlelength=2.2)
    return to_svg(axes, "silhouettes", f"Silhouettes over the number of clusters; {chosen} was chosen.")


def similarity_chart(found: Distribution) -> str:
    """A histogram of cosines in bins of 0.01 with the cap as a line."""
    axes = new_axes(_NARROW, 200)
    edges = [found.bins[0][0], *(high for _, high, _ in found.bins)]
    axes.stairs([count for *_, count in found.bins], edges, fill=True, color=MAIN, linewidth=0)
    said = f"{found.title}: {found.pairs} pairs"
    if found.cap is not None:
        axes.axvline(found.cap, color=SECOND, linewidth=1.8)
        left = found.cap > (edges[0] + edges[-1]) / 2
        axes.annotate(
            f"cap {found.cap:.4g}",
            (found.cap, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-5 if left else 5, -4),
            textcoords="offset points",
            ha="right" if left else "left",
            va="top",
            color=SECOND,
            fontsize=_TEXT,
        )
        said += f", {found.above} above the cap of {found.cap:.4g}"
    axes.set_yticks([])
    axes.set_xlabel("cosine similarity")
    axes.locator_params(axis="x", nbins=5)
    return to_svg(axes, f"similarity-{found.slug}", said + ".")


def ratings_chart(rubric: Rubric) -> str:
    """A bar a judge, split into the shares of scores 1 to 5 from left to right."""
    axes = new_axes(_NARROW, 56 + _BAR * len(rubric.judges))
    names = [scores.judge for scores in rubric.judges]
    reached = [0.0] * len(names)
    for place, (score, color) in enumerate(zip(SCORES, STEPS, strict=True)):
        shares = [s.counts[place] / s.valid if s.valid else 0.0 for s in rubric.judges]
        axes.barh(names, shares, left=reached, color=color, height=_THICK, label=str(score))
        reached = [before + share for before, share in zip(reached, shares, strict=True)]
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.spines["bottom"].set_visible(False)
    means = "; ".join(
        f"{s.judge} {'none valid' if s.mean is None else f'{s.mean:.2f}'}" for s in rubric.judges
    )
    return to_svg(axes, f"ratings-{rubric.name}", f"Scores for {rubric.name}, mean by judge: {means}.")


def gates_chart(gates: Sequence[Mapping[str, Any]], names: Mapping[str, str], chance: float) -> str:
    """A dot with its interval a baseline, against chance and the limit."""
    axes = new_axes(_WIDTH, _MARGIN + _BAR * len(gates))
    colors = {"pass": MAIN, "fail": SECOND}
    for place, gate in enumerate(gates):
        color = colors.get(gate["verdict"], MUTED)
        axes.plot([gate["low"], gate["high"]], [place, place], color=color, linewidth=2)
        # Whole at 0% and 100% too, where it reaches over the edge.
        shape = "D" if gate["verdict"] == "fail" else "o"
        axes.plot([gate["accuracy"]], [place], shape, color=color, markersize=8, clip_on=False)
    axes.axvline(chance, color=MUTED, linewidth=1, linestyle=":")
    limit = gates[0]["limit"]
    axes.axvline(limit, color=INK, linewidth=1.2)
    top = axes.get_xaxis_transform()
    axes.text(chance - 0.01, 1.02, "chance", color=MUTED, fontsize=_TEXT, ha="right", transform=top)
    axes.text(limit + 0.01, 1.02, f"limit {limit:.0%}", color=INK, fontsize=_TEXT, ha="left", transform=top)
    axes.set_yticks(range(len(gates)), [names.get(g["baseline"], g["baseline"]) for g in gates])
    axes.invert_yaxis()
    axes.set_xlim(0, max(0.6, *(min(1.0, g["high"] + 0.05) for g in gates)))
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=LINE, linewidth=0.8)
    axes.set_xlabel("items right")
    said = "; ".join(f"{g['baseline']} {g['accuracy']:.0%}, {g['verdict'] or 'not gated'}" for g in gates)
    return to_svg(axes, "gates", f"Accuracy of shortcuts with 95% intervals. {said}.")
