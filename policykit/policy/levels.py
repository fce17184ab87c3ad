"""Levels of a cluster's topology, and the node label keys they have unless the scheme says others."""

from __future__ import annotations

LEVELS = ("zone", "domain", "rack", "switch", "nvlink")
"""Widest first."""

ZONE_KEY = "topology.kubernetes.io/zone"
_NAMES = {"domain": "network-domain", "nvlink": "nvlink-domain"}


def default_key(level: str, domain: str) -> str:
    """Label key of a level; empty where it needs a domain and there is none."""
    if level == "zone":
        return ZONE_KEY
    return f"{domain}/{_NAMES.get(level, level)}" if domain else ""
