"""`lint` of kustomizations: as kustomize builds them, at the places in the files that say so."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from policykit.workspace import kustomize
from tests.cli.commands import Result, Shell
from tests.tools import tool

POLICY = "profile:hybrid-volcano"

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, labels: {policykit.io/workload: training}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/train:1
          resources: {limits: {nvidia.com/gpu: 1}}
"""
PLACED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
"""
WRONG = PLACED.replace("value: training", "value: trainnig")
REFUSED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      tolerations: [{key: a, operator: Exists, value: b}]
"""


def kustomization(**fields: object) -> str:
    return json.dumps({"kind": "Kustomization", **fields})


BASE = {"base/kustomization.yaml": kustomization(resources=["job.yaml"]), "base/job.yaml": JOB}


def overlay(name: str, patch: str, **fields: object) -> dict[str, str]:
    result = kustomization(resources=["../base"], patches=[{"path": "place.yaml"}], **fields)
    return {f"{name}/kustomization.yaml": result, f"{name}/place.yaml": patch}


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.dirname(tool("kustomize"))
    monkeypatch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])


def lint(shell: Shell, files: dict[str, str], *words: str, select: str = "PK101,PK116,PK006") -> Result:
    shell.write(dict(files))
    return shell.run("lint", "-p", POLICY, "--format", "concise", "--select", select, *words)


def places(result: Result) -> list[str]:
    """`path:line:column: code` of each finding."""
    return [" ".join(line.split(" ")[:2]) for line in result.out.splitlines()]


INLINE = """\
- op: add
  path: /spec/template/spec/tolerations
  value:
  - key: a
    operator: Exists
    value: b
"""

CASES = [
    ("what an overlay completes is complete", {**BASE, **overlay("prod", PLACED)}, []),
    (
        "what it breaks is told in its patch",
        {**BASE, **overlay("prod", REFUSED)},
        ["prod/place.yaml:7:7: PK101", "prod/place.yaml:7:55: PK116"],
    ),
    (
        "what is missing is missing from the object",
        {**BASE, "prod/kustomization.yaml": kustomization(resources=["../base"])},
        ["base/job.yaml:6:5: PK101"],
    ),
    (
        "a base that two use is told of once",
        {
            **BASE,
            "dev/kustomization.yaml": kustomization(resources=["../base"], namePrefix="dev-"),
            "prod/kustomization.yaml": kustomization(
                resources=["../base"], nameSuffix="-prod", namespace="prod"
            ),
        },
        ["base/job.yaml:6:5: PK101"],
    ),
    (
        "one of two overlays is wrong",
        {**BASE, **overlay("dev", PLACED), **overlay("prod", WRONG, namePrefix="p-", nameSuffix="-s")},
        ["prod/place.yaml:7:7: PK101"],
    ),
    (
        "a strategic merge patch in the kustomization",
        {
            **BASE,
            "prod/kustomization.yaml": "resources: [../base]\npatches:\n- patch: |\n"
            + "".join(f"    {line}\n" for line in REFUSED.splitlines()),
        },
        ["prod/kustomization.yaml:10:11: PK101", "prod/kustomization.yaml:10:59: PK116"],
    ),
    (
        "a JSON patch in the kustomization",
        {
            **BASE,
            "prod/kustomization.yaml": "resources: [../base]\npatches:\n- target: {kind: Job}\n  patch: |\n"
            + "".join(f"    {line}\n" for line in INLINE.splitlines()),
        },
        ["prod/kustomization.yaml:7:7: PK101", "prod/kustomization.yaml:10:16: PK116"],
    ),
    (
        "a component's patch",
        {
            **BASE,
            "prod/kustomization.yaml": kustomization(resources=["../base"], components=["../part"]),
            "part/kustomization.yaml": json.dumps(
                {
                    "apiVersion": "kustomize.config.k8s.io/v1alpha1",
                    "kind": "Component",
                    "patches": [{"path": "p.yaml", "target": {"kind": "Job", "name": "tr.*"}}],
                }
            ),
            "part/p.yaml": REFUSED,
        },
        ["part/p.yaml:7:7: PK101", "part/p.yaml:7:55: PK116"],
    ),
    (
        "a component alone stands as it is",
        {
            "part/kustomization.yaml": json.dumps({"kind": "Component", "patches": [{"path": "p.yaml"}]}),
            "part/p.yaml": REFUSED,
        },
        ["part/p.yaml:7:55: PK116"],
    ),
    (
        "how files are written is told of the files, once",
        {
            **BASE,
            **overlay("dev", PLACED),
            **overlay("prod", PLACED.replace("{name: train}", "{name: train, labels: {a: b/c}}")),
        },
        ["prod/place.yaml:3:37: PK006"],
    ),
    (
        "a comment in the patch covers what it says",
        {
            **BASE,
            **overlay("prod", REFUSED.replace("value: b}]", "value: b}] # policykit: ignore[PK1] -- why")),
        },
        [],
    ),
    (
        "a comment on the object covers what the patch makes of it",
        {**BASE, "base/job.yaml": "# policykit: ignore[PK1] -- why\n" + JOB, **overlay("prod", REFUSED)},
        [],
    ),
    (
        "an annotation of the object as well",
        {
            **BASE,
            "base/job.yaml": JOB.replace(
                "{name: train,", "{name: train, annotations: {policykit.io/ignore: PK1},"
            ),
            **overlay("prod", REFUSED),
        },
        [],
    ),
    (
        "files that no kustomization lists stand as they are",
        {**BASE, **overlay("prod", PLACED), "prod/other.yaml": JOB.replace("name: train", "name: other")},
        ["prod/other.yaml:6:5: PK101"],
    ),
    (
        "an object that moved within its file",
        {**BASE, "base/job.yaml": PLACED.replace("train", "z") + "---\n" + JOB, **overlay("prod", REFUSED)},
        ["prod/place.yaml:7:7: PK101", "prod/place.yaml:7:55: PK116"],
    ),
]


