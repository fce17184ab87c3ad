"""The page beside Koordinator's generated files: how they are applied, and the arithmetic."""

from __future__ import annotations

from policykit.targets.koordinator import weights
from policykit.targets.koordinator.packing import Packing
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


def text(delivery: str, namespace: str, version: Version, packing: Packing) -> str:
    """Markdown. `delivery` is post-render or manifest."""
    how = _POST_RENDER if delivery == "post-render" else _MANIFEST.format(namespace=namespace)
    return "\n".join(
        (
            f"# Koordinator {version}: koord-scheduler",
            "",
            how,
            "## The arithmetic",
            "",
            _resources(packing),
            "",
            *(_margin(each) for each in packing.margins),
            *([""] if packing.margins else []),
            _rivals(packing),
            "",
            *_preference(packing),
            _asked(packing),
        )
    )


def _resources(packing: Packing) -> str:
    listed = ", ".join(f"{name} {each.type} {each.weight}" for name, each in packing.fit.items())
    return f"NodeResourcesFitPlus scores the mean, weighted and cut off, of: {listed}."


def _margin(each: weights.Margin) -> str:
    if not each.points:
        return f"- {each.resource}, {each.cards} on a node: no difference in use is sure to show."
    return (
        f"- {each.resource}, {each.cards} on a node: the node with {each.step} more in use scores at least "
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
            f"{total} in all, so NodeResourcesFitPlus weighs {packing.weight}.",
        )
    )


def _preference(packing: Packing) -> tuple[str, ...]:
    if packing.affinity is None:
        return ()
    return (
        f"NodeAffinity weighs {packing.affinity}: more than all of these and NodeResourcesFitPlus together, "
        "so that an empty node of the preferred usage comes before any other.",
        "",
    )


def _asked(packing: Packing) -> str:
    rows = "".join(
        f"- {plugin}, weight {weight}: {weights.ONLY_WHEN_ASKED[plugin]}\n"
        for plugin, weight in packing.asked.items()
    )
    return f"Not in the sum, since they score only where it is asked for:\n\n{rows}"
