"""A hostile repository: nothing outside it is read or written, no pipe waited for, no secret quoted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import tools
from tests.cli.commands import Result, Shell, process
from tests.shared import ROOT

TOKEN = "ghs-0123456789abcdef"
POLICY = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: demo}\n"
BROKEN = "a: [\n"
TOLD = "told.yaml:1:4: PK001 "
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {policykit.io/workload: training}}
spec:
  containers:
  - {name: a, image: 'registry.example/a:1', resources: {requests: {nvidia.com/gpu: 1}}}
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a}
spec:
  queue: b
  tasks:
  - {name: a, template: {spec: {restartPolicy: Never, containers: [{name: a, image: registry.example/a:1}]}}}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec: {group: example.com, names: {kind: Thing}, versions: []}
"""
HYBRID = ("-p", "profile:hybrid-volcano")
OUTSIDE = {
    "outside/token": f"{TOKEN}\n",
    "outside/token.yaml": f"kind: Secret\n{TOKEN}: [{TOKEN}]\n",
    "outside/broken.yaml": f"{TOKEN}: *{TOKEN}\n",
    "outside/policykit.yaml": f"{POLICY}priorities: {{{TOKEN}: {{value: 1}}}}\n",
    "outside/pyproject.toml": f"[tool.policykit.lint]\nignore = ['PK001', '{TOKEN}']\n",
    "outside/baseline.json": '{"kind": "policykit-baseline", "version": 1, "covers": [], "findings": []}',
    "outside/kustomization.yaml": "resources: [pod.yaml]\nnamePrefix: a-\n",
    "outside/pod.yaml": POD.replace("NAME", TOKEN),
    "outside/crd.yaml": CRD.replace("Thing", TOKEN),
    "outside/ignore": "told.yaml\n",
}


@pytest.fixture
def repo(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    """A repository with one file to tell about, beside what is none of its business."""
    (tmp_path / "repo").mkdir()
    shell = Shell(tmp_path / "repo", capsysbinary, monkeypatch)
    shell.write({f"../{name}": text for name, text in OUTSIDE.items()})
    shell.write({"told.yaml": BROKEN, ".git/config": f"[http]\n\textraheader = {TOKEN}\n"})
    return shell


def put(shell: Shell, files: dict[str, str]) -> None:
    """Files, and links where the text begins with `-> `; `pipe` makes a pipe, `large` a file of 17 MB."""
    for name, text in files.items():
        path = shell.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text[3:])
        elif text == "pipe":
            os.mkfifo(path)
        elif text == "large":
            path.touch()
            os.truncate(path, 17 << 20)
        else:
            path.write_text(text)


def tree(folder: Path) -> dict[str, str]:
    """Every file and link below a folder."""
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def based(base: str) -> str:
    """A policy that extends something."""
    return f"{POLICY}extends: [{base}]\n"


def writing(out: str) -> str:
    """A policy that is generated into a folder."""
    return f"{POLICY}generate: {{out: {out}}}\n"


