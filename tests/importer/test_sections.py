"""What a policy says of queues, tenants, placements and kinds, written back: it compiles to the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policykit.importer.draft import Draft
from policykit.importer.sections import add_targets, kind
from policykit.importer.topology import add_topology
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.inventory import Inventory
from policykit.model.queue import Tenant
from policykit.model.workload import WorkloadKind
from policykit.policy.load import load_text
from policykit.targets.import_values import duration
from policykit.workspace.files import read
from tests.clusters import policy
from tests.policies import policies
from tests.policy.memory import load_body

SECTIONS = ("placements", "queues", "tenants", "priorities", "preemption", "quotas", "reservations")
BY_PLACEMENT = ("role", "usages", "prefer", "cards", "helpers", "match")
"""Keys of a kind that components say, or that follow from what they say."""


def compiled(data: dict[str, Any]) -> Cluster:
    return load_text(dump(data).encode(), "policykit.yaml", read).cluster


def found_in(cluster: Cluster) -> Inventory:
    inventory = Inventory()
    for queue in cluster.queues:
        inventory.add_queue(queue)
    for priority in cluster.priorities:
        inventory.add_priority(priority)
    for quota in cluster.quotas:
        inventory.add_quota(quota)
    for tenant in cluster.tenants:
        inventory.add_tenant(tenant)
    for reservation in cluster.reservations:
        inventory.add_reservation(reservation)
    for placement in cluster.placements.values():
        inventory.add_placement(placement)
    inventory.preemption = cluster.preemption
    return inventory


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(policies())
def test_every_section_comes_back(data: dict[str, Any]) -> None:
    cluster = compiled(data)
    draft, found = Draft(), found_in(cluster)
    draft.data = {key: value for key, value in data.items() if key not in SECTIONS}
    for name, stated in data.get("workloads", {}).items():
        kept = {key: value for key, value in stated.items() if key in BY_PLACEMENT}
        draft.data["workloads"] = {
            **draft.data["workloads"],
            name: {**kept, **kind(cluster.workloads[name], cluster.placements)},
        }
    add_targets(draft, found)
    assert compiled(draft.data) == cluster
    assert found.remarks == []


@given(st.integers(1, 10**7))
def test_durations_come_back(seconds: int) -> None:
    text = duration(seconds)
    rule = load_body(f"workloads: {{t: {{gang: {{timeout: {text}}}}}}}\n").cluster.workloads["t"].gang_rule
    assert rule == GangRule(timeout=seconds)


@pytest.mark.parametrize(
    ("seconds", "text"), [(86400, "24h"), (5400, "1h30m"), (90, "1m30s"), (600, "10m"), (30, "30s")]
)
def test_durations(seconds: int, text: str) -> None:
    assert duration(seconds) == text


def test_tenants_add_up() -> None:
    inventory = Inventory()
    inventory.add_tenant(Tenant("a", ("x",), "q", ("ann",)))
    inventory.add_tenant(Tenant("a", ("y", "x"), "p", ("bob",), ("dev",)))
    assert inventory.tenants == {"a": Tenant("a", ("x", "y"), "q", ("ann", "bob"), ("dev",))}
    assert inventory.remarks == ["tenant a has queues q and p; the first one is used"]


def test_kinds_add_up() -> None:
    inventory = Inventory()
    inventory.add_kind(WorkloadKind("t", gang="all", queue="a"))
    inventory.add_kind(WorkloadKind("t", placement="spread", queue="b"))
    assert inventory.kinds == {"t": WorkloadKind("t", gang="all", placement="spread", queue="a")}
    assert inventory.remarks == [
        "queue of workload kind t is defined more than once with different values; the first one is used"
    ]


def test_options_add_up() -> None:
    inventory = Inventory()
    inventory.option("volcano", "binpack", {"weight": 2})
    inventory.option("volcano", "binpack", {"weight": 3, "resources": {"cpu": 1}})
    inventory.option("volcano", "actions", ["allocate"])
    inventory.option("volcano", "actions", ["backfill"])
    assert inventory.targets == {
        "volcano": {"binpack": {"weight": 2, "resources": {"cpu": 1}}, "actions": ["allocate"]}
    }


def located(pool: dict[str, Any], levels: dict[str, str]) -> Draft:
    draft, found = Draft(), Inventory()
    for level, key in levels.items():
        found.add_level(level, key)
    draft.data = {"domain": "d.example", "scheme": "seed", "pools": {"p": pool}}
    add_topology(draft, found)
    return draft


ZONE = "topology.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        ({"nodes": 3, "labels": {"x": "1"}}, {"nodes": 3, "labels": {"x": "1"}}),
        (
            {"nodes": 3, "labels": {"d.example/rack": "r", "x": "1", ZONE: "z"}, "unschedulable": True},
            {
                "nodes": 3,
                "topology": {"zone": "z", "rack": "r"},
                "labels": {"x": "1"},
                "unschedulable": True,
            },
        ),
        (
            {
                "nodes": [
                    {"nodes": {"names": ["a-1", "a-2"]}, "labels": {"d.example/rack": "r"}},
                    {"nodes": {"names": ["a-3"]}, "labels": {"d.example/rack": "s"}},
                ]
            },
            {
                "nodes": {"names": ["a-[1-3]"]},
                "topology": [{"nodes": ["a-1", "a-2"], "rack": "r"}, {"nodes": ["a-3"], "rack": "s"}],
            },
        ),
        (
            {
                "nodes": [
                    {"nodes": {"names": ["a-1"]}, "allocatable": {"cpu": 1}, "labels": {ZONE: "z"}},
                    {"nodes": {"names": ["a-3"]}, "allocatable": {"cpu": 2}},
                ]
            },
            {
                "nodes": [
                    {"nodes": {"names": ["a-1"]}, "allocatable": {"cpu": 1}},
                    {"nodes": {"names": ["a-3"]}, "allocatable": {"cpu": 2}},
                ],
                "topology": [{"nodes": ["a-1"], "zone": "z"}],
            },
        ),
    ],
    ids=["no place", "the whole pool", "racks", "sizes and a zone"],
)
def test_labels_of_places_are_topology(pool: dict[str, Any], said: dict[str, Any]) -> None:
    draft = located(pool, {})
    assert draft.data["pools"]["p"] == said
    assert list(draft.data["pools"]["p"]) == list(said)
    assert draft.data["scheme"] == "seed"
    assert policy(draft.data).pools[0].name == "p"


def test_keys_of_levels_stand_in_the_scheme() -> None:
    draft = located({"nodes": 1, "labels": {"example.com/r": "a"}}, {"rack": "example.com/r", "zone": ZONE})
    assert draft.data["pools"]["p"] == {"nodes": 1, "topology": {"rack": "a"}}
    assert draft.data["scheme"] == {
        "preset": "seed",
        "topology": {"zone": ZONE, "rack": "example.com/r"},
    }
