"""Ports of one Service beside each other, and beside its type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.kube.structure.containers import named_once
from policykit.kube.structure.problem import DISAGREEING, UNMET, Problem
from policykit.kube.structure.scalars import is_filled_in
from policykit.manifests.path import Path, dotted, lookup

_PORTS: Path = ("spec", "ports")


def ports(data: dict[str, Any]) -> Iterator[Problem]:
    """What the API server refuses though each port is right by itself. Placeholders may be anything.

    Source: `ValidateService` (v1.36).
    """
    listed = lookup(data, _PORTS)
    if not isinstance(listed, list):
        return
    items = [((*_PORTS, index), item) for index, item in enumerate(listed) if isinstance(item, dict)]
    yield from _nameless(items)
    yield from named_once(listed, _PORTS, "port of the Service")
    yield from _once(items)
    for place, port in items:
        yield from _on_nodes(port, place, lookup(data, ("spec", "type")))


_Items = list[tuple[Path, dict[str, Any]]]


def _nameless(items: _Items) -> Iterator[Problem]:
    """A lone port needs no name; of several that have none, the first is said."""
    nameless = next((place for place, port in items if not port.get("name")), None)
    if nameless and len(items) > 1:
        message = f"{dotted(nameless)} has no `name`, and the Service has {len(items)} ports"
        yield Problem(nameless, DISAGREEING, message, "name each port of a Service that has several")


def _once(items: _Items) -> Iterator[Problem]:
    first: dict[tuple[int, str], Path] = {}
    for place, port in items:
        number, protocol = port.get("port"), port.get("protocol") or "TCP"
        if not isinstance(number, int) or not isinstance(protocol, str) or is_filled_in(protocol):
            continue
        if first.setdefault((number, protocol), place) != place:
            at, other = (*place, "port"), dotted(first[number, protocol])
            message = f"{dotted(at)} is {number} with {protocol}, as in {other}"
            yield Problem(at, DISAGREEING, message, "list a port once for each protocol")


def _on_nodes(port: dict[str, Any], place: Path, kind: object) -> Iterator[Problem]:
    """A base may leave the type to a kustomization: without one it is only a warning."""
    number = port.get("nodePort")
    if not isinstance(number, int) or not number or kind not in (None, "", "ClusterIP"):
        return
    at = (*place, "nodePort")
    said = f"a Service of type {kind}" if kind else "a Service without a type, which means ClusterIP,"
    message = f"{dotted(at)} is {number}, but {said} has no ports on nodes"
    advice = "delete it, or write type: NodePort"
    yield Problem(at, DISAGREEING if kind else UNMET, message, advice, key=True)
