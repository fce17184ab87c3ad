"""`policykit plan` of a fleet: each cluster's pods as its kustomizations and charts make them."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell, commit
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path

CHAT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: ml}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat, policykit.io/workload: inference}}
    spec:
      tolerations:
        - {key: a.example.com/node.usage, operator: Equal, value: inference, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
      containers:
        - name: a
          image: registry.example/a:1
          resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}
"""


def policy(name: str, nodes: str, **fields: object) -> str:
    return json.dumps(
        {
            "apiVersion": "policykit.io/v1alpha1",
            "kind": "Policy",
            "metadata": {"name": name},
            "domain": "a.example.com",
            "coverage": "complete",
            "cards": {"h20": {"product": "NVIDIA-H20"}},
            "pools": {"infer": {"usage": "inference", "card": "h20", "nodes": {"names": [nodes]}}},
            "workloads": {"inference": {"usages": ["inference"]}},
            **fields,
        }
    )


APPLIES = [{"path": "../../apps/prod"}]


@pytest.fixture
def repository(shell: Shell) -> Shell:
    shell.write(
        {
            "apps/base/kustomization.yaml": kustomization(resources=["chat.yaml"]),
            "apps/base/chat.yaml": CHAT,
            "apps/prod/kustomization.yaml": kustomization(resources=["../base"], namePrefix="prod-"),
            "apps/dev/kustomization.yaml": kustomization(resources=["../base"], namePrefix="dev-"),
            "clusters/prod/policykit.yaml": policy("prod", "i[1-4]", applies=APPLIES),
            "clusters/dev/policykit.yaml": policy("dev", "d[1-2]", applies=[{"path": "../../apps/dev"}]),
        }
    )
    commit(shell.folder)
    return shell


def effects(shell: Shell, *words: str) -> list[str]:
    result = shell.run("plan", "--format", "json", *words)
    assert result.err == "" or "compared with HEAD" in result.err, result.err
    plan = json.loads(result.out)
    return [f"{each['kind']}: {each['who']} ({each['path']}): {each['message']}" for each in plan["effects"]]


PROD = ["-p", "clusters/prod/policykit.yaml"]
FEWER = (
    "fewer nodes: Deployment ml/prod-chat (apps/base/chat.yaml): lands on 3 nodes with 24 cards (infer);"
    " before on 4 nodes with 32 cards (infer)"
)


def test_pods_that_a_cluster_applies_from_elsewhere_are_judged_as_they_are_built(repository: Shell) -> None:
    repository.write({"clusters/prod/policykit.yaml": policy("prod", "i[1-3]", applies=APPLIES)})
    assert effects(repository, *PROD) == [FEWER]
    assert effects(repository, "-p", "clusters/dev/policykit.yaml") == []


def test_a_patch_of_an_overlay_counts(repository: Shell) -> None:
    patch = [
        {
            "target": {"kind": "Deployment"},
            "patch": '[{"op": "remove", "path": "/spec/template/spec/tolerations/0"}]',
        }
    ]
    prod = kustomization(resources=["../base"], namePrefix="prod-", patches=patch)
    repository.write({"apps/prod/kustomization.yaml": prod})
    assert [each.partition(" (")[0] for each in effects(repository, *PROD)] == [
        "nowhere: Deployment ml/prod-chat",
        "rolled: Deployment ml/prod-chat",
    ]
    assert effects(repository, "-p", "clusters/dev/policykit.yaml") == []


def test_another_policy_file_is_compared_with_the_same_builds(repository: Shell) -> None:
    repository.write({"old.yaml": policy("prod", "i[1-4]")})
    repository.write({"clusters/prod/policykit.yaml": policy("prod", "i[1-3]", applies=APPLIES)})
    assert effects(repository, *PROD, "--from", "old.yaml") == [FEWER]


def test_a_kustomization_that_cannot_be_built_is_told(repository: Shell) -> None:
    remote = kustomization(resources=["../base", "https://example.com/a.git//b"])
    repository.write({"apps/prod/kustomization.yaml": remote})
    result = repository.run("plan", *PROD)
    assert "apps/prod" in result.err


def flux(name: str) -> str:
    """The Kustomization of a cluster that applies its own overlay."""
    source = {"kind": "GitRepository", "name": "flux-system"}
    return json.dumps(
        {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": "apps", "namespace": "flux-system"},
            "spec": {"path": f"./apps/{name}", "prune": True, "interval": "10m", "sourceRef": source},
        }
    )


def test_what_flux_applies_to_other_clusters_is_left_out(repository: Shell) -> None:
    clusters = {"prod": "i[1-4]", "dev": "d[1-2]"}
    repository.write({f"clusters/{name}/policykit.yaml": policy(name, clusters[name]) for name in clusters})
    repository.write({f"clusters/{name}/apps.yaml": flux(name) for name in clusters})
    commit(repository.folder)
    repository.write({"clusters/prod/policykit.yaml": policy("prod", "i[1-3]")})
    assert effects(repository, *PROD) == [FEWER]
    result = repository.run("plan", "--all", "--from", "HEAD")
    assert result.out.count("(1 pod set judged)") == 2
    assert result.out.count("-chat") == 1
