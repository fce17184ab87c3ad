"""HyperNodes and network topology: written, read, and derived from the levels of a policy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests import writer
from policykit.manifests.shape import mapping, mappings, pairs, text, texts, whole
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.topology import Level, TopologyAffinity
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano import versions

API_VERSION = "topology.volcano.sh/v1alpha1"


class Requirement(NamedTuple):
    """A requirement on a node label."""

    key: str
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: tuple[str, ...] = ()


class Member(NamedTuple):
    """A member of a HyperNode: another HyperNode by name, or nodes. One of the selectors is set.

    `labels` and `requirements` are one selector, which selects only nodes.
    """

    kind: str
    """Node or HyperNode."""
    name: str = ""
    pattern: str = ""
    """Regular expression over node names."""
    labels: Mapping[str, str] = {}
    requirements: tuple[Requirement, ...] = ()


class HyperNode(NamedTuple):
    """Nodes that are close together, at a tier of the topology."""

    name: str
    tier: int
    """The lower, the closer."""
    members: tuple[Member, ...]
    tier_name: str = ""
    """Since 1.14; each tier has one name."""


def write(hyper_node: HyperNode) -> dict[str, Any]:
    """The object."""
    spec: dict[str, Any] = {"tier": hyper_node.tier}
    if hyper_node.tier_name:
        spec["tierName"] = hyper_node.tier_name
    spec["members"] = [_member(member) for member in hyper_node.members]
    return {
        "apiVersion": API_VERSION,
        "kind": "HyperNode",
        "metadata": {"name": hyper_node.name},
        "spec": spec,
    }


def _member(member: Member) -> dict[str, Any]:
    written: dict[str, Any] = {"type": member.kind}
    if member.name:
        written["selector"] = {"exactMatch": {"name": member.name}}
    elif member.pattern:
        written["selector"] = {"regexMatch": {"pattern": member.pattern}}
    elif member.labels or member.requirements:
        selector: dict[str, Any] = {}
        if member.labels:
            selector["matchLabels"] = dict(sorted(member.labels.items()))
        if member.requirements:
            selector["matchExpressions"] = [_requirement(each) for each in member.requirements]
        written["selector"] = {"labelMatch": selector}
    return written


def _requirement(each: Requirement) -> dict[str, Any]:
    values = {"values": list(each.values)} if each.values else {}
    return {"key": each.key, "operator": each.operator, **values}


def read(data: Mapping[str, Any]) -> HyperNode:
    """A HyperNode. Fields that are missing or have the wrong type are empty, and the tier is 0."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    return HyperNode(
        text(metadata.get("name")),
        whole(spec.get("tier")) or 0,
        tuple(_read_member(member) for member in mappings(spec.get("members"))),
        text(spec.get("tierName")),
    )


def _read_member(data: Mapping[str, Any]) -> Member:
    selector = mapping(data.get("selector"))
    by_label = mapping(selector.get("labelMatch"))
    return Member(
        text(data.get("type")),
        text(mapping(selector.get("exactMatch")).get("name")),
        text(mapping(selector.get("regexMatch")).get("pattern")),
        pairs(by_label.get("matchLabels")),
        tuple(
            Requirement(text(each.get("key")), text(each.get("operator")), texts(each.get("values")))
            for each in mappings(by_label.get("matchExpressions"))
        ),
    )


FILE = "volcano/hypernodes.yaml"
_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_JOINT = re.compile(r"[-.]*\.[-.]*")
_LONGEST = 63
_HASH = 8

Chain = tuple[tuple[str, str], ...]
"""(level, value) of a place, from its widest known level down to its own."""


class NetworkTopology(NamedTuple):
    """networkTopology of a PodGroup or a Job: how far apart its pods may run."""

    mode: str = "hard"
    """hard or soft."""
    tier: int | None = None
    tier_name: str = ""
    """Since 1.14, in place of the number: the webhook refuses both together."""


def write_network_topology(bound: NetworkTopology) -> dict[str, Any]:
    """`networkTopology`."""
    written: dict[str, Any] = {"mode": bound.mode}
    if bound.tier_name:
        written["highestTierName"] = bound.tier_name
    elif bound.tier is not None:
        written["highestTierAllowed"] = bound.tier
    return written


def read_network_topology(data: object) -> NetworkTopology | None:
    """The content of `networkTopology`; None: there is none. Its mode is hard unless it states soft."""
    if not isinstance(data, dict):
        return None
    return NetworkTopology(
        text(data.get("mode")) or "hard",
        whole(data.get("highestTierAllowed")),
        text(data.get("highestTierName")),
    )


def unsupported(version: Version, level: str) -> str:
    """A notice that a release cannot keep pods within a level."""
    return (
        f"Volcano {version} has no network topology (added in {versions.TOPOLOGY}): within one {level} is "
        "not written. Nearest: pod affinity on its label"
    )


def tiers(levels: Iterable[Level]) -> dict[str, int]:
    """Level to its tier; the narrowest is 1. A level keeps its tier even if no node has it."""
    return {level.name: number for number, level in enumerate(reversed(tuple(levels)), 1)}


def network_topology(
    within: TopologyAffinity, cluster: Cluster, version: Version, *, named: bool = True
) -> NetworkTopology | None:
    """The networkTopology that keeps pods within a level; None: the release or the policy has none.

    The tier is given by name if the generated HyperNodes have it: Volcano does not enforce an unknown
    name.
    """
    tier = tiers(cluster.levels).get(within.level)
    if tier is None or version < versions.TOPOLOGY:
        return None
    mode = "hard" if within.hard else "soft"
    if named and version >= versions.NAMED_TIERS and _stated(cluster, within.level):
        return NetworkTopology(mode, tier_name=within.level)
    return NetworkTopology(mode, tier)


