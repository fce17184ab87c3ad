"""Volcano's admission, written again from its rules over plain objects: what it would say to them.

Queues one by one in the order of the file, as kubectl applies them. Knows nothing of how
policykit writes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.model.quantity import parse

Object = Mapping[str, Any]
Release = tuple[int, int, int]

QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
EVENTS = {"*", "PodFailed", "PodEvicted", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated"}
ACTIONS = {
    *("AbortJob", "RestartJob", "RestartTask", "TerminateJob", "CompleteJob", "ResumeJob"),
    *("RestartPod", "RestartPartition"),
}


def amounts(listed: object) -> dict[str, int]:
    found = {}
    for name, text in (listed or {}).items():  # type: ignore[attr-defined]
        quantity = parse(text)
        assert quantity is not None, f"{name}: {text}"
        found[name] = quantity.nanos
    return found


def above(one: Mapping[str, int], other: Mapping[str, int], *, missing_is_zero: bool) -> str:
    """The first resource that is larger in `one`."""
    for name in sorted(one):
        if (name in other or missing_is_zero) and one[name] > other.get(name, 0):
            return name
    return ""


def summed(lists: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = {name for each in lists for name in each}
    return {name: sum(each.get(name, 0) for each in lists) for name in names}


class _Queue:
    def __init__(self, data: Object) -> None:
        spec = data["spec"]
        self.name: str = data["metadata"]["name"]
        self.parent: str = spec.get("parent") or "root"
        self.weight: int = spec["weight"]
        self.priority: int = spec.get("priority", 0)
        self.capability = amounts(spec.get("capability"))
        self.deserved = amounts(spec.get("deserved"))
        self.guarantee = amounts(spec.get("guarantee", {}).get("resource"))
        self.fields = set(spec)


def refused_queues(objects: Sequence[Object], version: Release) -> list[str]:
    """Why the webhook would refuse them, applied in this order to a cluster with default and root."""
    there: dict[str, _Queue] = {}
    said: list[str] = []
    for data in objects:
        queue = _Queue(data)
        said += [f"{queue.name}: {why}" for why in _refused_queue(queue, there, version)]
        there[queue.name] = queue
    return said


def _refused_queue(queue: _Queue, there: Mapping[str, _Queue], version: Release) -> Iterator[str]:
    if not SUBDOMAIN.match(queue.name) or len(queue.name) > 253:
        yield "name"
    if not 1 <= queue.weight <= 65535:
        yield "weight"
    if queue.priority < 0:
        yield "priority"
    for field, first in (("deserved", (1, 9, 0)), ("priority", (1, 10, 0)), ("parent", (1, 11, 0))):
        if field in queue.fields and version < first:
            yield f"{field} is not a field"
    if "affinity" in queue.fields and version < (1, 9, 0):
        yield "affinity without its plugin"
    yield from _amounts_of(queue, version)
    if queue.parent != "root" and version >= (1, 11, 0):
        yield from _below(queue, there, version)


def _amounts_of(queue: _Queue, version: Release) -> Iterator[str]:
    everything = {**queue.capability, **queue.deserved, **queue.guarantee}
    for name in everything:
        for listed in (queue.capability, queue.deserved, queue.guarantee):
            if listed.get(name, 0) < 0:
                yield f"{name} is negative"
            if (name == "pods" or "/" in name) and listed.get(name, 0) % 10**9:
                yield f"{name} is not whole"
    if version >= (1, 14, 2):
        if any(name not in queue.deserved for name in queue.guarantee):
            yield "guaranteed, not deserved"
        if above(queue.guarantee, queue.deserved, missing_is_zero=True):
            yield "deserved below guarantee"
        if above(queue.deserved, queue.capability, missing_is_zero=False):
            yield "deserved above capability"
    elif version >= (1, 13, 0):
        if queue.capability and above(queue.deserved, queue.capability, missing_is_zero=True):
            yield "deserved above capability"
        if queue.capability and above(queue.guarantee, queue.capability, missing_is_zero=True):
            yield "guarantee above capability"
        if above(queue.guarantee, queue.deserved, missing_is_zero=True):
            yield "guarantee above deserved"


def _below(queue: _Queue, there: Mapping[str, _Queue], version: Release) -> Iterator[str]:
    if queue.parent == queue.name:
        yield "its own parent"
        return
    parent = there.get(queue.parent)
    if parent is None:
        if queue.parent != "default":
            yield f"no parent {queue.parent}"
        return
    depth, above_it = 1, parent
    while above_it.parent in there and depth < 20:
        depth, above_it = depth + 1, there[above_it.parent]
    if depth + 1 > 5:
        yield f"{depth + 1} levels deep"
    siblings = [*(other for other in there.values() if other.parent == queue.parent), queue]
    for field in ("guarantee", "deserved"):
        total = summed([getattr(each, field) for each in siblings])
        over = above(total, getattr(parent, field), missing_is_zero=True)
        # Before 1.14 the scheduler itself stops at this, and at no webhook.
        if over:
            yield f"{field} of the children of {parent.name} is more {over} than its own"
    if (1, 14, 0) <= version <= (1, 14, 1):
        if above(queue.capability, parent.capability, missing_is_zero=True):
            yield f"capability above that of {parent.name}"
    else:
        for name, amount in queue.capability.items():
            bound = _nearest(queue, there, name)
            if bound is not None and amount > bound:
                yield f"capability {name} above that of an ancestor"


def _nearest(queue: _Queue, there: Mapping[str, _Queue], resource: str) -> int | None:
    above_it = there.get(queue.parent)
    while above_it is not None:
        if resource in above_it.capability:
            return above_it.capability[resource]
        above_it = there.get(above_it.parent)
    return None


def refused_pod_group(data: Object, version: Release) -> list[str]:
    spec = data["spec"]
    said = []
    if spec.get("minMember", 0) < 0:
        said.append("minMember")
    if not SUBDOMAIN.match(data["metadata"]["name"]):
        said.append("name")
    return [*said, *_refused_topology(spec.get("networkTopology"), version)]


def _refused_topology(data: Object | None, version: Release) -> Iterator[str]:
    if data is None:
        return
    if version < (1, 12, 0):
        yield "networkTopology is not a field"
    if data.get("mode") not in ("hard", "soft"):
        yield "mode"
    if "highestTierAllowed" in data and "highestTierName" in data:
        yield "both tiers"
    if "highestTierName" in data and version < (1, 14, 0):
        yield "highestTierName is not a field"
    if data.get("highestTierAllowed", 0) < 0:
        yield "tier"


def refused_hyper_nodes(objects: Sequence[Object], version: Release) -> list[str]:
    """Refusals, and what makes the topology not ready."""
    said: list[str] = []
    parents: dict[str, str] = {}
    names = {data["metadata"]["name"] for data in objects}
    tiers = {data["metadata"]["name"]: data["spec"]["tier"] for data in objects}
    if version < (1, 12, 0) and objects:
        said.append("no such kind")
    if len(names) != len(objects):
        said.append("two of one name")
    named: dict[str, int] = {}
    for data in objects:
        name, spec = data["metadata"]["name"], data["spec"]
        if not SUBDOMAIN.match(name) or len(name) > 253:
            said.append(f"{name}: name")
        if not spec["members"] or spec["tier"] < 0:
            said.append(f"{name}: no members, or tier")
        if "tierName" in spec and version < (1, 14, 0):
            said.append(f"{name}: tierName is not a field")
        if spec.get("tierName") and named.setdefault(spec["tierName"], spec["tier"]) != spec["tier"]:
            said.append(f"{name}: one tierName on two tiers")
        for member in spec["members"]:
            selector = member.get("selector", {})
            if len(selector) != 1:
                said.append(f"{name}: a member with {sorted(selector)}")
            if member["type"] == "HyperNode":
                child = selector.get("exactMatch", {}).get("name")
                if child not in names or tiers.get(child, 0) >= spec["tier"]:
                    said.append(f"{name}: member {child}")
                if parents.setdefault(child, name) != name:
                    said.append(f"{child}: two parents")
    return said


def refused_job(data: Object, version: Release) -> list[str]:
    """Rules 1 to 5, 9 to 11 and 15 of a Job that is created; and the gang that never starts."""
    spec = data["spec"]
    tasks = spec.get("tasks") or []
    said = [] if tasks else ["no tasks"]
    names = [task.get("name", f"default{number}") for number, task in enumerate(tasks)]
    if len(set(names)) != len(names):
        said.append("two tasks of one name")
    minima = []
    for name, task in zip(names, tasks, strict=True):
        least = task.get("minAvailable")
        least = task["replicas"] if least is None else least
        if least > task["replicas"]:
            said.append(f"{name}: minAvailable above replicas")
        minima.append(least)
        said += [f"{name}: {why}" for why in _refused_policies(task.get("policies") or [], version)]
        if not QUALIFIED.match(f"{data['metadata']['name']}-{name}-0"):
            said.append(f"{name}: pod name")
    gang = spec.get("minAvailable") or sum(minima)
    if gang > sum(task["replicas"] for task in tasks):
        said.append("minAvailable above all replicas")
    said += _refused_policies(spec.get("policies") or [], version)
    said += _refused_topology(spec.get("networkTopology"), version)
    said += _stuck(tasks, minima, gang)
    return said


def _refused_policies(policies: Sequence[Object], version: Release) -> list[str]:
    said, seen, codes = [], [], []
    for policy in policies:
        one = [policy["event"]] if "event" in policy else []
        events = list(dict.fromkeys([*one, *policy.get("events", [])]))
        if bool(events) == ("exitCode" in policy):
            said.append("event and exitCode")
        known = EVENTS | ({"PodPending"} if version >= (1, 11, 0) else set())
        said += [f"event {event}" for event in events if event not in known]
        if events and policy["action"] not in ACTIONS:
            said.append(f"action {policy['action']}")
        if "PodPending" in events and not policy.get("timeout"):
            said.append("PodPending never fires")
        seen += events
        codes += [policy["exitCode"]] if "exitCode" in policy else []
    if len(set(seen)) != len(seen) or len(set(codes)) != len(codes) or 0 in codes:
        said.append("twice")
    if "*" in seen and len(set(seen)) > 1:
        said.append("* with others")
    return said


def _stuck(tasks: Sequence[Object], minima: Sequence[int], gang: int) -> Iterator[str]:
    waiting = [bool(task.get("dependsOn", {}).get("name")) for task in tasks]
    if not any(waiting) or all(waiting):
        return
    free = sum(task["replicas"] for task, waits in zip(tasks, waiting, strict=True) if not waits)
    if gang > free:
        yield "the gang waits for pods that wait for it"
    held = any(least for least, waits in zip(minima, waiting, strict=True) if waits)
    if gang >= sum(minima) and held:
        yield "a dependent task's minimum waits for pods that wait for it"
