"""Former names: checked against the present ones."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.kube.names import dns_subdomain_problem, label_value_problem
from policykit.model.cluster import Cluster
from policykit.placement.former_names import FormerNames, with_former_names
from policykit.policy.compile.draft import Draft

_Names = Mapping[str, tuple[str, ...]]


def with_formerly(draft: Draft, cluster: Cluster) -> Cluster:
    """The cluster in which former names hold too."""
    stated = draft.policy.formerly
    if not stated.model_fields_set:
        return cluster
    usages = {pool.usage for pool in cluster.pools if pool.usage}
    products = {card.product for card in cluster.cards.values() if card.product}
    queues = {queue.name for queue in cluster.queues}
    _check(draft, "domain", stated.domain, {draft.policy.domain}, dns_subdomain_problem)
    _check(draft, "usages", stated.usages, usages, label_value_problem)
    _check(draft, "products", stated.products, products, label_value_problem)
    _check(draft, "queues", stated.queues, queues, dns_subdomain_problem)
    _check(draft, "name", stated.name, {cluster.name}, dns_subdomain_problem)
    names = FormerNames(stated.domain, stated.usages, stated.products, stated.queues, stated.name)
    return with_former_names(cluster, names)


def _check(draft: Draft, part: str, names: _Names, present: set[str], problem: object) -> None:
    """Reports names that the policy does not have, and former ones that it still has."""
    assert callable(problem)
    one = {"domain": "domain", "name": "name"}.get(part, part.removesuffix("s"))
    for new, olds in names.items():
        if new not in present:
            message = f"{one} {new} is not in the policy"
            known = ", ".join(sorted(present - {""})) or "none"
            hint = f"write the present name first: {known}"
            draft.problems.error(("formerly", part, new), message, hint, key=True)
        for number, old in enumerate(olds):
            path = ("formerly", part, new, number)
            draft.check(path, f"{one} {old!r}", problem(old))
            if old in present:
                message = f"{one} {old} is not a former name: the policy still has it"
                draft.problems.error(path, message, "remove it here, or there")
