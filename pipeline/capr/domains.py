"""The ten social domains scenarios rotate over (ADAGE paper, section 3.2), in the paper's order."""

from __future__ import annotations

DOMAINS: dict[str, str] = {
    "workplace": "the workplace",
    "family": "family life",
    "neighbors": "neighbors and the local community",
    "friendship": "friendship",
    "commerce": "commerce and the marketplace",
    "education": "education",
    "politics": "politics and public affairs",
    "travel": "travel and life abroad",
    "sports": "sports and competition",
    "technology": "technology and the internet",
}
"""Domain slot -> how a prompt names it. The slot is part of every scenario id, so it never changes."""
