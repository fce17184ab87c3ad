"""`policykit krm`: the wire contract, and real kustomize in all three roles."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.cli import run
from tests.cli.commands import Result, process
from tests.tools import policykit_on_path, tool

POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
extends: [profile:hybrid-volcano]
queues: {research: {weight: 2}}
priorities: {high: {value: 1000}}
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  annotations:
    config.kubernetes.io/origin: |
      path: apps/train.yaml
    config.kubernetes.io/path: job_train.yaml
    kustomize.config.k8s.io/id: |
      group: batch.volcano.sh
      kind: Job
      name: train
    config.kubernetes.io/index: '2'
    internal.config.kubernetes.io/index: '2'
    internal.config.kubernetes.io/id: '1'
  name: train
spec:
  # kept
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        containers:
        - image: registry.example/a:1
          name: a
          resources:
            limits:
              cpu: 96
              nvidia.com/gpu: 8
        restartPolicy: Never
"""
CONFIG_MAP = """\
apiVersion: v1
data:
  x: "0644"
kind: ConfigMap
metadata:
  name: cm
"""
API = "policykit.io/v1alpha1"
V1 = "config.kubernetes.io/v1"


def listed(*items: str, config: dict[str, Any] | None = None, version: str = V1) -> str:
    text = f"apiVersion: {version}\nkind: ResourceList\nitems:"
    for item in items:
        text += "\n- " + item.rstrip("\n").replace("\n", "\n  ")
    if not items:
        text += " []"
    return text + "\n" + (yaml.safe_dump({"functionConfig": config}) if config else "")


def asking(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "x"}, "spec": spec}


def krm(folder: Path, text: str, *words: str, policy: str = POLICY) -> Result:
    """One run in a folder with a policy; in this process, so that many are quick."""
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "policykit.yaml").write_text(policy)
    streams = [io.TextIOWrapper(io.BytesIO(given)) for given in (text.encode(), b"", b"")]
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patched.setattr(sys, name, stream)
        code = run(["krm", *words])
    for stream in streams[1:]:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])
    return Result(code, out, err)


def read(said: Result) -> dict[str, Any]:
    data = yaml.safe_load(said.out)
    assert isinstance(data, dict)
    return data


def named(items: list[dict[str, Any]]) -> list[str]:
    return [f"{item['kind']}/{item['metadata']['name']}" for item in items]


GENERATED = ["PriorityClass/high", "Queue/research"]


@pytest.mark.parametrize("version", [V1, f"{V1}beta1"])
def test_a_generator_adds_what_gen_applies(tmp_path: Path, version: str) -> None:
    config = asking("Generate", policy="policykit.yaml")
    own = json.dumps(
        {**config, "metadata": {"name": "x", "annotations": {"config.kubernetes.io/local-config": "true"}}}
    )
    said = krm(tmp_path, listed(own, config=config, version=version))
    assert said.code == 0
    data = read(said)
    assert (data["apiVersion"], data["kind"]) == (version, "ResourceList")
    assert named(data["items"]) == ["Generate/x", *GENERATED]
    assert data["functionConfig"] == config


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({**yaml.safe_load(POLICY), "apiVersion": API}, ()),
        (asking("Generate", policy={"extends": ["policykit.yaml"]}), ()),
        (asking("Generate", policy={**yaml.safe_load(POLICY)}), ()),
        (asking("Generate"), ("generate",)),
        (None, ("generate",)),
    ],
    ids=["the policy itself", "inline, with a base", "inline", "nearest", "no config"],
)
def test_where_the_policy_may_stand(tmp_path: Path, config: dict[str, Any] | None, words: tuple[str]) -> None:
    said = krm(tmp_path, listed(config=config), *words)
    assert said.code == 0, said.err
    assert named(read(said)["items"]) == GENERATED


def test_as_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "policykit.yaml").write_text(POLICY)
    given = listed(CONFIG_MAP, config=asking("Patch", policy="policykit.yaml"))
    said = process("krm", cwd=tmp_path, stdin=given.encode())
    assert said == (0, given, "")


