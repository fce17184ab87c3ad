"""Hints of mistakes in a policy that new users make first."""

from __future__ import annotations

import pytest

from policykit.errors import PolicyError
from policykit.policy.load import load_text
from policykit.targets.volcano.versions import RELEASES

HEAD = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: a}\n"


def read(path: str) -> bytes:
    raise AssertionError(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "workloads: {a: {gang: yes}}\n",
            "a:4:23: workloads.a.gang must be all, none or a map, not true\n  help: did you mean all?",
            id="yes is a boolean",
        ),
        pytest.param(
            "workloads: {a: {gang: no}}\n",
            "a:4:23: workloads.a.gang must be all, none or a map, not false\n  help: did you mean none?",
            id="no is one too",
        ),
        pytest.param(
            "workloads: {a: {gang: 4}}\n",
            "a:4:23: workloads.a.gang must be all, none or a map, not the number 4",
            id="a number in place of two words",
        ),
        pytest.param(
            "formerly: {usages: {b: [a]}}\n",
            "a:4:21: usage b is not in the policy",
            id="a name where there are none",
        ),
        pytest.param(
            "pools: {a: {nodes: two}}\n",
            "a:4:20: pools.a.nodes must be a whole number, a map or a list, not the string 'two'\n"
            "  help: write a number, such as 2",
            id="a number in words",
        ),
        pytest.param(
            "cards: {h20: NVIDIA-H20}\n",
            "a:4:14: cards.h20 must be a map, not the string 'NVIDIA-H20'\n"
            "  help: write {product: NVIDIA-H20}",
            id="a product alone",
        ),
        pytest.param(
            "targets: {volcano: 1.10}\n",
            'a:4:20: targets.volcano must be a map, not the number 1.1\n  help: write {version: "1.10"}',
            id="a release alone",
        ),
        pytest.param(
            'workloads: {a: {match: {names: "*"}}}\n',
            "a:4:32: workloads.a.match.names must be a list, not the string '*'\n"
            '  help: write a list: ["*"]',
            id="a glob alone",
        ),
        pytest.param(
            "workloads: {训练: {}}\n",
            "a:4:13: workload kind name '训练' has characters other than ASCII letters, digits, '-', '_' "
            "and '.'",
            id="a name in Chinese",
        ),
        pytest.param(
            "lint: {acceptNotJudged: {remotes: [a]}}\n",
            "a:4:26: lint.acceptNotJudged has no key 'remotes'\n  help: did you mean remote?",
            id="a key that is not among the known ones",
        ),
        pytest.param(
            "pools:\n  a: {nodes: 2\n  b: {nodes: 3}\nworkloads:\n  x: {}\n",
            "a:5:6: the { that opens here is never closed\n  help: close it with }",
            id="an open brace",
        ),
        pytest.param(
            'targets: {kubernetes: {version: "1.30"}}\n',
            "a:4:24: targets.kubernetes has no key 'version'\n"
            "  help: its release is a key of the policy itself: kubernetes",
            id="the release of Kubernetes as a target's",
        ),
        pytest.param(
            'targets: {volcano: {version: "9.1"}}\n',
            "a:4:30: '9.1' is not a release of Volcano\n"
            f'  help: write a release such as "{RELEASES.newest}", in quotes',
            id="a release that is none",
        ),
    ],
)
def test_mistakes(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        load_text(f"{HEAD}{text}".encode(), "a", read)
    assert str(raised.value) == said


def test_a_resource_that_no_plugin_offers() -> None:
    loaded = load_text(f"{HEAD}queues: {{q: {{limit: {{nvidia.com/gpus: 3}}}}}}\n".encode(), "a", read)
    said = [str(notice) for notice in loaded.notices if "gpus" in str(notice)]
    assert said == [
        "a:4:22: nvidia.com/gpus is not a resource of nvidia.com\n"
        "  help: did you mean nvidia.com/gpu or nvidia.com/pgpu?"
    ]


@pytest.mark.parametrize("product", ["nvidia-l4", "NVIDIA-L4"])
def test_a_card_by_the_name_of_the_cloud(product: str) -> None:
    text = f"{HEAD}scheme: gke\ncards: {{l4: {{product: {product}}}}}\npools: {{a: {{card: l4, nodes: 1}}}}\n"
    loaded = load_text(text.encode(), "a", read)
    assert loaded.cluster.pool("a").labels["cloud.google.com/gke-accelerator"] == "nvidia-l4"
    assert loaded.cluster.cards["l4"].memory_mib


def test_that_name_means_nothing_elsewhere() -> None:
    text = f"{HEAD}scheme: plain\ncards: {{l4: {{product: nvidia-l4}}}}\n"
    with pytest.raises(PolicyError, match="no node has the product label 'nvidia-l4'"):
        load_text(text.encode(), "a", read)
