"""Options for Koordinator."""

from typing import Annotated, Literal

from pydantic import Field

from policykit.policy.models.base import Amounts, Duration, Model, TargetOptions


class ColocationClass(Model):
    """The class that the pods of a workload kind run as."""

    priority: Literal["prod", "mid", "batch", "free"] = Field(
        "prod",
        description="prod: on its own resources; mid and batch: on resources that prod requested but does "
        "not use for long, or now; free: wherever there is room.",
    )
    qos: Literal["LSE", "LSR", "LS", "BE"] | None = Field(
        None, description="QoS class. Default: LS with prod and mid, BE with batch and free."
    )
    order: int | None = Field(
        None, ge=0, le=2**31 - 1, description="Order among pods of the same priority: higher goes first."
    )
    tenants: tuple[str, ...] = Field((), description="Only in the namespaces of these. Default: anywhere.")
    namespaces: tuple[str, ...] = Field((), description="Only in these, and in those of `tenants`.")


class Colocation(Model):
    """Classes of pods, set by ClusterColocationProfiles."""

    workloads: dict[str, ColocationClass] = Field({}, description="Workload kind to the class of its pods.")
    priority_classes: bool = Field(
        False,
        description="Write the PriorityClasses koord-prod, koord-mid, koord-batch and koord-free as well; "
        "Koordinator's chart installs them.",
    )


Type = Literal["MostAllocated", "LeastAllocated"]
Aggregation = Literal["avg", "p50", "p90", "p95", "p99"]
Percent = Annotated[int, Field(ge=0, le=100)]
Factor = Annotated[int, Field(ge=1, le=100)]
Weight = Annotated[int, Field(ge=1, le=100)]
PluginWeight = Annotated[int, Field(ge=1, le=1_000_000)]


class Fit(Model):
    """How NodeResourcesFitPlus scores one resource."""

    type: Literal["MostAllocated", "LeastAllocated"] = Field(
        "MostAllocated", description="MostAllocated packs, LeastAllocated spreads."
    )
    weight: int = Field(1, ge=1, description="Weight among the resources.")


class UsagePercentiles(Model):
    """Filtering and scoring by percentiles of the measured usage."""

    usage_thresholds: dict[str, Percent] = Field(
        {},
        description="Resource to the percentage of usage above which a node is filtered out; 0: not checked.",
    )
    usage_aggregation_type: Aggregation | None = Field(
        None, description="Percentile that the thresholds apply to. Without it they are ignored."
    )
    usage_aggregated_duration: Duration | None = Field(
        None, description="Period it is computed over: 5m. Default: the longest reported."
    )
    score_aggregation_type: Aggregation | None = Field(None, description="Percentile that scores use.")
    score_aggregated_duration: Duration | None = Field(
        None, description="Period it is computed over: 5m. Default: the longest reported."
    )


