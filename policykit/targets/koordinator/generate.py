"""What policykit writes for Koordinator: koord-scheduler's configuration, its delivery and a README."""

from __future__ import annotations

from functools import reduce

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.manifests.patch import patched
from policykit.model.cluster import Cluster, TargetSettings
from policykit.targets.koordinator import delivery, options, page, versions
from policykit.targets.koordinator.names import SCHEDULER, SYSTEM
from policykit.targets.koordinator.objects import generate as objects
from policykit.targets.koordinator.scheduler import chart, notices, profiles, repair, source
from policykit.targets.koordinator.scheduler.merge import merged
from policykit.targets.release import Version

PAGE = f"{delivery.FOLDER}/README.md"


def generate(cluster: Cluster) -> Generated:
    """Everything for `cluster.targets[SYSTEM]`; nothing where the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, weights without effect, values that would
    stop the scheduler, and a given configuration that cannot be read or has no profile for the schedulerName.
    """
    target = cluster.targets.get(SYSTEM)
    if target is None:
        return Generated()
    version = versions.parse(target.version)
    namespace = target.namespace or chart.NAMESPACE
    configured = _configuration(cluster, target, version, namespace)
    made, texts = objects.generate(cluster, version, namespace)
    return Generated(
        (*configured.artifacts, *made), (*configured.notices, *(Notice(SYSTEM, text) for text in texts))
    )


def _configuration(cluster: Cluster, target: TargetSettings, version: Version, namespace: str) -> Generated:
    """koord-scheduler-config, its delivery and the page about both."""
    given = source.read(options.of(target).config or _chart(version, namespace))
    fixed = repair.repaired(given.data, version)
    data = reduce(patched, fixed.patches, given.data)
    plan = profiles.plan(cluster, target, data, target.scheduler_name or SCHEDULER, version)
    if plan.changes_nothing and not fixed.patches:
        return Generated(notices=(Notice(SYSTEM, notices.idle(version)),))
    method, unsupported = _delivery(target)
    after = source.read(merged(given, [*fixed.patches, *plan.patches]))
    config_map = after.text if after.path and after.alone else chart.config_map(after.inner, namespace)
    write = delivery.post_render if method == "post-render" else delivery.manifest
    texts = [
        *unsupported,
        *fixed.notices,
        *plan.settings.notices,
        *repair.notices(after.data, version),
        *notices.of_plan(cluster, version, plan),
    ]
    if method == "manifest":
        texts.append(
            "koord-scheduler must be restarted after each change of koord-scheduler-config: "
            f"kubectl -n {namespace} rollout restart deploy/{chart.DEPLOYMENT}"
        )
    readme = Artifact(PAGE, page.text(method, namespace, version, plan), Role.PAGE)
    written = (*write(config_map, after.inner, namespace), readme)
    return Generated(written, tuple(Notice(SYSTEM, text) for text in texts))


def _chart(version: Version, namespace: str) -> str:
    """The chart's configuration, in an apiVersion that the release starts with whatever is added."""
    text = writer.dump(chart.configuration(version, namespace))
    written, readable = chart.written_in(version), versions.config_versions(version).fit_plus
    if readable and written not in readable:
        text = text.replace(f"{versions.GROUP}/{written}\n", f"{versions.GROUP}/{readable[0]}\n")
    return chart.config_map(text, namespace)


def _delivery(target: TargetSettings) -> tuple[str, tuple[str, ...]]:
    """post-render or manifest, and a notice if the policy says otherwise."""
    wanted = target.delivery or "post-render"
    if wanted == "helm-values":
        return "post-render", (
            f"no value of Koordinator's chart up to {versions.NEWEST} reaches koord-scheduler-config, so a "
            "post-render component is written instead of Helm values",
        )
    if wanted not in ("post-render", "manifest"):
        raise PolicykitError(
            f"delivery {wanted} is not known for Koordinator",
            "set targets.koordinator.delivery to post-render or manifest",
            path=("targets", "koordinator", "delivery"),
        )
    return wanted, ()
