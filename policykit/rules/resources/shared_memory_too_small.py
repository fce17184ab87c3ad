"""A server that divides a model among cards has too little shared memory.

The processes of vLLM, SGLang and text-generation-inference, one for each card, exchange data in /dev/shm.
There a container has 64 MiB, unless it mounts a volume or shares the memory of its host: the server ends with
a bus error, or with NCCL's message that no space is left on the device. `--shm-size` of Docker has no
counterpart in Kubernetes but a volume in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import requests
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.quantity import amount, amount_text
from policykit.model.severity import Severity
from policykit.rules.resources.launch_commands import Server, commands, server_sizes

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: chat
spec:
  containers:
  - name: main
    image: vllm/vllm-openai:v0.10.0
    args: [--model, example/model, --tensor-parallel-size, "4"]
    resources:
      requests: {cpu: 8, memory: 64Gi}
      limits: {memory: 64Gi, nvidia.com/gpu: 4}
"""

GOOD = (
    BAD
    + """\
    volumeMounts:
    - {name: shm, mountPath: /dev/shm}
  volumes:
  - {name: shm, emptyDir: {medium: Memory}}
"""
)

_CARDS = ("nvidia.com/gpu", "amd.com/gpu")
"""Cards each of which has a process of its own."""
_SHARED = "/dev/shm"
_DEFAULT = 64 << 20
"""What containerd and CRI-O give a pod."""
_KINDS = frozenset(
    {
        ("", "Pod"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "Job"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    }
)
"""Kinds whose operators add no volume."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Containers with one card, and what a volume of another kind is, are left alone."""
    if manifest.partial or (manifest.group, manifest.kind) not in _KINDS:
        return
    for pod_set in pod_sets(manifest.data):
        if pod_set.spec.get("hostIPC") or any("ShmSize" in key for key in pod_set.annotations):
            continue
        for command in commands(pod_set):
            found = server_sizes(command, pod_set)
            if found is not None and found.cards > 1 and found.place is not None:
                yield from _too_small(pod_set, found)


def _too_small(pod_set: PodSet, server: Server) -> Iterator[Violation]:
    container = server.command.container
    asked = requests.requested(container)
    cards = sum(asked.get(name, 0) for name in _CARDS)
    size = _size(pod_set, container)
    if cards > 1 and size is not None and server.place is not None:
        given = amount_text("memory", size)
        yield Violation(
            server.place,
            f"the processes of the server share memory in {_SHARED}, of which the container has {given}: "
            "it fails once that is full",
            f"mount a volume with emptyDir: {{medium: Memory}} at {_SHARED}",
        )


def _size(pod_set: PodSet, container: Mapping[str, Any]) -> int | None:
    """Of /dev/shm, if it is known and no more than the default."""
    for mount in mappings(container.get("volumeMounts")):
        if text(mount.get("mountPath")).rstrip("/") in (_SHARED, "/dev"):
            volumes = mappings(pod_set.spec.get("volumes"))
            named = [each for each in volumes if each.get("name") == mount.get("name")]
            volume = mapping(named[0].get("emptyDir")) if named else {}
            size = amount("memory", volume.get("sizeLimit"))
            return size if size is not None and 0 < size < _DEFAULT else None
    return _DEFAULT


RULE = Rule(
    code="PK229",
    name="shared-memory-too-small",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("-parallel", "_parallel", "--tp", "-tp", "--num-shard"),
)
