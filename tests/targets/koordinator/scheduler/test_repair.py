"""What keeps a given configuration from starting: fixed, or reported."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.manifests.patch import patched
from policykit.targets.koordinator.scheduler import chart, fields, plugins
from policykit.targets.koordinator.scheduler.repair import remaining_problems, repair
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


def fixed(data: dict[str, Any], version: str = "1.8.0") -> tuple[Any, tuple[str, ...]]:
    patches, found = repair(data, parse(version))
    after = reduce(patched, patches, data)
    assert repair(after, parse(version)).patches == ()
    return after, found


@pytest.mark.parametrize("version", ["1.4.1", "1.5.0", "1.6.0", "1.6.1", "1.7.0", "1.8.0"])
def test_the_charts_need_nothing(version: str) -> None:
    assert repair(chart.configuration(parse(version), "ns"), parse(version)) == ((), ())


@pytest.mark.parametrize(
    ("given_", "version", "becomes", "why"),
    [
        ("v1beta3", "1.8.0", "v1", "does not read apiVersion"),
        ("v1beta2", "1.5.0", "v1beta3", "does not read apiVersion"),
        ("v1", "1.5.0", "v1beta3", "does not know its own plugins' args in apiVersion"),
        ("v1beta3", "1.4.1", "v1beta2", "does not know its own plugins' args in apiVersion"),
        ("v1alpha1", "1.6.0", "v1beta3", "does not read apiVersion"),
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
    after, (notice,) = fixed({**data, "apiVersion": f"{group}{given_}"}, version)
    assert after["apiVersion"] == f"{group}{becomes}"
    assert after["profiles"][0]["pluginConfig"] == [
        {"name": "ElasticQuota", "args": {"apiVersion": f"{group}{becomes}"}},
        {"name": "Coscheduling", "args": {}},
    ]
    assert notice == (
        f"Koordinator {version} {why} {group}{given_}: koord-scheduler does not start; gen had to "
        f"change it to {group}{becomes}, in the args too"
    )


@pytest.mark.parametrize(("version", "kept"), [("1.3.0", False), ("1.4.1", False), ("1.5.0", True)])
def test_pre_enqueue_needs_kubernetes_1_28(version: str, kept: bool) -> None:
    """What a configuration for a newer chart has, and older releases cannot decode."""
    data = configuration(plugins={"preEnqueue": enabled()})
    after, found = fixed(data, version)
    assert ("preEnqueue" in after["profiles"][0]["plugins"]) == kept
    told = [text for text in found if "preEnqueue" in text]
    assert told == (
        []
        if kept
        else [
            f"Koordinator {version} has no extension point preEnqueue: koord-scheduler does not start; gen "
            "had to delete it"
        ]
    )


@pytest.mark.parametrize("version", ["1.6.0", "1.6.1", "1.7.0"])
def test_v1beta3_stays_where_it_is_read(version: str) -> None:
    data = {**configuration(), "apiVersion": "kubescheduler.config.k8s.io/v1beta3"}
    assert repair(data, parse(version)).patches == ()


def test_what_v1beta2_alone_has_is_refused() -> None:
    data = {
        **configuration(),
        "apiVersion": "kubescheduler.config.k8s.io/v1beta2",
        "healthzBindAddress": ":1",
    }
    with pytest.raises(PolicykitError) as raised:
        repair(data, NEWEST)
    assert "v1, which has no healthzBindAddress: delete it" in (raised.value.hint or "")


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
        "Coscheduling is not a queueSort plugin in Koordinator 1.8.0",
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
        "queueSort disables every plugin and enables none: koord-scheduler does not start; gen had to "
        "enable PrioritySort",
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
        "Coscheduling is not a score plugin in Koordinator 1.6.1",
    ),
    "a plugin that is gone": (
        "1.8.0",
        {"plugins": {"filter": enabled("BatchResourceFit")}},
        {"plugins": {"filter": {"enabled": []}}},
        "BatchResourceFit is not a filter plugin",
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
        "bind disables DefaultBinder and no other binder is enabled",
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
        "has no field enablePreemption in CoschedulingArgs (added in 1.7): koord-scheduler does not start; "
        "gen had to remove it",
    ),
}


@pytest.mark.parametrize(("version", "before", "after", "says"), CASES.values(), ids=CASES)
def test_fixed(version: str, before: dict[str, Any], after: dict[str, Any], says: str) -> None:
    made, found = fixed(configuration(**before), version)
    assert made == configuration(**after)
    assert any(says in text for text in found), found


LEFT: dict[str, tuple[dict[str, Any], str]] = {
    "a slip": (
        configuration(pluginConfig=[{"name": "LoadAwareScheduling", "args": {"usageTresholds": {}}}]),
        "Koordinator 1.8.0 has no field usageTresholds in LoadAwareSchedulingArgs",
    ),
    "a slip below": (
        configuration(pluginConfig=[{"name": "LoadAwareScheduling", "args": {"aggregated": {"p95": 1}}}]),
        "has no field aggregated.p95",
    ),
    "nothing in the tree scores": (
        configuration(plugins={"score": {"disabled": [{"name": "*"}], **enabled("NodeAffinity")}}),
        "score disables every plugin: PreferNoSchedule taints, topology spread with ScheduleAnyway, "
        "preferred pod affinity no longer count",
    ),
    "a dash too many": (
        {**configuration(), "profiles": [{"schedulerName": "koord-scheduler"}, {"pluginConfig": []}]},
        "profile koord-scheduler is empty, and the next profile has no schedulerName",
    ),
}


@pytest.mark.parametrize(("data", "says"), LEFT.values(), ids=LEFT)
def test_left_to_people(data: dict[str, Any], says: str) -> None:
    assert repair(data, NEWEST) == ((), ())
    found = remaining_problems(data, NEWEST)
    assert any(says in text for text in found), found


PLUGINS = st.sampled_from([*plugins.PLUGINS, "BatchResourceFit"])
ORDER = st.sampled_from([point for point in plugins.ORDER if point not in ("queueSort", "bind")])


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(ORDER, st.lists(PLUGINS, max_size=4)),
    st.sampled_from(["v1beta2", "v1beta3", "v1"]),
    st.sampled_from(["1.4.1", "1.5.0", "1.6.1", "1.7.0", "1.8.0"]),
)
def test_any_plugins_anywhere_start(there: dict[str, list[str]], outer: str, version: str) -> None:
    given_ = {point: enabled(*names) for point, names in there.items()}
    data = configuration(plugins=given_, pluginConfig=[])
    after, _ = fixed({**data, "apiVersion": f"kubescheduler.config.k8s.io/{outer}"}, version)
    left = [fault for fault in faults(after, version) if "half enabled" not in fault]
    assert left == []


@pytest.mark.parametrize("version", checker.POINTS)
def test_the_table_of_points_is_the_checkers(version: str) -> None:
    for plugin in plugins.PLUGINS:
        theirs = set(checker.POINTS[version].get(plugin, "").split())
        ours = {point for point in plugins.ORDER if plugins.implements(plugin, point, parse(version))}
        assert ours == theirs


@pytest.mark.parametrize("version", checker.FIELDS)
def test_the_table_of_fields_is_the_checkers(version: str) -> None:
    for plugin, names in checker.FIELDS[version].items():
        known = fields.FIELDS[plugin]
        assert {name for name, since in known.items() if since <= parse(version)} == set(names.split())
