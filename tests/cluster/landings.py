"""How many pods of a claim are placed, how many wait, and what is said of those."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from policykit.model.cluster import Cluster as Policy
from policykit.model.quantity import amount_text
from tests.cluster.api_server import PODS, ApiServer, api_server
from tests.cluster.cluster import Cluster, Object, node
from tests.cluster.scheduler import Scheduler, System
from tests.clusters import policy as policy_of

_SETTLES = 40
"""Seconds in which pods are made, and placed or refused."""
_HOLDS = 3
"""Seconds for which it must stay so."""
_BY_CONTROLLER = "volumes.kubernetes.io/controller-managed-attach-detach"
"""Of nodes to which the controller attaches volumes: a kubelet writes it."""
_AMOUNTS = {"cpu": "8", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "8"}

Starts = Callable[[], AbstractContextManager[Scheduler]]


class Landed(NamedTuple):
    """All pods that there are."""

    placed: int
    waiting: int
    messages: tuple[str, ...]
    """Of those that wait, in the scheduler's words; none of a pod of which it says nothing."""

    def __str__(self) -> str:
        return "\n".join([f"{self.placed} placed, {self.waiting} waiting", *self.messages])


def check_landings(cluster: Cluster, data: Mapping[str, Any], policy: Policy | None, starts: Starts) -> None:
    """What a claim says of its pods: `placed` and `waiting`; `says` of one that waits; `then`, objects that
    are applied afterwards and what becomes of all pods; `attached`: nodes that get the volume. Every pod of
    `good` is placed."""
    _create_nodes(cluster, data, policy)
    with api_server(cluster.plane) as server, starts():
        _apply(cluster, data.get("before", ""), data["manifest"])
        _check(cluster, server, data)
        for each in data.get("afterwards", ()):
            _step(cluster, each)
            _check(cluster, server, each)
        if "good" not in data:
            return
        cluster.sweep()
        _create_nodes(cluster, data, policy)
        _apply(cluster, data["good"])
        lands = data.get("lands", data["placed"] + data["waiting"])
        attached = {"attached": lands} if "attached" in data else {}
        _check(cluster, server, {"placed": lands, "waiting": 0, **attached})


def _apply(cluster: Cluster, *texts: str) -> None:
    for text in texts:
        if text:
            cluster.kubectl("apply", "--validate=strict", "-f", "-", text=text)


def _step(cluster: Cluster, step: Mapping[str, Any]) -> None:
    """`apply` adds objects, or changes them. `succeed` ends the pods that are placed."""
    _apply(cluster, step.get("apply", ""))
    if step.get("succeed"):
        for pod in cluster.get("pods"):
            if pod["spec"].get("nodeName"):
                name = pod["metadata"]["name"]
                done = '{"status": {"phase": "Succeeded"}}'
                cluster.kubectl("patch", "pod", name, "--subresource=status", "--patch", done)


def _check(cluster: Cluster, server: ApiServer, wanted: Mapping[str, Any]) -> None:
    end, since = time.monotonic() + _SETTLES, 0.0
    while True:
        now = time.monotonic()
        found = _landed(server)
        says = wanted.get("says", "")
        as_said = found[:2] == (wanted["placed"], wanted["waiting"]) and (
            not says or any(says in message for message in found.messages)
        )
        since = (since or now) if as_said else 0.0
        if since and now - since > _HOLDS:
            if "attached" in wanted:
                _check_attached(cluster, wanted)
            return
        assert now < end, f"not {wanted['placed']} placed, {wanted['waiting']} waiting {says!r}, but {found}"
        time.sleep(0.3)


def _check_attached(cluster: Cluster, wanted: Mapping[str, Any]) -> None:
    """On how many nodes the volume is, of those whose pods ask for it; `refuses`: what the controller says of
    the others. A driver is played that attaches whatever it is told to."""
    end = time.monotonic() + _SETTLES
    refuses = wanted.get("refuses", "")
    while True:
        for each in cluster.get("volumeattachments"):
            if not each.get("status", {}).get("attached"):
                words = ("volumeattachment", each["metadata"]["name"], "--subresource=status", "--type=merge")
                cluster.kubectl("patch", *words, "--patch", '{"status": {"attached": true}}')
        there = sum(1 for each in cluster.get("nodes") if each["status"].get("volumesAttached"))
        said = [each["message"] for each in cluster.get("events")]
        if there == wanted["attached"] and (not refuses or any(refuses in message for message in said)):
            return
        assert time.monotonic() < end, f"on {there} nodes: {said}"
        time.sleep(0.5)


def _landed(server: ApiServer) -> Landed:
    pods = [pod for pod in server.items(PODS) if pod["status"].get("phase") not in ("Succeeded", "Failed")]
    unplaced = [pod for pod in pods if not pod["spec"].get("nodeName")]
    conditions = [one for pod in unplaced for one in pod["status"].get("conditions", [])]
    said = {one.get("message", "") for one in conditions if one["status"] == "False"} - {""}
    return Landed(len(pods) - len(unplaced), len(unplaced), tuple(sorted(said)))


def _create_nodes(cluster: Cluster, data: Mapping[str, Any], policy: Policy | None) -> None:
    with api_server(cluster.plane) as server:
        nodes = nodes_of(policy) if policy else _stated(data)
        for each in nodes if "attached" in data else ():
            each["metadata"]["annotations"] = {_BY_CONTROLLER: "true"}
        server.create_nodes(nodes)


def _stated(data: Mapping[str, Any]) -> list[Object]:
    """Two nodes without labels unless a claim has some."""
    stated: Mapping[str, Mapping[str, str]] = data.get("nodes", {"node-1": {}, "node-2": {}})
    return [
        node(name, labels, [], {**_AMOUNTS, **data.get("amounts", {})}) for name, labels in stated.items()
    ]


def nodes_of(policy: Policy) -> list[Object]:
    """Every node that has a name in a policy, and one for each other shape."""
    found = []
    for pool in policy.pools:
        for position, shape in enumerate(pool.shapes):
            amounts = {name: amount_text(name, amount) for name, amount in shape.allocatable.items()}
            for name in shape.node_names or (f"{pool.name}.{position}",):
                labels = {**pool.labels, **shape.labels}
                taints = [taint._asdict() for taint in pool.taints]
                made = node(name, labels, taints, {**_AMOUNTS, **amounts})
                if pool.unschedulable:
                    made["spec"]["unschedulable"] = True
                found.append(made)
    return found


def generated(system: System) -> dict[str, str]:
    """What `gen` configures a scheduler with for gangs."""
    data = {
        "domain": "ai.example.com",
        "kubernetes": "1.36",
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "pools": {"train": {"usage": "training", "card": "h20", "cardsPerNode": 8}},
        "workloads": {"train": {"usages": ["training"], "scheduler": system.scheduler_name, "gang": "all"}},
        "targets": {system.target: {"version": system.version}},
    }
    return system.configuration(policy_of(data))
