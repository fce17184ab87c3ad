"""Amounts: exact, in the units of the vocabulary, with card names for resources."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.targets.koordinator.options import Fit, KoordinatorOptions
from policykit.targets.volcano.options import VolcanoOptions
from tests.policy.memory import load_body

BINARY = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}
DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def allocatable(resource: str, text: str) -> int:
    pool = load_body(f"pools:\n  p:\n    allocatable:\n      {resource}: {text}\n").cluster.pools[0]
    return pool.shapes[0].allocatable[resource]


@pytest.mark.parametrize(
    ("resource", "text", "wanted"),
    [
        ("cpu", "180", 180_000),
        ("cpu", "500m", 500),
        ("cpu", "0.5", 500),
        ("cpu", '"1.0001"', 1001),
        ("memory", "1900Gi", 1900 * 1024**3),
        ("memory", "1e3", 1000),
        ("memory", "1.5Ki", 1536),
        ("pods", "250", 250),
        ("hugepages-2Mi", "1Gi", 1024**3),
    ],
)
def test_amounts(resource: str, text: str, wanted: int) -> None:
    assert allocatable(resource, text) == wanted


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 999), st.sampled_from(sorted({**BINARY, **DECIMAL})))
def test_memory_is_exact_and_rounded_up(whole: int, thousandths: int, suffix: str) -> None:
    exact = Fraction(whole * 1000 + thousandths, 1000) * {**BINARY, **DECIMAL}[suffix]
    assert allocatable("memory", f'"{whole}.{thousandths:03d}{suffix}"') == -(
        -exact.numerator // exact.denominator
    )


def test_a_card_stands_for_its_resource() -> None:
    cluster = load_body(
        "cards:\n  h20: {product: NVIDIA-H20}\n"
        "queues:\n  q: {limit: {h20: 8, cpu: 4}}\n"
        "quotas:\n  q: {requests: {h20: 8}}\n"
        "targets:\n  volcano: {binpack: {resources: {h20: 5}}}\n  koordinator: {fit: {h20: {weight: 3}}}\n"
    ).cluster
    assert cluster.queues[0].limit == {"nvidia.com/gpu": 8, "cpu": 4000}
    assert cluster.quotas[0].requests == {"nvidia.com/gpu": 8}
    assert cluster.targets["volcano"].options == VolcanoOptions(resources={"nvidia.com/gpu": 5})
    assert cluster.targets["koordinator"].options == KoordinatorOptions(
        {"nvidia.com/gpu": Fit("MostAllocated", 3)}
    )
