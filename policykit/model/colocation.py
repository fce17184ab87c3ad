"""Pods that get their class from a profile, for rules about whole scopes."""

from collections.abc import Mapping

from policykit.namedtuple import NamedTuple

Requirements = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Label key, operator and values."""


class DeclaredProfile(NamedTuple):
    """A ClusterColocationProfile with what it selects by labels."""

    name: str
    namespaces: Requirements = ()
    pods: Requirements = ()


class ProfiledPods(NamedTuple):
    """Pods with a label for profiles, and no class of their own. Locations of its fact: `labels.<key>`."""

    namespace: str
    labels: Mapping[str, str] = {}
