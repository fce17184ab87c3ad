"""The page beside Koordinator's generated files: how they are applied, and the arithmetic."""

from __future__ import annotations

from policykit.targets.koordinator.scheduler import weights
from policykit.targets.koordinator.scheduler.packing import ASSUMED_OTHERS, Packing
from policykit.targets.koordinator.scheduler.profiles import Drawing, Drawn
from policykit.targets.koordinator.scheduler.wanted import Wanted
from policykit.targets.release import Version

_POST_RENDER = """\
No value of Koordinator's chart reaches this configuration, so `post-render/` is a kustomize component that
patches what the chart renders: the ConfigMap `koord-scheduler-config`, and an annotation on the Deployment
`koord-scheduler`, which rolls it whenever the configuration changes. The chart stays the owner of both.

- Kustomize (Argo CD, `kubectl kustomize --enable-helm`): beside `helmCharts:`, or beside the rendered chart
  in `resources:`, write `components: [<this folder>/post-render]`.
- Helm alone: a `--post-renderer` that saves its input as `all.yaml`, listed in `resources:` of such a
  kustomization, and prints `kubectl kustomize`.
- Flux: the two files as `spec.postRenderers[].kustomize.patches` of the HelmRelease.
"""
_MANIFEST = """\
`koord-scheduler-config.yaml` is the whole ConfigMap. The chart writes the same one: leave it out of the
chart's release, or every `helm upgrade` brings the chart's own back.

koord-scheduler reads it at start only. `restart/` is a kustomize component that rolls the Deployment whenever
the configuration changes; without it:

    kubectl -n {namespace} rollout restart deploy/koord-scheduler
"""


_UPGRADE = """\
The configuration is that of Koordinator {version}, and another release may not start with it. When the chart
is upgraded, state its version in the policy and run `policykit gen` again, so that both change together.
"""


def text(delivery: str, namespace: str, version: Version, drawing: Drawing) -> str:
    """Markdown. `delivery` is post-render or manifest."""
    how = _POST_RENDER if delivery == "post-render" else _MANIFEST.format(namespace=namespace)
    own, *others = drawing.drawn
    return "\n".join(
        (
            f"# Koordinator {version}: koord-scheduler",
            "",
            how,
            *_upgrade(version, drawing),
            *_settings(drawing.wanted),
            "## The arithmetic",
            "",
            *_arithmetic(own.packing),
            *(line for other in others for line in _other(other)),
        )
    )


def _settings(wanted: Wanted) -> tuple[str, ...]:
    if not wanted.args and not wanted.weights:
        return ()
    lines = [f"- {plugin}: {', '.join(stated)}" for plugin, stated in wanted.args.items()]
    lines += [f"- {plugin}: weight {weight} at score" for plugin, weight in wanted.weights.items()]
    return ("## What the policy sets of the plugins", "", *lines, "")


def _upgrade(version: Version, drawing: Drawing) -> tuple[str, ...]:
    """Where more than the packing of cards is written, more depends on the release."""
    if not drawing.wanted.args and not any(each.placement for each in drawing.drawn):
        return ()
    return ("## After an upgrade", "", _UPGRADE.format(version=version))


def _other(drawn: Drawn) -> tuple[str, ...]:
    named = f" of placement {drawn.placement.name}" if drawn.placement else ""
    return (f"## The profile {drawn.name}{named}", "", *_arithmetic(drawn.packing))


def _arithmetic(packing: Packing) -> tuple[str, ...]:
    if not packing.fit:
        return (*_avoided(packing), _asked(packing))
    return (
        _resources(packing),
        "",
        *(_margin(each, packing) for each in packing.margins),
        *([""] if packing.margins else []),
        _rivals(packing),
        "",
        *_avoided(packing),
        *_preference(packing),
        _asked(packing),
    )


def _avoided(packing: Packing) -> tuple[str, ...]:
    if not packing.avoid:
        return ()
    return (
        f"ScarceResourceAvoidance weighs {packing.avoidance}: it marks down nodes with "
        f"{', '.join(packing.avoid)} for pods that do not ask for it, by at least "
        f"{weights.avoidance_gap(1, ASSUMED_OTHERS)} of 100 points while such a node has at most "
        f"{ASSUMED_OTHERS} other resources the pod does not ask for.",
        "",
    )


def _resources(packing: Packing) -> str:
    listed = ", ".join(f"{name} {each.type} {each.weight}" for name, each in packing.fit.items())
    if packing.shape:
        points = ", ".join(f"{point.utilization} % scores {point.score}" for point in packing.shape)
        return (
            f"{packing.plugin} scores the mean, weighted and rounded, of: "
            f"{', '.join(f'{name} {each.weight}' for name, each in packing.fit.items())}. By use: {points}."
        )
    return f"{packing.plugin} scores the mean, weighted and cut off, of: {listed}."


def _margin(each: weights.Margin, packing: Packing) -> str:
    if not each.points:
        return f"- {each.resource}, {each.cards} on a node: no difference in use is sure to show."
    way = "more" if packing.fit[each.resource].type == "MostAllocated" else "fewer"
    return (
        f"- {each.resource}, {each.cards} on a node: the node with {each.step} {way} in use scores at least "
        f"{each.points} higher, however cpu and memory are filled."
    )


def _rivals(packing: Packing) -> str:
    rows = [f"| {r.plugin} | {r.weight} | {r.swing} | {r.points} |" for r in packing.rivals]
    total = sum(rival.points for rival in packing.rivals)
    return "\n".join(
        (
            "Against it stand, at their largest difference between two nodes:",
            "",
            "| plugin | weight | points | together |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            f"{total} in all, so {packing.plugin} weighs {packing.weight}.",
        )
    )


def _preference(packing: Packing) -> tuple[str, ...]:
    if packing.affinity is None:
        return ()
    return (
        f"NodeAffinity weighs {packing.affinity}: more than all of these and {_scorers(packing)} together, "
        "so that an empty node of the preferred usage comes before any other.",
        "",
    )


def _scorers(packing: Packing) -> str:
    return f"{packing.plugin}, ScarceResourceAvoidance" if packing.avoid else packing.plugin


def _asked(packing: Packing) -> str:
    rows = "".join(
        f"- {plugin}, weight {weight}: {weights.ONLY_WHEN_ASKED[plugin]}\n"
        for plugin, weight in packing.asked.items()
    )
    return f"Not in the sum, since they score only where it is asked for:\n\n{rows}"
