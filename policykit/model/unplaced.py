"""Pods that no pool accepts, and what may still change pods at admission."""

from policykit.namedtuple import NamedTuple


class UnplacedPods(NamedTuple):
    """Pods that every pool of a policy refuses for certain. Locations of its fact: `pods`."""

    namespace: str
    pools: int
    reasons: tuple[str, ...]
    """One line for each pool."""


class PodMutation(NamedTuple):
    """Something in the cluster that may add tolerations or selectors to pods."""

    namespace: str = ""
    """Whose pods it changes; empty: any."""
