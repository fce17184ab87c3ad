"""Pod specs of built-in kinds: names, volumes, claims, probes, and the labels that a selector requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_capitals, is_filled_in, is_placeholder
from policykit.kube.requests import amounts, below_containers
from policykit.kube.structure.admission import pod_fields
from policykit.kube.structure.admission.label_keys import label_keys
from policykit.kube.structure.problem import CONFLICTING, INCONSISTENT, MISSING_REFERENCE
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.problem import Problem
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity

_PODS: Mapping[tuple[str, str], Path] = {
    ("v1", "Pod"): ("spec",),
    ("v1", "PodTemplate"): ("template", "spec"),
    ("v1", "ReplicationController"): ("spec", "template", "spec"),
    ("apps/v1", "DaemonSet"): ("spec", "template", "spec"),
    ("apps/v1", "Deployment"): ("spec", "template", "spec"),
    ("apps/v1", "ReplicaSet"): ("spec", "template", "spec"),
    ("apps/v1", "StatefulSet"): ("spec", "template", "spec"),
    ("batch/v1", "Job"): ("spec", "template", "spec"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template", "spec"),
}
"""PodSpecs of the kinds that the API server validates completely."""
_LASTING = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
"""Kinds that replace pods that end."""
_MAX_NAMED = 20
_SELECTING = "apps/v1"
"""All controllers in this API version must select their own pods."""
_SELECTOR: Path = ("spec", "selector")
_LABELS: Path = ("spec", "template", "metadata", "labels")
_LISTS = ("initContainers", "containers", "ephemeralContainers")


def inconsistencies(data: dict[str, Any], api_version: str, kind: str) -> Iterator[Problem]:
    """What the API server rejects although each value is valid on its own. Placeholders match anything.

    Source: `ValidatePodSpec` and the validation of apps/v1 (v1.36).
    """
    path = _PODS.get((api_version, kind))
    if path is None:
        return
    spec = lookup(data, path)
    if isinstance(spec, dict):
        containers = [*_containers(spec, path)]
        mounting = [each for each in containers if each[1].get("volumeMounts") is not None]
        yield from _names(spec, path)
        yield from _claims(spec, path, containers)
        if spec.get("resourceClaims"):
            yield from pod_fields.claims(spec, path)
        if spec.get("schedulingGates"):
            yield from _gated(spec, path)
            yield from pod_fields.gates(spec["schedulingGates"], (*path, "schedulingGates"))
        if spec.get("priority"):
            yield from pod_fields.priority(spec, path)
        if mounting:
            yield from _mounts(spec, path, data, mounting)
            yield from _mounted_once(mounting)
        yield from _pod_level(spec, path)
        yield from _above_pod(spec, path, containers)
        if kind == "Pod":
            yield from _preemption(spec, path)
        if spec.get("volumes") is not None:
            yield from named_once(spec["volumes"], (*path, "volumes"), "volume of the pod")
            yield from _media(spec, (*path, "volumes"))
        yield from pod_fields.shared_ports(containers, of_host=spec.get("hostNetwork") is True)
        if spec.get("hostNetwork") is True:
            yield from pod_fields.names_of_cluster(spec, containers)
        for place, container in containers:
            if container.get("ports") is not None:
                yield from named_once(container["ports"], (*place, "ports"), "port of the container")
                if spec.get("hostNetwork") is True:
                    yield from pod_fields.host_ports(container, place)
            if spec.get("resourceClaims"):
                yield from pod_fields.claims_of(container, place)
            yield from probes(container, place, initial=place[-2] == "initContainers")
        if kind in _LASTING:
            yield from _restarted(spec, path, kind)
        if spec.get("affinity") or spec.get("topologySpreadConstraints"):
            yield from label_keys(spec, lookup(data, (*path[:-1], "metadata", "labels")), path)
    if api_version == _SELECTING and not _selects_its_own(data):
        from policykit.kube.structure.admission import own_pods

        yield from own_pods.selected(data)


def _selects_its_own(data: dict[str, Any]) -> bool:
    """Whether the selector is labels that the pods have, as nearly all are."""
    selector, labels = lookup(data, _SELECTOR), lookup(data, _LABELS)
    if not isinstance(selector, dict) or not isinstance(labels, dict) or selector.keys() != {"matchLabels"}:
        return False
    wanted = selector["matchLabels"]
    return isinstance(wanted, dict) and wanted.items() <= labels.items()


def of_template(spec: dict[str, Any], path: Path, added: frozenset[str]) -> Iterator[Problem]:
    """Of pods that a controller makes from a template and adds volumes to: the API server refuses each."""
    containers = [*_containers(spec, path)]
    mounting = [each for each in containers if each[1].get("volumeMounts") is not None]
    yield from _names(spec, path)
    yield from _claims(spec, path, containers)
    yield from _mounts(spec, path, {}, mounting, added)
    yield from _mounted_once(mounting)
    if spec.get("volumes") is not None:
        yield from named_once(spec["volumes"], (*path, "volumes"), "volume of the pod")
        yield from _media(spec, (*path, "volumes"))


def _preemption(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Admission compares it with the PriorityClass. Source: plugin `Priority` (v1.36)."""
    policy = spec.get("preemptionPolicy")
    if policy == "Never" and not spec.get("priorityClassName"):
        yield Problem(
            (*path, "preemptionPolicy"),
            "preemptionPolicy is Never, but the pod names no PriorityClass that says so: the pod is refused",
            "write it into a PriorityClass, and name that in priorityClassName",
            Severity.WARNING,
            key=True,
            kind=INCONSISTENT,
        )


