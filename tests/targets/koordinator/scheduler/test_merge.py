"""Merging: our lines in, every other line as it was."""

import difflib
from collections.abc import Mapping
from typing import Any

import pytest

from policykit.errors import PolicykitError
from policykit.manifests import writer
from policykit.manifests.patch import Patch
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler import chart, merge, profiles
from policykit.targets.koordinator.scheduler.configuration import KIND, Profile
from policykit.targets.koordinator.scheduler.configuration import read as read_form
from policykit.targets.koordinator.scheduler.merge import Source
from policykit.targets.koordinator.scheduler.packing import Packing, packing
from policykit.targets.koordinator.versions import parse
from tests.shared import SHARED
from tests.targets.koordinator.clusters import DONGLE, dongles

NAME = "koord-scheduler"


def patches(data: Mapping[str, Any], name: str, numbers: Packing) -> tuple[Patch, ...]:
    profile = read_form(data).required_profile(name)
    found, _ = merge.apply_steps(profile, profiles.write_numbers(numbers, str(data.get("apiVersion"))))
    return merge.below(profile.path, found)


def merged(given: Source, name: str, numbers: Packing) -> str:
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
