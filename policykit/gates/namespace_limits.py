"""Whether the ResourceQuotas and LimitRanges of a namespace admit pods, or a whole gang."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from policykit.linter.scope import Scope
from policykit.model.pool import Amounts, largest, smallest
from policykit.model.quantity import amount_text
from policykit.model.queue import DeclaredQuota, DeclaredRange, Demand
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_COMPUTE = frozenset({"requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
"""What every pod must state where a quota counts it."""
_PODS = "pods"


class QuotaExcess(NamedTuple):
    """An amount above what a namespace allows."""

    quota: str
    """Name of the ResourceQuota or LimitRange."""
    key: str
    """Of the quota; of a LimitRange the resource."""
    asked: int
    allowed: int
    container: bool = False
    """The amounts are those of one container."""
    default: bool = False
    """What is allowed is the limit that the container gets."""
    below: bool = False
    """The container, or the pod, must ask for more, not for less."""
    whole: bool = False
    """What a LimitRange says of the whole pod."""
    ratio: bool = False
    """The amounts are how many times its request a limit is, in thousandths; 0: one of the two is missing."""

    @property
    def of_range(self) -> bool:
        """A LimitRange refuses it."""
        return self.container or self.whole

    @property
    def message(self) -> str:
        """What is asked for and what is allowed, as a predicate of the pods."""
        resource = self.key.removeprefix("requests.").removeprefix("limits.")
        asked, allowed = amount_text(resource, self.asked), amount_text(resource, self.allowed)
        if self.key == _PODS:
            return f"has {asked} pods, but ResourceQuota {self.quota} of the namespace allows {allowed}"
        if self.ratio:
            return self._of_ratio(f"{self.allowed / 1000:g} times its request")
        if self.default:
            of = f"LimitRange {self.quota} of the namespace makes {allowed} its limit"
            return f"requests {asked} {resource} in a container without a limit, but {of}"
        if self.of_range:
            bound = "demands at least" if self.below else "allows at most"
            of = f"LimitRange {self.quota} of the namespace {bound} {allowed}"
            where = " in one container" if self.container else ""
            return f"asks for {asked} {resource}{where}, but {of}{'' if where else ' of a pod'}"
        side = "has limits of" if self.key.startswith("limits.") else "requests"
        return f"{side} {asked} {resource}, but ResourceQuota {self.quota} of the namespace allows {allowed}"

    def _of_ratio(self, most: str) -> str:
        if self.whole:
            allows = f"LimitRange {self.quota} of the namespace allows limits of a pod of at most {most}s"
            if not self.asked:
                return f"states no limit or no request of {self.key}, but {allows}"
            return f"has limits of {self.key} that are {self.asked / 1000:g} times its requests, but {allows}"
        allows = f"LimitRange {self.quota} of the namespace allows a limit of at most {most}"
        if not self.asked:
            return f"states no limit or no request of {self.key} in one container, but {allows}"
        return f"has a limit of {self.key} that is {self.asked / 1000:g} times its request, but {allows}"


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
        self._least = {place: smallest(allowed.values()) for place, allowed in self._allowed.items()}
        self._compared = {
            place: tuple((key, *key.partition(".")[::2], allowed) for key, allowed in least.items())
            for place, least in self._least.items()
        }
        """(key, pods or the side of a container's resources, resource, what is allowed)"""
        ranges_of = self._ranges.items()
        self._largest = {place: smallest(each.maximum for each in ranges) for place, ranges in ranges_of}
        self._minimum = {place: largest(each.minimum for each in ranges) for place, ranges in ranges_of}
        self._limits = {place: largest(each.limits for each in ranges) for place, ranges in ranges_of}
        self._of_pods = {
            place: (
                smallest(each.pod_maximum for each in ranges),
                largest(each.pod_minimum for each in ranges),
            )
            for place, ranges in ranges_of
            if any(each.pod_maximum or each.pod_minimum for each in ranges)
        }
        self._given = {
            place: frozenset[str]().union(*(each.defaults for each in ranges)) for place, ranges in ranges_of
        }

    def __bool__(self) -> bool:
        return bool(self._quotas or self._ranges)

    def quota_excess(self, demand: Demand) -> QuotaExcess | None:
        """The first key, cards first, of which a quota of the namespace allows less; None: all is allowed."""
        of_side = {"limits": demand.limits, _PODS: {"": demand.pods}}
        above = {
            key: asked
            for key, side, resource, allowed in self._compared.get(demand.namespace, ())
            if (asked := of_side.get(side, demand.request).get(resource, 0)) > allowed
        }
        for quota in self._quotas[demand.namespace] if above else ():
            for key in sorted(above.keys() & quota.hard.keys(), key=_cards_first):
                allowed = self._allowed[demand.namespace][quota.name][key]
                if above[key] > allowed and _counts(quota, demand):
                    return QuotaExcess(quota.name, key, above[key], allowed)
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

    def given(self, demand: Demand) -> tuple[str, Amounts]:
        """(LimitRange, what the pod asks for with it), where it gives containers requests; empty: nothing.

        Of several LimitRanges it is not known which one is asked first.
        """
        ranges = self._ranges.get(demand.namespace, ())
        if len(ranges) != 1 or demand.pods != 1:
            return "", {}
        given: dict[str, int] = {}
        for name, amount in ranges[0].requests.items():
            stated = [requests.get(name, limits.get(name)) for limits, requests in demand.containers]
            if None in stated:
                total = sum(amount if each is None else each for each in stated)
                # An init container, or the pod itself, may ask for more than all of them.
                given[name] = max(total, demand.request.get(name, 0))
        return (ranges[0].name, {**demand.request, **given}) if given else ("", {})

    def range_excess(self, demand: Demand) -> QuotaExcess | None:
        """The first resource of which a container asks for more than a LimitRange allows, or for less.

        A container that states no limit gets that of the LimitRange. A request above it is refused, as above
        any other limit; one that states no request gets enough of it. Source: `mergeContainerResources` and
        `minConstraint` in kubernetes `plugin/pkg/admission/limitranger` (v1.36).
        """
        ranges = self._ranges.get(demand.namespace, ())
        if demand.pods == 1 and demand.namespace in self._of_pods and (found := self._whole_excess(demand)):
            return found
        for container in demand.containers if ranges else ():
            asked = largest(container)
            above = {key for key, most in self._largest[demand.namespace].items() if asked.get(key, 0) > most}
            for each in ranges if above else ():
                for key in sorted(above & each.maximum.keys()):
                    if asked[key] > each.maximum[key]:
                        return QuotaExcess(each.name, key, asked[key], each.maximum[key], container=True)
            limits, requests = container
            given = self._limits[demand.namespace]
            above = {key for key in given.keys() - limits.keys() if requests.get(key, 0) > given[key]}
            for each in ranges if above else ():
                for key in sorted(above & each.limits.keys()):
                    return QuotaExcess(each.name, key, requests[key], each.limits[key], True, True)
            for key, least in self._minimum[demand.namespace].items():
                stated = [amounts[key] for amounts in container if key in amounts]
                if stated and min(stated) < least:
                    name = next(each.name for each in ranges if each.minimum.get(key) == least)
                    return QuotaExcess(name, key, min(stated), least, container=True, below=True)
        return None

    def ratio_excess(self, demand: Demand) -> QuotaExcess | None:
        """The first limit of a container or pod that is too many times its request, or lacks one of the two.

        Both count as the LimitRange gives them. Of several it is not known which one is asked first.
        Source: `limitRequestRatioConstraint` in kubernetes `plugin/pkg/admission/limitranger` (v1.36).
        """
        ranges = self._ranges.get(demand.namespace, ())
        if len(ranges) != 1 or demand.pods != 1:
            return None
        only = ranges[0]
        for container in demand.containers if only.ratios else ():
            for name, most in only.ratios.items():
                limit, request, given = _with_defaults(only, name, container)
                if not limit or not request or limit * 1000 > most * request:
                    return QuotaExcess(only.name, name, _times(limit, request), most, True, given, ratio=True)
        for name, most in only.pod_ratios.items() if demand.containers else ():
            found = [_with_defaults(only, name, container) for container in demand.containers]
            limit = sum(each for each, _, _ in found)
            # An init container, or the pod itself, may ask for more than all of them.
            request = max(sum(each for _, each, _ in found), demand.request.get(name, 0))
            if not limit or not request or limit * 1000 > most * request:
                given = any(given for _, _, given in found)
                times = _times(limit, request)
                return QuotaExcess(only.name, name, times, most, False, given, whole=True, ratio=True)
        return None

    def _whole_excess(self, demand: Demand) -> QuotaExcess | None:
        """Of type Pod. What containers get by default only adds to what they ask for."""
        maximum, minimum = self._of_pods[demand.namespace]
        ranges = self._ranges[demand.namespace]
        for key, most in maximum.items():
            asked = max(demand.request.get(key, 0), demand.limits.get(key, 0))
            if asked > most:
                name = next(each.name for each in ranges if each.pod_maximum.get(key) == most)
                return QuotaExcess(name, key, asked, most, whole=True)
        for key, least in minimum.items():
            asked = demand.request.get(key, 0)
            if f"requests.{key}" in demand.stated and 0 < asked < least:
                name = next(each.name for each in ranges if each.pod_minimum.get(key) == least)
                return QuotaExcess(name, key, asked, least, below=True, whole=True)
        return None


def _with_defaults(
    only: DeclaredRange, name: str, container: tuple[Amounts, Amounts]
) -> tuple[int, int, bool]:
    """Limit and request of a container, 0 where it has none, and whether the LimitRange gives one of them.

    Its maximum is the limit where it has no default.
    """
    limits, requests = container
    asked = requests.get(name, limits.get(name))
    limit = limits.get(name, only.limits.get(name, only.maximum.get(name, 0)))
    request = only.requests.get(name, 0) if asked is None else asked
    return limit, request, name not in limits or asked is None


def _times(limit: int, request: int) -> int:
    return limit * 1000 // request if request else 0


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
    named: dict[str, list[Amounts]] = {}
    for quota in quotas:
        named.setdefault(quota.name, []).append(quota.hard)
    return {name: largest(amounts) for name, amounts in named.items()}


def _cards_first(key: str) -> tuple[bool, str]:
    return "/" not in key, key


def _counts(quota: DeclaredQuota, demand: Demand) -> bool:
    if quota.stating and not any(demand.request.get(name) for name in ("cpu", "memory")):
        return False
    return not quota.priorities or demand.priority_class in quota.priorities
