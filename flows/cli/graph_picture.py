"""docs/images/graph.svg: the stages and the tables that go between them, drawn from the graph itself."""

from __future__ import annotations

from pipeline.capr.graph import STAGES, inputs, parameters

_WIDTH, _HEIGHT = 128, 44
_ACROSS, _DOWN = 168, 84
_MARGIN = 24
_ASKS_MODELS = ("chat", "judges")


def graph_picture() -> str:
    """An SVG of the CAPR graph; stages that ask a model are filled."""
    place = _places()
    last = max(x for x, _ in place.values())
    lowest = max(y for _, y in place.values())
    width = 2 * _MARGIN + last * _ACROSS + _WIDTH
    height = 2 * _MARGIN + lowest * _DOWN + _HEIGHT + 28
    arrows = [_arrow(place[source], place[stage]) for stage in STAGES for source in _needed(stage)]
    boxes = [_box(stage, *place[stage]) for stage in STAGES]
    note = (
        f'<text x="{_MARGIN}" y="{height - 14}" class="note">Filled: a model is asked. '
        "An arrow: the table of one stage is read by another.</text>"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{" to ".join(STAGES)}">',
            _STYLE,
            f'<rect width="{width}" height="{height}" fill="#ffffff" rx="8"/>',
            *arrows,
            *boxes,
            note,
            "</svg>\n",
        ]
    )


def _needed(stage: str) -> list[str]:
    """The stages whose tables it reads, without those that another of them already needs."""
    sources = list(dict.fromkeys(inputs(stage).values()))
    return [s for s in sources if not any(s in _before(other) for other in sources if other != s)]


def _before(stage: str) -> set[str]:
    """All stages it depends on."""
    found: set[str] = set()
    for source in inputs(stage).values():
        found |= {source} | _before(source)
    return found


def _places() -> dict[str, tuple[int, int]]:
    """Column by depth; the longest way through the graph in the first row, what has slack below it."""
    depth = dict.fromkeys(STAGES, 0)
    for stage in STAGES:
        depth[stage] = max((depth[source] + 1 for source in inputs(stage).values()), default=0)
    after = dict.fromkeys(STAGES, 0)
    for stage in reversed(STAGES):
        for source in inputs(stage).values():
            after[source] = max(after[source], after[stage] + 1)
    longest = max(depth.values())
    places: dict[str, tuple[int, int]] = {}
    for stage in STAGES:
        x, y = depth[stage], longest - depth[stage] - after[stage]
        while (x, y) in places.values():
            y += 1
        places[stage] = (x, y)
    return places


def _corner(x: int, y: int) -> tuple[int, int]:
    return _MARGIN + x * _ACROSS, _MARGIN + y * _DOWN


def _box(stage: str, x: int, y: int) -> str:
    left, top = _corner(x, y)
    kind = "asks" if set(parameters(stage)) & set(_ASKS_MODELS) else "computes"
    return (
        f'<rect class="{kind}" x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>'
        f'<text class="{kind}-text" x="{left + _WIDTH // 2}" y="{top + _HEIGHT // 2 + 5}">{stage}</text>'
    )


def _arrow(source: tuple[int, int], target: tuple[int, int]) -> str:
    x1, y1 = _corner(*source)
    x2, y2 = _corner(*target)
    x1, y1, y2 = x1 + _WIDTH, y1 + _HEIGHT // 2, y2 + _HEIGHT // 2
    # Past other boxes on its own row, then up in the gap before the target.
    gap = x2 - (_ACROSS - _WIDTH)
    half = (x2 - gap) // 2
    return (
        f'<path class="arrow" d="M{x1} {y1} H{gap} C{gap + half} {y1} {x2 - half} {y2} {x2 - 6} {y2}"/>'
        f'<path class="head" d="M{x2} {y2} l-8 -4 v8 z"/>'
    )


_STYLE = """<style>
text { font: 14px system-ui, sans-serif; text-anchor: middle; }
.note { text-anchor: start; font-size: 12px; fill: #57606a; }
.asks { fill: #1f5f8b; stroke: #1f5f8b; } .asks-text { fill: #ffffff; }
.computes { fill: #ffffff; stroke: #57606a; } .computes-text { fill: #1f2328; }
.arrow { fill: none; stroke: #8c959f; stroke-width: 1.5; } .head { fill: #8c959f; }
</style>"""
