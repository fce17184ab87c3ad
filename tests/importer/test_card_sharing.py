"""Cut and shared cards, from product labels and amounts."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.importer.cards import card_of

A100, L20 = "NVIDIA-A100-SXM4-80GB", "NVIDIA-L20"
GPU = "nvidia.com/gpu"


def labels(product: str, **more: str) -> dict[str, str]:
    return {
        f"{GPU}.product": product,
        **{f"{GPU}.{key.replace('_', '-')}": value for key, value in more.items()},
    }


def gke(accelerator: str, **more: str) -> dict[str, str]:
    said = {"accelerator": accelerator, **more}
    return {f"cloud.google.com/gke-{key.replace('_', '-')}": value for key, value in said.items()}


@pytest.mark.parametrize(
    ("node_labels", "offered", "card", "sharing", "cards"),
    [
        (labels(A100, count="8"), {GPU: 8}, {"product": A100}, {}, 0),
        (
            labels(f"{L20}-SHARED", count="4", replicas="4", sharing_strategy="time-slicing"),
            {GPU: 16},
            {"product": L20},
            {"mode": "time-slicing", "replicas": 4},
            4,
        ),
        (
            labels(f"{L20}-SHARED", count="4", sharing_strategy="mps"),
            {GPU: 8},
            {"product": L20},
            {"mode": "mps", "replicas": 2},
            4,
        ),
        (labels(f"{L20}-SHARED"), {GPU: 32}, {"product": L20}, {"mode": "time-slicing", "replicas": 4}, 8),
        (labels(f"{L20}-SHARED"), {GPU: 7}, {"product": f"{L20}-SHARED", "resource": GPU}, {}, 0),
        (
            labels(L20, count="4", replicas="2", sharing_strategy="mps"),
            {f"{GPU}.shared": 8},
            {"product": L20},
            {"mode": "mps", "replicas": 2, "rename": True},
            4,
        ),
        (
            labels(f"{A100}-MIG-1g.10gb", count="56"),
            {GPU: 56},
            {"product": A100},
            {"mode": "mig-single", "profiles": {"1g.10gb": 7}},
            8,
        ),
        (
            labels(f"{A100}-MIG-2g.20gb", count="12"),
            {GPU: 12},
            {"product": A100},
            {"mode": "mig-single", "profiles": {"2g.20gb": 3}},
            4,
        ),
        (
            labels(f"{A100}-MIG-1g.10gb.me", count="8"),
            {GPU: 8},
            {"product": A100},
            {"mode": "mig-single", "profiles": {"1g.10gb+me": 1}},
            8,
        ),
        (
            labels(f"{A100}-MIG-INVALID"),
            {GPU: 0},
            {"product": f"{A100}-MIG-INVALID", "resource": GPU},
            {},
            0,
        ),
        (
            labels(A100, count="8"),
            {GPU: 4, "nvidia.com/mig-1g.10gb": 12, "nvidia.com/mig-2g.20gb": 8},
            {"product": A100},
            {"mode": "mig-mixed", "profiles": {"1g.10gb": 3, "2g.20gb": 2}, "wholeCards": 4},
            8,
        ),
        (labels(A100, count="8"), {GPU: 5, "nvidia.com/mig-1g.10gb": 7}, {"product": A100}, {}, 0),
        (
            gke("nvidia-l4", gpu_sharing_strategy="time-sharing", max_shared_clients_per_gpu="4"),
            {GPU: 8},
            {"product": "NVIDIA-L4"},
            {"mode": "time-slicing", "replicas": 4},
            2,
        ),
        (
            gke("nvidia-l4", gpu_sharing_strategy="mps", max_shared_clients_per_gpu="2"),
            {GPU: 2},
            {"product": "NVIDIA-L4"},
            {"mode": "mps", "replicas": 2},
            1,
        ),
        (
            gke("nvidia-tesla-a100", gpu_partition_size="1g.5gb"),
            {GPU: 7},
            {"product": "NVIDIA-A100-SXM4-40GB"},
            {"mode": "mig-single", "profiles": {"1g.5gb": 7}},
            1,
        ),
        (gke("nvidia-l4", gpu_sharing_strategy="time-sharing"), {GPU: 1}, {"product": "NVIDIA-L4"}, {}, 0),
    ],
    ids=[
        *("whole", "time-sliced", "replicas by count", "replicas by usual size", "nothing said", "renamed"),
        *("one profile", "of four cards", "with a plus", "invalid", "mixed", "cut unevenly"),
        *("shared by GKE", "MPS by GKE", "sliced by GKE", "GKE, nobody says among how many"),
    ],
)
def test_sharing(
    node_labels: dict[str, str],
    offered: dict[str, int],
    card: dict[str, Any],
    sharing: dict[str, Any],
    cards: int,
) -> None:
    found = card_of(node_labels, offered)
    assert found is not None
    assert dict(found.entry) == card
    assert found.sharing.options == sharing
    assert (found.sharing.cards if sharing else 0) == cards


def test_percents_of_cards_are_no_cards() -> None:
    """Koordinator offers each NVIDIA card again, as a hundred percents of one."""
    found = card_of({}, {"koordinator.sh/gpu": 800, GPU: 8})
    assert found is not None
    assert found.resource == GPU
