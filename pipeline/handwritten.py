"""Files that people write by hand: their text, and the YAML in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from pipeline.errors import AdageError, ConfigError


class _Loader(yaml.SafeLoader):
    """Plain YAML in which no key stands twice: YAML itself takes the last one without a word."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"{key.value!r} stands here for the second time: keep one",
                    problem_mark=key.start_mark,
                )
            seen.add((key.tag, key.value))
        return node


@contextmanager
def readable(path: Path, kind: type[AdageError] = ConfigError) -> Iterator[None]:
    """Within it a file that cannot be read is an error of this kind; one that is not UTF-8 with the line."""
    try:
        yield
    except OSError as error:
        raise kind(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise kind(
            f"{path}: line {_first_not_utf8(path)} is not UTF-8; save the file as UTF-8 and try again"
        ) from error


def read_text(path: Path) -> str:
    """The text of a file saved as UTF-8, with or without a byte order mark; ConfigError for any other."""
    with readable(path):
        return path.read_text(encoding="utf-8-sig")


def _first_not_utf8(path: Path) -> int:
    """The number of the first such line: a decoder counts bytes, and those from where it last began."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return 1


def parse_yaml(text: str, path: Path, lines_before: int = 0) -> Any:
    """The data in YAML that stands in ``path`` after so many lines; ConfigError names the line."""
    try:
        return _Loader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1 + lines_before}: " if mark else ""
        raise ConfigError(f"{path}: not valid YAML: {line}{error.problem}") from error
    # A date that no calendar has is a ValueError.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
