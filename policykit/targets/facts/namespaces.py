"""Facts about namespaces: their quotas and limit ranges, and what pods ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from policykit.kube import requests
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.gangs import gangs
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, pairs, text, texts
from policykit.model.pool import Amounts, largest, smallest
from policykit.model.quantity import amount, parse
from policykit.model.queue import DeclaredQuota, DeclaredRange, Demand
from policykit.targets import TARGETS
from policykit.targets.facts.queue_submissions import total_request

_PLAIN = {"cpu": "requests.cpu", "memory": "requests.memory", "count/pods": "pods"}
"""Keys that mean the same as another."""
_SIDES = ("limits", "requests")
_PRIORITY, _STATING = "PriorityClass", "NotBestEffort"
_MAIN = "containers"
_COMPUTE = ("cpu", "memory")
_ALL_OF_COMPUTE = frozenset(f"{side}.{name}" for side in _SIDES for name in _COMPUTE)


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a ResourceQuota, a LimitRange or a Profile of Kubeflow; else of the pods."""
    read = _READERS.get((manifest.group, manifest.kind))
    return read(manifest, context) if read else demands(manifest, pod_sets, context.namespace)


def _quota(manifest: Manifest, context: Context) -> Iterator[Fact]:
    yield from _quota_at(manifest, manifest.namespace or context.namespace, manifest.name, ("spec",))


def _profile(manifest: Manifest, context: Context) -> Iterator[Fact]:
    """Kubeflow makes a namespace of the same name, with this quota."""
    if isinstance(lookup(manifest.data, ("spec", "resourceQuotaSpec")), dict):
        yield from _quota_at(manifest, manifest.name, "kf-resource-quota", ("spec", "resourceQuotaSpec"))


def _quota_at(manifest: Manifest, namespace: str, name: str, at: Path) -> Iterator[Fact]:
    spec = mapping(lookup(manifest.data, at))
    expressions = mappings(mapping(spec.get("scopeSelector")).get("matchExpressions"))
    ours = [e for e in expressions if e.get("scopeName") == _PRIORITY and e.get("operator") == "In"]
    scopes = texts(spec.get("scopes"))
    if {*scopes} - {_STATING} or len(expressions) > 1 or len(ours) < len(expressions):
        return  # which pods it counts depends on more than their priority and their amounts
    hard: dict[str, int] = {}
    places: dict[str, Path] = {"name": ("metadata", "name")}
    for key, written in mapping(spec.get("hard")).items():
        if not isinstance(key, str) or is_placeholder(key):
            continue
        counted = _PLAIN.get(key, key)
        found = amount(_resource(counted), written)
        if found is not None:
            hard[counted] = min(found, hard.get(counted, found))
            places[f"hard.{counted}"] = (*at, "hard", key)
    priorities = texts(ours[0].get("values")) if ours else ()
    stated = _is_stated(manifest, namespace) or at != ("spec",)
    yield Fact(DeclaredQuota(namespace, name, hard, priorities, stated, bool(scopes)), places)


def _is_stated(manifest: Manifest, namespace: str) -> bool:
    """Whether the object, its kustomization or the command line sets its namespace."""
    return bool(manifest.namespace) or namespace != "default"


def _resource(key: str) -> str:
    side, _, resource = key.partition(".")
    return resource if side in _SIDES else key


def _range(manifest: Manifest, context: Context) -> Iterator[Fact]:
    items = mappings(mapping(manifest.data.get("spec")).get("limits"))
    container, pod = ([each for each in items if each.get("type") == kind] for kind in ("Container", "Pod"))
    found = DeclaredRange(
        manifest.namespace or context.namespace,
        manifest.name,
        smallest(_amounts(container, "max")),
        {name: limit for name, limit in smallest(_amounts(container, "default")).items() if "/" not in name},
        frozenset(_given(container)),
        _is_stated(manifest, context.namespace),
        largest(_amounts(container, "min")),
        _given_requests(container),
        smallest(_amounts(pod, "max")),
        largest(_amounts(pod, "min")),
        smallest(map(_ratios, container)),
        smallest(map(_ratios, pod)),
    )
    yield Fact(found, {"name": ("metadata", "name")})


def _amounts(items: Sequence[Mapping[str, Any]], field: str) -> Iterator[Amounts]:
    return (requests.amounts(each.get(field)) for each in items)


