"""Labels and annotations that nothing reads: misspellings of a scheduler's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.nearest import nearest, one_edit_apart
from policykit.targets import GANG_ANNOTATIONS, TARGETS

_OF_CONTROLLERS = (
    "alpha.jobset.sigs.k8s.io/exclusive-topology",
    "leaderworkerset.sigs.k8s.io/exclusive-topology",
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology",
)
"""Read by controllers that place groups of pods. Source: `pkg/constants` and `api` of JobSet (0.10) and
LeaderWorkerSet (0.8)."""
_WRITTEN = {
    "kai.scheduler/min-member": "kai.scheduler/batch-min-member",
    "kai.scheduler/queue-name": "kai.scheduler/queue",
    "kueue.x-k8s.io/local-queue": "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/queue": "kueue.x-k8s.io/queue-name",
    "scheduling.k8s.io/group": "scheduling.k8s.io/group-name",
    "scheduling.volcano.sh/queue": "scheduling.volcano.sh/queue-name",
    "volcano.sh/queue": "volcano.sh/queue-name",
    "yunikorn.apache.org/applicationId": "yunikorn.apache.org/app-id",
    "yunikorn.apache.org/queue-name": "yunikorn.apache.org/queue",
}
"""Keys that are unlike what was meant in more than a letter, but can mean nothing else."""
_READ = frozenset({"scheduling.volcano.sh/group-name"})
"""Keys that are one of the known ones but for their domain, and are read."""
_SEPARATORS = re.compile(r"[-_.]")
OF_KUBERAY = ("ray.io/gang-scheduling-enabled", "ray.io/scheduler-name")
"""Labels of an object, by which KubeRay makes the groups of a scheduler. Source:
`controllers/ray/utils/constant.go` (1.5)."""
_LONG, _LIKENESS = 16, 0.9
"""From this length of a name on, one in the right domain may differ in more than one letter."""
_LEADING = 2
"""Labels at the start of a domain that say what a key is about, such as `quota.scheduling`."""
_ENDS = ("k8s.io", "kubernetes.io", "koordinator.sh", "volcano.sh")
"""Domains of schedulers and of Kubernetes, whose keys are taken for each other's."""


def found_in(manifest: Manifest) -> Mapping[str, str]:
    """Misspelt keys anywhere in an object to what was meant."""
    return {key: meant for key in words(manifest.data).keys if "/" in key and (meant := meant_by(key))}


def violations(
    manifest: Manifest, pod_sets: Sequence[PodSet], misspelt: Mapping[str, str]
) -> Iterator[Violation]:
    """Those among the labels and annotations of an object and of the pods it makes."""
    for place in _places(pod_sets) if misspelt else ():
        found = lookup(manifest.data, place)
        for key in found if isinstance(found, dict) else ():
            if key in misspelt:
                yield Violation(
                    (*place, key),
                    f"no scheduler reads {key}",
                    f"did you mean {misspelt[key]}?",
                    Severity.WARNING,
                    key=True,
                )


def _places(pod_sets: Sequence[PodSet]) -> Iterator[Path]:
    places: list[Path] = [("metadata", "labels"), ("metadata", "annotations")]
    for one in pod_sets:
        places += [place for field in ("labels", "annotations") if (place := one.places.get(field))]
    yield from dict.fromkeys(places)


@cache
def _known() -> Mapping[str, str]:
    """Keys without their separators to how they are written."""
    listed = (key.key for target in TARGETS for key in target.keys if "/" in key.key)
    labels = sorted(label for target in TARGETS for label in target.labels)
    others = (*OF_KUBERAY, *_OF_CONTROLLERS, *labels, *sorted(GANG_ANNOTATIONS))
    return {_plain(key): key for key in (*listed, *others)}


def _plain(key: str) -> str:
    return _SEPARATORS.sub("", key.lower())


@lru_cache(maxsize=4096)
def meant_by(key: str) -> str:
    """The key that somebody meant; empty: it is a key itself, or unlike any."""
    known, plain = _known(), _plain(key)
    if key in known.values() or key in _READ:
        return ""
    if key in _WRITTEN:
        return _WRITTEN[key]
    if plain in known:
        return known[plain]
    near = next((known[each] for each in known if _close(plain, each)), "")
    return near or _alike(key) or _of_another_domain(key)


def _of_another_domain(key: str) -> str:
    """The same key of another scheduler: quota.scheduling.sigs.k8s.io/name for that of Koordinator."""
    domain, _, name = key.rpartition("/")
    parts = domain.split(".")
    if not domain.endswith(_ENDS):
        return ""
    for other in _known().values():
        there, _, same = other.rpartition("/")
        if same == name and _begin_alike(parts, there.split("."), "-" in name):
            return other
    return ""


def _begin_alike(one: Sequence[str], other: Sequence[str], distinct: bool) -> bool:
    """Domains with the same start; for a key of a name that says what it is, the first label is enough."""
    if min(len(one), len(other)) > _LEADING + 1:
        return one[:_LEADING] == other[:_LEADING]
    return distinct and one[0] == other[0]


def _alike(key: str) -> str:
    """A long name of the same domain, such as one with the end of another word."""
    domain, _, name = key.rpartition("/")
    if len(name) < _LONG:
        return ""
    names = tuple(each.rpartition("/")[2] for each in _known().values() if each.rpartition("/")[0] == domain)
    found = nearest(name, tuple(each for each in names if len(each) >= _LONG), _LIKENESS)
    return f"{domain}/{found}" if found else ""


def _close(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) <= 1 and one_edit_apart(one, other)
