"""The generated kustomize components, over workloads of every built-in kind, on a real API server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.generator.artifact import Artifact, Role
from policykit.generator.bundle import bundle
from policykit.manifests.writer import dump, dump_all
from policykit.policy.load import load
from policykit.workspace.files import read
from tests.cluster.cluster import Cluster
from tests.shared import ROOT

POLICIES = sorted([*ROOT.glob("profiles/*.yaml"), *ROOT.glob("docs/*/policykit.yaml")])


def workloads(labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """One object of each kind, in its shortest form, with the labels by which components select it."""
    container = {"name": "main", "image": "registry.example/app:1"}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}}
    once = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    selected = {"selector": {"matchLabels": {"app": "a"}}, "template": template}
    job = {"template": once}
    made: dict[tuple[str, str], dict[str, Any]] = {
        ("apps/v1", "Deployment"): {"spec": selected},
        ("apps/v1", "StatefulSet"): {"spec": {**selected, "serviceName": "a"}},
        ("apps/v1", "DaemonSet"): {"spec": selected},
        ("apps/v1", "ReplicaSet"): {"spec": selected},
        ("batch/v1", "Job"): {"spec": job},
        ("batch/v1", "CronJob"): {"spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": job}}},
        ("v1", "Pod"): {"spec": {"containers": [container]}},
        ("v1", "PodTemplate"): {"template": template},
        ("v1", "ReplicationController"): {"spec": {**selected, "selector": {"app": "a"}}},
    }
    return [
        {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": f"a-{kind.lower()}", "labels": labels},
            **body,
        }
        for (version, kind), body in made.items()
    ]


def components(artifacts: tuple[Artifact, ...]) -> list[str]:
    """Folders of the components for workloads."""
    paths = [Path(artifact.path) for artifact in artifacts if artifact.role is Role.COMPONENT]
    found = {path.parent for path in paths if path.name == "kustomization.yaml"}
    return sorted(str(folder) for folder in found if folder.parts[0] == "workloads")


def patches(artifacts: tuple[Artifact, ...], folder: str) -> list[dict[str, Any]]:
    """The patches of a component."""
    (text,) = (each.text for each in artifacts if each.path == f"{folder}/kustomization.yaml")
    found: list[dict[str, Any]] = yaml.safe_load(text)["patches"]
    return found


def labels_for(selector: str) -> dict[str, str]:
    """Labels that a selector of a component admits: equal to a value, or not one of some."""
    stated = dict(re.findall(r"([\w./-]+)=([\w.-]+)", selector))
    listed = {
        key: values.split(",")[0].strip()
        for key, values in re.findall(r"([\w./-]+) in \(([^)]*)\)", selector)
    }
    return {**stated, **listed}


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(ROOT)))
def test_components_apply_twice(cluster: Cluster, path: Path) -> None:
    policy = load(str(path), read).cluster
    generated = api.generate(policy)
    for name, text in bundle(policy, generated).items():
        (cluster.folder / "generated" / name).parent.mkdir(parents=True, exist_ok=True)
        (cluster.folder / "generated" / name).write_text(text)
    for artifact in generated.artifacts:
        if artifact.path == "kubernetes/priorities.yaml":
            cluster.kubectl("apply", "--validate=strict", "-f", "-", text=artifact.text)
    folders = components(generated.artifacts)
    assert folders
    for number, folder in enumerate(folders):
        application = cluster.folder / f"application-{number}"
        application.mkdir()
        patched = patches(generated.artifacts, folder)
        (deployment,) = (each for each in patched if re.search(r"\bDeployment\b", each["target"]["kind"]))
        labels = labels_for(deployment["target"]["labelSelector"])
        (application / "workloads.yaml").write_text(dump_all(workloads(labels)))
        kustomization = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": "default",
            "nameSuffix": f"-{number}",
            "resources": ["workloads.yaml"],
            "components": [f"../generated/{folder}"],
        }
        (application / "kustomization.yaml").write_text(dump(kustomization))
        words = ("apply", "--validate=strict", "-k", str(application))
        cluster.kubectl(*words)
        again = cluster.kubectl(*words).splitlines()
        # Admission adds tolerations to any bare Pod, so kubectl writes its list again.
        assert [line for line in again if not line.endswith(" unchanged") and "pod/" not in line] == []
        tolerated = yaml.safe_load(cluster.kubectl("get", f"deployment/a-deployment-{number}", "-o", "yaml"))
        stated = yaml.safe_load(deployment["patch"])["spec"]["template"]["spec"]
        assert {key: tolerated["spec"]["template"]["spec"].get(key) for key in stated} == stated
