"""What lint recognizes as Volcano's: PodGroups, the pods that join one, and its configuration."""

from __future__ import annotations

from policykit.kube.podsets.podset import PodSet
from policykit.linter.configurations import Configuration
from policykit.linter.dialect import Dialect, Joined, group_of, named_group
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.gang import PodGroup
from policykit.targets.volcano.names import (
    CONFIG_FILE,
    CONFIG_OVERRIDE,
    GROUP_APIS,
    GROUP_NAME,
    KEYS,
    SCHEDULER,
)


def read_group(manifest: Manifest, namespace: str) -> PodGroup | None:
    """A PodGroup object of Volcano or kube-batch."""
    return group_of(manifest, namespace, SCHEDULER, GROUP_APIS)


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> Joined | None:
    """The PodGroup that the pods' group-name annotation names, in the pods' namespace."""
    return named_group(manifest, pod_set, namespace, SCHEDULER, "annotations", GROUP_NAME)


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


_CONFIGURATION = Configuration(
    CONFIG_FILE, ("tiers", "actions", "volcano-scheduler", CONFIG_OVERRIDE), _is_it, _is_named
)

DIALECT = Dialect(
    "volcano",
    "Volcano",
    frozenset({SCHEDULER}),
    KEYS,
    read_group=read_group,
    read_membership=read_membership,
    configurations=(_CONFIGURATION,),
)
