"""A pod selects or tolerates card pools, but no container requests a card.

It runs on a card node without a card of its own: the device plugin assigns it none, and on some
runtimes it sees every card of the node. Either the request is missing or the placement is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.catalogue import resources, suggestions
from policykit.kube import podsets, requests
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.patch import Patch
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.quantity import parse
from policykit.model.severity import Applicability, Severity
from policykit.placement.card_requests import card_resources, has_unknown_amounts
from policykit.placement.landing import selections, untolerated_by_pool
from policykit.placement.placement_patches import is_editable
from policykit.placement.policy_labels import dedicated_keys, is_policy_label
from policykit.placement.review import Review

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    metadata:
      labels:
        policykit.io/workload: training
    spec:
      restartPolicy: Never
      schedulerName: volcano
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              cpu: 1
              memory: 1Gi
"""

GOOD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    metadata:
      labels:
        policykit.io/workload: training
    spec:
      restartPolicy: Never
      schedulerName: volcano
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              cpu: 1
              memory: 1Gi
              nvidia.com/gpu: 1
"""


_KAI = frozenset({"gpu-fraction", "gpu-memory"})
"""Annotations that request a fraction of a card from KAI without a resource."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports each pod set once, at the resources of its first container."""
    if review.card_resources or review.pod_set.per_node or review.is_system_pod or not review.is_final:
        return
    targeting = _targeting(review)
    if targeting and not _has_other_means(review) and not _is_helper(review):
        yield Violation(
            review.pod_set.place("containers", 0, "resources"),
            f"{targeting}, but no container requests a card",
            f"add {_resources(review)} to the limits of the container that uses the card,"
            " or remove the selection and the tolerations",
            key=True,
            fix=partial(_fix, review),
        )


def _targeting(review: Review) -> str:
    """How the pod targets card pools; empty if it does not."""
    if selected := _selected(review):
        return f"the pod selects card pools ({', '.join(pool.name for pool in selected)})"
    if tolerated := _tolerated(review):
        return f"the pod tolerates the taints of card pool {tolerated[0].name}"
    return ""


def _selected(review: Review) -> list[Pool]:
    """The pools the pod selects, if all of them have cards."""
    cluster = review.cluster
    if cluster is None or not _selects_by_own_labels(review, cluster):
        return []
    answers = selections(cluster, review.affinity)
    possible = [pool for pool in cluster.pools if answers[pool.name] is not False]
    cards_only = all(answers[pool.name] and pool.card for pool in possible)
    return possible if cards_only else []


def _tolerated(review: Review) -> list[Pool]:
    """Dedicated card pools whose taints the pod tolerates by key."""
    cluster = review.cluster
    named = tuple(toleration for toleration in review.tolerations if toleration.key)
    if cluster is None:
        return []
    lacking = untolerated_by_pool(cluster, named, review.requests)
    return [
        pool
        for pool in cluster.pools
        if pool.card and dedicated_keys(cluster, pool) and not lacking[pool.name]
    ]


def _selects_by_own_labels(review: Review, cluster: Cluster) -> bool:
    terms = review.affinity.required or ()
    keys = [*review.affinity.selector, *(r.key for term in terms for r in term.expressions)]
    return any(is_policy_label(cluster, key) for key in keys)


def _has_other_means(review: Review) -> bool:
    """Whether a claim, an annotation, a placeholder or a misspelt resource may request the card."""
    spec, annotations = review.pod_set.spec, review.pod_set.annotations
    containers = [container for _, _, container in requests.containers(spec)]
    if not containers or spec.get("resourceClaims") or _KAI & {*annotations, *review.pod_set.labels}:
        return True
    if any(device.amount is None for device in review.pod_set.devices):
        return True
    return any(_unclear(name, value) for container in containers for name, value in _resources_of(container))


def _resources_of(container: requests.Container) -> Iterator[tuple[str, object]]:
    stated = container.get("resources")
    for side in ("limits", "requests"):
        listed = stated.get(side) if isinstance(stated, dict) else None
        yield from listed.items() if isinstance(listed, dict) else ()


def _unclear(name: str, value: object) -> bool:
    if is_placeholder(name) or suggestions.resource_problem(name) is not None:
        return True
    return resources.is_card(name) and parse(value) is None


def _is_helper(review: Review) -> bool:
    """Whether other pods of the object request, or may request, the cards: a launcher, head or driver."""
    if review.workload and review.workload.cards == ():
        return False
    pod_sets = podsets.pod_sets(review.manifest.data)
    return any(
        card_resources(one, review.cluster) or has_unknown_amounts(one, review.cluster) for one in pod_sets
    )


def _resources(review: Review) -> str:
    cluster = review.cluster
    offered = sorted({r for pool in cluster.pools for r in pool.resources}) if cluster else []
    return " or ".join(f"{resource}: 1" for resource in offered)


def _fix(review: Review) -> Fix | None:
    """Requests one card for the only container if all targeted pools offer the same single resource."""
    pools = _selected(review) or _tolerated(review)
    offered = {resource for pool in pools for resource in pool.resources}
    containers = review.pod_set.spec.get("containers")
    if len(offered) != 1 or not isinstance(containers, list) or len(containers) != 1:
        return None
    if (review.workload and review.workload.cards == ()) or not is_editable(review, "containers"):
        return None
    (resource,) = offered
    place = review.pod_set.place("containers", 0, "resources", "limits", resource)
    return Fix(f"request {resource}: 1", (Patch("add", place, 1),))


RULE = Rule(
    code="PK124",
    name="card-not-requested",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
    silences=frozenset({"PK101", "PK102", "PK103", "PK111", "PK114", "PK125"}),
)
