"""`lint --since`: what a revision did not have, read with the real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.commands import Result, process
from tests.shared import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def pod(name: str, amount: int = 1) -> str:
    """A pod with a finding, whose cause is the amount."""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n"
        f"  - name: main\n    image: registry.example/{name}:1\n"
        f"    resources: {{requests: {{nvidia.com/gpu: {amount}}}}}\n"
    )


class Repository:
    """A git repository, and policykit run in it as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *words],
            cwd=self.folder,
            env={**os.environ, **GIT},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, files: dict[str, str] | None = None) -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def since(self, revision: str, *words: str, folder: str = ".", **environment: str) -> Result:
        arguments = ("lint", "--select", "PK001,PK201,PK306", "--no-baseline", "--since", revision, *words)
        return process(*arguments, cwd=self.folder / folder, stdin=None, **{**GIT, **environment})


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Three files of one or two documents, every object with a finding."""
    made = Repository(tmp_path / "repository")
    made.commit({"a.yaml": pod("a"), "two.yaml": f"{pod('b')}---\n{pod('c')}", "apps/d.yaml": pod("d")})
    return made


def told(result: Result) -> list[str]:
    """`path:line` of every finding."""
    assert result.code in (0, 1), result.err
    return [":".join(line.split(":")[:2]) for line in result.out.splitlines() if not line.startswith("    ")]


def test_nothing_changed(repository: Repository) -> None:
    result = repository.since("HEAD")
    assert (result.code, result.out) == (0, "")
    assert result.err.endswith("no findings (4 objects in 3 files, 4 not new)\n")


@pytest.mark.parametrize("how", ["committed", "staged", "not staged"])
def test_a_new_cause_is_told(repository: Repository, how: str) -> None:
    repository.write({"two.yaml": f"{pod('b')}---\n{pod('c', 2)}"})
    if how == "staged":
        repository.git("add", "-A")
    if how == "committed":
        repository.commit()
    assert told(repository.since("HEAD~1" if how == "committed" else "HEAD")) == ["two.yaml:17"]


@pytest.mark.parametrize("how", ["not added", "added", "added in intent", "ignored but named"])
def test_new_files(repository: Repository, how: str) -> None:
    repository.write({"new.yaml": pod("n")})
    words: tuple[str, ...] = ()
    if how == "ignored but named":
        repository.write({".gitignore": "new.yaml\n"})
        words = ("new.yaml",)
    if how.startswith("added"):
        repository.git("add", *(["-N"] if "intent" in how else []), "new.yaml")
    assert told(repository.since("HEAD", *words)) == ["new.yaml:8"]


def test_documents_added_and_taken_out(repository: Repository) -> None:
    repository.write(
        {"two.yaml": f"{pod('b')}---\n{pod('n')}---\n{pod('c')}", "a.yaml": f"{pod('m')}---\n{pod('a')}"}
    )
    assert told(repository.since("HEAD")) == ["a.yaml:8", "two.yaml:17"]
    repository.commit()
    repository.write({"two.yaml": f"{pod('b')}---\n{pod('c')}", "a.yaml": pod("a")})
    assert told(repository.since("HEAD")) == []


def test_a_change_that_makes_no_finding(repository: Repository) -> None:
    repository.commit({"two.yaml": f"{pod('b')}  priority: 1\n---\n{pod('c')}"})
    repository.write({"two.yaml": f"{pod('b')}---\n{pod('c')}"})
    assert told(repository.since("HEAD")) == []


def test_renamed_files(repository: Repository) -> None:
    repository.git("mv", "two.yaml", "renamed.yaml")
    assert told(repository.since("HEAD")) == []
    repository.write({"renamed.yaml": f"{pod('b')}---\n{pod('c', 2)}"})
    assert told(repository.since("HEAD")) == ["renamed.yaml:17"]


def test_deleted_files(repository: Repository) -> None:
    (repository.folder / "a.yaml").unlink()
    assert told(repository.since("HEAD")) == []
    repository.git("rm", "-q", "--cached", "two.yaml")
    assert told(repository.since("HEAD")) == []


@pytest.mark.parametrize(
    "name",
    [
        "with space.yaml",
        "节点 é.yaml",
        "new\nline.yaml",
        'quote"tab\tback\\slash.yaml',
        "-dash.yaml",
        "a/b/c.yaml",
    ],
)
def test_odd_names(repository: Repository, name: str) -> None:
    repository.commit({name: f"{pod('x')}---\n{pod('y')}"})
    repository.write({name: f"{pod('x')}---\n{pod('y', 2)}"})
    result = repository.since("HEAD")
    assert result.code == 1
    assert result.out.count(" PK201 ") == 1
    assert ":17:" in result.out


def test_lines_that_look_like_a_diff(repository: Repository) -> None:
    text = "".join(f"{sign}{sign} {path}\n" for sign in "+-" for path in ("b/a.yaml", "a/a.yaml"))
    repository.commit({"notes.txt": "x\n"})
    repository.write({"notes.txt": f"{text}diff --git a/a.yaml b/a.yaml\n@@ -1,3 +1,3 @@\n"})
    assert told(repository.since("HEAD")) == []


def test_settings_of_git_change_nothing(repository: Repository) -> None:
    repository.commit({".gitattributes": "*.yaml diff=odd\na.yaml -diff\n"})
    for name, value in {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.external": "false",
        "diff.renames": "false",
        "diff.context": "9",
        "diff.interHunkContext": "99",
        "color.ui": "always",
        "core.pager": "false",
        "core.quotePath": "false",
        "core.fsmonitor": "touch fsmonitor-ran",
        "diff.odd.textconv": "false",
        "diff.odd.command": "false",
    }.items():
        repository.git("config", name, value)
    repository.write({"a.yaml": pod("a", 2), "two.yaml": f"{pod('b')}---\n{pod('c', 2)}"})
    assert told(repository.since("HEAD")) == ["a.yaml:8", "two.yaml:17"]
    assert not (repository.folder / "fsmonitor-ran").exists()


RUN_BY_GIT = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand", "core.gitProxy"),
    *("core.alternateRefsCommand", "credential.helper", "gpg.program", "sequence.editor", "pager.diff-index"),
    *("diff.external", "diff.odd.command", "diff.odd.textconv", "merge.odd.driver", "interactive.diffFilter"),
    *("filter.odd.clean", "filter.odd.smudge", "filter.odd.process", "filter.o.d d.clean", "filter.clean"),
    *("uploadpack.packObjectsHook", "alias.diff-index", "alias.ls-files", "remote.origin.uploadpack"),
)
"""Settings whose value is a program."""


def traps(repository: Repository, folder: Path, *where: str) -> Path:
    """A file that is there as soon as any program of the repository's configuration has run.

    `where`: options of `git config` that say into which file that configuration is written.
    """
    ran = folder / "ran"
    program = folder / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> "{ran}"\ncat\n')
    program.chmod(0o755)
    hooks = folder / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "pre-auto-gc", "reference-transaction"):
        shutil.copy(program, hooks / name)
    for name in RUN_BY_GIT:
        repository.git("config", *where, name, f"{program} {name}")
    repository.git("config", *where, "filter.odd.required", "true")
    repository.git("config", *where, "core.hooksPath", str(hooks))
    attributes = "*.yaml filter=odd diff=odd merge=odd\nb.yaml filter=o.d\\ d\n"
    inside = repository.git("rev-parse", "--absolute-git-dir")
    Path(inside, "info").mkdir(exist_ok=True)
    Path(inside, "info/attributes").write_text(attributes)
    repository.write({".gitattributes": attributes})
    return ran


def outputs(repository: Repository, folder: str = ".") -> list[Result]:
    """Of lint in all the ways in which it may ask git."""
    plain = process("lint", "--select", "PK201", cwd=repository.folder / folder, stdin=None, **GIT)
    return [plain, repository.since("HEAD", folder=folder), repository.since("HEAD...", folder=folder)]


def careless(repository: Repository) -> None:
    """What anybody does who knows nothing of traps; it may fail."""
    with suppress(subprocess.CalledProcessError):
        repository.git("status")


@pytest.mark.parametrize("place", ["its own", "included", "of a worktree"])
def test_no_program_of_the_repository_is_run(repository: Repository, tmp_path: Path, place: str) -> None:
    repository.git("mv", "a.yaml", "b.yaml")
    repository.git("mv", "apps/d.yaml", "e.yaml")
    repository.write({"b.yaml": pod("a", 2)})
    before = outputs(repository)
    assert told(before[1]) == told(before[2]) == ["b.yaml:8"]
    where: tuple[str, ...] = ()
    if place == "included":
        where = ("--file", str(repository.folder / "team.gitconfig"))
        repository.git("config", "include.path", "../team.gitconfig")
    if place == "of a worktree":
        where = ("--worktree",)
        repository.git("config", "extensions.worktreeConfig", "true")
    ran = traps(repository, tmp_path, *where)
    for name in ("b.yaml", "two.yaml", "e.yaml"):
        (repository.folder / name).touch()
    assert outputs(repository) == before
    assert not ran.exists(), ran.read_text()
    careless(repository)
    assert "filter.odd" in ran.read_text()
    assert "core.fsmonitor" in ran.read_text()


def test_no_program_is_run_in_or_above_a_submodule(repository: Repository, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    other.commit({"s.yaml": pod("s")})
    repository.git("submodule", "add", "-q", str(other.folder), "sub")
    repository.commit()
    inside = Repository(repository.folder / "sub")
    repository.write({"sub/s.yaml": pod("s", 2)})
    before = [outputs(repository), outputs(repository, "sub")]
    assert told(before[0][1]) == ["sub/s.yaml:8"]
    assert told(before[1][1]) == ["s.yaml:8"]
    ran = traps(repository, tmp_path)
    (tmp_path / "more").mkdir()
    also = traps(inside, tmp_path / "more")
    assert [outputs(repository), outputs(repository, "sub")] == before
    assert not ran.exists(), ran.read_text()
    assert not also.exists(), also.read_text()
    for one in (repository, inside):
        careless(one)
    assert ran.exists()
    assert also.exists()


def test_a_filter_that_no_option_turns_off(repository: Repository) -> None:
    repository.git("config", "filter.a=b.clean", "touch ran")
    repository.git("config", "filter.a=b.smudge", "touch ran")
    repository.write({".gitattributes": "*.yaml filter=a=b\n", "a.yaml": pod("a", 2)})
    assert told(repository.since("HEAD")) == ["a.yaml:8"]
    assert not (repository.folder / "ran").exists()


def test_files_that_look_like_a_repository_are_none(repository: Repository, tmp_path: Path) -> None:
    """Committed like any other file, they would bring a configuration along."""
    bare = {
        ".a/HEAD": "ref: refs/heads/main\n",
        ".a/config": f"[core]\n\trepositoryformatversion = 0\n\tworktree = {repository.folder}\n",
        ".a/objects/x": "",
        ".a/refs/x": "",
        ".a/p.yaml": pod("p"),
    }
    repository.commit(bare)
    repository.write({".a/p.yaml": pod("p", 2)})
    before = [outputs(repository), outputs(repository, ".a")]
    assert told(before[0][1]) == [".a/p.yaml:8"]
    assert told(before[1][1]) == ["p.yaml:8"]
    ran = traps(repository, tmp_path, "--file", str(repository.folder / ".a/config"))
    assert [outputs(repository), outputs(repository, ".a")] == before
    assert not ran.exists(), ran.read_text()


def test_line_endings_of_a_checkout(repository: Repository) -> None:
    repository.git("config", "core.autocrlf", "true")
    repository.write({"a.yaml": pod("a").replace("\n", "\r\n")})
    text = f"{pod('b')}---\n{pod('c', 2)}"
    repository.write({"two.yaml": text.replace("\n", "\r\n")})
    assert told(repository.since("HEAD")) == ["two.yaml:17"]


def test_where_head_left_another_branch(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "change")
    repository.commit({"apps/d.yaml": pod("d", 2)})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.yaml": pod("a", 3)})
    repository.git("checkout", "-q", "change")
    assert told(repository.since("main...")) == ["apps/d.yaml:8"]
    assert told(repository.since("main")) == ["a.yaml:8", "apps/d.yaml:8"]


def test_from_a_folder_below(repository: Repository) -> None:
    repository.write({"apps/d.yaml": pod("d", 2), "a.yaml": pod("a", 2)})
    assert told(repository.since("HEAD", folder="apps")) == ["d.yaml:8"]
    assert told(repository.since("HEAD", "..", folder="apps")) == ["../a.yaml:8", "../apps/d.yaml:8"]


def test_the_context_is_still_the_whole_scope(repository: Repository) -> None:
    api = "scheduling.volcano.sh/v1beta1"
    group = f"apiVersion: {api}\nkind: PodGroup\nmetadata: {{name: g}}\nspec: {{minMember: 1}}\n"
    member = pod("m").replace("{name: m}", "{name: m, annotations: {scheduling.k8s.io/group-name: g}}")
    repository.commit({"g/group.yaml": group, "g/member.yaml": member})
    repository.write({"g/group.yaml": group + "# changed\n"})
    assert told(repository.since("HEAD", "g")) == []
    (repository.folder / "g/member.yaml").unlink()
    assert told(repository.since("HEAD", "g")) == ["g/group.yaml:3"]


def test_only_what_is_new_is_fixed(repository: Repository) -> None:
    def unused(code: str) -> str:
        return f"{{}}  # policykit: ignore[{code}] -- no more"

    made = pod("x").replace("{requests: {nvidia.com/gpu: 1}}", "PLACE")
    old, new = (made.replace("PLACE", unused(code)) for code in ("PK201", "PK306"))
    repository.commit({"two.yaml": f"{old}---\n{old}"})
    repository.write({"two.yaml": f"{old}---\n{new}"})
    words = ("lint", "--select", "PK903", "--fix", "--since", "HEAD")
    process(*words, cwd=repository.folder, stdin=None, **GIT)
    text = (repository.folder / "two.yaml").read_text()
    assert text == f"{old}---\n{made.replace('PLACE', '{}')}"


def test_of_two_like_findings_the_new_one_is_told(repository: Repository) -> None:
    process("baseline", cwd=repository.folder, stdin=None, **GIT)
    repository.commit()
    repository.write({"0.yaml": pod("a")})
    words = ("lint", "--select", "PK201", "--since", "HEAD")
    assert told(process(*words, cwd=repository.folder, stdin=None, **GIT)) == ["0.yaml:8"]


def test_standard_input_counts_as_new(repository: Repository) -> None:
    words = ("lint", "-", "--select", "PK201", "--since", "HEAD")
    assert told(process(*words, cwd=repository.folder, stdin=pod("x").encode(), **GIT)) == ["<stdin>:8"]


def test_files_in_a_conflict(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "other")
    repository.commit({"a.yaml": pod("other")})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.yaml": pod("mine")})
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("merge", "-q", "other")
    assert [place.split(":")[0] for place in told(repository.since("HEAD"))] == ["a.yaml"]


def test_links(repository: Repository) -> None:
    (repository.folder / "link.yaml").symlink_to("two.yaml")
    repository.commit()
    assert told(repository.since("HEAD")) == []
    repository.write({"two.yaml": f"{pod('b')}---\n{pod('c', 2)}"})
    assert told(repository.since("HEAD")) == ["link.yaml:17", "two.yaml:17"]


def test_submodules_are_compared_with_the_commit_recorded(repository: Repository, tmp_path: Path) -> None:
    inner = Repository(tmp_path / "inner")
    inner.commit({"s.yaml": pod("s"), "t.yaml": pod("t")})
    before = repository.commit()
    repository.git("submodule", "add", "-q", str(inner.folder), "sub")
    added = repository.commit()
    below = Repository(repository.folder / "sub")
    assert told(repository.since(added)) == []
    assert told(repository.since(before)) == ["sub/s.yaml:8", "sub/t.yaml:8"]
    below.write({"s.yaml": pod("s", 2)})
    assert told(repository.since(added)) == ["sub/s.yaml:8"]
    below.commit()
    below.write({"t.yaml": pod("t", 2)})
    assert told(repository.since("HEAD")) == ["sub/s.yaml:8", "sub/t.yaml:8"]
    assert told(repository.since("HEAD", folder="sub")) == ["t.yaml:8"]


def test_in_a_worktree_and_in_a_hook(repository: Repository, tmp_path: Path) -> None:
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"))
    hook = tmp_path / "hook"
    hook.write_text('#!/bin/sh\nenv | grep ^GIT_ > "$OUT"\n')
    hook.chmod(0o755)
    for folder in (repository.folder, tmp_path / "tree"):
        (folder / "a.yaml").write_text(pod("a", 2))
        hooks = tmp_path / "hooks"
        hooks.mkdir(exist_ok=True)
        out = tmp_path / f"{folder.name}.env"
        (hooks / "pre-commit").unlink(missing_ok=True)
        (hooks / "pre-commit").symlink_to(hook)
        subprocess.run(
            ["git", "-c", f"core.hooksPath={hooks}", "commit", "-q", "-a", "-m", "x"],
            cwd=folder,
            env={**os.environ, **GIT, "OUT": str(out)},
            check=True,
        )
        given = dict(line.split("=", 1) for line in out.read_text().splitlines())
        assert "GIT_INDEX_FILE" in given
        words = ("lint", "--select", "PK201", "--since", "HEAD~1")
        assert told(process(*words, cwd=folder, stdin=None, **{**GIT, **given})) == ["a.yaml:8"]
        elsewhere = {"GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index"}
        assert told(process(*words, cwd=folder, stdin=None, **{**GIT, **elsewhere})) == ["a.yaml:8"]


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        (
            "nothing",
            "REPOSITORY: git does not know the commit 'nothing'\n  help: check the name with `git log`",
        ),
        ("nothing...", "REPOSITORY: git does not know the commit 'nothing'\n  help: "),
        ("0123456789012345678901234567890123456789", "REPOSITORY: git does not know the commit '0123"),
        ("HEAD:a.yaml", "REPOSITORY: git does not know the commit 'HEAD:a.yaml'\n  help: "),
        ("HEAD..HEAD", "'HEAD..HEAD' is not a revision\n  help: "),
        ("HEAD...HEAD", "'HEAD...HEAD' is not a revision\n  help: "),
        ("--output=x", "'--output=x' is not a revision\n  help: "),
        ("", "'' is not a revision\n  help: "),
        ("...", "'...' is not a revision\n  help: "),
    ],
)
def test_no_such_revision(repository: Repository, revision: str, message: str) -> None:
    result = repository.since(revision)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        "policykit: " + message.replace("REPOSITORY", os.path.realpath(repository.folder))
    )
    assert sorted(path.name for path in repository.folder.iterdir()) == [".git", "a.yaml", "apps", "two.yaml"]


def test_nothing_in_common(repository: Repository) -> None:
    repository.git("checkout", "-q", "--orphan", "other")
    repository.commit({"a.yaml": pod("other")})
    result = repository.since("main...")
    assert (result.code, result.out) == (2, "")
    assert ": main and HEAD have no commit in common\n  help: in a shallow clone, fetch more" in result.err


def test_nothing_is_fetched(repository: Repository, tmp_path: Path) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.commit({"a.yaml": pod("a", 2)})
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--filter=blob:none", repository.folder.as_uri(), str(clone))
    partial = Repository(clone)
    ran = traps(partial, tmp_path)
    for url in (repository.folder.as_uri(), f"ext::{tmp_path / 'program'} url", "ssh://example.com/a"):
        partial.git("config", "remote.origin.url", url)
        for protocol in ("ext", "file", "ssh"):
            partial.git("config", f"protocol.{protocol}.allow", "always")
        assert told(process("lint", "--since", "HEAD", cwd=clone, stdin=None, **GIT)) == []
        result = process("lint", "--since", "HEAD~1", cwd=clone, stdin=None, **GIT)
        assert (result.code, result.out) == (2, "")
        assert "git does not have the earlier contents of a.yaml\n  help: " in result.err
        assert not ran.exists(), ran.read_text()


def test_outside_a_repository(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(pod("a"))
    result = process("lint", "--since", "HEAD", cwd=tmp_path, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"policykit: {tmp_path}: is not in a git repository, so changes cannot be determined\n"
        "  help: leave out the revision; for `plan` and `patch`, name an earlier policy file with --from\n"
    )


def test_before_the_first_commit(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(pod("a"))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    result = process("lint", "--since", "HEAD", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        f"policykit: {tmp_path}: the repository has no commit yet\n  help: commit first, "
    )


def test_without_git(repository: Repository, tmp_path: Path) -> None:
    result = repository.since("HEAD", PATH=str(tmp_path / "empty"))
    assert (result.code, result.out) == (2, "")
    assert "git is not installed\n  help: install it, or leave out the revision; for `plan`" in result.err


def test_nothing_of_the_repository_is_written(repository: Repository) -> None:
    repository.write({"a.yaml": pod("a", 2)})
    os.utime(repository.folder / "two.yaml", (1, 1))
    index = repository.folder / ".git" / "index"
    before = index.read_bytes()
    repository.since("HEAD")
    assert index.read_bytes() == before


def test_a_revision_is_known_from_the_last_run(repository: Repository, tmp_path: Path) -> None:
    """It is written to another folder each time, but its files are the same."""
    policy = (ROOT / "profiles" / "hybrid-volcano.yaml").read_text(encoding="utf-8")
    many = {f"many/{n}.yaml": f"# {'x' * 2000}\n{pod(f'p{n}')}" for n in range(60)}
    repository.commit({"policykit.yaml": policy, **many})
    repository.write({"a.yaml": pod("a", 2)})
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    runs, stored = [], []
    for _ in range(3):
        runs.append(repository.since("HEAD", ".", POLICYKIT_CACHE_DIR=str(folder)))
        stored.append({path.name: path.stat().st_mtime_ns for path in folder.iterdir()})
    assert [run.out for run in runs] == [runs[0].out] * 3
    assert [told(run) for run in runs] == [told(repository.since("HEAD", ".", "--no-cache"))] * 3
    kinds = sorted(name.partition("-")[0] for name in stored[0])
    assert kinds == ["kept", "policy", "policy", "results", "revision"]
    assert stored[2] == stored[1] == stored[0]


CHANGES: dict[str, tuple[bool, Callable[[Repository], object]]] = {
    "nothing": (True, lambda repository: None),
    "a file": (True, lambda repository: repository.write({"a.yaml": pod("a", 3)})),
    "a new file": (True, lambda repository: repository.write({"n.yaml": pod("n")})),
    "a file that is gone": (False, lambda repository: (repository.folder / "two.yaml").unlink()),
    "a commit": (False, lambda repository: repository.commit()),
    "a remote": (False, lambda repository: repository.git("remote", "add", "o", "https://git.example/a")),
    "a folder above that is a repository now": (
        False,
        lambda repository: (repository.folder.parent / "made" / ".git").mkdir(),
    ),
}
"""What changes between two runs, and whether the findings of the revision are still known."""


@pytest.mark.parametrize("what", CHANGES)
def test_when_the_findings_of_a_revision_are_known(repository: Repository, tmp_path: Path, what: str) -> None:
    repository.write({"a.yaml": pod("a", 2)})
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    above = tmp_path / "made"  # where the revision is written
    above.mkdir()

    def run() -> tuple[Result, int]:
        result = repository.since("HEAD", ".", POLICYKIT_CACHE_DIR=str(cache), TMPDIR=str(above))
        (stored,) = cache.glob("revision-*")
        return result, stored.stat().st_mtime_ns

    _, before = run()
    is_known, change = CHANGES[what]
    change(repository)
    result, after = run()
    assert (after == before) == is_known
    plain = repository.since("HEAD", ".", "--no-cache")
    assert (result.code, result.out, result.err) == (plain.code, plain.out, plain.err)


def test_a_hook_knows_the_revision_whatever_files_it_is_given(repository: Repository, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    repository.write({"a.yaml": pod("a", 2), "ignored.yaml": pod("i"), ".gitignore": "ignored.yaml\n"})
    stored = []
    for names in (["a.yaml"], ["two.yaml", "apps/d.yaml"], ["./a.yaml"], ["ignored.yaml"]):
        words = ["lint", "--hook", "--select", "PK201", *names]
        environment = {**GIT, "POLICYKIT_CACHE_DIR": str(cache)}
        known = process(*words, cwd=repository.folder, stdin=None, **environment)
        plain = process(*words, "--no-cache", cwd=repository.folder, stdin=None, **environment)
        assert (known.code, known.out, known.err) == (plain.code, plain.out, plain.err)
        assert known.code == 1
        assert names[0].removeprefix("./") in known.out
        (entry,) = cache.glob("revision-*")
        stored.append(entry.stat().st_mtime_ns)
    assert stored[2] == stored[1] == stored[0] != stored[3]
