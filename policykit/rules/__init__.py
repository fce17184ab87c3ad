"""Every rule, in the order of the catalogue; a test notices a file that is not listed.

An entry says what its rule looks at, so that a run imports only the rules that it needs: most runs
of a hook look at one file.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from policykit.linter.registry import (
    BASELINE,
    PODS,
    READING,
    SCOPE,
    STRUCTURE,
    SUPPRESSION,
    Entry,
)
from policykit.linter.rule import AnyRule

CATALOGUE = (
    Entry("PK001", "reading", "syntax-error", subject=READING),
    Entry("PK002", "reading", "duplicate-key", subject=READING),
    Entry("PK003", "reading", "unknown-field", subject=STRUCTURE),
    Entry("PK004", "reading", "invalid-field", subject=STRUCTURE),
    Entry("PK005", "reading", "invalid-quantity", subject=STRUCTURE),
    Entry("PK006", "reading", "invalid-label", subject=STRUCTURE),
    Entry("PK007", "reading", "removed-api-version"),
    Entry("PK008", "reading", "unknown-api-kind"),
    Entry("PK101", "placement", "missing-toleration", True, subject=PODS),
    Entry("PK102", "placement", "no-feasible-pool", True, subject=PODS),
    Entry("PK103", "placement", "missing-usage-affinity", True, subject=PODS),
    Entry("PK104", "placement", "wrong-usage", True, subject=PODS),
    Entry("PK105", "placement", "missing-preference", True, subject=PODS),
    Entry("PK106", "placement", "wrong-card", True, subject=PODS),
    Entry("PK107", "placement", "unsatisfiable-affinity", subject=PODS),
    Entry("PK108", "placement", "unknown-node-label", True, subject=PODS),
    Entry("PK109", "placement", "leaking-or-term", True, subject=PODS),
    Entry("PK110", "placement", "attracted-but-repelled", True, subject=PODS),
    Entry("PK111", "placement", "tolerated-but-not-selected", True, subject=PODS),
    Entry("PK112", "placement", "tolerates-everything", subject=PODS),
    Entry("PK113", "placement", "control-plane-toleration", True, subject=PODS),
    Entry("PK114", "placement", "cpu-workload-on-card-pool", True, subject=PODS),
    Entry("PK115", "placement", "dead-toleration", True, subject=PODS),
    Entry("PK116", "placement", "invalid-toleration", subject=PODS),
    Entry("PK117", "placement", "negative-only-selection", subject=PODS),
    Entry("PK118", "placement", "pinned-to-node", subject=PODS),
    Entry("PK120", "placement", "daemonset-misses-pool", True, kinds=("ClusterPolicy", "DaemonSet")),
    Entry("PK122", "placement", "scheduler-metadata-ignored", subject=PODS),
    Entry("PK123", "placement", "oversized-card", True, subject=PODS),
    Entry("PK124", "placement", "card-not-requested", True, subject=PODS),
    Entry("PK125", "placement", "lost-fallback", True, subject=PODS),
    Entry("PK126", "placement", "selection-resource-mismatch", True, subject=PODS),
    Entry("PK130", "placement", "card-model-not-stated", True, subject=PODS),
    Entry("PK201", "resources", "card-request-limit-mismatch", subject=PODS),
    Entry("PK202", "resources", "wrong-card-resource", True, subject=PODS),
    Entry("PK203", "resources", "exceeds-node", True, subject=PODS),
    Entry("PK206", "resources", "quota-key-never-counted", kinds=("ResourceQuota",)),
    Entry("PK207", "resources", "limitrange-injects-cards", kinds=("LimitRange",)),
    Entry("PK208", "resources", "hpa-on-card-metric", kinds=("HorizontalPodAutoscaler",)),
    Entry(
        "PK210",
        "resources",
        "job-shape",
        kinds=("CronJob", "Job", "JobSet", "MPIJob", "RayCluster", "RayJob", "RayService"),
    ),
    Entry("PK211", "resources", "unknown-card-resource", subject=PODS),
    Entry("PK301", "gangs", "gang-exceeds-replicas", subject=SCOPE),
    Entry(
        "PK302",
        "gangs",
        "partial-gang",
        kinds=(
            "CronJob",
            "JAXJob",
            "Job",
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
    Entry("PK306", "gangs", "gang-without-group", subject=SCOPE),
    Entry("PK801", "native", "unknown-scheduler-plugin", kinds=("KubeSchedulerConfiguration",)),
    Entry("PK903", "housekeeping", "unused-suppression", subject=SUPPRESSION),
    Entry("PK904", "housekeeping", "expired-suppression", subject=SUPPRESSION),
    Entry("PK905", "housekeeping", "suppression-without-reason", on_request=True, subject=SUPPRESSION),
    Entry("PK909", "housekeeping", "baseline-stale", subject=BASELINE),
)


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
