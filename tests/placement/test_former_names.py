"""`formerly:`: manifests with former, present or both names land alike, and patch writes both."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit import api
from policykit.model.cluster import Cluster
from policykit.targets.nodes.existing_nodes import nodes
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.clusters import policy

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    metadata: {labels: {policykit.io/workload: training}}
    spec:
      restartPolicy: Never
      containers:
        - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 8}}}
"""


def of(
    domain: str = "a.example.com", usage: str = "training", product: str = "NVIDIA-H20", **more: Any
) -> Cluster:
    return policy(
        {
            "domain": domain,
            "coverage": "complete",
            "cards": {"h20": {"product": product, "resource": "nvidia.com/gpu"}},
            "pools": {
                "train": {
                    "usage": usage,
                    "card": "h20",
                    "nodes": {"names": ["t-[1-2]"]},
                    "cardsPerNode": 8,
                    "labels": {"disk": "fast"},
                },
                "web": {"nodes": {"names": ["w"]}},
            },
            "workloads": {"training": {"usages": [usage], "prefer": {usage: 100}}},
            **more,
        }
    )


OLD = of()
CHANGES = {
    "domain": (
        of("b.example.com"),
        of("b.example.com", formerly={"domain": {"b.example.com": ["a.example.com"]}}),
    ),
    "usage": (of(usage="learning"), of(usage="learning", formerly={"usages": {"learning": ["training"]}})),
    "product": (
        of(product="NVIDIA-H20-141GB"),
        of(product="NVIDIA-H20-141GB", formerly={"products": {"NVIDIA-H20-141GB": ["NVIDIA-H20"]}}),
    ),
    "domain and usage": (
        of("b.example.com", "learning"),
        of(
            "b.example.com",
            "learning",
            formerly={"domain": {"b.example.com": ["a.example.com"]}, "usages": {"learning": ["training"]}},
        ),
    ),
}


def patched(text: str, cluster: Cluster) -> str:
    return patch(ManifestText("a.yaml", text.encode()), cluster, PatchOptions()).raw.decode()


def accepting(text: str, cluster: Cluster) -> list[str]:
    (review,) = api.where(text.encode(), cluster)
    return [pool.name for pool in review.accepting]


@pytest.mark.parametrize("case", CHANGES)
def test_old_and_new_manifests_land_and_lint_clean_meanwhile(case: str) -> None:
    new, both = CHANGES[case]
    for text in (patched(JOB, OLD), patched(JOB, new), patched(JOB, both), patched(patched(JOB, OLD), both)):
        assert accepting(text, both) == ["train"]
        found = api.lint_texts({"a.yaml": text.encode()}, both, select=["PK1"])
        assert [each.code for each in found.findings if each.severity != "info"] == []


@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("patched_before", [True, False], ids=["patched with the old policy", "not patched"])
def test_what_patch_writes_is_accepted_by_nodes_of_either_policy(case: str, patched_before: bool) -> None:
    new, both = CHANGES[case]
    text = patched(patched(JOB, OLD) if patched_before else JOB, both)
    assert [accepting(text, cluster) for cluster in (OLD, both, new)] == [["train"]] * 3
    assert patched(text, both) == text


@pytest.mark.parametrize("case", CHANGES)
def test_without_former_names_one_side_lands_nowhere(case: str) -> None:
    new, _ = CHANGES[case]
    assert accepting(patched(JOB, OLD), new) == []
    assert accepting(patched(JOB, new), OLD) == []


def test_nodes_carry_both_keys_and_one_value() -> None:
    labels = {
        case: {key: value for key, value in both.pools[0].labels.items() if key.endswith("node.usage")}
        for case, (_, both) in CHANGES.items()
    }
    written = next(iter(nodes(CHANGES["domain"][1], CHANGES["domain"][1].pools[0])))["metadata"]["labels"]
    assert written.items() >= labels["domain"].items()
    assert labels == {
        "domain": {"a.example.com/node.usage": "training", "b.example.com/node.usage": "training"},
        "usage": {"a.example.com/node.usage": "learning"},
        "product": {"a.example.com/node.usage": "training"},
        "domain and usage": {"a.example.com/node.usage": "training", "b.example.com/node.usage": "learning"},
    }


def test_other_requirements_stay_in_every_alternative() -> None:
    spec = yaml.safe_load(patched(JOB, OLD))["spec"]["template"]["spec"]
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    required["nodeSelectorTerms"][0]["matchExpressions"].append({"key": "disk", "operator": "Exists"})
    job = yaml.safe_load(JOB)
    job["spec"]["template"]["spec"] |= {"affinity": spec["affinity"], "tolerations": spec["tolerations"]}
    found = yaml.safe_load(patched(yaml.safe_dump(job), CHANGES["domain"][1]))
    terms = found["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    keys = [
        [one["key"] for one in term["matchExpressions"]]
        for term in terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    ]
    assert keys == [["disk", "b.example.com/node.usage"], ["disk", "a.example.com/node.usage"]]
