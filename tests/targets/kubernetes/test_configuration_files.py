"""Configurations of kube-scheduler that a kustomization lists among its objects."""

import pytest

from policykit import api

CONFIGURATION = b"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: packed
"""
KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
{listed}
"""


@pytest.mark.parametrize(
    ("listed", "codes"),
    [
        ("resources: [scheduler.yaml]", ["PK811"]),
        ("resources: [./scheduler.yaml, other.yaml]", ["PK811"]),
        ("resources: [other.yaml]", []),
        ("configMapGenerator: [{name: scheduler, files: [scheduler.yaml]}]", []),
    ],
)
def test_listed_as_a_resource(listed: str, codes: list[str]) -> None:
    texts = {
        "app/kustomization.yaml": KUSTOMIZATION.format(listed=listed).encode(),
        "app/scheduler.yaml": CONFIGURATION,
    }
    assert [each.code for each in api.lint_texts(texts, select=["PK811"]).findings] == codes


@pytest.mark.parametrize(
    ("name", "head", "codes"),
    [
        ("kustomization.yaml", "", ["PK811"]),
        ("Kustomization", "kind:\n", ["PK811"]),
        ("kustomization.yml", "apiVersion: kustomize.config.k8s.io/v1beta1\n", ["PK811"]),
        ("kustomization.yaml", "kind: [Kustomization]\n", []),
        ("list.yaml", "", []),
    ],
)
def test_a_kustomization_need_not_state_its_kind(name: str, head: str, codes: list[str]) -> None:
    texts = {
        f"app/{name}": f"{head}resources: [scheduler.yaml]\n".encode(),
        "app/scheduler.yaml": CONFIGURATION,
    }
    assert [each.code for each in api.lint_texts(texts, select=["PK811"]).findings] == codes