@pytest.mark.parametrize(("files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_findings_stand_in_the_files(shell: Shell, files: dict[str, str], expected: list[str]) -> None:
    result = lint(shell, files)
    assert places(result) == expected, result.out
    assert "file by file" not in result.err, result.err
    assert result.code == (1 if expected else 0)


def test_a_finding_names_the_object_as_written_and_where_it_is_seen(shell: Shell) -> None:
    shell.write(dict(BASE))
    shell.write(
        {
            "dev/kustomization.yaml": kustomization(resources=["../base"], namePrefix="dev-"),
            "prod/kustomization.yaml": kustomization(resources=["../base"], namespace="prod"),
        }
    )
    result = shell.run("lint", "-p", POLICY, "--select", "PK101", "--format", "json")
    (finding,) = json.loads(result.out)["findings"]
    assert finding["resource"] == {
        "api_version": "batch/v1",
        "kind": "Job",
        "namespace": None,
        "name": "train",
    }
    assert (finding["path"], finding["document"]) == ("base/job.yaml", 0)
    assert finding["pointer"] == "/spec/template/spec/tolerations"
    assert finding["help"].splitlines()[-1] == "seen in dev and prod, as kustomize builds it"


def test_what_stands_outside_of_the_paths_is_told_where_it_comes_in(shell: Shell) -> None:
    files = {**BASE, "prod/kustomization.yaml": "resources:\n- ../base\n"}
    assert places(lint(shell, files, "prod")) == ["prod/kustomization.yaml:2:3: PK101"]
    shell.write({"policykit.yaml": ""})
    result = shell.run("lint", "-p", POLICY, "--select", "PK101", "prod")
    assert "it is in ../base/job.yaml:6\n" in result.out


def test_a_folder_is_judged_within_the_kustomization_that_uses_it(shell: Shell) -> None:
    files = {
        **BASE,
        "kustomization.yaml": kustomization(resources=["base", "other"], patches=[{"path": "place.yaml"}]),
        "place.yaml": PLACED,
        "other/kustomization.yaml": kustomization(resources=["job.yaml"]),
        "other/job.yaml": JOB.replace("name: train", "name: other"),
    }
    assert places(lint(shell, files, "base")) == []
    assert places(lint(shell, files, "other")) == ["other/job.yaml:6:5: PK101"]


def test_files_named_outright_stand_for_the_builds_they_are_part_of(shell: Shell) -> None:
    files = {**BASE, **overlay("prod", REFUSED)}
    whole = ["prod/place.yaml:7:7: PK101", "prod/place.yaml:7:55: PK116"]
    assert places(lint(shell, files, ".")) == whole
    assert places(lint(shell, files, "base/job.yaml")) == []
    assert places(lint(shell, files, "base")) == []
    assert places(lint(shell, files, "prod/place.yaml")) == whole
    assert places(lint(shell, files, "prod/place.yaml", "prod/kustomization.yaml")) == whole
    assert places(lint(shell, files, "base/job.yaml", "--kustomize", "never")) == ["base/job.yaml:6:5: PK101"]


def test_never_means_the_files(shell: Shell) -> None:
    result = lint(shell, {**BASE, **overlay("prod", PLACED)}, "--kustomize", "never")
    assert places(result) == ["base/job.yaml:6:5: PK101"]


GANG = """\
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  annotations: {scheduling.k8s.io/group-name: gang}
spec:
  schedulerName: volcano
  containers: [{name: main, image: a}]
"""


def test_rules_about_scopes_see_what_is_built(shell: Shell) -> None:
    group = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: gang}\n"
        "spec: {minMember: 1}\n"
    )
    pods = {
        "kustomization.yaml": kustomization(resources=["pod.yaml", "sub"]),
        "pod.yaml": GANG.replace("NAME", "a"),
        "sub/kustomization.yaml": kustomization(resources=["group.yaml"]),
        "sub/group.yaml": group,
    }
    assert places(lint(shell, pods, select="PK3")) == []
    patch = [
        {"op": "replace", "path": "/metadata/annotations/scheduling.k8s.io~1group-name", "value": "gnag"}
    ]
    result = lint(
        shell,
        {
            **pods,
            "kustomization.yaml": kustomization(
                resources=["pod.yaml", "sub"],
                patches=[{"target": {"kind": "Pod"}, "path": "gang.json"}],
            ),
            "gang.json": json.dumps(patch),
        },
        select="PK306",
    )
    assert places(result) == ["gang.json:1:92: PK306", "sub/group.yaml:3:18: PK306"]


