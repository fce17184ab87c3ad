"""The transition from one policy to the next: what it consists of, and its steps."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.placement.former_names import FormerNames
from policykit.plan.nodes import NodeGroup
from policykit.plan.order import Move
from policykit.plan.queues import QueueChanges

BEFORE, MERGE, DELETE, NODES, WAIT, CLEAN_UP = (
    *("before the merge", "merge", "delete", "on nodes", "wait until", "clean-up"),
)


class Step(NamedTuple):
    """Something to do, and how to see that it is done."""

    when: str
    """before the merge, merge, delete, on nodes, wait until or clean-up."""
    text: str
    commands: tuple[str, ...] = ()
    check: str = ""


class GoneObject(NamedTuple):
    """An object that the old policy generated and the new one does not."""

    kind: str
    """As kubectl takes it: Queue.scheduling.volcano.sh."""
    namespace: str
    """Empty: it has none."""
    name: str


class Transition(NamedTuple):
    """From one policy to the next."""

    before: Cluster
    after: Cluster
    groups: Sequence[NodeGroup]
    moves: Sequence[Move]
    source: str
    """What the change starts from, as `--from` takes it."""
    middle: FormerNames | None = None
    """Former names that the first merge needs; None: every merge is the policy's own."""
    restored: Sequence[str] = ()
    """Files whose old text the first merge patches, so that it keeps what the old policy wrote."""
    origin: str = "HEAD"
    """The source under a name that stays the same when branches move."""
    queues: QueueChanges = QueueChanges()
    rolls: bool = True
    """Templates of pods change."""
    replaced: int = 0
    """Objects that must be deleted and created again."""
    kept: FormerNames = FormerNames()
    """How names that go may stay beside the present ones."""
    stale: int = 0
    """Pod sets that land nowhere as their manifests are, and somewhere as `patch` writes them."""
    only_queues_go: bool = False
    """Nothing else is merged than that queues go."""
    gone: Sequence[GoneObject] = ()
    removed: bool = False
    """Some part of the policy goes, with its files."""
    protected: Sequence[str] = ()
    """Protected pools and queues that go."""
