"""What an autoscaler may create nodes of, and the nodes that pods want, for rules about whole scopes."""

from collections.abc import Mapping

from policykit.model.pool import Taint, Toleration
from policykit.namedtuple import NamedTuple


class Expression(NamedTuple):
    """On a label of nodes."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class MachinePool(NamedTuple):
    """A NodePool of Karpenter, or a Provisioner. Locations of its fact: `name`, `max_pods`."""

    name: str
    kind: str
    labels: Mapping[str, str] = {}
    requirements: tuple[Expression, ...] = ()
    """On labels of its nodes; Exists leaves the value to the pods."""
    taints: tuple[Taint, ...] = ()
    limits: Mapping[str, int] = {}
    """What all its nodes together may have at most."""
    node_class: str = ""
    max_pods: int | None = None
    """Pods on each node, if it says so itself."""


class NodeClassPods(NamedTuple):
    """A class of nodes that limits the pods on each. Locations of its fact: `max_pods`."""

    name: str
    max_pods: int


class NodeDaemons(NamedTuple):
    """A DaemonSet for every node that its pods tolerate."""

    tolerations: tuple[Toleration, ...] = ()


class KnownLabels(NamedTuple):
    """Keys of labels that nodes have by other objects."""

    keys: frozenset[str]


class WantedNodes(NamedTuple):
    """The nodes that pods select. Locations of its fact: `selector.<key>`, `affinity` and
    `card.<resource>`."""

    selector: Mapping[str, str] = {}
    terms: tuple[tuple[Expression, ...], ...] = ()
    """Of which one must match, if there are any."""
    tolerations: tuple[Toleration, ...] = ()
    cards: Mapping[str, int] = {}
    """Resources in a domain of the pod's containers, in total."""
    settled: bool = True
    """Whether nothing adds tolerations at admission."""


class NodePoolUse(NamedTuple):
    """Pods that select nodes of NodePools by name. Locations of its fact: `tolerations`, `pods`."""

    names: tuple[str, ...]
    tolerations: tuple[Toleration, ...] = ()
    pods: int = 1
    """That run at the same time, as far as it is known."""
    requests: Mapping[str, int] = {}
    """Of one pod."""