def test_settings_that_leave_files_out_leave_them_out_as_built(shell: Shell) -> None:
    files = {
        **BASE,
        "prod/kustomization.yaml": kustomization(resources=["../base"]),
        "policykit.yaml": "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: p}\n"
        "extends: [profile:hybrid-volcano]\nlint: {exclude: [base/*]}\n",
    }
    shell.write(dict(files))
    assert shell.run("lint", "--select", "PK101", "--format", "concise").out == ""


CONF = "actions: enqueue, alocate\ntiers: []\n"


def test_a_file_that_a_generator_reads(shell: Shell) -> None:
    files = {
        "kustomization.yaml": kustomization(
            configMapGenerator=[{"name": "volcano-scheduler-configmap", "files": ["volcano-scheduler.conf"]}]
        ),
        "volcano-scheduler.conf": CONF,
    }
    result = lint(shell, files, select="PK501")
    assert places(result) == ["volcano-scheduler.conf:1:19: PK501"]
    literal = {
        "kustomization.yaml": "configMapGenerator:\n- name: other\n  literals: [a=b]\n"
        '- name: volcano-scheduler-configmap\n  literals:\n  - "volcano-scheduler.conf=actions: alocate"\n',
    }
    result = lint(shell, literal, select="PK501")
    assert places(result) == ["kustomization.yaml:4:3: PK501"]


DECLINED = [
    (
        "a remote base",
        {
            **BASE,
            "prod/kustomization.yaml": kustomization(resources=["../base", "https://example.com/a?ref=1"]),
        },
        "prod is linted file by file: prod/kustomization.yaml lists https://example.com/a?ref=1,"
        " which is not on this machine",
    ),
    (
        "a remote patch, further down",
        {
            "base/kustomization.yaml": kustomization(
                resources=["job.yaml"], patches=[{"path": "https://example.com/p.yaml"}]
            ),
            "base/job.yaml": JOB,
            "prod/kustomization.yaml": kustomization(resources=["../base"]),
        },
        "prod is linted file by file: base/kustomization.yaml lists https://example.com/p.yaml,"
        " which is not on this machine",
    ),
    (
        "a chart",
        {**BASE, "prod/kustomization.yaml": kustomization(resources=["../base"], helmCharts=[{"name": "a"}])},
        "prod is linted file by file: prod/kustomization.yaml uses the chart a, which is not in the"
        " repository",
    ),
    (
        "a function",
        {
            **BASE,
            "prod/kustomization.yaml": kustomization(resources=["../base"], transformers=["f.yaml"]),
            "prod/f.yaml": "metadata:\n  annotations: {config.kubernetes.io/function: 'exec: {path: rm}'}\n",
        },
        "prod is linted file by file: prod/f.yaml runs a program",
    ),
    (
        "a generator that is a program",
        {
            **BASE,
            "prod/kustomization.yaml": kustomization(resources=["../base"], generators=["secrets.yaml"]),
            "prod/secrets.yaml": "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: a}\n",
        },
        "prod is linted file by file: prod/secrets.yaml lists ksops under generators, which is a program",
    ),
    (
        "a file that is not there",
        {**BASE, "prod/kustomization.yaml": kustomization(resources=["../base", "gone.yaml"])},
        "prod is linted file by file: prod/kustomization.yaml lists gone.yaml, which does not exist",
    ),
    (
        "a cycle",
        {
            **BASE,
            "base/kustomization.yaml": kustomization(resources=["job.yaml", "../prod"]),
            "prod/kustomization.yaml": kustomization(resources=["../base"]),
        },
        "2 kustomizations are linted file by file; base: base lists itself (--show-files names the others)",
    ),
]


@pytest.mark.parametrize(
    ("files", "why"), [case[1:] for case in DECLINED], ids=[case[0] for case in DECLINED]
)
def test_what_cannot_be_built_here_is_linted_file_by_file_and_said(
    shell: Shell, files: dict[str, str], why: str
) -> None:
    result = lint(shell, files)
    assert places(result) == ["base/job.yaml:6:5: PK101"]
    assert f"policykit: {why}\n" in result.err