READ = {
    "a base": (
        {"policykit.yaml": based("../outside/token")},
        "policykit.yaml:4:11: ../outside/token: ",
    ),
    "a base by its whole path": (
        {"policykit.yaml": based("/proc/self/environ")},
        "policykit.yaml:4:11: /proc/self/environ: ",
    ),
    "a base that is a policy": (
        {"policykit.yaml": based("../outside/policykit.yaml")},
        "policykit.yaml:4:11: ../outside/policykit.yaml: ",
    ),
    "a linked base": (
        {"policykit.yaml": based("base.yaml"), "base.yaml": "-> ../outside/policykit.yaml"},
        "policykit.yaml:4:11: base.yaml: ",
    ),
    "a base in a linked folder": (
        {"policykit.yaml": based("in/policykit.yaml"), "in": "-> ../outside"},
        "policykit.yaml:4:11: in/policykit.yaml: ",
    ),
    "a base of a base": (
        {
            "policykit.yaml": based("a/b.yaml"),
            "a/b.yaml": based("../../outside/token"),
        },
        "a/b.yaml:4:11: ../../outside/token: ",
    ),
    "the git configuration as a base": (
        {"policykit.yaml": based(".git/config")},
        "policykit.yaml:4:11: .git/config: ",
    ),
    "a base that is a pipe": (
        {"policykit.yaml": based("pipe"), "pipe": "pipe"},
        "policykit.yaml:4:11: pipe: ",
    ),
    "a base that is a device": (
        {"policykit.yaml": based("/dev/zero")},
        "policykit.yaml:4:11: /dev/zero: ",
    ),
    "a base without end": (
        {"policykit.yaml": based("large"), "large": "large"},
        "policykit.yaml:4:11: large: ",
    ),
    "a base that is not a path": (
        {"policykit.yaml": based('"a\\0b"')},
        r"policykit.yaml:4:11: a\x00b: a path cannot contain a NUL character",
    ),
    "a configuration": (
        {"policykit.yaml": f"{POLICY}targets: {{koordinator: {{config: ../outside/token}}}}\n"},
        "policykit.yaml:4:33: ../outside/token: ",
    ),
    "a policy that is a link": ({"policykit.yaml": "-> ../outside/policykit.yaml"}, "policykit.yaml: "),
    "a policy that is a pipe": ({"policykit.yaml": "pipe"}, "policykit.yaml: "),
    "a policy without end": ({"policykit.yaml": "large"}, "policykit.yaml: "),
    "definitions": (
        {"policykit.yaml": f"{POLICY}lint: {{crds: [../outside/crd.yaml]}}\n"},
        "../outside/crd.yaml: ",
    ),
    "a folder of definitions": (
        {"policykit.yaml": f"{POLICY}lint: {{crds: [../outside]}}\n"},
        "../outside: ",
    ),
    "definitions in a linked file": (
        {"policykit.yaml": f"{POLICY}lint: {{crds: [crds]}}\n", "crds/a.yaml": "-> ../../outside/crd.yaml"},
        "crds/a.yaml: ",
    ),
    "definitions of settings": (
        {"pyproject.toml": "[tool.policykit.lint]\ncrds = ['../outside/crd.yaml']\n"},
        "../outside/crd.yaml: ",
    ),
    "settings that are a link": ({"pyproject.toml": "-> ../outside/pyproject.toml"}, "REPO/pyproject.toml: "),
    "settings that are a pipe": ({"pyproject.toml": "pipe"}, "REPO/pyproject.toml: "),
    "a baseline that is a link": (
        {".policykit-baseline.json": "-> ../outside/baseline.json"},
        ".policykit-baseline.json: ",
    ),
    "a baseline that is a pipe": ({".policykit-baseline.json": "pipe"}, ".policykit-baseline.json: "),
    "a .gitignore that is a link": ({".gitignore": "-> ../outside/ignore"}, ".gitignore: "),
    "a .gitignore that is a pipe": ({"sub/.gitignore": "pipe", "sub/a.yaml": ""}, "sub/.gitignore: "),
    "a kustomization that is a link": (
        {"kustomization.yaml": "-> ../outside/kustomization.yaml"},
        "kustomization.yaml: ",
    ),
    "a kustomization without suffix": (
        {"Kustomization": "-> ../outside/kustomization.yaml"},
        "REPO/Kustomization: ",
    ),
    "a kustomization that is a pipe": ({"kustomization.yml": "pipe"}, "REPO/kustomization.yml: "),
    "a manifest that is a link": ({"a.yaml": "-> ../outside/broken.yaml"}, "a.yaml: "),
    "a manifest that is the git configuration": ({"a.yaml": "-> .git/config"}, "a.yaml: "),
}


