"""Pods request a name under which the configured device plugin offers no card.

With `renameByDefault`, shared cards are offered under another name, nvidia.com/gpu.shared, and no longer
under their own; HAMi's configuration can name each resource, and names those of each kind of Ascend chip. MIG
slices have names of their own only with the strategy mixed, and with single all slices of a node must have
one size. The GPU operator, its chart and that of the
device plugin refer to a configuration by the name of a ConfigMap and a key in it: with a key alone the plugin
runs without one. A node's label may choose another key. A plugin without an operator reads the file that
CONFIG_FILE names, and nothing else. The configuration of MIG slices that a node's label chooses has to be in
the ConfigMap that migManager names. KubeVirt makes no pod for a virtual machine with a device that is not
among its permittedHostDevices, and passes on no card that the machine has among its resources alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.model.shared_cards import (
    HAMI,
    HAMI_IGNORES,
    HAMI_WEBHOOK,
    NAMES,
    CardName,
    MachineDevice,
    MigConfigurationLabel,
    MigConfigurations,
    MigConfigurationUse,
    PluginConfiguration,
    PluginConfigurationLabel,
    PluginConfigurationUse,
    PluginFiles,
    WebhookSkipped,
)
from policykit.namedtuple import NamedTuple
from policykit.nearest import Names, nearest, some
from policykit.rules.resources import mig_strategies, permitted_devices

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

_CHOICE = "nvidia.com/device-plugin.config"
_SHARED, _MIG = ".shared", "nvidia.com/mig-"
_MIXED = "mixed"
_ASCEND, _PARTS = "huawei.com/Ascend", ("-memory", "-core")
"""Parts of chips, which only HAMi counts."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where every configuration here says so: nodes may have different ones."""
    found = scope.of(PluginConfiguration)
    unfinished = {each.value.holder for each in found if each.partial}
    holders: dict[str, list[PluginConfiguration]] = {}
    for each in found:
        holders.setdefault(each.value.holder, []).append(each.value)
    names = Names(filter(None, holders))
    for use in scope.of(PluginConfigurationUse):
        if not use.partial and use.value.name not in unfinished:
            there = holders.get(use.value.name, ())
            yield from _reference(use, there, names if scope.complete else None)
    labels, uses = scope.of(PluginConfigurationLabel), scope.of(PluginConfigurationUse)
    keys = _keys(holders, uses) if labels or uses else Names(())
    for label in labels:
        yield from _label(label, keys)
    yield from _pools(uses, keys, unfinished, context.cluster)
    chosen = scope.of(MigConfigurationLabel)
    holder, names_of_slices = _slices(scope) if chosen else ("", Names(()))
    for slices in chosen if names_of_slices.sorted else ():
        if slices.value.by_default and slices.value.holder != holder:
            continue
        yield from _mig_label(slices, holder, names_of_slices)
    if scope.complete:
        yield from _absent(scope)
    for files in scope.of(PluginFiles):
        yield from _files(files, holders) if not files.partial else ()
    skipped = {each.value.namespace for each in scope.of(WebhookSkipped)}
    for request in scope.of(CardName) if skipped else ():
        yield from _skipped(request, skipped)
    yield from permitted_devices.violations(scope)
    yield from mig_strategies.violations(scope, context.cluster)
    offer = _offer([each.value for each in found])
    for request in scope.of(CardName) if found else ():
        name = request.value.resource
        message, advice = _fault(request.value, offer)
        if message and not _is_judged_by_policy(name, context.cluster):
            yield Violation(request.at("resource"), message, advice)


def _skipped(request: LocatedFact[CardName], namespaces: Set[str]) -> Iterator[Violation]:
    """A part of a card, which no node reports to kube-scheduler. Source: the webhook of HAMi's chart (2.4 to
    2.10)."""
    name, namespace = request.value.resource, request.value.namespace
    by_default = request.value.scheduler in ("", "default-scheduler")
    if name in NAMES[HAMI][1:] and by_default and namespace in namespaces:
        yield Violation(
            request.at("resource"),
            f"requests {name}, but namespace {namespace} has the label {HAMI_WEBHOOK}: {HAMI_IGNORES}: "
            "HAMi's webhook leaves the pod to kube-scheduler, for which no node has any",
            "delete the label of the namespace, or set schedulerName: hami-scheduler",
        )