def test_nothing_outside_of_the_repository_is_read(shell: Shell, tmp_path: Path) -> None:
    inner = {f"repo/{name}": text for name, text in overlay("prod", PLACED).items()}
    shell.write({**BASE, **inner, "repo/.git/HEAD": ""})
    (tmp_path / "repo" / "base").symlink_to(tmp_path / "base")
    shell.cd("repo")
    result = shell.run("lint", "-p", POLICY, "prod")
    assert "prod/kustomization.yaml lists ../base, which is outside of the repository\n" in result.err


def plugin(kind: str, **fields: object) -> str:
    """The configuration of a built-in plugin, as a text that stands in a kustomization."""
    return json.dumps({"apiVersion": "builtin", "kind": kind, "metadata": {"name": "a"}, **fields}, indent=1)


TOKEN = "ghs-0123456789abcdef"
OUT = "is outside of the repository"
ELSEWHERE = [
    ("a base", {"resources": ["../outside"]}, f"lists ../outside, which {OUT}"),
    ("a base that is not there", {"bases": ["../no"]}, f"lists ../no, which {OUT}"),
    ("a linked base", {"resources": ["link"]}, f"lists link, which {OUT}"),
    ("a linked file", {"resources": ["file.yaml"]}, f"lists file.yaml, which {OUT}"),
    ("a folder with a link", {"resources": ["linked"]}, f"linked has a kustomization that {OUT}"),
    ("a base of generators", {"generators": ["gen"]}, f"lists ../../outside, which {OUT}"),
    ("a base of transformers", {"transformers": ["gen"]}, f"lists ../../outside, which {OUT}"),
    ("definitions", {"crds": ["/etc/passwd"]}, f"lists /etc/passwd, which {OUT}"),
    ("definitions in git", {"crds": [".git/config"]}, "lists .git/config, which is in .git"),
    ("definitions from a pipe", {"crds": ["pipe"]}, "lists pipe, which is neither file nor folder"),
    ("a linked configuration", {"configurations": ["file.yaml"]}, f"lists file.yaml, which {OUT}"),
    ("an OpenAPI schema", {"openapi": {"path": "/etc/passwd"}}, f"lists /etc/passwd, which {OUT}"),
    ("a linked OpenAPI schema", {"openapi": {"path": "git"}}, "lists git, which is in .git"),
    ("an OpenAPI device", {"openapi": {"path": "/dev/zero"}}, f"lists /dev/zero, which {OUT}"),
    (
        "replacements",
        {"replacements": [{"path": "../outside/plugin.yaml"}]},
        f"lists ../outside/plugin.yaml, which {OUT}",
    ),
    ("linked replacements", {"replacements": [{"path": "file.yaml"}]}, f"lists file.yaml, which {OUT}"),
    ("replacements from a pipe", {"replacements": [{"path": "pipe"}]}, "which is neither file nor folder"),
    (
        "the git configuration",
        {"configMapGenerator": [{"name": "a", "files": [".git/config"]}]},
        "lists .git/config, which is in .git",
    ),
    ("it by a link", {"secretGenerator": [{"name": "a", "files": ["a=git"]}]}, "lists git, which is in .git"),
    ("a folder of git", {"resources": [".git"]}, "lists .git, which is in .git"),
    (
        "it by a plugin",
        {"generators": [plugin("ConfigMapGenerator", files=["a=.git/config"])]},
        "lists .git/config, which is in .git",
    ),
    (
        "it by a plugin and a link",
        {"generators": [plugin("SecretGenerator", envs=["git"])]},
        "lists git, which is in .git",
    ),
    ("it by a plugin in a file", {"transformers": ["plugin.yaml"]}, "lists git, which is in .git"),
    (
        "a pipe by a plugin",
        {"generators": [plugin("ConfigMapGenerator", files=["pipe"])]},
        "lists pipe, which is neither file nor folder",
    ),
]


@pytest.mark.parametrize(
    ("fields", "why"), [case[1:] for case in ELSEWHERE], ids=[case[0] for case in ELSEWHERE]
)
def test_kustomize_is_given_nothing_elsewhere(
    shell: Shell, tmp_path: Path, fields: dict[str, object], why: str
) -> None:
    shell.write(
        {
            "outside/kustomization.yaml": kustomization(resources=["plugin.yaml"]),
            "outside/plugin.yaml": plugin("ConfigMapGenerator", literals=[f"A={TOKEN}"]),
            "repo/.git/config": TOKEN,
            "repo/gen/kustomization.yaml": kustomization(resources=["../../outside"]),
            "repo/kustomization.yaml": kustomization(namePrefix="a-", **fields),
            "repo/plugin.yaml": plugin("PatchTransformer", path="git", target={}),
            "repo/linked/job.yaml": JOB,
        }
    )
    for link, target in {
        "link": "../outside",
        "file.yaml": "../outside/plugin.yaml",
        "linked/kustomization.yaml": "../../outside/kustomization.yaml",
        "git": ".git/config",
    }.items():
        (tmp_path / "repo" / link).symlink_to(target)
    os.mkfifo(tmp_path / "repo/pipe")
    shell.cd("repo")
    result = shell.run("lint", "-p", POLICY, "--show-files")
    [line] = [line for line in result.err.splitlines() if line.startswith("not built .: ")]
    assert line.endswith(f" {why}")
    assert TOKEN not in result.out + result.err


