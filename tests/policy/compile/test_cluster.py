"""`formerly:`: what it means in a compiled policy, and its mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.errors import PolicyError
from policykit.model.queue import Queue
from tests.clusters import policy

BASE: dict[str, Any] = {
    "domain": "b.example.com",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"train": {"usage": "training", "card": "h20", "nodes": 2}},
    "queues": {"all": {}, "research": {"parent": "all", "weight": 3, "limit": {"nvidia.com/gpu": 8}}},
}


def test_a_former_queue_keeps_its_limit_and_has_no_share() -> None:
    cluster = policy({**BASE, "formerly": {"queues": {"research": ["science"]}}})
    assert cluster.queues[-1] == Queue("science", "all", 1, limit={"nvidia.com/gpu": 8})
    assert cluster.formerly.queues == {"science": "research"}


@pytest.mark.parametrize(
    ("formerly", "message"),
    [
        ({"domain": {"c.example.com": ["a.example.com"]}}, "domain c.example.com is not in the policy"),
        ({"usages": {"learning": ["training"]}}, "usage learning is not in the policy"),
        (
            {"usages": {"training": ["training"]}},
            "usage training is not a former name: the policy still has it",
        ),
        ({"products": {"NVIDIA-H20": ["a b"]}}, "product 'a b' "),
        ({"queues": {"research": ["all"]}}, "queue all is not a former name: the policy still has it"),
        ({"name": {"prod": ["demo"]}}, "name prod is not in the policy"),
    ],
    ids=["domain", "usage", "itself", "malformed", "queue in use", "name"],
)
def test_mistakes(formerly: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy({**BASE, "formerly": formerly})
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        (
            {"formerly": {"products": {"NVIDIA-H2O": ["NVIDIA-A"]}}},
            ["product NVIDIA-H2O is not in the policy: did you mean NVIDIA-H20?"],
        ),
        (
            {"formerly": {"usages": {"learn": ["a"]}}},
            ["usage learn is not in the policy: write a present name: training"],
        ),
        (
            {
                "cards": {"h20": {"product": "NVIDIA-H2O"}},
                "formerly": {"products": {"NVIDIA-H20": ["NVIDIA-A"]}},
            },
            [
                "the catalogue has no product 'NVIDIA-H2O': did you mean NVIDIA-H20? If not: a card that is "
                "not in the catalogue also needs resource"
            ],
        ),
    ],
    ids=["misspelt here", "no such name", "misspelt in cards"],
)
def test_what_a_misspelt_name_may_have_meant(change: dict[str, Any], errors: list[str]) -> None:
    """The mistake of a card is told once, where it is."""
    with pytest.raises(PolicyError) as caught:
        policy({**BASE, **change})
    assert [f"{each.message}: {each.hint}" for each in caught.value.problems] == errors


def test_a_card_that_the_catalogue_does_not_have_is_judged_as_one_of_its_maker() -> None:
    found = policy({**BASE, "cards": {"h20": {"product": "NVIDIA-X999"}}, "formerly": {}})
    card = found.cards["h20"]
    assert (card.resource, card.vendor, card.product, card.per_node) == (
        "nvidia.com/gpu",
        "nvidia",
        "NVIDIA-X999",
        0,
    )
