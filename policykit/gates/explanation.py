"""Why a pod of a cluster waits, or runs where it does: everything that `why` tells."""

from __future__ import annotations

from policykit.gates.pod_gates import Answer
from policykit.model.pool import Amounts
from policykit.namedtuple import NamedTuple
from policykit.placement.room import PoolRoom

SUSPENDED = "suspended"


class QueueState(NamedTuple):
    """A queue that the pod counts in."""

    name: str
    limit: Amounts
    used: Amounts | None
    """None: nothing in the API server tells it."""


class GangState(NamedTuple):
    """The gang that the pod starts with."""

    name: str
    minimum: int | None
    pods: int
    bound: int
    phase: str = ""
    """As its scheduler has it in the group's status."""
    message: str = ""


class Step(NamedTuple):
    """What would let the pod run."""

    note: str
    command: str = ""
    """Empty: no command does it."""


class Explanation(NamedTuple):
    """About one pod, or about an object that has none."""

    name: str
    """`Pod default/chat-1`."""
    answer: Answer
    """Its pools, and the gates that it must pass."""
    made_by: str = ""
    """The topmost object that makes it, as kubectl names it: `deployments.apps/chat`; empty: nobody does."""
    alike: int = 0
    """Further pods that wait for the same."""
    phase: str = ""
    """Empty: there is no pod."""
    node: str = ""
    """Empty: it is bound to none."""
    pool: str = ""
    """The pool of its node; empty: the node is in none."""
    meant: bool = True
    """Its node is in a pool that the policy means it for."""
    held_by: tuple[str, ...] = ()
    """Scheduling gates, and suspension."""
    rooms: tuple[PoolRoom, ...] | None = ()
    """Of accepting pools; None: the pods of other namespaces may not be read."""
    queues: tuple[QueueState, ...] = ()
    gang: GangState | None = None
    scheduler: str = ""
    said: str = ""
    """The last message of its scheduler; empty: none has tried it."""
    steps: tuple[Step, ...] = ()

    @property
    def runs(self) -> bool:
        return bool(self.node)
