"""Kueue: admits jobs by queue, beside whatever scheduler places them."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, QueueSupport, Target
from policykit.targets.kueue.names import (
    CONFIGURATION,
    CONFIGURATION_GROUP,
    KEYS,
    POD_GROUP_TOTAL,
    REQUIRED_TOPOLOGY,
)


def _matches_shape(data: object) -> bool:
    return (
        isinstance(data, dict)
        and data.get("kind") == CONFIGURATION
        and str(data.get("apiVersion")).startswith(f"{CONFIGURATION_GROUP}/")
    )


TARGET = Target(
    "kueue",
    "Kueue",
    keys=KEYS,
    domain_annotation=REQUIRED_TOPOLOGY,
    gang_annotations=frozenset({POD_GROUP_TOTAL}),
    gang_substrings=("kueue",),
    configurations=(
        Configuration(CONFIGURATION, (CONFIGURATION_GROUP,), _matches_shape, kind=CONFIGURATION),
    ),
    facts=(
        FactReader(
            Lazy("policykit.targets.kueue.queue_facts:facts"),
            frozenset(
                {
                    "AdmissionCheck",
                    CONFIGURATION,
                    "ClusterQueue",
                    "Cohort",
                    "LocalQueue",
                    "MultiKueueConfig",
                    "ProvisioningRequestConfig",
                    "ResourceFlavor",
                    "Topology",
                    "WorkloadPriorityClass",
                }
            ),
            pods=True,
            substrings=("kueue",),
        ),
        FactReader(
            Lazy("policykit.targets.kueue.device_facts:facts"),
            frozenset({CONFIGURATION, "ResourceClaimTemplate"}),
            pods=True,
            substrings=("esourceClaim", "config.kueue"),
        ),
        FactReader(
            Lazy("policykit.targets.kueue.pod_groups:facts"),
            pods=True,
            substrings=("kueue.x-k8s.io/pod-group-total-count",),
        ),
        FactReader(
            Lazy("policykit.targets.kueue.fair_sharing:facts"),
            frozenset({CONFIGURATION, "ClusterQueue", "Cohort", "LocalQueue"}),
            substrings=("airSharing", "orrowWithinCohort", "config.kueue"),
        ),
        FactReader(Lazy("policykit.targets.kueue.queue_facts:namespaces"), frozenset({"Namespace"})),
    ),
    queues=QueueSupport(
        Lazy("policykit.targets.kueue.queue_facts:queue_semantics"),
        Lazy("policykit.targets.kueue.queue_facts:policy_queues"),
        admits=True,
        workload_pods=Lazy("policykit.targets.kueue.queue_facts:admitted_together"),
    ),
    pod_fields=Lazy("policykit.targets.kueue.pods:fields"),
    options=Lazy("policykit.targets.kueue.options:KueueOptions"),
    generate=Lazy("policykit.targets.kueue.generate:generate"),
    import_reader=Lazy("policykit.targets.kueue.importing:KueueReader"),
    releases=Lazy("policykit.targets.kueue.versions:RELEASES"),
    release_facts=Lazy("policykit.targets.kueue.release_facts:FACTS"),
)
