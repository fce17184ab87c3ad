"""A volume is larger than what the containers that write to it may have.

What is written to a volume in memory, such as the shared memory of workers in /dev/shm, counts as memory of
the container that wrote it: the container is killed at its limit, before the volume is full. A pod whose
volumes and containers use more disk than the limits of ephemeral-storage of its containers is evicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import requests
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.quantity import amount, amount_text
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  volumes:
  - {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}
  containers:
  - name: main
    image: registry.example/train:1
    volumeMounts:
    - {name: shm, mountPath: /dev/shm}
    resources:
      requests: {cpu: 8, memory: 32Gi}
      limits: {memory: 32Gi, nvidia.com/gpu: 8}
"""

GOOD = BAD.replace("memory: 32Gi", "memory: 256Gi")

_MEMORY, _DISK = "memory", "ephemeral-storage"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Containers without a limit are left alone.

    Sources: `pkg/volume/emptydir` and `podEphemeralStorageLimitEviction` of the kubelet (v1.36).
    """
    for pod_set in () if manifest.partial else pod_sets(manifest.data):
        listed = pod_set.spec.get("volumes")
        for number, volume in enumerate(listed if isinstance(listed, list) else ()):
            place = mapping(mapping(volume).get("emptyDir"))
            size, medium = amount(_MEMORY, place.get("sizeLimit")), place.get("medium")
            if size is None or medium not in (None, "", "Memory"):
                continue
            name = text(mapping(volume).get("name"))
            names, limit = _limit(pod_set, _MEMORY, name) if medium else _limit(pod_set, _DISK)
            if names and limit is not None and limit < size:
                there = f"container {names[0]}" if len(names) == 1 else f"containers {', '.join(names)}"
                together = " together" if len(names) > 1 else ""
                yield Violation(
                    pod_set.place("volumes", number, "emptyDir", "sizeLimit"),
                    f"sizeLimit is {amount_text(_MEMORY, size)}, but what is in the volume counts as "
                    f"{_MEMORY if medium else _DISK} of {there}, with a limit of "
                    f"{amount_text(_MEMORY, limit)}{together}",
                    "raise the limit above the sizeLimit by what else is used, or lower the sizeLimit",
                )


def _limit(pod_set: PodSet, resource: str, volume: str = "") -> tuple[list[str], int | None]:
    """Containers that mount the volume, or all, and the sum of their limits; None: not all have one."""
    names: list[str] = []
    total = 0
    whole = amount(_MEMORY, lookup(pod_set.spec, ("resources", "limits", resource)))
    for field, _, container in requests.containers(pod_set.spec):
        if not _stays(field, container) or (volume and volume not in _mounted(container)):
            continue
        limit = amount(_MEMORY, lookup(container, ("resources", "limits", resource)))
        if limit is None and whole is None:
            return [], None
        names.append(text(container.get("name")))
        total += limit or 0
    return names, total if whole is None else whole


def _stays(field: str, container: Mapping[str, Any]) -> bool:
    return field == "containers" or container.get("restartPolicy") == "Always"


def _mounted(container: Mapping[str, Any]) -> list[str]:
    return [text(each.get("name")) for each in mappings(container.get("volumeMounts"))]


RULE = Rule(
    code="PK225",
    name="volume-exceeds-limit",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("sizeLimit",),
)