def test_a_generator_can_be_asked_for_one_target(tmp_path: Path) -> None:
    said = krm(tmp_path, listed(config=asking("Generate", targets=["kubernetes"])))
    assert named(read(said)["items"]) == ["PriorityClass/high"]


def test_generated_twice_is_generated_once(tmp_path: Path) -> None:
    once = krm(tmp_path, listed(config=asking("Generate")))
    data = read(once)
    mark = {"internal.config.kubernetes.io/path": "queues.yaml"}
    data["items"][1]["metadata"]["annotations"] = mark
    data["items"][1]["spec"]["weight"] = 7
    again = read(krm(tmp_path, yaml.safe_dump(data)))
    assert named(again["items"]) == GENERATED
    assert again["items"][1]["spec"]["weight"] == 2
    assert again["items"][1]["metadata"]["annotations"] == mark


def test_a_generator_keeps_items_that_share_a_name_or_have_none(tmp_path: Path) -> None:
    job = '{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "a-"}, "n": NUMBER}'
    odd = '{"apiVersion": "v1", "kind": ["Pod"], "metadata": {"name": {"a": "b"}}}'
    items = [job.replace("NUMBER", "1"), job.replace("NUMBER", "2"), odd]
    said = krm(tmp_path, listed(*items, config=asking("Generate", policy="policykit.yaml")))
    assert said.code == 0
    assert read(said)["items"][:3] == [json.loads(one) for one in items]


def test_a_transformer_changes_recognised_workloads_alone(tmp_path: Path) -> None:
    given = listed(CONFIG_MAP, JOB, CONFIG_MAP.replace("cm", "other"), config=asking("Patch"))
    said = krm(tmp_path, given)
    assert (said.code, said.err) == (0, "")
    before, after = yaml.safe_load(given), read(said)
    assert named(after["items"]) == named(before["items"])
    assert [after["items"][n] for n in (0, 2)] == [before["items"][n] for n in (0, 2)]
    job = after["items"][1]
    assert job["metadata"].pop("labels") == {"policykit.io/workload": "training"}
    assert job["metadata"] == before["items"][1]["metadata"]
    assert job["spec"]["tasks"][0]["template"]["spec"]["tolerations"]
    # What is not changed is not written anew either: comments and quotes stay.
    lines = said.out.splitlines()
    assert [line for line in given.splitlines() if line not in lines] == []
    assert krm(tmp_path, said.out).out == said.out


def test_a_transformer_that_changes_nothing_passes_every_byte(tmp_path: Path) -> None:
    given = listed(CONFIG_MAP, config=asking("Patch")).replace("\n", "\r\n")
    assert krm(tmp_path, given).out == given
    empty = listed(config=asking("Patch"))
    assert krm(tmp_path, empty).out == empty


def test_a_transformer_takes_what_patch_takes(tmp_path: Path) -> None:
    config = asking("Patch", workload="inference", card="h20", queue="research", only=["Job/train"])
    data = read(krm(tmp_path, listed(JOB, config=config)))
    job = data["items"][0]
    assert job["metadata"]["labels"] == {"policykit.io/workload": "inference"}
    assert job["spec"]["queue"] == "research"


FINDING = (
    "the pod does not tolerate taint maip.mxsf.io/node.usage=training:NoSchedule and 1 more"
    " of pool train-h20, nor the taints of hybrid-h20"
)


def test_a_validator_gives_results_and_changes_nothing(tmp_path: Path) -> None:
    given = listed(CONFIG_MAP, JOB, config=asking("Lint"))
    said = krm(tmp_path, given)
    assert said.code == 1
    assert said.out.startswith(given)
    data = read(said)
    (result,) = data.pop("results")
    assert data == yaml.safe_load(given)
    assert "tolerations" in result["tags"].pop("help")
    assert result == {
        "message": f"PK101 {FINDING} [missing-toleration]",
        "severity": "error",
        "resourceRef": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train"},
        "field": {"path": "spec.tasks[0].template.spec.tolerations"},
        "file": {"path": "apps/train.yaml", "index": 2},
        "tags": {"code": "PK101", "rule": "missing-toleration"},
    }
    first, *_, last = said.err.splitlines()
    assert first.startswith("apps/train.yaml:")
    assert first.endswith(f": PK101 error: {FINDING} [missing-toleration]")
    assert last == "1 error (2 objects in 2 files)"


