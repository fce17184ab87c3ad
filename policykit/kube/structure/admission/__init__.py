"""Admission checks by kind: objects that the API server, a webhook or an operator refuses although each
value is valid on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from policykit.manifests.problem import Problem

_CHECKS: Mapping[tuple[str, str], str] = {
    ("", "ConfigMap"): "adapter_files.files",
    ("", "LimitRange"): "quotas.limit_range",
    ("", "PersistentVolume"): "volumes.volume",
    ("", "PersistentVolumeClaim"): "volumes.claim",
    ("", "ResourceQuota"): "quotas.resource_quota",
    ("apps", "DaemonSet"): "builtin.daemon_set",
    ("apps", "Deployment"): "builtin.deployment",
    ("apps", "StatefulSet"): "builtin.stateful_set",
    ("argoproj.io", "ClusterWorkflowTemplate"): "argo.workflow",
    ("argoproj.io", "CronWorkflow"): "argo.cron_workflow",
    ("argoproj.io", "Workflow"): "argo.workflow",
    ("argoproj.io", "WorkflowTemplate"): "argo.workflow",
    ("autoscaling", "HorizontalPodAutoscaler"): "builtin.pod_autoscaler",
    ("autoscaling.x-k8s.io", "ProvisioningRequest"): "kueue_objects.provisioning",
    ("batch", "CronJob"): "jobs.cron_job",
    ("batch", "Job"): "jobs.job",
    ("bootstrap.cluster.x-k8s.io", "KubeadmConfig"): "kubeadm.of_cluster_api",
    ("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate"): "kubeadm.of_cluster_api",
    ("controlplane.cluster.x-k8s.io", "KubeadmControlPlane"): "kubeadm.of_cluster_api",
    ("controlplane.cluster.x-k8s.io", "KubeadmControlPlaneTemplate"): "kubeadm.of_cluster_api",
    ("deviceplugin.intel.com", "GpuDevicePlugin"): "networks.intel_cards",
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): "machines.disaggregated_set",
    ("flink.apache.org", "FlinkDeployment"): "flink.flink_deployment",
    ("grove.io", "PodCliqueSet"): "grove.pod_clique_set",
    ("jobset.x-k8s.io", "JobSet"): "job_sets.job_set",
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"): "networks.definition",
    ("kai.scheduler", "Topology"): "workloads.topology",
    ("karpenter.k8s.aws", "EC2NodeClass"): "node_classes.ec2_node_class",
    ("karpenter.sh", "NodeOverlay"): "node_classes.node_overlay",
    ("karpenter.sh", "NodePool"): "karpenter.node_pool",
    ("keda.sh", "ScaledJob"): "serving.keda",
    ("keda.sh", "ScaledObject"): "serving.keda",
    ("kubeadm.k8s.io", "ClusterConfiguration"): "kubeadm.cluster",
    ("kubeadm.k8s.io", "InitConfiguration"): "kubeadm.registration",
    ("kubeadm.k8s.io", "JoinConfiguration"): "kubeadm.registration",
    ("kubeflow.org", "Experiment"): "katib.experiment",
    ("kubeflow.org", "JAXJob"): "workloads.training_job",
    ("kubeflow.org", "MPIJob"): "workloads.training_job",
    ("kubeflow.org", "PaddleJob"): "workloads.training_job",
    ("kubeflow.org", "PyTorchJob"): "workloads.training_job",
    ("kubeflow.org", "TFJob"): "workloads.training_job",
    ("kubeflow.org", "XGBoostJob"): "workloads.training_job",
    ("kubelet.config.k8s.io", "KubeletConfiguration"): "kubelet_configuration.configuration",
    ("kubevirt.io", "KubeVirt"): "machines.kubevirt",
    ("kubevirt.io", "VirtualMachine"): "machines.virtual_machine",
    ("kubevirt.io", "VirtualMachineInstance"): "machines.virtual_machine",
    ("kustomize.config.k8s.io", "Component"): "changing_labels.kustomization",
    ("kustomize.config.k8s.io", "Kustomization"): "changing_labels.kustomization",
    ("kueue.x-k8s.io", "AdmissionCheck"): "kueue_objects.admission_check",
    ("kueue.x-k8s.io", "ClusterQueue"): "quotas.kueue_queue",
    ("kueue.x-k8s.io", "Cohort"): "quotas.kueue_queue",
    ("kueue.x-k8s.io", "MultiKueueCluster"): "kueue_objects.cluster",
    ("kueue.x-k8s.io", "MultiKueueConfig"): "kueue_objects.clusters",
    ("kueue.x-k8s.io", "ProvisioningRequestConfig"): "kueue_objects.provisioning",
    ("kueue.x-k8s.io", "Workload"): "kueue_objects.workload",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "workloads.leader_worker_set",
    ("machinelearning.seldon.io", "SeldonDeployment"): "runtimes.seldon_deployment",
    ("networking.k8s.io", "Ingress"): "routes.ingress",
    ("machineconfiguration.openshift.io", "KubeletConfig"): "kubelet_configuration.of_machines",
    ("node.eks.aws", "NodeConfig"): "kubelet_configuration.of_nodes",
    ("node.k8s.io", "RuntimeClass"): "builtin.runtime_class",
    ("mellanox.com", "NicClusterPolicy"): "adapter_files.of_nic_operator",
    ("nvidia.com", "ClusterPolicy"): "nvidia.cluster_policy",
    ("nvidia.com", "NVIDIADriver"): "nvidia.nvidia_driver",
    ("policy", "PodDisruptionBudget"): "builtin.disruption_budget",
    ("nvidia.com", "DynamoComponentDeployment"): "runtimes.dynamo_component",
    ("nvidia.com", "DynamoGraphDeployment"): "runtimes.dynamo_graph",
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): "builtin.cluster_role_binding",
    ("ray.io", "RayCluster"): "ray.ray_cluster",
    ("ray.io", "RayCronJob"): "ray_jobs.ray_cron_job",
    ("ray.io", "RayJob"): "ray_jobs.ray_job",
    ("ray.io", "RayService"): "ray.ray_service",
    ("resource.k8s.io", "DeviceClass"): "devices.device_class",
    ("resource.k8s.io", "DeviceTaintRule"): "devices.taint_rule",
    ("resource.k8s.io", "ResourceClaim"): "devices.device_requests",
    ("resource.k8s.io", "ResourceClaimTemplate"): "devices.device_requests",
    ("resource.nvidia.com", "ComputeDomain"): "nvidia.compute_domain",
    ("scheduling.k8s.io", "PodGroup"): "pod_groups.pod_group",
    ("scheduling.k8s.io", "Workload"): "pod_groups.workload",
    ("scheduling.koordinator.sh", "PodMigrationJob"): "workloads.pod_migration_job",
    ("scheduling.volcano.sh", "Queue"): "quotas.volcano_queue",
    ("scheduling.x-k8s.io", "ElasticQuota"): "quotas.elastic_quota",
    ("serving.knative.dev", "Configuration"): "serving.knative",
    ("serving.knative.dev", "Service"): "serving.knative",
    ("serving.kserve.io", "ClusterServingRuntime"): "runtimes.serving_runtime",
    ("serving.kserve.io", "InferenceService"): "serving.inference_service",
    ("serving.kserve.io", "LLMInferenceService"): "llm_services.llm_service",
    ("serving.kserve.io", "LLMInferenceServiceConfig"): "llm_services.llm_config",
    ("serving.kserve.io", "ServingRuntime"): "runtimes.serving_runtime",
    ("slinky.slurm.net", "Controller"): "slurm.controller",
    ("slinky.slurm.net", "LoginSet"): "slurm.login_set",
    ("slinky.slurm.net", "NodeSet"): "slurm.node_set",
    ("sparkoperator.k8s.io", "ScheduledSparkApplication"): "spark.scheduled_spark_application",
    ("sparkoperator.k8s.io", "SparkApplication"): "spark.spark_application",
    ("tekton.dev", "Pipeline"): "tekton.pipeline",
    ("tekton.dev", "Task"): "tekton.task",
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy"): "networks.adapters",
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"): "trainer.runtime",
    ("trainer.kubeflow.org", "TrainJob"): "trainer.train_job",
    ("trainer.kubeflow.org", "TrainingRuntime"): "trainer.runtime",
}
"""API group and kind to the module and function of this package that checks it."""


_TEMPLATED = frozenset(
    {"batch.volcano.sh", "jobset.x-k8s.io", "kubeflow.org", "leaderworkerset.x-k8s.io", "ray.io"}
)
"""API groups with templates of pods that become pods as they are."""


def refusals(data: dict[str, Any], api_version: str, kind: str) -> Iterator[Problem]:
    """Problems of a whole object. Placeholders and values of a wrong type are no problem here."""
    group = api_version.rpartition("/")[0]
    name = _CHECKS.get((group, kind))
    if name:
        module, _, function = name.partition(".")
        yield from getattr(import_module(f"{__name__}.{module}"), function)(data)
    if group in _TEMPLATED:
        from policykit.kube.structure.admission import templates

        yield from templates.faults(data, group, kind)
