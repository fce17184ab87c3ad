"""README of the node files: the order in which labels and taints are rolled out, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.generator.artifact import Artifact, Role
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.targets.nodes.daemons import FOLDER
from policykit.targets.nodes.existing_nodes import APPLY
from policykit.targets.nodes.node_groups import groups, pool_taints

_ORDER = (
    (
        "Tolerations of the node daemons, `daemons/`: device plugin, feature discovery and exporters. A "
        "daemon that does not tolerate a taint cannot return after a restart, and on a new node the label "
        "that names its card never appears."
    ),
    "Labels. On their own they do not move any pod.",
    (
        "The workloads' patches, `../workloads/`: affinity and tolerations. Pods that tolerate a taint "
        "that is not set yet run as before."
    ),
    "Taints, last, one pool after another. From then on only pods with the patches are placed there.",
)

_JOINING = (
    "Nodes that join with their labels and taints (the join-time files below) are tainted from the start: "
    "finish steps 1 and 3 before the first of them joins."
)
_FIRST = (
    "This is the order for nodes that have none of these labels and taints yet. For a change of labels or "
    "taints that pods rely on it would be an outage: `policykit plan` gives the order of a change."
)
_NOT_APPLIED = (
    "Taints are set by commands, never by server-side apply: `spec.taints` is one list with one owner, and "
    "the node lifecycle controller writes to it too (not-ready, cordon). Labels are owned key by key, so "
    "applying them is safe."
)
_NOT_PRUNED = (
    "Do not put this folder in a kustomization, an Argo CD application or anything else that prunes: "
    "deleting a Node object evicts all its pods. Apply `labels.yaml` only for nodes that have joined, "
    "since applying it creates Node objects for nodes that do not exist."
)
_ALL_TAINTED = (
    "Every pool of this policy is tainted. Pods that tolerate none of these taints, such as CoreDNS and "
    "the controllers of operators, need nodes outside these pools."
)
_EVICTS = "A taint with effect NoExecute also immediately evicts running pods that do not tolerate it."
_CUT = (
    "A taint that repeats the product label of partitioned or shared cards becomes outdated when the "
    "partitioning changes: generate again and set the new taint along with that change."
)


def write(cluster: Cluster, artifacts: Sequence[Artifact], notices: Sequence[str]) -> Artifact:
    """`nodes/README.md`, which lists the other files."""
    parts = [
        f"# Nodes of {cluster.name}",
        "## Order",
        "\n".join(f"{number}. {step}" for number, step in enumerate(_ORDER, 1)),
        *_remarks(cluster),
        "## Pools",
        _table(cluster, artifacts),
        *_topology(cluster),
        "## Files",
        "\n".join(_files(artifacts)),
        *(["## Left out", "\n".join(f"- {each}." for each in notices)] if notices else []),
        "## Check",
        _checks(cluster),
    ]
    return Artifact("nodes/README.md", "\n\n".join(parts) + "\n", Role.PAGE)


def _remarks(cluster: Cluster) -> Iterable[str]:
    taints = [(pool, taint) for pool in cluster.pools for taint in pool_taints(cluster, pool)]
    yield _FIRST
    yield _JOINING
    yield _NOT_APPLIED
    yield _NOT_PRUNED
    if cluster.pools and all(pool.hard_taints for pool in cluster.pools):
        yield _ALL_TAINTED
    if any(taint.effect == "NoExecute" for _, taint in taints):
        yield _EVICTS
    if any(pool.sharing.mode != "none" and _follows_sharing(taint.value) for pool, taint in taints):
        yield _CUT


def _follows_sharing(value: str) -> bool:
    return "-MIG-" in value or value.endswith("-SHARED")


def _table(cluster: Cluster, artifacts: Sequence[Artifact]) -> str:
    rows = [
        "| pool | nodes | labels | labels set by others | taints | files |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    by_folder: dict[str, list[str]] = {}
    for artifact in artifacts:
        folder, _, name = artifact.path.rpartition("/")
        by_folder.setdefault(folder, []).append(name)
    for pool in cluster.pools:
        ours = sorted({pair for group in groups(cluster, pool) for pair in group.labels.items()})
        keys = {key for key, _ in ours}
        others = [(key, value) for key, value in sorted(pool.labels.items()) if key not in keys]
        cells = (
            pool.name,
            _size(pool),
            _cell(f"{key}={value}" for key, value in ours),
            _cell(f"{key}={value}" for key, value in others),
            _cell(map(str, pool_taints(cluster, pool))),
            _cell(sorted(by_folder.get(f"nodes/{pool.name}", ()))),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _topology(cluster: Cluster) -> Iterable[str]:
    if cluster.levels:
        rows = [f"| {level.name} | `{level.key}` |" for level in cluster.levels]
        yield "## Topology"
        yield "Levels from widest to narrowest, and the node label of each."
        yield "\n".join(("| level | label |", "| --- | --- |", *rows))


def _cell(texts: Iterable[str]) -> str:
    return "<br>".join(f"`{text}`" for text in texts) or "–"


def _size(pool: Pool) -> str:
    """`16`, `0 to 8`, `2 or more`, `by selector`; `not said`."""
    if any(shape.selector for shape in pool.shapes):
        return "by selector"
    return _count(pool.shapes)


def _count(shapes: Sequence[Shape]) -> str:
    low = sum(shape.minimum for shape in shapes)
    bounds = [shape.maximum for shape in shapes]
    high = None if None in bounds else sum(bound for bound in bounds if bound is not None)
    if high is None:
        return f"{low} or more" if low else "unknown"
    return str(low) if low == high else f"{low} to {high}"


_DESCRIPTIONS = {
    "labels.yaml": f"Node objects with labels only: `{APPLY} labels.yaml`.",
    "labels.sh": "the same labels as commands; safe to run again.",
    "taints.sh": "taints as commands; safe to run again.",
    "kubelet.env": "join time: flags for the environment file of the kubelet's service.",
    "kubeadm.yaml": "join time: `nodeRegistration` for `kubeadm join --config`.",
    "gke.sh": "join time: creates or updates the node pool with gcloud.",
    "aks.sh": "join time: creates or updates the node pool with az.",
    "eksctl.yaml": "join time: managed node groups for eksctl.",
    "ack.yaml": "join time: fields of ACK's CreateClusterNodePool.",
    "karpenter.yaml": "join time: a NodePool; set `nodeClassRef` to your node class.",
    "nfd.yaml": "a NodeFeatureRule for Node Feature Discovery, which labels and taints nodes as they join.",
    "taint.sh": "the taint of the control plane's nodes.",
}


def _files(artifacts: Sequence[Artifact]) -> Iterable[str]:
    there = {_kind(artifact.path) for artifact in artifacts if not artifact.path.startswith(FOLDER)}
    for name, description in _DESCRIPTIONS.items():
        if name in there:
            yield f"- `{name}`: {description}"
    values = sorted(a.path.removeprefix("nodes/") for a in artifacts if a.role is Role.VALUES)
    if values:
        listed = ", ".join(f"`{path}`" for path in values)
        yield f"- {listed}: tolerations of the node daemons; use those of the charts you run."


def _kind(path: str) -> str:
    """kubelet.env for kubelet-2.env: a pool with several groups of nodes has one file for each."""
    name, dot, ending = path.rpartition("/")[2].rpartition(".")
    return f"{name.rstrip('0123456789').removesuffix('-')}{dot}{ending}"


def _checks(cluster: Cluster) -> str:
    keys = sorted({key for pool in cluster.pools for key in pool.labels})
    columns = "".join(f" -L {key}" for key in keys)
    commands = [
        f"kubectl get nodes{columns}",
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",
        "kubectl get pods -A -o wide --field-selector=status.phase=Pending",
    ]
    return "```sh\n" + "\n".join(commands) + "\n```"
