"""Characters that hide or turn text around are shown as what they are: a person sees every text as it is."""

from __future__ import annotations

import regex

# Joiners (U+200C, U+200D) and the weak marks (U+200E, U+200F, U+061C) belong to ordinary writing and stay.
# Embeddings, overrides and isolates would reorder whatever follows them; an escape would recolour a terminal.
_HIDDEN = regex.compile(
    r"[\p{Cs}\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """``text`` with control characters, bidirectional controls and lone surrogates written as [U+202E].

    Line ends and tabs stay. For what people look at; a stored text is never changed.
    """
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
