"""Cards of a provider that a policy does not list, where it lists only some of the pools."""

from __future__ import annotations

from policykit.catalogue import labels
from policykit.placement.eligible_pools import product_keys
from policykit.placement.label_values import label_values
from policykit.placement.policy_labels import known_values
from policykit.placement.review import Review


def is_confined(review: Review) -> bool:
    """Whether only pools of the policy take the pods."""
    return review.is_covered and not _names_unlisted_card(review)


def _names_unlisted_card(review: Review) -> bool:
    """Whether pods select a card that the provider has and no pool, so that other pools may take them."""
    cluster = review.cluster
    if cluster is None or cluster.complete:
        return False
    for key in product_keys(cluster):
        there = labels.provider_values(key)
        written = {each.value for each in label_values(review, key)} if there else set()
        if written and written.issubset(there) and written.isdisjoint(known_values(cluster, key)):
            return True
    return False
