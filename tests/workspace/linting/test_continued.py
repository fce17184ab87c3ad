"""Hooks: a run goes on from the last one if only manifests have changed, and prints what a whole one does."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.linter.workspace import Options
from policykit.workspace.linting import continued as module
from policykit.workspace.linting import incremental
from policykit.workspace.linting.request import Request
from tests.cli.commands import Result, Shell, commit
from tests.cli.test_repeated_runs import Edit, printed, write

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: main}
extends: [profile:hybrid-volcano]
lint: {exclude: [excluded/*]}
"""
GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: train}
spec: {minMember: 2, queue: research}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  annotations: {scheduling.k8s.io/group-name: train}
spec:
  schedulerName: volcano
  containers:
    - name: main
      image: registry.example/a:1
      resources: {limits: {nvidia.com/gpu: 1}}
"""
QUEUE = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: research}\nspec: {weight: 1}\n"
)
QUOTA = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 1}}\n"
CLASS = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\n"
FLUX = (
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: b}\n"
)
FILES: dict[str, str] = {
    "policykit.yaml": POLICY,
    "a/group.yaml": GROUP,
    "a/one.yaml": POD.replace("NAME", "one"),
    "b/two.yaml": POD.replace("NAME", "two"),
    "b/queue.yaml": QUEUE,
    "excluded/three.yaml": POD.replace("NAME", "three"),
    "ignored/x.yaml": POD.replace("NAME", "x"),
    ".gitignore": "ignored/\n",
    "setup.sh": "kubectl apply -f elsewhere.yaml\n",
}
NAMED = ["lint", "--hook", "b/two.yaml"]

GOES_ON: dict[str, Edit] = {
    "nothing": {},
    "a comment": {"b/two.yaml": FILES["b/two.yaml"] + "# more\n"},
    "lines that move": {"b/two.yaml": "# more\n\n" + FILES["b/two.yaml"]},
    "a file that is not named": {"a/one.yaml": FILES["a/one.yaml"].replace("gpu: 1", "gpu: 200")},
    "a group that grows": {"a/group.yaml": GROUP.replace("minMember: 2", "minMember: 3")},
    "a member that leaves": {"b/two.yaml": FILES["b/two.yaml"].replace(": train", ": tarin")},
    "a queue with another name": {"b/queue.yaml": QUEUE.replace("research", "reserach")},
    "another object": {"b/queue.yaml": QUOTA},
    "an object of a new kind": {"b/two.yaml": f"{FILES['b/two.yaml']}---\n{QUOTA}"},
    "two files": {
        "a/group.yaml": "# more\n" + GROUP,
        "b/two.yaml": FILES["b/two.yaml"].replace("name: two", "name: one"),
    },
    "a finding that moves": {
        "a/one.yaml": FILES["a/one.yaml"].replace("gpu: 1", "gpu: 3").replace("one", "two"),
        "b/two.yaml": FILES["b/two.yaml"].replace("two", "one"),
    },
    "an ignored file": {"ignored/x.yaml": "a: [\n"},
}
WHOLE: dict[str, Edit] = {
    "a new file": {"b/new.yaml": POD.replace("NAME", "new")},
    "an object that is gone": {"b/queue.yaml": "# nothing\n"},
    "a file that is gone": {"b/queue.yaml": None},
    "the policy": {"policykit.yaml": POLICY.replace("excluded/*", "a/*")},
    "a policy where there was none": {"b/policykit.yaml": POLICY.replace("main", "other")},
    "what git ignores": {".gitignore": "\n"},
    "an excluded file": {"excluded/three.yaml": POD.replace("NAME", "four")},
    "a script that names objects": {"setup.sh": "kubectl create queue tarin\n"},
    "a document that is broken": {"b/two.yaml": "a: [\n"},
    "a template": {"b/two.yaml": "{{ if .Values.a }}\n" + FILES["b/two.yaml"]},
    "a suppression": {"b/two.yaml": "# policykit: ignore[PK201] -- why\n" + FILES["b/two.yaml"]},
    "a class of pods": {"b/two.yaml": f"{FILES['b/two.yaml']}---\n{CLASS}"},
    "an object of a controller": {"b/two.yaml": f"{FILES['b/two.yaml']}---\n{FLUX}"},
    "a kustomization": {"b/kustomization.yaml": "resources: [two.yaml]\n"},
    "a baseline": {".policykit-baseline.json": '{"version": 1, "findings": []}\n'},
}


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "_WORTH", 0)


@pytest.fixture
def repository(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A repository of one commit, with the cache beside it."""
    with tempfile.TemporaryDirectory() as beside:
        monkeypatch.setenv("POLICYKIT_CACHE_DIR", f"{beside}/cache")
        write(FILES)
        (shell.folder / ".git").rmdir()
        commit(shell.folder)
        yield shell


