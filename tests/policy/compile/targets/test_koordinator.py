"""Options of Koordinator's plugins: compiled to fields of their args, mistakes told with their place."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from policykit.errors import PolicyError
from policykit.policy.models.targets import koordinator as models
from policykit.targets.koordinator.options import KoordinatorOptions, PodClass, koordinator_options
from policykit.targets.koordinator.scheduler import fields
from tests.clusters import policy
from tests.policy.memory import HEAD, load_body, mistakes

STATED = """\
cards: {h20: {product: NVIDIA-H20}}
placements: {wide: {strategy: spread, scheduler: koord-wide}, dense: {strategy: binpack}}
targets:
  koordinator:
    version: "1.8.0"
    profiles: [wide]
    loadAware:
      weight: 3
      usageThresholds: {cpu: 70, h20: 80}
      filterExpiredNodeMetrics: false
      supportedResources: [h20, kubernetes.io/batch-cpu]
      aggregated: {usageThresholds: {cpu: 80}, usageAggregationType: p95, usageAggregatedDuration: 1h}
    coscheduling: {defaultTimeout: 1m30s, enablePreemption: false}
    elasticQuota: {quotaGroupNamespace: quotas, defaultQuotaGroupMax: {h20: 4, memory: 10Gi}}
    deviceShare:
      scoringStrategy: {type: MostAllocated, resources: {koordinator.sh/rdma: 2}}
      gpuSharedResourceTemplatesConfig: {matchedResources: [huawei.com/npu-core]}
      gpuShareUnsupportedModels: [{vendor: huawei, model: 310P}]
    numa: {defaultCPUBindPolicy: FullPCPUs, numaScoringStrategy: {resources: {cpu: 1}}}
    scarce: {resources: [h20]}
