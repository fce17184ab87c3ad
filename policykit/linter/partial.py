"""Recognises documents that are parts of objects: patches, fragments and excerpts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.node import Node

_COMMENT = re.compile(r"(?:^|\n)\s*#\s*policykit:\s*partial\b")
_DIRECTIVES = ("$patch", "$retainKeys")
_CONTROLLERS = frozenset(
    {"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job", "CronJob"}
)
"""Built-in kinds that require a pod template."""
_VOLCANO = frozenset({"batch.volcano.sh", "flow.volcano.sh"})
_SIGN = re.compile(r"\A\s*(?:\.{3,}|…+)\s*\Z")
_END = re.compile(r"\.\.\.(?:\s|\Z)")
_NOTHING = re.compile(r"\s*(?:#.*)?\Z")


def says_partial(text: str) -> bool:
    """Whether a file or document has the comment `# policykit: partial`."""
    return "policykit:" in text and _COMMENT.search(text) is not None


def has_directives(text: str) -> bool:
    """Whether a file may contain a document with a patch directive: one search for the whole file."""
    return "$" in text and any(directive in text for directive in _DIRECTIVES)


def has_signs(text: str) -> bool:
    """Whether a file may contain a document with dots for omitted parts: see `is_abridged`."""
    return "..." in text or "…" in text


def is_partial(manifest: Manifest, pod_sets: tuple[PodSet, ...], directives: bool = True) -> bool:
    """Whether a document has a patch directive, or is a controller with neither selector nor any image.

    A Job with a restartPolicy, which every Job must have, is complete. `directives` False: the file has no
    patch directive.

    Complete objects of kinds with containers outside a PodSpec (Argo, Spark) have no image there.
    """
    whole = all(p.default_place is not None and p.default_place[-1:] == ("spec",) for p in pod_sets)
    if manifest.kind != "Pod" and _makes_pods(manifest, pod_sets) and whole and not _has_image(pod_sets):
        spec = manifest.data.get("spec")
        if not (isinstance(spec, dict) and spec.get("selector")) and not _is_job(manifest, pod_sets):
            return True
    return directives and _has_directive(manifest.data)


def _makes_pods(manifest: Manifest, pod_sets: tuple[PodSet, ...]) -> bool:
    """Whether the kind creates pods: a patch of `replicas` has no pod template."""
    return bool(pod_sets) or (manifest.kind in _CONTROLLERS and manifest.group in ("", "apps", "batch"))


def _is_job(manifest: Manifest, pod_sets: tuple[PodSet, ...]) -> bool:
    """Whether it is a complete Job or CronJob, even if its containers lack fields.

    A patch of a Volcano Job replaces the whole list of tasks, so it must repeat the containers.
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


def is_abridged(root: Node, lines: Sequence[str], first: int, end: int) -> bool:
    """Whether the document in the lines from `first` to before `end` shows that it is an excerpt.

    It does by a value or key that is only dots, or by `...`, which ends a document in YAML, in a file whose
    documents do not begin with `---`. Comments do not count.
    """
    end = end if end > root.end.line else _last(lines, root.end.line)
    if not any("..." in line or "…" in line for line in lines[first:end]):
        return False
    if any(isinstance(scalar.data, str) and _SIGN.match(scalar.data) for scalar in _scalars(root)):
        return True
    ended = next((number for number in range(first, min(end, len(lines))) if _END.match(lines[number])), None)
    return ended is not None and _is_left_out(lines, ended)


def _last(lines: Sequence[str], first: int) -> int:
    """The line before which a document ends if the text after it cannot be parsed."""
    later = (number for number in range(first + 1, len(lines)) if lines[number].startswith("---"))
    return next(later, len(lines))


def _is_left_out(lines: Sequence[str], number: int) -> bool:
    """Whether `...` at the beginning of a line stands for omitted text, not the end of a document."""
    begins = _first(lines, 0)
    goes_on = _first(lines, number + 1) or "---"
    return not begins.startswith(("---", "%")) or not goes_on.startswith(("---", "%"))


def _first(lines: Sequence[str], start: int) -> str:
    """The first line from `start` on that is not empty; empty: all are."""
    later = (lines[number] for number in range(start, len(lines)))
    return next((line for line in later if not _NOTHING.match(line)), "")


def _scalars(root: Node) -> Iterator[Node]:
    """Keys and values; nodes that aliases share only once."""
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        entries = node.entries
        if entries is None:
            yield node
        elif id(entries) not in seen:
            seen.add(id(entries))
            if isinstance(entries, dict):
                for key, value in entries.values():
                    pending += (key, value)
            else:
                pending += entries
