"""Whether a pod set can land in a pool, and if not, the first reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.catalogue import labels as known_labels
from policykit.kube import affinity as affinities
from policykit.kube import selectors
from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.selectors import Requirement
from policykit.kube.tolerations import of_resources, tolerates, untolerated
from policykit.manifests.memoize import memoize_beside
from policykit.model.cluster import Cluster
from policykit.model.pool import KUBE_SCHEDULER, Amounts, NodeFilters, Pool, Shape, Taint, Toleration
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.placement.card_requests import is_card_resource
from policykit.placement.eligible_pools import HAMI_PARTS, is_part, may_be_part, offers

_CORDON = Taint("node.kubernetes.io/unschedulable")
_HOSTNAME = "kubernetes.io/hostname"
_SYSTEM = frozenset({"beta.kubernetes.io/os", "kubernetes.io/os"})
_BEST_FIRST = ("accepted", "undecidable", "refused")


class Landing(NamedTuple):
    """The verdict of one pool on a pod set."""

    pool: Pool
    verdict: str
    """preferred, accepted, refused or undecidable."""
    reason: str = ""
    """unschedulable, untolerated-taint, selector, affinity or resources; unknown-label or
    unknown-sharing if undecidable; empty if accepted."""
    detail: str = ""
    """The two values that disagree, for display."""
    taint: Taint | None = None
    """The untolerated taint, if that is the reason."""
    score: int = 0
    """Sum of the weights of the pod's preferred terms that this pool matches."""

    @property
    def accepts(self) -> bool:
        return self.verdict in ("preferred", "accepted")


def land(
    cluster: Cluster,
    pool: Pool,
    tolerations: tuple[Toleration, ...],
    affinity: NodeAffinity,
    requests: Amounts,
    filters: NodeFilters = KUBE_SCHEDULER,
) -> Landing:
    """The verdict of one pool: the best verdict among its nodes.

    Reasons are checked in the order unschedulable, untolerated-taint, selector, affinity,
    resources. Source: the filters NodeUnschedulable, TaintToleration, NodeAffinity and
    NodeResourcesFit of kube-scheduler 1.36, applied to the labels and resources that are known.
    Other `filters` are those of Volcano (`allocate.predicate`, `PredicatesPlugin` 1.15) and YuniKorn
    (`tryNodes` 1.9).
    """
    if filters.skips_cordoned and pool.unschedulable:
        return Landing(pool, "refused", "unschedulable", _cordoned(cluster))
    if filters.resources_first:
        lacking = [
            _lacking_resource(cluster, pool, shape, requests) for shape in _largest_first(pool, requests)
        ]
        if lacking and all(lacking):
            return Landing(pool, "refused", "resources", lacking[0])
    tolerations = (*tolerations, *injected(pool, requests))
    if pool.unschedulable and not any(tolerates(t, _CORDON) for t in tolerations):
        return Landing(pool, "refused", "unschedulable", _cordoned(cluster))
    taint = untolerated(pool.taints, tolerations)
    if taint is not None:
        refused = Landing(pool, "refused", "untolerated-taint", f"taint {taint} is not tolerated", taint)
        if not filters.affinity_first:
            return refused
        best = best_of(cluster, pool, affinity, requests)
        return best if best.reason in ("selector", "affinity") else refused
    return best_of(cluster, pool, affinity, requests)


def best_of(cluster: Cluster, pool: Pool, affinity: NodeAffinity, requests: Amounts) -> Landing:
    """The best verdict among the pool's nodes, cordon and taints aside."""
    verdicts = [
        _nodes(cluster, pool, shape, labels, name, affinity, requests)
        for shape in _largest_first(pool, requests)
        for labels, name in _variants(cluster, pool, shape, affinity)
    ]
    if not verdicts:
        return Landing(pool, "refused", "resources", "it has no nodes")
    return min(verdicts, key=lambda v: (_BEST_FIRST.index(v.verdict), -v.score))


