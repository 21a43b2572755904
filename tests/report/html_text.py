"""What stands in a page: its elements, and the text of its body as a reader meets it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Read:
    """Elements by name, every attribute's name, and the text outside script and style."""

    elements: Counter[str] = field(default_factory=Counter)
    attributes: Counter[str] = field(default_factory=Counter)
    text: str = ""


def read_html(html: str) -> Read:
    """Parse a page as a browser would split it into elements and text."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.read


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.read = Read()
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.read.elements[tag] += 1
        self.read.attributes.update(name for name, _ in attrs)
        self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._inside):
            self.read.text += data
