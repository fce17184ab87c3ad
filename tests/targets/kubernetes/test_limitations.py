"""What Kubernetes alone has no words for is told, with what comes nearest."""

from typing import Any

import pytest

from policykit.model.cluster import Target
from policykit.model.gang import GangRule
from policykit.model.queue import Preemption, Queue
from policykit.model.tenant import Reservation
from policykit.model.workload import WorkloadKind
from policykit.targets.kubernetes.limitations import notices
from policykit.targets.kubernetes.options import KubernetesOptions
from tests.targets.kubernetes.clusters import cluster

GANG = WorkloadKind("job", gang="all")
RULED = GANG._replace(gang_rule=GangRule(4, 60))
VOLCANO = Target("volcano", scheduler_name="volcano")


@pytest.mark.parametrize(
    ("fields", "native", "said"),
    [
        ({}, False, []),
        ({"kinds": (GANG,)}, False, []),
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
                "kube-scheduler preempts by priority alone, whatever `preemption` says of queues. Nearest: "
                "priorities, with preempts: false for those that must not preempt"
            ],
        ),
        (
            {"reservations": (Reservation("eval", {"cpu": 1}),)},
            False,
            [
                "kube-scheduler keeps no room free, so reservations eval have no effect. Nearest: "
                "pods of a lower "
                "priority that hold the place until others preempt them, or a pool of its own"
            ],
        ),
        ({"queues": (Queue("a"),), "preemption": Preemption(True), "others": (VOLCANO,)}, False, []),
        (
            {"kinds": (RULED,)},
            False,
            [
                "kube-scheduler starts the pods of job one by one: `gang` has no effect. Nearest: "
                "a scheduler "
                "with gangs (Volcano, Koordinator, YuniKorn), or from Kubernetes 1.35 on "
                "targets.kubernetes.nativeGang"
            ],
        ),
        ({"kinds": (RULED._replace(scheduler="volcano"),)}, False, []),
        (
            {"kinds": (GANG,), "version": ""},
            True,
            [
                "nativeGang needs the cluster's version: the API of gangs differs in each release. State "
                "`kubernetes` in the policy"
            ],
        ),
        (
            {"kinds": (GANG,), "version": "1.33"},
            True,
            [
                "nativeGang: Kubernetes 1.33 has no API of gangs, 1.35 is the first. Nearest: a "
                "scheduler with "
                "gangs (Volcano, Koordinator, YuniKorn)"
            ],
        ),
        (
            {"kinds": (RULED,), "version": "1.36"},
            True,
            [
                "gangs of job are scheduling.k8s.io/v1alpha2, which the next release does not "
                "take. It is off by "
                "default: the API server needs --runtime-config=scheduling.k8s.io/v1alpha2=true, "
                "and with the "
                "scheduler feature gates GenericWorkload, GangScheduling. Without them the fields "
                "of pods are "
                "dropped without a message",
                "gangs of Kubernetes wait 5 minutes for their pods and then try again, whatever "
                "job states as "
                "timeout",
            ],
        ),
    ],
    ids=[
        "nothing",
        "gang alone",
        "queues",
        "preemption",
        "reservations",
        "Volcano is there",
        "a gang with rules",
        "a gang of Volcano",
        "no version",
        "too old",
        "native",
    ],
)
def test_notices(fields: dict[str, Any], native: bool, said: list[str]) -> None:
    made = cluster(**{"kinds": (), **fields})
    assert list(notices(made, KubernetesOptions(native_gang=native))) == said
