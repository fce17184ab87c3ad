"""A pod selects nodes by a label that no pool of the policy declares, or by a value that no node has.

Label keys are free text: Kubernetes cannot detect a misspelt key, and the pod stays pending. kubeadm gives
the nodes of the control plane the label node-role.kubernetes.io/master only before Kubernetes 1.24. Node
Feature Discovery names a device by its class and vendor, pci-0300_10de, or by its vendor alone, as it is
configured. Labels of Kubernetes itself are known without a policy: a key that is nearly one of them, or has
its name in another domain, such as topology.kubernetes.io/hostname, is on no node. Neither is a label of
cards or of a cloud in other signs, such as nvidia.com/gpu-product, unless a pool declares it. So are values
of labels that kubelet or a cloud sets: kubernetes.io/arch is amd64 and never x86_64. Karpenter makes no node
for pods that select one by a label that it has only once it has joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policykit.catalogue import daemons, labels
from policykit.kube import node_label_values
from policykit.kube.placeholders import is_placeholder
from policykit.kube.requests import containers
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster
from policykit.model.node_labels import STANDARD
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.placement.card_requests import is_card_resource
from policykit.placement.label_values import REQUIRED_TERMS
from policykit.placement.owner import owner
from policykit.placement.policy_labels import is_for_unlisted_nodes
from policykit.placement.review import SYSTEM_NAMESPACE, Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  nodeSelector:
    kubernetes.io/instance-type: p5.48xlarge
  containers:
    - name: main
      image: registry.example/train:1
      resources:
        limits:
          nvidia.com/gpu: 1
"""

GOOD = BAD.replace("kubernetes.io/instance", "node.kubernetes.io/instance")

_CLOUDS = frozenset({"ack", "aks", "eks", "gke"})
"""Providers that a policy can name: only its nodes have their labels."""


_DEVICE = r"feature\.node\.kubernetes\.io/(pci|usb)-([0-9a-f_]+)\.(.+)\Z"
"""Class, vendor and more of a device, as deviceLabelFields says."""

_JOINED = frozenset({"karpenter.sh/initialized", "karpenter.sh/registered"})
_EARLIER, _CURRENT = "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports only pods covered by the policy if it does not list every pool."""
    cluster = review.cluster
    yield from _impossible(review)
    yield from _joined(review)
    if cluster is None:
        yield from _misspelt(review)
        return
    yield from _other_form(review, cluster)
    if review.pod_set.per_node:
        return
    yield from _earlier_role(review, cluster)
    if not _is_covered(review, cluster):
        yield from _misspelt(review)
        return
    for key, path, is_pair in _selected(review):
        if not is_placeholder(key) and not _known(cluster, key) and not _form_of(cluster, key):
            yield Violation(
                path,
                f"selects nodes by {key!r}, a label that no pool declares",
                _advice(cluster, key),
                Severity.ERROR if _is_certain(review, cluster, key) else None,
                key=is_pair,
            )


def _impossible(review: Review) -> Iterator[Violation]:
    """Source: node_label_values.py."""
    place = review.pod_set.place
    wanted: list[tuple[str, tuple[str, ...], Path]] = [
        (key, (value,), place("nodeSelector", key)) for key, value in review.affinity.selector.items()
    ]
    for term_at, term in enumerate(review.affinity.required or ()):
        for at, each in enumerate(term.expressions):
            if each.operator == "In":
                steps = (*REQUIRED_TERMS, term_at, "matchExpressions", at, "values")
                wanted.append((each.key, each.values, place("affinity", *steps)))
    for key, values, path in wanted:
        wrong = node_label_values.impossible(key, values)
        if wrong and not _has(review.cluster, key, values):
            yield Violation(
                path,
                f"no node has {key}={', '.join(wrong)}",
                node_label_values.advice(key, wrong[0]),
                Severity.WARNING,
            )


def _joined(review: Review) -> Iterator[Violation]:
    """Source: `IsRestrictedLabel` of Karpenter (v0.32 to 1.14), for which pods are not provisioned."""
    terms = review.affinity.required or ()
    if review.pod_set.per_node or (not terms and _JOINED.isdisjoint(review.affinity.selector)):
        return
    for key, path, is_pair in _selected(review):
        if key in _JOINED:
            yield Violation(
                path,
                f"selects nodes by {key}, which a node has only once it has joined: Karpenter makes none for "
                "these pods",
                "select karpenter.sh/nodepool instead, with Exists or the name of a pool",
                Severity.WARNING,
                key=is_pair,
            )


def _has(cluster: Cluster | None, key: str, values: Sequence[str]) -> bool:
    """Whether a pool declares one of the values."""
    shapes = [(pool, shape) for pool in cluster.pools for shape in pool.shapes] if cluster else []
    return any({**pool.labels, **shape.labels}.get(key) in values for pool, shape in shapes)


def _is_covered(review: Review, cluster: Cluster) -> bool:
    """Whether the pods are for nodes of the policy."""
    if review.is_system_pod and not (cluster.complete and _is_operator(review)):
        return False
    return review.is_covered and not is_for_unlisted_nodes(review.affinity, review.tolerations)


def _misspelt(review: Review) -> Iterator[Violation]:
    """Labels of Kubernetes, where nothing else is known of the nodes."""
    cluster, terms = review.cluster, review.affinity.required or ()
    keys = (*review.affinity.selector, *(each.key for term in terms for each in term.expressions))
    if not any(map(labels.meant, keys)):
        return  # nearly always
    for key, path, is_pair in _selected(review):
        if (instead := labels.meant(key)) and not (cluster and _known(cluster, key)):
            whose = "not a label of Kubernetes" if instead in STANDARD else "not a label that nodes get"
            message = f"selects nodes by {key!r}, which is {whose}"
            yield Violation(path, message, f"did you mean {instead}?", Severity.WARNING, key=is_pair)


