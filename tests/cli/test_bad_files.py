"""One bad file never ends a run: it fails by its name, or has a finding, and all others are told."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Result, Shell

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {containers: [{name: main, image: "registry.example/a:1", resources: {requests: {nvidia.com/gpu: 1}}}]}
"""
POLICY = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: a}\n"
DEEP = "[" * 100_000
ANNOTATED = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {KEY: 'VALUE'}}\nspec: {containers: []}\n"
)


def annotated(key: str, value: str) -> str:
    return ANNOTATED.replace("KEY", key).replace("VALUE", value)


FILES: dict[str, tuple[dict[str, str], str]] = {
    "a directive that a line separator breaks": (
        {"bad.yaml": "%YAML 1.1 # x\u2028y\n---\n" + POD.replace("NAME", "bad")},
        "",
    ),
    "a string in a document that cannot be told from its neighbours": (
        {
            "bad.yaml": "%YAML 1.1 # x\u2028y\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: "
            "volcano-scheduler-configmap}\ndata:\n  volcano-scheduler.conf: |\n    actions: 'allocate'\n"
            "    tiers:\n    - plugins:\n      - name: nosuch\n      - name: gangs\n"
        },
        "",
    ),
    "JSON that is nested too deep": ({"bad.yaml": annotated("yunikorn.apache.org/task-groups", DEEP)}, ""),
    "a number of thousands of digits": (
        {"bad.yaml": annotated("gang.scheduling.koordinator.sh/min-available", "9" * 5000)},
        "",
    ),
    "a policy that extends a name with a NUL": (
        {"bad/policykit.yaml": POLICY + 'extends: ["a\\0b"]\n', "bad/a.yaml": POD},
        "bad/policykit.yaml:4:11: a\\x00b: a path cannot contain a NUL character\n  help: name a file\n",
    ),
    "a policy that merges text": (
        {"bad/policykit.yaml": POLICY + "<<: text\n", "bad/a.yaml": POD},
        "bad/policykit.yaml:4:5: a merge key `<<` needs a mapping, or a list of mappings\n",
    ),
    "a policy with a key that looks like the name of a form": (
        {"bad/policykit.yaml": POLICY + '"<map>": {"<map>": 1}\n', "bad/a.yaml": POD},
        "bad/policykit.yaml:4:1: a policy has no key '<map>'\n",
    ),
    "settings that are nested too deep": (
        {"bad/pyproject.toml": f"[tool.policykit.lint]\nselect = {DEEP}\n", "bad/a.yaml": POD},
        "policykit: bad/pyproject.toml: nested too deep to be read\n  help: fix the file\n",
    ),
    "settings with a number of thousands of digits": (
        {"bad/pyproject.toml": f"[tool.policykit.lint]\nselect = {'9' * 5000}\n", "bad/a.yaml": POD},
        "policykit: bad/pyproject.toml: not TOML: ",
    ),
    "a baseline that is none": (
        {"bad/.policykit-baseline.json": DEEP, "bad/a.yaml": POD},
        "bad/.policykit-baseline.json: is not JSON, so it cannot be read as a baseline\n",
    ),
    "a definition that is not YAML": (
        {
            "bad/policykit.yaml": f"{POLICY}lint: {{crds: [crd.txt]}}\n",
            "bad/crd.txt": "kind: CustomResourceDefinition\na: [\n",
            "bad/a.yaml": POD,
        },
        "bad/crd.txt: is not YAML\n  help: fix the file, or pass another one\n",
    ),
    "a kustomization nested too deep": (
        {"bad/kustomization.yaml": f"resources: {DEEP}\n", "bad/a.yaml": POD},
        "",
    ),
}
"""Files, and the beginning of what fails the run; empty: the file has findings, or none."""
WAYS = (
    ["lint", "--format", "concise", "."],
    ["lint", "--format", "json", "."],
    ["lint", "--format", "sarif", "."],
    ["lint", "--diff", "--unsafe-fixes", "."],
    ["lint", "--fix", "."],
    ["lint", "--jobs", "2", "."],
    ["where", "-p", "profile:hybrid-volcano", "."],
)


@pytest.fixture
def repository(shell: Shell) -> Shell:
    shell.write({name: POD.replace("NAME", name[:-5]) for name in ("aaa.yaml", "zzz.yaml")})
    return shell


def run(repository: Shell, words: list[str]) -> Result:
    result = repository.run(*words)
    assert "internal error" not in result.err
    for name in ("aaa", "zzz"):
        assert f"{name}.yaml" in result.out + result.err
    return result


@pytest.mark.parametrize("words", WAYS, ids=" ".join)
@pytest.mark.parametrize("case", FILES)
def test_all_others_are_told(repository: Shell, case: str, words: list[str]) -> None:
    files, failure = FILES[case]
    repository.write(dict(files))
    result = run(repository, words)
    if words[0] == "lint":
        assert result.code == (2 if failure else 1)
        assert failure in result.err


def test_a_baseline_that_is_none_accepts_nothing(repository: Shell) -> None:
    repository.write({"bad/.policykit-baseline.json": "no", "bad/a.yaml": POD})
    result = repository.run("lint", "--format", "json", ".")
    assert result.code == 2
    assert {f["path"] for f in json.loads(result.out)["findings"]} == {"aaa.yaml", "bad/a.yaml", "zzz.yaml"}
    assert json.loads(result.out)["summary"]["baselined"] == 0


def test_where_tells_the_others(repository: Shell) -> None:
    result = repository.run(
        "where", "-p", "profile:hybrid-volcano", "aaa.yaml", "gone.yaml", "--format", "json"
    )
    assert [one["path"] for one in json.loads(result.out)["pod_sets"]] == ["aaa.yaml"]
    assert (result.code, result.err) == (
        2,
        "policykit: gone.yaml: no such file or folder\n",
    )
