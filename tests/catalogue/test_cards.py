"""Vendors, card models and the product value under sharing."""

import pytest

from policykit.catalogue import cards, resources
from policykit.model.pool import Sharing

TIME_SLICED = Sharing("time-slicing", 4)
SERVER = "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"
MAX_Q = "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition"


@pytest.mark.parametrize("card", cards.products(), ids=lambda card: card.product)
def test_a_mistaken_form_is_no_right_value(card: cards.Product) -> None:
    for form in (*card.short, *card.wrong):
        assert cards.product(form) is None


@pytest.mark.parametrize("card", cards.products(), ids=lambda card: card.product)
def test_values_of_one_card_are_those_of_no_other(card: cards.Product) -> None:
    for value in (card.product, *card.aliases):
        assert cards.product(value) == card
    for form in card.wrong:
        assert [other.product for other in cards.products() if form in other.wrong] == [card.product]


@pytest.mark.parametrize("card", cards.products(), ids=lambda card: card.product)
def test_a_card_has_a_vendor_that_makes_cards(card: cards.Product) -> None:
    maker = cards.vendor(card.vendor)
    assert maker is not None
    assert maker.hardware == maker.vendor
    assert resources.is_card(card.resource or maker.resource)
    assert len(card.product) <= cards.LABEL_LIMIT


@pytest.mark.parametrize(
    ("product", "sharing", "expected"),
    [
        ("NVIDIA-H20", Sharing(), "NVIDIA-H20"),
        ("NVIDIA-L4", TIME_SLICED, "NVIDIA-L4-SHARED"),
        ("NVIDIA-L4", Sharing("mps", 2), "NVIDIA-L4-SHARED"),
        ("NVIDIA-L4", Sharing("time-slicing", 1), "NVIDIA-L4"),
        ("NVIDIA-H20", Sharing("mig-single", 1, {"1g.12gb": 7}), "NVIDIA-H20-MIG-1g.12gb"),
        ("NVIDIA-H20", Sharing("mig-single", 1, {"1g.12gb+me": 1}), "NVIDIA-H20-MIG-1g.12gb.me"),
        ("NVIDIA-H20", Sharing("mig-single", 2, {"1g.12gb": 7}), "NVIDIA-H20-MIG-1g.12gb-SHARED"),
        ("NVIDIA-H20", Sharing("mig-single", 1, {"1g.12gb": 4, "3g.48gb": 1}), "NVIDIA-H20-MIG-INVALID"),
        ("NVIDIA-H20", Sharing("mig-mixed", 1, {"1g.12gb": 7}), "NVIDIA-H20"),
        ("MXC500", TIME_SLICED, "MXC500"),
        ("dongle", TIME_SLICED, "dongle"),
    ],
)
def test_product_label(product: str, sharing: Sharing, expected: str) -> None:
    assert cards.product_label(product, sharing) == expected


def test_product_label_of_a_card_outside_the_catalogue() -> None:
    assert cards.product_label("NVIDIA-A2", TIME_SLICED, "nvidia") == "NVIDIA-A2-SHARED"


@pytest.mark.parametrize(
    ("product", "sharing", "length"),
    [
        (SERVER, Sharing("mig-single", 2, {"1g.24gb": 4}), 63),
        (SERVER, Sharing("mig-single", 2, {"1g.24gb+gfx": 4}), 67),
        (MAX_Q, Sharing("mig-single", 1, {"1g.24gb": 4}), 67),
        (MAX_Q, TIME_SLICED, 62),
    ],
)
def test_length_of_a_product_label(product: str, sharing: Sharing, length: int) -> None:
    assert len(cards.product_label(product, sharing)) == length


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("NVIDIA-H20", ("NVIDIA-H20", "", False)),
        ("NVIDIA-H20-SHARED", ("NVIDIA-H20", "", True)),
        ("NVIDIA-H20-MIG-1g.12gb.me", ("NVIDIA-H20", "1g.12gb.me", False)),
        ("A100-SXM4-40GB-MIG-1g.5gb-SHARED", ("NVIDIA-A100-SXM4-40GB", "1g.5gb", True)),
        ("NVIDIA-H20-MIG-INVALID", ("NVIDIA-H20", "INVALID", False)),
        ("AMD_Instinct_MI300X_OAM", ("AMD-Instinct-MI300X-OAM", "", False)),
    ],
)
def test_variant(value: str, expected: tuple[str, str, bool]) -> None:
    found = cards.variant(value)
    assert found is not None
    assert (found.product.product, found.profile, found.shared) == expected


@pytest.mark.parametrize("value", ["", "H20", "MXC500-SHARED", "NVIDIA-H20-shared", "-SHARED"])
def test_no_variant(value: str) -> None:
    assert cards.variant(value) is None
