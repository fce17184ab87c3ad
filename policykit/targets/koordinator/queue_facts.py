"""ElasticQuotas as facts about queues, and how Koordinator treats them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import amounts
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, texts
from policykit.model.declared_queues import DeclaredQueue, QueueSemantics
from policykit.model.severity import Severity
from policykit.targets.koordinator.names import GROUP_API, TARGET_NAME
from policykit.targets.koordinator.objects.quotas import BUILT_IN, KIND, PLACES, ROOT
from policykit.targets.koordinator.objects.values import parsed

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

PROFILE = "ElasticQuotaProfile"
"""Kind that creates the top quota of a separate tree, with the capacity of the nodes it selects."""
_PROFILE_API = "quota.koordinator.sh"
_PARENT, _IS_PARENT = (str(PLACES[field][-1]) for field in ("parent", "is_parent"))
_TREE = "quota.scheduling.koordinator.sh/tree-id"
_IS_ROOT = "quota.scheduling.koordinator.sh/is-root"
_FORCE = "quota.scheduling.koordinator.sh/allow-force-update"
_AMOUNTS = {"guarantee": "min", "limit": "max"}


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """The queue of an ElasticQuota, or of a profile that creates one."""
    if manifest.kind == KIND and manifest.group == GROUP_API:
        yield _quota(manifest, context)
    elif manifest.kind == PROFILE and manifest.group == _PROFILE_API:
        yield _profile(manifest, context)


def _quota(manifest: Manifest, context: Context) -> Fact:
    labels, spec = mapping(manifest.metadata.get("labels")), mapping(manifest.data.get("spec"))
    places: dict[str, Path] = {"name": ("metadata", "name")}
    found: dict[str, dict[str, int]] = {}
    measured = True
    for field, key in _AMOUNTS.items():
        found[field] = amounts(spec.get(key))
        measured = measured and len(found[field]) == len(mapping(spec.get(key)))
        if mapping(spec.get(key)):
            places[field] = ("spec", key)
        places |= {f"{field}.{resource}": ("spec", key, resource) for resource in found[field]}
    tree_id = text(labels.get(_TREE))
    if tree_id:
        places["tree_id"] = ("metadata", "labels", _TREE)
    charged = _namespaces(manifest)
    if charged:
        places["namespaces"] = PLACES["namespaces"]
    parent = text(labels.get(_PARENT))
    if parent:
        places["parent"] = PLACES["parent"]
    quota = DeclaredQueue(
        TARGET_NAME,
        manifest.name,
        "" if manifest.name == ROOT else parent or ROOT,
        guarantee=found["guarantee"],
        limit=found["limit"],
        namespace=manifest.namespace or context.namespace,
        tree_id=tree_id,
        namespaces=charged,
        holds_queues=_flag(labels, _IS_PARENT),
        unchecked=_flag(labels, _IS_ROOT) or _flag(labels, _FORCE),
        measured=measured,
    )
    return Fact(quota, places)


def _namespaces(manifest: Manifest) -> tuple[str, ...]:
    return texts(parsed(lookup(manifest.data, PLACES["namespaces"])))


def _profile(manifest: Manifest, context: Context) -> Fact:
    """Its minimum is the capacity of the nodes, so it is not read."""
    spec = mapping(manifest.data.get("spec"))
    name = text(spec.get("quotaName"))
    quota = DeclaredQueue(
        TARGET_NAME,
        name,
        ROOT,
        namespace=manifest.namespace or context.namespace,
        holds_queues=_flag(mapping(spec.get("quotaLabels")), _IS_PARENT),
        unchecked=True,
        measured=False,
    )
    return Fact(quota, {"name": ("spec", "quotaName") if name else ("metadata", "name")})


def _flag(labels: object, key: str) -> bool:
    """Whether a label is true. A boolean without quotes is refused as a label, but means the same."""
    return mapping(labels).get(key) in ("true", True)


def amount_paths(manifest: Manifest, cluster: Cluster | None) -> Iterator[Path]:
    """Path of each resource that an ElasticQuota names."""
    for key in _AMOUNTS.values() if manifest.group == GROUP_API else ():
        for resource in mapping(lookup(manifest.data, ("spec", key))):
            if isinstance(resource, str):
                yield ("spec", key, resource)


def queue_semantics(cluster: Cluster | None) -> QueueSemantics:
    """The same for all releases from 1.4. Source: koordinator `pkg/webhook/elasticquota` (v1.8)."""
    return QueueSemantics(
        "Koordinator",
        "ElasticQuota",
        {"guarantee": "min", "limit": "max"},
        roots=frozenset({ROOT}),
        built_in=frozenset(BUILT_IN),
        summed=("guarantee",),
        excess_limit=Severity.WARNING,
        same_resources=True,
        parents_must_be_marked=True,
        tree_fault="Koordinator refuses the quota",
        queue_fault="Koordinator refuses the quota",
        submit_fault="Koordinator refuses pods of a quota that has child quotas",
        unknown_fault="pods of a quota that does not exist are charged to koordinator-default-quota",
    )
