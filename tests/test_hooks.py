"""The pre-commit hooks: their command lines are ones that policykit takes, and do what their names say.

The last tests run the real `pre-commit try-repo` on a copy of the working tree, which installs
it from a package index; without one they are skipped.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.shared import ROOT
from tests.tools import tool

HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}

CLUSTER = (
    "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends: [profile:hybrid-volcano]\n"
    "generate: {out: generated}\n"
)


APPS_BAD = """\
apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  containers:
  - name: main
    image: registry.example/bad:1
    resources:
      limits: {nvidia.com/gpu: 0.5}
"""


def run(hook: str, *more: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(HOOKS[hook]["entry"])
    assert program == "policykit"
    return subprocess.run(
        [sys.executable, "-m", "policykit", *arguments, *more],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_hooks() -> None:
    assert list(HOOKS) == ["policykit-lint", "policykit-fix", "policykit-gen-check"]


@pytest.mark.parametrize("hook", HOOKS)
def test_the_command_line_is_known(hook: str) -> None:
    assert run(hook, "--help").returncode == 0
    assert run(hook, "--no-such-option", "--help").returncode == 2


@pytest.mark.parametrize("hook", HOOKS)
def test_keys(hook: str) -> None:
    entry = HOOKS[hook]
    assert entry["language"] == "python"
    # The names of stages are newer than types_or.
    assert entry["minimum_pre_commit_version"] == ("3.2.0" if "stages" in entry else "2.9.2")
    assert entry["name"]
    assert entry["description"]


@pytest.mark.parametrize("hook", ["policykit-lint", "policykit-fix"])
def test_manifests_come_together(hook: str) -> None:
    assert HOOKS[hook]["types_or"] == ["yaml", "json"]
    assert HOOKS[hook]["require_serial"] is True


def test_lint_takes_the_files_of_a_commit_together(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "apps", tmp_path / "apps")
    shutil.copy(ROOT / "examples" / "policykit.yaml", tmp_path)
    clean = run("policykit-lint", "apps/finetune.yaml", "apps/portal.yaml", cwd=tmp_path)
    assert (clean.returncode, clean.stdout) == (0, "")
    wrong = run("policykit-lint", "apps/finetune.yaml", "apps/quota.yaml", cwd=tmp_path)
    assert wrong.returncode == 1
    assert wrong.stdout.startswith("apps/quota.yaml:9:5: PK206 ")


FLEET = {
    "base/job.yaml": """\
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
        resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}
""",
    "base/kustomization.yaml": "kind: Kustomization\nresources: [job.yaml]\n",
    "prod/policykit.yaml": CLUSTER + "lint: {select: [PK009, PK101, PK201]}\n",
    "policykit.yaml": CLUSTER.replace("generated", "other") + "lint: {select: [PK009, PK101, PK201]}\n",
    "prod/kustomization.yaml": "kind: Kustomization\nresources: [../base]\npatches: [{path: place.yaml}]\n",
    "prod/old.yaml": APPS_BAD,
}
PLACE = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      nodeSelector: {maip.mxsf.io/node.usage: training}
      tolerations:
      - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
      - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
"""


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base that its only overlay completes, and an old mistake."""
    monkeypatch.setenv("PATH", os.path.dirname(tool("kustomize")) + os.pathsep + os.environ["PATH"])
    for name, text in {**FLEET, "prod/place.yaml": PLACE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return committed(tmp_path)


def places(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Path and code of each finding."""
    assert done.returncode in (0, 1), done.stderr
    found = re.findall(r"^([^\s:]+):\d+:\d+: (PK\d+) ", done.stdout, re.MULTILINE)
    return [" ".join(one) for one in found]


@pytest.mark.parametrize("hook", ["policykit-lint", "policykit-fix"])
def test_a_base_that_its_builds_complete_passes(fleet: Path, hook: str) -> None:
    job = fleet / "base/job.yaml"
    job.write_text(FLEET["base/job.yaml"].replace("train:1", "train:2"), encoding="utf-8")
    text = job.read_text(encoding="utf-8")
    assert places(run(hook, "base/job.yaml", cwd=fleet)) == []
    assert job.read_text(encoding="utf-8") == text


def test_the_change_is_told_wherever_it_shows(fleet: Path) -> None:
    """An old mistake is told only where its file is passed."""
    assert places(run("policykit-lint", cwd=fleet)) == []
    assert "prod/old.yaml PK201" in places(run("policykit-lint", "prod/old.yaml", cwd=fleet))
    (fleet / "prod/place.yaml").write_text(PLACE.replace("value: training", "value: other"), encoding="utf-8")
    changed = places(run("policykit-lint", "prod/place.yaml", cwd=fleet))
    assert changed == places(run("policykit-lint", cwd=fleet)) == ["prod/place.yaml PK101"]
    (fleet / "prod/kustomization.yaml").write_text(FLEET["prod/kustomization.yaml"].split("patches")[0])
    (fleet / "prod/place.yaml").unlink()
    assert "base/job.yaml PK101" in places(run("policykit-lint", cwd=fleet))


