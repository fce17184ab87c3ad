"""What the kinds table says about a kind, typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.kube.podsets.walk import Pattern


class Target(NamedTuple):
    """A place that holds one value: a field, or a label or annotation."""

    form: str
    """field, label, annotation, pod_label, pod_annotation, namespace_annotation, or empty: none."""
    path: Pattern = ()
    """The field, or the map that holds `labels` and `annotations`."""
    key: str = ""
    """Key of the label or annotation."""
    default: str | int | None = None
    rule: str = ""
    """Rule that gives the default."""
    wanted: str | None = None
    """The value that counts as set; None: any."""
    wins: str = ""
    """schedulerName only: template or field, whichever counts when both are written."""

    @property
    def place(self) -> Pattern:
        """Where the value itself stands; () for what lies outside the object."""
        if self.form == "field":
            return self.path
        return (*self.path, f"{self.form}s", self.key) if self.form in ("label", "annotation") else ()


class Condition(NamedTuple):
    """Something that must hold for a template to make pods, or a count to apply."""

    path: Pattern = ()
    allowed: tuple[Any, ...] | None = None
    """The value at `path`, or `default`, is one of these."""
    default: Any = None
    exists: bool | None = None
    """Something, or nothing, stands at `path`."""
    any_of: tuple[Pattern, ...] = ()
    """Something stands at one of these."""
    target: Target | None = None
    """A label or annotation has its wanted value."""


class Number(NamedTuple):
    """A whole number that an object states: at `path`, else `default`, else what `rule` gives."""

    path: Pattern | None = None
    default: int | None = None
    rule: str = ""
    inputs: tuple[Pattern, ...] = ()
    """What the rule reads, where the paths differ by template."""
    parent: Pattern | None = None
    """Where this exists but the number is missing, `parent_default` counts."""
    parent_default: int | None = None
    less: int = 0
    """Taken off the number ..."""
    less_where: str = ""
    """... where the template of this name matches; empty: always."""
    lookup: Lookup | None = None


class Lookup(NamedTuple):
    """The number stands in the first item of `listed` whose list `contains` holds a value."""

    listed: Pattern
    contains: Pattern
    equals: Pattern
    value: Pattern


class Replicas(NamedTuple):
    """How many pods a template makes: a number, brought between bounds, times factors."""

    number: Number
    at_least: Number | None = None
    at_most: Number | None = None
    times: tuple[Number, ...] = ()
    override: tuple[tuple[tuple[Condition, ...], Replicas], ...] = ()


class Reference(NamedTuple):
    """A named template, used where a template's own path is missing."""

    name: Pattern
    """Path of the name."""
    listed: Pattern | None = None
    """List of the named items; None: it is another object."""
    key: str = ""
    path: Pattern = ()
    """The template inside the item."""


class Template(NamedTuple):
    """One pod template of a kind."""

    name: str
    path: Pattern
    shape: str = "podTemplate"
    """podTemplate, podSpec, partial or object."""
    use: str = "pods"
    """pods, stored (another object makes the pods), base or overlay."""
    laid_on: tuple[str, ...] = ()
    """Templates that a base lies under, or an overlay over."""
    merge: str = "strategic"
    """How it is laid: strategic, fallback, append or index."""
    merge_keys: Mapping[str, str] = {}
    """Lists that merge by a key here and are replaced elsewhere."""
    exhaustive: bool = False
    """Overlays with a share: together they touch every pod."""
    exists: Pattern | None = None
    only: tuple[Condition, ...] = ()
    reference: Reference | None = None
    replicas: Replicas | None = None
    label_maps: tuple[Pattern, ...] | None = None
    """Maps that become pod labels, later ones win; None: as the shape has them."""
    annotation_maps: tuple[Pattern, ...] | None = None
    fields: Mapping[str, Pattern | None] = {}
    """Partial shapes: PodSpec field to its path below the template; None: the kind has none."""
    devices: tuple[tuple[str, Pattern], ...] = ()
    """(form, path) of device requests outside the containers."""

    @property
    def makes_pods(self) -> bool:
        return self.use in ("pods", "stored")


class GangFacts(NamedTuple):
    """What of a kind starts together, and where its least size is written."""

    unit: str
    size: Target
    members: tuple[str, ...] = ()
    """Templates that count; empty: all that make pods."""
    per: Pattern = ()
    """One gang for each match of this; (): one for the object, or for each unit of it."""
    multiplied_by: tuple[Pattern, ...] = ()
    """Numbers that make more gangs of the same size, not larger ones."""
    only: tuple[Condition, ...] = ()
    enable: Target | None = None
    alternatives: tuple[Target, ...] = ()
    """Where other schedulers read the size."""
    parts: Mapping[str, Target] = {}
    """Where the minimum of a task, role, clique or group stands."""
    scheduler: str = ""
    """The one scheduler that reads the size; empty: whichever runs the kind."""


class Entry(NamedTuple):
    """One API kind, in every version of the same shape."""

    group: str
    kind: str
    templates: tuple[Template, ...]
    purpose: str = "any"
    synchronous: bool = False
    strategic: bool = False
    cluster_scoped: bool = False
    scheduler: Target | None = None
    """Where the kind keeps schedulerName beside the pod templates."""
    gang: GangFacts | None = None
    queues: Mapping[str, Mapping[str, tuple[Target, ...]] | None] = {}
    """Scheduler to what it reads to the places; None: the kind offers nothing to it."""
    priority: Target | None = None
    restart_policy: Mapping[str, Any] = {}
    """allowed, default, required, and path where it takes the place of the template's."""

    def template(self, name: str) -> Template | None:
        return next((template for template in self.templates if template.name == name), None)
