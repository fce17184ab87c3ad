"""Reads quotas, PriorityClasses, autoscalers and profiles of kube-scheduler back into a policy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from policykit.linter.import_reader import ImportReader, documents, images, version_in_title
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, text
from policykit.model.cluster import Cluster
from policykit.model.inventory import Inventory
from policykit.model.queue import ContainerRange, Quota
from policykit.model.workload import BINPACK, SPREAD, Autoscaling, Placement, ResourcePlacement, WorkloadKind
from policykit.targets import TARGETS
from policykit.targets.kubernetes import autoscalers, options, priorities, quotas, versions
from policykit.targets.kubernetes.autoscalers import Autoscaler
from policykit.targets.kubernetes.scheduler import configuration, delivery, plugins, weights
from policykit.targets.kubernetes.scheduler.configuration import (
    DEFAULT_SCHEDULER,
    RATIO,
    Configuration,
    Fit,
    Profile,
)
from policykit.targets.kubernetes.scheduler.profiles import plan

_STRATEGIES = {"MostAllocated": BINPACK, "LeastAllocated": SPREAD, RATIO: ""}
_NAMESPACE = "kube-system"
_RELEASE = re.compile(r"v?([0-9]{1,9}\.[0-9]{1,9})(?:[.+-][0-9A-Za-z.+-]+)?\Z")
"""Major and minor release in the tag of an image."""
_SUFFIX = "-scheduler"
_DEFAULT_WEIGHTS = {plugins.FIT: 1, plugins.AFFINITY: 2}
"""Plugins whose weights `gen` computes, with kube-scheduler's own weights."""
_RBAC = frozenset({"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"})
_CONFIGURATION = "KubeSchedulerConfiguration"
_PLAIN = frozenset({"cpu", "memory", "ephemeral-storage"})


class KubernetesReader(ImportReader):
    """Reads the built-in objects, and the configuration and Deployment of a kube-scheduler."""

    target_name = "kubernetes"

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.profiles: list[tuple[str, Profile]] = []
        """(path, profile) of every configuration of a kube-scheduler."""

    def add_options(self, policy: dict[str, Any], cluster: Cluster) -> None:
        """Reports the weights that `gen` computes differently."""
        stated, version = options.kubernetes_options(cluster), versions.parse(cluster.kubernetes_version)
        made = plan(cluster, stated.scheduler, version).profiles
        ours = {profile.scheduler: profile.weights for profile in made}
        for path, profile in self.profiles:
            usual = {**_DEFAULT_WEIGHTS, **ours.get(profile.scheduler, {})}
            for name in _DEFAULT_WEIGHTS:
                weight = profile.weights.get(name, usual[name])
                if weight != usual[name]:
                    self.inventory.add_remark(
                        f"{path}: scheduler {profile.scheduler}: weight {weight} of {name} is computed from "
                        f"the policy, as {usual[name]}; left out"
                    )

    def read_readme(self, source: str) -> None:
        self.inventory.release = self.inventory.release or version_in_title(source)

    def read_object(self, manifest: Manifest, path: str) -> bool:
        kind, data = manifest.kind, manifest.data
        if kind in _BY_KIND:
            _BY_KIND[kind](data, self.inventory)
        elif kind == _CONFIGURATION:
            self._read_configuration(data, path)
        elif kind == "ConfigMap":
            for stated in mapping(data.get("data")).values():
                for inner in documents(stated) if _CONFIGURATION in text(stated) else ():
                    self._read_configuration(inner, path)
        elif kind == "Deployment" and manifest.name == delivery.SECOND_NAME:
            second_scheduler(manifest, self.inventory)
        else:
            return kind in _RBAC and delivery.LABELS.items() <= manifest.labels.items()
        return True

    def read_values(self, data: Mapping[str, Any], path: str) -> bool:
        if "profiles" in data:
            self._read_configuration(data, path)
        return "profiles" in data

    def _read_configuration(self, data: Mapping[str, Any], path: str) -> None:
        whole = configuration.read(data)
        self.profiles += [(path, profile) for profile in whole.profiles]
        add_profiles(whole, path, self.inventory)


