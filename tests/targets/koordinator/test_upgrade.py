"""The configuration merged into what each chart renders: our entries in, everything else as it was."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.generator.artifact import TargetOutput
from policykit.manifests.embedded import strings
from policykit.manifests.parser import parse
from policykit.model.queue import Preemption
from policykit.targets.koordinator.generate import generate
from policykit.targets.koordinator.scheduler import chart, configuration
from policykit.targets.koordinator.versions import parse as release
from tests.shared import SHARED
from tests.targets.koordinator import policies
from tests.targets.koordinator.checker import faults
from tests.tools import tool

CHARTS = {"1.5.0": "1.5.0", "1.6.1": "1.6.0", "1.7.0": "1.7.0", "1.8.0": "1.8.0"}
"""Release of the scheduler to the chart that it is installed by."""
PATH = "koordinator/post-render/koord-scheduler-config.yaml"
OURS = frozenset({"NodeResourcesFitPlus", "ScarceResourceAvoidance"})


def rendered(version: str) -> str:
    """The ConfigMap of the chart that goes with a release."""
    if SHARED is None:
        pytest.skip("needs the shared corpus")
    name = f"sched-config-chart-v{CHARTS[version]}.yaml"
    return (SHARED / "corpus" / "koordinator" / name).read_text(encoding="utf-8")


def config_map(generated: TargetOutput) -> str:
    (text,) = (artifact.text for artifact in generated.artifacts if artifact.path == PATH)
    return text


def inside(text: str) -> dict[str, Any]:
    """The configuration in a ConfigMap."""
    (document,) = parse(text)
    assert document.root
    ((_, node),) = strings(document.root)
    (inner,) = parse(node.data)
    assert inner.root
    data: dict[str, Any] = inner.root.data
    return data


def messages(generated: TargetOutput) -> list[str]:
    return [notice.message for notice in generated.notices]


@pytest.mark.parametrize("version", CHARTS)
def test_what_each_release_starts_with(version: str) -> None:
    data = inside(config_map(generate(policies.cluster(version, config=rendered(version)))))
    assert faults(data, version) == []
    assert [profile["schedulerName"] for profile in data["profiles"]] == ["koord-scheduler", "koord-wide"]


@pytest.mark.parametrize("version", CHARTS)
def test_the_charts_own_configuration_starts(version: str) -> None:
    assert faults(inside(rendered(version)), version) == []


@pytest.mark.parametrize("version", ["1.4.1", *CHARTS])
def test_without_a_given_file_too(version: str) -> None:
    assert faults(inside(config_map(generate(policies.cluster(version)))), version) == []


@pytest.mark.parametrize("version", CHARTS)
def test_everything_else_is_the_charts(version: str) -> None:
    """Taking our entries out again leaves what the chart rendered."""
    before = rendered(version)
    after = config_map(generate(policies.cluster(version, config=before)))
    ours = inside(after)
    theirs = inside(before)
    assert {key: value for key, value in ours.items() if key != "profiles"} == {
        key: value for key, value in theirs.items() if key != "profiles"
    }
    (base,) = theirs["profiles"]
    now = ours["profiles"][0]
    for point, given in base["plugins"].items():
        kept = [each["name"] for each in now["plugins"][point]["enabled"] if each["name"] not in OURS]
        # NodeResourcesFit scores only up to 1.5, where nothing else packs.
        named = [name for name in kept if name != "NodeResourcesFit"]
        assert named == [each["name"] for each in given["enabled"]]
    for entry in base["pluginConfig"]:
        (mine,) = (each for each in now["pluginConfig"] if each["name"] == entry["name"])
        if entry["name"] != "NodeResourcesFit" or version != "1.5.0":
            changed = {"usageThresholds"}
            assert {k: v for k, v in mine["args"].items() if k in entry["args"] and k not in changed} == {
                k: v for k, v in entry["args"].items() if k not in changed
            }
    if version != "1.5.0":
        # Comments of the chart stay where they stand.
        assert all(line in after for line in before.splitlines() if "#" in line)


@pytest.mark.parametrize("version", CHARTS)
def test_merging_again_changes_nothing(version: str) -> None:
    first = config_map(generate(policies.cluster(version, config=rendered(version))))
    assert config_map(generate(policies.cluster(version, config=first))) == first


def test_the_same_policy_over_the_charts_in_turn() -> None:
    """1.6, 1.7, 1.8: what the policy asks for stands in each, and gangs wait where each has them wait."""
    sorts = []
    for version in ("1.6.1", "1.7.0", "1.8.0"):
        data = inside(config_map(generate(policies.cluster(version, config=rendered(version)))))
        (profile, wide) = configuration.read(data).profiles
        args = {each.plugin: each.fields for each in profile.args}
        assert args["NodeResourcesFitPlus"]["resources"][policies.GPU] == {
            "type": "MostAllocated",
            "weight": 10,
        }
        assert args["ScarceResourceAvoidance"] == {"resources": [policies.GPU]}
        assert args["LoadAwareScheduling"]["usageThresholds"] == {"cpu": 70, "memory": 90}
        assert args["Coscheduling"]["defaultTimeout"] == "900s"
        assert args["ElasticQuota"]["monitorAllQuotas"] is True
        assert args["Coscheduling"].get("awareNetworkTopology", False) is (version != "1.6.1")
        assert {each.plugin for each in wide.args} >= {"NodeResourcesFitPlus", "LoadAwareScheduling"}
        assert "ScarceResourceAvoidance" not in {each.plugin for each in wide.args}
        sorts.append([each.name for each in profile.points["queueSort"].enabled])
        assert profile.points["queueSort"] == wide.points["queueSort"]
    assert sorts == [["Coscheduling"], ["PrioritySort"], ["PrioritySort"]]


@pytest.mark.parametrize(
    ("given", "version"), [("1.6.1", "1.7.0"), ("1.6.1", "1.8.0"), ("1.7.0", "1.8.0"), ("1.5.0", "1.8.0")]
)
def test_a_file_of_an_older_chart_starts_with_the_newer_release(given: str, version: str) -> None:
    generated = generate(policies.cluster(version, config=rendered(given)))
    assert faults(inside(config_map(generated)), version) == []
    said = [text for text in messages(generated) if "Coscheduling is not a queueSort plugin" in text]
    assert len(said) == (given in ("1.5.0", "1.6.1"))


def test_a_file_of_a_newer_chart_with_the_older_release() -> None:
    """What the older one does not implement goes, and so does a field it does not know."""
    generated = generate(policies.cluster("1.6.1", config=rendered("1.8.0")))
    assert faults(inside(config_map(generated)), "1.6.1") == []
    said = "\n".join(messages(generated))
    assert "no field enablePreemption in CoschedulingArgs (added in 1.7)" in said
    assert "no field gpuShareUnsupportedModels in DeviceShareArgs (added in 1.8)" in said
    assert "SchedulingHint is not a preFilter plugin in Koordinator 1.6.1" in said


@pytest.mark.parametrize("version", CHARTS)
def test_a_policy_without_anything_new_sets_nothing_new(version: str) -> None:
    plain = policies.cluster(
        version, placements=(), workloads=(), options={}, preemption=Preemption(), queues=()
    )
    generated = generate(plain)
    if release(version) < release("1.6.0"):
        assert generated.artifacts == ()
        return
    profile = inside(config_map(generated))["profiles"][0]
    before = chart.configuration(release(version), chart.NAMESPACE)["profiles"][0]
    assert [e for e in profile["pluginConfig"] if e["name"] not in OURS] == before["pluginConfig"]
    assert {e["name"] for e in profile["pluginConfig"]} - {e["name"] for e in before["pluginConfig"]} == {
        "NodeResourcesFitPlus"
    }
    assert "disabled" not in profile["plugins"]["score"]


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: koord-scheduler, namespace: koordinator-system}
spec:
  selector: {matchLabels: {koord-app: koord-scheduler}}
  template:
    metadata: {labels: {koord-app: koord-scheduler}}
    spec: {containers: [{name: scheduler, image: koord-scheduler}]}
"""


@pytest.mark.parametrize("version", ["1.6.1", "1.7.0", "1.8.0"])
def test_the_component_over_the_rendered_chart(version: str, tmp_path: Path) -> None:
    """What kustomize makes of the chart: its ConfigMap with our configuration, its Deployment rolled."""
    kustomize = tool("kustomize")
    for artifact in generate(policies.cluster(version)).artifacts:
        path = tmp_path / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text, encoding="utf-8")
    (tmp_path / "chart.yaml").write_text(f"{rendered(version)}\n---\n{DEPLOYMENT}", encoding="utf-8")
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [chart.yaml]\ncomponents: [koordinator/post-render]\n", encoding="utf-8"
    )
    built = subprocess.run([kustomize, "build", str(tmp_path)], capture_output=True, text=True, check=True)
    made = {document["kind"]: document for document in yaml.safe_load_all(built.stdout)}
    data = yaml.safe_load(made["ConfigMap"]["data"]["koord-scheduler-config"])
    assert faults(data, version) == []
    assert data == inside(config_map(generate(policies.cluster(version))))
    assert (
        "policykit.io/koord-scheduler-config"
        in made["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    )
