"""Options of the target as a policy states them."""

from typing import Any

import pytest

from policykit.errors import PolicyError
from policykit.targets.kubernetes.options import KubernetesOptions, SchedulerOptions, kubernetes_options
from tests.clusters import policy

PLACEMENTS = {"dense": {"strategy": "binpack"}, "named": {"strategy": "binpack", "scheduler": "s"}}


def stated(kubernetes: dict[str, Any]) -> dict[str, Any]:
    return {
        "scheme": {},
        "pools": {},
        "workloads": {},
        "placements": PLACEMENTS,
        "targets": {"kubernetes": kubernetes},
    }


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({}, KubernetesOptions()),
        ({"nativeGang": True}, KubernetesOptions(native_gang=True)),
        ({"scheduler": {}}, KubernetesOptions()),
        (
            {"scheduler": {"as": "cluster", "default": "dense"}},
            KubernetesOptions(SchedulerOptions("cluster", "dense")),
        ),
        (
            {"scheduler": {"namespace": "sched", "image": "i:1", "replicas": 2}},
            KubernetesOptions(SchedulerOptions("second", "", "sched", "i:1", 2)),
        ),
    ],
)
def test_options(given: dict[str, Any], options: KubernetesOptions) -> None:
    assert kubernetes_options(policy(stated(given))) == options


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ({"as": "both"}, "targets.kubernetes.scheduler.as"),
        ({"way": "second"}, "no key 'way'"),
        ({"namespace": "A b"}, "namespace 'A b'"),
        ({"replicas": 0}, "replicas"),
        ({"as": "cluster", "default": "thin"}, "there is no placement 'thin'"),
        ({"default": "dense"}, "a second scheduler must not serve default-scheduler"),
        ({"as": "cluster", "default": "named"}, "placement named is already used by scheduler s"),
    ],
)
def test_mistakes(scheduler: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(stated({"scheduler": scheduler}))
    assert message in " ".join(problem.message for problem in caught.value.problems)
