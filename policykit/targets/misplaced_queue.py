"""Queues and applications written in places of an object where no scheduler looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping
from policykit.manifests.words import words
from policykit.targets import system_of
from policykit.targets.koordinator.names import QUOTA_NAME
from policykit.targets.volcano.names import GROUP_NAME, QUEUE_LABEL, QUEUE_NAME
from policykit.targets.yunikorn.names import APP_ID, QUEUE

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


NEITHER = "neither"


class Word(NamedTuple):
    """A key that one system reads, and what it names there."""

    system: str
    key: str
    what: str = "queue"
    form: str = ""
    """labels or annotations, where it is read as one of them alone; NEITHER: never of pods."""


class Misplaced(NamedTuple):
    """A key where it has no effect."""

    word: Word
    path: Path
    value: str
    targets: tuple[Path, ...] = ()
    """Where it counts instead, the place next to it first; empty: nowhere in this kind."""


TITLES = {"volcano": "Volcano", "yunikorn": "YuniKorn", "koordinator": "Koordinator"}
_WORDS = (
    Word("volcano", QUEUE_NAME, form="annotations"),
    Word("volcano", QUEUE_LABEL, form=NEITHER),
    Word("yunikorn", QUEUE),
    Word("yunikorn", "queue", form="labels"),
    Word("yunikorn", APP_ID, "app"),
    Word("yunikorn", "applicationId", "app", "labels"),
    Word("koordinator", QUOTA_NAME, form="labels"),
)
_KEYS = frozenset(word.key for word in _WORDS)
_BARE = frozenset({"queue", "applicationId"})
"""Anybody's words: they mean a queue only where YuniKorn is sure to place the pods."""
_OF_JOB = frozenset({"batch.volcano.sh", "flow.volcano.sh"})
"""API groups whose pods go to the queue of their job, whatever they say themselves."""
_ELSEWHERE = frozenset({"status", "volumeClaimTemplates", "volumes"})
"""Fields with metadata of other things than pods and what makes them."""


def named(manifest: Manifest) -> tuple[Path, ...]:
    """Labels and annotations that hold one of the keys at all."""
    if _KEYS.isdisjoint(words(manifest.data).keys):
        return ()
    return tuple(
        place
        for place in _maps(manifest.data, ())
        if not _KEYS.isdisjoint(mapping(lookup(manifest.data, place)))
    )


def misplaced(
    manifest: Manifest, places: Sequence[Path], pod_sets: Sequence[PodSet], cluster: Cluster | None
) -> Iterator[tuple[Misplaced, ...]]:
    """What each of these maps holds in vain for one system, in the object's order."""
    for place in places:
        order = list(mapping(lookup(manifest.data, place)))
        words = sorted((word for word in _WORDS if word.key in order), key=lambda word: order.index(word.key))
        for system in TITLES:
            words_of = [word for word in words if word.system == system]
            found = [each for word in words_of if (each := _in(place, word, manifest, pod_sets, cluster))]
            if found:
                yield tuple(found)


def _in(
    place: Path, word: Word, manifest: Manifest, pod_sets: Sequence[PodSet], cluster: Cluster | None
) -> Misplaced | None:
    """None where the key is not there, is read, or says what is said where it is read."""
    path = (*place, word.key)
    value = lookup(manifest.data, path)
    if not isinstance(value, str) or not value or is_placeholder(value):
        return None
    if not any(_serves(word, each, cluster) for each in pod_sets) or _of_pods(
        word, place, manifest, pod_sets
    ):
        return None
    if word.key == QUEUE_LABEL and any(GROUP_NAME in each.annotations for each in pod_sets):
        return None  # as Volcano itself labels the pods of its jobs
    read = [queues.read(manifest.data, each, word.system, word.what) for each in pod_sets]
    wanted = [queues.places(manifest.data, each, word.system, word.what) for each in pod_sets]
    if any(read) or any(path in paths for paths in wanted):
        return None
    best = [next((p for p in paths if p[-1] == word.key), paths[0]) for paths in wanted if paths]
    near = sorted(dict.fromkeys(best), key=lambda each: -_shared(each, path))
    inside = [each for each in near if _shared(each, path) >= len(place) - 1 > 1]
    return Misplaced(word, path, value, tuple(inside or near))


def _shared(one: Path, other: Path) -> int:
    """Steps that both have in common."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _of_pods(word: Word, place: Path, manifest: Manifest, pod_sets: Sequence[PodSet]) -> bool:
    """Whether the pods get it and are read themselves, whatever made them."""
    if (word.form and place[-1] != word.form) or (word.system == "volcano" and manifest.group in _OF_JOB):
        return False
    return any(place == each.places.get(str(place[-1])) for each in pod_sets)


def _serves(word: Word, pod_set: PodSet, cluster: Cluster | None) -> bool:
    """Whether the system places the pods; YuniKorn those with its own keys, too."""
    if pod_set.scheduler_name:
        return system_of(pod_set.scheduler_name, cluster) == word.system
    taken_over = cluster is None or "yunikorn" in cluster.targets
    return word.system == "yunikorn" and word.key not in _BARE and taken_over


def _maps(data: object, path: Path) -> Iterator[Path]:
    """Paths of all labels and annotations."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key in ("labels", "annotations") and isinstance(value, Mapping):
                yield (*path, key)
            elif isinstance(key, str) and key not in _ELSEWHERE:
                yield from _maps(value, (*path, key))
    elif isinstance(data, list):
        for number, item in enumerate(data):
            yield from _maps(item, (*path, number))


def shown(paths: Sequence[Path]) -> str:
    """Places for people: spec.queue, and of a label or annotation the map, spec.template.metadata.labels."""
    maps = (path[:-1] if path[-2:-1] in (("labels",), ("annotations",)) else path for path in paths)
    return " or ".join(dict.fromkeys(map(dotted, maps)))
