"""Reads the pod sets of an object, according to the kinds table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.podsets import replicas, templates
from policykit.kube.podsets.kind_entry import (
    Binding,
    FieldRef,
    KindEntry,
    Template,
    Wildcard,
    hold,
    literal,
    matches,
    value,
)
from policykit.kube.podsets.podset import DeviceRequest, PodSet
from policykit.kube.podsets.table import entry
from policykit.kube.podsets.templates import Pod
from policykit.manifests.memoize import memoize_last
from policykit.manifests.path import Path


@memoize_last
def pod_sets(data: Mapping[str, Any]) -> tuple[PodSet, ...]:
    """The pod sets of an object, in the table's order; () for a kind without pods or not known.

    Never raises: a template of a wrong shape is an empty one.
    """
    known = entry(data.get("apiVersion"), data.get("kind"))
    if known is None:
        return ()
    found: list[PodSet] = []
    for template in known.templates:
        if template.makes_pods:
            for binding in bindings(data, template):
                if template.shape == "object":
                    found.extend(_embedded(data, binding, template))
                else:
                    found.extend(_sets(data, known, template, binding))
    return tuple(found)


def priority_class(data: Mapping[str, Any]) -> str:
    """The PriorityClass that an object names for its gang; empty: none, or its kind has no field for it."""
    known = entry(data.get("apiVersion"), data.get("kind"))
    found = value(data, known.priority.place) if known and known.priority else None
    return found if isinstance(found, str) else ""


def bindings(data: Any, template: Template) -> Iterator[Binding]:
    """Every match of a template that makes pods according to the table."""
    head = template.path if template.exists is None else template.exists
    rest = template.path[len(head) :]
    for path in matches(data, head):
        binding = Binding(template.path, (*path, *literal(rest)))
        if not template.only or hold(template.only, data, binding):
            yield binding


def _embedded(data: Any, binding: Binding, template: Template) -> Iterator[PodSet]:
    """Pod sets of an object inside another, with paths from the outer object."""
    inner = value(data, binding.path)
    if not isinstance(inner, dict):
        return
    base = binding.path
    for one in pod_sets(inner):
        yield one._replace(
            name=f"{template.name}{binding.suffix}.{one.name}",
            path=(*base, *one.path),
            places={f: None if place is None else (*base, *place) for f, place in one.places.items()},
            default_place=None if one.default_place is None else (*base, *one.default_place),
            scheduler_path=None if one.scheduler_path is None else (*base, *one.scheduler_path),
            devices=tuple(d._replace(path=(*base, *d.path)) for d in one.devices),
            owner=(*base, *one.owner),
        )


def _sets(data: Any, known: KindEntry, template: Template, binding: Binding) -> Iterator[PodSet]:
    """One pod set, or one for each overlay that applies to a share of its pods."""
    pod = templates.read(data, template, binding, _template_path(data, template, binding))
    asked = templates.requested(data, template, binding)
    shared: list[tuple[str, Pod, int | None, bool]] = []
    if len(known.templates) > 1:
        from policykit.kube.podsets.layers import merged  # few kinds have layers

        pod, asked = _with_bases(data, known, template, binding, pod, asked)
        for layer in _layers(known, template, "overlay"):
            for over in matches(data, binding.bound(layer.path)):
                its = Binding(layer.path, over)
                top = templates.read(data, layer, its, over)
                merged_pod = merged(top, pod, layer.merge, layer.merge_keys, main=pod)
                if layer.replicas is None:
                    pod = merged_pod
                elif top.spec or top.patches:
                    count = replicas.pods(data, known, layer, its)
                    shared.append((_named(layer, binding, its), merged_pod, count, layer.exhaustive))
    total = replicas.pods(data, known, template, binding)
    name = template.name + binding.suffix
    left = total
    for suffix, variant, count, _ in shared:
        yield _pod_set(data, known, template, binding, f"{name}.{suffix}", variant, count, asked)
        left = None if left is None or count is None else left - count
    if shared and (shared[-1][3] or (left is not None and left <= 0)):
        return
    yield _pod_set(data, known, template, binding, name, pod, left, asked)


def _layers(known: KindEntry, template: Template, use: str) -> list[Template]:
    """Layers of one use, those with a share of the pods last."""
    found = [t for t in known.templates if t.use == use and template.name in t.laid_on]
    return sorted(found, key=lambda layer: layer.replicas is not None)


def _with_bases(
    data: Any,
    known: KindEntry,
    template: Template,
    binding: Binding,
    pod: Pod,
    asked: tuple[DeviceRequest, ...],
) -> tuple[Pod, tuple[DeviceRequest, ...]]:
    """The pod over its bases; the table lists the lowest first."""
    from policykit.kube.podsets.layers import merged

    for layer in reversed(_layers(known, template, "base")):
        for path in matches(data, binding.bound(layer.path)):
            its = Binding(layer.path, path)
            pod = merged(pod, templates.read(data, layer, its, path), layer.merge, layer.merge_keys, main=pod)
            inherited = templates.requested(data, layer, its)
            asked += tuple(d for d in inherited if _counts(data, d, path, binding.path, asked))
    return pod, asked


def _counts(
    data: Any, request: DeviceRequest, base: Path, template: Path, asked: tuple[DeviceRequest, ...]
) -> bool:
    """Requests of a base count only if the template has that container and does not request the resource."""
    part = request.path[len(base)]
    if part != "podResources" and value(data, (*template, part)) is None:
        return False
    return all(d.resource != request.resource or d.path[len(template)] != part for d in asked)


def _named(layer: Template, binding: Binding, its: Binding) -> str:
    """`leaderPatch`, `subset[0]`: the layer, with its own wildcards filled in."""
    own = len([step for step in binding.bound(layer.path) if isinstance(step, Wildcard)])
    keys = [key for step, key in zip(layer.path, its.path, strict=True) if isinstance(step, Wildcard)]
    return layer.name + "".join(f"[{key}]" for key in keys[len(keys) - own :])


def _template_path(data: Any, template: Template, binding: Binding) -> Path:
    """The template's own path, or that of the named template used in its place."""
    reference = template.reference
    if reference is None or reference.listed is None or value(data, binding.path) is not None:
        return binding.path
    name = binding.value(data, reference.name)
    listed = literal(binding.bound(reference.listed))
    items = value(data, listed)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(name, str) and value(item, (reference.key,)) == name:
            return (*listed, number, *literal(reference.path))
    return binding.path


