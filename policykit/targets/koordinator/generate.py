"""What policykit writes for Koordinator: koord-scheduler's configuration, its delivery and a page."""

from __future__ import annotations

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster, Target
from policykit.targets.koordinator import chart, config, delivery, notices, page, versions
from policykit.targets.koordinator.merge import merged
from policykit.targets.koordinator.packing import packing
from policykit.targets.release import Version

TARGET = "koordinator"
PAGE = f"{delivery.FOLDER}/README.md"
CONFIG_OPTION = "config"
"""Text of the given koord-scheduler-config: the configuration, or the ConfigMap that carries it."""


def generate(cluster: Cluster) -> Generated:
    """Everything for `cluster.targets["koordinator"]`; nothing where the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, weights without effect, and a given
    configuration that cannot be read or has no profile for the schedulerName.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return Generated()
    version = versions.parse(target.version)
    if version < versions.FIT_PLUS:
        return _said([notices.nearest(version)])
    way, unsupported = _delivery(target)
    namespace, name = target.namespace or chart.NAMESPACE, scheduler_name(target)
    given = target.options.get(CONFIG_OPTION)
    source = config.read(given or _chart(version, namespace))
    _, profile = config.profile(source.data, name)
    numbers = packing(cluster, target, profile, name, version)
    if not numbers.fit:
        return _said(
            ["no pool offers a card, so there is nothing to pack: the chart's configuration is right"]
        )
    after = config.read(merged(source, name, numbers))
    config_map = after.text if after.path and after.alone else chart.config_map(after.inner, namespace)
    write = delivery.post_render if way == "post-render" else delivery.manifest
    shown = page.text(way, namespace, version, numbers)
    said = [*unsupported, *notices.starting(version, source), *notices.numbers(cluster, name, numbers)]
    if way == "manifest":
        said.append(
            "restart needed after each change of koord-scheduler-config: "
            f"kubectl -n {namespace} rollout restart deploy/{chart.DEPLOYMENT}"
        )
    artifacts = (*write(config_map, after.inner, namespace), Artifact(PAGE, shown, Role.PAGE))
    return Generated(artifacts, _said(said).notices)


def scheduler_name(target: Target) -> str:
    """The profile that the policy's workloads use."""
    return target.scheduler_name or chart.PROFILE


def _chart(version: Version, namespace: str) -> str:
    return chart.config_map(writer.dump(chart.configuration(version, namespace)), namespace)


def _said(messages: list[str]) -> Generated:
    return Generated(notices=tuple(Notice(TARGET, message) for message in messages))


def _delivery(target: Target) -> tuple[str, tuple[str, ...]]:
    """post-render or manifest, and why if it is not what the policy says."""
    wanted = target.delivery or "post-render"
    if wanted == "helm-values":
        return "post-render", (
            f"no value of Koordinator's chart up to {versions.NEWEST} reaches koord-scheduler-config, so "
            "there are no Helm values to write: a post-render component is written instead",
        )
    if wanted not in ("post-render", "manifest"):
        raise PolicykitError(
            f"delivery {wanted} is not known for Koordinator",
            "set targets.koordinator.delivery to post-render or manifest",
        )
    return wanted, ()
