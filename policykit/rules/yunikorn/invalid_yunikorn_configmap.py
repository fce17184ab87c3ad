"""A configuration of YuniKorn that it does not read, or not where it was meant.

YuniKorn reads two ConfigMaps by name, yunikorn-defaults and yunikorn-configs, and of those the
keys it knows. A setting of another name is ignored without a word; queues under another key leave
the default queues in place; a bad value of the scheduler's own settings keeps it from starting.
In the queues themselves, only one partition is used, and one root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.targets.yunikorn import judged, options, versions
from policykit.targets.yunikorn.checks import entries, layout
from policykit.targets.yunikorn.configuration import configmap
from policykit.targets.yunikorn.configuration import partition as files
from policykit.targets.yunikorn.text import VALUES

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
"""Where objects keep values of a chart as they are, not as text."""
_OLD_VALUES = {
    "configuration": "put it under yunikornDefaults, key queues.yaml",
    "operatorPlugins": "delete it: there are no operator plugins any more",
    "placeHolderImage": "put it under yunikornDefaults, key service.placeholderImage",
}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Partitions and roots of queues.yaml; entries of the ConfigMaps, also as values of the chart."""
    cluster = context.cluster
    if manifest.kind == judged.KIND:
        found = layout.problems(files.read(manifest.data))
        yield from judged.violations(found, manifest)
    elif manifest.kind == "ConfigMap":
        yield from _config_map(manifest, cluster)
    else:
        for path in _VALUES[manifest.kind]:
            yield from _values(manifest, path, cluster)


def _config_map(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    data = mapping(manifest.data.get("data"))
    if not configmap.is_read(manifest.name):
        yield from _misnamed(manifest, data)
        return
    target = cluster.targets.get("yunikorn") if cluster else None
    wanted = target.namespace if target else ""
    if wanted and manifest.namespace not in ("", wanted) and not is_placeholder(manifest.namespace):
        message = f"{manifest.name} stands in namespace {manifest.namespace}, YuniKorn in {wanted}"
        advice = "move it: the scheduler reads ConfigMaps of its own namespace alone"
        yield Violation(("metadata", "namespace"), message, advice)
    yield from _entries(manifest, data, ("data",), cluster, manifest.name == configmap.CONFIGS)
    packed = mapping(manifest.data.get("binaryData"))
    version = judged.version_of(cluster) or versions.parse("")
    group = _group(data, cluster, manifest.name == configmap.CONFIGS)
    yield from judged.violations(entries.binary(data, packed, version, group), manifest)


def _misnamed(manifest: Manifest, data: Mapping[str, Any]) -> Iterator[Violation]:
    texts = [text for text in data.values() if isinstance(text, str)]
    if not manifest.name or is_placeholder(manifest.name) or not any(map(entries.holds_queues, texts)):
        return
    yield Violation(
        ("metadata", "name"),
        f"ConfigMap {manifest.name} holds queues, and YuniKorn does not read it",
        f"name it {configmap.CONFIGS}: that one and {configmap.DEFAULTS} are read",
        Severity.WARNING,
    )


def _values(manifest: Manifest, path: Path, cluster: Cluster | None) -> Iterator[Violation]:
    values = mapping(lookup(manifest.data, path))
    where = (*path, configmap.VALUES)
    stated = mapping(values.get(configmap.VALUES))
    yield from _entries(manifest, stated, where, cluster, False)
    for name in _OLD_VALUES if stated else ():
        if values.get(name):
            message = f"value {name} is an old one of the chart, which release 1.9 does not read"
            yield Violation((*path, name), message, _OLD_VALUES[name], Severity.WARNING, key=True)


def _entries(
    manifest: Manifest, data: Mapping[str, Any], path: Path, cluster: Cluster | None, last: bool
) -> Iterator[Violation]:
    """`last`: no other ConfigMap wins over these entries."""
    group = _group(data, cluster, last)
    for problem in entries.problems(data, judged.version_of(cluster), group):
        at = (*path, *problem.path)
        yield Violation(at, problem.message, problem.help, problem.severity, problem.key)


def _group(data: Mapping[str, Any], cluster: Cluster | None, last: bool) -> entries.Group:
    target = cluster.targets.get("yunikorn") if cluster else None
    return entries.group(data, options.read(target).policy_group if target else "", last)


RULE = Rule(
    code="PK709",
    name="invalid-yunikorn-configmap",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"Application", "ConfigMap", "HelmRelease", judged.KIND, VALUES.name}),
)
