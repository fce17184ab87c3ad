"""A ResourceQuota limits a resource under a key that is never counted.

Kubernetes counts extended resources only as `requests.<resource>`. The API server also accepts
`<resource>`, `limits.<resource>`, misspelt vendors (`requests.nvidia/gpu`) and objects without
their group (`count/deployments`), but ignores them, so the namespace is not limited. Resources under
kubernetes.io/ are never charged. Unknown names without a domain, such as `request.memory`, are
refused. The same is true of the quotas of Kubeflow, Capsule, kiosk, HNC, KubeSphere and OpenShift."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from policykit.catalogue.resources import resource as known
from policykit.kube.names import is_extended, label_key_problem
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, MakeFix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

STANDARD = (
    *(f"{side}{name}" for side in ("", "requests.", "limits.") for name in ("cpu", "memory")),
    *(f"{side}ephemeral-storage" for side in ("", "requests.", "limits.")),
    "requests.storage",
    *("pods", "services", "services.nodeports", "services.loadbalancers", "replicationcontrollers"),
    *("resourcequotas", "secrets", "configmaps", "persistentvolumeclaims"),
)
"""Source: `standardQuotaResources` in kubernetes `pkg/apis/core/helper`, and huge pages."""
COUNT = "count/"
BY_CLASS = {
    "storageclass.storage.k8s.io": ("requests.storage", "persistentvolumeclaims"),
    "deviceclass.resource.k8s.io": ("devices",),
}
"""Quantities counted for a class, `<class>.<domain>/<name>`."""
_STANDARD = frozenset(STANDARD)
_HUGEPAGES = ("hugepages-", "requests.hugepages-")
_IMPLICIT = "requests.deviceclass.resource.kubernetes.io/"
"""Prefix of a device class: an extended resource, although in a domain of Kubernetes."""
_CORE = frozenset(
    {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"}
    | {"persistentvolumeclaims", "serviceaccounts", "endpoints", "events", "limitranges", "podtemplates"}
)
_GROUPS = {
    **dict.fromkeys(("deployments", "statefulsets", "daemonsets", "replicasets"), "apps"),
    **dict.fromkeys(("jobs", "cronjobs"), "batch"),
    **dict.fromkeys(("ingresses", "networkpolicies"), "networking.k8s.io"),
    **dict.fromkeys(("resourceclaims", "resourceclaimtemplates"), "resource.k8s.io"),
    "horizontalpodautoscalers": "autoscaling",
    "poddisruptionbudgets": "policy",
    "leases": "coordination.k8s.io",
}
"""Namespaced resource types to their API group."""


def refusal(key: str) -> str:
    """Why the API server rejects a quota with the key, as a predicate; empty: it accepts it.

    Source: `ValidateResourceQuotaResourceName` in kubernetes `pkg/apis/core/validation`.
    """
    if "/" in key or not key:
        return label_key_problem(key)
    known = key in _STANDARD or key.startswith(_HUGEPAGES)
    return label_key_problem(key) if known else "is not a key of a ResourceQuota"


def is_counted(key: str) -> bool:
    """Whether an evaluator counts a key that the API server accepts.

    Source: `pods.go` and `persistent_volume_claims.go` in kubernetes `pkg/quota/v1/evaluator/core`.
    """
    if "/" not in key:
        return True
    if key.startswith(COUNT):
        return "." in key or key.removeprefix(COUNT) in _CORE
    domain, name = of_class(key)
    if domain:
        return name in BY_CLASS[domain] and not key.startswith(domain)
    counted = key.removeprefix("requests.")
    return key.startswith(_IMPLICIT) or (counted != key and is_extended(counted))


def of_class(key: str) -> tuple[str, str]:
    """The class domain of a key, and the quantity it names; empty: none."""
    prefix, _, name = key.partition("/")
    for domain in BY_CLASS:
        if prefix == domain or prefix.endswith(f".{domain}"):
            return domain, name
    return "", ""


def grouped(resource: str) -> str:
    """The key that counts objects: count/deployments.apps of `deployments`; empty: unknown."""
    if resource in _CORE:
        return COUNT + resource
    name, _, group = resource.partition(".")
    known = _GROUPS.get(name, "")
    return f"{COUNT}{name}.{known}" if known and group in ("", known) else ""


def nearest_standard(key: str, resource: str) -> str:
    """The probable key without a domain: requests.memory for `request.memory`; empty: none."""
    side = key.partition(".")[0].lower()
    for prefix in ("limits.", "requests.") if side in ("limit", "limits") else ("requests.",):
        if resource and not refusal(prefix + resource):
            return prefix + resource
    return nearest(key.lower(), STANDARD, 0.7)


BAD = """\
apiVersion: v1
kind: ResourceQuota
metadata:
  name: team
