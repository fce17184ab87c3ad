"""Queues, tenants, priorities, quotas and reservations."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.policies.names import DURATIONS, GROUPS, PEOPLE, Draw, Names, chance, maybe, optional, some

_NAMES = ("research", "production", "team-a", "team-b", "online")
_ORDERED = ("guarantee", "deserved", "limit")


def queues(draw: Draw, names: Names) -> tuple[dict[str, Any], Names]:
    """A tree: what children are guaranteed fits into their parent, as do their limits."""
    found: dict[str, Any] = {}
    parents: dict[str, list[str]] = {}
    for name in some(draw, _NAMES, 0, len(_NAMES)):
        parent = draw(st.sampled_from(["", *found]))
        found[name] = {"parent": parent} if parent else {}
        parents.setdefault(parent, []).append(name)
    dimensions = [*some(draw, names.cards, 0, 2), *some(draw, ("cpu", "memory"), 0, 2)]
    units = {"cpu": "", "memory": "Gi"}
    for dimension in dimensions:
        for name in parents.get("", ()):
            _share(draw, found, parents, name, (dimension, units.get(dimension, "")), Room())
    for queue in found.values():
        _rest(draw, queue, names)
    leaves = tuple(name for name in found if name not in parents)
    return found, names._replace(queues=tuple(found), leaves=leaves)


class Room(NamedTuple):
    """What is left for a queue of one resource, by what its parent has."""

    limit: int = 64
    deserved: int = 32
    guarantee: int = 16


def _share(
    draw: Draw,
    found: dict[str, Any],
    parents: dict[str, list[str]],
    name: str,
    of: tuple[str, str],
    room: Room,
) -> None:
    """Amounts of one resource and its unit: growing from guarantee to limit, within those of the parent."""
    dimension, unit = of
    guarantee = draw(st.integers(0, room.guarantee))
    deserved = draw(st.integers(guarantee, room.deserved))
    limit = draw(st.integers(deserved, room.limit))
    amounts = dict(zip(_ORDERED, (guarantee, deserved, limit), strict=True))
    for part in some(draw, _ORDERED, 1):
        found[name].setdefault(part, {})[dimension] = f"{amounts[part]}{unit}" if unit else amounts[part]
    children = parents.get(name, [])
    for child in children:
        _share(
            draw,
            found,
            parents,
            child,
            of,
            Room(limit, deserved // len(children), guarantee // len(children)),
        )


def _rest(draw: Draw, queue: dict[str, Any], names: Names) -> None:
    queue |= draw(
        optional(
            weight=st.integers(1, 9),
            priority=st.integers(0, 9),
            reclaimable=st.booleans(),
            protect=st.booleans(),
            submit=st.one_of(st.just({"users": ["*"]}), people()),
        )
    )
    if names.pools and chance(draw):
        wanted = some(draw, names.pools)
        parts: dict[str, list[str]] = {part: [] for part in ("required", "preferred", "excluded", "avoided")}
        for pool in wanted:
            parts[draw(st.sampled_from(list(parts)))].append(pool)
        stated = {part: listed for part, listed in parts.items() if listed}
        queue["pools"] = stated["required"] if list(stated) == ["required"] else stated


def people() -> st.SearchStrategy[dict[str, Any]]:
    """Users and groups."""
    return optional(
        users=st.lists(PEOPLE, max_size=2, unique=True), groups=st.lists(GROUPS, max_size=2, unique=True)
    )


def tenants(draw: Draw, names: Names) -> tuple[dict[str, Any], Names]:
    """Tenants with namespaces of their own."""
    found: dict[str, Any] = {}
    for name in some(draw, ("team-a", "team-b", "online")):
        found[name] = draw(people())
        maybe(draw, found[name], "namespaces", st.sampled_from([[name], [name, f"{name}-dev"]]))
        if names.leaves:
            maybe(draw, found[name], "queue", st.sampled_from(names.leaves))
    return found, names._replace(tenants=tuple(found))


def priorities(draw: Draw, names: Names) -> tuple[dict[str, Any], Names]:
    """PriorityClasses, at most one of them the default."""
    found: dict[str, Any] = {}
    for name in some(draw, ("high", "normal", "low")):
        found[name] = {"value": draw(st.integers(-10, 1000000))}
        found[name] |= draw(optional(preempts=st.booleans(), description=st.just("goes first")))
    if found and chance(draw):
        found[draw(st.sampled_from(list(found)))]["default"] = True
    return found, names._replace(priorities=tuple(found))


def quotas(draw: Draw, names: Names) -> dict[str, Any]:
    """Quotas of namespaces of their own."""
    found: dict[str, Any] = {}
    for name in some(draw, ("team-a", "team-b", "batch"), 0, 2):
        quota: dict[str, Any] = {}
        requests = {card: draw(st.integers(0, 64)) for card in some(draw, names.cards)}
        maybe(draw, quota, "requests", st.just({**requests, "cpu": "2500m"}))
        maybe(draw, quota, "limits", st.just({"memory": "64Gi", "cpu": 9}))
        maybe(draw, quota, "pods", st.integers(0, 500))
        maybe(draw, quota, "namespace", st.just(f"{name}-work"))
        if names.priorities:
            maybe(draw, quota, "priorities", st.just(some(draw, names.priorities, 1)))
        maybe(draw, quota, "containers", _containers())
        found[name] = quota
    return found


@st.composite
def _containers(draw: Draw) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for resource, unit in (("cpu", "m"), ("memory", "Mi"), ("ephemeral-storage", "Gi")):
        numbers = sorted(draw(st.lists(st.integers(1, 4000), min_size=4, max_size=4)))
        stated = dict(zip(("min", "defaultRequest", "default", "max"), numbers, strict=True))
        for part in some(draw, tuple(stated), 0, 4):
            found.setdefault(part, {})[resource] = f"{stated[part]}{unit}"
    return found


def reservations(draw: Draw, names: Names) -> dict[str, Any]:
    """Reservations of a tenant, a workload kind or both, in pools that have the cards."""
    found: dict[str, Any] = {}
    if not (names.tenants or names.workloads):
        return found
    for name in some(draw, ("evaluation", "nightly"), 0, 2):
        reservation: dict[str, Any] = {}
        if names.tenants and (not names.workloads or chance(draw)):
            reservation["tenant"] = draw(st.sampled_from(names.tenants))
        if names.workloads and ("tenant" not in reservation or chance(draw)):
            reservation["workload"] = draw(st.sampled_from(names.workloads))
        requests: dict[str, Any] = {"cpu": draw(st.sampled_from([8, "500m"]))}
        if names.whole and chance(draw):
            reservation["pool"] = draw(st.sampled_from(list(names.whole)))
            requests[names.whole[reservation["pool"]]] = draw(st.integers(1, 4))
        reservation["requests"] = requests
        reservation |= draw(optional(pods=st.integers(1, 8), ttl=DURATIONS))
        found[name] = reservation
    return found
