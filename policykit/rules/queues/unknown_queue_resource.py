"""A queue names a resource that nobody asks for.

Volcano drops names that are neither cpu, memory, pods, ephemeral-storage, hugepages nor have a
domain; the others take any name, and compare it with what pods request. Either way the amount
binds nobody: the queue looks limited and is not. `cpu` in a configuration of YuniKorn, which calls
it vcore, is said by PK704.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.queue_resources import Named, doubt, named

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  capability: {cpu: "64", memeory: 256Gi}
"""

GOOD = BAD.replace("memeory", "memory")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Each name once in each list of amounts."""
    for each in named(manifest, context.cluster):
        if not is_placeholder(each.resource):
            yield from _named(each, each.path, context)


def _named(each: Named, path: Path, context: Context) -> Iterator[Violation]:
    found = doubt(each, context.cluster)
    if found is not None:
        yield Violation(path, found.message, found.help, found.severity, key=True)


RULE = Rule(
    code="PK408",
    name="unknown-queue-resource",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ElasticQuota", "Queue", "queues.yaml"}),
)
