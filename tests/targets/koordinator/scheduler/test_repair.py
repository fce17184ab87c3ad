"""What keeps a given configuration from starting: mended, or told."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.catalogue.koordinator import fields
from policykit.errors import PolicykitError
from policykit.manifests.patch import patched
from policykit.targets.koordinator.scheduler import chart, points
from policykit.targets.koordinator.scheduler.repair import repaired
from policykit.targets.koordinator.versions import parse
from tests.targets.koordinator import checker
from tests.targets.koordinator.checker import faults

NEWEST = parse("1.8.0")


def configuration(**profile: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "koord-scheduler", **profile}],
    }


def enabled(*names: str) -> dict[str, Any]:
    return {"enabled": [{"name": name} for name in names]}


def mended(data: dict[str, Any], version: str = "1.8.0") -> tuple[Any, tuple[str, ...]]:
    patches, said = repaired(data, parse(version))
    after = reduce(patched, patches, data)
    assert repaired(after, parse(version)).patches == ()
    return after, said


@pytest.mark.parametrize("version", ["1.4.1", "1.5.0", "1.6.0", "1.6.1", "1.7.0", "1.8.0"])
def test_the_charts_need_nothing(version: str) -> None:
    assert repaired(chart.configuration(parse(version), "ns"), parse(version)) == ((), ())


@pytest.mark.parametrize(
    ("given_", "version", "becomes", "why"),
    [
        ("v1beta3", "1.8.0", "v1", "reads no configuration of apiVersion"),
        ("v1beta2", "1.5.0", "v1beta3", "reads no configuration of apiVersion"),
        ("v1", "1.5.0", "v1beta3", "has no args of its own of apiVersion"),
        ("v1beta3", "1.4.1", "v1beta2", "has no args of its own of apiVersion"),
        ("v1alpha1", "1.6.0", "v1beta3", "reads no configuration of apiVersion"),
    ],
)
def test_another_version_is_rewritten(given_: str, version: str, becomes: str, why: str) -> None:
    group = "kubescheduler.config.k8s.io/"
    data = configuration(
        pluginConfig=[
            {"name": "ElasticQuota", "args": {"apiVersion": f"{group}{given_}"}},
            {"name": "Coscheduling", "args": {}},
        ]
    )
    after, (said,) = mended({**data, "apiVersion": f"{group}{given_}"}, version)
    assert after["apiVersion"] == f"{group}{becomes}"
    assert after["profiles"][0]["pluginConfig"] == [
        {"name": "ElasticQuota", "args": {"apiVersion": f"{group}{becomes}"}},
        {"name": "Coscheduling", "args": {}},
    ]
    assert said == f"koord-scheduler {version} {why} {group}{given_}: rewritten to {group}{becomes}"


@pytest.mark.parametrize("version", ["1.6.0", "1.6.1", "1.7.0"])
def test_v1beta3_stays_where_it_is_read(version: str) -> None:
    data = {**configuration(), "apiVersion": "kubescheduler.config.k8s.io/v1beta3"}
    assert repaired(data, parse(version)).patches == ()


def test_what_v1beta2_alone_has_is_refused() -> None:
    data = {
        **configuration(),
        "apiVersion": "kubescheduler.config.k8s.io/v1beta2",
        "healthzBindAddress": ":1",
    }
    with pytest.raises(PolicykitError, match="v1 has no healthzBindAddress"):
        repaired(data, NEWEST)


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "a kind without Args": (
        "1.8.0",
        {"pluginConfig": [{"name": "NodeResourcesFitPlus", "args": {"kind": "NodeResourcesFitPlus"}}]},
        {"pluginConfig": [{"name": "NodeResourcesFitPlus", "args": {"kind": "NodeResourcesFitPlusArgs"}}]},
        "args of NodeResourcesFitPlus have kind NodeResourcesFitPlus",
    ),
    "queueSort of an older chart": (
        "1.8.0",
        {"plugins": {"queueSort": {"disabled": [{"name": "*"}], **enabled("Coscheduling")}}},
        {"plugins": {"queueSort": {"disabled": [{"name": "*"}], **enabled("PrioritySort")}}},
        "Coscheduling is no queueSort plugin in Koordinator 1.8.0",
    ),
    "gangs wait at preEnqueue": (
        "1.7.0",
        {
            "plugins": {
                "queueSort": {"disabled": [{"name": "*"}], **enabled("Coscheduling")},
                "permit": enabled("Coscheduling"),
            }
        },
        {
            "plugins": {
                "queueSort": {"disabled": [{"name": "*"}], **enabled("PrioritySort")},
                "permit": enabled("Coscheduling"),
                "preEnqueue": enabled("Coscheduling"),
            }
        },
        "exactly one queueSort plugin must be enabled: PrioritySort is",
    ),
    "a plugin of a newer release": (
        "1.6.1",
        {
            "plugins": {
                "preFilter": enabled("SchedulingHint", "Reservation"),
                "score": enabled("Coscheduling"),
            }
        },
        {"plugins": {"preFilter": enabled("Reservation"), "score": {"enabled": []}}},
        "Coscheduling is no score plugin in Koordinator 1.6.1",
    ),
    "a plugin that is gone": (
        "1.8.0",
        {"plugins": {"filter": enabled("BatchResourceFit")}},
        {"plugins": {"filter": {"enabled": []}}},
        "BatchResourceFit is no filter plugin",
    ),
    "Reservation behind others": (
        "1.8.0",
        {"plugins": {"reserve": enabled("DeviceShare", "Reservation")}},
        {"plugins": {"reserve": enabled("Reservation", "DeviceShare")}},
        "Reservation must be the first plugin at reserve",
    ),
    "no binder": (
        "1.8.0",
        {"plugins": {"bind": {"disabled": [{"name": "*"}], **enabled("Reservation")}}},
        {"plugins": {"bind": {"disabled": [{"name": "*"}], **enabled("Reservation", "DefaultBinder")}}},
        "enables no DefaultBinder",
    ),
    "enabled twice": (
        "1.8.0",
        {"plugins": {"filter": enabled("DeviceShare", "Reservation", "DeviceShare")}},
        {"plugins": {"filter": enabled("DeviceShare", "Reservation")}},
        "DeviceShare is enabled twice at filter",
    ),
    "a field of a newer release": (
        "1.6.1",
        {
            "pluginConfig": [
                {"name": "Coscheduling", "args": {"enablePreemption": True, "defaultTimeout": "1s"}}
            ]
        },
        {"pluginConfig": [{"name": "Coscheduling", "args": {"defaultTimeout": "1s"}}]},
        "args of Coscheduling have no enablePreemption before 1.7",
    ),
}


@pytest.mark.parametrize(("version", "before", "after", "says"), CASES.values(), ids=CASES)
def test_mended(version: str, before: dict[str, Any], after: dict[str, Any], says: str) -> None:
    made, said = mended(configuration(**before), version)
    assert made == configuration(**after)
    assert any(says in text for text in said), said


TOLD: dict[str, tuple[dict[str, Any], str]] = {
    "a slip": (
        configuration(pluginConfig=[{"name": "LoadAwareScheduling", "args": {"usageTresholds": {}}}]),
        "args of LoadAwareScheduling hold usageTresholds, which Koordinator 1.8.0 does not know",
    ),
    "a slip below": (
        configuration(pluginConfig=[{"name": "LoadAwareScheduling", "args": {"aggregated": {"p95": 1}}}]),
        "hold aggregated.p95",
    ),
    "nothing in the tree scores": (
        configuration(plugins={"score": {"disabled": [{"name": "*"}], **enabled("NodeAffinity")}}),
        "score disables every plugin, so PreferNoSchedule taints, topology spread with ScheduleAnyway, "
        "preferred pod affinity no longer count",
    ),
    "a dash too many": (
        {**configuration(), "profiles": [{"schedulerName": "koord-scheduler"}, {"pluginConfig": []}]},
        "profile koord-scheduler sets nothing, and the next has no schedulerName",
    ),
}


@pytest.mark.parametrize(("data", "says"), TOLD.values(), ids=TOLD)
def test_told(data: dict[str, Any], says: str) -> None:
    patches, said = repaired(data, NEWEST)
    assert patches == ()
    assert any(says in text for text in said), said


PLUGINS = st.sampled_from([*points.PLUGINS, "BatchResourceFit"])
ORDER = st.sampled_from([point for point in points.ORDER if point not in ("queueSort", "bind")])


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(ORDER, st.lists(PLUGINS, max_size=4)),
    st.sampled_from(["v1beta2", "v1beta3", "v1"]),
    st.sampled_from(["1.4.1", "1.5.0", "1.6.1", "1.7.0", "1.8.0"]),
)
def test_any_plugins_anywhere_start(there: dict[str, list[str]], outer: str, version: str) -> None:
    given_ = {point: enabled(*names) for point, names in there.items()}
    data = configuration(plugins=given_, pluginConfig=[])
    after, _ = mended({**data, "apiVersion": f"kubescheduler.config.k8s.io/{outer}"}, version)
    left = [fault for fault in faults(after, version) if "half enabled" not in fault]
    assert left == []


@pytest.mark.parametrize("version", checker.POINTS)
def test_the_table_of_points_is_the_checkers(version: str) -> None:
    for plugin in points.PLUGINS:
        theirs = set(checker.POINTS[version].get(plugin, "").split())
        ours = {point for point in points.ORDER if points.implements(plugin, point, parse(version))}
        assert ours == theirs


@pytest.mark.parametrize("version", checker.FIELDS)
def test_the_table_of_fields_is_the_checkers(version: str) -> None:
    for plugin, names in checker.FIELDS[version].items():
        known = fields.FIELDS[plugin]
        assert {name for name, since in known.items() if since <= parse(version)} == set(names.split())
