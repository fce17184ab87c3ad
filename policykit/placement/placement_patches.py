"""Patches that give a pod set its desired placement and keep its other constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import affinity as affinities
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
from policykit.placement.landing import is_large_enough
from policykit.placement.review import Review

_REQUIRED = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
_PREFERRED = ("affinity", "nodeAffinity", PREFERRED)
_FIRST_VALUE = ("preference", "matchExpressions", 0, "values", 0)
_SHAPES: Mapping[Path, type] = {
    ("nodeSelector",): dict,
    ("tolerations",): list,
    ("affinity",): dict,
    ("affinity", "nodeAffinity"): dict,
    ("affinity", "nodeAffinity", REQUIRED): dict,
    _REQUIRED: list,
    _PREFERRED: list,
}


def candidate_cards(review: Review) -> tuple[str, ...]:
    """The cards that a pod set of a known workload kind could have, if it names none of several."""
    cards = possible_cards(review) if review.workload is not None else ()
    return cards if len(cards) > 1 else ()


def possible_cards(review: Review) -> tuple[str, ...]:
    """The cards that the policy allows pods which request cards to have, if nodes with them are large enough.

    All that it allows if no node is: then the request is the mistake, not the card.
    """
    cluster, pools = review.cluster, review.eligible_pools if review.card_resources else ()
    if cluster is None or not pools:
        return ()
    large = [pool for pool in pools if is_large_enough(cluster, pool, review.requests)]
    return tuple(dict.fromkeys(pool.card for pool in large or pools))


def desired_for(review: Review) -> DesiredPlacement | None:
    """The desired placement of a pod set.

    None if its workload kind is unknown, if it has no eligible pools, or if several cards are
    possible and it names none: the choice is the user's.
    """
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not review.eligible_pools:
        return None
    cards = possible_cards(review) if review.card_resources else ("",)
    if len(cards) != 1:
        return None
    return desired_placement(cluster, workload, cluster.cards.get(cards[0]))


def placement_patches(review: Review, want: DesiredPlacement) -> tuple[Patch, ...]:
    """Patches for the manifest, to apply in order; none if the placement is already as desired.

    Missing tolerations are appended, required expressions are added to every existing term and
    replace a node selector on the usage, and preferred usages get their weights. All other
    tolerations, requirements and preferences are kept.
    """
    if review.cluster is not None and review.cluster.formerly.on_nodes:
        # What is written decides what is missing: the review has present names in place of former ones.
        written = tolerations.read(review.pod_set.spec.get("tolerations"))
        review = review._replace(tolerations=written, affinity=affinities.read(review.pod_set.spec))
        return (*_both_names(review, want), *_preferred(review, want), *_tolerations(review, want))
    changes = (*_selector(review, want), *_required(review, want), *_preferred(review, want))
    return (*changes, *_tolerations(review, want))


def is_placement_editable(review: Review) -> bool:
    """Whether all placement fields can be edited in the manifest.

    If the manifest has no template and no containers, the controller of the kind generates the
    template: one with only placement fields would be invalid.
    """
    pod_set = review.pod_set
    absent = pod_set.default_place is not None and lookup(review.manifest.data, pod_set.path) is None
    if absent and not pod_set.spec.get("containers"):
        return False
    return all(is_editable(review, field) for field in ("nodeSelector", "affinity", "tolerations"))


def is_editable(review: Review, field: str) -> bool:
    """Whether the kind has its own path for a PodSpec field, and the value there is what the pods get."""
    pod_set = review.pod_set
    if field in pod_set.places and pod_set.places[field] is None:
        return False
    if pod_set.default_place is None and field not in pod_set.places:
        return False
    return lookup(review.manifest.data, pod_set.place(field)) == pod_set.spec.get(field)


def malformed_field(review: Review) -> Path | None:
    """The first placement field with the wrong type, for example a placeholder; None if there is none."""
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
    """Removes pairs of the node selector that the required expressions replace."""
    replaced = _replaced_keys(review, want)
    place = review.pod_set.place("nodeSelector")
    if replaced and len(replaced) == len(review.pod_set.spec.get("nodeSelector") or ()):
        yield Patch("remove", place)
        return
    for key in replaced:
        yield Patch("remove", (*place, key))


def _both_names(review: Review, want: DesiredPlacement) -> Iterator[Patch]:
    """Terms with the present names and terms with the former ones, each with all else that is required.

    They take the place of terms, and of pairs of the node selector, on the same keys.
    """
    wanted = (want.required, *want.alternatives)
    keys = {key for term in wanted for key, _ in term}
    if not keys:
        return
    replaced = [key for key in review.affinity.selector if key in keys]
    whole = len(replaced) == len(review.pod_set.spec.get("nodeSelector") or ())
    selector = review.pod_set.place("nodeSelector")
    if replaced:
        yield from (
            [Patch("remove", selector)] if whole else [Patch("remove", (*selector, key)) for key in replaced]
        )
    place = review.pod_set.place(*_REQUIRED)
    there = lookup(review.manifest.data, place)
    terms = [term for term in there if isinstance(term, dict)] if isinstance(there, list) else [{}]
    made: list[Any] = []
    for rest in (_without(term, keys) for term in terms):
        for one in wanted:
            listed = [*rest.get("matchExpressions", ()), *(expression(key, values) for key, values in one)]
            term = {**rest, "matchExpressions": listed}
            made += [term] if term not in made else []
    if made != there:
        yield Patch("add", place, made)


def _without(term: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    """A term without its `In` expressions on some keys."""
    kept = [one for one in _expressions(term) if not any(_is_in(one, key) for key in keys)]
    rest = {key: value for key, value in term.items() if key != "matchExpressions"}
    return {**rest, "matchExpressions": kept} if kept else rest


def _replaced_keys(review: Review, want: DesiredPlacement) -> list[str]:
    """Keys selected with another value than desired, or a usage with only one of several."""
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
    selected = set(review.affinity.selector).difference(_replaced_keys(review, want))
    lacking = [(key, values) for key, values in want.required if key not in selected]
    place = review.pod_set.place(*_REQUIRED)
    terms = lookup(review.manifest.data, place)
    if not isinstance(terms, list):
        if lacking:
            expressions = [expression(key, values) for key, values in lacking]
            yield Patch("add", place, [{"matchExpressions": expressions}])
        return
    lacking = [(key, values) for key, values in lacking if not _admit_exactly(terms, key, values)]
    for position, term in enumerate(terms):
        # An empty term matches nothing; adding an expression would change that.
        if isinstance(term, dict) and (term.get("matchExpressions") or term.get("matchFields")):
            for key, values in lacking:
                yield from _in_term((*place, position), term, key, values, key == _usage_key(review))


def _admit_exactly(terms: list[Any], key: str, values: tuple[str, ...]) -> bool:
    """Whether the terms, which are alternatives, admit exactly these values together."""
    admitted = [_admitted(term, key) for term in terms]
    return all(admitted) and set().union(*admitted) == set(values)


def _admitted(term: object, key: str) -> set[str]:
    """Values that all `In` expressions of a term on the key have in common."""
    named = [set(_values(one)) for one in _expressions(term) if _is_in(one, key)]
    return set.intersection(*named) if named else set()


def _expressions(term: object) -> list[Any]:
    there = term.get("matchExpressions") if isinstance(term, dict) else None
    return there if isinstance(there, list) else []


def _is_in(one: object, key: str) -> bool:
    return isinstance(one, dict) and (one.get("key"), one.get("operator")) == (key, "In")


def _values(one: Mapping[str, Any]) -> list[str]:
    listed = one.get("values")
    return [value for value in listed if isinstance(value, str)] if isinstance(listed, list) else []


def _in_term(
    place: Path, term: Mapping[str, Any], key: str, values: tuple[str, ...], whole: bool
) -> Iterator[Patch]:
    """Restricts the `In` expressions of a term to these values (`whole`: all of them), or adds one."""
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
    usages = [_single_usage(one, _usage_key(review)) for one in there]
    weights = {value: weight for weight, _, value in want.preferred}
    lacking = [entry for entry in entries if _single_usage(entry, _usage_key(review)) not in usages]
    heavy = {position for position, one in enumerate(there) if _weight(one) >= min(weights.values())}
    allowed = dict(want.required).get(_usage_key(review), ())
    mistaken = [
        position
        for position, value in enumerate(usages)
        if value and value not in weights and (position in heavy or value not in allowed)
    ]
    for position, value in enumerate(usages):
        if value in weights:
            yield from _set_weight((*place, position), there[position], weights[value])
    for position, entry in zip(mistaken, lacking, strict=False):
        usage = _single_usage(entry, _usage_key(review))
        yield Patch("replace", (*place, position, *_FIRST_VALUE), usage)
        yield from _set_weight((*place, position), there[position], weights[usage])
    yield from (Patch("add", (*place, APPEND), entry) for entry in lacking[len(mistaken) :])
    for position in reversed(mistaken[len(lacking) :]):
        if position in heavy:
            yield Patch("remove", (*place, position))


def _set_weight(at: Path, entry: Mapping[str, Any], weight: int) -> Iterator[Patch]:
    if entry.get("weight") != weight:
        yield Patch("add", (*at, "weight"), weight)


def _weight(entry: object) -> int:
    weight = lookup(entry, ("weight",))
    return weight if isinstance(weight, int) else 0


def _single_usage(entry: object, key: str) -> str:
    """The usage that a preferred term selects if it has no other condition; else empty."""
    preference = lookup(entry, ("preference",))
    if not isinstance(preference, dict) or set(preference) != {"matchExpressions"}:
        return ""
    listed = _expressions(preference)
    if len(listed) != 1 or not _is_in(listed[0], key) or lookup(listed[0], ("values", 1)) is not None:
        return ""
    return next(iter(_values(listed[0])), "")
