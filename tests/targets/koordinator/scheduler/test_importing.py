"""koord-scheduler's configuration back as policy: what was generated is generated again."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.importer.policy import ImportResult, policy_of
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.targets.koordinator.generate import generate
from policykit.targets.koordinator.options import KoordinatorOptions, koordinator_options
from policykit.targets.koordinator.scheduler import chart
from policykit.targets.koordinator.versions import parse
from tests.clusters import policy
from tests.importer.cluster_files import as_file, generated, nodes_of
from tests.shared import SHARED

HEAD: dict[str, Any] = {
    "domain": "maip.example.com",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"train": {"usage": "training", "card": "h20", "nodes": 4}},
}
GANG = {"scheduler": "koord-scheduler", "usages": ["training"]}
SECTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "fit": {"fit": {"h20": {"type": "MostAllocated", "weight": 30}}},
    "loadAware": {
        "loadAware": {
            "weight": 3,
            "usageThresholds": {"cpu": 70},
            "resourceWeights": {"cpu": 2, "memory": 1},
            "estimatedScalingFactors": {"cpu": 80, "memory": 60},
            "dominantResourceWeight": 10,
            "aggregated": {
                "usageThresholds": {"cpu": 80},
                "usageAggregationType": "p95",
                "usageAggregatedDuration": "5m",
            },
        }
    },
    "coscheduling": {"coscheduling": {"defaultTimeout": "5m", "enablePreemption": False}},
    "elasticQuota": {
        "elasticQuota": {
            "delayEvictTime": "2m",
            "enableRuntimeQuota": False,
            "defaultQuotaGroupMax": {"cpu": "10"},
        }
    },
    "deviceShare": {
        "deviceShare": {
            "weight": 2,
            "scoringStrategy": {"type": "MostAllocated", "resources": {"koordinator.sh/gpu-memory-ratio": 5}},
        }
    },
    "numa": {
        "numa": {
            "defaultCPUBindPolicy": "SpreadByPCPUs",
            "numaScoringStrategy": {"type": "MostAllocated", "resources": {"cpu": 1}},
        }
    },
    "scarce": {"scarce": {"resources": ["nvidia.com/gpu"]}},
    "scarce with a weight": {"scarce": {"weight": 7, "resources": ["nvidia.com/gpu"]}},
}
PLACEMENTS: dict[str, dict[str, Any]] = {
    "packed": {"strategy": "binpack"},
    "spread": {"strategy": "spread"},
    "by resource": {
        "strategy": "binpack",
        "resources": {"h20": 10, "cpu": {"strategy": "spread", "weight": 2}},
    },
    "avoiding": {"strategy": "binpack", "avoid": ["h20"]},
    "a shape": {
        "strategy": "binpack",
        "resources": {"h20": 3},
        "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
    },
}


def inner(cluster: Cluster) -> str:
    """The ConfigMap that is generated."""
    made = generate(cluster).artifacts
    (text,) = (a.text for a in made if a.path.endswith("post-render/koord-scheduler-config.yaml"))
    return text


def back(cluster: Cluster) -> ImportResult:
    """The policy of everything that is generated for a cluster, and of its nodes."""
    return policy_of({**generated(cluster), "nodes.json": as_file(nodes_of(cluster))})


def stated(
    options: dict[str, Any], placements: dict[str, Any] | None = None, version: str = "1.8.0"
) -> Cluster:
    """One kind under koord-scheduler, with options and placements."""
    kind = {**GANG, **({"placement": "dense"} if placements and "dense" in placements else {})}
    return policy(
        {
            **HEAD,
            "workloads": {"training": kind},
            "placements": placements or {},
            "targets": {"koordinator": {"version": version, **options}},
        }
    )


@pytest.mark.parametrize("version", ["1.7.0", "1.8.0"])
@pytest.mark.parametrize("options", SECTIONS.values(), ids=SECTIONS)
def test_options_come_back(options: dict[str, Any], version: str) -> None:
    cluster = stated(options, version=version)
    made = back(cluster)
    assert inner(made.cluster) == inner(cluster)
    assert not [remark for remark in made.remarks if "koord" in remark]
    target, before = made.cluster.targets["koordinator"], cluster.targets["koordinator"]
    assert target.options == before.options


@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=PLACEMENTS)
def test_placements_come_back(placement: dict[str, Any]) -> None:
    """By another name: a profile has only that of its scheduler."""
    cluster = stated({}, {"dense": placement})
    made = back(cluster)
    assert inner(made.cluster) == inner(cluster)
    assert not [remark for remark in made.remarks if "koord" in remark]
    (found,) = made.cluster.placements.values()
    assert found._replace(name="dense", scheduler="") == cluster.placements["dense"]


def test_weights_that_are_computed_from_others_are_not_stated() -> None:
    options = {"loadAware": {"weight": 5}, "deviceShare": {"weight": 2}}
    cluster = stated(options, {"dense": PLACEMENTS["avoiding"]})
    made = back(cluster)
    assert inner(made.cluster) == inner(cluster)
    assert made.cluster.targets["koordinator"].options == cluster.targets["koordinator"].options


@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=PLACEMENTS)
def test_a_profile_of_its_own_comes_back(placement: dict[str, Any]) -> None:
    wide = {**placement, "scheduler": "koord-wide"}
    cluster = stated({"profiles": ["wide"], "loadAware": {"weight": 2}}, {"wide": wide})
    made = back(cluster)
    assert inner(made.cluster) == inner(cluster)
    assert not [remark for remark in made.remarks if "koord" in remark]
    assert made.cluster.placements["koord-wide"] == cluster.placements["wide"]._replace(name="koord-wide")
    assert made.cluster.targets["koordinator"].options == cluster.targets["koordinator"].options


def test_what_a_policy_cannot_say_is_told() -> None:
    cluster = stated({})
    files = generated(cluster)
    path = next(path for path in files if path.endswith("post-render/koord-scheduler-config.yaml"))
    text = (
        files[path]
        .decode()
        .replace("weight: 5000", "weight: 4000")
        .replace(
            "quotaGroupNamespace: koordinator-system",
            "quotaGroupNamespace: koordinator-system\n              hookPlugins: [{key: a}]",
        )
    )
    made = policy_of({**files, path: text.encode(), "nodes.json": as_file(nodes_of(cluster))})
    assert [remark for remark in made.remarks if "oord" in remark or "Quota" in remark] == [
        f"{path}: ElasticQuota: a policy has no option for hookPlugins; left out",
        f"{path} differs from what this policy generates: args of ElasticQuota, plugins at score. "
        "To keep the rest, name the file in targets.koordinator.config",
    ]


@pytest.mark.parametrize(
    ("rendered", "release"), [("1.5.0", "1.5.0"), ("1.6.0", "1.6.0"), ("1.7.0", "1.7.0"), ("1.8.0", "1.8.0")]
)
def test_a_charts_configuration_tells_its_release(rendered: str, release: str) -> None:
    if SHARED is None:
        pytest.skip("needs the shared corpus")
    text = (SHARED / "corpus" / "koordinator" / f"sched-config-chart-v{rendered}.yaml").read_bytes()
    made = policy_of({"chart.yaml": text, "nodes.json": as_file(nodes_of(stated({})))})
    target = made.cluster.targets["koordinator"]
    assert target.version == release
    assert target.options == KoordinatorOptions()


@pytest.mark.parametrize("version", ["1.5.0", "1.6.1", "1.7.0", "1.8.0"])
def test_so_does_what_is_generated(version: str) -> None:
    """Without the page, which says it."""
    cluster = stated({"loadAware": {"weight": 2}}, {"dense": PLACEMENTS["packed"]}, version)
    files = {path: text for path, text in generated(cluster).items() if not path.endswith("README.md")}
    made = policy_of({**files, "nodes.json": as_file(nodes_of(cluster))})
    assert made.cluster.targets["koordinator"].version == version
    assert inner(made.cluster) == inner(cluster)


def test_a_charts_value_is_an_option() -> None:
    """scheduler.enableJobPreemption: false, which the chart says by leaving a field out."""
    written = chart.configuration(parse("1.8.0"), chart.NAMESPACE, job_preemption=False)
    text = chart.config_map(writer.dump(written), chart.NAMESPACE)
    made = policy_of({"conf.yaml": text.encode(), "nodes.json": as_file(nodes_of(stated({})))})
    found = koordinator_options(made.cluster.targets["koordinator"])
    assert found.fields("Coscheduling") == {"enablePreemption": False}
    assert not [remark for remark in made.remarks if "Coscheduling" in remark or "postFilter" in remark]
