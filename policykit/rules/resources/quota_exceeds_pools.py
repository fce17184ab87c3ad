"""A ResourceQuota exceeds the total of all pools, or limits a resource that no pool has.

Such a quota has no effect: pods wait for nodes before it is exhausted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.kube.names import is_extended
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.model.quantity import amount, amount_text
from policykit.model.severity import Severity
from policykit.placement.card_requests import is_card_resource

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: ResourceQuota
metadata:
  name: team
  namespace: team-a
spec:
  hard:
    requests.nvidia.com/gpu: "512"
"""

GOOD = BAD.replace("512", "32")

_HARD = ("spec", "hard")
_PREFIX = "requests."
_COMPUTE = frozenset({"cpu", "memory"})


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Checks each key if the policy lists every pool. Pools without an upper bound are never exceeded."""
    cluster, hard = context.cluster, lookup(manifest.data, _HARD)
    if cluster is None or not cluster.complete or not isinstance(hard, dict):
        return
    if any(quota.name == manifest.name for quota in cluster.quotas):
        return  # generated from the policy, where its quotas belong
    for key, written in hard.items():
        name = key.removeprefix(_PREFIX) if isinstance(key, str) else ""
        granted = amount(name, written)
        if not granted or not (name in _COMPUTE or (name != key and is_extended(name))):
            continue
        held = _total(cluster, name)
        if held is None or granted <= held:
            continue
        if held:
            total = amount_text(name, held)
            message = f"allows {amount_text(name, granted)} {name}, but all pools together have {total}"
            advice = "lower it to the total of the pools, or correct the pools in the policy"
        else:
            message = f"allows {amount_text(name, granted)} {name}, which no pool has"
            advice = _offered(cluster)
        yield Violation((*_HARD, key), message, advice)


def _total(cluster: Cluster, name: str) -> int | None:
    """Largest total of a resource on all nodes; None if it is unbounded or unknown."""
    total = 0
    for pool in cluster.pools:
        for shape in pool.shapes:
            there = shape.allocatable.get(name)
            if there is None:
                if name in _COMPUTE or name in pool.resources or not is_card_resource(name, cluster):
                    return None
                continue
            if shape.maximum is None:
                return None
            total += there * shape.maximum
    return total


def _offered(cluster: Cluster) -> str:
    names = sorted({resource for pool in cluster.pools for resource in pool.resources})
    return f"the pools offer {', '.join(names)}" if names else "the pools of the policy have no cards"


RULE = Rule(
    code="PK209",
    name="quota-exceeds-pools",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ResourceQuota"}),
    needs_policy=True,
)
