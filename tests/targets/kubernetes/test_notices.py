"""What Kubernetes alone has no words for is told, with what comes nearest."""

from typing import Any

import pytest

from policykit.model.cluster import TargetSettings
from policykit.model.gang import GangRule
from policykit.model.queue import Preemption, Queue, Reservation
from policykit.model.workload import WorkloadKind
from policykit.targets.kubernetes.notices import notices
from policykit.targets.kubernetes.options import KubernetesOptions
from tests.targets.kubernetes.clusters import cluster

GANG = WorkloadKind("job", gang="all")
RULED = GANG._replace(gang_rule=GangRule(4, 60))
VOLCANO = TargetSettings("volcano", scheduler_name="volcano")


@pytest.mark.parametrize(
    ("fields", "native", "said"),
    [
        ({}, False, []),
        (
            {"queues": (Queue("a"), Queue("b"))},
            False,
            [
                "kube-scheduler has no queues, so the shares, guarantees and limits of a, b have no effect. "
                "Nearest: quotas of the teams' namespaces, and priorities"
            ],
        ),
        (
            {"preemption": Preemption(reclaim=False)},
            False,
            [
                "kube-scheduler preempts by priority only and ignores `preemption` of queues. Nearest: "
                "priorities, with preempts: false for those that must not preempt"
            ],
        ),
        (
            {"reservations": (Reservation("eval", {"cpu": 1}),)},
            False,
            [
                "kube-scheduler cannot reserve capacity, so reservations eval have no effect. Nearest: "
                "placeholder pods of a lower priority that others preempt, or a separate pool"
            ],
        ),
        ({"queues": (Queue("a"),), "preemption": Preemption(True), "others": (VOLCANO,)}, False, []),
        (
            {"kinds": (GANG, RULED._replace(name="long"))},
            False,
            [
                "kube-scheduler starts the pods of job, long one by one: `gang` has no effect. Nearest: "
                "a scheduler "
                "with gangs (Volcano, Koordinator, YuniKorn), or from Kubernetes 1.35 on, "
                "targets.kubernetes.nativeGang"
            ],
        ),
        ({"kinds": (RULED._replace(scheduler="volcano"),)}, False, []),
        (
            {"kinds": (GANG,), "version": ""},
            True,
            [
                "nativeGang needs the cluster's version, because the gang API differs in each release: "
                "set `kubernetes` in the policy"
            ],
        ),
        (
            {"kinds": (GANG,), "version": "1.33"},
            True,
            [
                "nativeGang: Kubernetes 1.33 has no gang API; 1.35 is the first release with one. Nearest: a "
                "scheduler with "
                "gangs (Volcano, Koordinator, YuniKorn)"
            ],
        ),
        (
            {"kinds": (RULED,), "version": "1.36"},
            True,
            [
                "gangs of job use scheduling.k8s.io/v1alpha2, which the next release does not accept. It "
                "is off by default: the API server needs --runtime-config=scheduling.k8s.io/v1alpha2=true, "
                "and both it and the scheduler need the feature gates GenericWorkload, GangScheduling. "
                "Without them the pod fields are dropped silently",
                "Kubernetes gangs wait 5 minutes for their pods and then try again, whatever timeout "
                "job sets",
            ],
        ),
    ],
    ids=[
        "nothing",
        "queues",
        "preemption",
        "reservations",
        "Volcano is there",
        "gangs",
        "a gang of Volcano",
        "no version",
        "too old",
        "native",
    ],
)
def test_notices(fields: dict[str, Any], native: bool, said: list[str]) -> None:
    made = cluster(**{"kinds": (), **fields})
    assert list(notices(made, KubernetesOptions(native_gang=native))) == said