spec:
  hard:
    requests.nvidia.com/gpu: "8"
    limits.nvidia.com/gpu: "8"
"""

GOOD = """\
apiVersion: v1
kind: ResourceQuota
metadata:
  name: team
spec:
  hard:
    requests.nvidia.com/gpu: "8"
"""

_HARD: dict[tuple[str, str], Path] = {
    ("", "ResourceQuota"): ("spec", "hard"),
    ("kubeflow.org", "Profile"): ("spec", "resourceQuotaSpec", "hard"),
    ("capsule.clastix.io", "ResourcePool"): ("spec", "quota", "hard"),
    ("capsule.clastix.io", "Tenant"): ("spec", "resourceQuotas", "items"),
    ("config.kiosk.sh", "AccountQuota"): ("spec", "quota", "hard"),
    ("hnc.x-k8s.io", "HierarchicalResourceQuota"): ("spec", "hard"),
    ("quota.kubesphere.io", "ResourceQuota"): ("spec", "quota", "hard"),
    ("quota.openshift.io", "ClusterResourceQuota"): ("spec", "quota", "hard"),
}
"""Paths of the amounts, or of a list of objects that have them under `hard`, by API group and kind.

All of them are counted by the evaluators of Kubernetes.
"""
_HAMI_ONLY = (
    *("/gpumem", "/gpumem-percentage", "/gpucores", "/dcumem", "/dcucores", ".vMem", ".vCore"),
    *(".smlu.vmemory", ".smlu.vcore", "metax-tech.com/vmemory", "metax-tech.com/vcore"),
    *("/sgpu-memory", "/sgpu-core", "/gcu-memory", "/gcu-core", "/vxpu-memory"),
)
"""How the memory and the cores of cards end.

Source: `IsManagedQuota` of HAMi and the resources of its chart (2.10).
"""
_ASCEND = re.compile(r"limits\.huawei\.com/Ascend[\w-]+-(?:memory|core)\Z")
_VOLCANO_ONLY = "volcano.sh/namespace.weight"
_SIDES = ("limits.", "limit.", "requests.", "request.")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Checks every key with an amount, of a ResourceQuota or of an operator's object that is one."""
    path = _HARD.get((manifest.group, manifest.kind))
    there = lookup(manifest.data, path) if path else None
    for at, hard in _amounts(there, path or ()):
        for found in _problems(hard, context.cluster):
            yield found._replace(at=(*at, *found.path), fix=_below(found.fix, at))


def _amounts(there: object, path: Path) -> Iterator[tuple[Path, Mapping[object, object]]]:
    """Each mapping of keys to amounts, with its path."""
    if isinstance(there, dict):
        yield path, there
    for at, each in enumerate(there if isinstance(there, list) else ()):
        hard = each.get("hard") if isinstance(each, dict) else None
        if isinstance(hard, dict):
            yield (*path, at, "hard"), hard


def _below(fix: MakeFix | None, path: Path) -> MakeFix | None:
    return partial(_moved, fix, path) if fix else None


def _moved(make: MakeFix, path: Path) -> Fix | None:
    """A fix of the amounts as one of their object."""
    fix = make()
    return fix and fix._replace(
        patches=tuple(patch._replace(path=(*path, *patch.path)) for patch in fix.patches)
    )


def _problems(keys: Mapping[object, object], cluster: Cluster | None) -> Iterator[Violation]:
    """Of each key with an amount; paths start at the amounts."""
    stated = {key: amount for key, amount in keys.items() if isinstance(key, str)}
    for key, amount in stated.items():
        if amount is not None and not is_placeholder(key) and not _is_counted_elsewhere(key):
            yield from _refused(stated, key) or _uncounted(stated, key, cluster)


def _is_counted_elsewhere(key: str) -> bool:
    """Whether HAMi's or Volcano's accounting uses the key, which Kubernetes never counts."""
    if key.startswith("limits."):
        return key.endswith(_HAMI_ONLY) or _ASCEND.match(key) is not None
    return key == _VOLCANO_ONLY


def _refused(keys: Mapping[str, object], key: str) -> list[Violation]:
    problem = refusal(key)
    message = f"{key or 'a key that'} {problem}: the API server refuses it"
    return [_violation(keys, key, message, _counted_keys(key))] if problem else []


