"""The files for Koordinator: koord-scheduler's configuration, how it is delivered, and a README."""

from __future__ import annotations

import hashlib
from functools import reduce
from typing import Any

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Notice, Role, TargetOutput
from policykit.manifests import writer
from policykit.manifests.patch import patched
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.targets.koordinator import options, versions
from policykit.targets.koordinator.names import SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.objects import files as objects
from policykit.targets.koordinator.scheduler import chart, merge, notices, profiles, settings, weights
from policykit.targets.koordinator.scheduler.merge import merge_patches
from policykit.targets.koordinator.scheduler.placements import ASSUMED_OTHERS, Packing
from policykit.targets.koordinator.scheduler.profiles import Plan, ProfilePlan
from policykit.targets.koordinator.scheduler.settings import Settings

_POST_RENDER = """\
No value of Koordinator's chart sets the plugins of this configuration, so `post-render/` is a kustomize
component that patches what the chart renders: the ConfigMap `koord-scheduler-config`, and an annotation on
the Deployment `koord-scheduler`, which restarts it whenever the configuration changes. The chart still owns
both.

- Kustomize (Argo CD, `kubectl kustomize --enable-helm`): add `components: [<this folder>/post-render]` to
  the kustomization that has `helmCharts:`, or the rendered chart in `resources:`.
- Helm alone: use a `--post-renderer` that saves its input as `all.yaml`, listed in `resources:` of such a
  kustomization, and prints the output of `kubectl kustomize`.
- Flux: add the two files to `spec.postRenderers[].kustomize.patches` of the HelmRelease.
"""
_MANIFEST = """\
`koord-scheduler-config.yaml` is the whole ConfigMap. The chart installs one of the same name: exclude it from
the chart's release, or every `helm upgrade` restores the chart's own.

koord-scheduler reads it only when it starts. `restart/` is a kustomize component that restarts the Deployment
whenever the configuration changes; without it:

    kubectl -n {namespace} rollout restart deploy/koord-scheduler
"""


_UPGRADE = """\
The configuration is for Koordinator {version}; another release may not start with it. When you upgrade the
chart, state its version in the policy and run `policykit gen` again, so that both change together.
"""


def readme_text(delivery: str, namespace: str, version: Version, plan: Plan) -> str:
    """Markdown. `delivery` is post-render or manifest."""
    how = _POST_RENDER if delivery == "post-render" else _MANIFEST.format(namespace=namespace)
    own, *others = plan.profiles
    return "\n".join(
        (
            f"# Koordinator {version}: koord-scheduler",
            "",
            how,
            *_upgrade(version, plan),
            *_settings(plan.settings),
            "## The arithmetic",
            "",
            *_arithmetic(own.packing),
            *(line for other in others for line in _other(other)),
        )
    )


def _settings(settings: Settings) -> tuple[str, ...]:
    if not settings.args and not settings.weights:
        return ()
    lines = [f"- {plugin}: {', '.join(stated)}" for plugin, stated in settings.args.items()]
    lines += [f"- {plugin}: weight {weight} at score" for plugin, weight in settings.weights.items()]
    return ("## What the policy sets of the plugins", "", *lines, "")


def _upgrade(version: Version, plan: Plan) -> tuple[str, ...]:
    """A warning, unless only the packing of cards is written, which does not depend on the release."""
    if not plan.settings.args and not any(each.placement for each in plan.profiles):
        return ()
    return ("## After an upgrade", "", _UPGRADE.format(version=version))


def _other(profile: ProfilePlan) -> tuple[str, ...]:
    named = f" of placement {profile.placement.name}" if profile.placement else ""
    return (f"## The profile {profile.name}{named}", "", *_arithmetic(profile.packing))


def _arithmetic(packing: Packing) -> tuple[str, ...]:
    if not packing.fit:
        return (*_avoided(packing), _conditional(packing))
    return (
        _resources(packing),
        "",
        *(_margin(each, packing) for each in packing.margins),
        *([""] if packing.margins else []),
        _rivals(packing),
        "",
        *_avoided(packing),
        *_preference(packing),
        _conditional(packing),
    )