def test_a_deleted_file_breaks_what_lists_it(fleet: Path) -> None:
    (fleet / "base/job.yaml").unlink()
    assert "base/kustomization.yaml PK009" in places(run("policykit-lint", cwd=fleet))


def test_the_revision_that_pre_commit_names(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (fleet / "base/job.yaml").unlink()
    git("commit", "-q", "-a", "-m", "gone", cwd=fleet)
    assert places(run("policykit-lint", cwd=fleet)) == []
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "HEAD~1")
    assert "base/kustomization.yaml PK009" in places(run("policykit-lint", cwd=fleet))


def test_before_the_first_commit_everything_is_told(tmp_path: Path) -> None:
    git("init", "-q", cwd=tmp_path)
    (tmp_path / "a.yaml").write_text(APPS_BAD, encoding="utf-8")
    assert "a.yaml PK201" in places(run("policykit-lint", cwd=tmp_path))


def test_lint_leaves_out_what_the_policy_excludes(tmp_path: Path) -> None:
    (tmp_path / "policykit.yaml").write_text(CLUSTER + 'lint: {exclude: ["legacy/**"]}\n', encoding="utf-8")
    (tmp_path / "legacy").mkdir()
    shutil.copy(ROOT / "examples" / "apps" / "quota.yaml", tmp_path / "legacy")
    done = run("policykit-lint", "legacy/quota.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("hook", ["policykit-lint", "policykit-fix"])
@pytest.mark.parametrize("option", ["--output=", "--format=json=", "--crd=", "--policy="])
def test_the_name_of_a_committed_file_is_never_an_option(tmp_path: Path, hook: str, option: str) -> None:
    """pre-commit passes names on as they are: this one would write to, or read, another file."""
    elsewhere = tmp_path / "elsewhere.yaml"
    checkout = tmp_path / "checkout"
    named = checkout / f"{option}{elsewhere}"
    named.parent.mkdir(parents=True)
    named.write_text("a: 1\n", encoding="utf-8")
    done = run(hook, f"{option}{elsewhere}", cwd=checkout)
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"policykit: '{option}{elsewhere}' is both an option and the name of a file\n"
    )
    assert not elsewhere.exists()


