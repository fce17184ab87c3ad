"""The supported systems, one folder each. `DIALECTS` is the light part that lint reads."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from policykit.linter.dialect import Dialect
from policykit.linter.scope import FactReader
from policykit.linter.systems import Systems
from policykit.targets.coscheduling.names import DIALECT as COSCHEDULING
from policykit.targets.kai.names import DIALECT as KAI
from policykit.targets.koordinator.groups import DIALECT as KOORDINATOR
from policykit.targets.kubernetes.configurations import CONFIGURATION as KUBE_SCHEDULER
from policykit.targets.kueue.names import DIALECT as KUEUE
from policykit.targets.kueue.names import POD_GROUP_TOTAL
from policykit.targets.volcano.dialect import DIALECT as VOLCANO
from policykit.targets.yunikorn.groups import DIALECT as YUNIKORN

if TYPE_CHECKING:
    from policykit.generator.artifact import Generate
    from policykit.model.cluster import Cluster

DIALECTS: tuple[Dialect, ...] = (VOLCANO, KOORDINATOR, YUNIKORN, KUEUE, KAI, COSCHEDULING)

GANG_ANNOTATIONS = frozenset(
    key.key for each in DIALECTS for key in each.keys if key.where == "annotations" and key.purpose == "gang"
) | {
    "gang.scheduling.koordinator.sh/match-policy",
    "gang.scheduling.koordinator.sh/waiting-time",
    POD_GROUP_TOTAL,
}
"""Annotations of gangs, of all systems."""

_PATCHED = frozenset(
    {"CronJob", "Job", "JobSet", "Kustomization", "PodCliqueSet", "RayCluster", "RayJob", "RayService"}
)
"""Kinds whose patches show no pod template, and Kustomizations, which hold patches."""

_GANG_WORDS = (
    "DynamoGraphDeployment",
    "aibrix",
    "disaggregatedset",
    "group",
    "odGroup",
    "grove",
    "jobset",
    "kai.scheduler",
    "koord",
    "kserve",
    "kubeflow",
    "kueue",
    "leaderworkerset",
    "ray.io",
    "sparkoperator",
    "volcano",
    "workloads.x-k8s.io",
    "yunikorn",
)
"""Of kinds that make gangs by themselves, and of the keys by which pods join one."""

FACTS: tuple[FactReader, ...] = (
    FactReader("policykit.targets.volcano.sharing", frozenset({"Queue", "PodGroup"})),
    FactReader("policykit.targets.koordinator.sharing", frozenset({"ElasticQuota", "ElasticQuotaProfile"})),
    FactReader("policykit.targets.yunikorn.sharing", frozenset({"queues.yaml"})),
    FactReader(
        "policykit.targets.kueue.sharing",
        frozenset({"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology"}),
        pods=True,
        words=("kueue",),
    ),
    FactReader("policykit.targets.gang_facts", frozenset({"PodGroup"}), pods=True, words=_GANG_WORDS),
    FactReader("policykit.targets.list_facts", _PATCHED, pods=True),
    FactReader(
        "policykit.targets.volcano.topology_facts",
        frozenset({"CronJob", "HyperNode", "Job", "JobTemplate", "PodGroup", "volcano-scheduler.conf"}),
    ),
    FactReader("policykit.targets.submission", frozenset({"Namespace"}), pods=True, words=("ueue", "uota")),
    FactReader(
        "policykit.targets.workloads.overrides",
        frozenset(
            {
                "ClusterServingRuntime",
                "ClusterTrainingRuntime",
                "ClusterWorkflowTemplate",
                "CronWorkflow",
                "InferenceService",
                "RoleBasedGroup",
                "ServingRuntime",
                "TrainJob",
                "TrainingRuntime",
                "Workflow",
                "WorkflowTemplate",
            }
        ),
    ),
    FactReader(
        "policykit.targets.kubernetes.priority_facts",
        frozenset({"PriorityClass", "PodGroup"}),
        pods=True,
        words=("riorityClass",),
    ),
    FactReader(
        "policykit.targets.yunikorn.facts.applications",
        pods=True,
        words=("queue", "yunikorn", "applicationId", "spark-app-selector"),
    ),
    FactReader("policykit.targets.yunikorn.facts.namespaces", frozenset({"Namespace"})),
    FactReader("policykit.targets.yunikorn.facts.queues", frozenset({"queues.yaml"})),
)
"""Readers of the facts that rules about whole scopes use: queues, priorities and others."""

CONFIGURATIONS = (KUBE_SCHEDULER, *(known for dialect in DIALECTS for known in dialect.configurations))

SYSTEMS = Systems(DIALECTS, FACTS, CONFIGURATIONS)

ALWAYS = ("nodes", "kubernetes", "workloads")
"""Targets that every policy generates for."""

OPTIONAL = ("volcano", "koordinator", "yunikorn", "kueue")
"""Systems that a policy generates for if its `targets` names them."""

DEFAULT_SCHEDULER = "default-scheduler"


def system_of(scheduler: str, cluster: Cluster | None) -> str | None:
    """Which system serves a schedulerName: a dialect's name, or kubernetes; None: unknown.

    Empty is the default scheduler. What the policy says outranks the usual names; the scheduler
    of a placement is a kube-scheduler's profile, unless a target lists it among its `schedulers`.
    """
    name = scheduler or DEFAULT_SCHEDULER
    for target in cluster.targets.values() if cluster else ():
        if name == target.scheduler_name or name in target.options.get("schedulers", ()):
            return target.name
    for dialect in DIALECTS:
        if name in dialect.schedulers:
            return dialect.name
    placed = cluster is not None and any(each.scheduler == name for each in cluster.placements.values())
    return "kubernetes" if placed or name == DEFAULT_SCHEDULER else None


def writers(cluster: Cluster) -> Iterator[tuple[str, Generate]]:
    """(name, generate) of each system the policy generates for; each is imported only then."""
    for name in (*ALWAYS, *(target for target in OPTIONAL if target in cluster.targets)):
        yield name, import_module(f"policykit.targets.{name}.generate").generate
