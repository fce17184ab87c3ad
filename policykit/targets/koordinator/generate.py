"""The files for Koordinator: koord-scheduler's configuration, how it is delivered, and a README."""

from __future__ import annotations

import hashlib
from functools import reduce
from typing import Any

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.manifests.patch import patched
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.targets.koordinator import options, readme, versions
from policykit.targets.koordinator.names import SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.objects import generate as objects
from policykit.targets.koordinator.scheduler import chart, merge, notices, profiles, repair, settings
from policykit.targets.koordinator.scheduler.merge import merge_patches

README = f"{TARGET_NAME}/README.md"
CONFIG_MAP_FILE = "koord-scheduler-config.yaml"
RESTART_FILE = "restart.yaml"
CHECKSUM = "policykit.io/koord-scheduler-config"
"""Pod template annotation: a new value restarts the Deployment, which then reads the file again."""


def generate(cluster: Cluster) -> Generated:
    """All files for `cluster.targets[SYSTEM]`; none if the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, weights without effect, values that would
    stop the scheduler, and a given configuration that cannot be read or has no profile for the schedulerName.
    """
    target = cluster.targets.get(TARGET_NAME)
    if target is None:
        return Generated()
    version = versions.parse(target.version)
    namespace = target.namespace or chart.NAMESPACE
    configured = _configuration(cluster, target, version, namespace)
    made, texts = objects.generate(cluster, version, namespace)
    return Generated(
        (*configured.artifacts, *made), (*configured.notices, *(Notice(TARGET_NAME, text) for text in texts))
    )


def _configuration(cluster: Cluster, target: TargetSettings, version: Version, namespace: str) -> Generated:
    """koord-scheduler-config, how it is delivered, and the README."""
    stated = options.of(target)
    preempting = settings.job_preemption(stated)
    given = merge.read_source(stated.config or _chart(version, namespace, job_preemption=preempting))
    fixed = repair.repair(given.data, version)
    data = reduce(patched, fixed.patches, given.data)
    plan = profiles.plan(cluster, target, data, target.scheduler_name or SCHEDULER, version)
    if plan.changes_nothing and not fixed.patches:
        return Generated(notices=(Notice(TARGET_NAME, notices.unchanged_notice(version)),))
    method, unsupported = _delivery(target)
    after = merge.read_source(merge_patches(given, [*fixed.patches, *plan.patches]))
    config_map = after.text if after.path and after.alone else chart.config_map(after.inner, namespace)
    write = _post_render if method == "post-render" else _manifest
    texts = [
        *unsupported,
        *fixed.notices,
        *plan.settings.notices,
        *repair.remaining_problems(after.data, version),
        *notices.plan_notices(cluster, version, plan),
        *notices.replaced_values(cluster, stated, version),
    ]
    if method == "manifest":
        texts.append(
            "koord-scheduler must be restarted after each change of koord-scheduler-config: "
            f"kubectl -n {namespace} rollout restart deploy/{chart.DEPLOYMENT}"
        )
    described = Artifact(README, readme.text(method, namespace, version, plan), Role.PAGE)
    written = (*write(config_map, after.inner, namespace), described)
    return Generated(written, tuple(Notice(TARGET_NAME, text) for text in texts))


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
