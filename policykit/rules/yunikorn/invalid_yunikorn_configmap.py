"""YuniKorn does not read a part of its configuration, or reads it differently.

YuniKorn reads two ConfigMaps by name, yunikorn-defaults and yunikorn-configs, and only the keys it
knows. Unknown settings are silently ignored; queues under another key leave the default queues in
place; an invalid value of the scheduler's own settings keeps it from starting. In the queues
themselves, only one partition and one root are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.rules.yunikorn.queue_config import settled
from policykit.targets.yunikorn import CONFIGURATION, NAME, VALUES, options, validation, versions
from policykit.targets.yunikorn.configuration import configmap, values
from policykit.targets.yunikorn.configuration import queues_yaml as files
from policykit.targets.yunikorn.configuration.queues_yaml import (
    DEFAULT,
    Configuration,
    Partition,
    QueueNode,
    queue_tree,
)
from policykit.targets.yunikorn.names import ROOT

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: yunikorn-configs
  namespace: yunikorn
data:
  service.schedulingInterval: "1"
"""

GOOD = BAD.replace('"1"', "1s")

_VALUES: Mapping[str, tuple[Path, ...]] = {
    "HelmRelease": (("spec", "values"),),
    "Application": (("spec", "source", "helm", "valuesObject"),),
    VALUES.name: ((),),
}
"""Where objects keep chart values as data, not as text."""
_OLD_VALUES = {
    "configuration": "put it under yunikornDefaults, key queues.yaml",
    "operatorPlugins": "delete it: operator plugins no longer exist",
    "placeHolderImage": "put it under yunikornDefaults, key service.placeholderImage",
}
_YAML = ".yaml"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Partitions and roots of queues.yaml; entries of the ConfigMaps, also as chart values."""
    cluster = context.cluster
    if manifest.kind == NAME:
        yield from settled(_layout(files.read(manifest.data)), manifest)
    elif manifest.kind == "ConfigMap":
        yield from _config_map(manifest, cluster)
    else:
        for path in _VALUES[manifest.kind]:
            yield from _values(manifest, path, cluster)


def _layout(configuration: Configuration) -> Iterator[Violation]:
    """Unused partitions, a root next to other queues, amounts of a nested queue named root."""
    for number, partition in enumerate(configuration.partitions):
        path: Path = ("partitions", number)
        if partition.name.lower() not in ("", DEFAULT):
            message = f"partition {partition.name} is never used: Kubernetes uses only partition default"
            where, advice = (*path, "name"), "move its queues below root of partition default"
            yield Violation(where, message, advice, Severity.WARNING)
            continue
        yield from _roots(partition, path)


def _roots(partition: Partition, path: Path) -> Iterator[Violation]:
    top = partition.queues or ()
    for number, queue in enumerate(top if len(top) > 1 else ()):
        if queue.name.lower() == ROOT:
            others = ", ".join(other.name for other in top if other is not queue)
            yield Violation(
                (*path, "queues", number, "name"),
                f"root is next to {others}, so YuniKorn inserts a root above: this one becomes root.root",
                "move the other queues below root: its settings do not apply to them",
                Severity.WARNING,
            )
    tree = queue_tree(partition, path)
    for each in tree.walk():
        for child in each.children:
            yield from _nested(child, each.queue.name)


def _nested(queue: QueueNode, above: str) -> Iterator[Violation]:
    resources = queue.queue.resources
    stated = [
        key
        for key, value in (("guaranteed", resources.guaranteed), ("max", resources.maximum))
        if value is not None
    ]
    if queue.queue.name.lower() == ROOT and stated:
        message = (
            f"queue root below {above} has resources, which YuniKorn never applies to a queue of this name"
        )
        advice = "rename the queue"
        where = (*queue.path, "resources")
        yield Violation(where, message, advice, Severity.WARNING)


class _Group(NamedTuple):
    """The policy group, whose configuration counts among those of a map."""

    name: str
    sure: bool
    """No other map overrides it."""

    @property
    def key(self) -> str:
        return f"{self.name}{_YAML}"


def _group(data: Mapping[str, Any], cluster: Cluster | None, last: bool) -> _Group:
    """`last`: no other ConfigMap overrides this one."""
    target = cluster.targets.get("yunikorn") if cluster else None
    group = options.yunikorn_options(target).policy_group if target else ""
    stated = isinstance(data.get(configmap.POLICY_GROUP), str)
    sure = bool(group) or (stated and last)
    return _Group(configmap.policy_group(data) if stated else group or "queues", sure)


def _config_map(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    data = mapping(manifest.data.get("data"))
    if not configmap.is_read(manifest.name):
        yield from _misnamed(manifest, data)
        return
    target = cluster.targets.get("yunikorn") if cluster else None
    wanted = target.namespace if target else ""
    if wanted and manifest.namespace not in ("", wanted) and not is_placeholder(manifest.namespace):
        message = f"{manifest.name} is in namespace {manifest.namespace}, but YuniKorn runs in {wanted}"
        advice = "move it: the scheduler reads ConfigMaps only in its own namespace"
        yield Violation(("metadata", "namespace"), message, advice)
    group, version = (
        _group(data, cluster, manifest.name == configmap.CONFIGS),
        versions.release_of(cluster),
    )
    yield from _entries(data, ("data",), version, group)
    yield from settled(_binary(manifest, data, version, group), manifest)


def _misnamed(manifest: Manifest, data: Mapping[str, Any]) -> Iterator[Violation]:
    texts = [text for text in data.values() if isinstance(text, str)]
    if not manifest.name or is_placeholder(manifest.name) or not any(map(_holds_queues, texts)):
        return
    yield Violation(
        ("metadata", "name"),
        f"ConfigMap {manifest.name} contains queues, but YuniKorn does not read it",
        f"rename it to {configmap.CONFIGS}; YuniKorn reads only that and {configmap.DEFAULTS}",
        Severity.WARNING,
    )


def _values(manifest: Manifest, path: Path, cluster: Cluster | None) -> Iterator[Violation]:
    values = mapping(lookup(manifest.data, path))
    stated = mapping(values.get(configmap.VALUES))
    group = _group(stated, cluster, False)
    yield from _entries(stated, (*path, configmap.VALUES), versions.release_of(cluster), group)
    for name in _OLD_VALUES if stated else ():
        if values.get(name):
            message = f"the chart of YuniKorn 1.9 no longer reads value {name}"
            yield Violation((*path, name), message, _OLD_VALUES[name], Severity.WARNING, key=True)


def _entries(
    data: Mapping[str, Any], path: Path, version: Version | None, group: _Group
) -> Iterator[Violation]:
    """`path` leads to the map of entries."""
    for key, value in data.items():
        text = values.text(value)
        if not isinstance(key, str) or not key or isinstance(value, (dict, list)) or is_placeholder(key):
            continue
        if _holds_queues(text):
            yield from _queues((*path, key), text, group)
        elif not key.endswith(_YAML) and not is_placeholder(text):
            yield from _setting((*path, key), text, version)


def _holds_queues(text: str) -> bool:
    """Whether a text is a queue configuration."""
    if "partitions" not in text:
        return False
    document = next(iter(parse(text)), None)
    return (
        document is not None and document.root is not None and CONFIGURATION.matches_shape(document.root.data)
    )


def _setting(path: Path, text: str, version: Version | None) -> Iterator[Violation]:
    key = str(path[-1])
    wrong = configmap.no_effect_reason(key, text, version)
    known = configmap.KNOWN.get(key)
    if not wrong:
        return
    if known is None or known.takes(text):
        yield Violation(path, f"{key} {wrong}", "correct or delete it", Severity.WARNING, key=True)
    elif configmap.stops(key):
        advice = "correct it: the scheduler rejects all settings and does not start"
        yield Violation(path, f"{key} {wrong}", advice)
    else:
        advice = "correct it: YuniKorn falls back to the default"
        yield Violation(path, f"{key} {wrong}", advice, Severity.WARNING)


def _queues(path: Path, text: str, group: _Group) -> Iterator[Violation]:
    key = str(path[-1])
    if key != group.key:
        sure = group.sure or not key.endswith(_YAML)
        yield Violation(
            path,
            f"queues are under key {key}, but the scheduler reads {group.key}",
            f"rename the key, or set {configmap.POLICY_GROUP} to the name before .yaml",
            None if sure else Severity.WARNING,
            key=True,
        )
    if "\n---" in text and sum(each.root is not None for each in parse(text)) > 1:
        message = f"{key} contains several documents, but the scheduler reads only the first"
        yield Violation(path, message, "put everything into one document", Severity.WARNING)


def _binary(
    manifest: Manifest, data: Mapping[str, Any], version: Version | None, group: _Group
) -> Iterator[Violation]:
    """Of packed queues only those that count are checked."""
    for key, text in mapping(manifest.data.get("binaryData")).items():
        if not isinstance(key, str) or not isinstance(text, str) or not key.endswith(configmap.GZIP_SUFFIX):
            continue
        name, where = key.removesuffix(configmap.GZIP_SUFFIX), ("binaryData", key)
        if name in data:
            message = f"{name} is ignored: {key} in binaryData overrides it"
            yield Violation(("data", name), message, "keep one of the two", Severity.WARNING, key=True)
        if is_placeholder(text) or name != group.key:
            continue
        unpacked = configmap.unpack(text)
        if unpacked is None:
            yield Violation(where, f"{key} is not base64-encoded gzip", "write the output of `gzip | base64`")
            continue
        document = next(iter(parse(unpacked)), None)
        root = document.root if document is not None else None
        refused = validation.agreed_problems(root.data, version) if root is not None else ()
        worst = next((each for each in refused if each.severity is None), refused[0] if refused else None)
        if worst:
            message = f"the configuration in {key} is refused: {worst.message}"
            yield Violation(where, message, worst.help, worst.severity)


RULE = Rule(
    code="PK709",
    name="invalid-yunikorn-configmap",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"Application", "ConfigMap", "HelmRelease", NAME, VALUES.name}),
)
