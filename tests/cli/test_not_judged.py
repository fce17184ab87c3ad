"""What could not be judged is counted, never looks like a pass, and can be required not to exist."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.commands import Result, Shell, process
from tests.tools import tool

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: main, image: "registry.example/a:1"}]
"""
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [pod.yaml]\n"
REMOTE = "resources: [pod.yaml, https://example.com/a?ref=1]\n"
POLICY = (
    "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends: [profile:hybrid-volcano]\n"
    "metadata: {name: one}\n"
)


@pytest.fixture
def kustomize(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.dirname(tool("kustomize"))
    monkeypatch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])


def reasons(result: Result) -> list[str]:
    data = json.loads(result.out)
    assert data["summary"]["not_judged"] == len(data["not_judged"])
    return [f"{one['path']} {one['reason']}" for one in data["not_judged"]]


@pytest.mark.parametrize("given", [b"", b"\n", b"# nothing\n", b"---\n", b"Error: no such file\n", b"{}\n"])
def test_standard_input_without_objects(tmp_path: Path, given: bytes) -> None:
    quiet = process("lint", "-", cwd=tmp_path, stdin=given)
    assert quiet.code == 0
    assert "policykit: <stdin> is not judged: standard input has no objects\n" in quiet.err
    assert ", 1 not judged)" in quiet.err
    strict = process("lint", "--require-judged", "--format", "json", "-", cwd=tmp_path, stdin=given)
    assert strict.code == 2
    assert "<stdin>: not judged (empty-input): standard input has no objects\n  help: " in strict.err
    assert reasons(strict) == ["<stdin> empty-input"]


def test_text_on_standard_input(tmp_path: Path) -> None:
    done = process("lint", "--require-judged", "--format", "json", "-", cwd=tmp_path, stdin=b"not found\n")
    assert (done.code, reasons(done)) == (2, ["<stdin> not-yaml"])


def test_a_file_without_a_policy_where_others_have_one(shell: Shell) -> None:
    shell.write({"a/policykit.yaml": POLICY, "a/pod.yaml": POD, "b/pod.yaml": POD, "b/values.yaml": "a: 1\n"})
    shell.write({"b/kustomization.yaml": KUSTOMIZATION})
    result = shell.run("lint", "--format", "json")
    assert reasons(result) == ["b/pod.yaml no-policy"]
    assert shell.run("lint", "--require-judged").code == 2
    accepting = POLICY + "lint: {acceptNotJudged: {no-policy: ['b/**']}}\n"
    shell.write({"a/policykit.yaml": accepting})
    assert shell.run("lint", "--require-judged").code == 0


def test_a_file_without_objects_needs_no_policy(shell: Shell) -> None:
    shell.write({"a/policykit.yaml": POLICY, "a/pod.yaml": POD, ".pre-commit-config.yaml": "repos: []\n"})
    result = shell.run("lint", "--require-policy", ".", ".pre-commit-config.yaml")
    assert (result.code, "no policy" in result.err) == (0, False), result.err
    shell.write({"b/pod.yaml": POD})
    result = shell.run("lint", "--require-policy")
    assert (result.code, "policykit: 1 file has no policy: " in result.err) == (2, True)


def test_a_policy_that_others_extend_lacks_none_under_any_name(shell: Shell) -> None:
    base = POLICY.replace("kind: Policy", "kind: Policy\nkubernetes: '1.30'")
    own = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends: [../common/base.yaml]\n"
    shell.write({"common/base.yaml": base, "a/policykit.yaml": own, "a/pod.yaml": POD})
    result = shell.run("lint", "--require-policy", "--require-judged", "--format", "json")
    assert (result.code, reasons(result)) == (0, []), result.err
    assert "have no policy" not in result.err
    assert "judged by no policy" not in shell.run("clusters").out


@pytest.mark.usefixtures("kustomize")
def test_one_policy_that_reaches_a_file_suffices(shell: Shell) -> None:
    base = {"base/kustomization.yaml": KUSTOMIZATION + "namePrefix: a-\n", "base/pod.yaml": POD}
    overlay = KUSTOMIZATION.replace("pod.yaml", "../base") + "nameSuffix: -b\n"
    overlays = {f"{name}/kustomization.yaml": overlay for name in ("a", "0")}
    shell.write({"a/policykit.yaml": POLICY + "kubernetes: '1.30'\n", **base, **overlays})
    assert reasons(shell.run("lint", "--format", "json")) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"kustomization.yaml": REMOTE, "pod.yaml": POD}, ["app remote"]),
        ({"kustomization.yaml": "resources: [github.com/a/b]\n"}, ["app remote"]),
        ({"kustomization.yaml": "resources: [gitlab.example/a/b]\n"}, ["app remote"]),
        ({"kustomization.yaml": "helmCharts: [{name: a}]\n"}, ["app chart"]),
        ({"kustomization.yaml": "resources: ['${CLUSTER}.yaml']\n"}, ["app unknown-variable"]),
        ({"kustomization.yaml": "resources: [../../other]\n"}, ["app outside"]),
        (
            {
                "kustomization.yaml": "secretGenerator: [{name: a, envs: [secret.env]}]\n",
                ".gitignore": "*.env\n",
            },
            ["app generated"],
        ),
        (
            {"kustomization.yaml": "resources: [upstream/overlays/istio]\n", "pull-upstream.sh": "exit\n"},
            ["app generated"],
        ),
        ({"kustomization.yaml": "resources: [flux-system]\n"}, ["app generated"]),
        (
            {
                "config/webhook/kustomization.yaml": "resources: [manifests.yaml, pod.yaml]\n",
                "config/webhook/pod.yaml": POD,
            },
            ["app/config/webhook generated"],
        ),
        (
            {
                "config/manifests/kustomization.yaml": "resources: [bases/a.clusterserviceversion.yaml]\n",
                "config/manifests/bases/README.md": "",
            },
            ["app/config/manifests generated"],
        ),
        ({"templates/a/kustomization.yaml": "resources: [../base]\n"}, ["app/templates/a generated"]),
        (
            {
                "kustomization.yaml": "resources: [manager]\n",
                ".gitignore": "manager/kustomization.yaml\n",
                "manager/pod.yaml": POD,
            },
            ["app generated"],
        ),
    ],
)
@pytest.mark.usefixtures("kustomize")
def test_kustomizations_that_cannot_be_built_here(
    shell: Shell, files: dict[str, str], expected: list[str]
) -> None:
    shell.write({f"app/{name}": text for name, text in files.items()})
    result = shell.run("lint", "--format", "json")
    assert (result.code, reasons(result)) == (0, expected)
    assert json.loads(result.out)["findings"] == []
    assert shell.run("lint", "--require-judged").code == 2
    _, reason = expected[0].split(" ")
    shell.write({"pyproject.toml": f"[tool.policykit.lint]\naccept-not-judged = {{{reason} = ['app']}}\n"})
    assert shell.run("lint", "--require-judged").code == 0


