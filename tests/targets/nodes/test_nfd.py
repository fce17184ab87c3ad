"""Rules of Node Feature Discovery: which nodes they match, and what they may set."""

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from policykit.catalogue.cards import vendors
from policykit.kube.names import label_key_problem, label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.pool import Card, Shape, Taint
from policykit.targets.nodes import nfd
from policykit.targets.nodes.generate import generate
from tests.policies import clusters
from tests.targets.nodes.clusters import COUNTED, NAMED, RACK, USAGE, ZONE, cluster, notices, pool, texts

FILE = "nodes/train-h20/nfd.yaml"
RULE = """\
---
# Nodes lose these labels when the rule is deleted or no longer matches.
# Taints need enableTaints: true in the configuration of nfd-master.
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata:
  name: policykit-train-h20
spec:
  rules:
    - name: train-h20 1
      labels:
        maip.mxsf.io/node.usage: training
      taints:
        - key: maip.mxsf.io/node.usage
          value: training
          effect: NoSchedule
        - key: nvidia.com/gpu.product
          value: NVIDIA-H20
          effect: NoSchedule
      matchFeatures:
        - feature: system.name
          matchExpressions:
            nodename:
              op: In
              value:
                - gpu-01
                - gpu-02
"""
NEEDS = "NFD taints nodes only with enableTaints: true in the configuration of nfd-master"


def rules(made: Cluster) -> list[dict[str, Any]]:
    text = texts(made).get(FILE)
    found: list[dict[str, Any]] = yaml.safe_load(text)["spec"]["rules"] if text else []
    return found


def test_named_nodes_are_matched_by_name() -> None:
    made = cluster(pool(NAMED), forms=("nfd",))
    assert texts(made)[FILE] == RULE
    assert [said for said in notices(generate(made)) if said.startswith(NEEDS)]


def test_only_where_it_is_asked_for() -> None:
    assert FILE not in texts(cluster(pool(NAMED)))


def test_each_place_has_a_rule() -> None:
    shapes = [Shape({}, 1, 1, (name,), labels={RACK: f"r{name}"}) for name in ("1", "2")]
    found = rules(cluster(pool(*shapes, taints=()), forms=("nfd",)))
    assert [(rule["labels"][RACK], rule["matchFeatures"][0]["matchExpressions"]) for rule in found] == [
        ("r1", {"nodename": {"op": "In", "value": ["1"]}}),
        ("r2", {"nodename": {"op": "In", "value": ["2"]}}),
    ]


def test_the_only_cards_of_a_maker_tell_the_nodes_of_a_complete_policy() -> None:
    made = cluster(pool(COUNTED), forms=("nfd",))._replace(complete=True)
    (rule,) = rules(made)
    assert rule["matchFeatures"] == [
        {
            "feature": "pci.device",
            "matchExpressions": {
                "vendor": {"op": "In", "value": ["10de"]},
                "class": {"op": "In", "value": ["0300", "0302"]},
            },
        }
    ]


@pytest.mark.parametrize(
    "made",
    [
        cluster(pool(COUNTED), forms=("nfd",)),
        cluster(pool(COUNTED), pool(name="other"), forms=("nfd",))._replace(complete=True),
        cluster(pool(COUNTED, card=""), forms=("nfd",))._replace(complete=True),
        cluster(pool(COUNTED), card=Card("h20", "example.com/x"), forms=("nfd",))._replace(complete=True),
        cluster(pool(COUNTED, Shape({}, 2, 2, labels={"hall": "a"})), forms=("nfd",))._replace(complete=True),
    ],
    ids=["others may have such cards", "another pool has", "no cards", "unknown maker", "two shapes"],
)
def test_no_rule_where_nothing_tells_the_nodes(made: Cluster) -> None:
    assert FILE not in texts(made)
    assert [
        said for said in notices(generate(made)) if said.startswith("pool train-h20: an NFD rule matches")
    ]


def test_what_nfd_does_not_set_is_left_out_and_told() -> None:
    labels = {USAGE: "training", ZONE: "z", "team": "a", "feature.node.kubernetes.io/x": "y"}
    taints = (Taint("team", "a"), Taint("example.com/x"), Taint("node-role.kubernetes.io/gpu"))
    made = cluster(pool(NAMED, labels=labels, taints=taints), forms=("nfd",))
    (rule,) = rules(made)
    assert rule["labels"] == {USAGE: "training", "feature.node.kubernetes.io/x": "y"}
    assert rule["taints"] == [{"key": "example.com/x", "effect": "NoSchedule"}]
    assert (
        "pool train-h20: NFD sets no key without a domain or under kubernetes.io, so nfd.yaml omits "
        f"label team, label {ZONE}, taint node-role.kubernetes.io/gpu:NoSchedule, taint team=a:NoSchedule; "
        "labels.sh and taints.sh set them" in notices(generate(made))
    )


def test_devices_are_of_makers_in_the_catalogue() -> None:
    makers = {each.hardware or each.vendor for each in vendors()}
    assert set(nfd._DEVICES) <= makers
    numbers = [each.vendor for each in nfd._DEVICES.values()]
    assert len(set(numbers)) == len(numbers)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters())
def test_rules_of_any_policy_are_well_formed(made: Cluster) -> None:
    for artifact in generate(made._replace(node_forms=("nfd",))).artifacts:
        if not artifact.path.endswith("nfd.yaml"):
            continue
        for rule in yaml.safe_load(artifact.text)["spec"]["rules"]:
            assert rule.get("labels") or rule.get("taints")
            for key, value in rule.get("labels", {}).items():
                assert nfd.may_label(key)
                assert not label_key_problem(key)
                assert not label_value_problem(value)
            assert all(nfd.may_taint(taint["key"]) for taint in rule.get("taints", ()))
