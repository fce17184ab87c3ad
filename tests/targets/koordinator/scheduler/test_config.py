"""Given configurations: found, their profile chosen, their scoring plugins listed."""

from typing import Any

import pytest

from policykit.errors import PolicykitError
from policykit.targets.koordinator.scheduler import config
from policykit.targets.koordinator.versions import parse

BARE = "kind: KubeSchedulerConfiguration\nprofiles: []\n"
CONFIG_MAP = "kind: ConfigMap\ndata:\n  x: |\n    kind: KubeSchedulerConfiguration\n  y: |\n    a: b\n"


def test_bare_and_inside_a_config_map() -> None:
    assert config.read(BARE).path == ()
    assert config.read(CONFIG_MAP).path == ("data", "x")
    assert config.read(CONFIG_MAP).inner == "kind: KubeSchedulerConfiguration\n"
    assert config.read(f"kind: Service\n---\n{CONFIG_MAP}").document == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: ConfigMap\n", "0 documents"),
        (f"{BARE}---\n{BARE}", "2 documents"),
        ("data: {{ .Values.x }}\n", "koord-scheduler-config"),
        ("a: [\n", "not YAML"),
    ],
)
def test_what_cannot_be_read(text: str, says: str) -> None:
    with pytest.raises(PolicykitError, match=says):
        config.read(text)


def test_the_profile_of_our_scheduler() -> None:
    data = {"profiles": [None, {"schedulerName": "a"}, {"schedulerName": "b"}, {}]}
    assert config.profile(data, "b")[0] == 2
    assert config.profile(data, "default-scheduler")[0] == 3
    with pytest.raises(PolicykitError, match="no profile for schedulerName c, only: a, b, default-scheduler"):
        config.profile(data, "c")


DEFAULTS = dict(config.DEFAULT_SCORES)


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
    assert config.scoring_plugins({"plugins": plugins}, parse("1.8.0")) == scoring


def test_coscheduling_scores_from_1_8_on() -> None:
    profile = {"plugins": {"multiPoint": {"enabled": _named("Coscheduling")}}}
    assert "Coscheduling" not in config.scoring_plugins(profile, parse("1.7.0"))
