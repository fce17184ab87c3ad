"""A pod template is bound to nodes by name.

Pods with nodeName bypass the scheduler: NoSchedule taints, gangs, queues and free cards are
ignored, and a pod that does not fit fails. With a selector on the host name the scheduler still
places the pods, but the workload stops with its node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.placeholders import is_placeholder
from policykit.kube.requests import containers
from policykit.kube.selectors import Requirement
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.placement.review import Review

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      nodeName: gpu-node-1
      containers:
      - name: main
        image: registry.example/serve:1
"""

GOOD = BAD.replace("      nodeName: gpu-node-1\n", "")

_HOSTNAME = "kubernetes.io/hostname"
_CLIQUE = "nvidia.com/gpu.clique"
_TERMS = ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_ADVICE = "select labels that several nodes share, such as usage, card product or zone"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports templates only: a bare Pod may be a running one, read from a cluster."""
    if review.is_system_pod:
        return
    pod_set = review.pod_set
    name = pod_set.spec.get("nodeName")
    unknown = _unknown(name, review.cluster) if isinstance(name, str) else None
    if unknown is not None:
        yield unknown._replace(at=pod_set.place("nodeName"))
        return
    if review.manifest.kind == "Pod":
        return
    if isinstance(name, str) and name and not is_placeholder(name):
        yield Violation(
            pod_set.place("nodeName"), f"nodeName is {name!r}, so the pods bypass the scheduler", _ADVICE
        )
    selected = review.affinity.selector.get(_HOSTNAME, "")
    if selected and not is_placeholder(selected) and not _is_about_node(review):
        yield Violation(
            pod_set.place("nodeSelector", _HOSTNAME),
            f"nodeSelector binds the pods to node {selected!r}",
            _ADVICE,
        )
    clique = review.affinity.selector.get(_CLIQUE, "")
    if clique and not is_placeholder(clique):
        yield Violation(
            pod_set.place("nodeSelector", _CLIQUE),
            f"nodeSelector binds the pods to one group of linked nodes, {clique!r}",
            f"use {_CLIQUE} as topologyKey of a pod affinity: the pods then share any free group",
        )
    pinning = _pinning(review.affinity)
    if pinning and not _is_about_node(review):
        position, names = pinning
        yield Violation(
            pod_set.place("affinity", *_TERMS, *position),
            f"required affinity binds the pods to node{'s' * (len(names) > 1)} {', '.join(names)}",
            _ADVICE,
        )


def _is_about_node(review: Review) -> bool:
    """Whether pods without cards work on the node itself: they check its disks, say."""
    if review.card_resources:
        return False
    spec = review.pod_set.spec
    if spec.get("hostPID") is True:
        return True
    privileged = (
        mapping(container.get("securityContext")).get("privileged") is True
        for _, _, container in containers(spec)
    )
    volumes = spec.get("volumes")
    listed = volumes if isinstance(volumes, list) else ()
    return any(mapping(each).get("hostPath") for each in listed) or any(privileged)


def _pinning(affinity: NodeAffinity) -> tuple[Path, tuple[str, ...]] | None:
    """Path in the first term, and all names, if every term names nodes."""
    found = [naming for term in affinity.required or () if (naming := _node_names(term))]
    if not found or len(found) < len(affinity.required or ()):
        return None
    return (0, *found[0][0]), tuple(dict.fromkeys(name for _, names in found for name in names))


def _node_names(term: Term) -> tuple[Path, tuple[str, ...]] | None:
    for position, requirement in enumerate(term.expressions):
        if requirement.key == _HOSTNAME and _names(requirement):
            return ("matchExpressions", position, "values"), requirement.values
    for position, requirement in enumerate(term.fields):
        if requirement.key == "metadata.name" and _names(requirement):
            return ("matchFields", position, "values"), requirement.values
    return None


def _names(requirement: Requirement) -> bool:
    values = requirement.values
    return requirement.operator == "In" and bool(values) and not any(map(is_placeholder, values))


def _like(name: str) -> str:
    """A name without its numbers: nodes of one pool are seldom called otherwise."""
    return re.sub("[0-9]+", "0", name)


def _unknown(name: str, cluster: Cluster | None) -> Violation | None:
    """A node that no pool has: kubelet never starts the pod, and the garbage collector deletes it."""
    if cluster is None or not cluster.complete or not name or is_placeholder(name):
        return None
    shapes = [shape for pool in cluster.pools for shape in pool.shapes]
    names = {each for shape in shapes for each in shape.node_names}
    likely = nearest(name, [each for each in sorted(names) if _like(each) == _like(name)], 0)
    if name in names or not names or (not likely and not all(shape.node_names for shape in shapes)):
        return None
    message = f"nodeName is {name!r}, but no pool has such a node: the pods never start"
    advice = f"did you mean {likely}?" if likely else _ADVICE
    return Violation((), message, advice, Severity.ERROR if all(s.node_names for s in shapes) else None)


RULE = Rule(
    code="PK118",
    name="pinned-to-node",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("nodeName", "hostname", "clique", "matchFields"),
)
