"""Nobody may submit to a YuniKorn queue.

Without an access list a queue admits nobody. A list on it or on any queue above it is enough; where
none of them has one, every application is rejected, even those of administrators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.yunikorn import NAME
from policykit.targets.yunikorn.configuration import access_lists
from policykit.targets.yunikorn.configuration.queues_yaml import QueueNode
from policykit.targets.yunikorn.default_partition import read
from policykit.targets.yunikorn.queue_tree import queue_paths

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: research
    - name: serving
"""

GOOD = BAD.replace("  - name: root\n", "  - name: root\n    submitacl: '*'\n")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The highest queues with no list above, on or below them. Source: core `objects/queue.go` (1.9).

    A queue that the policy closes to everybody is as it should be.
    """
    found = read(manifest, context.cluster)
    for closed in _closed(found.tree, "", _closed_by_policy(context.cluster)) if found else ():
        name = closed.queue.name
        below = " or any queue below it" if closed.children else ""
        yield Violation(
            (*closed.path, "name"),
            f"nobody can submit to queue {name}{below}: no submitacl or adminacl on it or above",
            "set submitacl: `*` for everybody, else `users groups`",
        )


def _closed_by_policy(cluster: Cluster | None) -> frozenset[str]:
    """Paths of queues that the policy closes to everybody, or to all names that YuniKorn accepts."""
    if cluster is None or "yunikorn" not in cluster.targets:
        return frozenset()
    places = queue_paths(cluster.queues)
    return frozenset(
        places[queue.name].lower()
        for queue in cluster.queues
        if queue.submit is not None
        and not {*queue.submit.users, *queue.submit.groups} - set(access_lists.invalid_names(queue.submit))
    )


def _closed(here: QueueNode, above: str, closed: frozenset[str]) -> list[QueueNode]:
    """None where somebody is let in here or everywhere below."""
    path = f"{above}{here.queue.name}".lower()
    if here.queue.submit.strip() or here.queue.admin.strip() or path in closed:
        return []
    below = [_closed(child, f"{path}.", closed) for child in here.children]
    if all(found == [child] for found, child in zip(below, here.children, strict=True)):
        return [here]
    return [each for found in below for each in found]


RULE = Rule(
    code="PK411",
    name="nobody-can-submit",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
