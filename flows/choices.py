"""What a parameter of a flow offers in Prefect's forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from pipeline.errors import ConfigError
from pipeline.store.root import Root, find_root, shipped_root


@dataclass(frozen=True)
class Offers:
    """In an Annotated type: the schema lists these values of the root; any other value is taken all the same.

    The list is made when a deployment is. A language added later may be typed before it is listed, and an
    unknown one gets the flow's own error, which says what is known.
    """

    values: Callable[[Root], list[str]]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema of the type below, with an enum."""
        schema: dict[str, Any] = handler(core)
        try:
            place = Root(find_root(Path.cwd()), shipped_root())
        except ConfigError:
            return schema
        return {**schema, "enum": self.values(place)}
