"""Everything policykit writes for Volcano: scheduler configuration, queues, topology and a README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Notice, Role, TargetOutput, in_waves
from policykit.manifests import writer
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.targets import pool_capacity
from policykit.targets.volcano import job_patches as job_options
from policykit.targets.volcano import names, versions
from policykit.targets.volcano.objects import namespaces, nodegroups, queue_admission, queues, topology
from policykit.targets.volcano.scheduler import configuration
from policykit.targets.volcano.scheduler.plan import Plan, plan

TARGET = "volcano"
NAMESPACE = "volcano-system"
VALUES = "volcano/values.yaml"
CONFIG_MAP = "volcano/scheduler-configmap.yaml"
QUEUES = "volcano/queues.yaml"
README = "volcano/README.md"
_WIDTH = 74
"""Width of comments: indented in Helm values they still fit into 80 columns."""


def generate(cluster: Cluster) -> TargetOutput:
    """All files for `cluster.targets["volcano"]`; none if the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, and for queues Volcano would reject.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return TargetOutput()
    version = versions.parse(target.version)
    written, notices = queue_admission.admitted_queues(cluster.queues, version, cluster.pools)
    planned = plan(cluster, target, written, version)
    delivery, unsupported = _delivery(target, version)
    artifacts = [_configuration(text(planned), delivery, cluster, target, version)]
    if written:
        parents = {queue.name: queue.parent for queue in written}
        tree = in_waves(map(queues.write, written), parents)
        artifacts.append(Artifact(QUEUES, writer.dump_all(tree), Role.MANIFEST))
    objects, object_notices = object_artifacts(cluster, version)
    artifacts += objects
    artifacts.append(_page(artifacts, target, version, delivery))
    messages = (
        *unsupported,
        *planned.scored.notices,
        *_sampling(cluster, delivery, version),
        *notices,
        *planned.notices,
        *object_notices,
    )
    return TargetOutput(tuple(artifacts), tuple(Notice(TARGET, message) for message in messages))


def object_artifacts(cluster: Cluster, version: Version) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """HyperNodes, node groups and the tenants' namespaces, with notices.

    Queues are written with the configuration, which depends on them.
    """
    made = [module.artifacts(cluster, version) for module in (topology, nodegroups, namespaces)]
    artifacts = tuple(artifact for artifacts, _ in made for artifact in artifacts)
    notices = tuple(notice for _, notices in made for notice in notices)
    return artifacts, (*notices, *job_options.missing_plugin_notices(cluster))


def text(planned: Plan) -> str:
    """The configuration file, with the reasons for it as comments at the top."""
    lines = (
        line
        for comment in planned.comments
        for line in wrap(comment, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    )
    return "".join(f"# {line}\n" for line in lines) + writer.dump(configuration.write(planned.configuration))


def _page(artifacts: Sequence[Artifact], target: TargetSettings, version: Version, delivery: str) -> Artifact:
    agent = delivery == "helm-values" and version >= versions.AGENT_SCHEDULER
    paths = [artifact.path for artifact in artifacts]
    return Artifact(README, readme(paths, target.namespace or NAMESPACE, version, agent=agent), Role.PAGE)


def _delivery(target: TargetSettings, version: Version) -> tuple[str, tuple[str, ...]]:
    """helm-values or manifest, and a notice if it differs from the policy."""
    wanted = target.delivery or "helm-values"
    if wanted not in ("helm-values", "manifest"):
        raise PolicykitError(
            f"Volcano has no delivery {wanted}",
            "set targets.volcano.delivery to helm-values or manifest",
            path=("targets", "volcano", "delivery"),
        )
    if wanted == "helm-values" and version < versions.CONFIG_OVERRIDE:
        return "manifest", (
            f"the chart of Volcano {version} has no value for the scheduler configuration (added "
            f"in {versions.CONFIG_OVERRIDE}): a ConfigMap is written instead. Apply it again after each helm "
            "upgrade, which restores the chart's own",
        )
    return wanted, ()


def _configuration(
    text: str, delivery: str, cluster: Cluster, target: TargetSettings, version: Version
) -> Artifact:
    if delivery == "helm-values":
        custom: dict[str, Any] = {names.CONFIG_OVERRIDE: text}
        if _sampled(cluster) and version >= versions.NODES_TO_FIND:
            custom["scheduler_percentage_nodes_to_find"] = 100
        return Artifact(VALUES, writer.dump({"custom": custom}), Role.VALUES)
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": names.CONFIG_MAP, "namespace": target.namespace or NAMESPACE},
        "data": {names.CONFIG_FILE: text},
    }
    return Artifact(CONFIG_MAP, writer.dump(manifest), Role.MANIFEST)


