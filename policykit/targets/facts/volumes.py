"""Facts about volumes, the claims for them, and the pods that mount these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, mappings, text, texts
from policykit.model.quantity import amount
from policykit.model.volumes import ONE_POD, DeclaredClaim, DeclaredVolume

_BY_HAND = "kubernetes.io/no-provisioner"
_FILES = re.compile(
    r"nfs|efs|cephfs|lustre|juicefs|gluster|filestore|azure-?file|file\.|smb|cifs|weka|beegfs|gpfs|hdfs|alluxio|fluid"
)
"""Words in the provisioners and classes of file systems of the network."""
_LOCAL = re.compile(r"local|host-?path|topolvm|openebs|zfs|lvm|directpv")
"""Words in the provisioners and classes of volumes on a node's own disks, which hold their pods there."""
_ZONAL = frozenset(
    {
        "disk.csi.azure.com",
        "diskplugin.csi.alibabacloud.com",
        "ebs.csi.aws.com",
        "kubernetes.io/aws-ebs",
        "kubernetes.io/azure-disk",
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
    }
)
"""Provisioners of disks that are in one zone."""
_FILE_SOURCES = frozenset({"azureFile", "cephfs", "glusterfs", "nfs", "quobyte"})


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of a claim, of what its volumes may be, and of pods."""
    if manifest.partial:
        return
    if pod_sets:
        yield from _uses(manifest, pod_sets, context)
    elif manifest.kind == "PersistentVolumeClaim":
        spec = mapping(manifest.data.get("spec"))
        claim = DeclaredClaim(
            manifest.namespace or context.namespace,
            manifest.name,
            text(spec.get("volumeName")),
            text(spec.get("storageClassName")),
            texts(spec.get("accessModes")),
            amount("storage", lookup(spec, ("resources", "requests", "storage"))),
        )
        modes = {"modes": ("spec", "accessModes")}
        yield Fact(claim, modes, answers=ONE_POD not in claim.access_modes)
    elif manifest.kind == "StorageClass":
        yield Fact(_class(manifest), {}, answers=True)
    elif manifest.kind == "PersistentVolume":
        yield Fact(_volume(manifest), {}, answers=True)


def _uses(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    from policykit.placement.claims import claim_uses
    from policykit.placement.review import review

    for pod_set in pod_sets:
        for path, use in claim_uses(review(manifest, pod_set, context.cluster, context.namespace)):
            yield Fact(use, {"claim": path})


def _class(manifest: Manifest) -> DeclaredVolume:
    """A driver without topology makes volumes for any node, whatever topologies are allowed; those of a claim
    that waits for its pod are limited by the scheduler."""
    provisioner = text(manifest.data.get("provisioner"))
    by_hand = provisioner == _BY_HAND
    listed = () if by_hand else manifest.data.get("allowedTopologies")
    waits = manifest.data.get("volumeBindingMode") == "WaitForFirstConsumer"
    return DeclaredVolume(
        "StorageClass",
        manifest.name,
        _terms(listed, "matchLabelExpressions"),
        certain=waits,
        made_by_hand=by_hand,
        local=is_of_node(provisioner),
        waits=waits,
        any_zone=provisioner in _ZONAL and not waits and not listed and not _is_placed(manifest.data),
        many_nodes=bool(_FILES.search(provisioner.lower())),
    )


def _is_placed(data: Mapping[str, Any]) -> bool:
    """Whether parameters name zones, or have each volume in several."""
    parameters = mapping(data.get("parameters"))
    named = any(key.lower() in ("zone", "zones", "availability", "zoneid") for key in parameters)
    mode = data.get("volumeBindingMode")
    several = any(text(each).lower().endswith(("regional-pd", "_zrs")) for each in parameters.values())
    return named or several or (isinstance(mode, str) and is_placeholder(mode))


def _volume(manifest: Manifest) -> DeclaredVolume:
    spec = mapping(manifest.data.get("spec"))
    bound = mapping(spec.get("claimRef"))
    return DeclaredVolume(
        "PersistentVolume",
        manifest.name,
        _terms(lookup(spec, ("nodeAffinity", "required", "nodeSelectorTerms")), "matchExpressions"),
        f"{text(bound.get('namespace'))}/{text(bound.get('name'))}" if bound else "",
        text(spec.get("storageClassName")),
        many_nodes=not _FILE_SOURCES.isdisjoint(spec)
        or bool(_FILES.search(text(mapping(spec.get("csi")).get("driver")).lower())),
        capacity=amount("storage", lookup(spec, ("capacity", "storage"))),
        access_modes=texts(spec.get("accessModes")),
    )


def _terms(listed: object, field: str) -> tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...]:
    return tuple(
        tuple(
            (text(each.get("key")), text(each.get("operator")) or "In", texts(each.get("values")))
            for each in mappings(term.get(field))
        )
        for term in mappings(listed)
    )


def is_of_files(name: str) -> bool:
    """Whether the name of a class is that of a file system of the network."""
    return _FILES.search(name.lower()) is not None


def is_of_node(name: str) -> bool:
    """Whether the name of a class or provisioner is that of volumes on a node's own disks."""
    return _LOCAL.search(name.lower()) is not None
