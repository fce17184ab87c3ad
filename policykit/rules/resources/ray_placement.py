"""What Ray never places, because no pod of its cluster is large enough: for `processes-exceed-cards`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from policykit.kube import requests
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import digits, mapping, numbered, text, whole
from policykit.model.cluster import Cluster
from policykit.model.quantity import amount
from policykit.namedtuple import NamedTuple
from policykit.placement.card_requests import card_resources_in, has_unknown_amounts

_SERVE: Path = ("spec", "serveConfigV2")
_MILLI = 1000


class _Room(NamedTuple):
    """The most of something that one pod of the cluster has."""

    most: int
    unit: str
    option: str
    """Of ray_actor_options."""
    entrypoint: Path


def never_placed(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """Replicas of Ray Serve and entrypoints that need more than any pod of the Ray cluster has.

    Sources: `RayActorOptionsSchema` of Ray Serve, and the job submission of Ray (2.46)."""
    config = lookup(manifest.data, _SERVE)
    stated = [lookup(manifest.data, path) for path in (_GPUS, _CPUS)]
    sets = pod_sets(manifest.data) if isinstance(config, str) or any(stated) else ()
    groups = [each for each in sets if not _GROUPS.isdisjoint(each.path)]
    rooms = [*_rooms(manifest, groups, cluster)] if groups else []
    for room in rooms:
        asked = _amount(lookup(manifest.data, room.entrypoint))
        if asked > room.most:
            yield Violation(
                room.entrypoint,
                f"the entrypoint needs {asked:g} {room.unit}, but no pod of the Ray cluster has more than "
                f"{room.most}: it is never started",
                f"request more {room.unit} in a worker group",
            )
    if isinstance(config, str) and rooms:
        yield from _replicas(config, rooms)


_GROUPS = frozenset({"headGroupSpec", "workerGroupSpecs"})
_GPUS: Path = ("spec", "entrypointNumGpus")
_CPUS: Path = ("spec", "entrypointNumCpus")


def _rooms(manifest: Manifest, groups: Sequence[PodSet], cluster: Cluster | None) -> Iterator[_Room]:
    """Without cards, or without a limit and a request, Ray counts what the machine has."""
    if not any(has_unknown_amounts(one, cluster) for one in groups):
        cards = max(_cards_of(manifest, one, cluster) for one in groups)
        if cards:
            yield _Room(cards, "cards", "num_gpus", _GPUS)
    processors = [_processors_of(manifest, one) for one in groups]
    if None not in processors:
        yield _Room(max(each or 0 for each in processors), "processors", "num_cpus", _CPUS)


def _replicas(config: str, rooms: Sequence[_Room]) -> Iterator[Violation]:
    """A placement group asks for several pods."""
    for document in parse(config):
        data = document.root.data if document.root is not None and not document.problem else None
        for number, application in numbered(lookup(data, ("applications",))):
            for position, each in numbered(application.get("deployments")):
                for room in rooms if each.get("placement_group_bundles") is None else ():
                    path: Path = ("ray_actor_options", room.option)
                    asked = _amount(lookup(each, path))
                    if asked > room.most:
                        name = text(each.get("name")) or "a deployment"
                        yield Violation(
                            _SERVE,
                            f"a replica of {name} needs {asked:g} {room.unit}, but no pod of the Ray cluster "
                            f"has more than {room.most}: it is never placed",
                            f"request more {room.unit} in a worker group, or use placement_group_bundles",
                            inside=("applications", number, "deployments", position, *path),
                        )


def _amount(written: object) -> float:
    return written if isinstance(written, int | float) and not isinstance(written, bool) else 0


def _cards_of(manifest: Manifest, pod_set: PodSet, cluster: Cluster | None) -> int:
    """As Ray counts them: as it is told, else the limit of its container."""
    told = _told(manifest, pod_set, "num-gpus")
    asked = requests.effective(pod_set.spec, pod_set.devices)
    return sum(asked[name] for name in card_resources_in(asked, cluster)) if told is None else told


def _processors_of(manifest: Manifest, pod_set: PodSet) -> int | None:
    """As it is told, else the limit of the first container or its request, rounded up; None: of the machine.

    Source: `addDefaultRayNodeConfig` and what it calls in KubeRay (1.4)."""
    group = lookup(manifest.data, pod_set.path[:-1])
    if lookup(group, ("resources",)) is not None:
        return None
    if lookup(group, ("rayStartParams", "num-cpus")) is not None:
        return _told(manifest, pod_set, "num-cpus")
    for _, _, container in requests.containers(pod_set.spec):
        stated = mapping(container.get("resources"))
        for field in ("limits", "requests"):
            written = mapping(stated.get(field)).get("cpu")
            if written is not None:
                counted = amount("cpu", written)
                return None if counted is None else math.ceil(counted / _MILLI)
        return None
    return None


def _told(manifest: Manifest, pod_set: PodSet, option: str) -> int | None:
    written = lookup(manifest.data, (*pod_set.path[:-1], "rayStartParams", option))
    return whole(written) if whole(written) is not None else digits(written)
