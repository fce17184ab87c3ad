"""A workload tolerates none of the flavors of its ClusterQueue, or selects the nodes of none.

Kueue gives a workload a flavor only if its pods tolerate the nodeTaints of the flavor, or the flavor's own
tolerations do, and only if its nodeLabels have what the pods select. If that holds for none of them, the
workload is never admitted. Labels that a flavor does not state are left to the scheduler; before 0.18.2 only
those that no flavor of the queue states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.selectors import Requirement, matches
from policykit.kube.tolerations import tolerates
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.kueue import AdmittedPods, DeclaredFlavor
from policykit.model.pool import Taint, Toleration
from policykit.model.severity import Severity
from policykit.rules.kueue.admission import cluster_queues
from policykit.targets.kueue import versions

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: spot
spec:
  nodeLabels: {example.com/pool: spot}
  nodeTaints:
  - {key: example.com/spot, value: "true", effect: NoSchedule}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: spot
      resources:
      - {name: cpu, nominalQuota: 64}
      - {name: memory, nominalQuota: 256Gi}
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

GOOD = BAD.replace(
    "      restartPolicy: Never\n",
    "      restartPolicy: Never\n      tolerations:\n"
    '      - {key: example.com/spot, operator: Equal, value: "true", effect: NoSchedule}\n',
)


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where LocalQueue, ClusterQueue and all its flavors are known. Source: `flavorassigner.go` (0.19)."""
    admitting, release = cluster_queues(scope), versions.release_of(context.cluster)
    flavors = {each.value.name: each.value for each in scope.of(DeclaredFlavor) if not each.partial}
    for pods in scope.of(AdmittedPods):
        queue = admitting(pods.value.namespace, pods.value.queue) if not pods.partial else None
        offered = [flavors.get(name) for name in queue.flavors] if queue else []
        left = [_untolerated(each, pods.value.tolerations) if each else None for each in offered]
        if queue and left and left[0] and all(left):
            names = ", ".join(queue.flavors)
            yield Violation(
                pods.at("tolerations"),
                f"the pods tolerate no flavor of ClusterQueue {queue.name} ({names}), whose first taint is "
                f"{left[0]}: Kueue never admits the workload",
                "tolerate the taint in the pods, or add the toleration to the flavor",
            )
        elif queue and None not in offered:
            known = [each for each in offered if each]
            told = [*_unselected(pods, queue.name, known)]
            yield from told
            if queue.groups == 1 and not told:
                yield from _unmatched(pods, queue.name, known, versions.asks_of_all(release))


def _unselected(
    pods: LocatedFact[AdmittedPods], queue: str, flavors: Sequence[DeclaredFlavor]
) -> Iterator[Violation]:
    """Of a label that each flavor has with another value; one without it may be for other resources."""
    for key, value in pods.value.selector.items():
        there = sorted({each.labels.get(key, "") for each in flavors})
        if there and "" not in there and value not in there and not any(map(is_placeholder, (value, *there))):
            yield Violation(
                pods.at(f"selector.{key}"),
                f"the pods select {key}: {value}, but the flavors of ClusterQueue {queue} have "
                f"{', '.join(there)}: Kueue never admits the workload",
                "select one of these, or add a flavor for these nodes to the ClusterQueue",
            )
            return


def _unmatched(
    pods: LocatedFact[AdmittedPods], queue: str, flavors: Sequence[DeclaredFlavor], all_keys: bool
) -> Iterator[Violation]:
    """Of the labels of each flavor, or of all flavors. Source: `flavorSelector` (0.9 to 0.19)."""
    stated = {key for each in flavors for key in each.labels}
    keys = {key for key in pods.value.selector if key in stated}
    keys |= {one[0] for term in pods.value.terms for one in term if one[0] in stated}
    texts = [*pods.value.selector.values(), *(value for each in flavors for value in each.labels.values())]
    texts += [value for term in pods.value.terms for one in term for value in one[2]]
    if not keys or any(map(is_placeholder, texts)):
        return
    if any(_meets(pods.value, each, stated if all_keys else set(each.labels)) for each in flavors):
        return
    named = next((f"selector.{key}" for key in pods.value.selector if key in stated), "terms")
    names = ", ".join(each.name for each in flavors)
    yield Violation(
        pods.at("terms" if pods.value.terms else named),
        f"no flavor of ClusterQueue {queue} ({names}) has what the pods select of {', '.join(sorted(keys))}: "
        "Kueue never admits the workload",
        f"write the labels in nodeLabels of the flavor that is meant{_ASKED if all_keys else ''}",
    )


_ASKED = ": a label that one flavor has is asked of all of them"


def _meets(pods: AdmittedPods, flavor: DeclaredFlavor, keys: set[str]) -> bool:
    """Whether the flavor has what the pods ask of these labels."""
    there = flavor.labels
    if any(there.get(key) != value for key, value in pods.selector.items() if key in keys):
        return False
    terms = [[Requirement(*one) for one in term if one[0] in keys] for term in pods.terms]
    return not all(terms) or not terms or any(all(matches(one, there) for one in term) for term in terms)


def _untolerated(flavor: DeclaredFlavor, own: tuple[Toleration, ...]) -> Taint | None:
    """The first hard taint of a flavor that neither the pods nor the flavor tolerate."""
    for taint in flavor.taints:
        if taint.hard and not any(tolerates(each, taint) for each in (*own, *flavor.tolerations)):
            return taint
    return None


RULE = Rule(
    code="PK932",
    name="untolerated-flavor",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(AdmittedPods,),
)
