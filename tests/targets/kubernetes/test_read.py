"""Objects found in a text, with where they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.queue import ContainerRange, Priority, Quota
from policykit.targets.kubernetes.generate import generate
from policykit.targets.kubernetes.objects.autoscalers import Autoscaler
from policykit.targets.kubernetes.objects.groups import Gang
from policykit.targets.kubernetes.objects.quotas import ResourceQuota
from policykit.targets.kubernetes.objects.ranges import LimitRange
from policykit.targets.kubernetes.read import read
from policykit.targets.kubernetes.scheduler.configuration import Configuration
from policykit.targets.reading import Read
from tests.targets.kubernetes.clusters import DENSE, cluster

CONFIGURATION = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: []}"
PRIORITY = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 3}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("{: not yaml", []),
        ("kind: Deployment\n", []),
        (PRIORITY, [Read(Priority("p", 3))]),
        (f"---\na: 1\n---\n{PRIORITY}", [Read(Priority("p", 3), 1)]),
        (
            f"apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n- {PRIORITY}",
            [Read(Priority("p", 3), 0, ("items", 1))],
        ),
        (
            "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: ns}, "
            "spec: {hard: {pods: 2}}}",
            [Read(ResourceQuota("ns", "q", {"pods": 2}))],
        ),
        (
            "{apiVersion: v1, kind: LimitRange, metadata: {name: q, namespace: ns}}",
            [Read(LimitRange("ns", "q", ContainerRange()))],
        ),
        (CONFIGURATION, [Read(Configuration())]),
        (
            f"kind: ConfigMap\ndata:\n  a: |\n    # why\n    {CONFIGURATION}\n",
            [Read(Configuration(), 0, ("data", "a"), ())],
        ),
        (
            f"scheduler:\n  files:\n  - |\n    ---\n    {CONFIGURATION}\n",
            [Read(Configuration(), 0, ("scheduler", "files", 0), ())],
        ),
        ("kind: ConfigMap\ndata:\n  a: |\n    KubeSchedulerConfiguration is\n    a word\n", []),
        (
            "{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}, spec: "
            "{schedulingPolicy: {gang: {minCount: 2}}}}",
            [Read(Gang("g", "", 2))],
        ),
        ("{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}}", []),
        ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}}", []),
    ],
    ids=[
        "empty",
        "not YAML",
        "another kind",
        "priority",
        "second document",
        "in a List",
        "quota",
        "range",
        "configuration",
        "in a ConfigMap",
        "in Helm values",
        "a word in a string",
        "gang",
        "no gang",
        "another system's",
    ],
)
def test_read(text: str, found: list[object]) -> None:
    assert read(text) == found


def test_what_is_generated_is_found() -> None:
    quota = Quota("n", "q", {"nvidia.com/gpu": 8}, containers=ContainerRange({"cpu": 1000}))
    made = generate(cluster(DENSE, priorities=(Priority("p", 1),), quotas=(quota,)))
    kinds = {type(each.value) for a in made.artifacts if a.path.endswith(".yaml") for each in read(a.text)}
    assert kinds == {Priority, ResourceQuota, LimitRange, Configuration}
    assert Autoscaler not in kinds


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read(text), list)