class LoadAware(Model):
    """LoadAwareScheduling: nodes by their measured usage."""

    weight: PluginWeight | None = Field(None, description="Weight of the plugin against other scores.")
    usage_thresholds: dict[str, Percent] = Field(
        {},
        description="Resource to the percentage of usage above which a node is filtered out; 0: not checked.",
    )
    prod_usage_thresholds: dict[str, Percent] = Field(
        {}, description="The same for pods of class koord-prod, by the usage of such pods alone."
    )
    prod_usage_include_sys: bool | None = Field(
        None, description="Count usage outside of pods as well. From 1.7."
    )
    score_according_prod_usage: bool | None = Field(
        None, description="Pods of class koord-prod are scored by the usage of such pods alone."
    )
    resource_weights: dict[str, Weight] = Field({}, description="Resource to its weight in the score.")
    dominant_resource_weight: Percent | None = Field(
        None, description="Weight of the most used resource. From 1.7."
    )
    estimated_scaling_factors: dict[str, Factor] = Field(
        {}, description="Resource to the percentage of its request that a new pod is expected to use."
    )
    estimated_seconds_after_pod_scheduled: int | None = Field(
        None, ge=0, description="Seconds after binding during which the estimate applies. From 1.7."
    )
    estimated_seconds_after_initialized: int | None = Field(
        None,
        ge=0,
        description="Seconds after its init containers during which the estimate applies. From 1.7.",
    )
    allow_customize_estimation: bool | None = Field(
        None, description="Pods may state their own estimate by annotation. From 1.7."
    )
    supported_resources: tuple[str, ...] = Field(
        (), description="Resources that only annotations of nodes report. From 1.7."
    )
    filter_expired_node_metrics: bool | None = Field(
        None, description="Nodes whose measurements are too old are filtered out."
    )
    enable_schedule_when_node_metrics_expired: bool | None = Field(
        None, description="With filterExpiredNodeMetrics: false, such nodes accept pods. From 1.5."
    )
    node_metric_expiration_seconds: int | None = Field(
        None, ge=1, description="Age in seconds from which a measurement is too old."
    )
    aggregated: UsagePercentiles | None = Field(None, description="Percentiles instead of the latest value.")


class Coscheduling(Model):
    """Coscheduling: gangs."""

    default_timeout: Duration | None = Field(
        None,
        description="How long pods wait for the rest of their gang, at most 15m. "
        "Default: the longest of the policy's gangs.",
    )
    controller_workers: int | None = Field(None, ge=1, description="Workers of the PodGroup controller.")
    skip_check_schedule_cycle: bool | None = Field(
        None, description="Allow pods of a gang to be tried in different scheduling cycles."
    )
    enable_preemption: bool | None = Field(
        None, description="A gang may preempt pods of lower priority. From 1.7."
    )
    aware_network_topology: bool | None = Field(
        None,
        description="Gangs are placed by network topology. From 1.7. "
        "Default: whether a workload kind stays within a level.",
    )
    default_match_policy: Literal["once-satisfied", "only-waiting", "waiting-and-running"] | None = Field(
        None, description="Which pods count towards a gang that states no match policy. From 1.8."
    )


class ElasticQuota(Model):
    """ElasticQuota: queues."""

    quota_group_namespace: str = Field(
        "", description="Namespace of the quotas. Default: the one Koordinator is installed in."
    )
    default_quota_group_max: Amounts = Field({}, description="Limit of pods without a queue.")
    system_quota_group_max: Amounts = Field({}, description="Limit of pods of kube-system.")
    delay_evict_time: Duration | None = Field(
        None, description="How long a queue may exceed its share before its pods are evicted."
    )
    revoke_pod_interval: Duration | None = Field(None, description="How often queues are checked.")
    monitor_all_quotas: bool | None = Field(
        None, description="Pods of queues above their share are evicted. Default: preemption.reclaim."
    )
    enable_check_parent_quota: bool | None = Field(None, description="Pods must fit the parent queues too.")
    enable_runtime_quota: bool | None = Field(
        None, description="Queues share what others leave unused; false: only their limits count. From 1.4.1."
    )
    enable_min_quota_scale: bool | None = Field(
        None, description="Guarantees are scaled down where the cluster is smaller than their sum. From 1.7."
    )
    disable_default_quota_preemption: bool | None = Field(
        None, description="Pods without a queue are not preempted. From 1.7."
    )
    enable_queue_hint: bool | None = Field(
        None, description="Pods are retried only when their queue changes. From 1.8."
    )
    quota_snapshot_update_interval: Duration | None = Field(
        None, description="How often queues are checked for changes. From 1.8."
    )


class ScoringStrategy(Model):
    """How a plugin scores the resources it allocates."""

    type: Type = Field("LeastAllocated", description="MostAllocated packs, LeastAllocated spreads.")
    resources: dict[str, Weight] = Field({}, description="Resource to its weight.")


