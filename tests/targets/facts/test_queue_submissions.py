"""Which queue pods are submitted to, and the least that they ask for."""

from itertools import combinations
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.model.declared_queues import QueueUse
from policykit.targets.facts import queue_submissions


def uses(text: str) -> list[QueueUse]:
    document = next(iter(parse(text)))
    assert document.root is not None
    manifest = next(iter(manifests(document.root, 0)))
    stated = queue_submissions.facts(manifest, pod_sets(manifest.data), Context())
    return [each.value for each in stated]


def pod(scheduler: str, **metadata: dict[str, str]) -> str:
    data: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train", "namespace": "team-a", **metadata},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]},
    }
    if scheduler:
        data["spec"]["schedulerName"] = scheduler
    return yaml.safe_dump(data)


VOLCANO = {"scheduling.volcano.sh/queue-name": "research"}
YUNIKORN = {"yunikorn.apache.org/queue": "root.research"}
KOORDINATOR = {"quota.scheduling.koordinator.sh/name": "research"}


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        pytest.param(pod("volcano", annotations=VOLCANO), ["volcano"], id="volcano"),
        pytest.param(pod("", annotations=VOLCANO), [], id="the default scheduler does not read it"),
        pytest.param(pod("volcano", labels=VOLCANO), [], id="a label where an annotation is read"),
        pytest.param(
            pod("volcano", annotations={**VOLCANO, "scheduling.k8s.io/group-name": "gang"}),
            [],
            id="a member goes where its PodGroup does",
        ),
        pytest.param(pod("yunikorn", labels=YUNIKORN), ["yunikorn"], id="yunikorn"),
        pytest.param(pod("", labels=YUNIKORN), ["yunikorn"], id="its admission controller takes the pod"),
        pytest.param(pod("", labels={"queue": "mail"}), [], id="anybody's label"),
        pytest.param(pod("yunikorn", labels={"queue": "mail"}), ["yunikorn"], id="of YuniKorn's pods"),
        pytest.param(pod("koord-scheduler", labels=KOORDINATOR), ["koordinator"], id="koordinator"),
        pytest.param(pod("${SCHEDULER}", labels=KOORDINATOR), [], id="a scheduler filled in later"),
        pytest.param(pod("yunikorn", labels={"queue": "${QUEUE}"}), [], id="a queue filled in later"),
    ],
)
def test_who_reads_it(text: str, targets: list[str]) -> None:
    assert [use.target_name for use in uses(text)] == targets


def test_a_pod_alone() -> None:
    (use,) = uses(pod("volcano", annotations=VOLCANO))
    assert use == QueueUse("volcano", "team-a", "research", "volcano", request={"cpu": 2000})


JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  queue: research
  minAvailable: 3
  tasks:
  - name: ps
    replicas: 1
    template: {spec: {containers: [{name: main, resources: {requests: {cpu: "1", memory: 4Gi}}}]}}
  - name: worker
    replicas: 4
    template:
      spec:
        containers: [{name: main, resources: {requests: {cpu: "8"}, limits: {nvidia.com/gpu: 2}}}]
"""


def test_a_gang_asks_for_what_its_cheapest_members_do() -> None:
    (use,) = uses(JOB)
    assert (use.gang, use.namespace) == (3, "default")
    assert use.request == {"cpu": 17000, "memory": 0, "nvidia.com/gpu": 4}


priced = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=4)


@given(priced, st.integers(1, 6))
def test_no_choice_of_pods_is_cheaper(prices: list[tuple[int, int]], wanted: int) -> None:
    pods = [amount for amount, there in prices for _ in range(there)]
    wanted = min(wanted, len(pods))
    found = queue_submissions.cheapest([(amount, there) for amount, there in prices], wanted)
    assert found == min((sum(chosen) for chosen in combinations(pods, wanted)), default=0)