def _earlier_role(review: Review, cluster: Cluster) -> Iterator[Violation]:
    """Source: kubeadm `app/constants/constants.go` (1.23 to 1.36); other installers still set the label."""
    terms = review.affinity.required or ()
    wanted = [key for key, value in review.affinity.selector.items() if key == _EARLIER and not value]
    if not wanted and len(terms) == 1:
        wanted = [e.key for e in terms[0].expressions if e.key == _EARLIER and e.operator == "Exists"]
    version = cluster.kubernetes_version
    if not (wanted and version) or cluster.provider or _is_openshift(review):
        return
    if any(_EARLIER in {**pool.labels, **shape.labels} for pool in cluster.pools for shape in pool.shapes):
        return
    for key, path, is_pair in _selected(review):
        if key == _EARLIER:
            yield Violation(
                path,
                f"selects nodes by {_EARLIER}, which kubeadm gives no node since 1.24, and the cluster "
                f"is {version}",
                f"select {_CURRENT} and tolerate it, or declare the label on a pool of the policy",
                Severity.WARNING,
                key=is_pair,
            )


def _other_form(review: Review, cluster: Cluster) -> Iterator[Violation]:
    """Source: `deviceLabelFields` of Node Feature Discovery (0.15 to 0.18): every label is of one form."""
    terms = review.affinity.required or ()
    alternatives = len(terms) > 1
    if alternatives and not all(any(_form_of(cluster, e.key) for e in term.expressions) for term in terms):
        return
    for key, path, is_pair in _selected(review):
        if instead := _form_of(cluster, key):
            yield Violation(
                path,
                f"selects nodes by {key}, but Node Feature Discovery gives the nodes of the pools {instead}",
                f"select {instead}, or set deviceLabelFields of Node Feature Discovery",
                Severity.WARNING,
                key=is_pair,
            )


def _form_of(cluster: Cluster, key: str) -> str:
    """The label that a pool has for these devices, of another form; empty: none, or the form is used too."""
    wanted = re.match(_DEVICE, key)
    if wanted is None:
        return ""
    parts = wanted[2].split("_")
    found = ""
    for declared in sorted({k for p in cluster.pools for s in p.shapes for k in {**p.labels, **s.labels}}):
        other = re.match(_DEVICE, declared)
        if other is None or other[1] != wanted[1]:
            continue
        others = other[2].split("_")
        if len(others) == len(parts):
            return ""
        if other[3] == wanted[3] and (set(parts) < set(others) or set(others) < set(parts)):
            found = found or declared
    return found


def _is_openshift(review: Review) -> bool:
    """Whose nodes of the control plane still have both labels."""
    return (review.manifest.namespace or review.namespace).startswith("openshift-")


def _is_operator(review: Review) -> bool:
    """Whether all containers are an operator's, which needs a node as an application does."""
    namespace = owner(review.manifest, review.pod_set).namespace or review.namespace
    images = [one.get("image") for field, _, one in containers(review.pod_set.spec) if field == "containers"]
    roles = {daemons.role(image) if isinstance(image, str) else "" for image in images}
    return roles == {"operator"} and namespace != SYSTEM_NAMESPACE


def _is_certain(review: Review, cluster: Cluster, key: str) -> bool:
    """Whether the policy covers these pods and all pools. A provider may set its own labels."""
    of_policy = bool(review.card_resources) or review.workload is not None
    return cluster.complete and of_policy and not labels.provider(key)


def _selected(review: Review) -> Iterator[tuple[str, Path, bool]]:
    """(key, path, whether in nodeSelector) of each key in a pair or a positive expression, once."""
    seen: set[str] = set()
    for key in review.affinity.selector:
        seen.add(key)
        yield key, review.pod_set.place("nodeSelector", key), True
    for term_at, term in enumerate(review.affinity.required or ()):
        for at, requirement in enumerate(term.expressions):
            if requirement.key not in seen and requirement.operator not in ("NotIn", "DoesNotExist"):
                seen.add(requirement.key)
                path = (*REQUIRED_TERMS, term_at, "matchExpressions", at, "key")
                yield requirement.key, review.pod_set.place("affinity", *path), False


def _known(cluster: Cluster, key: str) -> bool:
    if key in cluster.declared_keys or labels.well_known(key) or labels.switches_daemons(key):
        return True
    declared = any(key in {**p.labels, **s.labels} for p in cluster.pools for s in p.shapes)
    if declared or labels.meant(key):
        return declared
    if provider := labels.provider(key):
        elsewhere = provider in _CLOUDS and provider != cluster.provider
        return not (cluster.complete and elsewhere)
    return False


def _advice(cluster: Cluster, key: str) -> str:
    if is_card_resource(key, cluster):
        return f"{key} is a resource: request it under limits, and select the product label of the card"
    if meant := labels.meant(key):
        return f"did you mean {meant}?"
    instead = labels.replaced_by(key)
    if instead:
        return f"no daemon sets this label any more: use {instead}"
    near = nearest(key, tuple(sorted(cluster.declared_keys)))
    if near and nearest(key.rpartition("/")[2], (near.rpartition("/")[2],)):
        return f"did you mean {near}?"
    carried = sorted({label for pool in cluster.pools for label in pool.labels})
    if not carried:
        return "declare the label on a pool of the policy"
    return f"declare the label on a pool of the policy, or select one of {', '.join(carried[:4])}"


RULE = Rule(
    code="PK108",
    name="unknown-node-label",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("odeSelector", "ffinity"),
    silences=frozenset({"PK110"}),
    silences_as_error=frozenset({"PK101", "PK203"}),
)
