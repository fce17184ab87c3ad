"""KubeSchedulerConfiguration, written and read."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.workload import Point
from policykit.targets.kubernetes.scheduler.configuration import (
    RATIO,
    Configuration,
    Fit,
    Lease,
    Profile,
    read,
    write,
)
from tests.shared import SHARED

NAMES = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=8)
POINTS = st.lists(st.builds(Point, st.integers(0, 100), st.integers(0, 10)), max_size=3).map(tuple)
FITS = st.builds(
    Fit, st.sampled_from(["MostAllocated", RATIO]), st.dictionaries(NAMES, st.integers(1, 100)), POINTS
)
PROFILES = st.builds(
    Profile,
    NAMES,
    st.none() | FITS,
    st.dictionaries(NAMES, st.integers(1, 1000), max_size=3),
    st.lists(NAMES, max_size=2).map(tuple),
    st.none() | st.integers(0, 100),
    st.just(()),
)
WHOLE = st.builds(
    Configuration,
    st.lists(PROFILES, max_size=3).map(tuple),
    st.none() | st.builds(Lease, NAMES, NAMES),
    st.sampled_from(["", "/etc/kubernetes/scheduler.conf"]),
    st.just(()),
)


@given(WHOLE)
def test_what_is_written_is_read(whole: Configuration) -> None:
    assert read(write(whole)) == whole


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
KEYS = st.sampled_from(["profiles", "plugins", "pluginConfig", "leaderElection", "score", "args", "name"])


@given(st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON) | st.lists(st.dictionaries(KEYS, JSON))))
def test_any_shape_is_read(data: dict[str, object]) -> None:
    once = read(data)
    assert read(write(once)) == once._replace(
        unread=(), profiles=tuple(profile._replace(unread=()) for profile in once.profiles)
    )


def test_a_whole_file() -> None:
    profile = Profile(
        "dense",
        Fit(RATIO, {"nvidia.com/gpu": 100}, (Point(0, 1), Point(100, 10))),
        {"NodeResourcesFit": 66},
        ("ImageLocality",),
        100,
    )
    whole = Configuration((profile,), Lease("l", "kube-system"), "/f")
    assert write(whole) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "/f"},
        "leaderElection": {"leaderElect": True, "resourceName": "l", "resourceNamespace": "kube-system"},
        "profiles": [
            {
                "schedulerName": "dense",
                "percentageOfNodesToScore": 100,
                "plugins": {
                    "score": {
                        "enabled": [{"name": "NodeResourcesFit", "weight": 66}],
                        "disabled": [{"name": "ImageLocality"}],
                    }
                },
                "pluginConfig": [
                    {
                        "name": "NodeResourcesFit",
                        "args": {
                            "scoringStrategy": {
                                "type": RATIO,
                                "resources": [{"name": "nvidia.com/gpu", "weight": 100}],
                                "requestedToCapacityRatio": {
                                    "shape": [
                                        {"utilization": 0, "score": 1},
                                        {"utilization": 100, "score": 10},
                                    ]
                                },
                            }
                        },
                    }
                ],
            }
        ],
    }


def test_what_has_no_place_is_named() -> None:
    data = yaml.safe_load(
        "{parallelism: 4, profiles: [{plugins: {filter: {disabled: [{name: B}]}, "
        "score: {enabled: [{name: A}]}}, pluginConfig: ["
        "{name: NodeResourcesFit, args: {ignoredResources: [x/y], scoringStrategy: {type: LeastAllocated}}},"
        "{name: VolumeBinding, args: {bindTimeoutSeconds: 5}}]}, 7, {schedulerName: b}]}"
    )
    found = read(data)
    assert found.unread == ("parallelism",)
    assert found.profiles[0] == Profile(
        "default-scheduler",
        Fit("LeastAllocated"),
        {"A": 1},
        unread=("plugins.filter", "NodeResourcesFit.ignoredResources", "VolumeBinding.bindTimeoutSeconds"),
    )


@pytest.mark.skipif(SHARED is None, reason="the shared corpus is not here")
def test_the_seed() -> None:
    assert SHARED is not None
    seed = SHARED / "seeds/manifests/002-kubescheduler-configuration.yaml"
    found = read(yaml.safe_load(seed.read_text(encoding="utf-8")))
    assert [profile.scheduler for profile in found.profiles] != []
