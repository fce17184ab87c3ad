"""The loop closes: what `gen` writes for a workload lands where the policy says, and lints clean."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from policykit import api
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.pool import Card
from policykit.model.workload import WorkloadKind
from policykit.placement.desired_placement import desired_placement
from policykit.placement.review import Review
from policykit.targets.volcano.job_patches import metadata_patch, spec_patch
from policykit.targets.workloads.components import BUILT_IN, BuiltIn
from policykit.targets.workloads.generate import pod_spec, strategic_patch
from tests.clusters import policy, profile

MIXED = {
    "domain": "maip.mxsf.io",
    "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
    "pools": {
        "train-h20": {"usage": "training", "card": "h20", "nodes": 4},
        "infer-l20": {"usage": "inference", "card": "l20", "nodes": 4},
        "infer-h20": {
            "usage": "inference",
            "card": "h20",
            "nodes": 4,
            "scheme": {"usage": {"taint": False}, "product": {"taint": False}},
        },
        "hybrid-h20": {"usage": "hybrid", "card": "h20", "nodes": 2},
        "system": {"nodes": 3},
    },
    "workloads": {
        "training": {"usages": ["training", "hybrid"], "prefer": {"training": 100}, "scheduler": "volcano"},
        "inference": {"usages": ["inference", "hybrid"], "prefer": {"inference": 100, "hybrid": 10}},
    },
    "targets": {"volcano": {}},
}

VOLCANO = BuiltIn("Volcano Job", "batch.volcano.sh/v1alpha1", ("spec", "tasks", "0", "template"))


def clusters() -> dict[str, Cluster]:
    return {"hybrid-volcano": profile("hybrid-volcano"), "mixed": policy(MIXED)}


def pairs() -> Iterator[Any]:
    for name, cluster in clusters().items():
        for workload in cluster.workloads.values():
            for card in cluster.cards.values():
                if not desired_placement(cluster, workload, card).pools:
                    continue
                for kind in (*BUILT_IN, VOLCANO):
                    yield pytest.param(
                        cluster, workload, card, kind, id=f"{name} {workload.name} {card.name} {kind.kind}"
                    )


def bare(kind: BuiltIn, card: Card) -> dict[str, Any]:
    """The smallest manifest of a kind that asks for one card."""
    pod = {
        "containers": [
            {
                "name": "main",
                "image": "registry.example/app:1",
                "resources": {"limits": {"cpu": 1, card.resource: 1}},
            }
        ]
    }
    if kind.kind in ("Job", "CronJob", "Volcano Job"):
        pod["restartPolicy"] = "Never"  # type: ignore[assignment]
    labels = {"app": "app"}
    template: dict[str, Any] = {"metadata": {"labels": dict(labels)}, "spec": pod}
    head = {"apiVersion": kind.api_version, "kind": kind.kind.split()[-1], "metadata": {"name": "app"}}
    selector = {"matchLabels": labels}
    match kind.kind:
        case "Pod":
            return {**head, "metadata": {"name": "app", "labels": labels}, "spec": pod}
        case "PodTemplate":
            return {**head, "template": template}
        case "CronJob":
            return {
                **head,
                "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}},
            }
        case "Job":
            return {**head, "spec": {"template": template}}
        case "Volcano Job":
            return {**head, "spec": {"tasks": [{"name": "worker", "replicas": 1, "template": template}]}}
        case "ReplicationController":
            return {**head, "spec": {"selector": labels, "template": template}}
        case "StatefulSet":
            return {**head, "spec": {"serviceName": "app", "selector": selector, "template": template}}
        case _:
            return {**head, "spec": {"selector": selector, "template": template}}


def merged(base: Any, patch: Any) -> Any:
    """A strategic merge patch whose lists have no merge key, as those of placement have none."""
    if not isinstance(base, dict) or not isinstance(patch, dict):
        return deepcopy(patch)
    result = deepcopy(base)
    for key, value in patch.items():
        result[key] = merged(result.get(key), value) if key in result else deepcopy(value)
    return result


def patched(cluster: Cluster, workload: WorkloadKind, card: Card, kind: BuiltIn) -> dict[str, Any]:
    """The bare manifest with the generated patch applied."""
    want = desired_placement(cluster, workload, card)
    manifest: dict[str, Any] = bare(kind, card)
    if kind is VOLCANO:
        manifest = merged(manifest, metadata_patch(workload, cluster))
        for operation in spec_patch(workload, pod_spec(workload, want), cluster):
            assert operation["op"] == "add"
            *parents, last = operation["path"].strip("/").split("/")
            at: Any = manifest
            for step in parents:
                at = at[int(step)] if isinstance(at, list) else at[step]
            at[last] = operation["value"]
    else:
        manifest = merged(manifest, strategic_patch(kind, workload, want, cluster))
    manifest["metadata"]["name"] = "app"
    return manifest


def review(cluster: Cluster, manifest: dict[str, Any]) -> Review:
    (only,) = api.where(dump(manifest).encode(), cluster)
    return only


def findings(cluster: Cluster, manifest: dict[str, Any]) -> list[str]:
    report = api.lint_texts({"app.yaml": dump(manifest).encode()}, cluster)
    return [f"{f.code} {f.message}" for f in report.findings]


def verdicts(cluster: Cluster, manifest: dict[str, Any]) -> dict[str, str]:
    return {landing.pool.name: landing.verdict for landing in review(cluster, manifest).landings}


@pytest.mark.parametrize(("cluster", "workload", "card", "kind"), list(pairs()))
def test_patched_lands_on_exactly_the_pools_meant(
    cluster: Cluster, workload: WorkloadKind, card: Card, kind: BuiltIn
) -> None:
    manifest = patched(cluster, workload, card, kind)
    looked = review(cluster, manifest)
    assert looked.workload is not None
    assert looked.workload.name == workload.name
    meant = [p.name for p in cluster.pools if p.card == card.name and p.usage in workload.usages]
    assert [pool.name for pool in looked.accepting] == meant
    best = max(workload.prefer.get(cluster.pool(name).usage, 0) for name in meant)
    preferred = [name for name in meant if 0 < best == workload.prefer.get(cluster.pool(name).usage, 0)]
    assert [landing.pool.name for landing in looked.landings if landing.verdict == "preferred"] == preferred
    assert findings(cluster, manifest) == []


def spec_of(manifest: dict[str, Any], kind: BuiltIn) -> dict[str, Any]:
    at: Any = manifest
    for step in kind.template:
        at = at[int(step)] if isinstance(at, list) else at[step]
    spec = at["spec"]
    assert isinstance(spec, dict)
    return spec


def changes(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every way to remove or change one toleration or one term."""
    for at, toleration in enumerate(spec.get("tolerations", [])):
        for what, change in (
            ("removed", None),
            ("another value", {**toleration, "operator": "Equal", "value": "other"}),
            ("another effect", {**toleration, "effect": "NoExecute"}),
            ("another key", {**toleration, "key": "example.com/other"}),
        ):
            copy = deepcopy(spec)
            copy["tolerations"] = [
                *copy["tolerations"][:at],
                *([change] if change else []),
                *copy["tolerations"][at + 1 :],
            ]
            yield f"toleration {at} {what}", copy
    node = spec.get("affinity", {}).get("nodeAffinity", {})
    required, preferred = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    if required in node:
        copy = deepcopy(spec)
        del copy["affinity"]["nodeAffinity"][required]
        yield "required removed", copy
        for at, expression in enumerate(node[required]["nodeSelectorTerms"][0]["matchExpressions"]):
            copy = deepcopy(spec)
            del copy["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"][0]["matchExpressions"][at]
            if len(node[required]["nodeSelectorTerms"][0]["matchExpressions"]) > 1:
                yield f"expression {at} removed", copy
            for value in range(len(expression["values"])):
                for what, new in (("removed", None), ("misspelt", "x" + expression["values"][value])):
                    copy = deepcopy(spec)
                    values = copy["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"][0][
                        "matchExpressions"
                    ][at]["values"]
                    values[value : value + 1] = [new] if new else []
                    if values:
                        yield f"expression {at} value {value} {what}", copy
    for at in range(len(node.get(preferred, []))):
        copy = deepcopy(spec)
        del copy["affinity"]["nodeAffinity"][preferred][at]
        yield f"preferred {at} removed", copy
        copy = deepcopy(spec)
        copy["affinity"]["nodeAffinity"][preferred][at]["preference"]["matchExpressions"][0]["values"] = [
            "other"
        ]
        yield f"preferred {at} elsewhere", copy


