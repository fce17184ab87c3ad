"""Karpenter's NodePools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube import node_label_values
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, name_of, refused
from policykit.kube.structure.admission.kubelets import kubelet
from policykit.kube.structure.admission.node_disruption import disruption
from policykit.kube.structure.problem import BAD_VALUE
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, mapping, numbered, whole
from policykit.model.severity import Severity
from policykit.nearest import nearest

_WHO = "the API server refuses it"
_TEMPLATE: Path = ("spec", "template")
_CLASS: Path = (*_TEMPLATE, "spec", "nodeClassRef")
_OWN = "karpenter.sh"
_ALLOWED = ("karpenter.sh/capacity-type", "karpenter.sh/nodepool")
_REMOVED = "/agent-not-ready"
"""Of Cilium and the CSI drivers of AWS, to the end of the key."""
_HOST, _POOL = "kubernetes.io/hostname", "karpenter.sh/nodepool"
_COMPARED = ("Gt", "Lt", "Gte", "Lte")


def node_pool(data: Data) -> Iterator[Problem]:
    """Source: the rules of the CRD NodePool (v0.32 to 1.14)."""
    path: Path = (*_TEMPLATE, "spec", "requirements")
    yield from requirements(lookup(data, path), path, (_HOST, _POOL))
    labels: Path = (*_TEMPLATE, "metadata", "labels")
    for name, value in mapping(lookup(data, labels)).items():
        if not isinstance(name, str):
            continue
        yield from _impossible(name, [value], (*labels, name))
        if _restricted(name) or name in (_HOST, _POOL):
            advice = f"delete it, or use a domain of your own: {_WHO}"
            yield refused((*labels, name), "is a label that Karpenter sets itself", advice, key=True)
        yield from _of_aws(name, (*labels, name), "is not a label of AWS that Karpenter knows", key=True)
    yield from kubelet(lookup(data, _KUBELET), _KUBELET)
    taints: Path = (*_TEMPLATE, "spec", "taints")
    for position, taint in numbered(lookup(data, taints)):
        if str(taint.get("key")).endswith(_REMOVED):
            yield refused(
                (*taints, position, "key"),
                f"is {taint['key']}, which an agent removes once the node is ready",
                "list it under startupTaints: here, nodes are only made for pods that tolerate it",
                Severity.WARNING,
            )
    reference = lookup(data, _CLASS)
    for field in ("group", "kind", "name") if isinstance(reference, dict) else ():
        if mapping(reference).get(field) == "":
            yield refused((*_CLASS, field), "is empty", f"name the class of nodes: {_WHO}")
    yield from disruption(data)
    yield from _static(mapping(data.get("spec")))
    yield from _times(data)


_TIME = re.compile(r"(?:[0-9]+[smh])+|Never$")
_TIMES: tuple[Path, ...] = (
    ("spec", "disruption", "consolidateAfter"),
    ("spec", "disruption", "expireAfter"),
    (*_TEMPLATE, "spec", "expireAfter"),
    (*_TEMPLATE, "spec", "terminationGracePeriod"),
)


def _times(data: Data) -> Iterator[Problem]:
    """Patterns of several releases, all of which want it to begin with a number of one of the units."""
    for path in _TIMES:
        value = lookup(data, path)
        if isinstance(value, str) and not is_filled_in(value) and not _TIME.match(value):
            days = digits(value[:-1]) if value.endswith("d") else None
            advice = f"write {days * 24}h" if days else "write hours, minutes or seconds: 720h"
            yield refused(path, f"is {value}, no time that it reads", f"{advice}: {_WHO}")


def _impossible(key: str, values: list[object], path: Path) -> Iterator[Problem]:
    if wrong := node_label_values.impossible(key, values):
        what = f"is {', '.join(wrong)}, which {key} is on no node: Karpenter makes none of this pool"
        advice = node_label_values.advice(key, wrong[0])
        yield refused(path, what, advice, Severity.WARNING, kind=BAD_VALUE)


def _restricted(name: str) -> bool:
    """Labels of Karpenter's own domain, of which only two may be stated."""
    return name.partition("/")[0].endswith(_OWN) and "/" in name and name not in _ALLOWED


def requirements(listed: object, path: Path, own: tuple[str, ...]) -> Iterator[Problem]:
    """Labels of nodes that a pool or an overlay is for; `own`: those that it may not name."""
    for position, wanted in numbered(listed):
        yield from _requirement(wanted, (*path, position), own)


