"""Seeds that try to be more than text: markup, templates, formulas, text direction, terminal escapes."""

from __future__ import annotations

import csv
from pathlib import Path

ATTACKS = (
    "<script>document.title = 'taken'</script>",
    "{{7*7}} {% raw %} ${7*7}",
    "=1+1",
    "\u202eoverridden\u2069",
    '"><img src=x onerror="document.title=1">',
    "\x1b[31mred\x07",
    "</script></style></title><h1>head</h1>",
    "&lt;b&gt; &amp;",
)
SHOWN = (
    "<script>document.title = 'taken'</script>",
    "{{7*7}} {% raw %} ${7*7}",
    "=1+1",
    "[U+202E]overridden[U+2069]",
    '"><img src=x onerror="document.title=1">',
    "[U+001B][31mred[U+0007]",
    "</script></style></title><h1>head</h1>",
    "&lt;b&gt; &amp;",
)
"""Each attack as a person must see it."""

_WORDS = ("apple", "bread", "candle", "door", "eagle", "field", "garden", "house")


def write_hostile_seeds(file: Path) -> None:
    """Sixteen English proverbs: two words each carry one attack in the proverb and in its meaning."""
    rows = [
        {
            "proverb_id": f"en-{i}",
            "text": f"Every {word} {verb} sooner or later {attack}",
            "meaning": f"What {word} {verb} teaches is worth remembering {attack}",
            "meaning_en": "",
        }
        for verb in ("falls", "returns")
        for i, (word, attack) in enumerate(zip(_WORDS, ATTACKS, strict=True), 0 if verb == "falls" else 8)
    ]
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
