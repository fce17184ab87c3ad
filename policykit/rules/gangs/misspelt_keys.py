"""Labels and annotations that are one slip away from a scheduler's own, which nothing reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest, texts, words
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.nearest import one_edit_apart
from policykit.targets import TARGETS
from policykit.targets.koordinator import names as koordinator
from policykit.targets.yunikorn import names as yunikorn

_SEPARATORS = re.compile(r"[-_.]")
_OTHERS = (
    *(koordinator.MATCH_POLICY, koordinator.WAITING_TIME),
    *(yunikorn.PARAMETERS, yunikorn.TASK_GROUP_NAME, yunikorn.TASK_GROUPS),
    "kueue.x-k8s.io/pod-group-total-count",
)
"""Keys that no target lists as a sign of its scheduler."""
_GANG = "gang.scheduling.koordinator.sh/"


def found_in(manifest: Manifest) -> Mapping[str, str]:
    """Misspelt keys anywhere in an object to what was meant."""
    return {key: meant for key in words(manifest.data).keys if "/" in key and (meant := meant_by(key))}


def faults(
    manifest: Manifest, pod_sets: Sequence[PodSet], misspelt: Mapping[str, str]
) -> Iterator[Violation]:
    """Those among the labels and annotations of an object and of the pods it makes."""
    for place in _places(pod_sets) if misspelt else ():
        found = lookup(manifest.data, place)
        for key in found if isinstance(found, Mapping) else ():
            if key in misspelt:
                yield Violation(
                    (*place, key),
                    f"no scheduler reads {key}",
                    f"did you mean {misspelt[key]}?",
                    Severity.WARNING,
                    key=True,
                )


def gang_keys_as_labels(manifest: Manifest, pod_sets: Sequence[PodSet]) -> Iterator[Violation]:
    """Koordinator's gang keys, which are annotations. Source: `core/gang.go` of Koordinator 1.8."""
    for place in dict.fromkeys(place for one in pod_sets if (place := one.places.get("labels"))):
        for key in texts(lookup(manifest.data, place)):
            if key.startswith(_GANG):
                yield Violation(
                    (*place, key),
                    f"{key} is a label, but koord-scheduler reads it as an annotation",
                    "move it to the annotations of the pods",
                    Severity.WARNING,
                    key=True,
                )


def gang_without_name(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    """Annotations of a gang that pods do not join."""
    if koordinator.GANG_NAME in annotations or any(
        meant_by(key) == koordinator.GANG_NAME for key in annotations
    ):
        return
    lone = next(
        (key for key in (koordinator.MIN_AVAILABLE, koordinator.TOTAL_NUMBER) if key in annotations), ""
    )
    if lone:
        yield Violation(
            (*place, lone),
            f"{lone} has no effect: {koordinator.GANG_NAME} does not say which gang the pods join",
            f"add the annotation {koordinator.GANG_NAME}",
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
    return {_plain(key): key for key in (*listed, *_OTHERS)}


def _plain(key: str) -> str:
    return _SEPARATORS.sub("", key.lower())


@lru_cache(maxsize=4096)
def meant_by(key: str) -> str:
    """The key that somebody meant; empty: it is a key itself, or unlike any."""
    known, plain = _known(), _plain(key)
    if key in known.values():
        return ""
    if plain in known:
        return known[plain]
    return next((known[each] for each in known if _close(plain, each)), "")


def _close(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) <= 1 and one_edit_apart(one, other)
