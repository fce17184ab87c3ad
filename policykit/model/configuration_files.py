"""Configurations of programs in files meant for objects."""

from policykit.namedtuple import NamedTuple


class MisplacedConfiguration(NamedTuple):
    """A document that is a program's configuration, in a file. Locations of its fact: `kind`."""

    kind: str
    among_objects: bool = False
    """Other documents of its file are objects."""


class ListedFile(NamedTuple):
    """An entry of `resources` of a kustomization, relative to its folder. It has no locations."""

    path: str


class ClusterOfProvisioner(NamedTuple):
    """A cluster that a program makes, which reads configurations among the objects of the cluster. It has no
    locations."""

    program: str
