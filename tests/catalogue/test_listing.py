"""The catalogue as people read it."""

import pytest

from policykit.catalogue import cards, listing
from policykit.errors import UsageError


def test_listing_names_every_vendor_and_card() -> None:
    text = listing.listing()
    assert all(card.product in text for card in cards.products())
    assert all(vendor.vendor in text for vendor in cards.vendors())
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_a_card_by_its_short_name() -> None:
    assert listing.page("MI300X") == (
        "product         AMD-Instinct-MI300X-OAM\n"
        "asked for       MI300X\n"
        "card            AMD Instinct MI300X 192GB\n"
        "vendor          AMD Instinct (amd)\n"
        "resource        amd.com/gpu\n"
        "vendor's label  amd.com/gpu.product-name=AMD_Instinct_MI300X_OAM\n"
        "value           a component writes this value\n"
        "also right      AMD-Instinct-MI300X, AMD-Instinct-MI300X-VF\n"
        "short names     MI300X\n"
        "memory          196592 MiB, recalled (widely quoted, not checked); also seen: 196288\n"
        "cards per node  8, 1\n"
        "generation      cdna3\n"
        "formats         fp64, tf32, bf16, fp16, fp8, int8\n"
    )


def test_a_name_of_several_cards_lists_them() -> None:
    assert listing.page("H100") == (
        "'H100' may mean 3 cards; take the value your nodes show:\n"
        "  NVIDIA-H100-80GB-HBM3  81559 MiB  measured  NVIDIA H100 SXM 80GB\n"
        "  NVIDIA-H100-NVL        95830 MiB  measured  NVIDIA H100 NVL 94GB\n"
        "  NVIDIA-H100-PCIe       81559 MiB  measured  NVIDIA H100 PCIe 80GB\n"
    )


def test_mig_profiles_are_shown_as_resources() -> None:
    assert "  1g.12gb+me  1 per card  nvidia.com/mig-1g.12gb.me\n" in listing.page("NVIDIA-H20")


def test_a_vendor() -> None:
    assert listing.page("furiosa") == (
        "vendor         FuriosaAI (furiosa)\n"
        "resource       furiosa.ai/rngd\n"
        "product label  none is set by the vendor\n"
        "how sure       source of the vendor, a provider or Kubernetes\n"
        "\n"
        "resources\n"
        "  furiosa.ai/rngd  1 = card\n"
    )


@pytest.mark.parametrize("name", [each.vendor for each in cards.vendors()])
def test_every_vendor_has_a_page(name: str) -> None:
    assert listing.page(name).startswith("vendor ")


def test_an_unknown_name_gets_names_like_it() -> None:
    with pytest.raises(UsageError) as caught:
        listing.page("nvidai")
    assert caught.value.message == "no vendor, card or short name 'nvidai' is known"
    assert caught.value.hint == "names like it: nvidia"
