"""Configurations in their own words: written and read, with positions."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.manifests.parser import parse
from policykit.manifests.path import lookup
from policykit.model.cluster import Target
from policykit.targets.koordinator.read import read
from policykit.targets.koordinator.scheduler import args, chart, configuration, options
from policykit.targets.koordinator.scheduler.args import Args
from policykit.targets.koordinator.scheduler.configuration import Configuration, Plugin, Point, Profile
from policykit.targets.koordinator.scheduler.options import Options
from policykit.targets.koordinator.versions import parse as release
from tests.shared import SHARED

NAMES = st.sampled_from(["Coscheduling", "Reservation", "NodeResourcesFitPlus", "x"])
VALUES = st.recursive(
    st.booleans() | st.integers(-5, 500) | st.text("ab 1", max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
FIELDS = st.dictionaries(
    st.sampled_from(["resources", "defaultTimeout", "scoringStrategy"]), VALUES, max_size=3
)
TEXTS = st.sampled_from(["", "kubescheduler.config.k8s.io/v1", "NodeResourcesFitPlusArgs"])
ARGS = st.builds(Args, NAMES, FIELDS, TEXTS, TEXTS)
PLUGINS = st.builds(Plugin, NAMES, st.none() | st.integers(0, 5000))
POINTS = st.builds(
    Point,
    st.lists(PLUGINS, max_size=3).map(tuple),
    st.lists(st.sampled_from(["*", "NodeResourcesFit"]), max_size=2).map(tuple),
)
PROFILES = st.builds(
    Profile,
    st.sampled_from(["koord-scheduler", "default-scheduler"]),
    st.lists(ARGS, max_size=3).map(tuple),
    st.dictionaries(st.sampled_from(["score", "queueSort", "multiPoint"]), POINTS, max_size=3),
    st.dictionaries(st.just("percentageOfNodesToScore"), st.integers(0, 100)),
)
CONFIGURATIONS = st.builds(
    Configuration,
    TEXTS,
    st.lists(PROFILES, max_size=3).map(tuple),
    st.dictionaries(st.sampled_from(["leaderElection", "parallelism"]), VALUES, max_size=2),
)


@given(ARGS)
def test_args_come_back(made: Args) -> None:
    assert args.read(args.write(made)) == made


@given(CONFIGURATIONS)
def test_configurations_come_back(made: Configuration) -> None:
    assert configuration.read(configuration.write(made)) == made


@settings(deadline=None)
@given(CONFIGURATIONS)
def test_configurations_come_back_from_text(made: Configuration) -> None:
    """A document of its own, and a string of a ConfigMap."""
    made = made._replace(api_version="kubescheduler.config.k8s.io/v1")
    text = writer.dump(configuration.write(made))
    (plain,) = read(text)
    assert (plain.value, plain.document, plain.path, plain.inner) == (made, 0, (), None)
    (held,) = read(f"---\nkind: Service\n---\n{chart.config_map(text, 'ns')}")
    assert (held.value, held.document, held.path, held.inner) == (made, 1, ("data", chart.KEY), ())


SECTIONS = st.dictionaries(
    st.sampled_from(list(options.SECTIONS.values())),
    st.dictionaries(st.sampled_from(["resources", "defaultTimeout"]), VALUES, min_size=1, max_size=2),
)
WEIGHTS = st.dictionaries(st.sampled_from(list(options.SECTIONS.values())), st.integers(1, 9))


@given(SECTIONS, WEIGHTS)
def test_options_come_back(stated: dict[str, Any], weights: dict[str, int]) -> None:

    made = Options(stated, weights)
    assert options.read(Target("koordinator", options=options.write(made))) == made


@given(VALUES)
def test_no_shape_is_an_error(data: object) -> None:
    configuration.read(data)
    configuration.read(
        {"profiles": [data, {"plugins": {"score": data}, "pluginConfig": [data, {"name": data}]}]}
    )
    args.read(data)
    configuration.profile_place(data, "x")
    configuration.args_place({"pluginConfig": data}, "x")
    configuration.plugin_place({"plugins": {"score": data}}, "score", "x")


@pytest.mark.parametrize("version", ["1.4.1", "1.5.0", "1.6.1", "1.7.0", "1.8.0"])
def test_places(version: str) -> None:
    data = chart.configuration(release(version), "ns")
    here = configuration.profile_place(data, "koord-scheduler")
    assert here == ("profiles", 0)
    profile: Any = lookup(data, here)
    place = configuration.args_place(profile, "LoadAwareScheduling")
    assert place == ("pluginConfig", 1, "args")
    assert lookup(data, (*here, *place, "usageThresholds")) == {"cpu": 65, "memory": 95}
    enabled = configuration.plugin_place(profile, "score", "Reservation")
    assert enabled == ("plugins", "score", "enabled", 3)
    assert lookup(data, (*here, *enabled, "weight")) == 5000
    assert configuration.plugin_place(profile, "queueSort", "*", "disabled") == (
        *("plugins", "queueSort", "disabled"),
        0,
    )
    assert configuration.plugin_place(profile, "score", "NodeResourcesFitPlus") is None


def test_the_corpus_is_read() -> None:
    if SHARED is None:
        pytest.skip("needs the shared corpus")
    text = (SHARED / "corpus" / "koordinator" / "sched-config-chart-v1.8.0.yaml").read_text(encoding="utf-8")
    (found,) = read(text)
    (profile,) = found.value.profiles
    assert [plugin.name for plugin in profile.points["preEnqueue"].enabled] == ["Coscheduling"]
    (document,) = parse(text)
    assert document.root
    assert isinstance(lookup(document.root.data, found.path), str)
