"""Options of `patch` and `krm` that override the policy."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.errors import UsageError
from policykit.manifests.document import Manifest
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest

_BUILT_IN_QUEUES = ("default", "root", "root.default")


class PatchOptions(NamedTuple):
    """Overrides for the objects to patch; if empty, the policy and the manifests decide."""

    workload: str = ""
    """The workload kind, regardless of recognition."""
    card: str = ""
    """The card, if several are suitable."""
    queue: str = ""
    only: tuple[str, ...] = ()
    """KIND/NAME of the objects to patch; empty: all."""

    def names(self, manifest: Manifest) -> bool:
        """Whether `only` names an object, ignoring the case of its kind."""
        return any(key(one) == key(f"{manifest.kind}/{manifest.name}") for one in self.only)

    def selects(self, manifest: Manifest) -> bool:
        return not self.only or self.names(manifest)

    def check(self, cluster: Cluster) -> None:
        """Raises UsageError for a name that the policy does not have."""
        _known("workload kind", self.workload, cluster.workloads)
        _known("card", self.card, cluster.cards)
        if cluster.queues:
            _known("queue", self.queue, (*(queue.name for queue in cluster.queues), *_BUILT_IN_QUEUES))
        for one in self.only:
            if one.count("/") != 1 or one.startswith("/") or one.endswith("/"):
                raise UsageError(f"--only takes KIND/NAME, not {one!r}", "for example Deployment/web")

    def check_found(self, objects: Iterable[str]) -> None:
        """Raises UsageError for an object of `only` that is not among those seen."""
        seen = tuple(dict.fromkeys(objects))
        keys = {key(one) for one in seen}
        for one in self.only:
            if key(one) not in keys:
                raise UsageError(f"there is no object {one}", _suggested(one, seen))


def key(named: str) -> tuple[str, str]:
    """Comparison key of `deployment/web`."""
    kind, _, name = named.partition("/")
    return kind.lower(), name


def _known(what: str, name: str, names: Iterable[str]) -> None:
    there = tuple(dict.fromkeys(names))
    if name and name not in there:
        raise UsageError(f"the policy has no {what} {name!r}", _suggested(name, there))


def _suggested(name: str, there: tuple[str, ...]) -> str:
    near = nearest(name, there)
    if near:
        return f"did you mean {near!r}?"
    return f"choose one of {', '.join(there[:8])}{', ...' if there[8:] else ''}" if there else ""
