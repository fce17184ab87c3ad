"""A toleration names a taint key of the cluster but matches none of its taints.

Key, value and effect must all match one taint. An omitted operator means Equal, and an omitted
value means the empty value. kubeadm gives nodes of the control plane the taint node-role.kubernetes.io/master
only before Kubernetes 1.25: where a pool has its successor, node-role.kubernetes.io/control-plane, pods that
tolerate the former alone are kept off its nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from policykit.kube.placeholders import is_placeholder
from policykit.kube.tolerations import covers, tolerates
from policykit.linter.proof import review_after
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.memoize import memoize_last
from policykit.manifests.patch import Patch
from policykit.model.cluster import Cluster
from policykit.model.pool import Taint, Toleration
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.placement.eligible_pools import is_allowed
from policykit.placement.landing import untolerated_taints
from policykit.placement.placement_patches import is_editable
from policykit.placement.review import Review
from policykit.rules.placement.fixes import removal_patches

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
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoExecute}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
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
              nvidia.com/gpu: 1
"""

_OPERATORS = frozenset({"", "Equal", "Exists"})
"""PK116 reports all others."""
_LIKE = 0.85
_EARLIER, _CURRENT = "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports near misses on taint keys of the cluster; PK106 reports unknown products."""
    cluster = review.cluster
    if cluster is None or not review.tolerations:
        return
    there = _taints(cluster)
    unknown = [at for at, each in enumerate(review.tolerations) if each.key and each.key not in there]
    yield from _earlier(review, unknown, there)
    if review.is_system_pod:
        return
    yield from _misspelt(review, unknown, there)
    for position, toleration in enumerate(review.tolerations):
        taints = there.get(toleration.key, [])
        if not taints or any(tolerates(toleration, taint) for taint in taints):
            continue
        if any(map(is_placeholder, (toleration.value, toleration.effect))):
            continue
        if toleration.operator not in _OPERATORS or _is_product(cluster, toleration, taints):
            continue
        if _is_redundant(review, toleration, taints):
            continue
        yield Violation(
            review.pod_set.place("tolerations", position),
            f"the toleration matches no taint of the cluster: {_difference(toleration, taints)}",
            f"{_suggestion(toleration, taints)}the taints with that key are "
            + ", ".join(sorted(str(taint) for taint in set(taints))),
            fix=partial(_fix, review, position, taints),
            follows=frozenset({"PK101"}) if _is_missing(review, toleration, taints) else frozenset(),
        )


def _misspelt(
    review: Review, unknown: Sequence[int], there: Mapping[str, list[Taint]]
) -> Iterator[Violation]:
    """A key that is nearly that of a taint which keeps the pod off a pool."""
    kept_off = sorted(key for key, taints in there.items() if _keeps_off(review, taints)) if unknown else []
    for position in unknown if kept_off else ():
        key = review.tolerations[position].key
        near = nearest(key, kept_off, _LIKE) if not is_placeholder(key) else ""
        if near and not {key, near} <= {_EARLIER, _CURRENT}:
            yield Violation(
                review.pod_set.place("tolerations", position),
                f"the toleration matches no taint of the cluster: no taint has key {key}",
                f"did you mean {near}?",
            )


def _keeps_off(review: Review, taints: Sequence[Taint]) -> list[Taint]:
    """Those that the pod does not tolerate."""
    return [taint for taint in taints if not any(tolerates(each, taint) for each in review.tolerations)]


def _earlier(review: Review, unknown: Sequence[int], there: Mapping[str, list[Taint]]) -> Iterator[Violation]:
    """Source: kubeadm `app/constants/constants.go` (1.24 to 1.36)."""
    earlier = [at for at in unknown if review.tolerations[at].key == _EARLIER]
    kept_off = _keeps_off(review, there.get(_CURRENT, [])) if earlier else []
    for position in earlier[:1] if kept_off else ():
        yield Violation(
            review.pod_set.place("tolerations", position),
            f"tolerates {_EARLIER}, which kubeadm gives no node since 1.25: taint {kept_off[0]} keeps the "
            "pods off",
            f"tolerate key {_CURRENT} as well, or instead",
        )


def _is_missing(review: Review, toleration: Toleration, taints: list[Taint]) -> bool:
    """Whether the corrected toleration opens an eligible pool: the fix of missing-toleration adds it."""
    corrected = _corrected(toleration, taints)
    return corrected is not None and any(
        tolerates(corrected, taint)
        for pool in review.eligible_pools or ()
        for taint in untolerated_taints(pool, review.tolerations, review.requests)
    )