PATCH = "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeName: a}\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"kustomization.yaml": "resources:\n- pod.yaml\n- gone.yaml\n", "pod.yaml": POD},
            "app/kustomization.yaml:3:3: PK009 error: lists gone.yaml, which does not exist [build-fails]",
        ),
        (
            {"kustomization.yaml": "resources:\n- bse/pod.yaml\n", "base/pod.yaml": POD},
            "app/kustomization.yaml:2:3: PK009 error: lists bse/pod.yaml, which does not exist [build-fails]",
        ),
        (
            {"kustomization.yaml": "resources:\n- empty\n", "empty/pod.yaml": POD},
            "app/kustomization.yaml:2:3: PK009 error: app/empty has no kustomization [build-fails]",
        ),
        (
            {"kustomization.yaml": "resources:\n- .\n"},
            "app/kustomization.yaml:2:3: PK009 error: lists itself [build-fails]",
        ),
        (
            {
                "kustomization.yaml": "resources: [pod.yaml]\npatches:\n- path: patch.yaml\n",
                "pod.yaml": POD,
                "patch.yaml": PATCH,
            },
            "app/kustomization.yaml:3:9: PK009 error: a patch is for Pod b, but the kustomization has no "
            "such object [build-fails]",
        ),
        (
            {
                "kustomization.yaml": "resources:\n- pod.yaml\n- env.yaml\n",
                "pod.yaml": POD,
                "configure.sh": 'envsubst < "$HERE/env.yaml.tpl" > "$HERE/the-env.yaml"\n',
            },
            "app/kustomization.yaml:3:3: PK009 error: lists env.yaml, which does not exist [build-fails]",
        ),
        (
            {
                "base/kustomization.yaml": "resources: [pod.yaml, env.yaml]\n",
                "base/pod.yaml": POD,
                "configure.sh": 'envsubst < "$HERE/base/env.tpl.yaml" > "$HERE/base/env.yaml"\n',
            },
            "",
        ),
        (
            {
                "kustomization.yaml": "resources: [pod.yaml, rendered.yaml]\n",
                "pod.yaml": POD,
                "render": "#!/bin/sh\ncat <&0 > rendered.yaml\nkustomize build .\n",
            },
            "",
        ),
        (
            {"kustomization.yaml": "resources: [a.yaml, b.yaml]\n", "a.yaml": POD, "b.yaml": POD},
            "",
        ),
    ],
)
@pytest.mark.usefixtures("kustomize")
def test_a_build_that_is_wrong_in_itself_is_an_error_at_its_line(
    shell: Shell, files: dict[str, str], expected: str
) -> None:
    shell.write({f"app/{name}": text for name, text in files.items()})
    result = shell.run("lint", "--format", "concise")
    assert result.out == (f"{expected}\n" if expected else "")
    assert result.code == (1 if expected else 0)


@pytest.mark.parametrize(("path", "errors"), [("./app", 0), ("./other", 1)])
@pytest.mark.usefixtures("kustomize")
def test_a_patch_of_what_a_component_of_flux_adds_is_no_mistake(shell: Shell, path: str, errors: int) -> None:
    shell.write(
        {
            "app/kustomization.yaml": "resources: [pod.yaml]\npatches:\n- path: patch.yaml\n",
            "app/pod.yaml": POD,
            "app/patch.yaml": PATCH,
            "sync.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
            f"metadata: {{name: app}}\nspec: {{path: {path}, components: [../component]}}\n",
        }
    )
    found = json.loads(shell.run("lint", "--format", "json").out)
    assert [one["code"] for one in found["findings"]] == ["PK009"] * errors
    assert found["summary"]["not_judged"] == 1 - errors


@pytest.mark.usefixtures("kustomize")
def test_clusters_that_share_the_mistake(shell: Shell) -> None:
    base = {"base/kustomization.yaml": "resources: [gone.yaml]\n"}
    for name in ("dev", "prod"):
        base |= {
            f"{name}/policykit.yaml": POLICY.replace("one", name),
            f"{name}/kustomization.yaml": f"resources: [../base]\nnamePrefix: {name}-\n",
        }
    shell.write({**base})
    found = json.loads(shell.run("lint", "--format", "json").out)["findings"]
    assert [(one["path"], one["line"], one["clusters"]) for one in found] == [
        ("base/kustomization.yaml", 1, ["dev", "prod"])
    ]
