"""Node pools of clouds with their labels and taints: ACK, AKS, EKS and GKE."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from shlex import quote
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.node_labels import in_domain
from policykit.model.pool import Pool, Taint
from policykit.namedtuple import NamedTuple
from policykit.targets.nodes.existing_nodes import taint_data
from policykit.targets.nodes.node_groups import NodeGroup, groups, pool_taints


class PoolFiles(NamedTuple):
    """Files of one pool in the form of a cloud, and what that form cannot express."""

    artifacts: tuple[Artifact, ...]
    left_out: tuple[str, ...] = ()
    """Notices."""


Write = Callable[[Cluster, Pool], PoolFiles]


class LabelsAndTaints(NamedTuple):
    """Labels and taints that a cloud accepts, and those it rejects, as text."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    refused: tuple[str, ...] = ()


def without_domains(
    labels: Mapping[str, str], taints: Iterable[Taint], domains: tuple[str, ...]
) -> LabelsAndTaints:
    """Labels and taints without those in a domain that the cloud reserves."""
    taints = tuple(taints)
    refused = [
        *(f"label {key}" for key in labels if in_domain(key, domains)),
        *(f"taint {taint}" for taint in taints if in_domain(taint.key, domains)),
    ]
    return LabelsAndTaints(
        {key: value for key, value in labels.items() if not in_domain(key, domains)},
        tuple(taint for taint in taints if not in_domain(taint.key, domains)),
        tuple(refused),
    )


def create_or_update(comments: Iterable[str], file: str, create: str, updates: Iterable[str]) -> str:
    """A script whose first argument is create or update; the others are passed to the cloud's command."""
    says = "".join(f"# {comment}\n" for comment in comments)
    cases = [_case("create", [create]), _case("update", list(updates))]
    usage = f'*)\n  echo "usage: sh {file} create|update [ARGUMENT]..." >&2\n  exit 2\n  ;;\n'
    return f'#!/bin/sh\n{says}set -eu\n\ncase "${{1:-}}" in\n' + "".join(cases) + usage + "esac\n"


def _case(name: str, commands: list[str]) -> str:
    lines = [f"  {line}\n" for each in ["shift", *commands] for line in each.splitlines()]
    return f"{name})\n" + "".join(lines) + "  ;;\n"


def call(words: str, arguments: Iterable[str]) -> str:
    """A command on several lines that passes on the script's arguments."""
    return " \\\n  ".join([words, *arguments, '"$@"'])


_HASH = 4


class NameRule(NamedTuple):
    """What a cloud accepts as the name of a node pool: lower-case letters, digits and `joint`."""

    limit: int
    joint: str = "-"


def pool_names(cluster: Cluster, rule: NameRule) -> dict[str, str]:
    """Pool name in the policy to the cloud's, each unique: a shortened name ends in a hash."""
    plain = {pool.name: _plain(pool.name, rule) for pool in cluster.pools}
    uses = Counter(plain.values())
    return {
        name: made if len(made) <= rule.limit and uses[made] == 1 else _hashed(name, made, rule)
        for name, made in plain.items()
    }


def _plain(name: str, rule: NameRule) -> str:
    made = re.sub(r"[^a-z0-9]+", rule.joint, name).strip("-")
    return made if made[:1].isalpha() else f"p{rule.joint}{made}"


def _hashed(name: str, made: str, rule: NameRule) -> str:
    tail = sha256(name.encode()).hexdigest()[:_HASH]
    return f"{made[: rule.limit - _HASH]}{tail}"


_NAMES_ACK = NameRule(60)


def write_ack(cluster: Cluster, pool: Pool) -> PoolFiles:
    """`ack.yaml`: part of a CreateClusterNodePool request."""
    name = pool_names(cluster, _NAMES_ACK)[pool.name]
    says = (
        "---\n"
        "# Fields of the JSON body of CreateClusterNodePool: add your own instance\n"
        "# types and networks under scaling_group.\n"
    )
    artifacts = (
        Artifact(
            f"nodes/{pool.name}/ack{group.suffix}.yaml",
            says + dump(body(cluster, pool, f"{name}{group.suffix}", group)),
            Role.NODE,
        )
        for group in groups(cluster, pool)
    )
    zones = sorted({group.zone for group in groups(cluster, pool) if group.zone})
    notice = (
        f"pool {pool.name}: ACK takes the zone from the vSwitches of a node pool, so ack.yaml omits zone "
        f"{', '.join(zones)}; add vSwitches of that zone to scaling_group.vswitch_ids"
    )
    return PoolFiles(tuple(artifacts), (notice,) if zones else ())