@pytest.mark.parametrize(
    ("annotations", "path", "shown"),
    [
        ({"internal.config.kubernetes.io/path": "a/b.yaml"}, "a/b.yaml", "a/b.yaml"),
        (
            {"config.kubernetes.io/path": "a/b.yaml", "config.kubernetes.io/index": "1"},
            "a/b.yaml",
            "a/b.yaml",
        ),
        (
            {"config.kubernetes.io/origin": "path: c.yaml\n", "config.kubernetes.io/path": "x"},
            "c.yaml",
            "c.yaml",
        ),
        ({"config.kubernetes.io/origin": ": :"}, None, "Job/train"),
        ({}, None, "Job/train"),
    ],
    ids=["internal", "legacy", "origin", "broken origin", "none"],
)
def test_where_an_item_comes_from(
    tmp_path: Path, annotations: dict[str, str], path: str | None, shown: str
) -> None:
    job = yaml.safe_load(JOB)
    job["metadata"]["annotations"] = annotations
    said = krm(tmp_path, listed(json.dumps(job), config=asking("Lint")))
    (result,) = read(said)["results"]
    assert result.get("file", {}).get("path") == path
    assert said.err.startswith(f"{shown}:")


def test_results_of_others_stay(tmp_path: Path) -> None:
    given = listed(JOB, config=asking("Lint")) + "results:\n- message: theirs\n"
    results = read(krm(tmp_path, given))["results"]
    assert [result["message"][:6] for result in results] == ["theirs", "PK101 "]


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"ignore": ["PK101"]}, 0),
        ({"select": ["PK3"]}, 0),
        ({"failOn": "error"}, 1),
        ({"select": ["missing-toleration"], "failOn": "warning"}, 1),
    ],
    ids=str,
)
def test_what_fails_a_validator(tmp_path: Path, spec: dict[str, Any], code: int) -> None:
    assert krm(tmp_path, listed(JOB, config=asking("Lint", **spec))).code == code


def test_a_warning_fails_unless_told_otherwise(tmp_path: Path) -> None:
    pod = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {gpu-type: h20}
  containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]
