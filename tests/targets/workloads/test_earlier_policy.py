"""What an earlier policy wrote is taken out: nothing else, and what stays lands."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.errors import SourceError
from policykit.model.cluster import Cluster
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.clusters import policy

POOLS = {
    "train": {"usage": "training", "card": "h20", "nodes": 2},
    "hybrid": {"usage": "hybrid", "card": "h20", "nodes": 2},
}
KINDS: dict[str, Any] = {
    "training": {
        "usages": ["training", "hybrid"],
        "prefer": {"training": 100},
        "scheduler": "volcano",
        "gang": "all",
        "priorityClass": "high",
        "queue": "research",
    }
}


def of(**more: Any) -> Cluster:
    return policy(
        {
            "domain": "old.example.com",
            "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
            "pools": POOLS,
            "workloads": KINDS,
            "priorities": {"high": {"value": 10}},
            "queues": {"research": {}, "product": {}},
            "targets": {"volcano": {"version": "1.15.1"}},
            **more,
        }
    )


BEFORE = of()
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: a  # ours
  annotations: {team: a}
spec:
  parallelism: 2
  completions: 2
  template:
    metadata:
      labels: {app: a, policykit.io/workload: training}
    spec:
      restartPolicy: Never
      nodeSelector: {disk: fast}
      tolerations:
        - {key: team, operator: Exists}  # by hand
      containers:
        - name: a
          image: registry.example/a:1
          resources: {limits: {nvidia.com/gpu: 8}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec:
  replicas: 2
  selector: {matchLabels: {app: b}}
  template:
    metadata: {labels: {app: b}}
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: disk, operator: In, values: [fast]}
      containers:
        - name: a
          image: registry.example/a:1
          resources: {limits: {nvidia.com/gpu: 1}}
"""


def patched(
    text: str, cluster: Cluster, before: Cluster | None = None, *, workload: str = "", queue: str = ""
) -> str:
    kind = workload or ("" if "policykit.io/workload" in text else "training")
    options = PatchOptions(kind, queue=queue)
    return patch(ManifestText("a.yaml", text.encode()), cluster, options, before=before).raw.decode()


def sorted_tolerations(text: str) -> list[Any]:
    """The documents; the order of tolerations says nothing."""
    documents = list(yaml.safe_load_all(text))
    for each in documents:
        spec = each["spec"].get("template", {}).get("spec", {})
        spec.get("tolerations", []).sort(key=str)
    return documents


AFTER = {
    "another domain": of(domain="new.example.com"),
    "another scheduler": of(
        workloads={"training": {**KINDS["training"], "scheduler": "koord-scheduler"}},
        targets={"koordinator": {"version": "1.8.0"}},
    ),
    "less": of(workloads={"training": {"usages": ["training"]}}),
    "another queue": of(workloads={"training": {**KINDS["training"], "queue": "product"}}),
    "the same": BEFORE,
}


@pytest.mark.parametrize("text", [JOB, DEPLOYMENT], ids=["job", "deployment"])
@pytest.mark.parametrize("after", AFTER.values(), ids=AFTER)
def test_after_patching_from_an_earlier_policy_an_object_is_as_if_that_had_never_been(
    text: str, after: Cluster
) -> None:
    once = patched(text, BEFORE)
    found = patched(once, after, BEFORE)
    assert sorted_tolerations(found) == sorted_tolerations(patched(text, after))
    assert ("# by hand" in found, "# ours" in found) == ("# by hand" in text, "# ours" in text)


TWO_ZONES = DEPLOYMENT.replace(
    "values: [fast]}\n",
    "values: [fast]}\n              - matchExpressions:\n"
    "                  - {key: disk, operator: In, values: [slow]}\n",
)
FORMER = of(domain="new.example.com", formerly={"domain": {"new.example.com": ["old.example.com"]}})


@pytest.mark.parametrize("text", [JOB, DEPLOYMENT, TWO_ZONES], ids=["job", "own term", "own alternatives"])
def test_the_alternative_of_a_former_domain_goes_whole(text: str) -> None:
    """Each of the terms has another under the old key: the last merge of a changed domain takes them out."""
    both = patched(text, FORMER, BEFORE)
    assert "old.example.com" in patched(text, FORMER)
    assert sorted_tolerations(patched(both, AFTER["another domain"], FORMER)) == sorted_tolerations(
        patched(text, AFTER["another domain"])
    )


@pytest.mark.parametrize("text", [JOB, DEPLOYMENT], ids=["job", "deployment"])
def test_the_same_policy_changes_no_byte(text: str) -> None:
    once = patched(text, BEFORE)
    assert patched(once, BEFORE, BEFORE) == once


def test_what_was_never_patched_loses_nothing() -> None:
    text = DEPLOYMENT.replace(
        "disk, operator: In, values: [fast]", "old.example.com/node.usage, operator: Exists"
    )
    found = yaml.safe_load(patched(text, AFTER["less"], BEFORE))
    assert found["spec"]["template"]["spec"]["affinity"] == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {"key": "old.example.com/node.usage", "operator": "Exists"},
                            {"key": "old.example.com/node.usage", "operator": "In", "values": ["training"]},
                        ]
                    }
                ]
            }
        }
    }


def test_a_queue_that_was_asked_for_stays() -> None:
    once = patched(JOB, BEFORE, queue="product")
    assert "queue-name: product" in once
    assert "queue-name: product" in patched(once, AFTER["another domain"], BEFORE)


def test_a_workload_kind_that_is_gone_loses_its_label() -> None:
    after = of(workloads={"learning": KINDS["training"]})
    found = patched(patched(JOB, BEFORE), after, BEFORE, workload="learning")
    assert "policykit.io/workload: learning" in found


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (
            AFTER["another domain"],
            "Job/a requires old.example.com/node.usage In training, hybrid, as an earlier policy may have "
            "written, but the usage is new.example.com/node.usage",
        ),
        (
            of(domain="new.example.com", coverage="complete"),
            "Job/a would be refused by every pool it may use "
            "(train: affinity: required affinity old.example.com/node.usage In training, hybrid, but its "
            "nodes do not have that label; "
            "hybrid: affinity: required affinity old.example.com/node.usage In training, hybrid, but its "
            "nodes do not have that label)",
        ),
    ],
    ids=["partial coverage", "complete coverage"],
)
def test_patch_fails_where_old_and_new_affinity_would_stand_side_by_side(
    after: Cluster, message: str
) -> None:
    text = JOB.replace("      nodeSelector: {disk: fast}\n", "")
    with pytest.raises(SourceError) as caught:
        patched(patched(text, BEFORE), after)
    assert caught.value.message == message
    assert caught.value.hint.startswith("take out what an earlier policy wrote with `policykit patch --from")


def test_patch_says_what_to_do_about_pods_that_are_too_large() -> None:
    """No earlier policy has to do with it."""
    text = JOB.replace("      nodeSelector: {disk: fast}\n", "").replace(
        "nvidia.com/gpu: 8", "nvidia.com/gpu: 16"
    )
    with pytest.raises(SourceError) as caught:
        patched(text, BEFORE)
    assert "resources: requests 16 nvidia.com/gpu, but its nodes have at most 8" in caught.value.message
    hint = "request less per pod and use more pods, or correct the sizes of the nodes in the policy"
    assert caught.value.hint == hint
