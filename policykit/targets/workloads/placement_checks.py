"""Why `patch` writes no placement: malformed fields, pools that refuse it, cards that nobody offers."""

from __future__ import annotations

from policykit.errors import PolicykitError
from policykit.manifests.path import dotted, lookup
from policykit.placement.desired_placement import DesiredPlacement
from policykit.placement.eligible_pools import offers, product_of
from policykit.placement.placement_patches import malformed_field
from policykit.placement.review import Review

_REFUSED = (
    "take out what an earlier policy wrote with `policykit patch --from REV|FILE`, or correct the manifest or"
    " the policy"
)
_TOO_LARGE = "request less per pod and use more pods, or correct the sizes of the nodes in the policy"
_NO_CARD = (
    "it requests no card, so it may use only the pools of its kind's helpers: request the card under "
    "resources.limits, or take out what selects other nodes"
)


def check_shapes(reviewed: Review) -> None:
    """Raises PolicykitError instead of overwriting a value of the wrong type, such as a placeholder."""
    path = malformed_field(reviewed)
    if path:
        value = lookup(reviewed.pod_set.spec, path)
        raise PolicykitError(
            f"has {dotted(path)} {value!r}, which has the wrong type", "correct it, or fill it in first"
        )


def check_lands(reviewed: Review, want: DesiredPlacement) -> None:
    """Raises PolicykitError if every pool that the policy gives the pods refuses them nevertheless."""
    given = {pool.name for pool in want.pools}
    landings = [each for each in reviewed.landings if each.pool.name in given]
    if not landings or reviewed.may_still_change:
        return
    if all(each.verdict == "refused" for each in landings):
        reasons = "; ".join(f"{each.pool.name}: {each.reason}: {each.detail}" for each in landings)
        if all(each.reason == "resources" for each in landings):
            hint = _TOO_LARGE
        else:
            hint = _REFUSED if reviewed.card_resources or not reviewed.selects_nodes else _NO_CARD
        raise PolicykitError(f"would be refused by every pool it may use ({reasons})", hint)
    former = _former_usage(reviewed)
    if former and not any(each.accepts for each in landings):
        key = reviewed.cluster.usage_key if reviewed.cluster else ""
        raise PolicykitError(
            f"requires {former}, as an earlier policy may have written, but the usage is {key}", _REFUSED
        )


def check_unavailable(reviewed: Review) -> None:
    """Raises PolicykitError if the policy has the requested card, but not for the kind."""
    assert reviewed.cluster is not None
    assert reviewed.workload is not None
    cluster = reviewed.cluster
    offering = [p for p in cluster.pools if all(offers(cluster, p, r) for r in reviewed.card_resources)]
    if not offering and not reviewed.cluster.complete:
        return
    product = f" on product {', '.join(reviewed.products)}" if reviewed.products else ""
    requested = f"requests {', '.join(reviewed.card_resources)}{product}, which no pool of"
    if product and offering and not any(product_of(cluster, p) in reviewed.products for p in offering):
        known = ", ".join(dict.fromkeys(filter(None, (product_of(cluster, p) for p in offering))))
        raise PolicykitError(f"{requested} the policy offers", f"products of the pools: {known}")
    there = "; ".join(f"{p.name}: usage {p.usage or 'none'}, card {p.card or 'none'}" for p in offering)
    raise PolicykitError(
        f"{requested} workload kind {reviewed.workload.name} offers",
        f"pools that offer it: {there}" if offering else "no pool of the policy offers it",
    )


def _former_usage(reviewed: Review) -> str:
    """A required expression on the usage under another domain than the policy's; empty: none."""
    cluster = reviewed.cluster
    domain, slash, name = cluster.usage_key.partition("/") if cluster else ("", "", "")
    usages = {pool.usage for pool in cluster.pools} if cluster else set()
    for term in reviewed.affinity.required or ():
        for one in term.expressions:
            of_another = slash and one.key.endswith(f"/{name}") and one.key != f"{domain}/{name}"
            if of_another and one.operator == "In" and usages & set(one.values):
                return f"{one.key} In {', '.join(one.values)}"
    return ""