class _Offer(NamedTuple):
    """What all configurations of device plugins together make of the names of cards."""

    plugins: int
    """Configurations that say more than a MIG strategy."""
    of_hami: bool
    renamed: Mapping[str, str]
    """Names that every plugin offers under another one, and the first of these."""
    new: Set[str]
    """All new names."""
    single: Set[str]
    """Resources of which every plugin gives a container one at most."""
    strategies: Set[str]
    chips: Set[str]
    """Names of Ascend chips and their parts in HAMi's configurations."""


def _offer(configurations: Sequence[PluginConfiguration]) -> _Offer:
    plugins = [each for each in configurations if each.key]
    renamed = [{old: new for old, new in each.renamed if new} for each in plugins]
    first = renamed[0] if renamed else {}
    return _Offer(
        len(plugins),
        any(each.of_hami for each in plugins),
        {name: first[name] for name in first.keys() & _of_all(renamed)},
        {new for each in plugins for _, new in each.renamed},
        _of_all([each.single for each in plugins]),
        {each.mig_strategy for each in configurations if each.mig_strategy},
        {name for each in plugins for name in each.chips},
    )


def _of_all(names: Sequence[Iterable[str]]) -> set[str]:
    """Those that each has; none if there is nothing."""
    return set.intersection(*map(set, names)) if names else set()


def _fault(request: CardName, offer: _Offer) -> tuple[str, str]:
    """Message and advice; empty: some node may offer it."""
    name = request.resource
    if offer.of_hami and name == NAMES[HAMI].cards and not request.in_parts:
        return "", ""  # whole cards may be those of NVIDIA's own plugin
    if offer.chips and name.startswith(_ASCEND) and name.endswith(_PARTS) and name not in offer.chips:
        near = nearest(name, tuple(sorted(offer.chips)))
        return (
            f"requests {name}, which HAMi's configuration here does not name",
            f"did you mean {near}?" if near else f"it names {some(sorted(offer.chips))}",
        )
    if new := offer.renamed.get(name):
        return (
            f"requests {name}, but the configuration of the device plugin here offers it as {new}",
            f"request {new}, or delete the other name from the configuration",
        )
    if offer.plugins and name.endswith(_SHARED) and name not in offer.new:
        return (
            f"requests {name}, but no configuration of the device plugin here renames a resource to it",
            f"request {name.removesuffix(_SHARED)}, or set renameByDefault: true in the configuration",
        )
    if request.amount > 1 and name in offer.single:
        return (
            f"requests {request.amount} {name}, but the configuration of the device plugin here gives a "
            "container at most 1: the pod is refused on its node",
            "request 1, or whole cards that are not shared",
        )
    if name.startswith(_MIG) and offer.strategies and _MIXED not in offer.strategies:
        strategy = " and ".join(sorted(offer.strategies))
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
    use: LocatedFact[PluginConfigurationUse], named: Sequence[PluginConfiguration], names: Names | None
) -> Iterator[Violation]:
    """A ConfigMap that is here, or nearly, and the key in it. `names`: of all that are here, if known."""
    name, default, own, namespace = use.value
    keys = sorted({*own, *(key for each in named for key in each.keys)})
    if not name and not own:
        yield Violation(
            use.at("default"),
            f"configuration {default} is named, but no ConfigMap that has it: the device plugin runs without",
            "name the ConfigMap in config.name",
        )
        return
    there = {each.namespace for each in named}
    if name and namespace and there and not own and "" not in there and namespace not in there:
        yield Violation(
            use.at("name"),
            f"ConfigMap {name} is in namespace {', '.join(sorted(there))}, but the device plugin runs in "
            f"{namespace} and does not find it",
            f"move the ConfigMap to namespace {namespace}",
        )
        return
    likely = names.nearest(name) if names and not keys else ""
    if likely:
        yield Violation(
            use.at("name"),
            f"no file here has ConfigMap {name}, which the device plugin should read",
            f"did you mean {likely}?",
        )
    elif default and keys and default not in keys:
        near = nearest(default, tuple(keys))
        yield Violation(
            use.at("default"),
            f"ConfigMap {name} has no configuration {default}"
            if name
            else f"there is no configuration {default}",
            f"did you mean {near}?" if near else f"it has {', '.join(keys)}",
        )