def body(cluster: Cluster, pool: Pool, name: str, group: NodeGroup) -> dict[str, Any]:
    """The fields that the policy decides."""
    config: dict[str, Any] = {}
    if group.labels:
        config["labels"] = [{"key": key, "value": value} for key, value in group.labels.items()]
    taints = pool_taints(cluster, pool)
    if taints:
        config["taints"] = [taint_data(taint) for taint in taints]
    found: dict[str, Any] = {"nodepool_info": {"name": name}}
    if config:
        found["kubernetes_config"] = config
    if group.autoscaled:
        scaling: dict[str, Any] = {"enable": True, "type": "gpu" if pool.card else "cpu"}
        scaling["min_instances"] = group.minimum
        if group.maximum is not None:
            scaling["max_instances"] = group.maximum
        found["auto_scaling"] = scaling
    if group.fixed is not None:
        found["scaling_group"] = {"desired_size": group.fixed}
    return found


_NAMES_AKS = NameRule(12, joint="")
_RESERVED_AKS = ("kubernetes.azure.com",)


def write_aks(cluster: Cluster, pool: Pool) -> PoolFiles:
    """`aks.sh`. az accepts only taints with a value."""
    name = pool_names(cluster, _NAMES_AKS)[pool.name]
    valued = tuple(taint for taint in pool_taints(cluster, pool) if taint.value)
    bare = [f"taint {taint}" for taint in pool_taints(cluster, pool) if not taint.value]
    artifacts = []
    refused: dict[str, None] = {}
    for number, group in enumerate(groups(cluster, pool)):
        marks = without_domains(group.labels, valued, _RESERVED_AKS)
        refused.update(dict.fromkeys(marks.refused))
        artifacts.append(_script_aks(pool, _numbered(name, number), group, marks))
    notices = []
    if bare:
        notices.append(
            f"pool {pool.name}: az rejects taints without a value, so aks.sh omits {', '.join(bare)}; give "
            "it a value in the policy"
        )
    unknown = sorted({group.zone for group in groups(cluster, pool) if group.zone and not _zone(group)})
    if unknown:
        notices.append(
            f"pool {pool.name}: az takes zones as numbers, such as 1 for eastus-1, so aks.sh omits zone "
            f"{', '.join(unknown)}"
        )
    if refused:
        notices.append(
            f"pool {pool.name}: AKS keeps {', '.join(refused)} for its own use, so aks.sh omits it"
        )
    return PoolFiles(tuple(artifacts), tuple(notices))


def _numbered(name: str, number: int) -> str:
    """Name of a further group, within twelve characters."""
    return name if not number else f"{name[: _NAMES_AKS.limit - 2]}{number + 1:02d}"


def _script_aks(pool: Pool, name: str, group: NodeGroup, marks: LabelsAndTaints) -> Artifact:
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
    create = call(f"az aks nodepool add --name {quote(name)}", [*words, *where, *_size_aks(group)])
    updates = [call(f"az aks nodepool update --name {quote(name)}", words)] if words else []
    text = create_or_update(comments, file, create, updates)
    return Artifact(f"nodes/{pool.name}/{file}", text, Role.NODE)


def _zone(group: NodeGroup) -> str:
    """The number of a zone: AKS labels nodes with region and number."""
    region, joint, number = group.zone.rpartition("-")
    return number if region and joint and number.isdecimal() else ""


def _size_aks(group: NodeGroup) -> Iterator[str]:
    if group.fixed is not None:
        yield f"--node-count {group.fixed}"
    if group.autoscaled:
        yield "--enable-cluster-autoscaler"
        yield f"--min-count {group.minimum}"
        if group.maximum is not None:
            yield f"--max-count {group.maximum}"


_NAMES_EKS = NameRule(60)
_RESERVED_EKS = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
"""EKS refuses labels and taints of node groups with these prefixes."""

_COMMENT = (
    "---\n"
    "# For eksctl create nodegroup --config-file, together with metadata (name and\n"
    "# region of the cluster) and your own instanceTypes.\n"
)


