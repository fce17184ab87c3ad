"""Fields of pods that the API server compares with each other, one by one: gates, ports, claims, priority."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from policykit.kube.names import label_key_problem
from policykit.kube.structure.admission.checks import Data, name_of, refused, words
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import numbered, whole
from policykit.model.severity import Severity

_WHO = "the API server refuses the pod"


def gates(listed: object, path: Path) -> Iterator[Problem]:
    """Source: `validateSchedulingGates` (v1.36)."""
    seen: set[str] = set()
    for position, gate in numbered(listed):
        name = name_of(gate)
        where: Path = (*path, position, "name")
        if name in seen and name:
            yield refused(where, f"is {name}, which is listed twice", f"list it once: {_WHO}")
        elif name and (fault := label_key_problem(name)):
            yield refused(where, f"is {name}, which {fault}", f"write the name of a gate: {_WHO}")
        seen.add(name)


def host_ports(container: Data, place: Path) -> Iterator[Problem]:
    """In the network of the host a port of the container is the host's. Source: `checkHostPort` (v1.36)."""
    for position, port in numbered(container.get("ports")):
        inner, outer = whole(port.get("containerPort")), whole(port.get("hostPort"))
        if inner is not None and outer and inner != outer:
            where = (*place, "ports", position, "hostPort")
            what = f"is {outer}, but with hostNetwork it is containerPort {inner}"
            yield refused(where, what, f"delete hostPort: {_WHO}")


_OF_CLUSTER = r"(?<![\w.-])[a-z0-9-]+\.[a-z0-9-]+\.svc(?![\w-])"


def names_of_cluster(spec: Data, listed: Iterable[tuple[Path, Data]]) -> Iterator[Problem]:
    """With hostNetwork, ClusterFirst is the DNS of the node. Source: `getPodDNSType` (v1.36)."""
    if spec.get("dnsPolicy") not in (None, "ClusterFirst"):
        return
    for place, container in listed:
        texts = [
            ((*place, "env", at, "value"), each.get("value")) for at, each in numbered(container.get("env"))
        ]
        for field in ("command", "args"):
            texts += [((*place, field, at), word) for at, word in words(container.get(field))]
        for path, text in texts:
            if isinstance(text, str) and ".svc" in text and (found := re.search(_OF_CLUSTER, text)):
                what = f"has {found.group()}, a name that only the DNS of the cluster knows"
                advice = (
                    "write dnsPolicy: ClusterFirstWithHostNet: with hostNetwork pods ask the DNS of the node"
                )
                yield refused(path, what, advice, Severity.WARNING)
                return


def shared_ports(containers: Iterable[tuple[Path, Data]], *, of_host: bool) -> Iterator[Problem]:
    """A port of the host that two containers of the pod ask for.

    Sources: `checkHostPortConflicts` and the defaults of ports with hostNetwork (v1.36).
    """
    seen: set[tuple[str, str, int]] = set()
    for place, container in containers:
        listed = container.get("ports") if place[-2] == "containers" else None
        for position, port in numbered(listed) if listed else ():
            field = "hostPort" if whole(port.get("hostPort")) or not of_host else "containerPort"
            number = whole(port.get(field))
            protocol, address = port.get("protocol", "TCP"), port.get("hostIP", "")
            if not number or not isinstance(protocol, str) or not isinstance(address, str):
                continue
            key = (protocol, address, number)
            if key in seen:
                where = (*place, "ports", position, field)
                what = f"is {number}, which another port of the pod takes on the host"
                yield refused(where, what, f"write another port: {_WHO}")
            seen.add(key)


def claims(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Source: `validatePodResourceClaims` (v1.36)."""
    seen: set[str] = set()
    for position, claim in numbered(spec.get("resourceClaims")):
        name = name_of(claim)
        if name in seen and name:
            where = (*path, "resourceClaims", position, "name")
            yield refused(where, f"is {name}, which is listed twice", f"list it once: {_WHO}")
        seen.add(name)


def claims_of(container: Data, place: Path) -> Iterator[Problem]:
    """A container has each request of a claim once."""
    seen: set[tuple[str, str]] = set()
    for position, claim in numbered(lookup(container, ("resources", "claims"))):
        pair = name_of(claim), name_of(claim, "request")
        if pair in seen and pair[0]:
            where = (*place, "resources", "claims", position, "name")
            yield refused(where, f"is {pair[0]}, which is listed twice", f"list it once: {_WHO}")
        seen.add(pair)


def priority(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """It comes from a PriorityClass, and a number beside it must be the same. Source: plugin `Priority`."""
    number = whole(spec.get("priority"))
    if number and not spec.get("priorityClassName"):
        yield refused(
            (*path, "priority"),
            f"is {number}, but the pod names no PriorityClass: it is refused unless the default is {number}",
            "name a PriorityClass in priorityClassName, and delete it",
            Severity.WARNING,
            key=True,
            kind=INCONSISTENT,
        )
