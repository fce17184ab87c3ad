"""The command line of a kube-scheduler in a pod."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.kube.command_line import arguments
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_PROGRAM = "kube-scheduler"
_FLAG = re.compile(r"--?([a-z][a-z0-9-]*)(?:[=\s](.*))?\Z", re.DOTALL)
_TAG = re.compile(r":v?1\.([0-9]{1,3})\.[0-9]+")
_STOCK = frozenset({"kube-scheduler", "kube-scheduler-amd64", "kube-scheduler-arm64"})
"""Last parts of the names of images whose tag is the release of Kubernetes."""

REMOVED_FLAGS: Mapping[str, int] = {
    **dict.fromkeys(("algorithm-provider", "hard-pod-affinity-symmetric-weight", "scheduler-name"), 22),
    **dict.fromkeys(("policy-config-file", "policy-configmap", "policy-configmap-namespace"), 23),
    "use-legacy-policy-config": 23,
    **dict.fromkeys(("address", "port"), 24),
    **dict.fromkeys(("add-dir-header", "alsologtostderr", "log-backtrace-at", "log-dir", "log-file"), 26),
    **dict.fromkeys(("log-file-max-size", "logtostderr", "one-output", "skip-headers"), 26),
    **dict.fromkeys(("skip-log-headers", "stderrthreshold"), 26),
    **dict.fromkeys(("lock-object-name", "lock-object-namespace"), 29),
}
"""Flag to the first minor release of Kubernetes 1 without it. Source: the changelogs of 1.22 to 1.29."""


def without_flag(name: str, minor: int | None) -> str:
    """The message about a removed flag; `minor`: the release of the scheduler, None: unknown."""
    program = _PROGRAM if minor is None else f"{_PROGRAM} 1.{minor}"
    return f"{program} has no flag --{name}, which 1.{REMOVED_FLAGS[name]} removed: it does not start"


_SECOND = re.compile(r"(?:\s|\A)(--[a-z][a-z0-9-]*)(?:[=\s]|\Z)")


class Flag(NamedTuple):
    name: str
    value: str
    """Empty: none written."""

    @property
    def second(self) -> str:
        """A flag that is written in the value, so that it is not a flag: --v; empty: none."""
        found = _SECOND.search(self.value)
        return found[1] if found else ""


class Command(NamedTuple):
    """A container that runs kube-scheduler."""

    flags: tuple[tuple[Flag, Path], ...]
    minor: int | None
    """Minor release of Kubernetes 1 that the image's tag or the policy states; None: neither does."""

    def has(self, name: str) -> bool:
        return any(flag.name == name for flag, _ in self.flags)

    def value(self, name: str) -> str:
        """Of the last flag of the name; empty: there is none."""
        return next((flag.value for flag, _ in reversed(self.flags) if flag.name == name), "")

    def place(self, name: str) -> Path:
        """Of the last flag of the name. Raises StopIteration if there is none."""
        return next(path for flag, path in reversed(self.flags) if flag.name == name)


def commands(pod_set: PodSet, cluster: Cluster | None) -> Iterator[Command]:
    """Each container whose command, or image without a command, is kube-scheduler."""
    for field, position, container in containers(pod_set.spec):
        image = container.get("image")
        name = image if isinstance(image, str) else ""
        words = [(word, pod_set.place(field, position, *at)) for word, at in arguments(container)]
        start = next((at for at, (word, _) in enumerate(words) if _runs(word)), None)
        if start is None and (container.get("command") or not _is_stock(name)):
            continue
        yield Command(tuple(_flags(words[0 if start is None else start + 1 :])), _minor(name, cluster))


def _runs(word: str) -> bool:
    return word.rpartition("/")[2] == _PROGRAM


def _is_stock(image: str) -> bool:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0] in _STOCK


def _flags(words: list[tuple[str, Path]]) -> Iterator[tuple[Flag, Path]]:
    for at, (word, path) in enumerate(words):
        found = _FLAG.match(word)
        if found is None:
            continue
        value = found[2]
        if value is None:
            after = words[at + 1][0] if at + 1 < len(words) else ""
            value = after if after and not after.startswith("-") else "true"
        yield Flag(found[1], value), path


def _minor(image: str, cluster: Cluster | None) -> int | None:
    """A second scheduler's own image has tags of its own."""
    stated = _TAG.search(image) if _is_stock(image) else None
    if stated:
        return int(stated[1])
    version = cluster.kubernetes_version if cluster else ""
    parts = version.lstrip("v").split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else None