def write_eks(cluster: Cluster, pool: Pool) -> PoolFiles:
    """`eksctl.yaml`: one managed node group per group of nodes."""
    name = pool_names(cluster, _NAMES_EKS)[pool.name]
    taints = pool_taints(cluster, pool)
    node_groups = []
    refused: dict[str, None] = {}
    for group in groups(cluster, pool):
        marks = without_domains(group.labels, taints, _RESERVED_EKS)
        refused.update(dict.fromkeys(marks.refused))
        node_groups.append(node_group(f"{name}{group.suffix}", group, marks))
    document = {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "managedNodeGroups": node_groups,
    }
    notice = f"pool {pool.name}: EKS refuses {', '.join(refused)} on node groups, so eksctl.yaml omits it"
    file = Artifact(f"nodes/{pool.name}/eksctl.yaml", _COMMENT + dump(document), Role.NODE)
    return PoolFiles((file,), (notice,) if refused else ())


def node_group(name: str, group: NodeGroup, marks: LabelsAndTaints) -> dict[str, Any]:
    """An item of managedNodeGroups (eksctl.io/v1alpha5)."""
    found: dict[str, Any] = {"name": name}
    if group.autoscaled or group.fixed is not None:
        found["minSize"] = group.minimum
    if group.maximum is not None:
        # The smallest size that EKS accepts is 1.
        found["maxSize"] = max(group.maximum, 1)
    if group.fixed is not None:
        found["desiredCapacity"] = group.fixed
    if group.autoscaled:
        # Tags tell the autoscaler the labels and taints of a new node while there is none.
        found["propagateASGTags"] = True
    if group.zone:
        found["availabilityZones"] = [group.zone]
    if marks.labels:
        found["labels"] = dict(marks.labels)
    if marks.taints:
        found["taints"] = [taint_data(taint) for taint in marks.taints]
    return found


_NAMES_GKE = NameRule(36)


def write_gke(cluster: Cluster, pool: Pool) -> PoolFiles:
    """`gke.sh`. gcloud reads taints as a map, so it accepts one per key."""
    name = pool_names(cluster, _NAMES_GKE)[pool.name]
    taints, left = _one_per_key(pool_taints(cluster, pool))
    artifacts = (_script_gke(pool, name, group, taints) for group in groups(cluster, pool))
    says = f"pool {pool.name}: gcloud takes one taint per key, so gke.sh omits {', '.join(map(str, left))}"
    return PoolFiles(tuple(artifacts), (says,) if left else ())


def _script_gke(pool: Pool, name: str, group: NodeGroup, taints: tuple[Taint, ...]) -> Artifact:
    file = f"gke{group.suffix}.sh"
    named = f"{name}{group.suffix}"
    labels = ",".join(f"{key}={value}" for key, value in group.labels.items())
    marks = [
        *([f"--node-labels={quote(labels)}"] if labels else []),
        *([f"--node-taints={quote(','.join(map(_text, taints)))}"] if taints else []),
        *([f"--node-locations={quote(group.zone)}"] if group.zone else []),
    ]
    comments = [
        f"Node pool {named} of GKE for pool {pool.name}.",
        f"  sh {file} create --cluster CLUSTER --location LOCATION --machine-type TYPE ...",
        f"  sh {file} update --cluster CLUSTER --location LOCATION",
        "--num-nodes counts per zone, so you must set it. An update replaces all labels",
        "and taints that were set on the pool before.",
    ]
    create = call(f"gcloud container node-pools create {quote(named)}", [*marks, *_size_gke(group)])
    updates = [call(f"gcloud container node-pools update {quote(named)}", [mark]) for mark in marks]
    text = create_or_update(comments, file, create, updates)
    return Artifact(f"nodes/{pool.name}/{file}", text, Role.NODE)


def _size_gke(group: NodeGroup) -> Iterator[str]:
    if group.autoscaled:
        yield "--enable-autoscaling"
        yield f"--total-min-nodes={group.minimum}"
        if group.maximum is not None:
            yield f"--total-max-nodes={group.maximum}"


def _text(taint: Taint) -> str:
    """A taint as gcloud takes it, with `=` even without a value."""
    return f"{taint.key}={taint.value}:{taint.effect}"


def _one_per_key(taints: Iterable[Taint]) -> tuple[tuple[Taint, ...], tuple[Taint, ...]]:
    """(first taint of each key, the others)."""
    kept: dict[str, Taint] = {}
    others = tuple(taint for taint in taints if kept.setdefault(taint.key, taint) is not taint)
    return tuple(kept.values()), others
