"""Base of every settings model: frozen, and a misspelt field is an error."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Params(BaseModel):
    """Settings a stage reads; all of them enter its key."""

    model_config = ConfigDict(extra="forbid", frozen=True)
