"""A lint prints what the last one did if nothing has changed, and any change of what it reads is seen."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.__main__ import answer
from policykit.workspace.cache.runs import repeated
from policykit.workspace.linting import incremental as cached
from tests.cli.commands import Result, Shell, commit
from tests.shared import ROOT
from tests.tools import tool

BASE = "apiVersion: policykit.io/v1alpha1\nkind: Policy\ndomain: a.example.com\n"
POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
extends: [../base/policykit.yaml]
cards: {h20: {product: NVIDIA-H20}}
pools: {train: {usage: training, card: h20, nodes: 2, allocatable: {cpu: 8, memory: 32Gi}}}
workloads: {training: {usages: [training]}}
lint: {exclude: [excluded/*], crds: [crd.yaml]}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {a: {type: FORM}}}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  nodeSelector: {a.example.com/node.usage: training}
  containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
"""
GROUP = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: a}\nspec: {minMember: 1}\n"
)
BASELINE = '{"version": 1, "findings": []}\n'
FILES: dict[str, str] = {
    "base/policykit.yaml": BASE,
    "team/policykit.yaml": POLICY,
    "team/crd.yaml": CRD.replace("FORM", "string"),
    "team/thing.yaml": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\na: b\n",
    "team/a.yaml": POD.replace("NAME", "a"),
    "team/group.yaml": GROUP,
    "team/excluded/b.yaml": POD.replace("NAME", "b"),
    "team/ignored/c.yaml": POD.replace("NAME", "c"),
    "team/.gitignore": "ignored/\n",
    "other/d.yaml": POD.replace("NAME", "d"),
    "pyproject.toml": "[tool.policykit.lint]\nignore = []\n",
}
WORDS = ["lint", "team", "other", "--format", "json", "--show-files"]

