"""The report's charts, each drawn from the numbers of the table that stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.report.figures import INK, LINE, MAIN, SECOND, new_axes, to_svg
from pipeline.report.rows import StageRows

_WIDTH = 460
_BAR = 34
_MARGIN = 44


def rows_chart(stages: Sequence[StageRows]) -> str:
    """A bar a stage: rows kept, and after them rows rejected; every stage has a scale of its own share."""
    axes = new_axes(_WIDTH, _MARGIN + _BAR * len(stages))
    names = [stage.name for stage in stages]
    kept = [stage.kept_share for stage in stages]
    lost = [1 - share if stage.expected else 0.0 for stage, share in zip(stages, kept, strict=True)]
    axes.barh(names, kept, color=MAIN, height=0.56)
    axes.barh(names, lost, left=kept, color=SECOND, height=0.56)
    for place, stage in enumerate(stages):
        axes.text(1.02, place, f"{stage.kept:,}", color=INK, va="center", fontsize=12)
        if stage.rejected:
            axes.text(1.21, place, f"−{stage.rejected:,}", color=SECOND, va="center", fontsize=12)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.36)
    axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set_xlabel("share of the rows a stage expects")
    axes.xaxis.set_label_coords(0.37, -0.09)
    axes.spines["bottom"].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=LINE, linewidth=0.8)
    said = "; ".join(f"{s.name}: {s.kept} of {s.expected} kept" for s in stages)
    return to_svg(axes, "rows", f"Rows kept and rejected by stage. {said}.")
