"""What a check finds, and the queues it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.yunikorn.configuration.limits import Limit
from policykit.targets.yunikorn.configuration.partition import Partition
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue


class Problem(NamedTuple):
    """Something YuniKorn refuses, or that fails once it runs."""

    path: Path
    """In the text of queues.yaml."""
    rule: str
    """Short name of the rule, stable: acl, queue-name, guaranteed-sum, ..."""
    message: str
    help: str = ""
    """What to do; what is refused has its words in `advice`."""
    severity: Severity | None = None
    """Where it differs from that of its linter rule."""
    key: bool = False
    """The key at `path` is what is wrong, not its value."""


class Located(NamedTuple):
    """A queue, and where it stands. `path` of a root that YuniKorn inserts is its partition's."""

    queue: Queue
    path: Path
    limits_path: Path
    children: tuple[Located, ...] = ()

    def walk(self) -> Iterator[Located]:
        """This one and all below, a queue before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


def located(partition: Partition, path: Path) -> Located:
    """The tree as YuniKorn sees it: a root of its own where needed, partition limits on a root without."""
    top = (*path, "queues")
    if partition.inserted_root:
        children = _children(partition.queues or (), top)
        root = Queue(ROOT, parent=True, limits=partition.limits, queues=partition.queues or ())
        return Located(root, path, (*path, "limits"), children)
    found = _located((partition.queues or ())[0], (*top, 0))
    limits, limits_path = _root_limits(found, partition.limits, path)
    queue = found.queue._replace(parent=True, limits=limits)
    return found._replace(queue=queue, limits_path=limits_path)


def _root_limits(root: Located, own: tuple[Limit, ...], path: Path) -> tuple[tuple[Limit, ...], Path]:
    if own and not root.queue.limits:
        return own, (*path, "limits")
    return root.queue.limits, root.limits_path


def _located(queue: Queue, path: Path) -> Located:
    return Located(queue, path, (*path, "limits"), _children(queue.queues, (*path, "queues")))


def _children(queues: tuple[Queue, ...], path: Path) -> tuple[Located, ...]:
    return tuple(_located(child, (*path, number)) for number, child in enumerate(queues))