def injected(pool: Pool, requests: Amounts) -> Iterator[Toleration]:
    """Tolerations that admission controllers add to pods for this pool."""
    yield from pool.injects
    if pool.injects_resource_tolerations:
        yield from of_resources(requests)


def selection(cluster: Cluster, pool: Pool, affinity: NodeAffinity) -> bool | None:
    """Whether selector and required affinity admit nodes of a pool, taints aside; None if undecidable."""
    return _any(
        _admits(cluster, pool, labels, name, affinity)
        for shape in pool.shapes
        for labels, name in _variants(cluster, pool, shape, affinity)
    )


def _admits(
    cluster: Cluster, pool: Pool, labels: Mapping[str, str], name: str, affinity: NodeAffinity
) -> bool | None:
    """Whether selector and required affinity admit a node; None if undecidable."""
    selector = (
        decide(cluster, pool, labels, Requirement(key, "In", (value,)))
        for key, value in affinity.selector.items()
    )
    if affinity.required is None:
        return _all(selector)
    return _all(
        [*selector, _any(decide_term(cluster, pool, labels, name, term) for term in affinity.required)]
    )


def selected_nodes(cluster: Cluster, pool: Pool, affinity: NodeAffinity) -> Pool:
    """The pool with only those of its nodes that selector and required affinity may admit."""
    if not affinity.selector and affinity.required is None:
        return pool
    shapes = []
    for shape in pool.shapes:
        admitted = [
            name
            for labels, name in _variants(cluster, pool, shape, affinity)
            if _admits(cluster, pool, labels, name, affinity) is not False
        ]
        if len(shape.node_names) > len(admitted) > 0 and _selects_by_name(affinity):
            fewest = min(shape.minimum, len(admitted))
            shape = shape._replace(node_names=tuple(admitted), minimum=fewest, maximum=len(admitted))
        shapes += [shape] if admitted else []
    return pool._replace(shapes=tuple(shapes))


def selections(cluster: Cluster, affinity: NodeAffinity) -> Mapping[str, bool | None]:
    """Of each pool by name whether selector and required affinity admit its nodes: see `selection`."""
    return _selections(cluster, (*affinity.selector.items(),), affinity.required)


@memoize_beside  # pods of one kind are alike
def _selections(
    cluster: Cluster, selector: tuple[tuple[str, str], ...], required: tuple[Term, ...] | None
) -> Mapping[str, bool | None]:
    affinity = NodeAffinity(dict(selector), required)
    return {pool.name: selection(cluster, pool, affinity) for pool in cluster.pools}


def untolerated_by_pool(
    cluster: Cluster, tolerations: tuple[Toleration, ...], requests: Amounts
) -> Mapping[str, tuple[Taint, ...]]:
    """Of each pool by name the hard taints that the pod does not tolerate: see `untolerated_taints`."""
    return _untolerated_by_pool(cluster, tolerations, tuple([name for name in requests if "/" in name]))


@memoize_beside
def _untolerated_by_pool(
    cluster: Cluster, tolerations: tuple[Toleration, ...], extended: tuple[str, ...]
) -> Mapping[str, tuple[Taint, ...]]:
    requests = dict.fromkeys(extended, 1)
    return {pool.name: untolerated_taints(pool, tolerations, requests) for pool in cluster.pools}


def untolerated_taints(
    pool: Pool, tolerations: tuple[Toleration, ...], requests: Amounts
) -> tuple[Taint, ...]:
    """The pool's hard taints that the pod does not tolerate, even with the tolerations admission adds."""
    given = (*tolerations, *injected(pool, requests))
    return tuple(t for t in pool.hard_taints if not any(tolerates(g, t) for g in given))


def decidable(cluster: Cluster, pool: Pool, labels: Mapping[str, str], key: str) -> bool:
    """Whether the policy determines if nodes of this pool have label `key`, and with which value."""
    if key in labels or cluster.observed:
        return True
    if known_labels.on_every_node(key):
        return False
    if key in cluster.declared_keys:
        # Discovery may have set a label whose value the policy does not declare.
        card = cluster.card_of(pool)
        return card is None or key not in card.label_keys
    if cluster.complete:
        if known_labels.switches_daemons(key):
            return cluster.card_of(pool) is None
        return not known_labels.well_known(key) and not known_labels.provider(key)
    return False


