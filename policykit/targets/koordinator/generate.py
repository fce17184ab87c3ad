"""What policykit writes for Koordinator: koord-scheduler's configuration, its delivery and a page."""

from __future__ import annotations

from functools import reduce

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.manifests.patch import patched
from policykit.model.cluster import Cluster, Target
from policykit.targets.koordinator import delivery, page, versions
from policykit.targets.koordinator.objects import everything as objects
from policykit.targets.koordinator.scheduler import chart, config, notices, profiles, repair
from policykit.targets.koordinator.scheduler.merge import merged
from policykit.targets.release import Version

TARGET = "koordinator"
PAGE = f"{delivery.FOLDER}/README.md"
CONFIG_OPTION = "config"
"""Text of the given koord-scheduler-config: the configuration, or the ConfigMap that carries it."""


def generate(cluster: Cluster) -> Generated:
    """Everything for `cluster.targets["koordinator"]`; nothing where the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, weights without effect, values that would
    stop the scheduler, and a given configuration that cannot be read or has no profile for the schedulerName.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return Generated()
    version = versions.parse(target.version)
    namespace = target.namespace or chart.NAMESPACE
    configured = _configuration(cluster, target, version, namespace)
    made, said = objects.generate(cluster, version, namespace)
    return Generated(
        (*configured.artifacts, *made), (*configured.notices, *(Notice(TARGET, text) for text in said))
    )


def _configuration(cluster: Cluster, target: Target, version: Version, namespace: str) -> Generated:
    """koord-scheduler-config, its delivery and the page about both."""
    source = config.read(target.options.get(CONFIG_OPTION) or _chart(version, namespace))
    mended = repair.repaired(source.data, version)
    data = reduce(patched, mended.patches, source.data)
    drawn = profiles.drawing(cluster, target, data, scheduler_name(target), version)
    if drawn.idle and not mended.patches:
        return _said([notices.idle(version)])
    way, unsupported = _delivery(target)
    after = config.read(merged(source, [*mended.patches, *drawn.patches]))
    config_map = after.text if after.path and after.alone else chart.config_map(after.inner, namespace)
    write = delivery.post_render if way == "post-render" else delivery.manifest
    said = [
        *unsupported,
        *mended.said,
        *drawn.wanted.said,
        *notices.starting(version, after, drawn),
        *notices.drawn(cluster, version, drawn),
        *notices.queue_sort(after),
    ]
    if way == "manifest":
        said.append(
            "restart needed after each change of koord-scheduler-config: "
            f"kubectl -n {namespace} rollout restart deploy/{chart.DEPLOYMENT}"
        )
    shown = Artifact(PAGE, page.text(way, namespace, version, drawn), Role.PAGE)
    return Generated((*write(config_map, after.inner, namespace), shown), _said(said).notices)


def scheduler_name(target: Target) -> str:
    """The profile that the policy's workloads use."""
    return target.scheduler_name or config.PROFILE


def _chart(version: Version, namespace: str) -> str:
    """The chart's configuration, in a version that the release can start with whatever is added."""
    text = writer.dump(chart.configuration(version, namespace))
    written, readable = chart.written_in(version), versions.decodes(version).fit_plus
    if readable and written not in readable:
        text = text.replace(f"{versions.GROUP}/{written}\n", f"{versions.GROUP}/{readable[0]}\n")
    return chart.config_map(text, namespace)


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
            path=("targets", "koordinator", "delivery"),
        )
    return wanted, ()
