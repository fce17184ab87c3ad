"""Pods of any shape: patched, or refused with a word; never a fault, and the second time nothing changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, PatchedText, patch
from tests.clusters import policy
from tests.targets.workloads.policies import CLUSTERS, QUEUED

CLUSTER = policy(QUEUED)
KEYS = st.sampled_from(["maip.mxsf.io/node.usage", "nvidia.com/gpu.product", "zone"])
VALUES = st.sampled_from(["training", "inference", "hybrid", "NVIDIA-H20", "NVIDIA-L20"])
ODD: st.SearchStrategy[Any] = st.sampled_from([None, "", [], {}, "${X}", 1, True, ["x"], {"a": "b"}, [None]])
CONTAINER = {"name": "a", "image": "registry.example/a:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}


def mostly(right: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(right, right, right, ODD)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return mostly(st.fixed_dictionaries({}, optional=fields))


EXPRESSION = optional(
    key=KEYS, operator=st.sampled_from(["In", "NotIn", "Exists"]), values=mostly(st.lists(VALUES, max_size=3))
)
TERM = optional(matchExpressions=mostly(st.lists(EXPRESSION, max_size=2)), matchFields=ODD)
PREFERENCE = optional(weight=mostly(st.integers(1, 100)), preference=TERM)
TOLERATION = optional(
    key=KEYS,
    operator=st.sampled_from(["Exists", "Equal", ""]),
    value=VALUES,
    effect=st.sampled_from(["NoSchedule", "NoExecute", ""]),
)
NODE_AFFINITY = optional(
    requiredDuringSchedulingIgnoredDuringExecution=optional(
        nodeSelectorTerms=mostly(st.lists(TERM, max_size=2))
    ),
    preferredDuringSchedulingIgnoredDuringExecution=mostly(st.lists(PREFERENCE, max_size=2)),
)
SPEC = st.fixed_dictionaries(
    {"containers": st.just([CONTAINER])},
    optional={
        "affinity": optional(nodeAffinity=NODE_AFFINITY),
        "tolerations": mostly(st.lists(TOLERATION, max_size=3)),
        "nodeSelector": mostly(st.dictionaries(KEYS, mostly(VALUES), max_size=2)),
        "schedulerName": ODD,
        "priorityClassName": ODD,
    },
)


def run(raw: bytes, workload: str, cluster: Cluster = CLUSTER) -> PatchedText | PolicykitError:
    try:
        return patch(ManifestText("a.yaml", raw), cluster, PatchOptions(workload, "h20"))
    except PolicykitError as error:
        return error


@settings(max_examples=200)
@given(SPEC, optional(labels=ODD, annotations=ODD), st.sampled_from(["training", "inference", ""]))
def test_any_pod(spec: Any, metadata: Any, workload: str) -> None:
    template = {"metadata": metadata, "spec": spec}
    data = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"template": template},
    }
    found = run(dump(data).encode(), workload)
    if isinstance(found, PolicykitError):
        assert found.place == "a.yaml:1:1"
        assert found.message.startswith("Deployment/a")
        return
    again = run(found.raw, workload)
    assert isinstance(again, PatchedText)
    assert (again.raw, again.changed) == (found.raw, ())


CONSTRAINT = optional(
    topologyKey=st.sampled_from(["kubernetes.io/hostname", "zone"]),
    whenUnsatisfiable=st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
    maxSkew=ODD,
    labelSelector=ODD,
)
POD_TERM = optional(topologyKey=st.sampled_from(["example.com/rack", "zone"]), labelSelector=ODD)
POD_AFFINITY = optional(
    requiredDuringSchedulingIgnoredDuringExecution=mostly(st.lists(POD_TERM, max_size=2)),
    preferredDuringSchedulingIgnoredDuringExecution=mostly(
        st.lists(optional(weight=ODD, podAffinityTerm=POD_TERM), max_size=2)
    ),
)
WORDED = st.fixed_dictionaries(
    {"containers": st.just([CONTAINER])},
    optional={
        "affinity": optional(podAffinity=POD_AFFINITY),
        "topologySpreadConstraints": mostly(st.lists(CONSTRAINT, max_size=2)),
        "schedulingGroup": ODD,
    },
)
NAMED = st.sampled_from(
    ["pod-group.scheduling.sigs.k8s.io", "yunikorn.apache.org/app-id", "applicationId", "x"]
)
ANNOTATED = st.sampled_from(["scheduling.k8s.io/group-name", "yunikorn.apache.org/task-groups", "x"])
METADATA = optional(
    labels=mostly(st.dictionaries(NAMED, mostly(st.just("a")), max_size=2)),
    annotations=mostly(st.dictionaries(ANNOTATED, mostly(st.just("a")), max_size=2)),
)
OWNED = optional(
    name=st.sampled_from(["a", "${NAME}", "A_b"]),
    annotations=mostly(st.dictionaries(st.just("scheduling.volcano.sh/group-min-member"), ODD)),
)


@settings(max_examples=200)
@given(WORDED, METADATA, OWNED, mostly(st.integers(0, 9)), st.sampled_from(sorted(CLUSTERS)))
def test_any_gang(spec: Any, metadata: Any, owner: Any, replicas: Any, target_name: str) -> None:
    data = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": owner,
        "spec": {"replicas": replicas, "template": {"metadata": metadata, "spec": spec}},
    }
    found = run(dump(data).encode(), "training", CLUSTERS[target_name])
    if isinstance(found, PolicykitError):
        assert found.message.startswith("Deployment/")
        return
    again = run(found.raw, "training", CLUSTERS[target_name])
    assert isinstance(again, PatchedText)
    assert (again.raw, again.changed) == (found.raw, ())


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("tolerations: ${TOLERATIONS}", "has tolerations '${TOLERATIONS}', which has the wrong type"),
        ("nodeSelector: [a]", "has nodeSelector ['a'], which has the wrong type"),
        ("affinity: {nodeAffinity: x}", "has affinity.nodeAffinity 'x', which has the wrong type"),
    ],
    ids=["placeholder", "selector", "affinity"],
)
def test_what_is_of_another_shape_is_not_written_over(field: str, message: str) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {policykit.io/workload: training}}\n"
        f"spec:\n  {field}\n  containers: [{{name: a, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]\n"
    )
    found = run(text.encode(), "")
    assert isinstance(found, PolicykitError)
    assert str(found) == f"a.yaml:1:1: Pod/a {message}\n  help: correct it, or fill it in first"
