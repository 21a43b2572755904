"""Programs some tests need: without one they skip and say why; in CI that is a failure."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """Skip for this reason, or fail where CI=true promises that everything is there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI=true, yet: {reason}")
    pytest.skip(reason)
