"""Passwords in the URLs of servers and databases: never said, never written."""

from __future__ import annotations

import re

_PASSWORD = re.compile(r"(?<=://)([^\s/:\"']*):[^\s/\"']*@")


def without_passwords(text: str) -> str:
    """``text`` with *** for the password of every URL in it."""
    return _PASSWORD.sub(r"\1:***@", text)