def decide(cluster: Cluster, pool: Pool, labels: Mapping[str, str], requirement: Requirement) -> bool | None:
    """Whether nodes with these labels satisfy a requirement; None if undecidable."""
    if selectors.problem(requirement):
        return False
    if not decidable(cluster, pool, labels, requirement.key):
        if requirement.key == _HOSTNAME and _are_others(cluster, requirement):
            return False
        return True if _wants_linux(cluster, requirement) else None
    return selectors.matches(requirement, labels)


def _wants_linux(cluster: Cluster, requirement: Requirement) -> bool:
    """Whether it admits Linux nodes, which all nodes are unless a policy states the system of some."""
    key, operator, values = requirement
    return key in _SYSTEM and operator == "In" and "linux" in values and key not in cluster.declared_keys


def decide_term(
    cluster: Cluster, pool: Pool, labels: Mapping[str, str], name: str, term: Term
) -> bool | None:
    """Whether a node selector term admits nodes with these labels; None if undecidable."""
    if not term.expressions and not term.fields:
        return False
    answers = [decide(cluster, pool, labels, requirement) for requirement in term.expressions]
    if term.fields:
        answers.append(_has_name(cluster, labels, name, term))
    return _all(answers)


def _has_name(cluster: Cluster, labels: Mapping[str, str], name: str, term: Term) -> bool | None:
    """Whether the fields of a term admit a node; None if its name, empty here, may be one of them."""
    if name or cluster.observed:
        return affinities.term_matches(Term((), term.fields), labels, name)
    return False if any(_are_others(cluster, field) for field in term.fields) else None


def _are_others(cluster: Cluster, requirement: Requirement) -> bool:
    """Whether only nodes that the policy lists by name are admitted: not one of those without names."""
    return requirement.operator == "In" and _node_names(cluster).issuperset(requirement.values)


@memoize_beside
def _node_names(cluster: Cluster) -> frozenset[str]:
    return frozenset(name for pool in cluster.pools for shape in pool.shapes for name in shape.node_names)


def _nodes(
    cluster: Cluster,
    pool: Pool,
    shape: Shape,
    labels: Mapping[str, str],
    name: str,
    affinity: NodeAffinity,
    requests: Amounts,
) -> Landing:
    unknown = ""
    for key, value in affinity.selector.items():
        answer = decide(cluster, pool, labels, Requirement(key, "In", (value,)))
        if answer is False:
            there = _label_there(cluster, labels, key)
            return Landing(pool, "refused", "selector", f"nodeSelector {key}={value}, but {there}")
        if answer is None:
            unknown = unknown or key
    if affinity.required is not None:
        answers = [decide_term(cluster, pool, labels, name, term) for term in affinity.required]
        answer = _any(answers)
        if answer is False:
            return Landing(
                pool, "refused", "affinity", _affinity_mismatch(cluster, pool, labels, affinity.required)
            )
        if answer is None:
            unknown = unknown or _first_unknown(cluster, pool, labels, affinity.required)
    lacking = _lacking_resource(cluster, pool, shape, requests)
    if lacking:
        return Landing(pool, "refused", "resources", lacking)
    score = affinities.preference(affinity, labels, name)
    if unknown:
        others = unknown in cluster.declared_keys
        detail = f"it does not declare {unknown}" if others else f"no pool declares {unknown}"
        return Landing(pool, "undecidable", "unknown-label", detail, score=score)
    for name in sorted(HAMI_PARTS.intersection(requests)):
        known = name in shape.allocatable or not requests[name] or offers(cluster, pool, name)
        if not known and may_be_part(cluster, pool, name):
            detail = f"requests {name}, which HAMi counts, but the pool does not state sharing"
            return Landing(pool, "undecidable", "unknown-sharing", detail, score=score)
    return Landing(pool, "accepted", score=score)


