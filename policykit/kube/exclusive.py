"""Exclusive topology domains: no other such group of pods runs in them."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, mappings

_JOB_SET = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_OF_GROUPS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): ("leaderworkerset.sigs.k8s.io/exclusive-topology",),
    ("workloads.x-k8s.io", "RoleBasedGroup"): (
        "rbg.workloads.x-k8s.io/group-exclusive-topology",
        "rbg.workloads.x-k8s.io/exclusive-topology",
    ),
}


def has_own_domain(manifest: Manifest) -> bool:
    """Whether pods that wait for each other have a domain without other such pods.

    The first pod takes the domain and the others follow it, so no two groups share a domain.
    A JobSet gives each of its jobs a domain: that is enough only if there is one job.
    Sources: JobSet 0.13, LeaderWorkerSet 0.10, RoleBasedGroup 0.7.
    """
    keys = _OF_GROUPS.get((manifest.group, manifest.kind), ())
    if (manifest.group, manifest.kind) != ("jobset.x-k8s.io", "JobSet"):
        return any(manifest.annotations.get(key) for key in keys)
    jobs = mappings(lookup(manifest.data, ("spec", "replicatedJobs")))
    if len(jobs) != 1 or jobs[0].get("replicas", 1) != 1:
        return False
    template = texts(mapping(mapping(jobs[0].get("template")).get("metadata")).get("annotations"))
    return bool(manifest.annotations.get(_JOB_SET) or template.get(_JOB_SET))
