"""What policykit writes for Volcano: scheduler configuration, queues, topology and a page."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from policykit.catalogue.volcano import configuration
from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster, TargetSettings
from policykit.targets import fleet
from policykit.targets.release import Version
from policykit.targets.sync_waves import in_waves
from policykit.targets.volcano import names, page, versions
from policykit.targets.volcano.jobs import options as job_options
from policykit.targets.volcano.objects import admission, nodegroups, queues, submission, topology
from policykit.targets.volcano.scheduler.plan import Plan, plan

TARGET = "volcano"
NAMESPACE = "volcano-system"
VALUES = "volcano/values.yaml"
CONFIG_MAP = "volcano/scheduler-configmap.yaml"
QUEUES = "volcano/queues.yaml"
PAGE = "volcano/README.md"
_WIDTH = 74
"""Of comments: inside a block of values they still keep to 80 columns."""


def generate(cluster: Cluster) -> Generated:
    """Everything for `cluster.targets["volcano"]`; nothing where the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, and for queues Volcano would reject.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return Generated()
    version = versions.parse(target.version)
    written, notices = admission.admitted(cluster.queues, version, cluster.pools)
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
    return Generated(tuple(artifacts), tuple(Notice(TARGET, message) for message in messages))


def object_artifacts(cluster: Cluster, version: Version) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """HyperNodes, node groups and the tenants' namespaces; and what they cannot express.

    Queues are written with the configuration, which depends on them.
    """
    made = [module.artifacts(cluster, version) for module in (topology, nodegroups, submission)]
    artifacts = tuple(artifact for artifacts, _ in made for artifact in artifacts)
    notices = tuple(notice for _, notices in made for notice in notices)
    return artifacts, (*notices, *job_options.unread(cluster))


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
    return Artifact(PAGE, page.text(paths, target.namespace or NAMESPACE, version, agent=agent), Role.PAGE)


def _delivery(target: TargetSettings, version: Version) -> tuple[str, tuple[str, ...]]:
    """helm-values or manifest, and why if it is not what the policy says."""
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
    return fleet.node_total(cluster) > fleet.SCORED_NODES


def _sampling(cluster: Cluster, delivery: str, version: Version) -> tuple[str, ...]:
    if not _sampled(cluster) or (delivery == "helm-values" and version >= versions.NODES_TO_FIND):
        return ()
    return (
        f"with {fleet.node_total(cluster)} nodes Volcano scores only a sample of the nodes a pod fits on "
        f"(all of them up to {fleet.SCORED_NODES} nodes), so it may miss a preferred or fuller node. Start "
        "the scheduler with --percentage-nodes-to-find=100",
    )
