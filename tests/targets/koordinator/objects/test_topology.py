"""ClusterNetworkTopology: one chain of layers, from the widest level to single nodes."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.model.topology import Level, TopologyAffinity
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.objects import files as objects
from policykit.targets.koordinator.objects import topology
from policykit.targets.koordinator.objects.topology import Layer
from tests.targets.koordinator.crds import needs_crds, problems
from tests.targets.koordinator.strategies import NAMES

LEVELS = st.lists(st.builds(Level, NAMES, NAMES), unique_by=lambda level: level.name, max_size=5).map(tuple)
LAYERS = st.lists(st.builds(Layer, NAMES, st.just("") | NAMES, st.lists(NAMES, max_size=2).map(tuple))).map(
    tuple
)


@given(LAYERS)
def test_what_is_written_reads_back(chain: tuple[Layer, ...]) -> None:
    assert topology.read(yaml.safe_load(dump(topology.write(chain)))) == chain


@needs_crds
@settings(deadline=None)
@given(LAYERS)
def test_every_topology_fits_the_crd(chain: tuple[Layer, ...]) -> None:
    assert problems(topology.write(chain)) == []


@given(LEVELS)
def test_the_scheduler_can_walk_the_chain(levels: tuple[Level, ...]) -> None:
    """As it does: from single nodes up, parent by parent, through every layer."""
    made = {layer.name: layer for layer in topology.layers(levels)}
    walked, at = [], topology.NODE_LAYER
    while at:
        walked.append(at)
        at = made[at].parent
    assert walked == [topology.NODE_LAYER, *(level.name for level in reversed(levels))]


def cluster(**kind: Any) -> Cluster:
    return Cluster(
        "c",
        (),
        workloads={"train": WorkloadKind("train", **kind)},
        targets={"koordinator": TargetSettings("koordinator")},
        levels=(Level("zone", "topology.kubernetes.io/zone"), Level("rack", "example.com/rack")),
    )


ASKING = {"within": TopologyAffinity("rack"), "scheduler": "koord-scheduler"}


def test_written_in_full() -> None:
    ((written,), _) = objects.generate(cluster(**ASKING), Version(1, 7, 0), "x")
    assert written.path == "koordinator/network-topology.yaml"
    assert (
        written.text
        == """\
---
# Read by a scheduler with --enable-network-topology-manager, which the chart sets.
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: ClusterNetworkTopology
metadata:
  name: default
spec:
  networkTopologySpec:
    - topologyLayer: zone
      labelKey:
        - topology.kubernetes.io/zone
    - topologyLayer: rack
      parentTopologyLayer: zone
      labelKey:
        - example.com/rack
    - topologyLayer: NodeTopologyLayer
      parentTopologyLayer: rack
"""
    )


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        (ASKING, Version(1, 6, 1)),
        ({**ASKING, "scheduler": "volcano"}, Version(1, 8, 0)),
        ({**ASKING, "within": None}, Version(1, 8, 0)),
    ],
    ids=["old", "another scheduler", "nobody asks"],
)
def test_not_written_where_nothing_reads_it(kind: dict[str, Any], version: Version) -> None:
    assert objects.generate(cluster(**kind), version, "x") == ((), ())


@pytest.mark.parametrize("data", [{}, {"spec": []}, {"spec": {"networkTopologySpec": [7, {}]}}])
def test_other_shapes_say_nothing(data: Any) -> None:
    assert topology.read(data) == ()
