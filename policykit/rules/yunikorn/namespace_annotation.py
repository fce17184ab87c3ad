"""A namespace's annotation for YuniKorn is dropped, or has no effect.

YuniKorn takes the quota of a namespace's queue from annotations, as JSON of texts with the names
and amounts of Kubernetes. What it cannot read it drops with a line in the log, and the queue is
unlimited. They apply only to queues that are made for the namespace: a queue of queues.yaml has
its own amounts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.errors import PolicykitError
from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.application import NamespaceMetadata, StaticQueues
from policykit.model.severity import Severity
from policykit.targets.yunikorn.checks import namespace_quota

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: Namespace
metadata:
  name: research
  annotations:
    yunikorn.apache.org/namespace.quota: '{"cpu": 64, "memory": "256Gi"}'
"""

GOOD = BAD.replace("64,", '"64",')


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Each annotation alone, and against the queues of the scope, else of the policy."""
    queues = [located.value for located in scope.of(StaticQueues)]
    namespaces = scope.of(NamespaceMetadata)
    if namespaces and not queues and context.cluster:
        queues = _of_policy(context.cluster)
    for located in namespaces:
        annotations = dict(located.value.annotations)
        for field, message, advice in namespace_quota.problems(annotations):
            yield ScopeViolation(located, field, message, advice)
        static = {namespace_quota.static_queue(located.value.namespace, annotations, each) for each in queues}
        if len(static) != 1 or not (place := static.pop()):
            continue
        for name in namespace_quota.for_own_queue(annotations):
            message = f"{name} has no effect: namespace {located.value.namespace} goes to {place}"
            advice = "state the amounts there: annotations apply only to queues that rules make"
            yield ScopeViolation(located, name, f"{message}, which queues.yaml states", advice)


def _of_policy(cluster: Cluster) -> list[StaticQueues]:
    from policykit.targets.yunikorn.derived.configured import configured
    from policykit.targets.yunikorn.facts.queues import static_queues

    target = cluster.targets.get("yunikorn")
    if target is None:
        return []
    try:
        made = configured(cluster, target)
    except PolicykitError:
        return []
    return [static_queues(made.configuration.partitions[0], made.root)]


RULE = Rule(
    code="PK710",
    name="namespace-annotation",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
