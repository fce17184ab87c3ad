"""A scheduler spreads workloads over cards that the policy packs.

LeastAllocated scores a node higher the fewer of its cards are in use. Small jobs then take one card
on every node, and no whole node is left for a large one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.model.workload import BINPACK, WorkloadKind
from policykit.placement.eligible_pools import is_allowed
from policykit.targets import DEFAULT_SCHEDULER
from policykit.targets.kubernetes.scheduler.configuration import RATIO

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: volcano
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: LeastAllocated
        resources:
        - name: nvidia.com/gpu
          weight: 10
"""

GOOD = BAD.replace("LeastAllocated", "MostAllocated")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Each profile's NodeResourcesFit, for the workload kinds that name the profile's scheduler."""
    cluster = context.cluster
    profiles = manifest.data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) and cluster else ()):
        if cluster is None or not isinstance(profile, dict):
            continue
        served = text(profile.get("schedulerName")) or DEFAULT_SCHEDULER
        packed = [kind for kind in cluster.workloads.values() if _is_packed(kind, served, cluster)]
        configs = profile.get("pluginConfig")
        for number, each in enumerate(configs if isinstance(configs, list) else ()):
            strategy = mapping(mapping(mapping(each).get("args")).get("scoringStrategy"))
            if mapping(each).get("name") == "NodeResourcesFit" and packed and _spreads(strategy):
                base = ("profiles", position, "pluginConfig", number, "args", "scoringStrategy")
                yield from _violations(strategy, base, packed, cluster, served)


def _is_packed(kind: WorkloadKind, scheduler: str, cluster: Cluster) -> bool:
    placement = cluster.placements.get(kind.placement_name)
    named = kind.scheduler or (placement.scheduler if placement else "") or DEFAULT_SCHEDULER
    return named == scheduler and kind.placement == BINPACK


def _spreads(strategy: Mapping[str, Any]) -> bool:
    """LeastAllocated, or a shape that falls from its first point to its last."""
    if strategy.get("type") == "LeastAllocated":
        return True
    points = mappings(mapping(strategy.get("requestedToCapacityRatio")).get("shape"))
    scores = [whole(point.get("score")) or 0 for point in points]
    return strategy.get("type") == RATIO and len(scores) > 1 and scores[0] > scores[-1]


def _violations(
    strategy: Mapping[str, Any], base: Path, packed: list[WorkloadKind], cluster: Cluster, scheduler: str
) -> Iterator[Violation]:
    for number, resource in enumerate(mappings(strategy.get("resources"))):
        name = text(resource.get("name"))
        kind = next((kind for kind in packed if name in _cards(kind, cluster)), None)
        if kind is not None:
            yield Violation(
                (*base, "resources", number, "name"),
                f"{text(strategy.get('type'))} spreads {name} across nodes, "
                f"but the policy packs {kind.name}, which {scheduler} places",
                "set type: MostAllocated, or a requestedToCapacityRatio with rising scores",
            )


def _cards(kind: WorkloadKind, cluster: Cluster) -> set[str]:
    return {name for pool in cluster.pools if is_allowed(kind, pool) for name in pool.resources}


RULE = Rule(
    code="PK803",
    name="spreading-strategy-for-cards",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"KubeSchedulerConfiguration"}),
    needs_policy=True,
)
