"""Which pods a ClusterColocationProfile of the policy selects, and the scheduler it gives them."""

import pytest

from policykit.kube.podsets import pod_sets
from policykit.targets.koordinator.admission import profile_of, scheduler_of_profile
from tests.clusters import policy

CLUSTER = policy(
    {
        "domain": "example.com",
        "pools": {"all": {"nodes": 2, "usage": "any"}},
        "workloads": {
            "training": {"usages": ["any"], "scheduler": "koord-scheduler"},
            "crawling": {"usages": ["any"]},
        },
        "targets": {
            "koordinator": {
                "colocation": {
                    "workloads": {
                        "training": {"priority": "prod", "namespaces": ["team-a"]},
                        "crawling": {"priority": "batch"},
                    }
                }
            }
        },
    }
)


@pytest.mark.parametrize(
    ("labels", "namespace", "profile", "scheduler"),
    [
        ({"policykit.io/workload": "training"}, "team-a", "training", "koord-scheduler"),
        ({"policykit.io/workload": "training"}, "", "training", "koord-scheduler"),
        ({"policykit.io/workload": "training"}, "team-b", "", ""),
        ({"policykit.io/workload": "crawling"}, "team-b", "crawling", ""),
        ({"policykit.io/workload": "serving"}, "team-a", "", ""),
        ({"app": "training"}, "team-a", "", ""),
    ],
    ids=["selected", "any namespace", "another namespace", "no scheduler", "no class", "no label"],
)
def test_what_a_profile_gives(labels: dict[str, str], namespace: str, profile: str, scheduler: str) -> None:
    metadata = {"name": "a", "labels": labels}
    (pod_set,) = pod_sets(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": []}}
    )
    found = profile_of(CLUSTER, pod_set, namespace)
    assert (found.name if found else "") == profile
    assert scheduler_of_profile(CLUSTER, pod_set, namespace) == scheduler


def test_without_koordinator_there_is_none() -> None:
    cluster = CLUSTER._replace(targets={})
    labels = {"policykit.io/workload": "training"}
    (pod_set,) = pod_sets(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": labels}, "spec": {"containers": []}}
    )
    assert profile_of(cluster, pod_set) is None
