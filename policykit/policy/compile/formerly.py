"""Former names: checked, and laid beside the present ones in pools and queues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.kube.names import dns_subdomain_problem, label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.formerly import Formerly
from policykit.model.pool import Pool
from policykit.model.queue import Queue
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
    formerly = Formerly(
        dict(_keys(cluster, stated.domain)),
        _values(cluster, stated.usages, stated.products),
        {old: new for new, olds in stated.queues.items() for old in olds},
        tuple(old for olds in stated.name.values() for old in olds),
    )
    return cluster._replace(
        formerly=formerly,
        pools=tuple(_pool(pool, formerly) for pool in cluster.pools),
        queues=(*cluster.queues, *_queues(cluster.queues, formerly)),
        declared_keys=cluster.declared_keys | formerly.keys.keys(),
        taint_keys=cluster.taint_keys
        | {old for old, new in formerly.keys.items() if new in cluster.taint_keys},
    )


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


def _keys(cluster: Cluster, domains: _Names) -> Iterable[tuple[str, str]]:
    """Former key to present key, of every label and taint under the domain."""
    keys = sorted(cluster.declared_keys | cluster.taint_keys | {level.key for level in cluster.levels})
    for new, olds in domains.items():
        for key in keys:
            if key.startswith(f"{new}/"):
                yield from ((f"{old}/{key.removeprefix(f'{new}/')}", key) for old in olds)


def _values(cluster: Cluster, usages: _Names, products: _Names) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for key, names in (
        (cluster.usage_key, usages),
        *((card.product_key, products) for card in cluster.cards.values()),
    ):
        olds = {old: new for new, former in names.items() for old in former}
        if key and olds:
            found[key] = olds
    return found


def _pool(pool: Pool, formerly: Formerly) -> Pool:
    """Its nodes carry the labels under both keys."""
    shapes = tuple(shape._replace(labels=_labels(shape.labels, formerly)) for shape in pool.shapes)
    return pool._replace(labels=_labels(pool.labels, formerly), shapes=shapes)


def _labels(labels: Mapping[str, str], formerly: Formerly) -> dict[str, str]:
    more: dict[str, str] = {}
    for old, new in formerly.keys.items():
        if new in labels:
            values = formerly.former_values(new, labels[new])
            more[old] = values[0] if values else labels[new]
    return {**labels, **more}


def _queues(queues: tuple[Queue, ...], formerly: Formerly) -> Iterable[Queue]:
    """The former queues: the share has moved, what runs there stays within the limit."""
    present = {queue.name: queue for queue in queues}
    for old, new in formerly.queues.items():
        if new in present and old not in present:
            yield present[new]._replace(name=old, weight=1, guarantee={}, deserved={})
