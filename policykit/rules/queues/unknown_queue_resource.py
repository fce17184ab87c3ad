"""A queue names a resource that no pod requests.

Volcano drops names other than cpu, memory, pods, ephemeral-storage, hugepages and names with a
domain; other schedulers accept any name and compare it with what pods request. Either way the
amount has no effect: the queue looks limited but is not. PK704 reports `cpu` in a YuniKorn
configuration, where it is called vcore.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from policykit.catalogue.resources import is_card
from policykit.catalogue.suggestions import resource_problem
from policykit.kube.names import is_hugepages
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.capacity import offered_resources

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
    plain: tuple[str, ...] = _PLAIN
    """Names without a domain that pods request."""
    drops: bool = False
    """The system drops other names without a domain."""


def _named(manifest: Manifest, cluster: Cluster | None) -> Iterator[_QueueResource]:
    """Every name in a Queue of Volcano, an ElasticQuota, or a queues.yaml that decodes."""
    if manifest.kind == "queues.yaml":
        yield from _configured(manifest, cluster)
    elif manifest.kind == "Queue" and manifest.group == "scheduling.volcano.sh":
        lists = (("capability",), ("deserved",), ("guarantee", "resource"))
        yield from _listed(manifest, lists, "Volcano", drops=True)
    elif manifest.kind == "ElasticQuota" and manifest.group == "scheduling.sigs.k8s.io":
        yield from _listed(manifest, (("max",), ("min",)), "Koordinator")


def _listed(
    manifest: Manifest, lists: Iterable[Path], title: str, drops: bool = False
) -> Iterator[_QueueResource]:
    for steps in lists:
        path = ("spec", *steps)
        for resource in mapping(lookup(manifest.data, path)):
            if isinstance(resource, str):
                yield _QueueResource(resource, (*path, resource), title, drops=drops)


def _configured(manifest: Manifest, cluster: Cluster | None) -> Iterator[_QueueResource]:
    from policykit.targets.yunikorn.configuration.resources import CORES
    from policykit.targets.yunikorn.default_partition import read_partial
    from policykit.targets.yunikorn.validation.failures import never_counted, stated_amounts

    found = read_partial(manifest, cluster)
    plain = tuple(CORES if name == "cpu" else name for name in _PLAIN)
    for path, stated in stated_amounts(found.tree) if found else ():
        for resource in stated:
            if not never_counted(resource):
                yield _QueueResource(resource, (*path, resource), "YuniKorn", plain)


def _violation(name: _QueueResource, cluster: Cluster | None) -> Violation | None:
    """None for every name that some pod may request."""
    resource = name.resource
    if resource in name.plain or is_hugepages(resource) or _DYNAMIC in resource:
        return None
    if resource in _asked_for(cluster):
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
    cards = tuple(sorted(each for each in _asked_for(cluster) if each in meant))
    advice = _meant((likely,) if likely else cards or meant)
    if name.drops:
        message = f"{name.title} silently drops {resource}: the amount has no effect"
        return Violation(name.path, message, advice, Severity.ERROR, key=True)
    message = f"no pod requests {resource}: the amount has no effect"
    return Violation(name.path, message, advice, key=True)


def _asked_for(cluster: Cluster | None) -> frozenset[str]:
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
