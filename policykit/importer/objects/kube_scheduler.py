"""Configuration of kube-scheduler: scheduler names, and placements from its profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.inventory import Inventory
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.placement import BINPACK, SPREAD, Placement, ResourcePlacement
from policykit.policy.version import release
from policykit.targets.kubernetes.scheduler import configuration, delivery, plugins, weights
from policykit.targets.kubernetes.scheduler.configuration import (
    DEFAULT_SCHEDULER,
    RATIO,
    Configuration,
    Fit,
    Profile,
)

_STRATEGIES = {"MostAllocated": BINPACK, "LeastAllocated": SPREAD, RATIO: ""}
_NAMESPACE = "kube-system"
_SUFFIX = "-scheduler"
_COMPUTED = (plugins.FIT, plugins.AFFINITY)
"""Plugins whose weights `gen` computes."""


def scheduler_configuration(data: Mapping[str, Any], inventory: Inventory) -> None:
    """Profiles with their own scoring strategy become placements."""
    whole = configuration.read(data)
    placed = [profile for profile in whole.profiles if _add(profile, inventory)]
    for profile in whole.profiles:
        if profile.scheduler != DEFAULT_SCHEDULER:
            inventory.schedulers[profile.scheduler] = None
        _report_unsupported(profile, inventory)
    if whole.unsaid:
        inventory.say(
            f"configuration of kube-scheduler: a policy has no field for {', '.join(whole.unsaid)}; left out"
        )
    if placed:
        _add_deployment(whole, placed, inventory)


def _add(profile: Profile, inventory: Inventory) -> bool:
    fit = profile.fit
    if fit is None or (fit.strategy == "LeastAllocated" and not fit.resources):
        return False
    heavy = [name for name, weight in fit.resources.items() if not 1 <= weight <= 100]
    if fit.strategy not in _STRATEGIES or heavy:
        what = f"weight of {', '.join(heavy)}" if heavy else f"strategy {fit.strategy or '(no type)'}"
        inventory.say(f"scheduler {profile.scheduler}: {what} is invalid in kube-scheduler; left out")
        return False
    inventory.add_placement(placement(profile.scheduler, fit))
    return True


def placement(scheduler: str, fit: Fit) -> Placement:
    """The placement of a profile, without resources that `gen` would choose by itself."""
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
    """Adds how the profiles run, unless as a second scheduler in kube-system."""
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


def second_scheduler(data: Mapping[str, Any], inventory: Inventory) -> None:
    """The Deployment of a second kube-scheduler: namespace, image, replicas and Kubernetes release."""
    spec, namespace = mapping(data.get("spec")), text(mapping(data.get("metadata")).get("namespace"))
    containers = mappings(mapping(mapping(spec.get("template")).get("spec")).get("containers"))
    image = next((text(each.get("image")) for each in containers), "")
    tag = release(image.rpartition(":")[2]) if ":" in image else None
    if tag:
        inventory.release = inventory.release or ".".join(map(str, tag[:2]))
    replicas = spec.get("replicas")
    says: dict[str, Any] = {}
    if namespace and namespace != _NAMESPACE:
        says["namespace"] = namespace
    if image and not (tag and image.startswith(f"{delivery.REPOSITORY}:")):
        says["image"] = image
    if isinstance(replicas, int) and not isinstance(replicas, bool) and replicas > 1:
        says["replicas"] = replicas
    if says:
        inventory.option("kubernetes", "scheduler", says)


def _report_unsupported(profile: Profile, inventory: Inventory) -> None:
    weighed = [f"weight of {name}" for name in profile.weights if name not in _COMPUTED]
    without = [f"score without {name}" for name in profile.disabled]
    left = (*weighed, *without, *profile.unsaid)
    if left:
        inventory.say(f"scheduler {profile.scheduler}: a policy has no field for {', '.join(left)}; left out")
