"""Cells that a spreadsheet would calculate, made plain text on the way out and restored on the way in."""

from __future__ import annotations

import re

# What Excel and LibreOffice take for a formula, with the full-width signs that some versions take too. A
# cell that already begins with apostrophes before such a sign gets one more, so that restoring is exact.
_FORMULA = re.compile("'*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_PLAIN = "'"


def neutralised(cell: str) -> str:
    """The cell as a spreadsheet shows it and never calculates it: "=1+1" becomes "'=1+1"."""
    return f"{_PLAIN}{cell}" if _FORMULA.match(cell) else cell


def restored(cell: str) -> str:
    """The cell as it was before ``neutralised``; every other text as it is ("'tis the season")."""
    return cell[1:] if cell.startswith(_PLAIN) and _FORMULA.match(cell) else cell