def test_a_build_that_fails_is_said_and_no_failure_of_the_run(shell: Shell) -> None:
    files = {**BASE, **overlay("prod", PLACED.replace("name: train", "name: trian"))}
    result = lint(shell, files)
    assert places(result) == ["base/job.yaml:6:5: PK101"]
    assert result.code == 1
    assert (
        'policykit: prod is linted file by file: no resource matches strategic merge patch "Job' in result.err
    )


def test_a_file_that_kustomize_refuses_is_named(shell: Shell) -> None:
    files = {
        "kustomization.yaml": kustomization(resources=["job.yaml"], namePrefix="a-"),
        "job.yaml": JOB.replace("{name: train,", "{generateName: train-,"),
    }
    result = lint(shell, files)
    assert places(result) == ["job.yaml:6:5: PK101"]
    assert "policykit: . is linted file by file: job.yaml: missing metadata.name in object" in result.err
    assert "must build" not in result.err


def test_objects_stand_in_the_order_that_the_kustomization_asks_for(shell: Shell) -> None:
    shell.write(
        {
            "kustomization.yaml": kustomization(resources=["b.yaml", "a.yaml"]),
            "b.yaml": JOB.replace("name: train,", "name: b,"),
            "a.yaml": JOB.replace("name: train,", "name: a,"),
        }
    )
    orders = ({"order": "fifo"}, {"order": "legacy"}, None)
    roots = [kustomize.Root(str(shell.folder), order) for order in orders]
    texts = [made.text.decode() for made in kustomize.build(kustomize.binary(), roots)]
    names = [[line[8:] for line in text.splitlines() if line.startswith("  name: ")] for text in texts]
    assert names == [["b", "a"], ["a", "b"], ["a", "b"]]


def test_without_kustomize_the_files_are_linted_which_is_said(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    result = lint(shell, {**BASE, **overlay("prod", PLACED)})
    assert places(result) == ["base/job.yaml:6:5: PK101"]
    assert "policykit: prod is linted file by file: neither kustomize nor kubectl is on PATH\n" in result.err


def fake(folder: Path, does: str) -> str:
    script = folder / "kustomize"
    script.write_text(f"#!{sys.executable}\n{does}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_without_kustomize_kubectl_builds(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    program = fake(
        folder,
        "import subprocess, sys\n"
        "assert sys.argv[1] == 'kustomize'\n"
        f"sys.exit(subprocess.run([{tool('kustomize')!r}, 'build', *sys.argv[2:]]).returncode)",
    )
    os.rename(program, folder / "kubectl")
    monkeypatch.setenv("PATH", str(folder))
    result = lint(shell, {**BASE, **overlay("prod", PLACED)})
    assert (places(result), result.code) == ([], 0), result.err


def test_kustomize_finds_neither_git_nor_a_network(tmp_path: Path) -> None:
    program = fake(tmp_path, "import os, sys\nsys.exit(repr(sorted(os.environ.items())))")
    (done,) = kustomize.build(program, [kustomize.Root(str(tmp_path))])
    for word in ("('PATH', '')", "('GIT_ALLOW_PROTOCOL', 'none')", "('HTTPS_PROXY', 'http://127.0.0.1:9')"):
        assert word in done.failure


def test_a_build_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kustomize, "_SECONDS", 0.2)
    (done,) = kustomize.build(
        fake(tmp_path, "import signal\nsignal.pause()"), [kustomize.Root(str(tmp_path))]
    )
    assert done.failure == "kustomize took more than 0.2 seconds"


def test_show_files_names_what_was_built_and_what_was_not(shell: Shell) -> None:
    files = {
        **BASE,
        **overlay("prod", PLACED),
        "remote/kustomization.yaml": kustomization(resources=["https://example.com/a"]),
    }
    result = lint(shell, files, "--show-files")
    assert "built prod with kustomize\n" in result.err
    assert (
        "not built remote: remote/kustomization.yaml lists https://example.com/a, which is not" in result.err
    )


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_workers_and_the_cache_change_nothing(shell: Shell, jobs: str) -> None:
    cached = ["--cache-dir", "cache"]
    files = {
        **BASE,
        **overlay("dev", WRONG, namePrefix="dev-"),
        **overlay("prod", REFUSED, namespace="prod"),
        "large.yaml": "# " + "x" * 200_000 + "\n",
    }
    first = lint(shell, files, "--jobs", jobs, *cached)
    assert len(first.out.splitlines()) == 3
    assert lint(shell, files, "--jobs", jobs, *cached).out == first.out
    assert lint(shell, files, "--jobs", jobs, "--no-cache").out == first.out


