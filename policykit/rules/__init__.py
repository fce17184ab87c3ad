"""Every rule, in the order of the catalogue; a test notices a file that is not listed.

An entry says what its rule looks at, so that a run imports only the rules that it needs: most runs
of a hook look at one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from policykit.lazy import Lazy
from policykit.linter.registry import (
    BASELINE,
    FAILED_BUILD,
    GENERATED_FILE,
    PODS,
    POLICY,
    READING,
    SCOPE,
    STRUCTURE,
    SUPPRESSION,
    Entry,
)
from policykit.linter.rule import AnyRule, Context, Violation

CATALOGUE = (
    Entry("PK001", "reading", "syntax-error", subject=READING),
    Entry("PK002", "reading", "duplicate-key", subject=READING),
    Entry("PK003", "reading", "unknown-field", subject=STRUCTURE),
    Entry("PK004", "reading", "invalid-field", subject=STRUCTURE),
    Entry("PK005", "reading", "invalid-quantity", subject=STRUCTURE),
    Entry("PK006", "reading", "invalid-label", subject=STRUCTURE),
    Entry("PK007", "reading", "removed-api-version"),
    Entry("PK008", "reading", "unknown-api-kind"),
    Entry("PK009", "reading", "build-fails", subject=FAILED_BUILD),
    Entry("PK101", "placement", "missing-toleration", True, subject=PODS),
    Entry("PK102", "placement", "no-feasible-pool", True, subject=PODS),
    Entry("PK103", "placement", "missing-usage-affinity", True, subject=PODS),
    Entry("PK104", "placement", "wrong-usage", True, subject=PODS),
    Entry("PK105", "placement", "missing-preference", True, subject=PODS),
    Entry("PK106", "placement", "wrong-card", True, subject=PODS),
    Entry(
        "PK107",
        "placement",
        "unsatisfiable-affinity",
        subject=PODS,
        substrings=("odeSelector", "node.selector", "ffinity"),
    ),
    Entry("PK108", "placement", "unknown-node-label", True, subject=PODS),
    Entry("PK109", "placement", "leaking-or-term", True, subject=PODS),
    Entry("PK110", "placement", "attracted-but-repelled", True, subject=PODS),
    Entry("PK111", "placement", "tolerated-but-not-selected", True, subject=PODS),
    Entry("PK112", "placement", "tolerates-everything", subject=PODS, substrings=("toleration",)),
    Entry("PK113", "placement", "control-plane-toleration", True, subject=PODS),
    Entry("PK114", "placement", "cpu-workload-on-card-pool", True, subject=PODS),
    Entry("PK115", "placement", "dead-toleration", True, subject=PODS),
    Entry("PK116", "placement", "invalid-toleration", subject=PODS, substrings=("toleration",)),
    Entry(
        "PK117",
        "placement",
        "negative-only-selection",
        subject=PODS,
        substrings=("ffinity", "odeSelectorTerm"),
    ),
    Entry(
        "PK118",
        "placement",
        "pinned-to-node",
        subject=PODS,
        substrings=("nodeName", "hostname", "clique", "matchFields"),
    ),
    Entry("PK119", "placement", "spread-over-untolerated", True, subject=PODS),
    Entry("PK120", "placement", "daemonset-misses-pool", True, kinds=("ClusterPolicy", "DaemonSet")),
    Entry("PK121", "placement", "wrong-scheduler-for-kind", True, subject=PODS),
    Entry("PK122", "placement", "scheduler-metadata-ignored", subject=PODS),
    Entry("PK123", "placement", "oversized-card", True, subject=PODS),
    Entry("PK124", "placement", "card-not-requested", True, subject=PODS),
    Entry("PK125", "placement", "lost-fallback", True, subject=PODS),
    Entry("PK126", "placement", "selection-resource-mismatch", True, subject=PODS),
    Entry("PK127", "placement", "override-drops-tolerations", subject=SCOPE),
    Entry(
        "PK128",
        "placement",
        "placement-field-refused",
        subject=PODS,
        substrings=("grove", "knative", "InferenceService"),
    ),
    Entry(
        "PK129",
        "placement",
        "node-off-policy",
        True,
        kinds=("InitConfiguration", "JoinConfiguration", "Node", "NodeFeatureRule", "NodePool"),
    ),
    Entry("PK130", "placement", "card-model-not-stated", True, subject=PODS),
    Entry("PK131", "placement", "invalid-spread", subject=PODS, substrings=("topologySpreadConstraints",)),
    Entry(
        "PK132",
        "placement",
        "metadata-of-another-release",
        substrings=(
            "koordinator.sh/",
            "volcano.sh/",
            "yunikorn.apache.org/",
            "kueue.x-k8s.io/",
            "runai/queue",
            "disableStateAware",
        ),
    ),
    Entry("PK201", "resources", "card-request-limit-mismatch", subject=PODS),
    Entry("PK202", "resources", "wrong-card-resource", True, subject=PODS),
    Entry("PK203", "resources", "exceeds-node", True, subject=PODS),
    Entry("PK204", "resources", "fragmenting-request", True, subject=PODS),
    Entry("PK205", "resources", "missing-requests", subject=PODS),
    Entry("PK206", "resources", "quota-key-never-counted", kinds=("ResourceQuota",)),
    Entry("PK207", "resources", "limitrange-injects-cards", kinds=("LimitRange",)),
    Entry("PK208", "resources", "hpa-on-card-metric", kinds=("HorizontalPodAutoscaler",)),
    Entry("PK209", "resources", "quota-exceeds-pools", True, kinds=("ResourceQuota",)),
    Entry(
        "PK210",
        "resources",
        "job-shape",
        kinds=("CronJob", "Job", "JobSet", "MPIJob", "RayCluster", "RayJob", "RayService"),
    ),
    Entry("PK211", "resources", "unknown-card-resource", subject=PODS),
    Entry("PK212", "resources", "card-under-pod-resources", subject=PODS),
    Entry("PK213", "resources", "exclusive-card-resources", subject=PODS),
    Entry("PK214", "resources", "shared-replica-count", subject=PODS, substrings=("nvidia.com/",)),
    Entry("PK301", "gangs", "gang-exceeds-replicas", subject=SCOPE),
    Entry(
        "PK302",
        "gangs",
        "partial-gang",
        kinds=(
            "CronJob",
            "JAXJob",
            "Job",
            "JobSet",
            "JobTemplate",
            "MPIJob",
            "MXJob",
            "PaddleJob",
            "PyTorchJob",
            "TFJob",
            "XGBoostJob",
        ),
    ),
    Entry(
        "PK303",
        "gangs",
        "gang-not-declared",
        kinds=(
            "CronJob",
            "DisaggregatedSet",
            "JAXJob",
            "Job",
            "JobSet",
            "LeaderWorkerSet",
            "MPIJob",
            "MXJob",
            "PaddleJob",
            "PyTorchJob",
            "RoleBasedGroup",
            "RoleSet",
            "StormService",
            "TFJob",
            "XGBoostJob",
        ),
    ),
    Entry("PK304", "gangs", "gang-exceeds-pools", True),
    Entry("PK305", "gangs", "gang-exceeds-queue", subject=SCOPE),
    Entry("PK306", "gangs", "gang-without-group", subject=SCOPE),
    Entry(
        "PK307",
        "gangs",
        "hidden-pods-not-counted",
        kinds=(
            "CronJob",
            "Job",
            "JobSet",
            "JobTemplate",
            "MPIJob",
            "PyTorchJob",
            "RayJob",
            "TFJob",
            "XGBoostJob",
        ),
    ),
    Entry("PK308", "gangs", "gang-dependency-deadlock", subject=SCOPE),
    Entry("PK309", "volcano", "gang-topology", subject=SCOPE),
    Entry(
        "PK310",
        "gangs",
        "invalid-gang-metadata",
        substrings=("group", "odGroup", "koord", "kueue", "volcano", "yunikorn"),
    ),
    Entry("PK311", "gangs", "mixed-schedulers-in-gang", subject=SCOPE),
    Entry("PK401", "queues", "unknown-queue", subject=SCOPE),
    Entry("PK402", "queues", "queue-not-leaf", subject=SCOPE),
    Entry("PK403", "queues", "queue-tree-broken", subject=SCOPE),
    Entry("PK404", "queues", "guarantee-exceeds-parent", subject=SCOPE),
    Entry("PK405", "queues", "limit-exceeds-parent", subject=SCOPE),
    Entry("PK406", "queues", "guarantee-exceeds-limit", subject=SCOPE),
    Entry("PK407", "queues", "guarantees-exceed-pools", True, subject=SCOPE),
    Entry("PK408", "queues", "unknown-queue-resource", kinds=("ElasticQuota", "Queue", "queues.yaml")),
    Entry("PK409", "queues", "missing-card-limit", True, subject=SCOPE),
    Entry(
        "PK410",
        "queues",
        "queue-metadata-misplaced",
        substrings=("queue", "yunikorn", "applicationId", "koord"),
    ),
    Entry("PK411", "yunikorn", "nobody-can-submit", kinds=("queues.yaml",)),
    Entry("PK501", "volcano", "unknown-action", kinds=("volcano-scheduler.conf",)),
    Entry("PK502", "volcano", "unknown-plugin", kinds=("volcano-scheduler.conf",)),
    Entry("PK503", "volcano", "unknown-argument", kinds=("volcano-scheduler.conf",)),
    Entry("PK504", "volcano", "argument-type", kinds=("volcano-scheduler.conf",)),
    Entry("PK505", "volcano", "plugin-conflict", kinds=("volcano-scheduler.conf",)),
    Entry("PK506", "volcano", "no-op-action", kinds=("volcano-scheduler.conf",)),
    Entry("PK507", "volcano", "opposing-scores", kinds=("volcano-scheduler.conf",)),
    Entry("PK508", "volcano", "volcano-config-off-policy", True, kinds=("volcano-scheduler.conf",)),
    Entry(
        "PK510",
        "volcano",
        "invalid-volcano-job",
        kinds=("CronJob", "HyperJob", "Job", "JobFlow", "JobTemplate"),
        substrings=("volcano",),
    ),
    Entry("PK511", "volcano", "invalid-volcano-queue", kinds=("Queue",)),
    Entry("PK512", "volcano", "invalid-podgroup", kinds=("PodGroup",)),
    Entry("PK513", "volcano", "invalid-hypernode", subject=SCOPE),
    Entry(
        "PK514",
        "volcano",
        "ignored-field",
        kinds=(
            "ColocationConfiguration",
            "CronJob",
            "DaemonSet",
            "Deployment",
            "HyperJob",
            "HyperNode",
            "Job",
            "JobFlow",
            "JobTemplate",
            "NodeShard",
            "Pod",
            "PodGroup",
            "Queue",
            "ReplicaSet",
            "StatefulSet",
        ),
        substrings=("volcano", "incubator", "jdb-m", "sla-waiting-time"),
    ),
    Entry(
        "PK515",
        "volcano",
        "job-plugin-misuse",
        kinds=("CronJob", "HyperJob", "Job", "JobTemplate"),
        substrings=("volcano",),
    ),
    Entry("PK516", "volcano", "vgpu-misuse", subject=PODS, substrings=("volcano",)),
    Entry("PK601", "koordinator", "config-version", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK602", "koordinator", "score-without-prescore", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK603", "koordinator", "invalid-plugin-args", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK604", "koordinator", "score-wildcard-disabled", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK605", "koordinator", "plugin-order", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK606", "koordinator", "opposing-scores", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK607", "koordinator", "overwritten-by-chart", True, kinds=("KubeSchedulerConfiguration",)),
    Entry(
        "PK608", "koordinator", "koordinator-config-off-policy", True, kinds=("KubeSchedulerConfiguration",)
    ),
    Entry("PK610", "koordinator", "invalid-elastic-quota", kinds=("ElasticQuota", "ElasticQuotaProfile")),
    Entry("PK611", "koordinator", "invalid-device-request", subject=PODS),
    Entry(
        "PK612",
        "koordinator",
        "qos-priority-conflict",
        substrings=("koord", "/batch-"),
    ),
    Entry("PK613", "koordinator", "invalid-reservation", kinds=("Reservation",)),
    Entry("PK614", "koordinator", "invalid-network-topology", kinds=("ClusterNetworkTopology", "PodGroup")),
    Entry("PK701", "yunikorn", "invalid-queue-config", kinds=("queues.yaml",)),
    Entry("PK702", "yunikorn", "placement-rule-dead", kinds=("queues.yaml",)),
    Entry("PK703", "yunikorn", "invalid-acl", kinds=("queues.yaml",)),
    Entry("PK704", "yunikorn", "ineffective-limit", kinds=("queues.yaml",)),
    Entry("PK705", "yunikorn", "invalid-property", kinds=("queues.yaml",)),
    Entry("PK706", "yunikorn", "invalid-childtemplate", kinds=("queues.yaml",)),
    Entry("PK707", "yunikorn", "queue-name-case", kinds=("queues.yaml",)),
    Entry("PK708", "yunikorn", "conflicting-metadata", subject=SCOPE),
    Entry(
        "PK709",
        "yunikorn",
        "invalid-yunikorn-configmap",
        kinds=("Application", "ConfigMap", "HelmRelease", "queues.yaml", "yunikorn-values"),
    ),
    Entry("PK710", "yunikorn", "namespace-annotation", subject=SCOPE),
    Entry("PK711", "yunikorn", "preemption-without-guarantee", kinds=("queues.yaml",)),
    Entry("PK712", "yunikorn", "yunikorn-config-off-policy", True, kinds=("queues.yaml",)),
    Entry("PK713", "yunikorn", "unlimited-pod", subject=PODS, substrings=("cheduler",)),
    Entry("PK714", "yunikorn", "unheeded-preference", subject=PODS, substrings=("cheduler",)),
    Entry("PK801", "kubernetes", "unknown-scheduler-plugin", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK802", "kubernetes", "invalid-scheduler-profile", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK803", "kubernetes", "spreading-strategy-for-cards", True, kinds=("KubeSchedulerConfiguration",)),
    Entry("PK804", "kubernetes", "invalid-priority-class", subject=SCOPE),
    Entry("PK805", "kubernetes", "unknown-priority-class", subject=SCOPE),
    Entry("PK806", "kubernetes", "patch-replaces-list", subject=SCOPE),
    Entry("PK807", "kubernetes", "native-gang-version", substrings=("scheduling", "workloadRef")),
    Entry("PK808", "kubernetes", "field-behind-gate", True),
    Entry("PK901", "housekeeping", "generated-file-stale", subject=GENERATED_FILE),
    Entry("PK902", "housekeeping", "generated-file-orphaned", subject=GENERATED_FILE),
    Entry("PK903", "housekeeping", "unused-suppression", subject=SUPPRESSION),
    Entry("PK904", "housekeeping", "expired-suppression", subject=SUPPRESSION),
    Entry("PK905", "housekeeping", "suppression-without-reason", on_request=True, subject=SUPPRESSION),
    Entry("PK906", "housekeeping", "pool-without-taint", subject=POLICY),
    Entry("PK907", "housekeeping", "overlapping-pools", subject=POLICY),
    Entry("PK908", "housekeeping", "unused-declaration", subject=POLICY),
    Entry("PK909", "housekeeping", "baseline-stale", subject=BASELINE),
    Entry("PK910", "housekeeping", "ambiguous-workload-kind", subject=POLICY),
    Entry("PK911", "housekeeping", "shared-pool-two-schedulers", subject=POLICY),
    Entry("PK912", "housekeeping", "daemon-values-missing", subject=POLICY),
    Entry("PK920", "kueue", "invalid-cluster-queue", kinds=("ClusterQueue", "Cohort")),
    Entry("PK921", "kueue", "invalid-resource-flavor", kinds=("ResourceFlavor", "Topology")),
    Entry("PK922", "kueue", "unknown-kueue-reference", subject=SCOPE),
    Entry(
        "PK923",
        "kueue",
        "kueue-version",
        kinds=(
            "ClusterQueue",
            "Cohort",
            "LocalQueue",
            "ResourceFlavor",
            "Topology",
            "WorkloadPriorityClass",
        ),
    ),
    Entry("PK924", "kueue", "misplaced-kueue-metadata", substrings=("kueue",)),
    Entry("PK925", "kueue", "invalid-topology-request", substrings=("kueue",)),
    Entry("PK926", "kueue", "flavor-off-policy", True, kinds=("ResourceFlavor",)),
    Entry("PK927", "kueue", "two-admissions", substrings=("kueue",)),
    Entry("PK928", "kueue", "job-not-suspended", substrings=("kueue",)),
    Entry("PK929", "kueue", "flavor-without-tolerations", True, subject=SCOPE),
)

SYSTEM_CHECKS: Mapping[str, tuple[Lazy[Callable[[Any, Context], Iterable[Violation]]], ...]] = {
    "PK213": (Lazy("policykit.rules.kai:check"),),
    "PK310": (
        Lazy("policykit.rules.volcano.gang_metadata:check"),
        Lazy("policykit.rules.koordinator.gang_metadata:check"),
        Lazy("policykit.rules.yunikorn.gang_metadata:check"),
        Lazy("policykit.rules.kueue.gang_metadata:check"),
    ),
    "PK410": (Lazy("policykit.rules.volcano.queue_annotations:check"),),
}
"""What single systems add to rules about all systems, by code; imported when such a rule asks for it."""


def system_violations(code: str, subject: object, context: Context) -> Iterator[Violation]:
    """What SYSTEM_CHECKS of a rule find in its subject."""
    for check in SYSTEM_CHECKS[code]:
        yield from check.load()(subject, context)


@cache
def rule(entry: Entry) -> AnyRule:
    """The rule itself, from the file of its name."""
    module = import_module(f"policykit.rules.{entry.family}.{entry.name.replace('-', '_')}")
    found = module.RULE
    assert isinstance(found, tuple)
    return found  # type: ignore[return-value]


def rules(*, with_policy: bool = True) -> tuple[AnyRule, ...]:
    """All rules that can speak in a run with or without a policy, in order; every one is imported."""
    return tuple(rule(entry) for entry in entries(with_policy=with_policy))


def entries(*, with_policy: bool = True) -> tuple[Entry, ...]:
    """The rules that can speak in a run with or without a policy, as listed."""
    return tuple(entry for entry in CATALOGUE if with_policy or not entry.needs_policy)