def _avoided(packing: Packing) -> tuple[str, ...]:
    if not packing.avoid:
        return ()
    return (
        f"ScarceResourceAvoidance weighs {packing.avoidance}: it marks down nodes with "
        f"{', '.join(packing.avoid)} for pods that do not request it, by at least "
        f"{weights.avoidance_gap(1, ASSUMED_OTHERS)} of 100 points while such a node has at most "
        f"{ASSUMED_OTHERS} other resources that the pod does not request.",
        "",
    )


def _resources(packing: Packing) -> str:
    listed = ", ".join(f"{name} {each.type} {each.weight}" for name, each in packing.fit.items())
    if packing.shape:
        points = ", ".join(f"{point.utilization} % scores {point.score}" for point in packing.shape)
        return (
            f"{packing.plugin} scores the weighted mean, rounded, of: "
            f"{', '.join(f'{name} {each.weight}' for name, each in packing.fit.items())}. By use: {points}."
        )
    return f"{packing.plugin} scores the weighted mean, truncated, of: {listed}."


def _margin(each: weights.Margin, packing: Packing) -> str:
    if not each.points:
        return f"- {each.resource}, {each.cards} on a node: no difference in use is sure to decide."
    change = "more" if packing.fit[each.resource].type == "MostAllocated" else "fewer"
    return (
        f"- {each.resource}, {each.cards} on a node: the node with {each.step} {change} in use scores at "
        f"least {each.points} higher, whatever the use of cpu and memory."
    )


def _rivals(packing: Packing) -> str:
    rows = [f"| {r.plugin} | {r.weight} | {r.swing} | {r.points} |" for r in packing.rivals]
    total = sum(rival.points for rival in packing.rivals)
    return "\n".join(
        (
            "Competing plugins, with their largest difference between two nodes:",
            "",
            "| plugin | weight | points | weight × points |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            f"{total} in total, so {packing.plugin} weighs {packing.weight}.",
        )
    )


def _preference(packing: Packing) -> tuple[str, ...]:
    if packing.affinity is None:
        return ()
    return (
        f"NodeAffinity weighs {packing.affinity}: more than all of these and {_scorers(packing)} together, "
        "so an empty node of the preferred usage comes before any other.",
        "",
    )


def _scorers(packing: Packing) -> str:
    return f"{packing.plugin}, ScarceResourceAvoidance" if packing.avoid else packing.plugin


def _conditional(packing: Packing) -> str:
    rows = "".join(
        f"- {plugin}, weight {weight}: {weights.CONDITIONAL[plugin]}\n"
        for plugin, weight in packing.conditional.items()
    )
    return f"Not in the sum, since they score only certain pods:\n\n{rows}"


README = f"{TARGET_NAME}/README.md"
CONFIG_MAP_FILE = "koord-scheduler-config.yaml"
RESTART_FILE = "restart.yaml"
CHECKSUM = "policykit.io/koord-scheduler-config"
"""Pod template annotation: a new value restarts the Deployment, which then reads the file again."""


def generate(cluster: Cluster) -> TargetOutput:
    """All files for `cluster.targets[SYSTEM]`; none if the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, weights without effect, values that would
    stop the scheduler, and a given configuration that cannot be read or has no profile for the schedulerName.
    """
    target = cluster.targets.get(TARGET_NAME)
    if target is None:
        return TargetOutput()
    version = versions.parse(target.version)
    namespace = target.namespace or chart.NAMESPACE
    configured = _configuration(cluster, target, version, namespace)
    made, texts = objects.generate(cluster, version, namespace)
    return TargetOutput(
        (*configured.artifacts, *made), (*configured.notices, *(Notice(TARGET_NAME, text) for text in texts))
    )


