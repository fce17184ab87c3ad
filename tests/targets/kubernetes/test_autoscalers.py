"""Autoscalers: only metrics that exist, only targets that can be scaled."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit import api
from policykit.model.cluster import Cluster
from policykit.model.workload import Autoscaling, Metric, ScaleTarget, WorkloadKind
from policykit.targets.kubernetes.autoscalers import Autoscaler, autoscalers, read, write
from policykit.targets.kubernetes.generate import generate
from policykit.targets.kubernetes.versions import parse
from tests.targets.kubernetes.clusters import cluster

NAMES = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=8)
METRICS = st.builds(Metric, st.just("resource"), NAMES, st.integers(1, 200), st.just("")) | st.builds(
    Metric, st.sampled_from(["resource", "pods", "external"]), NAMES, st.none(), NAMES
)
SCALERS = st.builds(
    Autoscaler,
    NAMES,
    st.builds(ScaleTarget, NAMES, NAMES, st.just("") | NAMES, NAMES),
    st.integers(1, 100),
    st.integers(0, 10),
    st.lists(METRICS, max_size=3).map(tuple),
    st.none() | st.integers(0, 3600),
    st.just("") | NAMES,
    st.just(()),
)


@given(SCALERS)
def test_what_is_written_is_read(scaler: Autoscaler) -> None:
    assert read(write(scaler)) == scaler


CHAT = ScaleTarget("Deployment", "chat", "chat")
CPU = Metric("resource", "cpu", 70)
TAKE_OUT = (
    "autoscaling of chat: take spec.replicas out of the manifests of its targets, or each apply undoes "
    "the scaling"
)


def made(stated: Autoscaling, version: str = "1.36") -> tuple[list[Autoscaler], list[str]]:
    return autoscalers(
        Cluster("c", (), workloads={"chat": WorkloadKind("chat", autoscaling=stated)}), parse(version)
    )


@pytest.mark.parametrize(
    ("stated", "metrics", "said"),
    [
        (Autoscaling(8, 2, (CPU,), (CHAT,)), (CPU,), [TAKE_OUT]),
        (Autoscaling(8, 2, (), (CHAT,)), (Metric("resource", "cpu", 80),), [TAKE_OUT]),
        (
            Autoscaling(8, 2, (CPU, Metric("resource", "nvidia.com/gpu", 70)), (CHAT,)),
            (CPU,),
            [
                "autoscaling of chat: metrics-server reports cpu and memory only, never "
                "nvidia.com/gpu; omitted. Nearest: a metric of the pods"
                " (pods: DCGM_FI_DEV_GPU_UTIL) through a metrics adapter",
                TAKE_OUT,
            ],
        ),
        (
            Autoscaling(8, 1, (Metric("pods", "waiting", average="5"),), (CHAT,)),
            (Metric("pods", "waiting", average="5"),),
            [
                "autoscaling of chat: an adapter must serve waiting at custom.metrics.k8s.io, for example "
                "prometheus-adapter",
                TAKE_OUT,
            ],
        ),
        (
            Autoscaling(8, 0, (Metric("external", "depth", average="3"),), (CHAT,)),
            (Metric("external", "depth", average="3"),),
            [
                "autoscaling of chat: an adapter must serve depth at external.metrics.k8s.io, for example "
                "prometheus-adapter or KEDA",
                "autoscaling of chat: min 0 is refused unless the feature gate HPAScaleToZero is on (alpha). "
                "Nearest: min 1, or KEDA",
                TAKE_OUT,
            ],
        ),
    ],
    ids=["cpu", "no metric", "cards", "pods", "external from zero"],
)
def test_metrics(stated: Autoscaling, metrics: tuple[Metric, ...], said: list[str]) -> None:
    (scaler,), notices = made(stated)
    assert (scaler.metrics, notices) == (metrics, said)


def test_zero_pods_since_1_37() -> None:
    stated = Autoscaling(8, 0, (Metric("external", "depth", average="3"),), (CHAT,))
    assert not [notice for notice in made(stated, "1.37")[1] if "min 0" in notice]


@pytest.mark.parametrize(
    ("target", "written", "said"),
    [
        (ScaleTarget("StatefulSet", "s"), True, None),
        (
            ScaleTarget("Job", "j", "", "batch/v1"),
            False,
            "Job j has no scale subresource, so no autoscaler is written",
        ),
        (
            ScaleTarget("DaemonSet", "d"),
            False,
            "DaemonSet d has no scale subresource, so no autoscaler is written",
        ),
        (
            ScaleTarget("Job", "v", "", "batch.volcano.sh/v1alpha1"),
            False,
            "Job v has no scale subresource, so no autoscaler is written",
        ),
        (
            ScaleTarget("Rollout", "r", "", "argoproj.io/v1alpha1"),
            True,
            "Rollout r can be scaled only if its CustomResourceDefinition has a scale subresource",
        ),
    ],
)
def test_targets(target: ScaleTarget, written: bool, said: str | None) -> None:
    scalers, notices = made(Autoscaling(2, 1, (CPU,), (target,)))
    assert bool(scalers) is written
    expected = [f"autoscaling of chat: {said}"] if said else []
    assert notices == [*expected, *([TAKE_OUT] if written else [])]


def test_no_target_and_no_metric_left() -> None:
    assert made(Autoscaling(2, 1, (CPU,))) == (
        [],
        ["autoscaling of chat names no targets, so no autoscaler is written: add targets with kind and name"],
    )
    assert made(Autoscaling(2, 1, (Metric("resource", "nvidia.com/gpu", 5),), (CHAT,)))[0] == []


def test_cooldown_has_a_longest() -> None:
    (scaler,), notices = made(Autoscaling(2, 1, (CPU,), (CHAT,), 7200))
    assert scaler.window == 3600
    assert notices[0] == (
        "autoscaling of chat: cooldown 7200s is more than 3600s, the longest there is; 3600s is written"
    )


def test_two_workloads_of_one_name() -> None:
    targets = (CHAT, ScaleTarget("StatefulSet", "chat", "chat"), ScaleTarget("StatefulSet", "chat", "other"))
    scalers, _ = made(Autoscaling(2, 1, (CPU,), targets))
    assert [(each.target.namespace, each.name) for each in scalers] == [
        ("chat", "chat-deployment"),
        ("chat", "chat-statefulset"),
        ("other", "chat"),
    ]


def test_what_is_written_lints_clean() -> None:
    stated = Autoscaling(8, 2, (CPU, Metric("pods", "waiting", average="5")), (CHAT,), 60)
    found = cluster(kinds=(WorkloadKind("chat", autoscaling=stated),))
    texts = {a.path: a.text.encode() for a in generate(found).artifacts if a.path.endswith(".yaml")}
    assert list(texts) == ["kubernetes/autoscalers.yaml"]
    assert [each.message for each in api.lint_texts(texts, found).findings] == []


@pytest.mark.parametrize(
    ("behavior", "unread"),
    [
        (
            "{scaleDown: {stabilizationWindowSeconds: 60, selectPolicy: Max, policies: "
            "[{type: Percent, value: 100, periodSeconds: 15}]}, scaleUp: {stabilizationWindowSeconds: 0, "
            "selectPolicy: Max, policies: [{type: Pods, value: 4, periodSeconds: 15}, "
            "{type: Percent, value: 100, periodSeconds: 15}]}}",
            (),
        ),
        ("{scaleDown: {selectPolicy: Min}}", ("behavior.scaleDown.selectPolicy",)),
        ("{scaleUp: {stabilizationWindowSeconds: 9}}", ("behavior.scaleUp.stabilizationWindowSeconds",)),
    ],
    ids=["as the API server fills in", "down", "up"],
)
def test_behaviour_without_words_is_named(behavior: str, unread: tuple[str, ...]) -> None:
    assert read({"spec": {"behavior": yaml.safe_load(behavior)}}).unread == unread


@pytest.mark.parametrize(
    ("metric", "unread"),
    [
        ("{type: Object, object: {}}", ("metrics of type Object",)),
        ("{type: Pods, pods: {metric: {name: a, selector: {}}, target: {averageValue: 5}}}", ()),
        (
            "{type: Pods, pods: {metric: {name: a, selector: {matchLabels: {a: b}}}, "
            "target: {averageValue: 5}}}",
            ("metrics of type Pods",),
        ),
        (
            "{type: External, external: {metric: {name: a}, target: {value: 5}}}",
            ("metrics of type External",),
        ),
        ("{type: 7}", ("metrics of type ",)),
    ],
)
def test_metrics_without_words_are_named(metric: str, unread: tuple[str, ...]) -> None:
    data: dict[str, Any] = {"spec": {"metrics": [yaml.safe_load(metric)]}}
    assert read(data).unread == unread