def _ratios(item: Mapping[str, Any]) -> Amounts:
    """How many times its request a limit may be, in thousandths."""
    written = mapping(item.get("maxLimitRequestRatio")).items()
    found = {name: times.milli for name, ratio in written if (times := parse(ratio)) is not None}
    return {name: milli for name, milli in found.items() if milli > 0 and "/" not in name}


def _given(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A default request is the default limit where none is stated, and that is the maximum."""
    for each in items:
        limits = {*mapping(each.get("default")), *mapping(each.get("max"))}
        yield from (f"limits.{name}" for name in limits)
        for name in {*limits, *mapping(each.get("defaultRequest")), *mapping(each.get("min"))}:
            yield f"requests.{name}"


def _given_requests(items: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Source: `SetDefaults_LimitRangeItem` of kubernetes (v1.36)."""
    found: dict[str, int] = {}
    for field in ("min", "max", "default", "defaultRequest"):
        found |= {name: each for name, each in smallest(_amounts(items, field)).items() if "/" not in name}
    return found


_READERS: Mapping[tuple[str, str], Callable[[Manifest, Context], Iterator[Fact]]] = {
    ("", "ResourceQuota"): _quota,
    ("", "LimitRange"): _range,
    ("kubeflow.org", "Profile"): _profile,
}


def demands(manifest: Manifest, pod_sets: Sequence[PodSet], namespace: str) -> Iterator[Fact]:
    """One for each pod set, and one for each gang."""
    made = [each for each in pod_sets if not each.stored]
    if manifest.partial or not made:
        return
    for pod_set in made:
        # A file with pods must not make every hook read all files of its scope.
        yield Fact(demand_of_pod(manifest, pod_set, namespace), {}, answers=True)
    yield from demands_of_gangs(manifest, made, namespace)


def demand_of_pod(manifest: Manifest, pod_set: PodSet, namespace: str) -> Demand:
    """What one pod asks for."""
    about = f"{manifest.kind} {manifest.name}".strip()
    listed = requests.containers(pod_set.spec)
    resources = [mapping(each.get("resources")) for _, _, each in listed]
    if manifest.group == _ARGO and not listed:
        resources = [mapping(each.get("resources")) for each in _of_argo(manifest.data, pod_set.path)]
    main = [number for number, (field, _, _) in enumerate(listed) if field == _MAIN]
    amounts = [
        (requests.amounts(resources[at].get("limits")), requests.amounts(resources[at].get("requests")))
        for at in main
    ]
    return Demand(
        manifest.namespace or namespace,
        about if manifest.kind == "Pod" else f"one pod of {about}",
        1,
        requests.effective(pod_set.spec, pod_set.devices),
        _limits([limits for limits, _ in amounts]),
        tuple(amounts),
        _stated(pod_set, resources) if resources else _of_controller(manifest, pod_set),
        _priority(pod_set),
        _is_stated(manifest, namespace),
        pod_set.labels,
        pod_set.replicas or 1,
        bool(pod_set.replicas),
        tuple([text(listed[at][2].get("name")) for at in main]),
        _selector(manifest.data) if manifest.group == "apps" else {},
        _strategy(manifest.data) if manifest.kind == "Deployment" else (),
        _ADDED if manifest.group == _ARGO and manifest.kind in _WORKFLOWS else "",
        _ports(listed),
    )


def _ports(listed: Sequence[tuple[str, int, Mapping[str, Any]]]) -> frozenset[str]:
    ports = [each.get("ports") for _, _, each in listed if "ports" in each]
    return frozenset(text(port.get("name")) for each in ports for port in mappings(each)) if ports else _NONE


_NONE: frozenset[str] = frozenset()


_ARGO, _WORKFLOWS = "argoproj.io", ("CronWorkflow", "Workflow")
_ADDED = "init and wait, which Argo Workflows adds to each pod"


def _strategy(data: Mapping[str, Any]) -> tuple[str, ...]:
    stated = mapping(lookup(data, ("spec", "strategy")))
    update = mapping(stated.get("rollingUpdate"))
    written = (stated.get("type"), update.get("maxSurge"), update.get("maxUnavailable"))
    return tuple("" if each is None else str(each) for each in written) if stated else ()


def _of_argo(data: Mapping[str, Any], path: Path) -> list[Mapping[str, Any]]:
    """The containers of a template of a workflow; none where something else may state their resources."""
    template, workflow = mapping(lookup(data, path)), mapping(lookup(data, path[:-2]))
    if "templateDefaults" in workflow or "podSpecPatch" in {**workflow, **template}:
        return []
    alone = [template[field] for field in ("container", "script") if isinstance(template.get(field), dict)]
    several = [lookup(template, at) for at in (("containerSet", "containers"), ("sidecars",))]
    return [*alone, *(each for listed in several for each in mappings(listed))]


def _selector(data: Mapping[str, Any]) -> Mapping[str, str]:
    """Labels by which a workload finds its pods; empty: it has expressions too."""
    selector = mapping(lookup(data, ("spec", "selector")))
    return {} if "matchExpressions" in selector else pairs(selector.get("matchLabels"))


def demands_of_gangs(manifest: Manifest, pod_sets: Sequence[PodSet], namespace: str) -> Iterator[Fact]:
    """What the pods ask for that must start together."""
    for gang in gangs(manifest.data):
        size = gang.min_member or 0
        members = [each for each in pod_sets if each.name in gang.members] if size > 1 else []
        if not gang.enabled or not members or not (gang.written or _is_job_of_target(manifest)):
            continue
        request = total_request(members, size)
        priorities = {_priority(each) for each in members}
        demand = Demand(
            manifest.namespace or namespace,
            f"the gang of {size} pods",
            size,
            request,
            priority_class=priorities.pop() if len(priorities) == 1 else "",
            stated_namespace=_is_stated(manifest, namespace),
        )
        yield Fact(demand, {"request": gang.path if gang.written else members[0].path})


def _is_job_of_target(manifest: Manifest) -> bool:
    return any(each.jobs and each.jobs.includes(manifest.group) for each in TARGETS)


def _priority(pod_set: PodSet) -> str:
    name = pod_set.spec.get("priorityClassName")
    return name if isinstance(name, str) else ""


def _limits(containers: Sequence[Amounts]) -> Amounts:
    """Total limits of what every container limits."""
    if len(containers) == 1:
        (only,) = containers
        return {name: only[name] for name in _COMPUTE if name in only}
    return {
        name: sum(each[name] for each in containers)
        for name in _COMPUTE
        if containers and all(name in each for each in containers)
    }


def _stated(pod_set: PodSet, resources: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """A request is the limit where none is stated; init containers have to state theirs, too."""
    of_containers = [_of_compute(each) for each in resources]
    listed = frozenset.intersection(*of_containers) if len(of_containers) > 1 else of_containers[0]
    whole = mapping(pod_set.spec.get("resources"))
    return listed | _of_compute(whole) if whole else listed


def _of_controller(manifest: Manifest, pod_set: PodSet) -> frozenset[str]:
    """Nothing is known to be missing from containers that only a controller writes, but for a limit of cpu
    that Spark gives its pods where it is told one. Source: `BasicExecutorFeatureStep` of Spark (4.0)."""
    role = pod_set.path[-1] if manifest.group == _SPARK and pod_set.path else ""
    if role not in ("driver", "executor"):
        return _ALL_OF_COMPUTE
    told = mapping(lookup(manifest.data, pod_set.path))
    settings = mapping(lookup(manifest.data, (*pod_set.path[:-1], "sparkConf")))
    elsewhere = (f"spark.kubernetes.{role}.limit.cores", f"spark.kubernetes.{role}.podTemplateFile")
    if "template" in told or "coreLimit" in told or any(key in settings for key in elsewhere):
        return _ALL_OF_COMPUTE
    return _ALL_OF_COMPUTE - {"limits.cpu"}


_SPARK = "sparkoperator.k8s.io"


def _of_compute(resources: Mapping[str, Any]) -> frozenset[str]:
    limits, requested = mapping(resources.get("limits")), mapping(resources.get("requests"))
    return _stated_for(
        tuple(filter(limits.__contains__, _COMPUTE)),
        tuple(filter(requested.__contains__, _COMPUTE)),
    )


@lru_cache(maxsize=64)  # the facts of all objects share the few sets that there are
def _stated_for(limited: tuple[str, ...], requested: tuple[str, ...]) -> frozenset[str]:
    limits = (f"limits.{name}" for name in limited)
    return frozenset((*limits, *(f"requests.{name}" for name in (*limited, *requested))))
