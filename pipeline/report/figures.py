"""From a matplotlib figure to SVG that belongs to its page: its colours, its font, its light or dark mode."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Stand-ins: no chart uses these colours themselves, so each can become a variable of the page's style sheet.
INK = "#010101"
MUTED = "#020202"
LINE = "#030303"
MAIN = "#040404"
SECOND = "#050505"
STEPS = ("#060606", "#070707", "#080808", "#090909", "#0a0a0a")
"""Five steps of one scale, from low to high."""

_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    LINE: "var(--line)",
    MAIN: "var(--main)",
    SECOND: "var(--second)",
    **{color: f"var(--step-{step})" for step, color in enumerate(STEPS, 1)},
}
_POINTS_AN_INCH = 72
_FONT_POINTS = 12
_UNUSED = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
_FONT = re.compile(r"font: ([\d.]+)px [^;\"]*")


def new_axes(width: int, height: int) -> Axes:
    """Empty axes on a figure so many CSS pixels wide and high, with quiet lines.

    matplotlib is imported here, so that whoever draws nothing does not wait for it.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # Names are people's: "$" in one is no formula.
    matplotlib.rcParams["text.parse_math"] = False
    figure = Figure(figsize=(width / _POINTS_AN_INCH, height / _POINTS_AN_INCH), layout="constrained")
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(LINE)
    axes.tick_params(length=0, labelsize=_FONT_POINTS, labelcolor=MUTED, pad=6)
    axes.xaxis.label.set_color(MUTED)
    axes.xaxis.label.set_fontsize(_FONT_POINTS)
    return axes


def to_svg(axes: Axes, name: str, description: str) -> str:
    """The axes' figure as an inline ``<svg>`` with text as text; ``name`` keeps its ids apart."""
    import matplotlib

    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        # It measures text in a font of its own, which may lack letters that the reader's browser has.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        axes.get_figure().savefig(  # type: ignore[union-attr]
            stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    svg = _UNUSED.sub("", stream.getvalue())
    svg = _FONT.sub(r"font-size: \1px", svg)
    for color, variable in _VARIABLES.items():
        svg = svg.replace(color, variable)
    return _described(_without_idle_ids(svg), description).strip()


def _without_idle_ids(svg: str) -> str:
    """Only ids that something refers to stay: two charts would share names such as ``axes_1``."""
    used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", svg))
    names = {name for pair in used for name in pair if name}
    return re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in names else "", svg)


def _described(svg: str, description: str) -> str:
    """The opening tag anew: its size in pixels is the width a chart wants, and it has a name to read out."""
    from markupsafe import escape

    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert found, "matplotlib wrote an SVG without a viewBox"
    width, height = (round(float(size)) for size in found.groups())
    opening = (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(description)}" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'xmlns="http://www.w3.org/2000/svg">'
    )
    return re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)
