"""The supported targets, one folder each, and questions that concern all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.lazy import Lazy
from policykit.linter.configurations import CHART_VALUES
from policykit.linter.target import GROUP_SUBSTRING, FactReader, Target, Targets
from policykit.manifests.memoize import memoize_beside
from policykit.targets import (
    coscheduling,
    kai,
    koordinator,
    kubernetes,
    kueue,
    nodes,
    volcano,
    workloads,
    yunikorn,
)

if TYPE_CHECKING:
    from policykit.generator.artifact import Generate
    from policykit.kube.podsets.podset import PodSet
    from policykit.model.cluster import Cluster

TARGETS: tuple[Target, ...] = (
    nodes.TARGET,
    kubernetes.TARGET,
    workloads.TARGET,
    volcano.TARGET,
    koordinator.TARGET,
    yunikorn.TARGET,
    kueue.TARGET,
    kai.TARGET,
    coscheduling.TARGET,
)

DEFAULT_SCHEDULER = "default-scheduler"
"""Places pods without a schedulerName."""
DEFAULT_TARGET = next(target.name for target in TARGETS if DEFAULT_SCHEDULER in target.schedulers)
"""Serves DEFAULT_SCHEDULER; the schedulers of placements are profiles of it."""

GANG_ANNOTATIONS = frozenset(
    key.key
    for target in TARGETS
    for key in target.keys
    if key.where == "annotations" and key.purpose == "gang"
).union(*(target.gang_annotations for target in TARGETS))
"""Gang annotations of all targets."""

DOMAIN_ANNOTATIONS = frozenset(target.domain_annotation for target in TARGETS if target.domain_annotation)
"""Annotations of pods that name the domain which all pods of a workload must share."""

_PATCHED = frozenset(
    {"CronJob", "Job", "JobSet", "Kustomization", "PodCliqueSet", "RayCluster", "RayJob", "RayService"}
)
"""Kinds whose patches need not contain a pod template, and Kustomizations, which contain patches."""

_GANG_SUBSTRINGS = (
    "DynamoGraphDeployment",
    "aibrix",
    "disaggregatedset",
    "group",
    GROUP_SUBSTRING,
    "grove",
    "jobset",
    "kserve",
    "kubeflow",
    "leaderworkerset",
    "ray.io",
    "sparkoperator",
    "workloads.x-k8s.io",
)
"""Every file with a kind that creates gangs itself contains one of these."""

FACTS: tuple[FactReader, ...] = (
    FactReader(
        Lazy("policykit.targets.facts.gangs:facts"),
        frozenset({"PodGroup"}),
        pods=True,
        substrings=(*_GANG_SUBSTRINGS, *(word for target in TARGETS for word in target.gang_substrings)),
    ),
    FactReader(Lazy("policykit.targets.facts.list_overrides:facts"), _PATCHED, pods=True),
    FactReader(
        Lazy("policykit.targets.facts.name_affixes:facts"),
        frozenset({"Component", "Kustomization"}),
        substrings=("namePrefix", "nameSuffix"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.queue_submissions:facts"),
        frozenset({"Namespace"}),
        pods=True,
        substrings=("ueue", "uota"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.gang_operators:facts"),
        pods=True,
        substrings=("kuberay", "spark-operator", "training-operator"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.gang_operators:jobs"),
        frozenset(
            {
                *("JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"),
                *("RayCluster", "RayJob", "RayService", "ScheduledSparkApplication", "SparkApplication"),
            }
        ),
    ),
    FactReader(
        Lazy("policykit.targets.facts.gang_operators:roles"),
        frozenset({"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}),
    ),
    FactReader(
        Lazy("policykit.targets.facts.namespaces:facts"),
        frozenset({"LimitRange", "Profile", "ResourceQuota"}),
        pods=True,
    ),
    FactReader(
        Lazy("policykit.targets.facts.unplaced_pods:facts"),
        frozenset(
            {
                "Assign",
                "ClusterColocationProfile",
                "ClusterPolicy",
                "Configuration",
                "LocalQueue",
                "ModifySet",
                "MutatingAdmissionPolicy",
                "MutatingPolicy",
                "MutatingWebhookConfiguration",
                "Namespace",
                "NamespacedMutatingPolicy",
                "Policy",
            }
        ),
        pods=True,
    ),
    FactReader(
        Lazy("policykit.targets.facts.unplaced_pods:runtime_classes"),
        frozenset({"RuntimeClass"}),
        pods=True,
        substrings=("untimeClass",),
    ),
    FactReader(
        Lazy("policykit.targets.facts.pod_security:facts"),
        pods=True,
        substrings=(
            *("hostPath", "hostNetwork", "hostPID", "hostIPC", "hostPort"),
            *("privileged", "capabilities", "Unconfined"),
        ),
    ),
    FactReader(
        Lazy("policykit.targets.facts.volumes:facts"),
        frozenset({"PersistentVolume", "PersistentVolumeClaim", "StorageClass"}),
        pods=True,
        substrings=("ersistentVolume", "olumeClaimTemplate", "torageClass"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.references:facts"),
        frozenset(
            {
                "AKSNodeClass",
                "ClusterServingRuntime",
                "ClusterTrainingRuntime",
                "ComputeDomain",
                "DeviceClass",
                "EC2NodeClass",
                "HostDeviceNetwork",
                "IPoIBNetwork",
                "InferenceService",
                "MacvlanNetwork",
                "NetworkAttachmentDefinition",
                "NodePool",
                "OVSNetwork",
                "PriorityClass",
                "RayCluster",
                "RayJob",
                "ResourceClaim",
                "ResourceClaimTemplate",
                "ResourceQuota",
                "ServingRuntime",
                "SriovIBNetwork",
                "SriovNetwork",
                "TrainJob",
                "TrainingRuntime",
            }
        ),
        pods=True,
        substrings=(
            "esourceClaim",
            "DeviceClass",
            "untimeRef",
            "TrainingRuntime",
            "runtime",
            "ServingRuntime",
            "clusterSelector",
            "RayCluster",
            "PriorityClass",
            "etworkAttachment",
            "v1.cni.cncf.io/networks",
            "mellanox.com",
            "sriovnetwork",
            "nodeClassRef",
            "NodeClass",
        ),
    ),
    FactReader(
        Lazy("policykit.targets.facts.device_labels:facts"),
        frozenset(
            {
                "Application",
                "ClusterPolicy",
                "ConfigMap",
                "HelmRelease",
                "NicClusterPolicy",
                "Node",
                "NodeFeatureDiscovery",
                "NodeFeatureRule",
                "NodePool",
            }
        ),
    ),
    FactReader(
        Lazy("policykit.targets.facts.device_labels:selections"),
        pods=True,
        substrings=(".present",),
    ),
    FactReader(
        Lazy("policykit.targets.facts.device_names:resources"),
        frozenset(
            {
                "ConfigMap",
                "NicClusterPolicy",
                "OVSNetwork",
                "SriovIBNetwork",
                "SriovNetwork",
                "SriovNetworkNodePolicy",
            }
        ),
        pods=True,
        substrings=("resourceName", "intel.com/", "mellanox.com", "openshift.io/", "rdma/"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.device_names:gates"),
        frozenset({"Application", "DeviceClass", "HelmRelease", "ResourceClaim", "ResourceClaimTemplate"}),
    ),
    FactReader(
        Lazy("policykit.targets.facts.model_formats:formats"),
        frozenset({"ClusterServingRuntime", "InferenceService", "ServingRuntime"}),
    ),
    FactReader(
        Lazy("policykit.targets.facts.training_runtimes:facts"),
        frozenset({"ClusterTrainingRuntime", "TrainJob", "TrainingRuntime"}),
    ),
    FactReader(
        Lazy("policykit.targets.facts.workflow_templates:facts"),
        frozenset({"ClusterWorkflowTemplate", "CronWorkflow", "Workflow", "WorkflowTemplate"}),
        substrings=("templateRef", "WorkflowTemplate"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.references:vertical_scalers"),
        frozenset({"VerticalPodAutoscaler"}),
    ),
    FactReader(
        Lazy("policykit.targets.facts.references:names"),
        frozenset({"ConfigMap", "PersistentVolumeClaim", "Secret", "Service", "ServiceAccount"}),
        pods=True,
    ),
    FactReader(
        Lazy("policykit.targets.facts.parts:services"),
        frozenset({"GRPCRoute", "HTTPRoute", "Ingress", "Service"}),
    ),
    FactReader(
        Lazy("policykit.targets.facts.networks:named"), pods=True, substrings=("k8s.v1.cni.cncf.io/networks",)
    ),
    FactReader(Lazy("policykit.targets.facts.parts:keys"), frozenset({"ConfigMap", "Secret"})),
    FactReader(Lazy("policykit.targets.facts.parts:used_keys"), pods=True, substrings=("KeyRef",)),
    FactReader(Lazy("policykit.targets.facts.parts:namespaces"), frozenset({"Namespace", "NetworkPolicy"})),
    FactReader(Lazy("policykit.targets.facts.parts:workspaces"), frozenset({"Pipeline", "Task"})),
    FactReader(
        Lazy("policykit.targets.facts.references:schedulers"),
        frozenset({"KubeSchedulerConfiguration"}),
        pods=True,
        substrings=("chedulerName", "atchScheduler"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.references:requests"),
        frozenset({"ResourceClaim", "ResourceClaimTemplate"}),
        pods=True,
        substrings=("esourceClaim",),
    ),
    FactReader(
        Lazy("policykit.targets.facts.unused_claims:facts"),
        frozenset({"ResourceClaim", "ResourceClaimTemplate"}),
        pods=True,
        substrings=("esourceClaim",),
    ),
    FactReader(
        Lazy("policykit.targets.facts.admin_access:facts"),
        frozenset({"Namespace", "ResourceClaim", "ResourceClaimTemplate"}),
        substrings=("Namespace", "adminAccess"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.references:files"),
        frozenset({"ConfigMap"}),
        pods=True,
        substrings=("--config", "KubeSchedulerConfiguration"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.references:selectors"),
        frozenset({"PodDisruptionBudget"}),
        pods=True,
        substrings=("podAffinity", "podAntiAffinity", "PodDisruptionBudget"),
    ),
    FactReader(
        Lazy("policykit.targets.facts.managed_devices:facts"),
        frozenset({*("Application", "HelmRelease"), *("ClusterPolicy", "DeviceConfig", "NVIDIADriver")}),
    ),
    *(reader for target in TARGETS for reader in target.facts),
)
"""Readers of facts for rules about whole scopes: queues, priorities and others."""

CONFIGURATIONS = (*(known for target in TARGETS for known in target.configurations), CHART_VALUES)

ALL_TARGETS = Targets(TARGETS, FACTS, CONFIGURATIONS)

_BY_NAME = {target.name: target for target in TARGETS}


def target_of(name: str | None) -> Target | None:
    """The target with a name; None: there is none."""
    return _BY_NAME.get(name or "")


def target_name_of(scheduler: str, cluster: Cluster | None) -> str | None:
    """Name of the target that serves a schedulerName; None: unknown.

    Empty is the default scheduler. The policy takes precedence over the usual names; the scheduler
    of a placement is a profile of DEFAULT_TARGET, unless a target lists it among its `schedulers`.
    """
    return _serving(cluster, scheduler or DEFAULT_SCHEDULER)


@memoize_beside
def _serving(cluster: Cluster | None, name: str) -> str | None:
    for settings in cluster.targets.values() if cluster else ():
        if name == settings.scheduler_name or name in settings.schedulers:
            return settings.name
    for target in TARGETS:
        if name in target.schedulers:
            return target.name
    placed = cluster is not None and any(each.scheduler == name for each in cluster.placements.values())
    return DEFAULT_TARGET if placed else None


def added_plugins(data: Mapping[str, Any]) -> frozenset[str]:
    """Plugins that the scheduler of a KubeSchedulerConfiguration adds to kube-scheduler's own; often none."""
    found = (target.added_plugins.load()(data) for target in TARGETS if target.added_plugins)
    return frozenset().union(*found)


def preferences_ignored_by(pod_set: PodSet, cluster: Cluster | None) -> str:
    """Title of the target that places the pods and ignores their preferences; empty: preferences count."""
    for target in TARGETS:
        if target.ignores_preferences and target.ignores_preferences.load()(pod_set, cluster):
            return target.title
    return ""


def writers(cluster: Cluster) -> Iterator[tuple[str, Generate]]:
    """(name, generate) of each target the policy generates for; each is imported only then."""
    for target in TARGETS:
        if target.generate and (target.always or target.name in cluster.targets):
            yield target.name, target.generate.load()


def target_of_sharing(mode: str) -> str:
    """The target that places pods with cards shared in a mode, which is named after it; empty: any may."""
    return next((target.name for target in TARGETS if mode.startswith(f"{target.name}-")), "")
