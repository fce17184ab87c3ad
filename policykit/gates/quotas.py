"""Whether the ResourceQuotas and LimitRanges of a namespace admit pods, or a whole gang."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.linter.scope import Scope
from policykit.model.namespace_limits import DeclaredQuota, DeclaredRange, Demand
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_COMPUTE = frozenset({"requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
"""What every pod must state where a quota counts it."""
_PODS = "pods"


class Excess(NamedTuple):
    """An amount above what a namespace allows."""

    quota: str
    """Name of the ResourceQuota or LimitRange."""
    key: str
    """Of the quota; of a LimitRange the resource."""
    asked: int
    allowed: int
    container: bool = False
    """The amounts are those of one container."""

    @property
    def message(self) -> str:
        """What is asked for and what is allowed, as a predicate of the pods."""
        resource = self.key.removeprefix("requests.").removeprefix("limits.")
        asked, allowed = amount_text(resource, self.asked), amount_text(resource, self.allowed)
        if self.key == _PODS:
            return f"has {asked} pods, but ResourceQuota {self.quota} of the namespace allows {allowed}"
        if self.container:
            of = f"LimitRange {self.quota} of the namespace allows at most {allowed}"
            return f"asks for {asked} {resource} in one container, but {of}"
        side = "has limits of" if self.key.startswith("limits.") else "requests"
        return f"{side} {asked} {resource}, but ResourceQuota {self.quota} of the namespace allows {allowed}"


class NamespaceLimits:
    """The ResourceQuotas and LimitRanges of a scope and of the policy, by namespace.

    Quotas with the same name in a namespace are alternatives. Most pods are within all amounts: they are
    compared with the least amounts of their namespace, not with each quota.
    """

    def __init__(self, scope: Scope, cluster: Cluster | None) -> None:
        self._quotas: dict[str, list[DeclaredQuota]] = {}
        self._ranges: dict[str, list[DeclaredRange]] = {}
        for quota in _declared(scope, cluster):
            self._quotas.setdefault(quota.namespace, []).append(quota)
        for each in scope.of(DeclaredRange):
            if not each.partial:
                self._ranges.setdefault(each.value.namespace, []).append(each.value)
        self._allowed = {place: _allowed(quotas) for place, quotas in self._quotas.items()}
        self._least = {place: _least(allowed.values()) for place, allowed in self._allowed.items()}
        self._largest = {
            place: _least(each.maximum for each in ranges) for place, ranges in self._ranges.items()
        }
        self._given = {
            place: frozenset[str]().union(*(each.defaults for each in ranges))
            for place, ranges in self._ranges.items()
        }

    def __bool__(self) -> bool:
        return bool(self._quotas or self._ranges)

    def quota_excess(self, demand: Demand) -> Excess | None:
        """The first key, cards first, of which a quota of the namespace allows less; None: all is allowed."""
        least = self._least.get(demand.namespace, {})
        above = {key: asked for key, allowed in least.items() if (asked := _asked(demand, key)) > allowed}
        for quota in self._quotas[demand.namespace] if above else ():
            for key in sorted(above.keys() & quota.hard.keys(), key=_cards_first):
                allowed = self._allowed[demand.namespace][quota.name][key]
                if above[key] > allowed and _counts(quota, demand):
                    return Excess(quota.name, key, above[key], allowed)
        return None

    def unstated(self, demand: Demand) -> tuple[str, str]:
        """(quota, key) of an amount that a pod must state and does not; empty: there is none.

        Source: `podEvaluator.Constraints` in kubernetes `pkg/quota/v1/evaluator/core/pods.go` (v1.36).
        """
        counted = _COMPUTE & self._least.get(demand.namespace, {}).keys()
        lacking = counted - demand.stated - self._given.get(demand.namespace, frozenset())
        for quota in self._quotas[demand.namespace] if lacking else ():
            for key in sorted(lacking & quota.hard.keys()) if _counts(quota, demand) else ():
                return quota.name, key
        return "", ""

    def range_excess(self, demand: Demand) -> Excess | None:
        """The first resource of which a container asks for more than a LimitRange allows."""
        largest = self._largest.get(demand.namespace, {}) if demand.pods == 1 else {}
        above = {key for key, allowed in largest.items() if demand.largest.get(key, 0) > allowed}
        for each in self._ranges[demand.namespace] if above else ():
            for key in sorted(above & each.maximum.keys()):
                if demand.largest[key] > each.maximum[key]:
                    return Excess(each.name, key, demand.largest[key], each.maximum[key], container=True)
        return None


def _declared(scope: Scope, cluster: Cluster | None) -> Iterator[DeclaredQuota]:
    found = [each.value for each in scope.of(DeclaredQuota) if not each.partial]
    yield from found
    named = {(each.namespace, each.name) for each in found}
    for quota in cluster.quotas if cluster else ():
        if (quota.namespace, quota.name) not in named:
            hard = {f"requests.{name}": amount for name, amount in quota.requests.items()}
            hard |= {f"limits.{name}": amount for name, amount in quota.limits.items() if "/" not in name}
            hard |= {_PODS: quota.pods} if quota.pods is not None else {}
            yield DeclaredQuota(quota.namespace, quota.name, hard, quota.priorities)


def _allowed(quotas: Iterable[DeclaredQuota]) -> dict[str, dict[str, int]]:
    """Name of a quota to its amounts: the largest of the quotas with this name."""
    found: dict[str, dict[str, int]] = {}
    for quota in quotas:
        amounts = found.setdefault(quota.name, {})
        for key, allowed in quota.hard.items():
            amounts[key] = max(allowed, amounts.get(key, allowed))
    return found


def _least(limits: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Of all quotas or limit ranges of a namespace, whichever pods they count."""
    found: dict[str, int] = {}
    for amounts in limits:
        for key, allowed in amounts.items():
            found[key] = min(allowed, found.get(key, allowed))
    return found


def _cards_first(key: str) -> tuple[bool, str]:
    return "/" not in key, key


def _counts(quota: DeclaredQuota, demand: Demand) -> bool:
    return not quota.priorities or demand.priority_class in quota.priorities


def _asked(demand: Demand, key: str) -> int:
    if key == _PODS:
        return demand.pods
    side, _, resource = key.partition(".")
    return (demand.limits if side == "limits" else demand.request).get(resource, 0)
