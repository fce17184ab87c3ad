"""Every fact of the shared card tables is in the catalogue."""

from typing import Any

import pytest

from policykit import bundled
from policykit.catalogue import cards, labels, resources
from tests.loaded import loaded
from tests.shared import SHARED

pytestmark = pytest.mark.skipif(SHARED is None, reason="the shared folder is absent")

TABLE = bundled.table("profiles", "compiled", "labels.json")
FACTS: dict[str, Any] = (
    loaded((SHARED / "reference" / "data" / "cards.yaml").read_text(encoding="utf-8"))
    if SHARED is not None
    else {"vendors": [], "products": [], "mig_profiles": [], "provider_labels": []}
    | {"provider_taints": [], "network_resources": [], "extended_resource_toleration": {}}
)


def _ids(row: dict[str, Any]) -> str:
    return str(row.get("id") or row.get("product") or row.get("key") or row.get("name") or row.get("pattern"))


@pytest.mark.parametrize("row", FACTS["vendors"], ids=_ids)
def test_vendor(row: dict[str, Any]) -> None:
    vendor = cards.vendor(row["id"])
    assert vendor is not None
    known = row["labels"]
    assert (vendor.name, vendor.domain, vendor.card) == (row["name"], row["domain"], row["card_type"])
    assert (vendor.resource, vendor.grade) == (row["resource"], row["grade"])
    assert vendor.other_cards == tuple(row.get("card_type_alternatives", ()))
    for role, key in (
        ("product", vendor.product_key),
        ("count", vendor.count_key),
        ("memory", vendor.memory_key),
        ("driver_version", vendor.driver_key),
    ):
        assert key == (known[role] or "")
    assert vendor.templates_mib == row.get("templates_mib", {})
    assert [taint.key for taint in vendor.taints] == [taint["key"] for taint in row["default_taints"]]
    assert [taint.key for taint in vendor.passing_taints] == [
        t["key"] for t in row.get("temporary_taints", ())
    ]
    assert [(t.key, t.operator, t.effect) for t in vendor.daemon_tolerations] == [
        (t["key"], t["operator"], t.get("effect", "")) for t in row.get("daemon_tolerations", ())
    ]
    assert vendor.dra_driver == row.get("dra", {}).get("driver", "")
    assert list(vendor.dra_classes) == row.get("dra", {}).get("device_classes", [])


@pytest.mark.parametrize("row", FACTS["vendors"], ids=_ids)
def test_resources_of_a_vendor(row: dict[str, Any]) -> None:
    for name in [row["resource"], *(each.get("name") or each["example"] for each in row["extra_resources"])]:
        found = resources.resource(name)
        assert found is not None
        assert row["id"] in found.offered_by or found.role == "card"


@pytest.mark.parametrize("row", FACTS["vendors"], ids=_ids)
def test_labels_of_a_vendor(row: dict[str, Any]) -> None:
    for key in row["labels"].get("other", ()):
        assert (
            labels.discovery(key)
            or key in TABLE["by_hand"]
            or labels.switch(key)
            or labels.replaced_by(key)
            or labels.provider(key)
        )
    for key in row["labels"].get("absent", ()):
        assert labels.discovery(key) == ""
        assert labels.replaced_by(key)


@pytest.mark.parametrize("row", [row for row in FACTS["products"] if "base" not in row], ids=_ids)
def test_product(row: dict[str, Any]) -> None:
    card = cards.product(row["product"])
    assert card is not None
    assert (card.product, card.vendor, card.name) == (row["product"], row["vendor"], row["marketing"])
    assert card.evidence == row["evidence"]
    for field in ("aliases", "short", "wrong", "cards_per_node", "memory_seen"):
        assert list(getattr(card, field)) == row.get(field, [])
    assert list(card.formats) == (row["fp"] or [])
    assert (card.memory_mib, card.memory_confidence) == (row["memory_mib"], row["memory"] or "")
    assert card.memory_label == (row.get("vram_label") or row.get("memory_label") or "")
    assert (card.generation, card.compute) == (row["generation"] or "", row.get("compute") or "")
    assert card.resource == row.get("resource", "")
    native = row.get("native", {})
    assert (card.native_key, card.native_value) == (native.get("key", ""), native.get("value") or "")
    assert bool(card.mig_profiles) == row.get("mig", False)
    for fact in ("ai_cores", "cores_per_card", "topology_dims"):
        assert card.facts.get(fact) == row.get(fact)


@pytest.mark.parametrize("row", [row for row in FACTS["products"] if "base" in row], ids=_ids)
def test_cut_and_shared_product(row: dict[str, Any]) -> None:
    variant = cards.variant(row["product"])
    assert variant is not None
    assert variant.product.product == row["base"]
    found = next(each for each in variant.product.slices if each.product == row["product"])
    assert (found.memory_mib, found.memory_confidence) == (row["memory_mib"], row["memory"])
    assert list(found.cards_per_node) == row["cards_per_node"]
    assert list(found.memory_seen) == row.get("memory_seen", [])


@pytest.mark.parametrize("row", FACTS["mig_profiles"], ids=lambda row: row["cards"][0])
def test_mig_profiles(row: dict[str, Any]) -> None:
    found = [card for value in row["products"] if (card := cards.product(value))]
    assert len(found) == len(row["products"])
    for card in found:
        assert card.mig_profiles == row["profiles"]
        assert card.older_mig_profiles == row.get("older", {})
    for profile in row["profiles"]:
        resource = resources.resource(resources.mig_resource(profile))
        assert resource is not None
        assert resource.role == "partition"


@pytest.mark.parametrize("row", FACTS["provider_labels"], ids=_ids)
def test_provider_label(row: dict[str, Any]) -> None:
    assert labels.provider(row["key"]) == row["provider"]
    assert list(labels.provider_values(row["key"])) == row.get("values", [])
    assert labels.provider(row.get("also", row["key"])) == row["provider"]


def test_provider_taints() -> None:
    for row in FACTS["provider_taints"]:
        found = [each.taint for each in labels.provider_taints(row["provider"])]
        assert (row["key"], row["value"], row["effect"]) in found


def test_extended_resource_toleration() -> None:
    for name, on in FACTS["extended_resource_toleration"].items():
        assert TABLE["extended_resource_toleration"][name] is on


@pytest.mark.parametrize("row", FACTS["network_resources"], ids=_ids)
def test_network_resource(row: dict[str, Any]) -> None:
    written = row["name"] if "name" in row else row["pattern"].partition("/")[0].strip("^").replace("\\", "")
    for name in [row["name"]] if "name" in row else row.get("examples", [f"{written}/any_name"]):
        found = resources.resource(name)
        assert found is not None
        assert (found.role, found.fixed) == ("network", row["fixed"])
        assert found.per_node == row.get("per_node", {})
        assert not resources.is_card(name)
