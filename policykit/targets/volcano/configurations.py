"""The text that configures Volcano's scheduler."""

from __future__ import annotations

from policykit.linter.configurations import Configuration
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.targets.volcano.names import CONFIG_FILE, CONFIG_OVERRIDE

_FIELDS = frozenset({"actions", "tiers", "configurations", "metrics"})


def _is_it(data: object) -> bool:
    """Tiers of plugins, or a line of actions and nothing that is not the scheduler's."""
    if not isinstance(data, dict):
        return False
    tiers = data.get("tiers")
    if isinstance(tiers, list) and any(isinstance(tier, dict) and "plugins" in tier for tier in tiers):
        return True
    return isinstance(data.get("actions"), str) and data.keys() <= _FIELDS


def _is_named(holder: Manifest, path: Path) -> bool:
    key = path[-1] if path else ""
    return key == CONFIG_OVERRIDE or (
        isinstance(key, str) and key.startswith("volcano-scheduler") and key.endswith(".conf")
    )


CONFIGURATION = Configuration(
    CONFIG_FILE, ("tiers", "actions", "volcano-scheduler", CONFIG_OVERRIDE), _is_it, _is_named
)
