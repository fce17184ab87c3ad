"""The form of a configuration: what it reads, and the paths it reads from."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.manifests.parser import parse
from policykit.manifests.path import lookup
from policykit.targets.koordinator.scheduler import chart, configuration
from policykit.targets.koordinator.scheduler.merge import read_source
from policykit.targets.koordinator.scheduler.plugins import DEFAULT_SCORES
from policykit.targets.koordinator.versions import parse as release
from tests.shared import SHARED

NAMES = st.sampled_from(["Coscheduling", "Reservation", "NodeResourcesFitPlus", "x"])
VALUES = st.recursive(
    st.booleans() | st.integers(-5, 500) | st.text("ab 1", max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
ENTRIES = st.lists(
    VALUES | st.fixed_dictionaries({"name": NAMES}, optional={"weight": VALUES, "args": VALUES})
)
PROFILES = st.fixed_dictionaries(
    {},
    optional={
        "schedulerName": st.sampled_from(["koord-scheduler", "b"]),
        "pluginConfig": ENTRIES,
        "plugins": st.dictionaries(
            st.sampled_from(["score", "queueSort", "multiPoint"]),
            st.fixed_dictionaries({}, optional={"enabled": ENTRIES, "disabled": ENTRIES}) | VALUES,
        ),
    },
)
CONFIGURATIONS = st.fixed_dictionaries({"profiles": st.lists(PROFILES | VALUES, max_size=3)})


@given(CONFIGURATIONS)
def test_every_part_is_read_from_its_path(data: dict[str, Any]) -> None:
    for profile in configuration.read(data).profiles:
        assert lookup(data, profile.path) is profile.data
        for args in profile.args:
            entry = lookup(profile.data, args.path[:-1])
            assert isinstance(entry, dict)
            assert entry["name"] == args.plugin
        for point in profile.points.values():
            for plugin in (*point.enabled, *point.disabled):
                entry = lookup(profile.data, plugin.path)
                assert isinstance(entry, dict)
                assert (entry["name"], entry.get("weight")) == (plugin.name, plugin.weight) or (
                    plugin.weight is None
                )


@given(VALUES)
def test_no_shape_is_an_error(data: object) -> None:
    configuration.read(data)
    configuration.read(
        {"profiles": [data, {"plugins": {"score": data}, "pluginConfig": [data, {"name": data}]}]}
    )


@pytest.mark.parametrize("version", ["1.4.1", "1.5.0", "1.6.1", "1.7.0", "1.8.0"])
def test_paths(version: str) -> None:
    data = chart.configuration(release(version), "ns")
    profile = configuration.read(data).required_profile("koord-scheduler")
    assert profile.path == ("profiles", 0)
    args = profile.entry("LoadAwareScheduling")
    assert args is not None
    assert args.path == ("pluginConfig", 1, "args")
    assert args.fields["usageThresholds"] == {"cpu": 65, "memory": 95}
    reservation = profile.point("score").plugin("Reservation")
    assert reservation == ("Reservation", ("plugins", "score", "enabled", 3), 5000)
    (wildcard,) = profile.point("queueSort").disabled
    assert wildcard.path == ("plugins", "queueSort", "disabled", 0)
    assert profile.point("score").plugin("NodeResourcesFitPlus") is None


@pytest.mark.parametrize(("version", "weight"), [("1.3.0", 1), ("1.4.1", 1), ("1.5.0", 2), ("1.8.0", 2)])
def test_default_weights_of_the_kube_scheduler_inside(version: str, weight: int) -> None:
    """1.24 with v1beta2, or 1.28 on."""
    profile = configuration.read({"profiles": [{}]}).profiles[0]
    weights = profile.score_weights(release(version))
    assert weights["NodeAffinity"] == weights["InterPodAffinity"] == weight
    assert weights["TaintToleration"] == (3 if weight == 2 else 1)
    assert weights["PodTopologySpread"] == 2


def test_the_corpus_is_read() -> None:
    if SHARED is None:
        pytest.skip("needs the shared corpus")
    text = (SHARED / "corpus" / "koordinator" / "sched-config-chart-v1.8.0.yaml").read_text(encoding="utf-8")
    found = read_source(text)
    (profile,) = configuration.read(found.data).profiles
    assert profile.points["preEnqueue"].names == ("Coscheduling",)
    (document,) = parse(text)
    assert document.root
    assert isinstance(lookup(document.root.data, found.path), str)


PLUGIN = {"plugins": {"filter": {"enabled": [{"name": "DeviceShare"}]}}}
COMMON = {"schedulerName": "gangs", "plugins": {"permit": {"enabled": [{"name": "Coscheduling"}]}}}


@pytest.mark.parametrize(
    ("profiles", "ours"),
    [
        ([{"schedulerName": "koord-scheduler"}], True),
        ([{"schedulerName": "team-koord-scheduler"}], True),
        ([PLUGIN], True),
        ([{"pluginConfig": [{"name": "LoadAwareScheduling"}]}], True),
        ([COMMON], False),
        ([COMMON, PLUGIN], True),
        ([{"schedulerName": "default-scheduler"}], False),
        (None, False),
        ("koord-scheduler", False),
    ],
)
def test_which_scheduler_reads_it(profiles: Any, ours: bool) -> None:
    assert configuration.is_for_koordinator({"profiles": profiles}) is ours


def test_the_profile_of_our_scheduler() -> None:
    data = {"profiles": [None, {"schedulerName": "a"}, {"schedulerName": "b"}, {}]}
    assert configuration.read(data).required_profile("b").path == ("profiles", 2)
    assert configuration.read(data).required_profile("default-scheduler").path == ("profiles", 3)
    with pytest.raises(PolicykitError, match="no profile for schedulerName c, only: a, b, default-scheduler"):
        configuration.read(data).required_profile("c")


DEFAULTS = dict(DEFAULT_SCORES)


def _named(*names: str, **weights: int) -> list[dict[str, Any]]:
    return [{"name": n} for n in names] + [{"name": n, "weight": w} for n, w in weights.items()]


SCORING = {
    "nothing said": ({}, DEFAULTS),
    "one more": ({"score": {"enabled": _named("DeviceShare")}}, {"DeviceShare": 1, **DEFAULTS}),
    "a default's weight": (
        {"score": {"enabled": _named(NodeAffinity=9)}},
        {**DEFAULTS, "NodeAffinity": 9},
    ),
    "one disabled": (
        {"score": {"disabled": _named("ImageLocality")}},
        {n: w for n, w in DEFAULTS.items() if n != "ImageLocality"},
    ),
    "all disabled": ({"score": {"disabled": _named("*"), "enabled": _named(X=2)}}, {"X": 2}),
    "disabled everywhere": ({"multiPoint": {"disabled": _named("*")}}, {}),
    "everywhere": (
        {"multiPoint": {"enabled": _named("Coscheduling", "ElasticQuota", TaintToleration=7)}},
        {**DEFAULTS, "TaintToleration": 7, "Coscheduling": 1},
    ),
    "the point beats multiPoint": (
        {"multiPoint": {"enabled": _named(X=7)}, "score": {"enabled": _named(X=3)}},
        {**DEFAULTS, "X": 3},
    ),
    "wrong shapes": ({"score": {"enabled": "x"}, "multiPoint": [1]}, DEFAULTS),
}


@pytest.mark.parametrize(("plugins", "scoring"), SCORING.values(), ids=SCORING)
def test_which_plugins_score(plugins: dict[str, Any], scoring: dict[str, int]) -> None:
    assert configuration.read_profile({"plugins": plugins}).score_weights(release("1.8.0")) == scoring


def test_coscheduling_scores_from_1_8_on() -> None:
    profile = configuration.read_profile({"plugins": {"multiPoint": {"enabled": _named("Coscheduling")}}})
    assert "Coscheduling" not in profile.score_weights(release("1.7.0"))