def _configuration(
    cluster: Cluster, target: TargetSettings, version: Version, namespace: str
) -> TargetOutput:
    """koord-scheduler-config, how it is delivered, and the README."""
    stated = options.koordinator_options(target)
    preempting = settings.job_preemption(stated)
    given = merge.read_source(stated.config or _chart(version, namespace, job_preemption=preempting))
    fixed = merge.repair(given.data, version)
    data = reduce(patched, fixed.patches, given.data)
    plan = profiles.plan(cluster, target, data, target.scheduler_name or SCHEDULER, version)
    if plan.changes_nothing and not fixed.patches:
        return TargetOutput(notices=(Notice(TARGET_NAME, notices.unchanged_notice(version)),))
    method, unsupported = _delivery(target)
    after = merge.read_source(merge_patches(given, [*fixed.patches, *plan.patches]))
    config_map = after.text if after.path and after.alone else chart.config_map(after.inner, namespace)
    write = _post_render if method == "post-render" else _manifest
    texts = [
        *unsupported,
        *fixed.notices,
        *plan.settings.notices,
        *merge.remaining_problems(after.data, version),
        *notices.plan_notices(cluster, version, plan),
        *notices.replaced_values(cluster, stated, version),
    ]
    if method == "manifest":
        texts.append(
            "koord-scheduler must be restarted after each change of koord-scheduler-config: "
            f"kubectl -n {namespace} rollout restart deploy/{chart.DEPLOYMENT}"
        )
    described = Artifact(README, readme_text(method, namespace, version, plan), Role.PAGE)
    written = (*write(config_map, after.inner, namespace), described)
    return TargetOutput(written, tuple(Notice(TARGET_NAME, text) for text in texts))


def _chart(version: Version, namespace: str, *, job_preemption: bool) -> str:
    """The chart's configuration, in an apiVersion that supports every plugin of the release."""
    text = writer.dump(chart.configuration(version, namespace, job_preemption=job_preemption))
    written, readable = chart.written_in(version), versions.config_versions(version).fit_plus
    if readable and written not in readable:
        text = text.replace(f"{versions.GROUP}/{written}\n", f"{versions.GROUP}/{readable[0]}\n")
    return chart.config_map(text, namespace)


def _delivery(target: TargetSettings) -> tuple[str, tuple[str, ...]]:
    """post-render or manifest, and a notice if the policy states another delivery."""
    wanted = target.delivery or "post-render"
    if wanted == "helm-values":
        return "post-render", (
            f"no value of Koordinator's chart up to {versions.RELEASES.newest} sets the plugins of "
            "koord-scheduler-config, so a post-render component is written instead of Helm values",
        )
    if wanted not in ("post-render", "manifest"):
        raise PolicykitError(
            f"delivery {wanted} is not known for Koordinator",
            "set targets.koordinator.delivery to post-render or manifest",
            path=("targets", "koordinator", "delivery"),
        )
    return wanted, ()


def _post_render(config_map: str, inner: str, namespace: str) -> tuple[Artifact, ...]:
    """A kustomize component that patches the rendered chart."""
    return (
        *_component(f"{TARGET_NAME}/post-render", (CONFIG_MAP_FILE, RESTART_FILE)),
        Artifact(f"{TARGET_NAME}/post-render/{CONFIG_MAP_FILE}", config_map, Role.COMPONENT),
        Artifact(f"{TARGET_NAME}/post-render/{RESTART_FILE}", _restart(inner, namespace), Role.COMPONENT),
    )


def _manifest(config_map: str, inner: str, namespace: str) -> tuple[Artifact, ...]:
    """The ConfigMap itself, and a component that restarts the Deployment, which the chart owns."""
    return (
        Artifact(f"{TARGET_NAME}/{CONFIG_MAP_FILE}", config_map, Role.MANIFEST),
        *_component(f"{TARGET_NAME}/restart", (RESTART_FILE,)),
        Artifact(f"{TARGET_NAME}/restart/{RESTART_FILE}", _restart(inner, namespace), Role.COMPONENT),
    )


def _restart(inner: str, namespace: str) -> str:
    """Strategic merge patch of the Deployment with the checksum of its configuration."""
    checksum = hashlib.sha256(inner.encode()).hexdigest()
    return writer.dump(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": chart.DEPLOYMENT, "namespace": namespace},
            "spec": {"template": {"metadata": {"annotations": {CHECKSUM: checksum}}}},
        }
    )


def _component(folder: str, patches: tuple[str, ...]) -> tuple[Artifact, ...]:
    kustomization: dict[str, Any] = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": [{"path": name} for name in patches],
    }
    return (Artifact(f"{folder}/kustomization.yaml", writer.dump(kustomization), Role.COMPONENT),)
