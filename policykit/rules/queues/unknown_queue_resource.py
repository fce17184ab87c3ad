"""A queue names a resource that no pod requests.

Volcano drops names other than cpu, memory, pods, ephemeral-storage, hugepages and names with a
domain; other schedulers accept any name and compare it with what pods request. Either way the
amount has no effect: the queue looks limited but is not. PK704 reports `cpu` in a YuniKorn
configuration, where it is called vcore.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.catalogue.resources import is_card
from policykit.catalogue.suggestions import resource_problem
from policykit.kube.names import is_hugepages
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest
from policykit.targets import TARGETS
from policykit.targets.pool_capacity import offered_resources

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

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

_PLAIN = ("cpu", "memory", "pods", "ephemeral-storage")
_SHORT = {"mem": "memory", "cpus": "cpu", "ram": "memory", "storage": "ephemeral-storage"}
_DYNAMIC = "deviceclass/"
"""Of Volcano's quotas of DRA devices, named after their classes."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Each name once in each list of amounts."""
    for each in _named(manifest, context.cluster):
        found = None if is_placeholder(each.resource) else _violation(each, context.cluster)
        if found is not None:
            yield found


class _QueueResource(NamedTuple):
    """A resource as a queue names it."""

    resource: str
    path: Path
    title: str
    """System: Volcano, Koordinator, YuniKorn."""
    plain: tuple[str, ...]
    """Names without a domain that pods request."""
    drops: bool
    """The system drops other names without a domain."""


def _named(manifest: Manifest, cluster: Cluster | None) -> Iterator[_QueueResource]:
    """Every name in the amounts of each system's queues."""
    for support in (target.queues for target in TARGETS if target.queues):
        if support.amounts is None or manifest.kind not in support.amounts.kinds:
            continue
        semantics = support.semantics.load()(cluster)
        plain = tuple(semantics.resource_names.get(name, name) for name in _PLAIN)
        for path in support.amounts.paths.load()(manifest, cluster):
            yield _QueueResource(str(path[-1]), path, semantics.title, plain, semantics.drops_other_names)


def _violation(name: _QueueResource, cluster: Cluster | None) -> Violation | None:
    """None for every name that some pod may request."""
    resource = name.resource
    if resource in name.plain or is_hugepages(resource) or _DYNAMIC in resource:
        return None
    if resource in _requested_resources(cluster):
        return None
    problem = resource_problem(resource)
    if "/" not in resource:
        return _without_domain(name, problem[1] if problem else (), cluster)
    if problem is not None:
        message = f"{resource} {problem[0]}: the amount has no effect"
        return Violation(name.path, message, _meant(problem[1]), key=True)
    if cluster is not None and cluster.complete and is_card(resource) and _published(resource):
        there = sorted(each for each in offered_resources(cluster) if is_card(each))
        return Violation(
            name.path,
            f"no pool of the policy has {resource}",
            f"the pools have {', '.join(there)}" if there else "the pools have no cards",
            key=True,
        )
    return None


def _without_domain(name: _QueueResource, meant: tuple[str, ...], cluster: Cluster | None) -> Violation:
    resource = name.resource
    likely = _SHORT.get(resource.lower(), "")
    likely = likely if likely in name.plain else nearest(resource.lower(), name.plain, 0.7)
    cards = tuple(sorted(each for each in _requested_resources(cluster) if each in meant))
    advice = _meant((likely,) if likely else cards or meant)
    if name.drops:
        message = f"{name.title} silently drops {resource}: the amount has no effect"
        return Violation(name.path, message, advice, Severity.ERROR, key=True)
    message = f"no pod requests {resource}: the amount has no effect"
    return Violation(name.path, message, advice, key=True)


def _requested_resources(cluster: Cluster | None) -> frozenset[str]:
    """What the pools have, and what the policy gives to its own queues."""
    if cluster is None:
        return frozenset()
    shared = {name for queue in cluster.queues for name in (*queue.guarantee, *queue.deserved, *queue.limit)}
    return offered_resources(cluster) | shared


def _published(resource: str) -> bool:
    """Whether nodes publish it: Koordinator counts under names of its own."""
    return resource.partition("/")[0] != "koordinator.sh"


def _meant(names: tuple[str, ...]) -> str:
    if names:
        return f"did you mean {' or '.join(names)}?"
    return "use cpu, memory, pods, or the name that pods request, such as nvidia.com/gpu"


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
