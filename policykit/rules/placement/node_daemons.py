"""The daemons of card nodes that an object runs or installs: a DaemonSet, an operator's policy, a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue import daemons as catalogue
from policykit.catalogue import labels
from policykit.kube import affinity as affinities
from policykit.kube import podsets, requests, tolerations
from policykit.kube.affinity import NodeAffinity
from policykit.kube.chart_values import KINDS as HELM_KINDS
from policykit.kube.chart_values import ChartValues, chart_values
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, pairs
from policykit.model.pool import Toleration
from policykit.namedtuple import NamedTuple
from policykit.placement.label_values import REQUIRED_TERMS

KINDS = frozenset({"ClusterPolicy", "DaemonSet", "DeviceConfig"}) | HELM_KINDS
DEVICE_PLUGIN = "device plugin"
_OF_CARDS = frozenset({"device-plugin", "discovery", "exporter", "driver", "network"})
"""Roles that must run on every node with the vendor's cards."""
_WORDS = {"device-plugin": DEVICE_PLUGIN, "cni": "pod network", "driver": "driver daemon"}
_PLUGINS = "/var/lib/kubelet/device-plugins"
_OPERATOR = ("gpu-operator", "daemonsets.tolerations")

_HAMI = "hami"
"""The chart whose device plugin serves only nodes where it shares the cards, by a label that users set."""
_HAMI_SELECTORS = ("nvidiaNodeSelector", "nvidianodeSelector")
"""Of its device plugin; the second in older charts."""
_HAMI_DEFAULT = {"gpu": "on"}
_SWITCHES = {
    ("gpu-operator", "node-feature-discovery.worker.tolerations"): ("nfd", "enabled"),
    ("gpu-operator-charts", "node-feature-discovery.worker.tolerations"): (
        "node-feature-discovery",
        "enabled",
    ),
    (_HAMI, "devicePlugin.tolerations"): ("devicePlugin", "enabled"),
    ("nvidia-device-plugin", "nfd.worker.tolerations"): ("gfd", "enabled"),
}
"""Values that decide whether the chart installs these daemons."""
_AMD_DAEMONS = (
    ("enableDevicePlugin", "devicePluginTolerations", "device plugin of the AMD GPU operator"),
    ("enableNodeLabeller", "nodeLabellerTolerations", "node labeller of the AMD GPU operator"),
)
"""Switch, list of tolerations, and the daemon."""
_OFF_BY_DEFAULT = frozenset({"nvidia-device-plugin"})
"""Charts whose switch is off if left out."""


class NodeDaemon(NamedTuple):
    """A daemon, and what decides on which nodes it runs."""

    what: str
    vendor: str
    """Empty if it belongs to no vendor."""
    every_pool: bool
    """Whether it also serves pools without cards."""
    path: Path
    """Path of its tolerations."""
    tolerations: tuple[Toleration, ...]
    affinity: NodeAffinity
    selector: Path = ()
    """Path of its nodeSelector; the operator has none."""
    terms: Path = ()
    """Path of its required terms."""
    inside: Path | None = None
    """Path in the YAML text that the string at `path` holds."""
    value: str = ""
    """Name of its tolerations in the values of its chart."""
    sharing: str = ""
    """The only mode of sharing whose pools it serves."""


def node_daemons(manifest: Manifest) -> Iterator[NodeDaemon]:
    """The daemons of an object of one of KINDS."""
    if manifest.kind == "ClusterPolicy":
        yield from _operator(manifest)
    elif manifest.kind == "DeviceConfig":
        yield from _amd_operator(manifest)
    elif manifest.kind == "DaemonSet":
        yield from _daemon_sets(manifest)
    else:
        for values in chart_values(manifest):
            yield from _of_chart(values)


def _role_by_signs(spec: Mapping[str, Any]) -> tuple[str, str]:
    """(role, vendor) of a daemon whose image is not known; empty: it is not one of cards."""
    selected = affinities.read(spec).selector
    for key, value in selected.items():
        daemon = key.partition(labels.DEPLOYS)[2] if value == "true" else ""
        if daemon and (vendor := labels.discovery(key) or labels.switch(key)):
            return ("device-plugin" if "plugin" in daemon else "driver"), vendor
    volumes = spec.get("volumes")
    mounted = (lookup(each, ("hostPath", "path")) for each in mappings(volumes))
    if any(isinstance(path, str) and path.rstrip("/") == _PLUGINS for path in mounted):
        names = [text for key in selected if (text := labels.discovery(key) or labels.switch(key))]
        return "device-plugin", names[0] if names else ""
    return "", ""


