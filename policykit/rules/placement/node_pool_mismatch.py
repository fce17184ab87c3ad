"""Pods select a NodePool of Karpenter, or instances of a cloud, that cannot run them.

Karpenter creates a node of a NodePool only if its labels, requirements and taints agree with all that the
pods select and tolerate, and if the instances it may create have the cards that the pods request. A label
other than Karpenter's own is on its nodes only if the NodePool gives it to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from policykit.catalogue import cards, labels, machines, resources
from policykit.catalogue.machines import Machine
from policykit.kube import selectors, tolerations
from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.machine_pools import Expression, KnownLabels, MachinePool, WantedNodes
from policykit.model.severity import Severity
from policykit.model.shared_cards import PluginConfiguration
from policykit.nearest import Names, nearest
from policykit.placement.policy_labels import is_for_unlisted_nodes
from policykit.targets.nodes.machine_pool_facts import (
    INSTANCE_TYPES,
    NOW_CALLED,
    POOL_KEYS,
    is_chosen,
)

BAD = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: gpu
spec:
  template:
    metadata:
      labels: {example.com/role: training}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
      - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g4ad]}
---
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  nodeSelector: {example.com/role: training}
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
      limits: {nvidia.com/gpu: 1}
"""

GOOD = BAD.replace("[g4ad]", "[g5, g6]")

_TYPE = INSTANCE_TYPES[0]
_FAMILIES = ("karpenter.k8s.aws/instance-family", "eks.amazonaws.com/instance-family")
_CATEGORIES = ("karpenter.k8s.aws/instance-category", "eks.amazonaws.com/instance-category")
_SIZES = ("karpenter.k8s.aws/instance-size", "eks.amazonaws.com/instance-size")
_SKU = "karpenter.azure.com/sku-name"
_OF_KARPENTER = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/windows-build",
    "topology.kubernetes.io/",
    *INSTANCE_TYPES,
)
"""Keys, and starts of keys, that Karpenter knows of each instance, beside those of providers."""
_SHOWN = 4
_MOST = 20
"""Different NodePools with one label, up to which each is tried."""
_COMMON = frozenset({"", "false", "no", "true", "yes"})
"""Values that labels of any meaning have."""


