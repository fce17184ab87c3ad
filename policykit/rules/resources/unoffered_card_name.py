"""Pods request a name under which the configured device plugin offers no card.

With `renameByDefault`, shared cards are offered under another name, nvidia.com/gpu.shared, and no longer
under their own. MIG slices have names of their own only with the strategy mixed. The GPU operator refers to
a configuration by the name of a ConfigMap and a key in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.cluster import Cluster
from policykit.model.device_plugins import CardName, PluginConfiguration, PluginConfigurationUse
from policykit.model.severity import Severity
from policykit.nearest import nearest

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: device-plugin
  namespace: gpu-operator
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        renameByDefault: true
        resources:
        - name: nvidia.com/gpu
          replicas: 4
---
apiVersion: v1
kind: Pod
metadata:
  name: notebook
spec:
  containers:
  - name: main
    image: registry.example/notebook:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
      limits: {nvidia.com/gpu: 1}
"""

GOOD = BAD.replace("limits: {nvidia.com/gpu: 1}", "limits: {nvidia.com/gpu.shared: 1}")

_SHARED, _MIG = ".shared", "nvidia.com/mig-"
_MIXED = "mixed"


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where every configuration here says so: nodes may have different ones."""
    found = scope.of(PluginConfiguration)
    configurations = [each.value for each in found]
    for use in scope.of(PluginConfigurationUse):
        yield from _reference(use, configurations, complete=scope.complete)
    for request in scope.of(CardName) if configurations else ():
        name = request.value.resource
        message, advice = _fault(name, configurations)
        if message and not _is_judged_by_policy(name, context.cluster):
            yield Violation(request.at("resource"), message, advice)


def _fault(name: str, configurations: Sequence[PluginConfiguration]) -> tuple[str, str]:
    """Message and advice; empty: some node may offer it."""
    plugins = [each for each in configurations if each.key]
    offered = {new for each in plugins for _, new in each.renamed}
    renamed = [dict(each.renamed).get(name, "") for each in plugins]
    if plugins and all(renamed):
        return (
            f"requests {name}, but the configuration of the device plugin here offers it as {renamed[0]}",
            f"request {renamed[0]}, or delete renameByDefault from the configuration",
        )
    if plugins and name.endswith(_SHARED) and name not in offered:
        return (
            f"requests {name}, but no configuration of the device plugin here renames a resource to it",
            f"request {name.removesuffix(_SHARED)}, or set renameByDefault: true in the configuration",
        )
    strategies = {each.mig_strategy for each in configurations if each.mig_strategy}
    if name.startswith(_MIG) and strategies and _MIXED not in strategies:
        strategy = " and ".join(sorted(strategies))
        return (
            f"requests {name}, but the MIG strategy here is {strategy}: slices have names of their own only "
            f"with {_MIXED}",
            f"request nvidia.com/gpu, or set the strategy {_MIXED}",
        )
    return "", ""


def _is_judged_by_policy(name: str, cluster: Cluster | None) -> bool:
    """Whether a policy with such cards has no pool that offers the name: wrong-card-resource says so."""
    offered = {each for pool in cluster.pools for each in pool.resources} if cluster else set()
    return bool(offered) and name not in offered


def _reference(
    use: LocatedFact[PluginConfigurationUse], configurations: Sequence[PluginConfiguration], *, complete: bool
) -> Iterator[Violation]:
    """A ConfigMap that is here, or nearly, and the key in it."""
    name, default = use.value
    keys = sorted({key for each in configurations if each.holder == name for key in each.keys})
    likely = nearest(name, tuple(sorted({each.holder for each in configurations if each.holder})))
    if not keys and complete and likely:
        yield Violation(
            use.at("name"),
            f"no file here has ConfigMap {name}, which the device plugin is to read",
            f"did you mean {likely}?",
        )
    elif default and keys and default not in keys:
        near = nearest(default, tuple(keys))
        yield Violation(
            use.at("default"),
            f"ConfigMap {name} has no configuration {default}",
            f"did you mean {near}?" if near else f"it has {', '.join(keys)}",
        )


RULE = Rule(
    code="PK219",
    name="unoffered-card-name",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
)