"""
    assert krm(tmp_path, listed(pod, config=asking("Lint", select=["PK108"]))).code == 1
    said = krm(tmp_path, listed(pod, config=asking("Lint", select=["PK108"], failOn="error")))
    assert said.code == 0
    assert [result["severity"] for result in read(said)["results"]] == ["warning"]


def test_what_is_missing_is_said_of_a_whole_scope_only(tmp_path: Path) -> None:
    pod = """\
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {scheduling.k8s.io/group-name: nowhere}}
spec: {schedulerName: volcano, containers: [{name: a, image: "registry.example/a:1"}]}
"""
    spec: dict[str, Any] = {"select": ["gang-without-group"]}
    assert "results" not in read(krm(tmp_path, listed(pod, config=asking("Lint", **spec))))
    whole = krm(tmp_path, listed(pod, config=asking("Lint", complete=True, **spec)))
    assert [result["tags"]["code"] for result in read(whole)["results"]] == ["PK306"]


def test_configuration_of_tools_is_not_linted(tmp_path: Path) -> None:
    local = JOB.replace("  annotations:\n", '  annotations:\n    config.kubernetes.io/local-config: "true"\n')
    said = krm(tmp_path, listed(local, config=asking("Lint")))
    assert (said.code, said.err) == (0, "no findings (0 objects in 0 files)\n")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", (), "standard input is not a single ResourceList"),
        ("a: b: c", (), "<stdin>:1:5: not YAML: mapping values are not allowed in this context"),
        (CONFIG_MAP, (), "standard input is not a single ResourceList"),
        (listed(version="v1"), (), "ResourceList has apiVersion 'v1'"),
        (
            f"apiVersion: {V1}\nkind: ResourceList\nitems: [1]\n",
            (),
            "items of the ResourceList must be a list",
        ),
        (listed(), (), "the ResourceList has no functionConfig"),
        (listed(config={**asking("Patch"), "apiVersion": "v1"}), (), "functionConfig has apiVersion 'v1'"),
        (listed(config=asking("Pach")), (), "functionConfig has kind 'Pach'\n  help: did you mean Patch?"),
        (listed(config={**asking("x"), "kind": ["x"]}), (), "functionConfig has kind ['x']"),
        (
            listed() + "functionConfig: text\n",
            ("lint",),
            "functionConfig of the ResourceList must be an object",
        ),
        (f"apiVersion: {V1}\nkind: ResourceList\nitems: {{}}\n", ("lint",), "must be a list of objects"),
        (
            listed(config=asking("Patch")),
            ("lint",),
            "functionConfig has kind Patch, but the argument is lint",
        ),
        (
            listed(config=asking("Lint", polcy="x")),
            (),
            "Lint has no field spec.polcy\n  help: did you mean policy?",
        ),
        (listed(config=asking("Generate", only=[])), (), "Generate has no field spec.only"),
        (listed(config=asking("Patch", only="x")), (), "spec.only of the functionConfig is 'x'"),
        (listed(config=asking("Patch", card=1)), (), "spec.card of the functionConfig is 1"),
        (listed(config=asking("Lint", failOn="bad")), (), "spec.failOn of the functionConfig is 'bad'"),
        (listed(config=asking("Lint", complete="yes")), (), "spec.complete of the functionConfig is 'yes'"),
        (listed(config=asking("Lint", policy=[])), (), "spec.policy of the functionConfig is []"),
        (listed(config={**asking("Lint"), "spec": []}), (), "spec of the functionConfig is not a mapping"),
        (listed(config=asking("Patch", policy="no.yaml")), (), "no.yaml: cannot be read: "),
        (listed(config=asking("Patch", card="h2")), (), "the policy has no card 'h2'"),
        (listed(JOB, config=asking("Patch", only=["Job/trai"])), (), "there is no object Job/trai"),
        (listed(config=asking("Generate", targets=["x"])), (), "the policy has no target 'x'"),
        (listed(config=asking("Lint", select=["PK9999"])), (), "PK9999"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, text: str, words: tuple[str, ...], message: str) -> None:
    said = krm(tmp_path, text, *words)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("policykit: ")
    assert message in said.err


def function(kind: str) -> str:
    return (
        f"apiVersion: {API}\nkind: {kind}\nmetadata:\n  name: {kind.lower()}\n  annotations:\n"
        "    config.kubernetes.io/function: |\n      exec: {path: policykit, args: [krm]}\n"
        "spec: {policy: ../policykit.yaml}\n"
    )


def build(
    folder: Path, kustomization: str, job: str = JOB, policy: str = POLICY
) -> subprocess.CompletedProcess[str]:
    app = folder / "app"
    app.mkdir()
    (folder / ".git").mkdir()
    (folder / "policykit.yaml").write_text(policy)
    for kind in ("Generate", "Patch", "Lint"):
        (app / f"{kind}.yaml").write_text(function(kind))
    data = yaml.safe_load(job)
    del data["metadata"]["annotations"]
    (app / "train.yaml").write_text(yaml.safe_dump(data))
    (app / "cm.yaml").write_text(CONFIG_MAP)
    (app / "kustomization.yaml").write_text(f"resources: [train.yaml, cm.yaml]\n{kustomization}")
    return subprocess.run(
        [tool("kustomize"), "build", "--enable-alpha-plugins", "--enable-exec", str(app)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": policykit_on_path(folder / "bin")},
    )


def objects(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return {f"{data['kind']}/{data['metadata']['name']}": data for data in yaml.safe_load_all(done.stdout)}


def test_kustomize_generator(tmp_path: Path) -> None:
    found = objects(build(tmp_path, "generators: [Generate.yaml]\n"))
    assert sorted(found) == sorted(["Job/train", "ConfigMap/cm", *GENERATED])
    assert all("annotations" not in data["metadata"] for data in found.values())


def test_kustomize_transformer(tmp_path: Path) -> None:
    found = objects(build(tmp_path, "namePrefix: x-\ntransformers: [Patch.yaml]\n"))
    assert sorted(found) == ["ConfigMap/x-cm", "Job/x-train"]
    job = found["Job/x-train"]
    assert job["metadata"] == {"name": "x-train", "labels": {"policykit.io/workload": "training"}}
    assert len(job["spec"]["tasks"][0]["template"]["spec"]["tolerations"]) == 3


def test_kustomize_keeps_origins(tmp_path: Path) -> None:
    found = objects(build(tmp_path, "buildMetadata: [originAnnotations]\ntransformers: [Patch.yaml]\n"))
    origin = {"config.kubernetes.io/origin": "path: train.yaml\n"}
    assert found["Job/train"]["metadata"]["annotations"] == origin


@pytest.mark.parametrize("field", ["validators", "transformers"])
def test_kustomize_validator_fails_the_build(tmp_path: Path, field: str) -> None:
    done = build(tmp_path, f"buildMetadata: [originAnnotations]\n{field}: [Lint.yaml]\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("train.yaml:")
    assert f"PK101 error: {FINDING} [missing-toleration]" in done.stderr


def test_kustomize_validator_passes(tmp_path: Path) -> None:
    """Last under `transformers` wherever; under `validators` behind a function that changed nothing."""
    done = build(tmp_path, "transformers: [Patch.yaml, Lint.yaml]\nvalidators: [Lint.yaml]\n")
    assert sorted(objects(done)) == ["ConfigMap/cm", "Job/train"]
    assert done.stderr == "no findings (2 objects in 2 files)\n" * 2


def test_kustomize_stops_where_a_function_fails(tmp_path: Path) -> None:
    done = build(
        tmp_path, "transformers: [Patch.yaml]\n", JOB.replace("nvidia.com/gpu: 8", "nvidia.com/gpu: x")
    )
    assert done.returncode == 0
    (tmp_path / "policykit.yaml").write_text("kind: Policy\n")
    again = subprocess.run(
        [tool("kustomize"), "build", "--enable-alpha-plugins", "--enable-exec", str(tmp_path / "app")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": policykit_on_path(tmp_path / "bin")},
    )
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr.startswith("policykit: ../policykit.yaml:")


GANG = POLICY + (
    "workloads: {training: {gang: all, within: {level: rack, mode: hard}, scheduler: koord-scheduler}}\n"
    "scheme: {topology: {rack: example.com/rack}}\n"
    "targets: {koordinator: {}}\n"
)
WORKERS = JOB.replace("replicas: 1", "replicas: 4")


def test_kustomize_transformer_adds_the_pod_group(tmp_path: Path) -> None:
    found = objects(build(tmp_path, "namespace: ml\ntransformers: [Patch.yaml]\n", WORKERS, GANG))
    assert sorted(found) == ["ConfigMap/cm", "Job/train", "PodGroup/train"]
    assert found["PodGroup/train"]["metadata"]["namespace"] == "ml"
    assert found["PodGroup/train"]["spec"] == {"minMember": 4}
    (task,) = found["Job/train"]["spec"]["tasks"]
    assert task["template"]["metadata"]["labels"]["pod-group.scheduling.sigs.k8s.io"] == "train"


def test_a_transformer_finds_the_pod_group_there(tmp_path: Path) -> None:
    first = krm(tmp_path, listed(WORKERS, CONFIG_MAP, config=asking("Patch")), policy=GANG)
    assert (first.code, first.err) == (0, "")
    assert named(read(first)["items"]) == ["Job/train", "ConfigMap/cm", "PodGroup/train"]
    assert krm(tmp_path, first.out, policy=GANG) == first
