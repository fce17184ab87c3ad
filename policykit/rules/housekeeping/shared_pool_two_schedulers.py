"""Two schedulers can place pods on the same pool with cards.

A scheduler sees the pods of another only once they are bound. Two that decide at the same time can
assign the same card twice: the kubelet refuses the later pod, which fails with OutOf<resource>. The
other scheduler can fill the space a gang is waiting for, queues do not count its pods, and neither
preempts for the other. If a workload kind has no scheduler, the finding is only advice: its pods may
still name the same one. If sharing is intended, give the reason in `sharedBySchedulers` of the pool.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, DeclaredPolicy, Rule, Violation
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.severity import Severity
from policykit.model.workload import WorkloadKind
from policykit.placement.eligible_pools import is_allowed
from policykit.targets import DEFAULT_SCHEDULER, target_name_of

BAD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards:
  h20: {product: NVIDIA-H20}
pools:
  hybrid: {usage: hybrid, card: h20, nodes: 4}
workloads:
  training: {usages: [hybrid], scheduler: volcano}
  inference: {usages: [hybrid], scheduler: default-scheduler}
"""
GOOD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards:
  h20: {product: NVIDIA-H20}
pools:
  hybrid:
    usage: hybrid
    card: h20
    nodes: 4
    sharedBySchedulers: training runs at night, when inference is scaled down
workloads:
  training: {usages: [hybrid], scheduler: volcano}
  inference: {usages: [hybrid], scheduler: default-scheduler}
"""


def check(policy: DeclaredPolicy, context: Context) -> Iterator[Violation]:
    cluster = policy.cluster
    for pool in cluster.pools:
        if not pool.card:
            continue
        found = _schedulers(cluster, pool)
        stated = {
            target_name: kinds
            for target_name, kinds in found.items()
            if any(kind.scheduler for kind in kinds)
        }
        if pool.shared_by_schedulers:
            if len(found) < 2:
                yield _unneeded_reason(pool)
        elif len(found) > 1:
            advice = len(stated) < 2
            yield Violation(
                ("pools", pool.name),
                f"{' and '.join(map(_display, found.values()))} can place pods on pool {pool.name}: each sees"
                " the pods of the other only once they are bound",
                _help(found, advice=advice),
                Severity.INFO if advice else None,
                key=True,
            )


def _unneeded_reason(pool: Pool) -> Violation:
    return Violation(
        ("pools", pool.name, "sharedBySchedulers"),
        f"only one scheduler places pods on pool {pool.name}, so sharedBySchedulers has no effect",
        "remove it, so that sharing between schedulers is reported again",
        Severity.INFO,
        key=True,
    )


def _help(found: dict[str, list[WorkloadKind]], *, advice: bool) -> str:
    if advice:
        kinds = ", ".join(kind.name for all_of in found.values() for kind in all_of if not kind.scheduler)
        first = f"set the scheduler of {kinds}"
    else:
        first = "assign the kinds one scheduler, or usages that no pool shares"
    return f"{first}; if this is intended, give the reason in sharedBySchedulers of the pool"


def _schedulers(cluster: Cluster, pool: Pool) -> dict[str, list[WorkloadKind]]:
    """Scheduler to the workload kinds whose pods it places on the pool, in the order of the policy."""
    found: dict[str, list[WorkloadKind]] = {}
    for kind in cluster.workloads.values():
        if kind.cards != () and is_allowed(kind, pool) and (kind.scheduler or _names(kind, pool)):
            target_name = target_name_of(kind.scheduler, cluster) or kind.scheduler
            found.setdefault(target_name, []).append(kind)
    return found


def _names(kind: WorkloadKind, pool: Pool) -> bool:
    """Whether the kind names a usage or card of this pool."""
    return pool.usage in kind.usages or pool.card in (kind.cards or ())


def _display(kinds: list[WorkloadKind]) -> str:
    stated = list(dict.fromkeys(kind.scheduler for kind in kinds if kind.scheduler))
    names = ", ".join(kind.name for kind in kinds)
    return (
        f"{' or '.join(stated)} ({names})" if stated else f"{DEFAULT_SCHEDULER} ({names} without scheduler)"
    )


RULE = Rule(
    code="PK911",
    name="shared-pool-two-schedulers",
    severity=Severity.WARNING,
    subject=DeclaredPolicy,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    options=("pools: {NAME: {sharedBySchedulers: why}} accepts the sharing for that reason",),
)
