"""A ResourceFlavor or Topology names labels that no pool has, or a flavor lacks the taints of its pool.

Kueue gives admitted pods the flavor's labels as nodeSelector. If no node has them the pods stay
pending while they hold quota; under partial coverage there may be such nodes. Taints of the pool
that the flavor lacks are not compared with the workload's tolerations, so pods are admitted to
nodes that refuse them. A node needs the label of every level of a Topology to belong to one of its domains:
one that has only some of them is used by no workload.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube import tolerations
from policykit.kube.affinity import NodeAffinity
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.severity import Severity
from policykit.placement.landing import selection
from policykit.placement.topology import is_absent
from policykit.targets.kueue.names import GROUP
from policykit.targets.kueue.objects import resource_flavors
from policykit.targets.kueue.objects.resource_flavors import ResourceFlavor

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: train-h20
spec:
  nodeLabels:
    maip.mxsf.io/node.usage: train
"""

GOOD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: train-h20
spec:
  nodeLabels:
    maip.mxsf.io/node.usage: training
  nodeTaints:
  - key: maip.mxsf.io/node.usage
    value: training
    effect: NoSchedule
  - key: nvidia.com/gpu.product
    value: NVIDIA-H20
    effect: NoSchedule
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """By the keys that the policy manages: others may be on any node. Source: `flavorassigner.go` (0.19)."""
    cluster = context.cluster
    if cluster is None or manifest.group != GROUP or manifest.partial:
        return
    if manifest.kind == resource_flavors.TOPOLOGY:
        yield from _missing_levels(manifest, cluster)
        return
    flavor = resource_flavors.read_flavor(manifest.data)
    managed = {key: value for key, value in flavor.labels.items() if key in cluster.declared_keys}
    if any(is_placeholder(value) for value in managed.values()):
        return
    selected = NodeAffinity(selector=managed)
    pools = [pool for pool in cluster.pools if selection(cluster, pool, selected) is not False]
    if managed and not pools:
        yield from _nowhere(managed, cluster)
    elif managed and pools:
        yield from _missing_taints(flavor, pools)


def _missing_levels(manifest: Manifest, cluster: Cluster) -> Iterator[Violation]:
    """A node without the label of a level belongs to no domain. Source: `tas_flavor_snapshot.go` (0.19)."""
    levels = lookup(manifest.data, ("spec", "levels"))
    stated = [mapping(level).get("nodeLabel") for level in levels] if isinstance(levels, list) else []
    keys = [key for key in stated if isinstance(key, str) and key in cluster.declared_keys]
    for at, key in enumerate(stated):
        if not isinstance(key, str) or is_placeholder(key):
            continue
        if key in keys and (wanting := _without(key, keys, cluster)):
            yield Violation(
                ("spec", "levels", at, "nodeLabel"),
                f"nodes of {wanting} have labels of other levels, but not {key}: they belong to no domain of "
                "the topology, and no pod is placed on them",
                "label these nodes too, or delete the level",
                Severity.WARNING,
            )
        elif is_absent(cluster, key):
            yield Violation(
                ("spec", "levels", at, "nodeLabel"),
                f"no pool has the label {key} of this level: no node belongs to a domain of the topology",
                "label the nodes, or delete the level",
                Severity.WARNING,
            )


def _without(key: str, keys: list[str], cluster: Cluster) -> str:
    """The pools that have nodes with a label of another level and without this one, for display."""
    found = [
        pool.name
        for pool in cluster.pools
        if any(key not in node and any(other in node for other in keys) for node in _nodes(pool))
    ]
    return f"{'pool' if len(found) == 1 else 'pools'} {', '.join(found)}" if found else ""


def _nodes(pool: Pool) -> list[dict[str, str]]:
    return [{**pool.labels, **shape.labels} for shape in pool.shapes] or [dict(pool.labels)]


def _nowhere(managed: dict[str, str], cluster: Cluster) -> Iterator[Violation]:
    """The first label that alone leaves no pool, else all of them together."""
    for key, value in managed.items():
        there = sorted({node[key] for pool in cluster.pools for node in _nodes(pool) if key in node})
        if there and value not in there:
            yield Violation(
                ("spec", "nodeLabels", key),
                f"no pool has {key}={value}",
                f"values of the pools: {', '.join(there)}",
                None if cluster.complete else Severity.WARNING,
            )
            return
    shown = ", ".join(f"{key}={value}" for key, value in managed.items())
    yield Violation(
        ("spec", "nodeLabels"),
        f"no pool has {shown} together",
        "write the labels of one pool",
        None if cluster.complete else Severity.WARNING,
        key=True,
    )


def _missing_taints(flavor: ResourceFlavor, pools: list[Pool]) -> Iterator[Violation]:
    """Taints that all of its pools have, and neither the flavor's taints nor its tolerations mention."""
    for taint in pools[0].hard_taints:
        if taint in flavor.taints or not all(taint in pool.taints for pool in pools):
            continue
        if not any(tolerations.tolerates(each, taint) for each in flavor.tolerations):
            names = ", ".join(pool.name for pool in pools)
            have = f"pool {names} has" if len(pools) == 1 else f"pools {names} have"
            yield Violation(
                ("spec", "nodeTaints"),
                f"{have} taint {taint}, but the flavor does not",
                "add it to nodeTaints, so that only workloads that tolerate it are admitted",
                Severity.WARNING,
                key=True,
            )


RULE = Rule(
    code="PK926",
    name="flavor-off-policy",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ResourceFlavor", "Topology"}),
    needs_policy=True,
)
