"""Lists that replace other lists as a whole, and tolerations that are lost or inherited that way."""

from __future__ import annotations

from policykit.model.pool import Toleration
from policykit.namedtuple import NamedTuple


class ListField(NamedTuple):
    """A list. Locations of its fact: `list`."""

    group: str
    kind: str
    namespace: str
    """Empty: none written."""
    name: str
    field: str
    """Its path in words: `spec.template.spec.tolerations`."""
    items: tuple[str, ...]
    """Each item as JSON, or for named items `name` and the names of their fields."""
    named: bool = False
    patch: bool = False
    """Written by a patch."""


class TolerationTemplate(NamedTuple):
    """An object that others refer to, and the tolerations it gives to a part of them."""

    kind: str
    namespace: str
    """Empty for kinds without one."""
    name: str
    part: str
    """The job, worker or predictor that gets them."""
    tolerations: tuple[Toleration, ...]


class TolerationOverride(NamedTuple):
    """A list that replaces inherited tolerations."""

    tolerations: tuple[Toleration, ...]
    inherited: tuple[Toleration, ...]
    """Those it replaces, if the same object states them."""
    inherited_from: str
    """Their path in words."""
    kinds: tuple[str, ...] = ()
    """Kinds of the Template it inherits from; empty: none, the object states all."""
    namespace: str = ""
    name: str = ""
    part: str = ""
