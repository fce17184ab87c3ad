"""A pod requests a card by a resource name that its pools do not offer.

The resources of a node depend on the configuration of its device plugin: whole cards, MIG slices,
renamed replicas, or the names of another plugin (HAMi, Volcano's vGPU, Koordinator, one name per
Ascend model). If its pools do not offer the name, the pod stays pending.
A warning where the policy may not list every pool (coverage: partial).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial

from policykit.catalogue.cards import vendor
from policykit.catalogue.resources import resource
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.patch import Patch
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.severity import Applicability, Severity
from policykit.model.shared_cards import HAMI, NAMES
from policykit.placement.card_requests import rename_resource, request_path
from policykit.placement.eligible_pools import is_allowed, is_part, offers_shared, product_of
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  tolerations:
  - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
  - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: maip.mxsf.io/node.usage, operator: In, values: [hybrid]}
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      limits:
        nvidia.com/mig-1g.12gb: 1
"""

GOOD = BAD.replace("nvidia.com/mig-1g.12gb", "nvidia.com/gpu")

_COUNTED = frozenset({"card", "shared", "partition"})
"""Roles of resources whose amount is a device count."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports card resources that no pool offers if the pod may use pools with such cards."""
    wrong: dict[str, list[Pool]] = {}
    for name in review.card_resources:
        pools = _pools_for(name, review)
        if pools and not any(_offers(pool, name) for pool in pools):
            wrong[name] = pools
    if wrong:
        first = next(iter(wrong))
        offered = sorted({r for pool in wrong[first] for r in pool.resources})
        clear = len(wrong) == len(offered) == 1
        yield Violation(
            request_path(review.pod_set, first),
            f"requests {' and '.join(wrong)}, but its pools offer {', '.join(offered)}",
            _advice(wrong[first], offered, review.card_resources),
            None if _is_certain(review, wrong, offered) else Severity.WARNING,
            fix=partial(_fix, review, first, offered[0]) if clear else None,
        )


def _is_certain(review: Review, wrong: Iterable[str], offered: Sequence[str]) -> bool:
    """Nodes do not list the parts of cards that HAMi counts, so a policy without them proves nothing."""
    of_hami = NAMES[HAMI].cards in offered and set(wrong) <= set(NAMES[HAMI][1:])
    return review.cluster is not None and review.cluster.complete and not of_hami


def _fix(review: Review, name: str, offered: str) -> Fix | None:
    """Renames the resource in every container if the amount means the same under the offered name."""
    patches: list[Patch] = []
    for field, position, container in containers(review.pod_set.spec):
        amount = requested(container).get(name)
        if amount is None:
            continue
        made = rename_resource(
            review.manifest.data, review.pod_set.place(field, position, "resources"), name, offered
        )
        if not made or not _is_equivalent(name, offered, amount):
            return None
        patches += made
    if not patches or any(device.resource == name for device in review.pod_set.devices):
        return None
    return Fix(f"request {offered}", tuple(patches), Applicability.UNSAFE)


def _is_equivalent(name: str, offered: str, amount: int) -> bool:
    """Whether the amounts are equivalent: equal types of devices, or a single slice or card."""
    one, other = resource(name), resource(offered)
    if one is None or one.role not in _COUNTED or one.unit == "percent":
        return False
    return amount <= 1 or (other is not None and one.role == other.role and one.unit == other.unit)


def _pools_for(name: str, review: Review) -> list[Pool]:
    """Pools that the pod set may use and whose cards the name belongs to."""
    cluster, known = review.cluster, resource(name)
    if cluster is None or known is None or any(offers_shared(cluster, pool, name) for pool in cluster.pools):
        return []
    return [
        pool
        for pool in cluster.pools
        if _are_such_cards(pool.resources, known.vendor) and _may_use(review, pool, cluster)
    ]


@lru_cache(maxsize=1024)
def _are_such_cards(resources: tuple[str, ...], wanted: str) -> bool:
    """Whether the vendor of the name makes or shares the cards of a pool."""
    hardware = _hardware(wanted)
    there = {_hardware(known.vendor) for r in resources if (known := resource(r))}
    return bool(there) if not hardware else hardware in there


def _hardware(vendor_id: str) -> str:
    found = vendor(vendor_id)
    return found.hardware if found else ""


def _may_use(review: Review, pool: Pool, cluster: Cluster) -> bool:
    if review.workload and not is_allowed(review.workload, pool):
        return False
    return not review.products or product_of(cluster, pool) in review.products


def _offers(pool: Pool, name: str) -> bool:
    stated = name in pool.resources or is_part(pool, name)
    return stated or any(name in shape.allocatable for shape in pool.shapes)


def _advice(pools: Sequence[Pool], offered: Sequence[str], requested: Sequence[str]) -> str:
    names = ", ".join(pool.name for pool in pools)
    if NAMES[HAMI].cards in offered and not set(NAMES[HAMI][1:]).isdisjoint(requested):
        return f"request whole cards, or state sharing: {{mode: {HAMI}}} if HAMi shares them (pools {names})"
    if len(offered) == 1:
        return f"request {offered[0]} (pools {names})"
    return f"request the resource of the intended pool (pools {names})"


RULE = Rule(
    code="PK202",
    name="wrong-card-resource",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
    silences=frozenset({"PK102", "PK203"}),
)
