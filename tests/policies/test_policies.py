"""The drawn policies load, and among them they use every key of the vocabulary."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from policykit.manifests.writer import dump
from policykit.policy.load import load_text
from policykit.policy.schema import file_schema
from policykit.workspace.files import read
from tests.policies import clusters, policies

_QUICK = settings(
    max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
_NOT_DRAWN = frozenset(
    {
        *("metadata.labels", "metadata.annotations", "extends", "policykit"),
        # A pool's own scheme, and parts of a scheme that tests of the nodes have tables for.
        *("pools.*.scheme", "scheme.product.key", "scheme.product.label", "scheme.usage.label"),
        *("cards.*.resource", "targets.kubernetes", "targets.koordinator.config"),
    }
)


def keys(data: Any, path: str = "") -> set[str]:
    """Keys that stand in a policy, names given by people shown as `*`."""
    if isinstance(data, list):
        return {found for item in data for found in keys(item, path)}
    if not isinstance(data, dict):
        return set()
    found = set()
    for key, value in data.items():
        step = f"{path}.{key}" if path else str(key)
        found |= {step} | keys(value, step)
    return found


def test_every_policy_loads() -> None:
    @_QUICK
    @given(policies())
    def load(data: dict[str, Any]) -> None:
        loaded = load_text(dump(data).encode(), "policykit.yaml", read)
        assert loaded.cluster.pools

    load()


def test_they_use_the_whole_vocabulary() -> None:
    seen: set[str] = set()

    @_QUICK
    @given(policies())
    def collect(data: dict[str, Any]) -> None:
        seen.update(keys(data))

    collect()
    last = {path.rpartition(".")[2] for path in seen}
    schema = file_schema()
    drawn = {"Placement", "Workload", "Queue", "Tenant", "Reservation", "Quota", "Priority", "Preemption"}
    drawn |= {"Containers", "Gang", "Within", "Across", "Autoscaling", "Metric", "ScaleTarget"}
    drawn |= {"QueuePools", "ResourcePlacement", "Point", "TopologyKeys", "NodeTopology", "NodeSet"}
    drawn |= {"Sharing", "Submitters"}
    wanted = {key for name in drawn for key in schema["definitions"][name]["properties"]}
    assert sorted(wanted - last) == ["wholeCards"]
    # Nothing is generated from what a policy extends, pins, applies to or leaves to others, or which gates
    # its cluster has on;
    # former names are drawn by the tests of plans.
    not_drawn = {"applies", "extends", "featureGates", "formerly", "placedElsewhere", "policykit"}
    assert set(schema["properties"]) - {path for path in seen if "." not in path} == not_drawn


def test_clusters_are_what_they_compile_to() -> None:
    names: set[bool] = set()

    @_QUICK
    @given(clusters())
    def collect(cluster: Any) -> None:
        names.add(bool(cluster.levels and cluster.placements and cluster.tenants and cluster.reservations))

    collect()
    assert names == {True, False}
