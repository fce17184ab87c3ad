"""Files of the host that flags name, and that no volume brings into the container."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.kube.command_line import arguments, last_flag
from policykit.kube.placeholders import is_filled_in
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.model.severity import Severity
from policykit.targets.program_flags import CONFIGURATION_FLAGS

_ALWAYS = ("/var/run/secrets/", "/run/secrets/", "/dev/", "/proc/", "/etc/hosts")
_KUBEADM: Mapping[str, tuple[str, ...]] = {
    "apiServer": ("admission-control-config-file", "audit-policy-file", "encryption-provider-config"),
    "scheduler": ("config", "policy-config-file"),
}
"""Component of a ClusterConfiguration to arguments that name a file of the host."""
_MOUNTED: Mapping[str, tuple[str, ...]] = {
    "apiServer": (
        "/etc/ca-certificates",
        "/etc/kubernetes/pki",
        "/etc/pki",
        "/etc/ssl",
        "/usr/local/share/ca-certificates",
        "/usr/share/ca-certificates",
    ),
    "scheduler": ("/etc/kubernetes/scheduler.conf",),
}
"""Component to what kubeadm mounts by itself. Source: `controlplane/volumes.go` of kubeadm (1.15 to 1.36)."""


def unmounted(pod_set: PodSet) -> Iterator[Violation]:
    """In a warning where the image may be one's own, with the file in it."""
    for field, position, container in containers(pod_set.spec):
        words = arguments(container)
        image = text(container.get("image")).partition("@")[0].rpartition("/")[2].partition(":")[0]
        run = {word.rpartition("/")[2] for word, _ in words[:3]} | {image}
        program = next((name for name in CONFIGURATION_FLAGS if name in run), "")
        if not program:
            continue
        mounts = [text(each.get("mountPath")) for each in mappings(container.get("volumeMounts"))]
        for flag in CONFIGURATION_FLAGS[program]:
            stated = last_flag(words, flag)
            if stated and _is_missing(stated[0], mounts):
                yield Violation(
                    pod_set.place(field, position, *stated[1]),
                    f"{flag} names {stated[0]}, but no volume is mounted there: {program} does not start",
                    "mount the ConfigMap or the host's file there",
                    None if _is_stock(container) else Severity.WARNING,
                )


def _is_stock(container: Mapping[str, Any]) -> bool:
    return text(container.get("image")).startswith(
        ("registry.k8s.io/kube-scheduler:", "k8s.gcr.io/kube-sched")
    )


def of_kubeadm(manifest: Manifest) -> Iterator[Violation]:
    """kubeadm runs the control plane in pods, whose containers have only what extraVolumes bring."""
    if manifest.kind != "ClusterConfiguration" or manifest.group != "kubeadm.k8s.io":
        return
    for component, flags in _KUBEADM.items():
        stated = mapping(manifest.data.get(component))
        mounts = [text(each.get("mountPath")) for each in mappings(stated.get("extraVolumes"))]
        for flag, file, path in _arguments(stated.get("extraArgs"), (component, "extraArgs")):
            if flag in flags and _is_missing(file, (*mounts, *_MOUNTED[component])):
                yield Violation(
                    path,
                    f"{flag} names {file}, but no extraVolumes of {component} mount it: the pod does not "
                    "have the file of the host",
                    f"extraVolumes: [{{name: {flag}, hostPath: {file}, mountPath: {file}, pathType: File}}]",
                    Severity.WARNING,
                )


def _arguments(data: object, base: Path) -> Iterator[tuple[str, str, Path]]:
    """A map, or a list since v1beta4."""
    for name, value in mapping(data).items():
        yield str(name), text(value), (*base, name)
    for position, each in numbered(data):
        yield text(each.get("name")), text(each.get("value")), (*base, position, "value")


def _is_missing(file: str, mounts: Iterable[str]) -> bool:
    """Whether an absolute path is below none of the mounts."""
    if not file.startswith("/") or is_filled_in(file) or file.startswith(_ALWAYS):
        return False
    for each in mounts:
        folder = each.rstrip("/")
        if not each.startswith("/") or file == folder or file.startswith(f"{folder}/"):
            return False
    return True
