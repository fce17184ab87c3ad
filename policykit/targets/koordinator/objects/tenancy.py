"""Which ElasticQuota is charged for the pods of a tenant's namespaces."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.tenant import Tenant
from policykit.targets.koordinator.objects.quotas import ElasticQuota


def bound(
    quotas: tuple[ElasticQuota, ...], tenants: tuple[Tenant, ...]
) -> tuple[tuple[ElasticQuota, ...], tuple[str, ...]]:
    """The quotas with the namespaces of tenants, each namespace in one of them; and notices.

    A quota with children takes no pods (webhook of Koordinator), so no namespace is bound to it.
    """
    there = {quota.name: quota for quota in quotas}
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    taken: dict[str, str] = {}
    notices: list[str] = []
    for tenant in tenants:
        quota = there.get(tenant.queue)
        if quota is None or not tenant.namespaces:
            continue
        if quota.is_parent:
            notices.append(
                f"tenant {tenant.name} has queue {quota.name}, which has children: Koordinator lets no pod "
                "into such a queue, so its namespaces are bound to none. Name one of the children"
            )
            continue
        for namespace in tenant.namespaces:
            if taken.setdefault(namespace, tenant.name) != tenant.name:
                notices.append(
                    f"namespace {namespace} is of tenants {taken[namespace]} and {tenant.name}: it is bound "
                    f"to the queue of {taken[namespace]}"
                )
        own = tuple(dict.fromkeys(n for n in tenant.namespaces if taken[n] == tenant.name))
        if own:
            found.setdefault(quota.name, {})[tenant.name] = own
    return tuple(_with(quota, found.get(quota.name, {})) for quota in quotas), tuple(notices)


def _with(quota: ElasticQuota, tenants: Mapping[str, tuple[str, ...]]) -> ElasticQuota:
    namespaces = tuple(namespace for of in tenants.values() for namespace in of)
    return quota._replace(namespaces=namespaces, tenants=tenants)
