"""What an earlier policy wrote into an object, taken out before the present one is applied.

An object without its scheduling fields is patched with both policies. What only the earlier one writes,
and the object has, is removed; everything else stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

from policykit.errors import PolicykitError
from policykit.kube import podsets
from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch, all_patched
from policykit.manifests.path import Path, Step, dotted, lookup
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.review import review
from policykit.targets import TARGETS
from policykit.targets.workloads.apply import apply_kinds
from policykit.targets.workloads.field_patches import policy_queue
from policykit.targets.workloads.patch_options import PatchOptions

_FIELDS = ("tolerations", "schedulerName", "priorityClassName", "topologySpreadConstraints")
_ITEMS = frozenset(
    {"tolerations", "topologySpreadConstraints", "preferredDuringSchedulingIgnoredDuringExecution"}
)
"""Lists whose items are compared whole, in any order."""
_TERMS = "nodeSelectorTerms"
_ANY = "*"
_Leaf = tuple[Path, str]
"""Path, with `*` for the position of an item, and value."""


class _WrittenFields(NamedTuple):
    """What the earlier policy wrote."""

    gone: set[_Leaf]
    """What the present policy does not write."""
    kept: set[_Leaf]
    """What it writes, too."""


def removal(manifest: Manifest, before: Cluster, after: Cluster, namespace: str) -> tuple[Patch, ...]:
    """Removes from an object what `before` wrote and `after` does not write.

    Raises PolicykitError where one of several alternatives of the node affinity would be left without a
    requirement.
    """
    labelled = [one for one in podsets.pod_sets(manifest.data) if _kind(manifest, one) in before.workloads]
    if not labelled:
        return ()  # patch writes the label: nothing was patched
    bare = manifest._replace(data=all_patched(manifest.data, _strip(manifest.data)))
    queue = policy_queue(manifest.data, labelled[0], before)
    default = before.workloads[_kind(manifest, labelled[0])].queue
    card = _card(manifest, labelled[0], before, namespace)
    ours = _written(bare, before, namespace, PatchOptions(card=card, queue=queue))
    kept = _written(
        bare,
        after,
        namespace,
        PatchOptions(
            card=card if card in after.cards else "",
            queue=queue if queue != default and any(queue == one.name for one in after.queues) else "",
        ),
    )
    unknown = {
        (path, dumps(value))
        for path, value in _labels(manifest, labelled)
        if value in before.workloads and value not in after.workloads
    }
    _, patches = _removed(manifest.data, (), (), _WrittenFields((ours - kept) | unknown, ours & kept))
    return tuple(patches)


def _kind(manifest: Manifest, pod_set: PodSet) -> str:
    written = [pod_set.labels.get(WORKLOAD_KEY), manifest.labels.get(WORKLOAD_KEY)]
    return next((name for name in written if name), "")


def _labels(manifest: Manifest, pod_sets: list[PodSet]) -> Iterator[tuple[Path, str]]:
    for one in pod_sets:
        for place in ((*one.owner, "metadata", "labels"), one.places.get("labels")):
            value = lookup(manifest.data, (*place, WORKLOAD_KEY)) if place else None
            if isinstance(value, str) and place:
                yield tuple(_ANY if isinstance(step, int) else step for step in (*place, WORKLOAD_KEY)), value


def _card(manifest: Manifest, pod_set: PodSet, cluster: Cluster, namespace: str) -> str:
    pools = review(manifest, pod_set, cluster, namespace).eligible_pools or ()
    cards = {pool.card for pool in pools if pool.card}
    return cards.pop() if len(cards) == 1 else ""


def _written(bare: Manifest, cluster: Cluster, namespace: str, options: PatchOptions) -> set[_Leaf]:
    """What a policy writes into an object without scheduling fields; nothing where it refuses it."""
    try:
        patches = apply_kinds(bare, cluster, namespace, options).patches
    except PolicykitError:
        return set()
    return set(_leaves(all_patched(bare.data, patches))) - set(_leaves(bare.data))


def _strip(data: Mapping[str, Any]) -> Iterator[Patch]:
    """Removes every field that a policy writes, except the workload kind."""
    paths: dict[Path, None] = {}
    for one in podsets.pod_sets(data):
        places = [one.place(field) for field in _FIELDS if one.place(field) != one.path]
        places += [
            one.place("affinity", "nodeAffinity"),
            *([one.scheduler_path] if one.scheduler_path else []),
        ]
        places += [path for each in TARGETS for path in queues.places(data, one, each.name)]
        for metadata in ("labels", "annotations"):
            own = one.places.get(metadata)
            for place in ((*one.owner, "metadata", metadata), *((own,) if own else ())):
                there = lookup(data, place)
                keys = [key for key in there if key != WORKLOAD_KEY] if isinstance(there, dict) else []
                places += [(*place, key) for key in keys]
        paths |= dict.fromkeys(place for place in places if lookup(data, place) is not None)
    yield from (Patch("remove", path) for path in paths)


def _leaves(data: Any, path: Path = ()) -> Iterator[_Leaf]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list) and not _is_whole(path):
        for item in data:
            yield from _leaves(item, (*path, _ANY))
    else:
        for item in data if isinstance(data, list) else (data,):
            yield _leaf(path, item)


def _leaf(path: Path, value: Any) -> _Leaf:
    return path, dumps(value, sort_keys=True, default=str)


def _is_whole(path: Path) -> bool:
    """Whether the items of the list at a path are leaves: tolerations, expressions, texts."""
    return path[-1:] != () and (path[-1] in _ITEMS or path[-1] == "matchExpressions")


def _removed(data: Any, at: Path, path: Path, written: _WrittenFields) -> tuple[bool, list[Patch]]:
    """Whether everything below a path goes, and the patches that remove the part that does."""
    children: list[tuple[Step, Any, Path]]
    if isinstance(data, dict):
        children = [(key, value, (*path, key)) for key, value in data.items()]
    elif isinstance(data, list) and not _is_whole(path):
        children = [(number, item, (*path, _ANY)) for number, item in enumerate(data)]
    elif isinstance(data, list):
        found = [n for n, one in enumerate(data) if _leaf(path, one) in written.gone]
        patches = [Patch("remove", (*at, number)) for number in reversed(found)]
        return bool(found) and len(found) == len(data), patches
    else:
        return _leaf(path, data) in written.gone, []
    results = [(step, *_removed(value, (*at, step), below, written)) for step, value, below in children]
    if results and all(whole for _, whole, _ in results):
        return True, []
    former = _former(data, path, written) if path[-1:] == (_TERMS,) else frozenset()
    results = [(step, True, []) if step in former else (step, whole, below) for step, whole, below in results]
    if path[-1:] == (_TERMS,) and any(whole and step not in former for step, whole, _ in results):
        raise PolicykitError(
            f"has an alternative in {dotted(at)} with nothing but what the earlier policy wrote",
            "change the alternatives by hand",
        )
    patches = []
    for step, whole, below in reversed(results):
        patches += [Patch("remove", (*at, step))] if whole else below
    return False, patches


def _former(terms: Any, path: Path, written: _WrittenFields) -> frozenset[Step]:
    """Alternatives with a key that has another name now, where the one with the present key is there, too.

    Both have the same requirements besides those that the earlier policy wrote.
    """
    leaves = [set(_leaves(term, (*path, _ANY))) for term in terms]
    others = [frozenset(each - written.gone - written.kept) for each in leaves]
    present = {
        other
        for each, other in zip(leaves, others, strict=True)
        if each & written.kept and not each & written.gone
    }
    return frozenset(
        number
        for number, (each, other) in enumerate(zip(leaves, others, strict=True))
        if each & written.gone and other in present
    )