"""
GPU = "nvidia.com/gpu"


def test_what_is_stated() -> None:
    settings = load_body(STATED).cluster.targets["koordinator"]
    assert settings.schedulers == ("koord-wide",)
    assert settings.options == KoordinatorOptions(
        args={
            "LoadAwareScheduling": {
                "usageThresholds": {"cpu": 70, GPU: 80},
                "filterExpiredNodeMetrics": False,
                "supportedResources": [GPU, "kubernetes.io/batch-cpu"],
                "aggregated": {
                    "usageThresholds": {"cpu": 80},
                    "usageAggregationType": "p95",
                    "usageAggregatedDuration": "3600s",
                },
            },
            "Coscheduling": {"defaultTimeout": "90s", "enablePreemption": False},
            "ElasticQuota": {
                "quotaGroupNamespace": "quotas",
                "defaultQuotaGroupMax": {GPU: "4", "memory": "10Gi"},
            },
            "DeviceShare": {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "koordinator.sh/rdma", "weight": 2}],
                },
                "gpuSharedResourceTemplatesConfig": {"matchedResources": ["huawei.com/npu-core"]},
                "gpuShareUnsupportedModels": [{"vendor": "huawei", "model": "310P"}],
            },
            "NodeNUMAResource": {
                "defaultCPUBindPolicy": "FullPCPUs",
                "numaScoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": 1}],
                },
            },
            "ScarceResourceAvoidance": {"resources": [GPU]},
        },
        weights={"LoadAwareScheduling": 3},
    )


def test_nothing_stated() -> None:
    body = "targets: {koordinator: {loadAware: {}, numa: {}}}\n"
    assert load_body(body).cluster.targets["koordinator"].options == KoordinatorOptions()


MISTAKES = {
    "a type of fit": ("fit: {h20: {type: Most}}", "targets.koordinator.fit.h20.type"),
    "a weight of fit": ("fit: {h20: {weight: 0}}", "targets.koordinator.fit.h20.weight"),
    "a threshold above 100": ("loadAware: {usageThresholds: {cpu: 101}}", "usageThresholds"),
    "a weight of 0": ("loadAware: {resourceWeights: {cpu: 0}}", "resourceWeights"),
    "no resource": ("loadAware: {usageThresholds: {gpu: 5}}", "'gpu' is neither a resource nor a card"),
    "named twice": (
        "loadAware: {usageThresholds: {nvidia.com/gpu: 5, h20: 6}}",
        "nvidia.com/gpu is listed twice",
    ),
    "a weight without a factor": (
        "loadAware: {resourceWeights: {h20: 5}}",
        "resourceWeights of LoadAwareScheduling has nvidia.com/gpu, but estimatedScalingFactors does not",
    ),
    "percentile thresholds without a percentile": (
        "loadAware: {aggregated: {usageThresholds: {cpu: 5}}}",
        "aggregated has usageThresholds but no usageAggregationType: the thresholds are ignored",
    ),
    "an aggregation": ("loadAware: {aggregated: {scoreAggregationType: p42}}", "scoreAggregationType"),
    "no time": ("coscheduling: {defaultTimeout: 600}", "defaultTimeout"),
    "no worker": ("coscheduling: {controllerWorkers: 0}", "controllerWorkers"),
    "a policy of matching": ("coscheduling: {defaultMatchPolicy: often}", "defaultMatchPolicy"),
    "a negative limit": ("elasticQuota: {defaultQuotaGroupMax: {cpu: -1}}", "defaultQuotaGroupMax"),
    "a strategy": ("deviceShare: {scoringStrategy: {type: BalancedAllocation}}", "type"),
    "nothing scored": (
        "numa: {scoringStrategy: {type: MostAllocated}}",
        "scoringStrategy has no resources",
    ),
    "a card without a model": (
        "deviceShare: {gpuShareUnsupportedModels: [{vendor: huawei}]}",
        "an entry of gpuShareUnsupportedModels has no model",
    ),
    "a policy of binding": ("numa: {defaultCPUBindPolicy: Default}", "defaultCPUBindPolicy"),
    "no placement": ("profiles: [dence]", "there is no placement 'dence'"),
    "a placement without a name for its profile": ("profiles: [dense]", "placement dense has no scheduler"),
    "a field of a newer release": (
        'version: "1.6.1"\n    coscheduling: {enablePreemption: true}',
        "Koordinator 1.6.1 has no field enablePreemption in CoschedulingArgs (added in 1.7)",
    ),
    "a plugin of a newer release": (
        'version: "1.5.0"\n    scarce: {resources: [h20]}',
        "Koordinator 1.5.0 has no field resources in ScarceResourceAvoidanceArgs (added in 1.6)",
    ),
    "an unknown field": ("numa: {fullPCPUs: true}", "has no key 'fullPCPUs'"),
}


@pytest.mark.parametrize(("stated", "says"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(stated: str, says: str) -> None:
    head = "cards: {h20: {product: NVIDIA-H20}}\nplacements: {dense: {strategy: binpack}}\n"
    body = f"{head}targets:\n  koordinator:\n    {stated}\n"
    (said,) = mistakes({"policykit.yaml": HEAD + body})
    assert says in said


SECTIONS: dict[str, type[BaseModel]] = {
    "load_aware": models.LoadAware,
    "coscheduling": models.Coscheduling,
    "elastic_quota": models.ElasticQuota,
    "device_share": models.DeviceShare,
    "numa": models.Numa,
    "scarce": models.ScarceResources,
}
UNSAID = {"estimator", "allocator", "hookPlugins"}
"""Fields without an option: one implementation, deprecated, for plugins compiled in."""


@pytest.mark.parametrize("section", SECTIONS)
def test_every_field_of_the_newest_release_has_an_option(section: str) -> None:
    _, plugin = fields.SECTIONS[section]
    keys = {field.alias or name for name, field in SECTIONS[section].model_fields.items()}
    assert keys - {"weight"} == set(fields.FIELDS[plugin]) - UNSAID


@pytest.mark.parametrize("section", SECTIONS)
def test_options_of_newer_releases_say_so(section: str) -> None:
    _, plugin = fields.SECTIONS[section]
    for name, field in SECTIONS[section].model_fields.items():
        since = fields.since(plugin, field.alias or name)
        if since and since > (1, 4, 0) and section != "scarce":
            assert f"From {fields.release_text(since)}." in (field.description or ""), name


BASE: dict[str, Any] = {
    "priorities": {"low": {"value": 5100}, "high": {"value": 100000}},
    "queues": {"q": {}},
    "tenants": {"a": {"namespaces": ["a-dev"]}, "empty": {"queue": "q"}},
    "workloads": {"batch": {"scheduler": "koord-scheduler"}, "own": {"priorityClass": "low"}},
    "pools": {"web": {"nodes": 1}},
}


def compiled(stated: dict[str, Any]) -> KoordinatorOptions:
    target = {"version": "1.8.0", "colocation": {"workloads": stated}}
    return koordinator_options(policy({**BASE, "targets": {"koordinator": target}}).targets["koordinator"])


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ({"batch": {}}, {"batch": PodClass("prod", "LS")}),
        ({"batch": {"priority": "free"}}, {"batch": PodClass("free", "BE")}),
        (
            {"batch": {"priority": "mid", "qos": "BE", "order": 3, "tenants": ["a"], "namespaces": ["x"]}},
            {"batch": PodClass("mid", "BE", 3, ("a",), ("x",))},
        ),
        ({"own": {"priority": "batch"}}, {"own": PodClass("batch", "BE")}),
    ],
    ids=["by itself", "free", "everything", "a class of its own in the band"],
)
def test_classes_of_pods(stated: dict[str, Any], found: dict[str, PodClass]) -> None:
    assert compiled(stated) == KoordinatorOptions(classes=found)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"batch": {"priority": "batch", "qos": "LSR"}}, "LSR cannot be combined with priority batch"),
        ({"batch": {"priority": "prod", "qos": "BE"}}, "QoS class BE cannot be combined with priority prod"),
        ({"batsh": {}}, "unknown workload kind 'batsh'"),
        ({"batch": {"tenants": ["b"]}}, "unknown tenant 'b'"),
        ({"batch": {"tenants": ["empty"]}}, "tenant empty has no namespaces"),
        ({"batch": {"namespaces": ["A"]}}, "namespace 'A'"),
        (
            {"own": {"priority": "prod"}},
            "kind own has priorityClass low with value 5100, outside the range of prod: 9000 to 9999",
        ),
    ],
    ids=["LSR", "BE as prod", "no kind", "no tenant", "no namespace", "no name", "another band"],
)
def test_what_is_refused(stated: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        compiled(stated)
    assert said in str(raised.value)
