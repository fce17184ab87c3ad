"""What policykit writes for Volcano: scheduler configuration, queues and a page."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster, Target
from policykit.model.queue import Queue
from policykit.targets.release import Version
from policykit.targets.volcano import admission, config, fleet, page, queues, versions
from policykit.targets.volcano.config import Configuration, Plugin
from policykit.targets.volcano.scoring import Scoring, scoring

TARGET = "volcano"
NAMESPACE = "volcano-system"
VALUES = "volcano/values.yaml"
CONFIG_MAP = "volcano/scheduler-configmap.yaml"
QUEUES = "volcano/queues.yaml"
PAGE = "volcano/README.md"
_WIDTH = 74
"""Of comments: inside a block of values they still keep to 80 columns."""

_PRIORITY = Plugin("priority")
# A gang guard that also vetoes victims would keep every full gang from being preempted at all.
_GANG = Plugin("gang", {"enablePreemptable": False})
_DRF = Plugin("drf", {"enablePreemptable": False})


def generate(cluster: Cluster) -> Generated:
    """Everything for `cluster.targets["volcano"]`; nothing where the policy has no such target.

    Raises PolicykitError for an unknown version or delivery, and for queues Volcano would refuse.
    """
    target = cluster.targets.get(TARGET)
    if target is None:
        return Generated()
    version = versions.parse(target.version)
    written, notices = admission.admitted(cluster.queues, version)
    scored = scoring(cluster, target)
    delivery, unsupported = _delivery(target, version)
    text = configuration_text(scored, written, version)
    artifacts = [_configuration(text, delivery, cluster, target, version)]
    if written:
        artifacts.append(Artifact(QUEUES, writer.dump_all(map(queues.write, written)), Role.MANIFEST))
    namespace = target.namespace or NAMESPACE
    agent = delivery == "helm-values" and version >= versions.AGENT_SCHEDULER
    shown = page.text(artifacts[0].path, QUEUES if written else "", namespace, version, agent=agent)
    artifacts.append(Artifact(PAGE, shown, Role.PAGE))
    said = (
        *unsupported,
        *scored.notices,
        *_sampling(cluster, delivery, version),
        *notices,
        *_sharing(written, version),
    )
    return Generated(tuple(artifacts), tuple(Notice(TARGET, message) for message in said))


def configuration(scored: Scoring, written: tuple[Queue, ...], version: Version) -> Configuration:
    """The scheduler configuration: the chart's own tiers, with what the policy decides."""
    placing = (
        Plugin("overcommit"),
        _DRF,
        Plugin("predicates"),
        _queue_plugin(written, version),
        *scored.plugins,
    )
    return Configuration(tiers=((_PRIORITY, _GANG, Plugin("conformance")), placing))


def configuration_text(scored: Scoring, written: tuple[Queue, ...], version: Version) -> str:
    """The file, with the reasons for its weights on top as comments."""
    lines = (line for comment in scored.comments for line in wrap(comment, _WIDTH, subsequent_indent="    "))
    return "".join(f"# {line}\n" for line in lines) + writer.dump(
        config.write(configuration(scored, written, version))
    )


def _queue_plugin(written: tuple[Queue, ...], version: Version) -> Plugin:
    # Never both: each would apply its own limits.
    if version < versions.CAPACITY or not admission.shared_by_capacity(written):
        return Plugin("proportion")
    tree = version >= versions.HIERARCHY and admission.hierarchical(written)
    return Plugin("capacity", {"enableHierarchy": True} if tree else {})


def _delivery(target: Target, version: Version) -> tuple[str, tuple[str, ...]]:
    """helm-values or manifest, and why if it is not what the policy says."""
    wanted = target.delivery or "helm-values"
    if wanted not in ("helm-values", "manifest"):
        raise PolicykitError(
            f"delivery {wanted} is not known for Volcano",
            "set targets.volcano.delivery to helm-values or manifest",
        )
    if wanted == "helm-values" and version < versions.CONFIG_OVERRIDE:
        return "manifest", (
            f"the chart of Volcano {version} has no value for the scheduler configuration (since "
            f"{versions.CONFIG_OVERRIDE}): a ConfigMap is written instead. Apply it again after each helm "
            "upgrade, which restores the chart's own",
        )
    return wanted, ()


def _configuration(text: str, delivery: str, cluster: Cluster, target: Target, version: Version) -> Artifact:
    if delivery == "helm-values":
        custom: dict[str, Any] = {"scheduler_config_override": text}
        if _sampled(cluster) and version >= versions.NODES_TO_FIND:
            custom["scheduler_percentage_nodes_to_find"] = 100
        return Artifact(VALUES, writer.dump({"custom": custom}), Role.VALUES)
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": config.CONFIG_MAP, "namespace": target.namespace or NAMESPACE},
        "data": {config.CONFIG_KEY: text},
    }
    return Artifact(CONFIG_MAP, writer.dump(manifest), Role.MANIFEST)


def _sampled(cluster: Cluster) -> bool:
    return fleet.node_total(cluster) > fleet.SCORED_NODES


def _sampling(cluster: Cluster, delivery: str, version: Version) -> tuple[str, ...]:
    if not _sampled(cluster) or (delivery == "helm-values" and version >= versions.NODES_TO_FIND):
        return ()
    return (
        f"with {fleet.node_total(cluster)} nodes Volcano scores only a sample of those a pod fits on (all of "
        f"them up to {fleet.SCORED_NODES} nodes), so a preferred or fuller node may be missed. Start the "
        "scheduler with --percentage-nodes-to-find=100",
    )


def _sharing(written: tuple[Queue, ...], version: Version) -> tuple[str, ...]:
    """What the queue plugin of the configuration does not do."""
    if _queue_plugin(written, version).name == "proportion":
        return ()
    weighted = sorted(queue.name for queue in written if queue.weight != 1)
    ignored = (
        "plugin capacity shares by deserved and guarantee, "
        f"so the weight of queue {', '.join(weighted)} has no effect",
    )
    return (
        *(ignored if weighted else ()),
        "action reclaim is not in the configuration: what a queue deserves and has lent comes back only "
        "when the borrowing pods end",
    )