def _of_aws(name: str, path: Path, what: str, *, key: bool = False) -> Iterator[Problem]:
    """Labels of AWS's domain, of which a later release may have more."""
    domain, _, word = name.partition("/")
    if not domain.endswith(_AWS) or not word or word in _OF_AWS or is_filled_in(name):
        return
    near = nearest(word, _OF_AWS)
    advice = f"did you mean {_AWS}/{near}?" if near and domain == _AWS else "write one that it knows"
    severity = None if near else Severity.WARNING
    yield refused(path, what, f"{advice}: {_WHO}", severity, key=key, kind=BAD_VALUE)


def _of_another_domain(key: str, path: Path) -> Iterator[Problem]:
    """A name of an instance's label in the domain of Kubernetes, which Karpenter takes for the user's own."""
    domain, _, word = key.partition("/")
    meant = _CAPACITY if word == _CAPACITY.partition("/")[2] else f"{_AWS}/{word}"
    if (word in _OF_AWS or meant == _CAPACITY) and domain in _OF_KUBERNETES:
        what = f"is {key}, by which Karpenter chooses no instances: it takes it for a label of your own"
        yield refused(path, what, f"did you mean {meant}?", Severity.WARNING, kind=BAD_VALUE)


_CAPACITY = "karpenter.sh/capacity-type"
_OF_KUBERNETES = ("kubernetes.io", "node.kubernetes.io", "beta.kubernetes.io")
_KUBELET: Path = (*_TEMPLATE, "spec", "kubelet")
_AWS = "karpenter.k8s.aws"
_OF_AWS = (
    "capacity-reservation-id",
    "capacity-reservation-interruptible",
    "capacity-reservation-type",
    "ec2nodeclass",
    "instance-accelerator-count",
    "instance-accelerator-manufacturer",
    "instance-accelerator-name",
    "instance-capability-flex",
    "instance-category",
    "instance-cpu",
    "instance-cpu-manufacturer",
    "instance-cpu-sustained-clock-speed-mhz",
    "instance-ebs-bandwidth",
    "instance-encryption-in-transit-supported",
    "instance-family",
    "instance-generation",
    "instance-gpu-count",
    "instance-gpu-manufacturer",
    "instance-gpu-memory",
    "instance-gpu-name",
    "instance-hypervisor",
    "instance-local-nvme",
    "instance-memory",
    "instance-network-bandwidth",
    "instance-size",
    "instance-tenancy",
    "nitro-sandbox",
    "placement-group-id",
    "placement-group-partition",
)
"""What the CRDs of Karpenter for AWS allow (v0.32 to 1.14)."""


def _requirement(wanted: Data, path: Path, own: tuple[str, ...]) -> Iterator[Problem]:
    key, operator = name_of(wanted, "key"), wanted.get("operator")
    if key and (_restricted(key) or key in own):
        advice = f"delete the requirement: {_WHO}"
        yield refused((*path, "key"), f"is {key}, which Karpenter sets itself", advice)
    yield from _of_aws(key, (*path, "key"), f"is {key}, no label of AWS that Karpenter knows")
    yield from _of_another_domain(key, (*path, "key"))
    listed = wanted.get("values")
    values = listed if isinstance(listed, list) else []
    least = whole(wanted.get("minValues"))
    if operator == "In" and not values and (listed is None or listed == []):
        says = "is an empty list" if "values" in wanted else "has no values"
        where = (*path, "values") if "values" in wanted else path
        yield refused(where, says, f"list the values of In: {_WHO}")
    elif operator == "In" and (wrong := [*_impossible(key, values, (*path, "values"))]):
        yield from wrong
    elif operator == "In" and least is not None and len(values) < least:
        what = f"is {least}, but there {'is 1 value' if len(values) == 1 else f'are {len(values)} values'}"
        yield refused((*path, "minValues"), what, f"list more values, or lower it: {_WHO}")
    elif operator in _COMPARED and values is listed and not _is_one_number(values):
        what = f"is {values[0]}" if len(values) == 1 else f"has {len(values)} values"
        yield refused((*path, "values"), what, f"write one whole number in quotes: {_WHO}")


def _is_one_number(values: list[object]) -> bool:
    """True also where it cannot be known yet."""
    if any(isinstance(each, str) and is_filled_in(each) for each in values):
        return True
    return len(values) == 1 and digits(str(values[0])) is not None


def _static(spec: Data) -> Iterator[Problem]:
    """A pool of a fixed number of nodes (since 1.8)."""
    if spec.get("replicas") is None:
        return
    if spec.get("weight") is not None:
        what = "conflicts with replicas: a static pool takes no pods from others"
        yield refused(("spec", "weight"), what, f"delete one of the two: {_WHO}", key=True)
    for name in mapping(spec.get("limits")):
        if name != "nodes":
            what = "conflicts with replicas: a static pool is limited in nodes"
            yield refused(("spec", "limits", name), what, f"write limits.nodes: {_WHO}", key=True)
            return