PLAIN = [
    ("a list of files", {"resources": ["job.yaml"]}, True),
    ("a namespace for objects without one", {"resources": ["job.yaml"], "namespace": "a"}, True),
    ("a namespace in place of another", {"resources": ["own.yaml"], "namespace": "a"}, False),
    ("a folder below", {"resources": ["sub"]}, True),
    ("a folder beside", {"resources": ["../base"]}, False),
    ("a prefix", {"resources": ["job.yaml"], "namePrefix": "a-"}, False),
    ("a patch", {"resources": ["job.yaml"], "patches": [{"path": "place.yaml"}]}, False),
]


@pytest.mark.parametrize(("fields", "plain"), [case[1:] for case in PLAIN], ids=[case[0] for case in PLAIN])
def test_lists_of_files_need_no_building(shell: Shell, fields: dict[str, object], plain: bool) -> None:
    files = {
        **BASE,
        "prod/kustomization.yaml": kustomization(**fields),
        "prod/job.yaml": JOB,
        "prod/own.yaml": JOB.replace("{name: train,", "{name: own, namespace: b,"),
        "prod/place.yaml": PLACED,
        "prod/sub/kustomization.yaml": kustomization(resources=["job.yaml"]),
        "prod/sub/job.yaml": JOB,
    }
    shell.write(dict(files))
    result = lint(shell, {}, "--show-files", "prod")
    assert ("built prod with kustomize" in result.err) == (not plain)


def test_a_build_is_taken_again_until_one_of_its_files_changes(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    log = folder / "log"
    fake(
        folder,
        "import subprocess, sys\n"
        f"open({str(log)!r}, 'a').write('.')\n"
        f"sys.exit(subprocess.run([{tool('kustomize')!r}, *sys.argv[1:]]).returncode)",
    )
    monkeypatch.setenv("PATH", str(folder))
    cached = ["--cache-dir", "cache"]
    files = {**BASE, **overlay("prod", REFUSED)}
    wrong = ["prod/place.yaml:7:7: PK101", "prod/place.yaml:7:55: PK116"]
    for again in (files, {}, {}):
        assert places(lint(shell, again, *cached)) == wrong
    assert log.read_text() == "."
    assert places(lint(shell, {"prod/place.yaml": PLACED}, *cached)) == []
    assert log.read_text() == ".."


def test_fixing_leaves_what_is_built_and_says_so(shell: Shell) -> None:
    result = lint(shell, {**BASE, **overlay("prod", REFUSED)}, "--fix")
    assert (
        "policykit: findings in objects built by kustomize cannot be fixed; use --kustomize never to fix"
        in result.err
    )
    assert (shell.folder / "prod" / "place.yaml").read_text() == REFUSED


def test_a_baseline_accepts_what_is_built(shell: Shell) -> None:
    shell.write({**BASE, **overlay("prod", REFUSED)})
    shell.run("baseline", "-p", POLICY)
    result = shell.run("lint", "-p", POLICY)
    assert (result.code, result.out) == (0, "")


ODD = [
    "",
    "resources: 5",
    "resources: [null, 5, {}, '']",
    'resources: ["a\\0b"]',
    "resources: [job.yaml, job.yaml]",
    "resources: [job.yaml]\npatches: [[], {}, {path: 5}, {patch: []}, {patch: 'x', target: [1]}]",
    "resources: [job.yaml]\npatches: [{patch: '[]', target: {kind: '[', name: '['}}]",
    "resources: [job.yaml]\npatchesStrategicMerge: ['a: b\n', 5]",
    "resources: [job.yaml]\nconfigMapGenerator: [5, {}, {name: 5, files: ['=', 5], env: 5}]",
    "resources: [job.yaml]\nopenapi: 5\nreplacements: [5, {path: 5}]\ncrds: [.]",
    "components: [.]",
    "- a",
    "{",
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./a}",
]


@pytest.mark.parametrize("text", ODD)
def test_odd_kustomizations_end_no_run(shell: Shell, text: str) -> None:
    result = lint(shell, {"kustomization.yaml": text, "job.yaml": JOB})
    assert result.code == 1
    assert places(result) == ["job.yaml:6:5: PK101"]


