"""Where things stand in data: walks that faults share."""

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.podsets import pod_sets
from policykit.kube.structure.schema import shape_of
from policykit.linter.reader import has_signs, is_marked_partial
from policykit.manifests.patch import patched
from policykit.manifests.path import Path, lookup
from policykit.placement.review import Review, review
from tests.mutation.clean import Subject
from tests.mutation.fault import Change


def walk(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value below, with its path."""
    yield path, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from walk(value, (*path, key))
    elif isinstance(data, list):
        for index, item in enumerate(data):
            yield from walk(item, (*path, index))


def named(data: Any, *keys: str) -> Iterator[tuple[Path, Any]]:
    """Values of keys of these names, wherever they stand."""
    for path, value in walk(data):
        if path and path[-1] in keys:
            yield path, value


def has_schema(subject: Subject) -> bool:
    """Whether its fields are known: about a foreign kind nothing is said."""
    manifest = subject.manifest
    known = not manifest.read_as and shape_of(manifest.api_version, manifest.kind) is not None
    return known and not manifest.holder


def is_extract(subject: Subject) -> bool:
    """Whether the file says that it is a part of something, or leaves out some of it: nothing is missing."""
    return is_marked_partial(subject.text) or has_signs(subject.text)


def at(subject: Subject, path: Path) -> Any:
    """What stands at a path; None: nothing."""
    try:
        return lookup(subject.manifest.data, path)
    except (KeyError, IndexError, TypeError):
        return None


def written(subject: Subject, field: str) -> Iterator[tuple[Path, Any]]:
    """A PodSpec field of each pod set as the manifest itself has it."""
    seen: set[Path] = set()
    for pod_set in subject.pod_sets:
        path = pod_set.place(field)
        value = at(subject, path)
        if path and path[-1] == field and value is not None and path not in seen:
            seen.add(path)
            yield path, value


def containers(subject: Subject) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for path, value in written(subject, "containers"):
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict):
                yield (*path, index), item


def limits(subject: Subject) -> Iterator[tuple[Path, str, Any]]:
    """(path of the limits, resource, amount) of every card that containers ask for."""
    for path, container in containers(subject):
        resources = container.get("resources")
        asked = resources.get("limits") if isinstance(resources, dict) else None
        for name, amount in asked.items() if isinstance(asked, dict) else ():
            if name in ("nvidia.com/gpu", "amd.com/gpu") and str(amount).isdigit() and int(amount) > 0:
                yield (*path, "resources", "limits"), name, amount


def tolerations(subject: Subject) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for path, value in written(subject, "tolerations"):
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict):
                yield (*path, index), item


def judged(subject: Subject) -> Iterator[Review]:
    """Pod sets of workload kinds with a pool meant for them, that nothing will change any more."""
    for pod_set in subject.pod_sets if subject.cluster else ():
        seen = review(subject.manifest, pod_set, subject.cluster)
        if (
            seen.workload
            and seen.eligible_pools
            and seen.is_final
            and not seen.is_system_pod
            and seen.card_resources
        ):
            yield seen


def lands(subject: Subject, seen: Review, change: Change) -> tuple[set[str], set[str]]:
    """Pools meant for a pod set that no longer take it after a change, and others that now do.

    Nothing, where its controller may still add to it then (a ServingRuntime has tolerations too), or
    where what made it a pod of its workload kind is gone: of another kind nothing of this is wrong.
    """
    data: Any = subject.manifest.data
    for patch in change.patches:
        data = patched(data, patch)
    meant = {pool.name for pool in seen.eligible_pools or ()}
    before = {pool.name for pool in seen.accepting}
    for one in pod_sets(data):
        if (one.path, one.name) == (seen.pod_set.path, seen.pod_set.name):
            changed = review(subject.manifest._replace(data=data), one, subject.cluster)
            after = {pool.name for pool in changed.accepting}
            if changed.is_final and changed.workload == seen.workload:
                return (before & meant) - after, after - before - meant
    return set(), set()


def tolerated(subject: Subject, seen: Review) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Tolerations of one pod set that the manifest itself has."""
    path = seen.pod_set.place("tolerations")
    value = at(subject, path)
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield (*path, index), item


def owned(subject: Subject, seen: Review) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Its tolerations of taints that pools of the policy carry."""
    cluster = subject.cluster
    keys = {taint.key for pool in cluster.pools for taint in pool.hard_taints} if cluster else set()
    yield from ((path, item) for path, item in tolerated(subject, seen) if item.get("key") in keys)


def expressions(subject: Subject, seen: Review, part: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Its node affinity expressions, of the required or the preferred part."""
    path = (*seen.pod_set.place("affinity"), "nodeAffinity", part)
    for rest, item in walk(at(subject, path)):
        if isinstance(item, dict) and "operator" in item and "key" in item:
            yield (*path, *rest), item


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
