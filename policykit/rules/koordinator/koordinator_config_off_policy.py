"""A koord-scheduler-config differs from what the policy asks for.

Cards that the policy packs are spread, and no plugin handles its queues and gangs: the cluster
does not do what the policy says. `policykit gen` adds what is missing to a given configuration
and keeps every other line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.targets.koordinator.names import SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.scheduler import merge, profiles
from policykit.targets.koordinator.scheduler.configuration import KIND, is_for_koordinator, read
from policykit.targets.koordinator.versions import parse

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    permit:
      enabled:
      - name: Coscheduling
"""

GOOD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: Coscheduling
    preScore:
      enabled:
      - name: NodeResourcesFitPlus
    score:
      enabled:
      - name: NodeResourcesFitPlus
        weight: 57
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      resources:
        cpu: {type: LeastAllocated, weight: 2}
        example.com/dongle: {type: MostAllocated, weight: 20}
        memory: {type: LeastAllocated, weight: 1}
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Where the policy has Koordinator as a target."""
    cluster = context.cluster
    if cluster is None or TARGET_NAME not in cluster.targets or not is_for_koordinator(manifest.data):
        return
    for path, difference in _differences(cluster, manifest.data):
        yield Violation(
            path,
            f"this configuration differs from the policy, which asks for {difference}",
            "run policykit gen with this configuration as targets.koordinator.config, or add it by hand",
        )


def _differences(cluster: Cluster, data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What `policykit gen` would change; nothing where koord-scheduler does not start with the file."""
    target = cluster.targets[TARGET_NAME]
    name = target.scheduler_name or SCHEDULER
    try:
        version = parse(target.version)
        if merge.repair(data, version).patches:
            return
        read(data).required_profile(name)
    except PolicykitError:
        yield ("profiles",), f"a profile for schedulerName {name}"
        return
    try:
        patches = profiles.plan(cluster, target, data, name, version).patches
    except PolicykitError:
        return
    grouped: dict[str, tuple[Path, dict[str, None]]] = {}
    for patch in patches:
        part, template = _described(patch, data)
        path = patch.path[: patch.path.index(APPEND)] if APPEND in patch.path else patch.path
        grouped.setdefault(template, (path, {}))[1][part] = None
    for template, (path, parts) in grouped.items():
        yield path, template.replace("{}", ", ".join(parts), 1)


def _described(patch: Patch, data: Mapping[str, Any]) -> tuple[str, str]:
    """A change in words, and the sentence that lists it together with similar ones."""
    path = patch.path[2:] if patch.path[:1] == ("profiles",) else patch.path
    if len(path) >= 3 and path[0] == "plugins":
        return _described_plugin(path, patch, lookup(data, patch.path[:2]))
    if len(path) >= 2 and path[0] == "pluginConfig":
        entry = lookup(data, (*patch.path[:2], *path[:2])) if path[1] != APPEND else patch.value
        name = text(mapping(entry).get("name"))
        fields = ".".join(str(step) for step in path[3:])
        return (fields, f"{{}} in the args of {name}") if fields else (name, "args of {}")
    name = text(mapping(patch.value).get("schedulerName"))
    return (name, "a profile for schedulerName {}") if name else (".".join(map(str, path)), "{}")


def _described_plugin(path: Path, patch: Patch, profile: object) -> tuple[str, str]:
    point, field = str(path[1]), path[2]
    if len(path) > 3 and path[-1] == "weight":
        name = text(mapping(lookup(profile, path[:4])).get("name"))
        return f"{point} with weight {patch.value}", f"{name or 'the plugin'} at {{}}"
    name = text(mapping(patch.value).get("name"))
    if patch.op == "remove":
        name = text(mapping(lookup(profile, path)).get("name"))
    if patch.op == "remove" or field == "disabled":
        return name or "a plugin", f"{point} without {{}}"
    weight = mapping(patch.value).get("weight")
    return point + (f" with weight {weight}" if weight is not None else ""), f"{name} at {{}}"


RULE = Rule(
    code="PK608",
    name="koordinator-config-off-policy",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
    needs_policy=True,
)