class _Pools:
    """The NodePools of a scope, by the labels that their nodes have."""

    def __init__(self, pools: Sequence[MachinePool]) -> None:
        self.names = Names(pool.name for pool in pools)
        self.given: dict[str, str] = {}
        """The last value of each label, for suggestions."""
        self.keys: set[str] = set()
        self._by_label: dict[tuple[str, str], dict[object, MachinePool]] = {}
        """Label to the different pools that have it: several clusters may have the same one."""
        self._open: dict[str, dict[object, MachinePool]] = {}
        """Key to the pools that leave the value to the pods, in whole or in part."""
        for pool in pools:
            own = {key: value for key, value in pool.labels.items() if key not in POOL_KEYS}
            kind = (*sorted(own.items()), *pool.requirements, *pool.taints)
            pairs = [*pool.labels.items()]
            pairs += [
                (one.key, value) for one in pool.requirements if one.operator == "In" for value in one.values
            ]
            for pair in pairs:
                self._by_label.setdefault(pair, {}).setdefault(kind, pool)
            for one in pool.requirements:
                if one.operator != "In":
                    self._open.setdefault(one.key, {}).setdefault(kind, pool)
            self.given |= own
            self.keys |= {*pool.labels, *(one.key for one in pool.requirements)}
        self._with_value = {value: key for key, value in self.given.items()}
        self.labels = Names(self.given)

    def named(self, wanted: WantedNodes) -> Sequence[MachinePool]:
        """Those with a label that the pods select and that only such nodes are known to have."""
        pairs = [*wanted.selector.items()]
        for one in wanted.terms[0] if len(wanted.terms) == 1 else ():
            pairs += [(one.key, value) for value in one.values if one.operator == "In"]
        by_name = [pair for pair in pairs if pair[0] in POOL_KEYS]
        chosen = by_name or [
            (key, value) for key, value in pairs if is_chosen(key) and key not in INSTANCE_TYPES
        ]
        found: dict[object, MachinePool] = {}
        for pair in chosen:
            found |= self._by_label.get(pair, {})
        for key, _ in chosen if found else ():
            found |= self._open.get(key, {})
        return tuple(found.values())

    def likely(self, key: str, value: str) -> str:
        """The key that may be meant: one that is spelled alike, or that has the value; empty: none."""
        near = self.labels.nearest(key)
        if near and nearest(key.rpartition("/")[2], (near.rpartition("/")[2],)):
            return near
        return "" if value.lower() in _COMMON or value.isdecimal() else self._with_value.get(value, "")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Source: `pkg/scheduling` of Karpenter (0.32 to 1.8): labels without known values never match."""
    located = scope.of(MachinePool)
    pools = _Pools([] if any(one.partial for one in located) else [one.value for one in located])
    shared = bool(scope.of(PluginConfiguration))
    known = pools.keys | {key for one in scope.of(KnownLabels) for key in one.value.keys}
    for wanted in scope.of(WantedNodes):
        if not (pools.keys or wanted.value.cards) or _is_open(wanted.value):
            continue
        named = pools.named(wanted.value)
        if not named:
            yield from _direct(wanted, shared=shared)
            if pools.keys and scope.complete and context.cluster is None:
                yield from _nowhere(scope, wanted, pools, known)
        elif len(named) <= _MOST and (
            scope.complete or any(key in wanted.value.selector for key in POOL_KEYS)
        ):
            yield from _refused(wanted, named, shared=shared)


def _is_open(wanted: WantedNodes) -> bool:
    """Whether something is still to be filled in, or the pods are for nodes that no NodePool makes."""
    terms = tuple(Term(tuple(selectors.Requirement(*one) for one in term)) for term in wanted.terms)
    words = [*wanted.selector, *wanted.selector.values()]
    words += [word for term in wanted.terms for one in term for word in (one.key, *one.values)]
    if any(one.key in POOL_KEYS and one.operator == "DoesNotExist" for term in wanted.terms for one in term):
        return True
    return any(map(is_placeholder, words)) or is_for_unlisted_nodes(
        NodeAffinity(wanted.selector, terms or None), wanted.tolerations
    )


def _refused(
    wanted: LocatedFact[WantedNodes], named: Sequence[MachinePool], *, shared: bool
) -> Iterator[Violation]:
    """Where every one of them refuses, the reason of the first."""
    found = [_reason(pool, wanted.value, shared=shared) for pool in named]
    reasons = [each for each in found if each is not None]
    if len(reasons) == len(found):
        field, message, advice = reasons[0]
        others = [pool.name for pool in named[1:]]
        also = f"; {', '.join(others[:_SHOWN])} cannot run them either" if others else ""
        yield Violation(
            wanted.at(next(each for each in (field, "affinity", *wanted.fields) if each in wanted.fields)),
            f"{message}: Karpenter creates no node of it for the pods{also}",
            advice,
        )


def _reason(pool: MachinePool, wanted: WantedNodes, *, shared: bool) -> tuple[str, str, str] | None:
    """Field, message and advice; None: it may create nodes for the pods."""
    title = f"{pool.kind} {pool.name}"
    for key, value in wanted.selector.items():
        if problem := _problem(pool, Expression(key, "In", (value,))):
            return f"selector.{key}", f"{title} {problem}", _advice(key)
    problems = [
        next(((problem, one.key) for one in term if (problem := _problem(pool, one))), None)
        for term in wanted.terms
    ]
    if problems and problems[0] is not None and None not in problems:
        problem, key = problems[0]
        return "affinity", f"{title} {problem}", _advice(key)
    # PK143 compares the taints of a NodePool that pods select by its name.
    by_name = not wanted.selector.keys().isdisjoint(POOL_KEYS)
    given = (*wanted.tolerations, *tolerations.of_resources(wanted.cards))
    taint = tolerations.untolerated(pool.taints, given)
    if taint is not None and wanted.settled and not by_name:
        return (
            "",  # of the pods as a whole
            f"{title} has taint {taint}, which the pods do not tolerate",
            "add the toleration",
        )
    return _without_cards(f"the instances of {title}", _machines(pool, wanted), wanted.cards, shared=shared)


def _advice(key: str) -> str:
    return f"give the nodes the label in the NodePool's template, or do not select {key}"


def _problem(pool: MachinePool, wanted: Expression) -> str:
    """Why no node of the pool can meet an expression, as a predicate; empty: one may."""
    key, operator = NOW_CALLED.get(wanted.key, wanted.key), wanted.operator
    stated = [one for one in pool.requirements if one.key == key]
    choices = [
        *([pool.labels[key]] if key in pool.labels else ()),
        *(value for one in stated if one.operator == "In" for value in one.values),
    ]
    asked = selectors.Requirement(key, operator, wanted.values)
    if choices:
        met = any(selectors.matches(asked, {key: value}) for value in choices)
        written = ", ".join(wanted.values)
        selected = f"{wanted.key}={written}" if operator == "In" else str(selectors.Requirement(*wanted))
        return "" if met else f"has {key} {', '.join(choices[:_SHOWN])}, but the pods select {selected}"
    if operator in ("NotIn", "DoesNotExist") or stated or _is_karpenters(key):
        return ""
    return f"does not give its nodes the label {wanted.key}, which the pods select"


def _is_karpenters(key: str) -> bool:
    provider = labels.provider(key)
    return key.startswith(_OF_KARPENTER) or (bool(provider) and not labels.discovery(key))


def _machines(pool: MachinePool, wanted: WantedNodes) -> dict[str, Machine] | None:
    """What the nodes may be: instance type or family to what is known of it; None: some are unknown."""

    def choices(*keys: str) -> list[str]:
        """The values of one of the keys that both sides allow; empty: any."""
        for key in keys:
            own = [
                v for one in pool.requirements if one.key == key and one.operator == "In" for v in one.values
            ]
            own += [pool.labels[key]] if key in pool.labels else []
            asked = [wanted.selector[key]] if key in wanted.selector else []
            if own or asked:
                return [value for value in own if not asked or value in asked] or asked
        return []

    types = choices(*INSTANCE_TYPES, _SKU)
    families, sizes = choices(*_FAMILIES), choices(*_SIZES)
    if not types and families and sizes:
        types = [f"{family}.{size}" for family in families for size in sizes]
        types = [one for one in types if machines.machine(one) is not None] or types
    read: Callable[[str], Machine | None] = machines.machine if types else machines.of_family
    named = types or families
    if not named:
        read, named = machines.of_category, choices(*_CATEGORIES)
    found = {one: read(one) for one in named}
    known = {one: each for one, each in found.items() if each is not None}
    return known if known and len(known) == len(found) else None


def _without_cards(
    title: str, found: Mapping[str, Machine] | None, requested: Mapping[str, int], *, shared: bool
) -> tuple[str, str, str] | None:
    """A resource that none of the machines has, or not in this number."""
    if found is None:
        return None
    names = ", ".join([*found][:_SHOWN])
    for resource, amount in requested.items():
        makers = _makers(resource)
        if not makers:
            continue
        offering = [each for each in found.values() if each.vendor in makers]
        if not offering:
            made = sorted({_name(each.vendor) for each in found.values()})
            has = "no cards" if made == [""] else f"cards of {' and '.join(filter(None, made))}"
            message = f"requests {resource}, but {title} ({names}) have {has}"
            return f"card.{resource}", message, "allow instances with the card that the pods request"
        most = [each.cards for each in offering]
        whole = (known := resources.resource(resource)) is not None and known.role == "card"
        if whole and not shared and not _in_parts(requested) and None not in most:
            largest = max(each or 0 for each in most)
            if amount > largest:
                message = f"requests {amount} {resource}, but {title} ({names}) have {largest}"
                return f"card.{resource}", message, "allow larger instances, or request fewer cards per pod"
    return None


def _direct(wanted: LocatedFact[WantedNodes], *, shared: bool) -> Iterator[Violation]:
    """Pods that select instance types themselves."""
    types = [value for key, value in wanted.value.selector.items() if key in INSTANCE_TYPES]
    field = next((f"selector.{key}" for key in wanted.value.selector if key in INSTANCE_TYPES), "affinity")
    if not types and len(wanted.value.terms) == 1:
        types = [
            v
            for one in wanted.value.terms[0]
            if one.key == _TYPE and one.operator == "In"
            for v in one.values
        ]
    found = {one: machines.machine(one) for one in types}
    known = {one: each for one, each in found.items() if each is not None}
    if known and len(known) == len(found):
        problem = _without_cards("the selected instances", known, wanted.value.cards, shared=shared)
        if problem:
            yield Violation(wanted.at(field), problem[1], problem[2])


def _nowhere(
    scope: Scope, wanted: LocatedFact[WantedNodes], pools: _Pools, known: set[str]
) -> Iterator[Violation]:
    """A label that no NodePool here gives its nodes; nodes that Karpenter does not create may have it."""
    for key, value in wanted.value.selector.items():
        if key in POOL_KEYS:
            near = pools.names.nearest(value)
            if near and near != value and not scope.may_hold(value):
                yield Violation(
                    wanted.at(f"selector.{key}"),
                    f"no file here has NodePool {value}",
                    f"did you mean {near}?",
                )
        elif is_chosen(key) and key not in known and key not in INSTANCE_TYPES and not scope.may_hold(key):
            near = pools.likely(key, value)
            yield Violation(
                wanted.at(f"selector.{key}"),
                f"no NodePool here gives its nodes the label {key}, so Karpenter creates none for the pods",
                f"did you mean {near}?"
                if near
                else "give it to the nodes of a NodePool, unless others have it",
                Severity.WARNING if near else Severity.INFO,
            )


def _makers(resource: str) -> set[str]:
    """Vendors of hardware that offer it; empty: unknown, or any."""
    known = resources.resource(resource)
    if known is None or not known.is_card:
        return set()
    found = {_hardware(vendor) for vendor in (known.offered_by or (known.vendor,))}
    return set() if "" in found else found


def _in_parts(requested: Mapping[str, int]) -> bool:
    """Whether HAMi or another counts parts of the cards, and replicas as cards."""
    return any(name.endswith(("/gpumem", "/gpucores", "/gpumem-percentage")) for name in requested)


def _hardware(vendor: str) -> str:
    known = cards.vendor(vendor)
    return known.hardware if known is not None else ""


def _name(vendor: str) -> str:
    known = cards.vendor(vendor)
    return known.name if known is not None else vendor


RULE = Rule(
    code="PK145",
    name="node-pool-mismatch",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(WantedNodes,),
)
