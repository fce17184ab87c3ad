"""Values that the charts of NVIDIA's operator and device plugin do not read, or make nothing of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.chart_values import ChartValues, chart_values
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.rules.resources.hami_misuse import KNOWN_POLICIES
from policykit.rules.resources.plugin_sharing import LIST_WORDS, STRATEGIES

_OPERATOR, _PLUGIN, _HAMI = "gpu-operator", "nvidia-device-plugin", "hami"
_DAEMONS = (
    "ccManager",
    "dcgm",
    "dcgmExporter",
    "devicePlugin",
    "driver",
    "gds",
    "gdrcopy",
    "gfd",
    "kataManager",
    "migManager",
    "nodeStatusExporter",
    "sandboxDevicePlugin",
    "toolkit",
    "validator",
    "vfioManager",
    "vgpuDeviceManager",
    "vgpuManager",
)
"""Parts of the chart's values, each of one daemon. Source: values.yaml of gpu-operator (v22.9 to v25.10)."""
_OF_ALL = ("tolerations", "priorityClassName")


_TOP = (
    *_DAEMONS,
    "cdi",
    "clusterPolicy",
    "daemonsets",
    "draDriver",
    "extraObjects",
    "fullnameOverride",
    "global",
    "gpuCluster",
    "hostPaths",
    "kataSandboxDevicePlugin",
    "mig",
    "nameOverride",
    "nfd",
    "node-feature-discovery",
    "operator",
    "platform",
    "psa",
    "psp",
    "sandboxWorkloads",
)
_OF_PLUGIN = (
    "affinity",
    "args",
    "config",
    "enabled",
    "env",
    "hostNetwork",
    "image",
    "imagePullPolicy",
    "imagePullSecrets",
    "mps",
    "nodeSelector",
    "podSecurityContext",
    "priorityClassName",
    "repository",
    "resources",
    "securityContext",
    "tolerations",
    "version",
)
_CONFIG = ("create", "data", "default", "name")
_KNOWN: Mapping[Path, tuple[str, ...]] = {
    (): _TOP,
    ("devicePlugin",): _OF_PLUGIN,
    ("devicePlugin", "config"): _CONFIG,
    ("mig",): ("strategy",),
    ("migManager", "config"): _CONFIG,
}
"""Values of the operator's chart that any release reads. Source: its values and templates (1.0 to 26.7)."""
_OF_CONFIGURATION = frozenset({"flags", "migStrategy", "mps", "replicas", "sharing", "timeSlicing"})
"""Keys of a configuration of the device plugin, which is text of its own."""
_PLUGIN_READS: Mapping[Path, frozenset[str]] = {
    (): frozenset({"migStrategy", "mps"}),
    ("config",): frozenset(),
}
_POLICY: Path = ("scheduler", "defaultSchedulerPolicy")
_WORDS: Mapping[str, Mapping[Path, tuple[str, ...]]] = {
    _OPERATOR: {("mig", "strategy"): STRATEGIES},
    _PLUGIN: {
        ("deviceIDStrategy",): ("uuid", "index"),
        ("deviceListStrategy",): LIST_WORDS,
        ("migStrategy",): STRATEGIES,
    },
    _HAMI: {
        ("devicePlugin", "migStrategy"): STRATEGIES,
        (*_POLICY, "gpuSchedulerPolicy"): KNOWN_POLICIES["hami.io/gpu-scheduler-policy"],
        (*_POLICY, "nodeSchedulerPolicy"): KNOWN_POLICIES["hami.io/node-scheduler-policy"],
    },
}
"""Chart and value to the words that its program knows; the operator's are those of ClusterPolicy. A value may
list several, with commas. Source: their values (gpu-operator 26.7, k8s-device-plugin 0.20, HAMi 2.10)."""
_ABOVE_ZERO = ("deviceSplitCount", "deviceMemoryScaling", "deviceCoreScaling")
_ELSEWHERE = {"migStrategy": "mig.strategy", "nodeFeatureDiscovery": "nfd or node-feature-discovery"}
_LIKE = 0.75
_MADE = ("devicePlugin", "migManager", "dcgmExporter")
"""Parts of which the chart makes a ConfigMap, by default without data."""
_DISCOVERY = "node-feature-discovery"
_TOLERATED = frozenset(
    {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "nvidia.com/gpu"}
)
"""Keys that the workers of the discovery tolerate unless stated else. Source: values.yaml (v23.3 to 26.7)."""


def violations(manifest: Manifest) -> Iterator[Violation]:
    for stated in chart_values(manifest):
        yield from _unknown_words(stated)
        if stated.chart == _OPERATOR:
            yield from _of_all(stated)
            yield from _made_of_nothing(stated)
            yield from _undiscovered(stated)
            for path, known in _KNOWN.items():
                yield from _unread(stated, path, known)
        elif stated.chart == _PLUGIN:
            for path, reads in _PLUGIN_READS.items():
                written = mapping(lookup(stated.values, path))
                for key in sorted(written.keys() & (_OF_CONFIGURATION - reads)):
                    yield _of_configuration(stated, (*path, key), "config.map")
        elif stated.chart == _HAMI:
            yield from _nothing_to_offer(stated)


