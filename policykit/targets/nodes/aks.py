"""AKS: a node pool with its labels and taints, as az commands."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from policykit.generator.artifact import Artifact, Role
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.targets.nodes.cloud import (
    Form,
    LabelsAndTaints,
    NameRule,
    call,
    create_or_update,
    pool_names,
    without_domains,
)
from policykit.targets.nodes.node_groups import NodeGroup, groups, pool_taints

_NAMES = NameRule(12, joint="")
_RESERVED = ("kubernetes.azure.com",)


def write(cluster: Cluster, pool: Pool) -> Form:
    """`aks.sh`. az accepts only taints with a value."""
    name = pool_names(cluster, _NAMES)[pool.name]
    valued = tuple(taint for taint in pool_taints(cluster, pool) if taint.value)
    bare = [f"taint {taint}" for taint in pool_taints(cluster, pool) if not taint.value]
    artifacts = []
    refused: dict[str, None] = {}
    for number, group in enumerate(groups(cluster, pool)):
        marks = without_domains(group.labels, valued, _RESERVED)
        refused.update(dict.fromkeys(marks.refused))
        artifacts.append(_script(pool, _numbered(name, number), group, marks))
    said = []
    if bare:
        said.append(
            f"pool {pool.name}: az rejects taints without a value, so aks.sh omits {', '.join(bare)}; give "
            "it a value in the policy"
        )
    unknown = sorted({group.zone for group in groups(cluster, pool) if group.zone and not _zone(group)})
    if unknown:
        said.append(
            f"pool {pool.name}: az takes zones as numbers, such as 1 for eastus-1, so aks.sh omits zone "
            f"{', '.join(unknown)}"
        )
    if refused:
        said.append(f"pool {pool.name}: AKS keeps {', '.join(refused)} for its own use, so aks.sh omits it")
    return Form(tuple(artifacts), tuple(said))


def _numbered(name: str, number: int) -> str:
    """Name of a further group, within twelve characters."""
    return name if not number else f"{name[: _NAMES.limit - 2]}{number + 1:02d}"


def _script(pool: Pool, name: str, group: NodeGroup, marks: LabelsAndTaints) -> Artifact:
    file = f"aks{group.suffix}.sh"
    pairs = " ".join(quote(f"{key}={value}") for key, value in marks.labels.items())
    words = [
        *([f"--labels {pairs}"] if pairs else []),
        *([f"--node-taints {quote(','.join(map(str, marks.taints)))}"] if marks.taints else []),
    ]
    comments = [
        f"Node pool {name} of AKS for pool {pool.name}.",
        f"  sh {file} create --resource-group GROUP --cluster-name CLUSTER --node-vm-size SIZE ...",
        f"  sh {file} update --resource-group GROUP --cluster-name CLUSTER",
        "An update replaces all labels and taints that were set on the pool before.",
    ]
    where = [f"--zones {_zone(group)}"] if _zone(group) else []
    create = call(f"az aks nodepool add --name {quote(name)}", [*words, *where, *_size(group)])
    updates = [call(f"az aks nodepool update --name {quote(name)}", words)] if words else []
    text = create_or_update(comments, file, create, updates)
    return Artifact(f"nodes/{pool.name}/{file}", text, Role.NODE)


def _zone(group: NodeGroup) -> str:
    """The number of a zone: AKS labels nodes with region and number."""
    region, joint, number = group.zone.rpartition("-")
    return number if region and joint and number.isdecimal() else ""


def _size(group: NodeGroup) -> Iterator[str]:
    if group.fixed is not None:
        yield f"--node-count {group.fixed}"
    if group.autoscaled:
        yield "--enable-cluster-autoscaler"
        yield f"--min-count {group.minimum}"
        if group.maximum is not None:
            yield f"--max-count {group.maximum}"