class Templates(Model):
    """ConfigMap with the templates of shared cards."""

    config_map_namespace: str = Field("", description="Namespace of the ConfigMap.")
    config_map_name: str = Field("", description="Name of the ConfigMap.")
    matched_resources: tuple[str, ...] = Field((), description="Resources that use a template.")


class CardModel(Model):
    """A card model."""

    vendor: str = Field("", description="Value of the node label gpu-vendor: huawei.")
    model: str = Field("", description="Value of the node label gpu-model.")


class DeviceShare(Model):
    """DeviceShare: cards, whole and shared, RDMA and FPGA devices."""

    weight: PluginWeight | None = Field(None, description="Weight of the plugin against other scores.")
    scoring_strategy: ScoringStrategy | None = Field(
        None, description="How devices are scored. Default: as the placement says."
    )
    disable_device_numa_topology_alignment: bool | None = Field(
        None,
        alias="disableDeviceNUMATopologyAlignment",
        description="Devices need not be on the NUMA node of the pod's CPUs. From 1.5.",
    )
    gpu_shared_resource_templates_config: Templates | None = Field(
        None, description="Templates of shared cards. From 1.7."
    )
    gpu_share_unsupported_models: tuple[CardModel, ...] = Field(
        (), description="Cards that cannot be shared. From 1.8."
    )


class Numa(Model):
    """NodeNUMAResource: CPUs and memory by NUMA node."""

    weight: PluginWeight | None = Field(None, description="Weight of the plugin against other scores.")
    default_cpu_bind_policy: Literal["FullPCPUs", "SpreadByPCPUs"] | None = Field(
        None, alias="defaultCPUBindPolicy", description="How CPUs are pinned for pods that state no policy."
    )
    scoring_strategy: ScoringStrategy | None = Field(
        None, description="How nodes are scored. Default: as the placement says."
    )
    numa_scoring_strategy: ScoringStrategy | None = Field(
        None, description="How NUMA nodes are scored. Default: as scoringStrategy."
    )


class ScarceResources(Model):
    """ScarceResourceAvoidance: keeps pods off nodes with scarce resources they do not request."""

    weight: PluginWeight | None = Field(
        None, description="Weight of the plugin against other scores. Default: enough to decide."
    )
    resources: tuple[str, ...] = Field(
        (), description="Scarce cards or resources, in addition to those that placements avoid."
    )


class Koordinator(TargetOptions):
    """Koordinator: koord-scheduler, beside or instead of the default scheduler."""

    delivery: Literal["post-render", "manifest"] = Field(
        "post-render", description="No value of the chart sets the scheduler's plugins."
    )
    scheduler_name: str = Field("koord-scheduler", description="schedulerName that it serves.")
    gangs: Literal["annotations", "objects"] = Field(
        "annotations",
        description="How `patch` declares gangs where both are possible. annotations: on pods or owners; "
        "objects: a PodGroup for each workload.",
    )
    fit: dict[str, Fit] = Field(
        {}, description="Resource name, or a card of this policy, to how NodeResourcesFitPlus scores it."
    )
    config: str = Field(
        "",
        description="File with the koord-scheduler-config to merge into, relative to this policy. "
        "Default: the one of the chart for the version.",
    )
    profiles: tuple[str, ...] = Field(
        (),
        description="Placements with a scheduler of their own that koord-scheduler serves as a profile. "
        "Default: none, so kube-scheduler serves them.",
    )
    load_aware: LoadAware | None = Field(None, description="Nodes by their measured usage.")
    coscheduling: Coscheduling | None = Field(None, description="Gangs.")
    elastic_quota: ElasticQuota | None = Field(None, description="Queues.")
    device_share: DeviceShare | None = Field(None, description="Cards, whole and shared.")
    numa: Numa | None = Field(None, description="CPUs and memory by NUMA node.")
    scarce: ScarceResources | None = Field(None, description="Keeps pods off scarce cards.")
    colocation: Colocation | None = Field(None, description="Classes of pods that share nodes.")
