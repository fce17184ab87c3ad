"""Scripts, flags and tables that `gen` wrote, read back."""

from __future__ import annotations

import pytest

from policykit.importer.policy import policy_of
from policykit.model.inventory import GeneratedPool
from policykit.model.pool import Taint
from policykit.targets.nodes.importing import NodeArguments, node_arguments, pools, taint_of
from tests.clusters import policy
from tests.importer.cluster_files import as_file, generated
from tests.importer.unusual_nodes import ODD

POOL = {
    "domain": "a.example.com",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"train": {"usage": "training", "card": "h20", "nodes": {"names": ["t-[1-60]"]}}},
}
LABEL = "kubectl label nodes --overwrite \\\n"


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("a=b:NoSchedule", Taint("a", "b", "NoSchedule")),
        ("a:NoExecute", Taint("a", "", "NoExecute")),
        ("a=b", None),
        ("a=b:Never", None),
        (":NoSchedule", None),
    ],
)
def test_taints(text: str, taint: Taint | None) -> None:
    assert taint_of(text) == taint


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            f"#!/bin/sh\n# comment\nset -eu\n\n{LABEL}  n-1 n-2 \\\n  a=b 'c=d e'\n",
            NodeArguments(("n-1", "n-2"), {}, {"a": "b", "c": "d e"}),
        ),
        (
            "set -eu\nkubectl taint nodes --overwrite \\\n  -l a=b,c=d \\\n  k=v:NoSchedule\n",
            NodeArguments((), {"a": "b", "c": "d"}, {}, (Taint("k", "v"),)),
        ),
        (
            f"{LABEL}  n-1 \\\n  a=b\n{LABEL}  n-2 \\\n  a=b\n",
            NodeArguments(("n-1", "n-2"), {}, {"a": "b"}),
        ),
        (
            "KUBELET_EXTRA_ARGS='--node-labels=a=b,c=d --register-with-taints=k=v:NoSchedule,k:NoExecute'\n",
            NodeArguments((), {}, {"a": "b", "c": "d"}, (Taint("k", "v"), Taint("k", "", "NoExecute"))),
        ),
        ("set -eu\n", NodeArguments()),
    ],
    ids=["labels", "by selector", "batches", "kubelet", "nothing"],
)
def test_words(text: str, found: NodeArguments) -> None:
    assert node_arguments(text) == found


def test_the_page_of_the_nodes() -> None:
    page = (
        "| pool | nodes | labels | labels set by others | taints | files |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| a | 0 to 8 | `x=1`<br>`z=a`<br>`z=b` | `p=q` | `k=v:NoSchedule`<br>`k:NoExecute` | – |\n"
        "| b | 2 or more | – | – | – | – |\n| c | not said | – | – | – | – |\n"
    )
    assert pools({}, page) == (
        GeneratedPool("a", {"x": "1", "p": "q"}, (Taint("k", "", "NoExecute"), Taint("k", "v")), 0, 8),
        GeneratedPool("b", minimum=2, maximum=None),
        GeneratedPool("c"),
    )


def test_without_the_page_the_files_of_each_pool_say_it() -> None:
    cluster = policy(POOL)
    files = {path: raw for path, raw in generated(cluster).items() if not path.endswith("README.md")}
    (pool,) = policy_of(files).cluster.pools
    wanted = cluster.pool("train")
    assert pool.shapes[0].node_names == tuple(sorted(wanted.shapes[0].node_names))
    assert (pool.usage, pool.taints) == (wanted.usage, wanted.taints)


GENERATED_AGAIN = {
    "GKE": [case for case in ODD if case.startswith("GKE, s")],
    "one of which nothing is said": ["MIG, no product", "MPS, renamed", "unknown product"],
}


@pytest.mark.parametrize("cases", GENERATED_AGAIN.values(), ids=list(GENERATED_AGAIN))
def test_generated_files_put_the_same_nodes_into_the_same_pools(cases: list[str]) -> None:
    nodes = {"nodes.json": as_file([ODD[case] for case in cases])}
    first = policy_of(nodes).cluster
    again = policy_of({**nodes, **generated(first)}).cluster
    assert [(p.name, p.labels, p.taints, p.sharing) for p in again.pools] == [
        (p.name, p.labels, p.taints, p.sharing) for p in first.pools
    ]
    offered = [[shape.allocatable for shape in pool.shapes] for pool in first.pools]
    assert [[shape.allocatable for shape in pool.shapes] for pool in again.pools] == offered


def test_each_kind_of_node_of_a_pool_has_a_selector_of_its_own() -> None:
    """Generated commands name them all; what the pool is found by is what they share."""
    commands = [f"kubectl taint nodes -l pool=a,type={kind} k=v:NoSchedule" for kind in "xy"]
    assert node_arguments("\n".join(commands)).selector == {"pool": "a"}
