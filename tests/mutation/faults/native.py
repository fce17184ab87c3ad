"""Faults of kube-scheduler's configuration and of priority classes."""

from collections.abc import Iterator
from typing import Any

from policykit.linter.reader import is_marked_partial
from policykit.manifests.patch import APPEND
from policykit.manifests.path import Path
from policykit.rules.kubernetes import (
    ignored_group_priorities,
    invalid_descheduler_policy,
    plugin_not_in_image,
)
from policykit.rules.placement import unmatched_feature_rule
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, injected, misspelt, put, remove, rename, replace
from tests.mutation.places import at, containers, has_schema, judged, named


def _profiles(subject: Subject) -> Iterator[tuple[int, dict[str, Any]]]:
    profiles = at(subject, ("profiles",)) if subject.manifest.kind == "KubeSchedulerConfiguration" else None
    for index, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if isinstance(profile, dict):
            yield index, profile


def _enabled(subject: Subject, point: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    for index, _ in _profiles(subject):
        path: Path = ("profiles", index, "plugins", point, "enabled")
        there = at(subject, path)
        for number, plugin in enumerate(there if isinstance(there, list) else ()):
            yield (*path, number), plugin


def _plugin(subject: Subject) -> Iterator[Change]:
    for point in ("score", "filter", "preFilter"):
        for path, plugin in _enabled(subject, point):
            yield replace((*path, "name"), misspelt(plugin["name"]))


def _twice(subject: Subject) -> Iterator[Change]:
    for index, profile in _profiles(subject):
        if index == 0 and "schedulerName" in profile:
            yield put(("profiles", APPEND), {"schedulerName": profile["schedulerName"]})


def _sort(subject: Subject) -> Iterator[Change]:
    for index, profile in _profiles(subject):
        other = {
            "schedulerName": f"{profile.get('schedulerName', 'one')}-more",
            "plugins": {"queueSort": {"disabled": [{"name": "*"}], "enabled": [{"name": "Coscheduling"}]}},
        }
        if index == 0 and not any(p["name"] == "Coscheduling" for _, p in _enabled(subject, "queueSort")):
            yield put(("profiles", APPEND), other)


def _version(value: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if subject.manifest.kind == "KubeSchedulerConfiguration":
            yield replace(("apiVersion",), value)

    return inject


def _strategy(field: str, value: Any = None) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, there in named(subject.manifest.data, "scoringStrategy"):
            config = at(subject, path[:-2])
            if isinstance(there, dict) and field in there and config.get("name") == "NodeResourcesFit":
                yield remove((*path, field)) if value is None else replace((*path, field), value)

    return inject


def _args_twice(subject: Subject) -> Iterator[Change]:
    for index, profile in _profiles(subject):
        for args in profile.get("pluginConfig") or ():
            yield put(("profiles", index, "pluginConfig", APPEND), args)


def _args_kind(subject: Subject) -> Iterator[Change]:
    for index, profile in _profiles(subject):
        for number, config in enumerate(profile.get("pluginConfig") or ()):
            if isinstance(config, dict) and "kind" in (config.get("args") or {}):
                path: Path = ("profiles", index, "pluginConfig", number, "args", "kind")
                yield replace(path, misspelt(config["args"]["kind"]))


def _args_field(subject: Subject) -> Iterator[Change]:
    for index, profile in _profiles(subject):
        for number, config in enumerate(profile.get("pluginConfig") or ()):
            args = config.get("args") if isinstance(config, dict) else None
            for key in args if isinstance(args, dict) else ():
                if key not in ("apiVersion", "kind"):
                    yield rename(("profiles", index, "pluginConfig", number, "args", key), misspelt(key))


def _no_prescore(subject: Subject) -> Iterator[Change]:
    if any(p["name"] == "NodeResourcesFitPlus" for _, p in _enabled(subject, "score")):
        for path, plugin in _enabled(subject, "preScore"):
            if plugin["name"] == "NodeResourcesFitPlus":
                yield remove(path)


def _wildcard(subject: Subject) -> Iterator[Change]:
    for index, profile in _profiles(subject):
        if "koord" in str(profile.get("schedulerName")) and list(_enabled(subject, "score")):
            yield put(("profiles", index, "plugins", "score", "disabled"), [{"name": "*"}])


def _args(plugin: str, path: Path, value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for index, profile in _profiles(subject):
            for number, config in enumerate(profile.get("pluginConfig") or ()):
                if config.get("name") == plugin and at(
                    subject, ("profiles", index, "pluginConfig", number, "args", *path[:1])
                ):
                    yield put(("profiles", index, "pluginConfig", number, "args", *path), value)

    return inject


def _priority(path: Path, value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if subject.manifest.kind == "PriorityClass" and not subject.manifest.partial:
            yield put(path, value)

    return inject


def _two_defaults(subject: Subject) -> Iterator[Change]:
    if subject.manifest.kind == "PriorityClass" and subject.others.count("PriorityClass") == 1:
        other = (
            "\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: second\n"
            "value: 5\nglobalDefault: true\n"
        )
        if "globalDefault: true" in subject.text:
            yield Change(text=subject.text.rstrip("\n") + other)
        elif "globalDefault: false" in subject.text:
            first = subject.text.replace("globalDefault: false", "globalDefault: true", 1)
            yield Change(text=first.rstrip("\n") + other)


def _class_misspelt(subject: Subject) -> Iterator[Change]:
    known = {each.name for each in subject.cluster.priorities} if subject.cluster else set()
    for seen in judged(subject):
        path = seen.pod_set.place("priorityClassName")
        value = at(subject, path)
        if value in known:
            yield replace(path, misspelt(value))


def _class_of_the_system(subject: Subject) -> Iterator[Change]:
    for seen in judged(subject):
        if "priorityClassName" not in seen.pod_set.spec and seen.pod_set.default_place is not None:
            yield put(seen.pod_set.place("priorityClassName"), "system-critical")


def _other_preemption(subject: Subject) -> Iterator[Change]:
    """Pods that do not preempt, though their class, beside them, does."""
    for seen in judged(subject):
        path, name = seen.pod_set.place("preemptionPolicy"), seen.pod_set.spec.get("priorityClassName")
        known = {each.name for each in subject.cluster.priorities} if subject.cluster else set()
        if name in known and "preemptionPolicy" not in seen.pod_set.spec and has_schema(subject):
            head = f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\n"
            if text := injected(subject, put(path, "Never")):
                yield Change(text=f"{text.rstrip()}\n---\n{head}value: 1000\n")


def _runtime_misspelt(subject: Subject) -> Iterator[Change]:
    for seen in judged(subject):
        if "runtimeClassName" not in seen.pod_set.spec and seen.pod_set.default_place is not None:
            yield put(seen.pod_set.place("runtimeClassName"), "nvidai")


def _standard(subject: Subject) -> Iterator[Change]:
    """Pods on the network of their node, in a namespace that forbids it."""
    path: Path = ("spec", "template", "spec", "hostNetwork")
    name, kind = subject.manifest.namespace, subject.manifest.kind
    complete = kind == "Deployment" and at(subject, (*path[:-1], "containers", 0, "image")) is not None
    free = complete and bool(name) and at(subject, path) is None and has_schema(subject)
    text = injected(subject, put(path, True)) if free else None
    if text:
        head = f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n"
        labels = "  labels: {pod-security.kubernetes.io/enforce: baseline}\n"
        yield Change(text=f"{text.rstrip()}\n---\n{head}{labels}")


def _spreads(subject: Subject) -> Iterator[Change]:
    """The policy packs the cards of pods that name a scheduler, and the scheduler spreads them."""
    kinds = subject.cluster.workloads.values() if subject.cluster else ()
    packed = {kind.scheduler for kind in kinds if kind.placement == "binpack"}
    cards = {name for pool in subject.cluster.pools for name in pool.resources} if subject.cluster else set()
    for path, there in named(subject.manifest.data, "scoringStrategy"):
        profile, config = at(subject, path[:2]), at(subject, path[:-2])
        listed = there.get("resources") if isinstance(there, dict) else None
        counted = {each.get("name") for each in listed} if isinstance(listed, list) else set()
        fits = isinstance(config, dict) and config.get("name") == "NodeResourcesFit"
        if fits and cards & counted and profile.get("schedulerName") in packed:
            yield replace((*path, "type"), "LeastAllocated")


def _weight(subject: Subject) -> Iterator[Change]:
    for path, value in named(subject.manifest.data, "weight"):
        if path[-4:-2] == ("score", "enabled") and isinstance(value, int):
            yield replace(path, -1)


def _profile_name(value: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, _ in named(subject.manifest.data, "schedulerName"):
            if path[:1] == ("profiles",) and len(path) == 3:
                yield replace(path, value)

    return inject


def _patch(subject: Subject) -> Iterator[Change]:
    """A patch behind its base, with a list that takes the place of another one."""
    manifest = subject.manifest
    tolerated = at(subject, ("spec", "template", "spec", "tolerations"))
    once = (
        subject.others.count(manifest.kind) == 1 and not manifest.base and not is_marked_partial(subject.text)
    )
    if manifest.kind in ("Deployment", "StatefulSet") and manifest.name and tolerated and once:
        namespace = f"  namespace: {manifest.namespace}\n" if manifest.namespace else ""
        patch = (
            f"\n---\napiVersion: apps/v1\nkind: {manifest.kind}\n"
            f"metadata:\n  name: {manifest.name}\n{namespace}"
            "spec:\n  template:\n    spec:\n      tolerations:\n      - key: example.com/pool\n"
            "        operator: Exists\n"
        )
        yield Change(text=subject.text.rstrip("\n") + patch)


def _no_members(subject: Subject) -> Iterator[Change]:
    path: Path = ("spec", "schedulingPolicy", "gang", "minCount")
    if subject.manifest.group == "scheduling.k8s.io" and at(subject, path) is not None:
        yield replace(path, 0)


def _stop_signal(subject: Subject) -> Iterator[Change]:
    """Where the policy states a release of Kubernetes."""
    stated = subject.cluster.kubernetes_version if subject.cluster else ""
    for path, _ in containers(subject) if stated >= "1.33" else ():
        yield put((*path, "lifecycle"), {"stopSignal": "SIGUSR1"})


def _shared_lease(subject: Subject) -> Iterator[Change]:
    names = {profile.get("schedulerName", "default-scheduler") for _, profile in _profiles(subject)}
    if names and not names & {"default-scheduler", "koord-scheduler"}:
        yield put(("leaderElection",), {"leaderElect": True})


def _among_objects(subject: Subject) -> Iterator[Change]:
    manifest = subject.manifest
    if manifest.kind == "KubeSchedulerConfiguration" and manifest.holder is None:
        account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: scheduler}\n---\n"
        yield Change(text=account + subject.text)


def _stock_image(subject: Subject) -> Iterator[Change]:
    """A further scheduler, of an image that lacks a plugin of its configuration."""
    manifest = subject.manifest
    if manifest.kind == "KubeSchedulerConfiguration" and manifest.holder is not None:
        yield Change(text=f"{subject.text}\n---\n{plugin_not_in_image.BAD}")


def _descheduler_policy(subject: Subject) -> Iterator[Change]:
    """A policy of the descheduler with a plugin at the wrong point."""
    manifest = subject.manifest
    if manifest.kind == "KubeSchedulerConfiguration" and manifest.holder is not None:
        yield Change(text=f"{subject.text}\n---\n{invalid_descheduler_policy.BAD}")


def _priorities_as_text(subject: Subject) -> Iterator[Change]:
    """Priorities of node groups that the cluster autoscaler cannot read."""
    manifest = subject.manifest
    if manifest.kind == "KubeSchedulerConfiguration" and manifest.holder is not None:
        yield Change(text=f"{subject.text}\n---\n{ignored_group_priorities.BAD}")


def _feature_rule(subject: Subject) -> Iterator[Change]:
    """A rule of Node Feature Discovery about a feature that no node has."""
    manifest = subject.manifest
    if manifest.kind == "KubeSchedulerConfiguration" and manifest.holder is not None:
        yield Change(text=f"{subject.text}\n---\n{unmatched_feature_rule.BAD}")


def _denied_annotation(subject: Subject) -> Iterator[Change]:
    """A rule of Node Feature Discovery that writes under kubernetes.io."""
    manifest = subject.manifest
    if manifest.kind == "KubeSchedulerConfiguration" and manifest.holder is not None:
        rule = unmatched_feature_rule.GOOD.replace("labels: {example.com", "annotations: {node.kubernetes.io")
        yield Change(text=f"{subject.text}\n---\n{rule}")


def _unmounted(subject: Subject) -> Iterator[Change]:
    """A scheduler whose container does not have its configuration."""
    manifest = subject.manifest
    if manifest.kind == "KubeSchedulerConfiguration" and manifest.holder is not None:
        pod = plugin_not_in_image.BAD.partition("---\n")[2].replace(
            "mountPath: /etc/gang", "mountPath: /etc/none"
        )
        yield Change(text=f"{subject.text}\n---\n{pod}")


def _packs_weakly(subject: Subject) -> Iterator[Change]:
    strategy = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    for index, profile in _profiles(subject):
        if not {"plugins", "pluginConfig"} & profile.keys():
            args = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}]
            yield put(("profiles", index, "pluginConfig"), args)


def _removed_flag(subject: Subject) -> Iterator[Change]:
    for path, container in containers(subject):
        command = container.get("command")
        if isinstance(command, list) and "kube-scheduler" in command:
            yield put((*path, "command", APPEND), "--policy-config-file=/etc/policy.json")


def _flag_with_space(subject: Subject) -> Iterator[Change]:
    for path, container in containers(subject):
        command = container.get("command")
        if isinstance(command, list) and "kube-scheduler" in command:
            yield put((*path, "command", APPEND), "--v 5")


FAULTS = (
    fault("a second scheduler on the first one's lease", "PK810", _shared_lease),
    fault("a scheduler configuration among objects", "PK811", _among_objects, elsewhere=True),
    fault("an image without the plugins of its scheduler", "PK814", _stock_image, elsewhere=True),
    fault("a strategy of the descheduler at the wrong point", "PK816", _descheduler_policy, elsewhere=True),
    fault("priorities of node groups as text", "PK817", _priorities_as_text, elsewhere=True),
    fault("a feature that no node has", "PK148", _feature_rule, elsewhere=True),
    fault("an annotation that NFD denies", "PK148", _denied_annotation, elsewhere=True),
    fault("a configuration that no volume brings", "PK809", _unmounted, elsewhere=True),
    fault("packing with the default weight", "PK812", _packs_weakly),
    fault("a flag of the policy API", "PK809", _removed_flag),
    fault("a flag and its value as one argument", "PK809", _flag_with_space),
    fault("a misspelt scheduler plugin", "PK801 PK603 PK602 PK601 PK608", _plugin),
    fault("two profiles of one name", "PK802 PK601", _twice),
    fault("two orders of the queue", "PK802 PK601", _sort),
    fault(
        "a scheduler configuration of an old version",
        "PK802 PK601 PK007",
        _version("kubescheduler.config.k8s.io/v1beta2"),
    ),
    fault(
        "a scheduler configuration of no version",
        "PK802 PK601 PK007",
        _version("kubescheduler.config.k8s.io/v2"),
    ),
    fault("a scoring strategy without type", "PK802 PK603", _strategy("type")),
    fault("an unknown scoring strategy", "PK802 PK603", _strategy("type", "BinPack")),
    fault("arguments of a plugin twice", "PK802 PK603", _args_twice),
    fault("arguments of another kind", "PK603 PK802 PK601", _args_kind),
    fault("a misspelt argument of a plugin", "PK603 PK802 PK003", _args_field),
    fault("a negative weight of a plugin", "PK802 PK603 PK601", _weight),
    fault("a profile with an empty name", "PK802 PK601", _profile_name("")),
    fault("a score without preScore", "PK602", _no_prescore),
    fault("all scores turned off", "PK604 PK608", _wildcard),
    fault("a threshold above 100", "PK603", _args("LoadAwareScheduling", ("usageThresholds", "cpu"), 165)),
    fault(
        "a negative weight of a resource",
        "PK603",
        _args("LoadAwareScheduling", ("resourceWeights", "cpu"), -1),
    ),
    fault(
        "an unknown type of FitPlus",
        "PK603",
        _args("NodeResourcesFitPlus", ("resources", "cpu", "type"), "Most"),
    ),
    fault("a priority above a billion", "PK804", _priority(("value",), 2_000_000_000)),
    fault("a priority class of a reserved name", "PK804", _priority(("metadata", "name"), "system-high")),
    fault("a misspelt preemption policy", "PK804 PK004", _priority(("preemptionPolicy",), "Nevver")),
    fault("two default priorities", "PK804", _two_defaults, elsewhere=True),
    fault("a scheduler that spreads what is packed", "PK803", _spreads),
    fault("a patch that replaces a list", "PK806", _patch, elsewhere=True),
    fault("a native gang of none", "PK807 PK004", _no_members),
    fault("a misspelt priority class", "PK805", _class_misspelt),
    fault("a class of the system that cannot be", "PK805", _class_of_the_system),
    fault("pods that do not preempt as their class does", "PK805", _other_preemption, elsewhere=True),
    fault("a misspelt runtime class", "PK813", _runtime_misspelt),
    fault("pods that their namespace forbids", "PK815", _standard, elsewhere=True),
    fault("a stop signal, which no release has on", "PK808", _stop_signal),
)