def _stated(cluster: Cluster, level: str) -> bool:
    """Whether the value of a level is known for any node."""
    key = next(each.key for each in cluster.levels if each.name == level)
    return any(
        shape.labels.get(key) or pool.labels.get(key) for pool in cluster.pools for shape in pool.shapes
    )


def derived(cluster: Cluster, version: Version) -> tuple[tuple[HyperNode, ...], tuple[str, ...]]:
    """HyperNodes for every value of a level that the policy states for its nodes, and notices.

    A place is a member of the place of the next wider level that contains it. A value found in two wider
    places becomes two HyperNodes: one with two parents would stop all topology jobs.
    """
    if version < versions.TOPOLOGY:
        return (), ()
    places = _places(cluster)
    shared = _shared(places)
    keys = {level.name: level.key for level in cluster.levels}
    numbers = tiers(cluster.levels)
    names = _names(places, shared)
    below: dict[Chain, list[str]] = {}
    for chain in places:
        below.setdefault(chain[:-1], []).append(names[chain])
    found = []
    for chain in sorted(places, key=lambda chain: (-numbers[chain[-1][0]], chain)):
        within = sorted(below.get(chain, ()))
        members = [Member("HyperNode", name) for name in within]
        if places[chain] or not within:
            members.append(_nodes(chain, keys, alone=chain[-1] not in shared))
        level = chain[-1][0]
        tier_name = level if version >= versions.NAMED_TIERS else ""
        found.append(HyperNode(names[chain], numbers[level], tuple(members), tier_name))
    return tuple(found), tuple(_twice(places, shared))


def _nodes(chain: Chain, keys: Mapping[str, str], *, alone: bool) -> Member:
    """The nodes of a place: by its own label if that is enough (`alone`), else by the wider ones too."""
    level, value = chain[-1]
    if alone:
        return Member("Node", labels={keys[level]: value})
    wider = list(keys)[: list(keys).index(level)]
    there = {name for name, _ in chain}
    missing = tuple(Requirement(keys[name], "DoesNotExist") for name in wider if name not in there)
    return Member("Node", labels={keys[name]: each for name, each in chain}, requirements=missing)


def _places(cluster: Cluster) -> dict[Chain, bool]:
    """Every place of the pools' nodes, to whether nodes are in it and in no narrower one."""
    found: dict[Chain, bool] = {}
    for pool in cluster.pools:
        for shape in pool.shapes:
            labels = {**pool.labels, **shape.labels}
            steps = tuple(
                (level.name, labels[level.key]) for level in cluster.levels if labels.get(level.key)
            )
            for end in range(1, len(steps) + 1):
                chain = steps[:end]
                found[chain] = found.get(chain, False) or end == len(steps)
    return found


def _shared(places: Iterable[Chain]) -> frozenset[tuple[str, str]]:
    """(level, value) found in more than one wider place."""
    above: dict[tuple[str, str], set[Chain]] = {}
    for chain in places:
        above.setdefault(chain[-1], set()).add(chain[:-1])
    return frozenset(place for place, wider in above.items() if len(wider) > 1)


def _names(places: Iterable[Chain], shared: frozenset[tuple[str, str]]) -> dict[Chain, str]:
    """Names of HyperNodes: level and value, with the wider places if those are ambiguous."""
    found: dict[Chain, str] = {}
    taken: set[str] = set()
    for chain in sorted(places):
        steps = chain if chain[-1] in shared else chain[-1:]
        plain = ".".join(f"{level}-{value}" for level, value in steps)
        name = _JOINT.sub(".", _UNSAFE.sub("-", plain.lower())).strip("-.")
        if name != plain or len(name) > _LONGEST or name in taken:
            digest = sha256("/".join(f"{level}={value}" for level, value in chain).encode()).hexdigest()
            name = f"{name[: _LONGEST - _HASH - 1].rstrip('-.')}-{digest[:_HASH]}"
        taken.add(name)
        found[chain] = name
    return found


def _twice(places: Iterable[Chain], shared: frozenset[tuple[str, str]]) -> Iterator[str]:
    for level, value in sorted(shared):
        wider = sorted(chain[:-1] for chain in places if chain[-1] == (level, value))
        above = " and ".join(" ".join(each[-1]) if each else f"no wider level than {level}" for each in wider)
        yield (
            f"{level} {value} is in {above}: each becomes its own HyperNode, as a HyperNode can have only "
            f"one parent. Give every {level} its own value"
        )


def artifacts(cluster: Cluster, version: Version) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """`hypernodes.yaml`, if the policy has levels and its pools state where their nodes are."""
    asking = sorted(kind.name for kind in cluster.workloads.values() if kind.within)
    if not cluster.levels:
        return (), ()
    if version < versions.TOPOLOGY:
        messages = (
            f"Volcano {version} has no network topology (HyperNodes, added in {versions.TOPOLOGY}): within "
            f"of {', '.join(asking)} is not written. Nearest: pod affinity on the label of the level",
        )
        return (), messages if asking else ()
    found, notices = derived(cluster, version)
    if found:
        manifests = writer.dump_all(map(write, found))
        return (Artifact(FILE, manifests, Role.MANIFEST),), notices
    return (), _undescribed(cluster, version) if asking else ()


def _undescribed(cluster: Cluster, version: Version) -> tuple[str, ...]:
    keys = ", ".join(level.key for level in cluster.levels)
    advice = "set topology on the pools"
    if version >= versions.DISCOVERY:
        advice += f", or let the controller discover them by the labels {keys}, kubernetes.io/hostname last"
    return (f"no pool has a topology, so no HyperNodes are written: {advice}",)
