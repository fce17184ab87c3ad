"""Former names: added next to the current ones in a cluster, and read as the current ones in pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.selectors import Requirement
from policykit.model.cluster import Cluster, Renames
from policykit.model.pool import Pool, Toleration
from policykit.model.queue import Queue
from policykit.namedtuple import NamedTuple

_Names = Mapping[str, tuple[str, ...]]


class FormerNames(NamedTuple):
    """The policy's `formerly:`, each part from present name to former ones."""

    domain: _Names = {}
    usages: _Names = {}
    products: _Names = {}
    queues: _Names = {}
    name: _Names = {}


def with_former_names(cluster: Cluster, names: FormerNames) -> Cluster:
    """The cluster in which former names hold too."""
    formerly = Renames(
        dict(_keys(cluster, names.domain)),
        _values(cluster, names.usages, names.products),
        {old: new for new, olds in names.queues.items() for old in olds},
        tuple(old for olds in names.name.values() for old in olds),
    )
    tainted = {old for old, new in formerly.keys.items() if new in cluster.taint_keys}
    return cluster._replace(
        formerly=formerly,
        pools=tuple(_pool(pool, formerly) for pool in cluster.pools),
        queues=(*cluster.queues, *_queues(cluster.queues, formerly)),
        declared_keys=cluster.declared_keys | formerly.keys.keys(),
        taint_keys=cluster.taint_keys | tainted,
    )


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


def _pool(pool: Pool, formerly: Renames) -> Pool:
    """Its nodes carry the labels under both keys."""
    shapes = tuple(shape._replace(labels=_labels(shape.labels, formerly)) for shape in pool.shapes)
    return pool._replace(labels=_labels(pool.labels, formerly), shapes=shapes)


def _labels(labels: Mapping[str, str], formerly: Renames) -> dict[str, str]:
    more: dict[str, str] = {}
    for old, new in formerly.keys.items():
        if new in labels:
            values = formerly.former_values(new, labels[new])
            more[old] = values[0] if values else labels[new]
    return {**labels, **more}


def _queues(queues: tuple[Queue, ...], formerly: Renames) -> Iterable[Queue]:
    """The former queues: the share has moved, what runs there stays within the limit."""
    present = {queue.name: queue for queue in queues}
    for old, new in formerly.queues.items():
        if new in present and old not in present:
            yield present[new]._replace(name=old, weight=1, guarantee={}, deserved={})


def present_tolerations(tolerations: tuple[Toleration, ...], formerly: Renames) -> tuple[Toleration, ...]:
    """One for each, in the same order."""
    return tuple(_toleration(each, formerly) for each in tolerations)


def _toleration(toleration: Toleration, formerly: Renames) -> Toleration:
    key, value = formerly.present(toleration.key, toleration.value)
    return toleration._replace(key=key, value=value)


def present_affinity(affinity: NodeAffinity, formerly: Renames) -> NodeAffinity:
    """Selector, terms and preferences with one entry for each."""
    return NodeAffinity(
        dict(formerly.present(key, value) for key, value in affinity.selector.items()),
        None if affinity.required is None else tuple(_term(term, formerly) for term in affinity.required),
        tuple(each._replace(term=_term(each.term, formerly)) for each in affinity.preferred),
    )


def _term(term: Term, formerly: Renames) -> Term:
    return term._replace(expressions=tuple(_requirement(each, formerly) for each in term.expressions))


def _requirement(one: Requirement, formerly: Renames) -> Requirement:
    key = formerly.keys.get(one.key, one.key)
    values = tuple(dict.fromkeys(formerly.present(key, value)[1] for value in one.values))
    return one._replace(key=key, values=values)
