"""A workload can land on a pool whose usage the policy does not allow for its kind.

Usages keep workloads apart: inference pods on training nodes take cards that training jobs are
waiting for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.proof import review_after
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.pool import Pool
from policykit.model.severity import Applicability, Severity
from policykit.placement.label_values import REQUIRED_TERMS, label_values
from policykit.placement.placement_patches import (
    desired_for,
    is_placement_editable,
    malformed_field,
    placement_patches,
)
from policykit.placement.review import Review
from policykit.rules.placement.fixes import card_choice, check_one_card, removal_patches

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
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid, inference]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: inference, effect: NoSchedule}
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


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports each pod set once, for the first pool that should not accept it."""
    cluster, workload = review.cluster, review.workload
    wrong = _wrong_pools(review)
    if cluster is None or workload is None or not wrong:
        return
    usages = ", ".join(dict.fromkeys(pool.usage for pool in wrong))
    kind = workload.name
    exclude = f"exclude usage {usages} in its affinity and tolerations, or allow it for {kind} in the policy"
    yield Violation(
        _path(review, cluster.usage_key, {pool.usage for pool in wrong}),
        f"{kind} may use {', '.join(workload.usages)}, but pool {wrong[0].name} of usage"
        f" {wrong[0].usage} accepts it",
        card_choice(review, context.path) or exclude,
        fix=partial(_fix, review),
    )


def _wrong_pools(review: Review) -> list[Pool]:
    """Pools whose usage is not allowed; for a helper without cards, only those whose usage it names."""
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not workload.usages or review.pod_set.spec.get("nodeName"):
        return []
    # Pods cannot tell pools of one usage apart.
    allowed = {*workload.usages, *(pool.usage for pool in review.eligible_pools or ())}
    wrong = [pool for pool in review.accepting if pool.usage and pool.usage not in allowed]
    if not wrong or review.card_resources:
        return wrong
    named = {place.value for place in label_values(review, cluster.usage_key)}
    return [pool for pool in wrong if pool.usage in named]


def _path(review: Review, key: str, usages: set[str]) -> Path:
    """Path where one of these usages is selected, else tolerated, else where the selection belongs."""
    for place in label_values(review, key):
        if place.selects and place.value in usages:
            return place.path
    for position, toleration in enumerate(review.tolerations):
        if toleration.key == key and (toleration.operator == "Exists" or toleration.value in usages):
            return review.pod_set.place("tolerations", position)
    return review.pod_set.place("affinity", *REQUIRED_TERMS[:2])


def _fix(review: Review) -> Fix | None:
    """Removes disallowed usages and adds the placement of the workload kind.

    None if the pods could still land there, or would no longer be of the kind.
    """
    cluster, workload = review.cluster, review.workload
    if cluster is None or workload is None or not is_placement_editable(review) or malformed_field(review):
        return None
    usages = {pool.usage for pool in _wrong_pools(review)}
    tolerated = [
        at for at, t in enumerate(review.tolerations) if t.key == cluster.usage_key and t.value in usages
    ]
    patches = list(removal_patches(review, tolerated))
    want = desired_for(review)
    if want is None or all(key != cluster.usage_key for key, _ in want.required):
        patches += _without_usages(review_after(review, patches), cluster.usage_key, usages)
    now = review_after(review, patches)
    if now is not None and want is not None:
        patches += placement_patches(now, want)
    then = review_after(review, patches)
    if not patches or then is None or then.workload != workload or _wrong_pools(then):
        check_one_card(review)
        return None
    return Fix(f"exclude usage {', '.join(sorted(usages))}", tuple(patches))


def _without_usages(review: Review | None, key: str, usages: set[str]) -> list[Patch]:
    """Removes these values from node selector and required terms, with parts that become empty."""
    patches: list[Patch] = []
    while review is not None:
        place = next((one for one in label_values(review, key) if one.selects and one.value in usages), None)
        if place is None:
            break
        patches.append(Patch("remove", _outermost(review, place.path)))
        review = review_after(review, patches[-1:])
    return patches


def _outermost(review: Review, path: Path) -> Path:
    """Path of the outermost part of the selection that would be empty without the value at `path`."""
    fields = [review.pod_set.place(field) for field in ("nodeSelector", "affinity")]
    field = next(place for place in fields if path[: len(place)] == place)
    while len(path) > len(field):
        beside = lookup(review.manifest.data, path[:-1])
        lone_values = path[-1] == "values"
        if not lone_values and (not isinstance(beside, (dict, list)) or len(beside) > 1):
            break
        path = path[:-1]
    return path


RULE = Rule(
    code="PK104",
    name="wrong-usage",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    changed_at_admission=True,
    fix=Applicability.UNSAFE,
)
