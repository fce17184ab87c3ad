"""The README of the generated files: how to apply them, and how the weights are computed."""

from __future__ import annotations

from policykit.model.release import Version
from policykit.targets.koordinator.scheduler import weights
from policykit.targets.koordinator.scheduler.packing import ASSUMED_OTHERS, Packing
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


def text(delivery: str, namespace: str, version: Version, plan: Plan) -> str:
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
