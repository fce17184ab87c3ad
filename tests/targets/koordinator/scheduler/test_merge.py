"""Merging: our lines in, every other line as it was."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.manifests import writer
from policykit.manifests.patch import Patch, patched
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler import chart, fields, merge, plugins, profiles
from policykit.targets.koordinator.scheduler.configuration import KIND, Profile
from policykit.targets.koordinator.scheduler.configuration import read as read_form
from policykit.targets.koordinator.scheduler.merge import ConfigurationText, remaining_problems, repair
from policykit.targets.koordinator.scheduler.placements import Packing, packing
from policykit.targets.koordinator.versions import parse
from tests.shared import SHARED
from tests.targets.koordinator import checker
from tests.targets.koordinator.checker import faults
from tests.targets.koordinator.clusters import DONGLE, dongles

NAME = "koord-scheduler"


def patches(data: Mapping[str, Any], name: str, numbers: Packing) -> tuple[Patch, ...]:
    profile = read_form(data).required_profile(name)
    found, _ = merge.apply_steps(profile, profiles.write_numbers(numbers, str(data.get("apiVersion"))))
    return merge.below(profile.path, found)


def merged(given: ConfigurationText, name: str, numbers: Packing) -> str:
    return merge.merge_patches(given, patches(given.data, name, numbers))


def profile_of(data: Mapping[str, Any]) -> Profile:
    return read_form(data).required_profile(NAME)


FIT = {DONGLE: Fit("MostAllocated", 20), "cpu": Fit("LeastAllocated", 2)}
NUMBERS = Packing(FIT, (), (), {}, 82, 89)
WITHOUT_PREFERENCE = NUMBERS._replace(affinity=None)

SMALL = """\
# ours
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: other
- schedulerName: koord-scheduler # the one
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      kind: NodeResourcesFitPlus # wrong
      resources:
        cpu: {type: MostAllocated, weight: 2}
        # gone
        nvidia.com/gpu:
          type: MostAllocated
          weight: 1
  plugins:
    score:
      enabled:
      - name: NodeResourcesFitPlus # ours
        weight: 1
      - {name: NodeAffinity}
    preScore:
      enabled: [{name: NodeResourcesFitPlus}, {name: Reservation}]
"""
SMALL_MERGED = """\
# ours
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: other
- schedulerName: koord-scheduler # the one
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      kind: NodeResourcesFitPlusArgs # wrong
      resources:
        cpu: {type: LeastAllocated, weight: 2}
        example.com/dongle:
          type: MostAllocated
          weight: 20
        # gone
  plugins:
    score:
      enabled:
      - name: NodeResourcesFitPlus # ours
        weight: 82
      - {name: NodeAffinity, weight: 89}
    preScore:
      enabled: [{name: Reservation}, {name: NodeResourcesFitPlus}]