def _uncounted(keys: Mapping[str, object], key: str, cluster: Cluster | None) -> Iterator[Violation]:
    resource = _resource(key)
    problem, meant = _mistake(resource, cluster) if "/" in key else ("", ())
    if problem:
        named = [f"requests.{each}" for each in meant]
        found = _violation(keys, key, f"{key} is never counted: {resource} {problem}", named)
        yield found._replace(severity=Severity.WARNING) if _may_be_renamed(resource, keys) else found
    elif is_counted(key):
        return
    elif key.startswith(COUNT):
        yield _violation(
            keys, key, f"{key} is accepted but never counted: the API group is missing", _counted_keys(key)
        )
    elif of_class(key)[0]:
        yield _of_class(keys, key)
    elif is_extended(resource):
        yield _without_requests(keys, key, resource)
    elif "kubernetes.io/" in resource:
        message = f"{key} is never counted: a ResourceQuota does not charge {resource}"
        advice = "limit it in a quota of the scheduler (a queue, an ElasticQuota) and delete the key"
        yield Violation((key,), message, advice, Severity.WARNING, key=True)


def _resource(key: str) -> str:
    for side in _SIDES:
        key = key.removeprefix(side)
    return key


def _mistake(resource: str, cluster: Cluster | None = None) -> tuple[str, tuple[str, ...]]:
    """Problem with a resource name and likely corrections; names of the pools are always valid."""
    if known(resource) or (cluster and any(resource in pool.resources for pool in cluster.pools)):
        return "", ()
    from policykit.catalogue.suggestions import resource_problem

    return resource_problem(resource) or ("", ())


def _may_be_renamed(resource: str, keys: Mapping[str, object]) -> bool:
    from policykit.catalogue.suggestions import may_be_renamed

    return may_be_renamed(resource, [_resource(key) for key in keys])


def _counted_keys(key: str) -> list[str]:
    """Counted keys that may be intended instead."""
    resource = _resource(key)
    if counted := grouped(resource.removeprefix(COUNT)):
        return [counted]
    if cards := _mistake(resource)[1]:
        return [f"requests.{card}" for card in cards]
    return [near] if "/" not in key and (near := nearest_standard(key, resource)) else []


def _of_class(keys: Mapping[str, object], key: str) -> Violation:
    domain, name = of_class(key)
    prefix, names = key.partition("/")[0], BY_CLASS[domain]
    never_counted = f"{key} is accepted but never counted"
    if prefix == domain:
        advice = f"write CLASS.{key} with the name of the class"
        return Violation((key,), f"{never_counted}: it does not name a class", advice, key=True)
    near = nearest(name, names)
    meant = [f"{prefix}/{each}" for each in ((near,) if near else names)]
    return _violation(
        keys, key, f"{never_counted}: for a class a ResourceQuota counts only {' and '.join(names)}", meant
    )


def _without_requests(keys: Mapping[str, object], key: str, resource: str) -> Violation:
    counted = f"requests.{resource}"
    message = f"{key} is accepted but never counted: only {counted} is"
    advice = f"rename it to {counted}; the quota then takes effect"
    if counted in keys:
        advice = f"delete it: the quota already has {counted}"
    return Violation((key,), message, advice, key=True, fix=partial(_fix, keys, key, resource))


def _violation(keys: Mapping[str, object], key: str, message: str, meant: list[str]) -> Violation:
    advice = f"did you mean {' or '.join(meant)}?" if meant else _FORMS
    only = len(meant) == 1 and meant[0] not in keys
    fix = partial(_renamed, key, meant[0]) if only else None
    return Violation((key,), message, advice, key=True, fix=fix)


_FORMS = "write requests.<resource>, such as requests.nvidia.com/gpu, or count/<objects>.<group>"


def _fix(hard: Mapping[str, object], key: str, resource: str) -> Fix | None:
    """Deletes the key if the counted key exists, else renames it."""
    counted = f"requests.{resource}"
    if counted in hard:
        return Fix(f"delete {key}", (Patch("remove", (key,)),), Applicability.UNSAFE)
    others = [hard[name] for name in (resource, f"limits.{resource}") if name in hard]
    return None if any(amount != hard[key] for amount in others) else _renamed(key, counted)


def _renamed(key: str, counted: str) -> Fix:
    return Fix(f"rename {key} to {counted}", (Patch("rename", (key,), counted),), Applicability.UNSAFE)


RULE = Rule(
    code="PK206",
    name="quota-key-never-counted",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset(kind for _, kind in _HARD),
    fix=Applicability.UNSAFE,
)
