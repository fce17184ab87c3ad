"""The changes that give a pod set the placement it should have, and keep all else it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import tolerations
from policykit.kube.affinity import PREFERRED, REQUIRED
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path, lookup
from policykit.placement.desired_placement import (
    DesiredPlacement,
    affinity_data,
    desired_placement,
    expression,
)
from policykit.placement.review import Review

_REQUIRED = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
_PREFERRED = ("affinity", "nodeAffinity", PREFERRED)
_LONE_VALUE = ("preference", "matchExpressions", 0, "values", 0)
_SHAPES: Mapping[Path, type] = {
    ("nodeSelector",): dict,
    ("tolerations",): list,
    ("affinity",): dict,
    ("affinity", "nodeAffinity"): dict,
    ("affinity", "nodeAffinity", REQUIRED): dict,
    _REQUIRED: list,
    _PREFERRED: list,
}


def desired_for(review: Review) -> DesiredPlacement | None:
    """What the policy wants for a pod set of a workload kind.

    None where nothing recognised it, where no pool is meant for it, and where several cards
    would do and it states none: which one is for a person to say.
    """
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not review.eligible_pools:
        return None
    cards = (
        dict.fromkeys(pool.card for pool in review.eligible_pools) if review.card_resources else {"": None}
    )
    if len(cards) != 1:
        return None
    return desired_placement(cluster, workload, cluster.cards.get(next(iter(cards))))


def placement_patches(review: Review, want: DesiredPlacement) -> tuple[Patch, ...]:
    """Patches relative to the manifest, to be made in order; none where all is as wanted.

    Tolerations that lack are appended; required expressions hold in every term there is;
    a node selector on the usage gives way to them; preferred usages get their weights.
    Whatever else the pods tolerate, require or prefer stays. Empty too where the kind has
    no place of its own for these fields, or takes them from elsewhere.
    """
    changes = (*_selector(review, want), *_required(review, want), *_preferred(review, want))
    return (*changes, *_tolerations(review, want))


def is_placement_editable(review: Review) -> bool:
    """Whether the fields of placement stand where the kind keeps them, as the pods get them.

    A template that is not written at all, and gets its containers from nowhere, is made up by
    the kind's controller: writing one with placement alone would be refused.
    """
    pod_set = review.pod_set
    absent = pod_set.default_place is not None and lookup(review.manifest.data, pod_set.path) is None
    if absent and not pod_set.spec.get("containers"):
        return False
    return all(is_editable(review, field) for field in ("nodeSelector", "affinity", "tolerations"))


def is_editable(review: Review, field: str) -> bool:
    """Whether a PodSpec field stands, or would stand, where the kind keeps it, as the pods get it."""
    pod_set = review.pod_set
    if field in pod_set.places and pod_set.places[field] is None:
        return False
    if pod_set.default_place is None and field not in pod_set.places:
        return False
    return lookup(review.manifest.data, pod_set.place(field)) == pod_set.spec.get(field)


def malformed_field(review: Review) -> Path | None:
    """The first field of placement that is not of its shape, a placeholder for one; None: all are."""
    for path, shape in _SHAPES.items():
        value = lookup(review.pod_set.spec, path)
        if value is not None and not isinstance(value, shape):
            return path
    return None


def _tolerations(review: Review, want: DesiredPlacement) -> Iterator[Patch]:
    place = review.pod_set.place("tolerations")
    lacking = [
        tolerations.to_dict(one)
        for one in want.tolerations
        if not any(tolerations.covers(there, one) for there in review.tolerations)
    ]
    if isinstance(review.pod_set.spec.get("tolerations"), list):
        yield from (Patch("add", (*place, APPEND), one) for one in lacking)
    elif lacking:
        yield Patch("add", place, lacking)


def _selector(review: Review, want: DesiredPlacement) -> Iterator[Patch]:
    """Pairs of the node selector that the required expressions take the place of."""
    replaced = _replaced(review, want)
    place = review.pod_set.place("nodeSelector")
    if replaced and len(replaced) == len(review.pod_set.spec.get("nodeSelector") or ()):
        yield Patch("remove", place)
        return
    for key in replaced:
        yield Patch("remove", (*place, key))


def _replaced(review: Review, want: DesiredPlacement) -> list[str]:
    """Keys selected with a value that is not wanted, or the usage with one of several."""
    selector = review.affinity.selector
    return [
        key
        for key, values in want.required
        if key in selector
        and (selector[key] not in values or (len(values) > 1 and key == _usage_key(review)))
    ]


def _usage_key(review: Review) -> str:
    return review.cluster.usage_key if review.cluster else ""


def _required(review: Review, want: DesiredPlacement) -> Iterator[Patch]:
    selected = set(review.affinity.selector).difference(_replaced(review, want))
    lacking = [(key, values) for key, values in want.required if key not in selected]
    place = review.pod_set.place(*_REQUIRED)
    terms = lookup(review.manifest.data, place)
    if not isinstance(terms, list):
        if lacking:
            expressions = [expression(key, values) for key, values in lacking]
            yield Patch("add", place, [{"matchExpressions": expressions}])
        return
    lacking = [(key, values) for key, values in lacking if not _among_them(terms, key, values)]
    for position, term in enumerate(terms):
        # An empty term matches nothing: with an expression in it, it would.
        if isinstance(term, Mapping) and (term.get("matchExpressions") or term.get("matchFields")):
            for key, values in lacking:
                yield from _in_term((*place, position), term, key, values, key == _usage_key(review))


def _among_them(terms: list[Any], key: str, values: tuple[str, ...]) -> bool:
    """Whether ORed terms admit exactly these values between them, each some of them."""
    admitted = [_admitted(term, key) for term in terms]
    return all(admitted) and set().union(*admitted) == set(values)


def _admitted(term: object, key: str) -> set[str]:
    """Values that every `In` of a term on the key names; empty where there is no such value."""
    named = [set(_values(one)) for one in _expressions(term) if _is_in(one, key)]
    return set.intersection(*named) if named else set()


def _expressions(term: object) -> list[Any]:
    there = term.get("matchExpressions") if isinstance(term, Mapping) else None
    return there if isinstance(there, list) else []


def _is_in(one: object, key: str) -> bool:
    return isinstance(one, Mapping) and (one.get("key"), one.get("operator")) == (key, "In")


def _values(one: Mapping[str, Any]) -> list[str]:
    listed = one.get("values")
    return [value for value in listed if isinstance(value, str)] if isinstance(listed, list) else []


def _in_term(
    place: Path, term: Mapping[str, Any], key: str, values: tuple[str, ...], whole: bool
) -> Iterator[Patch]:
    """A term's own `In` on the key says all these values (`whole`), or some; else one is added."""
    if not isinstance(term.get("matchExpressions") or [], list):
        return
    found = False
    for position, one in enumerate(_expressions(term)):
        if _is_in(one, key):
            found = True
            yield from _in_list((*place, "matchExpressions", position, "values"), one, values, whole)
    if not found:
        yield Patch("add", (*place, "matchExpressions", APPEND), expression(key, values))