def _daemon_sets(manifest: Manifest) -> Iterator[NodeDaemon]:
    if manifest.group != "apps":
        return
    for pod_set in podsets.pod_sets(manifest.data):
        image, role = _role(pod_set.spec)
        vendor = catalogue.serves(image)
        name = image.rpartition("/")[2].partition("@")[0].partition(":")[0]
        if not role:
            (role, vendor), name = _role_by_signs(pod_set.spec), manifest.name
        if (vendor and role in _OF_CARDS) or role == "cni" or (role == "discovery" and not vendor):
            yield NodeDaemon(
                f"{_WORDS.get(role, role)} {name}",
                vendor,
                role == "cni",
                pod_set.place("tolerations"),
                tolerations.read(pod_set.spec.get("tolerations")),
                affinities.read(pod_set.spec),
                pod_set.place("nodeSelector"),
                pod_set.place("affinity", *REQUIRED_TERMS),
            )


def _role(spec: Mapping[str, Any]) -> tuple[str, str]:
    """(image, role) of the first container that is a known daemon."""
    for field, _, container in requests.containers(spec):
        image = container.get("image")
        if field == "containers" and isinstance(image, str) and catalogue.role(image):
            return image, catalogue.role(image)
    return "", ""


def _operator(manifest: Manifest) -> Iterator[NodeDaemon]:
    """The NVIDIA GPU operator applies one list to all its daemons; a non-empty list replaces the defaults."""
    if manifest.group != "nvidia.com":
        return
    path = ("spec", "daemonsets", "tolerations")
    written = tolerations.read(lookup(manifest.data, path))
    shipped = next(c.tolerations for c in catalogue.charts() if (c.chart, c.value) == _OPERATOR)
    yield NodeDaemon("the GPU operator", "nvidia", False, path, written or shipped, NodeAffinity())


def _amd_operator(manifest: Manifest) -> Iterator[NodeDaemon]:
    """Each daemon has a list of its own, by default none. Source: `DevicePluginSpec` of ROCm's gpu-operator
    (v1.4)."""
    path: Path = ("spec", "devicePlugin")
    stated = mapping(lookup(manifest.data, path))
    if manifest.group != "amd.com" or not isinstance(manifest.data.get("spec"), dict):
        return
    selector = NodeAffinity(selector=pairs(lookup(manifest.data, ("spec", "selector"))))
    for switch, field, what in _AMD_DAEMONS:
        if stated.get(switch) is not False:
            listed = tolerations.read(stated.get(field))
            yield NodeDaemon(what, "amd", False, (*path, field), listed, selector, ("spec", "selector"))


def _of_chart(stated: ChartValues) -> Iterator[NodeDaemon]:
    """The lists of tolerations in the values of a known chart, as stated or by default."""
    for shipped in catalogue.charts():
        if shipped.chart != stated.chart or not _installs(stated, shipped.value):
            continue
        path = tuple(shipped.value.split("."))
        written = lookup(stated.values, path)
        if not (isinstance(written, list) if _states(stated.values, path) else stated.all_known):
            continue
        if any(name.startswith(shipped.value) for name in stated.parameters):
            continue
        if stated.chart == _HAMI:
            yield from _of_hami(stated, shipped.vendor, written)
            continue
        role = DEVICE_PLUGIN if "device-plugin" in shipped.chart and len(path) == 1 else "chart"
        yield NodeDaemon(
            f"{role} {shipped.chart}" + ("" if len(path) == 1 else f" ({shipped.value})"),
            shipped.vendor,
            False,
            stated.path if stated.is_text else (*stated.path, *path),
            tolerations.read(written) if isinstance(written, list) else shipped.tolerations,
            affinities.read(mapping(lookup(stated.values, path[:-1]))),
            inside=path if stated.is_text else None,
            value=shipped.value,
        )


def _of_hami(stated: ChartValues, vendor: str, listed: object) -> Iterator[NodeDaemon]:
    """Its device plugin. Source: `devicePlugin` in the values of HAMi's chart (2.4 to 2.10)."""
    given = mapping(stated.values.get("devicePlugin"))
    field = next((each for each in _HAMI_SELECTORS if each in given), "")
    selector = pairs(given[field]) if field else _HAMI_DEFAULT
    if not selector or not (field or stated.all_known):
        return
    inside: Path = ("devicePlugin", "tolerations")
    yield NodeDaemon(
        "HAMi's device plugin",
        vendor,
        False,
        stated.path if stated.is_text else (*stated.path, *inside),
        tolerations.read(listed),
        NodeAffinity(selector=selector),
        stated.path if stated.is_text else (*stated.path, "devicePlugin", field or _HAMI_SELECTORS[0]),
        inside=inside if stated.is_text else None,
        value=".".join(map(str, inside)),
        sharing=_HAMI,
    )


def _states(values: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether values say something about a path, if only that it is empty."""
    data: object = values
    for step in path:
        if not isinstance(data, dict):
            return True
        if step not in data:
            return False
        data = data[step]
    return True


def _installs(stated: ChartValues, value: str) -> bool:
    """Whether the chart installs the daemons of a list, as far as values tell."""
    switch = _SWITCHES.get((stated.chart, value))
    if switch is None:
        return True
    given = lookup(stated.values, switch)
    return given is True if stated.chart in _OFF_BY_DEFAULT else given in (None, True)
