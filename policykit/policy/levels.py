"""Default node label keys of topology levels."""

from __future__ import annotations

ZONE_KEY = "topology.kubernetes.io/zone"
_NAMES = {"domain": "network-domain", "nvlink": "nvlink-domain"}


def default_key(level: str, domain: str) -> str:
    """Label key of a level; empty if it needs a domain and there is none."""
    if level == "zone":
        return ZONE_KEY
    return f"{domain}/{_NAMES.get(level, level)}" if domain else ""
