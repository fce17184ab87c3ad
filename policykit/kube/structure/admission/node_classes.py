"""Karpenter's classes of nodes on AWS, and its NodeOverlays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, alternatives, name_of, refused
from policykit.kube.structure.admission.karpenter import requirements
from policykit.kube.structure.admission.kubelets import kubelet
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity
from policykit.nearest import nearest

_API = "the API server refuses it"
_TERMS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "amiSelectorTerms": (("alias", "id"), ("alias", "id", "name", "ssmParameter", "tags")),
    "capacityReservationSelectorTerms": (("id",), ("id", "instanceMatchCriteria", "tags")),
    "securityGroupSelectorTerms": (("id", "name"), ("id", "name", "tags")),
    "subnetSelectorTerms": (("id",), ("id", "tags")),
}
"""List of terms to the fields that stand alone, and the fields of which a term needs one."""
_NEEDED = ("amiSelectorTerms", "securityGroupSelectorTerms", "subnetSelectorTerms")
_FAMILIES: Mapping[str, str] = {
    "al2": "AL2",
    "al2023": "AL2023",
    "bottlerocket": "Bottlerocket",
    "windows2019": "Windows2019",
    "windows2022": "Windows2022",
    "windows2025": "Windows2025",
}
"""Family of an alias, as amiFamily has it."""
_ROLE = ("role", "instanceProfile")
_RESERVED_TAGS = (
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
)
_CURRENT = "karpenter.k8s.aws/v1"
_CLUSTER_TAG = "kubernetes.io/cluster"


def ec2_node_class(data: Data) -> Iterator[Problem]:
    """Sources: the rules of the CRD EC2NodeClass (v0.32 to 1.14), and Karpenter's own of kubelet's fields."""
    spec = mapping(data.get("spec"))
    yield from alternatives(spec, ("spec",), _ROLE, _API, needed=bool(spec))
    for field in _ROLE:
        if spec.get(field) == "":
            yield refused(("spec", field), "is empty", f"write its name: {_API}")
    for field in _TERMS:
        yield from _terms(spec.get(field), field)
    yield from _aliases(spec, current=data.get("apiVersion") == _CURRENT)
    yield from _volumes(spec.get("blockDeviceMappings"))
    for tag in mapping(spec.get("tags")):
        if tag == "" or tag in _RESERVED_TAGS or str(tag).startswith(_CLUSTER_TAG):
            what = "has no name" if tag == "" else "is a tag that Karpenter sets itself"
            yield refused(("spec", "tags", tag), what, f"delete it: {_API}", key=True)
    yield from kubelet(spec.get("kubelet"), ("spec", "kubelet"))


def _terms(listed: object, field: str) -> Iterator[Problem]:
    """Each term needs a way to select, and one of them excludes the others."""
    path: Path = ("spec", field)
    alones, ways = _TERMS[field]
    if listed == [] and field in _NEEDED:
        yield refused(path, "is an empty list", f"write a term with {' or '.join(ways)}: {_API}")
    terms = [*numbered(listed)]
    for alone in alones:
        mixed = [(position, term) for position, term in terms if alone in term and len(term) > 1]
        if mixed and (field == "amiSelectorTerms" or len(mixed) == len(terms)):
            position, term = mixed[0]
            other = min(str(other) for other in term if other != alone)
            what = f"conflicts with {other}: {alone} stands alone in a term"
            yield refused((*path, position, alone), what, f"delete one of the two: {_API}", key=True)
            break
    for position, term in terms:
        if not any(way in term for way in ways):
            what = "selects nothing"
            yield refused((*path, position), what, f"write {' or '.join(ways)}: {_API}", kind=INCONSISTENT)
        for tag, value in mapping(term.get("tags")).items():
            if tag == "" or value == "":
                what = "has no name" if tag == "" else "has no value"
                yield refused((*path, position, "tags", tag), what, f"write '*' for any value: {_API}")


def _aliases(spec: Data, *, current: bool) -> Iterator[Problem]:
    """An alias stands alone, and is of a family that Karpenter knows."""
    path: Path = ("spec", "amiSelectorTerms")
    terms = [*numbered(spec.get("amiSelectorTerms"))]
    named = [(position, name_of(term, "alias")) for position, term in terms if "alias" in term]
    if not named:
        if terms and current and spec.get("amiFamily") is None:
            what = "has no amiFamily, and no term has an alias"
            yield refused(("spec",), what, f"write amiFamily: {_API}", kind=INCONSISTENT)
        return
    if len(terms) > 1:
        what = "is not the only term"
        yield refused((*path, named[0][0], "alias"), what, f"delete the other terms: {_API}")
    for position, alias in named:
        where: Path = (*path, position, "alias")
        family, _, version = alias.partition("@")
        stated = name_of(spec, "amiFamily")
        if alias and not version:
            yield refused(where, f"is {alias}, without a version", f"write {alias}@latest: {_API}")
        elif alias and family not in _FAMILIES:
            near = nearest(family, tuple(_FAMILIES))
            advice = f"did you mean {near}@{version}?" if near else f"known: {', '.join(_FAMILIES)}"
            severity = None if near else Severity.WARNING
            what = f"is {alias}, of no family that Karpenter knows"
            yield refused(where, what, f"{advice}: {_API}", severity)
        elif family.startswith("windows") and version != "latest" and not is_filled_in(version):
            yield refused(where, f"is {alias}, but Windows has only latest", f"write {family}@latest: {_API}")
        elif stated and alias and stated not in ("Custom", _FAMILIES[family]):
            what = f"is {stated}, but the alias is {alias}"
            advice = f"write {_FAMILIES[family]}, or delete amiFamily: {_API}"
            yield refused(("spec", "amiFamily"), what, advice)


def _volumes(listed: object) -> Iterator[Problem]:
    path: Path = ("spec", "blockDeviceMappings")
    roots = []
    for position, each in numbered(listed):
        roots += [position] if each.get("rootVolume") is True else []
        disk = each.get("ebs")
        if not isinstance(disk, dict):
            continue
        where: Path = (*path, position, "ebs")
        if disk.get("snapshotID") is None and disk.get("volumeSize") is None:
            what = "has neither volumeSize nor snapshotID"
            yield refused(where, what, f"add volumeSize: {_API}", kind=INCONSISTENT)
        if disk.get("volumeInitializationRate") is not None and not disk.get("snapshotID"):
            what = "is only for a volume of a snapshot"
            at = (*where, "volumeInitializationRate")
            yield refused(at, what, f"delete it, or add snapshotID: {_API}", key=True, kind=INCONSISTENT)
    if len(roots) > 1:
        at = (*path, roots[1], "rootVolume")
        what = f"is true, but the volume at {roots[0]} is the root already"
        yield refused(at, what, f"keep one: {_API}")


_NODES_OWN = ("cpu", "memory", "ephemeral-storage", "pods")


def node_overlay(data: Data) -> Iterator[Problem]:
    """Source: the rules of the CRD NodeOverlay (1.7 to 1.14)."""
    spec = mapping(data.get("spec"))
    yield from alternatives(spec, ("spec",), ("price", "priceAdjustment"), _API)
    for name in mapping(spec.get("capacity")):
        if name in _NODES_OWN:
            what = "is an amount that an overlay may not change"
            where: Path = ("spec", "capacity", name)
            yield refused(where, what, f"write extended resources only: {_API}", key=True)
    yield from requirements(spec.get("requirements"), ("spec", "requirements"), ("kubernetes.io/hostname",))
