"""Faults of Koordinator's objects and of what pods tell it."""

from collections.abc import Iterator
from typing import Any

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, injected, put, remove, replace
from tests.mutation.places import at, containers, limits, named


def _field(kind: str, path: Path, value: Any = None) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if subject.manifest.kind == kind and at(subject, path[:1]) is not None:
            if value is not None:
                yield put(path, value)
            elif at(subject, path) is not None:
                yield remove(path)

    return inject


def _quota_label(name: str, value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if subject.manifest.kind == "ElasticQuota":
            yield put(("metadata", "labels", f"quota.scheduling.koordinator.sh/{name}"), value)

    return inject


def _pods(subject: Subject) -> Iterator[Path]:
    """Labels of plain pods that Koordinator places."""
    pod_set = subject.pod_sets[0] if len(subject.pod_sets) == 1 else None
    if (
        pod_set
        and pod_set.scheduler_name == "koord-scheduler"
        and pod_set.place("labels")[-1:] == ("labels",)
    ):
        yield pod_set.place("labels")


def _labels(**labels: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path in _pods(subject):
            made = [put((*path, f"koordinator.sh/{key}"), value) for key, value in labels.items()]
            yield Change(tuple(patch for change in made for patch in change.patches))

    return inject


def _reserved_batch(subject: Subject) -> Iterator[Change]:
    if not any("image" in container for _, container in containers(subject)):
        return  # a patch: what it is laid over may say another priority
    for path in _pods(subject):
        place = subject.pod_sets[0].place("priorityClassName")
        if place[-1:] == ("priorityClassName",):
            label = put((*path, "koordinator.sh/qosClass"), "LSR")
            yield Change((*label.patches, *put(place, "koord-batch").patches))


def _device(resources: dict[str, str]) -> Inject:
    """Parts of a card in place of whole ones."""

    def inject(subject: Subject) -> Iterator[Change]:
        for _ in _pods(subject):
            for path, name, _ in limits(subject):
                there = {key: value for key, value in at(subject, path).items() if key != name}
                yield replace(
                    path[:-1], {"limits": {**there, **resources}, "requests": {**there, **resources}}
                )

    return inject


def _enabled(subject: Subject, point: str) -> Iterator[tuple[Path, list[Any]]]:
    """Lists of plugins that koord-scheduler runs at a point."""
    profiles = at(subject, ("profiles",)) if subject.manifest.kind == "KubeSchedulerConfiguration" else None
    for index, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        path: Path = ("profiles", index, "plugins", point, "enabled")
        there = at(subject, path)
        if "koord" in str(profile.get("schedulerName")) and isinstance(there, list):
            yield path, there


def _last(subject: Subject) -> Iterator[Change]:
    """Reservation goes behind the others, where it has to come first."""
    for path, there in _enabled(subject, "preScore"):
        if len(there) > 1 and there[0].get("name") == "Reservation":
            yield replace(path, [*there[1:], there[0]])


def _against(subject: Subject) -> Iterator[Change]:
    """What one plugin packs, another one spreads again."""
    packs = any(
        isinstance(one, dict) and one.get("type") == "MostAllocated"
        for path, one in named(subject.manifest.data, "nvidia.com/gpu", "example.com/dongle")
        if path[-2:-1] == ("resources",)
    )
    for path, there in _enabled(subject, "score") if packs else ():
        spreads = any(plugin.get("name") == "DeviceShare" for plugin in there) and not _packed(subject)
        for index, plugin in enumerate(there):
            if plugin.get("name") == "NodeResourcesFitPlus" and spreads:
                yield replace((*path, index, "weight"), 1)


def _packed(subject: Subject) -> bool:
    """Whether DeviceShare itself was told to pack."""
    told = [each for path, each in named(subject.manifest.data, "scoringStrategy") if "pluginConfig" in path]
    return any(isinstance(each, dict) and each.get("type") == "MostAllocated" for each in told)


def _of_helm(subject: Subject) -> Iterator[Change]:
    """A changed configuration in a ConfigMap that the chart writes again."""
    known = subject.manifest.kind == "ConfigMap" and subject.manifest.name == "koord-scheduler-config"
    if known and subject.cluster and "koordinator" in subject.cluster.targets:
        yield put(("metadata", "labels", "app.kubernetes.io/managed-by"), "Helm")


def _boolean_as_text(subject: Subject) -> Iterator[Change]:
    for field in ("filterExpiredNodeMetrics", "enableCheckParentQuota", "enablePreemption"):
        for path, value in named(subject.manifest.data, field):
            if "pluginConfig" in path and isinstance(value, bool):
                yield replace(path, "no")


def _topology(path: Path, value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if subject.manifest.kind == "ClusterNetworkTopology" and at(subject, path) is not None:
            yield replace(path, value)

    return inject


def _removed_label(subject: Subject) -> Iterator[Change]:
    """A label that no supported release of its system reads."""
    for path in _pods(subject):
        yield put((*path, "runai/queue"), "research")


def _switch_as_text(subject: Subject) -> Iterator[Change]:
    """A switch of slo-controller-config in quotes."""
    if subject.manifest.read_as and at(subject, ("enable",)) is True:
        yield replace(("enable",), "true")


def _thresholds(subject: Subject) -> Iterator[Change]:
    """The low threshold of koord-descheduler above the high one."""
    path: Path = ("profiles", 0, "pluginConfig", 0, "args", "lowThresholds")
    for name in mapping(at(subject, path)):
        yield replace((*path, name), 99)


def _profile_elsewhere(subject: Subject) -> Iterator[Change]:
    """Pods with the label of a profile, whose namespace lacks that for which the profile is."""
    key = "koordinator.sh/enable-colocation"
    pods = subject.pod_sets[0] if len(subject.pod_sets) == 1 else None
    if subject.manifest.kind != "Deployment" or not subject.manifest.namespace or pods is None:
        return
    if not any("image" in container for _, container in containers(subject)):
        return
    path = pods.place("labels")
    if path[-1:] != ("labels",) or any(each.startswith("koordinator.sh/") for each in pods.labels):
        return
    group = "apiVersion: config.koordinator.sh/v1alpha1\nkind: ClusterColocationProfile\n"
    select = f'    matchLabels: {{{key}: "true"}}\n'
    spec = f"spec:\n  namespaceSelector:\n{select}  selector:\n{select}  qosClass: BE\n"
    profile = f"{group}metadata: {{name: batch}}\n{spec}  priorityClassName: koord-batch\n"
    namespace = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {subject.manifest.namespace}}}\n"
    if text := injected(subject, put((*path, key), "true")):
        yield Change(text=f"{text.rstrip()}\n---\n{namespace}---\n{profile}")


FAULTS = (
    fault("a profile for namespaces with a label", "PK617", _profile_elsewhere, elsewhere=True),
    fault("thresholds the wrong way round", "PK616", _thresholds),
    fault("a switch of colocation in quotes", "PK615", _switch_as_text),
    fault("the queue of an early KAI on a pod", "PK132", _removed_label),
    fault("a quota label that is a boolean", "PK006 PK004", _quota_label("is-parent", True)),
    fault("a quota label that is a word", "PK610", _quota_label("is-parent", "yes")),
    fault("a quota that is its own parent", "PK403 PK610", _quota_label("parent", "team-a"), elsewhere=True),
    fault(
        "a negative amount of a quota", "PK610 PK004", _field("ElasticQuota", ("spec", "min", "cpu"), "-1")
    ),
    fault("a reservation for nobody", "PK613 PK004", _field("Reservation", ("spec", "owners"))),
    fault("a reservation of nothing", "PK613 PK004", _field("Reservation", ("spec", "template"))),
    fault("Reservation behind other plugins", "PK605", _last),
    fault("a score that another one outweighs", "PK606 PK608", _against),
    fault("a configuration that the chart takes back", "PK607", _of_helm),
    fault("a boolean of a plugin as text", "PK603 PK802", _boolean_as_text),
    fault("a topology of another name", "PK614", _topology(("metadata", "name"), "racks")),
    fault(
        "a layer above nothing",
        "PK614",
        _topology(("spec", "networkTopologySpec", 1, "parentTopologyLayer"), "Nowhere"),
    ),
    fault("an unknown quality class", "PK612", _labels(qosClass="BEE")),
    fault("reserved processors with the priority of batch", "PK612", _reserved_batch),
    fault("half a card without memory", "PK611 PK213", _device({"koordinator.sh/gpu-core": "150"})),
    fault(
        "memory ratio that is no whole card",
        "PK611 PK213",
        _device({"koordinator.sh/gpu-core": "150", "koordinator.sh/gpu-memory-ratio": "150"}),
    ),
)
