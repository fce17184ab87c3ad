"""PersistentVolumes and the claims for them."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.admission.checks import Data, alternatives, refused, words
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity

_SERVER = "the API server refuses it"
_ONE_POD = "ReadWriteOncePod"
_SOURCES = (
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume"),
    *(
        "flocker",
        "gcePersistentDisk",
        "glusterfs",
        "hostPath",
        "iscsi",
        "local",
        "nfs",
        "photonPersistentDisk",
    ),
    *("portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume"),
)
_AFFINITY: Path = ("nodeAffinity", "required", "nodeSelectorTerms")


def volume(data: Data) -> Iterator[Problem]:
    """Source: `ValidatePersistentVolumeSpec` (Kubernetes v1.36)."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    base: Path = ("spec",)
    yield from alternatives(spec, base, _SOURCES, _SERVER)
    yield from _modes(spec, base)
    if "capacity" not in spec or "accessModes" not in spec:
        return  # a patch, perhaps
    if spec.keys().isdisjoint(_SOURCES) and not any(map(_open, spec)):
        advice = f"name what it is, such as csi, nfs or local: {_SERVER}"
        yield refused(base, "has no source of the volume", advice, kind=INCONSISTENT)
    if isinstance(spec.get("local"), dict) and not lookup(spec, _AFFINITY):
        advice = "add nodeAffinity.required with kubernetes.io/hostname of the node that has the path"
        what = "has no node affinity beside it: a local volume is on some node"
        yield refused((*base, "local"), what, f"{advice}: {_SERVER}", key=True, kind=INCONSISTENT)


def _open(key: object) -> bool:
    """Whether something else takes the place of a field."""
    return key == "..." or is_placeholder(key)


def claim(data: Data) -> Iterator[Problem]:
    """Source: `ValidatePersistentVolumeClaimSpec` (Kubernetes v1.36)."""
    yield from claim_spec(data.get("spec"), ("spec",))


def claim_spec(spec: object, base: Path) -> Iterator[Problem]:
    """Of a claim, or of one that each pod of a StatefulSet gets."""
    if not isinstance(spec, dict) or "..." in spec:
        return
    yield from _modes(spec, base)
    yield from _source(spec, base)
    size = lookup(spec, ("resources", "requests", "storage"))
    if size is not None and spec.get("storageClassName") and spec.get("accessModes") in (None, []):
        advice = f"add accessModes, such as [ReadWriteOnce]: {_SERVER}, unless this is part of a claim"
        yield refused(base, "has no accessModes", advice, Severity.WARNING, kind=INCONSISTENT)
    elif size is None and spec.get("accessModes"):
        advice = f"add resources.requests.storage: {_SERVER}, unless this is part of a claim"
        yield refused(base, "requests no storage", advice, Severity.WARNING, kind=INCONSISTENT)


_COPIED = (("PersistentVolumeClaim", ""), ("VolumeSnapshot", "snapshot.storage.k8s.io"))
"""Kinds of dataSource, and their API groups."""


def _source(spec: Data, base: Path) -> Iterator[Problem]:
    """What the API server takes and drops. Source: `EnforceDataSourceBackwardsCompatibility` (v1.36)."""
    source, path = spec.get("dataSource"), (*base, "dataSource")
    if not isinstance(source, dict) or any(map(_open, source)) or any(map(is_placeholder, source.values())):
        return
    kind, group = source.get("kind"), source.get("apiGroup") or ""
    if not isinstance(kind, str | None) or (kind or "", group) in _COPIED:
        return
    if spec.get("dataSourceRef") is not None:
        if not kind:
            yield refused(path, "has no kind", f"add kind: {_SERVER}", kind=INCONSISTENT)
        return
    meant = next((each for each in _COPIED if each[0] == kind), None)
    if meant is None:
        what = f"is of kind {kind}" if kind else "has no kind"
        advice = "write dataSourceRef for other kinds" if kind else "add kind, such as PersistentVolumeClaim"
    else:
        what = f"is a {kind} of the API group {group}" if group else f"is a {kind} without an API group"
        advice = f"write apiGroup: {meant[1]}" if meant[1] else "delete apiGroup"
    what += ", which the API server drops: the volume is empty"
    yield refused(path, what, advice, Severity.WARNING, kind=INCONSISTENT)


def _modes(spec: Data, base: Path) -> Iterator[Problem]:
    modes = {mode: position for position, mode in words(spec.get("accessModes"))}
    if _ONE_POD in modes and len(modes) > 1:
        path: Path = (*base, "accessModes", modes[_ONE_POD])
        yield refused(path, f"is {_ONE_POD}, which excludes other modes", f"list it alone: {_SERVER}")
