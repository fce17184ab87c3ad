"""Feature gates of Kubernetes that are off in some supported release, and the fields that need them.

Without its gate, the API server drops a field silently, or refuses a value. Source:
`pkg/features/kube_features.go` of Kubernetes 1.36 and 1.37, which list every stage with its release; for
what is dropped and refused `pkg/registry`, `pkg/api` and `pkg/apis/core/validation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple

EACH = "*"
"""In a path of fields: every item of a list."""


class Gate(NamedTuple):
    """A feature gate, and the release that enables it."""

    name: str
    since: Version
    """First release that has it."""
    on: Version | None
    """First release that enables it by default; None: none yet."""
    own_api: bool = False
    """It belongs to an API that is off too: clusters whose manifests use that API probably enable both."""

    def is_on(self, version: Version, stated: Mapping[str, bool]) -> bool:
        """Whether a release enables it; `stated`: gates in the policy."""
        return stated.get(self.name, self.on is not None and version >= self.on)


def _gate(name: str, since: int, on: int | None) -> Gate:
    return Gate(name, Version(1, since, 0), Version(1, on, 0) if on else None)


class GatedField(NamedTuple):
    """A field that the API server drops while its gate is off."""

    path: tuple[str, ...]
    gate: Gate
    value: object = None
    """Only this value needs the gate; None: any."""
    refused: bool = False
    """The API server refuses the object instead."""
    refused_before: bool = False
    """Releases older than the gate have the field, and refuse it here."""


def _below(path: tuple[str, ...], fields: Iterable[GatedField]) -> tuple[GatedField, ...]:
    return tuple(field._replace(path=(*path, *field.path)) for field in fields)


_CONTAINERS = ("containers", "initContainers")
_POD_LEVEL = _gate("PodLevelResources", 32, 34)
_REQUIRED = ("requiredDuringSchedulingIgnoredDuringExecution", EACH)
_MATCH_KEYS = _gate("MatchLabelKeysInPodAffinity", 29, 31)
_BACKOFF = _gate("JobBackoffLimitPerIndex", 28, 29)
_VOLUME_CLASS = _gate("VolumeAttributesClass", 29, 34)
_RESTART_RULES = _gate("ContainerRestartRules", 34, 35)
_REQUESTS = ("devices", "requests", EACH)
_CAPACITY = _gate("DRAConsumableCapacity", 34, 36)

POD_FIELDS: tuple[GatedField, ...] = (
    GatedField(("initContainers", EACH, "restartPolicy"), _gate("SidecarContainers", 28, 29), "Always"),
    GatedField(("resources",), _POD_LEVEL),
    GatedField(("volumes", EACH, "image"), _gate("ImageVolume", 31, 35)),
    GatedField(("resourceClaims",), _gate("DynamicResourceAllocation", 26, 34)._replace(own_api=True)),
    GatedField(("hostnameOverride",), _gate("HostnameOverride", 34, 35)),
    GatedField(("hostUsers",), _gate("UserNamespacesSupport", 25, 33), False),
    GatedField(("securityContext", "supplementalGroupsPolicy"), _gate("SupplementalGroupsPolicy", 31, 33)),
    GatedField(("securityContext", "seLinuxChangePolicy"), _gate("SELinuxChangePolicy", 32, 33)),
    GatedField(
        ("volumes", EACH, "projected", "sources", EACH, "clusterTrustBundle"),
        _gate("ClusterTrustBundleProjection", 29, 37),
    ),
    GatedField(
        ("volumes", EACH, "projected", "sources", EACH, "podCertificate"),
        _gate("PodCertificateRequest", 34, 37),
    ),
    *(
        GatedField(("affinity", kind, *_REQUIRED, key), _MATCH_KEYS)
        for kind in ("podAffinity", "podAntiAffinity")
        for key in ("matchLabelKeys", "mismatchLabelKeys")
    ),
    GatedField(("containers", EACH, "restartPolicy"), _RESTART_RULES, refused_before=True),
    *(
        GatedField((containers, EACH, *path), gate)
        for containers in _CONTAINERS
        for path, gate in (
            (("resizePolicy",), _gate("InPlacePodVerticalScaling", 27, 33)),
            (("restartPolicyRules",), _RESTART_RULES),
            (("env", EACH, "valueFrom", "fileKeyRef"), _gate("EnvFiles", 34, 35)),
            (("volumeMounts", EACH, "recursiveReadOnly"), _gate("RecursiveReadOnlyMounts", 30, 31)),
            (("lifecycle", "preStop", "sleep"), _gate("PodLifecycleSleepAction", 29, 30)),
            (("lifecycle", "postStart", "sleep"), _gate("PodLifecycleSleepAction", 29, 30)),
            (("lifecycle", "stopSignal"), _gate("ContainerStopSignals", 33, None)),
            (("securityContext", "procMount"), _gate("ProcMountType", 12, 33)),
        )
    ),
)
"""Fields of a PodSpec."""

_CLAIM_FIELDS: tuple[GatedField, ...] = (
    GatedField((*_REQUESTS, "firstAvailable"), _gate("DRAPrioritizedList", 33, 34)),
    GatedField(("devices", "constraints", EACH, "distinctAttribute"), _CAPACITY),
    *(
        GatedField((*_REQUESTS, *inner, name), gate)
        for name, gate in (
            ("adminAccess", _gate("DRAAdminAccess", 32, 34)),
            ("tolerations", _gate("DRADeviceTaints", 33, 36)),
            ("capacity", _CAPACITY),
        )
        for inner in ((), ("exactly",), ("firstAvailable", EACH))
    ),
)
"""Fields of the spec of a ResourceClaim, in every version of its API."""

OBJECT_FIELDS: Mapping[tuple[str, str], tuple[GatedField, ...]] = {
    ("batch", "Job"): (
        GatedField(("spec", "backoffLimitPerIndex"), _BACKOFF),
        GatedField(("spec", "maxFailedIndexes"), _BACKOFF),
        GatedField(("spec", "podReplacementPolicy"), _gate("JobPodReplacementPolicy", 28, 29)),
        GatedField(("spec", "successPolicy"), _gate("JobSuccessPolicy", 30, 31)),
        GatedField(("spec", "managedBy"), _gate("JobManagedBy", 30, 32)),
    ),
    ("apps", "StatefulSet"): (
        GatedField(
            ("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"),
            _gate("MaxUnavailableStatefulSet", 24, 37),
        ),
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        GatedField(("spec", "minReplicas"), _gate("HPAScaleToZero", 16, 37), 0, refused=True),
        *(
            GatedField(("spec", "behavior", way, "tolerance"), _gate("HPAConfigurableTolerance", 33, 35))
            for way in ("scaleUp", "scaleDown")
        ),
    ),
    ("resource.k8s.io", "DeviceClass"): (
        GatedField(("spec", "extendedResourceName"), _gate("DRAExtendedResource", 34, 36)),
    ),
    ("resource.k8s.io", "ResourceClaim"): _below(("spec",), _CLAIM_FIELDS),
    ("resource.k8s.io", "ResourceClaimTemplate"): _below(("spec", "spec"), _CLAIM_FIELDS),
    ("", "Service"): tuple(
        GatedField(
            ("spec", "trafficDistribution"),
            _gate("PreferSameTrafficDistribution", 33, 34),
            value,
            refused=True,
        )
        for value in ("PreferSameZone", "PreferSameNode")
    ),
    ("", "PersistentVolumeClaim"): (GatedField(("spec", "volumeAttributesClassName"), _VOLUME_CLASS),),
    ("", "PersistentVolume"): (GatedField(("spec", "volumeAttributesClassName"), _VOLUME_CLASS),),
}
"""API group and kind to fields of the object."""

GATES: Mapping[str, Gate] = {
    field.gate.name: field.gate for fields in (POD_FIELDS, *OBJECT_FIELDS.values()) for field in fields
}
"""Gates of all these fields, by name."""


class ClosedGates(NamedTuple):
    """Fields whose gates are off in a release."""

    pods: tuple[GatedField, ...]
    objects: Mapping[tuple[str, str], tuple[GatedField, ...]]


def closed(version: Version, stated: Mapping[str, bool]) -> ClosedGates:
    """Fields whose gates are off, among those that the release knows; `stated`: gates in the policy."""
    return _closed(version, frozenset(stated.items()))


@lru_cache(maxsize=64)
def _closed(version: Version, stated: frozenset[tuple[str, bool]]) -> ClosedGates:
    gates = dict(stated)

    def closed_of(fields: Iterable[GatedField]) -> tuple[GatedField, ...]:
        known = (field for field in fields if field.refused_before or version >= field.gate.since)
        return tuple(field for field in known if not field.gate.is_on(version, gates))

    objects = {kind: closed_of(fields) for kind, fields in OBJECT_FIELDS.items()}
    return ClosedGates(closed_of(POD_FIELDS), {kind: fields for kind, fields in objects.items() if fields})


def found(fields: Iterable[GatedField], data: Mapping[str, Any]) -> Iterator[tuple[Path, GatedField]]:
    """Each of the fields that the data has, and its path."""
    for field in fields:
        for path, value in _at(data, field.path, ()):
            if value is not None and (field.value is None or value == field.value):
                yield path, field


def _at(data: object, path: tuple[str, ...], here: Path) -> Iterator[tuple[Path, object]]:
    if not path:
        yield here, data
    elif path[0] == EACH:
        for number, item in enumerate(data if isinstance(data, list) else ()):
            yield from _at(item, path[1:], (*here, number))
    elif path[0] in mapping(data):
        yield from _at(mapping(data)[path[0]], path[1:], (*here, path[0]))
