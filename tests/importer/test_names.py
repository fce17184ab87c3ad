"""Names people would choose, and ranges that stand for exactly the nodes there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.importer.cards import NodeCard, card_of
from policykit.importer.names import card_names, free, pool_name, ranges, suffixes
from policykit.policy.compile.topology import expand_range


def card(product: str) -> NodeCard:
    found = card_of({"nvidia.com/gpu.product": product}, {"nvidia.com/gpu": 8})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("products", "short"),
    [
        (["NVIDIA-H20"], ["h20"]),
        (["NVIDIA-H100-80GB-HBM3"], ["h100"]),
        (["NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"], ["h100-80gb-hbm3", "h100-pcie"]),
        (
            ["NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-SXM4-40GB"],
            ["a100-sxm4-80gb", "a100-sxm4-40gb"],
        ),
        (["Tesla-T4", "NVIDIA-GeForce-RTX-4090"], ["t4", "rtx-4090"]),
        (["NVIDIA-X9000"], ["x9000"]),
    ],
    ids=lambda value: "+".join(value),
)
def test_card_names(products: list[str], short: list[str]) -> None:
    assert list(card_names(map(card, products), {}).values()) == short


def test_the_names_of_generated_files_come_first() -> None:
    named = card_names(map(card, ["NVIDIA-H20", "NVIDIA-L20"]), {"NVIDIA-L20": "small"})
    assert sorted(named.values()) == ["h20", "small"]


@pytest.mark.parametrize(
    ("stated", "usage", "card", "labels", "name"),
    [
        ("gpu-pool", "training", "h20", {}, "gpu-pool"),
        ("", "training", "h20", {"team": "a"}, "training-h20"),
        ("", "", "h20", {}, "h20"),
        ("", "", "", {"team": "Web_1"}, "web-1"),
        ("", "", "", {"example.com/dedicated": "true"}, "dedicated"),
        ("", "", "", {}, "cpu"),
    ],
    ids=["stated", "usage and card", "card", "label", "label without a telling value", "nothing"],
)
def test_pool_names(stated: str, usage: str, card: str, labels: dict[str, str], name: str) -> None:
    assert pool_name(stated, usage, card, labels) == name


def test_names_that_are_taken_are_numbered() -> None:
    assert [free("a", []), free("a", ["a"]), free("a", ["a", "a-2"])] == ["a", "a-2", "a-3"]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ([{"pool": "p1"}, {"pool": "p2"}], ["p1", "p2"]),
        ([{"pool": "p1", "team": "x"}, {"pool": "p1", "team": "y"}], ["x", "y"]),
        ([{"pool": "p1"}, {}], ["p1", ""]),
        ([{}, {}], ["", ""]),
    ],
    ids=["one label", "the label that differs", "one has none", "nothing differs"],
)
def test_what_tells_pools_apart(labels: list[dict[str, str]], found: list[str]) -> None:
    assert suffixes(labels) == found


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["n-1", "n-2", "n-3"], ["n-[1-3]"]),
        (["n-1", "n-2"], ["n-1", "n-2"]),
        (["n-01", "n-02", "n-03", "n-05"], ["n-[01-03]", "n-05"]),
        (["n-8", "n-9", "n-10"], ["n-10", "n-8", "n-9"]),
        (["a", "b"], ["a", "b"]),
        (["ip-10-0-0-1.internal", "ip-10-0-0-2.internal"], ["ip-10-0-0-1.internal", "ip-10-0-0-2.internal"]),
        ([], []),
    ],
    ids=["run", "two", "gap", "other width", "no numbers", "number inside", "none"],
)
def test_ranges(names: list[str], folded: list[str]) -> None:
    assert ranges(names) == folded


@given(st.sets(st.from_regex(r"[a-z]{1,2}-?[0-9]{0,3}", fullmatch=True), max_size=40))
def test_ranges_stand_for_exactly_the_names(names: set[str]) -> None:
    expanded = [name for text in ranges(names) for name in expand_range(text) or ()]
    assert sorted(expanded) == sorted(names)
