"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) in its normal form, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.workload import Point
from policykit.namedtuple import NamedTuple
from policykit.targets.import_values import unread_fields
from policykit.targets.kubernetes.scheduler.fields import GROUP
from policykit.targets.kubernetes.scheduler.plugins import FIT

API_VERSION = f"{GROUP}/v1"
KIND = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER = "default-scheduler"
RATIO = "RequestedToCapacityRatio"
STRATEGIES = ("LeastAllocated", "MostAllocated", RATIO)
"""Types of scoringStrategy of NodeResourcesFit."""
_FIT_ARGS = ("apiVersion", "kind", "scoringStrategy")


class Fit(NamedTuple):
    """scoringStrategy of NodeResourcesFit."""

    strategy: str
    """One of STRATEGIES."""
    resources: Mapping[str, int] = {}
    """Resource name to weight; empty: cpu and memory, 1 each."""
    shape: tuple[Point, ...] = ()
    """For RequestedToCapacityRatio."""


class Profile(NamedTuple):
    """One schedulerName. Fields that are not set keep their defaults."""

    scheduler: str = DEFAULT_SCHEDULER
    fit: Fit | None = None
    weights: Mapping[str, int] = {}
    """Plugin to its weight at the point `score`; the others keep theirs."""
    disabled: tuple[str, ...] = ()
    """Plugins disabled at the point `score`."""
    percentage: int | None = None
    """percentageOfNodesToScore."""
    unread: tuple[str, ...] = ()
    """Fields of the profile that this type does not have."""


class Lease(NamedTuple):
    """The lease by which replicas of a scheduler elect their leader."""

    name: str
    namespace: str


class Configuration(NamedTuple):
    """A whole file."""

    profiles: tuple[Profile, ...] = ()
    lease: Lease | None = None
    """None: kube-scheduler's own, kube-system/kube-scheduler."""
    kubeconfig: str = ""
    """Kubeconfig of the API server; empty: the pod's service account is used."""
    unread: tuple[str, ...] = ()


def write(configuration: Configuration) -> dict[str, Any]:
    """The file, in a form that strict decoding accepts."""
    data: dict[str, Any] = {"apiVersion": API_VERSION, "kind": KIND}
    if configuration.kubeconfig:
        data["clientConnection"] = {"kubeconfig": configuration.kubeconfig}
    if configuration.lease:
        data["leaderElection"] = {
            "leaderElect": True,
            "resourceName": configuration.lease.name,
            "resourceNamespace": configuration.lease.namespace,
        }
    data["profiles"] = [_write_profile(profile) for profile in configuration.profiles]
    return data


def _write_profile(profile: Profile) -> dict[str, Any]:
    data: dict[str, Any] = {"schedulerName": profile.scheduler}
    if profile.percentage is not None:
        data["percentageOfNodesToScore"] = profile.percentage
    score: dict[str, Any] = {}
    if profile.weights:
        score["enabled"] = [{"name": name, "weight": weight} for name, weight in profile.weights.items()]
    if profile.disabled:
        score["disabled"] = [{"name": name} for name in profile.disabled]
    if score:
        data["plugins"] = {"score": score}
    if profile.fit:
        data["pluginConfig"] = [{"name": FIT, "args": {"scoringStrategy": _write_fit(profile.fit)}}]
    return data


def _write_fit(fit: Fit) -> dict[str, Any]:
    data: dict[str, Any] = {"type": fit.strategy}
    if fit.resources:
        data["resources"] = [{"name": name, "weight": weight} for name, weight in fit.resources.items()]
    if fit.shape:
        data["requestedToCapacityRatio"] = {"shape": [point._asdict() for point in fit.shape]}
    return data


def read(data: Mapping[str, Any]) -> Configuration:
    """The content of a file; parts of the wrong type are left out."""
    election, connection = mapping(data.get("leaderElection")), mapping(data.get("clientConnection"))
    name, namespace = text(election.get("resourceName")), text(election.get("resourceNamespace"))
    return Configuration(
        tuple(_read_profile(profile) for profile in mappings(data.get("profiles"))),
        Lease(name, namespace) if name or namespace else None,
        text(connection.get("kubeconfig")),
        unread_fields(data, ("apiVersion", "kind", "clientConnection", "leaderElection", "profiles")),
    )


def _read_profile(data: Mapping[str, Any]) -> Profile:
    plugins = mapping(data.get("plugins"))
    score = mapping(plugins.get("score"))
    enabled = {
        text(each.get("name")): whole(each.get("weight")) or 1 for each in mappings(score.get("enabled"))
    }
    fit: Fit | None = None
    others: list[str] = []
    for number, each in enumerate(mappings(data.get("pluginConfig"))):
        args = mapping(each.get("args"))
        fit = fit or (_read_fit(args.get("scoringStrategy")) if each.get("name") == FIT else None)
        others += unread_fields(
            args,
            _FIT_ARGS if each.get("name") == FIT else (),
            text(each.get("name")) or f"pluginConfig[{number}]",
        )
    known = ("schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig")
    return Profile(
        text(data.get("schedulerName")) or DEFAULT_SCHEDULER,
        fit,
        {name: weight for name, weight in enabled.items() if name},
        tuple(name for each in mappings(score.get("disabled")) if (name := text(each.get("name")))),
        whole(data.get("percentageOfNodesToScore")),
        (*unread_fields(data, known), *unread_fields(plugins, ("score",), "plugins"), *others),
    )


def _read_fit(data: object) -> Fit | None:
    strategy = mapping(data)
    points = mappings(mapping(strategy.get("requestedToCapacityRatio")).get("shape"))
    if not strategy:
        return None
    return Fit(
        text(strategy.get("type")),
        {
            name: whole(each.get("weight")) or 1
            for each in mappings(strategy.get("resources"))
            if (name := text(each.get("name")))
        },
        tuple(Point(whole(p.get("utilization")) or 0, whole(p.get("score")) or 0) for p in points),
    )
