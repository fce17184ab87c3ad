"""Labels and taints that nodes bring along: what is written parses back to what was meant."""

import shlex
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.node_labels import may_set
from policykit.model.pool import Shape, Taint
from policykit.targets.nodes.kubelet import flags
from policykit.targets.nodes.node_groups import groups
from tests.targets.nodes.clusters import RACK, USAGE, cluster, pool, texts

NAMES = st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,8}[a-z0-9])?", fullmatch=True)
KEYS = st.one_of(
    NAMES, st.builds("{}.example.com/{}".format, st.from_regex(r"[a-z]{1,6}", fullmatch=True), NAMES)
)
VALUES = st.just("") | NAMES
EFFECTS = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
TAINTS = st.lists(
    st.builds(Taint, KEYS, VALUES, EFFECTS), max_size=4, unique_by=lambda taint: (taint.key, taint.effect)
)


def parsed_taint(text: str) -> Taint:
    """As `ParseTaints` of kubernetes reads it."""
    pair, _, effect = text.partition(":")
    key, _, value = pair.partition("=")
    return Taint(key, value, effect)


@given(st.dictionaries(KEYS, VALUES, max_size=4), TAINTS)
def test_kubelet_flags_parse_back(labels: dict[str, str], taints: list[Taint]) -> None:
    made = cluster(pool(labels=labels, taints=tuple(taints)))
    (group,) = groups(made, made.pools[0])
    found = dict(word.split("=", 1) for word in flags(made, made.pools[0], group.labels))
    pairs = [pair.partition("=") for pair in found.get("--node-labels", "").split(",") if pair]
    assert {key: value for key, _, value in pairs} == labels
    texts_of = found.get("--register-with-taints", "").split(",")
    assert {parsed_taint(text) for text in texts_of if text} == set(taints)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), TAINTS)
def test_the_environment_file_is_read_as_one_variable(labels: dict[str, str], taints: list[Taint]) -> None:
    made = cluster(pool(labels=labels, taints=tuple(taints)))
    (group,) = groups(made, made.pools[0])
    text = texts(made)["nodes/train-h20/kubelet.env"]
    (line,) = [line for line in text.splitlines() if not line.startswith("#")]
    (assignment,) = shlex.split(line)
    name, _, value = assignment.partition("=")
    assert (name, tuple(value.split())) == ("KUBELET_EXTRA_ARGS", flags(made, made.pools[0], group.labels))


@pytest.mark.parametrize(
    ("key", "allowed"),
    [
        ("nvidia.com/gpu.product", True),
        ("team", True),
        ("topology.kubernetes.io/zone", True),
        ("node.kubernetes.io/pool", True),
        ("a.kubelet.kubernetes.io/x", True),
        ("notkubernetes.io/x", True),
        ("node-role.kubernetes.io/gpu", False),
        ("kubernetes.io/x", False),
        ("feature.k8s.io/x", False),
        ("node-restriction.kubernetes.io/x", False),
        ("a.node-restriction.kubernetes.io/x", False),
    ],
)
def test_what_a_kubelet_may_set(key: str, allowed: bool) -> None:
    assert may_set(key) is allowed


KUBEADM_TAINTS = [
    {"key": "maip.mxsf.io/node.usage", "value": "training", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu.product", "value": "NVIDIA-H20", "effect": "NoSchedule"},
]
LIST_FORM = [{"name": "node-labels", "value": "maip.mxsf.io/node.usage=training"}]
MAP_FORM = {"node-labels": "maip.mxsf.io/node.usage=training"}


@pytest.mark.parametrize(
    ("version", "api", "arguments"),
    [
        ("", "v1beta4", LIST_FORM),
        ("1.36", "v1beta4", LIST_FORM),
        ("1.31.2", "v1beta4", LIST_FORM),
        ("1.30", "v1beta3", MAP_FORM),
    ],
)
def test_kubeadm(version: str, api: str, arguments: Any) -> None:
    document = yaml.safe_load(texts(cluster(version=version))["nodes/train-h20/kubeadm.yaml"])
    assert document == {
        "apiVersion": f"kubeadm.k8s.io/{api}",
        "kind": "JoinConfiguration",
        "nodeRegistration": {"kubeletExtraArgs": arguments, "taints": KUBEADM_TAINTS},
    }


def test_a_taint_without_value_has_none() -> None:
    document = yaml.safe_load(texts(cluster(pool(taints=(Taint("k"),))))["nodes/train-h20/kubeadm.yaml"])
    assert document["nodeRegistration"]["taints"] == [{"key": "k", "effect": "NoSchedule"}]


def test_shapes_that_differ_join_by_files_of_their_own() -> None:
    shapes = (Shape({}, 2, 2, labels={"hall": "a"}), Shape({}, 3, 3, labels={"hall": "b"}))
    made = texts(cluster(pool(*shapes)))
    assert "hall=a" in made["nodes/train-h20/kubelet-1.env"]
    assert "hall=b" in made["nodes/train-h20/kubelet-2.env"]
    assert "| `kubeadm-1.yaml`<br>" in made["nodes/README.md"]
    assert "- `kubelet.env`: join time" in made["nodes/README.md"]


def test_named_nodes_join_with_what_they_share() -> None:
    shapes = tuple(Shape({}, 1, 1, (name,), labels={RACK: name}) for name in ("a", "b"))
    made = cluster(pool(*shapes))
    (group,) = groups(made, made.pools[0])
    assert group.labels == {USAGE: "training"}
    assert (group.minimum, group.fixed) == (2, 2)