def test_pipes_and_deep_chains_are_not_followed(shell: Shell, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = lint(shell, {"kustomization.yaml": kustomization(resources=["pipe"], namePrefix="a-")})
    assert "lists pipe, which is neither file nor folder\n" in result.err
    chain = {
        f"c{n}/kustomization.yaml": kustomization(resources=[f"../c{n + 1}"], namePrefix="a-")
        for n in range(300)
    }
    result = lint(shell, {**chain, "c300/kustomization.yaml": kustomization(resources=["."])}, "c0")
    assert "more than 50 kustomizations use one another\n" in result.err


TOLERANT = JOB.replace(
    "      containers:",
    "      tolerations: [{key: spot, operator: Exists}, {key: team, value: a}]\n      containers:",
)


def test_a_list_that_a_patch_replaces_is_told_of_the_patch_in_every_layout(shell: Shell) -> None:
    base = {**BASE, "base/job.yaml": TOLERANT}
    inline = {
        "dev/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        "resources: [../base]\npatches:\n- patch: |\n"
        + "".join(f"    {line}\n" for line in PLACED.splitlines())
    }
    repeated = PLACED + "        - {key: spot, operator: Exists}\n        - {key: team, value: a}\n"
    files = {**base, **inline, **overlay("prod", PLACED), **overlay("test", repeated)}
    assert places(lint(shell, files, select="PK806")) == [
        "dev/kustomization.yaml:12:11: PK806",
        "prod/place.yaml:7:7: PK806",
    ]


def test_a_replaced_list_may_be_meant(shell: Shell) -> None:
    asked = "# policykit: ignore[PK806] -- another pool\n"
    files = {**BASE, "base/job.yaml": TOLERANT, **overlay("prod", asked + PLACED)}
    assert places(lint(shell, files, select="PK806")) == []


UNFINISHED = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {tier: front}}
    spec:
      containers:
      - name: server
        ports: [{containerPort: 80}]
"""
IMAGE = json.dumps([{"op": "add", "path": "/spec/template/spec/containers/0/image", "value": "a/b:1"}])
COMPLETING = {"patches": [{"target": {"kind": "Deployment"}, "patch": IMAGE}], "commonLabels": {"app": "web"}}
WEB = {"base/kustomization.yaml": kustomization(resources=["web.yaml"]), "base/web.yaml": UNFINISHED}
LACKING = ["base/web.yaml:5:33: PK004", "base/web.yaml:10:9: PK004"]

COMPLETED: list[tuple[str, dict[str, str], list[str], list[str]]] = [
    ("nothing completes it", {}, LACKING, LACKING),
    (
        "patches and labels",
        {"prod/kustomization.yaml": kustomization(resources=["../base"], **COMPLETING)},
        [],
        [],
    ),
    (
        "an overlay of an overlay",
        {
            "prod/kustomization.yaml": kustomization(resources=["../base"]),
            "clusters/one/kustomization.yaml": kustomization(bases=["../../prod"], **COMPLETING),
        },
        [],
        [],
    ),
    (
        "a component",
        {
            "prod/kustomization.yaml": kustomization(resources=["../base"], components=["../part"]),
            "part/kustomization.yaml": json.dumps(
                {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", **COMPLETING}
            ),
        },
        [],
        [],
    ),
    (
        "one of two overlays",
        {
            "dev/kustomization.yaml": kustomization(resources=["../base"], namePrefix="dev-"),
            "prod/kustomization.yaml": kustomization(resources=["../base"], **COMPLETING),
        },
        LACKING,
        [],
    ),
    (
        "an overlay that lists it and changes nothing",
        {"prod/kustomization.yaml": kustomization(resources=["../base"], namespace="prod")},
        LACKING,
        LACKING,
    ),
]


@pytest.mark.parametrize(
    ("files", "built", "unbuilt"), [case[1:] for case in COMPLETED], ids=[case[0] for case in COMPLETED]
)
def test_what_a_base_lacks_is_told_where_no_overlay_completes_it(
    shell: Shell, files: dict[str, str], built: list[str], unbuilt: list[str]
) -> None:
    assert places(lint(shell, {**WEB, **files}, select="PK0")) == built
    for path in ("base", "base/web.yaml"):
        assert places(lint(shell, {}, path, select="PK0")) == built
    for words in (("--kustomize", "never"), ("--kustomize", "never", "base")):
        assert places(lint(shell, {}, *words, select="PK0")) == unbuilt


def test_a_wrong_value_that_a_build_replaces_is_told_only_without_the_build(shell: Shell) -> None:
    files = {
        "base/kustomization.yaml": kustomization(resources=["job.yaml"]),
        "base/job.yaml": JOB.replace("spec:\n  template", "spec:\n  backoffLimit: -1\n  template", 1),
        "prod/kustomization.yaml": kustomization(
            resources=["../base"],
            patches=[
                {
                    "target": {"kind": "Job"},
                    "patch": json.dumps([{"op": "replace", "path": "/spec/backoffLimit", "value": 1}]),
                }
            ],
        ),
    }
    assert places(lint(shell, files, select="PK0")) == []
    assert places(lint(shell, {}, "--kustomize", "never", select="PK0")) == ["base/job.yaml:5:17: PK004"]


def test_pods_that_an_unbuilt_overlay_may_place_are_no_error(shell: Shell) -> None:
    shell.write({**BASE, **overlay("prod", PLACED)})
    words = ("--select", "PK101", "--format", "json", "--kustomize", "never")
    result = shell.run("lint", "-p", POLICY, *words)
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["code"], finding["severity"]) == ("PK101", "warning")
    assert finding["help"].endswith("\nunless a kustomization that uses this file does: it was not built")


def test_no_overlay_outside_of_the_repository_completes_a_base(shell: Shell) -> None:
    inner = {f"repo/{name}": text for name, text in WEB.items()}
    outer = {"prod/kustomization.yaml": kustomization(resources=["../repo/base"], **COMPLETING)}
    shell.write({**inner, **outer, "repo/.git/HEAD": ""})
    shell.cd("repo")
    assert places(shell.run("lint", "--format", "concise", "--select", "PK0", "base")) == LACKING


def test_a_file_that_calls_itself_partial_is_completed_by_others(shell: Shell) -> None:
    files = {
        **WEB,
        "base/web.yaml": "# policykit: partial\n" + UNFINISHED,
        "prod/kustomization.yaml": kustomization(resources=["../base"], namePrefix="p-"),
    }
    assert places(lint(shell, files, select="PK0")) == []


def test_what_a_patch_in_a_kustomization_breaks_is_told_there(shell: Shell) -> None:
    broken = [{"op": "replace", "path": "/spec/template/spec/restartPolicy", "value": "Sometimes"}]
    files = {
        **BASE,
        "prod/kustomization.yaml": kustomization(
            resources=["../base"], patches=[{"target": {"kind": "Job"}, "patch": json.dumps(broken)}]
        ),
    }
    result = lint(shell, files, select="PK0")
    assert [place.partition(":")[0] for place in places(result)] == ["prod/kustomization.yaml"], result.out


def test_an_empty_value_of_an_incomplete_base_is_as_good_as_left_out(shell: Shell) -> None:
    empty = UNFINISHED.replace("ports: [{containerPort: 80}]", 'image: ""')
    replaced = {"prod/kustomization.yaml": kustomization(resources=["../base"], **COMPLETING)}
    files = {**WEB, "base/web.yaml": empty, **replaced}
    assert places(lint(shell, files, "--kustomize", "never", select="PK0")) == []


def test_the_kind_of_a_patch_with_a_target_is_that_of_the_target(shell: Shell) -> None:
    """kustomize overwrites what the patch says of itself."""
    patch = "apiVersion: batch\nkind: Job\nmetadata: {name: x}\nspec: {suspend: true}\n"
    entry = "patches: [{path: patch.yaml, target: {kind: Job}}]\n"
    shell.write(
        {"kustomization.yaml": "resources: [job.yaml]\n" + entry, "job.yaml": JOB, "patch.yaml": patch}
    )
    assert shell.run("lint", "--select", "PK008").out == ""
    shell.write({"kustomization.yaml": "resources: [job.yaml]\npatches: [{path: patch.yaml}]\n"})
    assert "PK008" in shell.run("lint", "--select", "PK008").out


GROUPED = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: train}
spec: {minMember: 2}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  completions: 2
  template:
    metadata: {annotations: {scheduling.k8s.io/group-name: train}}
    spec:
      schedulerName: volcano
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/train:1"}]
"""
API = "kustomize.config.k8s.io/v1beta1"
REFERENCE = (
    "nameReference: [{kind: PodGroup, group: scheduling.volcano.sh, fieldSpecs: "
    r"[{kind: Job, path: spec/template/metadata/annotations/scheduling.k8s.io\/group-name}]}]"
)