Edit = Mapping[str, str | None]
EDITS: dict[str, Edit] = {
    "a manifest": {"team/a.yaml": FILES["team/a.yaml"].replace("usage: training", "usage: trainnig")},
    "a new manifest": {"team/new/e.yaml": POD.replace("NAME", "e")},
    "a manifest that is deleted": {"team/group.yaml": None},
    "a manifest that moves": {"team/group.yaml": None, "team/sub/group.yaml": GROUP},
    "a manifest that is broken": {"other/d.yaml": "a: [\n"},
    "a manifest that is not UTF-8": {"other/d.yaml": "a: \udcff\n"},
    "the policy": {"team/policykit.yaml": POLICY.replace("NVIDIA-H20", "NVIDIA-L20")},
    "a policy that is broken": {"team/policykit.yaml": POLICY.replace("nodes: 2", "nodes: -2")},
    "the base of the policy": {"base/policykit.yaml": BASE.replace("a.example", "b.example")},
    "the base, which is gone": {"base/policykit.yaml": None},
    "a policy where there was none": {"other/policykit.yaml": POLICY.replace("test", "other")},
    "a policy above": {"policykit.yaml": POLICY.replace("test", "above").replace("../base", "base")},
    "a definition that the policy names": {"team/crd.yaml": CRD.replace("FORM", "integer")},
    "what git ignores": {"team/.gitignore": ""},
    "what git ignores above": {".gitignore": "group.yaml\n"},
    "an ignored file is not read": {"team/ignored/c.yaml": "a: [\n"},
    "excluded files": {"team/policykit.yaml": POLICY.replace("excluded/*", "group.yaml")},
    "settings without a policy": {"pyproject.toml": "[tool.policykit.lint]\npreset = 'minimal'\n"},
    "a baseline": {"team/.policykit-baseline.json": BASELINE},
    "a kustomization": {"team/kustomization.yaml": "namespace: team\nresources: [a.yaml]\n"},
    "a patch": {"team/kustomization.yaml": "resources: [group.yaml]\npatches: [{path: a.yaml}]\n"},
    "a script that creates objects": {
        "team/apply.sh": "kubectl apply -f - <<E\napiVersion: v1\nname: a\nE\n"
    },
    "a chart": {"other/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n"},
}
"""What a run may depend on, and files that make it different; None: the file is gone."""
UNSEEN = {"an ignored file is not read"}
"""Edits that no run looks at."""


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "_WORTH", 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache, beside the repository."""
    with tempfile.TemporaryDirectory() as beside:
        monkeypatch.setenv("POLICYKIT_CACHE_DIR", f"{beside}/cache")
        yield Path(beside)


def write(edit: Edit) -> None:
    for name, text in edit.items():
        path = Path(name)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode(errors="surrogateescape"))


def without(shell: Shell, words: list[str]) -> Result:
    return shell.run(*words, "--no-cache")


def test_nothing_changed(shell: Shell, folder: Path) -> None:
    write(FILES)
    first = shell.run(*WORDS)
    assert repeated(WORDS) is not None
    for path in Path().rglob("*.yaml"):
        os.utime(path, (1, 1))
    assert shell.run(*WORDS) == first == without(shell, WORDS)
    assert repeated(WORDS) is not None
    assert '"PK306"' in first.out


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_seen(name: str, shell: Shell, folder: Path) -> None:
    write(FILES)
    first = shell.run(*WORDS)
    write(EDITS[name])
    assert (repeated(WORDS) is not None) is (name in UNSEEN)
    changed = shell.run(*WORDS)
    assert changed == without(shell, WORDS)
    assert (changed == first) is (name in UNSEEN), "else the edit shows nothing"
    assert shell.run(*WORDS) == changed
    write({path: FILES.get(path) for path in EDITS[name]})
    assert shell.run(*WORDS) == first


LINES = (
    WORDS,
    [*WORDS, "--ignore", "PK306"],
    ["lint", "--exit-zero"],
    ["lint", "other", "-p", "team/policykit.yaml"],
)


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(EDITS)), st.booleans(), st.sampled_from(range(len(LINES)))),
        min_size=2,
        max_size=5,
    )
)
def test_any_edits(steps: list[tuple[str, bool, int]]) -> None:
    """Made or taken back in any order, with several command lines: as without a cache."""
    here, before = os.getcwd(), os.environ.get("POLICYKIT_CACHE_DIR")
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        repository = Path(made, "repository")
        (repository / ".git").mkdir(parents=True)
        patch.setattr(cached, "_WORTH", 0)
        patch.setenv("POLICYKIT_CACHE_DIR", os.path.join(made, "beside", "cache"))
        patch.chdir(repository)
        write(FILES)
        shown = [printed(LINES[0])]
        for name, is_made, line in steps:
            write(EDITS[name] if is_made else {path: FILES.get(path) for path in EDITS[name]})
            shown.append(printed(LINES[line]))
            assert shown[-1] == printed([*LINES[line], "--no-cache"])
            assert shown[-1] == printed(LINES[line])
    assert (os.getcwd(), os.environ.get("POLICYKIT_CACHE_DIR")) == (here, before)


def printed(words: list[str]) -> tuple[int, str, str]:
    """Exit code and what goes to both streams, inside this process."""
    out, errors = io.BytesIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(out, "utf-8")) as stream,
        contextlib.redirect_stderr(errors),
    ):
        code = answer(words)
        stream.flush()
    return code, out.getvalue().decode(), errors.getvalue()


BUILDS: dict[str, str] = {
    "policykit.yaml": BASE.replace("domain", "extends: [profile:hybrid-volcano]\ndomain"),
    "base/kustomization.yaml": "resources: [pod.yaml]\n",
    "base/pod.yaml": POD.replace("NAME", "a"),
    "dev/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\ncomponents: [../more]\n"
    "configMapGenerator: [{name: c, envs: [values.env]}]\n",
    "dev/patch.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {schedulerName: volcano}\n",
    "dev/values.env": "a=b\n",
    "more/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    "namePrefix: x-\n",
    "charts/Chart.yaml": "apiVersion: v2\nname: charts\nversion: 1.0.0\n",
    "charts/values.yaml": "queue: a\n",
    "charts/templates/pod.yaml": POD.replace("NAME", "{{ .Values.queue }}"),
    "charted/kustomization.yaml": "helmGlobals: {chartHome: ..}\nhelmCharts: [{name: charts}]\n",
}
BUILD_EDITS: dict[str, Edit] = {
    "a resource of the base": {
        "base/pod.yaml": BUILDS["base/pod.yaml"].replace("usage: train", "usage: tarin")
    },
    "what the base lists": {"base/kustomization.yaml": "resources: [gone.yaml]\n"},
    "the patch": {"dev/patch.yaml": BUILDS["dev/patch.yaml"].replace("volcano", "nobody")},
    "what the overlay lists": {"dev/kustomization.yaml": "resources: [../base]\n"},
    "what a generator reads": {"dev/values.env": "a=c\nb=d\n"},
    "a component": {"more/kustomization.yaml": BUILDS["more/kustomization.yaml"] + "namespace: team\n"},
    "values of a chart": {"charts/values.yaml": "queue: B_A_D\n"},
    "a template of a chart": {"charts/templates/pod.yaml": BUILDS["base/pod.yaml"].replace("v1", "v9", 1)},
    "a new template of a chart": {"charts/templates/group.yaml": GROUP},
    "a chart that is gone": {"charts/Chart.yaml": None},
}


@pytest.mark.parametrize("name", BUILD_EDITS)
def test_an_edit_of_what_is_built_is_seen(
    name: str, shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = (os.path.dirname(tool("kustomize")), str(folder / "bin"), os.environ["PATH"])
    (folder / "bin").mkdir()
    (folder / "bin" / "helm").symlink_to(tool("helm3"))
    monkeypatch.setenv("PATH", os.pathsep.join(programs))
    words = ["lint", "--format", "json", "--show-files"]
    write(BUILDS)
    first = shell.run(*words)
    assert first.err.count("\nbuilt ") == 2, first.err
    assert repeated(words) is not None
    assert shell.run(*words) == first
    write(BUILD_EDITS[name])
    assert repeated(words) is None
    changed = shell.run(*words)
    assert changed == without(shell, words)
    assert shell.run(*words) == changed
    (folder / "bin" / "kustomize").write_text("#!/bin/sh\nexit 1\n")
    (folder / "bin" / "kustomize").chmod(0o755)
    assert shell.run(*words) == changed, "another kustomize, after the first"
    monkeypatch.setenv("PATH", os.pathsep.join((*programs[1:2], *programs)))
    assert shell.run(*words) != changed, "another kustomize, before the first"


def test_links(shell: Shell, folder: Path) -> None:
    write({**FILES, "more/a.yaml": POD.replace("NAME", "z")})
    Path("team/link").symlink_to("../more")
    Path("team/z.yaml").symlink_to("../other/d.yaml")
    first = shell.run(*WORDS)
    assert repeated(WORDS) is not None
    for name, target in (
        ("team/z.yaml", "../more/a.yaml"),
        ("team/link", "../base"),
        ("team/z.yaml", "gone"),
    ):
        Path(name).unlink()
        Path(name).symlink_to(target)
        assert repeated(WORDS) is None
        changed = shell.run(*WORDS)
        assert changed == without(shell, WORDS) != first
        first = changed


def test_files_of_findings_are_written_again(shell: Shell, folder: Path) -> None:
    write(FILES)
    words = ["lint", "team", "--format", "text", "--format", "sarif=a.sarif", "--output", "a.txt"]
    first = shell.run(*words)
    texts = [Path(name).read_bytes() for name in ("a.sarif", "a.txt")]
    assert first.out == ""
    assert all(texts)
    for name in ("a.sarif", "a.txt"):
        Path(name).unlink()
    assert repeated(words) is not None
    assert shell.run(*words) == first
    assert [Path(name).read_bytes() for name in ("a.sarif", "a.txt")] == texts
    Path("a.txt").unlink()
    Path("a.txt").mkdir()
    failed = shell.run(*words)
    assert failed.code == 2
    assert failed == without(shell, words)


@pytest.mark.parametrize(
    "words",
    [
        ["--fix"],
        ["--diff"],
        ["--timings"],
        ["--since", "HEAD"],
        ["--hook"],
        ["--require-policy"],
        ["nowhere"],
    ],
    ids=" ".join,
)
def test_what_is_not_recorded(words: list[str], shell: Shell, folder: Path) -> None:
    """What changes files, depends on more than files, or fails."""
    shutil.rmtree(".git")
    write(FILES)
    commit(shell.folder)
    for _ in range(2):
        shell.run("lint", "team", "other", *words)
        assert repeated(["lint", "team", "other", *words]) is None


def test_a_closed_pipe(shell: Shell, folder: Path) -> None:
    """The reader of the output is gone, in a run and when it is repeated."""
    broken = {f"team/{number}.yaml": "a: [\n" for number in range(99)}
    write({**FILES, **broken, "team/large.yaml": f"# {'x' * 120_000}\n"})
    script = f"{sys.executable} -m policykit lint team; echo $? >&2"
    for line in (script, f"({script}) | true"):
        done = subprocess.run(
            ["sh", "-c", line],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Traceback" not in done.stderr
        assert done.stderr.splitlines()[-1] == "1"
