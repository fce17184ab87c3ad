"""Arguments that kubeadm gives the pods of the control plane."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.kubeadm import arguments, cluster_configurations
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.severity import Severity
from policykit.rules.kubernetes.unmounted_files import is_missing
from policykit.targets.kubernetes.scheduler.command import REMOVED_FLAGS, without_flag
from policykit.targets.program_flags import misspelt_flag

_FILES: Mapping[str, tuple[str, ...]] = {
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
GROUPS = frozenset({"bootstrap.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "kubeadm.k8s.io"})
"""API groups of objects with such arguments."""
_RELEASE = r"v?1\.([0-9]{1,3})(?:\.|\Z)"
_PROGRAM = "kube-scheduler"


def violations(manifest: Manifest) -> Iterator[Violation]:
    """Flags that the scheduler of the release does not have, and files of the host that no volume brings."""
    for data, base, release in cluster_configurations(manifest.data):
        yield from _flags(mapping(data.get("scheduler")), (*base, "scheduler"), release)
        for component, flags in _FILES.items():
            stated = mapping(data.get(component))
            mounts = [text(each.get("mountPath")) for each in mappings(stated.get("extraVolumes"))]
            for flag, value, path in arguments(stated.get("extraArgs"), (*base, component, "extraArgs")):
                file = text(value)
                if flag in flags and is_missing(file, (*mounts, *_MOUNTED[component])):
                    yield Violation(
                        path,
                        f"{flag} names {file}, but no extraVolumes of {component} mount it: the pod does not "
                        "have the file of the host",
                        f"extraVolumes: [{{name: {flag}, hostPath: {file}, mountPath: {file}, "
                        "pathType: File}]",
                        Severity.WARNING,
                    )


def _flags(scheduler: Mapping[str, object], base: Path, release: str) -> Iterator[Violation]:
    found = re.match(_RELEASE, release)
    minor = int(found[1]) if found else None
    for flag, _, path in arguments(scheduler.get("extraArgs"), (*base, "extraArgs")):
        gone = REMOVED_FLAGS.get(flag)
        if gone is not None and (minor is None or minor >= gone):
            yield Violation(
                path,
                without_flag(flag, minor),
                "remove it; configure the scheduler in the file of config",
                None if minor else Severity.WARNING,
            )
        elif meant := misspelt_flag(_PROGRAM, flag):
            yield Violation(
                path,
                f"{_PROGRAM} has no flag --{flag}: it does not start",
                f"did you mean {meant}?",
            )