def test_a_group_that_a_kustomization_renames_is_told_there(shell: Shell) -> None:
    files = {
        "base/kustomization.yaml": kustomization(resources=["job.yaml"]),
        "base/job.yaml": GROUPED,
        "prod/kustomization.yaml": kustomization(apiVersion=API, resources=["../base"], namePrefix="prod-"),
        "a/kustomization.yaml": kustomization(apiVersion=API, resources=["../base"], nameSuffix="-a"),
        "b/kustomization.yaml": kustomization(apiVersion=API, resources=["../a"], namePrefix="b-"),
    }
    assert places(lint(shell, files, select="PK306")) == [
        "a/kustomization.yaml:1:116: PK306",
        "b/kustomization.yaml:1:113: PK306",
        "prod/kustomization.yaml:1:116: PK306",
    ]
    told = shell.run("lint", "--select", "PK306", "prod")
    said = "PodGroup train to prod-train, but the pods of Job prod-train name train: they never start"
    assert said in told.out
    assert REFERENCE in told.out


def test_a_reference_that_kustomize_is_told_of_is_renamed(shell: Shell) -> None:
    fields = {"namePrefix": "prod-", "configurations": ["names.yaml"]}
    files = {
        "base/kustomization.yaml": kustomization(resources=["job.yaml"]),
        "base/job.yaml": GROUPED,
        "prod/kustomization.yaml": kustomization(resources=["../base"], **fields),
        "prod/names.yaml": REFERENCE,
    }
    assert places(lint(shell, files, select="PK306")) == []
