"""`resourceGroups` of ClusterQueues and Cohorts: quotas by flavor and resource, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mappings, text, texts
from policykit.model.quantity import amount, amount_text


class Quota(NamedTuple):
    """Amounts of one resource in one flavor: cpu in milli-cores, everything else in units."""

    nominal: int = 0
    borrowing_limit: int | None = None
    """The most it may borrow beyond `nominal`; None: no limit."""
    lending_limit: int | None = None
    """The most of `nominal` that others may borrow; None: all of it."""


class ResourceGroup(NamedTuple):
    """Resources that a pod set gets from one flavor. All flavors have all of them, in this order."""

    resources: tuple[str, ...]
    flavors: Mapping[str, Mapping[str, Quota]]
    """Flavor to resource to quota, in the order in which flavors are tried."""


def write(group: ResourceGroup) -> dict[str, Any]:
    """One entry of `resourceGroups`."""
    return {
        "coveredResources": list(group.resources),
        "flavors": [
            {
                "name": name,
                "resources": [_quota(resource, quotas[resource]) for resource in group.resources],
            }
            for name, quotas in group.flavors.items()
        ],
    }


def _quota(resource: str, quota: Quota) -> dict[str, str]:
    written = {"name": resource, "nominalQuota": amount_text(resource, quota.nominal)}
    if quota.borrowing_limit is not None:
        written["borrowingLimit"] = amount_text(resource, quota.borrowing_limit)
    if quota.lending_limit is not None:
        written["lendingLimit"] = amount_text(resource, quota.lending_limit)
    return written


def read(data: object) -> tuple[ResourceGroup, ...]:
    """The entries of `resourceGroups`. A quota that is no quantity counts as 0, a limit as none."""
    return tuple(
        ResourceGroup(
            texts(group.get("coveredResources")),
            {
                text(flavor.get("name")): {
                    text(each.get("name")): _read(each) for each in mappings(flavor.get("resources"))
                }
                for flavor in mappings(group.get("flavors"))
            },
        )
        for group in mappings(data)
    )


def _read(data: Mapping[str, Any]) -> Quota:
    resource = text(data.get("name"))
    nominal, borrowing, lending = (
        amount(resource, data.get(field)) for field in ("nominalQuota", "borrowingLimit", "lendingLimit")
    )
    return Quota(nominal or 0, borrowing, lending)
