"""Zones, racks and switches: in every form that can carry them."""

import shlex
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from policykit.model.cluster import Cluster
from policykit.model.pool import Shape
from policykit.model.topology import Level
from policykit.targets.nodes.generate import generate
from policykit.targets.nodes.node_groups import MAX_FILES
from tests.policies import clusters
from tests.targets.nodes.clusters import COUNTED, RACK, SCALED, USAGE, ZONE, cluster, notices, pool, texts

FOLDER = "nodes/train-h20/"
RACKS = (
    Shape({}, 2, 2, ("b", "a"), labels={RACK: "r1", ZONE: "z1"}),
    Shape({}, 1, 1, ("c",), labels={RACK: "r2", ZONE: "z1"}),
)


def test_nodes_that_differ_in_place_join_by_files_of_their_own() -> None:
    made = texts(cluster(pool(*RACKS, taints=())))
    assert made[f"{FOLDER}kubelet-1.env"].splitlines()[-2:] == [
        "# For a, b.",
        f"KUBELET_EXTRA_ARGS=--node-labels={USAGE}=training,{RACK}=r1,{ZONE}=z1",
    ]
    (argument,) = yaml.safe_load(made[f"{FOLDER}kubeadm-2.yaml"])["nodeRegistration"]["kubeletExtraArgs"]
    assert argument["value"] == f"{USAGE}=training,{RACK}=r2,{ZONE}=z1"
    assert "# For c.\n" in made[f"{FOLDER}kubeadm-2.yaml"]


def test_in_many_places_the_files_hold_what_all_have_in_common() -> None:
    shapes = [Shape({}, 1, 1, (f"n{n}",), labels={RACK: f"r{n}"}) for n in range(MAX_FILES + 1)]
    made = cluster(pool(*shapes))
    assert RACK not in texts(made)[f"{FOLDER}kubelet.env"]
    assert [said for said in notices(generate(made)) if "its nodes have 17 different sets of labels" in said]


def test_every_node_carries_its_place() -> None:
    made = texts(cluster(pool(*RACKS)))
    nodes = {each["metadata"]["name"]: each["metadata"]["labels"] for each in documents(made)}
    assert {name: (labels[RACK], labels[ZONE]) for name, labels in nodes.items()} == {
        "a": ("r1", "z1"),
        "b": ("r1", "z1"),
        "c": ("r2", "z1"),
    }
    assert f"  a b \\\n  {USAGE}=training {RACK}=r1 {ZONE}=z1\n" in made[f"{FOLDER}labels.sh"]


def documents(made: dict[str, str]) -> Any:
    return yaml.safe_load_all(made[f"{FOLDER}labels.yaml"])


def in_zone(provider: str, zone: str, shape: Shape = COUNTED) -> Cluster:
    return cluster(pool(shape._replace(labels={ZONE: zone})), provider=provider)


@pytest.mark.parametrize(
    ("provider", "zone", "file", "line"),
    [
        ("gke", "us-central1-a", "gke.sh", "    --node-locations=us-central1-a \\"),
        ("aks", "eastus-2", "aks.sh", "    --zones 2 \\"),
        ("eks", "us-west-2a", "eksctl.yaml", "      - us-west-2a"),
    ],
)
def test_clouds_make_nodes_in_the_zone(provider: str, zone: str, file: str, line: str) -> None:
    text = texts(in_zone(provider, zone))[FOLDER + file]
    assert line in text.splitlines()
    assert ZONE not in text


def test_karpenter_requires_the_zone() -> None:
    text = texts(in_zone("eks", "us-west-2a", SCALED))[f"{FOLDER}karpenter.yaml"]
    required = yaml.safe_load(text)["spec"]["template"]["spec"]["requirements"]
    assert {"key": ZONE, "operator": "In", "values": ["us-west-2a"]} in required


@pytest.mark.parametrize(
    ("provider", "zone", "said"),
    [
        ("aks", "0", "az takes zones as numbers, such as 1 for eastus-1, so aks.sh omits zone 0"),
        ("ack", "cn-beijing-a", "ACK takes the zone from the vSwitches of a node pool"),
    ],
)
def test_zones_that_cannot_be_said(provider: str, zone: str, said: str) -> None:
    assert [each for each in notices(generate(in_zone(provider, zone))) if said in each]


def test_shapes_in_two_zones_are_two_node_pools() -> None:
    shapes = [Shape({}, 1, 1, labels={ZONE: zone}) for zone in ("eu-1a", "eu-1b")]
    made = yaml.safe_load(texts(cluster(pool(*shapes), provider="eks"))[f"{FOLDER}eksctl.yaml"])
    assert [group["availabilityZones"] for group in made["managedNodeGroups"]] == [["eu-1a"], ["eu-1b"]]


def test_the_page_names_the_levels() -> None:
    made = cluster(pool(*RACKS))._replace(levels=(Level("zone", ZONE), Level("rack", RACK)))
    assert (
        f"| level | label |\n| --- | --- |\n| zone | `{ZONE}` |\n| rack | `{RACK}` |\n"
        in texts(made)["nodes/README.md"]
    )
    assert "## Topology" not in texts(cluster())["nodes/README.md"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters())
def test_every_form_of_any_policy_can_be_read(made: Cluster) -> None:
    forms = ("labels", "taints", "kubelet", "kubeadm", "provider", "karpenter", "nfd")
    for artifact in generate(made._replace(node_forms=forms)).artifacts:
        if artifact.path.endswith(".yaml"):
            assert all(isinstance(each, dict) for each in yaml.safe_load_all(artifact.text))
        elif artifact.path.endswith((".sh", ".env")):
            assert shlex.split(artifact.text, comments=True)
