"""Which workload kind a pod set is, and which step of recognition decided."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.model.cluster import Cluster
from tests.clusters import policy, profile
from tests.placement.pods import H20, PRODUCT, USAGE, look, pod, required, tolerate

POOLS = {
    "train": {"usage": "training", "card": "h20", "nodes": 1},
    "infer": {"usage": "inference", "card": "h20", "nodes": 1},
    "hybrid": {"usage": "hybrid", "card": "h20", "nodes": 1},
}
BASE = {"domain": "maip.mxsf.io", "cards": {"h20": H20}, "pools": POOLS}


def cluster(**workloads: dict[str, Any]) -> Cluster:
    return policy({**BASE, "workloads": workloads})


def decided(manifest: dict[str, Any], there: Cluster) -> tuple[str, str]:
    review = look(manifest, there)
    return review.workload.name if review.workload else "", review.decided_by


def job(kind: str = "Job", api_version: str = "batch/v1", cards: int = 1) -> dict[str, Any]:
    template = {"spec": {**pod(cards)["spec"], "restartPolicy": "Never"}}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "nightly-7b", "namespace": "team", "labels": {"tier": "batch"}},
        "spec": {"tasks": [{"name": "main", "replicas": 1, "template": template}], "template": template},
    }


@pytest.mark.parametrize("holder", ["labels", "annotations"])
@pytest.mark.parametrize("place", ["owner", "template"])
def test_step_1_named(holder: str, place: str) -> None:
    manifest = job()
    at = manifest if place == "owner" else manifest["spec"]["template"]
    at.setdefault("metadata", {})[holder] = {"policykit.io/workload": "inference"}
    name = f"{holder.removesuffix('s')} policykit.io/workload"
    assert decided(manifest, profile("hybrid-volcano")) == ("inference", name)


def test_step_1_a_name_that_no_kind_has_decides_too() -> None:
    manifest = pod(labels={"policykit.io/workload": "other"}, tolerations=tolerate(USAGE, "training"))
    assert decided(manifest, profile("hybrid-volcano")) == ("", "")


@pytest.mark.parametrize(
    ("match", "matches"),
    [
        pytest.param({"kinds": ["Job"]}, True, id="API kind"),
        pytest.param({"kinds": ["batch/Job"]}, True, id="API kind with its group"),
        pytest.param({"kinds": ["batch.volcano.sh/Job"]}, False, id="another group"),
        pytest.param({"namespaces": ["team"]}, True, id="namespace"),
        pytest.param({"namespaces": ["default"]}, False, id="another namespace"),
        pytest.param({"labels": {"tier": "batch"}}, True, id="label"),
        pytest.param({"labels": {"tier": "batch", "x": "y"}}, False, id="one label of two"),
        pytest.param({"names": ["*-7b"]}, True, id="glob"),
        pytest.param({"names": ["*-70b"]}, False, id="another glob"),
        pytest.param({"kinds": ["Job"], "names": ["*-70b"]}, False, id="all parts must hold"),
        pytest.param([{"names": ["*-70b"]}, {"kinds": ["Job"]}], True, id="one of several"),
    ],
)
def test_step_2_match(match: object, matches: bool) -> None:
    there = cluster(nightly={"match": match})
    expected = ("nightly", "match of workload kind nightly") if matches else ("", "")
    assert decided(job(), there) == expected


def test_step_2_goes_in_the_order_of_the_file() -> None:
    there = cluster(first={"match": {"kinds": ["Job"]}}, second={"match": {"names": ["nightly-*"]}})
    assert decided(job(), there)[0] == "first"


TWO = {
    "training": {"usages": ["training", "hybrid"], "prefer": {"training": 100}},
    "inference": {"usages": ["inference", "hybrid"], "prefer": {"inference": 100, "hybrid": 10}},
}


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        pytest.param({"nodeSelector": {USAGE: "training"}}, "training", id="selector"),
        pytest.param({"affinity": required([(USAGE, "In", ["training"])])}, "training", id="affinity"),
        pytest.param({"tolerations": tolerate(USAGE, "inference")}, "inference", id="tolerations"),
        pytest.param({"tolerations": tolerate(USAGE, "training", "inference")}, "", id="two kinds"),
        pytest.param({"tolerations": tolerate(USAGE)}, "", id="Exists names no value"),
        pytest.param({"tolerations": tolerate(PRODUCT, "NVIDIA-H20")}, "", id="another key"),
        pytest.param(
            {"nodeSelector": {USAGE: "training"}, "tolerations": tolerate(USAGE, "inference")},
            "training",
            id="what it selects comes first",
        ),
        pytest.param(
            {"nodeSelector": {"room": "a"}, "tolerations": tolerate(USAGE, "inference")},
            "inference",
            id="it selects no usage",
        ),
        pytest.param({"affinity": required([(USAGE, "NotIn", ["training"])])}, "", id="NotIn selects none"),
    ],
)
def test_step_3_usages(spec: dict[str, Any], kind: str) -> None:
    assert decided(pod(**spec), cluster(**TWO))[0] == kind


def test_step_3_a_usage_that_two_kinds_prefer_says_nothing() -> None:
    both = {**TWO, "training": {"usages": ["training", "hybrid"], "prefer": {"training": 100, "hybrid": 1}}}
    assert decided(pod(tolerations=tolerate(USAGE, "hybrid")), cluster(**both))[0] == ""
    assert decided(pod(tolerations=tolerate(USAGE, "hybrid", "training")), cluster(**both))[0] == "training"


def test_step_3_is_not_for_daemon_sets() -> None:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": pod(tolerations=tolerate(USAGE, "training"))["spec"],
    }
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "app"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    assert decided(manifest, cluster(**TWO)) == ("", "")


def test_step_4_the_api_kind() -> None:
    there = cluster(**TWO)
    volcano = job(api_version="batch.volcano.sh/v1alpha1")
    words = "Job requests a card and is a training kind"
    assert decided(volcano, there) == ("training", words)
    assert decided(job(api_version="batch.volcano.sh/v1alpha1", cards=0), there) == ("", "")
    assert decided(job(), there) == ("", "")


SPARE = ["hybrid"]


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        pytest.param({"usages": ["training"]}, "training", id="usage"),
        pytest.param({"usages": ["inference", *SPARE]}, "serving", id="hybrid says nothing"),
        pytest.param({"usages": ["training", "inference"]}, "", id="two usages"),
        pytest.param(
            {"usages": ["training", "inference"], "prefer": {"inference": 1}}, "serving", id="preferred usage"
        ),
        pytest.param(
            {"usages": ["training", *SPARE], "prefer": {"hybrid": 1}}, "training", id="prefers hybrid"
        ),
        pytest.param({"usages": SPARE}, "", id="hybrid only"),
        pytest.param({}, "", id="no usage"),
        pytest.param({"role": "serving", "usages": ["training"]}, "serving", id="declared"),
    ],
)
def test_the_role_of_a_kind(fields: dict[str, Any], role: str) -> None:
    """Its name says nothing."""
    for name in ("training", "inference", "serving", "x"):
        assert cluster(**{name: fields}).workloads[name].role == role


@pytest.mark.parametrize("usage", ["research", "serving"])
def test_a_usage_of_ones_own_needs_a_declared_role(usage: str) -> None:
    pools = {"own": {"usage": usage, "card": "h20", "nodes": 1}}
    kind = {"usages": [usage], "prefer": {usage: 1}}
    for role, said in (({}, ""), ({"role": "training"}, "training")):
        there = policy({**BASE, "pools": pools, "workloads": {"training": {**kind, **role}}})
        assert there.workloads["training"].role == said


@pytest.mark.parametrize(
    ("workloads", "kind"),
    [
        pytest.param(
            {"train": {"usages": ["training"]}, "serve": {"usages": ["inference"]}}, "train", id="one"
        ),
        pytest.param({"training": {}, "big": {"role": "training"}}, "big", id="not by name"),
        pytest.param({"a": {"role": "training"}, "b": {"usages": ["training"]}}, "", id="two of a role"),
        pytest.param({"a": {"role": "serving"}}, "", id="another role"),
    ],
)
def test_step_4_roles(workloads: dict[str, Any], kind: str) -> None:
    manifest = job(api_version="batch.volcano.sh/v1alpha1")
    assert decided(manifest, cluster(**workloads))[0] == kind


def test_inside_another_object_the_inner_one_decides() -> None:
    inner = {**job(), "metadata": {"name": "nightly-7b"}}
    manifest = {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "outer", "namespace": "team"},
        "spec": {"components": [{"template": inner}]},
    }
    there = cluster(nightly={"match": {"kinds": ["Job"], "names": ["nightly-*"], "namespaces": ["team"]}})
    assert decided(manifest, there)[0] == "nightly"
