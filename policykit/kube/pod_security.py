"""What the pod security standards baseline and restricted both forbid.

Source: `k8s.io/pod-security-admission/policy` (v0.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text, texts

ENFORCE = "pod-security.kubernetes.io/enforce"
FORBIDDING = frozenset({"baseline", "restricted"})
_NAMESPACES = ("hostIPC", "hostNetwork", "hostPID")
_CAPABILITIES = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)


def forbidden(pod_set: PodSet) -> Iterator[tuple[Path, str]]:
    """Each with its place and what it is, for display."""
    spec = pod_set.spec
    for field in _NAMESPACES:
        if spec.get(field) is True:
            yield pod_set.place(field), f"{field}: true"
    if _unconfined(spec):
        yield pod_set.place("securityContext", "seccompProfile"), "seccompProfile Unconfined"
    listed = spec.get("volumes")
    for at, volume in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(mapping(volume).get("hostPath"), dict):
            yield pod_set.place("volumes", at, "hostPath"), "hostPath volumes"
    for field, at, container in containers(spec):
        base = (field, at)
        context = mapping(container.get("securityContext"))
        if context.get("privileged") is True:
            yield pod_set.place(*base, "securityContext", "privileged"), "privileged containers"
        added = set(texts(mapping(context.get("capabilities")).get("add"))) - _CAPABILITIES
        if added:
            names = ", ".join(sorted(added))
            yield pod_set.place(*base, "securityContext", "capabilities", "add"), f"capability {names}"
        if _unconfined(container):
            place = pod_set.place(*base, "securityContext", "seccompProfile")
            yield place, "seccompProfile Unconfined"
        if any(_is_port(each.get("hostPort")) for each in mappings(container.get("ports"))):
            yield pod_set.place(*base, "ports"), "hostPort"


def _is_port(stated: object) -> bool:
    return isinstance(stated, int) and not isinstance(stated, bool) and stated > 0


def _unconfined(there: Mapping[str, Any]) -> bool:
    profile = mapping(mapping(there.get("securityContext")).get("seccompProfile"))
    return text(profile.get("type")) == "Unconfined"