@pytest.mark.parametrize(("cluster", "workload", "card", "kind"), list(pairs()))
def test_any_one_change_that_matters_makes_lint_speak(
    cluster: Cluster, workload: WorkloadKind, card: Card, kind: BuiltIn
) -> None:
    manifest = patched(cluster, workload, card, kind)
    before = verdicts(cluster, manifest)
    mattered = 0
    for name, spec in changes(spec_of(manifest, kind)):
        changed = deepcopy(manifest)
        target = spec_of(changed, kind)
        target.clear()
        target.update(spec)
        if verdicts(cluster, changed) != before:
            mattered += 1
            assert findings(cluster, changed), f"{name} changes where pods land, and nothing is said"
    assert mattered > 3


def test_the_usage_term_matters_where_a_pool_of_another_usage_has_no_taint() -> None:
    cluster = policy(MIXED)
    manifest = patched(cluster, cluster.workloads["training"], cluster.cards["h20"], BUILT_IN[2])
    node_affinity = manifest["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    del node_affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    codes = [text.split()[0] for text in findings(cluster, manifest)]
    assert "PK103" in codes


def test_the_usage_term_alone_changes_nothing_where_taints_hold() -> None:
    cluster = profile("hybrid-volcano")
    manifest = patched(cluster, cluster.workloads["training"], cluster.cards["h20"], BUILT_IN[2])
    before = verdicts(cluster, manifest)
    del manifest["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert verdicts(cluster, manifest) == before