def _sampled(cluster: Cluster) -> bool:
    return pool_capacity.node_total(cluster) > pool_capacity.SCORED_NODES


def _sampling(cluster: Cluster, delivery: str, version: Version) -> tuple[str, ...]:
    if not _sampled(cluster) or (delivery == "helm-values" and version >= versions.NODES_TO_FIND):
        return ()
    return (
        f"with {pool_capacity.node_total(cluster)} nodes Volcano scores only a sample of the nodes "
        f"a pod fits on (all of them up to {pool_capacity.SCORED_NODES} nodes), "
        "so it may miss a preferred or fuller node. "
        "Start the scheduler with --percentage-nodes-to-find=100",
    )


_RELOAD = (
    "The scheduler watches its configuration: a change takes effect without a restart, about a minute after "
    "the ConfigMap changed. If it cannot parse the file, it logs an error and keeps the previous "
    "configuration, so check the scheduler's log after a change."
)
_AGENT = (
    "If the chart's agent scheduler is enabled, it gets the same override, rejects its actions and runs with "
    "its built-in configuration: the weights apply to the scheduler `volcano` only."
)


_README_ROWS: Mapping[str, str] = {
    "queues.yaml": (
        "the queues, parents first. `kubectl apply -f queues.yaml`, or use the kustomization in the parent "
        "folder. Volcano creates `default` and `root` itself."
    ),
    "hypernodes.yaml": (
        "the topology: a HyperNode for each place in the policy, which selects nodes by label. `kubectl "
        "apply -f hypernodes.yaml`, or use the kustomization in the parent folder."
    ),
    "nodegroups.sh": (
        "the node label that assigns pools to queues. Run it before the configuration takes effect: plugin "
        "`nodegroup` keeps pods of these queues off nodes without the label."
    ),
    "namespaces/kustomization.yaml": (
        "a kustomize component with the tenants' queues, for the kustomization that contains their "
        "Namespaces: it neither creates nor deletes a Namespace."
    ),
}


def readme(paths: Sequence[str], namespace: str, version: Version, *, agent: bool) -> str:
    """Markdown for the files at `paths`, the configuration first.

    `agent`: the release's chart has an agent scheduler that reads the same value. Raises KeyError for a file
    without a row; a component's patches are described by the row of its kustomization.
    """
    names = [path.partition("/")[2] for path in paths]
    rows = [_configuration_row(names[0], namespace)]
    described = [name for name in names[1:] if "/" not in name or name.endswith("/kustomization.yaml")]
    rows += [f"- `{name}`: {_README_ROWS[name]}" for name in described]
    parts = (f"# Volcano {version}", "\n".join(rows), _RELOAD, *((_AGENT,) if agent else ()))
    return "\n\n".join(parts) + "\n"


def _configuration_row(name: str, namespace: str) -> str:
    if name == "values.yaml":
        return (
            f"- `{name}`: Helm values with the whole scheduler configuration; its comments explain the "
            f"arithmetic of the weights. `helm upgrade volcano volcano-sh/volcano -n {namespace} "
            f"--reuse-values -f {name}`. Leave `basic.scheduler_config_file` as it is."
        )
    return (
        f"- `{name}`: the scheduler configuration as the ConfigMap of Volcano's installer, in namespace "
        f"`{namespace}`; its comments explain the arithmetic of the weights. `kubectl apply -f {name}`."
    )
