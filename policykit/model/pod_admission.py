"""What changes pods at admission, RuntimeClasses among it, and pods that every pool refuses."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.pool import Toleration
from policykit.namedtuple import NamedTuple


class UnplacedPods(NamedTuple):
    """Pods that every pool of a policy refuses for certain. Locations of its fact: `pods`."""

    namespace: str
    pools: int
    reasons: tuple[str, ...]
    """One line for each pool."""
    labels: Mapping[str, str] = {}


class PodMutation(NamedTuple):
    """Something in the cluster that may add tolerations or selectors to pods."""

    namespace: str = ""
    """Whose pods it changes; empty: any."""
    name: str = ""
    """Of the object that says so, with its kind, for display."""
    selects: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """What the labels of the pods must meet: key, operator and values."""


class RuntimeClass(NamedTuple):
    """What a RuntimeClass adds to the pods that name it."""

    name: str
    selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    overhead: Mapping[str, str] = {}
    """Resource to quantity, as written."""
    handler: str = ""
    """What the container runtime of a node calls it."""


class RuntimeClassUse(NamedTuple):
    """Pods that name a RuntimeClass. Locations of its fact: `name`, `overhead`, and
    `nodeSelector.KEY` of each key."""

    name: str
    selector: Mapping[str, str] = {}
    overhead: Mapping[str, str] = {}


class PrivilegedPods(NamedTuple):
    """Pods that a pod security standard forbids. Locations of its fact: `cause`."""

    namespace: str
    causes: tuple[str, ...]
    """What it forbids of them, for display."""
