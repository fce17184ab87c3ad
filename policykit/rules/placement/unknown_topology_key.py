"""Pods are placed by a topology key that no node, or none that takes them, has as a label.

A node without the key of a hard spread constraint is left out, required affinity within such a topology is
never met, and an exclusive topology has no domain: the pods stay pending. A soft constraint, or
anti-affinity, has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import labels
from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.placement import topology
from policykit.placement.review import Review
from policykit.placement.topology import TopologyUse

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  replicas: 4
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: serve}
      containers:
      - name: main
        image: registry.example/serve:1
"""

GOOD = BAD.replace("topology.kubernetes.io/hostname", "kubernetes.io/hostname")

_EFFECTS = {
    topology.SPREAD: "a hard spread constraint leaves nodes without it out, so the pods stay pending",
    topology.SOFT_SPREAD: "the constraint spreads nothing",
    topology.AFFINITY: "required affinity is never met, so the pods stay pending",
    topology.ANTI_AFFINITY: "anti-affinity keeps no pods apart",
    topology.EXCLUSIVE: "no domain exists, so the pods stay pending",
}


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Each key once for a use. Where the policy does not list every pool, no labels of Kubernetes."""
    if review.manifest.partial or review.pod_set.stored:
        return
    reported: set[tuple[str, str]] = set()
    for use in topology.topology_uses(review.manifest, review.pod_set):
        of_object = use.use == topology.EXCLUSIVE and not _is_first(review)
        if of_object or (use.key, use.use) in reported:
            continue
        who, advice = _without(review, use)
        if who:
            reported.add((use.key, use.use))
            message = f"{who} has the label {use.key}: {_EFFECTS[use.use]}"
            yield Violation(use.path, message, advice, _severity(review, use))


def _without(review: Review, use: TopologyUse) -> tuple[str, str]:
    """What lacks the key, and what to do; empty: nothing, as far as is known."""
    cluster = review.cluster
    if cluster and topology.is_absent(cluster, use.key):
        return "no pool", _advice(cluster, use.key)
    meant = labels.meant(use.key)
    if meant and not (cluster and topology.is_there(cluster, use.key)):
        return "no node", f"did you mean {meant}?"
    names = topology.lacking(review, use.key) if cluster and use.use in topology.HOLDS else ()
    return (f"none of the pools that take the pods ({', '.join(names)})", _OTHERS) if names else ("", "")


_OTHERS = "use a label that those nodes have, or declare it on their pools"


def _is_first(review: Review) -> bool:
    """Whether its pod set is the first of the object, at which the object itself is judged."""
    return pod_sets(review.manifest.data)[0].path == review.pod_set.path


def _severity(review: Review, use: TopologyUse) -> Severity | None:
    """Policies often leave out what a provider sets by itself."""
    complete = review.cluster is not None and review.cluster.complete
    certain = complete and use.use in topology.HOLDS and not topology.is_of_clouds(use.key)
    return None if certain else Severity.WARNING


def _advice(cluster: Cluster, key: str) -> str:
    if instead := labels.meant(key):
        return f"did you mean {instead}?"
    near = nearest(key, tuple(sorted(cluster.declared_keys)))
    if near and nearest(key.rpartition("/")[2], (near.rpartition("/")[2],)):
        return f"did you mean {near}?"
    return "use a label that the nodes have, and declare it on their pools"


RULE = Rule(
    code="PK133",
    name="unknown-topology-key",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("opologyKey", "exclusive-topology"),
)
