"""A workload requests a resource that its ClusterQueue does not cover, or nothing at all.

Kueue admits a workload only if its ClusterQueue has a flavor for each resource that the pods request, what a
LimitRange of the namespace adds to them included. Resources that nobody meant to count can be excluded in
Kueue's own configuration. A workload that requests nothing at all is admitted at once and without a flavor:
no quota counts it, and its pods get neither node selector nor tolerations. Since 0.18 Kueue admits claims of
devices only of the classes that resources.deviceClassMappings of its configuration maps to a resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.declared_queues import QueueUse
from policykit.model.kueue import ClaimedClasses, CountedDevices, DeclaredClusterQueue, QueuedClaim
from policykit.model.queue import DeclaredRange
from policykit.model.severity import Severity
from policykit.rules.kueue.admission import cluster_queues
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import TARGET_NAME

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: any
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: any
      resources:
      - {name: cpu, nominalQuota: 64}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: research
  namespace: team-a
spec:
  clusterQueue: research
---
apiVersion: batch/v1
kind: Job
metadata:
  name: count
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: research
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/count:1
        resources:
          requests: {cpu: 4, memory: 8Gi}
"""

GOOD = BAD.replace("[cpu]", "[cpu, memory]").replace(
    "      - {name: cpu, nominalQuota: 64}\n",
    "      - {name: cpu, nominalQuota: 64}\n      - {name: memory, nominalQuota: 256Gi}\n",
)


_COUNTS_CLAIMS = versions.parse("0.18.0")
_PODS = "pods"
"""A resource that every pod requests one of."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each workload whose queues are in these files. Source: `flavorassigner.go` (0.9 to 0.19)."""
    admitting = cluster_queues(scope)
    given: dict[str, dict[str, str]] = {}
    """Of a namespace what a LimitRange adds to containers, and its name."""
    for each in scope.of(DeclaredRange):
        for key in each.value.defaults:
            if key.startswith("requests."):
                there = given.setdefault(each.value.namespace, {})
                there[key.removeprefix("requests.")] = each.value.name
    for use in scope.of(QueueUse):
        if use.value.target_name != TARGET_NAME or use.partial:
            continue
        queue = admitting(use.value.namespace, use.value.queue)
        if queue and queue.covered and not any(map(is_placeholder, queue.covered)):
            yield from _uncovered(use, queue, given.get(use.value.namespace, {}))
    yield from _claims(scope, context)


def _claims(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where no configuration here counts the class. Source: `pkg/dra/claims.go` (0.18, 0.19)."""
    stated = scope.of(CountedDevices)
    known = versions.release_of(context.cluster)
    release, since = known or versions.newest(), "" if known else "since 0.18 "
    if not stated or any(each.partial for each in stated) or release < _COUNTS_CLAIMS:
        return
    counted = {name for each in stated if each.value.integration for name in each.value.classes}
    if any(map(is_placeholder, counted)) or any(
        not each.value.integration and not each.value.refusal for each in stated
    ):
        return
    templates = {
        (each.value.namespace, each.value.name): each.value.classes
        for each in scope.of(ClaimedClasses)
        if not each.partial
    }
    for use in scope.of(QueuedClaim):
        classes = templates.get((use.value.namespace, use.value.template), ())
        missing = next((name for name in classes if name not in counted and not is_placeholder(name)), "")
        if missing and not use.partial:
            yield Violation(
                use.at("name"),
                f"requests devices of class {missing}, which resources.deviceClassMappings of Kueue's "
                f"configuration does not have: {since}Kueue never admits the workload",
                "map the class to a resource there, and cover that in the ClusterQueue",
            )


def _uncovered(
    use: LocatedFact[QueueUse], queue: DeclaredClusterQueue, given: Mapping[str, str]
) -> Iterator[Violation]:
    """The first resource that the queue does not cover."""
    if use.value.whole and not given and not any(use.value.request.values()) and _PODS not in queue.covered:
        yield Violation(
            use.at("queue"),
            f"the workload requests nothing, so ClusterQueue {queue.name} admits it without a flavor: "
            "no quota counts it, and its pods may run anywhere",
            "write the cpu and memory that the pods need, or cover pods in the ClusterQueue",
        )
        return
    requested = {name for name, amount in use.value.request.items() if amount > 0}
    for name in sorted((requested | given.keys()) - queue.covered):
        if _is_transformed(name, queue.covered):
            continue
        source = "which its pods request" if name in requested else f"which LimitRange {given[name]} adds"
        yield Violation(
            use.at("queue"),
            f"ClusterQueue {queue.name} does not cover {name}, {source}: Kueue never admits the workload",
            f"add {name} to coveredResources of the ClusterQueue with a quota, or exclude it in Kueue's "
            "configuration: resources.excludeResourcePrefixes",
        )
        return


def _is_transformed(name: str, covered: Iterable[str]) -> bool:
    """Whether Kueue counts a resource under a longer name, as HAMi's documentation configures it with
    resources.transformations: nvidia.com/total-gpumem for nvidia.com/gpumem."""
    domain, _, short = name.rpartition("/")
    return bool(domain) and any(
        each.startswith(f"{domain}/") and each.endswith(f"-{short}") for each in covered
    )


RULE = Rule(
    code="PK931",
    name="uncovered-resource",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(QueuedClaim, QueueUse),
)