def _pod_set(
    data: Any,
    known: KindEntry,
    template: Template,
    binding: Binding,
    name: str,
    pod: Pod,
    count: int | None,
    asked: tuple[DeviceRequest, ...],
) -> PodSet:
    if pod.patches:
        from policykit.kube.podsets.layers import patched

        pod = patched(data, pod)
    scheduler_name, scheduler_path = _scheduler(data, known.scheduler, binding, pod)
    return PodSet(
        name=name,
        path=binding.path,
        spec=pod.spec,
        labels=pod.labels,
        annotations=pod.annotations,
        replicas=count,
        places=pod.places,
        default_place=pod.default_place,
        stored=template.use == "stored",
        scheduler_name=scheduler_name,
        scheduler_path=scheduler_path,
        devices=asked,
        purpose=known.purpose,
        synchronous=known.synchronous,
        per_node=template.replicas is not None and template.replicas.number.rule == "per-node",
        strategic=known.strategic,
    )


def _scheduler(data: Any, kept: FieldRef | None, binding: Binding, pod: Pod) -> tuple[str, Path | None]:
    """The effective schedulerName and its path: in the template, or in a field of the kind."""
    written = pod.spec.get("schedulerName")
    own = written if isinstance(written, str) else ""
    place = pod.place("schedulerName")
    if kept is None:
        return own, place
    field = literal(binding.bound(kept.path))
    found = value(data, field)
    beside = found if isinstance(found, str) and found else str(kept.default or "")
    if own and (kept.wins == "template" or not beside):
        return own, place
    return beside, field
