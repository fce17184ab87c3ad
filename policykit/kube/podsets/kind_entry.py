"""Types of the entries in the kinds table, and the template paths in which they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, cast

from policykit.manifests.path import Path, lookup
from policykit.namedtuple import NamedTuple


class Wildcard(Enum):
    """A wildcard step."""

    ITEM = "[*]"
    VALUE = "{*}"


Pattern = tuple[str | int | Wildcard, ...]
"""A path from the object's root that may contain wildcards; () is the object itself."""


@lru_cache(maxsize=1024)
def pattern(text: str) -> Pattern:
    """`spec.tasks[*].template` as steps. `[*]` is every list item, `{*}` every map value."""
    if not text:
        return ()
    wildcards = {wildcard.value: wildcard for wildcard in Wildcard}
    parts = text.replace("[*]", ".[*]").replace("{*}", ".{*}").split(".")
    return tuple(wildcards.get(part, part) for part in parts)


value = cast("Callable[[Any, Pattern], Any]", lookup)
"""The value at a path without wildcards; None: a step is missing or null."""


def matches(data: Any, path: Pattern) -> Iterator[Path]:
    """Paths of all existing values that are not null, in the order of the object."""
    for position, step in enumerate(path):
        if type(step) is Wildcard:
            head, rest = path[:position], path[position + 1 :]
            for key, item in _children(value(data, head), step):
                for below in matches(item, rest):
                    yield (*literal(head), key, *below)
            return
    if value(data, path) is not None:
        yield literal(path)


def _children(data: Any, wildcard: Wildcard) -> Iterator[tuple[str | int, Any]]:
    if wildcard is Wildcard.ITEM and isinstance(data, list):
        yield from enumerate(data)
    elif wildcard is Wildcard.VALUE and isinstance(data, dict):
        yield from data.items()


def literal(path: Pattern) -> Path:
    """The path without its wildcards, which a fully bound one has none of."""
    for step in path:
        if type(step) is Wildcard:
            return tuple([step for step in path if not isinstance(step, Wildcard)])
    return path  # type: ignore[return-value]


class Binding(NamedTuple):
    """One match of a template path: the indices and keys of its wildcards."""

    template: Pattern
    path: Path
    """The same path with every wildcard filled in."""

    def bound(self, other: Pattern) -> Pattern:
        """`other` with its wildcards filled in as far as it follows the template, step by step."""
        if self.template == self.path:
            return other  # nearly all templates have no wildcards
        shared = 0
        for mine, its in zip(self.template, other, strict=False):
            if mine != its:
                break
            shared += 1
        return (*self.path[:shared], *other[shared:])

    def value(self, data: Any, other: Pattern) -> Any:
        """The value at `other` for this match."""
        return value(data, self.bound(other))

    @property
    def suffix(self) -> str:
        """The values of the wildcards: `[0][Worker]`."""
        if self.template == self.path:
            return ""
        return "".join(
            f"[{step}]"
            for wildcard, step in zip(self.template, self.path, strict=True)
            if isinstance(wildcard, Wildcard)
        )


class FieldRef(NamedTuple):
    """The location of one value: a field, label or annotation."""

    form: str
    """field, label, annotation, pod_label, pod_annotation, namespace_annotation, or empty: none."""
    path: Pattern = ()
    """The field, or the map that contains `labels` and `annotations`."""
    key: str = ""
    """Key of the label or annotation."""
    default: str | int | None = None
    rule: str = ""
    """Rule that gives the default."""
    wanted: str | None = None
    """The value that counts as set; None: any."""
    unless: Pattern = ()
    """Nothing reads the value where the object has this."""
    wins: str = ""
    """schedulerName only: template or field, which one applies if both are set."""

    @property
    def place(self) -> Pattern:
        """Path of the value; () if it is outside the object."""
        if self.form == "field":
            return self.path
        return (*self.path, f"{self.form}s", self.key) if self.form in ("label", "annotation") else ()