def _unknown_words(stated: ChartValues) -> Iterator[Violation]:
    for path, known in _WORDS.get(stated.chart, {}).items():
        written = text(lookup(stated.values, path))
        for word in written.split(",") if not is_placeholder(written) else ():
            if word and word.strip() not in known:
                near = nearest(word, known)
                yield _warning(
                    stated,
                    path,
                    f"{'.'.join(map(str, path))} is {word!r}, which is not one of {', '.join(known)}",
                    f"did you mean {near}?" if near else "write one of them",
                    key=False,
                )


def _nothing_to_offer(stated: ChartValues) -> Iterator[Violation]:
    for field in _ABOVE_ZERO:
        value = mapping(stated.values.get("devicePlugin")).get(field)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value <= 0:
            what = f"devicePlugin.{field} is {value}: no card has anything to offer"
            yield _warning(stated, ("devicePlugin", field), what, "write a number above 0", key=False)


def _of_all(stated: ChartValues) -> Iterator[Violation]:
    """What the chart of NVIDIA's operator reads for all daemons together."""
    for part in _DAEMONS:
        for field in _OF_ALL:
            if field in mapping(stated.values.get(part)):
                yield _warning(
                    stated,
                    (part, field),
                    f"the chart does not read {part}.{field}: it is that of all node daemons",
                    f"move it to daemonsets.{field}",
                )


def _made_of_nothing(stated: ChartValues) -> Iterator[Violation]:
    """Source: the templates plugin_config, mig_config and dcgm_exporter_config, and validations (26.7)."""
    for part in _MADE:
        path: Path = (part, "config")
        written = mapping(lookup(stated.values, path))
        place = ".".join(map(str, path))
        elsewhere = not stated.all_known or any(each.startswith(place) for each in stated.parameters)
        if written.get("create") is True and not written.get("data") and not elsewhere:
            yield _warning(
                stated,
                (*path, "create"),
                f"{place}.create is true, but its data is empty: the chart makes no ConfigMap of it",
                "write the configurations below data, or create: false with the name of a ConfigMap",
            )


def _undiscovered(stated: ChartValues) -> Iterator[Violation]:
    """The operator runs its daemons on nodes that the discovery labels; that has tolerations of its own."""
    known = stated.all_known and not any(each.startswith((_DISCOVERY, "nfd")) for each in stated.parameters)
    if not known or mapping(stated.values.get("nfd")).get("enabled", True) is not True:
        return
    worker = mapping(lookup(stated.values, (_DISCOVERY, "worker")))
    own = mappings(worker.get("tolerations"))
    tolerated = {text(each.get("key")) for each in own} if "tolerations" in worker else _TOLERATED
    path: Path = ("daemonsets", "tolerations")
    for position, each in numbered(lookup(stated.values, path)):
        key, effect = text(each.get("key")), each.get("effect")
        if key and effect != "PreferNoSchedule" and not tolerated & {"", key} and not is_placeholder(key):
            yield _warning(
                stated,
                (*path, position),
                f"the workers of {_DISCOVERY} do not tolerate {key}: nodes with such a taint get no labels, "
                "and no daemon of the operator",
                f"write it into {_DISCOVERY}.worker.tolerations too",
            )._replace(severity=Severity.INFO)
            return


def _unread(stated: ChartValues, path: Path, known: tuple[str, ...]) -> Iterator[Violation]:
    written = mapping(lookup(stated.values, path))
    for key in written:
        if not isinstance(key, str) or key in known:
            continue
        near = nearest(key, known, _LIKE)
        place = ".".join(map(str, (*path, key)))
        if key in _ELSEWHERE:
            advice = f"write it as {_ELSEWHERE[key]}"
            yield _warning(stated, (*path, key), f"the chart does not read {place}", advice)
        elif key in _OF_CONFIGURATION:
            yield _of_configuration(stated, (*path, key), "devicePlugin.config.data")
        elif near and near not in written:
            place = ".".join(map(str, (*path, key)))
            yield _warning(stated, (*path, key), f"the chart does not read {place}", f"did you mean {near}?")


def _of_configuration(stated: ChartValues, path: Path, home: str) -> Violation:
    place = ".".join(map(str, path))
    return _warning(
        stated,
        path,
        f"the chart does not read {place}: it is part of a configuration of the device plugin",
        f"put it into a configuration in {home}, and name that in {home.rpartition('.')[0]}.default",
    )


def _warning(stated: ChartValues, path: Path, message: str, advice: str, *, key: bool = True) -> Violation:
    """`key`: at the name of the value, not at the value."""
    at = stated.path if stated.is_text else (*stated.path, *path)
    return Violation(at, message, advice, Severity.WARNING, key=key and not stated.is_text)