@pytest.mark.parametrize(("files", "says"), READ.values(), ids=READ)
def test_lint_reads_nothing_elsewhere_and_tells_of_the_rest(
    repo: Shell, files: dict[str, str], says: str
) -> None:
    put(repo, files)
    result = repo.run("lint", "--format", "concise")
    result = result._replace(err=result.err.replace(str(repo.folder), "REPO"))
    assert TOKEN not in result.out + result.err
    assert (result.code, result.out.count(TOLD)) == (2, 1)
    assert result.err.startswith(f"policykit: {says}")
    assert result.err.count("\npolicykit: ") <= 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lint", "a.yaml"], "a.yaml: "),
        (["lint", "in/pod.yaml"], "in/pod.yaml: "),
        (["lint", "in"], "in: "),
        (["lint", "-p", "p.yaml", "told.yaml"], "p.yaml: "),
        (["lint", "--crd", "crd.yaml", "told.yaml"], "crd.yaml: "),
        (["lint", "--baseline", "b.json", "told.yaml"], "b.json: "),
        (["baseline", "a.yaml"], "a.yaml: "),
        (["baseline", "-o", "b.json"], "b.json: "),
        (["patch", *HYBRID, "a.yaml"], "a.yaml: "),
        (["where", *HYBRID, "a.yaml"], "a.yaml: "),
        (["where", "--nodes", "a.yaml", "told.yaml"], "a.yaml: "),
        (["nodes", "--check", "a.yaml", *HYBRID], "a.yaml: "),
        (["import", "a.yaml"], "a.yaml: "),
        (["import", "in"], "in: "),
        (["import", "."], "./a.yaml: "),
        (["gen", "-p", "p.yaml", "-o", "-"], "p.yaml: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_link_that_is_named_leads_nowhere_else(repo: Shell, words: list[str], says: str) -> None:
    put(
        repo,
        {
            "a.yaml": "-> ../outside/pod.yaml",
            "in": "-> ../outside",
            "p.yaml": "-> ../outside/policykit.yaml",
            "crd.yaml": "-> ../outside/crd.yaml",
            "b.json": "-> ../outside/baseline.json",
        },
    )
    result = repo.run(*words)
    assert result.code == 2
    assert f"policykit: {says}cannot be read: it resolves to " in result.err
    assert TOKEN not in result.out + result.err


def test_a_file_beside_the_named_one_is_called_what_findings_call_it(repo: Shell) -> None:
    put(repo, {"policykit.yaml": POLICY, "job.yaml": JOB, "link.yaml": "-> ../outside/pod.yaml"})
    result = repo.run("lint", "job.yaml")
    assert result.code == 2
    assert result.err.startswith("policykit: link.yaml: cannot be read: it resolves to ")


def test_folders_elsewhere_are_not_walked_which_show_files_says(repo: Shell) -> None:
    put(repo, {"in": "-> ../outside", "root": "-> /", "sub/up": "-> ..", "git": "-> .git", "own": "-> sub"})
    result = repo.run("lint", "--show-files", "--format", "concise")
    assert (result.code, result.out.count("\n")) == (1, 1)
    assert [line for line in result.err.splitlines() if line.startswith("skipped ")] == [
        f"skipped {name}: it leads outside the repository or the folder that was named"
        for name in ("git", "in", "root")
    ]


def test_the_boundary_of_a_folder_in_no_repository(tmp_path: Path, repo: Shell) -> None:
    put(
        repo,
        {
            "../plain/a.yaml": BROKEN,
            "../plain/in": "-> ../outside",
            "../plain/b.yaml": "-> ../outside/pod.yaml",
        },
    )
    result = process("lint", "--format", "concise", "plain", cwd=tmp_path)
    assert (result.code, result.out.count("\n")) == (2, 1)
    assert result.err.startswith("policykit: plain/b.yaml: cannot be read: it resolves to ")
    assert f"outside the folder {tmp_path}/plain\n" in result.err


def test_what_the_command_line_allows(repo: Shell) -> None:
    put(
        repo,
        {
            "policykit.yaml": f"{POLICY}extends: [../outside/policykit.yaml]\ngenerate: {{out: ../made}}\n",
            "a.yaml": "-> ../outside/broken.yaml",
            "in": "-> ../outside",
        },
    )
    allowed = ("--allow-path", "../outside", "--allow-path", "..")
    (repo.folder / "../made").mkdir()
    assert repo.run("gen", *allowed).code == 0
    assert sorted(os.listdir(repo.folder / "../made"))[:1] == ["README.md"]
    result = process("lint", "--format", "concise", "--show-files", *allowed, cwd=repo.folder)
    assert result.code == 1
    assert sorted(line.split(":")[0] for line in result.out.splitlines() if " PK001 " in line) == [
        "a.yaml",
        "in/broken.yaml",
        "told.yaml",
    ]
    assert repo.run("lint", "--allow-path", "nowhere").code == 2


@pytest.mark.parametrize(
    "command", ["lint", "baseline", "gen", "patch", "where", "nodes", "krm", "lsp", "import"]
)
def test_every_command_that_reads_a_policy_or_a_folder_has_the_option(repo: Shell, command: str) -> None:
    assert "--allow-path DIR" in repo.run(command, "--help").out


NO_POLICY = {
    "a text": (f"{TOKEN}\n", "token:1:1: a policy must be a map, not a single value"),
    "a list": (f"- {TOKEN}\n", "token:1:1: a policy must be a map, not a list"),
    "a map": (f"{TOKEN}: {TOKEN}\n", "token:1:1: apiVersion is missing"),
    "another object": (
        f"apiVersion: v1{TOKEN}\nkind: Secret{TOKEN}\ndata: {{a: {TOKEN}}}\n",
        "token:1:1: apiVersion must be policykit.io/v1alpha1",
    ),
    "broken text": (f"{TOKEN}: *{TOKEN}\n", "token:1:23: not YAML"),
    "keys that are there twice": (f"{TOKEN}: 1\n{TOKEN}: 2\n", "token:1:1: apiVersion is missing"),
    "bytes": ("\x00" * 9, "token:1:1: not YAML"),
}


@pytest.mark.parametrize(("text", "says"), NO_POLICY.values(), ids=NO_POLICY)
@pytest.mark.parametrize("way", ["extends", "place", "named"])
def test_what_is_no_policy_is_not_quoted(repo: Shell, text: str, says: str, way: str) -> None:
    name = {"extends": "token", "place": "policykit.yaml", "named": "token"}[way]
    put(repo, {name: text})
    if way == "extends":
        put(repo, {"policykit.yaml": based("token")})
    words = ["gen", *(["-p", "token"] if way == "named" else []), "-o", "-"]
    result = repo.run(*words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"policykit: {says.replace('token', name, 1)}\n")
    assert TOKEN not in result.err


def test_a_configuration_that_is_none_is_not_quoted(repo: Shell) -> None:
    put(repo, {"token": OUTSIDE["outside/broken.yaml"]})
    targets = "{koordinator: {version: 1.6.1, config: token, delivery: manifest, fit: {cpu: {weight: 1}}}}"
    put(repo, {"policykit.yaml": f"{POLICY}targets: {targets}\n"})
    result = repo.run("gen", "-o", "-")
    assert (result.code, TOKEN in result.out + result.err) == (2, False)


def test_inline_policies_of_kustomize_stay_in_the_repository(repo: Shell) -> None:
    for policy in ("{extends: [../outside/policykit.yaml]}", "../outside/policykit.yaml", ".git/config"):
        given = (
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n"
            "  apiVersion: policykit.io/v1alpha1\n  kind: Generate\n  metadata: {name: a}\n"
            f"  spec: {{policy: {policy}}}\n"
        )
        result = process("krm", cwd=repo.folder, stdin=given.encode())
        assert (result.code, result.out, TOKEN in result.err) == (2, "", False)
        assert ": cannot be read: it resolves to " in result.err


WRITES = {
    "fix": (["lint", "--fix", "--select", "PK201", "."], {"a.yaml": "-> ../outside/pod.yaml"}),
    "fix in a linked folder": (
        ["lint", "--fix", "--select", "PK201", "in/pod.yaml"],
        {"in": "-> ../outside"},
    ),
    "fix in .git": (
        ["lint", "--fix", "--select", "PK201", "a.yaml"],
        {".git/hooks/a.yaml": POD, "a.yaml": "-> .git/hooks/a.yaml"},
    ),
    "fix what is named in .git": (
        ["lint", "--fix", "--select", "PK201", ".git/hooks/a.yaml"],
        {".git/hooks/a.yaml": POD},
    ),
    "patch": (["patch", *HYBRID, "--in-place", "a.yaml"], {"a.yaml": "-> ../outside/pod.yaml"}),
    "patch a linked folder": (["patch", *HYBRID, "--in-place", "in"], {"in": "-> ../outside"}),
    "patch in .git": (["patch", *HYBRID, "--in-place", ".git/a.yaml"], {".git/a.yaml": POD}),
    "gen": (["gen"], {"policykit.yaml": writing("../escaped")}),
    "gen by a whole path": (["gen"], {"policykit.yaml": writing("OUTSIDE")}),
    "gen by a link": (["gen"], {"policykit.yaml": writing("in"), "in": "-> ../outside"}),
    "gen into .git": (["gen"], {"policykit.yaml": writing(".git/hooks")}),
    "gen into .GIT": (["gen"], {"policykit.yaml": writing(".GIT/hooks")}),
    "gen of all": (["gen", "--all"], {"policykit.yaml": writing("../escaped")}),
    "gen, told by a base": (
        ["gen"],
        {
            "policykit.yaml": based("b.yaml"),
            "b.yaml": writing("../escaped"),
        },
    ),
    "gen to a linked folder": (["gen", *HYBRID, "-o", "in"], {"in": "-> ../outside"}),
    "gen to .git": (["gen", *HYBRID, "-o", ".git/hooks"], {}),
    "gen through links": (["gen", *HYBRID, "-o", "out"], {"out/nodes": "-> ../../outside"}),
    "gen over a link": (["gen", *HYBRID, "-o", "out"], {"out/README.md": "-> ../../outside/token"}),
    "gen to what is not a path": (["gen"], {"policykit.yaml": writing('"a\\0b"')}),
    "gen beside what is not a path": (
        ["gen"],
        {"policykit.yaml": writing("../escaped"), "a/policykit.yaml": writing('"a\\0b"')},
    ),
    "init": (["init", "in/new"], {"in": "-> ../outside"}),
    "import": (["import", "told.yaml", "-o", "in/new.yaml"], {"in": "-> ../outside"}),
    "a report": (["lint", "--output", "report.txt"], {"report.txt": "-> ../outside/token"}),
    "a report of another format": (["lint", "--format", "sarif=a.sarif"], {"a.sarif": "-> ../outside/new"}),
    "a report over a hook": (["lint", "--output", "report.txt"], {"report.txt": "-> .git/hooks/pre-commit"}),
    "a baseline": (["baseline"], {".policykit-baseline.json": "-> ../outside/baseline.json"}),
    "a baseline that is not there": (["baseline"], {".policykit-baseline.json": "-> ../outside/new.json"}),
    "a baseline by its name": (["baseline", "-o", "b.json"], {"b.json": "-> ../outside/new.json"}),
}


@pytest.mark.parametrize(("words", "files"), WRITES.values(), ids=WRITES)
def test_nothing_elsewhere_is_written(
    tmp_path: Path, repo: Shell, words: list[str], files: dict[str, str]
) -> None:
    put(repo, {name: text.replace("OUTSIDE", str(tmp_path / "outside")) for name, text in files.items()})
    before = {name: text for name, text in tree(tmp_path).items() if name != "repo/told.yaml"}
    result = repo.run(*words)
    assert result.code == 2
    assert {name: text for name, text in tree(tmp_path).items() if name != "repo/told.yaml"} == before
    assert TOKEN not in result.err


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["gen", *HYBRID, "-o", "../made"], "README.md"),
        (["lint", "--output", "../made/report.txt"], "report.txt"),
        (["lint", "--format", "json=../made/report.json"], "report.json"),
        (["baseline", "-o", "../made/b.json"], "b.json"),
        (["init", "../made"], "policykit.yaml"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_command_line_may_write_anywhere(
    tmp_path: Path, repo: Shell, words: list[str], made: str
) -> None:
    assert repo.run(*words).code in (0, 1)
    assert (tmp_path / "made" / made).is_file()


def test_generate_out_elsewhere_is_told_where_it_is_said(tmp_path: Path, repo: Shell) -> None:
    put(repo, {"policykit.yaml": f"{POLICY}generate:\n  out: ../escaped\n"})
    says = (
        "policykit: policykit.yaml:5:8: generate.out cannot be written: it resolves to"
        f" {tmp_path}/escaped, outside the repository {tmp_path}/repo\n"
        "  help: keep it inside, or allow it: --allow-path ..\n"
    )
    assert repo.run("gen") == Result(2, "", says)
    assert repo.run("lint", "policykit.yaml").err.startswith(says)


def test_pruning_deletes_nothing_behind_a_link(tmp_path: Path, repo: Shell) -> None:
    put(repo, {"policykit.yaml": f"{POLICY}priorities: {{a: {{value: 1}}}}\ngenerate: {{out: out}}\n"})
    assert process("gen", cwd=repo.folder).code == 0
    (repo.folder / "out/kubernetes").rename(tmp_path / "outside/kubernetes")
    put(repo, {"out/kubernetes": "-> ../../outside/kubernetes"})
    put(repo, {"policykit.yaml": writing("out")})
    before = tree(tmp_path / "outside")
    assert process("gen", "--prune", cwd=repo.folder).code == 0
    assert tree(tmp_path / "outside") == before


@pytest.mark.skipif(not tools.found("bash"), reason="bash hands over commands as files")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("PK lint --format concise <(cat ../outside/broken.yaml)", "PK001"),
        ("PK lint --format concise /dev/stdin < told.yaml", "/dev/stdin:1:4: PK001"),
        ("cat told.yaml | PK lint --format concise /dev/stdin", "/dev/stdin:1:4: PK001"),
        ("PK import <(echo '{kind: Node, apiVersion: v1, metadata: {name: a}}')", "kind: Policy"),
        (
            "PK where <(echo '{kind: Pod, apiVersion: v1, metadata: {name: b}}')"
            " --nodes <(echo '{kind: Node, apiVersion: v1, metadata: {name: a}}')",
            "Pod b",
        ),
        ("PK gen -o - -p <(cat ../outside/policykit.yaml)", "# File: "),
    ],
)
def test_commands_are_handed_over_as_files(repo: Shell, line: str, told: str) -> None:
    script = f'PK() {{ "{sys.executable}" -m policykit "$@"; }}; {line}'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=repo.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert told in done.stdout
