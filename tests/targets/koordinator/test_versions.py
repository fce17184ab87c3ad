"""Releases as they are written."""

import pytest
import yaml

from policykit import api
from policykit.errors import PolicykitError
from policykit.model.release import Version
from policykit.targets.koordinator.versions import RELEASES, parse
from tests.clusters import policy


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("", RELEASES.newest),
        ("v1.7", (1, 7, 0)),
        ("1.6", (1, 6, 0)),
        ("1.6.1", (1, 6, 1)),
        ("1.99.0", RELEASES.newest),
        ("1.5.0", (1, 5, 0)),
    ],
)
def test_versions_as_written(text: str, version: tuple[int, int, int]) -> None:
    assert parse(text) == Version(*version)


@pytest.mark.parametrize("text", ["2.0.0", "newest"])
def test_no_release(text: str) -> None:
    with pytest.raises(PolicykitError, match="not a release of Koordinator"):
        parse(text)


@pytest.mark.parametrize(("version", "keys"), [("1.3.0", "Name Weight"), ("1.4.0", "name weight")])
def test_keys_of_resources_that_the_decoder_of_a_release_reads(version: str, keys: str) -> None:
    """Those of kube-scheduler's own plugins are in lower case in every release."""
    weights = {"koordinator.sh/gpu-core": 1}
    strategy = {"scoringStrategy": {"type": "MostAllocated", "resources": weights}}
    target = {"version": version, "delivery": "post-render", "deviceShare": strategy}
    made = api.generate(policy({"targets": {"koordinator": target}}))
    (text,) = (each.text for each in made.artifacts if each.path.endswith("koord-scheduler-config.yaml"))
    (profile,) = yaml.safe_load(yaml.safe_load(text)["data"]["koord-scheduler-config"])["profiles"]
    found = {
        each["name"]: " ".join(each["args"]["scoringStrategy"]["resources"][0])
        for each in profile["pluginConfig"]
        if "scoringStrategy" in each["args"]
    }
    assert found == {"DeviceShare": keys, "NodeResourcesFit": "name weight"}