def _largest_first(pool: Pool, requests: Amounts) -> list[Shape]:
    """Shapes in descending size: if none is large enough, the largest one gives the reason."""
    requested = sorted(requests)
    return sorted(pool.shapes, key=lambda s: [s.allocatable.get(r, 0) for r in requested], reverse=True)


def _variants(
    cluster: Cluster, pool: Pool, shape: Shape, affinity: NodeAffinity
) -> Iterator[tuple[Mapping[str, str], str]]:
    """Label sets of a shape's nodes; one per node name only if the pod selects by name."""
    labels = {**pool.labels, **shape.labels}
    if shape.node_names and _selects_by_name(affinity):
        for name in shape.node_names:
            # All labels of a real node are known, so the host name is not derived from its name.
            yield labels if cluster.observed else {_HOSTNAME: name, **labels}, name
    else:
        yield labels, shape.node_names[0] if len(shape.node_names) == 1 else ""


def _selects_by_name(affinity: NodeAffinity) -> bool:
    if _HOSTNAME in affinity.selector:
        return True
    terms = [*(affinity.required or ()), *(p.term for p in affinity.preferred)]
    return any(t.fields or any(r.key == _HOSTNAME for r in t.expressions) for t in terms)


def is_large_enough(cluster: Cluster, pool: Pool, requests: Amounts) -> bool:
    """Whether an empty node of some shape of the pool has what one pod requests, as far as is known."""
    return any(not _lacking_resource(cluster, pool, shape, requests) for shape in pool.shapes)


def _lacking_resource(cluster: Cluster, pool: Pool, shape: Shape, requests: Amounts) -> str:
    """The first resource, devices first, that an empty node lacks; empty if the pod fits."""
    for resource in sorted(requests, key=lambda name: ("/" not in name, name)):
        requested = requests[resource]
        if requested <= 0:
            continue
        if resource in shape.allocatable:
            there = shape.allocatable[resource]
        elif is_part(pool, resource) or may_be_part(cluster, pool, resource):
            continue
        elif cluster.observed or (
            not offers(cluster, pool, resource) and is_card_resource(resource, cluster)
        ):
            there = 0
        else:
            continue
        if requested > there:
            have = f"at most {amount_text(resource, there)}" if there else "none"
            nodes = "the node has" if cluster.observed else "its nodes have"
            return f"requests {amount_text(resource, requested)} {resource}, but {nodes} {have}"
    return ""


def _cordoned(cluster: Cluster) -> str:
    return "cordoned" if cluster.observed else "its nodes are cordoned"


def _label_there(cluster: Cluster, labels: Mapping[str, str], key: str) -> str:
    """The value of a label that nodes have, in words; a pool of a running cluster is one node."""
    nodes, have, do = ("the node", "has", "does") if cluster.observed else ("its nodes", "have", "do")
    return f"{nodes} {have} {labels[key]!r}" if key in labels else f"{nodes} {do} not have that label"


def _affinity_mismatch(
    cluster: Cluster, pool: Pool, labels: Mapping[str, str], terms: tuple[Term, ...]
) -> str:
    for term in terms:
        for requirement in term.expressions:
            if decide(cluster, pool, labels, requirement) is False:
                wanted = " ".join([requirement.key, requirement.operator, ", ".join(requirement.values)])
                key = requirement.key
                return f"required affinity {wanted.strip()}, but {_label_there(cluster, labels, key)}"
        if term.fields:
            return "required affinity selects other nodes by name"
    return "required affinity has no term that can match"


def _first_unknown(cluster: Cluster, pool: Pool, labels: Mapping[str, str], terms: tuple[Term, ...]) -> str:
    for term in terms:
        for requirement in term.expressions:
            if decide(cluster, pool, labels, requirement) is None:
                return requirement.key
    return "metadata.name"


def _all(answers: Iterable[bool | None]) -> bool | None:
    known = list(answers)
    if False in known:
        return False
    return None if None in known else True


def _any(answers: Iterable[bool | None]) -> bool | None:
    known = list(answers)
    if True in known:
        return True
    return None if None in known else False