def priority_class(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A PriorityClass, unless it is built in or from the chart of a system."""
    priority, value = priorities.read(data), data.get("value")
    by_chart = any(priority.name in target.priority_classes for target in TARGETS)
    if by_chart or priority.name.startswith("system-"):
        return
    if not isinstance(value, int) or isinstance(value, bool):
        inventory.add_remark(f"PriorityClass {priority.name} has no value; left out")
        return
    inventory.add_priority(priority)


def resource_quota(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A ResourceQuota: requests, limits and number of pods, for all or some priorities."""
    quota = quotas.read_quota(data)
    namespace = quota.namespace or "default"
    where = f"ResourceQuota {namespace}/{quota.name}"
    if "scopes" in quota.unread or "scopeSelector" in quota.unread:
        inventory.add_remark(
            f"{where} has scopes other than PriorityClass, which a policy cannot express; left out"
        )
        return
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    unread = [name.removeprefix("hard.") for name in quota.unread]
    for key, counted in quota.hard.items():
        kind, _, resource = key.partition(".")
        if key in _PLAIN:
            kind, resource = "requests", key
        if kind == "requests" and _countable(resource):
            requests[resource] = counted
        elif kind == "limits" and resource in _PLAIN:
            limits[resource] = counted
        elif key != "pods":
            unread.append(key)
    if unread:
        inventory.add_remark(f"{where}: a policy has no field for {', '.join(sorted(unread))}; left out")
    pods = quota.hard.get("pods")
    if requests or limits or pods is not None or not quota.hard:
        _add(Quota(namespace, quota.name, requests, limits, pods, quota.priorities), inventory)


def limit_range(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A LimitRange of containers becomes part of the quota with its name, or a new quota."""
    limits = quotas.read_range(data)
    namespace = limits.namespace or "default"
    where = f"LimitRange {namespace}/{limits.name}"
    if limits.unread:
        inventory.add_remark(f"{where}: a policy has no field for {', '.join(limits.unread)}; left out")
    if limits.containers == ContainerRange():
        return
    home = next((q for q in inventory.quotas.values() if q.namespace == namespace and q.containers), None)
    if home is not None and home.name != limits.name:
        inventory.add_remark(
            f"{where}: {home.name} already sets defaults and bounds for containers in {namespace}; left out"
        )
        return
    containers = quotas.without_defaults(limits.containers)
    _add(Quota(namespace, limits.name, containers=containers), inventory)


def autoscaler(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A HorizontalPodAutoscaler: part of the workload kind named by its label."""
    scaler = autoscalers.read(data)
    target = scaler.target
    where = f"HorizontalPodAutoscaler {target.namespace or 'default'}/{scaler.name}"
    if not scaler.workload:
        inventory.add_remark(
            f"{where} scales {target.kind} {target.name} from {scaler.minimum} to "
            f"{scaler.maximum} pods: set `autoscaling` of its workload kind"
        )
        return
    if scaler.unread:
        inventory.add_remark(f"{where}: a policy has no field for {', '.join(scaler.unread)}; left out")
    wanted = _autoscaling(scaler)
    there = inventory.kinds.get(scaler.workload, WorkloadKind(scaler.workload))
    before = there.autoscaling
    if before and before._replace(targets=()) == wanted._replace(targets=()):
        targets = tuple(dict.fromkeys((*before.targets, *wanted.targets)))
        inventory.kinds[scaler.workload] = there._replace(autoscaling=before._replace(targets=targets))
    else:
        inventory.add_kind(WorkloadKind(scaler.workload, autoscaling=wanted))


def _autoscaling(scaler: Autoscaler) -> Autoscaling:
    metrics = () if scaler.metrics == autoscalers.UNMETERED else scaler.metrics
    return Autoscaling(scaler.maximum, scaler.minimum, metrics, (scaler.target,), scaler.window)


def _add(quota: Quota, inventory: Inventory) -> None:
    """Adds a quota. A ResourceQuota and a LimitRange with the same name are one quota of the policy."""
    there = inventory.quotas.get(quota.name)
    if (
        there is None
        or there.namespace != quota.namespace
        or bool(there.containers) == bool(quota.containers)
    ):
        inventory.add_quota(quota)
        return
    whole, containers = (there, quota.containers) if quota.containers else (quota, there.containers)
    inventory.quotas[quota.name] = whole._replace(containers=containers)


def _countable(resource: str) -> bool:
    return resource in _PLAIN or "/" in resource or resource.startswith("hugepages-")


def add_profiles(whole: Configuration, path: str, inventory: Inventory) -> None:
    """Profiles with their own scoring strategy become placements."""
    placed = [profile for profile in whole.profiles if _add_placement(profile, path, inventory)]
    for profile in whole.profiles:
        if profile.scheduler != DEFAULT_SCHEDULER:
            inventory.schedulers[profile.scheduler] = None
        _report_unsupported(profile, path, inventory)
    if whole.unread:
        inventory.add_remark(f"{path}: a policy has no field for {', '.join(whole.unread)}; left out")
    if placed:
        _add_deployment(whole, placed, inventory)


def _add_placement(profile: Profile, path: str, inventory: Inventory) -> bool:
    fit = profile.fit
    if fit is None or (fit.strategy == "LeastAllocated" and not fit.resources):
        return False
    heavy = [name for name, weight in fit.resources.items() if not 1 <= weight <= 100]
    if fit.strategy not in _STRATEGIES or heavy:
        weight = f"weight of {', '.join(heavy)}"
        what = weight if heavy else f"strategy {fit.strategy or '(no type)'}"
        inventory.add_remark(
            f"{path}: scheduler {profile.scheduler}: {what} is invalid in kube-scheduler; left out"
        )
        return False
    inventory.add_placement(placement(profile.scheduler, fit))
    return True


def placement(scheduler: str, fit: Fit) -> Placement:
    """The placement of a profile, without resources that `gen` would choose itself."""
    strategy = _STRATEGIES[fit.strategy] or _direction(fit)
    weighed = fit.resources or {"cpu": 1, "memory": 1}
    cards = {name: weight for name, weight in weighed.items() if "/" in name}
    others = {name: weight for name, weight in weighed.items() if name not in cards}
    chosen = cards and set(cards.values()) == {weights.CARD_WEIGHT}
    usual = bool(chosen) and others in ({}, {"cpu": 1, "memory": 1})
    return Placement(
        scheduler.removesuffix(_SUFFIX)[:63].rstrip("-."),
        strategy,
        {} if usual else {name: ResourcePlacement(strategy, weight) for name, weight in weighed.items()},
        fit.shape,
        scheduler="" if scheduler == DEFAULT_SCHEDULER else scheduler,
    )


def _direction(fit: Fit) -> str:
    return SPREAD if fit.shape and fit.shape[-1].score < fit.shape[0].score else BINPACK


def _add_deployment(whole: Configuration, placed: list[Profile], inventory: Inventory) -> None:
    """Adds how the profiles are run, unless by a second scheduler in kube-system."""
    says: dict[str, Any] = {}
    names = {profile.scheduler for profile in placed}
    if whole.kubeconfig or DEFAULT_SCHEDULER in names:
        says["as"] = "cluster"
    elif whole.lease and whole.lease.name == delivery.SECOND_NAME and whole.lease.namespace != _NAMESPACE:
        says["namespace"] = whole.lease.namespace
    if DEFAULT_SCHEDULER in names:
        says["default"] = DEFAULT_SCHEDULER.removesuffix(_SUFFIX)
    if says:
        inventory.option("kubernetes", "scheduler", says)


def second_scheduler(deployment: Manifest, inventory: Inventory) -> None:
    """The Deployment of a second kube-scheduler: namespace, image, replicas and Kubernetes release."""
    namespace = deployment.namespace
    name, tag = next(images(deployment.data), ("", ""))
    image = f"{name}:{tag}" if tag else name
    release = _RELEASE.match(tag)
    if release:
        inventory.release = inventory.release or release[1]
    replicas = mapping(deployment.data.get("spec")).get("replicas")
    says: dict[str, Any] = {}
    if namespace and namespace != _NAMESPACE:
        says["namespace"] = namespace
    if image and not (release and name == delivery.REPOSITORY):
        says["image"] = image
    if isinstance(replicas, int) and not isinstance(replicas, bool) and replicas > 1:
        says["replicas"] = replicas
    if says:
        inventory.option("kubernetes", "scheduler", says)


def _report_unsupported(profile: Profile, path: str, inventory: Inventory) -> None:
    weighed = [f"weight of {name}" for name in profile.weights if name not in _DEFAULT_WEIGHTS]
    without = [f"score without {name}" for name in profile.disabled]
    left = (*weighed, *without, *profile.unread)
    if left:
        inventory.add_remark(
            f"{path}: scheduler {profile.scheduler}: a policy has no field for {', '.join(left)}; left out"
        )


_BY_KIND: Mapping[str, Callable[[Mapping[str, Any], Inventory], None]] = {
    "PriorityClass": priority_class,
    "ResourceQuota": resource_quota,
    "LimitRange": limit_range,
    "HorizontalPodAutoscaler": autoscaler,
}
