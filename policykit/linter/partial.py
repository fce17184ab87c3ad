"""Documents that are a part of an object: patches and fragments, from which nothing is missing."""

from __future__ import annotations

import re

from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest

_COMMENT = re.compile(r"(?:^|\n)\s*#\s*policykit:\s*partial\b")
_DIRECTIVES = ("$patch", "$retainKeys")
_CONTROLLERS = frozenset(
    {"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job", "CronJob"}
)
"""Built-in kinds that are nothing without a pod template."""
_VOLCANO = frozenset({"batch.volcano.sh", "flow.volcano.sh"})


def says_partial(text: str) -> bool:
    """Whether a file or document says `# policykit: partial`."""
    return "policykit:" in text and _COMMENT.search(text) is not None


def has_directives(text: str) -> bool:
    """Whether a file can hold a document with a patch directive: one search for the whole file."""
    return any(directive in text for directive in _DIRECTIVES)


def has_signs(text: str) -> bool:
    """Whether a file can hold a document with a sign for what is left out: see `abridged`."""
    return "..." in text or "…" in text


def is_partial(manifest: Manifest, pod_sets: tuple[PodSet, ...], directives: bool = True) -> bool:
    """A document with a patch directive, or a controller with neither selector nor any image.

    A Job is no patch where its pods say when they restart: that every Job has to say.
    `directives` False: the file is known to hold none.

    Kinds that keep their containers elsewhere than in a PodSpec (Argo, Spark) show no image
    there when they are whole.
    """
    whole = all(p.default_place is not None and p.default_place[-1:] == ("spec",) for p in pod_sets)
    if manifest.kind != "Pod" and _makes_pods(manifest, pod_sets) and whole and not _has_image(pod_sets):
        spec = manifest.data.get("spec")
        if not (isinstance(spec, dict) and spec.get("selector")) and not _is_job(manifest, pod_sets):
            return True
    return directives and _has_directive(manifest.data)


def _makes_pods(manifest: Manifest, pod_sets: tuple[PodSet, ...]) -> bool:
    """A patch of `replicas` alone has no pod template at all."""
    return bool(pod_sets) or (manifest.kind in _CONTROLLERS and manifest.group in ("", "apps", "batch"))


def _is_job(manifest: Manifest, pod_sets: tuple[PodSet, ...]) -> bool:
    """A whole Job or CronJob, whatever is missing in its containers.

    Of Volcano's the list of tasks is replaced as a whole: a patch has to repeat its containers too.
    """
    if manifest.group in _VOLCANO:
        return any(one.spec.get("containers") for one in pod_sets)
    return manifest.group == "batch" and any(one.spec.get("restartPolicy") for one in pod_sets)


def _has_image(pod_sets: tuple[PodSet, ...]) -> bool:
    for pod_set in pod_sets:
        containers = pod_set.spec.get("containers")
        if isinstance(containers, list) and any(isinstance(c, dict) and c.get("image") for c in containers):
            return True
    return False


def _has_directive(data: object) -> bool:
    pending: list[object] = [data]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if any(directive in value for directive in _DIRECTIVES):
                return True
            pending.extend(value.values())
        elif isinstance(value, list) and id(value) not in seen:
            seen.add(id(value))
            pending.extend(value)
    return False