@pytest.fixture
def went_on(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each hook with a cache, whether it went on from an earlier run."""
    seen: list[bool] = []
    real = module.continued

    def noted(request: Request, options: Options) -> module.ContinuedRun | None:
        found = real(request, options)
        if request.cache.folder:
            seen.append(found is not None)
        return found

    monkeypatch.setattr(module, "continued", noted)
    return seen


def without(shell: Shell, words: list[str]) -> Result:
    return shell.run(*words, "--no-cache")


@pytest.mark.parametrize("name", [*GOES_ON, *WHOLE])
def test_an_edit(name: str, repository: Shell, went_on: list[bool]) -> None:
    edit = GOES_ON.get(name, WHOLE.get(name, {}))
    first = repository.run(*NAMED)
    assert first == repository.run(*NAMED) == without(repository, NAMED)
    write(edit)
    assert repository.run(*NAMED) == without(repository, NAMED)
    assert went_on == [False, True, name in GOES_ON]
    write({path: FILES.get(path) for path in edit})
    assert repository.run(*NAMED) == first


def test_other_files_may_be_named(repository: Shell, went_on: list[bool]) -> None:
    hook = ["lint", "--hook"]
    repository.run(*NAMED)
    for words in ([*hook, "a/one.yaml", "b/two.yaml"], hook, [*hook, "ignored/x.yaml"], [*hook, "a"]):
        assert repository.run(*words) == without(repository, words)
    assert went_on == [False, True, True, False, False]


@pytest.mark.parametrize("name", [*GOES_ON, *WHOLE])
def test_a_commit_of_an_edit(name: str, repository: Shell, went_on: list[bool]) -> None:
    """What was found in the work tree is what its commit has, if it differs in files that were linted."""
    edit = GOES_ON.get(name, WHOLE.get(name, {}))
    repository.run(*NAMED)
    write(edit)
    commit(repository.folder)
    assert repository.run(*NAMED) == without(repository, NAMED)
    assert went_on == [False, name in GOES_ON]
    write({path: FILES.get(path) for path in edit})
    assert repository.run(*NAMED) == without(repository, NAMED)


def test_edits_after_a_commit(repository: Shell, went_on: list[bool]) -> None:
    before = repository.run(*NAMED)
    write(GOES_ON["a queue with another name"])
    new = repository.run(*NAMED)
    assert new != before
    commit(repository.folder)
    assert repository.run(*NAMED) == without(repository, NAMED) != new
    for name in ("two files", "a member that leaves", "a finding that moves"):
        write(GOES_ON[name])
        assert repository.run(*NAMED) == without(repository, NAMED)
        commit(repository.folder)
        assert repository.run(*NAMED) == without(repository, NAMED)
    assert went_on == [False, *[True] * 8]


WITH_MORE: dict[str, Edit] = {
    "a file that is not committed": {"b/new.yaml": POD.replace("NAME", "new")},
    "a policy that is not committed": {"policykit.yaml": POLICY.replace("excluded/*", "a/*")},
    "a script that is not committed": {"setup.sh": "kubectl create queue tarin\n"},
}


@pytest.mark.parametrize("name", WITH_MORE)
def test_a_commit_of_a_part(name: str, repository: Shell, went_on: list[bool]) -> None:
    """The commit is not what was judged: all is judged again."""
    write(WITH_MORE[name])
    repository.run(*NAMED)
    write(GOES_ON["a queue with another name"])
    commit(repository.folder, "b/queue.yaml")
    assert repository.run(*NAMED) == without(repository, NAMED)
    assert went_on == [False, False]


def test_lines_that_git_changes(repository: Shell, went_on: list[bool]) -> None:
    """They end otherwise in the commit than in the work tree."""
    lines = FILES["a/one.yaml"].replace("\n", "\r\n")
    write({".gitattributes": "*.yaml text\n", "a/one.yaml": lines})
    commit(repository.folder)
    for edit in ({}, {"b/queue.yaml": f"# more\n{QUEUE}"}, {"a/one.yaml": f"# more\r\n{lines}"}):
        write(edit)
        commit(repository.folder)
        assert repository.run(*NAMED) == without(repository, NAMED)
    assert went_on == [False, True, True]


def test_links(repository: Shell, went_on: list[bool]) -> None:
    """Two of the linted files are one: where it changes, or after a commit with links, all is judged."""
    os.symlink("../a/one.yaml", "b/link.yaml")
    commit(repository.folder)
    one, two = FILES["a/one.yaml"], FILES["b/two.yaml"]
    for edit in ({}, {"b/two.yaml": f"# more\n{two}"}, {"a/one.yaml": f"# more\n{one}"}):
        write(edit)
        assert repository.run(*NAMED) == without(repository, NAMED)
    commit(repository.folder)
    assert repository.run(*NAMED) == without(repository, NAMED)
    assert went_on == [False, True, False, False]


@settings(max_examples=16)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(GOES_ON | WHOLE)), st.booleans(), st.booleans()),
        min_size=2,
        max_size=5,
    )
)
def test_any_edits(steps: list[tuple[str, bool, bool]]) -> None:
    """Made or taken back in any order, committed or not: as without a cache."""
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        folder = Path(made, "repository")
        folder.mkdir()
        patch.setattr(incremental, "_WORTH", 0)
        patch.setenv("POLICYKIT_CACHE_DIR", os.path.join(made, "beside", "cache"))
        patch.chdir(folder)
        write(FILES)
        commit(folder)
        printed(NAMED)
        for name, is_made, is_committed in steps:
            edit = GOES_ON.get(name, WHOLE.get(name, {}))
            write(edit if is_made else {path: FILES.get(path) for path in edit})
            if is_committed:
                commit(folder)
            assert printed(NAMED) == printed([*NAMED, "--no-cache"])