class Condition(NamedTuple):
    """A condition for a template to make pods, or for a count to apply."""

    path: Pattern = ()
    allowed: tuple[Any, ...] | None = None
    """The value at `path`, or `default`, is one of these."""
    default: Any = None
    exists: bool | None = None
    """`path` exists, or does not."""
    any_of: tuple[Pattern, ...] = ()
    """One of these paths exists."""
    target: FieldRef | None = None
    """A label or annotation has the required value."""


class Number(NamedTuple):
    """A whole number of an object: at `path`, else `default`, else computed by `rule`."""

    path: Pattern | None = None
    default: int | None = None
    rule: str = ""
    inputs: tuple[Pattern, ...] = ()
    """Inputs of the rule, if the paths differ by template."""
    parent: Pattern | None = None
    """If this exists but the number is missing, `parent_default` applies."""
    parent_default: int | None = None
    less: int = 0
    """Subtracted from the number ..."""
    less_where: str = ""
    """... if the template with this name matches; empty: always."""
    lookup: Lookup | None = None


class Lookup(NamedTuple):
    """The number is in the first item of `listed` whose list `contains` includes a value."""

    listed: Pattern
    contains: Pattern
    equals: Pattern
    value: Pattern


class Replicas(NamedTuple):
    """How many pods a template makes: a number within bounds, times factors."""

    number: Number
    at_least: Number | None = None
    at_most: Number | None = None
    times: tuple[Number, ...] = ()
    override: tuple[tuple[tuple[Condition, ...], Replicas], ...] = ()


class Reference(NamedTuple):
    """A named template, used if a template's own path is missing."""

    name: Pattern
    """Path of the name."""
    listed: Pattern | None = None
    """List of the named items; None: in another object."""
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
    """Templates that a base or an overlay applies to."""
    merge: str = "strategic"
    """How it is merged: strategic, fallback, append or index."""
    merge_keys: Mapping[str, str] = {}
    """Lists that merge by a key here, but are replaced elsewhere."""
    exhaustive: bool = False
    """Overlays with a share: together they apply to every pod."""
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
    """Which pods of a kind start together, and where their minimum is set."""

    unit: str
    size: FieldRef
    members: tuple[str, ...] = ()
    """Templates that count; empty: all that make pods."""
    per: Pattern = ()
    """One gang for each match of this; (): one for the object, or for each unit of it."""
    multiplied_by: tuple[Pattern, ...] = ()
    """Numbers that multiply the gangs, not their size."""
    only: tuple[Condition, ...] = ()
    enable: FieldRef | None = None
    alternatives: tuple[FieldRef, ...] = ()
    """Where other schedulers read the size."""
    parts: Mapping[str, FieldRef] = {}
    """Paths of the minimum of a task, role, clique or group."""
    scheduler: str = ""
    """The only scheduler that reads the size; empty: the scheduler of the pods."""


class KindEntry(NamedTuple):
    """One API kind, in every version of the same shape."""

    group: str
    kind: str
    templates: tuple[Template, ...]
    purpose: str = "any"
    synchronous: bool = False
    strategic: bool = False
    cluster_scoped: bool = False
    scheduler: FieldRef | None = None
    """Paths of schedulerName outside the pod templates."""
    gang: GangFacts | None = None
    queues: Mapping[str, Mapping[str, tuple[FieldRef, ...]] | None] = {}
    """Scheduler to the metadata it reads to its locations; None: it reads nothing from this kind."""
    priority: FieldRef | None = None
    restart_policy: Mapping[str, Any] = {}
    """allowed, default, required, and path if it replaces the template's."""

    def template(self, name: str) -> Template | None:
        return next((template for template in self.templates if template.name == name), None)


def hold(conditions: Iterable[Condition], data: Any, binding: Binding) -> bool:
    """Whether all conditions hold; true for an empty list."""
    return all(_holds(condition, data, binding) for condition in conditions)


def _holds(condition: Condition, data: Any, binding: Binding) -> bool:
    if condition.any_of:
        return any(binding.value(data, path) is not None for path in condition.any_of)
    if condition.target is not None:
        return bool(binding.value(data, condition.target.place) == condition.target.wanted)
    found = binding.value(data, condition.path)
    if condition.exists is not None:
        return (found is not None) == condition.exists
    if found is None:
        found = condition.default
    return any(type(found) is type(one) and found == one for one in condition.allowed or ())