def _keys(
    holders: Mapping[str, Iterable[PluginConfiguration]], uses: Iterable[LocatedFact[PluginConfigurationUse]]
) -> Names:
    """The configurations of NVIDIA's plugin that are here."""
    of_maps = {
        key for there in holders.values() for one in there if not one.of_hami for key in (*one.keys, one.key)
    }
    return Names({*of_maps, *(key for each in uses for key in each.value.keys)} - {""})


def _label(label: LocatedFact[PluginConfigurationLabel], keys: Names) -> Iterator[Violation]:
    """A key that no configuration here has, where some are here."""
    if keys.sorted and label.value.key not in keys:
        near = keys.nearest(label.value.key)
        yield Violation(
            label.at("key"),
            f"the label chooses configuration {label.value.key} of the device plugin, but none here has "
            "the name: the plugin fails on these nodes",
            f"did you mean {near}?" if near else f"here are {some(keys.sorted)}",
        )


def _pools(
    uses: Sequence[LocatedFact[PluginConfigurationUse]],
    keys: Names,
    unfinished: Set[str],
    cluster: Cluster | None,
) -> Iterator[Violation]:
    """Labels of the policy, where one plugin is here, and its configurations are."""
    use = uses[0] if len(uses) == 1 else None
    if use is None or use.partial or use.value.name in unfinished or not keys.sorted:
        return
    for key, pool in mig_strategies.labels(cluster, _CHOICE):
        if key and key not in keys:
            near = keys.nearest(key)
            yield Violation(
                use.at("name"),
                f"{_CHOICE} of pool {pool} is {key}, but no configuration here has the name: the device "
                "plugin fails on these nodes",
                f"did you mean {near}?" if near else f"here are {some(keys.sorted)}",
            )
            return


def _absent(scope: Scope) -> Iterator[Violation]:
    """A ConfigMap for the MIG manager that is not here, where another is nearly called so."""
    uses = [each for each in scope.of(MigConfigurationUse) if not each.partial]
    names = Names(each.value.holder for each in scope.of(MigConfigurations) if each.value.holder)
    for use in uses if names.sorted else ():
        likely = "" if use.value.name in names else names.nearest(use.value.name)
        if likely and not scope.may_hold(use.value.name):
            yield Violation(
                use.at("name"),
                f"no file here has ConfigMap {use.value.name}, which the MIG manager should read",
                f"did you mean {likely}?",
            )


def _slices(scope: Scope) -> tuple[str, Names]:
    """The only ConfigMap that a MIG manager here reads, and its configurations; none: they are not known."""
    used = {each.value.name for each in scope.of(MigConfigurationUse)}
    files = [each for each in scope.of(MigConfigurations) if each.value.holder in used]
    if len(used) != 1 or any(each.partial for each in files):
        return "", Names(())
    return next(iter(used)), Names(name for each in files for name in each.value.names)


def _mig_label(label: LocatedFact[MigConfigurationLabel], holder: str, names: Names) -> Iterator[Violation]:
    wanted = label.value.name
    if wanted not in names:
        near = names.nearest(wanted)
        which = "the default" if label.value.by_default else "the label"
        yield Violation(
            label.at("name"),
            f"{which} chooses {wanted}, but ConfigMap {holder}, which the MIG manager reads instead of its "
            "own, has no configuration of the name: the nodes keep their former devices",
            f"did you mean {near}?" if near else f"it has {some(names.sorted)}",
        )


def _files(
    files: LocatedFact[PluginFiles], holders: Mapping[str, Sequence[PluginConfiguration]]
) -> Iterator[Violation]:
    """ConfigMaps that hold nothing but configurations, of which the plugin reads none."""
    for field, names in (("variables", files.value.variables), ("mounts", files.value.mounts)):
        for name in names:
            held = holders.get(name, ())
            near = all(each.namespace in ("", files.value.namespace) for each in held)
            if held and near and {key for each in held for key in each.keys} == {one.key for one in held}:
                how = "as environment variables" if field == "variables" else "as files"
                yield Violation(
                    files.at(field),
                    f"the device plugin gets ConfigMap {name} {how}, but nothing says which file to read: "
                    "it runs without a configuration",
                    f"mount the ConfigMap, and set CONFIG_FILE to the file of its key {held[0].key}",
                )
                return


RULE = Rule(
    code="PK219",
    name="unoffered-card-name",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(
        CardName,
        MachineDevice,
        MigConfigurationLabel,
        MigConfigurationUse,
        PluginConfiguration,
        PluginConfigurationLabel,
        PluginConfigurationUse,
        PluginFiles,
    ),
)
