"""Facts about configurations with plugins that Kubernetes' own image of kube-scheduler does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.command_line import configuration
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.scheduler_images import OutOfTreePlugins, StockScheduler
from policykit.targets import added_plugins
from policykit.targets.kubernetes.scheduler.plugins import SCHEDULER_PLUGINS, formerly_known, in_tree_plugins

_STOCK = frozenset(
    {
        f"{registry}/kube-scheduler{machine}"
        for registry in (
            "gcr.io/google-containers",
            "gcr.io/google_containers",
            "k8s.gcr.io",
            "registry.aliyuncs.com/google_containers",
            "registry.cn-hangzhou.aliyuncs.com/google_containers",
            "registry.k8s.io",
        )
        for machine in ("", "-amd64", "-arm64")
    }
)
"""Names of images that are built from Kubernetes alone, and mirrors that copy them."""
_STOCK_PLUGINS = in_tree_plugins(None) | formerly_known("v1beta1") | formerly_known("v1beta3")
"""Those of any release."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a configuration that a ConfigMap holds, or of pods."""
    if manifest.partial:
        return
    holder = manifest.holder
    if holder is not None:
        if holder.kind == "ConfigMap" and len(manifest.held_at) > 1:
            yield from _plugins(manifest, holder, context)
        return
    for pod_set in pod_sets:
        yield from _images(manifest, pod_set, context)


def _plugins(manifest: Manifest, holder: Manifest, context: Context) -> Iterator[Fact]:
    enabled = dict(_enabled(manifest.data))
    names = [name for name in enabled if name in SCHEDULER_PLUGINS]
    if not names:
        names = [name for name in enabled if name and name not in _STOCK_PLUGINS | frozenset(context.plugins)]
    if names and not added_plugins(manifest.data) and not SCHEDULER_PLUGINS.intersection(context.plugins):
        value = OutOfTreePlugins(
            holder.namespace or context.namespace, holder.name, str(manifest.held_at[-1]), tuple(names)
        )
        yield Fact(value, {"plugin": enabled[names[0]]})


def _enabled(data: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    for number, profile in reversed([*enumerate(mappings(data.get("profiles")))]):
        for point, stated in mapping(profile.get("plugins")).items():
            for at, each in enumerate(mappings(mapping(stated).get("enabled"))):
                name = text(each.get("name"))
                yield name, ("profiles", number, "plugins", str(point), "enabled", at, "name")


def _images(manifest: Manifest, pod_set: PodSet, context: Context) -> Iterator[Fact]:
    for _, _, container in containers(pod_set.spec):
        image = text(container.get("image"))
        if image.partition("@")[0].rpartition(":")[0] not in _STOCK:
            continue
        if file := configuration(container, pod_set.spec):
            what = f"{manifest.kind} {manifest.name}"
            namespace = manifest.namespace or context.namespace
            yield Fact(StockScheduler(namespace, file.name, file.key, image, what), {})
