"""`nodes --check`: nodes that are as the policy says differ in nothing; of others all is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.importer.node_differences import Difference, differences, steps
from policykit.importer.node_membership import membership
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.workspace.inputs import cluster_of_text
from tests.clusters import policy
from tests.importer.cluster_files import as_file, nodes_of
from tests.importer.test_round_trip import CASES

USAGE = "a.example.com/node.usage"
OLD = "old.example.com/node.usage"
PRODUCT = "nvidia.com/gpu.product"
POLICY = policy(
    {
        "domain": "a.example.com",
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "pools": {
            "train": {
                "usage": "training",
                "card": "h20",
                "nodes": {"names": ["train-[1-2]"]},
                "allocatable": {"cpu": 100, "memory": "1Ti"},
            },
            "hybrid": {"usage": "hybrid", "card": "h20", "nodes": 2},
            "burst": {"usage": "inference", "card": "h20", "nodes": {"min": 0, "max": 1}},
            "chosen": {"nodes": {"selector": {"team": "web"}}, "labels": {"tier": "front"}},
            "system": {"nodes": 1, "allocatable": {"cpu": 8, "memory": "32Gi"}},
        },
    }
)


ALONE = POLICY._replace(pools=POLICY.pools[:1])


def live(nodes: list[dict[str, Any]]) -> tuple[Pool, ...]:
    return cluster_of_text(as_file(nodes), "nodes.json").pools


def compared(cluster: Cluster, nodes: list[dict[str, Any]]) -> tuple[Difference, ...]:
    return differences(cluster, membership(cluster, live(nodes)))


def right() -> dict[str, dict[str, Any]]:
    """Nodes of POLICY as they should be, by name; of burst there is none."""
    return {
        n["metadata"]["name"]: n for n in nodes_of(POLICY) if not n["metadata"]["name"].startswith("burst")
    }


def changed(name: str, *, labels: dict[str, str | None] | None = None, **parts: Any) -> list[dict[str, Any]]:
    """The right nodes, one with other labels (None: without), taints or allocatable."""
    nodes = right()
    node = nodes[name]
    for key, value in (labels or {}).items():
        node["metadata"]["labels"].pop(key, None)
        if value is not None:
            node["metadata"]["labels"][key] = value
    if "taints" in parts:
        node["spec"]["taints"] = [
            dict(zip(("key", "value", "effect"), t, strict=True)) for t in parts["taints"]
        ]
    if "allocatable" in parts:
        node["status"]["allocatable"] = {**node["status"]["allocatable"], **parts["allocatable"]}
    return list(nodes.values())


@pytest.mark.parametrize("case", CASES)
def test_nodes_made_from_a_policy_check_clean(case: str) -> None:
    cluster = CASES[case]
    where = membership(cluster, live(nodes_of(cluster)))
    assert differences(cluster, where) == ()
    assert {pool_node.pool.name for pool_node in where.pool_nodes} == {pool.name for pool in cluster.pools}


TRAINING = [(USAGE, "training", "NoSchedule"), (PRODUCT, "NVIDIA-H20", "NoSchedule")]
HYBRID = [(USAGE, "hybrid", "NoSchedule"), (PRODUCT, "NVIDIA-H20", "NoSchedule")]


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        (
            changed("train-1", labels={USAGE: None}),
            [("train", "missing-label", f"label {USAGE}=training is missing", "train-1")],
        ),
        (
            changed("train-1", labels={USAGE: "hybrid"}),
            [("train", "wrong-label", f"label {USAGE} is 'hybrid', not 'training'", "train-1")],
        ),
        (
            changed("hybrid-0-000", labels={USAGE: None}),
            [("hybrid", "missing-label", f"label {USAGE}=hybrid is missing", "hybrid-0-000")],
        ),
        (
            changed("train-2", taints=TRAINING[1:]),
            [("train", "missing-taint", f"taint {USAGE}=training:NoSchedule is missing", "train-2")],
        ),
        (
            changed("train-2", taints=[*HYBRID[:1], *TRAINING[1:]]),
            [
                (
                    "train",
                    "wrong-taint",
                    f"taint is {USAGE}=hybrid:NoSchedule, not {USAGE}=training:NoSchedule",
                    "train-2",
                )
            ],
        ),
        (
            changed("train-2", taints=[(USAGE, "training", "NoExecute"), *TRAINING]),
            [("train", "extra-taint", f"taint {USAGE}=training:NoExecute is not in the policy", "train-2")],
        ),
        (
            changed("train-2", taints=[("somebody.example.com/own", "", "NoSchedule"), *TRAINING]),
            [
                (
                    "train",
                    "foreign-taint",
                    "taint somebody.example.com/own:NoSchedule is not in the policy, and no workload kind "
                    "tolerates it",
                    "train-2",
                )
            ],
        ),
        (changed("train-2", taints=[("somebody.example.com/own", "", "PreferNoSchedule"), *TRAINING]), []),
        (
            changed("train-2", taints=[("node.kubernetes.io/not-ready", "", "NoExecute"), *TRAINING]),
            [
                (
                    "train",
                    "unusable-node",
                    "accepts no new pods: taint node.kubernetes.io/not-ready:NoExecute",
                    "train-2",
                )
            ],
        ),
        (
            changed("train-1", allocatable={"nvidia.com/gpu": "7", "memory": "900Gi"}),
            [
                ("train", "too-small", "memory: 900Gi allocatable, the policy has 1Ti", "train-1"),
                ("train", "too-small", "nvidia.com/gpu: 7 allocatable, the policy has 8", "train-1"),
            ],
        ),
        (changed("train-1", allocatable={"nvidia.com/gpu": "16", "pods": "64"}), []),
        (
            changed("chosen-0-000", labels={"tier": None}),
            [("chosen", "missing-label", "label tier=front is missing", "chosen-0-000")],
        ),
        (
            [node for name, node in right().items() if name != "train-2"],
            [("train", "missing-node", "node is in the policy but not in the cluster", "train-2")],
        ),
        (
            [node for name, node in right().items() if name != "hybrid-0-001"],
            [("hybrid", "too-few-nodes", "1 node in the cluster, at least 2 in the policy", "")],
        ),
        (
            [node for name, node in right().items() if not name.startswith("chosen")],
            [("chosen", "too-few-nodes", "no nodes in the cluster", "")],
        ),
        (
            [*right().values(), {**right()["system-0-000"], "metadata": {"name": "more"}}],
            [("system", "too-many-nodes", "2 nodes in the cluster, at most 1 in the policy", "")],
        ),
        (
            [*right().values(), {"kind": "Node", "metadata": {"name": "odd", "labels": {USAGE: "batch"}}}],
            [("", "unclaimed-node", "node is in no pool of the policy", "odd")],
        ),
        (
            changed("control-plane-0", taints=[]),
            [
                (
                    "",
                    "missing-taint",
                    "control plane taint a.example.com/control-plane:NoSchedule is missing",
                    "control-plane-0",
                )
            ],
        ),
    ],
    ids=[
        *("label missing", "label wrong", "label missing on an unnamed node", "taint missing", "taint wrong"),
        *(
            "taint too many",
            "somebody else's taint",
            "only preferred",
            "not ready",
            "too small",
            "larger",
            "by selector",
        ),
        *("node missing", "too few", "pool without nodes", "too many", "nobody's node", "control plane"),
    ],
)
def test_differences(nodes: list[dict[str, Any]], told: list[tuple[str, ...]]) -> None:
    assert [(d.pool, d.kind, d.message, d.node) for d in compared(POLICY, nodes)] == told


@pytest.mark.parametrize(
    ("unusable", "fails"),
    [(("train-1",), False), (("train-1", "train-2"), True)],
    ids=["one node is left", "none is left"],
)
@pytest.mark.parametrize(
    "state",
    [
        {"unschedulable": True},
        {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}]},
        {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]},
    ],
    ids=["cordoned", "autoscaler", "karpenter"],
)
def test_states_of_nodes_fail_only_where_no_usable_node_is_left(
    state: dict[str, Any], unusable: tuple[str, ...], fails: bool
) -> None:
    nodes = right()
    for name in unusable:
        more = [*nodes[name]["spec"]["taints"], *state.get("taints", ())]
        nodes[name]["spec"] = {**nodes[name]["spec"], **state, "taints": more}
    found = compared(POLICY, list(nodes.values()))
    assert [each.node for each in found if each.kind == "unusable-node"] == list(unusable)
    assert [each.message for each in found if each.fails] == ["all its 2 nodes accept no new pods"] * fails


def test_a_cordon_that_the_policy_states_is_no_difference() -> None:
    nodes = right()
    for name in ("train-1", "train-2"):
        nodes[name]["spec"]["unschedulable"] = True
    cordoned = POLICY._replace(pools=(POLICY.pools[0]._replace(unschedulable=True), *POLICY.pools[1:]))
    assert compared(cordoned, list(nodes.values())) == ()


def test_taints_of_an_earlier_domain_are_told_and_removed_last() -> None:
    """After a changed domain the old taints refuse every pod that has the new tolerations."""
    nodes = list(right().values())
    for node in nodes:
        taints = node["spec"].get("taints") or []
        old = [{**t, "key": t["key"].replace("a.example.com", "old.example.com")} for t in taints]
        node["spec"]["taints"] = taints + [each for each in old if each not in taints]
    found = compared(POLICY, nodes)
    assert {each.kind for each in found} == {"foreign-taint"}
    assert {each.node for each in found} == {"train-1", "train-2", "hybrid-0-000", "hybrid-0-001"}
    (step,) = steps(found)
    assert step.note.startswith("Removal of taints with keys that the policy does not have")
    assert f"kubectl taint nodes \\\n  train-1 train-2 \\\n  {OLD}=training:NoSchedule-\n" in step.commands


@pytest.mark.parametrize("injects", [{"key": "team", "operator": "Exists"}, None], ids=["injected", "not"])
def test_a_foreign_taint_that_admission_tolerates_is_fine(injects: dict[str, str] | None) -> None:
    pool = {"nodes": {"names": ["w"]}, **({"injects": [injects]} if injects else {})}
    cluster = policy({"domain": "a.example.com", "pools": {"web": pool}})
    node = nodes_of(cluster)[0]
    node["spec"]["taints"] = [{"key": "team", "value": "a", "effect": "NoSchedule"}]
    assert [each.kind for each in compared(cluster, [node])] == ([] if injects else ["foreign-taint"])


def test_a_step_that_evicts_says_so() -> None:
    cluster = policy(
        {
            "domain": "a.example.com",
            "pools": {"web": {"usage": "web", "nodes": {"names": ["w"]}, "taints": ["a=b:NoExecute"]}},
        }
    )
    node = nodes_of(cluster)[0]
    node["spec"]["taints"] = []
    (step,) = steps(compared(cluster, [node]))
    assert step.note.endswith("NoExecute evicts running pods that do not tolerate the taint, at once.")


def test_labels_that_discovery_sets_have_no_command() -> None:
    found = compared(POLICY, changed("train-1", labels={PRODUCT: None, "nvidia.com/gpu.count": "7"}))
    assert [each.kind for each in found] == ["wrong-label", "missing-label"]
    sets = "gpu-feature-discovery of NVIDIA sets it"
    assert [each.help for each in found] == [
        f"{sets} from the cards it detects: check that all are healthy, or move the node to another pool",
        f"{sets}: check that its pod runs on the node",
    ]
    assert steps(found) == ()


def test_a_node_that_looks_like_those_of_a_pool_is_said_to() -> None:
    """Pools that list their nodes claim no other: a new node must be added to one."""
    nodes = right()
    new = {**nodes["train-1"], "metadata": {**nodes["train-1"]["metadata"], "name": "train-9"}}
    (found,) = compared(ALONE, [nodes["train-1"], nodes["train-2"], new])
    assert (found.kind, found.node) == ("unclaimed-node", "train-9")
    assert found.help == "it resembles pool train: add it there"


def test_commands_stand_in_the_order_they_are_safe_in() -> None:
    nodes = changed(
        "train-1",
        labels={USAGE: "hybrid"},
        taints=[(USAGE, "training", "NoExecute"), *TRAINING[1:]],
    )
    nodes += [{"kind": "Node", "metadata": {"name": "$(reboot)", "labels": {"team": "web", USAGE: "x y"}}}]
    made = steps(compared(POLICY, nodes))
    assert [command for step in made for command in step.commands] == [
        "kubectl label nodes --overwrite \\\n  '$(reboot)' \\\n  tier=front\n",
        f"kubectl label nodes --overwrite \\\n  train-1 \\\n  {USAGE}=training\n",
        f"kubectl label nodes \\\n  '$(reboot)' \\\n  {USAGE}-\n",
        f"kubectl taint nodes --overwrite \\\n  train-1 \\\n  {USAGE}=training:NoSchedule\n",
        f"kubectl taint nodes \\\n  train-1 \\\n  {USAGE}=training:NoExecute-\n",
    ]
    assert made[-2].note.startswith("Taints. Before this step, node daemons")


def test_many_nodes_share_a_command() -> None:
    cluster = policy(
        {"domain": "a.example.com", "pools": {"web": {"usage": "web", "nodes": {"names": ["w-[01-60]"]}}}}
    )
    nodes = nodes_of(cluster)
    for node in nodes:
        node["spec"] = {}
    commands = [command for step in steps(compared(cluster, nodes)) for command in step.commands]
    assert [command.count(" w-") for command in commands if "web:" in command] == [50, 10]


def test_a_cloud_is_told_to_change_its_node_pools() -> None:
    cluster = CASES["gke"]
    nodes = nodes_of(cluster)
    for node in nodes:
        node["spec"] = {}
    found = compared(cluster, nodes)
    made = steps(found, cloud=True)
    assert made[0].note.startswith("Nodes that the cloud recreates lose all this")
    automatic = [each for each in found if each.message.startswith("taint nvidia.com/gpu=present")]
    assert {each.help for each in automatic} == {"the cloud sets it: check the node pool of the node"}
    assert all(each.taint is None for each in automatic)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_doing_what_the_commands_say_leaves_no_difference_in_labels_and_taints(data: st.DataObject) -> None:
    nodes = list(right().values())
    keys = (USAGE, "tier", "a.example.com/control-plane")
    for node in nodes:
        for key in data.draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)):
            node["metadata"]["labels"].pop(key, None)
        kept = data.draw(st.lists(st.sampled_from(node["spec"].get("taints") or [None]), unique_by=str))
        extra = data.draw(st.lists(st.sampled_from([(USAGE, "x", "NoExecute"), (PRODUCT, "y", "NoExecute")])))
        more = [{"key": key, "value": value, "effect": effect} for key, value, effect in dict.fromkeys(extra)]
        node["spec"]["taints"] = [taint for taint in kept if taint] + more
    found = compared(POLICY, nodes)
    by_name = {node["metadata"]["name"]: node for node in nodes}
    for each in found:
        settle(by_name.get(each.node, {}), each)
    kinds = {each.kind for each in compared(POLICY, nodes)}
    assert not kinds & {"missing-label", "wrong-label", "missing-taint", "wrong-taint", "extra-taint"}


def settle(node: dict[str, Any], each: Difference) -> None:
    """What the command for a difference does."""
    if each.label:
        key, value = each.label
        node["metadata"]["labels"].pop(key, None)
        if each.kind != "extra-label":
            node["metadata"]["labels"][key] = value
    if each.taint:
        place = (each.taint.key, each.taint.effect)
        node["spec"]["taints"] = [t for t in node["spec"]["taints"] if (t["key"], t["effect"]) != place]
        if each.kind != "extra-taint":
            node["spec"]["taints"].append(dict(zip(("key", "value", "effect"), each.taint, strict=True)))
