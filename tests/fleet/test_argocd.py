"""A fleet with Argo CD: each policy judges what Applications deploy to its cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_applies import judged, lint, policy
from tests.fleet.test_charts import CHART
from tests.fleet.test_units import JOB
from tests.tools import tool

URL = "git@git.example.com:fleet/apps.git"


@pytest.fixture(autouse=True)
def remote(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The repository of the test has a remote, and helm is there."""
    git = shutil.which("git") or pytest.skip("git is not installed")
    for words in (("init", "-q"), ("remote", "add", "origin", "https://git.example.com/fleet/apps")):
        subprocess.run([git, *words], cwd=shell.folder, check=True)
    folder = tmp_path_factory.mktemp("programs")
    (folder / "helm").symlink_to(tool("helm3"))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def application(name: str, destination: str, **source: Any) -> str:
    spec = {
        "source": {"repoURL": URL, **source},
        "destination": {"name": destination, "namespace": "gw"},
    }
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name}}
    return json.dumps({**head, "spec": spec}, indent=1)


SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: jobs}
spec:
  goTemplate: true
  generators:
    - matrix:
        generators:
          - git:
              repoURL: https://git.example.com/fleet/apps.git
              directories: [{path: apps/*}]
          - clusters: {}
  template:
    metadata: {name: '{{ .path.basename }}-{{ .name }}'}
    spec:
      source: {repoURL: 'https://git.example.com/fleet/apps.git', path: '{{ .path.path }}'}
      destination: {name: '{{ .name }}', namespace: gw}
"""

FLEET = {
    "clusters/dev/policykit.yaml": policy("dev"),
    "clusters/prod/policykit.yaml": policy("prod"),
    "apps/gw/kustomization.yaml": kustomization(resources=["job.yaml"]),
    "apps/gw/job.yaml": JOB,
    "plain/job.yaml": JOB,
    "plain/deep/job.yaml": JOB,
    "other/job.yaml": JOB,
}
GW = "apps/gw/job.yaml:6"


@pytest.mark.parametrize("path", [".", "apps", "apps/gw/job.yaml"])
def test_a_set_deploys_to_each_cluster(shell: Shell, path: str) -> None:
    assert (GW, ("dev", "prod")) in judged(shell, {**FLEET, "argo/set.yaml": SET}, path)


def test_an_application_belongs_to_the_policy_that_its_destination_names(shell: Shell) -> None:
    files = {**FLEET, "argo/gw.yaml": application("gw", "prod", path="apps/gw")}
    assert judged(shell, files, "apps") == [(GW, ("prod",))]


def test_or_else_to_the_policy_beside_it(shell: Shell) -> None:
    files = {**FLEET, "clusters/dev/gw.yaml": application("gw", "in-cluster", path="apps/gw")}
    assert judged(shell, files, "apps") == [(GW, ("dev",))]


TOLERANT = [
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Equal", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
]
GPU_OPERATOR = {
    "repoURL": "https://helm.ngc.nvidia.com/nvidia",
    "chart": "gpu-operator",
    "helm": {"valuesObject": {"daemonsets": {"tolerations": TOLERANT}}},
}


@pytest.mark.parametrize("path", [".", "argo", "argo/gpu.yaml"])
@pytest.mark.parametrize("hub", [True, False], ids=["with a policy above", "without"])
def test_values_of_a_known_chart_are_for_the_cluster_that_the_destination_names(
    shell: Shell, path: str, hub: bool
) -> None:
    """The file has an Application for each of two clusters, and an object of a third."""
    objects = [
        json.dumps({**json.loads(application("gpu", name, **GPU_OPERATOR)), "metadata": {"name": name}})
        for name in ("dev", "prod")
    ]
    files = {**FLEET, "argo/gpu.yaml": "\n---\n".join([JOB, *objects]) + "\n"}
    if hub:
        files["argo/policykit.yaml"] = policy("hub")
    shell.write(dict(files))
    result = shell.run("lint", "--no-cache", "--format", "json", "--select", "PK101,PK120", path)
    found = [
        (each["code"], each["document"], tuple(each["clusters"]))
        for each in json.loads(result.out)["findings"]
        if each["path"] == "argo/gpu.yaml"
    ]
    assert {each for each in found if each[0] == "PK120"} == {("PK120", 1, ("dev",)), ("PK120", 2, ("prod",))}
    if hub:
        assert [each for each in found if each[0] == "PK101"] == [("PK101", 0, ("hub",))]


def test_a_file_that_is_linted_alone_says_what_is_not_judged(shell: Shell) -> None:
    files = {**FLEET, "argo/gpu.yaml": application("gpu", "dev", **GPU_OPERATOR)}
    assert (
        "its chart gpu-operator is from https://helm.ngc.nvidia.com/nvidia"
        in lint(shell, files, "argo/gpu.yaml").err
    )


def test_applications_that_a_chart_renders_are_not_followed(shell: Shell) -> None:
    rendered = application("gw", "dev", path="apps/gw")
    chart = {
        "charts/apps/Chart.yaml": "apiVersion: v2\nname: apps\nversion: 1.0.0\n",
        "charts/apps/values.yaml": "",
        "charts/apps/templates/gw.yaml": "# {{ .Release.Name }}\n" + rendered,
    }
    files = {**FLEET, **chart, "argo/apps.yaml": application("apps", "dev", path="charts/apps")}
    shell.write(dict(files))
    result = shell.run("lint", "--no-cache", "--format", "json", "--select", "PK101,PK401", ".")
    assert [(each["path"], each["reason"], each["detail"]) for each in not_judged(result.out, "source")] == [
        (
            "charts/apps",
            "source",
            "Application gw: a chart renders it, and what it applies is not followed",
        )
    ]


def not_judged(out: str, reason: str) -> list[dict[str, str]]:
    return [each for each in json.loads(out)["not_judged"] if each["reason"] == reason]


def test_a_folder_is_read_at_its_top(shell: Shell) -> None:
    files = {**FLEET, "argo/plain.yaml": application("plain", "dev", path="plain")}
    assert judged(shell, files, "plain") == [("plain/job.yaml:6", ("dev",))]


def test_or_below_it_where_it_says_so(shell: Shell) -> None:
    said = {"recurse": True, "exclude": "{job,x}.yaml"}
    files = {**FLEET, "argo/plain.yaml": application("plain", "dev", path="plain", directory=said)}
    assert judged(shell, files, "plain") == [("plain/deep/job.yaml:6", ("dev",))]


def test_what_is_not_judged_says_why(shell: Shell) -> None:
    (shell.folder / "plain").mkdir()
    (shell.folder / "plain" / "a.jsonnet").write_text("{}")
    files = {**FLEET, "argo/plain.yaml": application("plain", "dev", path="plain")}
    assert "plain/a.jsonnet is Jsonnet" in lint(shell, files, ".").err


def test_another_revision_is_judged_from_the_work_tree(shell: Shell) -> None:
    files = {**FLEET, "argo/gw.yaml": application("gw", "prod", path="apps/gw", targetRevision="v1")}
    result = lint(shell, files, "apps")
    assert "Application gw (argo/gw.yaml:10): its revision v1 is judged from the work tree" in result.err
    assert "PK101" in result.out


CHARTS = {
    "dev": ({"values": "usage: trainnig"}, [("charts/train/templates/job.yaml:12", ("dev",))]),
    "prod": ({"valuesObject": {"usage": "training"}}, []),
}


@pytest.mark.parametrize(("cluster", "case"), CHARTS.items())
def test_a_chart_is_rendered_with_its_values(
    shell: Shell, cluster: str, case: tuple[dict[str, Any], list[Any]]
) -> None:
    helm, expected = case
    said = application("gw", cluster, path="charts/train", helm=helm)
    assert judged(shell, {**FLEET, **CHART, "argo/gw.yaml": said}, "charts") == expected


def test_a_policy_applies_a_chart(shell: Shell) -> None:
    chart = {"path": "../../charts/train", "helm": {"values": ["values.yaml"], "release": "gw"}}
    files = {
        **CHART,
        "clusters/dev/policykit.yaml": policy("dev", chart),
        "clusters/dev/values.yaml": "usage: trainnig\n",
    }
    assert judged(shell, files, ".") == [("charts/train/templates/job.yaml:12", ("dev",))]


def test_a_chart_that_cannot_be_rendered_is_not_judged(shell: Shell) -> None:
    chart = {"path": "../../charts/train", "helm": {}}
    files = {**CHART, "clusters/dev/policykit.yaml": policy("dev", chart)}
    files["charts/train/templates/bad.yaml"] = '{{ fail "no" }}\n'
    result = lint(shell, files, ".")
    assert "bad.yaml:1:3" in result.err
    assert Path(shell.folder / "charts").is_dir()


@pytest.mark.parametrize(
    ("applies", "destination"),
    [
        ({"argocd": {"name": "eu-1"}}, {"name": "eu-1"}),
        ({"argocd": {"server": "https://10.0.0.1"}}, {"server": "https://10.0.0.1"}),
        ({"argocd": {"name": "eu-1"}, "folders": [{"path": "../../apps/gw"}]}, {"name": "eu-2"}),
    ],
    ids=["name", "server", "folders"],
)
def test_a_policy_says_what_argo_cd_calls_its_cluster(
    shell: Shell, applies: dict[str, Any], destination: dict[str, str]
) -> None:
    data = json.loads(application("gw", "", path="apps/gw"))
    data["spec"]["destination"] = {"namespace": "gw", **destination}
    prod = json.loads(policy("prod")) | {"applies": applies}
    files = {**FLEET, "clusters/prod/policykit.yaml": json.dumps(prod), "argo/gw.yaml": json.dumps(data)}
    assert judged(shell, files, "apps") == [(GW, ("prod",))]


def test_a_policy_names_urls_of_its_repository(shell: Shell) -> None:
    mirror = "https://mirror.example/fleet"
    files = {**FLEET, "argo/gw.yaml": application("gw", "prod", path="apps/gw", repoURL=mirror)}
    assert judged(shell, files, "apps") == []
    prod = json.loads(policy("prod")) | {"applies": {"repositories": [mirror]}}
    assert judged(shell, {**files, "clusters/prod/policykit.yaml": json.dumps(prod)}, "apps") == [
        (GW, ("prod",))
    ]


def test_a_set_that_cannot_be_read_may_be_for_any_cluster(shell: Shell) -> None:
    unread = SET.replace("- clusters: {}", "- pullRequest: {}")
    told = json.loads(lint(shell, {**FLEET, "argo/set.yaml": unread}, "--format", "json").out)
    reasons = [(each["path"], each["reason"]) for each in told["not_judged"]]
    assert ("argo/set.yaml", "source") in reasons


@pytest.mark.parametrize("path", [".", "apps/gw/job.yaml"])
@pytest.mark.parametrize("built", [False, True])
def test_an_application_may_deploy_applications(shell: Shell, path: str, built: bool) -> None:
    files = {
        **FLEET,
        "clusters/prod/root.yaml": application("root", "in-cluster", path="argo"),
        "argo/gw.yaml": application("gw", "in-cluster", path="elsewhere" if built else "apps/gw"),
    }
    if built:
        moved = [{"op": "replace", "path": "/spec/source/path", "value": "apps/gw"}]
        patch = {"target": {"kind": "Application"}, "patch": json.dumps(moved)}
        files["argo/kustomization.yaml"] = kustomization(resources=["gw.yaml"], patches=[patch])
    assert (GW, ("prod",)) in judged(shell, files, path)


def test_applications_of_a_kustomization_beside_the_policy(shell: Shell) -> None:
    """What people apply themselves; the base is only complete with its patch."""
    patch = json.loads(application("gw", "in-cluster", path="apps/gw"))
    patch["spec"]["source"]["repoURL"] = URL
    files = {
        **FLEET,
        "argo/kustomization.yaml": kustomization(resources=["gw.yaml"]),
        "argo/gw.yaml": application("gw", "in-cluster", path="elsewhere", repoURL="patched"),
        "clusters/prod/kustomization.yaml": kustomization(
            resources=["../../argo"], patches=[{"path": "gw.yaml"}]
        ),
        "clusters/prod/gw.yaml": json.dumps(patch),
    }
    assert judged(shell, files, "apps") == [(GW, ("prod",))]
    assert "repository" not in lint(shell, files, ".").err


SCALED = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}, annotations: {note: "with ${replicas}"}}
    spec:
      containers: [{name: main, image: "registry.example/chat:${tag}"}]
"""
FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {url: "https://git.example.com/fleet/apps", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: chat, namespace: flux-system}
spec:
  path: ./base
  sourceRef: {kind: GitRepository, name: fleet}
  postBuild: {substitute: {replicas: "2", tag: "1"}}
"""
LITERAL = (
    'spec.replicas must be a whole number, but is the string "${replicas}", which an Argo CD Application '
    "leaves as it is"
)


@pytest.mark.parametrize(
    ("source", "base", "expected"),
    [
        ({"path": "base"}, SCALED, True),
        ({"path": "overlay"}, SCALED, True),
        ({"path": "overlay"}, SCALED.replace("${replicas}", "${replicas:=2}"), True),
        ({"path": "overlay"}, SCALED.replace("${replicas}", "2", 1), False),
        ({"path": "overlay"}, SCALED.replace("${replicas}", "<replicas>", 1), False),
        ({"path": "overlay", "plugin": {"name": "envsubst"}}, SCALED, False),
        (
            {
                "path": "overlay",
                "kustomize": {
                    "patches": [
                        {
                            "target": {"kind": "Deployment"},
                            "patch": '[{"op": "replace", "path": "/spec/replicas", "value": 3}]',
                        }
                    ]
                },
            },
            SCALED,
            False,
        ),
        (None, SCALED, False),
    ],
    ids=["plain", "built", "default", "number", "other", "plugin", "patched", "Flux alone"],
)
def test_a_variable_that_only_flux_substitutes(
    shell: Shell, source: dict[str, Any] | None, base: str, expected: bool
) -> None:
    """A base for two clusters: Flux applies it to prod, Argo CD to dev."""
    files = {
        "clusters/dev/policykit.yaml": policy("dev"),
        "clusters/prod/policykit.yaml": policy("prod"),
        "clusters/prod/flux.yaml": FLUX,
        "base/kustomization.yaml": kustomization(resources=["chat.yaml"]),
        "base/chat.yaml": base,
        "overlay/kustomization.yaml": kustomization(resources=["../base"], namespace="chat"),
    }
    if source:
        files["clusters/dev/chat.yaml"] = application("chat", "dev", **source)
    shell.write(dict(files))
    for path in (".", "base/chat.yaml"):
        result = shell.run("lint", "--no-cache", "--select", "PK004", "--format", "json", path)
        found = json.loads(result.out)["findings"]
        here = [(f["path"], f["line"], f["message"], f["clusters"]) for f in found]
        message = LITERAL.replace("${replicas}", "${replicas:=2}") if ":=" in base else LITERAL
        assert here == ([("base/chat.yaml", 5, message, ["dev"])] if expected else []), path