"""


def test_an_entry_that_is_there_is_updated_in_place() -> None:
    text = merged(merge.read_source(SMALL), NAME, NUMBERS)
    assert text == SMALL_MERGED
    assert merged(merge.read_source(text), NAME, NUMBERS) == text


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("version", ["1.6.0", "1.7.0", "1.8.0"])
def test_the_charts_files_keep_every_line(version: str, newline: str) -> None:
    if SHARED is None:
        pytest.skip("needs the shared corpus")
    path = SHARED / "corpus" / "koordinator" / f"sched-config-chart-v{version}.yaml"
    before = path.read_text().replace("\n", newline)
    after = merged(merge.read_source(before), NAME, NUMBERS)
    added = [line for line in difflib.ndiff(before.split(newline), after.split(newline)) if line[0] in "+-?"]
    assert [line.strip() for line in added] == [
        *("+         - name: NodeResourcesFitPlus", "+           args:"),
        "+             apiVersion: kubescheduler.config.k8s.io/v1",
        *("+             kind: NodeResourcesFitPlusArgs", "+             resources:"),
        *("+               example.com/dongle:", "+                 type: MostAllocated"),
        *("+                 weight: 20", "+               cpu:", "+                 type: LeastAllocated"),
        *("+                 weight: 2", "+               - name: NodeResourcesFitPlus"),
        *("+               - name: NodeResourcesFitPlus", "+                 weight: 82"),
        *("+               - name: NodeAffinity", "+                 weight: 89"),
    ]
    assert merged(merge.read_source(after), NAME, NUMBERS) == after


@pytest.mark.parametrize("version", ["1.6.0", "1.7.0", "1.8.0"])
def test_enabled_at_both_points_behind_reservation(version: str) -> None:
    text = writer.dump(chart.configuration(parse(version), chart.NAMESPACE))
    profile = profile_of(merge.read_source(merged(merge.read_source(text), NAME, NUMBERS)).data)
    before = profile.point("preScore").names
    assert before[0] == "Reservation"
    assert before[-1] == "NodeResourcesFitPlus"
    assert profile.point("score").weights["NodeResourcesFitPlus"] == 82
    assert profile.point("score").weights["NodeAffinity"] == 89


def _changed(profile: dict[str, Any], numbers: Packing = WITHOUT_PREFERENCE) -> dict[str, Any]:
    data = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta3",
        "kind": KIND,
        "profiles": [{"schedulerName": NAME, **profile}],
    }
    made = merge.read_source(merged(merge.read_source(writer.dump(data)), NAME, numbers))
    changed: dict[str, Any] = made.data["profiles"][0]
    return changed


ARGS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1beta3",
    "kind": "NodeResourcesFitPlusArgs",
    "resources": {
        DONGLE: {"type": "MostAllocated", "weight": 20},
        "cpu": {"type": "LeastAllocated", "weight": 2},
    },
}
PLUS = {"name": "NodeResourcesFitPlus"}


def test_nothing_there_yet() -> None:
    assert _changed({}) == {
        "schedulerName": NAME,
        "pluginConfig": [{**PLUS, "args": ARGS}],
        "plugins": {"preScore": {"enabled": [PLUS]}, "score": {"enabled": [{**PLUS, "weight": 82}]}},
    }


def test_a_list_of_resources_becomes_the_map_it_must_be() -> None:
    wrong = {"apiVersion": "kubescheduler.config.k8s.io/v1", "resources": [{"name": "cpu", "weight": 1}]}
    changed = _changed({"pluginConfig": [{**PLUS, "args": wrong}]})
    assert changed["pluginConfig"] == [{**PLUS, "args": {k: v for k, v in ARGS.items() if k != "kind"}}]


@pytest.mark.parametrize("args", [{}, None, {"kind": "NodeResourcesFitPlusArgs"}])
def test_args_without_resources(args: object) -> None:
    (entry,) = _changed({"pluginConfig": [{**PLUS, "args": args}]})["pluginConfig"]
    assert entry["args"]["resources"] == ARGS["resources"]


def test_enabled_at_multi_point_stays_there() -> None:
    plugins = {"multiPoint": {"enabled": [{**PLUS, "weight": 1}]}}
    assert _changed({"plugins": plugins})["plugins"] == {"multiPoint": {"enabled": [{**PLUS, "weight": 82}]}}


def test_multi_point_does_not_reach_a_cleared_point() -> None:
    plugins = {"multiPoint": {"enabled": [PLUS]}, "preScore": {"disabled": [{"name": "*"}], "enabled": []}}
    assert _changed({"plugins": plugins})["plugins"]["preScore"]["enabled"] == [PLUS]


def test_preference_where_pre_score_is_cleared() -> None:
    cleared = {"disabled": [{"name": "*"}], "enabled": [PLUS]}
    changed = _changed({"plugins": {"preScore": cleared, "score": cleared}}, NUMBERS)
    assert changed["plugins"]["preScore"]["enabled"] == [PLUS, {"name": "NodeAffinity"}]
    assert changed["plugins"]["score"]["enabled"] == [
        {**PLUS, "weight": 82},
        {"name": "NodeAffinity", "weight": 89},
    ]


def test_what_is_right_already_is_left_alone() -> None:
    assert patches(merge.read_source(SMALL_MERGED).data, NAME, NUMBERS) == ()


def test_numbers_do_not_depend_on_an_earlier_merge() -> None:
    cluster = dongles()
    target = cluster.targets["koordinator"]
    data = chart.configuration(parse(""), "ns")
    first = packing(cluster, target, profile_of(data), NAME, parse(""))
    again = merge.read_source(merged(merge.read_source(writer.dump(data)), NAME, first)).data
    assert packing(cluster, target, profile_of(again), NAME, parse("")) == first


BARE = "kind: KubeSchedulerConfiguration\nprofiles: []\n"
CONFIG_MAP = "kind: ConfigMap\ndata:\n  x: |\n    kind: KubeSchedulerConfiguration\n  y: |\n    a: b\n"


def test_bare_and_inside_a_config_map() -> None:
    assert merge.read_source(BARE).path == ()
    assert merge.read_source(CONFIG_MAP).path == ("data", "x")
    assert merge.read_source(CONFIG_MAP).inner == "kind: KubeSchedulerConfiguration\n"
    assert merge.read_source(f"kind: Service\n---\n{CONFIG_MAP}").document == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: ConfigMap\n", "has 0 documents"),
        (f"{BARE}---\n{BARE}", "has 2 documents"),
        ("data: {{ .Values.x }}\n", "koord-scheduler-config"),
        ("a: [\n", "not YAML"),
    ],
)
def test_what_cannot_be_read(text: str, says: str) -> None:
    with pytest.raises(PolicykitError, match=says):
        merge.read_source(text)


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
