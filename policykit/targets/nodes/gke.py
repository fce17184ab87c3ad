"""GKE: a node pool with its labels and taints, as gcloud commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from policykit.generator.artifact import Artifact, Role
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.taint import Taint
from policykit.targets.nodes.cloud import Form, NameRule, call, create_or_update, pool_names
from policykit.targets.nodes.node_groups import NodeGroup, groups, pool_taints

_NAMES = NameRule(36)


def write(cluster: Cluster, pool: Pool) -> Form:
    """`gke.sh`. gcloud reads taints as a map, so it accepts one per key."""
    name = pool_names(cluster, _NAMES)[pool.name]
    taints, left = _one_per_key(pool_taints(cluster, pool))
    artifacts = (_script(pool, name, group, taints) for group in groups(cluster, pool))
    says = f"pool {pool.name}: gcloud takes one taint per key, so gke.sh omits {', '.join(map(str, left))}"
    return Form(tuple(artifacts), (says,) if left else ())


def _script(pool: Pool, name: str, group: NodeGroup, taints: tuple[Taint, ...]) -> Artifact:
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
    create = call(f"gcloud container node-pools create {quote(named)}", [*marks, *_size(group)])
    updates = [call(f"gcloud container node-pools update {quote(named)}", [mark]) for mark in marks]
    text = create_or_update(comments, file, create, updates)
    return Artifact(f"nodes/{pool.name}/{file}", text, Role.NODE)


def _size(group: NodeGroup) -> Iterator[str]:
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