def test_gen_check_holds_every_policy_to_its_folder(tmp_path: Path) -> None:
    entry = HOOKS["policykit-gen-check"]
    assert entry["pass_filenames"] is False
    assert entry["always_run"] is True
    assert entry["stages"] == ["pre-commit", "pre-push", "manual"]
    (tmp_path / ".git").mkdir()
    for name in ("prod", "dev"):
        (tmp_path / name).mkdir()
        named = f"{CLUSTER}metadata: {{name: {name}}}\n"
        (tmp_path / name / "policykit.yaml").write_text(named, encoding="utf-8")
    assert run("policykit-gen-check", cwd=tmp_path).returncode == 1
    written = subprocess.run(
        [sys.executable, "-m", "policykit", "gen", "--all"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert written.returncode == 0, written.stderr
    assert run("policykit-gen-check", cwd=tmp_path / "dev").returncode == 0
    edited = tmp_path / "prod" / "generated" / "volcano" / "values.yaml"
    edited.write_text(edited.read_text(encoding="utf-8") + "# by hand\n", encoding="utf-8")
    drift = run("policykit-gen-check", cwd=tmp_path)
    assert drift.returncode == 1
    assert "prod/generated/volcano/values.yaml: differs" in drift.stderr


APPS = {
    "apps/bad.yaml": APPS_BAD,
    "apps/fixable.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: fixable}   # kept
spec:
  containers:
  - name: main
    image: registry.example/fixable:1
    resources:
      requests:
        cpu: 1
        nvidia.com/gpu: 1
""",
    "gang/group.yaml": """\
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: train}
spec: {minMember: 4}
""",
}
FIXED = APPS["apps/fixable.yaml"] + "      limits:\n        nvidia.com/gpu: 1\n"
WORKER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata:
      labels: {app: NAME, pod-group.scheduling.sigs.k8s.io: train}
    spec:
      containers:
      - {name: main, image: "registry.example/train:1"}
"""
VALUES = "cluster/generated/volcano/values.yaml"


class Hook(NamedTuple):
    """What pre-commit said about one hook."""

    verdict: str
    says: str


Runs = dict[str, dict[str, Hook]]


def pre_commit(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *words],
        cwd=cwd,
        env={**_git_alone(), "PRE_COMMIT_COLOR": "never", "PRE_COMMIT_HOME": str(cwd.parent / "pre-commit")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def git(*words: str, cwd: Path) -> None:
    subprocess.run(["git", *words], cwd=cwd, env=_git_alone(), check=True, capture_output=True)


def _git_alone() -> dict[str, str]:
    """Nothing of the repository, or of the hook, in which the tests may run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHONPATH"))}
    author = {f"GIT_{who}_NAME": "Test" for who in ("AUTHOR", "COMMITTER")}
    mail = {f"GIT_{who}_EMAIL": "test@example.com" for who in ("AUTHOR", "COMMITTER")}
    return {**kept, **author, **mail, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def committed(folder: Path) -> Path:
    git("init", "-q", cwd=folder)
    git("add", "--all", cwd=folder)
    git("commit", "-q", "-m", "all", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree, uncommitted changes and all, as a repository of hooks."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    folder = tmp_path_factory.mktemp("policykit")
    for name in ("policykit", "profiles", "schemas", "extension"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder)
    return committed(folder)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy with its generated files, one edited by hand; manifests; and a gang in three files."""
    folder = tmp_path_factory.mktemp("repository")
    gang = {f"gang/{name}.yaml": WORKER.replace("NAME", name) for name in ("first", "second")}
    for name, text in {"cluster/policykit.yaml": CLUSTER, **APPS, **gang}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "policykit", "gen"],
        cwd=folder / "cluster",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return committed(folder)


@pytest.fixture(scope="module")
def runs(source: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """All hooks, twice: on what is wrong, and after it was put right."""
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--retries=1", "--no-deps", "hatchling"]
    reached = subprocess.run(
        [*asked, "--dest", str(tmp_path_factory.mktemp("index"))], capture_output=True, check=False
    )
    if reached.returncode:
        pytest.skip("no package index can be reached to install the hooks from")
    values = repository / VALUES
    generated = values.read_text(encoding="utf-8")
    values.write_text(generated + "# by hand\n", encoding="utf-8")
    git("add", "--all", cwd=repository)
    wrong = ("apps/bad.yaml", "apps/fixable.yaml")
    first = pre_commit("try-repo", str(source), "--files", *wrong, cwd=repository)
    values.write_text(generated, encoding="utf-8")
    (repository / "apps/bad.yaml").unlink()
    git("add", "--all", cwd=repository)
    right = ("apps/fixable.yaml", "gang/group.yaml", "cluster/policykit.yaml", VALUES)
    second = pre_commit("try-repo", str(source), "--files", *right, cwd=repository)
    return {"wrong": _told(first.stdout), "right": _told(second.stdout)}


def _told(output: str) -> dict[str, Hook]:
    """Hook id to what was said about it."""
    lines = re.compile(
        r"^(policykit [^.\n]*?)\.{3,}(\w+)\n((?:(?!policykit [^.\n]*\.{3}).*\n)*)", re.MULTILINE
    )
    ids = {entry["name"]: hook for hook, entry in HOOKS.items()}
    told = {ids[name]: Hook(verdict, says) for name, verdict, says in lines.findall(output)}
    assert sorted(told) == sorted(HOOKS), output
    return told


def test_the_manifest_is_one(source: Path) -> None:
    done = pre_commit("validate-manifest", str(source / ".pre-commit-hooks.yaml"), cwd=source)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_bad_manifest_fails(runs: Runs) -> None:
    verdict, says = runs["wrong"]["policykit-lint"]
    assert verdict == "Failed"
    assert "- exit code: 1\n" in says
    assert "\napps/bad.yaml:9:32: PK201 " in says


def test_a_fixable_manifest_is_fixed_and_fails_once(runs: Runs, repository: Path) -> None:
    verdict, says = runs["wrong"]["policykit-fix"]
    assert verdict == "Failed"
    assert "- files were modified by this hook\n" in says
    assert "policykit: 1 finding fixed in 1 file\n" in says
    assert (repository / "apps/fixable.yaml").read_text(encoding="utf-8") == FIXED
    assert "fixable.yaml" not in runs["wrong"]["policykit-lint"].says
    assert runs["right"]["policykit-fix"].verdict == "Passed"


def test_what_cannot_be_fixed_is_reported_by_the_fixing_hook_too(runs: Runs) -> None:
    assert "\napps/bad.yaml:9:32: PK201 " in runs["wrong"]["policykit-fix"].says


def test_an_edit_of_a_generated_file_fails_whatever_is_committed(runs: Runs) -> None:
    verdict, says = runs["wrong"]["policykit-gen-check"]
    assert verdict == "Failed"
    assert "- exit code: 1\n" in says
    assert f"\n{VALUES}: differs: edited by hand\n" in says


@pytest.mark.parametrize("hook", HOOKS)
def test_a_clean_repository_and_one_file_of_a_gang_pass(runs: Runs, hook: str) -> None:
    assert runs["right"][hook].verdict == "Passed", runs["right"][hook].says


def test_the_file_of_a_gang_would_fail_without_the_others(tmp_path: Path) -> None:
    (tmp_path / "group.yaml").write_text(APPS["gang/group.yaml"], encoding="utf-8")
    alone = run("policykit-lint", "group.yaml", cwd=tmp_path)
    assert alone.returncode == 1
    assert alone.stdout.startswith("group.yaml:3:18: PK306 ")
