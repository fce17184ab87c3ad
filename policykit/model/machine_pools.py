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
    """A NodePool of Karpenter, or a Provisioner. Locations of its fact: `name`."""

    name: str
    kind: str
    labels: Mapping[str, str] = {}
    requirements: tuple[Expression, ...] = ()
    """On labels of its nodes; Exists leaves the value to the pods."""
    taints: tuple[Taint, ...] = ()


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
    """Pods that select nodes of NodePools by name. Locations of its fact: `tolerations`."""

    names: tuple[str, ...]
    tolerations: tuple[Toleration, ...] = ()
