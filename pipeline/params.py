"""Base of every settings model: frozen, and a misspelt field or an endless number is an error."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator


class Params(BaseModel):
    """Settings a stage reads; all of them enter its key. ``least_x`` must not be above ``most_x``."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _least_below_most(self) -> Self:
        for least in type(self).model_fields:
            most = f"most_{least.removeprefix('least_')}"
            if least.startswith("least_") and most in type(self).model_fields:
                low, high = getattr(self, least), getattr(self, most)
                if low > high:
                    raise ValueError(f"{least} {low} is above {most} {high}: nothing could pass")
        return self