def _in_list(at: Path, one: Mapping[str, Any], values: tuple[str, ...], whole: bool) -> Iterator[Patch]:
    listed = _values(one)
    if not set(listed) & set(values) or len(listed) != len(one["values"]):
        yield Patch("add", at, list(values))
        return
    if whole:
        yield from (Patch("add", (*at, APPEND), value) for value in values if value not in listed)
    for position in reversed(range(len(listed))):
        if listed[position] not in values:
            yield Patch("remove", (*at, position))


def _preferred(review: Review, want: DesiredPlacement) -> Iterator[Patch]:
    if not want.preferred:
        return
    place = review.pod_set.place(*_PREFERRED)
    there = lookup(review.manifest.data, place)
    entries = affinity_data(want)[PREFERRED]
    if not isinstance(there, list) or not there:
        yield Patch("add", place, entries)
        return
    alone = [_lone_usage(one, _usage_key(review)) for one in there]
    weights = {value: weight for weight, _, value in want.preferred}
    lacking = [entry for entry in entries if _lone_usage(entry, _usage_key(review)) not in alone]
    heavy = {position for position, one in enumerate(there) if _weight(one) >= min(weights.values())}
    allowed = dict(want.required).get(_usage_key(review), ())
    misled = [
        position
        for position, value in enumerate(alone)
        if value and value not in weights and (position in heavy or value not in allowed)
    ]
    for position, value in enumerate(alone):
        if value in weights:
            yield from _weighing((*place, position), there[position], weights[value])
    for position, entry in zip(misled, lacking, strict=False):
        usage = _lone_usage(entry, _usage_key(review))
        yield Patch("replace", (*place, position, *_LONE_VALUE), usage)
        yield from _weighing((*place, position), there[position], weights[usage])
    yield from (Patch("add", (*place, APPEND), entry) for entry in lacking[len(misled) :])
    for position in reversed(misled[len(lacking) :]):
        if position in heavy:
            yield Patch("remove", (*place, position))


def _weighing(at: Path, entry: Mapping[str, Any], weight: int) -> Iterator[Patch]:
    if entry.get("weight") != weight:
        yield Patch("add", (*at, "weight"), weight)


def _weight(entry: object) -> int:
    weight = lookup(entry, ("weight",))
    return weight if isinstance(weight, int) else 0


def _lone_usage(entry: object, key: str) -> str:
    """The one usage a preferred term is about, where it is about nothing else; else empty."""
    preference = lookup(entry, ("preference",))
    if not isinstance(preference, Mapping) or set(preference) != {"matchExpressions"}:
        return ""
    listed = _expressions(preference)
    if len(listed) != 1 or not _is_in(listed[0], key) or lookup(listed[0], ("values", 1)) is not None:
        return ""
    return next(iter(_values(listed[0])), "")