def _suggestion(toleration: Toleration, taints: list[Taint]) -> str:
    values = tuple(sorted({taint.value for taint in taints if taint.value}))
    near = nearest(toleration.value, values) if toleration.value and toleration.value not in values else ""
    return f"did you mean {near}? " if near else ""


@memoize_last
def _taints(cluster: Cluster) -> Mapping[str, list[Taint]]:
    """By key: those of all pools, and of the control plane."""
    found: dict[str, list[Taint]] = {}
    control_plane = (cluster.control_plane_taint,) if cluster.control_plane_taint else ()
    for taint in (*(taint for pool in cluster.pools for taint in pool.taints), *control_plane):
        found.setdefault(taint.key, []).append(taint)
    return found


def _is_product(cluster: Cluster, toleration: Toleration, taints: list[Taint]) -> bool:
    """Whether it names a product that no taint has: PK106 reports it if no pool has it either."""
    named = toleration.operator != "Exists" and bool(toleration.value)
    of_cards = any(toleration.key == card.product_key for card in cluster.cards.values())
    return named and of_cards and all(taint.value != toleration.value for taint in taints)


def _is_redundant(review: Review, toleration: Toleration, taints: list[Taint]) -> bool:
    """Whether only the effect differs, and other tolerations already match the same taints."""
    same = [taint for taint in taints if tolerates(toleration._replace(effect=""), taint)]
    return bool(same) and all(any(tolerates(t, taint) for t in review.tolerations) for taint in same)


def _difference(toleration: Toleration, taints: list[Taint]) -> str:
    if toleration.operator != "Exists" and not toleration.value:
        return "it has neither a value nor operator Exists, so it matches only the empty value"
    if toleration.operator != "Exists" and all(taint.value != toleration.value for taint in taints):
        return f"no taint has value {toleration.value!r}"
    return f"no taint has effect {toleration.effect}"


def _fix(review: Review, position: int, taints: Sequence[Taint]) -> Fix | None:
    """Corrects the toleration, or removes it if another one already covers the correction.

    None if the correction is ambiguous or would open a pool that the workload kind may not use.
    """
    written = review.tolerations[position]
    intended = _corrected(written, taints)
    if intended is None or not is_editable(review, "tolerations"):
        return None
    if any(covers(other, intended) for at, other in enumerate(review.tolerations) if at != position):
        return Fix("remove this toleration: others already cover it", removal_patches(review, [position]))
    place = review.pod_set.place("tolerations", position)
    changed = [
        field
        for field in ("operator", "value", "effect")
        if getattr(written, field) != getattr(intended, field)
    ]
    patches = tuple(Patch("add", (*place, field), getattr(intended, field)) for field in changed)
    then = review_after(review, patches)
    if then is None or _opens_wrongly(review, then):
        return None
    return Fix(f"tolerate {intended}", patches)


def _corrected(there: Toleration, taints: Sequence[Taint]) -> Toleration | None:
    """The toleration with the one wrong field corrected; None if no single correction is certain."""
    if there.seconds is not None:
        return None  # tolerationSeconds concern eviction, which these taints do not cause
    same_effect = [taint for taint in taints if there.effect in ("", taint.effect)]
    if there.operator != "Exists" and not there.value:
        return _completed(there, same_effect)
    if there.operator == "Exists" or any(taint.value == there.value for taint in taints):
        matching = [taint for taint in taints if there.operator == "Exists" or taint.value == there.value]
        effects = {taint.effect for taint in matching}
        return there._replace(effect=effects.pop()) if len(effects) == 1 else None
    values = tuple(sorted({taint.value for taint in same_effect if taint.value}))
    value = values[0] if len(values) == 1 else nearest(there.value, values)
    return there._replace(value=value) if value else None


def _completed(there: Toleration, taints: Sequence[Taint]) -> Toleration | None:
    """Without a value: the only known value if the operator is Equal, otherwise operator Exists."""
    values = {taint.value for taint in taints}
    if there.operator == "Equal":
        return there._replace(value=values.pop()) if len(values) == 1 else None
    return there._replace(operator="Exists") if values else None


def _opens_wrongly(before: Review, then: Review) -> bool:
    workload = before.workload
    if workload is None or not before.card_resources:
        return False
    return any(pool not in before.accepting and not is_allowed(workload, pool) for pool in then.accepting)


RULE = Rule(
    code="PK115",
    name="dead-toleration",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