def _gated(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Source: `ValidatePodCreate` (v1.36)."""
    if isinstance(spec["schedulingGates"], list) and spec.get("nodeName"):
        at = (*path, "nodeName")
        message = f"{dotted(at)} conflicts with schedulingGates: the API server refuses such a pod"
        help_ = "write a nodeSelector on kubernetes.io/hostname, or delete the gates"
        yield Problem(at, message, help_, key=True, kind=CONFLICTING)


def _names(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Container names, including init containers, must be unique."""
    first: dict[str, Path] = {}
    reported: set[str] = set()
    for field in _LISTS:
        listed = spec.get(field)
        for position, container in enumerate(listed if isinstance(listed, list) else ()):
            name = container.get("name") if isinstance(container, dict) else None
            if not isinstance(name, str) or not name or is_placeholder(name):
                continue
            if name in first and name not in reported:
                reported.add(name)
                place = (*path, field, position, "name")
                message = f'{dotted(place)} is "{name}", which is also the name of {dotted(first[name])}'
                yield Problem(
                    place, message, "give each container of the pod a unique name", kind=INCONSISTENT
                )
            first.setdefault(name, (field, position))


def _claims(spec: dict[str, Any], path: Path, containers: Sequence[_Container]) -> Iterator[Problem]:
    """Containers refer to claims of the pod."""
    there = _names_in(spec.get("resourceClaims"))
    if there is None:
        return
    for place, container in containers:
        for position, name in _items(lookup(container, ("resources", "claims"))):
            if name not in there:
                at = (*place, "resources", "claims", position, "name")
                message = f'{dotted(at)} is "{name}", not a claim of the pod{_known(there)}'
                yield Problem(
                    at, message, f"list {name} in {dotted((*path, 'resourceClaims'))}", kind=INCONSISTENT
                )


def _media(spec: dict[str, Any], base: Path) -> Iterator[Problem]:
    """Source: `(ed *emptyDir) SetUpAt` and `getPageSizeMountOption` of the kubelet (v1.36)."""
    volumes = spec["volumes"]
    for position, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        place: Path = (*base, position, "emptyDir", "medium")
        medium = lookup(volume, ("emptyDir", "medium"))
        if not isinstance(medium, str) or is_filled_in(medium):
            continue
        if medium.startswith(_PAGES):
            wanted = f"hugepages{medium.removeprefix(_PAGES)}"
            if not any(name == wanted or name.startswith(f"{wanted}-") for name in _requested(spec)):
                message = f"{dotted(place)} is {medium}, but no container requests any: the pod never starts"
                help_ = "add hugepages-2Mi, or another size, to the limits of the container that uses them"
                yield Problem(place, message, help_, kind=INCONSISTENT)
            elif medium == _PAGES and len(sizes := {*filter(_is_pages, _requested(spec))}) > 1:
                message = f"{dotted(place)} is {medium}, but the pod requests pages of {len(sizes)} sizes"
                help_ = f"write a size, such as {_PAGES}-2Mi: the pod never starts"
                yield Problem(place, message, help_, kind=INCONSISTENT)
            continue
        if medium in _MEDIA:
            continue
        if near := next((each for each in _MEDIA if each.lower() == medium.lower()), ""):
            message = f"{dotted(place)} is {medium}, which no kubelet can mount: the pod never starts"
            yield Problem(place, message, f"write {near}", kind=INCONSISTENT)


def _is_pages(name: str) -> bool:
    return name.startswith("hugepages-")


def _requested(spec: dict[str, Any]) -> Iterator[str]:
    """Names of resources, also where the amounts are placeholders."""
    for holder in (spec, *(container for _, container in _containers(spec, ()))):
        for side in ("limits", "requests"):
            listed = lookup(holder, ("resources", side))
            yield from map(str, listed if isinstance(listed, dict) else ())


_PAGES = "HugePages"
_MEDIA = ("", "Memory", _PAGES)


def _mounts(
    spec: dict[str, Any],
    path: Path,
    data: dict[str, Any],
    containers: Sequence[_Container],
    added: frozenset[str] = frozenset(),
) -> Iterator[Problem]:
    """Containers mount volumes of the pod, or those that a StatefulSet or another controller adds."""
    made = lookup(data, ("spec", "volumeClaimTemplates"))
    templates = [
        each.get("metadata") if isinstance(each, dict) else None
        for each in (made if isinstance(made, list) else ())
    ]
    own, others = _names_in(spec.get("volumes")), _names_in(templates)
    if own is None or others is None:
        return
    there = own | others
    for place, container in containers:
        for position, name in _items(container.get("volumeMounts")):
            if name not in there and name not in added:
                at = (*place, "volumeMounts", position, "name")
                message = f'{dotted(at)} is "{name}", not a volume of the pod{_known(there)}'
                yield Problem(
                    at, message, f"add the volume to {dotted((*path, 'volumes'))}", kind=MISSING_REFERENCE
                )


def _mounted_once(containers: Sequence[_Container]) -> Iterator[Problem]:
    """Mount paths in a container must be unique."""
    for place, container in containers:
        mounts = container.get("volumeMounts")
        seen: set[str] = set()
        for position, mount in enumerate(mounts if isinstance(mounts, list) else ()):
            target = mount.get("mountPath") if isinstance(mount, dict) else None
            if not isinstance(target, str) or not target or is_filled_in(target):
                continue
            if target in seen:
                at = (*place, "volumeMounts", position, "mountPath")
                message = f'{dotted(at)} is "{target}", where another volume is already mounted'
                yield Problem(at, message, "mount each volume at its own path", kind=INCONSISTENT)
            seen.add(target)


def _pod_level(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """What all containers share must suffice for what each requests."""
    if not isinstance(spec.get("resources"), dict):
        return
    for name, (there, total) in below_containers(spec).items():
        place = (*path, "resources", "requests", name)
        message = (
            f"{dotted(place)} is {amount_text(name, there)}, "
            f"but the containers request {amount_text(name, total)} together"
        )
        yield Problem(place, message, f"write {amount_text(name, total)} or more", kind=CONFLICTING)


def _above_pod(spec: dict[str, Any], path: Path, containers: Sequence[_Container]) -> Iterator[Problem]:
    """Source: `validatePodResourceConsistency` (v1.36)."""
    whole = amounts(lookup(spec, ("resources", "limits")))
    for place, container in containers if whole else ():
        for name, limit in amounts(lookup(container, ("resources", "limits"))).items():
            if name in whole and limit > whole[name]:
                at = (*place, "resources", "limits", name)
                most = amount_text(name, whole[name])
                message = f"{dotted(at)} is {amount_text(name, limit)}, above {most} of the pod"
                yield Problem(
                    at, message, f"write at most {most}, or raise that of the pod", kind=CONFLICTING
                )


def _restarted(spec: dict[str, Any], path: Path, kind: str) -> Iterator[Problem]:
    policy, seconds = spec.get("restartPolicy"), spec.get("activeDeadlineSeconds")
    if policy in ("Never", "OnFailure"):
        at = (*path, "restartPolicy")
        message = f"{dotted(at)} is {policy}; a {kind} only allows Always"
        yield Problem(at, message, "delete it, or make it a Job if its pods end", kind=CONFLICTING)
    if isinstance(seconds, int) and not isinstance(seconds, bool):
        at = (*path, "activeDeadlineSeconds")
        message = f"{dotted(at)} is {seconds}, which a {kind} does not support"
        yield Problem(
            at, message, "delete it: only Pods and Jobs have a time limit", key=True, kind=CONFLICTING
        )


def _known(names: frozenset[str]) -> str:
    if len(names) > _MAX_NAMED:
        return f", which has {len(names)} others"
    return f": it has {', '.join(sorted(names))}" if names else ""


_Container = tuple[Path, dict[str, Any]]
"""A container and its path."""


def _containers(spec: dict[str, Any], path: Path) -> Iterator[_Container]:
    for field in _LISTS:
        listed = spec.get(field)
        for position, container in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(container, dict):
                yield (*path, field, position), container


def _names_in(listed: object) -> frozenset[str] | None:
    """None: some names are still placeholders."""
    if listed is None:
        return frozenset()
    names = frozenset(name for _, name in _items(listed))
    return names if isinstance(listed, list) and len([*_items(listed)]) == len(listed) else None


def _items(listed: object) -> Iterator[tuple[int, str]]:
    """Position and name of each item, without placeholders."""
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and name and not is_filled_in(name):
            yield position, name


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")


def named_once(listed: object, path: Path, what: str) -> Iterator[Problem]:
    """Names in a list must be unique. `what` describes an item."""
    first: dict[str, Path] = {}
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name or is_filled_in(name):
            continue
        place = (*path, position)
        if first.setdefault(name, place) != place:
            at = (*place, "name")
            message = f'{dotted(at)} is "{name}", which is also the name of {dotted(first[name])}'
            yield Problem(at, message, f"give each {what} a unique name", kind=INCONSISTENT)


def probes(container: dict[str, Any], place: Path, *, initial: bool) -> Iterator[Problem]:
    """What the API server rejects in the probes of a container of a built-in kind.

    Source: `validateLivenessProbe` and its like (v1.36).
    """
    for field in _PROBES:
        probe = container.get(field)
        if not isinstance(probe, dict) or "..." in probe or any(map(is_placeholder, probe)):
            continue
        at = (*place, field)
        if initial and container.get("restartPolicy") is None:  # one that stays, a sidecar, may have them
            message = f"{dotted(at)} is on an init container, which cannot have probes"
            yield Problem(
                at, message, "delete it, or write restartPolicy: Always", key=True, kind=CONFLICTING
            )
            continue
        yield from _handlers(probe, at)
        yield from _asked(probe, at, container.get("ports"))
        threshold = probe.get("successThreshold")
        if field != "readinessProbe" and isinstance(threshold, int) and threshold > 1:
            message = f"{dotted((*at, 'successThreshold'))} is {threshold}, but must be 1 for this probe"
            yield Problem((*at, "successThreshold"), message, "delete it: 1 is the default", kind=CONFLICTING)


def _asked(probe: dict[str, Any], at: Path, ports: object) -> Iterator[Problem]:
    """A port by its name is one of the container itself. Source: `ResolveContainerPort` of the kubelet."""
    listed = [] if ports is None else ports
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        return
    for handler in ("httpGet", "tcpSocket"):
        port = lookup(probe, (handler, "port"))
        there = _names_in([each for each in listed if "name" in each])
        if not isinstance(port, str) or there is None or port in there or not port or is_filled_in(port):
            continue
        if not port.isdigit() and not is_capitals(port):
            where = (*at, handler, "port")
            message = f'{dotted(where)} is "{port}", which no port of the container is called{_known(there)}'
            help_ = "name the port so, or write its number: the probe always fails"
            yield Problem(where, message, help_, kind=MISSING_REFERENCE)


def _handlers(probe: dict[str, Any], at: Path) -> Iterator[Problem]:
    written = [field for field in _HANDLERS if probe.get(field) is not None]
    if not written:
        message = f"{dotted(at)} has no handler: none of {', '.join(_HANDLERS)}"
        yield Problem(at, message, "add one of them: the API server requires it", key=True, kind=INCONSISTENT)
    elif len(written) > 1:
        other = (*at, written[1])
        message = f"{dotted(other)} conflicts with {written[0]}: a probe takes only one of them"
        yield Problem(other, message, "delete one of the two", key=True, kind=CONFLICTING)
